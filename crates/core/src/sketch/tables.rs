//! Which fingerprints may be near: tables by some of their bits (manku2007, section 3).
//!
//! The bits are split into blocks. Two fingerprints that differ in at most K bits differ in at most K blocks, so that of B
//! blocks at least B - K agree. There is a table for each choice of B - K blocks, in which fingerprints meet that agree in all
//! of these: every pair within the distance meets in one at least. The more blocks, the longer the keys and the fewer meet by
//! chance, and the more tables each fingerprint is written to: C(B, K).
//!
//! A pair may meet in several tables. It counts in the first of them, the one whose blocks are the first that agree.

use super::simhash::{Bits, Fingerprint};

/// No more tables than this: each fingerprint is a row in every one.
const MOST_TABLES: u32 = 256;
/// No more blocks than this.
const MOST_BLOCKS: u32 = 40;
/// How many comparisons of two fingerprints take as long as writing, sorting and reading one row.
const COMPARISONS_PER_ROW: u128 = 500;

/// A split of fingerprints into blocks, of which some make the key of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tables {
    blocks: u32,
    chosen: u32,
}

impl Tables {
    /// So many blocks, of which so many are chosen; `None` where there are no such tables, or too many.
    pub fn of(blocks: u32, chosen: u32) -> Option<Self> {
        let fits = (1..=MOST_BLOCKS).contains(&blocks) && (1..=blocks).contains(&chosen);
        let tables = Self { blocks, chosen };
        (fits && combinations(blocks, chosen) <= MOST_TABLES.into()).then_some(tables)
    }

    /// The tables for so many fingerprints and a distance that take the least time: rows to be sorted, and pairs that meet
    /// where bits are random.
    pub fn choose(bits: Bits, fingerprints: u64, distance: u32) -> Self {
        let least = Self { blocks: distance + 1, chosen: 1 };
        let all = (least.blocks..=MOST_BLOCKS).filter_map(|blocks| Self::of(blocks, blocks - distance));
        all.min_by_key(|tables| (tables.cost(bits, fingerprints), tables.blocks)).unwrap_or(least)
    }

    fn cost(self, bits: Bits, fingerprints: u64) -> u128 {
        let n = u128::from(fingerprints);
        let key_bits = bits.count() * self.chosen / self.blocks;
        let meetings = (n.saturating_mul(n) / 2).checked_shr(key_bits).unwrap_or(0);
        u128::from(self.count())
            .saturating_mul(meetings.saturating_add(n.saturating_mul(COMPARISONS_PER_ROW)))
    }

    /// Into how many blocks the bits are split.
    pub fn blocks(self) -> u32 {
        self.blocks
    }

    /// How many of them are chosen for a table.
    pub fn chosen(self) -> u32 {
        self.chosen
    }

    /// How many tables there are.
    pub fn count(self) -> u32 {
        combinations(self.blocks, self.chosen) as u32
    }

    /// The blocks of each table, each table as a number with a 1 for a block: the order is that of the first blocks.
    pub fn choices(self) -> Vec<u64> {
        let mut all = Vec::new();
        push_choices(0, self.chosen, self.blocks, 0, &mut all);
        all
    }

    /// The bits of some blocks.
    pub fn mask(self, bits: Bits, choice: u64) -> u128 {
        let start = |block: u32| block * bits.count() / self.blocks;
        let ones = |count: u32| if count == 128 { u128::MAX } else { (1 << count) - 1 };
        let block = |block: u32| (ones(start(block + 1) - start(block))) << start(block);
        (0..self.blocks).filter(|at| choice >> at & 1 == 1).map(block).fold(0, |mask, block| mask | block)
    }

    /// The choice whose table is the first in which two fingerprints meet; `None` where too few blocks agree.
    pub fn first(self, a: Fingerprint, b: Fingerprint) -> Option<u64> {
        let differ = a.value ^ b.value;
        let mut choice = 0;
        let mut found = 0;
        for block in 0..self.blocks {
            if found < self.chosen && differ & self.mask(a.bits, 1 << block) == 0 {
                choice |= 1 << block;
                found += 1;
            }
        }
        (found == self.chosen).then_some(choice)
    }
}

fn combinations(n: u32, k: u32) -> u64 {
    // Each product is a number of combinations times what it is divided by next.
    (0..u64::from(k.min(n - k))).fold(1, |all, at| (all * (u64::from(n) - at) / (at + 1)).min(1 << 40))
}

/// Appends the choices of `more` blocks from `from` on, beside those that are chosen.
fn push_choices(from: u32, more: u32, blocks: u32, chosen: u64, out: &mut Vec<u64>) {
    if more == 0 {
        out.push(chosen);
        return;
    }
    for block in from..=blocks - more {
        push_choices(block + 1, more - 1, blocks, chosen | 1 << block, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn more_fingerprints_have_more_tables() {
        let of = |bits, n, distance| {
            let tables = Tables::choose(bits, n, distance);
            (tables.blocks(), tables.count())
        };
        assert_eq!(of(Bits::B64, 0, 3), (4, 4));
        assert_eq!(of(Bits::B64, 1_000_000, 3), (4, 4));
        assert_eq!(of(Bits::B64, 1_000_000_000, 3), (5, 10));
        assert_eq!(of(Bits::B64, 10_000_000_000, 3), (5, 10));
        assert_eq!(of(Bits::B64, 1_000, 0), (1, 1));
        assert_eq!(of(Bits::B128, 1_000_000_000, 3), (4, 4));
        assert_eq!(of(Bits::B64, 10, 32), (33, 33));
        assert_eq!(Tables::of(6, 3).map(Tables::count), Some(20));
        for wrong in [(0, 0), (3, 0), (3, 4), (41, 1), (30, 15)] {
            assert_eq!(Tables::of(wrong.0, wrong.1), None, "{wrong:?}");
        }
    }

    #[test]
    fn blocks_are_all_bits_and_choices_ascend() {
        for (blocks, chosen) in [(4, 1), (5, 2), (6, 3), (9, 1), (33, 1)] {
            let tables = Tables::of(blocks, chosen).unwrap();
            let choices = tables.choices();
            assert_eq!(choices.len(), tables.count() as usize);
            assert!(choices.iter().all(|choice| choice.count_ones() == chosen));
            let all = (1 << blocks) - 1;
            assert_eq!(tables.mask(Bits::B64, all), u64::MAX.into());
            assert_eq!(tables.mask(Bits::B128, all), u128::MAX);
        }
    }

    proptest! {
        /// A pair within the distance meets, and the table that it counts in is the first one in which it meets.
        #[test]
        fn every_pair_has_one_first_table(
            a: u128, flips in prop::collection::btree_set(0u32..128, 0..9), wide: bool, more in 0u32..3,
        ) {
            let bits = if wide { Bits::B128 } else { Bits::B64 };
            let value = |value: u128| Fingerprint { bits, value: if wide { value } else { value & u128::from(u64::MAX) } };
            let (a, b) = (value(a), value(flips.iter().fold(a, |value, bit| value ^ 1 << bit)));
            let distance = a.distance(b);
            let tables = Tables::of(distance + 1 + more, 1 + more);
            if let Some(tables) = tables {
                let meets = |choice: &u64| (a.value ^ b.value) & tables.mask(bits, *choice) == 0;
                let first = tables.choices().into_iter().find(meets);
                prop_assert!(first.is_some());
                prop_assert_eq!(tables.first(a, b), first);
            }
        }
    }
}
