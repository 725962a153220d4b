//! What a wrong input is told: the stage that met it, the place, the field, what was expected, what to do.

use crate::common::cli::{Place, fixture, jsonl};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use twinsplit_rows::stages::STAGES;

/// The engines, and the chains of the local one.
const WAYS: [&str; 3] = ["doc-split", "term-split", "doc-split --engine pipes"];

fn run(way: &str) -> String {
    format!("twinsplit run {way} --features words:1 --input docs --output out --quiet")
}

/// One id on two documents makes every answer about it wrong.
#[test]
fn an_id_that_stands_twice_is_named() {
    let here = Place::new();
    here.write("docs", jsonl(&[("twice", "x y z"), ("b", "x"), ("twice", "w")]));
    for way in ["doc-split", "term-split --pcp prefix"] {
        let said = here.say(&format!("{} --overwrite", run(way)));
        said.fails(1, &["\"twice\"", "(docs, line 1 and docs, line 3)", "--id auto"]);
    }
    for way in [
        "term-split",
        "term-split --engine pipes",
        "term-split --pcp prefix --engine pipes",
        "doc-split --engine pipes",
    ] {
        // The steps before it are finished, and stay for --resume where the cause is not known.
        here.say(&format!("{} --overwrite", run(way))).fails(
            1,
            &["equal-sets-reduce", "the id \"twice\"", "(docs, line 1 and docs, line 3)", "--id auto"],
        );
        assert!(!here.path("out/pairs.tsv").exists(), "{way}");
    }
    here.write("one", jsonl(&[("a", "x"), ("b", "y")]));
    here.write("two", jsonl(&[("b", "y")]));
    let run = "twinsplit run doc-split --input one two --output out --overwrite --quiet";
    here.say(run).fails(1, &["the id \"b\"", "(one, line 2 and two, line 1)"]);
    here.say(&run.replace("doc-split", "term-split"))
        .fails(1, &["equal-sets-reduce", "the id \"b\"", "(one, line 2 and two, line 1)"]);
    here.say(&format!("{run} --id auto --features words:1")).ok();
    assert_eq!(here.read("out/pairs.tsv").lines().count(), 1);
}

/// A threshold that cannot be met or is not kept exactly is refused, wherever it is typed.
#[test]
fn numbers_out_of_their_range_are_usage_errors() {
    let here = Place::new();
    here.write("docs", jsonl(&[("a", "x")]));
    let stages = ["pcp-reduce", "index-term", "slice-plan", "twinsplit plan doc-split"];
    for tau in ["0", "1.1", "0.1234567891", "0,5", "-0.5", "1e-1", ""] {
        for line in stages.map(str::to_owned).into_iter().chain(WAYS.map(run)) {
            here.say(&format!("{line} --tau={tau}")).fails(2, &["--tau", "(0, 1]", "at most 9 places"]);
        }
    }
    here.with("pcp-reduce --tau 0.123456789", "", &[]).ok();
    for (option, words) in [
        ("--idf 0.9,0.2", &["--idf", "0.9", "0.2", "upside down"][..]),
        ("--idf 0.5", &["--idf", "0.5"]),
        ("--idf 0.12345,1", &["--idf", "0.12345"]),
        ("--features words:0", &["words:0"]),
        ("--features nonsense", &["nonsense"]),
        ("--features spotsigs:nowhere", &["nowhere"]),
        ("--min-features -1", &["-1"]),
        ("--memory 0", &["--memory", "at least 1"]),
        ("--nonsense", &["--nonsense"]),
    ] {
        here.say(&format!("twinsplit run doc-split --input docs --output out {option}")).fails(2, words);
        assert!(!here.path("out").exists(), "{option}");
    }
    here.say("twinsplit run both --input docs --output out").fails(2, &["both", "term-split"]);
}

