//! Fingerprints that came last: a list that is scanned.

use super::bits::Fingerprint;
use twinsplit_core::processor::{self, Instructions, Work};

/// Fingerprints, ascending by id.
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
    pub fn search(&self, query: F, most: u32, mut visit: impl FnMut(u64, u32)) {
        for (values, ids) in self.values.chunks(BLOCK).zip(self.ids.chunks(BLOCK)) {
            if processor::run(Instructions::Avx2, Nearest { values, query }) <= most {
                let all = ids.iter().zip(values).map(|(id, value)| (*id, value.distance(query)));
                all.filter(|(_, distance)| *distance <= most).for_each(|(id, distance)| visit(id, distance));
            }
        }
    }
}

/// The distance of the nearest of some: what is done does not depend on what they are, so several are compared at once.
struct Nearest<'v, F> {
    values: &'v [F],
    query: F,
}

impl<F: Fingerprint> Work for Nearest<'_, F> {
    type Out = u32;

    #[inline(always)]
    fn run(self) -> u32 {
        self.values.iter().fold(F::BITS, |nearest, value| nearest.min(value.distance(self.query)))
    }
}
