//! `twinsplit plan --estimate`: what it says of a collection, by a sample, beside what a run over all of it counts.

use crate::common::cli::{Place, fixture, jsonl};
use serde_json::Value;

/// Volumes below this are a few rows, whose number is chance.
const SMALL: u64 = 256 << 10;

pub fn estimated(here: &Place, line: &str) -> Value {
    serde_json::from_str(&here.say(&format!("twinsplit plan {line} --estimate --json")).ok()).unwrap()
}

#[track_caller]
pub fn within_two(what: &str, estimate: u64, real: u64) {
    assert!(
        estimate <= 2 * real && real <= 2 * estimate,
        "{what}: about {estimate} were estimated, and {real} came"
    );
}

/// Compares each step's volumes with those that a run counted, and gives how many were not too small to compare. Where a sample does not tell
/// something of a step, the step's volumes are within their bounds.
#[track_caller]
pub fn volumes_within_two(estimate: &Value, run: &Value) -> usize {
    let mut compared = 0;
    for step in estimate["steps"].as_array().unwrap() {
        let name = step["step"].as_str().unwrap();
        let counters = &run["counters"][name];
        let first_of = |names: [&str; 2]| names.iter().find_map(|name| counters[*name].as_u64());
        // What a step reads is what others wrote.
        let real = [
            ("bytes_shuffled", first_of(["reduce_bytes_in"; 2]).or(Some(0))),
            ("bytes_written", first_of(["reduce_bytes_out", "map_bytes_out"])),
        ];
        for (what, real) in real {
            let (estimate, real) = (step[what].as_u64().unwrap(), real.unwrap());
            if real.max(estimate) > SMALL {
                let [low, _, high] = range(step, what);
                match step["unknown"].as_str() {
                    None => within_two(&format!("{name}, {what}"), estimate, real),
                    Some(unknown) => assert!(
                        low <= real as f64 && real as f64 <= high,
                        "{name}, {what}: {low} to {high} were estimated, and {real} came ({unknown})"
                    ),
                }
                compared += 1;
            }
        }
    }
    compared
}

/// What a cluster's scheduler is asked for is what the script asks for.
#[test]
fn tasks_and_memory_are_those_of_the_script() {
    let here = Place::new();
    let text = |n: usize| format!("one two three four five {} six seven {}", n % 7, n);
    let documents: Vec<(String, String)> = (0..600).map(|n| (format!("d{n}"), text(n))).collect();
    let lines: Vec<(&str, &str)> = documents.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    here.write("docs", jsonl(&lines));
    let line = "doc-split --features words:2 --slices 3 --slice-memory 100 --engine hadoop";
    let estimate = estimated(&here, &format!("{line} --input docs --reducers 5 --documents 1000000"));
    let script = here.say(&format!("twinsplit plan {line}")).ok();
    let steps = estimate["steps"].as_array().unwrap();
    let step = |name: &str| steps.iter().find(|step| step["step"] == name).unwrap();

    let query = step("docsplit-query");
    assert_eq!(query["jobs"], 3);
    let megabytes = query["map_megabytes"].as_u64().unwrap();
    let asked = format!(" map_mb={} each slices ", megabytes - 400);
    let call = script.split("\nstep ").find(|call| call.starts_with("docsplit-query ")).unwrap();
    assert!(call.contains(&asked), "{asked} is not in {call}");
    assert_eq!(step("index-doc")["reduces"], 3);
    // So many documents have more pairs than one task holds.
    assert_eq!(step("keep-rank")["reduces"], 5);
    assert_eq!(step("size-count")["reduces"], 1);
    // Blocks of 128 MB, and two tasks at least.
    let bytes = step("tokenize")["bytes_read"].as_u64().unwrap();
    assert_eq!(step("tokenize")["maps"].as_u64(), Some(bytes.div_ceil(128 << 20).max(2)));
}

