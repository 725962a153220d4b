//! What is compared at each row of `tune`: sets by a similarity, or fingerprints by a distance.

use twinsplit_core::similarity::{Measure, Similarity};

/// A threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// The least similarity of a pair of sets.
    Similarity(Similarity),
    /// The most bits in which the fingerprints of a pair differ.
    Distance(u32),
}

impl Threshold {
    /// As it is written.
    pub fn shown(self) -> String {
        match self {
            Threshold::Similarity(similarity) => similarity.threshold(),
            Threshold::Distance(distance) => distance.to_string(),
        }
    }

    /// The option of a run that sets it.
    pub fn option(self) -> &'static str {
        Kind::of(self).option()
    }
}

/// The numbers of a pair.
#[derive(Clone, Copy, Debug)]
pub enum Numbers {
    /// Of its sets: features in both, in the first and in the second.
    Sets(u64, u64, u64),
    /// The bits in which its fingerprints differ.
    Bits(u32),
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Sets, by this measure.
    Sets(Measure),
    /// Fingerprints.
    Fingerprints,
}

impl Kind {
    /// That of a threshold.
    pub fn of(threshold: Threshold) -> Self {
        match threshold {
            Threshold::Similarity(similarity) => Kind::Sets(similarity.measure()),
            Threshold::Distance(_) => Kind::Fingerprints,
        }
    }

    /// The option of a run that sets a threshold.
    pub fn option(self) -> &'static str {
        match self {
            Kind::Sets(_) => "tau",
            Kind::Fingerprints => "distance",
        }
    }

    /// What is called the pairs that a threshold accepts, and the others.
    pub fn sides(self) -> [&'static str; 2] {
        match self {
            Kind::Sets(_) => ["at or above", "below"],
            Kind::Fingerprints => ["within", "beyond"],
        }
    }

    /// What is compared, in a sentence.
    pub fn sentence(self) -> String {
        match self {
            Kind::Sets(measure) => {
                format!("Similarity: {}, {}: {}.", measure.name(), measure.formula(), measure.words())
            }
            Kind::Fingerprints => {
                "Distance: the bits in which the SimHash fingerprints of two documents differ.".to_owned()
            }
        }
    }

    /// What the numbers of a pair are, by an example.
    pub fn example(self) -> &'static str {
        match self {
            Kind::Sets(Measure::Jaccard) => "24/36 = 24 features in both texts, 36 in one or both",
            Kind::Sets(Measure::Containment) => "24/30 = 24 features in both texts, 30 in the smaller one",
            Kind::Sets(Measure::QueryContainment) => "24/30 = 24 features in both texts, 30 in the query",
            Kind::Sets(Measure::Cosine) => {
                "24/sqrt(30·40) = 24 features in both texts, 30 in one and 40 in the other"
            }
            Kind::Sets(Measure::Dice) => {
                "2·24/(30+40) = 24 features in both texts, 30 in one and 40 in the other"
            }
            Kind::Sets(Measure::Overlap) => {
                "24 (30, 40) = 24 features in both texts, 30 in one and 40 in the other"
            }
            Kind::Fingerprints => "3 bits = the fingerprints differ in 3 bits",
        }
    }

    /// The numbers of a pair, as they are shown.
    pub fn numbers(self, numbers: Numbers) -> String {
        let (measure, overlap, size_a, size_b) = match (self, numbers) {
            (Kind::Sets(measure), Numbers::Sets(overlap, size_a, size_b)) => {
                (measure, overlap, size_a, size_b)
            }
            (_, Numbers::Bits(1)) => return "1 bit".to_owned(),
            (_, Numbers::Bits(bits)) => return format!("{bits} bits"),
            (Kind::Fingerprints, Numbers::Sets(overlap, ..)) => return overlap.to_string(),
        };
        let score = measure.score(overlap, size_a, size_b);
        match measure {
            Measure::Jaccard => format!("{score} = {overlap}/{}", size_a + size_b - overlap),
            Measure::Containment => format!("{score} = {overlap}/{}", size_a.min(size_b)),
            Measure::QueryContainment => format!("{score} = {overlap}/{size_a}"),
            Measure::Cosine => format!("{score} = {overlap}/sqrt({size_a}·{size_b})"),
            Measure::Dice => format!("{score} = 2·{overlap}/({size_a}+{size_b})"),
            Measure::Overlap => format!("{score} ({size_a}, {size_b})"),
        }
    }
}
