//! The binaries as someone at a shell meets them: help, defaults, names, the environment, closed pipes.

use crate::common::cli::{Place, jsonl};
use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::process::Command;
use twinsplit_rows::stage::Role;
use twinsplit_rows::stages::STAGES;

/// 3 of 7 words shared: a pair at 0.4 and none at 0.7.
const NEAR: [(&str, &str); 2] = [("x", "a b c d"), ("y", "a b c e f g")];
const NEAR_PAIR: &str = "x\ty\t3\t4\t6\t0.428571\n";

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The help is all that someone has who writes a job: what a stage does, its rows, how they are sorted.
#[test]
fn help_shows_what_the_declaration_says() {
    let here = Place::new();
    for entry in STAGES.iter() {
        let name = entry.decl.name;
        let help = words(&here.say(&format!("{name} --help")).ok());
        let mut expected = [entry.decl.about, entry.input.fields, entry.output.fields].join("\n");
        expected.extend(entry.sort_line().map(|line| format!("\n{line}")));
        for side in entry.decl.side {
            expected.push_str(&format!("\n--{}\n{}", side.option, side.about));
        }
        for line in expected.lines() {
            assert!(help.contains(&words(line)), "{name} --help lacks {line:?}: {help}");
        }
        let short = words(&here.say(&format!("{name} -h")).ok());
        assert!(short.starts_with(&words(entry.decl.about)), "{short}");
    }
}

/// In the list of commands each has a sentence of its own, which its help begins with.
#[test]
fn every_command_says_what_it_does() {
    let here = Place::new();
    let help = here.say("twinsplit --help").ok();
    let list = help.split_once("Commands:\n").and_then(|(_, rest)| rest.split_once("\n\n")).unwrap().0;
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
    let said =
        |name: &str| here.say(&format!("twinsplit help {name}")).ok().lines().next().unwrap().to_owned();
    let sentences: BTreeSet<String> = names.iter().map(|name| said(name)).collect();
    assert!(names.len() > 10, "{names:?}");
    assert_eq!(sentences.len(), names.len(), "{sentences:?}");
}

/// Notes of old are full of old names.
#[test]
fn names_of_old_lead_to_the_new_ones() {
    let here = Place::new();
    here.say("twinsplit shell --man m").fails(2, &["shell is called completions now"]);
    here.say("twinsplit corpus --documents 9").fails(2, &["corpus is called generate-corpus now"]);
    here.say("twinsplit run doc-split --paper 000").fails(2, &["--paper is called --preset now"]);
    assert!(!here.say("twinsplit shell-fish").err.contains("called"));
}

/// A stage needs no arguments; what it cannot do without is a file, and then it says which, and who makes it.
#[test]
fn every_stage_runs_on_its_defaults() {
    let required = [
        ("idf-filter", "order", "feature-order"),
        ("idf-left", "order", "feature-order"),
        ("index-doc", "plan", "slice-plan"),
        ("docsplit-query", "index", "index-doc"),
        ("hamming-index", "tables", "hamming-plan"),
        ("expand-pairs", "clustered", "cluster-reduce"),
        ("keep", "clustered", "cluster-reduce"),
        ("write-kept", "clusters", "keep-choose"),
    ];
    // What these compare of texts, or with what, has no default.
    let checked = [
        ("text-content", "--check", "edit:T"),
        ("text-right", "--check", "edit:T"),
        ("hamming-queries", "--queries", "as simhash writes them"),
        ("set-queries", "--queries", "as tokenize writes them"),
        ("lsh-queries", "--queries", "as tokenize writes them"),
    ];
    let here = Place::new();
    for entry in STAGES.iter() {
        let said = here.say(entry.decl.name);
        if let Some((name, option, words)) = checked.iter().find(|(name, _, _)| *name == entry.decl.name) {
            said.fails(2, &[name, option, words]);
            continue;
        }
        match required.iter().find(|(name, _, _)| *name == entry.decl.name) {
            Some((name, file, maker)) => {
                said.fails(1, &[&format!("error: {file}: {name}"), &format!("--{file}"), maker]);
            }
            None => {
                let out = said.ok();
                let sealed = ["feature-order", "slice-plan", "hamming-plan", "band-filter-reduce"]
                    .contains(&entry.decl.name);
                let expected = match entry.decl.name {
                    "feature-count" => "-\t0\n",
                    "feature-sample" => "-\t-\t0\n",
                    "hamming-count" => "0\t0\t-\n",
                    _ if sealed => out.as_str(),
                    _ => "",
                };
                assert_eq!(out, expected, "{}", entry.decl.name);
                assert!(!sealed || out.starts_with("#twinsplit\t") && out.contains("\n#end\t0\t"), "{out}");
            }
        }
    }
}

