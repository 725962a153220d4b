//! Parquet: files that pyarrow wrote in several ways (tests/goldens/parquet), and damaged ones.

use crate::common::cli::Place;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of the same rows.
const FILES: [&str; 6] = ["snappy", "plain", "gzip", "zstd", "lz4", "delta"];

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/parquet").join(name)
}

/// The JSON lines were made of the values and not of the files.
#[test]
fn every_way_of_writing_has_the_same_rows() {
    let here = Place::new();
    let expected = fs::read_to_string(golden("rows.jsonl")).unwrap();
    for name in FILES {
        let file = golden(&format!("{name}.parquet"));
        assert_eq!(here.say(&format!("twinsplit convert {} -o -", file.display())).ok(), expected, "{name}");
        // The content says what it is.
        fs::copy(&file, here.path("documents.txt")).unwrap();
        assert_eq!(here.say("twinsplit convert documents.txt -o -").ok(), expected, "{name}");
    }
    let empty = golden("empty.parquet").display().to_string();
    assert_eq!(here.say(&format!("twinsplit convert {empty} -o - -q")).ok(), "");
}

/// Columns are fields, parts of structures too, beside files of other formats.
#[test]
fn a_run_reads_it_as_it_reads_lines() {
    let here = Place::new();
    fs::create_dir(here.path("in")).unwrap();
    fs::copy(golden("zstd.parquet"), here.path("in/a.parquet")).unwrap();
    fs::copy(golden("rows.jsonl"), here.path("rows.jsonl")).unwrap();
    for (options, least) in [
        ("--features words:2 --tau 0.9", 30),
        ("--features words:1 --tau 0.3 --id number --text meta.title,text --bad-records all", 30),
        ("--features chars:3 --tau 0.5 --text text --keep newest --date time", 30),
    ] {
        for engine in ["local", "pipes"] {
            let run = format!("twinsplit run doc-split {options} --engine {engine} --overwrite -q");
            here.say(&format!("{run} -i in -o out")).ok();
            here.say(&format!("{run} -i rows.jsonl -o expected")).ok();
            let pairs = here.read("out/pairs.tsv");
            assert_eq!(pairs, here.read("expected/pairs.tsv"), "{options} {engine}");
            assert!(pairs.lines().count() >= least, "{options} {engine}");
        }
    }
    // A row's number is its place.
    here.say("twinsplit run -i in --id row --features words:2 --tau 0.9 --overwrite -qo out").ok();
    assert!(here.read("out/pairs.tsv").starts_with("in/a.parquet@1\tin/a.parquet@2\t"));
    here.say("twinsplit run -i in --text body -o none").fails(1, &["in/a.parquet", "text", "body"]);
}

/// A file that is cut anywhere is an error, and so is most damage; none is a panic that is seen, or a part of the rows.
#[test]
fn a_damaged_file_is_never_read_in_part() {
    let here = Place::new();
    let whole = fs::read(golden("plain.parquet")).unwrap();
    let (mut cut, mut refused) = (0, 0);
    for end in (4..whole.len()).step_by(997) {
        fs::write(here.path("cut.parquet"), &whole[..end]).unwrap();
        let said = here.say("twinsplit convert cut.parquet --format parquet -o -");
        assert!(said.code == 1 && said.out.is_empty(), "{end}: {said:?}");
        assert!(said.err.contains("cut.parquet") && said.err.contains("truncated"), "{end}: {}", said.err);
        cut += 1;
    }
    assert_eq!(cut, 32);
    for at in (4..whole.len()).step_by(307) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        fs::write(here.path("bad.parquet"), &damaged).unwrap();
        let said = here.say("twinsplit convert bad.parquet --format parquet -o out --overwrite -q");
        assert!([0, 1].contains(&said.code), "{at}: {said:?}");
        refused += usize::from(said.code == 1);
        let is_whole = said.code == 1 || here.read("out").lines().count() == 60;
        assert!(is_whole, "{at}: rows are missing");
    }
    assert!(refused > 10, "{refused}");
}

#[test]
fn what_cannot_be_read_is_refused_with_the_way_out() {
    let here = Place::new();
    fs::copy(golden("snappy.parquet"), here.path("a.parquet")).unwrap();
    here.shell("twinsplit convert - --format parquet -o - < a.parquet").fails(1, &["stream", "name a file"]);
    here.shell("gzip -k a.parquet").ok();
    here.say("twinsplit convert a.parquet.gz -o -")
        .fails(1, &["Parquet inside gzip", "gzip -dc < a.parquet.gz"]);
    here.say("twinsplit convert a.parquet --encoding latin1 --format parquet -o -")
        .fails(2, &["--encoding", "UTF-8"]);
    here.say("twinsplit convert a.parquet --format csv -o -")
        .fails(1, &["this is Parquet, not CSV", "--format parquet"]);
}
