//! A batch of queries, past which fingerprints stream: those of the batch are the index (manku2007, section 4).
//!
//! Where the queries are known beforehand, a collection needs no index. It is read once, by as many tasks as there are, each of which holds
//! the queries, and nothing of it is kept. A query has a distance of its own, and so has a fingerprint that passes: the smaller one
//! of the two decides, as in a join.

use super::bits::Fingerprint;
use super::index::{Index, IndexOptions, Scratch};
use super::rows::Id;
use twinsplit_io::error::Result;

/// Queries as they are read: kept while they fit, and counted all the same when they do not, so that what they need is known.
#[derive(Debug, Default)]
pub struct BatchBuilder<F> {
    fingerprints: Vec<F>,
    distances: Vec<u8>,
    ids: Vec<u8>,
    ends: Vec<usize>,
    /// All that were pushed, kept or not.
    count: u64,
    /// Bytes of their ids.
    id_bytes: u64,
    memory: u64,
}

/// Bytes of an index of nothing, and more.
const FIXED: u64 = 256;

impl<F: Fingerprint> BatchBuilder<F> {
    /// No query yet, of those that so many bytes hold.
    pub fn new(memory: u64) -> Self {
        Self {
            fingerprints: Vec::new(),
            distances: Vec::new(),
            ids: Vec::new(),
            ends: Vec::new(),
            count: 0,
            id_bytes: 0,
            memory,
        }
    }

