//! `annotate --form same`: each file of the input again in its own form, with six columns more. What is expected is put together here, from the
//! bytes of the input and the fields that the lines of `annotate` have, which tests of their own hold.

use super::arrow::golden;
use super::kept_files::forms::{
    Piece, as_arc, as_crawl, as_lines, as_table, as_trec, documents, gzip, members, nested,
};
use crate::common::cli::{Place, jsonl};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;

/// The columns, behind their prefix.
const NAMES: [&str; 6] = ["kept", "size", "rank", "drop", "similarity", "share"];

fn columns() -> [String; 6] {
    NAMES.map(|name| format!("dup_{name}"))
}

/// What the lines of an answer say of each document, by the field that holds its id.
fn said(here: &Place, id: &str, options: &str) -> BTreeMap<String, [Value; 6]> {
    let text = here.say(&format!("twinsplit annotate out{options} -qo -")).ok();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of = |line: Value| {
        let id = id.split('.').fold(&line, |value, name| &value[name]).as_str().unwrap().to_owned();
        (id, columns().map(|name| line[name].clone()))
    };
    lines.map(of).collect()
}

/// A piece of JSON lines with its members, behind its own.
fn with_members(bytes: &[u8], said: &[Value; 6]) -> Vec<u8> {
    let text = std::str::from_utf8(bytes).unwrap();
    let (body, rest) = text.split_at(text.rfind('}').unwrap());
    let share = |at: usize| said[at].as_f64().map_or("null".to_owned(), |share| format!("{share:.6}"));
    let values = [
        said[0].to_string(),
        said[1].to_string(),
        said[2].to_string(),
        said[3].to_string(),
        share(4),
        share(5),
    ];
    let members: String =
        columns().iter().zip(values).map(|(name, value)| format!(",\"{name}\":{value}")).collect();
    format!("{body}{members}{rest}").into()
}

/// A row with its cells, before its line end.
fn with_cells(bytes: &[u8], cells: &[String], delimiter: char) -> Vec<u8> {
    let text = std::str::from_utf8(bytes).unwrap();
    let (row, end) = text.split_at(text.trim_end_matches(['\r', '\n']).len());
    let cells: String = cells.iter().map(|cell| format!("{delimiter}{cell}")).collect();
    format!("{row}{cells}{end}").into()
}

/// The cells of a document, of ids that need no quotes.
fn cells(said: &[Value; 6]) -> Vec<String> {
    let share = |value: &Value| value.as_f64().map_or(String::new(), |share| format!("{share:.6}"));
    let mut cells: Vec<_> = said[..4].iter().map(ToString::to_string).collect();
    cells[0] = said[0].as_str().unwrap().to_owned();
    cells.extend(said[4..].iter().map(share));
    cells
}

/// Each form on both engines, packed and not, all documents and some.
#[test]
fn every_form_gets_its_columns() {
    let documents = documents();
    let some = &documents[..300];
    let cases: Vec<(&str, &str, &str, Vec<Piece>)> = vec![
        ("a.jsonl", "", "id", as_lines(&documents)),
        ("a.csv", "", "id", as_table(some, ';')),
        ("a.tsv", "", "id", as_table(some, '\t')),
        ("b.jsonl", " --id text.id --text text.body", "text.id", nested(some)),
    ];
    let mut ran = 0;
    for (name, options, id, pieces) in &cases {
        let here = Place::new();
        let whole: Vec<u8> = pieces.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
        let zstd = zstd::encode_all(&whole[..], 1).unwrap();
        for (ending, bytes) in [("", whole.clone()), (".gz", gzip(&whole)), (".zst", zstd)] {
            let file = format!("{name}{ending}");
            here.write(&file, &bytes);
            let engine = if ending == ".gz" { "pipes" } else { "local" };
            here.say(&format!("twinsplit run -i {file}{options} --engine {engine} --overwrite -qo out")).ok();
            for more in ["", " --only kept", " --only dropped --drop-if-contained 0.9"] {
                let said = said(&here, id, more);
                assert!(said.len() > 60, "{file} {more}");
                let with = |(of, bytes): &Piece| {
                    let delimiter = if name.ends_with("csv") { ';' } else { '\t' };
                    match (of.as_ref().map(|of| said.get(of)), name.ends_with(".jsonl")) {
                        (None, true) => Some(bytes.clone()),
                        (None, false) => Some(with_cells(bytes, &columns(), delimiter)),
                        (Some(None), _) => None,
                        (Some(Some(said)), true) => Some(with_members(bytes, said)),
                        (Some(Some(said)), false) => Some(with_cells(bytes, &cells(said), delimiter)),
                    }
                };
                let expected: Vec<u8> = pieces.iter().filter_map(with).flatten().collect();
                here.say(&format!("twinsplit annotate out --form same{more} -qo files{ran}")).ok();
                let found = fs::read(here.path(&format!("files{ran}/{file}"))).unwrap();
                let unpacked = match ending {
                    ".gz" => members(&found).concat(),
                    ".zst" => zstd::decode_all(&found[..]).unwrap(),
                    _ => found,
                };
                assert!(unpacked == expected, "{file} {more}");
                ran += 1;
            }
        }
    }
    println!("{} forms, {ran} calls", cases.len());
    assert_eq!(ran, 36);
}

