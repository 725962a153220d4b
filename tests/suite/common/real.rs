//! Real text: the corpora beside the checkout, and the project's own fixtures.
//!
//! The corpora lie in `../shared/corpora`, or where `CORPORA_DIR` says (a name without the prefix
//! `TWINSPLIT_`, which belongs to the product's options). One that is missing fails its test: a test
//! that skips itself proves nothing.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::oracle::Doc;

/// The file of a corpus, by the name of its folder.
pub fn path(name: &str) -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpora");
    let root = std::env::var_os("CORPORA_DIR").map_or_else(beside, PathBuf::from);
    root.join(name).join("docs.jsonl.gz")
}

/// The documents of a corpus.
pub fn corpus(name: &str) -> Vec<Doc> {
    read(&path(name))
}

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
    let file = std::fs::File::open(path).unwrap_or_else(|error| {
        panic!(
            "{}: {error}: this test needs that file. The corpora are expected in ../shared/corpora \
             beside the checkout; CORPORA_DIR names another place.",
            path.display()
        )
    });
    let lines = BufReader::new(flate2::read::MultiGzDecoder::new(file)).lines();
    lines.map(|line| Doc::from_line(&line.expect("UTF-8"))).collect()
}
