//! The matrix on real text under Hadoop's LocalJobRunner and under Spark with two cores: every way to find the pairs, on
//! whole corpora, against the engine `local`, byte for byte. `local` itself is compared with the oracle in
//! `corpora/matrix.rs`. Thresholds take turns, so that each engine has had them all.
//!
//! All of it takes an hour or two, so it runs by `make cluster-test-full`.

use std::time::Instant;

use crate::common::chains::assert_same;
use crate::common::cli::Place;
use crate::common::cluster::with_hadoop;
use crate::common::command_server::CommandServer;
use crate::common::harness::Input;
use crate::common::matrix::{TAUS, VARIANTS};
use crate::common::spark::{confs, spark_home};
use crate::corpora::corpus;

/// The options of an engine, for at least three maps and two reducers.
fn options(engine: &str) -> String {
    match engine {
        "hadoop" => "--engine hadoop --reducers 2 -D mapreduce.job.maps=3".to_owned(),
        _ => {
            let confs: Vec<String> = confs().iter().map(|conf| format!("-D '{conf}'")).collect();
            format!("--engine spark --reducers 2 -D 'spark.master=local[2]' {}", confs.join(" "))
        }
    }
}

/// Which thresholds a matrix has.
#[derive(Clone, Copy)]
enum Turn {
    First,
    /// The five that the first leaves out, and three of the others.
    Second,
}

/// 8 ways, each with another threshold.
fn matrix(name: &str, engine: &str, turn: Turn) {
    let here = Place::new();
    let input = Input::new(&corpus(name));
    let home = CommandServer::local().home();
    let run = |line: String| {
        let mut command = with_hadoop(home, None, &line);
        command.env("SPARK_HOME", spark_home()).env("SPARK_LOCAL_IP", "127.0.0.1");
        here.run(command, "")
    };
    let mut ran = 0;
    for (at, variant) in VARIANTS.into_iter().enumerate() {
        let began = Instant::now();
        // Neighbours in the list of ways have far thresholds.
        let tau = TAUS[(5 * at + turn as usize) % TAUS.len()];
        let common =
            format!("--features words:5 --tau {tau} --quiet --write-kept {}", input.args().join(" "));
        run(format!("rm -rf local out; twinsplit run doc-split {common} --output local")).ok();
        let (way, options) = (variant.args().join(" "), options(engine));
        run(format!("twinsplit run {way} {common} {options} --output out")).ok();
        assert_same(&here, "local", "out");
        println!("{name}, {engine}, {variant:?}, tau {tau}: {} s", began.elapsed().as_secs());
        ran += 1;
    }
    println!("matrix {name}, {engine}: {ran} combinations");
    assert_eq!(ran, VARIANTS.len());
}

#[test]
#[ignore = "takes minutes; run by `make cluster-test-full`"]
fn full_reuters_under_hadoop() {
    matrix("reuters21578", "hadoop", Turn::First);
}

#[test]
#[ignore = "takes minutes; run by `make cluster-test-full`"]
fn full_chinese_pages_under_hadoop() {
    matrix("iotdb-docs-zh", "hadoop", Turn::Second);
}

#[test]
#[ignore = "takes half an hour; run by `make cluster-test-full`"]
fn full_reuters_under_spark() {
    matrix("reuters21578", "spark", Turn::First);
}

#[test]
#[ignore = "takes half an hour; run by `make cluster-test-full`"]
fn full_chinese_pages_under_spark() {
    matrix("iotdb-docs-zh", "spark", Turn::Second);
}
