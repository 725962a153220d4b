//! Columns that a program adds to documents or makes tables of, and what stands in their cells: as members of JSON objects ([`json`]), as
//! cells of tables of text ([`text`]), and as columns of Parquet ([`columnar`]) and Arrow ([`arrays`]).

mod arrays;
mod columnar;
mod json;
mod text;

pub use arrays::{Array, arrow_field};
pub use columnar::{Values, field};
pub use json::{Members, end};
pub use text::cells;

use std::borrow::Cow;

/// What stands in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An id or a word.
    Text,
    /// A whole number.
    Whole,
    /// A share in six decimals.
    Share,
    /// Yes or no.
    Is,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What stands in it.
    pub kind: Kind,
    /// Whether a cell may have no value.
    pub may_miss: bool,
}

/// What stands in a cell, which is of the kind of its column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    Missing,
    /// An id or a word.
    Text(Cow<'a, str>),
    /// A whole number.
    Whole(i64),
    /// A share, as it is written.
    Share(Cow<'a, str>),
    /// Yes or no.
    Is(bool),
}

/// What is said of a name that is taken; `what` has it.
pub fn is_taken(what: &str, name: &str) -> String {
    format!("has a {what} {name:?} already; give the new ones other names with --prefix")
}