/// Files that pyarrow and polars wrote, in folders; ids of places; bad records. What is read back is what the lines say.
#[test]
fn rows_get_their_columns() {
    let here = Place::new();
    fs::create_dir_all(here.path("in/x")).unwrap();
    let files = [
        ("parquet/snappy.parquet", "in/a.parquet"),
        ("parquet/zstd.parquet", "in/x/a.parquet"),
        ("parquet/plain.parquet", "in/x/b.parquet"),
        ("arrow/zstd.arrow", "in/x/a.arrow"),
        ("arrow/delta.arrow", "in/x/b.arrow"),
        ("arrow/replaced.arrows", "in/x/c.arrows"),
        ("arrow/polars.arrow", "in/x/d.arrow"),
    ];
    for (name, to) in files {
        fs::copy(golden(name), here.path(to)).unwrap();
    }
    for options in ["--id row", "--id auto"] {
        here.say(&format!("twinsplit run -i in {options} --features words:2 --tau 0.9 --overwrite -qo out"))
            .ok();
        let objects = |text: &str| {
            let object = |line| serde_json::from_str::<Map<String, Value>>(line).unwrap();
            text.lines()
                .map(object)
                .map(|mut object| {
                    object.remove("twinsplit_id");
                    object
                })
                .collect::<Vec<_>>()
        };
        for more in ["", " --only kept"] {
            let expected = objects(&here.say(&format!("twinsplit annotate out{more} -qo -")).ok());
            let folder = if more.is_empty() { "all" } else { "some" };
            here.shell(&format!("rm -rf {folder} && twinsplit annotate out --form same{more} -qo {folder}"))
                .ok();
            assert_eq!(here.names(folder), ["a.parquet", "x"].map(str::to_owned).into());
            let found = objects(&here.say(&format!("twinsplit convert {folder} --id auto -o - -q")).ok());
            assert!(expected.iter().any(|row| row["dup_size"] != 1) && expected.len() > 10);
            assert_eq!(found, expected, "{options} {more}");
        }
    }
}

