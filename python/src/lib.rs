//! `twinsplit._twinsplit`: what the Python package is made on, which `twinsplit/*.py` shows to users.
//!
//! | module | what it is |
//! |---|---|
//! | [`table`] | Arrow tables in and out |
//! | [`texts`] | a column of texts, which stays where it is |
//! | [`settings`] | the options of a run; runs, indexes and comparisons |
//! | [`found`] | what a run found, by row numbers |
//! | [`watched`] | work without the interpreter's lock, which can be interrupted |
//! | [`sketches`] | signatures, fingerprints, and an index of these |
//! | [`stores`] | what a store holds, and what leaves it |

mod found;
mod settings;
mod sketches;
mod stores;
mod table;
mod texts;
mod watched;

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use twinsplit::Error;

/// The exception that an error is, with its words.
fn raised(error: Error) -> PyErr {
    let words = error.to_string();
    match error {
        Error::Io { source, .. } => match source.raw_os_error() {
            Some(code) => PyOSError::new_err((code, words)),
            None => PyOSError::new_err(words),
        },
        Error::Limit(_) | Error::Failed(_) | Error::Cancelled => PyRuntimeError::new_err(words),
        _ => PyValueError::new_err(words),
    }
}

#[pymodule]
mod _twinsplit {
    #[pymodule_export]
    use super::found::Found;
    #[pymodule_export]
    use super::settings::{Index, Settings, options};
    #[pymodule_export]
    use super::sketches::{HammingIndex, MinHash, SimHash};
    #[pymodule_export]
    use super::stores::{
        store_about, store_compact, store_documents, store_drop_batches, store_expire, store_forget,
    };
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::texts::Texts;
}
