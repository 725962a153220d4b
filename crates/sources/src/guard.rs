//! Libraries that end in a panic over some damaged files.

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An error of a library that reads files.
pub trait OfLibrary {
    /// The error that says this.
    fn saying(problem: String) -> Self;
}

impl OfLibrary for ParquetError {
    fn saying(problem: String) -> Self {
        Self::General(problem)
    }
}

impl OfLibrary for ArrowError {
    fn saying(problem: String) -> Self {
        Self::ParseError(problem)
    }
}

/// Calls a library that ends in a panic over some damaged files and some types that it does not read; that is an error of the file.
///
/// # Errors
/// Those of the library, and that it ended in a panic.
pub fn guarded<T, E: OfLibrary>(read: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        Err(E::saying("it is damaged, or has a column of a type that is not read".to_owned()))
    })
}
