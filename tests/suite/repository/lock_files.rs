//! The crates beside this one that depend on it: their lock files name all that it depends on, or `--locked` would refuse to build them.

use crate::common::cli::fixture;
use std::collections::BTreeSet;
use std::fs;

/// The names below `[dependencies]` of a manifest.
fn dependencies(manifest: &str) -> BTreeSet<&str> {
    let (_, rest) = manifest.split_once("\n[dependencies]\n").unwrap();
    let section = rest.split("\n[").next().unwrap();
    section.lines().filter_map(|line| Some(line.split_once(" =")?.0)).collect()
}

/// The names that a lock file has for the package.
fn locked(lock: &str) -> BTreeSet<&str> {
    let package =
        lock.split("[[package]]").find(|package| package.contains("\nname = \"twinsplit\"\n")).unwrap();
    let (_, list) = package.split_once("dependencies = [").unwrap();
    list.lines().filter_map(|line| line.trim().strip_prefix('"')?.split(['"', ' ']).next()).collect()
}

#[test]
fn lock_files_name_all_dependencies() {
    let read = |path: &str| fs::read_to_string(fixture("..").join(path)).unwrap();
    let manifest = read("Cargo.toml");
    let wanted = dependencies(&manifest);
    assert!(wanted.contains("clap") && wanted.len() > 20);
    for path in ["Cargo.lock", "fuzz/Cargo.lock", "benches/hamming/Cargo.lock", "benches/parts/Cargo.lock"] {
        let lock = read(path);
        let missing: Vec<_> = wanted.difference(&locked(&lock)).copied().collect();
        assert!(missing.is_empty(), "{path} lacks {missing:?}: run cargo update --workspace beside it");
    }
}
