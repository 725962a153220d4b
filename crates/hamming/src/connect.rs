//! The components of fingerprints within a distance of each other, without most of their pairs.
//!
//! Of many fingerprints that are alike nearly each two are a pair, and of these one for each would connect them. The join
//! ([`super::join()`]) goes the same way through blocks of bits, with a forest for each part of the fingerprints: a group that is one component
//! already is left at once; before a group is cut further, each of it is held against the first one and the one before it; and where
//! fingerprints are compared, those of one component are not ([`twinsplit_core::cluster::bucket`]). The components are those of all pairs, because a pair
//! is passed over only where its two ends are connected by pairs that were found.

use super::bits::Fingerprint;
use super::collapse::Collapsed;
use super::join::{Found, JoinOptions, SMALL, check_distance, join_distinct};
use super::parts::Entry;
use super::rows::Rows;
use super::values::Values;
use std::convert::Infallible;
use twinsplit_core::cluster::bucket;
use twinsplit_core::cluster::union_find::UnionFind;
use twinsplit_io::error::Result;

/// Calls `visit` with pairs of rows that connect all rows whose fingerprints differ in at most `distance` bits, and in at most as many
/// as `most` says of either row. Gives how many fingerprints were compared.
///
/// # Errors
/// Those of [`super::join()`].
pub fn connect<F: Fingerprint>(
    fingerprints: &[F],
    options: JoinOptions,
    most: impl Fn(u32) -> u32 + Sync,
    visit: impl FnMut(u32, u32, u32) -> Result<()> + Send,
) -> Result<u64> {
    check_distance::<F>(options.distance)?;
    let Collapsed { values, rows } = Collapsed::of(fingerprints, options.threads, options.memory)?;
    connect_collapsed(Values::Memory(&values), &rows, options, most, visit)
}

/// The same for distinct fingerprints and their rows.
pub(super) fn connect_collapsed<F: Fingerprint>(
    values: Values<'_, F>,
    rows: &Rows,
    options: JoinOptions,
    most: impl Fn(u32) -> u32 + Sync,
    mut visit: impl FnMut(u32, u32, u32) -> Result<()> + Send,
) -> Result<u64> {
    // Equal ones are within any distance, so that any row stands for all that have its fingerprint.
    for mut equal in rows.groups() {
        let first = equal.next();
        first.map_or(Ok(()), |a| equal.try_for_each(|b| visit(a, b, 0)))?;
    }
    let most = |value| rows.of(value).map(&most).max().unwrap_or(0);
    join_distinct(values, options, Some(&most), |x, y, distance| {
        let first = |value| rows.of(value).next();
        let Some((a, b)) = first(x).zip(first(y)) else { return Ok(()) };
        visit(a.min(b), a.max(b), distance)
    })
}

/// The components of the fingerprints of a part.
pub(super) struct Forest<'m> {
    /// What they are numbered outside of it.
    numbers: Vec<u32>,
    components: UnionFind,
    /// By number the greatest distance of a pair that it is in.
    most: &'m (dyn Fn(u32) -> u32 + Sync),
}

impl<'m> Forest<'m> {
    /// Of entries that are not connected; they are numbered anew.
    pub fn of<F: Fingerprint>(entries: &mut [Entry<F>], most: &'m (dyn Fn(u32) -> u32 + Sync)) -> Self {
        let numbers = entries.iter().map(|entry| entry.at).collect();
        entries.iter_mut().zip(0..).for_each(|(entry, at)| entry.at = at);
        Self { numbers, components: UnionFind::new(entries.len() as u32), most }
    }

    /// Whether all are in one component.
    pub fn is_one<F: Fingerprint>(&mut self, entries: &[Entry<F>]) -> bool {
        entries.windows(2).all(|two| !self.are_apart(&two[0], &two[1]))
    }

    /// Whether two are in different components.
    #[inline]
    pub fn are_apart<F: Fingerprint>(&mut self, x: &Entry<F>, y: &Entry<F>) -> bool {
        self.components.find(x.at) != self.components.find(y.at)
    }

    /// Connects two that are in different components, where their distance is at most that and within both of theirs; the pair then.
    pub fn link<F: Fingerprint>(
        &mut self,
        x: &Entry<F>,
        y: &Entry<F>,
        distance: u32,
        most: u32,
    ) -> Option<Found> {
        let [a, b] = [x.at, y.at].map(|at| self.numbers[at as usize]);
        let near = distance <= most && distance <= (self.most)(a).min((self.most)(b));
        (near && self.components.union(x.at, y.at)).then_some((a, b, distance))
    }

