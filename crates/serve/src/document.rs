//! What is compared of a document, and what is said of it.

use crate::content::Content;
use std::fmt;
use twinsplit_core::hash;
use twinsplit_core::similarity::text::TextMeasure;
use twinsplit_core::similarity::{Measure as SetMeasure, Score};

/// By what a document finds others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Key {
    /// Its SimHash fingerprint, of 64 bits in the lower half or of 128, and the most bits in which others may differ from it.
    Fingerprint {
        /// The bits.
        value: u128,
        /// The distance, which is that of the document's length.
        most: u32,
    },
    /// The set of its features, which is its content.
    Set,
    /// The hash of its text, which has too few features for anything else: equal texts find it, and no others.
    Text(u128),
    /// Nothing, for there is no text: it is like no other document.
    #[default]
    Nothing,
}

/// A document, as it is compared and stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// By what it finds others.
    pub key: Key,
    /// A hash of all that the client sent of it but the id: by it a retry is told from other content under the same id.
    pub digest: u64,
    /// What is compared beside the key, where there is something.
    pub content: Option<Box<Content>>,
}

/// Keeps a fingerprint that was sent from being taken for a text of the same bytes.
const SENT: u64 = 0x6670;

/// The digest of a document of which its fingerprint was sent.
pub(crate) fn sent_digest(value: u128) -> u64 {
    hash::mix(hash::feature(&value.to_le_bytes()) ^ SENT)
}

/// By what a document is a duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// By the distance of the fingerprints.
    Hamming,
    /// By equal texts, too short for anything else.
    EqualText,
    /// By near fingerprints, and then by how alike the texts are: a share in millionths.
    Text(TextMeasure, u32),
    /// By the features that both have: a share in millionths, or how many they are.
    Set(SetMeasure, u32),
}

impl Measure {
    /// Whether fingerprints were compared, or stand for something that was, so that there is a distance.
    pub(crate) fn has_distance(self) -> bool {
        !matches!(self, Measure::Set(..))
    }
}

impl fmt::Display for Measure {
    /// `hamming`, `equal-text`, or a measure of texts or sets and what it is, such as `jaccard:0.812500`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Measure::Hamming => f.write_str("hamming"),
            Measure::EqualText => f.write_str("equal-text"),
            Measure::Text(measure, share) => {
                write!(f, "{}:{}", measure.name(), Score::share(*share).unwrap_or(Score::ONE))
            }
            Measure::Set(SetMeasure::Overlap, count) => write!(f, "{}:{count}", SetMeasure::Overlap.name()),
            Measure::Set(measure, share) => {
                write!(f, "{}:{}", measure.name(), Score::share(*share).unwrap_or(Score::ONE))
            }
        }
    }
}

/// What is answered of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing that is kept is like it: it is kept.
    New,
    /// It is like this one, the first of those that are kept.
    Duplicate {
        /// The kept document's id.
        id: Box<[u8]>,
        /// In how many bits the fingerprints differ, where these are compared; 0 of equal texts.
        distance: Option<u32>,
        /// By what it is like it.
        measure: Measure,
        /// The run that has brought the kept document, where it is another one and is still open.
        pending: Option<Box<[u8]>>,
    },
}

/// Why a request is refused; nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The id stands for a document with other content.
    Conflict,
    /// There is no more memory than this many bytes.
    Memory(u64),
    /// There may be so many namespaces and no more.
    Namespaces(usize),
    /// There is no run of this name.
    NoRun(Box<[u8]>),
    /// The run of this name was committed, or cancelled.
    RunEnded(Box<[u8]>, &'static str),
    /// The run of this name is open in the other mode.
    RunMode(Box<[u8]>, &'static str),
    /// There may be so many open runs and no more.
    Runs(usize),
    /// A run that is isolated cannot delete what others have brought.
    NotOfRun,
    /// The namespace may not be changed.
    ReadOnly,
    /// It is not what was expected, which this says.
    Wrong(String),
    /// Shards have not answered it, or Kafka; this says which. Whether it is in the log is not known.
    Unanswered(String),
}

/// A word for an error: short, and nothing that changes a terminal.
pub(crate) fn shown(word: &[u8]) -> String {
    let text = String::from_utf8_lossy(&word[..word.len().min(64)]).into_owned();
    twinsplit_core::visible::line(&text).into_owned()
}

impl fmt::Display for Refused {
    /// As RESP has errors: a word in capitals, by which programs know it, and a sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Conflict => f.write_str(
                "IDCONFLICT this id stands for a document with other content; FP.DEL forgets that, or give another id",
            ),
            Refused::Memory(bytes) => write!(
                f,
                "OOM the {} MB of --memory are taken; FP.DEL, --retain or --max make room, or give more",
                bytes >> 20
            ),
            Refused::ReadOnly => {
                f.write_str("READONLY this namespace is read-only; FP.READONLY ns OFF has it changed again")
            }
            Refused::NotOfRun => f.write_str(
                "NOTOFRUN this isolated run has not brought the document, which counts for others; FP.DEL without RUN deletes it for all",
            ),
            Refused::Namespaces(most) => {
                write!(f, "ERR there are {most} namespaces, as many as --namespaces lets be")
            }
            Refused::NoRun(name) => {
                write!(f, "NORUN there is no run '{}' in this namespace; FP.BEGIN begins one", shown(name))
            }
            Refused::RunEnded(name, how) => {
                write!(f, "RUNENDED the run '{}' was {how}; begin one of another name", shown(name))
            }
            Refused::RunMode(name, mode) => write!(f, "ERR the run '{}' is open, and {mode}", shown(name)),
            Refused::Wrong(problem) | Refused::Unanswered(problem) => f.write_str(problem),
            Refused::Runs(most) => {
                write!(f, "ERR {most} runs are open in this namespace; commit or cancel some")
            }
        }
    }
}
