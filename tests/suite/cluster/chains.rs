//! Chains on a real HDFS and YARN: the same bytes as on one machine, from at least three maps and two reducers a job,
//! and what a failing task said.
//!
//! `make cluster-test` runs one chain on some documents, in minutes. Tests whose names begin with `full_` run by
//! `make cluster-test-full`.

use std::fmt::Write as _;
use std::time::Instant;

use serde_json::Value;

use crate::cli::estimate::volumes_within_two;
use crate::common::chains::{assert_same, families, stress};
use crate::common::cluster::{Cluster, dist};
use crate::common::faults::{Fault, When, faults, stand_in};
use crate::common::odd;
use crate::common::real::every;
use crate::corpora::corpus;

/// As many maps as there are files, and more.
const TASKS: &str = "--reducers 2 -D mapreduce.job.maps=4";

/// Ways to find the pairs that need no more than tasks of 1 GB, whatever the features.
const DOC_SPLIT: &str = "doc-split --slices 3 --slice-memory 256";
const BY_TASK: &str = "doc-split --partition by-task --slices 3 --slice-memory 256";
const PREFIX: &str = "term-split --pcp prefix";

/// Puts the files of the folder `documents` into HDFS.
fn put(cluster: &Cluster) {
    cluster.shell("hadoop fs -mkdir /docs; hadoop fs -put documents/* /docs/").ok();
}

/// The licences, every `step`-th, in two files, and the odd ones in two more, one of them gzip.
fn licences(cluster: &Cluster, step: usize) {
    let here = cluster.place();
    std::fs::create_dir(here.path("documents")).unwrap();
    let docs = every(step, corpus("licence-texts-a"));
    for (name, docs) in ["a", "b"].into_iter().zip(docs.chunks(docs.len().div_ceil(2))) {
        let mut lines = String::new();
        docs.iter().for_each(|doc| writeln!(lines, "{}", doc.line).unwrap());
        here.write(&format!("documents/{name}.jsonl"), lines);
    }
    here.write("documents/odd.jsonl", odd::lines(""));
    here.write("documents/families.jsonl", families());
    cluster.shell("gzip documents/families.jsonl").ok();
    put(cluster);
}

/// Runs a chain on the cluster and compares its answer with `local`.
fn equals_local(cluster: &Cluster, way: &str, options: &str) {
    let (began, before) = (Instant::now(), cluster.jobs_of("tokenize").len());
    let mut run = cluster.by_server(&format!(
        "twinsplit run {way} {options} --engine hadoop {TASKS} --input /docs --output /out
        rm -rf out; hadoop fs -get /out out; hadoop fs -rm -r -skipTrash /out > /dev/null"
    ));
    let stand_in = cluster.place().path("faulty");
    run.env("BINARY", if stand_in.exists() { stand_in } else { dist() });
    cluster.place().run(run, "").ok();
    assert_same(cluster.place(), "local", "out");
    assert!(!cluster.place().path("out/_work").exists());
    let jobs = cluster.jobs_of("tokenize");
    assert_eq!(jobs.len(), before + 1);
    for step in ["tokenize", "keep"] {
        let (maps, reducers) = cluster.maps_and_reducers(cluster.jobs_of(step).last().unwrap());
        // With IDF features are counted before sets can be compared, so the first job has no reducers.
        let only_maps = step == "tokenize" && options.contains("--idf");
        assert!(
            maps >= 3 && (if only_maps { reducers == 0 } else { reducers >= 2 }),
            "{step}: {maps} maps, {reducers} reducers"
        );
    }
    let pairs = if way.starts_with("term-split") { "pcp-map" } else { "index-doc" };
    let (maps, _) = cluster.maps_and_reducers(cluster.jobs_of(pairs).last().unwrap());
    assert!(maps >= 3, "{pairs}: {maps} maps");
    if !way.starts_with("term-split") {
        let slices = cluster.jobs_of("docsplit-query");
        let maps: usize = slices.iter().map(|job| cluster.maps_and_reducers(job).0).sum();
        assert!(slices.len() >= 2 && maps >= 3, "{maps} maps of {} slices", slices.len());
    }
    println!("{way} {options}: {} s", began.elapsed().as_secs());
}

fn local(cluster: &Cluster, way: &str, options: &str) {
    let line = format!("twinsplit run {way} {options} --input documents --output local");
    cluster.shell(&line).ok();
}

