//! The fuzz targets without a fuzzer: what they do with each seed, and how `make fuzz` tells which of them ran.

// The functions themselves, as the fuzzer calls them.
#[allow(clippy::result_large_err)]
#[path = "../../../fuzz/src/lib.rs"]
mod fuzz;

use crate::common::cli::{Place, Said, binaries};
use crate::common::harness::clean;
use fuzz::TARGETS;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz"))
}

/// A seed on which a target panics would end it before it has found anything.
#[test]
fn every_seed_is_taken_by_its_target() {
    let here = Place::new();
    let mut command = clean(Command::new(folder().join("seeds.sh")));
    here.run(
        {
            command.arg(binaries()).arg("corpus");
            command
        },
        "",
    )
    .ok();
    for (name, run) in TARGETS {
        let mut seeds: Vec<_> = std::fs::read_dir(here.path("corpus").join(name))
            .unwrap_or_else(|error| panic!("{name}: {error}"))
            .map(|entry| entry.unwrap().path())
            .collect();
        seeds.sort();
        assert!(!seeds.is_empty(), "{name} has no seed");
        for seed in seeds {
            let data = std::fs::read(&seed).unwrap();
            let taken = std::panic::catch_unwind(|| run(&data));
            assert!(taken.is_ok(), "{}", seed.display());
        }
    }
}

/// A `cargo` that does as cargo-fuzz does with a target that finds nothing, one that does, and one that is not built.
const CARGO: &str = r#"#!/usr/bin/env bash
target=$7
[[ $target != doc_split ]] || { echo "error: could not compile" >&2; exit 101; }
echo "stat::number_of_executed_units: 12" >&2
[[ $target != "$BROKEN" ]] || { echo "panicked" >&2; exit 77; }
"#;

fn make_fuzz(here: &Place, broken: &str, targets: &[&str]) -> Said {
    let mut command = clean(Command::new(folder().join("run.sh")));
    let path = format!("{}:{}", here.path("bin").display(), std::env::var("PATH").unwrap());
    command.arg("1").args(targets).env("PATH", path);
    command.env("BROKEN", broken);
    here.run(command, "")
}

#[test]
fn all_targets_run_and_the_last_line_counts_them() {
    let here = Place::new();
    std::fs::create_dir(here.path("bin")).unwrap();
    here.write("bin/cargo", CARGO);
    std::fs::set_permissions(here.path("bin/cargo"), PermissionsExt::from_mode(0o755)).unwrap();
    let last = |said: &Said| said.out.lines().last().unwrap_or_default().to_owned();
    let said = make_fuzz(&here, "", &["records", "stages"]);
    assert_eq!((said.code, last(&said).as_str()), (0, "fuzz: 2 of 2 targets ran, 0 failed"));
    // The first one finds something, and one that is not built did not run: both are told at the end.
    let said = make_fuzz(&here, "records", &[]);
    assert_eq!(last(&said), "fuzz: 15 of 16 targets ran, 2 failed: records doc_split");
    assert_eq!(said.code, 1);
    let began: Vec<_> =
        said.out.lines().filter_map(|line| line.strip_prefix("== ")?.split(',').next()).collect();
    let mut names = TARGETS.map(|(name, _)| name).to_vec();
    assert_eq!(began.len(), names.len());
    names.retain(|name| !began.contains(name));
    assert!(names.is_empty(), "{names:?} are no binaries of fuzz/Cargo.toml");
}
