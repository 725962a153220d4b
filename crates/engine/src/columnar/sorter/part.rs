//! Sorts what a cache holds.

use super::rows::Row;

/// Rows are dealt out to at most so many places, to twice as many as there are rows where these are fewer.
const PLACE_BITS: u32 = 11;
/// More rows than this in one place are compared with one another.
const FEW: usize = 16;

/// A part of more rows is compared as a whole. Only keys that are much alike make one, and its copy would be as large as the sort buffer.
const LARGEST: usize = 4 << PLACE_BITS;

/// Sorts one part after the other; its room is used again.
#[derive(Default)]
pub struct PartSort<R> {
    /// Where the rows of each place end.
    ends: Vec<u32>,
    /// The rows as they were.
    rows: Vec<R>,
}

impl<R: Row> PartSort<R> {
    /// Sorts rows whose keys, less `low`, differ in their last `bits` bits alone. The first of these bits say to which place a row goes. There are more
    /// places than rows, so few rows are left to be compared with their neighbours.
    #[inline]
    pub fn sort(&mut self, rows: &mut [R], low: u64, bits: u32) {
        if rows.len() < 2 {
            return;
        }
        if rows.len() > LARGEST {
            return rows.sort_unstable_by_key(R::key);
        }
        let taken = (rows.len().ilog2() + 1).min(PLACE_BITS).min(bits);
        let place = |row: &R| ((row.key() - low) >> (bits - taken)) as usize & ((1 << taken) - 1);
        self.ends.clear();
        self.ends.resize(1 << taken, 0);
        for row in rows.iter() {
            self.ends[place(row)] += 1;
        }
        let (mut total, mut most) = (0, 0);
        for end in &mut self.ends {
            let count = std::mem::replace(end, total);
            (total, most) = (total + count, most.max(count));
        }
        self.rows.clear();
        self.rows.extend_from_slice(rows);
        for row in &self.rows {
            let end = &mut self.ends[place(row)];
            rows[*end as usize] = *row;
            *end += 1;
        }
        if most as usize > FEW {
            let mut start = 0;
            for end in self.ends.iter().map(|end| *end as usize) {
                if end - start > FEW {
                    rows[start..end].sort_unstable_by_key(R::key);
                }
                start = end;
            }
        }
        insertion_sort(rows);
    }
}

/// Sorts rows of which nearly all are in their place.
fn insertion_sort<R: Row>(rows: &mut [R]) {
    for at in 1..rows.len() {
        let row = rows[at];
        let mut to = at;
        while to > 0 && rows[to - 1].key() > row.key() {
            rows[to] = rows[to - 1];
            to -= 1;
        }
        rows[to] = row;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever bits the numbers differ in: all in places of their own, many in one, all alike.
        #[test]
        fn parts_are_sorted(
            numbers in prop::collection::vec(any::<u64>(), 0..3000), bits in 0u32..=64, low in 0u64..9, masks in any::<[u64; 3]>(),
        ) {
            let all = u64::MAX.checked_shr(64 - bits).unwrap_or(0);
            let mut sort = PartSort::default();
            for mask in masks.into_iter().chain([u64::MAX, 0, 3]) {
                let mut rows: Vec<u64> =
                    numbers.iter().map(|number| low.wrapping_add(number & mask & all).max(low)).collect();
                let mut expected = rows.clone();
                expected.sort_unstable();
                sort.sort(&mut rows, low, bits);
                prop_assert_eq!(&rows, &expected);
            }
        }
    }

    /// One key, and keys of which only the last bits differ, in more rows than are copied.
    #[test]
    fn a_large_part_is_not_copied() {
        for mask in [0, 7, u64::MAX] {
            let mut rows: Vec<u64> =
                (0..=LARGEST as u64).map(|row| row.wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask).collect();
            let mut expected = rows.clone();
            expected.sort_unstable();
            let mut sort = PartSort::default();
            sort.sort(&mut rows, 0, 64);
            assert!(rows == expected && sort.rows.capacity() == 0);
        }
    }
}
