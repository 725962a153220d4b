//! Columns of Arrow.

use super::{Cell, Column, Kind};
use arrow_array::ArrayRef;
use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_schema::{DataType, Field};
use std::sync::Arc;

/// The values of a column that are not written yet.
pub enum Array {
    /// Texts.
    Texts(StringBuilder),
    /// Whole numbers.
    Whole(Int64Builder),
    /// Shares.
    Shares(Float64Builder),
    /// Yes or no.
    Are(BooleanBuilder),
}

impl Array {
    /// None of this column.
    pub fn of(column: &Column) -> Self {
        match column.kind {
            Kind::Text => Self::Texts(StringBuilder::new()),
            Kind::Whole => Self::Whole(Int64Builder::new()),
            Kind::Share => Self::Shares(Float64Builder::new()),
            Kind::Is => Self::Are(BooleanBuilder::new()),
        }
    }

    /// Takes the cell of a row; one of another kind than its column has no value.
    pub fn push(&mut self, cell: &Cell<'_>) {
        match (self, cell) {
            (Self::Texts(texts), Cell::Text(text)) => texts.append_value(text),
            (Self::Texts(texts), _) => texts.append_null(),
            (Self::Whole(numbers), Cell::Whole(number)) => numbers.append_value(*number),
            (Self::Whole(numbers), _) => numbers.append_null(),
            // A share is a decimal by then.
            (Self::Shares(shares), Cell::Share(share)) => {
                shares.append_value(share.parse().unwrap_or(f64::NAN))
            }
            (Self::Shares(shares), _) => shares.append_null(),
            (Self::Are(all), Cell::Is(is)) => all.append_value(*is),
            (Self::Are(all), _) => all.append_null(),
        }
    }

    /// The values so far, which are forgotten.
    pub fn take(&mut self) -> ArrayRef {
        match self {
            Self::Texts(texts) => Arc::new(texts.finish()),
            Self::Whole(numbers) => Arc::new(numbers.finish()),
            Self::Shares(shares) => Arc::new(shares.finish()),
            Self::Are(all) => Arc::new(all.finish()),
        }
    }
}

/// The field of a schema for a column.
pub fn arrow_field(column: &Column) -> Field {
    let kind = match column.kind {
        Kind::Text => DataType::Utf8,
        Kind::Whole => DataType::Int64,
        Kind::Share => DataType::Float64,
        Kind::Is => DataType::Boolean,
    };
    Field::new(&column.name, kind, column.may_miss)
}
