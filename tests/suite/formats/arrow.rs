//! Arrow: files and streams that pyarrow and polars wrote in several ways (tests/goldens/arrow), and damaged ones.

use crate::common::cli::Place;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of the same rows, which are those of tests/goldens/parquet.
pub const FILES: [&str; 9] = [
    "plain.arrow",
    "zstd.arrow",
    "stream.arrows",
    "lz4.arrows",
    "legacy.arrows",
    "table.feather",
    "polars.arrow",
    "delta.arrow",
    "replaced.arrows",
];

pub fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens").join(name)
}

/// The JSON lines were made of the values and not of the files. Where all kinds are one text, that one is said.
pub fn rows(name: &str) -> String {
    let rows = fs::read_to_string(golden("parquet/rows.jsonl")).unwrap();
    if !["delta.arrow", "replaced.arrows"].contains(&name) {
        return rows;
    }
    let first =
        rows.lines().take(30).map(|line| line.replace("\"kind\":\"blog\"", "\"kind\":\"news\"") + "\n");
    first.chain(rows.lines().skip(30).map(|line| line.to_owned() + "\n")).collect()
}

#[test]
fn every_way_of_writing_has_the_same_rows() {
    let here = Place::new();
    let mut ran = 0;
    for name in FILES {
        let (file, expected) = (golden(&format!("arrow/{name}")), rows(name));
        assert_eq!(here.say(&format!("twinsplit convert {} -o -", file.display())).ok(), expected, "{name}");
        // The content says what it is, packed once more and from a stream, too.
        fs::copy(&file, here.path("documents.txt")).unwrap();
        assert_eq!(here.say("twinsplit convert documents.txt -o -").ok(), expected, "{name}");
        here.shell("gzip -kf documents.txt").ok();
        for stream in ["twinsplit convert documents.txt.gz -o -", "twinsplit convert - -o - < documents.txt"]
        {
            let said = here.shell(stream);
            // polars writes no length before the schema, so nothing tells where that ends.
            match name {
                "polars.arrow" => drop(said.fails(1, &["at batch 1", "files of polars", "not packed"])),
                _ => assert_eq!(said.ok(), expected, "{name}"),
            }
            ran += 1;
        }
        ran += 2;
    }
    println!("{ran} readings");
    assert_eq!(ran, 36);
    let pipe = here.shell(&format!(
        "twinsplit convert <(cat {}) --format arrow -o -",
        golden("arrow/zstd.arrow").display()
    ));
    assert_eq!(pipe.ok(), rows("zstd.arrow"));
    let empty = golden("arrow/empty.arrow");
    assert_eq!(here.say(&format!("twinsplit convert {} -o - -q", empty.display())).ok(), "");
}

/// Types that Parquet has not.
#[test]
fn every_type_has_its_json() {
    let here = Place::new();
    let found = here.say(&format!("twinsplit convert {} -o -", golden("arrow/types.arrow").display())).ok();
    let expected = fs::read_to_string(golden("arrow/types.jsonl")).unwrap();
    let objects =
        |text: &str| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
    for (found, expected) in objects(&found).iter().zip(objects(&expected)) {
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(found.get(name), Some(value), "{name}");
        }
        assert_eq!(found, &expected);
    }
    assert_eq!(objects(&found).len(), 20);
}

/// Columns are fields, parts of structures too; commands that give no fields back decode the columns alone that are named.
#[test]
fn a_run_reads_it_as_it_reads_lines() {
    let here = Place::new();
    fs::copy(golden("arrow/zstd.arrow"), here.path("a.arrow")).unwrap();
    fs::copy(golden("parquet/zstd.parquet"), here.path("a.parquet")).unwrap();
    fs::copy(golden("parquet/rows.jsonl"), here.path("rows.jsonl")).unwrap();
    let mut ran = 0;
    for options in [
        "--features words:2",
        "--features words:1 --id number --text meta.title,text --bad-records all",
        "--features chars:3 --text text",
    ] {
        for engine in ["local", "pipes"] {
            let run = format!("twinsplit run doc-split {options} --tau 0.5 --engine {engine} --overwrite -q");
            here.say(&format!("{run} -i a.arrow -o out")).ok();
            here.say(&format!("{run} -i rows.jsonl -o expected")).ok();
            let pairs = here.read("out/pairs.tsv");
            assert_eq!(pairs, here.read("expected/pairs.tsv"), "{options} {engine}");
            assert!(pairs.lines().count() >= 30, "{options} {engine}");
            ran += 1;
        }
        for file in ["a.arrow", "a.parquet"] {
            here.say(&format!("twinsplit idf {options} --from {file} -o table --overwrite")).ok();
            here.say(&format!("twinsplit idf {options} --from rows.jsonl -o expected.idf --overwrite")).ok();
            assert_eq!(here.read("table"), here.read("expected.idf"), "{options} {file}");
            ran += 1;
        }
    }
    println!("{ran} answers");
    assert_eq!(ran, 12);
    here.say("twinsplit run -i a.arrow --id row --features words:2 --tau 0.9 --overwrite -qo out").ok();
    assert!(here.read("out/pairs.tsv").starts_with("a.arrow@1\ta.arrow@2\t"));
    // What lacks a field says which it has, whatever it decodes.
    for command in ["run -o none -i", "idf -o none --from"] {
        here.say(&format!("twinsplit {command} a.arrow --text body"))
            .fails(1, &["a.arrow", "text", "body", "price"]);
    }
}