/// A file that cannot be written under its name is refused before the work.
#[test]
fn files_that_cannot_be_written_are_usage_errors() {
    let here = Place::new();
    here.write("docs", jsonl(&[("a", "x")]));
    fs::create_dir(here.path("folder")).unwrap();
    for command in [
        "fingerprints build docs --output",
        "join docs --tau 0.5 --output",
        "idf --from docs --output",
        "tune --input docs --write-sample",
        "report folder --to",
    ] {
        for (path, word) in [("folder", "it is a folder"), ("nowhere/file", "there is no folder nowhere")] {
            here.say(&format!("twinsplit {command} {path}")).fails(2, &[path, word]);
        }
    }
    here.say("twinsplit convert docs --format trec --output folder").fails(2, &["folder", "it is a folder"]);
    assert_eq!(here.names("."), BTreeSet::from(["docs", "folder"].map(str::to_owned)));
}

/// A device is written, and stays what it is.
#[test]
fn a_device_is_not_replaced() {
    let here = Place::new();
    here.write("docs", jsonl(&[("a", "x y"), ("b", "x y")]));
    here.write("sets", "1 2\n1 2\n");
    symlink("/dev/null", here.path("device")).unwrap();
    let index = "fingerprints build rows --output";
    here.write("rows", "a\t0000000000000001\n");
    for command in [
        "idf --from docs --features words:1 --output",
        "join sets --tau 0.5 --output",
        "convert docs --format jsonl --encoding utf-8 --output",
        "tune --input docs --write-sample",
        index,
    ] {
        let said = here.say(&format!("twinsplit {command} device"));
        assert!(here.path("device").is_symlink(), "{command}: {}", said.err);
        assert!(said.code == 0 || command == index, "{command}: {}", said.err);
    }
}

/// Each reducer whose rows are sorted, with what it needs to start, and a row of it.
pub fn reducers() -> Vec<(&'static str, String)> {
    let set = "0000000000000001";
    vec![
        ("feature-count-reduce", "ffffffffffffffff\t1".to_owned()),
        ("feature-sample-reduce", "fff\tffffffffffffffff\t1".to_owned()),
        ("feature-order", "-\t3".to_owned()),
        ("idf-table", "-\t3".to_owned()),
        ("idf-left-reduce", "ffffffffffffffff\t0".to_owned()),
        ("idf-right-reduce", "z\t0\t-".to_owned()),
        ("sample-documents-reduce", "ffffffffffffffff\tz\t{}".to_owned()),
        ("site-left-reduce", "ffffffffffffffff\t1\tz".to_owned()),
        ("equal-sets-reduce", format!("ffffffffffffffff\tz\t{set}")),
        ("equal-fingerprints-reduce", "ffffffffffffffff\t3\t-\tz".to_owned()),
        ("text-left", "z\t0\ttext".to_owned()),
        ("text-right --check edit:0.5", "z\t0\ttext".to_owned()),
        ("query-parts", format!("z\t{set}")),
        ("hamming-index-reduce", format!("4.1.0000\t{set}{set}\tz\t{set}\t3")),
        ("index-term-reduce", "ffffffffffffffff\tz\t3".to_owned()),
        ("pcp-reduce", "y\tz\t1\t2\t2".to_owned()),
        ("verify-left-reduce", format!("z\t0\t{set}")),
        ("verify-right-reduce", format!("z\t0\t{set}")),
        ("lsh-bands-reduce", "ffffffffffffffff\tz\t3".to_owned()),
        ("band-filter-reduce", "0000000117\t0d00017bfa".to_owned()),
        ("match-left-reduce", "z\t0\t3\t00000001".to_owned()),
        ("match-right-reduce", "z\t0\t3\t00000001".to_owned()),
        ("slice-plan", "0000000007\t1".to_owned()),
        ("index-doc-reduce", format!("0000000007\t0000000001\tz\t{set}")),
        ("expand-left-reduce", "y\t1\tz\t1\t2\t2".to_owned()),
        ("expand-right-reduce", "y\t1\tz\t1\t2\t2".to_owned()),
        ("large-star-reduce", "z\ty".to_owned()),
        ("small-star-reduce", "z\ty".to_owned()),
        ("star-rank-reduce", "z\t0\ty".to_owned()),
        ("star-link-reduce", "z\t0\t\ty\ta".to_owned()),
        ("star-reduce", "y\t0\t\tz\tz\tx".to_owned()),
        ("star-sets-reduce", format!("z\t1\t{set}")),
        ("star-bands-reduce", format!("y\t0\t\tz\tz\t{set}")),
        ("star-centres-reduce", format!("y\t0\t\tz\tz\t{set}")),
        ("star-fingerprints-reduce", "y\t0\t\tz\tz\t\\#\t00000000000000ff\t3".to_owned()),
        ("cluster-reduce", "2\ty\tz".to_owned()),
        ("keep-rank-reduce", "z\t0\ty".to_owned()),
        ("keep-best", format!("y\t1\tz\tz\t{set}")),
        ("keep-choose", "y\t0\tz\t1\ty".to_owned()),
    ]
}

