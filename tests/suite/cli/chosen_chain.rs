//! `twinsplit run` and `plan` without the name of a chain.

use crate::common::cli::{Place, jsonl};

const RUN: &str = "twinsplit run --input docs --features words:1 --tau 0.25 --output out";

fn place() -> Place {
    let here = Place::new();
    here.write("docs", jsonl(&[("a", "x y"), ("b", "x y z"), ("c", "v w")]));
    here
}

fn chain(here: &Place) -> String {
    let run: serde_json::Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
    run["chain"].as_str().unwrap().to_owned()
}

/// Doc-Split, unless an option asks for what Term-Split alone has; which it is, is said and written down.
#[test]
fn a_run_takes_the_chain_that_suits_its_options() {
    let here = place();
    for (options, taken, why) in [
        ("", "doc-split", "doc-split is taken\n"),
        ("--engine pipes", "doc-split", "doc-split is taken\n"),
        ("--slices 1", "doc-split", "doc-split is taken\n"),
        ("--pcp prefix", "term-split", "term-split is taken, for it alone has --pcp\n"),
        ("--df-cut 9 --engine pipes", "term-split", "term-split is taken, for it alone has --df-cut\n"),
        ("--accumulators 9", "term-split", "term-split is taken, for it alone has --accumulators\n"),
    ] {
        let said = here.say(format!("{RUN} --overwrite {options}").trim_end());
        assert!(said.err.contains(&format!("note: no chain is named, so {why}")), "{options}: {}", said.err);
        said.ok();
        assert_eq!(chain(&here), taken, "{options}");
        assert_eq!(here.read("out/pairs.tsv"), "a\tb\t2\t2\t3\t0.666667\n", "{options}");
    }
    let quiet = here.say(&format!("{RUN} --overwrite --quiet"));
    assert!(!quiet.err.contains("note:"), "{}", quiet.err);
    quiet.ok();
    // A variable that was set for something else makes no run approximate.
    for (name, value) in [("TWINSPLIT_PCP", "prefix"), ("TWINSPLIT_DISTANCE", "3"), ("TWINSPLIT_BANDS", "4")]
    {
        here.with(&format!("{RUN} --overwrite"), "", &[(name, value)]).ok();
        assert_eq!(chain(&here), "doc-split", "{name}");
    }
    here.say(&format!("{RUN} --overwrite --pcp prefix")).ok();
    assert_eq!(chain(&here), "term-split");
    // The answer is that of the chain: the same command finds it complete, and another chain is another run.
    let again = here.say(&format!("{RUN} --resume --pcp prefix"));
    assert!(again.err.contains("complete answer"), "{}", again.err);
    again.ok();
    here.say(&format!("{RUN} --resume")).fails(2, &["chain was term-split and is doc-split"]);
    let named = here.say(&RUN.replace("run", "run doc-split --overwrite"));
    assert!(!named.err.contains("no chain is named"), "{}", named.err);
    named.ok();
}

#[test]
fn a_plan_takes_the_chain_that_suits_its_options() {
    let here = place();
    for (options, chain) in
        [("", "doc-split"), ("--pcp prefix", "term-split"), ("--engine hadoop", "doc-split")]
    {
        let said = here.say(format!("twinsplit plan {options}").trim_end());
        assert!(said.err.contains(&format!("so {chain} is taken")), "{}", said.err);
        assert_eq!(said.ok(), here.say(format!("twinsplit plan {chain} {options}").trim_end()).ok());
    }
}

/// A name after `--input` is one of its files.
#[test]
fn a_chain_that_stands_among_the_inputs_is_named() {
    let here = place();
    let line = "twinsplit run --output out --features words:1 --input docs doc-split";
    here.say(line).fails(1, &["doc-split: there is no such file", "comes before --input"]);
    assert!(!here.path("out").exists());
}

/// Each command refuses an option that its chain does not use, with its default too, and says what to do; in the environment it is no
/// mistake.
#[test]
fn an_option_that_is_not_used_is_an_error() {
    let here = place();
    here.say("twinsplit run doc-split --input docs --features words:1 --tau 0.25 --output out --quiet").ok();
    here.say("twinsplit run simhash --input docs --features words:1 --output prints --quiet").ok();
    let run = "--input docs --output other";
    for (line, words) in [
        (
            format!("run simhash --tau 0.7 {run}"),
            &["simhash does not use --tau here, and ", "leave it out"][..],
        ),
        (
            format!("run simhash --similarity jaccard --idf 0,1 {run}"),
            &["--idf or --similarity", "leave them out"],
        ),
        (
            format!("run doc-split --bits 64 {run}"),
            &["doc-split does not use --bits here, and simhash does; take that chain"],
        ),
        (format!("run doc-split --idf-table out {run}"), &["it does with another --idf; give that"]),
        (
            format!("run --slices 3 --pcp prefix {run}"),
            &["term-split does not use --slices", "doc-split and ccdet do"],
        ),
        ("plan minhash --site url".to_owned(), &["minhash does not use --site here, and ccdet does"]),
        ("plan term-split --lexicons 11 --json".to_owned(), &["term-split does not use --lexicons"]),
        ("plan i-match --estimate --bands 2 --input docs".to_owned(), &["i-match does not use --bands"]),
        ("explain a b --run out --distance 3".to_owned(), &["doc-split does not use --distance"]),
        ("explain a b --run prints --tau 0.5".to_owned(), &["simhash does not use --tau"]),
        ("explain a b --input docs --check exact".to_owned(), &["doc-split does not use --check"]),
        ("tune --input docs --idf-table out".to_owned(), &["another --idf"]),
        ("tune --input docs --distances 3 --idf 0.1,1".to_owned(), &["simhash does not use --idf"]),
        (
            format!("run simhash --queries docs --similarity containment --tau 0.5 {run}"),
            &["simhash does not use --similarity or --tau here, and doc-split, "],
        ),
    ] {
        here.say(&format!("twinsplit {line}")).fails(2, words);
        assert!(!here.path("other").exists(), "{line}");
    }
    for (variable, value, line) in [
        ("TWINSPLIT_TAU", "0.5", format!("run simhash {run} --overwrite")),
        ("TWINSPLIT_BITS", "128", format!("run doc-split {run} --overwrite")),
        ("TWINSPLIT_SITE", "url", "plan minhash --json".to_owned()),
        ("TWINSPLIT_LEXICONS", "3", "explain a b --run out".to_owned()),
        ("TWINSPLIT_IDF", "0.1,1", "tune --input docs --distances 3 --kinds words:1".to_owned()),
    ] {
        here.with(&format!("twinsplit {line}"), "", &[(variable, value)]).ok();
    }
    let said =
        here.with(&format!("twinsplit run simhash {run} --overwrite"), "", &[("TWINSPLIT_TAU", "0.5")]);
    assert!(said.err.contains("simhash does not use --tau, which the environment gives"), "{}", said.err);
    // A bound of tasks goes with a command line from engine to engine, and is said to bind nothing in one process.
    let said = here.say(&format!("twinsplit run doc-split --graph 5 {run} --overwrite"));
    assert!(said.err.contains("--graph is for the tasks of other engines"), "{}", said.err);
    said.ok();
}
