//! Chains on a real HDFS and YARN: the same bytes as on one machine, and what a failing task said.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::chains::{families, odd};
use common::cluster::Cluster;

const TASKS: &str = "--reducers 2 -D mapreduce.job.maps=3 -D mapreduce.job.reduce.slowstart.completedmaps=1";

/// The answers of a cluster and of one process, sorted.
fn equals_local(cluster: &Cluster, options: &str, number: usize) {
    let run = format!("twinsplit run {options} --quiet --write-kept");
    let said = cluster.shell(&format!(
        "{run} --input documents --output local{number}
        {run} --engine hadoop {TASKS} --input /docs --output /out{number}
        for data in pairs clusters; do
            [[ -f local{number}/$data.tsv ]] || continue
            hadoop fs -cat \"/out{number}/$data/part-*\" | LC_ALL=C sort | cmp - local{number}/$data.tsv
            wc -l < local{number}/$data.tsv
        done
        hadoop fs -cat '/out{number}/run.json' | grep -c large-star-1
        ! hadoop fs -ls /out{number}/_work"
    ));
    let lines: Vec<usize> = said.ok().lines().filter_map(|line| line.trim().parse().ok()).collect();
    assert!(lines.len() >= 2 && lines[0] > 20, "{options}: {lines:?}");
    println!("{options}: {lines:?}");
}

#[test]
#[ignore = "needs minutes and a gigabyte or two; run by `make cluster-test`"]
fn chains_on_yarn_equal_local_ones_and_failures_are_explained() {
    let cluster = Cluster::up();
    let here = cluster.place();
    std::fs::create_dir(here.path("documents")).unwrap();
    here.write("documents/odd.jsonl", odd());
    here.write("documents/families.jsonl", families());
    cluster
        .shell("gzip documents/families.jsonl; hadoop fs -mkdir /docs; hadoop fs -put documents/* /docs/")
        .ok();
    let ways = [
        "doc-split --features words:2 --slices 2 --slice-memory 100 --tau 0.5",
        "term-split --features words:2 --pcp prefix --idf 0.05,1 --tau 0.5 --cluster star --keep longest",
    ];
    for (number, options) in ways.into_iter().enumerate() {
        equals_local(&cluster, options, number);
    }

    // What the task said comes from YARN's gathered logs; nothing looks finished.
    here.write("bad.jsonl", "{\"id\":\"a\",\"text\":\"x\"}\n{\"id\":\"b\",\"text\":3}\n");
    cluster.shell("hadoop fs -put bad.jsonl /bad.jsonl").ok();
    let line = "twinsplit run doc-split --engine hadoop --quiet --input /bad.jsonl --output /bad -D mapreduce.map.maxattempts=1";
    let said = cluster.shell(line);
    said.fails(
        1,
        &["tokenize:", "/bad.jsonl, line 2, field text: expected a string", "yarn logs -applicationId"],
    );
    cluster.shell("! hadoop fs -ls /bad/clusters; ! hadoop fs -ls /bad/_work/sets").ok();
}
