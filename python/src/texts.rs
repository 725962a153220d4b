//! A column of texts: the strings of a list or the arrays of a table, which stay where they are.

use crate::table::no_texts;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeStringArray, StringArray, StringViewArray};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyFloat, PyList, PyString};

/// A column of texts, some of which may be missing.
#[pyclass(frozen, module = "twinsplit._twinsplit")]
pub struct Texts {
    chunks: Vec<Chunk>,
    /// The row at which each chunk begins.
    starts: Vec<usize>,
    count: usize,
}

enum Chunk {
    Strings(Vec<Option<PyBackedStr>>),
    Small(StringArray),
    Large(LargeStringArray),
    View(StringViewArray),
}

impl Chunk {
    fn len(&self) -> usize {
        match self {
            Chunk::Strings(strings) => strings.len(),
            Chunk::Small(array) => array.len(),
            Chunk::Large(array) => array.len(),
            Chunk::View(array) => array.len(),
        }
    }

    fn get(&self, at: usize) -> Option<&str> {
        match self {
            Chunk::Strings(strings) => strings[at].as_deref(),
            Chunk::Small(array) => array.is_valid(at).then(|| array.value(at)),
            Chunk::Large(array) => array.is_valid(at).then(|| array.value(at)),
            Chunk::View(array) => array.is_valid(at).then(|| array.value(at)),
        }
    }
}

impl Texts {
    fn of(chunks: Vec<Chunk>) -> Self {
        let (mut count, mut starts) = (0, Vec::new());
        for chunk in &chunks {
            starts.push(count);
            count += chunk.len();
        }
        Self { chunks, starts, count }
    }

    /// The arrays of a column of this name.
    pub fn of_arrays(name: &str, arrays: &[ArrayRef]) -> PyResult<Self> {
        let chunk = |array: &ArrayRef| {
            let small = array.as_string_opt::<i32>().cloned().map(Chunk::Small);
            let large = || array.as_string_opt::<i64>().cloned().map(Chunk::Large);
            let view = || array.as_string_view_opt().cloned().map(Chunk::View);
            small.or_else(large).or_else(view).ok_or_else(|| no_texts(name, array.data_type()))
        };
        Ok(Self::of(arrays.iter().map(chunk).collect::<PyResult<_>>()?))
    }

    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The text of a row that there is.
    pub fn get(&self, row: usize) -> Option<&str> {
        let chunk = self.starts.partition_point(|start| *start <= row) - 1;
        self.chunks[chunk].get(row - self.starts[chunk])
    }

    /// The texts of all rows.
    pub fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        self.chunks.iter().flat_map(|chunk| (0..chunk.len()).map(|at| chunk.get(at)))
    }
}

#[pymethods]
impl Texts {
    /// The strings of a list; None and NaN are missing texts.
    #[staticmethod]
    fn of_list(list: &Bound<'_, PyList>) -> PyResult<Self> {
        let text = |(row, item): (usize, Bound<'_, PyAny>)| match item.cast_into::<PyString>() {
            Ok(string) => PyBackedStr::try_from(string).map(Some).map_err(|error| {
                PyValueError::new_err(format!("the text of row {row} is no Unicode text: {error}"))
            }),
            Err(other) => {
                let item = other.into_inner();
                let is_nan = item.cast::<PyFloat>().is_ok_and(|number| number.value().is_nan());
                if item.is_none() || is_nan {
                    return Ok(None);
                }
                let found = item.get_type().name()?;
                Err(PyTypeError::new_err(format!("the text of row {row} is {found}; expected str or None")))
            }
        };
        let strings = list.iter().enumerate().map(text).collect::<PyResult<_>>()?;
        Ok(Self::of(vec![Chunk::Strings(strings)]))
    }

    fn __len__(&self) -> usize {
        self.count
    }

    fn __getitem__(&self, row: usize) -> PyResult<Option<&str>> {
        if row < self.count { Ok(self.get(row)) } else { Err(PyIndexError::new_err("there is no such row")) }
    }

    /// The rows without a text.
    #[getter]
    fn missing(&self) -> Vec<usize> {
        self.iter().enumerate().filter(|(_, text)| text.is_none()).map(|(row, _)| row).collect()
    }
}
