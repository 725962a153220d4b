//! MinHash signatures and SimHash fingerprints of single texts, for programs that keep them elsewhere.

use super::dedup::Dedup;
use std::sync::Mutex;
use twinsplit_core::sketch::Sketcher;
use twinsplit_core::sketch::minhash::Signer;
use twinsplit_core::text::Extractor;
use twinsplit_core::threads::lock;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::stages::minhash::SignatureOpts;
use twinsplit_rows::stages::options::MinFeaturesOpts;
use twinsplit_rows::stages::simhash::FingerprintOpts;

/// Makes the MinHash signatures of texts: see [`Dedup::min_hash`]. Many threads may ask it, one after the other.
#[derive(Debug)]
pub struct MinHash {
    work: Mutex<(Extractor, Signer, Vec<u64>)>,
    least: MinFeaturesOpts,
}

impl MinHash {
    /// The signature of a text; `None` where it has too few features.
    pub fn signature(&self, text: &str) -> Option<Vec<u32>> {
        let (extractor, signer, features) = &mut *lock(&self.work);
        extractor.set(text, features);
        if features.is_empty() || !self.least.admits(features.len() as u64) {
            return None;
        }
        let mut signature = Vec::with_capacity(signer.hashes());
        signer.sign(features, &mut signature);
        Some(signature)
    }

    /// The share of equal values, which estimates the Jaccard similarity of two texts.
    ///
    /// # Errors
    /// When the signatures are empty or of different lengths.
    pub fn similarity(a: &[u32], b: &[u32]) -> Result<f64> {
        if a.len() != b.len() || a.is_empty() {
            return Err(Error::Usage(format!(
                "signatures of {} and of {} values cannot be compared",
                a.len(),
                b.len()
            )));
        }
        let equal = a.iter().zip(b).filter(|(a, b)| a == b).count();
        Ok(equal as f64 / a.len() as f64)
    }
}

/// Makes the SimHash fingerprints of texts: see [`Dedup::sim_hash`]. Many threads may ask it, one after the other.
#[derive(Debug)]
pub struct SimHash {
    work: Mutex<Sketcher>,
}

impl SimHash {
    /// The fingerprint of a text, of 64 bits in the lower half; `None` where it has too few features. How near two of them are is the number
    /// of bits in which they differ.
    pub fn fingerprint(&self, text: &str) -> Option<u128> {
        lock(&self.work).fingerprint(text).map(|fingerprint| fingerprint.value)
    }
}

impl Dedup {
    /// What makes the signatures that the chain `minhash` makes, by its options `hashes` and `minhash`.
    ///
    /// ```
    /// use twinsplit::{Dedup, MinHash};
    /// let signer = Dedup::new().features("words:2")?.option("hashes", "512")?.min_hash()?;
    /// let sign = |text| signer.signature(text).unwrap_or_default();
    /// let (a, b) = (sign("Rain fell on the harbour all night."), sign("Rain fell on the harbour all day."));
    /// assert_eq!(a.len(), 512);
    /// // 5 of 7 features are in both.
    /// assert!((MinHash::similarity(&a, &b)? - 5.0 / 7.0).abs() < 0.1);
    /// # Ok::<(), twinsplit::Error>(())
    /// ```
    pub fn min_hash(&self) -> Result<MinHash> {
        // Of signatures alone there are no bands, which would need as many values.
        let params = self.clone().set("bands", "1").set("rows", "1").chain("minhash")?.plan(&[])?.params;
        let opts: SignatureOpts = params.parse()?;
        let work = (Extractor::new(opts.features.spec()?), opts.signer.signer(), Vec::new());
        Ok(MinHash { work: Mutex::new(work), least: params.parse()? })
    }

    /// What makes the fingerprints that the chain `simhash` makes, by its options `bits`, `weights`, `hash` and `tie`.
    ///
    /// ```
    /// use twinsplit::Dedup;
    /// let printer = Dedup::new().features("words:2")?.sim_hash()?;
    /// let print = |text| printer.fingerprint(text).unwrap_or_default();
    /// let (a, b) = (print("Rain fell on the harbour all night."), print("Rain fell on the harbour, all night!"));
    /// assert_eq!((a ^ b).count_ones(), 0);
    /// # Ok::<(), twinsplit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Among others when weights need document frequencies and no table of them was given.
    pub fn sim_hash(&self) -> Result<SimHash> {
        let opts: FingerprintOpts = self.clone().chain("simhash")?.plan(&[])?.params.parse()?;
        Ok(SimHash { work: Mutex::new(opts.sketch.sketcher(opts.idf()?)?) })
    }
}
