//! The matrix on real text, `words:5`: as many runs as it takes for every two values to meet, the corpus being one of them.
//!
//! Here it takes some of the documents of `hdfs-fixtures`; `corpora/matrix.rs` has larger corpora.

use crate::common::matrix::Variant::{BySize, ByTask, TermPlain, TermPrefix};
use crate::common::matrix::{Cover, Make, SHORT_BLOCKS, Subject, Table, Variant, matrix};
use crate::common::oracle::SIMILARITIES;
use crate::common::real::{every, fixture, read};

pub const FEATURES: &str = "words:5";

/// Every way but Term-Split with the prefix filter: its lists are short, and on some corpora none is longer than two.
pub const BUT_PREFIX: [Variant; 7] =
    [TermPlain, BySize(1), BySize(3), BySize(7), ByTask(1), ByTask(3), ByTask(7)];

/// The thresholds of thinned corpora.
pub const FEW_TAUS: [&str; 5] = ["0.1", "0.4", "0.55", "0.7", "0.85"];

/// Runs the matrix on corpora of some hundred documents each.
pub fn thinned(engines: &'static [&'static str], corpora: &[(&str, Make)]) {
    let similarities = &SIMILARITIES[..4];
    let all = Table {
        taus: &FEW_TAUS,
        similarities,
        corpora: corpora.len(),
        ..Table::whole(engines, Cover::Pairs)
    };
    let others = Table { variants: &BUT_PREFIX, ..all };
    let prefix = Table { variants: &[TermPrefix], blocks: &SHORT_BLOCKS, ..all };
    matrix("real text", corpora, &others);
    matrix("real text, prefix", corpora, &prefix);
}

#[test]
fn english_and_chinese() {
    let shares =
        |name, step| Subject::of_any_similarity(every(step, read(&fixture(name))), FEATURES, FEW_TAUS[0]);
    thinned(
        &["local"],
        &[("en / 4", &|| shares("en.jsonl.gz", 4)), ("zh / 4", &|| shares("zh.jsonl.gz", 4))],
    );
}
