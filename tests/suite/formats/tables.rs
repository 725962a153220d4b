//! Tables, plain text and crawls as input: the answer is that of the same documents as JSON lines, which Python makes of them.

use crate::common::cli::Place;
use crate::common::odd::gzip;

/// Writes the documents of `docs.jsonl` in each form with Python's own library, from real text with quotation marks and line ends.
const WRITE: &str = r#"
import csv, gzip, json
docs = [json.loads(line) for line in open("docs.jsonl", encoding="utf-8")]
for name, delimiter in ("comma.csv", ","), ("semicolon.csv", ";"), ("tab.tsv", "\t"):
    with open(name, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter=delimiter)
        table.writerow(["nr", "id", "body"])
        table.writerows([i, doc["id"], doc["text"]] for i, doc in enumerate(docs))
def record(kind, content, more=b""):
    head = (b"WARC/1.1\r\nWARC-Type: " + kind + b"\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n" + more
            + b"Content-Length: %d\r\n\r\n" % len(content))
    return head + content + b"\r\n\r\n"
with open("crawl.warc.gz", "wb") as file:
    for doc in docs:
        address = b"WARC-Target-URI: " + doc["id"].encode() + b"\r\n"
        page = ("HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n" + doc["text"]).encode()
        file.write(gzip.compress(record(b"request", b"GET / HTTP/1.1\r\n\r\n", address)))
        file.write(gzip.compress(record(b"response", page, address + b"Content-Type: application/http\r\n")))
with open("crawl.wet", "wb") as file:
    for doc in docs:
        file.write(record(b"conversion", doc["text"].encode(), b"WARC-Target-URI: " + doc["id"].encode() + b"\r\n"))
"#;

/// Real documents, with what tables have to quote.
fn place() -> Place {
    let here = Place::new();
    let english = crate::common::real::fixture("en.jsonl.gz");
    let script = "import gzip, json, sys\nfor i, line in enumerate(gzip.open(sys.argv[1], 'rt', encoding='utf-8')):\n    if i < 120:\n        doc = json.loads(line)\n        print(json.dumps({'id': doc['id'], 'text': doc['text'].strip()}))";
    here.write("make.py", script);
    let docs = here.shell(&format!("python3 make.py {}", english.display())).ok();
    assert!(docs.contains("\\n") && docs.contains("\\\""), "text has line ends and quotation marks");
    here.write("docs.jsonl", docs);
    here.write("write.py", WRITE);
    here.shell("python3 write.py").ok();
    here
}

#[test]
fn tables_and_crawls_give_the_answer_of_json_lines() {
    let here = place();
    here.say("twinsplit run --input docs.jsonl --output json --quiet --tau 0.5").ok();
    let (pairs, clusters) = (here.read("json/pairs.tsv"), here.read("json/clusters.tsv"));
    assert!(pairs.lines().count() > 10, "{pairs}");
    let mut runs = 0;
    for table in ["comma.csv", "semicolon.csv", "tab.tsv"] {
        for engine in ["local", "pipes"] {
            let format = table.rsplit('.').next().unwrap();
            let line = format!(
                "twinsplit run --engine {engine} --format {format} --text body --input {table} --output out --overwrite --quiet --tau 0.5"
            );
            here.say(&line).ok();
            assert_eq!(here.read("out/pairs.tsv"), pairs, "{table} {engine}");
            assert_eq!(here.read("out/clusters.tsv"), clusters, "{table} {engine}");
            runs += 1;
        }
    }
    for crawl in ["crawl.warc.gz", "crawl.wet"] {
        let convert = format!("twinsplit convert {crawl} --format warc --id WARC-Target-URI --output -");
        let said = here.shell(&format!(
            "{convert} | twinsplit run --input - --output out --overwrite --quiet --tau 0.5"
        ));
        let passed = said.err.contains("120 records are no page of HTML or plain text");
        assert_eq!(passed, crawl == "crawl.warc.gz", "{}", said.err);
        said.ok();
        assert_eq!(here.read("out/pairs.tsv"), pairs, "{crawl}");
        runs += 1;
    }
    println!("{runs} runs");
    assert_eq!(runs, 8);
}

