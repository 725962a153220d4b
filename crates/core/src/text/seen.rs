//! Each feature of a text once, without sorting them.

/// A table of the features of one text. Reused from text to text.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Open addressing with linear probing, at most half full; 0 is an empty slot.
    slots: Vec<u64>,
}

impl Seen {
    /// More features than this are sorted: the table would be larger than a cache.
    const MOST: usize = 1 << 15;

    /// Removes features that are there already. Features are hashes: their top bits say where they stand.
    pub fn retain_first(&mut self, features: &mut Vec<u64>) {
        if features.len() > Self::MOST {
            features.sort_unstable();
            features.dedup();
            return;
        }
        let size = (2 * features.len()).next_power_of_two().max(2);
        self.slots.clear();
        self.slots.resize(size, 0);
        let (slots, shift, mask) = (&mut self.slots[..], u64::BITS - size.ilog2(), size - 1);
        let (mut end, mut zero) = (0, false);
        for at in 0..features.len() {
            let feature = features[at];
            if feature == 0 {
                zero = true;
                continue;
            }
            let mut slot = (feature >> shift) as usize;
            while slots[slot] != 0 && slots[slot] != feature {
                slot = (slot + 1) & mask;
            }
            // No branch: which of a text's words it repeats nobody can foresee.
            let new = slots[slot] == 0;
            slots[slot] = feature;
            features[end] = feature;
            end += usize::from(new);
        }
        features.truncate(end);
        features.extend(zero.then_some(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        #[test]
        fn each_is_kept_once(
            some in prop::collection::vec(prop_oneof![0u64..9, any::<u64>(), (u64::MAX - 9)..=u64::MAX], 0..200),
            more in prop::sample::select(vec![0, Seen::MOST]),
        ) {
            let mut seen = Seen::default();
            let features = some.iter().copied().chain((0..more as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            let mut features: Vec<u64> = features.collect();
            // What another text left behind does not matter.
            seen.retain_first(&mut vec![1, 2, 3, u64::MAX]);
            let expected: HashSet<u64> = features.iter().copied().collect();
            seen.retain_first(&mut features);
            prop_assert_eq!(features.len(), expected.len());
            prop_assert_eq!(features.into_iter().collect::<HashSet<_>>(), expected);
        }
    }
}
