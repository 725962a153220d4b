//! The recall that a run has reached, by the audit of its join.

use serde_json::{Value, json};
use std::fmt;

/// The standard normal deviate of a two-sided interval of 95 %.
const Z: f64 = 1.959_964;

/// Pairs of an exact join of some sets with all others, and how many of them the run has found.
#[derive(Clone, Copy, Debug)]
pub struct Audit {
    /// All of them.
    pub pairs: u64,
    /// Those that are candidates.
    pub found: u64,
}

impl Audit {
    /// The share found; all of none.
    fn recall(self) -> f64 {
        if self.pairs == 0 { 1.0 } else { self.found as f64 / self.pairs as f64 }
    }

    /// Between which shares the recall of the whole run lies, with 95 % confidence: the score interval (wilson1927).
    fn interval(self) -> (f64, f64) {
        if self.pairs == 0 {
            return (0.0, 1.0);
        }
        let (n, share) = (self.pairs as f64, self.recall());
        let middle = share + Z * Z / (2.0 * n);
        let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        let whole = 1.0 + Z * Z / n;
        (((middle - half) / whole).max(0.0), ((middle + half) / whole).min(1.0))
    }

    /// What cannot be missed where the recall is below what was asked for, with confidence.
    pub fn warning(self, promised: Option<f64>) -> Option<String> {
        let promised = promised.filter(|promised| self.interval().1 < *promised)?;
        Some(format!(
            "THE RECALL THAT WAS ASKED FOR IS NOT REACHED: --recall {promised}, and {self}; give a larger --recall, or take \
             doc-split, which finds all pairs"
        ))
    }

    /// For `run.json`.
    pub fn json(self) -> Value {
        let six = |share: f64| (share * 1e6).round() / 1e6;
        let (low, high) = self.interval();
        json!({
            "pairs": self.pairs, "found": self.found, "recall": six(self.recall()),
            "interval": [six(low), six(high)], "confidence": 0.95,
        })
    }
}

impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = self.interval();
        match self.pairs {
            0 => f.write_str(
                "the audit's exact join has no pair of different sets, so it says nothing of the recall",
            ),
            pairs => write!(
                f,
                "recall {:.4} by the audit ({:.4} to {:.4} with 95 % confidence): {} of {pairs} pairs of an exact join of some \
                 sets with all others",
                self.recall(),
                low,
                high,
                self.found
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_that_of_wilson() {
        // Values of R's prop.test(x, n, correct = FALSE).
        for (found, pairs, low, high) in
            [(9, 10, 0.595_849, 0.982_124), (50, 100, 0.403_832, 0.596_168), (100, 100, 0.963_005, 1.0)]
        {
            let (found_low, found_high) = Audit { pairs, found }.interval();
            assert!(
                (found_low - low).abs() < 2e-5 && (found_high - high).abs() < 2e-5,
                "{found} of {pairs}: {found_low} {found_high}"
            );
        }
        assert_eq!(Audit { pairs: 0, found: 0 }.interval(), (0.0, 1.0));
    }

    #[test]
    fn a_promise_that_is_contradicted_is_warned_of() {
        let audit = Audit { pairs: 1000, found: 900 };
        assert!(audit.warning(None).is_none() && audit.warning(Some(0.91)).is_none());
        let warning = audit.warning(Some(0.99)).unwrap();
        assert!(warning.contains("NOT REACHED") && warning.contains("900 of 1000"), "{warning}");
        assert!(Audit { pairs: 0, found: 0 }.warning(Some(0.99)).is_none());
    }
}
