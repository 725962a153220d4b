//! `run --tables`: what stands in tables is what stands in pairs.tsv and clusters.tsv, by other readers. python/tests/test_forms.py reads them by
//! DuckDB, pandas and Polars.

use crate::common::cli::{Place, fixture, jsonl};
use parquet::basic::Type;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Map, Value};
use std::fs::File;

/// Ways to answers, and the columns of their pairs and of their clusters, those with numbers that are no whole ones in capitals.
const WAYS: [(&str, &str, &str); 9] = [
    ("doc-split", "id_a id_b overlap size_a size_b SIMILARITY", "kept_id id keep SIMILARITY"),
    (
        "doc-split --engine pipes --cluster star",
        "id_a id_b overlap size_a size_b SIMILARITY",
        "kept_id id keep SIMILARITY",
    ),
    (
        "doc-split --similarity containment",
        "id_a id_b overlap size_a size_b SIMILARITY CLR relation",
        "kept_id id keep SIMILARITY",
    ),
    (
        "term-split --similarity cosine",
        "id_a id_b overlap size_a size_b SIMILARITY measure",
        "kept_id id keep SIMILARITY",
    ),
    (
        "doc-split --similarity overlap --tau 9",
        "id_a id_b overlap size_a size_b similarity measure",
        "kept_id id keep similarity",
    ),
    ("simhash", "id_a id_b distance", "kept_id id keep distance"),
    ("simhash --check jaccard:0.5", "id_a id_b distance SIMILARITY measure", "kept_id id keep distance"),
    ("minhash --write clusters", "", "kept_id id keep SIMILARITY"),
    ("doc-split --queries queries.jsonl", "query_id id overlap size_a size_b SIMILARITY", ""),
];

/// A cell as text, in the form of a field.
fn text(name: &str, value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Bool(is) => ["drop", "keep"][usize::from(*is)].to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) if name.chars().all(|c| c.is_uppercase()) => {
            format!("{:.6}", number.as_f64().unwrap())
        }
        other => other.to_string(),
    }
}

/// The rows of a file of JSON lines, which has these columns in this order.
fn of_lines(here: &Place, file: &str, columns: &[String]) -> Vec<Vec<String>> {
    let row = |line: &str| {
        let object: Map<String, Value> = serde_json::from_str(line).unwrap();
        let mut at = 0;
        for name in columns {
            let place = line.find(&format!("\"{}\":", name.to_lowercase())).unwrap();
            assert!(place >= at, "{line}");
            at = place;
        }
        assert_eq!(object.len(), columns.len(), "{line}");
        columns.iter().map(|name| text(name, &object[&name.to_lowercase()])).collect()
    };
    here.read(file).lines().map(row).collect()
}

