//! Chains as jobs of Hadoop Streaming, without a cluster: Hadoop's own splits, sort, partitions and committer, one task
//! after the other in one process (LocalJobRunner). Every stage runs here; its jobs share that process where it does not
//! matter how it is started. What needs YARN is in `cluster/chains.rs`.

mod by_hand;
mod scripts;

use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Instant;

use serde_json::Value;

use crate::common::ccdet;
use crate::common::chains::{assert_same, families};
use crate::common::cli::{Place, Said, fixture};
use crate::common::cluster::{hadoop_home, with_hadoop};
use crate::common::command_server::CommandServer;
use crate::common::odd;
use crate::common::stages::{SAMPLE_STAGES, assert_all_ran, stages_of};
use crate::common::tutorial::follow;

/// Three maps and two reducers at least, for files are cut.
const TASKS: &str = "--reducers 2 -D fs.local.block.size=20000";

fn say(here: &Place, line: &str) -> Said {
    here.run(with_hadoop(&hadoop_home(), None, line), "")
}

/// The same where all of Hadoop's commands are done by one process.
fn say_by_server(here: &Place, line: &str) -> Said {
    here.run(with_hadoop(CommandServer::local().home(), None, line), "")
}

/// Families of likenesses, equal pages, odd ids, texts and files, some of them gzip.
fn documents(here: &Place) {
    std::fs::create_dir(here.path("docs")).unwrap();
    odd::accepted().iter().for_each(|(name, bytes)| here.write(&format!("docs/{name}"), bytes));
    here.write("docs/families.jsonl.gz", odd::gzip(families()));
    // A table of the user's whose name has no ending.
    here.shell("mkdir tables && twinsplit idf --from docs --features words:2 --output tables/table").ok();
}

/// Settings of a user or a cluster that would break a chain that heeded them, and values that a shell might change.
const ODD_SETTINGS: &str = "-D mapreduce.output.fileoutputformat.compress=true \
    -D mapreduce.fileoutputcommitter.algorithm.version=2 -D 'a.pattern=*?[a]' -D 'two.words=a  \"b'";

/// Writes a program that bash runs in the place of ours.
fn program(here: &Place, name: &str, lines: &str) {
    here.write(name, format!("#!/usr/bin/env bash\nours={}\n{lines}\n", env!("CARGO_BIN_EXE_twinsplit")));
    std::fs::set_permissions(here.path(name), PermissionsExt::from_mode(0o755)).unwrap();
}

/// One that is ours and writes what its task's job has, when the task is a mapper's, to the file `settings`.
fn tells_its_settings(here: &Place) {
    let line =
        "[[ -z ${mapreduce_map_memory_mb:-} ]] || echo \"$mapreduce_map_memory_mb $a_pattern $two_words\"";
    let lines = format!("{line} >> {}\nexec -a \"${{0##*/}}\" $ours \"$@\"", here.path("settings").display());
    program(here, "telling", &lines);
}

/// Steps whose volume depends on the number of mappers, which add up before they write or leave out what they know, or on names of files.
const VARYING: [&str; 13] = [
    "band-filter",
    "tokenize",
    "idf-filter",
    "idf-right",
    "equal-sets",
    "simhash",
    "feature-count",
    "feature-sample",
    "feature-order",
    "size-count",
    "cluster",
    "large-star-",
    "small-star-",
];

/// What the reducers read is what they read on one machine, in so many steps at least, and Hadoop says what it moved for it.
fn volumes_are_those_of_pipes(hadoop: &Value, pipes: &Value, least: u64) {
    let mut compared = 0;
    for (step, counters) in hadoop.as_object().unwrap() {
        let Some(bytes) = counters["reduce_bytes_in"].as_u64() else {
            assert!(counters["shuffled_bytes"].is_null(), "{step}: {counters}");
            continue;
        };
        assert!(counters["shuffled_bytes"].as_u64() > Some(0), "{step}: {counters}");
        if !VARYING.iter().any(|varying| step.starts_with(varying)) {
            // The row of an empty document's set ends in a TAB, which is none of the row's where Hadoop adds one.
            let expected = pipes[step]["reduce_bytes_in"].as_u64().unwrap();
            assert!((bytes..=bytes + odd::EMPTY).contains(&expected), "{step}: {bytes}, not {expected}");
            compared += u64::from(bytes > 1000);
        }
    }
    assert!(compared >= least, "{compared} steps of {hadoop}");
}

