//! One table of an index: fingerprints in buckets by the first bits of its key.
//!
//! The bits are put into another order, those of the key first. What is left of a fingerprint when the number of its bucket is taken away
//! stands in the bucket itself, in whole bytes: five for 64 bits and a directory of 24. A query reads its buckets and nothing else.

use super::bits::Fingerprint;
use super::layout::TableShape;
use std::ops::Range;
use twinsplit_core::join::memory;
use twinsplit_io::mapped::Bytes;

/// The order of the bits: some of them, and by how much they are moved.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Order<F>(Vec<(F, u32)>);

impl<F: Fingerprint> Order<F> {
    /// The bits of `key` first; the others follow as they come, from the first bit below the topmost of the key on, around.
    fn of(key: F) -> Self {
        let bit = |place: u32| F::low_ones(1).rotated(place);
        let is_set = |place: &u32| key & bit(*place) != F::default();
        let top = (0..F::BITS).rev().find(is_set).unwrap_or(F::BITS - 1);
        let around = || (0..F::BITS).map(|down| (top + F::BITS - down) % F::BITS);
        let places = around().filter(is_set).chain(around().filter(|place| !is_set(place)));
        let mut moves: Vec<(F, u32)> = Vec::new();
        for (from, to) in places.zip((0..F::BITS).rev()) {
            let by = (to + F::BITS - from) % F::BITS;
            match moves.iter_mut().find(|(_, known)| *known == by) {
                Some((mask, _)) => *mask = *mask | bit(from),
                None => moves.push((bit(from), by)),
            }
        }
        Self(moves)
    }

    /// Whether nothing is moved.
    fn is_none(&self) -> bool {
        self.0.iter().all(|(_, by)| *by == 0)
    }

    #[inline]
    fn put(&self, value: F) -> F {
        self.0.iter().fold(F::default(), |all, (mask, by)| all | (value & *mask).rotated(*by))
    }

    /// Puts all of some, one move after the other over a few of them, so that the compiler takes several at a time.
    fn put_all(&self, values: &[F], out: &mut Vec<F>) {
        out.clear();
        out.resize(values.len(), F::default());
        for (values, out) in values.chunks(256).zip(out.chunks_mut(256)) {
            for &(mask, by) in &self.0 {
                out.iter_mut().zip(values).for_each(|(out, value)| *out = *out | (*value & mask).rotated(by));
            }
        }
    }

    fn put_back(&self, value: F) -> F {
        self.0.iter().fold(F::default(), |all, (mask, by)| all | value.rotated(F::BITS - by) & *mask)
    }

    /// The order of the bits that come first; what becomes of the others is open.
    fn only_first(&self, bits: u32) -> Self {
        let lead = self.put_back(!F::low_ones(F::BITS - bits));
        let moves = self.0.iter().map(|(mask, by)| (*mask & lead, *by));
        Self(moves.filter(|(mask, _)| *mask != F::default()).collect())
    }
}

/// Where a part of a table is written to.
pub struct Place<'t> {
    /// Where its buckets begin.
    pub starts: &'t mut [u8],
    /// Its entries.
    pub entries: &'t mut [u8],
    /// How many entries stand before.
    pub first: u32,
}

/// Room for a part that is written, used again for the next.
#[derive(Debug, Default)]
pub struct Room<F> {
    /// The fingerprints as the table has them.
    put: Vec<F>,
    /// By bucket.
    sorted: Vec<F>,
    /// Where buckets end.
    ends: Vec<u32>,
}

/// A table.
#[derive(Debug)]
pub struct Table<F> {
    /// What is looked up of it.
    pub shape: TableShape<F>,
    order: Order<F>,
    /// What a bucket's number may differ by, ascending: numbers with few bits set.
    pub flips: Vec<u32>,
    /// The bits that stand in an entry.
    low: F,
    /// Those bits of a fingerprint that number its bucket.
    numbered: F,
    width: usize,
    /// By bucket where its entries begin, and the end; four bytes each.
    pub directory: Bytes,
    /// Entries, and as many bytes more as a fingerprint has: each is read with what follows it.
    pub entries: Bytes,
}

impl<F: Fingerprint> Table<F> {
    /// A table of this shape over what was read.
    pub fn new(shape: TableShape<F>, directory: Bytes, entries: Bytes) -> Self {
        let order = Order::of(shape.key);
        let low = F::low_ones(F::BITS - shape.directory);
        let flips = flips(shape.directory, shape.radius);
        Self {
            shape,
            flips,
            low,
            numbered: order.put_back(!low),
            width: shape.width(),
            order,
            directory,
            entries,
        }
    }

    /// Those bits of a fingerprint that come first.
    pub fn lead(&self, bits: u32) -> F {
        self.order.put_back(!F::low_ones(F::BITS - bits))
    }

    /// By which `bits` bits, a number, a fingerprint comes.
    pub fn part(&self, bits: u32) -> impl Fn(F) -> usize + Sync + use<F> {
        let order = self.order.only_first(bits);
        move |value| order.put(value).top(bits) as usize
    }

