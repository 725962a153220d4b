//! The field of documents that a keep rule looks at. A rule whose field no option names, or no document has, would
//! keep the smallest id and say nothing; both are errors that list the fields which a line of the input does have.

use crate::record::document::{Document, DocumentOpts, FieldPath, field_names};
use twinsplit_core::cluster::keep::KeepRule;
use twinsplit_io::error::{Error, Place};

/// A rule that needs a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepField {
    /// The rule's name.
    pub rule: &'static str,
    /// What the field holds, and the option that names it.
    pub option: &'static str,
    /// Counts the documents that have it.
    pub with: &'static str,
    /// Counts those that have not.
    pub without: &'static str,
}

const DATE: KeepField = KeepField {
    rule: "newest",
    option: "date",
    with: "documents_with_date",
    without: "documents_without_date",
};

const SCORE: KeepField = KeepField {
    rule: "score",
    option: "score",
    with: "documents_with_score",
    without: "documents_without_score",
};

impl KeepField {
    /// What a rule needs.
    pub fn of(rule: KeepRule) -> Option<Self> {
        match rule {
            KeepRule::Newest => Some(DATE),
            KeepRule::Highest => Some(SCORE),
            KeepRule::SmallestId | KeepRule::First | KeepRule::Longest => None,
        }
    }

    /// What the rule of this name needs.
    pub fn named(rule: &str) -> Option<Self> {
        [DATE, SCORE].into_iter().find(|field| field.rule == rule)
    }

    /// The field's name, where an option gives it.
    pub fn name<'o>(&self, opts: &'o DocumentOpts) -> Option<&'o str> {
        let path = if *self == DATE { &opts.date } else { &opts.score };
        path.as_ref().map(FieldPath::name)
    }

    /// Whether a document has it.
    pub fn is_in(&self, document: &Document<'_>) -> bool {
        if *self == DATE { document.date.is_some() } else { !document.score.is_empty() }
    }

    /// Says that no option names the field; `first` says which fields there are.
    pub fn unnamed(&self, first: &str) -> Error {
        let Self { rule, option, .. } = self;
        Error::Usage(format!(
            "--keep {rule} needs --{option} FIELD, the field that holds the {option}{}{first}",
            if first.is_empty() { "" } else { "; " }
        ))
    }

    /// Says, without which fields there are, that no document has the field.
    pub fn nowhere(&self, name: &str) -> String {
        let Self { rule, option, .. } = self;
        format!("no document has the field {name:?} that --{option} names for --keep {rule}")
    }
}

/// Says which fields a line of documents has.
pub fn fields_of(place: &Place, line: &[u8]) -> String {
    format!("{place}, has the fields {}", field_names(line))
}