/// A mapper that dies on the way changes nothing.
#[test]
#[ignore = "starts a cluster; run by `make cluster-test`"]
fn a_chain_equals_a_local_one_and_a_failure_is_explained() {
    const OPTIONS: &str = "--features words:5 --tau 0.7 --quiet --write-kept";
    let began = Instant::now();
    let cluster = Cluster::up();
    println!("the cluster is up: {} s", began.elapsed().as_secs());
    licences(&cluster, 16);
    local(&cluster, "doc-split", OPTIONS);
    stand_in(cluster.place(), &dist());
    faults(cluster.place(), &[("tokenize", "1", When::Once, Fault::Dies)]);
    // A job takes seconds whatever it does, and this chain has the fewest.
    equals_local(&cluster, "term-split", OPTIONS);
    // As many jobs as the declaration has steps, and one for the kept lines.
    let apps = cluster.resource_manager("/ws/v1/cluster/apps");
    let names: Vec<_> = apps["apps"]["app"].as_array().unwrap().iter().map(|app| &app["name"]).collect();
    assert_eq!(names.len(), 6 + 1, "{names:?}");
    let attempts = cluster.attempts(&cluster.jobs_of("tokenize")[0]);
    let died: Vec<_> = attempts.iter().filter(|attempt| attempt.diagnostics.contains("code 137")).collect();
    assert!(died.len() == 1 && died[0].state == "FAILED", "{attempts:?}");

    // What the task said comes from YARN's gathered logs; nothing looks finished.
    let here = cluster.place();
    here.write("bad.jsonl", "{\"id\":\"a\",\"text\":\"x\"}\n{\"id\":\"b\",\"text\":3}\n");
    cluster.shell("hadoop fs -put bad.jsonl /bad.jsonl").ok();
    let line = "twinsplit run doc-split --engine hadoop --quiet --input /bad.jsonl --output /bad -D mapreduce.map.maxattempts=1";
    // Hadoop cuts a file anywhere: a task knows where its share begins, and the second one's is the second line.
    let place = "/bad.jsonl from byte 21, line 1, field text: expected a string";
    cluster.shell(line).fails(1, &["tokenize:", place, "yarn logs -applicationId"]);
    cluster.nothing_is_finished("/bad", "members");
    println!("in all: {} s", began.elapsed().as_secs());
}

/// A way on all licences.
fn on_licences(way: &str, options: &str) {
    let options = format!("--features words:5 --tau 0.7 --quiet --write-kept {options}");
    let cluster = Cluster::up();
    licences(&cluster, 1);
    // By another way than the cluster's.
    let other = if way == DOC_SPLIT { PREFIX } else { DOC_SPLIT };
    local(&cluster, other, &options);
    equals_local(&cluster, way, &options);
}

#[test]
#[ignore = "takes ten minutes; run by `make cluster-test-full`"]
fn full_doc_split_equals_local_on_licences() {
    on_licences(DOC_SPLIT, "");
}

#[test]
#[ignore = "takes ten minutes; run by `make cluster-test-full`"]
fn full_doc_split_by_task_equals_local_on_licences() {
    on_licences(BY_TASK, "");
}

#[test]
#[ignore = "takes ten minutes; run by `make cluster-test-full`"]
fn full_prefix_equals_local_on_licences() {
    on_licences(PREFIX, "");
}

/// 207 million pairs of postings.
#[test]
#[ignore = "takes half an hour; run by `make cluster-test-full`"]
fn full_plain_equals_local_on_licences() {
    on_licences("term-split", "");
}

#[test]
#[ignore = "takes ten minutes; run by `make cluster-test-full`"]
fn full_stars_equal_local_on_licences() {
    on_licences(PREFIX, "--cluster star --keep longest --idf 0.05,1");
}