    /// Adds a query.
    pub fn push(&mut self, id: &[u8], fingerprint: F, distance: u32) {
        self.count += 1;
        self.id_bytes += id.len() as u64;
        if self.fits() {
            self.fingerprints.push(fingerprint);
            self.distances.push(distance.min(u32::from(u8::MAX)) as u8);
            self.ids.extend_from_slice(id);
            self.ends.push(self.ids.len());
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The greatest distance of a query; 0 where there is none.
    pub fn most(&self) -> u32 {
        self.distances.iter().copied().max().unwrap_or(0).into()
    }

    /// Bytes beside the tables: what is pushed, which may have grown to twice its size, and what is sorted of it.
    fn beside(&self) -> u64 {
        let width = u64::from(F::BITS / 8);
        self.count * (5 * width + 38) + 3 * self.id_bytes
    }

    /// The least bytes that an index of all of them is built in: its tables are a list then.
    pub fn needs(&self) -> u64 {
        self.beside() + FIXED + self.count * (u64::from(F::BITS / 8) + 4)
    }

    /// Whether they can be held.
    pub fn fits(&self) -> bool {
        self.needs() <= self.memory
    }

    /// An id that more than one of them has.
    pub fn repeated_id(&self) -> Option<&[u8]> {
        let mut rows: Vec<u32> = (0..self.ends.len() as u32).collect();
        rows.sort_unstable_by_key(|row| self.id(*row));
        let twice = rows.windows(2).find(|two| self.id(two[0]) == self.id(two[1]))?;
        Some(self.id(twice[0]))
    }

    fn id(&self, row: u32) -> &[u8] {
        let end = |row: usize| self.ends[row];
        let start = (row as usize).checked_sub(1).map_or(0, end);
        &self.ids[start..end(row as usize)]
    }

    /// Builds the index, in the layout that answers fastest in the memory that is there.
    ///
    /// # Errors
    /// Queries that do not [fit](Self::fits), and distances that no index has.
    pub fn build(self) -> Result<Batch<F>> {
        let options = IndexOptions {
            distance: self.most(),
            layout: None,
            memory: self.memory.saturating_sub(self.beside()),
            threads: 1,
        };
        let index = Index::build(&self.fingerprints, options)?;
        let index = index.with_names((0..self.ends.len() as u32).map(|row| self.id(row)))?;
        Ok(Batch { index, distances: self.distances })
    }
}

/// Queries as an index. Equal fingerprints are stored once.
#[derive(Debug)]
pub struct Batch<F> {
    index: Index<F>,
    /// By row.
    distances: Vec<u8>,
}

impl<F: Fingerprint> Batch<F> {
    /// Calls `visit` with the place of each of some fingerprints and each query that is within both of their distances of it: the
    /// query's id, and the bits that differ. Places ascend; the queries of one come in no order that means something.
    pub fn near(
        &self,
        passing: &[F],
        distances: &[u32],
        scratch: &mut Scratch<F>,
        mut visit: impl FnMut(usize, &[u8], u32),
    ) {
        self.index.search_all(passing, scratch, |place, found| {
            let most = distances[place].min(self.distances[found.row as usize].into());
            if let (true, Some(Id::Name(id))) = (found.distance <= most, self.index.id(found.row)) {
                visit(place, id, found.distance);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A fingerprint as one of a few with some bits turned over, and its distance.
    fn any_one() -> impl Strategy<Value = (u128, u32)> {
        let of = vec![0, u128::MAX / 3, 1 << 70 | 77];
        let flips = prop::collection::vec(0u32..128, 0..6);
        (prop::sample::select(of), flips, prop::sample::select(&[0, 2, 3, 8][..]))
            .prop_map(|(value, flips, most)| (flips.iter().fold(value, |value, bit| value ^ 1 << bit), most))
    }

    fn check<F: Fingerprint>(
        of: impl Fn(u128) -> F,
        queries: &[(u128, u32)],
        passing: &[(u128, u32)],
        room: u64,
    ) -> std::result::Result<(), TestCaseError> {
        let mut builder = BatchBuilder::<F>::new(u64::MAX);
        let id = |row: usize| format!("q{row}");
        let push = |builder: &mut BatchBuilder<F>| {
            queries
                .iter()
                .enumerate()
                .for_each(|(row, one)| builder.push(id(row).as_bytes(), of(one.0), one.1));
        };
        push(&mut builder);
        // What it says that it needs suffices, and a byte less is refused.
        let needs = builder.needs();
        prop_assert_eq!(builder.count(), queries.len() as u64);
        let mut small = BatchBuilder::<F>::new(needs - 1);
        push(&mut small);
        prop_assert!(!small.fits() && small.needs() == needs);
        let mut builder = BatchBuilder::<F>::new(needs + room);
        push(&mut builder);
        prop_assert!(builder.fits() && builder.repeated_id().is_none());
        let batch = builder.build().unwrap();
        let (values, distances): (Vec<F>, Vec<u32>) = passing.iter().map(|one| (of(one.0), one.1)).unzip();
        let mut found = Vec::new();
        batch.near(&values, &distances, &mut Scratch::default(), |place, id, distance| {
            found.push((place, id.to_vec(), distance));
        });
        found.sort();
        let mut expected = Vec::new();
        for (place, one) in passing.iter().enumerate() {
            for (row, query) in queries.iter().enumerate() {
                let distance = of(one.0).distance(of(query.0));
                if distance <= one.1.min(query.1) {
                    expected.push((place, id(row).into_bytes(), distance));
                }
            }
        }
        expected.sort();
        prop_assert_eq!(found, expected);
        Ok(())
    }

    proptest! {
        #[test]
        fn what_is_near_is_that_of_brute_force(
            queries in prop::collection::vec(any_one(), 0..60),
            passing in prop::collection::vec(any_one(), 0..60),
            room in prop::sample::select(&[0, 1 << 10, 1 << 20][..]),
        ) {
            check(|value| value as u64, &queries, &passing, room)?;
            check(|value| value, &queries, &passing, room)?;
        }
    }

    #[test]
    fn an_id_that_stands_twice_is_found() {
        let mut builder = BatchBuilder::<u64>::new(u64::MAX);
        for id in ["a", "b", "ab", "b", "c"] {
            builder.push(id.as_bytes(), 1, 3);
        }
        assert_eq!(builder.repeated_id(), Some(&b"b"[..]));
    }
}