/// Ids and names in the encoding of the file, and quoted where they must be; a table without rows; a file that has moved.
#[test]
fn tables_stay_tables() {
    let here = Place::new();
    let text = "one two three four five six";
    for (name, content) in [
        ("a.csv", format!("编号,text\n文,{text}\n\"一,\"\"二\",{text}\n")),
        ("b.csv", "编号,text".to_owned()),
        ("c.jsonl", format!("{{\"编号\":\"三\",\"text\":\"{text}\"}}")),
    ] {
        here.write("utf8", content);
        here.shell(&format!("iconv -f utf-8 -t gb18030 utf8 > {name}")).ok();
    }
    here.say("twinsplit run -i a.csv b.csv c.jsonl --encoding gb18030 --id 编号 -qo out").ok();
    here.shell("mkdir moved && mv a.csv b.csv c.jsonl moved").ok();
    here.say("twinsplit annotate out --form same -o files").fails(1, &["a.csv", "--input"]);
    here.say("twinsplit annotate out --form same -i moved/a.csv moved/b.csv moved/c.jsonl --prefix 重复_ -qo files").ok();
    let read = |name: &str| here.shell(&format!("iconv -f gb18030 -t utf-8 files/{name}")).ok();
    let names = "重复_kept,重复_size,重复_rank,重复_drop,重复_similarity,重复_share";
    assert_eq!(
        read("a.csv"),
        format!(
            "编号,text,{names}\n文,{text},\"一,\"\"二\",3,3,true,1.000000,1.000000\n\"一,\"\"二\",{text},\"一,\"\"二\",3,1,false,,\n"
        )
    );
    assert_eq!(read("b.csv"), format!("编号,text,{names}"));
    let line: Value = serde_json::from_str(&read("c.jsonl")).unwrap();
    assert_eq!(line["重复_kept"], "一,\"二");
    assert_eq!(line["重复_rank"], 2);
    // Names of places are those of the run, wherever the files are now.
    here.write("d.jsonl", format!("{{\"text\":\"{text}\"}}\n\n{{\"text\":\"{text}\"}}\n"));
    here.say("twinsplit run -i d.jsonl --id auto -qo places").ok();
    here.shell("mv d.jsonl moved").ok();
    here.say("twinsplit annotate places --form same -i moved/d.jsonl -qo with").ok();
    let lines = here.read("with/d.jsonl");
    assert_eq!(
        lines.lines().filter(|line| line.contains("\"dup_kept\":\"d.jsonl@0\",\"dup_size\":2")).count(),
        2
    );
}

#[test]
fn what_has_no_fields_is_refused() {
    let documents = &documents()[..20];
    let bytes = |pieces: Vec<Piece>| pieces.into_iter().flat_map(|(_, bytes)| bytes).collect::<Vec<_>>();
    let here = Place::new();
    for (name, content) in [
        ("a.trec", bytes(as_trec(documents))),
        ("a.warc", bytes(as_crawl(documents, false))),
        ("a.arc", bytes(as_arc(documents))),
        ("a.json", format!("[{}]", jsonl(&[("a", "one two three")]).trim_end()).into()),
        ("a.txt", "one two three".into()),
        ("a.html", "<html><p>one two three</html>".into()),
    ] {
        here.write(name, content);
        here.say(&format!("twinsplit run -i {name} --overwrite -qo out")).ok();
        here.say("twinsplit annotate out --form same -o files").fails(1, &[name, "no fields", "--form same"]);
    }
    let text = "one two three four five";
    here.write("a.csv", format!("id,text,dup_size\na,{text},1\nb,{text},2\n"));
    here.write("a.jsonl", format!("{{\"id\":\"c\",\"text\":\"{text}\",\"dup_size\":1}}\n"));
    for name in ["a.csv", "a.jsonl"] {
        here.say(&format!("twinsplit run -i {name} --overwrite -qo out")).ok();
        let code = if name == "a.csv" { 1 } else { 2 };
        here.say("twinsplit annotate out --form same -o files")
            .fails(code, &[name, "\"dup_size\"", "--prefix"]);
    }
    fs::create_dir(here.path("full")).unwrap();
    here.write("full/mine", "");
    for folder in ["full", "a.csv"] {
        here.say(&format!("twinsplit annotate out --form same --overwrite -o {folder}"))
            .fails(2, &[folder, "is there already"]);
    }
    here.say("twinsplit annotate out --form same -o -").fails(2, &["--output"]);
    here.say("twinsplit annotate out -o full").fails(2, &["full", "--form same"]);
    here.shell("cat a.jsonl | twinsplit run -i - --overwrite -qo out").ok();
    here.say("twinsplit annotate out --form same -o files").fails(2, &["--input"]);
    assert!(!here.path("files").exists() && here.path("full/mine").exists());
    assert_eq!(
        fs::read_dir(here.path("."))
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'))
            .count(),
        0
    );
}
