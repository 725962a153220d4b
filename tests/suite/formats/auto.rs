//! Files of any format together, each read as what it holds, and fields by paths: the answer is that of the same documents as JSON lines.

use super::convert::values;
use crate::common::cli::{Place, jsonl};
use crate::common::odd::gzip;
use serde_json::{Value, json};
use std::fs;
use twinsplit_sources::ENDINGS;

/// Writes a folder of one document or two in each format, with Python's own modules, and the same documents as JSON lines.
const MIX: &str = r#"
import bz2, csv, gzip, io, json, lzma, os
os.makedirs("mix/below")
words = "the council voted on Thursday to keep the public library open on Sundays"
documents = []
def text(name):
    documents.append((name, f"{words} {len(documents) % 3}"))
    return documents[-1][1]
def table(delimiter, *ids):
    out = io.StringIO()
    rows = csv.writer(out, delimiter=delimiter)
    rows.writerow(["id", "title", "text"])
    rows.writerows([i, "a, title\nof two lines", text(i)] for i in ids)
    return out.getvalue().encode()
def put(name, data):
    open("mix/" + name, "wb").write(data)
def record(kind, content, name):
    return (f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <{name}>\r\nContent-Length: {len(content)}\r\n\r\n").encode() + content + b"\r\n\r\n"
put("a.jsonl", b"".join(json.dumps({"id": i, "text": text(i)}).encode() + b"\n" for i in ("jsonl 1", "jsonl 2")))
put("b.csv", table(",", "csv 1", "csv 2"))
put("below/c.tsv.gz", gzip.compress(table("\t", "tsv 1")))
put("below/d.bin", bz2.compress(json.dumps([{"id": i, "text": text(i), "more": [{}]} for i in ("json 1", "json 2")], indent=1).encode()))
put("e.HTM", f"<p>{text('mix/e.HTM')}".encode())
put("f", f"<!DOCTYPE html><title></title><p>{text('mix/f')}".encode())
put("g.txt.xz", lzma.compress(text("mix/g.txt.xz").encode()))
put("h.dat", gzip.compress(record("warcinfo", b"", "h0")) + gzip.compress(record("conversion", text("wet 1").encode(), "wet 1")))
put("i.txt", f"<DOC>\n<DOCNO>trec 1</DOCNO>\n<TEXT>{text('trec 1')}</TEXT>\n</DOC>\n".encode())
with open("documents", "w") as out:
    for name, words in documents:
        out.write(json.dumps({"id": name, "text": words}) + "\n")
"#;

fn mix() -> Place {
    let here = Place::new();
    here.write("mix.py", MIX);
    here.shell("python3 mix.py").ok();
    here
}

/// Id and text of each line, sorted.
fn documents(lines: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut all: Vec<_> = values(lines).iter().map(|line| (text(&line["id"]), text(&line["text"]))).collect();
    all.sort();
    all
}

const READERS: [&str; 6] = [
    "twinsplit run --features words:3 --tau 0.7 --input FILES --output out --overwrite --quiet && cat out/pairs.tsv out/clusters.tsv",
    "twinsplit run --features words:3 --tau 0.7 --engine pipes --input FILES --output out --overwrite --quiet && cat out/pairs.tsv",
    "twinsplit tune --kinds words:3 --taus 0.7 --json --quiet --input FILES | grep -v -e documents -e mix",
    "twinsplit idf --features words:1 --from FILES --output - 2> /dev/null",
    "twinsplit explain --features words:3 'csv 1' 'json 2' --input FILES",
    "twinsplit plan --engine hadoop --estimate --input FILES | head -1 | cut -d, -f1",
];

#[test]
fn a_folder_of_all_formats_is_read_by_every_command() {
    let here = mix();
    let converted = here.say("twinsplit convert mix --output -").ok();
    let expected = documents(&here.read("documents"));
    assert_eq!((documents(&converted), expected.len()), (expected, 12));
    for reader in READERS {
        let expected = here.shell(&reader.replace("FILES", "documents")).ok();
        assert!(!expected.is_empty(), "{reader}");
        let read = here.shell(&reader.replace("FILES", "mix"));
        assert!(!read.out.is_empty(), "{reader}: {}", read.err);
        assert_eq!(read.ok(), expected, "{reader}");
    }
    // Files that all hold JSON lines are read where they are.
    assert!(here.path("out/documents.jsonl").exists());
    here.say("twinsplit run --input documents mix/a.jsonl --output two --overwrite --quiet")
        .fails(1, &["jsonl 1"]);
    here.say("twinsplit run --input documents --output two --overwrite --quiet").ok();
    assert!(!here.path("two/documents.jsonl").exists());
}

/// The page says of each ending what the program does.
#[test]
fn the_table_of_endings_is_that_of_the_page() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/formats.md")).unwrap();
    for (ending, format) in ENDINGS {
        let row = page.lines().find(|line| line.starts_with('|') && line.contains(&format!("`.{ending}`")));
        let row = row.unwrap_or_else(|| panic!("docs/formats.md says nothing of .{ending}"));
        assert!(row.ends_with(&format!("| `{}` |", format.name())), "{row}");
    }
    let told = page
        .lines()
        .filter(|line| line.starts_with('|') && line.contains("`."))
        .flat_map(|line| line.split("`.").skip(1));
    assert_eq!(told.count(), ENDINGS.len());
}

