//! What is kept of a document for comparisons, beside its key.

use twinsplit_core::similarity::text;

/// What is compared of a document beside its key.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// What the second stage compares of its text.
    Checked(text::Content),
    /// Its features, ascending, each once.
    Set(Box<[u64]>),
}

impl Content {
    /// Bytes that it takes.
    pub(crate) fn memory(&self) -> usize {
        size_of::<Self>()
            + match self {
                Content::Checked(text::Content::Counts(counts)) => 16 + 16 * counts.len(),
                Content::Checked(text::Content::Text(text)) => 32 + text.len(),
                Content::Set(features) => 16 + 8 * features.len(),
            }
    }

    /// What the second stage compares.
    pub fn checked(&self) -> Option<&text::Content> {
        match self {
            Content::Checked(content) => Some(content),
            Content::Set(_) => None,
        }
    }

    /// Its features.
    pub fn set(&self) -> Option<&[u64]> {
        match self {
            Content::Checked(_) => None,
            Content::Set(features) => Some(features),
        }
    }
}
