//! The recall that a run has reached, by the audit of its join.
//!
//! Pairs are drawn by the set that they belong to, so their number is not that of independent observations. The interval is the score
//! interval (wilson1927) of as many observations as the sample is worth (kish1965): the binomial variance of the recall over its
//! variance between sets. Where few sets have most of the pairs, that variance is itself estimated from few, and too small as often as
//! not; so the sample is taken to be worth no more than [`MOST_WORTH`] times what it is when all pairs of a set are found or lost together.

use serde_json::{Value, json};
use std::fmt;

/// The standard normal deviate of a two-sided interval of 95 %.
const Z: f64 = 1.959_964;

/// How many times what it is worth at worst a sample is worth at most; docs/performance/minhash.md has what was measured.
const MOST_WORTH: f64 = 4.0;

/// The recall below which nobody who gave no --recall expects a run to be.
const EXPECTED: f64 = 0.9;
/// Fewer pairs than these say little of it.
const FEW: u64 = 20;

/// Pairs of an exact join of some sets with those after them, and how many of them the run has found.
#[derive(Clone, Copy, Debug)]
pub struct Audit {
    /// All of them.
    pub pairs: u64,
    /// Those that are candidates.
    pub found: u64,
    /// Sums over the sets of the pairs squared, the pairs times those found, and those found squared; nothing where the audit
    /// drew all sets.
    pub squares: Option<[u64; 3]>,
}

impl Audit {
    /// The share found; all of none.
    fn recall(self) -> f64 {
        if self.pairs == 0 { 1.0 } else { self.found as f64 / self.pairs as f64 }
    }

    /// How many independent pairs say as much of the recall as those of a sample of sets.
    fn worth(self, [pairs, both, found]: [u64; 3]) -> f64 {
        let (all, share) = (self.pairs as f64, self.recall());
        // All pairs of a set found or lost together: sets that weigh as much as they have pairs.
        let at_worst = all * all / pairs as f64;
        let between = found as f64 - 2.0 * share * both as f64 + share * share * pairs as f64;
        let binomial = share * (1.0 - share) * all * all;
        // Without a lost pair nothing is known of how they are lost.
        if binomial == 0.0 { at_worst } else { (binomial / between.max(0.0)).min(MOST_WORTH * at_worst) }
    }

    /// Between which shares the recall of the whole run lies, with 95 % confidence; nothing where it is counted.
    fn interval(self) -> Option<(f64, f64)> {
        let squares = self.squares?;
        if self.pairs == 0 {
            return Some((0.0, 1.0));
        }
        let (n, share) = (self.worth(squares), self.recall());
        let middle = share + Z * Z / (2.0 * n);
        let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        let whole = 1.0 + Z * Z / n;
        Some((((middle - half) / whole).max(0.0), ((middle + half) / whole).min(1.0)))
    }

    /// What cannot be missed where less was found than was asked for, or, where nothing was asked for, than people expect of bands.
    pub fn warning(self, promised: Option<f64>) -> Option<String> {
        let Some(promised) = promised else {
            return (self.pairs >= FEW && self.recall() < EXPECTED).then(|| {
                format!(
                    "many pairs are missed by these --bands and --rows: {self}; give --recall {EXPECTED}, which chooses them, or take doc-split, which finds all \
                     pairs"
                )
            });
        };
        (self.recall() < promised).then(|| format!(
            "THE RECALL THAT WAS ASKED FOR IS NOT REACHED: --recall {promised}, and {self}; give a larger --recall, or take \
             doc-split, which finds all pairs"
        ))
    }

    /// For `run.json`.
    pub fn json(self) -> Value {
        let six = |share: f64| (share * 1e6).round() / 1e6;
        let mut fields = json!({
            "pairs": self.pairs, "found": self.found, "recall": six(self.recall()), "counted": self.squares.is_none(),
        });
        if let Some((low, high)) = self.interval() {
            fields["interval"] = json!([six(low), six(high)]);
            fields["confidence"] = 0.95.into();
        }
        fields
    }
}

impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pairs, found, .. } = self;
        if *pairs == 0 {
            return f.write_str(
                "the audit's exact join has no pair of different sets, so it says nothing of the recall",
            );
        }
        match self.interval() {
            None => write!(
                f,
                "recall {:.4}, counted: {found} of all {pairs} pairs of different sets",
                self.recall()
            ),
            Some((low, high)) => write!(
                f,
                "recall {:.4} by the audit ({low:.4} to {high:.4} with 95 % confidence): {found} of {pairs} pairs of an exact join of \
                 some sets",
                self.recall()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The audit of these sets, each with its pairs and those found.
    fn audit(sets: &[(u64, u64)]) -> Audit {
        let sum = |of: fn(&(u64, u64)) -> u64| sets.iter().map(of).sum::<u64>();
        let squares = [sum(|set| set.0 * set.0), sum(|set| set.0 * set.1), sum(|set| set.1 * set.1)];
        Audit { pairs: sum(|set| set.0), found: sum(|set| set.1), squares: Some(squares) }
    }

    fn close(found: Option<(f64, f64)>, low: f64, high: f64) {
        let found = found.unwrap();
        assert!(
            (found.0 - low).abs() < 2e-5 && (found.1 - high).abs() < 2e-5,
            "{found:?}, not {low} to {high}"
        );
    }

    /// Sets of one pair each are independent observations: values of R's prop.test(x, n, correct = FALSE).
    #[test]
    fn the_interval_of_single_pairs_is_that_of_wilson() {
        for (found, pairs, low, high) in
            [(9, 10, 0.595_849, 0.982_124), (50, 100, 0.403_832, 0.596_168), (100, 100, 0.963_005, 1.0)]
        {
            let sets: Vec<_> = (0..pairs).map(|set| (1, u64::from(set < found))).collect();
            close(audit(&sets).interval(), low, high);
        }
        assert_eq!(audit(&[]).interval(), Some((0.0, 1.0)));
    }

    /// A hundred pairs of ten sets, found or lost together, say as much as ten pairs.
    #[test]
    fn pairs_that_are_lost_together_are_one_observation() {
        let mut sets = [(10, 10); 10];
        sets[9] = (10, 0);
        close(audit(&sets).interval(), 0.595_849, 0.982_124);
        // None is lost, so how they are lost is not known: ten pairs again.
        close(audit(&[(10, 10); 10]).interval(), 0.722_467, 1.0);
        // Lost as evenly as can be, they are worth no more than four times ten: prop.test(36, 40).
        close(audit(&[(10, 9); 10]).interval(), 0.769_482, 0.960_420);
    }

    #[test]
    fn a_recall_that_is_counted_has_no_interval() {
        let audit = Audit { pairs: 1000, found: 990, squares: None };
        let json = audit.json();
        assert!(json["counted"] == true && json.get("interval").is_none(), "{json}");
        assert!(audit.to_string().contains("counted: 990 of all 1000 pairs"), "{audit}");
        assert!(audit.warning(Some(0.99)).is_none(), "what was asked for is reached");
        assert!(audit.warning(Some(0.991)).is_some());
    }

    /// One pair below what was asked for is below it, however wide the interval.
    #[test]
    fn less_than_was_asked_for_is_warned_of() {
        let sets: Vec<_> = (0..1000).map(|set| (1, u64::from(set < 989))).collect();
        let audit = audit(&sets);
        let few = Audit { pairs: 1000, found: 899, squares: None };
        assert!(few.warning(None).unwrap().contains("899 of all 1000 pairs"));
        assert!(Audit { pairs: 19, found: 0, squares: None }.warning(None).is_none());
        assert!(audit.warning(None).is_none() && audit.warning(Some(0.98)).is_none());
        assert!(audit.interval().unwrap().1 > 0.99);
        let warning = audit.warning(Some(0.99)).unwrap();
        assert!(warning.contains("NOT REACHED") && warning.contains("989 of 1000"), "{warning}");
        assert!(Audit { pairs: 0, found: 0, squares: None }.warning(Some(0.99)).is_none());
    }
}