#[test]
fn standard_input_has_a_format_too() {
    let here = mix();
    let run = "twinsplit run --features words:3 --tau 0.7 --output out --overwrite --quiet --input -";
    for (command, is_converted) in [
        ("cat documents", false),
        ("gzip -c documents", false),
        ("cat mix/below/d.bin", true),
        ("cat mix/h.dat", true),
    ] {
        here.shell(&format!("{command} | {run} && wc -l out/pairs.tsv")).ok();
        assert_eq!(here.path("out/documents.jsonl").exists(), is_converted, "{command}");
    }
    let count = |command: &str| {
        let lines = here.shell(&format!("{command} | twinsplit convert - --output -")).ok();
        lines.lines().count()
    };
    assert_eq!(
        [count("cat documents"), count("bzip2 -c documents"), count("cat mix/below/d.bin")],
        [12, 12, 2]
    );
    assert_eq!(count("cat mix/b.csv | twinsplit convert - --format csv --output -"), 2);
    // Without a name a table is not told from lines that are wrong.
    here.shell(&format!("cat mix/b.csv | {run}")).fails(1, &["standard input, line 1", "--format csv"]);
    // More than is looked at, which comes a byte or two at a time at first.
    let long = "python3 -c 'import json, sys, time\nfor n in range(30000):\n    sys.stdout.write(json.dumps({\"id\": n, \"text\": \"x\" * (n % 50)}) + \"\\n\")\n    n > 3 or (sys.stdout.flush(), time.sleep(0.01))'";
    assert_eq!(count(long), 30_000);
}

