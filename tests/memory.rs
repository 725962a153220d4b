//! A feature that very many documents share: the quadratic part of plain Term-Split goes to disk, not to memory.
//!
//! Every process runs under a limit on its address space (`ulimit -v`), which counts more than it uses.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// So many documents, all with the line `hot`, each with a line of its own: any two have Jaccard 1/3.
fn documents(folder: &Path, count: usize) -> String {
    let mut text = String::new();
    for document in 0..count {
        writeln!(text, r#"{{"id":"d{document}","text":"hot\nown line {document}"}}"#).unwrap();
    }
    let path = folder.join("docs.jsonl");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Runs a bash line in a folder, with the binaries on PATH and a limit of so many kilobytes on each process, and gives
/// what it printed.
fn bash(folder: &Path, kilobytes: u64, line: &str) -> String {
    let binaries = Path::new(env!("CARGO_BIN_EXE_twinsplit")).parent().unwrap();
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
    let script = format!("set -euo pipefail; ulimit -v {kilobytes}; {line}");
    let done = Command::new("bash")
        .args(["-c", &script])
        .current_dir(folder)
        .env("PATH", path)
        .env("TMPDIR", folder)
        .env("LC_ALL", "C")
        .output()
        .expect("bash is needed: apt-get install bash");
    assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn hot_feature(count: usize, kilobytes: u64, megabytes: u64) {
    let folder = tempfile::tempdir().unwrap();
    let input = documents(folder.path(), count);
    let pairs = count * (count - 1) / 2;

    let found = bash(
        folder.path(),
        kilobytes,
        &format!(
            "tokenize --features lines < {input} | index-term | sort -S {megabytes}M | index-term-reduce | pcp-map | \
             sort -S {megabytes}M | pcp-reduce --tau 0.333333333 | wc -l"
        ),
    );
    assert_eq!(found.trim(), pairs.to_string(), "every two documents have Jaccard 1/3");

    bash(
        folder.path(),
        kilobytes,
        &format!(
            "twinsplit run term-split --features lines --tau 0.34 --memory {megabytes} --threads 2 --input {input} \
             --output out --quiet"
        ),
    );
    let run = std::fs::read_to_string(folder.path().join("out/run.json")).unwrap();
    let run: serde_json::Value = serde_json::from_str(&run).unwrap();
    let counters = &run["counters"]["pcp-map"];
    assert_eq!(counters["pairs_below_tau"], pairs);
    assert!(counters["spills"].as_u64().unwrap() > 1, "rows went to disk: {counters}");
    assert_eq!(std::fs::read_to_string(folder.path().join("out/pairs.tsv")).unwrap(), "");
}

#[test]
fn a_hot_feature_goes_to_disk() {
    hot_feature(5_000, 320 << 10, 64);
}

/// 2·10^8 pairs in 512 MB.
#[test]
#[ignore = "minutes; run by `make test-long`"]
fn a_feature_of_20_000_documents_stays_inside_512_megabytes() {
    hot_feature(20_000, 512 << 10, 200);
}
