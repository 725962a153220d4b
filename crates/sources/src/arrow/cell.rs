//! The cells of Arrow's columns as JSON, in the forms that those of Parquet have.

use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions as moments;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt::Display;

/// A cell: a column, and a row of it.
pub struct Cell<'a> {
    /// The column.
    pub column: &'a dyn Array,
    /// The row, from 0.
    pub row: usize,
}

impl Cell<'_> {
    /// A value of a column of fixed width.
    fn native<T: ArrowPrimitiveType>(&self) -> T::Native {
        self.column.as_primitive::<T>().value(self.row)
    }

    fn index_key(&self, keys: &dyn Array) -> Option<usize> {
        let cell = Cell { column: keys, row: self.row };
        match keys.data_type() {
            DataType::Int8 => cell.native::<Int8Type>().try_into().ok(),
            DataType::Int16 => cell.native::<Int16Type>().try_into().ok(),
            DataType::Int32 => cell.native::<Int32Type>().try_into().ok(),
            DataType::Int64 => cell.native::<Int64Type>().try_into().ok(),
            DataType::UInt8 => Some(cell.native::<UInt8Type>().into()),
            DataType::UInt16 => Some(cell.native::<UInt16Type>().into()),
            DataType::UInt32 => cell.native::<UInt32Type>().try_into().ok(),
            DataType::UInt64 => cell.native::<UInt64Type>().try_into().ok(),
            _ => None,
        }
    }
}

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (column, row) = (self.column, self.row);
        if column.is_null(row) {
            return to.serialize_unit();
        }
        match column.data_type() {
            DataType::Null => to.serialize_unit(),
            DataType::Boolean => to.serialize_bool(column.as_boolean().value(row)),
            DataType::Int8 => to.serialize_i64(self.native::<Int8Type>().into()),
            DataType::Int16 => to.serialize_i64(self.native::<Int16Type>().into()),
            DataType::Int32 => to.serialize_i64(self.native::<Int32Type>().into()),
            DataType::Int64 => to.serialize_i64(self.native::<Int64Type>()),
            DataType::UInt8 => to.serialize_u64(self.native::<UInt8Type>().into()),
            DataType::UInt16 => to.serialize_u64(self.native::<UInt16Type>().into()),
            DataType::UInt32 => to.serialize_u64(self.native::<UInt32Type>().into()),
            DataType::UInt64 => to.serialize_u64(self.native::<UInt64Type>()),
            // What is no number is null.
            DataType::Float16 => to.serialize_f64(self.native::<Float16Type>().to_f64()),
            DataType::Float32 => to.serialize_f64(self.native::<Float32Type>().into()),
            DataType::Float64 => to.serialize_f64(self.native::<Float64Type>()),
            DataType::Utf8 => to.serialize_str(column.as_string::<i32>().value(row)),
            DataType::LargeUtf8 => to.serialize_str(column.as_string::<i64>().value(row)),
            DataType::Utf8View => to.serialize_str(column.as_string_view().value(row)),
            DataType::Binary => bytes(column.as_binary::<i32>().value(row), to),
            DataType::LargeBinary => bytes(column.as_binary::<i64>().value(row), to),
            DataType::BinaryView => bytes(column.as_binary_view().value(row), to),
            DataType::FixedSizeBinary(_) => bytes(column.as_fixed_size_binary().value(row), to),
            DataType::Decimal32(..) => text(column.as_primitive::<Decimal32Type>().value_as_string(row), to),
            DataType::Decimal64(..) => text(column.as_primitive::<Decimal64Type>().value_as_string(row), to),
            DataType::Decimal128(..) => {
                text(column.as_primitive::<Decimal128Type>().value_as_string(row), to)
            }
            DataType::Decimal256(..) => {
                text(column.as_primitive::<Decimal256Type>().value_as_string(row), to)
            }
            DataType::Date32 => {
                let days = self.native::<Date32Type>();
                moment(days.into(), moments::date32_to_datetime(days).map(|day| day.date()), to)
            }
            DataType::Date64 => {
                let number = self.native::<Date64Type>();
                moment(number, moments::date64_to_datetime(number).map(|day| day.date()), to)
            }
            DataType::Time32(TimeUnit::Second) => {
                let number = self.native::<Time32SecondType>();
                let time = moments::time32s_to_time(number);
                moment(number.into(), time.map(|time| time.format("%H:%M:%S")), to)
            }
            DataType::Time32(_) => {
                let number = self.native::<Time32MillisecondType>();
                let time = moments::time32ms_to_time(number);
                moment(number.into(), time.map(|time| time.format("%H:%M:%S%.3f")), to)
            }
            DataType::Time64(TimeUnit::Microsecond) => {
                let number = self.native::<Time64MicrosecondType>();
                let time = moments::time64us_to_time(number);
                moment(number, time.map(|time| time.format("%H:%M:%S%.6f")), to)
            }
            DataType::Time64(_) => {
                let number = self.native::<Time64NanosecondType>();
                let time = moments::time64ns_to_time(number);
                moment(number, time.map(|time| time.format("%H:%M:%S%.9f")), to)
            }
            DataType::Timestamp(TimeUnit::Second, _) => {
                let number = self.native::<TimestampSecondType>();
                let time = moments::timestamp_s_to_datetime(number);
                moment(number, time.map(|time| time.format("%Y-%m-%d %H:%M:%SZ")), to)
            }
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                let number = self.native::<TimestampMillisecondType>();
                let time = moments::timestamp_ms_to_datetime(number);
                moment(number, time.map(|time| time.format("%Y-%m-%d %H:%M:%S%.3fZ")), to)
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                let number = self.native::<TimestampMicrosecondType>();
                let time = moments::timestamp_us_to_datetime(number);
                moment(number, time.map(|time| time.format("%Y-%m-%d %H:%M:%S%.6fZ")), to)
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                to.serialize_i64(self.native::<TimestampNanosecondType>())
            }
            DataType::Duration(TimeUnit::Second) => to.serialize_i64(self.native::<DurationSecondType>()),
            DataType::Duration(TimeUnit::Millisecond) => {
                to.serialize_i64(self.native::<DurationMillisecondType>())
            }
            DataType::Duration(TimeUnit::Microsecond) => {
                to.serialize_i64(self.native::<DurationMicrosecondType>())
            }
            DataType::Duration(TimeUnit::Nanosecond) => {
                to.serialize_i64(self.native::<DurationNanosecondType>())
            }
            DataType::Interval(IntervalUnit::YearMonth) => {
                parts(&[("months", self.native::<IntervalYearMonthType>().into())], to)
            }
            DataType::Interval(IntervalUnit::DayTime) => {
                let span = self.native::<IntervalDayTimeType>();
                parts(&[("days", span.days.into()), ("milliseconds", span.milliseconds.into())], to)
            }
            DataType::Interval(IntervalUnit::MonthDayNano) => {
                let span = self.native::<IntervalMonthDayNanoType>();
                let days = ("days", span.days.into());
                parts(&[days, ("months", span.months.into()), ("nanoseconds", span.nanoseconds)], to)
            }
            DataType::List(_) => list(&column.as_list::<i32>().value(row), to),
            DataType::LargeList(_) => list(&column.as_list::<i64>().value(row), to),
            DataType::ListView(_) => list(&column.as_list_view::<i32>().value(row), to),
            DataType::LargeListView(_) => list(&column.as_list_view::<i64>().value(row), to),
            DataType::FixedSizeList(..) => list(&column.as_fixed_size_list().value(row), to),
            DataType::Struct(fields) => {
                let columns = column.as_struct().columns();
                let cell = |column| Cell { column, row };
                let named = fields.iter().zip(columns);
                object(named.map(|(field, column)| (field.name().as_str(), cell(&**column))).collect(), to)
            }
            DataType::Map(..) => {
                let entries = column.as_map().value(row);
                let [keys, values] = entries.columns() else {
                    return Err(S::Error::custom("a map has keys and values"));
                };
                let mut members = BTreeMap::new();
                for row in 0..entries.len() {
                    members.insert(key::<S::Error>(keys, row)?, Cell { column: values, row });
                }
                object(members, to)
            }
            DataType::Dictionary(..) => {
                let dictionary = column.as_any_dictionary();
                match self.index_key(dictionary.keys()) {
                    Some(row) => Cell { column: &**dictionary.values(), row }.serialize(to),
                    None => Err(S::Error::custom("a key of a dictionary is negative")),
                }
            }
            DataType::RunEndEncoded(ends, _) => {
                let (values, row) = match ends.data_type() {
                    DataType::Int16 => run::<Int16Type>(column, row),
                    DataType::Int32 => run::<Int32Type>(column, row),
                    _ => run::<Int64Type>(column, row),
                };
                Cell { column: &**values, row }.serialize(to)
            }
            DataType::Union(..) => Cell { column: &*column.as_union().value(row), row: 0 }.serialize(to),
        }
    }
}

