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
    here.with(&format!("{RUN} --overwrite"), "", &[("TWINSPLIT_PCP", "prefix")]).ok();
    assert_eq!(chain(&here), "term-split");
    // The answer is that of the chain: the same command finds it complete, and another chain is another run.
    let again = here.with(&format!("{RUN} --resume"), "", &[("TWINSPLIT_PCP", "prefix")]);
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
