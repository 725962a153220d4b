//! Real text: the project's own fixtures. Larger corpora are in [`crate::corpora`].

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::oracle::Doc;

/// A file of the mixed English and Chinese fixture.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("hdfs-fixtures/documents").join(name)
}

/// Every `step`-th document, the first among them: a corpus that is quicker to join by `step` squared.
pub fn every(step: usize, docs: Vec<Doc>) -> Vec<Doc> {
    docs.into_iter().step_by(step).collect()
}

/// Reads a compressed file of JSON lines.
pub fn read(path: &Path) -> Vec<Doc> {
    let file = std::fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = BufReader::new(flate2::read::MultiGzDecoder::new(file)).lines();
    lines.map(|line| Doc::from_line(&line.expect("UTF-8"))).collect()
}