/// By size the sample has two slices and each of its halves one; by task nothing counts sizes.
#[test]
fn each_slice_is_a_job_that_reads_all_sets() {
    let here = Place::new();
    let text = |n: usize| (0..80).map(|word| format!("{n}x{word} ")).collect::<String>();
    let documents: Vec<(String, String)> = (0..600).map(|n| (format!("d{n}"), text(n))).collect();
    let lines: Vec<(&str, &str)> = documents.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    here.write("docs", jsonl(&lines));
    // 79 features a document, and 32 bytes a feature.
    let by_size = (60_000 * 79 * 32u64).div_ceil(1 << 20);
    for (options, slices) in [("--slice-memory 1", by_size), ("--partition by-task --slices 3", 3)] {
        let line = format!("doc-split --features words:2 {options} --write-kept --engine hadoop");
        let estimate = estimated(&here, &format!("{line} --input docs --documents 60000"));
        let steps = estimate["steps"].as_array().unwrap();
        let step = |name: &str| steps.iter().find(|step| step["step"] == name).unwrap();
        let bytes = |name: &str, what: &str| step(name)[what].as_u64().unwrap();
        let jobs = bytes("docsplit-query", "jobs");
        assert!(jobs.abs_diff(slices) <= 1, "{options}: {jobs} jobs, not {slices}");
        let read = bytes("docsplit-query", "bytes_read");
        assert!(read.abs_diff(jobs * bytes("tokenize", "bytes_written")) <= jobs, "{options}: {read} bytes");
        // No document is a copy.
        assert_eq!(bytes("write-kept", "bytes_read"), bytes("tokenize", "bytes_read"));
        assert_eq!(bytes("write-kept", "bytes_written"), bytes("tokenize", "bytes_read"));
    }
}

#[test]
fn a_run_that_its_limit_will_stop_is_named_before_it_is_begun() {
    let here = Place::new();
    let documents: Vec<(String, String)> =
        (0..400).map(|n| (format!("d{n}"), format!("the same word and {n}"))).collect();
    let lines: Vec<(&str, &str)> = documents.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    here.write("docs", jsonl(&lines));
    let line = "term-split --features words:1 --tau 0.9 --input docs --documents 4000 --max-pairs";
    let said = here.say(&format!("twinsplit plan {line} 1000000 --estimate")).ok();
    assert!(said.contains("warning: index-term will stop the run: about 3"), "{said}");
    assert!(!here.say(&format!("twinsplit plan {line} 100000000 --estimate")).ok().contains("warning"));
    let estimate = estimated(&here, &format!("{line} 1000000"));
    let steps = estimate["steps"].as_array().unwrap();
    let guard = &steps.iter().find(|step| step["step"] == "index-term").unwrap()["guards"][0];
    // Four words are in all 4,000 documents.
    within_two("pairs of postings", guard["count"].as_u64().unwrap(), 4 * 4_000 * 3_999 / 2);
    assert_eq!((guard["option"].as_str(), guard["limit"].as_u64()), (Some("max-pairs"), Some(1_000_000)));
    here.say("twinsplit plan doc-split --estimate --input docs --documents 10")
        .fails(2, &["--documents 10", "400"]);
}

/// What is expected of one number in an estimate.
/// Pairs of the answer are as many as the estimate says, and no square of them.
#[test]
fn pairs_that_stop_a_run_are_those_that_are_expected() {
    let here = Place::new();
    let docs = fixture("documents/tiny.jsonl").display().to_string();
    let plan = |documents: u64| {
        here.say(&format!("twinsplit plan doc-split --estimate --input {docs} --documents {documents}")).ok()
    };
    assert!(!plan(1_000_000).contains("will stop the run"));
    assert!(plan(100_000_000_000).contains("expand-right will stop the run: about 58,600,000,000"));
}

fn range(of: &Value, what: &str) -> [f64; 3] {
    let bounds = &of[format!("{what}_range")];
    [bounds[0].as_f64().unwrap(), of[what].as_f64().unwrap(), bounds[1].as_f64().unwrap()]
}

/// Steps whose rows belong to documents alone.
const OF_DOCUMENTS: [&str; 3] = ["tokenize", "index-doc", "write-kept"];

