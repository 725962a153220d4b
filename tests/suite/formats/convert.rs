//! `twinsplit convert`: documents of other formats and encodings become the JSON lines that a run reads.

use crate::common::cli::{Place, fixture};
use crate::common::odd::gzip;
use serde_json::Value;
use std::fs;

/// Lines of JSON as values.
pub fn values(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const TREC: &str = "<DOC>\n<DOCNO>a</DOCNO>\n<TEXT>\nfirst text\n</TEXT>\n</DOC>\n";

#[test]
fn files_folders_streams_and_members_are_the_same_documents() {
    let here = Place::new();
    let other = TREC.replace(">a<", ">b<");
    fs::create_dir(here.path("crawl")).unwrap();
    here.write("crawl/1.gz", [gzip(&TREC[..20]), gzip(&TREC[20..])].concat());
    here.write("crawl/2", &other);
    let expected = "{\"id\":\"a\",\"text\":\"first text\"}\n{\"id\":\"b\",\"text\":\"first text\"}\n";
    for input in ["crawl", "crawl/*", "crawl/1.gz crawl/2"] {
        assert_eq!(here.say(&format!("twinsplit convert {input} --format trec --output -")).ok(), expected);
    }
    let stream = "twinsplit convert - --format trec --output - --quiet";
    assert_eq!(here.with(stream, format!("{TREC}{other}"), &[]).ok(), expected);
    let elements = "twinsplit convert --format trec --text none,TEXT crawl --output -";
    assert_eq!(here.say(elements).ok(), expected);
    let ids = here.say("twinsplit convert crawl --format trec --id auto --output -").ok();
    let ids: Vec<_> = values(&ids).iter().map(|line| line["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids, ["crawl/1.gz@0", "crawl/2@0"]);
    // A stream of documents goes through a run without a file in between.
    here.shell(
        "twinsplit convert crawl --format trec --output - | twinsplit run --input - --output out --quiet",
    )
    .ok();
    assert_eq!(here.read("out/clusters.tsv"), "a\ta\tkeep\t-\na\tb\tdrop\t1.000000\n");
}

#[test]
fn bad_documents_stop_it_or_lie_in_the_quarantine() {
    let here = Place::new();
    here.write("good", TREC);
    here.write("bad", format!("{TREC}\nstray\twords\n\n<DOC>\n<DOCNO>c</DOCNO>\n</DOC>\n"));
    let convert = "twinsplit convert good bad --format trec --output docs.jsonl --quiet";
    here.say(convert).fails(1, &["convert: bad, line 8, field document: expected <DOC>", "--bad-records"]);
    here.say(&format!("{convert} --bad-records 1")).fails(
        1,
        &["2 bad documents, and --bad-records lets 1 pass", "docs.jsonl.quarantine.tsv holds those met"],
    );
    assert!(!here.path("docs.jsonl").exists());
    let said = here.say(&format!("{convert} --bad-records 2"));
    assert_eq!(said.err, "warning: 2 documents could not be read; see docs.jsonl.quarantine.tsv\n");
    said.ok();
    assert_eq!(values(&here.read("docs.jsonl")).len(), 2);
    let rows = here.read("docs.jsonl.quarantine.tsv");
    let rows: Vec<Vec<&str>> = rows.lines().map(|row| row.split('\t').collect()).collect();
    assert_eq!([rows[0][0], rows[0][1], rows[0][2]], ["bad", "8", "document"]);
    assert_eq!(rows[0][4], "stray\\x09words\\x0a\\x0a");
    assert_eq!([rows[1][0], rows[1][1], rows[1][2]], ["bad", "10", "text"]);
    assert_eq!(rows[1][4], "<DOC>\\x0a<DOCNO>c</DOCNO>\\x0a</DOC>");
    // What another run let pass is gone, and what is not ours stays.
    here.say("twinsplit convert good --format trec --output docs.jsonl --bad-records 2 --quiet --overwrite")
        .ok();
    assert!(!here.path("docs.jsonl.quarantine.tsv").exists());
    here.write("docs.jsonl.quarantine.tsv", "mine\n");
    here.say(&format!("{convert} --bad-records 2 --overwrite")).fails(2, &["was not written by twinsplit"]);
    here.say("twinsplit convert bad --format trec --output - --bad-records 2").fails(2, &["must be a file"]);
    here.say("twinsplit convert good --format trec --output good")
        .fails(2, &["good", "which this command reads"]);
    let damaged = &gzip(TREC)[..30];
    here.write("cut.gz", damaged);
    here.say("twinsplit convert cut.gz --format trec --output -").fails(1, &["cut.gz", "truncated"]);
    let long = "twinsplit convert good --format trec --output - --max-line 30B";
    here.say(long).fails(1, &["good, line 1", "longer than 30B", "--max-line"]);
}

#[test]
fn json_lines_keep_their_fields_in_any_encoding() {
    let here = Place::new();
    let tiny = fs::read_to_string(fixture("documents/tiny.jsonl")).unwrap();
    here.write("tiny", &tiny);
    assert_eq!(here.say("twinsplit convert tiny --format jsonl --output -").ok(), tiny);
    here.write("latin", b"{\"nr\":7,\"body\":\"caf\xe9\",\"url\":\"x\"}\n\n{\"nr\":8,\"body\":\"th\xe9\"}\n");
    let convert = "twinsplit convert latin --format jsonl --id nr --text body --output -";
    let expected = "{\"nr\":7,\"body\":\"café\",\"url\":\"x\"}\n{\"nr\":8,\"body\":\"thé\"}\n";
    assert_eq!(here.say(&format!("{convert} --encoding latin1")).ok(), expected);
    here.say(convert).fails(1, &["latin, line 1, field document", "its byte 19, 0xe9, is not UTF-8"]);
    let said = here.say("twinsplit convert latin --format jsonl --encoding latin1 --output -");
    said.fails(1, &["latin, line 1, field id"]);
    let auto = "twinsplit convert latin --format jsonl --encoding latin1 --id auto --text body --output -";
    assert_eq!(here.say(auto).ok(), expected);
    for (option, words) in [("--encoding utf-16", "iconv"), ("--encoding klingon", "WHATWG")] {
        here.say(&format!("twinsplit convert latin --format jsonl {option} --output -")).fails(2, &[words]);
    }
}

/// Pages of HTML are documents by the names of their files, each in its own encoding; those behind a DOCHDR are read alike.
#[test]
fn pages_of_html_become_text() {
    let here = Place::new();
    let page = "<meta charset=gbk><title>t</title><script>x</script><p>one <b>t</b>wo<p>three";
    fs::create_dir_all(here.path("site/below")).unwrap();
    here.write("site/a.html", page);
    here.write("site/below/b.html.gz", gzip(page.replace("three", "four")));
    here.write("site/below/c.html", [page.replace("one", "").as_bytes(), b"\xd6\xd0"].concat());
    let convert = "twinsplit convert site --format html --output";
    let expected = [
        ("site/a.html", "one two\n\nthree"),
        ("site/below/b.html.gz", "one two\n\nfour"),
        ("site/below/c.html", "two\n\nthree中"),
    ];
    let expected = expected.map(|(id, text)| serde_json::json!({ "id": id, "text": text }));
    assert_eq!(values(&here.say(&format!("{convert} -")).ok()), expected);
    let trec = |(number, text): (usize, &str)| {
        format!("<DOC>\n<DOCNO>{number}</DOCNO>\n<DOCHDR>\nhttp://x/\n</DOCHDR>\n{text}\n</DOC>\n")
    };
    here.write(
        "WTX001",
        ["<title>t</title>one &lt; <i>two</i>", "a<br>b"]
            .into_iter()
            .enumerate()
            .map(trec)
            .collect::<String>(),
    );
    let texts = |option: &str| {
        let said = here.say(&format!("twinsplit convert WTX001 --format trec{option} --output -")).ok();
        values(&said).iter().map(|line| line["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(texts(""), ["one < two", "a\nb"]);
    assert_eq!(texts(" --script-templates"), texts(""));
    assert_eq!(texts(" --keep-markup"), ["<title>t</title>one &lt; <i>two</i>", "a<br>b"]);

    here.say("twinsplit run --format html --input site --features words:1 --tau 0.5 --output out --quiet")
        .ok();
    assert_eq!(here.read("out/pairs.tsv").lines().count(), 2);
    assert_eq!(values(&here.read("out/documents.jsonl")), expected);
    assert!(
        here.say("twinsplit explain site/a.html site/below/b.html.gz --run out")
            .ok()
            .contains("2 / (3 + 3 - 2)")
    );
    // Bytes that are not of the encoding that was asked for are never replaced.
    here.write("site/d.html", b"<meta charset=utf-8>caf\xe9");
    here.say(&format!("{convert} lines --encoding gbk"))
        .fails(1, &["site/d.html, line 1, field document", "its byte 23, 0xe9, is not GBK"]);
    here.say(&format!("{convert} lines --encoding gbk --bad-records 1")).ok();
    assert_eq!(values(&here.read("lines")), expected);
    here.say(&format!("{convert} - --id auto")).fails(2, &["--id: with --format html a file is a document"]);
}

/// What is no page is no document, and pages whose bytes do not fit what they say are counted.
#[test]
fn files_beside_pages_and_stray_bytes_are_told() {
    let here = Place::new();
    fs::create_dir(here.path("site")).unwrap();
    here.write("site/a.html", b"<p>caf\xc3\xa9 \xe4\xb8\xad\xe6\x96\x87\xff");
    here.write("site/b.html", b"<meta charset=latin1><p>caf\xc3\xa9");
    here.write("site/c.html", b"<p>caf\xe9");
    here.write("site/c2.html", "<script type=text/x-template><p>one two three</script>one");
    here.write("site/d.json", b"{\"url\": [1]}\n");
    here.write("site/e.warc.gz", gzip("WARC/1.0\r\nWARC-Type: warcinfo\r\n"));
    let convert = "twinsplit convert site --format html --output docs.jsonl --quiet";
    here.say(convert)
        .fails(1, &["site/d.json, line 1", "this is JSON, not HTML", "'FOLDER/**/*.html'", "--bad-records"]);
    let said = here.say(&format!("{convert} --bad-records 2"));
    let warnings = [
        "2 documents could not be read; see docs.jsonl.quarantine.tsv",
        "1 page with bytes that are not of their encoding: 1 sequence read as U+FFFD",
        "1 page with another encoding in the header or the meta element than that of the bytes",
        "1 page neither UTF-8 nor of an encoding that the header or the meta element says, read as windows-1252",
        "1 page with more text in scripts that are templates than beside them; twinsplit convert --script-templates reads",
    ];
    warnings.iter().for_each(|warning| assert!(said.err.contains(warning), "{}", said.err));
    said.ok();
    let texts: Vec<Value> =
        values(&here.read("docs.jsonl")).iter().map(|line| line["text"].clone()).collect();
    assert_eq!(texts, ["caf\u{e9} 中文\u{fffd}", "caf\u{e9}", "caf\u{e9}", "one"]);
    here.say(
        "twinsplit run --format html --input site/*.html --output out --features words:1 --tau 0.9 --quiet",
    )
    .ok();
    let run: Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
    let told: Vec<&str> = run["warnings"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    warnings[1..]
        .iter()
        .for_each(|warning| assert!(told.iter().any(|told| told.contains(warning)), "{told:?}"));
}

/// A run of another format is the run of the lines that are a file of its answer.
#[test]
fn a_run_converts_in_front() {
    let here = Place::new();
    let other = TREC.replace(">a<", ">b<").replace("first text", "caf\u{e9} first text");
    let latin: Vec<u8> = other.chars().map(|c| c as u8).collect();
    here.write("crawl", [TREC.as_bytes(), TREC.replace(">a<", ">c<").as_bytes(), &latin].concat());
    let options = "--features words:1 --tau 0.6 --write-kept --quiet";
    here.say("twinsplit convert crawl --format trec --encoding latin1 --output made.jsonl --quiet").ok();
    here.say(&format!("twinsplit run --input made.jsonl --output expected {options}")).ok();
    let files = ["pairs.tsv", "clusters.tsv", "kept.jsonl"];
    let expected = files.map(|file| here.read(&format!("expected/{file}")));
    assert!(expected[0].lines().count() == 3, "{}", expected[0]);
    let run = |chain: &str, out: &str| {
        format!(
            "twinsplit run {chain} --format trec --encoding latin1 --input crawl --output {out} {options}"
        )
    };
    for (out, chain) in [("o1", "doc-split"), ("o2", "term-split"), ("o3", "doc-split --engine pipes")] {
        here.say(&run(chain, out)).ok();
        assert_eq!(files.map(|file| here.read(&format!("{out}/{file}"))), expected, "{chain}");
        assert_eq!(here.read(&format!("{out}/documents.jsonl")), here.read("made.jsonl"));
    }
    // What looks at documents again reads that file.
    assert!(here.say("twinsplit explain a b --run o1").ok().contains("caf\u{e9}"));
    here.say("twinsplit report o2").ok();
    here.say(&(run("doc-split", "o1") + " --resume")).ok();
    here.say(&run("doc-split", "o1")).fails(2, &["o1 exists and is not empty"]);
    // An answer and its documents go together: what does not succeed leaves both, and so does what was changed by hand.
    let lines = here.read("o1/documents.jsonl");
    here.write("crawl", "<DOC>\nno documents\n");
    here.say(&(run("doc-split", "o1") + " --overwrite")).fails(1, &["crawl, line 1"]);
    here.say(&(run("doc-split", "o1") + " --resume")).fails(2, &["the input crawl has changed"]);
    here.write("crawl", TREC);
    here.say(&(run("doc-split", "o1") + " --resume --format jsonl")).fails(2, &["--format"]);
    assert_eq!(here.read("o1/documents.jsonl"), lines);
    assert!(here.say("twinsplit explain a b --run o1").ok().contains("caf\u{e9}"));
    here.write("o1/documents.jsonl", lines.replacen("first", "FIRST", 1));
    here.say(&(run("doc-split", "o1") + " --overwrite")).fails(2, &["o1/documents.jsonl was changed after"]);
    here.say("twinsplit explain a b --run o1").fails(1, &["o1/documents.jsonl", "has changed since"]);
    here.write("o1/documents.jsonl", &lines);
    here.say(&(run("doc-split", "o1/") + " --overwrite")).ok();
    assert_eq!(here.read("o1/documents.jsonl").lines().count(), 1);

    // Nobody's file is replaced, and a run that did not begin leaves none.
    fs::create_dir(here.path("o4")).unwrap();
    here.write("o4/documents.jsonl", "mine");
    here.say(&(run("doc-split", "o4") + " --overwrite")).fails(2, &["o4/documents.jsonl stands in the way"]);
    assert_eq!(here.read("o4/documents.jsonl"), "mine");
    here.say(&(run("doc-split", "o5") + " --keep newest --date DATE")).fails(2, &["DATE"]);
    assert!(!here.path("o5").exists());
    here.write("bad", format!("{TREC}\nstray\n"));
    here.say(&run("doc-split", "o8").replace("--input crawl", "--input bad --bad-records 1")).ok();
    assert!(here.read("o8/documents.jsonl.quarantine.tsv").contains("stray"));
    for engine in ["hadoop", "spark"] {
        let said = here.say(&run(&format!("doc-split --engine {engine}"), "o6"));
        said.fails(2, &["--format trec is for --engine local and pipes", "twinsplit convert --format trec"]);
    }
    here.say(&run("minhash --recall 0.9", "o6")).fails(2, &["--recall"]);
    here.write("lines", b"{\"nr\":7,\"body\":\"caf\xe9\"}\n");
    let lines = "twinsplit run --input lines --id nr --text body --output o7 --quiet";
    here.say(lines).fails(1, &["field document"]);
    here.say(&format!("{lines} --encoding latin1")).ok();
    assert_eq!(here.read("o7/documents.jsonl"), "{\"nr\":7,\"body\":\"caf\u{e9}\"}\n");
}

#[test]
fn a_name_of_another_compression_is_refused() {
    let here = Place::new();
    here.write("docs.csv", "id,text\na,one\n");
    here.say("twinsplit convert docs.csv -o docs.jsonl.zst").fails(2, &["docs.jsonl.zst", "plain, or gzip"]);
    assert!(!here.path("docs.jsonl.zst").exists());
}