#[test]
fn what_is_none_is_refused_by_name() {
    let here = mix();
    for (name, bytes, words) in [
        ("x.arrow", &b"ARROW1\0\0"[..], &["mix/x.arrow: at batch 1", "byte 8", "cut off"][..]),
        ("x.orc", b"ORC\x0a\x06\x12", &["mix/x.orc: this is ORC", "pyarrow.dataset"]),
        ("x.parquet", b"PAR1\x15\x04\x15", &["mix/x.parquet", "is no whole Parquet file"]),
        ("x.csv", b"\x89PNG\r\n\x1a\n", &["mix/x.csv: this is an image", "leave it out"]),
        ("x.xml", b"<?xml version='1.0'?>\n<rss>", &["mix/x.xml, line 1", "if the file is XML"]),
        ("x", b"id\ttext\n", &["mix/x, line 1", "--format tsv"]),
        (
            "x.sgm",
            b"<!DOCTYPE book SYSTEM 'book.dtd'>\n<book>\n",
            &["mix/x.sgm, line 1", "if the file is SGML"],
        ),
        ("x.jsonl", &[0xff, 0xfe, b'{', 0], &["mix/x.jsonl: this is UTF-16", "iconv"]),
    ] {
        fs::write(here.path(&format!("mix/{name}")), bytes).unwrap();
        here.say("twinsplit run --input mix --output out --quiet").fails(1, words);
        here.say("twinsplit convert mix --output -").fails(1, words);
        here.say("twinsplit convert mix --output - --exclude x* --quiet").ok();
        fs::remove_file(here.path(&format!("mix/{name}"))).unwrap();
    }
    here.say("twinsplit run --engine hadoop --input mix --output out --format json")
        .fails(2, &["--format json is for --engine local and pipes", "twinsplit convert --format json"]);
    here.say("twinsplit run --engine spark --input mix --output out --include *.csv")
        .fails(2, &["--include and --exclude"]);
    for command in ["run minhash --output out", "plan minhash"] {
        here.say(&format!("twinsplit {command} --recall 0.9 --input mix"))
            .fails(2, &["--format csv does not go with --recall"]);
        here.say(&format!("twinsplit {command} --recall 0.9 --input mix --include *.jsonl")).ok();
    }
}

#[test]
fn files_are_chosen_by_patterns() {
    let here = mix();
    fs::write(
        here.path("mix/below/j.jsonl"),
        here.read("documents").replace("\"id\": \"", "\"id\": \"again "),
    )
    .unwrap();
    let ids = |options: &str| {
        let lines = here.shell(&format!("twinsplit convert {options} --output -")).ok();
        documents(&lines).into_iter().map(|(id, _)| id).collect::<Vec<_>>()
    };
    assert_eq!(ids("mix --include '*.csv' --include '*.txt'"), ["csv 1", "csv 2", "trec 1"]);
    assert_eq!(ids("mix --include '**/below/*' --exclude '*.jsonl'"), ["json 1", "json 2", "tsv 1"]);
    assert_eq!(ids("mix/b.csv mix/below --exclude '*.*'"), ["csv 1", "csv 2"]);
    // JSON lines alone are read as they are, by either engine.
    for engine in ["local", "pipes"] {
        let run = "--input mix --features words:3 --tau 0.7 --quiet --overwrite";
        here.shell(&format!(
            "twinsplit run --engine {engine} {run} --include '*.jsonl' --exclude 'a*' --output out"
        ))
        .ok();
        here.shell("twinsplit run --input mix/below/j.jsonl --features words:3 --tau 0.7 --quiet --overwrite --output named").ok();
        assert_eq!(here.read("out/pairs.tsv"), here.read("named/pairs.tsv"), "{engine}");
        assert!(!here.path("out/documents.jsonl").exists());
    }
    here.shell("twinsplit run --input mix --include '*.none' --output none")
        .fails(1, &["mix", "--include and --exclude leave none"]);
    here.shell("twinsplit run --input mix --include '[' --output none")
        .fails(2, &["--include [: it is not a pattern"]);
}

