//! Pairs of fingerprints, and pairs of any chain.

use super::pair::Pair;
use super::{Fields, Record, push_number, push_tagged, second_field, tag};
use twinsplit_core::similarity::Score;
use twinsplit_core::similarity::text::TextMeasure;
use twinsplit_io::error::FieldError;

/// How alike the texts of a pair are that was found by other means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Their similarity.
    pub score: Score,
    /// What was compared.
    pub measure: TextMeasure,
}

const CHECKED: &str = "jaccard, cosine or edit";

impl<'a> Fields<'a> {
    /// What a check has found, if there are fields more.
    pub fn checked(&mut self) -> Result<Option<Checked>, FieldError> {
        if self.is_done() {
            return Ok(None);
        }
        let found = self.next("similarity", super::SCORE)?;
        let score = super::parse_score(found).filter(|score| matches!(score, Score::Share(_)));
        let score = score.ok_or_else(|| FieldError::new("similarity", super::SCORE, found))?;
        Ok(Some(Checked { score, measure: self.text_measure()? }))
    }

    /// The next field as the name of a measure of texts.
    pub fn text_measure(&mut self) -> Result<TextMeasure, FieldError> {
        let found = self.next("similarity's name", CHECKED)?;
        TextMeasure::named(found).ok_or_else(|| FieldError::new("similarity's name", CHECKED, found))
    }
}

/// Appends what a check has found, with a TAB before each field.
pub(super) fn push_checked(out: &mut Vec<u8>, checked: Option<Checked>) {
    let Some(Checked { score, measure }) = checked else { return };
    out.push(b'\t');
    super::push_score(out, score);
    push_text_measure(out, Some(measure));
}

/// Appends the name of a measure of texts, with a TAB before it.
pub(super) fn push_text_measure(out: &mut Vec<u8>, measure: Option<TextMeasure>) {
    if let Some(measure) = measure {
        out.push(b'\t');
        out.extend_from_slice(measure.name().as_bytes());
    }
}

/// A pair of the answer whose documents were compared by their fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Near<'a> {
    /// The smaller id in byte order.
    pub a: &'a [u8],
    /// The larger id.
    pub b: &'a [u8],
    /// The bits in which their fingerprints differ.
    pub distance: u32,
    /// How alike their texts are, where these were compared.
    pub checked: Option<Checked>,
}

impl<'a> Near<'a> {
    /// The pair of two documents in either order.
    pub fn of(x: &'a [u8], y: &'a [u8], distance: u32, checked: Option<Checked>) -> Self {
        Self { a: x.min(y), b: x.max(y), distance, checked }
    }

    /// Reads what follows the second id.
    fn after_ids(a: &'a [u8], b: &'a [u8], mut fields: Fields<'a>) -> Result<Self, FieldError> {
        let near = Self { a, b, distance: fields.distance()?, checked: fields.checked()? };
        fields.done()?;
        Ok(near)
    }

    fn push_after_ids(&self, out: &mut Vec<u8>) {
        out.push(b'\t');
        push_number(out, self.distance.into());
        push_checked(out, self.checked);
    }
}

impl<'a> Record<'a> for Near<'a> {
    const FIELDS: &'static str = "id_a⇥id_b⇥distance, with --check of texts ⇥similarity⇥its name";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let (a, b) = (fields.id("id_a")?, fields.id("id_b")?);
        Self::after_ids(a, b, fields)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.a);
        out.push(b'\t');
        out.extend_from_slice(self.b);
        self.push_after_ids(out);
    }
}

/// What is near a query, of a batch or of an index that is asked: the two ids are of different sets of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearQuery<'a> {
    /// The query.
    pub query: &'a [u8],
    /// The document.
    pub id: &'a [u8],
    /// The bits in which their fingerprints differ.
    pub distance: u32,
}

impl<'a> Record<'a> for NearQuery<'a> {
    const FIELDS: &'static str = "query_id⇥id⇥distance";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let (query, id) = (fields.id("query_id")?, fields.id("id")?);
        let row = Self { query, id, distance: fields.distance()? };
        fields.done()?;
        Ok(row)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.query);
        out.push(b'\t');
        out.extend_from_slice(self.id);
        out.push(b'\t');
        push_number(out, self.distance.into());
    }
}

/// A pair on its way to the answer of any chain. One of fingerprints has a tag, so that a row of sets that is cut short is
/// none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnyPair<'a> {
    /// Compared by their sets.
    Sets(Pair<'a>),
    /// Compared by their fingerprints.
    Fingerprints(Near<'a>),
}

impl<'a> AnyPair<'a> {
    /// The smaller id in byte order, and the larger one.
    pub fn ids(&self) -> (&'a [u8], &'a [u8]) {
        match self {
            AnyPair::Sets(pair) => (pair.a, pair.b),
            AnyPair::Fingerprints(near) => (near.a, near.b),
        }
    }
}

impl<'a> Record<'a> for AnyPair<'a> {
    const FIELDS: &'static str = "pairs of sets, or of fingerprints id_a⇥\\d⇥id_b⇥distance, with --check of texts \
                                  ⇥similarity⇥its name";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        if second_field(line) != Some(tag::NEAR) {
            return Pair::decode(line).map(AnyPair::Sets);
        }
        let mut fields = Fields::of(line);
        let a = fields.id("id_a")?;
        fields.exactly("tag", tag::NEAR, r"\d")?;
        let b = fields.id("id_b")?;
        Near::after_ids(a, b, fields).map(AnyPair::Fingerprints)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            AnyPair::Sets(pair) => pair.encode(out),
            AnyPair::Fingerprints(near) => {
                push_tagged(out, near.a, tag::NEAR);
                out.extend_from_slice(near.b);
                near.push_after_ids(out);
            }
        }
    }
}

/// A line of `pairs.tsv` of any chain: a pair of fingerprints has three fields, or five, and one of sets six and more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerPair<'a> {
    /// Compared by their sets.
    Sets(Pair<'a>),
    /// Compared by their fingerprints.
    Fingerprints(Near<'a>),
}

impl<'a> AnswerPair<'a> {
    /// Reads a line of a run that has compared fingerprints, or sets.
    pub fn of_run(line: &'a [u8], fingerprints: bool) -> Result<Self, FieldError> {
        match fingerprints {
            true => Near::decode(line).map(AnswerPair::Fingerprints),
            false => Pair::decode(line).map(AnswerPair::Sets),
        }
    }

    /// The smaller id in byte order, and the larger one.
    pub fn ids(&self) -> (&'a [u8], &'a [u8]) {
        match self {
            AnswerPair::Sets(pair) => (pair.a, pair.b),
            AnswerPair::Fingerprints(near) => (near.a, near.b),
        }
    }

    /// What is written of how alike they are: a similarity, or a distance.
    pub fn score(&self) -> Score {
        match self {
            AnswerPair::Sets(pair) => pair.score(),
            AnswerPair::Fingerprints(near) => Score::Count(near.distance.into()),
        }
    }
}

impl<'a> Record<'a> for AnswerPair<'a> {
    const FIELDS: &'static str =
        "pairs of sets, or of fingerprints id_a⇥id_b⇥distance, with --check of texts ⇥similarity⇥its name";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        Self::of_run(line, super::key_end(line, 5) == line.len())
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            AnswerPair::Sets(pair) => pair.encode(out),
            AnswerPair::Fingerprints(near) => near.encode(out),
        }
    }
}
