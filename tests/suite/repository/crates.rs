//! The borders between the crates of this repository, as docs/architecture.md tells them.

use crate::common::cli::fixture;
use std::collections::BTreeSet;
use std::fs;

/// The crates from the bottom to the top, each with its folder and those of the others on which it may stand.
const LAYERS: [(&str, &str, &[&str]); 11] = [
    ("twinsplit-core", "crates/core", &[]),
    ("twinsplit-html", "crates/html", &[]),
    ("twinsplit-io", "crates/io", &["core"]),
    ("twinsplit-hamming", "crates/hamming", &["core", "io"]),
    ("twinsplit-store", "crates/store", &["core", "io"]),
    ("twinsplit-serve", "crates/serve", &["core", "io", "hamming", "store"]),
    ("twinsplit-rows", "crates/rows", &["core", "io", "hamming"]),
    ("twinsplit-engine", "crates/engine", &["core", "io", "hamming", "store", "rows"]),
    ("twinsplit-sources", "crates/sources", &["core", "html", "io", "rows"]),
    ("twinsplit", "crates/twinsplit", &["core", "io", "hamming", "store", "rows", "engine"]),
    (
        "twinsplit-cli",
        ".",
        &["core", "io", "hamming", "store", "rows", "serve", "engine", "sources", "twinsplit"],
    ),
];

fn read(path: &str) -> String {
    fs::read_to_string(fixture("..").join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The names under which a crate depends on others, but for its tests.
fn dependencies(folder: &str) -> BTreeSet<String> {
    let manifest = read(&format!("{folder}/Cargo.toml"));
    let (_, rest) = manifest.split_once("\n[dependencies]\n").unwrap();
    let lines = rest.lines().take_while(|line| !line.starts_with('['));
    lines.filter_map(|line| Some(line.split_once(".workspace")?.0.to_owned())).collect()
}

#[test]
fn crates_stand_on_those_below_them() {
    let folders: BTreeSet<String> = fs::read_dir(fixture("../crates"))
        .unwrap()
        .map(|entry| format!("crates/{}", entry.unwrap().file_name().to_string_lossy()))
        .collect();
    let declared: BTreeSet<String> = LAYERS.iter().map(|(_, folder, _)| (*folder).to_owned()).collect();
    assert_eq!(folders, declared.into_iter().filter(|folder| folder != ".").collect());
    let page = read("docs/architecture.md");
    for (name, folder, below) in LAYERS {
        let ours: BTreeSet<String> =
            dependencies(folder).into_iter().filter(|other| other.starts_with("twinsplit")).collect();
        let named = |other: &&str| {
            if *other == "twinsplit" { "twinsplit".to_owned() } else { format!("twinsplit-{other}") }
        };
        assert!(ours.is_subset(&below.iter().map(named).collect()), "{name}: {ours:?}");
        assert!(page.contains(&format!("`{name}`")), "docs/architecture.md does not tell of {name}");
    }
}

#[test]
fn programs_get_no_command_line() {
    for (name, folder, _) in &LAYERS[..LAYERS.len() - 1] {
        let uses = dependencies(folder);
        for other in ["clap", "clap_complete", "clap_mangen", "indicatif", "signal-hook"] {
            assert!(!uses.contains(other), "{name} uses {other}");
        }
    }
    let direct = dependencies("crates/twinsplit");
    assert!(direct.len() <= 15, "{direct:?}");
    assert!(!direct.contains("twinsplit-sources"), "the facade reads no other formats");
}
