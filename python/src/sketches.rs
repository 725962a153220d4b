//! Signatures, fingerprints, and an index of fingerprints.

use crate::raised;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use twinsplit::hamming::{DynamicIndex, IndexOptions, MOST_DISTANCE};

/// Makes MinHash signatures.
#[pyclass(frozen, module = "twinsplit._twinsplit")]
pub struct MinHash(pub twinsplit::MinHash);

#[pymethods]
impl MinHash {
    /// The signature of a text; None where it has too few features.
    fn signature(&self, py: Python<'_>, text: &str) -> Option<Vec<u32>> {
        py.detach(|| self.0.signature(text))
    }

    /// The share of equal values.
    #[staticmethod]
    fn similarity(a: Vec<u32>, b: Vec<u32>) -> PyResult<f64> {
        twinsplit::MinHash::similarity(&a, &b).map_err(raised)
    }
}

/// Makes SimHash fingerprints.
#[pyclass(frozen, module = "twinsplit._twinsplit")]
pub struct SimHash(pub twinsplit::SimHash);

#[pymethods]
impl SimHash {
    /// The fingerprint of a text; None where it has too few features.
    fn fingerprint(&self, py: Python<'_>, text: &str) -> Option<u128> {
        py.detach(|| self.0.fingerprint(text))
    }
}

/// An index of fingerprints of 64 or 128 bits, which get the numbers 0, 1, 2 and so on.
#[pyclass(module = "twinsplit._twinsplit")]
pub struct HammingIndex {
    live: Live,
    next: u64,
}

enum Live {
    Bits64(DynamicIndex<u64>),
    Bits128(DynamicIndex<u128>),
}

/// A number that fits into 64 bits.
fn small(fingerprint: u128) -> PyResult<u64> {
    fingerprint
        .try_into()
        .map_err(|_| PyValueError::new_err(format!("{fingerprint:#x} has more than 64 bits; give bits=128")))
}

#[pymethods]
impl HammingIndex {
    /// An empty one, which finds what differs in so many bits.
    #[new]
    fn new(distance: u32, bits: u32) -> PyResult<Self> {
        if distance > MOST_DISTANCE {
            return Err(PyValueError::new_err(format!("distance {distance}: expected 0 to {MOST_DISTANCE}")));
        }
        let options = IndexOptions { distance, ..IndexOptions::default() };
        let live = match bits {
            64 => Live::Bits64(DynamicIndex::new(options)),
            128 => Live::Bits128(DynamicIndex::new(options)),
            _ => return Err(PyValueError::new_err(format!("bits {bits}: expected 64 or 128"))),
        };
        Ok(Self { live, next: 0 })
    }

    /// Adds a fingerprint, and gives its number.
    fn add(&mut self, py: Python<'_>, fingerprint: u128) -> PyResult<u64> {
        let number = self.next;
        let added = match &mut self.live {
            Live::Bits64(live) => {
                let fingerprint = small(fingerprint)?;
                py.detach(|| live.insert(number, fingerprint))
            }
            Live::Bits128(live) => py.detach(|| live.insert(number, fingerprint)),
        };
        added.map_err(raised)?;
        self.next += 1;
        Ok(number)
    }

    /// Takes a fingerprint out by its number; whether it was there.
    fn remove(&mut self, number: u64) -> bool {
        match &mut self.live {
            Live::Bits64(live) => live.remove(number),
            Live::Bits128(live) => live.remove(number),
        }
    }

    /// The numbers of all fingerprints within the distance, and their distances.
    fn query(&self, py: Python<'_>, fingerprint: u128) -> PyResult<Vec<(u64, u32)>> {
        match &self.live {
            Live::Bits64(live) => {
                let fingerprint = small(fingerprint)?;
                Ok(py.detach(|| live.search(fingerprint)))
            }
            Live::Bits128(live) => Ok(py.detach(|| live.search(fingerprint))),
        }
    }
}
