//! `--unit` of documents in every form, what is refused, and runs that were stopped.

use crate::common::cli::{Place, binaries, fixture, jsonl};
use crate::common::harness::clean;
use serde_json::{Value, json};
use std::process::{Command, Stdio};

const NOTICE: &str = "Nobody may copy this page in whole or in part.";

fn values(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The same two documents in each form; the blocks of pages are paragraphs.
#[test]
fn every_form_has_units() {
    let page = |own: &str| {
        format!("<html><body><div>{NOTICE}</div><div>{own}</div><p>one<br>two {own}</p></body></html>")
    };
    let text = |own: &str| format!("{NOTICE}\n\n{own}\n\none\ntwo {own}");
    let http = |own: &str| format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{}", page(own));
    let record = |id: &str, own: &str| {
        let http = http(own);
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:{id}>\r\nWARC-Target-URI: http://x/{id}\r\nContent-Type: application/http; \
             msgtype=response\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
            http.len()
        )
    };
    let lines = |id: &str, own: &str| json!({"id": id, "text": text(own), "more": 1}).to_string();
    let trec = |id: &str, own: &str| {
        format!(
            "<DOC>\n<DOCNO>{id}</DOCNO>\n<DOCHDR>\nhttp://x/{id}\n{}</DOCHDR>\n{}\n</DOC>\n",
            "",
            page(own)
        )
    };
    let here = Place::new();
    for folder in ["text", "html", "jsonl", "json", "csv", "warc", "trec", "mixed"] {
        std::fs::create_dir(here.path(folder)).unwrap();
    }
    here.write("text/a.txt", text("cats"));
    here.write("text/b.txt", text("dogs"));
    here.write("html/a.html", page("cats"));
    here.write("html/b.html", page("dogs"));
    here.write("jsonl/a.jsonl", lines("a", "cats") + "\n" + &lines("b", "dogs") + "\n");
    here.write("json/a.json", format!("[\n{},\n{}]", lines("a", "cats"), lines("b", "dogs")));
    here.write("csv/a.csv", format!("id,text,more\na,\"{}\",1\nb,\"{}\",1\n", text("cats"), text("dogs")));
    here.write("warc/a.warc", record("a", "cats") + &record("b", "dogs"));
    here.write("trec/a.trec", trec("a", "cats") + &trec("b", "dogs"));
    here.write("mixed/a.jsonl", lines("a", "cats") + "\n");
    here.write("mixed/b.html", page("dogs"));
    let mut ran = 0;
    for (form, a, b) in [
        ("text", "text/a.txt", "text/b.txt"),
        ("html", "html/a.html", "html/b.html"),
        ("jsonl", "a", "b"),
        ("json", "a", "b"),
        ("csv", "a", "b"),
        ("warc", "urn:a", "urn:b"),
        ("trec", "a", "b"),
        ("mixed", "a", "mixed/b.html"),
    ] {
        for engine in ["local", "pipes"] {
            here.say(&format!(
                "twinsplit run -i {form} --unit paragraph --features words:1 --tau 0.9 --write-kept --engine {engine} --overwrite -qo out"
            )).ok();
            assert_eq!(
                here.read("out/cut.tsv"),
                format!("{b}\t1\t0\t46\t{a}\t1\t1.000000\t{NOTICE}\n"),
                "{form}"
            );
            let kept = values(&here.read("out/kept.jsonl"));
            let of = |at: usize| (kept[at]["id"].as_str().unwrap(), kept[at]["text"].as_str().unwrap());
            let (whole, rest) = (text("cats"), "dogs\n\none\ntwo dogs");
            assert_eq!([of(0), of(1)], [(a, whole.as_str()), (b, rest)], "{form}");
            if ["jsonl", "json", "csv"].contains(&form) {
                assert!(kept.iter().all(|line| line["more"] == 1 || line["more"] == "1"), "{form}");
            }
            ran += 1;
        }
        // What a run reads is what `convert` writes of the same files.
        here.say(&format!("twinsplit convert {form} --unit paragraph --overwrite -qo units.jsonl")).ok();
        assert_eq!(here.read("units.jsonl"), here.read("out/units.jsonl"), "{form}");
    }
    assert_eq!(ran, 16);
}

