//! The columns of tables, and the cells of a line.

use std::borrow::Cow;
use twinsplit_core::similarity::Measure;
use twinsplit_io::error::{FieldError, Result};
use twinsplit_rows::plan::Plan;
use twinsplit_rows::record::{id, parse_score};
use twinsplit_rows::stages::options::SimilarityOpts;
use twinsplit_rows::stages::queries::QUERIES;
use twinsplit_rows::stages::signature_check::CheckOpts;

/// What stands in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The id of a document.
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

/// A column: a field of the lines.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What stands in it.
    pub kind: Kind,
    /// Whether a cell may have no value.
    pub may_miss: bool,
}

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    Missing,
    /// An id or a word.
    Text(Cow<'a, str>),
    /// A whole number.
    Whole(i64),
    /// A share, as it is written.
    Share(&'a str),
    /// Yes or no.
    Is(bool),
}

const fn column(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, may_miss: false }
}

/// What a similarity is: a number of features, or a share.
fn similarity(measure: Measure) -> Column {
    column("similarity", if measure == Measure::Overlap { Kind::Whole } else { Kind::Share })
}

fn measure(plan: &Plan) -> Result<Measure> {
    let SimilarityOpts(similarity) = plan.params.parse()?;
    Ok(similarity.measure())
}

/// The columns of pairs.tsv, as docs/formats.md has them.
pub fn of_pairs(plan: &Plan) -> Result<Vec<Column>> {
    let with_queries = plan.params.get(QUERIES).is_some();
    let [first, second] = if with_queries { ["query_id", "id"] } else { ["id_a", "id_b"] };
    let mut columns = vec![column(first, Kind::Id), column(second, Kind::Id)];
    if plan.family.compares_fingerprints() {
        columns.push(column("distance", Kind::Whole));
        if plan.params.parse::<CheckOpts>()?.texts().is_some() {
            columns.extend([column("similarity", Kind::Share), column("measure", Kind::Word)]);
        }
        return Ok(columns);
    }
    columns.extend(["overlap", "size_a", "size_b"].map(|name| column(name, Kind::Whole)));
    let measure = measure(plan)?;
    columns.push(similarity(measure));
    match measure {
        Measure::Jaccard => {}
        Measure::Containment => {
            columns.extend([column("clr", Kind::Share), column("relation", Kind::Word)]);
        }
        _ => columns.push(column("measure", Kind::Word)),
    }
    Ok(columns)
}

/// Those of clusters.tsv.
pub fn of_clusters(plan: &Plan) -> Result<Vec<Column>> {
    let score = match plan.family.compares_fingerprints() {
        true => column("distance", Kind::Whole),
        false => similarity(measure(plan)?),
    };
    Ok(vec![
        column("kept_id", Kind::Id),
        column("id", Kind::Id),
        column("keep", Kind::Keep),
        Column { may_miss: true, ..score },
    ])
}

/// The cells of a line.
pub fn cells<'a>(line: &'a [u8], columns: &[Column]) -> Result<Vec<Cell<'a>>, FieldError> {
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b'\t').collect();
    if fields.len() != columns.len() {
        return Err(FieldError::new("row", "as many fields as the table has columns", line));
    }
    columns.iter().zip(fields).map(|(column, field)| cell(*column, field)).collect()
}

fn cell(column: Column, field: &[u8]) -> Result<Cell<'_>, FieldError> {
    let wrong = |expected| FieldError::new(column.name, expected, field);
    let text = std::str::from_utf8(field).map_err(|_| wrong("UTF-8"))?;
    if column.may_miss && text == "-" {
        return Ok(Cell::Missing);
    }
    Ok(match column.kind {
        Kind::Id if field.contains(&b'\\') => Cell::Text(Cow::Owned(id::unescape(field))),
        Kind::Id | Kind::Word => Cell::Text(Cow::Borrowed(text)),
        Kind::Whole => Cell::Whole(text.parse().map_err(|_| wrong("a whole number"))?),
        Kind::Share if parse_score(field).is_some() => Cell::Share(text),
        Kind::Share => return Err(wrong("a number with six decimals")),
        Kind::Keep => match text {
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
        let columns = [
            column("id", Kind::Id),
            column("keep", Kind::Keep),
            column("n", Kind::Whole),
            Column { may_miss: true, ..column("s", Kind::Share) },
        ];
        let all = |line: &'static str| cells(line.as_bytes(), &columns);
        let text = |text: &'static str| Cell::Text(text.into());
        assert_eq!(
            all("a\\x09\\x5c\tkeep\t7\t-").unwrap(),
            [text("a\t\\"), Cell::Is(true), Cell::Whole(7), Cell::Missing]
        );
        assert_eq!(
            all("-\tdrop\t0\t0.500000").unwrap(),
            [text("-"), Cell::Is(false), Cell::Whole(0), Cell::Share("0.500000")]
        );
        for line in ["a\tkeep\t7", "a\tkept\t7\t-", "a\tkeep\t-\t-", "a\tkeep\t7\t.5", "a\tkeep\t7\t-\t"] {
            assert!(all(line).is_err(), "{line}");
        }
    }
}
