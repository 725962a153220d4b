//! Equal fingerprints become one, with the rows that have it.
//!
//! Real fingerprints repeat: of a crawl's pages many are copies. A search compares with each distinct fingerprint once, and only
//! what is found is turned into rows.

use super::bits::Fingerprint;
use super::parts::{Entry, Parts, part_bits};
use crate::error::{Error, Result};
use crate::join::memory;
use crate::threads::each;

/// The most rows: the highest bit of a slot tells a row from a group of rows.
pub const MOST: usize = GROUP as usize - 1;

/// The bit of a slot that holds the number of a group.
const GROUP: u32 = 1 << 31;

/// Distinct fingerprints, ascending, and the rows of each.
#[derive(Debug, Default)]
pub struct Collapsed<F> {
    /// The fingerprints.
    pub values: Vec<F>,
    /// Their rows, by place.
    pub rows: Rows,
}

/// Rows by the place of their fingerprint: four bytes each where it is no other row's.
#[derive(Debug, Default)]
pub struct Rows {
    /// A row, or the number of a group.
    pub slots: Vec<u32>,
    /// Where a group begins in `grouped`; one more than there are groups, or none.
    pub starts: Vec<u32>,
    /// Rows of groups, ascending in each.
    pub grouped: Vec<u32>,
}

/// The number of the group that a slot holds, or its row.
#[inline]
pub fn group(slot: u32) -> std::result::Result<usize, u32> {
    if slot & GROUP == 0 { Err(slot) } else { Ok((slot ^ GROUP) as usize) }
}

impl Rows {
    /// The rows of a place, ascending.
    pub fn of(&self, place: usize) -> &[u32] {
        match self.slots.get(place).map(|slot| (slot, group(*slot))) {
            Some((slot, Err(_))) => std::slice::from_ref(slot),
            Some((_, Ok(group))) => {
                let bounds = self.starts.get(group).zip(self.starts.get(group + 1));
                bounds
                    .and_then(|(start, end)| self.grouped.get(*start as usize..*end as usize))
                    .unwrap_or(&[])
            }
            None => &[],
        }
    }

    /// Bytes of the rows that share a fingerprint.
    pub fn grouped_bytes(&self) -> u64 {
        4 * (self.starts.len() + self.grouped.len()) as u64
    }

    /// How many places there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    fn push(&mut self, rows: impl ExactSizeIterator<Item = u32>) {
        if rows.len() == 1 {
            self.slots.extend(rows);
            return;
        }
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.slots.push(GROUP | (self.starts.len() - 1) as u32);
        self.grouped.extend(rows);
        self.starts.push(self.grouped.len() as u32);
    }
}

impl<F: Fingerprint> Collapsed<F> {
    /// Collapses fingerprints, whose rows are their places. The order of the result depends on the fingerprints alone.
    ///
    /// # Errors
    /// More than [`MOST`] fingerprints.
    pub fn of(fingerprints: &[F], threads: usize, memory: usize) -> Result<Self> {
        if fingerprints.len() > MOST {
            return Err(Error::Limit(format!(
                "{} fingerprints; an index has at most {MOST}: make several",
                fingerprints.len()
            )));
        }
        let bits = part_bits(fingerprints.len());
        let place = |value: F, at| (value.top(bits) as usize, Entry { value, at });
        let parts = Parts { values: fingerprints, parts: 1 << bits, place, threads, memory };
        // Pages that are not written to take no memory.
        let values = memory::with_capacity(fingerprints.len());
        let slots = memory::with_capacity(fingerprints.len());
        let mut all = Self { values, rows: Rows { slots, ..Rows::default() } };
        parts.each(&parts.sizes(), &mut Vec::new(), |_, mut parts| {
            each(&mut parts, threads, |entries| sort(entries, &mut Vec::new(), bits));
            parts.iter().for_each(|entries| all.append(entries));
        });
        Ok(all)
    }

    /// Adds what is sorted.
    fn append(&mut self, entries: &[Entry<F>]) {
        let mut rest = entries;
        while let [first, more @ ..] = rest {
            let value = first.value;
            let equal = 1 + more.iter().take_while(|entry| { entry.value } == value).count();
            self.values.push(value);
            self.rows.push(rest[..equal].iter().map(|entry| entry.at));
            rest = &rest[equal..];
        }
    }
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
            prop_assert_eq!(collapsed.rows.len(), expected.len());
            for ((place, value), (expected, rows)) in collapsed.values.iter().enumerate().zip(expected) {
                prop_assert_eq!((*value, collapsed.rows.of(place)), (expected, &rows[..]));
            }
        }
    }
}
