//! The programs of jobs/spark under a real spark-submit with two cores: their answers are those of the engine `local`,
//! byte for byte, and what goes wrong is said. All run in one Spark session, whose start takes longer than they do.

mod session;

use crate::common::ccdet;
use crate::common::cli::{Place, binaries, fixture, search_path};
use crate::common::harness::{bash, clean};
use crate::common::odd;
use crate::common::spark::{confs, spark_home};
use crate::common::stages::{SAMPLE_STAGES, assert_all_ran, stages_of};
use crate::common::tutorial::follow;
use serde_json::Value;
use session::{DOCUMENTS, PLACE, assert_same, counters, local, said, sorted};
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// The committed program.
const COMMITTED: [&str; 1] = ["doc-split"];

/// All programs over [`DOCUMENTS`]: the committed ones, and what `plan` prints for these options.
const VARIANTS: [&str; 4] = ["term-split", "term-split-prefix", "doc-split", "doc-split-by-task"];
const SIMHASH: &str = "simhash --features words:2 --weights levels --distance 20,200:24 --check edit:0.4";
const STARS_OF_FINGERPRINTS: &str = "simhash --features words:2 --distance 20 --write clusters";
const MINHASH: &str =
    "minhash --features words:2 --bands 32 --rows 4 --similarity dice --tau 0.6 --bloom 1 --write clusters";
const COSINE: &str = "doc-split --features words:2 --similarity cosine --tau 0.6";
const STARS: &str = "term-split --pcp prefix --features words:2 --tau 0.5 --graph 20 --write clusters";
const OVERLAP: &str = "term-split --pcp prefix --features words:2 --similarity overlap --tau 8";
const SIGNATURES: &str = "minhash --features words:2 --bands 32 --rows 4 --tau 0.5 --check signature";
const I_MATCH: &str = "i-match --lexicons 40 --idf 0.1,0.95 --idf-lookup shuffle";
const CCDET: &str = "ccdet --tau 0.5 --cluster star --site url --idf 0.1,0.95 --graph 0";
/// Queries and documents of odd names.
const QUERIES: [(&str, &str); 3] = [
    ("hamming-queries", "simhash --features words:2 --distance 3,200:8 --queries odd"),
    (
        "set-queries",
        "doc-split --features words:2 --tau 0.5 --similarity query-containment --idf 0.05,1 --idf-lookup shuffle --queries odd",
    ),
    ("lsh-queries", "minhash --features words:2 --tau 0.5 --bands 32 --rows 4 --query-parts 3 --queries odd"),
];
const PLANNED: [(&str, &str); 15] = [
    ("term-split", "term-split"),
    ("term-split-prefix", "term-split --pcp prefix"),
    ("doc-split-by-task", "doc-split --partition by-task --slices 3"),
    ("simhash", SIMHASH),
    ("fingerprints", STARS_OF_FINGERPRINTS),
    ("minhash", MINHASH),
    ("signatures", SIGNATURES),
    ("cosine", COSINE),
    ("stars", STARS),
    ("overlap", OVERLAP),
    ("i-match", I_MATCH),
    QUERIES[0],
    QUERIES[1],
    QUERIES[2],
    ("ccdet", CCDET),
];

/// The words of `plan` for such options.
fn plan_words(options: &str) -> String {
    let kept = if options.contains("--queries") { "" } else { " --write-kept" };
    format!("{options} --engine spark{kept}")
}