/// The defaults are those of the documentation: three words, 0.65.
#[test]
fn the_defaults_are_the_stated_ones() {
    let here = Place::new();
    let docs = jsonl(&[("a", "one two three four five six"), ("b", "one two")]);
    let sets = here.with("tokenize", &docs, &[]).ok();
    assert_eq!(
        sets,
        here.with("tokenize --features words:3 --normalise nfkc --case-fold on --marks drop", &docs, &[])
            .ok()
    );
    let sizes: Vec<_> =
        sets.lines().map(|row| row.split(['\t', ' ']).filter(|f| f.len() == 16).count()).collect();
    assert_eq!(sizes, [4, 0]);
    // 13 of 20, and 13 of 21.
    let parts = "a\tb\t13\t16\t17\na\tc\t13\t17\t17\n";
    assert_eq!(here.with("pcp-reduce", parts, &[]).ok(), "a\tb\t13\t16\t17\t0.650000\n");
}

/// One file can be all stages, which is how they reach the machines of a cluster.
#[test]
fn twinsplit_by_the_name_of_a_stage_is_that_stage() {
    let here = Place::new();
    std::fs::create_dir(here.path("bin")).unwrap();
    symlink(env!("CARGO_BIN_EXE_twinsplit"), here.path("bin/pcp-map")).unwrap();
    let list = "000000000000000a\t\\l\t0\t0\tplain\t2\t3\tx\t2\ty\n";
    let direct = here.run(Command::new(here.path("bin/pcp-map")), list).ok();
    assert_eq!(direct, "x\ty\t1\t3\t2\n");
    assert_eq!(direct, here.with("pcp-map", list, &[]).ok());
    here.write("list", list);
    let path = "PATH=$PWD/bin:/usr/bin:/bin; [[ $(command -v pcp-map) == $PWD/bin/pcp-map ]];";
    assert_eq!(here.shell(&format!("{path} pcp-map < list")).ok(), direct);
    assert!(words(&here.shell(&format!("{path} pcp-map --help")).ok()).starts_with("Pairs the postings"));
}

/// Under Hadoop options travel as variables, so each must mean what its option means, in stages and driver.
#[test]
fn options_come_from_the_environment() {
    let here = Place::new();
    let part = "x\ty\t3\t4\t6\n";
    assert_eq!(here.with("pcp-reduce", part, &[]).ok(), "");
    assert_eq!(here.with("pcp-reduce --tau 0.4", part, &[]).ok(), NEAR_PAIR);
    assert_eq!(here.with("pcp-reduce", part, &[("TWINSPLIT_TAU", "0.4")]).ok(), NEAR_PAIR);
    assert_eq!(here.with("pcp-reduce --tau 0.7", part, &[("TWINSPLIT_TAU", "0.4")]).ok(), "");

    here.write("docs", jsonl(&NEAR));
    let both = [("TWINSPLIT_TAU", "0.4"), ("TWINSPLIT_FEATURES", "words:1")];
    for way in
        ["doc-split", "term-split", "doc-split --engine pipes", "term-split --pcp prefix --engine pipes"]
    {
        for (options, variables, expected) in [
            ("--tau 0.4 --features words:1", &[][..], NEAR_PAIR),
            ("--features words:1", &[], ""),
            ("", &both, NEAR_PAIR),
            ("--tau 0.7", &both, ""),
        ] {
            let run = format!("twinsplit run {way} {options} --input docs --output out --overwrite --quiet");
            here.with(&words(&run), "", variables).ok();
            assert_eq!(here.read("out/pairs.tsv"), expected, "{run} {variables:?}");
        }
    }
    let run: serde_json::Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
    assert_eq!((&run["parameters"]["tau"], &run["engine"]), (&"0.7".into(), &"pipes".into()));
    here.with(
        "twinsplit run doc-split --input docs --output env --quiet",
        "",
        &[("TWINSPLIT_ENGINE", "pipes")],
    )
    .ok();
    assert!(here.read("env/run.json").contains("\"engine\": \"pipes\""));
}

