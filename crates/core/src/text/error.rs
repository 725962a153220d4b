//! What can be wrong with a feature specification or a SpotSigs file.

use super::FeatureKind;
use std::fmt;

/// A feature specification, or a file it names, that cannot be used. `Display` says what was expected
/// and what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextError(pub Reason);

/// The ways in which a specification can be wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The part before the first colon names no kind of feature.
    UnknownKind {
        /// The whole specification.
        found: String,
    },
    /// The kind takes a number K and got something else, or one out of range.
    Count {
        /// The kind: `words`, `chars`, `sentence-ends` or `sentences`.
        kind: &'static str,
        /// The whole specification.
        found: String,
    },
    /// The kind takes no parameter, or its parameter is empty.
    Parameter {
        /// What a correct specification looks like.
        expected: &'static str,
        /// The whole specification.
        found: String,
    },
    /// The named file could not be read.
    Unreadable {
        /// The name after `spotsigs:`.
        file: String,
        /// What the reader said.
        why: String,
    },
    /// A row of a SpotSigs file is wrong.
    Row {
        /// The file's name.
        file: String,
        /// Line, from 1.
        line: u64,
        /// Field, from 1.
        field: usize,
        /// What the field should hold.
        expected: &'static str,
        /// What it holds.
        found: String,
    },
    /// A SpotSigs file without any antecedent makes no feature.
    NoAntecedent {
        /// The file's name.
        file: String,
    },
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reason::UnknownKind { found } => {
                write!(
                    f,
                    "features need to be words:K, chars:K, spotsigs, spotsigs:zh, spotsigs:FILE, \
                     sentence-ends:K, sentences:K, lines or jieba, found {found}"
                )?;
                let near = FeatureKind::nearest(found);
                near.map_or(Ok(()), |near| write!(f, "; the nearest is {near}"))
            }
            Reason::Count { kind, found } => {
                write!(f, "{kind}:K needs K from 1 to {}, found {found}", super::MAX_COUNT)
            }
            Reason::Parameter { expected, found } => {
                write!(f, "expected {expected}, found {found}")
            }
            Reason::Unreadable { file, why } => {
                write!(f, "cannot read the SpotSigs file {file}: {why}")
            }
            Reason::Row { file, line, field, expected, found } => {
                write!(f, "{file}, line {line}, field {field}: expected {expected}, found {found:?}")
            }
            Reason::NoAntecedent { file } => {
                write!(f, "{file}: expected at least one row antecedent⇥word⇥distance, found none")
            }
        }
    }
}

impl std::error::Error for TextError {}