fn text<S: Serializer>(text: impl Display, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&text)
}

/// A moment, or its number where no calendar has it.
fn moment<S: Serializer>(number: i64, shown: Option<impl Display>, to: S) -> Result<S::Ok, S::Error> {
    match shown {
        Some(shown) => text(shown, to),
        None => to.serialize_i64(number),
    }
}

/// Bytes that are a text are one.
fn bytes<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    match std::str::from_utf8(bytes) {
        Ok(text) => to.serialize_str(text),
        Err(_) => to.serialize_str(&STANDARD.encode(bytes)),
    }
}

fn list<S: Serializer>(values: &ArrayRef, to: S) -> Result<S::Ok, S::Error> {
    let mut list = to.serialize_seq(Some(values.len()))?;
    for row in 0..values.len() {
        list.serialize_element(&Cell { column: &**values, row })?;
    }
    list.end()
}

fn parts<S: Serializer>(parts: &[(&str, i64)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(parts.iter().copied())
}

/// An object, by the order of its names.
fn object<S: Serializer, K: Serialize>(members: BTreeMap<K, Cell<'_>>, to: S) -> Result<S::Ok, S::Error> {
    let mut object = to.serialize_map(Some(members.len()))?;
    for (name, cell) in members {
        object.serialize_entry(&name, &cell)?;
    }
    object.end()
}

/// A key of a map: its text, or its JSON where it is none.
fn key<E: serde::ser::Error>(keys: &ArrayRef, row: usize) -> Result<String, E> {
    let key = serde_json::to_value(Cell { column: &**keys, row }).map_err(E::custom)?;
    Ok(key.as_str().map_or_else(|| key.to_string(), str::to_owned))
}

/// The values of runs, and which of them a row has.
fn run<T: RunEndIndexType>(column: &dyn Array, row: usize) -> (&ArrayRef, usize) {
    let runs = column.as_run::<T>();
    (runs.values(), runs.get_physical_index(row))
}
