//! What is cut out of documents: the units, and how much of each document they are.

use super::unit::Span;
use super::{Fields, Record, SCORE, parse_score, push_number, push_score};
use twinsplit_core::similarity::Score;
use twinsplit_io::error::FieldError;

/// A line of `cut.tsv`: a unit that is cut out of its document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CutRow<'a> {
    /// The document.
    pub document: &'a [u8],
    /// The number of the unit in it, from 1.
    pub unit: u64,
    /// Where it stands in the text.
    pub span: Span,
    /// The document of the unit for which it is cut, and the number of that one there: it stays, unless it is named as cut as well.
    pub kept_document: &'a [u8],
    /// See there.
    pub kept_unit: u64,
    /// How similar the two are, as `clusters.tsv` has it.
    pub score: Option<Score>,
    /// How the text of the unit begins, in one line.
    pub text: &'a [u8],
}

impl<'a> Record<'a> for CutRow<'a> {
    const FIELDS: &'static str = "document⇥unit⇥start⇥end⇥kept_document⇥kept_unit⇥similarity⇥text";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let (document, unit) = (fields.id("document")?, fields.number("unit")?);
        let span = Span { start: fields.number("start")?, end: fields.number("end")? };
        let (kept_document, kept_unit) = (fields.id("kept_document")?, fields.number("kept_unit")?);
        let score = match fields.next("similarity", SCORE)? {
            b"-" => None,
            score => Some(parse_score(score).ok_or_else(|| FieldError::new("similarity", SCORE, score))?),
        };
        let text = fields.next("text", "how the unit begins")?;
        fields.done()?;
        Ok(Self { document, unit, span, kept_document, kept_unit, score, text })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let number = |out: &mut Vec<u8>, number| {
            out.push(b'\t');
            push_number(out, number);
        };
        out.extend_from_slice(self.document);
        number(out, self.unit);
        number(out, self.span.start);
        number(out, self.span.end);
        out.push(b'\t');
        out.extend_from_slice(self.kept_document);
        number(out, self.kept_unit);
        out.push(b'\t');
        match self.score {
            Some(score) => push_score(out, score),
            None => out.push(b'-'),
        }
        out.push(b'\t');
        out.extend_from_slice(self.text);
    }
}

/// A line of `cut-documents.tsv`: a document of which something is cut out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutDocument<'a> {
    /// The document.
    pub document: &'a [u8],
    /// How many units it has.
    pub units: u64,
    /// How many of them are cut out; if all are, it is empty.
    pub cut: u64,
    /// The characters of its units.
    pub characters: u64,
    /// Those of the units that are cut out.
    pub cut_characters: u64,
}

impl<'a> Record<'a> for CutDocument<'a> {
    const FIELDS: &'static str = "document⇥units⇥cut⇥characters⇥cut_characters";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let row = Self {
            document: fields.id("document")?,
            units: fields.number("units")?,
            cut: fields.number("cut")?,
            characters: fields.number("characters")?,
            cut_characters: fields.number("cut_characters")?,
        };
        fields.done()?;
        Ok(row)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.document);
        for number in [self.units, self.cut, self.characters, self.cut_characters] {
            out.push(b'\t');
            push_number(out, number);
        }
    }
}