/// The stage of a command line.
pub fn name_of(command: &'static str) -> &'static str {
    command.split(' ').next().unwrap()
}

/// A reducer that is given rows out of order would miss groups in silence: it says which sort it needs.
#[test]
fn every_reducer_refuses_unsorted_rows() {
    let sorted = STAGES.iter().filter(|e| e.input.keys.is_some_and(|keys| keys.sort > 0));
    let reducers: BTreeSet<_> =
        sorted.filter(|e| e.decl.role == twinsplit_rows::stage::Role::Reduce).map(|e| e.decl.name).collect();
    let rows = self::reducers();
    assert_eq!(reducers, rows.iter().map(|row| name_of(row.0)).collect());
    let here = Place::new();
    for (command, row) in rows {
        let name = name_of(command);
        let line = STAGES.iter().find(|entry| entry.decl.name == name).and_then(|entry| entry.sort_line());
        let message = format!("put `{}` before {name}", line.unwrap());
        let keys = STAGES.iter().find(|entry| entry.decl.name == name).and_then(|entry| entry.input.keys);
        let option = format!("on Hadoop -D stream.num.map.output.key.fields={}", keys.unwrap().sort);
        // `!` is below every letter and digit.
        here.with(command, format!("{row}\n!{row}\n"), &[])
            .fails(1, &[name, "standard input, line 2", &message, &option]);
        here.with(command, format!("{row}\n"), &[]).ok();
    }
}

/// Rows that are well-formed one by one, but that no stage of ours writes: read twice, mixed, or invented. Sums over
/// them would be a wrong answer, or more than a number holds.
#[test]
fn rows_that_cannot_belong_together_are_refused() {
    let here = Place::new();
    let (feature, most) = ("00000000000000aa", u64::MAX);
    for (stage, rows, place) in [
        ("pcp-reduce", "a\tb\t2\t3\t4\na\tb\t2\t3\t4\n".to_owned(), "line 2, field count: "),
        (
            "pcp-reduce",
            format!("a\tb\t1\t{most}\t{most}\na\tb\t{most}\t{most}\t{most}\n"),
            "line 2, field count: ",
        ),
        ("pcp-reduce", "a\tb\t0\t3\t4\n".to_owned(), "line 1, field count: expected at least 1"),
        ("pcp-reduce", "a\tb\t1\t3\t4\na\tb\t1\t3\t5\n".to_owned(), "more than one document"),
        ("feature-count-reduce", format!("{feature}\t{most}\n{feature}\t1\n"), "line 2, field documents: "),
        ("feature-order", format!("-\t{most}\n-\t1\n"), "line 2, field documents: "),
        (
            "feature-sample-reduce",
            format!("000\t{feature}\t{most}\n000\t{feature}\t1\n"),
            "line 2, field documents: ",
        ),
        (
            "idf-right-reduce",
            format!("a\t0\t-\na\t1\t{feature}\na\t1\t{feature}\n"),
            "line 3, field feature: ",
        ),
        ("idf-right-reduce", format!("a\t1\t{feature}\n"), "line 1, field id: "),
        ("slice-plan", "0000000007\t0\n".to_owned(), "line 1, field sets: "),
        ("slice-plan", format!("0000000007\t{most}\n"), "line 1, field sets: "),
        ("slice-plan", format!("0000000007\t{}\n0000000007\t1\n", 1u64 << 40), "line 2, field sets: "),
        ("slice-plan", format!("{most}\t1\n"), "line 1, field size: "),
        ("slice-plan", "1000000000\t1000000000\n".to_owned(), "raise --slice-memory"),
        ("expand-left-reduce", "a\t1\tb\t5\t4\t9\n".to_owned(), "line 1, field overlap: "),
        ("expand-right-reduce", "a\t1\tb\t5\t9\t4\n".to_owned(), "line 1, field overlap: "),
        ("expand-right", "a\t1\tb\t5\t9\t4\n".to_owned(), "line 1, field overlap: "),
        (
            "index-term-reduce",
            format!("{feature}\ta\t3\n{feature}\tb\t3\t0\t1\n"),
            "line 2, field position: ",
        ),
    ] {
        here.with(stage, rows, &[]).fails(1, &[stage, place]);
    }
    here.say("slice-plan --slices 1000001").fails(2, &["--slices"]);
}

/// A side file that is missing, half copied or another one gives a wrong answer or a word about it.
#[test]
fn side_files_must_be_whole_and_of_their_kind() {
    let here = Place::new();
    let tiny = fixture("documents/tiny.jsonl").display().to_string();
    let made = format!(
        "export TWINSPLIT_FEATURES=words:2; tokenize --input {tiny} > sets; \
         feature-count < sets | LC_ALL=C sort | feature-count-reduce > counts; \
         feature-order --idf 0.1,0.95 < counts > good-order; idf-table < counts > good-idf-table; \
         size-count < sets | LC_ALL=C sort | slice-plan --slices 1 > good-plan; \
         index-doc --plan good-plan < sets | LC_ALL=C sort | index-doc-reduce > good-index"
    );
    here.shell(&made).ok();
    let order = here.read("good-order");
    for (stage, option, kind) in [
        ("idf-filter", "order", "order"),
        ("idf-left", "order", "order"),
        ("index-term --pcp prefix", "order", "order"),
        ("index-doc", "plan", "plan"),
        ("docsplit-query", "index", "slice"),
        ("feature-order", "idf-table", "idf-table"),
    ] {
        let made_of = [("TWINSPLIT_FEATURES", "words:2")];
        let use_it = |file: &str| here.with(&format!("{stage} --{option} {file}"), "", &made_of);
        let good = format!("good-{option}");
        use_it(&good).ok();
        let text = here.read(&good);
        here.write("half", &text[..text.len() - 10]);
        use_it("half").fails(1, &["half: it is truncated or damaged", "make it again"]);
        here.say(&format!("{stage} --{option} {good}")).fails(
            1,
            &[&good, "made with --features words:2 where --features words:3 is asked for", "make it again"],
        );
        here.with(&format!("{stage} --{option} {good} --case-fold off"), "", &made_of)
            .fails(1, &[&good, "made with --case-fold on where --case-fold off is asked for"]);
        here.write("changed", text.replacen("\n", "\n0", 1));
        use_it("changed").fails(1, &["changed: "]);
        here.write("empty", "");
        use_it("empty").fails(1, &["empty: ", &format!("not a twinsplit {kind} file")]);
        use_it(&tiny).fails(1, &["tiny.jsonl: ", &format!("not a twinsplit {kind} file")]);
        let other = if kind == "order" { here.read("good-plan") } else { order.clone() };
        let is = if kind == "order" { "plan" } else { "order" };
        here.write("other", other);
        use_it("other").fails(1, &[&format!("other: it is a {is} file where a {kind} file is needed")]);
        here.write("newer", text.replacen("\t1", "\t2", 1));
        use_it("newer").fails(1, &["newer: it has version 2 where 1 is needed"]);
        if stage != "index-term --pcp prefix" {
            use_it("nowhere").fails(1, &["nowhere: ", stage, &format!("--{option}")]);
        }
    }
    here.write("clusters", "a\tb\n");
    here.say("write-kept").fails(1, &["clusters: line 1, field verdict", "make it again"]);
    // A plan of one corpus cannot say where a set of another belongs.
    let set = format!("a\t{}\n", (0..99).map(|n| format!("{n:016x}")).collect::<Vec<_>>().join(" "));
    here.with("index-doc --plan good-plan --features words:2", set, &[]).fails(
        1,
        &["index-doc: standard input, line 1, field features", "a size that the plan knows", "\"99\""],
    );
    here.shell(&format!("twinsplit idf --from {tiny} --output table --features words:2")).ok();
    let run = format!("--input {tiny} --output out --quiet --overwrite --idf 0.1,0.95 --idf-table table");
    for way in WAYS {
        here.say(&format!("twinsplit run {way} {run}")).fails(1, &["table: ", "--features words:2"]);
        here.say(&format!("twinsplit run {way} {run} --features words:2")).ok();
    }
}

/// An answer is not written over by a slip, and an error after the first file leaves none of them.
#[test]
fn an_answer_is_replaced_only_when_asked_and_never_left_in_part() {
    let here = Place::new();
    here.write("docs", jsonl(&[("a", "x y"), ("b", "x y")]));
    for way in WAYS {
        let run = run(way);
        here.say(&run).ok();
        let pairs = here.read("out/pairs.tsv");
        assert_eq!(pairs, "a\tb\t2\t2\t2\t1.000000\n");
        here.write("out/pairs.tsv", "mine\n");
        here.say(&run).fails(2, &["out exists and is not empty", "--overwrite"]);
        here.say(&format!("{run} --overwrite")).fails(2, &["out/pairs.tsv was changed after the run"]);
        assert_eq!(here.read("out/pairs.tsv"), "mine\n");
        here.write("out/pairs.tsv", &pairs);
        here.say(&format!("{run} --overwrite")).ok();
        assert_eq!(here.read("out/pairs.tsv"), pairs);
        // A run that fails when nearly all is done leaves the old answer as it was, and none of its own.
        let old = ["pairs.tsv", "clusters.tsv", "run.json"].map(|file| here.read(&format!("out/{file}")));
        here.say(&format!("{run} --max-pairs 0 --overwrite")).fails(1, &["--max-pairs"]);
        let now = ["pairs.tsv", "clusters.tsv", "run.json"].map(|file| here.read(&format!("out/{file}")));
        assert_eq!(now, old, "{way}");
        fs::remove_dir_all(here.path("out")).unwrap();
    }
    here.say(&run("doc-split")).ok();
    let said = here.say("twinsplit run doc-split --input nowhere --output out --overwrite");
    said.fails(1, &["nowhere: there is no such file"]);
    assert!(here.path("out/pairs.tsv").exists(), "the old answer goes only when there is something to read");
    here.say("tokenize --input nowhere").fails(1, &["cannot open nowhere"]);
    here.say("twinsplit run doc-split --input docs --output docs").fails(1, &["docs"]);
}

/// A program that is missing is named, where it was looked for.
#[test]
fn a_missing_spark_is_named() {
    let here = Place::new();
    here.write("docs", jsonl(&[("a", "x")]));
    let said = here.shell(&format!("SPARK_HOME=/nowhere {}", run("doc-split --engine spark")));
    said.fails(1, &["/nowhere/bin/spark-submit", "is it installed"]);
    assert!(!here.path("out").exists());
}