#[test]
fn arrays_are_read_an_element_at_a_time() {
    let here = Place::new();
    let text = "The council voted on Thursday to keep the public library open on Sundays after more than two thousand residents signed";
    let array =
        json!([{"id": "a", "text": text}, {"id": "b", "text": text.replace("two", "three")}]).to_string();
    here.write("array.json", &array);
    here.say("twinsplit run --input array.json --output out --quiet --tau 0.5").ok();
    assert!(here.read("out/pairs.tsv").starts_with("a\tb\t"), "{}", here.read("out/pairs.tsv"));
    // What came before the end is given, and the end is an error.
    let second = array.find(",{").unwrap() + 1;
    here.write("cut.json", &array[..array.len() - 9]);
    let said = here.say("twinsplit convert cut.json --output -");
    assert_eq!(said.out.lines().count(), 1);
    said.fails(
        1,
        &[
            "cut.json: at byte ",
            &second.to_string(),
            "begins an element that the file does not end",
            "truncated",
        ],
    );
    here.write("open.json", &array[..array.len() - 1]);
    let said = here.say("twinsplit convert open.json --output -");
    assert_eq!(said.out.lines().count(), 2);
    said.fails(1, &["open.json: at byte ", "its array does not: it is truncated"]);
    // A bad element may pass, and is named by its byte.
    here.write("bad.json", format!("[{{\"id\":\"a\",\"text\":null}},{}", &array[1..]));
    here.say("twinsplit run --input bad.json --output bad")
        .fails(1, &["bad.json, line 1, field text", "element that begins at byte 1;"]);
    for bound in ["1", "all"] {
        here.say(&format!(
            "twinsplit run --input bad.json --output bad --overwrite --quiet --tau 0.5 --bad-records {bound}"
        ))
        .ok();
        assert!(here.read("bad/documents.jsonl.quarantine.tsv").contains("\"text\":null"));
    }
    here.say("twinsplit convert array.json --output - --max-line 50B")
        .fails(1, &["the element is longer than 50B", "--max-line"]);
    // An object around an array is no array.
    for wrapped in [format!("{{\"data\":{array}}}"), format!("{{\n\"data\":\n{array}}}")] {
        here.write("wrapped.json", wrapped);
        here.say("twinsplit run --input wrapped.json --output bad --overwrite")
            .fails(1, &["wrapped.json, line 1", "\"data\"", "jq -c '.[\"data\"][]'"]);
    }
    // Memory does not grow with the array.
    let script = "import json\nprint('[' + ','.join(json.dumps({'id': n, 'text': 'word ' * 2000}) for n in range(20000)) + ']')";
    here.write("large.py", script);
    here.shell(
        "python3 large.py | (ulimit -v 400000; twinsplit convert - --output - --quiet) | wc -l > lines",
    )
    .ok();
    assert_eq!(here.read("lines").trim(), "20000");
}

#[test]
fn fields_are_named_by_paths_in_every_format_and_engine() {
    let here = Place::new();
    let lines: Vec<Value> = (0..9)
        .map(|n| json!({"meta": {"nr": n, "title": format!("title {}", n % 3)}, "parts": [{"t": format!("one two three four {}", n % 3)}, null], "n": null}))
        .collect();
    let nested: String = lines.iter().map(|line| format!("{line}\n")).collect();
    here.write("nested", &nested);
    here.write("nested.json", serde_json::to_string_pretty(&lines).unwrap());
    let flat = |line: &Value| {
        let text = format!(
            "{}\n{}",
            line["meta"]["title"].as_str().unwrap(),
            line["parts"][0]["t"].as_str().unwrap()
        );
        format!("{}\n", json!({"id": line["meta"]["nr"], "text": text}))
    };
    here.write("flat", lines.iter().map(flat).collect::<String>());
    let run = "twinsplit run --features words:3 --tau 0.6 --overwrite --quiet";
    here.say(&format!("{run} --input flat --output flat-out")).ok();
    let expected = here.read("flat-out/clusters.tsv");
    assert_eq!(expected.lines().count(), 9);
    let by_path = "--id meta.nr --text meta.title,meta.none,n,parts.0.t,parts.1.t";
    for (engine, input) in
        [("local", "nested"), ("pipes", "nested"), ("local", "nested.json"), ("pipes", "nested.json")]
    {
        here.say(&format!("{run} --engine {engine} {by_path} --input {input} --output out")).ok();
        assert_eq!(here.read("out/clusters.tsv"), expected, "{engine} {input}");
    }
    here.say("twinsplit explain 0 3 --run out").ok();
    let sets = here.say("tokenize --features words:3 --input flat").ok();
    assert_eq!(here.say(&format!("tokenize --features words:3 {by_path} --input nested")).ok(), sets);
    // A field of that very name comes first, and what is nowhere is a bad document.
    here.write("named", "{\"id\":1,\"a.b\":\"named\",\"a\":{\"b\":\"way\"}}\n{\"id\":2,\"a\":{}}\n{\"id\":3,\"a\":{\"b\":7}}\n");
    here.say("tokenize --text a.b --input named")
        .fails(1, &["named, line 2, field text", "nothing by the name \"a.b\"", "--text NAME"]);
    let said = here.say("tokenize --features words:1 --text a.b --input named --bad-records all");
    assert_eq!(said.out.lines().count(), 1);
    assert!(said.err.contains("2 bad documents were passed over"), "{}", said.err);
    // The committed scripts take the word from the environment.
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/jobs/pipes/term-split.sh");
    let run = format!(
        "TWINSPLIT_TEXT=a.b TWINSPLIT_FEATURES=words:1 TWINSPLIT_BAD_RECORDS=all QUIET=1 {script} script named"
    );
    here.shell(&run).ok();
    here.shell(&run.replace("=all", "=1").replace("script named", "other named"))
        .fails(1, &["--bad-records"]);
    here.say("tokenize --input named --bad-records many")
        .fails(2, &["expected a number of documents, or all"]);
    here.say("tokenize --input named --text a,,b").fails(2, &["several with commas"]);
}

