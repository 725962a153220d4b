//! Bands of signatures: locality-sensitive hashing (leskovec2020, section 3.4).
//!
//! A signature is cut into bands of some rows each. Two documents are candidates when they agree in all rows of a band. With
//! Jaccard similarity J that happens with probability 1 - (1 - J^rows)^bands: an S-curve, steep where more rows make it so.

use super::minhash::Signer;
use crate::hash;

/// How signatures are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bands {
    /// Keys that a document has.
    pub bands: usize,
    /// Values that a key is made of.
    pub rows: usize,
}

impl Bands {
    /// Appends the keys of a signature, which has at least `bands * rows` values. The keys of two bands are never compared:
    /// each is hashed with the number of its own.
    pub fn keys(self, signature: &[u32], out: &mut Vec<u64>) {
        out.extend(
            (0..)
                .zip(signature.chunks_exact(self.rows))
                .take(self.bands)
                .map(|(band, rows)| hash::band(band, rows)),
        );
    }

    /// The probability that two documents of a Jaccard similarity are candidates.
    pub fn probability(self, jaccard: f64) -> f64 {
        let missed = (self.bands as f64) * (-jaccard.powi(self.rows as i32)).ln_1p();
        -missed.exp_m1()
    }
}

/// Makes the keys of sets.
pub struct BandHasher {
    bands: Bands,
    signer: Signer,
    values: Vec<u32>,
}

impl BandHasher {
    /// Of signatures that a signer makes.
    pub fn new(bands: Bands, signer: Signer) -> Self {
        Self { bands, signer, values: Vec::new() }
    }

    /// Appends the keys of a set.
    pub fn of(&mut self, features: &[u64], out: &mut Vec<u64>) {
        self.values.clear();
        self.signer.sign(features, &mut self.values);
        self.bands.keys(&self.values, out);
    }

    /// Appends what stands for the keys of a line that is in no join.
    pub fn none(&self, out: &mut Vec<u64>) {
        out.resize(out.len() + self.bands.bands, 0);
    }

    /// Makes the keys of a set whose features come one by one, by [`add`](Self::add).
    pub fn start(&mut self) {
        self.signer.start();
    }

    /// Takes a feature.
    pub fn add(&mut self, feature: u64) {
        self.signer.add(feature);
    }

    /// Appends the keys of all that was added; false, and nothing, where a signature has more values than they fill.
    pub fn finish(&mut self, out: &mut Vec<u64>) -> bool {
        self.values.clear();
        let fills = self.signer.finish(&mut self.values);
        if fills {
            self.bands.keys(&self.values, out);
        }
        fills
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_the_formula() {
        for (bands, rows, jaccard, expected) in [
            (14, 8, 0.8, 0.924),
            (16, 8, 0.8, 0.947),
            (20, 13, 0.8, 0.677),
            (16, 8, 1.0, 1.0),
            (1, 1, 0.25, 0.25),
            (5, 3, 0.0, 0.0),
        ] {
            let found = Bands { bands, rows }.probability(jaccard);
            assert!((found - expected).abs() < 0.0005, "{bands} x {rows} at {jaccard}: {found}");
        }
    }

    #[test]
    fn a_key_stands_for_a_band_and_its_rows() {
        let keys = |signature: &[u32]| {
            let mut keys = Vec::new();
            Bands { bands: 3, rows: 2 }.keys(signature, &mut keys);
            keys
        };
        let all = keys(&[7, 8, 7, 8, 1, 2, 99]);
        let others = keys(&[7, 8, 8, 7, 1, 2]);
        assert_eq!(all.len(), 3);
        assert!(all[0] != all[1], "two bands have two keys");
        assert_eq!(all.iter().zip(&others).map(|(x, y)| x == y).collect::<Vec<_>>(), [true, false, true]);
    }
}
