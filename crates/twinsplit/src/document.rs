//! A document as a program hands it over.

use serde::Serialize;

/// A document: an id, which no other document has, a text, and what a keep rule may ask for.
///
/// A pair of an id and a text is a document, too.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Document {
    pub(super) id: String,
    pub(super) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) score: Option<f64>,
}

impl Document {
    /// A document with neither date nor score.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), text: text.into(), date: None, score: None }
    }

    /// The same with a date for [`KeepRule::Newest`](crate::KeepRule::Newest): ISO 8601, such as `2024-01-31` or
    /// `2024-01-31T12:30:00+01:00`.
    pub fn date(self, date: impl Into<String>) -> Self {
        Self { date: Some(date.into()), ..self }
    }

    /// The same with a score for [`KeepRule::Highest`](crate::KeepRule::Highest). A document whose score is not finite has
    /// none.
    pub fn score(self, score: f64) -> Self {
        Self { score: score.is_finite().then_some(score), ..self }
    }
}

impl<I: Into<String>, T: Into<String>> From<(I, T)> for Document {
    fn from((id, text): (I, T)) -> Self {
        Self::new(id, text)
    }
}
