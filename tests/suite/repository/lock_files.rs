//! The crates beside this workspace that depend on it: their lock files name all that its crates depend on, or `--locked` would
//! refuse to build them.

use crate::common::cli::fixture;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

fn read(path: &str) -> String {
    fs::read_to_string(fixture("..").join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The names below `[dependencies]` of a manifest.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let (_, rest) = manifest.split_once("\n[dependencies]\n").unwrap();
    let section = rest.split("\n[").next().unwrap();
    let name = |line: &str| Some(line.split_once(['.', ' '])?.0.to_owned());
    section.lines().filter_map(name).collect()
}

/// Our crates, each with what it depends on.
fn ours() -> BTreeMap<String, BTreeSet<String>> {
    let folders = fs::read_dir(fixture("../crates")).unwrap();
    let folders = folders.map(|entry| format!("crates/{}", entry.unwrap().file_name().to_string_lossy()));
    let manifests = folders.map(|folder| read(&format!("{folder}/Cargo.toml")));
    let named = |manifest: String| {
        let (_, name) = manifest.split_once("name = \"").unwrap();
        (name.split('"').next().unwrap().to_owned(), dependencies(&manifest))
    };
    manifests.map(named).collect()
}

/// The packages that a lock file has, each with the names that stand there.
fn locked(lock: &str) -> BTreeMap<String, BTreeSet<String>> {
    let package = |package: &str| {
        let (_, name) = package.split_once("name = \"")?;
        let list = package.split_once("dependencies = [").map_or("", |(_, list)| list);
        let names = list.lines().filter_map(|line| line.trim().strip_prefix('"')?.split(['"', ' ']).next());
        Some((name.split('"').next()?.to_owned(), names.map(str::to_owned).collect()))
    };
    lock.split("[[package]]").filter_map(package).collect()
}

#[test]
fn lock_files_name_all_dependencies() {
    let ours = ours();
    assert!(ours["twinsplit-core"].contains("jieba-rs") && ours.len() > 5);
    let beside = ["fuzz", "benches/hamming", "benches/parts"].map(|folder| format!("{folder}/Cargo.lock"));
    for path in [&["Cargo.lock".to_owned()][..], &beside].concat() {
        let locked = locked(&read(&path));
        let compared: Vec<_> = ours.iter().filter(|(name, _)| locked.contains_key(*name)).collect();
        assert!(!compared.is_empty(), "{path} has none of our crates");
        for (name, wanted) in compared {
            let missing: Vec<_> = wanted.difference(&locked[name]).collect();
            assert!(
                missing.is_empty(),
                "{path}: {name} lacks {missing:?}: run cargo update --workspace beside it"
            );
        }
    }
}