/// Ids of every kind, several fields of text, dates, and lines that cannot be read.
#[test]
fn fields_come_along() {
    let here = Place::new();
    let notice = "these words stand in more than one of them";
    let line = |nr: u32, day: &str, title: &str, body: String| {
        json!({"nr": nr, "meta": {"day": day}, "title": title, "body": body}).to_string() + "\n"
    };
    let docs = line(1, "2020", "A title", format!("first\n\n{notice}"))
        + line(2, "2024", "A title", format!("{notice}\n\nsecond")).as_str()
        + "no document\n"
        + line(3, "2022", "Another", "\u{e9}".to_owned()).as_str();
    here.write("docs.jsonl", &docs);
    let run = "twinsplit run -i docs.jsonl --id nr --text title,body --date meta.day --unit paragraph --features words:1 --tau 0.9 --write-kept \
               --bad-records 1 --overwrite -qo out";
    here.say(&format!("{run} --keep newest")).ok();
    assert_eq!(
        here.read("out/cut.tsv"),
        format!("1\t1\t0\t7\t2\t1\t1.000000\tA title\n1\t3\t15\t57\t2\t2\t1.000000\t{notice}\n")
    );
    let kept = here.read("out/kept.jsonl");
    let first = line(1, "2020", "", "first".to_owned());
    let expected: String = std::iter::once(first.as_str())
        .chain(docs.split_inclusive('\n').skip(1).filter(|line| line.starts_with('{')))
        .collect();
    assert_eq!(kept, expected);
    assert!(here.read("out/documents.jsonl.quarantine.tsv").starts_with("docs.jsonl\t3\tdocument\t"));
    here.say(&run.replace("--id nr", "--id row")).ok();
    assert!(here.read("out/cut.tsv").starts_with("docs.jsonl@2\t1\t0\t7\tdocs.jsonl@1\t1\t"));
    // What a text has as escapes stays so.
    here.write("escaped.jsonl", "{\"id\":\"a\",\"text\":\"\\u00e9t\\u00e9 one two\\nOk \\ud800\\/\"}\r\n{\"text\":\"\\u00e9t\\u00e9 one two\\nb\\u00e9\", \"id\":\"b\" }\n");
    here.say("twinsplit run -i escaped.jsonl --unit line --write-kept -qo escaped").ok();
    let expected = "{\"id\":\"a\",\"text\":\"\\u00e9t\\u00e9 one two\\nOk \\ud800\\/\"}\r\n{\"text\":\"b\\u00e9\", \"id\":\"b\" }\n";
    assert_eq!(here.read("escaped/kept.jsonl"), expected);
    let run: Value = serde_json::from_str(&here.read("escaped/run.json")).unwrap();
    assert_eq!(run["counters"]["tokenize"]["lone_surrogates"], 1);
}

/// A stream is read once: what is cut is listed, and nothing is written again.
#[test]
fn a_stream_has_units() {
    let here = Place::new();
    let docs = jsonl(&[("a", "one two three\nfour"), ("b", "one two three")]);
    here.with("twinsplit run -i - --unit line -qo out", &docs, &[]).ok();
    assert_eq!(here.read("out/cut.tsv"), "b\t1\t0\t13\ta\t1\t1.000000\tone two three\n");
    assert_eq!(here.read("out/cut-documents.tsv"), "b\t1\t1\t13\t13\n");
    let words = ["standard input cannot be it", "--write-kept with --unit reads the documents again"];
    here.with("twinsplit run -i - --unit line --write-kept -qo other", &docs, &[]).fails(2, &words);
}