/// A sixteenth of a generated crawl says what a run over all of it moves: within the interval of each volume, and within 1.5 times where
/// it belongs to documents; of pairs a small sample has few. Gives how many volumes were compared.
fn sixteen_times(line: &str, sample: u32) -> usize {
    let here = Place::new();
    here.say("twinsplit generate-corpus --documents 6400 --bytes 6M --quiet --output corpus").ok();
    let line = format!("{line} --write-kept --engine pipes --input corpus/documents.jsonl");
    here.say(&format!("twinsplit run {line} --quiet --output out")).ok();
    let run: Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
    let estimate = estimated(&here, &format!("{line} --sample {sample}"));
    let [low, likely, high] = range(&estimate, "pairs");
    let pairs = here.read("out/pairs.tsv").lines().count() as f64;
    assert!(low <= pairs && pairs <= high, "{pairs} pairs, {low} to {high} by {likely}");
    let mut compared = 0;
    for step in estimate["steps"].as_array().unwrap() {
        let name = step["step"].as_str().unwrap();
        let counters = &run["counters"][name];
        let first_of = |names: [&str; 2]| names.iter().find_map(|name| counters[*name].as_f64());
        // What a step reads is what others wrote.
        for (what, came) in [
            ("bytes_shuffled", first_of(["reduce_bytes_in"; 2]).or(Some(0.0))),
            ("bytes_written", first_of(["reduce_bytes_out", "map_bytes_out"])),
        ] {
            let ([low, likely, high], came) = (range(step, what), came.unwrap());
            if came.max(likely) < SMALL as f64 {
                continue;
            }
            let said = format!("{name}, {what}: {came} came, {low} to {high} by {likely} were estimated");
            // Rounding of whole numbers.
            assert!(low <= came * 1.001 && came * 0.999 <= high, "{said}");
            let near = likely <= 1.5 * came && came <= 1.5 * likely;
            assert!(near || step["unknown"].is_string() || !OF_DOCUMENTS.contains(&name), "{said}");
            compared += 1;
        }
    }
    compared
}

#[test]
fn a_sixteenth_of_a_crawl_tells_what_all_of_it_moves() {
    let doc_split = sixteen_times("doc-split --tau 0.65", 400);
    let prefix = sixteen_times("term-split --pcp prefix --tau 0.65", 400);
    let minhash = sixteen_times("minhash --bands 20 --rows 5 --tau 0.65", 400);
    println!("{doc_split}, {prefix} and {minhash} volumes");
    assert!(doc_split >= 6 && prefix >= 6 && minhash >= 6, "{doc_split}, {prefix} and {minhash} volumes");
}

/// A small part of billions of documents: nothing is larger than what can be, and what a sample cannot know is said.
#[test]
fn billions_of_documents_have_no_absurd_volumes() {
    let here = Place::new();
    here.say("twinsplit generate-corpus --documents 600 --bytes 600K --quiet --output corpus").ok();
    let line =
        "term-split --pcp prefix --engine hadoop --input corpus/documents.jsonl --documents 3000000000";
    let estimate = estimated(&here, line);
    let steps = estimate["steps"].as_array().unwrap();
    let bytes = estimate["bytes"].as_f64().unwrap();
    let tokenize = steps.iter().find(|step| step["step"] == "tokenize").unwrap();
    // Features of three words take about twice the text, and of equal texts one is left.
    for what in ["bytes_shuffled", "bytes_written"] {
        let [low, likely, high] = range(tokenize, what);
        assert!(
            bytes < 4.0 * low && low <= likely && likely <= high && high < 5.0 * bytes,
            "{what}: {tokenize}"
        );
    }
    // Numbers of 64 bits end there.
    assert!(!estimate.to_string().contains(&u64::MAX.to_string()), "{estimate}");
    let said = here.say(&format!("twinsplit plan {line} --estimate")).ok();
    assert!(said.contains("Beyond the documents that were read"), "{said}");
    assert!(said.contains("A sample does not tell features that are in few documents"), "{said}");
    assert!(!said.contains("16.00 EiB"), "{said}");
    assert_eq!(estimate["uniform"], false);
}
