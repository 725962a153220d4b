//! Columns of Parquet.

use super::{Cell, Column, Kind};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;
use parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

/// The values of a column that are not written yet, and of each row whether there is one, where there may be none.
pub struct Values {
    are_there: Option<Vec<i16>>,
    values: Typed,
}

enum Typed {
    Texts(Vec<ByteArray>),
    Whole(Vec<i64>),
    Shares(Vec<f64>),
    Are(Vec<bool>),
}

impl Values {
    /// None of this column.
    pub fn of(column: &Column) -> Self {
        let values = match column.kind {
            Kind::Text => Typed::Texts(Vec::new()),
            Kind::Whole => Typed::Whole(Vec::new()),
            Kind::Share => Typed::Shares(Vec::new()),
            Kind::Is => Typed::Are(Vec::new()),
        };
        Self { are_there: column.may_miss.then(Vec::new), values }
    }

    /// Takes the cell of a row, which is of the kind of its column.
    pub fn push(&mut self, cell: &Cell<'_>) {
        if let Some(levels) = &mut self.are_there {
            levels.push(i16::from(*cell != Cell::Missing));
        }
        match (&mut self.values, cell) {
            (Typed::Texts(texts), Cell::Text(text)) => texts.push(text.as_bytes().to_vec().into()),
            (Typed::Whole(numbers), Cell::Whole(number)) => numbers.push(*number),
            // A share is a decimal by then.
            (Typed::Shares(shares), Cell::Share(share)) => shares.push(share.parse().unwrap_or(f64::NAN)),
            (Typed::Are(all), Cell::Is(is)) => all.push(*is),
            _ => {}
        }
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.are_there.iter_mut().for_each(Vec::clear);
        match &mut self.values {
            Typed::Texts(texts) => texts.clear(),
            Typed::Whole(numbers) => numbers.clear(),
            Typed::Shares(shares) => shares.clear(),
            Typed::Are(all) => all.clear(),
        }
    }

    /// Writes them as the column of a group of rows.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&self, to: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = self.are_there.as_deref();
        match &self.values {
            Typed::Texts(texts) => to.typed::<ByteArrayType>().write_batch(texts, levels, None)?,
            Typed::Whole(numbers) => to.typed::<Int64Type>().write_batch(numbers, levels, None)?,
            Typed::Shares(shares) => to.typed::<DoubleType>().write_batch(shares, levels, None)?,
            Typed::Are(all) => to.typed::<BoolType>().write_batch(all, levels, None)?,
        };
        Ok(())
    }
}

/// The field of a schema for a column.
///
/// # Errors
/// None that these types have.
pub fn field(column: &Column) -> Result<TypePtr, ParquetError> {
    let (physical, logical) = match column.kind {
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Whole => (Physical::INT64, None),
        Kind::Share => (Physical::DOUBLE, None),
        Kind::Is => (Physical::BOOLEAN, None),
    };
    let repetition = if column.may_miss { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let field = Type::primitive_type_builder(&column.name, physical);
    Ok(Arc::new(field.with_repetition(repetition).with_logical_type(logical).build()?))
}