    /// Writes a part by bucket; `skip` bits of the number are the same in all.
    pub fn fill(&self, place: Place<'_>, skip: u32, part: &[F], room: &mut Room<F>) {
        let inside = ((1_u64 << (self.shape.directory - skip)) - 1) as u32;
        let bucket = |value: F| (value.top(self.shape.directory) & inside) as usize;
        let Room { put, sorted, ends } = room;
        self.order.put_all(part, put);
        ends.clear();
        ends.resize(place.starts.len() / 4, 0);
        put.iter().for_each(|value| ends[bucket(*value)] += 1);
        let mut sum = 0;
        for (start, end) in place.starts.chunks_exact_mut(4).zip(ends.iter_mut()) {
            start.copy_from_slice(&(place.first + sum).to_le_bytes());
            sum += std::mem::replace(end, sum);
        }
        // With the topmost bits for a key they ascend already.
        let values = if self.order.is_none() {
            put
        } else {
            sorted.resize(part.len(), F::default());
            for value in put.iter() {
                let end = &mut ends[bucket(*value)];
                sorted[*end as usize] = *value;
                *end += 1;
            }
            sorted
        };
        // Each is written as a whole fingerprint, and the next one writes over what is too much.
        let mut at = 0;
        for value in values {
            let value = *value & self.low;
            match place.entries.get_mut(at..at + F::BITS as usize / 8) {
                Some(whole) => value.store(whole.len(), whole),
                None => value.store(self.width, &mut place.entries[at..]),
            }
            at += self.width;
        }
    }

    /// A fingerprint as the table has it.
    #[inline(always)]
    pub fn put(&self, value: F) -> F {
        self.order.put(value)
    }

    /// The number of the bucket of a fingerprint as the table has it.
    #[inline(always)]
    pub fn bucket(&self, value: F) -> u32 {
        value.top(self.shape.directory)
    }

    /// Whether a query finds a fingerprint that differs from it by these bits.
    #[inline(always)]
    pub fn finds(&self, differing: F) -> bool {
        (differing & self.numbered).ones() <= self.shape.radius
    }

    /// Where a bucket begins is read soon.
    #[inline(always)]
    pub fn soon(&self, bucket: u32) {
        memory::soon::<1, u8>(&self.directory, 4 * bucket as usize);
    }

    /// The entries of a bucket; the first are read soon.
    #[inline(always)]
    pub fn entries_of(&self, bucket: u32) -> Range<u32> {
        let start = self.directory.number(bucket as usize);
        let end = self.directory.number(bucket as usize + 1);
        if start < end {
            memory::soon::<2, u8>(&self.entries, start as usize * self.width);
        }
        start..end
    }

    /// Calls `visit` with each entry of a bucket that differs from the query (as the table has it) in at most `most` bits, the fingerprint
    /// and the distance.
    #[inline(always)]
    pub fn compare(
        &self,
        bucket: u32,
        range: Range<u32>,
        query: F,
        most: u32,
        visit: &mut impl FnMut(u32, F, u32),
    ) {
        let top = F::from_top(bucket, self.shape.directory);
        let other = (query ^ top) & !self.low;
        let budget = match most.checked_sub(other.ones()) {
            Some(budget) => budget,
            None => return,
        };
        let bytes = self.entries.get(range.start as usize * self.width..).unwrap_or_default();
        let mut at = 0;
        for place in range {
            let Some(entry) = bytes.get(at..).and_then(F::load) else { return };
            at += self.width;
            let distance = ((entry ^ query) & self.low).ones();
            if distance <= budget {
                visit(place, self.order.put_back(top | entry & self.low), distance + other.ones());
            }
        }
    }

    /// Where a fingerprint stands.
    pub fn place(&self, value: F) -> Option<u32> {
        let put = self.order.put(value);
        let bucket = self.bucket(put);
        let mut found = None;
        self.compare(bucket, self.entries_of(bucket), put, 0, &mut |place, _, _| found = Some(place));
        found
    }

    /// All fingerprints with their places.
    pub fn each(&self, visit: &mut impl FnMut(u32, F)) {
        for bucket in 0..self.directory.len() as u32 / 4 - 1 {
            let any = F::default();
            self.compare_all(bucket, any, visit);
        }
    }

    fn compare_all(&self, bucket: u32, query: F, visit: &mut impl FnMut(u32, F)) {
        let range = self.entries_of(bucket);
        self.compare(bucket, range, query, F::BITS, &mut |place, value, _| visit(place, value));
    }

    /// How many entries the fullest bucket has.
    pub fn fullest(&self) -> u32 {
        (0..self.directory.len() / 4 - 1)
            .map(|bucket| self.directory.number(bucket + 1).saturating_sub(self.directory.number(bucket)))
            .max()
            .unwrap_or(0)
    }
}

/// Numbers of so many bits with at most `radius` set, ascending.
fn flips(bits: u32, radius: u32) -> Vec<u32> {
    let mut all = vec![0];
    let mut from = 0;
    for _ in 0..radius.min(bits) {
        let known = all.len();
        for at in from..known {
            // Each is made once: by its highest bit last.
            let number: u32 = all[at];
            let above = u32::BITS - number.leading_zeros();
            all.extend((above..bits).map(|bit| number | 1 << bit));
        }
        from = known;
    }
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flips_are_all_numbers_with_few_bits() {
        for bits in 0..8 {
            for radius in 0..=4 {
                let expected: Vec<u32> = (0..1 << bits).filter(|n: &u32| n.count_ones() <= radius).collect();
                assert_eq!(flips(bits, radius), expected);
            }
        }
    }

    #[test]
    fn an_order_puts_the_key_first_and_back() {
        for key in [0_u64, !0, 0xff, 0xff << 56, 0x00ff_0000_ff00_0000, 0x8000_0000_0000_0001, 0x1_0000_0000]
        {
            let order = Order::of(key);
            assert_eq!(order.put(key), (!0_u64).checked_shl(64 - key.count_ones()).unwrap_or(0));
            for value in [0_u64, 1, !0, 0x0123_4567_89ab_cdef] {
                assert_eq!(order.put_back(order.put(value)), value);
                assert_eq!(order.put(value).count_ones(), value.count_ones());
            }
        }
        // The topmost bits stay, so that places are in the order of the fingerprints.
        assert_eq!(Order::of(0xffff_u64 << 48).0, [(!0, 0)]);
        assert_eq!(Order::of(0xffff_u64 << 16).0, [(!0, 32)]);
    }
}
