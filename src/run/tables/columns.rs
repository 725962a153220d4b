//! The columns of tables, and the cells of a line.

use std::borrow::Cow;
use twinsplit_core::similarity::Measure;
use twinsplit_io::error::{FieldError, Result};
use twinsplit_rows::plan::Plan;
use twinsplit_rows::record::{id, parse_score};
use twinsplit_rows::stages::options::SimilarityOpts;
use twinsplit_rows::stages::queries::QUERIES;
use twinsplit_rows::stages::signature_check::CheckOpts;
use twinsplit_sources::cells::{Cell, Column, Kind};

/// What a field of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// The id of a document, or another text with its escapes.
    Id,
    /// A word, one of few.
    Word,
    /// A whole number.
    Whole,
    /// A share in six decimals.
    Share,
    /// Whether the document is kept.
    Keep,
}

/// A field of the lines.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    name: &'static str,
    meaning: Meaning,
    /// Whether it may have no value.
    may_miss: bool,
}

impl Field {
    /// The column that it becomes.
    pub fn column(&self) -> Column {
        let kind = match self.meaning {
            Meaning::Id | Meaning::Word => Kind::Text,
            Meaning::Whole => Kind::Whole,
            Meaning::Share => Kind::Share,
            Meaning::Keep => Kind::Is,
        };
        Column { name: self.name.to_owned(), kind, may_miss: self.may_miss }
    }
}

const fn field(name: &'static str, meaning: Meaning) -> Field {
    Field { name, meaning, may_miss: false }
}

/// What a similarity is: a number of features, or a share.
fn similarity(measure: Measure) -> Field {
    field("similarity", if measure == Measure::Overlap { Meaning::Whole } else { Meaning::Share })
}

fn measure(plan: &Plan) -> Result<Measure> {
    let SimilarityOpts(similarity) = plan.params.parse()?;
    Ok(similarity.measure())
}

/// The columns of pairs.tsv, as docs/formats.md has them.
pub fn of_pairs(plan: &Plan) -> Result<Vec<Field>> {
    let with_queries = plan.params.get(QUERIES).is_some();
    let [first, second] = if with_queries { ["query_id", "id"] } else { ["id_a", "id_b"] };
    let mut columns = vec![field(first, Meaning::Id), field(second, Meaning::Id)];
    if plan.family.compares_fingerprints() {
        columns.push(field("distance", Meaning::Whole));
        if plan.params.parse::<CheckOpts>()?.texts().is_some() {
            columns.extend([field("similarity", Meaning::Share), field("measure", Meaning::Word)]);
        }
        return Ok(columns);
    }
    columns.extend(["overlap", "size_a", "size_b"].map(|name| field(name, Meaning::Whole)));
    let measure = measure(plan)?;
    columns.push(similarity(measure));
    match measure {
        Measure::Jaccard => {}
        Measure::Containment => {
            columns.extend([field("clr", Meaning::Share), field("relation", Meaning::Word)]);
        }
        _ => columns.push(field("measure", Meaning::Word)),
    }
    Ok(columns)
}

/// How like a document or unit the one is that is kept for it.
fn to_kept(plan: &Plan) -> Result<Field> {
    let score = match plan.family.compares_fingerprints() {
        true => field("distance", Meaning::Whole),
        false => similarity(measure(plan)?),
    };
    Ok(Field { may_miss: true, ..score })
}

/// Those of clusters.tsv.
pub fn of_clusters(plan: &Plan) -> Result<Vec<Field>> {
    Ok(vec![
        field("kept_id", Meaning::Id),
        field("id", Meaning::Id),
        field("keep", Meaning::Keep),
        to_kept(plan)?,
    ])
}

/// Those of cut.tsv.
pub fn of_cut(plan: &Plan) -> Result<Vec<Field>> {
    let mut columns = vec![field("document", Meaning::Id)];
    columns.extend(["unit", "start", "end"].map(|name| field(name, Meaning::Whole)));
    columns.extend([field("kept_document", Meaning::Id), field("kept_unit", Meaning::Whole), to_kept(plan)?]);
    // The beginning of the unit has the escapes of an id.
    columns.push(field("text", Meaning::Id));
    Ok(columns)
}

/// Those of cut-documents.tsv.
pub fn of_cut_documents() -> Vec<Field> {
    let counts = ["units", "cut", "characters", "cut_characters"].map(|name| field(name, Meaning::Whole));
    std::iter::once(field("document", Meaning::Id)).chain(counts).collect()
}

/// The cells of a line.
pub fn cells<'a>(line: &'a [u8], fields: &[Field]) -> Result<Vec<Cell<'a>>, FieldError> {
    let found: Vec<&[u8]> = line.split(|byte| *byte == b'\t').collect();
    if found.len() != fields.len() {
        return Err(FieldError::new("row", "as many fields as the table has columns", line));
    }
    fields.iter().zip(found).map(|(field, found)| cell(*field, found)).collect()
}

fn cell(field: Field, found: &[u8]) -> Result<Cell<'_>, FieldError> {
    let wrong = |expected| FieldError::new(field.name, expected, found);
    let text = std::str::from_utf8(found).map_err(|_| wrong("UTF-8"))?;
    if field.may_miss && text == "-" {
        return Ok(Cell::Missing);
    }
    Ok(match field.meaning {
        Meaning::Id if found.contains(&b'\\') => Cell::Text(Cow::Owned(id::unescape(found))),
        Meaning::Id | Meaning::Word => Cell::Text(Cow::Borrowed(text)),
        Meaning::Whole => Cell::Whole(text.parse().map_err(|_| wrong("a whole number"))?),
        Meaning::Share if parse_score(found).is_some() => Cell::Share(Cow::Borrowed(text)),
        Meaning::Share => return Err(wrong("a number with six decimals")),
        Meaning::Keep => match text {
            "keep" => Cell::Is(true),
            "drop" => Cell::Is(false),
            _ => return Err(wrong("keep or drop")),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_becomes_cells() {
        let fields = [
            field("id", Meaning::Id),
            field("keep", Meaning::Keep),
            field("n", Meaning::Whole),
            Field { may_miss: true, ..field("s", Meaning::Share) },
        ];
        let all = |line: &'static str| cells(line.as_bytes(), &fields);
        let text = |text: &'static str| Cell::Text(text.into());
        assert_eq!(
            all("a\\x09\\x5c\tkeep\t7\t-").unwrap(),
            [text("a\t\\"), Cell::Is(true), Cell::Whole(7), Cell::Missing]
        );
        assert_eq!(
            all("-\tdrop\t0\t0.500000").unwrap(),
            [text("-"), Cell::Is(false), Cell::Whole(0), Cell::Share("0.500000".into())]
        );
        for line in ["a\tkeep\t7", "a\tkept\t7\t-", "a\tkeep\t-\t-", "a\tkeep\t7\t.5", "a\tkeep\t7\t-\t"] {
            assert!(all(line).is_err(), "{line}");
        }
    }
}
