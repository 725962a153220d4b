//! What a service was made with, and how long it keeps what.

use std::path::Path;
use twinsplit_core::similarity::Similarity;
use twinsplit_core::similarity::text::TextCheck;
use twinsplit_core::sketch::simhash::Bits;
use twinsplit_io::checked_file::Head;
use twinsplit_io::error::Result;

/// What decides verdicts. All namespaces have it in common.
#[derive(Clone, Debug)]
pub struct Settings {
    /// When two documents are alike.
    pub comparison: Comparison,
    /// How long documents are kept.
    pub retention: Retention,
    /// The most bytes that entries and their indexes may take together.
    pub memory: u64,
    /// The most namespaces.
    pub namespaces: usize,
}

/// When two documents are alike.
#[derive(Clone, Copy, Debug)]
pub enum Comparison {
    /// When their fingerprints are near.
    Fingerprints {
        /// Bits of a fingerprint.
        bits: Bits,
        /// The greatest distance of any two documents, at most [`twinsplit_hamming::MOST_DISTANCE`].
        distance: u32,
        /// The second stage, where there is one.
        check: Option<TextCheck>,
    },
    /// When their sets of features are in the answer of this similarity, in which the document that comes is the query.
    Sets(Similarity),
}

impl Comparison {
    /// The second stage, where there is one.
    pub fn check(&self) -> Option<TextCheck> {
        match self {
            Comparison::Fingerprints { check, .. } => *check,
            Comparison::Sets(_) => None,
        }
    }
}

/// How long documents are kept, in each namespace.
#[derive(Clone, Copy, Debug, Default)]
pub struct Retention {
    /// Milliseconds after which a document is forgotten.
    pub keep: Option<u64>,
    /// Whether they count from when the document was last found, and not from when it came.
    pub from_last_seen: bool,
    /// The most documents: before there are more, the oldest is forgotten.
    pub most: Option<u64>,
}

const KEEP: &str = "retain-ms";
const FROM: &str = "retain-from";
const MOST: &str = "max";

impl Retention {
    /// As the first line of a log has it.
    pub(crate) fn parameters(&self) -> [(&'static str, String); 3] {
        let number = |number: Option<u64>| number.map_or("none".to_owned(), |number| number.to_string());
        let from = if self.from_last_seen { "last-seen" } else { "insertion" };
        [(KEEP, number(self.keep)), (FROM, from.to_owned()), (MOST, number(self.most))]
    }

    /// That of a first line.
    ///
    /// # Errors
    /// It says none.
    pub(crate) fn of_head(head: &Head, path: &Path) -> Result<Self> {
        let number = |name: &str| match head.get(name) {
            "none" => Ok(None),
            _ => head.number(name, path).map(Some),
        };
        Ok(Self { keep: number(KEEP)?, from_last_seen: head.get(FROM) == "last-seen", most: number(MOST)? })
    }
}