#[test]
fn what_does_not_go_with_units_is_refused() {
    let here = Place::new();
    here.write("docs.jsonl", jsonl(&[("a", "one"), ("b", "two")]));
    here.write("twice.jsonl", jsonl(&[("a", "one"), ("a", "two")]));
    let convert = "twinsplit convert --unit line FILE --output documents.jsonl";
    let mut refused = 0;
    for (options, words) in [
        ("--unit word", &["invalid value 'word'", "paragraph, line, sentence"][..]),
        ("--unit line --engine hadoop", &["--unit line is for --engine local and pipes", convert]),
        ("--unit line --engine spark", &["--unit line is for --engine local and pipes", convert]),
        ("--unit line --queries docs.jsonl", &["--unit line does not go with --queries", convert]),
        ("--unit line --store s", &["--unit line does not go with a store"]),
        ("--unit line --against s --write-kept", &["--unit line does not go with a store"]),
        ("minhash --unit line --recall 0.9", &["--unit line does not go with --recall", convert]),
        ("--unit line --write-kept=same", &["--write-kept=same writes whole documents", "leave =same out"]),
        ("--cut-all 3", &["--cut-all goes with --unit"]),
        ("--unit line --cut-all 1", &["--cut-all <N>", "2..="]),
        ("--unit line --text start", &["two of them would be called \"start\""]),
        ("--unit line --id text", &["two of them would be called \"text\""]),
        ("--unit line --text body", &["docs.jsonl, line 1, field text"]),
    ] {
        let said = here.say(&format!("twinsplit run {options} -i docs.jsonl -qo out"));
        let code = if options.contains("body") { 1 } else { 2 };
        said.fails(code, words);
        assert!(!here.path("out").exists() && !here.path("s").exists(), "{options}");
        refused += 1;
    }
    assert_eq!(refused, 13);
    here.say("twinsplit run -i twice.jsonl --unit line -qo out").fails(1, &["a#1", "more than one document"]);
    let shown = here.say("twinsplit run -i docs.jsonl --unit sentence --write-kept --dry-run -o out").ok();
    assert!(
        shown.contains("divided into sentences first") && shown.contains("cut.tsv, cut-documents.tsv"),
        "{shown}"
    );
}

/// A run that is killed leaves no file under its name, and goes on to the same bytes; another unit is another run.
#[test]
fn a_run_that_was_stopped_goes_on() {
    let here = Place::new();
    let input = fixture("documents/en.jsonl.gz");
    let run = |way: &str, output: &str| {
        let mut command = clean(Command::new(binaries().join("twinsplit")));
        command
            .args(["run", "doc-split", "--unit", "line", "--write-kept", "--tau", "0.8", "-q"])
            .args(way.split(' '));
        command
            .arg("-i")
            .arg(&input)
            .args(["-o", output])
            .current_dir(here.path(""))
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        command
    };
    const FILES: [&str; 6] =
        ["pairs.tsv", "clusters.tsv", "cut.tsv", "cut-documents.tsv", "kept.jsonl", "units.jsonl"];
    assert!(run("--engine local", "whole").status().unwrap().success());
    let whole = FILES.map(|name| here.read(&format!("whole/{name}")));
    let mut stopped = 0;
    for engine in ["local", "pipes"] {
        for moment in [5, 40, 120, 300, 700] {
            let output = format!("{engine}-{moment}");
            let mut child = run(&format!("--engine {engine}"), &output).spawn().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(moment));
            child.kill().unwrap();
            let was_stopped = !child.wait().unwrap().success();
            stopped += usize::from(was_stopped);
            if was_stopped && here.path(&output).exists() {
                let names = here.names(&output);
                assert!(names.iter().all(|name| name == "_work"), "{output}: {names:?}");
            }
            assert!(
                run(&format!("--engine {engine} --resume"), &output).status().unwrap().success(),
                "{output}"
            );
            assert!(FILES.map(|name| here.read(&format!("{output}/{name}"))) == whole, "{output}");
            assert!(!here.path(&format!("{output}/_work")).exists());
        }
    }
    println!("{stopped} of 10 runs were stopped");
    assert!(stopped > 3, "{stopped}");
    let other = here.say(&format!(
        "twinsplit run doc-split --unit sentence --write-kept --tau 0.8 --resume -q -i {} -o whole",
        input.display()
    ));
    other.fails(2, &["--unit was line and is sentence"]);
    let other = here.say(&format!(
        "twinsplit run doc-split --unit line --write-kept --tau 0.8 --cut-all 2 --resume -q -i {} -o whole",
        input.display()
    ));
    other.fails(2, &["--cut-all was not given and is 2"]);
}
