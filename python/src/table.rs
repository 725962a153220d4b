//! Tables of Arrow, by the PyCapsule interface: whoever has `__arrow_c_stream__` is read without a copy of its columns, and reads
//! what stands here in the same way.

use crate::texts::Texts;
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray, RecordBatch,
    RecordBatchIterator, RecordBatchReader,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use std::ffi::CStr;
use std::sync::Arc;

/// The name that the PyCapsule interface gives to a stream.
const STREAM: &CStr = c"arrow_array_stream";

/// Columns of one length.
#[pyclass(frozen, module = "twinsplit._twinsplit")]
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

fn failed(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Takes the stream out of a capsule, which is empty afterwards.
#[allow(unsafe_code)]
fn stream_of(capsule: &Bound<'_, PyCapsule>) -> PyResult<FFI_ArrowArrayStream> {
    let stream = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds such a struct (Arrow PyCapsule interface), for as long as it lives; one that was taken out before has
    // no `release`, which the reader refuses.
    Ok(unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) })
}

/// The values of a column, whose element type is `$of`, as a list.
macro_rules! numbers {
    ($list:expr, $column:expr, $of:ty) => {
        $column.as_primitive::<$of>().iter().try_for_each(|value| $list.append(value))
    };
}

#[pymethods]
impl Table {
    /// Reads all of an object with `__arrow_c_stream__`.
    #[staticmethod]
    fn of_stream(source: &Bound<'_, PyAny>) -> PyResult<Self> {
        let capsule = source.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
        let reader = RecordBatchStreamReader::try_new(stream_of(&capsule)?).map_err(failed)?;
        let schema = reader.schema();
        let batches = reader.collect::<Result<_, _>>().map_err(failed)?;
        Ok(Self { schema, batches })
    }

    /// A table of columns, each a name, what it holds (`int`, `float`, `bool` or `str`), and a list of such values or None.
    #[staticmethod]
    fn of_columns(columns: Vec<(String, String, Bound<'_, PyList>)>) -> PyResult<Self> {
        let mut fields = Vec::new();
        let mut arrays: Vec<ArrayRef> = Vec::new();
        for (name, kind, values) in columns {
            let array: ArrayRef = match &*kind {
                "int" => Arc::new(Int64Array::from(values.extract::<Vec<Option<i64>>>()?)),
                "float" => Arc::new(Float64Array::from(values.extract::<Vec<Option<f64>>>()?)),
                "bool" => Arc::new(BooleanArray::from(values.extract::<Vec<Option<bool>>>()?)),
                "str" => Arc::new(LargeStringArray::from(values.extract::<Vec<Option<String>>>()?)),
                other => return Err(PyValueError::new_err(format!("no column holds {other}"))),
            };
            fields.push(Field::new(name, array.data_type().clone(), true));
            arrays.push(array);
        }
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(schema.clone(), arrays).map_err(failed)?;
        Ok(Self { schema, batches: vec![batch] })
    }

    /// A column of texts, without a copy.
    fn texts(&self, name: &str) -> PyResult<Texts> {
        Texts::of_arrays(name, &self.column(name)?)
    }

    /// A column of numbers, texts or truth values as a list.
    fn values<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for column in self.column(name)? {
            match column.data_type() {
                DataType::Int8 => numbers!(list, column, Int8Type),
                DataType::Int16 => numbers!(list, column, Int16Type),
                DataType::Int32 => numbers!(list, column, Int32Type),
                DataType::Int64 => numbers!(list, column, Int64Type),
                DataType::UInt8 => numbers!(list, column, UInt8Type),
                DataType::UInt16 => numbers!(list, column, UInt16Type),
                DataType::UInt32 => numbers!(list, column, UInt32Type),
                DataType::UInt64 => numbers!(list, column, UInt64Type),
                DataType::Float32 => numbers!(list, column, Float32Type),
                DataType::Float64 => numbers!(list, column, Float64Type),
                DataType::Boolean => column.as_boolean().iter().try_for_each(|value| list.append(value)),
                DataType::Null => (0..column.len()).try_for_each(|_| list.append(py.None())),
                _ => Texts::of_arrays(name, std::slice::from_ref(&column))?
                    .iter()
                    .try_for_each(|text| list.append(text)),
            }?;
        }
        Ok(list)
    }

    /// The stream of the PyCapsule interface. No other schema than its own can be asked for.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer give its own schema when it cannot convert.
        drop(requested_schema);
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
    }
}

impl Table {
    fn column(&self, name: &str) -> PyResult<Vec<ArrayRef>> {
        let at = self.schema.index_of(name).map_err(|_| {
            let names: Vec<&str> = self.schema.fields().iter().map(|field| field.name().as_str()).collect();
            PyKeyError::new_err(format!("there is no column '{name}'; there are {}", names.join(", ")))
        })?;
        Ok(self.batches.iter().map(|batch| batch.column(at).clone()).collect())
    }
}

/// The error of a column that holds something else than texts.
pub fn no_texts(name: &str, found: &DataType) -> PyErr {
    PyTypeError::new_err(format!("column {name:?} holds {found}; expected texts"))
}
