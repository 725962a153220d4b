//! Equal fingerprints become one, with the rows that have it.
//!
//! Real fingerprints repeat: of a crawl's pages many are copies. A search compares with each distinct fingerprint once, and only
//! what is found is turned into rows.

use super::bits::Fingerprint;
use super::parts::{Entry, Parts, part_bits};
use super::rows::{Rows, RowsWriter, must_be_few};
use super::values::Values;
use twinsplit_core::join::memory;
use twinsplit_core::threads::each;
use twinsplit_io::error::Result;
use twinsplit_io::mapped::Bytes;

/// Distinct fingerprints, ascending, and the rows of each.
#[derive(Debug, Default)]
pub struct Collapsed<F> {
    /// The fingerprints.
    pub values: Vec<F>,
    /// Their rows, by place.
    pub rows: Rows,
}

impl<F: Fingerprint> Collapsed<F> {
    /// Collapses fingerprints, whose rows are their places. The order of the result depends on the fingerprints alone.
    ///
    /// # Errors
    /// More fingerprints than an index may have.
    pub fn of(fingerprints: &[F], threads: usize, memory: usize) -> Result<Self> {
        must_be_few(fingerprints.len())?;
        // Pages that are not written to take no memory.
        let mut values: Vec<F> = memory::with_capacity(fingerprints.len());
        let slots: Vec<u8> = memory::with_capacity(4 * fingerprints.len());
        let mut rows = RowsWriter::new(slots, Vec::new(), Vec::new());
        sorted(Values::Memory(fingerprints), threads, memory, |entries| {
            for &Entry { value, at } in entries {
                let is_new = values.last() != Some(&value);
                if is_new {
                    values.push(value);
                }
                rows.push(at, is_new)?;
            }
            Ok(())
        })?;
        let [slots, starts, grouped] = rows.finish()?.map(Bytes::from);
        let rows = Rows { slots, starts, grouped, count: fingerprints.len(), ..Rows::default() };
        Ok(Self { values, rows })
    }
}

/// Hands all fingerprints with their places to `visit`, ascending, equal ones as they come; some at a time. `memory` is bytes for what is
/// sorted at one time.
///
/// # Errors
/// The first of `visit`; the fingerprints cannot be read.
pub fn sorted<F: Fingerprint>(
    values: Values<'_, F>,
    threads: usize,
    memory: usize,
    mut visit: impl FnMut(&[Entry<F>]) -> Result<()>,
) -> Result<()> {
    let bits = part_bits(values.len());
    let place = |value: F, at| (value.top(bits) as usize, Entry { value, at });
    let parts = Parts { values, parts: 1 << bits, place, threads, memory, times: 1 };
    parts.each(&parts.sizes()?, &mut Vec::new(), |_, mut parts| {
        each(&mut parts, threads, |entries| sort(entries, &mut Vec::new(), bits));
        parts.into_iter().try_for_each(|entries| visit(entries))
    })
}

/// So many are sorted by comparing.
const FEW: usize = 24;

/// Sorts by fingerprint, and leaves equal ones as they come; `skip` bits are the same in all.
fn sort<F: Fingerprint>(entries: &mut [Entry<F>], room: &mut Vec<Entry<F>>, skip: u32) {
    if entries.len() <= FEW || skip >= F::BITS {
        // By insertion, which does nothing to what is in order.
        return entries.sort_by_key(|entry| entry.value);
    }
    let bits = entries.len().ilog2().min(12).min(F::BITS - skip);
    let digit = |entry: &Entry<F>| { entry.value }.rotated(skip).top(bits) as usize;
    let mut ends = vec![0_u32; (1 << bits) + 1];
    entries.iter().for_each(|entry| ends[digit(entry) + 1] += 1);
    let mut sum = 0;
    for end in &mut ends {
        sum += *end;
        *end = sum;
    }
    room.clear();
    room.extend_from_slice(entries);
    for entry in room.iter() {
        let place = &mut ends[digit(entry)];
        entries[*place as usize] = *entry;
        *place += 1;
    }
    let mut start = 0;
    for end in &ends[..1 << bits] {
        let end = *end as usize;
        if end - start > 1 {
            sort(&mut entries[start..end], room, skip + bits);
        }
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn each_row_stands_at_its_fingerprint(
            fingerprints in prop::collection::vec(prop_oneof![0u64..9, any::<u64>()], 0..400),
            repeats in 1usize..400,
            threads in 1usize..4,
        ) {
            // Enough of them for several parts.
            let many: Vec<u64> = fingerprints.iter().cycle().take(fingerprints.len() * repeats).copied().collect();
            let collapsed = Collapsed::of(&many, threads, 1 << 20).unwrap();
            let mut expected: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
            many.iter().zip(0..).for_each(|(value, row)| expected.entry(*value).or_default().push(row));
            prop_assert_eq!(collapsed.values.len(), expected.len());
            prop_assert_eq!((collapsed.rows.len(), collapsed.rows.distinct()), (many.len(), expected.len()));
            let shared = expected.values().filter(|rows| rows.len() > 1).cloned().collect::<Vec<_>>();
            prop_assert_eq!(collapsed.rows.groups().map(Vec::from_iter).collect::<Vec<_>>(), shared);
            for ((place, value), (expected, rows)) in collapsed.values.iter().enumerate().zip(expected) {
                prop_assert_eq!((*value, collapsed.rows.of(place as u32).collect::<Vec<_>>()), (expected, rows));
            }
        }
    }
}
