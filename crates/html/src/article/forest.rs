//! The forest that says how likely a block is content.
//!
//! It was learned by gradient boosting (friedman2001) of trees that ask one question a level, so that the answers to all questions of a
//! tree are the number of a leaf. `benches/html/learn.py` writes it. All numbers are integers: the same page gives the same text on every
//! machine.

use super::features::Feature::{self, *};
use super::features::Row;

/// How many questions a tree asks.
const DEPTH: usize = 5;

/// A tree.
struct Tree {
    /// Features, and what each must be greater than.
    tests: [(Feature, i32); DEPTH],
    /// By the answers, the first one the highest bit.
    leaves: [i32; 1 << DEPTH],
}

/// All trees.
struct Forest {
    /// Where every sum begins.
    start: i32,
    trees: &'static [Tree],
}

static FOREST: Forest = include!("forest.in");

/// One, as a likelihood.
pub const CERTAIN: u64 = 1 << 16;

/// So much of a sum is one of the logarithm of odds.
const UNIT: i32 = 1024;

/// The likelihoods of sums of 0, 1/2, 1, … units: the logistic function, rounded.
const LIKELIHOODS: [u64; 17] = [
    32768, 40793, 47911, 53581, 57724, 60565, 62428, 63615, 64357, 64816, 65097, 65269, 65374, 65438, 65476,
    65500, 65514,
];

/// What the trees say of a block: the logarithm of the odds that it is content, in parts of [`UNIT`].
pub fn sum(row: &Row) -> i32 {
    let one = |tree: &Tree| {
        let leaf = tree
            .tests
            .iter()
            .fold(0, |leaf, (feature, than)| leaf * 2 + usize::from(row[*feature as usize] > *than));
        tree.leaves[leaf]
    };
    FOREST.trees.iter().map(one).sum::<i32>() + FOREST.start
}

/// How likely a sum is content, in parts of [`CERTAIN`].
pub fn likelihood(sum: i32) -> u64 {
    let (step, last) = (UNIT as u32 / 2, LIKELIHOODS.len() - 1);
    let size = sum.unsigned_abs().min(step * last as u32);
    let (at, rest) = ((size / step) as usize, u64::from(size % step));
    let (low, high) = (LIKELIHOODS[at], LIKELIHOODS[last.min(at + 1)]);
    let found = low + (high - low) * rest / u64::from(step);
    if sum < 0 { CERTAIN - found } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likelihoods_are_those_of_the_logistic_function() {
        for sum in -10 * UNIT..=10 * UNIT {
            let expected = CERTAIN as f64 / (1.0 + (-f64::from(sum) / f64::from(UNIT)).exp());
            assert!((likelihood(sum) as f64 - expected).abs() < 500.0, "{sum}");
            assert!(sum == -10 * UNIT || likelihood(sum - 1) <= likelihood(sum), "{sum}");
            assert!((1..CERTAIN).contains(&likelihood(sum)), "{sum}");
        }
    }
}
