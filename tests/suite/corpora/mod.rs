//! Tests on corpora that are too large for the repository, or may not be redistributed.
//!
//! `cargo test` and `make test` ignore them; `make test-corpora` runs them, and `make test-long` those that take hours. The corpora
//! lie in `../shared/corpora`, or where `CORPORA_DIR` says (a name without the prefix `TWINSPLIT_`, which belongs to the
//! product's options). One that is missing fails its test: a test that skips itself proves nothing.

use std::path::{Path, PathBuf};

use crate::common::oracle::Doc;
use crate::common::real::read;

mod advice;
mod answers;
mod convert;
mod keywords;
mod main_content;
mod matrix;

/// The file of a corpus, by the name of its folder.
pub fn path(name: &str) -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpora");
    let root = std::env::var_os("CORPORA_DIR").map_or_else(beside, PathBuf::from);
    let path = root.join(name).join("docs.jsonl.gz");
    assert!(
        path.parent().is_some_and(Path::is_dir),
        "{}: there is no such folder, and this test needs it. The corpora are expected in ../shared/corpora \
         beside the checkout; CORPORA_DIR names another place.",
        root.join(name).display()
    );
    path
}

/// The documents of a corpus.
pub fn corpus(name: &str) -> Vec<Doc> {
    read(&path(name))
}

#[test]
#[should_panic(expected = "CORPORA_DIR names another place")]
fn a_missing_corpus_fails() {
    corpus("no-such-corpus");
}
