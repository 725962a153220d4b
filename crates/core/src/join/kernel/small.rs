//! Pairs of small sets, verified without a branch: each token of one beside each token of the other.
//!
//! A merge of two sets of ten tokens takes a branch for each of them, and which way it goes nobody can foresee. Vector instructions
//! compare a token with eight others at once, so that eight tokens of a query beside eight of a candidate take less time than one
//! branch that was foreseen wrongly. What prefixes share is counted again, and nothing has to be known of them.

use super::AHEAD;
use super::words::Check;
use crate::join::sets::Sets;
use crate::mask::padded;
use crate::processor::{self, Instructions, Work};
use std::array;

/// Tokens that are looked at together.
const LANES: usize = 8;

/// The largest queries that are compared in this way, by their stored tokens.
pub(super) const MAX_QUERY: usize = 2 * LANES;

/// By the number of tokens that are left of a set: 1 in the lanes of its own tokens, 0 behind.
const LANE_MASKS: [[u32; LANES]; LANES + 1] = {
    let (mut masks, mut left) = ([[0; LANES]; LANES + 1], 1);
    while left <= LANES {
        masks[left] = masks[left - 1];
        masks[left][left - 1] = 1;
        left += 1;
    }
    masks
};

/// Finds out how many of the tokens of a query each candidate shares. Candidates are numbered from the set `first`.
pub(super) fn check(sets: &Sets, first: usize, tokens: &[u32], checks: &mut [Check]) {
    check_with(Instructions::Avx2, sets, first, tokens, checks);
}

fn check_with(instructions: Instructions, sets: &Sets, first: usize, tokens: &[u32], checks: &mut [Check]) {
    checks.iter_mut().for_each(|check| check.shared = 0);
    for some in tokens.chunks(LANES) {
        // To look for a token twice changes nothing.
        let mut query = [some[0]; LANES];
        query[..some.len()].copy_from_slice(some);
        processor::run(instructions, CompareAll { sets, first, query: &query, checks });
    }
}

struct CompareAll<'a> {
    sets: &'a Sets,
    first: usize,
    query: &'a [u32; LANES],
    checks: &'a mut [Check],
}

impl Work for CompareAll<'_> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let Self { sets, first, query, checks } = self;
        for at in 0..checks.len() {
            if let Some(later) = checks.get(at + AHEAD) {
                sets.token_soon(first + later.set as usize, 0);
            }
            let set = first + checks[at].set as usize;
            let (tokens, stored) = (sets.get_onwards(set), sets.stored(set));
            for from in (0..stored).step_by(LANES) {
                let mask = &LANE_MASKS[(stored - from).min(LANES)];
                checks[at].shared += shared(query, &padded(&tokens[from..]), mask);
            }
        }
    }
}

/// How many of some tokens are in the query; `mask` is 1 for those that count. Whole arrays, so that each line becomes an instruction.
#[inline(always)]
fn shared(query: &[u32; LANES], tokens: &[u32; LANES], mask: &[u32; LANES]) -> u32 {
    let mut found = [0; LANES];
    for token in query {
        found = array::from_fn(|lane| found[lane] | u32::from(tokens[lane] == *token));
    }
    (0..LANES).map(|lane| found[lane] & mask[lane]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// What sets share, counted one by one, by each list of instructions; zero is a token as any other.
        #[test]
        fn sets_share_what_is_in_both(
            mut sets in prop::collection::vec(prop::collection::btree_set(0u32..40, 0..30), 1..20),
            query in prop::collection::btree_set(0u32..40, 1..=MAX_QUERY),
            from in 0usize..20,
        ) {
            sets.sort_by_key(BTreeSet::len);
            let mut all = Sets::default();
            sets.iter().for_each(|set| all.push(&set.iter().copied().collect::<Vec<_>>()));
            let first = from % sets.len();
            let tokens: Vec<u32> = query.iter().copied().collect();
            let of = |set: u32| Check { set, shared: 3, ..Check::default() };
            let checks: Vec<Check> = (0..(sets.len() - first) as u32).map(of).collect();
            for instructions in [Instructions::Plain, Instructions::Popcnt, Instructions::Avx2] {
                let mut checks = checks.clone();
                check_with(instructions, &all, first, &tokens, &mut checks);
                for found in checks {
                    let expected = sets[first + found.set as usize].intersection(&query).count() as u32;
                    prop_assert_eq!(found.shared, expected, "{:?}", instructions);
                }
            }
        }
    }
}
