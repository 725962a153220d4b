//! Chains as jobs of Hadoop Streaming, without a cluster: Hadoop's own splits, sort, partitions and committer, one task
//! after the other in one process (LocalJobRunner). What needs YARN is in `cluster_chains.rs`.

use crate::common::chains::{assert_same, families};
use crate::common::cli::{Place, Said};
use crate::common::cluster::{hadoop_home, with_hadoop};
use crate::common::tutorial::follow;

/// Three maps and two reducers at least, as many as there are files and more.
const TASKS: &str = "--reducers 2 -D mapreduce.job.maps=3";

fn say(here: &Place, line: &str) -> Said {
    here.run(with_hadoop(&hadoop_home(), None, line), "")
}

/// Families of likenesses, equal pages, odd ids and odd texts, in two files, one of them gzip.
fn documents(here: &Place) {
    here.write("odd docs.jsonl", crate::common::chains::odd());
    here.write("families.jsonl", families());
    here.shell("mkdir docs && mv 'odd docs.jsonl' docs && gzip -c families.jsonl > docs/families.jsonl.gz")
        .ok();
    // A table of the user's whose name has no ending.
    here.shell("mkdir tables && twinsplit idf --from docs --features words:2 --output tables/table").ok();
}

/// A program that is ours and writes the size of its task's container, as the job has it, to the file `sizes`.
fn tells_its_size(here: &Place) {
    let program = env!("CARGO_BIN_EXE_twinsplit");
    let script = format!(
        "#!/usr/bin/env bash
        [[ -z ${{mapreduce_map_memory_mb:-}} ]] || echo $mapreduce_map_memory_mb >> {}
        exec -a ${{0##*/}} {program} \"$@\"",
        here.path("sizes").display()
    );
    here.write("telling", script);
    here.shell("chmod +x telling").ok();
}

fn equals_local(options: &str) {
    let here = Place::new();
    documents(&here);
    let line = format!("twinsplit run {options} --write-kept --quiet --input docs --output");
    say(&here, &format!("{line} local")).ok();
    tells_its_size(&here);
    say(
        &here,
        &format!(
            "BINARY=$PWD/telling {line} cluster --engine hadoop {TASKS} -D mapreduce.map.memory.mb=2345"
        ),
    )
    .ok();
    assert_same(&here, "local", "cluster");
    // What the user says of sizes counts.
    let sizes = here.read("sizes");
    assert!(sizes.lines().count() >= 10 && sizes.lines().all(|size| size == "2345"), "{sizes}");
    // What the driver tells of the run agrees with what it is.
    let run: serde_json::Value = serde_json::from_str(&here.read("cluster/run.json")).unwrap();
    let local: serde_json::Value = serde_json::from_str(&here.read("local/run.json")).unwrap();
    assert_eq!(
        run["counters"]["tokenize"]["documents"], local["counters"]["tokenize"]["documents"],
        "{options}"
    );
    let clusters = |run: &serde_json::Value| {
        let steps = run["counters"].as_object().unwrap().values();
        steps.filter_map(|step| step["clusters"].as_u64()).sum::<u64>()
    };
    assert_eq!(clusters(&run), clusters(&local));
    assert!(clusters(&run) > 5);
    assert!(!here.path("cluster/_work").exists());
}

#[test]
fn term_split_with_prefix_and_idf_equals_local() {
    equals_local(
        "term-split --features words:2 --pcp prefix --idf 0.05,1 --idf-table tables/table --tau 0.5 --cluster star --keep longest",
    );
}

#[test]
fn doc_split_in_slices_equals_local() {
    equals_local("doc-split --features words:2 --slices 3 --tau 0.5");
}

/// Plain, without pairs; in slices of tasks.
#[test]
#[ignore = "minutes; run by `make cluster-test-full`"]
fn full_the_other_ways_equal_local() {
    equals_local("term-split --features words:2 --tau 0.5 --write clusters");
    equals_local("doc-split --features words:2 --partition by-task --slices 2 --tau 0.5");
}

/// A step that fails leaves nothing that looks finished and shows what its task said; another run does not go on with
/// what it left; a bound that was met may be raised.
#[test]
fn a_job_that_fails_says_why_and_a_bound_may_be_raised() {
    let here = Place::new();
    let line = "twinsplit run doc-split --features words:1 --engine hadoop --quiet --input docs --output out";
    let (good, bad) = ("{\"id\":\"a\",\"text\":\"x y\"}\n", "{\"id\":\"b\",\"text\":3}\n");
    here.write("docs", format!("{good}{bad}"));
    let said = say(&here, line);
    said.fails(
        1,
        &["tokenize:", "docs, line 2, field text: expected a string", "the job tokenize failed", ".log"],
    );
    assert!(!here.path("out/clusters").exists() && !here.path("out/_work/sets").exists());
    say(&here, line).fails(1, &["holds a run that was stopped"]);
    let other = say(&here, &format!("{line} --tau 0.6 --resume"));
    other.fails(1, &["other options", "was: --tau 0.7", "is: --tau 0.6"]);

    say(&here, &format!("{line} --bad-records 1")).fails(2, &["--bad-records", "no place"]);
    here.write("docs", format!("{}{good}", good.replace('a', "c")));
    let line = format!("{line} --overwrite --max-pairs");
    say(&here, &format!("{line} 0")).fails(1, &["the limit is 0"]);
    assert!(!here.path("out/clusters").exists() && here.path("out/_work/half-expanded").exists());
    let again = format!("{line} 9").replace("--overwrite", "--resume");
    say(&here, &again).ok();
    assert_eq!(here.shell("cat out/pairs/part-*").ok(), "a\tc\t2\t2\t2\t1.000000\n");
    let said = say(&here, &again.replace("--quiet ", ""));
    assert!(said.err.contains("complete answer"), "{}", said.err);
    said.ok();
}

/// The commands of docs/hadoop.md, as they stand there, and what they print.
#[test]
#[ignore = "minutes; run by `make cluster-test`"]
fn the_tutorial_can_be_followed() {
    let page = std::fs::read_to_string(crate::common::cli::fixture("../docs/hadoop.md")).unwrap();
    let here = Place::new();
    assert_eq!(follow(&page, |lines| say(&here, lines)), (4, 10));
}