#[test]
fn all_variants_give_the_answer_of_a_run() {
    local("term-split --write-kept", &DOCUMENTS, "expected").ok();
    for variant in VARIANTS {
        let said = said(variant);
        assert_eq!(said.code, 0, "{}", said.err);
        assert_same(variant, "expected", 20);
    }
    let left = fs::read_dir(PLACE.join("doc-split")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut left: Vec<_> = left.filter(|name| !name.to_string_lossy().starts_with('.')).collect();
    left.sort();
    assert_eq!(left, ["clusters", "counters.json", "kept", "pairs"]);
}

/// Fingerprints and the texts of near ones, and stars of fingerprints: the bytes of a local run.
#[test]
fn simhash_gives_the_answer_of_a_run() {
    for (name, options) in [("simhash", SIMHASH), ("fingerprints", STARS_OF_FINGERPRINTS)] {
        let expected = format!("expected-{name}");
        local(&format!("{options} --write-kept"), &DOCUMENTS, &expected).ok();
        let said = said(name);
        assert_eq!(said.code, 0, "{}", said.err);
        assert_same(name, &expected, 20);
    }
}

/// Signatures, with a filter of keys before the shuffle, and compared with one another; similarities beside Jaccard: the bytes of a
/// local run.
#[test]
fn signatures_and_other_similarities_give_the_answer_of_a_run() {
    let all = [
        ("minhash", MINHASH),
        ("signatures", SIGNATURES),
        ("cosine", COSINE),
        ("stars", STARS),
        ("overlap", OVERLAP),
    ];
    for (name, options) in all {
        let expected = format!("expected-{name}");
        local(&format!("{options} --write-kept"), &DOCUMENTS, &expected).ok();
        let said = said(name);
        assert_eq!(said.code, 0, "{}", said.err);
        assert_same(name, &expected, 20);
    }
}

/// Lexicons of the features in an IDF range: the bytes of a local run.
#[test]
fn i_match_gives_the_answer_of_a_run() {
    local(&format!("{I_MATCH} --write-kept"), &DOCUMENTS, "expected-i-match").ok();
    let said = said("i-match");
    assert_eq!(said.code, 0, "{}", said.err);
    assert_same("i-match", "expected-i-match", 20);
}

/// Queries: the bytes of a local run.
#[test]
fn queries_give_the_answer_of_a_run() {
    for (name, options) in QUERIES {
        let answer = format!("expected-{name}");
        local(options, &["odd", "plain.jsonl"], &answer).ok();
        let said = said(name);
        assert_eq!(said.code, 0, "{}", said.err);
        let expected = sorted(&PLACE.join(answer).join("pairs.tsv"));
        assert!(expected.len() > 50, "{name}: {}", expected.len());
        assert!(sorted(&PLACE.join(name).join("pairs")) == expected, "{name}: pairs differ");
        assert!(!PLACE.join(name).join("clusters").exists() && !PLACE.join(name).join("_work").exists());
    }
}

/// CCDet on pages of sites: the bytes of a local run, and of brute force.
#[test]
fn ccdet_equals_brute_force() {
    local(&format!("{CCDET} --write-kept"), &["pages"], "pages-expected").ok();
    let answer = ccdet::expected("0.5", true, Some("0.1,0.95"));
    let written = ["pairs.tsv", "clusters.tsv"].map(|file| PLACE.join("pages-expected").join(file));
    assert_eq!(written.map(|path| fs::read_to_string(path).unwrap()), [answer.pairs, answer.clusters]);
    let said = said("ccdet");
    assert_eq!(said.code, 0, "{}", said.err);
    assert_same("ccdet", "pages-expected", 20);
}

/// The runs above are such that each stage has its turn.
#[test]
fn every_stage_runs() {
    let mut ran = BTreeSet::new();
    for (name, options) in PLANNED.iter().chain(&[("doc-split", "doc-split")]) {
        ran.extend(stages_of(&plan_words(options), counters(name).keys().map(String::as_str)));
    }
    // The driver's own: a_run_has_the_answer_and_its_report.
    ran.extend(SAMPLE_STAGES.map(str::to_owned));
    assert_all_ran(&ran);
}

/// A page that another version made is refused by name.
#[test]
fn a_page_of_another_version_is_refused() {
    let version = env!("CARGO_PKG_VERSION");
    said("other-version")
        .fails(1, &["made by twinsplit 0.0.9", &format!("is of {version}"), "twinsplit plan term-split"]);
    nothing_is_finished("other-version");
}

/// An old answer stays until the new one is complete, and what no run recorded stays as it is.
#[test]
fn only_what_a_run_recorded_is_replaced() {
    said("slip").fails(1, &["step tokenize"]);
    let old = |name: &str| fs::read_to_string(PLACE.join("slip").join(name)).unwrap();
    assert!(old("pairs.tsv") == "old" && old("clusters.tsv") == "old" && old("run.json").contains("outputs"));
    said("foreign").fails(2, &["foreign/pairs stands in the way"]);
    said("theirs").fails(2, &["theirs/_work was made by no run"]);
    for file in ["foreign/pairs/part-00000", "theirs/_work/file"] {
        assert_eq!(fs::read_to_string(PLACE.join(file)).unwrap(), "mine");
    }
}

/// Each task counts once, and what mappers write is what reducers read.
#[test]
fn counters_are_those_of_a_run() {
    local("term-split --write-kept", &DOCUMENTS, "counted").ok();
    let run: Value = serde_json::from_slice(&fs::read(PLACE.join("counted/run.json")).unwrap()).unwrap();
    let found = counters("term-split");
    let mut compared = 0;
    for (step, counters) in run["counters"].as_object().unwrap() {
        let there = &found[step];
        // What mappers add up before they write depends on their number, as memory does.
        for name in ["map_records_in", "reduce_records_out", "documents", "pairs", "clusters"] {
            if !counters[name].is_null() {
                assert_eq!(there[name], counters[name], "{step} {name}");
                compared += 1;
            }
        }
    }
    assert!(compared > 12, "{compared}");
}

#[test]
fn odd_ids_texts_and_files_are_read_as_by_a_run() {
    said("odd").fails(1, &["the input names ", "a,b{c}[d].jsonl twice"]);
    let again = said("odd-again");
    assert_eq!(again.code, 0, "{}", again.err);
    local("doc-split --write-kept", &["odd"], "odd-expected").ok();
    // One document of all that are alike is kept, and the empty ones.
    assert_same("odd-out", "odd-expected", 7);
}

/// What the engine local refuses is refused with the same words, and nothing looks finished.
#[test]
fn bad_documents_are_refused_as_by_a_run() {
    for odd::Refused { name, stage, words, .. } in odd::refused() {
        let expected = local("term-split", &[name], "refused").fails(1, &[stage, words]);
        // Behind the words stands what was found, or where; tasks know no names of files.
        let found = expected.split_once("found ").map(|(_, found)| found.trim());
        said(name).fails(1, &[words, found.unwrap_or_default(), stage, "ended with code 1", "task "]);
        nothing_is_finished(name);
    }
    for (bad, word) in [("cut.jsonl.gz", "truncated"), ("damaged.jsonl.gz", "damaged")] {
        local("term-split", &[bad], "refused").fails(1, &[word]);
        said(bad).fails(1, &["step tokenize", bad]);
        nothing_is_finished(bad);
    }
    said("absent").fails(1, &["absent.jsonl: there is no such file or folder"]);
}

#[track_caller]
fn nothing_is_finished(name: &str) {
    let output = PLACE.join(format!("out-{name}"));
    for made in ["pairs", "clusters", "counters.json", "_work/clusters", "_work/pairs"] {
        assert!(!output.join(made).exists(), "{name} left {made}");
    }
}

/// However a stage ends, the job fails with what it said; its full pipes hold nobody up.
#[test]
fn a_stage_that_dies_fails_its_job() {
    said("killed").fails(1, &["step tokenize: task ", "tokenize was ended by signal 9"]);
    nothing_is_finished("killed");
    said("unknown").fails(2, &["TWINSPLIT_TUA is not an option of any stage"]);
    nothing_is_finished("unknown");
}

#[test]
fn a_guard_stops_and_a_stopped_run_goes_on() {
    // With a cut, it is a step that counts the postings, as under Spark.
    local("term-split --df-cut 1000000000 --max-pairs 3", &["tiny.jsonl"], "refused-guard")
        .fails(1, &["index-term: ", "(the limit is 3)"]);
    said("guarded").fails(1, &["index-term: ", "pairs of postings", "(the limit is 3)"]);
    said("begun").fails(1, &["holds a run that was stopped", "--resume"]);
    said("other-tau").fails(1, &["TWINSPLIT_TAU was not given and is 0.4"]);
    said("other-script").fails(1, &["the script has changed"]);
    said("other-input").fails(1, &["the input ", "plain.jsonl was not there"]);
    let resumed = said("resumed");
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    assert!(resumed.err.contains("index-term: finished before"), "{}", resumed.err);
    assert!(resumed.err.contains("pcp-map: Pairs the postings"), "{}", resumed.err);
    local("term-split --write-kept", &["tiny.jsonl"], "resumed-expected").ok();
    assert_same("resumed", "resumed-expected", 1);
    let complete = said("complete");
    assert!(complete.code == 0 && complete.err.contains("holds the complete answer"), "{}", complete.err);
}

/// A slice that is gone would leave out pairs in silence.
#[test]
fn a_lost_slice_is_missed() {
    said("slices").fails(1, &["expand-pairs: ", "(the limit is 0)"]);
    said("lost").fails(1, &["docsplit-query: ", "slices", "remove it"]);
    assert!(!PLACE.join("lost/clusters").exists());
}

/// Whoever reads the second line of a program can make the program.
#[test]
fn plan_prints_the_committed_programs() {
    for name in COMMITTED {
        let text = fs::read_to_string(fixture("../jobs/spark").join(format!("{name}.py"))).unwrap();
        let title = text.lines().nth(1).and_then(|line| line.strip_prefix("# ")).unwrap();
        assert!(title.contains(" --engine spark ") && title.ends_with(" --write-kept"), "{title}");
        let said = Place::new().say(title).ok();
        assert_eq!(said, text, "{name}");
    }
    let auto = Place::new().say("twinsplit plan doc-split --engine spark --id auto");
    auto.fails(2, &["--id auto", "name the field that holds the ids"]);
}

/// The commands of docs/spark.md, as they stand there, and what they print.
#[test]
fn the_tutorial_can_be_followed() {
    let text = fs::read_to_string(fixture("../docs/spark.md")).unwrap();
    let place = Place::new();
    let home = spark_home();
    fs::create_dir(place.path("conf")).unwrap();
    place.write("conf/spark-defaults.conf", confs().join("\n"));
    let done = follow(&text, |lines| {
        let mut command = bash();
        command.args(["-c", &format!("set -euo pipefail\n{lines}")]).env("SPARK_HOME", &home);
        command.env("PATH", format!("{}:{}", home.join("bin").display(), search_path()));
        command.env("SPARK_CONF_DIR", place.path("conf")).env("SPARK_LOCAL_IP", "127.0.0.1");
        place.run(command, "")
    });
    assert_eq!(done, (5, 5));
}

/// The driver runs the program that `plan` prints, and reports as it does of other engines.
#[test]
fn a_run_has_the_answer_and_its_report() {
    let place = Place::new();
    fs::copy(fixture("documents/tiny.jsonl"), place.path("tiny.jsonl")).unwrap();
    let run_chain = |chain: &[&str], engine: &str, output: &str, more: &[&str]| {
        let mut command = clean(Command::new(binaries().join("twinsplit")));
        command.arg("run").args(chain).args([
            "--features",
            "words:2",
            "--tau",
            "0.5",
            "--input",
            "tiny.jsonl",
        ]);
        command.args(["--engine", engine, "--output", output]).args(more);
        command.env("SPARK_HOME", spark_home()).env("SPARK_LOCAL_IP", "127.0.0.1");
        place.run(command, "")
    };
    let run = |engine: &str, more: &[&str]| run_chain(&["doc-split"], engine, engine, more);
    run("local", &["--quiet"]).ok();
    let confs: Vec<String> = confs().iter().flat_map(|conf| ["-D".to_owned(), (*conf).to_owned()]).collect();
    let mut more: Vec<&str> = confs.iter().map(String::as_str).collect();
    more.extend(["-D", "spark.master=local[2]", "--reducers", "2", "--json"]);
    let printed = run("spark", &more).ok();
    let report: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(report["engine"], "spark");
    let pairs = sorted(&place.path("local/pairs.tsv")).len();
    assert_eq!(report["counters"]["expand-pairs"]["pairs"], pairs);
    assert_eq!(place.read("spark/run.json"), printed);
    for (data, file) in [("pairs", "pairs.tsv"), ("clusters", "clusters.tsv")] {
        let lines = sorted(&place.path(&format!("local/{file}")));
        assert!(!lines.is_empty() && sorted(&place.path(&format!("spark/{data}"))) == lines, "{data}");
    }
    more.push("--resume");
    // With --json there is no sentence, but what was printed before.
    assert_eq!(run("spark", &more).ok(), printed);
    // The sample by which bands are chosen is drawn there, and nothing of it is left.
    more.pop();
    let recall = ["minhash", "--recall", "0.9"];
    run_chain(&recall, "local", "by-recall", &["--quiet"]).ok();
    let report: Value = serde_json::from_str(&run_chain(&recall, "spark", "there", &more).ok()).unwrap();
    let chosen: Value = serde_json::from_str(&place.read("by-recall/run.json")).unwrap();
    for option in ["bands", "rows", "hashes"] {
        assert_eq!(report["parameters"][option], chosen["parameters"][option], "{option}");
    }
    assert!(sorted(&place.path("there/pairs")) == sorted(&place.path("by-recall/pairs.tsv")));
    assert!(place.names(".").iter().all(|name| !name.contains("sample")), "{:?}", place.names("."));
}
