//! The fields that a document gets.

use super::clusters::Shown;
use super::shares::Share;
use twinsplit_core::similarity::{Measure, Score};
use twinsplit_io::error::{Error, Result};
use twinsplit_sources::cells::{Cell, Column, Kind};

/// The columns, whose names begin with `prefix`. `score` is what a similarity is; without one the chain compares fingerprints, which have a
/// distance.
pub fn columns(prefix: &str, measure: Option<Measure>) -> Result<Vec<Column>> {
    if prefix.chars().any(|c| c == '"' || c == '\\' || c.is_control()) {
        return Err(Error::Usage(format!(
            "--prefix {prefix:?}: expected no quotation marks, backslashes or control characters"
        )));
    }
    let score = match measure {
        None => ("distance", Kind::Whole),
        Some(Measure::Overlap) => ("similarity", Kind::Whole),
        Some(_) => ("similarity", Kind::Share),
    };
    let all = [
        (("kept", Kind::Text), false),
        (("size", Kind::Whole), false),
        (("rank", Kind::Whole), false),
        (("drop", Kind::Is), false),
        (score, true),
        (("share", Kind::Share), true),
    ];
    let column = |((name, kind), may_miss)| Column { name: format!("{prefix}{name}"), kind, may_miss };
    Ok(all.map(column).into())
}

/// The cells of a document.
pub fn cells(shown: Shown, drops: bool, share: Option<Share>) -> [Cell<'static>; 6] {
    let score = shown.score.map_or(Cell::Missing, |score| match score {
        Score::Count(count) => Cell::Whole(i64::try_from(count).unwrap_or(i64::MAX)),
        share @ Score::Share(_) => Cell::Share(share.to_string().into()),
    });
    let of_query = |share: Share| {
        let score = Measure::QueryContainment.score(share.overlap.into(), share.size.into(), u64::MAX);
        Cell::Share(score.to_string().into())
    };
    let share = share.filter(|share| share.size > 0).map_or(Cell::Missing, of_query);
    let [size, rank] = [shown.size, shown.rank].map(|number| Cell::Whole(number.into()));
    [Cell::Text(shown.kept.into()), size, rank, Cell::Is(drops), score, share]
}