/// What `plan --estimate` says of all licences by less than half of them, beside what came: volumes and memory as the run
/// counts them, tasks as YARN does, and processor seconds of the client and of everything that the nodes started.
#[test]
#[ignore = "takes ten minutes; run by `make cluster-test-full`"]
fn full_an_estimate_is_within_a_factor_of_two_of_yarn() {
    let line = format!("{DOC_SPLIT} --features words:5 --tau 0.7 --write-kept --engine hadoop --reducers 2");
    let cluster = Cluster::up();
    licences(&cluster, 1);
    let estimate = cluster
        .shell(&format!("twinsplit plan {line} --input documents --sample 3000 --estimate --json"))
        .ok();
    let estimate: Value = serde_json::from_str(&estimate).unwrap();
    let before = cluster.container_seconds();
    let said = cluster.shell(&format!(
        "export BINARY={}; TIMEFORMAT='%U %S'; time twinsplit run {line} --quiet --input /docs --output /out",
        dist().display()
    ));
    let client = said.err.lines().last().unwrap_or_default().to_owned();
    said.ok();
    let client: f64 = client.split(' ').map(|seconds| seconds.parse::<f64>().unwrap()).sum();
    let seconds = cluster.container_seconds() - before + client;

    let run: Value = serde_json::from_str(&cluster.shell("hadoop fs -cat /out/run.json").ok()).unwrap();
    let jobs = run["steps"].as_array().unwrap().iter();
    let jobs = jobs.flat_map(|step| cluster.jobs_of(step.as_str().unwrap()));
    let tasks: usize =
        jobs.map(|job| cluster.maps_and_reducers(&job)).map(|(maps, reducers)| maps + reducers).sum();
    let sum = |what: &str| {
        estimate["steps"].as_array().unwrap().iter().map(|step| step[what].as_f64().unwrap()).sum::<f64>()
    };
    for (what, estimated, real) in [
        ("tasks", sum("maps") + sum("reduces"), tasks as f64),
        ("processor seconds", sum("core_seconds"), seconds),
    ] {
        println!("{what}: about {estimated} were estimated, and {real} came");
        assert!(estimated <= 2.0 * real && real <= 2.0 * estimated, "{what}: {estimated} and {real}");
    }
    let compared = volumes_within_two(&estimate, &run);
    assert!(compared > 6, "{compared} volumes were compared");
    for step in estimate["steps"].as_array().unwrap() {
        let most = ["map_megabytes", "reduce_megabytes"].iter().filter_map(|what| step[*what].as_u64()).max();
        let name = step["step"].as_str().unwrap();
        let peak = run["counters"][name]["peak_memory"].as_u64().unwrap_or_else(|| panic!("{name}: {run}"));
        assert!(peak <= most.unwrap() << 20, "{name}: {most:?} MB were asked for, and it took {peak} bytes");
    }
}

/// In containers of 1 GB: many equal pages, and a posting list that is too long for plain Term-Split.
#[test]
#[ignore = "takes minutes; run by `make cluster-test-full`"]
fn full_a_hot_feature_and_equal_pages_fit_into_a_gigabyte() {
    const OPTIONS: &str = "--features lines --tau 0.5 --write clusters --write-kept --quiet";
    // No container is larger, whatever a step asks for.
    const GIGABYTE: &str = "-D mapreduce.map.memory.mb=1024 -D mapreduce.reduce.memory.mb=1024";
    let cluster = Cluster::up();
    let here = cluster.place();
    std::fs::create_dir(here.path("documents")).unwrap();
    let made = stress(&here.path("documents"), 10_000, HOT, 3_500);
    assert!(made.hot_bytes > 64 << 20, "{} bytes", made.hot_bytes);
    put(&cluster);
    local(&cluster, "doc-split", OPTIONS);
    for way in [DOC_SPLIT, BY_TASK, PREFIX] {
        equals_local(&cluster, &format!("{way} {GIGABYTE}"), OPTIONS);
    }
    // The exact sum of df(df-1)/2, before any pair is written.
    let line = format!(
        "twinsplit run term-split {OPTIONS} --max-pairs 100000000 --engine hadoop {TASKS} --input /docs --output /plain"
    );
    let said = cluster.shell(&format!("BINARY={} {line}", dist().display()));
    said.fails(
        1,
        &[
            &format!("{} pairs of postings", made.pairs_of_postings),
            "use doc-split, or --pcp prefix without --accumulators, or raise --max-pairs",
        ],
    );
    assert_eq!(cluster.jobs_of("pcp-map").len(), 1, "that of --pcp prefix");
    cluster.nothing_is_finished("/plain", "joined-pairs");
}

/// Documents that share a feature; their ids are long, so that it takes no millions of them.
const HOT: usize = 20_000;

/// Plain Term-Split where a list of 5,000 postings is cut into blocks of a hundred.
#[test]
#[ignore = "takes minutes; run by `make cluster-test-full`"]
fn full_plain_equals_local_in_blocks() {
    const OPTIONS: &str = "--features lines --tau 0.5 --quiet --write-kept";
    let cluster = Cluster::up();
    let here = cluster.place();
    std::fs::create_dir(here.path("documents")).unwrap();
    stress(&here.path("documents"), 100, 5_000, 0);
    put(&cluster);
    local(&cluster, "doc-split", OPTIONS);
    equals_local(&cluster, "term-split --posting-block 100", OPTIONS);
}
