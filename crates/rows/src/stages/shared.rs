//! What is made of a side file, held once for all tasks of a process that read the same one at the same time.
//!
//! In one process the tasks of a step are threads, and a table of clusters or a filter of keys in each of them would take as often the memory.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use twinsplit_core::threads::lock;
use twinsplit_io::error::Result;

/// The value of the file that was loaded last, as long as a task holds it.
pub struct Shared<T>(Mutex<Option<(PathBuf, Weak<T>)>>);

impl<T> Shared<T> {
    /// Nothing has been loaded.
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// The value of a file: that of another task, or else a new one. A task that comes while it is loaded waits for it.
    pub fn load(&self, path: &Path, load: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        let mut last = lock(&self.0);
        let held = last.as_ref().filter(|(of, _)| of == path).and_then(|(_, value)| value.upgrade());
        if let Some(value) = held {
            return Ok(value);
        }
        let value = Arc::new(load()?);
        *last = Some((path.to_owned(), Arc::downgrade(&value)));
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_loaded_once_while_it_is_held() {
        static SHARED: Shared<usize> = Shared::new();
        let load = |path: &str, value| SHARED.load(Path::new(path), || Ok(value)).unwrap();
        let first = load("a", 1);
        assert_eq!((*load("a", 2), *load("b", 3), *first), (1, 3, 1));
        drop(first);
        assert_eq!(*load("a", 4), 4);
    }
}
