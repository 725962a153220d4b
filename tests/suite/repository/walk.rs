//! The way that docs/architecture.md shows from the README to the line that decides, and the files that pages name.

use crate::common::cli::fixture;
use std::fs;

fn read(path: &str) -> String {
    fs::read_to_string(fixture("..").join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_line_that_decides_is_where_the_walk_ends() {
    let page = read("docs/architecture.md");
    let (_, walk) = page.split_once("## From the README to the line that decides").unwrap();
    let stops: Vec<&str> =
        walk.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).collect();
    assert_eq!(stops.len(), 5);
    let (_, link) = stops[4].split_once("](../").unwrap();
    let last = read(link.split_once(')').unwrap().0);
    let (_, code) = walk.split_once("```rust\n").unwrap();
    let line = code.lines().next().unwrap().trim();
    assert!(last.lines().any(|known| known.trim() == line), "{line}");
    for word in ["Columnar::IndexShards", "`query`", "`verify`", "`merge`", "`accepts`"] {
        assert!(walk.contains(word), "{word}");
    }
    assert!(read("crates/rows/src/chains/doc_split.rs").contains("Columnar::IndexShards"));
    assert!(read("crates/core/src/join/kernel.rs").contains("fn query"));
    assert!(last.contains("fn verify") && last.contains("fn merge"));
}

/// Every file of the source that these pages name is there.
#[test]
fn pages_name_files_that_exist() {
    for page in
        ["docs/architecture.md", "docs/bibliography.md", "docs/glossary.md", "README.md", "CONTRIBUTING.md"]
    {
        let text = read(page);
        for name in text.split(|c: char| c.is_whitespace() || "`()[],;".contains(c)) {
            let name = name.trim_start_matches("../");
            if (name.starts_with("src/") || name.starts_with("crates/")) && !name.contains("FAMILY") {
                assert!(fixture("..").join(name).exists(), "{page}: {name}");
            }
        }
    }
}
