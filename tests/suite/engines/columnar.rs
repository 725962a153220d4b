//! Local Doc-Split, and prefix Term-Split, in next to no memory: whatever goes to disk, the answer is the oracle's, byte for byte.

use crate::common::corpora;
use crate::common::expected::{KINDS, Keep};
use crate::common::matrix::Subject;
use crate::common::oracle::short_texts;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseError;
use std::path::PathBuf;
use twinsplit_core::text::{Extractor, FeatureKind, FeatureSpec, dictionary_memory};
use twinsplit_engine::columnar::{ColumnarJoin, ColumnarOpts, ColumnarRun, Ran};
use twinsplit_engine::memory::{DOCUMENT, PROGRAM, THREAD};
use twinsplit_engine::progress::{Done, Progress};
use twinsplit_rows::params::Params;

/// What is left of the memory for rows and sets.
const NEXT_TO_NOTHING: usize = 4 << 10;

struct Case<'a> {
    subject: &'a Subject,
    tau: &'a str,
    options: Vec<(&'a str, &'a str)>,
    threads: usize,
    rest: usize,
    term_split: bool,
}

/// Bytes of the dictionary for Chinese, loaded: it takes part of the memory when any test of this process has loaded it.
fn dictionary() -> usize {
    let words = FeatureKind::parse("words:1", &|_| Err("no files here".into())).unwrap();
    Extractor::new(FeatureSpec::new(words)).set("中文", &mut Vec::new());
    let bytes = dictionary_memory();
    assert!(bytes > 0);
    bytes
}

/// Runs with so little memory, and gives the files of the answer by name, and the steps.
fn run(case: &Case) -> (impl Fn(&str) -> Option<String>, Vec<Done>) {
    let folder = tempfile::tempdir().unwrap();
    let inputs: Vec<PathBuf> = corpora::write(&case.subject.docs, folder.path());
    let (output, work) = (folder.path().join("out"), folder.path().join("work"));
    std::fs::create_dir(&output).unwrap();
    std::fs::create_dir(&work).unwrap();
    let mut params = Params::default();
    for option in case.subject.args.chunks(2) {
        params.set(option[0].trim_start_matches("--"), &option[1]);
    }
    params.set("tau", case.tau);
    case.options.iter().for_each(|(name, value)| params.set(name, *value));
    let names: usize = case.subject.docs.iter().map(|doc| doc.id.len() + 24).sum();
    let documents = case.subject.docs.len() * DOCUMENT + names;
    let run = ColumnarRun {
        inputs: &inputs,
        output: &output,
        opts: params.parse::<ColumnarOpts>().unwrap(),
        work: &work,
        threads: case.threads,
        // An eighth of what the program does not take is the allocator's, a quarter of the rest for working memory.
        memory: PROGRAM + dictionary() + case.threads * THREAD + (documents + case.rest) * 4 / 3 * 8 / 7,
        progress: &Progress::default(),
        write_kept: true,
        join: if case.term_split { ColumnarJoin::PrefixCandidates } else { ColumnarJoin::IndexShards },
    };
    let Ran { steps, .. } = run.run(|_| ()).unwrap();
    assert_eq!(std::fs::read_dir(&work).unwrap().count(), 0, "files left in the work folder");
    let read = move |name: &str| std::fs::read_to_string(folder.path().join("out").join(name)).ok();
    (read, steps)
}

fn spilled(steps: &[Done]) -> u64 {
    steps.iter().filter_map(|step| step.counters.get("spilled_bytes")).sum()
}

fn counter(steps: &[Done], name: &str) -> u64 {
    steps.iter().filter_map(|step| step.counters.get(name)).sum()
}

/// Random corpora, at every kind of option that changes the way.
#[test]
fn nothing_but_disk_gives_the_oracles_answer() {
    let mut slices = [0; 2];
    for (at, tau) in ["0.1", "0.3", "0.5", "0.7", "0.9", "1.0"].into_iter().enumerate() {
        let subject = Subject::new(corpora::random(300 + at as u64, 160, 90), "lines", "0.1");
        for (turn, kind) in KINDS.into_iter().enumerate() {
            for (keep, partition) in [(Keep::SmallestId, "by-size"), (Keep::Longest, "by-task")] {
                let mut options =
                    vec![("cluster", kind.name()), ("partition", partition), ("keep", keep.args()[1])];
                let expected = subject.expected(tau, kind, keep);
                for (write, threads, rest, term_split) in [
                    ("pairs", 1 + turn, NEXT_TO_NOTHING, false),
                    ("clusters", 3, NEXT_TO_NOTHING, false),
                    ("pairs", 2, 64 << 20, false),
                    ("pairs", 2 + turn, NEXT_TO_NOTHING, true),
                    ("clusters", 1, 64 << 20, true),
                ] {
                    options.push(("write", write));
                    let options_now = options.clone();
                    let case =
                        Case { subject: &subject, tau, options: options_now, threads, rest, term_split };
                    let (read, steps) = run(&case);
                    let about = format!(
                        "tau {tau}, {:?}, {threads} threads, {rest} bytes, Term-Split {term_split}",
                        case.options
                    );
                    assert_eq!(read("clusters.tsv").as_ref(), Some(&expected.clusters), "{about}");
                    assert_eq!(read("kept.jsonl").as_ref(), Some(&expected.kept), "{about}");
                    let pairs = (write == "pairs").then_some(&expected.pairs);
                    assert_eq!(read("pairs.tsv").as_ref(), pairs, "{about}");
                    let written = pairs.map_or(0, |pairs| pairs.lines().count() as u64);
                    assert_eq!(counter(&steps, "pairs"), written, "{about}");
                    assert_eq!(spilled(&steps) > 0, rest == NEXT_TO_NOTHING, "{about}");
                    if partition == "by-size" && rest == NEXT_TO_NOTHING {
                        let most = &mut slices[usize::from(term_split)];
                        *most = counter(&steps, "slices").max(*most);
                    }
                    // Without pairs no candidates are put down.
                    if term_split && write == "pairs" {
                        let rows = counter(&steps, "candidate_bytes");
                        assert!(rows >= counter(&steps, "candidate_pairs"), "{about}");
                        assert!(
                            counter(&steps, "candidate_pairs") >= counter(&steps, "joined_pairs"),
                            "{about}"
                        );
                    }
                    options.pop();
                }
            }
        }
    }
    assert!(slices.iter().all(|most| *most > 1), "no run cut the sets into slices: {slices:?}");
}

