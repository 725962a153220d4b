//! What a run says while it works and when it is over: to people on a terminal, to logs, to programs.

use crate::common::cli::{Place, binaries, fixture, jsonl};
use crate::common::harness::clean;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

const WAYS: [&str; 3] = ["doc-split", "term-split --pcp prefix", "doc-split --engine pipes"];

fn english() -> String {
    fixture("documents/en.jsonl.gz").display().to_string()
}

/// The table has a line for each step, in their order, with the numbers of run.json.
#[test]
fn the_table_says_what_run_json_says() {
    let here = Place::new();
    for way in WAYS {
        let said =
            here.say(&format!("twinsplit run {way} -v --input {} --output out --overwrite", english()));
        let run: serde_json::Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
        let lines: Vec<&str> = said.err.lines().collect();
        let head = lines.iter().position(|line| line.starts_with("step  ")).expect(&said.err);
        let steps: Vec<&str> =
            run["steps"].as_array().unwrap().iter().filter_map(|step| step.as_str()).collect();
        assert!(steps.len() >= 7 && steps.contains(&"keep") && steps[0] == "tokenize", "{steps:?}");
        for (step, line) in steps.iter().zip(&lines[head + 1..]) {
            let cells: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(cells[0], *step, "{way}");
            let counters = &run["counters"][step];
            if let Some(rows) = counters["map_records_in"].as_u64().or(counters["reduce_records_in"].as_u64())
            {
                assert_eq!(cells[1].replace(',', ""), rows.to_string(), "{line}");
            }
            assert!(
                counters["peak_memory"].as_u64().is_some_and(|bytes| bytes > 1 << 20),
                "{way}, {step}: {counters}"
            );
        }
        let tokenize = &run["counters"]["tokenize"];
        assert_eq!(tokenize["map_records_in"], 785, "{way}");
        assert!(tokenize["map_bytes_in"].as_u64().unwrap() > 2 << 20, "{way}: {tokenize}");
        assert!(said.err.contains("785 documents, "), "{}", said.err);
        assert_eq!(said.ok(), "");
    }
}

#[test]
fn programs_read_json_and_people_are_left_in_peace() {
    let here = Place::new();
    let others: String = (0..47).map(|n| jsonl(&[(&format!("other {n}"), &format!("word{n}"))])).collect();
    here.write("docs", jsonl(&["a", "b", "c"].map(|id| (id, "one two three"))) + &others);
    for way in WAYS {
        let line = format!("twinsplit run {way} --features words:1 --input docs --output out --overwrite");
        let said = here.say(&format!("{line} --json"));
        assert!(!said.err.contains("documents, in "), "{}", said.err);
        assert_eq!(said.ok(), here.read("out/run.json"), "{way}");
        let said = here.say(&format!("{line} --quiet"));
        assert_eq!(
            (said.err.as_str(), said.out.as_str()),
            (
                "warning: 1 cluster of over 1 % of the 50 documents; \
            the largest, kept a, holds 3 (3 Latin): look at it with twinsplit explain, and split it by a higher --tau, \
            --cluster star or --min-features\n",
                ""
            ),
            "{way}"
        );
    }
}

/// On a terminal a bar tells step, amount and rate, and goes when the run is over.
#[test]
fn a_terminal_shows_a_bar() {
    let here = Place::new();
    for way in WAYS {
        let run = format!("twinsplit run {way} --input {} --output out --overwrite", english());
        let said = here.at_a_terminal(&run, &[]);
        assert_eq!(said.code, 0, "script is needed (apt-get install bsdutils): {}", said.out);
        assert!(said.out.contains("\u{1b}[") && said.out.contains("[1/"), "{way}: {:?}", said.out);
        assert!(said.out.contains("785 documents, in "), "what was found follows");
        let said = here.at_a_terminal(&format!("{run} --quiet"), &[]);
        assert!(!said.out.contains("[1/") && !said.out.contains("documents, in "), "{:?}", said.out);
    }
}

/// A log gets a line every ten seconds: here the run waits for its input until it has printed one.
#[test]
fn a_log_gets_lines() {
    let here = Place::new();
    let made = Command::new("mkfifo")
        .arg(here.path("pipe"))
        .status()
        .expect("mkfifo is needed: apt-get install coreutils");
    assert!(made.success());
    let mut run = clean(Command::new(binaries().join("twinsplit")));
    run.args(["run", "doc-split", "--features", "words:1", "--input", "pipe", "--output", "out"]);
    let mut child = run.current_dir(here.path("")).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = std::fs::OpenOptions::new().write(true).open(here.path("pipe")).unwrap();
    pipe.write_all(jsonl(&[("a", "one two")]).as_bytes()).unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert!(line.starts_with("tokenize: reading") && line.ends_with(" s in all\n"), "{line:?}");
    drop(pipe);
    line.clear();
    while said.read_line(&mut line).unwrap() > 0 {}
    assert!(child.wait().unwrap().success(), "{line}");
    assert!(line.contains("1 document, in ") && line.contains("0 clusters, "), "{line}");
}