#[test]
fn ids_are_numbers_of_rows() {
    let here = Place::new();
    let two = [("x", "one two three four"), ("x", "one two three four")];
    here.write("a.jsonl", format!("\n{}", jsonl(&two)));
    here.write("b.csv", "x,text\n1,\"one two\nthree four\"\n2,else\n");
    here.write("c.json", "[\n{\"text\":\"one two three four\"}]");
    here.write("d.txt.gz", gzip("one two three four"));
    let run = "twinsplit run --features words:2 --id row --overwrite --quiet";
    for engine in ["local", "pipes"] {
        here.say(&format!("{run} --engine {engine} --input a.jsonl --output one")).ok();
        assert_eq!(here.read("one/pairs.tsv"), "a.jsonl@2\ta.jsonl@3\t3\t3\t3\t1.000000\n", "{engine}");
        here.say(&format!("{run} --engine {engine} --input a.jsonl b.csv c.json d.txt.gz --output all")).ok();
        let clusters = here.read("all/clusters.tsv");
        let ids: Vec<_> = clusters.lines().map(|line| line.split('\t').nth(1).unwrap()).collect();
        assert_eq!(ids, ["a.jsonl@2", "a.jsonl@3", "b.csv@1", "c.json@1", "d.txt.gz@1"], "{engine}");
    }
    assert!(here.say("twinsplit explain a.jsonl@2 b.csv@1 --run all").ok().contains("=> a pair"));
    assert!(
        here.say("twinsplit explain --id row --features words:2 a.jsonl@2 b.csv@1 --input a.jsonl b.csv")
            .ok()
            .contains("=> a pair")
    );
    here.say(&format!(
        "{} --engine pipes --input a.jsonl b.csv c.json d.txt.gz --output all --resume",
        run.replace(" --overwrite", "")
    ))
    .ok();
    let auto = run.replace("row", "auto");
    here.say(&format!("{auto} --input a.jsonl b.csv --output auto")).ok();
    assert!(
        here.read("auto/pairs.tsv").starts_with("a.jsonl@1\ta.jsonl@40\t"),
        "{}",
        here.read("auto/pairs.tsv")
    );
    let lines = values(&here.say("twinsplit convert b.csv c.json --id row --output - --quiet").ok());
    let ids: Vec<_> = lines.iter().map(|line| line["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["b.csv@1", "b.csv@2", "c.json@1"]);
    here.say("twinsplit convert a.jsonl --id row --output -")
        .fails(1, &["a.jsonl, line 2", "a field \"id\" already", "--id id"]);
    for engine in ["hadoop", "spark"] {
        here.say(&format!("twinsplit plan --engine {engine} --id row")).fails(2, &["--id row"]);
    }
}