/// The rows of a Parquet file with these columns.
fn of_parquet(here: &Place, file: &str, columns: &[String]) -> Vec<Vec<String>> {
    let reader = SerializedFileReader::new(File::open(here.path(file)).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    let names: Vec<_> = schema.columns().iter().map(|column| column.name().to_owned()).collect();
    assert_eq!(names, columns.iter().map(|name| name.to_lowercase()).collect::<Vec<_>>(), "{file}");
    for (name, column) in columns.iter().zip(schema.columns()) {
        let expected = match name.as_str() {
            "keep" => Type::BOOLEAN,
            "id" | "id_a" | "id_b" | "kept_id" | "query_id" | "measure" | "relation" | "document"
            | "kept_document" | "text" => Type::BYTE_ARRAY,
            name if name.chars().all(|c| c.is_uppercase()) => Type::DOUBLE,
            _ => Type::INT64,
        };
        assert_eq!(column.physical_type(), expected, "{file} {name}");
    }
    let cell = |name: &str, field: &Field| match field {
        Field::Null => "-".to_owned(),
        Field::Str(text) => text.clone(),
        Field::Bool(is) => text(name, &Value::from(*is)),
        Field::Long(number) => number.to_string(),
        Field::Double(number) => format!("{number:.6}"),
        other => panic!("{file}: {other:?}"),
    };
    let rows = reader.get_row_iter(None).unwrap().map(|row| {
        let row = row.unwrap();
        columns.iter().zip(row.get_column_iter()).map(|(name, (_, field))| cell(name, field)).collect()
    });
    rows.collect()
}

#[test]
fn tables_are_the_files_of_fields() {
    let here = Place::new();
    let docs = fixture("documents/en.jsonl.gz").display().to_string();
    here.shell(&format!("zcat {docs} | sed -n 1,40p > queries.jsonl")).ok();
    let mut compared = 0;
    for (way, pairs, clusters) in WAYS {
        let run = format!("twinsplit run {way} -i {docs} --tables parquet,jsonl --overwrite -qo out");
        here.say(&run).ok();
        let mut names = vec!["run.json".to_owned()];
        for (data, columns) in [("pairs", pairs), ("clusters", clusters)] {
            let columns: Vec<String> = columns.split_whitespace().map(str::to_owned).collect();
            if columns.is_empty() {
                continue;
            }
            names.extend(["tsv", "jsonl", "parquet"].map(|ending| format!("{data}.{ending}")));
            let fields = here.read(&format!("out/{data}.tsv"));
            let fields: Vec<Vec<String>> =
                fields.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect();
            assert!(fields.len() > 100, "{way} {data}");
            assert_eq!(of_lines(&here, &format!("out/{data}.jsonl"), &columns), fields, "{way} {data}");
            assert_eq!(of_parquet(&here, &format!("out/{data}.parquet"), &columns), fields, "{way} {data}");
            compared += fields.len();
        }
        assert_eq!(here.names("out"), names.into_iter().collect(), "{way}");
        // Who reads the answer reads the files of fields.
        if !clusters.is_empty() {
            here.say("twinsplit report out --overwrite -q").ok();
            here.say("twinsplit annotate out -o - -q").ok();
        }
    }
    println!("{} ways, {compared} rows", WAYS.len());
}

/// What `--unit` cuts, with the texts as they begin, without escapes: a TAB cannot stand there, a byte order mark and a backslash can.
#[test]
fn what_is_cut_becomes_tables() {
    let here = Place::new();
    let docs = fixture("documents/en.jsonl.gz").display().to_string();
    let columns = |names: &str| names.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let counts = columns("document units cut characters cut_characters");
    let mut compared = 0;
    for (way, score) in [
        ("doc-split --tau 0.8", "SIMILARITY"),
        ("simhash", "distance"),
        ("doc-split --cut-all 20", "SIMILARITY"),
    ] {
        here.say(&format!(
            "twinsplit run {way} --unit paragraph -i {docs} --tables parquet,jsonl --overwrite -qo out"
        ))
        .ok();
        let cut = columns(&format!("document unit start end kept_document kept_unit {score} text"));
        for (name, columns) in [("cut", &cut), ("cut-documents", &counts)] {
            let fields = here.read(&format!("out/{name}.tsv"));
            let plain = |field: &str| field.replace("\\xef\\xbb\\xbf", "\u{feff}").replace("\\x5c", "\\");
            let fields: Vec<Vec<String>> =
                fields.lines().map(|line| line.split('\t').map(plain).collect()).collect();
            assert!(fields.len() > 100, "{way} {name}");
            assert_eq!(of_lines(&here, &format!("out/{name}.jsonl"), columns), fields, "{way} {name}");
            assert_eq!(of_parquet(&here, &format!("out/{name}.parquet"), columns), fields, "{way} {name}");
            compared += fields.len();
        }
        let said = here
            .say(&format!("twinsplit run {way} --unit paragraph -i {docs} --tables jsonl -o new --dry-run"))
            .ok();
        for name in ["pairs.jsonl", "clusters.jsonl", "cut.jsonl", "cut-documents.jsonl"] {
            assert!(said.contains(name), "{name}: {said}");
        }
    }
    println!("{compared} rows");
    here.write("out/cut.jsonl", "mine\n");
    here.say(&format!("twinsplit run --unit line -i {docs} -qo out --overwrite"))
        .fails(2, &["out/cut.jsonl was changed"]);
}

/// Ids are those of the documents: with a TAB, a backslash, a mark in front, and as numbers.
#[test]
fn ids_are_as_documents_have_them() {
    let here = Place::new();
    let ids = ["a\tb\\", "\u{feff}c", "7", "ü\u{7f}\n"];
    here.write("docs", jsonl(&ids.map(|id| (id, "one two three"))));
    here.say("twinsplit run -i docs --features words:1 --tables jsonl,parquet -qo out").ok();
    let columns = ["kept_id", "id", "keep", "SIMILARITY"].map(str::to_owned);
    let lines = of_lines(&here, "out/clusters.jsonl", &columns);
    assert_eq!(lines, of_parquet(&here, "out/clusters.parquet", &columns));
    let mut found: Vec<_> = lines.iter().map(|row| row[1].as_str()).collect();
    let mut expected = ids.to_vec();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert!(here.read("out/clusters.tsv").contains("a\\x09b\\x5c"));
}

/// Without rows there are columns; what is not complete has no name; other engines say what they have.
#[test]
fn tables_come_with_the_answer_or_not_at_all() {
    let here = Place::new();
    here.write("docs", jsonl(&[("a", "x y z"), ("b", "p q r")]));
    let run = "twinsplit run -i docs --features words:1 -qo out";
    here.say(&format!("{run} --tables parquet --tables jsonl")).ok();
    let columns = ["id_a", "id_b", "overlap", "size_a", "size_b", "SIMILARITY"].map(str::to_owned);
    assert!(of_parquet(&here, "out/pairs.parquet", &columns).is_empty());
    assert_eq!(here.read("out/pairs.jsonl"), "");
    here.say(&format!("{run} --resume --tables jsonl,parquet")).ok();
    here.say(&format!("{run} --resume")).fails(2, &["--tables was jsonl,parquet and is not given"]);
    here.write("out/pairs.jsonl", "mine\n");
    here.say(&format!("{run} --overwrite")).fails(2, &["out/pairs.jsonl was changed"]);
    here.write("out/pairs.jsonl", "");
    here.say(&format!("{run} --overwrite")).ok();
    assert_eq!(here.names("out"), ["clusters.tsv", "pairs.tsv", "run.json"].map(str::to_owned).into());
    here.write("out/clusters.parquet", "mine\n");
    here.say(&format!("{run} --overwrite")).fails(2, &["out/clusters.parquet stands in the way"]);
    let remote = "twinsplit run -i docs -o out --tables jsonl --engine";
    here.say(&format!("{remote} hadoop"))
        .fails(2, &["--tables is for --engine local and pipes", "leave --tables out"]);
    here.say(&format!("{remote} spark")).fails(2, &["--tables"]);
    here.say(&format!("{run} --tables csv")).fails(2, &["[possible values: jsonl, parquet]"]);
    let said = here.say("twinsplit run -i docs -o new --tables parquet --dry-run").ok();
    assert!(said.contains("pairs.tsv, clusters.tsv, pairs.parquet, clusters.parquet, run.json"), "{said}");
}
