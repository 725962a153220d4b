//! A job of Hadoop Streaming that brings the rows of a key to several reducers loses what only all of them show: each reducer
//! says so. The settings of a job stand in the environment of its tasks; what Hadoop itself does is in `engines/hadoop.rs`.

use super::errors::{name_of, reducers};
use crate::common::cli::{Place, Said};
use twinsplit_rows::stage::Role;
use twinsplit_rows::stages::STAGES;

const BY_FIELDS: &str = "org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner";

/// Which of two tasks has a key, by the definition of a hash of Java: the sum of 31^(n-1-i)·b[i] of signed bytes, and 31^n more
/// where it begins with 1.
fn task_of(key: &str, start: i64) -> u32 {
    let mut hash = start;
    for byte in key.bytes() {
        hash = (hash * 31 + i64::from(byte as i8)) & 0xffff_ffff;
    }
    ((hash & 0x7fff_ffff) % 2) as u32
}

/// A reduce task of a job with two of them.
fn task(here: &Place, command: &str, row: &str, number: u32, settings: &[(&str, &str)]) -> Said {
    let number = number.to_string();
    let job = [
        ("mapreduce_task_attempt_id", "attempt_1_r_000000_0"),
        ("mapreduce_task_ismap", "false"),
        ("mapreduce_task_partition", &*number),
        ("mapreduce_job_reduces", "2"),
    ];
    here.with(command, format!("{row}\n"), &[&job, settings].concat())
}

#[test]
fn every_reducer_says_that_a_key_belongs_to_another_task() {
    let (here, mut cases) = (Place::new(), 0);
    for (command, row) in reducers() {
        let name = name_of(command);
        let entry = STAGES.iter().find(|entry| entry.decl.name == name).unwrap();
        let keys = entry.input.keys.unwrap();
        let [met, sorted] = [keys.partition, keys.sort].map(|fields| fields.to_string());
        let leading = row.split('\t').take(keys.partition).collect::<Vec<_>>().join("\t");
        let options = format!(
            "-D stream.num.map.output.key.fields={sorted} -D mapreduce.partition.keypartitioner.options=-k1,{met} -partitioner {BY_FIELDS}"
        );
        let (class, fields) = ("mapred_partitioner_class", "mapreduce_partition_keypartitioner_options");
        let key = ("stream_num_map_output_key_fields", &*sorted);
        let (one, all) = (format!("-k1,{met}"), format!("-k1,{sorted}"));
        let by_fields = [(class, BY_FIELDS), (fields, &*one), key];
        let mut case = |number, settings: &[(&str, &str)], words: &[&str]| {
            cases += 1;
            let said = task(&here, command, &row, number, settings);
            match words {
                [] => drop(said.ok()),
                words => drop(said.fails(1, &[&[name], words].concat())),
            }
        };
        case(0, &[key, ("mapreduce_task_ismap", "true")], &["neither its -mapper nor its -combiner"]);
        if entry.one_task {
            case(0, &by_fields, &["needs all rows in one task", "-D mapreduce.job.reduces=1"]);
            case(0, &[("mapreduce_job_reduces", "1")], &[]);
            continue;
        }
        // Right: Hadoop's partitioner by fields, and that by the whole key where the key is what meets.
        let own = task_of(&leading, 0);
        case(own, &by_fields, &[]);
        case(task_of(&leading, 1), &[("stream_num_map_output_key_fields", &*met)], &[]);
        // The job says that it is right, and the row is not.
        case(1 - own, &by_fields, &[&format!("belongs to task {own} of 2"), &options]);
        // Another class, which the user answers for or not.
        case(1 - own, &[(class, "a.B"), ("TWINSPLIT_PARTITIONER", "a.B")], &[]);
        case(own, &[(class, "a.B")], &["a.B", "-cmdenv TWINSPLIT_PARTITIONER=a.B", &options]);
        if keys.sort > keys.partition {
            // What a job does when its partitioner is not named, and wrong fields.
            case(own, &[key], &["HashPartitioner", &options]);
            case(own, &[(class, BY_FIELDS), (fields, &*all), key], &[&*all, &options]);
            case(own, &[(class, BY_FIELDS), key], &["KeyFieldBasedPartitioner", &options]);
        }
    }
    println!("{cases} cases");
    // 39 reducers: 5 are one task, and 31 of the others sort by more than meets.
    assert_eq!(cases, 5 * 3 + 34 * 6 + 31 * 3);
}

/// One task of all fingerprints' numbers has no fields to meet by.
#[test]
fn a_reducer_without_a_key_is_one_task() {
    let here = Place::new();
    let reducers = STAGES.iter().filter(|entry| entry.decl.role == Role::Reduce);
    let without: Vec<_> =
        reducers.filter(|entry| entry.input.keys.is_none_or(|keys| keys.partition == 0)).collect();
    assert_eq!(without.iter().map(|entry| entry.decl.name).collect::<Vec<_>>(), ["hamming-plan"]);
    task(&here, "hamming-plan", "3\t3\t64", 0, &[]).fails(1, &["-D mapreduce.job.reduces=1"]);
}

/// Locally, in pipes and under Spark nothing says that a job has tasks.
#[test]
fn settings_of_jobs_mean_nothing_where_no_job_is() {
    let here = Place::new();
    let variables = [("mapreduce_job_reduces", "2"), ("mapreduce_task_partition", "1")];
    here.with("index-term-reduce", "00000000000000aa\ta\t3\n", &variables).ok();
}