/// What `run.json` in a folder tells.
fn run_json(here: &Place, folder: &str) -> Value {
    serde_json::from_str(&here.read(&format!("{folder}/run.json"))).unwrap()
}

/// The stages that a run did.
fn stages_of_run(options: &str, run: &Value) -> BTreeSet<String> {
    let steps = run["steps"].as_array().unwrap().iter().map(|step| step.as_str().unwrap());
    stages_of(&format!("{options} --engine hadoop"), steps)
}

/// The bytes of a local run; gives the stages that ran.
fn equals_local(options: &str) -> BTreeSet<String> {
    let here = Place::new();
    documents(&here);
    let options = format!("{options} --write-kept");
    let line = format!("twinsplit run {options} --quiet --input docs --output");
    // The folder of the cluster's answer has one of the engine local, which is replaced as a whole, and so the other way.
    say_by_server(&here, &format!("{line} local; {line} pipes --engine pipes; {line} cluster")).ok();
    tells_its_settings(&here);
    say_by_server(
        &here,
        &format!(
            "BINARY=$PWD/telling {line} cluster --engine hadoop {TASKS} {ODD_SETTINGS} -D mapreduce.map.memory.mb=2345 \
             --overwrite"
        ),
    )
    .ok();
    assert_same(&here, "local", "cluster");
    // What the user says of sizes counts, and values arrive as they are.
    let settings = here.read("settings");
    let said = "2345 *?[a] a  \"b";
    assert!(settings.lines().count() >= 10 && settings.lines().all(|line| line == said), "{settings}");
    // What the driver tells of the run agrees with what it is.
    let run = run_json(&here, "cluster");
    let [cluster, local, pipes] =
        ["cluster", "local", "pipes"].map(|run| run_json(&here, run)["counters"].take());
    let clusters = |run: &Value| {
        run.as_object().unwrap().values().filter_map(|step| step["clusters"].as_u64()).sum::<u64>()
    };
    assert_eq!(
        cluster["tokenize"]["documents"],
        odd::ACCEPTED + families().lines().count() as u64,
        "{options}"
    );
    assert_eq!(clusters(&cluster), clusters(&local));
    assert!(clusters(&cluster) > 5);
    // Slices of tasks take no job with reducers, which leaves those of clusters and kept documents.
    let steps = if options.contains("--partition by-task") { 2 } else { 3 };
    volumes_are_those_of_pipes(&cluster, &pipes, steps);
    let with_pairs = |file| (!options.contains("--write clusters")).then_some(file);
    let names = with_pairs("pairs").into_iter().chain(["clusters", "kept", "run.json"]);
    assert_eq!(here.names("cluster"), names.map(str::to_owned).collect());
    here.shell(&format!("{line} cluster --overwrite")).ok();
    let names = with_pairs("pairs.tsv").into_iter().chain(["clusters.tsv", "kept.jsonl", "run.json"]);
    assert_eq!(here.names("cluster"), names.map(str::to_owned).collect());
    stages_of_run(&options, &run)
}

/// Chains with queries, and their steps.
const WITH_QUERIES: [(&str, &[&str]); 3] = [
    (
        "simhash --features words:2 --weights tf-idf --distance 3,200:8",
        &["tokenize", "idf-table", "read-queries", "simhash"],
    ),
    (
        "doc-split --features words:2 --tau 0.5 --similarity query-containment --idf 0.05,1 --query-parts 2",
        &[
            "read-queries",
            "tokenize",
            "feature-count",
            "feature-order",
            "idf-filter-queries",
            "idf-filter",
            "set-queries",
            "gather-pairs",
        ],
    ),
    ("minhash --features words:2 --tau 0.5 --bands 32 --rows 4", &["read-queries", "tokenize"]),
];