    /// Connects what pairs of these entries connect. Gives how many were compared.
    pub fn connect<F: Fingerprint>(
        &mut self,
        entries: &[Entry<F>],
        most: u32,
        mut take: impl FnMut(Found),
    ) -> u64 {
        let mut compared = 0;
        if entries.len() <= SMALL {
            for (at, x) in entries.iter().enumerate() {
                compared += (entries.len() - at - 1) as u64;
                for y in &entries[at + 1..] {
                    let distance = x.value.distance(y.value);
                    if distance <= most {
                        self.link(x, y, distance, most).into_iter().for_each(&mut take);
                    }
                }
            }
            return compared;
        }
        let mut bucket: Vec<(u32, u32)> =
            (0..).zip(entries).map(|(place, entry)| (self.components.find(entry.at), place)).collect();
        let Ok(_) = bucket::connect(&mut bucket, |x, y| {
            compared += 1;
            let (x, y) = (&entries[x as usize], &entries[y as usize]);
            let distance = x.value.distance(y.value);
            let link = self.link(x, y, distance, most);
            let linked = link.is_some();
            link.into_iter().for_each(&mut take);
            Ok::<bool, Infallible>(linked)
        });
        compared
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Sorter, SorterOptions};
    use super::*;
    use proptest::prelude::*;

    /// Fingerprints around some centres, of which many are alike, and the greatest distance of each.
    fn around(centres: u64, spread: u32, count: u64) -> (Vec<u64>, Vec<u32>) {
        let value = |n: u64| {
            let flips = (0..u64::from(spread)).map(|flip| 1 << ((n * 7 + flip * 13).mixed() % 64));
            flips.fold((n % centres).mixed(), |value, flip: u64| value ^ flip)
        };
        let most = |n: u64| (n * 5 + 1).mixed() as u32 % 4;
        (0..count).map(|n| (value(n), 3 - most(n) / 3)).unzip()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// The components of each two that are compared, in memory and in a file, for any number of threads.
        #[test]
        fn components_are_those_of_all_pairs(
            centres in 1u64..40, spread in 0u32..5, count in 1u64..900, threads in 1usize..4, distance in 0u32..6,
        ) {
            let (values, most) = around(centres, spread, count);
            let mut expected = UnionFind::new(count as u32);
            for (a, x) in values.iter().enumerate() {
                for (b, y) in values.iter().enumerate().skip(a + 1) {
                    if x.distance(*y) <= distance.min(most[a]).min(most[b]) {
                        expected.union(a as u32, b as u32);
                    }
                }
            }
            let expected = expected.into_labels();
            // Distances that are greater than that of the join are those of no pair.
            let within = |row: u32| most[row as usize];
            let options = JoinOptions { distance, threads, memory: 1 << 20 };
            let folder = tempfile::tempdir().unwrap();
            let mut sorter = Sorter::new(SorterOptions { folder: folder.path().to_owned(), memory: 1 << 20, threads });
            values.iter().for_each(|value| sorter.push(*value).unwrap());
            let sorted = sorter.finish().unwrap();
            for in_file in [false, true] {
                let mut found = UnionFind::new(count as u32);
                let visit = |a: u32, b: u32, between: u32| {
                    assert_eq!(values[a as usize].distance(values[b as usize]), between);
                    found.union(a, b);
                    Ok(())
                };
                if in_file { sorted.connect(distance, within, visit) } else { connect(&values, options, within, visit) }.unwrap();
                prop_assert_eq!(&found.into_labels(), &expected);
            }
        }
    }

    /// Twice as many fingerprints that are alike take about twice as many looks, and not four times as many.
    #[test]
    fn alike_fingerprints_cost_a_few_looks_each() {
        let looks = |count: u64| {
            let values: Vec<u64> = (0..count).map(|n| 1 << (n % 64) | 1 << (n / 64 % 64)).collect();
            let options = JoinOptions { distance: 4, threads: 2, memory: 1 << 20 };
            let compared = connect(&values, options, |_| 4, |_, _, _| Ok(())).unwrap();
            assert!(compared < 60 * count, "{compared} for {count}");
            compared
        };
        let (some, twice) = (looks(900), looks(1_800));
        assert!(twice < 3 * some, "{some}, then {twice}");
    }
}
