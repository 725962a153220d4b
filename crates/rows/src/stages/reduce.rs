//! What `--reduce-to` asks for, and what is said of it; the algorithm is [`twinsplit_core::cluster::reduce`].

use crate::record::near::AnyPair;
use std::cmp::Ordering;
use twinsplit_core::similarity::{Measure, Score, Similarity};
use twinsplit_io::error::{Error, Result};

/// The name of the option.
pub const REDUCE_TO: &str = "reduce-to";

twinsplit_core::options! {
    /// How many documents are to stay.
    pub struct ReduceOpts {
        /// Keep the N documents that are least alike: of all pairs, by descending similarity, the worse document by --keep is dropped
        /// until N are left
        pub reduce_to: Option<u64>, "N", in 1..=u64::MAX;
    }
}

/// How alike the documents of a pair are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// What two sets share, and their sizes.
    Sets(u64, u64, u64),
    /// In how many bits two fingerprints differ, and how alike their texts are where these were compared.
    Fingerprints(u32, Option<Score>),
}

impl Likeness {
    /// That of a pair of any chain.
    pub fn of(pair: &AnyPair<'_>) -> Self {
        match pair {
            AnyPair::Sets(pair) => Self::Sets(pair.overlap, pair.size_a, pair.size_b),
            AnyPair::Fingerprints(near) => {
                Self::Fingerprints(near.distance, near.checked.map(|checked| checked.score))
            }
        }
    }

    /// The order of two, the more similar one first: exactly, for sets; for fingerprints by the similarity of texts, then by the distance.
    pub fn order(&self, other: &Self, measure: Measure) -> Ordering {
        match (*self, *other) {
            (Self::Sets(o, a, b), Self::Sets(other_o, other_a, other_b)) => {
                measure.compare((other_o, other_a, other_b), (o, a, b))
            }
            (Self::Fingerprints(distance, score), Self::Fingerprints(other_distance, other_score)) => {
                other_score.cmp(&score).then(distance.cmp(&other_distance))
            }
            // A chain compares one or the other.
            (Self::Sets(..), Self::Fingerprints(..)) => Ordering::Less,
            (Self::Fingerprints(..), Self::Sets(..)) => Ordering::Greater,
        }
    }

    /// The counter that tells it, and its value.
    fn counter(self, measure: Measure) -> (&'static str, u64) {
        let score = match self {
            Self::Sets(overlap, a, b) => measure.score(overlap, a, b),
            Self::Fingerprints(_, Some(score)) => score,
            Self::Fingerprints(distance, None) => return (AT_DISTANCE, distance.into()),
        };
        match score {
            Score::Share(millionths) => (AT_MILLIONTHS, millionths.into()),
            Score::Count(features) => (AT_FEATURES, features),
        }
    }
}

/// The counter of the documents that stay, and of those that were dropped because they are copies of others, by their features or texts.
pub const LEFT: &str = "documents_left";
/// See [`LEFT`].
pub const COPIES: &str = "copies_dropped";
/// The similarity of the last pair for which a document was dropped: a share in millionths, a number of features, or bits of a distance. None where copies
/// alone were dropped, or nothing.
pub const AT_MILLIONTHS: &str = "dropped_at_millionths";
/// See [`AT_MILLIONTHS`].
pub const AT_FEATURES: &str = "dropped_at_features";
/// See [`AT_MILLIONTHS`].
pub const AT_DISTANCE: &str = "dropped_at_distance";

/// What came of `--reduce-to`.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// How many documents were to stay.
    pub wanted: u64,
    /// How many there were.
    pub documents: u64,
    /// Copies that were dropped.
    pub copies: u64,
    /// The last pair for which a document was dropped.
    pub last: Option<Likeness>,
    /// How many are still too many.
    pub lacking: u64,
}

impl Outcome {
    /// What is counted, for a run of this similarity.
    ///
    /// # Errors
    /// When there are too few pairs.
    pub fn counters(&self, similarity: Similarity, fingerprints: bool) -> Result<Vec<(&'static str, u64)>> {
        let Self { wanted, documents, copies, last, lacking } = *self;
        if lacking > 0 {
            let left = wanted + lacking;
            let lower = if fingerprints {
                "a larger --distance finds more pairs".to_owned()
            } else {
                format!(
                    "tau is {}, and a lower one finds more pairs{}",
                    similarity.threshold(),
                    next(similarity)
                )
            };
            return Err(Error::Limit(format!(
                "--reduce-to {wanted}: {left} of {documents} documents are left when every pair has lost one, so {lacking} are too many; \
                 {lower}, or take --reduce-to {left} or more"
            )));
        }
        let left = wanted.min(documents);
        let at = last.map(|last| last.counter(similarity.measure()));
        Ok([(LEFT, left), (COPIES, copies)].into_iter().chain(at).collect())
    }
}