/// Lines are kept by their places in the first reading, so another file under the name would give those of others.
#[test]
fn an_input_that_changes_while_it_is_read_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let subject = Subject::new(corpora::random(7, 40, 30), "lines", "0.1");
    let inputs: Vec<PathBuf> = corpora::write(&subject.docs, folder.path());
    let changed = &inputs[0];
    let mut params = Params::default();
    subject.args.chunks(2).for_each(|option| params.set(option[0].trim_start_matches("--"), &option[1]));
    let run = ColumnarRun {
        inputs: &inputs,
        output: folder.path(),
        opts: params.parse::<ColumnarOpts>().unwrap(),
        work: folder.path(),
        threads: 2,
        memory: 1 << 30,
        progress: &Progress::default(),
        write_kept: true,
        join: ColumnarJoin::IndexShards,
    };
    let unchanged = run.run(|_| ()).unwrap();
    assert_eq!(unchanged.read.len(), inputs.len());
    assert_eq!(unchanged.read[0].bytes, changed.metadata().unwrap().len());
    let said = run.run(|step| {
        if step.name == "keep" {
            let mut bytes = std::fs::read(changed).unwrap();
            let last = bytes.iter().rposition(u8::is_ascii_alphanumeric).unwrap();
            bytes[last] ^= 1;
            std::fs::write(changed, bytes).unwrap();
        }
    });
    let said = said.err().unwrap().to_string();
    assert!(said.contains(&*changed.to_string_lossy()) && said.contains("changed while"), "{said}");
}

fn holds(
    seed: u64,
    size: usize,
    vocabulary: usize,
    tau: &str,
    threads: usize,
    rest: usize,
) -> Result<(), TestCaseError> {
    let subject = Subject::new(corpora::random(seed, size, vocabulary), "lines", "0.1");
    let expected = subject.expected(tau, KINDS[0], Keep::SmallestId);
    for term_split in [false, true] {
        let case = Case { subject: &subject, tau, options: vec![], threads, rest, term_split };
        let (read, _) = run(&case);
        prop_assert_eq!(read("pairs.tsv"), Some(expected.pairs.clone()));
        prop_assert_eq!(read("clusters.tsv"), Some(expected.clusters.clone()));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, max_shrink_iters: 40, ..Default::default() })]

    /// Every amount of memory from nothing to plenty.
    #[test]
    fn any_memory_gives_the_same(
        seed: u64, size in 1usize..120, vocabulary in 5usize..300, tau in select(vec!["0.2", "0.55", "0.8"]),
        threads in 1usize..4, rest in 1usize..19,
    ) {
        holds(seed, size, vocabulary, tau, threads, 1 << rest)?;
    }
}

/// An IDF range takes features out of the sets after they were read, those of one document too.
#[test]
fn features_out_of_the_idf_range_are_out_of_the_sets() {
    let docs = corpora::idf_boundaries();
    for (range, least, most) in [("0.2,0.8", 4, 256), ("0,0.8", 4, 1024), ("0.2,1", 1, 256)] {
        let mut sets = crate::common::features::of(&docs, "lines");
        let texts = short_texts(&docs, &sets, 1);
        let mut frequencies = std::collections::HashMap::new();
        sets.iter().flatten().for_each(|f| *frequencies.entry(f.clone()).or_insert(0) += 1);
        sets.iter_mut().for_each(|set| set.retain(|f| (least..=most).contains(&frequencies[f])));
        let subject =
            Subject::with_sets(docs.clone(), (sets, texts), "0.3", &["--features", "lines", "--idf", range]);
        let expected = subject.expected("0.3", KINDS[0], Keep::SmallestId);
        assert!(expected.pairs.lines().count() > 100);
        for rest in [NEXT_TO_NOTHING, 64 << 20] {
            let case =
                Case { subject: &subject, tau: "0.3", options: vec![], threads: 2, rest, term_split: false };
            let (read, _) = run(&case);
            assert_eq!(read("pairs.tsv").as_ref(), Some(&expected.pairs), "{range} in {rest} bytes");
            assert_eq!(read("clusters.tsv").as_ref(), Some(&expected.clusters), "{range} in {rest} bytes");
        }
    }
}