/// A typing error in a variable would else be a default, and an answer to another question.
#[test]
fn an_unknown_variable_is_an_error() {
    let here = Place::new();
    here.write("docs", jsonl(&NEAR));
    let typo = [("TWINSPLIT_TUA", "0.4")];
    let lines = [
        "tokenize",
        "pcp-reduce --tau 0.4",
        "twinsplit stages",
        "twinsplit run doc-split --input docs --output out",
    ];
    for line in lines {
        here.with(line, "", &typo).fails(2, &["TWINSPLIT_TUA", "TWINSPLIT_TAU"]);
    }
    assert!(!here.path("out").exists());
    here.with("tokenize", "", &[("TWINSPLIT", "1"), ("OTHER_TUA", "1")]).ok();
    here.with("pcp-reduce", "", &[("TWINSPLIT_TAU", "4")]).fails(2, &["--tau", "4"]);
}

/// `… | head` is how people look at rows: no message, no failure.
#[test]
fn a_closed_pipe_ends_quietly() {
    let here = Place::new();
    let lines = (0..6_000).map(|n| format!("{{\"id\":{n},\"text\":\"a b c d e f g h i {n}\"}}\n"));
    here.write("docs", lines.collect::<String>());
    let long = here.shell("tokenize < docs").ok();
    assert!(long.len() > 1 << 19, "{} bytes fit into a pipe", long.len());
    for line in ["tokenize --input docs", "tokenize < docs", "tokenize < docs | index-term"] {
        let said = here.shell(&format!("{line} | head -1"));
        assert_eq!(said.err, "", "{line}");
        assert_eq!(said.ok().lines().count(), 1, "{line}");
    }
    for line in ["twinsplit stages", "twinsplit plan doc-split", "twinsplit --help", "pcp-map --help"] {
        let said = here.shell(&format!("{line} | true"));
        assert_eq!((said.code, &*said.err), (0, ""), "{line}");
    }
}

/// Under Hadoop a task whose reader is gone has failed, and must be repeated.
#[test]
fn a_closed_pipe_is_a_failure_under_hadoop() {
    let here = Place::new();
    let lines = (0..6_000).map(|n| format!("{{\"id\":{n},\"text\":\"a b c d e f g h i {n}\"}}\n"));
    here.write("docs", lines.collect::<String>());
    let said = here.shell("export mapreduce_task_attempt_id=1; tokenize < docs | head -1");
    said.fails(1, &["cannot write a standard stream"]);
}

/// Rows in any order and any division: a mapper's shares together are the whole.
#[test]
fn the_shares_of_a_mapper_are_the_whole() {
    let here = Place::new();
    let lines =
        (0..3_000).map(|n| format!("{{\"id\":\"{n:04}\",\"text\":\"a b c d e {n} {}\"}}\n", "z ".repeat(20)));
    here.write("docs", lines.collect::<String>());
    let sorted = |text: String| {
        let mut rows: Vec<_> = text.lines().map(str::to_owned).collect();
        rows.sort();
        rows
    };
    let whole = sorted(here.say("tokenize --input docs").ok());
    assert_eq!(whole.len(), 3_000);
    let shares: Vec<_> =
        (0..3).map(|k| here.say(&format!("tokenize --input docs --split {k}/3")).ok()).collect();
    assert!(shares.iter().all(|share| !share.is_empty()), "three tasks have work");
    assert_eq!(sorted(shares.concat()), whole);
    here.say("tokenize --input docs --split 3/3").fails(2, &["--split", "K below N"]);
    let reducers = STAGES.iter().filter(|entry| entry.decl.role == Role::Reduce);
    for entry in reducers {
        here.say(&format!("{} --split 0/2", entry.decl.name)).fails(2, &["--split"]);
    }
}