/// The threshold to try next.
fn next(similarity: Similarity) -> String {
    let threshold = similarity.threshold();
    let lower = match similarity {
        Similarity::Overlap(_) => {
            threshold.parse().ok().filter(|least: &u64| *least > 1).map(|least| (least / 2).to_string())
        }
        _ => threshold.parse().ok().filter(|tau: &f64| *tau > 0.05).map(|tau| {
            let lower = if tau > 0.25 { tau - 0.15 } else { tau / 2.0 };
            format!("{:.2}", lower.max(0.05))
        }),
    };
    lower.map(|lower| format!(": try --tau {lower}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(lacking: u64, last: Option<Likeness>) -> Outcome {
        Outcome { wanted: 3, documents: 9, copies: 1, last, lacking }
    }

    #[test]
    fn too_few_pairs_are_an_error_that_says_what_to_try() {
        let said = |measure: Measure, tau: &str, fingerprints| {
            let similarity = measure.reaching(tau).unwrap();
            outcome(2, None).counters(similarity, fingerprints).unwrap_err().to_string()
        };
        let left =
            "--reduce-to 3: 5 of 9 documents are left when every pair has lost one, so 2 are too many; ";
        for (measure, tau, next) in [
            (Measure::Jaccard, "0.65", "tau is 0.65, and a lower one finds more pairs: try --tau 0.50"),
            (Measure::Dice, "0.2", "tau is 0.2, and a lower one finds more pairs: try --tau 0.10"),
            (Measure::Cosine, "0.05", "tau is 0.05, and a lower one finds more pairs"),
            (Measure::Overlap, "7", "tau is 7, and a lower one finds more pairs: try --tau 3"),
            (Measure::Overlap, "1", "tau is 1, and a lower one finds more pairs"),
        ] {
            let expected = format!("{left}{next}, or take --reduce-to 5 or more");
            assert_eq!(said(measure, tau, false), expected);
        }
        let expected = format!("{left}a larger --distance finds more pairs, or take --reduce-to 5 or more");
        assert_eq!(said(Measure::Jaccard, "0.65", true), expected);
    }

    #[test]
    fn the_last_pair_is_counted_as_it_is_written() {
        let counters = |measure: Measure, tau: &str, last| {
            outcome(0, last).counters(measure.reaching(tau).unwrap(), false).unwrap()[2..].to_vec()
        };
        let sets = Some(Likeness::Sets(2, 3, 3));
        assert_eq!(counters(Measure::Jaccard, "0.4", sets), [(AT_MILLIONTHS, 500_000)]);
        assert_eq!(counters(Measure::Overlap, "1", sets), [(AT_FEATURES, 2)]);
        let near = |score| Some(Likeness::Fingerprints(3, score));
        assert_eq!(counters(Measure::Jaccard, "0.4", near(None)), [(AT_DISTANCE, 3)]);
        assert_eq!(counters(Measure::Jaccard, "0.4", near(Score::share(7))), [(AT_MILLIONTHS, 7)]);
        assert_eq!(counters(Measure::Jaccard, "0.4", None), []);
    }

    #[test]
    fn the_more_similar_comes_first() {
        let order = |x: Likeness, y: Likeness| x.order(&y, Measure::Jaccard);
        // Both are written 0.666667.
        let (less, more) = (Likeness::Sets(2_000_000, 2_500_000, 2_500_001), Likeness::Sets(2, 2, 3));
        assert_eq!(
            (order(more, less), order(less, more), order(more, more)),
            (Ordering::Less, Ordering::Greater, Ordering::Equal)
        );
        let near = |distance, score| Likeness::Fingerprints(distance, Score::share(score));
        assert_eq!(order(near(9, 900_000), near(1, 800_000)), Ordering::Less);
        assert_eq!(order(near(9, 900_000), near(1, 900_000)), Ordering::Greater);
    }
}