#[test]
fn texts_are_documents_by_file_and_by_line() {
    let here = Place::new();
    std::fs::create_dir(here.path("texts")).unwrap();
    here.write("texts/a.txt", "rain fell on the harbour\nall night\n");
    here.write("texts/b.txt.gz", gzip("Rain fell on the harbour all night"));
    here.write("texts/c.txt", "nothing like it, at all");
    here.say("twinsplit run --format text --features words:2 --input texts --output out --quiet").ok();
    assert_eq!(here.read("out/pairs.tsv"), "texts/a.txt\ttexts/b.txt.gz\t6\t6\t6\t1.000000\n");
    here.write("lines.txt", "one two three\n\nfour five six\none two three\n");
    here.say("twinsplit run --format lines --features words:2 --input lines.txt --output lines --quiet").ok();
    assert_eq!(here.read("lines/pairs.tsv"), "lines.txt@0\tlines.txt@29\t2\t2\t2\t1.000000\n");
}

#[test]
fn a_column_of_scores_decides_what_is_kept() {
    let here = Place::new();
    here.write(
        "table.csv",
        "id,text,s\na,one two three four,3.5\nb,one two three four,12\nc,one two three four,\n",
    );
    let kept = "b\ta\tdrop\t1.000000\nb\tb\tkeep\t-\nb\tc\tdrop\t1.000000\n";
    here.say("twinsplit run --format csv --keep score --score s --input table.csv --output out --quiet").ok();
    assert_eq!(here.read("out/clusters.tsv"), kept);
    here.say("twinsplit convert table.csv --format csv --score s --output docs.jsonl --quiet").ok();
    here.say("twinsplit run --keep score --score s --input docs.jsonl --output two --quiet").ok();
    assert_eq!(here.read("two/clusters.tsv"), kept);
}

#[test]
fn what_is_wrong_in_a_table_is_named() {
    let here = Place::new();
    here.write("table.csv", "key,body\n1,a\n2,b,c\n");
    here.say("twinsplit run --format csv --input table.csv --output out")
        .fails(1, &["table.csv", "no column is named \"id\"", "key, body", "--id says which"]);
    let named = "twinsplit run --format csv --id key --text body --input table.csv --output out --quiet";
    here.say(named)
        .fails(1, &["table.csv, line 3, field row", "3 cells where there are 2 columns", "--bad-records"]);
    here.say(&format!("{named} --bad-records 1")).ok();
    assert_eq!(here.read("out/documents.jsonl.quarantine.tsv").split('\t').nth(1), Some("3"));
    here.write(
        "cut.warc",
        "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <a>\r\nContent-Length: 9\r\n\r\ntext",
    );
    here.say("twinsplit convert cut.warc --format warc --output -")
        .fails(1, &["cut.warc", "byte 0", "the file is cut off"]);
}

/// An id that stands at two documents is told with their places in the files as they were given.
#[test]
fn repeated_ids_are_told_by_the_files_that_were_given() {
    let here = Place::new();
    here.write("one.csv", "id,text\n1,a b c\n2,x y z\n");
    here.write("two.csv.gz", gzip("id,text\n3,d e f\n1,q r s\n"));
    for options in ["", "term-split"] {
        let line = format!("twinsplit run {options} --input one.csv --input two.csv.gz --output out");
        here.say(&line.replace("  ", " ")).fails(
            1,
            &["the id \"1\" stands at more than one document (one.csv, line 2 and two.csv.gz, line 3)"],
        );
    }
}

/// Names in capital letters are elements of TREC, whether the format is named or found.
#[test]
fn elements_of_trec_are_named_by_options() {
    let here = Place::new();
    let doc = |number: u8, title: &str, text: &str| {
        format!(
            "<DOC><DOCNO>n{number}</DOCNO><ALT>a{number}</ALT><TITLE>{title}</TITLE><TEXT>{text}</TEXT></DOC>\n"
        )
    };
    here.write(
        "news",
        doc(1, "red green blue", "one two three four") + &doc(2, "red green blue", "five six seven eight"),
    );
    for format in ["", "--format trec"] {
        let run = |options: &str| {
            let line =
                format!("twinsplit run --input news --output out --overwrite --quiet {options} {format}");
            here.say(line.trim_end()).ok();
            here.read("out/pairs.tsv")
        };
        assert_eq!(run("--text TITLE"), "n1\tn2\t1\t1\t1\t1.000000\n", "{format}");
        assert_eq!(run("--text TEXT"), "", "{format}");
        assert_eq!(
            run("--text TITLE,TEXT --features words:1 --tau 0.2"),
            "n1\tn2\t3\t7\t7\t0.272727\n",
            "{format}"
        );
        assert_eq!(run("--text TITLE --id ALT"), "a1\ta2\t1\t1\t1\t1.000000\n", "{format}");
    }
}
