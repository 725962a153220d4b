//! Jobs of single stages, as a user starts them: which partitioners bring the rows of a key to one task.

use super::{documents, say_by_server};
use crate::common::cli::{Place, Said};

/// A job by hand, with two reducers; gives what Hadoop said.
fn plain_job(here: &Place, settings: &str, stages: [&str; 2], from: &str, to: &str) -> Said {
    let files: Vec<_> =
        stages.iter().map(|stage| format!("$(command -v {})", stage.split(' ').next().unwrap())).collect();
    let [mapper, reducer] = stages;
    let line = format!(
        "hadoop jar $STREAMING -files {} -D mapreduce.job.reduces=2 {settings} -mapper '{mapper}' -reducer '{reducer}' \
         -input $PWD/{from} -output $PWD/{to}",
        files.join(",")
    );
    say_by_server(here, &line)
}

/// A job whose partitioner divides the rows of a key fails and names the options that it needs; one that is right by
/// another of Hadoop's partitioners gives the pairs of a run. Ids are odd, so that hashes of any bytes are compared with Hadoop's own.
#[test]
fn a_job_that_divides_the_rows_of_a_key_fails_and_says_what_it_needs() {
    const BY_FIELDS: &str = "-partitioner org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner";
    let here = Place::new();
    documents(&here);
    say_by_server(
        &here,
        "twinsplit run term-split --features words:2 --tau 0.5 --quiet --input docs --output local; \
         tokenize --features words:2 --input docs > sets",
    )
    .ok();
    let fields = |met: usize, sorted: usize| {
        format!(
            "-D stream.num.map.output.key.fields={sorted} -D mapreduce.partition.keypartitioner.options=-k1,{met} {BY_FIELDS}"
        )
    };
    let refused = |said: Said, words: &[&str]| {
        assert_ne!(said.code, 0, "{}", said.err);
        words.iter().for_each(|word| assert!(said.err.contains(word), "{word:?} is not in {}", said.err));
    };
    let lists = ["index-term", "index-term-reduce"];
    let needs = fields(1, 2);
    for (to, settings) in [
        ("whole-key", "-D stream.num.map.output.key.fields=2"),
        ("two-fields", &*fields(2, 2)),
        // The job says that it is right, and Hadoop finds the fields elsewhere.
        ("separator", &format!("-D mapreduce.map.output.key.field.separator=. {needs}")),
    ] {
        refused(
            plain_job(&here, settings, lists, "sets", to),
            &["index-term-reduce: ", "would be lost", &needs],
        );
    }
    let unsorted = plain_job(&here, "", lists, "sets", "unsorted");
    refused(unsorted, &["index-term-reduce: ", "not sorted", "-D stream.num.map.output.key.fields=2"]);
    let plans = plain_job(&here, "", ["size-count", "slice-plan"], "sets", "plans");
    refused(plans, &["slice-plan: ", "-D mapreduce.job.reduces=1"]);
    plain_job(&here, &needs, lists, "sets", "made").ok();

    let expected = here.read("local/pairs.tsv");
    assert!(expected.lines().count() > 50, "{expected}");
    let pairs = ["pcp-map", "pcp-reduce --tau 0.5"];
    for (to, settings) in [
        ("by-fields", &*fields(2, 2)),
        ("by-first-field", &*fields(1, 2)),
        ("by-whole-key", "-D stream.num.map.output.key.fields=2"),
    ] {
        plain_job(&here, settings, pairs, "made", to).ok();
        assert_eq!(here.shell(&format!("cat {to}/part-* | LC_ALL=C sort")).ok(), expected, "{to}");
    }
}
