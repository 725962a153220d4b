//! Names of files, of whatever bytes, and places of files: what a run read is found again.

use crate::common::cli::{Place, binaries, jsonl, search_path};
use crate::common::harness::clean;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

const OPTIONS: &str = "--features words:1 --tau 0.5 --quiet";

fn run_json(here: &Place, folder: &str) -> Value {
    serde_json::from_str(&here.read(&format!("{folder}/run.json"))).unwrap()
}

/// Two names that are no UTF-8, one that looks like the way in which such a name is written, and one with a backslash.
#[test]
fn names_of_any_bytes_are_kept_apart_and_found_again() {
    let here = Place::new();
    fs::create_dir(here.path("in")).unwrap();
    let names: [&[u8]; 4] = [b"caf\xe8.jsonl", b"caf\xe9.jsonl", b"caf\\xe9.jsonl", b"a\\b\n.jsonl"];
    for (at, name) in names.iter().enumerate() {
        let text = if at == 2 { "x y z" } else { "u v w" };
        fs::write(here.path("in").join(OsStr::from_bytes(name)), format!("{{\"text\":\"{text}\"}}\n"))
            .unwrap();
    }
    let shown = [r"in/caf\xe8.jsonl", r"in/caf\xe9.jsonl", r"in/caf\x5cxe9.jsonl"];
    for (way, out) in [("doc-split", "o1"), ("term-split", "o2"), ("doc-split --engine pipes", "o3")] {
        let run = format!("twinsplit run {way} {OPTIONS} --id auto --input in --output {out}");
        here.say(&run).ok();
        let ids: BTreeSet<String> = here
            .read(&format!("{out}/clusters.tsv"))
            .lines()
            .map(|row| row.split('\t').nth(1).unwrap().to_owned())
            .collect();
        let expected = [r"in/a\x5cb\x0a.jsonl@0", r"in/caf\xe8.jsonl@0", r"in/caf\xe9.jsonl@0"];
        assert!(ids.iter().eq(expected), "{way}: {ids:?}");
        let json = run_json(&here, out);
        let paths = json["inputs"].as_array().unwrap().iter().map(|input| input["path"].as_str().unwrap());
        let paths: Vec<_> = paths.collect();
        assert!(shown.iter().all(|name| paths.contains(name)), "{paths:?}");
        here.say(&format!("{run} --resume")).ok();
        let explained =
            here.say(&format!(r"twinsplit explain {0}e8.jsonl@0 {0}e9.jsonl@0 --run {out}", r"in/caf\x"));
        assert!(explained.ok().contains("=> a pair"), "{way}");
        here.say(&format!("twinsplit report {out} --quiet")).ok();
        assert!(here.read(&format!("{out}/report.html")).contains(r"in/caf\\xe9.jsonl"));
    }
    fs::write(here.path("in").join(OsStr::from_bytes(names[1])), "bad\n").unwrap();
    let again = format!("twinsplit run doc-split {OPTIONS} --id auto --input in --output o1");
    here.say(&format!("{again} --resume")).fails(2, &[r"the input in/caf\xe9.jsonl has changed"]);
    here.say(&format!("{again} --overwrite")).fails(1, &[r"in/caf\xe9.jsonl, line 1"]);
    here.say("twinsplit report o1 --overwrite").fails(1, &[r"in/caf\xe9.jsonl", "has changed since"]);
    // An output of such a name, and a message that names it.
    let mut command = clean(Command::new(binaries().join("twinsplit")));
    command.args(again.replace(" --input in --output o1", "").split(' ').skip(1)).env("PATH", search_path());
    command.args(["--input", "in", "--output"]).arg(OsStr::from_bytes(b"o\xe9"));
    here.run(command, "").fails(1, &[r"in/caf\xe9.jsonl, line 1"]);
}

/// A run is looked at from another folder, where the files that its options name are others, too.
#[test]
fn a_run_is_looked_at_from_another_folder() {
    let here = Place::new();
    let docs = jsonl(&[("a", "x y z"), ("b", "x y z"), ("c", "u v w")]);
    fs::create_dir_all(here.path("sub/other")).unwrap();
    here.write("sub/docs", &docs);
    here.write("docs", jsonl(&[("a", "other"), ("b", "texts")]));
    here.shell(&format!(
        "cd sub && twinsplit idf --from docs --features words:1 --output table && \
         twinsplit run doc-split {OPTIONS} --input docs --output out --idf 0.1,0.99 --idf-table table && \
         twinsplit run doc-split {OPTIONS} --input docs --output auto --id auto"
    ))
    .ok();
    let json = run_json(&here, "sub/out");
    let real = here.path("sub").canonicalize().unwrap();
    for (list, name) in [("inputs", "docs"), ("parameter_files", "table"), ("outputs", "out/pairs.tsv")] {
        let files = json[list].as_array().unwrap();
        let file =
            files.iter().find(|file| file["path"] == name).unwrap_or_else(|| panic!("{name}: {files:?}"));
        assert_eq!(file["absolute"].as_str(), real.join(name).to_str());
    }
    for (from, to) in [(".", "sub/out"), ("sub/other", "../out")] {
        let explained = here.shell(&format!("cd {from} && twinsplit explain a b --run {to}")).ok();
        assert!(explained.contains("=> a pair"), "{explained}");
        here.shell(&format!("cd {from} && twinsplit report {to} --quiet --overwrite")).ok();
    }
    let explained = here.say("twinsplit explain docs@0 docs@26 --run sub/auto").ok();
    assert!(explained.contains("=> a pair"), "{explained}");
    // The same run, whose input has another name here.
    let resume = "--output sub/out --idf 0.1,0.99 --idf-table table --resume --input";
    here.shell("cp sub/table table").ok();
    here.say(&format!("twinsplit run doc-split {OPTIONS} {resume} sub/docs")).ok();
    here.say(&format!("twinsplit run doc-split {OPTIONS} {resume} docs"))
        .fails(2, &["the input docs has changed"]);

    // A corpus that has moved is named, and others are noticed.
    here.shell("mv sub/docs sub/moved").ok();
    for (command, more) in [("explain a b --run sub/out", ""), ("report sub/out --overwrite", "--text 0")] {
        let said = here.say(&format!("twinsplit {command}")).fails(1, &["docs", "name it with --input"]);
        assert!(said.contains(more), "{said}");
        here.say(&format!("twinsplit {command} --input sub/moved")).ok();
        here.say(&format!("twinsplit {command} --input docs"))
            .fails(1, &["docs: is not what the run", "same files"]);
        here.say(&format!("twinsplit {command} --input docs sub/moved")).fails(2, &["--input names 2 files"]);
    }
    let explained = here.say("twinsplit explain docs@0 docs@26 --run sub/auto --input sub/moved").ok();
    assert!(explained.contains("=> a pair"), "{explained}");
}
