//! The two lines of the README agree with each other and with the oracle, on real text in English
//! and Chinese: the bare pipe of stages, and the driver.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::cli::search_path;
use crate::common::expected::{Keep, Kind};
use crate::common::harness::{bash, first_difference, run};
use crate::common::matrix::Subject;
use crate::common::real;

/// As they stand in the README.
const LINES: [&str; 2] = [
    "zcat docs.jsonl.gz | tokenize | index-term | LC_ALL=C sort | index-term-reduce | pcp-map \
     | LC_ALL=C sort | pcp-reduce | LC_ALL=C sort > pairs.tsv",
    "twinsplit run doc-split --input docs.jsonl.gz --output out",
];

/// Runs a line in a folder, our program first on the path.
fn shell(line: &str, folder: &Path) {
    let mut command = bash();
    command.current_dir(folder).env("PATH", search_path());
    command.args(["-c", &format!("set -euo pipefail; {line}")]);
    if let Err(failure) = run(command) {
        panic!("{failure}");
    }
}

/// The fixture as one file of two gzip members, one a language, as `cat` makes it.
#[test]
fn the_two_lines_agree_with_the_oracle() {
    let folder = tempfile::tempdir().unwrap();
    let languages = ["en.jsonl.gz", "zh.jsonl.gz"].map(|name| real::read(&real::fixture(name)));
    let bytes = ["en.jsonl.gz", "zh.jsonl.gz"].map(|name| std::fs::read(real::fixture(name)).unwrap());
    std::fs::write(folder.path().join("docs.jsonl.gz"), bytes.concat()).unwrap();
    let ids =
        languages.each_ref().map(|docs| docs.iter().map(|doc| doc.id.clone()).collect::<BTreeSet<String>>());
    let subject = Subject::new(languages.concat(), "words:3", "0.65");
    let expected = subject.expected("0.65", Kind::Components, Keep::SmallestId);
    for (language, ids) in ["English", "Chinese"].iter().zip(&ids) {
        let inside = |line: &&str| line.split('\t').take(2).all(|id| ids.contains(id));
        let pairs = expected.pairs.lines().filter(inside).count();
        assert!(pairs >= 1_000, "{pairs} pairs in {language}");
    }
    for line in LINES {
        shell(line, folder.path());
    }
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    for (name, expected) in [
        ("pairs.tsv", &expected.pairs),
        ("out/pairs.tsv", &expected.pairs),
        ("out/clusters.tsv", &expected.clusters),
    ] {
        let written = read(name);
        assert!(&written == expected, "{name}: {}", first_difference(&written, expected));
    }
}

/// The README shows the lines that the test above runs.
#[test]
fn the_readme_shows_these_lines() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(readme).unwrap().replace("\\\n", " ");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let readme = words(&readme);
    for line in LINES {
        assert!(readme.contains(&words(line)), "not in README.md: {line}");
    }
}