/// A file that is cut anywhere is an error that says where, and so is most damage; none is a panic that is seen, or a part of the rows. A stream
/// may end behind any of its messages.
#[test]
fn a_damaged_file_is_never_read_in_part() {
    let here = Place::new();
    let whole = fs::read(golden("arrow/zstd.arrow")).unwrap();
    let (mut cut, mut refused) = (0, 0);
    for end in (8..whole.len()).step_by(509) {
        fs::write(here.path("cut.arrow"), &whole[..end]).unwrap();
        let said = here.say("twinsplit convert cut.arrow --format arrow -o out");
        assert!(said.code == 1 && !here.path("out").exists(), "{end}: {said:?}");
        let words = ["cut.arrow", "cut off", "byte ", "batch "];
        assert!(words.iter().all(|word| said.err.contains(word)), "{end}: {}", said.err);
        cut += 1;
    }
    assert_eq!(cut, 47);
    // Rows before the place are given, where somebody takes them.
    fs::write(here.path("cut.arrow"), &whole[..whole.len() / 2]).unwrap();
    let said = here.say("twinsplit convert cut.arrow -o -");
    let count = said.out.lines().count();
    assert!(said.code == 1 && count > 10 && count.is_multiple_of(7), "{count}");
    assert!(said.err.contains(&format!("at batch {}, behind row {count} ", count / 7 + 1)), "{}", said.err);
    for name in ["zstd.arrow", "lz4.arrows", "types.arrow"] {
        let whole = fs::read(golden(&format!("arrow/{name}"))).unwrap();
        let rows = if name == "types.arrow" { 20 } else { 60 };
        for at in (8..whole.len()).step_by(211) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x55;
            fs::write(here.path("bad.arrow"), &damaged).unwrap();
            let said = here.say("twinsplit convert bad.arrow --format arrow -o out --overwrite -q");
            assert!([0, 1].contains(&said.code), "{name} {at}: {said:?}");
            refused += usize::from(said.code == 1);
            let is_whole = said.code == 1 || here.read("out").lines().count() == rows;
            assert!(is_whole, "{name} {at}: rows are missing");
        }
    }
    println!("{cut} cuts, {refused} refused");
    assert!(refused > 100, "{refused}");
}

#[test]
fn what_cannot_be_read_is_refused_with_the_way_out() {
    let here = Place::new();
    fs::copy(golden("arrow/plain.arrow"), here.path("a.arrow")).unwrap();
    here.say("twinsplit convert a.arrow --encoding latin1 --format arrow -o -")
        .fails(2, &["--encoding", "UTF-8"]);
    here.say("twinsplit convert a.arrow --format csv -o -")
        .fails(1, &["this is Arrow, not CSV", "`twinsplit convert a.arrow --format arrow --output"]);
    here.say("tokenize --input a.arrow").fails(1, &["this is Arrow, not JSON lines", "--format arrow"]);
    here.write("b.arrow", "id,text\n");
    here.say("twinsplit convert b.arrow -o -").fails(1, &["b.arrow", "no Arrow"]);
    here.write("c.feather", b"FEA1\0\0\0\0");
    here.say("twinsplit convert c.feather -o -").fails(1, &["Feather of version 1", "pyarrow.feather"]);
    here.write("d.arrow", "");
    here.say("twinsplit convert d.arrow -o -").fails(1, &["d.arrow", "ends before its schema"]);
}
