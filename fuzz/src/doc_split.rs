//! Small collections from end to end: the columnar Doc-Split, or prefix Term-Split, and brute force find the same
//! pairs at any threshold.
//!
//! A document is a run of bytes up to a zero; each byte is a line of its text, so its set is known without extracting.

use std::collections::BTreeSet;
use std::fmt::Write;
use twinsplit_core::similarity::Measure;
use twinsplit_core::similarity::tau::Tau;
use twinsplit_engine::columnar::{ColumnarJoin, ColumnarRun};
use twinsplit_engine::progress::Progress;
use twinsplit_rows::params::Params;

/// One input.
pub fn run(data: &[u8]) {
    let Some(([shape, places, high, low], data)) =
        data.split_first_chunk::<4>().map(|(head, rest)| (*head, rest))
    else {
        return;
    };
    let sets: Vec<BTreeSet<u8>> =
        data.split(|byte| *byte == 0).take(40).map(|set| set.iter().copied().collect()).collect();
    // From one place of decimals to nine.
    let scale = 10u64.pow(1 + u32::from(places) % 9);
    let numerator = 1 + (u64::from(high) << 24 | u64::from(low) << 12 | u64::from(places)) % scale;
    let decimals = scale.ilog10() as usize;
    let tau = format!("{}.{:0decimals$}", numerator / scale, numerator % scale);
    let exact: Tau = tau.parse().expect("a threshold");

    let folder = tempfile::tempdir_in("/dev/shm").expect("a folder");
    let mut docs = String::new();
    for (number, set) in sets.iter().enumerate() {
        let lines: Vec<_> = set.iter().map(|byte| format!("line {byte}")).collect();
        writeln!(docs, "{}", serde_json::json!({ "id": format!("d{number:02}"), "text": lines.join("\n") }))
            .expect("a string takes everything");
    }
    let input = folder.path().join("docs");
    std::fs::write(&input, docs).expect("a file");
    let mut params = Params::default();
    params.set("features", "lines");
    params.set("tau", tau.as_str());
    params.set("partition", if shape & 1 == 0 { "by-size" } else { "by-task" });
    params.set("cluster", if shape & 2 == 0 { "components" } else { "star" });
    if shape & 4 == 0 {
        params.set("slices", (1 + shape % 5).to_string());
    }
    let run = ColumnarRun {
        inputs: &[input],
        output: folder.path(),
        work: folder.path(),
        opts: params.parse().expect("options"),
        threads: 1 + usize::from(shape >> 7),
        memory: 128 << 20,
        progress: &Progress::default(),
        write_kept: false,
        join: if shape & 64 == 0 { ColumnarJoin::IndexShards } else { ColumnarJoin::PrefixCandidates },
    };
    run.run(|_| {}).expect("an answer");

    let mut expected = String::new();
    for (x, a) in sets.iter().enumerate() {
        for (y, b) in sets.iter().enumerate().skip(x + 1) {
            let (shared, a, b) = (a.intersection(b).count() as u64, a.len() as u64, b.len() as u64);
            if shared > 0 && shared * (numerator + scale) >= numerator * (a + b) {
                let jaccard = Measure::Jaccard.score(shared, a, b);
                writeln!(expected, "d{x:02}\td{y:02}\t{shared}\t{a}\t{b}\t{jaccard}").expect("a string");
            }
        }
    }
    let pairs = std::fs::read_to_string(folder.path().join("pairs.tsv")).expect("pairs");
    assert_eq!(pairs, expected, "tau {exact}");
}
