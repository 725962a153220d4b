//! Of prefix Term-Split no task grows with the collection: with twice the documents and twice the tasks the largest input of a task of each
//! step is what it was, and an order of features is made of no more documents.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::common::cli::{Place, fixture, search_path};
use crate::common::harness::bash;
use crate::common::rng::Rng;

/// Documents in families of four that differ in few words: words of a family, and some that a sixteenth of all documents have.
fn documents(families: usize) -> String {
    let mut rng = Rng::new(17);
    let mut lines = String::new();
    for family in 0..families {
        let mut words: Vec<String> = (0..12).map(|word| format!("f{family}x{word}")).collect();
        words.extend((0..6).map(|_| format!("common{}", rng.below(100))));
        for member in 0..4 {
            let at = rng.below(12);
            words[at] = format!("f{family}y{member}");
            writeln!(lines, r#"{{"id":"d{family}-{member}","text":"{}"}}"#, words.join(" ")).unwrap();
        }
    }
    lines
}

/// The largest number of bytes that a task of each step read, mappers and reducers apart, and a counter of all tasks.
fn largest(here: &Place, families: usize, tasks: usize, options: &str) -> (BTreeMap<String, u64>, u64) {
    let name = format!("{families}-{}", options.replace(' ', "-"));
    here.write("docs", documents(families));
    let line = format!(
        "twinsplit plan term-split --pcp prefix --engine pipes --features words:1 --tau 0.7 {options}"
    );
    here.write("chain", here.say(&line).ok());
    let tasks = tasks.to_string();
    let mut script = bash();
    script.args([&here.path("chain"), &here.path(&name), &here.path("docs")]).env("PATH", search_path());
    script.env("JOBS_LIB", fixture("../jobs/lib")).env("JOBS", "2");
    script.env("MAPPERS", &tasks).env("REDUCERS", &tasks).env("SORT_MEMORY", "16M");
    here.run(script, "").ok();
    let (mut sizes, mut postings) = (BTreeMap::new(), 0);
    for step in here.names(&format!("{name}/_work/_counters")) {
        for task in here.names(&format!("{name}/_work/_counters/{step}")) {
            for line in here.read(&format!("{name}/_work/_counters/{step}/{task}")).lines() {
                let (counter, number) = line.split_once('\t').unwrap();
                let number: u64 = number.parse().unwrap();
                if let Some(role) = counter.strip_suffix("_bytes_in") {
                    let largest = sizes.entry(format!("{step} {role}")).or_insert(0);
                    *largest = number.max(*largest);
                }
                postings += if step == "index-term" && counter == "pairs_of_postings" { number } else { 0 };
            }
        }
    }
    (sizes, postings)
}

#[test]
fn no_task_of_prefix_term_split_grows_with_the_collection() {
    let here = Place::new();
    // Many tasks join the graph, as where it is large. Of a family's pairs one task leaves out what closes a circle, which few meet in one of
    // four tasks and more, so that there is no growth to them.
    let options = "--order-sample 400 --graph 0";
    let runs =
        [(2000, 4), (4000, 8), (8000, 16)].map(|(families, tasks)| largest(&here, families, tasks, options));
    let [few, twice, four_times] = runs.each_ref().map(|(sizes, _)| sizes);
    for step in [
        "tokenize map",
        "feature-sample reduce",
        "feature-order reduce",
        "index-term reduce",
        "verify-right reduce",
    ] {
        assert!(few[step] > 1000, "{step}: {few:?}");
    }
    for (step, most) in few {
        for (documents, sizes) in [(16000, twice), (32000, four_times)] {
            let came = sizes[step];
            assert!(5 * came <= 6 * most, "{step}: {most} bytes of 8000 documents, {came} of {documents}");
        }
    }
    println!("{} inputs of tasks", few.len());
    // It is the sample that keeps frequent words out of prefixes: by hashes alone pairs of postings grow with the square.
    let by_hashes = [(300, 4), (600, 8)]
        .map(|(families, tasks)| largest(&here, families, tasks, "--order-sample 0 --graph 0").1);
    let by_sample = [runs[0].1, runs[1].1];
    assert!(5 * by_sample[1] <= 11 * by_sample[0], "{by_sample:?}");
    assert!(by_hashes[1] >= 3 * by_hashes[0], "{by_hashes:?}");
}
