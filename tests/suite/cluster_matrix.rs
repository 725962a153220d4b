//! The matrix on real text under Hadoop's LocalJobRunner and under Spark with two cores: every way to find the pairs, on
//! whole corpora, against the engine `local`, byte for byte. `local` itself is compared with the oracle in
//! `matrix_real.rs`.
//!
//! All of it takes an hour or two, so it runs by `make cluster-test-full`.

use std::time::Instant;

use crate::common::chains::assert_same;
use crate::common::cli::Place;
use crate::common::cluster::{hadoop_home, with_hadoop};
use crate::common::harness::Input;
use crate::common::matrix::VARIANTS;
use crate::common::real::corpus;
use crate::common::spark::{confs, spark_home};

/// The default; all the others are the business of `local`'s matrix.
const TAUS: [&str; 1] = ["0.7"];

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

/// 8 ways for each threshold.
fn matrix(name: &str, engine: &str) {
    let here = Place::new();
    let input = Input::new(&corpus(name));
    let home = hadoop_home();
    let run = |line: String| {
        let mut command = with_hadoop(&home, None, &line);
        command.env("SPARK_HOME", spark_home()).env("SPARK_LOCAL_IP", "127.0.0.1");
        here.run(command, "")
    };
    let mut ran = 0;
    for tau in TAUS {
        let common =
            format!("--features words:5 --tau {tau} --quiet --write-kept {}", input.args().join(" "));
        run(format!("rm -rf local; twinsplit run doc-split {common} --output local")).ok();
        for variant in VARIANTS {
            let began = Instant::now();
            run(format!(
                "rm -rf out; twinsplit run {} {common} {} --output out",
                variant.args().join(" "),
                options(engine)
            ))
            .ok();
            assert_same(&here, "local", "out");
            println!("{name}, {engine}, {variant:?}, tau {tau}: {} s", began.elapsed().as_secs());
            ran += 1;
        }
    }
    println!("matrix {name}, {engine}: {ran} combinations");
    assert_eq!(ran, VARIANTS.len() * TAUS.len());
}

#[test]
#[ignore = "takes half an hour; run by `make cluster-test-full`"]
fn full_reuters_under_hadoop() {
    matrix("reuters21578", "hadoop");
}

#[test]
#[ignore = "takes half an hour; run by `make cluster-test-full`"]
fn full_chinese_pages_under_hadoop() {
    matrix("iotdb-docs-zh", "hadoop");
}

#[test]
#[ignore = "takes half an hour; run by `make cluster-test-full`"]
fn full_reuters_under_spark() {
    matrix("reuters21578", "spark");
}

#[test]
#[ignore = "takes half an hour; run by `make cluster-test-full`"]
fn full_chinese_pages_under_spark() {
    matrix("iotdb-docs-zh", "spark");
}