/// Queries of odd ids in files of any kind, against documents that are no less odd; gives the stages that ran.
fn queries_equal_local((options, expected_steps): (&str, &[&str])) -> BTreeSet<String> {
    let options = format!("{options} --queries new");
    let here = Place::new();
    documents(&here);
    here.shell("mkdir new && cp docs/families.jsonl.gz new/ && cp docs/* new/").ok();
    let line = format!("twinsplit run {options} --quiet --input docs --output");
    let cluster = format!("{line} cluster --engine hadoop {TASKS}");
    say_by_server(&here, &format!("{line} local; {line} pipes --engine pipes; {cluster}")).ok();
    let expected = here.read("local/pairs.tsv");
    assert!(expected.lines().count() > 50, "{expected}");
    assert_eq!(here.read("pipes/pairs.tsv"), expected);
    let found = here.shell("cat cluster/pairs/part-* | LC_ALL=C sort").ok();
    assert_eq!(found, expected);
    assert_eq!(here.names("cluster"), ["pairs", "run.json"].map(str::to_owned).into());
    let run = run_json(&here, "cluster");
    let of_queries = |input: &&Value| input["queries"] == true;
    let inputs = run["inputs"].as_array().unwrap();
    assert_eq!(inputs.iter().filter(of_queries).count() * 2, inputs.len());
    let steps: Vec<_> = run["steps"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(steps, expected_steps);
    // Other queries are another run.
    here.shell("rm new/families.jsonl.gz").ok();
    say_by_server(&here, &format!("{cluster} --resume"))
        .fails(1, &["new/families.jsonl.gz is not given now"]);
    stages_of_run(&options, &run)
}

/// CCDet on pages of sites: the bytes of a local run, and of brute force; gives the stages that ran.
fn ccdet_equals_brute_force() -> BTreeSet<String> {
    const OPTIONS: &str = "ccdet --site url --idf 0.1,0.95 --tau 0.5 --cluster star --write-kept";
    let here = Place::new();
    ccdet::write(&here.path("docs"));
    let line = format!("twinsplit run {OPTIONS} --quiet --input docs --output");
    say_by_server(&here, &format!("{line} local; {line} cluster --engine hadoop {TASKS}")).ok();
    let expected = ccdet::expected("0.5", true, Some("0.1,0.95"));
    let local = ["pairs.tsv", "clusters.tsv"].map(|file| here.read(&format!("local/{file}")));
    assert_eq!(local, [expected.pairs, expected.clusters]);
    assert_same(&here, "local", "cluster");
    stages_of_run(OPTIONS, &run_json(&here, "cluster"))
}

/// Ways in which, with CCDet and queries, every stage of every family has its turn.
const CHAINS: [&str; 11] = [
    "term-split --features words:2 --pcp prefix --order-sample 30 --tau 0.5 --counts on",
    "term-split --features words:2 --pcp prefix --idf 0.05,1 --idf-table tables/table --tau 0.5 --cluster star --keep longest",
    "term-split --features words:2 --tau 0.5 --idf 0.05,1 --idf-lookup shuffle --write clusters",
    "doc-split --features words:2 --slices 3 --similarity cosine --tau 0.6 --write clusters",
    "doc-split --features words:2 --tau 0.5 --graph 0",
    "doc-split --features words:2 --partition by-task --slices 2 --similarity overlap --tau 6 --cluster star --graph 0",
    "minhash --features words:2 --bands 32 --rows 4 --similarity dice --tau 0.6 --write clusters",
    "minhash --features words:2 --bands 32 --rows 4 --tau 0.5 --bloom 1 --check signature",
    "i-match --lexicons 40 --idf 0.05,1 --tau 0.3",
    "simhash --features words:2 --weights tf-idf --distance 20 --check cosine:0.4 --posting-block 7",
    "simhash --features words:2 --weights tf-idf --distance 20 --write clusters",
];

/// Bands that are chosen by a sample are the same wherever it is drawn, and so are the pairs; gives the stages that drew it.
fn recall_equals_local() -> BTreeSet<String> {
    let here = Place::new();
    documents(&here);
    let line =
        "twinsplit run minhash --features words:2 --tau 0.5 --recall 0.9 --quiet --input docs --output";
    let cluster = format!("{line} cluster --engine hadoop {TASKS}");
    say_by_server(&here, &format!("{line} local; {line} pipes --engine pipes; {cluster}")).ok();
    let expected = here.read("local/pairs.tsv");
    assert!(expected.lines().count() > 50, "{expected}");
    assert_eq!(here.read("pipes/pairs.tsv"), expected);
    assert_eq!(here.shell("cat cluster/pairs/part-* | LC_ALL=C sort").ok(), expected);
    let chosen = ["local", "pipes", "cluster"].map(|run| {
        let parameters = run_json(&here, run)["parameters"].take();
        ["bands", "rows", "hashes"].map(|option| parameters[option].clone())
    });
    assert!(chosen.iter().all(|bands| *bands == chosen[0]), "{chosen:?}");
    assert!(here.names(".").iter().all(|name| !name.contains("sample")), "{:?}", here.names("."));
    SAMPLE_STAGES.map(str::to_owned).into()
}

/// Each stage with what Hadoop gives it, so that no other chain of them has more to show.
#[test]
fn every_stage_gives_what_it_gives_locally() {
    let mut ran: BTreeSet<String> = WITH_QUERIES.into_iter().flat_map(queries_equal_local).collect();
    ran.extend(ccdet_equals_brute_force());
    ran.extend(recall_equals_local());
    for options in CHAINS {
        let began = Instant::now();
        ran.extend(equals_local(options));
        println!("{options}: {} s", began.elapsed().as_secs());
    }
    assert_all_ran(&ran);
}

/// A mapper that refuses what it reads is made to end well here, so that one run shows it of all files; an id that stands
/// twice is met by a reducer. Files are cut, so that lines are told from where a task begins.
#[test]
fn what_no_engine_takes_is_refused_from_where_a_task_begins() {
    let here = Place::new();
    std::fs::create_dir(here.path("docs")).unwrap();
    odd::refused().iter().for_each(|refused| here.write(&format!("docs/{}", refused.name), &refused.bytes));
    let said = here.path("said").display().to_string();
    program(
        &here,
        "passing",
        &format!(
            "stage=${{0##*/}}\n(exec -a $stage $ours \"$@\") 2> >(tee -a {said} >&2) || [[ $stage != *-reduce ]]"
        ),
    );
    let line = "BINARY=$PWD/passing twinsplit run term-split --engine hadoop --quiet --input docs --output out -D fs.local.block.size=48";
    let failed = say(&here, line).fails(1, &["the job tokenize failed"]);
    let refusals = here.read("said");
    for odd::Refused { name, stage, words, line, .. } in odd::refused() {
        let mut lines = refusals.lines().filter(|refusal| {
            refusal.contains(&format!("error: {stage}")) && refusal.contains(words) && refusal.contains(name)
        });
        let refusal = lines.next().unwrap_or_else(|| panic!("{name}: {refusals}"));
        let from_its_task = refusal.contains(&format!("{name} from byte ")) && refusal.contains("line 1");
        assert!(from_its_task || line == 1 && refusal.contains(&format!("{name}, line 1,")), "{refusal}");
    }
    assert!(failed.contains("the id \"good\" stands at more than one document"), "{failed}");
    assert!(!here.path("out/clusters").exists() && !here.path("out/_work/members").exists());
}

/// A step that fails leaves nothing that looks finished and shows what its task said; another run does not go on with
/// what it left; a bound that was met may be raised.
#[test]
fn a_job_that_fails_says_why_and_a_bound_may_be_raised() {
    let here = Place::new();
    let line = "twinsplit run doc-split --features words:1 --engine hadoop --quiet --input docs --output out";
    let (good, bad) = ("{\"id\":\"a\",\"text\":\"x y\"}\n", "{\"id\":\"b\",\"text\":3}\n");
    here.write("docs", format!("{good}{bad}"));
    let said = say_by_server(&here, line);
    said.fails(
        1,
        &["tokenize:", "docs, line 2, field text: expected a string", "the job tokenize failed", ".log"],
    );
    assert!(!here.path("out/clusters").exists() && !here.path("out/_work/members").exists());
    say_by_server(&here, line).fails(1, &["holds a run that was stopped"]);
    let other = say_by_server(&here, &format!("{line} --tau 0.6 --resume"));
    other.fails(1, &["other options", "--tau was 0.65 and is 0.6"]);
    here.write("docs", good);
    let other = say_by_server(&here, &format!("{line} --resume"));
    other.fails(1, &["another input", "the input ", "/docs has changed"]);

    say_by_server(&here, &format!("{line} --bad-records 1")).fails(2, &["--bad-records", "no place"]);
    here.write("docs", format!("{}{good}", good.replace('a', "c")));
    let line = format!("{line} --overwrite --max-pairs");
    say_by_server(&here, &format!("{line} 0")).fails(1, &["the limit is 0"]);
    assert!(!here.path("out/clusters").exists() && here.path("out/_work/clustered").exists());
    let again = format!("{line} 9").replace("--overwrite", "--resume");
    let report = say_by_server(&here, &format!("{again} --json")).ok();
    assert_eq!(report, here.read("out/run.json"));
    let run = run_json(&here, "out");
    assert!(run["inputs"][0]["bytes"].as_u64() == Some(2 * good.len() as u64), "{run}");
    assert_eq!(here.shell("cat out/pairs/part-*").ok(), "a\tc\t2\t2\t2\t1.000000\n");
    let said = say_by_server(&here, &again.replace("--quiet ", ""));
    assert!(said.err.contains("complete answer"), "{}", said.err);
    said.ok();
    assert_eq!(say_by_server(&here, &format!("{again} --json")).ok(), report);
    let said = say_by_server(&here, &again);
    assert!(!said.err.contains("complete answer"), "{}", said.err);
    said.ok();
    let other = again.replace("words:1", "words:2");
    say_by_server(&here, &other).fails(1, &["--features was words:1 and is words:2"]);
}

/// An old answer stays until the new one is complete, what no run recorded stays as it is, and logs stay only where it is
/// said.
#[test]
fn only_what_a_run_recorded_is_replaced() {
    let here = Place::new();
    here.write("docs", "{\"id\":\"a\",\"text\":\"x y\"}\n{\"id\":\"b\",\"text\":\"x y\"}\n");
    here.write("bad", "no document\n");
    let base = "mkdir -p tmp; TMPDIR=$PWD/tmp twinsplit run doc-split --features words:1 --quiet --overwrite";
    say(&here, &format!("{base} --input docs --output out")).ok();
    let old = ["pairs.tsv", "clusters.tsv", "run.json"].map(|file| here.read(&format!("out/{file}")));
    let line = format!("{base} --engine hadoop --output out --input");

    std::fs::create_dir(here.path("out/pairs")).unwrap();
    here.write("out/pairs/part-00000", "mine");
    say(&here, &format!("{line} docs")).fails(2, &["out/pairs stands in the way"]);
    assert_eq!(here.read("out/pairs/part-00000"), "mine");
    std::fs::remove_dir_all(here.path("out/pairs")).unwrap();
    std::fs::create_dir(here.path("theirs")).unwrap();
    here.write("theirs/file", "mine");
    symlink("../theirs", here.path("out/_work")).unwrap();
    say(&here, &format!("{line} docs")).fails(2, &["out/_work is a link"]);
    assert_eq!(here.read("theirs/file"), "mine");
    std::fs::remove_file(here.path("out/_work")).unwrap();
    let logs_left = || here.names("tmp").iter().filter(|name| name.starts_with("twinsplit-logs.")).count();
    assert_eq!(logs_left(), 0, "logs of a run that was refused");

    let said = say(&here, &format!("{line} bad")).fails(1, &["the job tokenize failed"]);
    let logs =
        said.lines().find_map(|line| line.strip_prefix("note: the logs of the jobs are in ")).expect(&said);
    assert!(std::path::Path::new(logs).join("tokenize.log").exists(), "{logs}");
    assert_eq!(logs_left(), 1);
    let now = ["pairs.tsv", "clusters.tsv", "run.json"].map(|file| here.read(&format!("out/{file}")));
    assert_eq!(now, old);
}

/// The commands of docs/hadoop.md, as they stand there, and what they print.
#[test]
#[ignore = "minutes; run by `make cluster-test`"]
fn the_tutorial_can_be_followed() {
    let page = std::fs::read_to_string(fixture("../docs/hadoop.md")).unwrap();
    let here = Place::new();
    assert_eq!(follow(&page, |lines| say(&here, lines)), (6, 12));
}
