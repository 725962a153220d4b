//! What others have written and is built into the program or the package: its licences, what of it comes twice, what it needs to be built.

use crate::common::cli::fixture;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Licences that let the program be passed on under its own, Apache-2.0.
const LICENCES: [&str; 13] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "bzip2-1.0.6",
];

/// What is there in several versions, because those who use it want different ones. A new line here is a thing to compile more; most can be
/// had away by another version of what asks for it.
const DOUBLES: [&str; 4] = ["getrandom", "hashbrown", "num-bigint", "syn"];

/// What a fresh machine cannot build, for it wants more than a C compiler, or what the project has something else for.
const BANNED: [&str; 7] =
    ["aws-lc-sys", "bindgen", "cmake", "native-tls", "openssl-sys", "resiliparse", "vcpkg"];

/// A package that this machine's build takes in: its name, and what its manifest says.
struct Package {
    name: String,
    version: String,
    licence: String,
    rust: Option<(u32, u32)>,
}

/// The packages of the workspace's lock file that are used on this machine.
fn packages() -> Vec<Package> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let rustc = Command::new("rustc").arg("-vV").output().expect("rustc says what it is");
    let rustc = String::from_utf8(rustc.stdout).unwrap();
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc has a host");
    let asked = Command::new(cargo)
        .args(["metadata", "--locked", "--format-version", "1", "--filter-platform", host])
        .current_dir(fixture(".."))
        .output()
        .expect("cargo runs");
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    let all: Value = serde_json::from_slice(&asked.stdout).unwrap();
    let nodes = all["resolve"]["nodes"].as_array().unwrap();
    let used: BTreeSet<&str> = nodes.iter().filter_map(|node| node["id"].as_str()).collect();
    let here = all["packages"].as_array().unwrap().iter();
    let here = here.filter(|package| used.contains(package["id"].as_str().unwrap()));
    here.map(|package| {
        let text = |field: &str| package[field].as_str().unwrap_or_default().to_owned();
        let rust = package["rust_version"].as_str().map(|version| {
            let mut numbers = version.split('.').map(|number| number.parse().unwrap());
            (numbers.next().unwrap(), numbers.next().unwrap_or(0))
        });
        Package { name: text("name"), version: text("version"), licence: text("license"), rust }
    })
    .collect()
}

/// Whether one may choose among the licences of an SPDX expression, in which only `OR` stands in parentheses, so that all are in the list.
fn is_allowed(licence: &str) -> bool {
    let licence = licence.replace('/', " OR ");
    let one_of = |either: &str| {
        either.trim_matches(['(', ')']).split(" OR ").any(|name| LICENCES.contains(&name.trim()))
    };
    !licence.is_empty() && licence.split(" AND ").all(one_of)
}

#[test]
fn licences_of_all_dependencies_allow_it() {
    for (licence, allowed) in [
        ("MIT", true),
        ("GPL-3.0-only", false),
        ("GPL-3.0-only OR MIT", true),
        ("MIT/Apache-2.0", true),
        ("(MIT OR GPL-2.0) AND Unicode-3.0", true),
        ("MIT AND GPL-2.0", false),
        ("", false),
    ] {
        assert_eq!(is_allowed(licence), allowed, "{licence}");
    }
    let packages = packages();
    assert!(packages.len() > 150, "{} packages", packages.len());
    for Package { name, version, licence, .. } in packages {
        assert!(is_allowed(&licence), "{name} {version}: {licence:?}");
    }
}

#[test]
fn nothing_new_comes_twice_or_is_banned() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for Package { name, version, .. } in packages() {
        assert!(!BANNED.contains(&name.as_str()), "{name} {version}");
        versions.entry(name).or_default().insert(version);
    }
    let doubles = versions.iter().filter(|(_, versions)| versions.len() > 1);
    let named: Vec<&str> = doubles.clone().map(|(name, _)| name.as_str()).collect();
    assert_eq!(named, DOUBLES, "{:?}", doubles.collect::<Vec<_>>());
}

/// `make msrv` builds with that version of Rust; what a dependency says of itself is known before.
#[test]
fn no_dependency_wants_a_newer_rust_than_is_promised() {
    let packages = packages();
    let ours =
        packages.iter().find(|package| package.name == "twinsplit-cli").and_then(|package| package.rust);
    let ours = ours.expect("the workspace names a version of Rust");
    for Package { name, version, rust, .. } in packages {
        assert!(
            rust.is_none_or(|rust| rust <= ours),
            "{name} {version} wants Rust {rust:?}, {ours:?} is promised"
        );
    }
}
