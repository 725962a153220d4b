use super::*;
use crate::stages::{self, STAGES};
use std::collections::BTreeMap;

/// The settings of a job with two reducers and others.
fn of(stage: &'static str, settings: &[(&str, &str)]) -> Result<Option<Partition>> {
    let mut job = BTreeMap::from([
        ("mapreduce.task.ismap", "false"),
        (REDUCES, "2"),
        ("mapreduce.task.partition", "1"),
    ]);
    job.extend(settings.iter().copied());
    Partition::of_job(stages::get(stage)?, |name| job.get(name).map(|value| (*value).to_owned()))
}

#[track_caller]
fn refused(stage: &'static str, settings: &[(&str, &str)], words: &[&str]) {
    let said = of(stage, settings).unwrap_err().to_string();
    let all = words.iter().chain([&stage]);
    all.for_each(|word| assert!(said.contains(word), "{word:?} is not in {said:?}"));
}

/// What Java's `String.hashCode` and Hadoop's `Text.hashCode` give, by their definitions: s[0]·31^(n-1) + … + s[n-1] over
/// signed bytes, and 31^n more of a text.
#[test]
fn hashes_are_those_of_java() {
    let of = |start, tasks, key: &str| {
        let keys = Keys { partition: 1, sort: 1 };
        Partition { task: 0, tasks, fields: 1, start, keys }.task_of(key.as_bytes())
    };
    for key in ["", "a", "pair-17", "Äpfel und Birnen", "文書", &"x".repeat(400)] {
        for (start, tasks) in [(0, 2), (0, 7), (1, 2), (1, 1000)] {
            let mut hash = i128::from(start);
            for byte in key.bytes() {
                hash = (hash * 31 + i128::from(byte as i8)).rem_euclid(1 << 32);
            }
            assert_eq!(i128::from(of(start, tasks, key)), hash % (1 << 31) % i128::from(tasks), "{key:?}");
        }
    }
    // Java says "hello".hashCode() == 99162322.
    assert_eq!(of(0, 1 << 31, "hello"), 99_162_322);
    assert_eq!(of(0, 5, ""), 0);
}

#[test]
fn jobs_that_bring_keys_together_are_let_through() {
    let by_fields = ("mapred.partitioner.class", BY_FIELDS);
    let found = |stage, settings: &[(&str, &str)]| {
        of(stage, settings).unwrap().map(|partition| (partition.start, partition.fields))
    };
    assert_eq!(found("pcp-reduce", &[by_fields, (FIELDS, "-k1,2"), (KEY_FIELDS, "2")]), Some((0, 2)));
    assert_eq!(found("pcp-reduce", &[by_fields, (FIELDS, " -k 1,1 "), (KEY_FIELDS, "2")]), Some((0, 1)));
    // The key has two fields, and all of them are those that meet.
    assert_eq!(found("pcp-reduce", &[by_fields, (FIELDS, "-k1,3"), (KEY_FIELDS, "2")]), Some((0, 2)));
    assert_eq!(found("pcp-reduce", &[by_fields, (KEY_FIELDS, "2")]), Some((0, 2)));
    assert_eq!(found("pcp-reduce", &[(KEY_FIELDS, "2")]), Some((1, 2)));
    assert_eq!(found("pcp-reduce", &[("mapred.partitioner.class", BY_KEY)]), Some((1, 1)));
    // A class of the user's, who answers for it.
    let own = ("mapred.partitioner.class", "org.example.Own");
    assert_eq!(found("pcp-reduce", &[own, (PARTITIONER, "org.example.Own")]), None);
    // One task, no Hadoop, and a mapper.
    assert_eq!(found("pcp-reduce", &[(REDUCES, "1"), (KEY_FIELDS, "9")]), None);
    assert_eq!(found("cluster-reduce", &[(REDUCES, "1")]), None);
    assert_eq!(found("pcp-map", &[("mapreduce.task.ismap", "true")]), None);
    assert_eq!(Partition::of_job(stages::get("pcp-reduce").unwrap(), |_| None).unwrap(), None);
}

#[test]
fn jobs_that_part_keys_are_refused() {
    let by_fields = ("mapred.partitioner.class", BY_FIELDS);
    let needs = "-D stream.num.map.output.key.fields=2 -D mapreduce.partition.keypartitioner.options=-k1,1 -partitioner org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner";
    for settings in [
        &[(KEY_FIELDS, "2")][..],
        &[by_fields, (FIELDS, "-k1,2"), (KEY_FIELDS, "2")],
        &[by_fields, (FIELDS, "-k1"), (KEY_FIELDS, "2")],
        &[by_fields, (FIELDS, "-k2,2"), (KEY_FIELDS, "2")],
        &[by_fields, (KEY_FIELDS, "2")],
    ] {
        refused("index-term-reduce", settings, &["equal first 1 fields must meet", needs]);
    }
    let own = ("mapred.partitioner.class", "org.example.Own");
    refused("index-term-reduce", &[own], &[needs, "-cmdenv TWINSPLIT_PARTITIONER=org.example.Own"]);
    refused("index-term-reduce", &[own, (PARTITIONER, "org.example.Other")], &[needs]);
    refused(
        "index-term-reduce",
        &[("mapreduce.task.ismap", "true")],
        &["neither its -mapper nor its -combiner"],
    );
    refused("index-term-reduce", &[(REDUCES, "two")], &["mapreduce.job.reduces is \"two\""]);
    refused("hamming-plan", &[], &["-D mapreduce.job.reduces=1"]);
}

/// Whoever sorts by fewer fields than a group has would not see the group together.
#[test]
fn the_rows_of_a_group_stand_together() {
    let reducers = STAGES.iter().filter(|entry| entry.decl.role == Role::Reduce);
    for entry in reducers {
        let keys = entry.input.keys.expect(entry.decl.name);
        assert!(keys.sort >= keys.partition, "{}", entry.decl.name);
    }
}
