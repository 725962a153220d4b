//! Fingerprints that came last: a list that is scanned.

use super::bits::Fingerprint;
use twinsplit_core::processor::{self, Instructions, Work};

/// Fingerprints, ascending by id, that are few enough to be scanned.
#[derive(Debug, Default)]
pub struct Fresh<F> {
    ids: Vec<u64>,
    values: Vec<F>,
}

/// Fingerprints that are looked at before it is asked whether one of them is near.
const BLOCK: usize = 64;

impl<F: Fingerprint> Fresh<F> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Adds one, whose id is larger than all before.
    pub fn push(&mut self, id: u64, value: F) {
        self.ids.push(id);
        self.values.push(value);
    }

    /// Takes all out.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.values.clear();
    }

    /// Takes one out; whether it was there.
    pub fn remove(&mut self, id: u64) -> bool {
        let Ok(at) = self.ids.binary_search(&id) else { return false };
        self.ids.remove(at);
        self.values.remove(at);
        true
    }

    /// Takes out all whose ids are smaller.
    pub fn expire_before(&mut self, oldest: u64) {
        let old = self.ids.partition_point(|id| *id < oldest);
        self.ids.drain(..old);
        self.values.drain(..old);
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (u64, F)> {
        self.ids.iter().copied().zip(self.values.iter().copied())
    }

    /// Calls `visit` with the id and the distance of each that is within a distance of a query.
    pub fn search(&self, query: F, most: u32, visit: impl FnMut(u64, u32)) {
        processor::run(Instructions::Avx512, Search { fresh: self, query, most, visit });
    }
}

/// A search. Which processor this is is asked once for each, for the answer costs as much as to compare some fingerprints.
struct Search<'f, F, V> {
    fresh: &'f Fresh<F>,
    query: F,
    most: u32,
    visit: V,
}

impl<F: Fingerprint, V: FnMut(u64, u32)> Work for Search<'_, F, V> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let Self { fresh: Fresh { ids, values }, query, most, mut visit } = self;
        for (values, ids) in values.chunks(BLOCK).zip(ids.chunks(BLOCK)) {
            // The distance of the nearest: what is done does not depend on what they are, so several are compared at once.
            let nearest = values.iter().fold(F::BITS, |nearest, value| nearest.min(value.distance(query)));
            if nearest <= most {
                let all = ids.iter().zip(values).map(|(id, value)| (*id, value.distance(query)));
                all.filter(|(_, distance)| *distance <= most).for_each(|(id, distance)| visit(id, distance));
            }
        }
    }
}
