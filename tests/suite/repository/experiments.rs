//! The committed results of the papers' experiments: their numbers agree with one another, and the page shows them.

use crate::common::browser::Browser;
use crate::common::cli::{Place, binaries};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn results() -> PathBuf {
    root().join("experiments/results")
}

/// Rows of a result, by the names of their columns.
pub fn rows(name: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(results().join(format!("{name}.csv"))).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

/// The names of all results.
fn names() -> BTreeSet<String> {
    let files = fs::read_dir(results()).unwrap().map(|entry| entry.unwrap().path());
    let tables = files.filter(|file| file.extension().is_some_and(|extension| extension == "csv"));
    tables.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn each_result_says_how_it_was_made() {
    let names = names();
    assert!(names.contains("fig8") && names.contains("fig8-best"), "{names:?}");
    for name in names {
        let about = fs::read_to_string(results().join(format!("{name}.json"))).unwrap();
        let about: serde_json::Value = serde_json::from_str(&about).unwrap();
        assert_eq!(about["experiment"], *name);
        for field in ["commit", "machine", "command", "date", "about"] {
            assert!(about[field].as_str().is_some_and(|text| !text.is_empty()), "{name}: {field}");
        }
        assert!(about["seed"].is_u64(), "{name}");
        for plot in about["plots"].as_array().unwrap() {
            for extension in ["svg", "png"] {
                let plot = results().join(format!("{}.{extension}", plot.as_str().unwrap()));
                assert!(fs::metadata(&plot).unwrap().len() > 1000, "{}", plot.display());
            }
        }
    }
}

pub fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap()
}

/// Compares precision, recall and F1 of a curve with its counts, and gives the largest F1 of each curve, which is told by
/// these columns.
pub fn best_of_curves(name: &str, told_by: &[&str]) -> BTreeMap<Vec<String>, f64> {
    let mut best: BTreeMap<Vec<String>, f64> = BTreeMap::new();
    for row in rows(name) {
        let [found, wrong, missed] = ["true", "wrong", "missed"].map(|column| number(&row, column));
        let share = |part: f64, whole: f64| if whole == 0.0 { 1.0 } else { part / whole };
        let expected = [
            share(found, found + wrong),
            share(found, found + missed),
            share(2.0 * found, 2.0 * found + wrong + missed),
        ];
        for (column, expected) in ["precision", "recall", "f1"].into_iter().zip(expected) {
            assert!((number(&row, column) - expected).abs() < 1e-6, "{name}: {column} of {row:?}");
        }
        let f1 = best.entry(told_by.iter().map(|column| row[*column].clone()).collect()).or_default();
        *f1 = f1.max(number(&row, "f1"));
    }
    best
}

/// Precision, recall and F1 are those of the counts, and the best row of each curve is the one that is called so.
#[test]
fn scores_are_those_of_the_counts() {
    let best = best_of_curves("fig8", &["corpus", "idf"]);
    assert_eq!(rows("fig8").len(), 96 * best.len());
    let named = rows("fig8-best");
    assert_eq!(named.len(), best.len());
    for row in named {
        let f1 = best[&vec![row["corpus"].clone(), row["idf"].clone()]];
        assert!((number(&row, "f1") - f1).abs() < 1e-4, "{row:?}");
        assert!(
            number(&row, "tau_low") <= number(&row, "tau") && number(&row, "tau") <= number(&row, "tau_high")
        );
    }
}

/// The same of wei2013: the best variant of each method is called so, and every pair on its wrong side has a cause.
#[test]
fn scores_of_chinese_pages_are_those_of_the_counts() {
    let best = best_of_curves("ccdet-accuracy", &["kind", "method", "variant"]);
    assert_eq!(rows("ccdet-accuracy").len(), 91 * best.len());
    let (mut named, mut causes) = (0, 0);
    for row in rows("ccdet-best") {
        let own = |(curve, _): &(&Vec<String>, &f64)| curve[0] == row["kind"] && curve[1] == row["method"];
        let most = best.iter().filter(own).map(|(_, f1)| *f1).fold(0.0, f64::max);
        assert!((number(&row, "f1") - most).abs() < 1e-4, "{row:?}");
        named += 1;
        if row["kind"] == "both" {
            // A pair of the wrong kind is wrong as what it is called, and missed as what it is.
            let of_method = rows("ccdet-causes").into_iter().filter(|cause| cause["method"] == row["method"]);
            let pairs = |cause: BTreeMap<String, String>| {
                number(&cause, "pairs") * if cause["cause"].starts_with("a ") { 2.0 } else { 1.0 }
            };
            assert_eq!(
                of_method.map(pairs).sum::<f64>(),
                number(&row, "wrong") + number(&row, "missed"),
                "{row:?}"
            );
            causes += 1;
        }
    }
    assert_eq!((named, causes), (27, 9));
}

/// Of each category of answers the recall is that of the counts, at the best tau of figure 8 and at the set's own.
#[test]
fn recall_of_categories_is_that_of_the_counts() {
    let best = rows("fig8-best");
    let of_range = |idf: &str| {
        best.iter().find(|row| row["corpus"] == "clough-stevenson" && row["idf"] == idf).expect("a best tau")
    };
    let mut ranges: BTreeMap<String, Vec<BTreeMap<String, String>>> = BTreeMap::new();
    for row in rows("fig8-categories") {
        assert_eq!(row["rule_tau"], of_range(&row["idf"])["tau"], "{row:?}");
        for at in ["rule", "own"] {
            let recall = number(&row, &format!("{at}_found")) / number(&row, "answers");
            assert!((number(&row, &format!("{at}_recall")) - recall).abs() < 1e-4, "{row:?}");
        }
        ranges.entry(row["idf"].clone()).or_default().push(row);
    }
    assert_eq!(ranges.len(), 3);
    for (idf, kinds) in ranges {
        let answers: Vec<_> = kinds.iter().map(|row| (&*row["category"], &*row["answers"])).collect();
        assert_eq!(answers, [("cut", "19"), ("light", "19"), ("heavy", "19"), ("non", "38")], "{idf}");
        let found = |kinds: &[BTreeMap<String, String>]| {
            kinds.iter().map(|row| number(row, "own_found")).sum::<f64>()
        };
        let f1 = 2.0 * found(&kinds[..3]) / (found(&kinds) + 57.0);
        assert!(kinds.iter().all(|row| (number(row, "own_f1") - f1).abs() < 1e-4), "{idf}: {f1}");
    }
}

/// The verdicts on pairs around the rule's edge are those that a reader wrote down, and every table counts them alike.
#[test]
fn tables_of_the_edge_count_what_was_read() {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(b'\t')
        .quoting(false)
        .from_path(root().join("experiments/edge-pairs.tsv"))
        .unwrap();
    let read: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    let mut pairs = rows("edge-pairs");
    let bands: Vec<String> = pairs.iter_mut().map(|row| row.remove("band").unwrap()).collect();
    assert_eq!(pairs, read);

    let mut verdicts: BTreeMap<(String, String, String), f64> = BTreeMap::new();
    let mut causes: BTreeMap<(String, String, String, String), f64> = BTreeMap::new();
    for (row, band) in read.iter().zip(&bands) {
        for corpus in [&*row["corpus"], "all"] {
            *verdicts.entry((corpus.into(), band.clone(), row["verdict"].clone())).or_default() += 1.0;
        }
        let cause = (row["corpus"].clone(), band.clone(), row["verdict"].clone(), row["cause"].clone());
        *causes.entry(cause).or_default() += 1.0;
    }
    let named = rows("edge-causes");
    assert_eq!(named.len(), causes.len());
    for row in named {
        let cause = ["corpus", "band", "verdict", "cause"].map(|column| row[column].clone());
        assert_eq!(causes[&cause.into()], number(&row, "pairs"), "{row:?}");
    }

    let (mut at_the_edge, mut all) = (BTreeMap::<String, [f64; 2]>::new(), 0.0);
    for row in rows("edge") {
        let own = |verdict: &str| {
            let key = (row["corpus"].clone(), row["band"].clone(), verdict.to_owned());
            verdicts.get(&key).copied().unwrap_or_default()
        };
        let counts = ["copy", "version", "other"].map(own);
        for (verdict, count) in ["copy", "version", "other"].into_iter().zip(counts) {
            assert_eq!(number(&row, verdict), count, "{row:?}");
        }
        let read = counts.iter().sum::<f64>();
        assert_eq!(number(&row, "read"), read, "{row:?}");
        let agree = if row["band"] == "below" { read - counts[0] } else { counts[0] };
        assert_eq!(number(&row, "agree"), agree, "{row:?}");
        assert!((number(&row, "agreement") - agree / read).abs() <= 0.0051, "{row:?}");
        if row["corpus"] == "all" {
            all += read;
            continue;
        }
        let expected = if ["below", "above"].contains(&&*row["band"]) { 25.0 } else { 10.0 };
        assert_eq!(read, expected, "{row:?}");
        let within = at_the_edge.entry(row["corpus"].clone()).or_default();
        within[0] += number(&row, "pairs") * agree / read;
        within[1] += number(&row, "pairs");
    }
    assert_eq!(all, read.len() as f64);
    for (row, band) in read.iter().zip(&bands) {
        let limits = rows("edge").into_iter().find(|limits| limits["band"] == *band).unwrap();
        let share = number(row, "word_similarity");
        // The similarity is rounded.
        assert!(number(&limits, "from") <= share && share <= number(&limits, "to"), "{row:?}");
    }

    // At the rule's own edge the share that is told alike is that of the bands, each with its weight.
    for row in rows("edge-where") {
        if let Some([agree, pairs]) = at_the_edge.get(&row["corpus"]).filter(|_| row["edge"] == "0.80") {
            assert!((number(&row, "copy") - agree / pairs).abs() < 1e-4, "{row:?}");
        }
    }
}

/// Each distance has the pairs of the one before and more, and what is called best is the largest F1.
#[test]
fn curves_of_fingerprints_are_cumulative() {
    let count = |row: &BTreeMap<String, String>, column: &str| row[column].parse::<u64>().unwrap();
    let key = |row: &BTreeMap<String, String>| {
        ["corpus", "characters", "weights", "truth"].map(|column| row[column].clone())
    };
    let mut curves: BTreeMap<[String; 4], Vec<BTreeMap<String, String>>> = BTreeMap::new();
    rows("simhash-curve").into_iter().for_each(|row| curves.entry(key(&row)).or_default().push(row));
    let best = rows("simhash-curve-best");
    assert_eq!((best.len(), curves.len()), (64, 64));
    for row in best {
        let curve = &curves[&key(&row)];
        assert_eq!(curve.len(), 17);
        for two in curve.windows(2) {
            assert!(count(&two[0], "distance") + 1 == count(&two[1], "distance"));
            assert!(["true", "wrong"].iter().all(|name| count(&two[0], name) <= count(&two[1], name)));
        }
        for at in curve {
            let [found, wrong, missed] = ["true", "wrong", "missed"].map(|name| count(at, name));
            assert_eq!(found + missed, count(&row, "pairs"), "{at:?}");
            let f1 = 2.0 * found as f64 / ((2 * found + wrong + missed) as f64).max(1.0);
            assert!((number(at, "f1") - f1).abs() < 1e-6 && f1 <= number(&row, "f1") + 1e-4, "{at:?}");
        }
    }
}

/// What `corpora.py` says of a user's own lines: how many texts it takes and leaves out, or why it refuses them.
fn own_lines(text: &str) -> Result<String, String> {
    let here = tempfile::tempdir().unwrap();
    let file = here.path().join("own.jsonl");
    fs::write(&file, text).unwrap();
    let program = "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]); import corpora; \
                   found, left_out = corpora.documents(Path(sys.argv[2])); print(len(found), left_out, corpora.is_chinese(found))";
    let experiments = root().join("experiments");
    let done = Command::new("python3").args(["-c", program]).arg(experiments).arg(&file).output().unwrap();
    let said = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap().trim().to_owned();
    if done.status.success() { Ok(said(&done.stdout)) } else { Err(said(&done.stderr)) }
}

/// A user's own JSON lines are read, equal texts once, or refused with the line, the field and what was expected.
#[test]
fn own_lines_are_read_or_refused_by_line_and_field() {
    let two = "{\"id\": 1, \"text\": \"a b\"}\n{\"id\": \"x\", \"text\": \"c\"}\n";
    assert_eq!(own_lines(two).unwrap(), "2 0 False");
    assert_eq!(own_lines(&format!("{two}{{\"id\": 2, \"text\": \"a b\"}}\n")).unwrap(), "2 1 False");
    assert_eq!(own_lines("{\"id\": 1, \"text\": \"数据 sync 同步\"}\n").unwrap(), "1 0 True");
    for (line, expected) in [
        ("{\"id\": 2}", "line 3: field \"text\": expected a text"),
        ("{\"id\": null, \"text\": \"\"}", "line 3: field \"id\": expected a text or a whole number"),
        ("{\"id\": \"x\", \"text\": \"\"}", "line 3: field \"id\": 'x' stands on an earlier line, too"),
        ("[1]", "line 3: expected a JSON object with the fields id and text"),
        ("{\"id\"", "line 3: expected a JSON object: "),
    ] {
        let error = own_lines(&format!("{two}{line}\n")).unwrap_err();
        assert!(error.contains(expected), "{line}: {error}");
    }
    assert!(own_lines("").unwrap_err().contains("own: no document"));
}

/// Runs a Python program that finds the experiments' modules, with these arguments.
fn python(program: &str, arguments: &[&str], variables: &[(&str, &Path)]) -> String {
    let program = format!("import sys; sys.path.insert(0, sys.argv[1]); {program}");
    let mut command = Command::new("python3");
    command.args(["-c", &program]).arg(root().join("experiments")).args(arguments);
    let done = command.envs(variables.iter().copied()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

/// Seconds until the last task ends when each begins on the slot that is free first.
fn list_scheduled(tasks: &[u64], slots: usize, gap: u64) -> u64 {
    let mut free = vec![0; slots];
    for task in tasks {
        let first = free.iter_mut().min().unwrap();
        *first += gap + task;
    }
    free.into_iter().max().unwrap()
}

/// The model of slots is list scheduling; tasks that share cores take as long as their work takes.
#[test]
fn tasks_are_scheduled_as_a_list() {
    let (mut seed, mut cases) = (77_u64, Vec::new());
    let mut next = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for slots in [1, 2, 3, 8] {
        let tasks: Vec<u64> = (0..1 + next(20)).map(|_| 1 + next(9)).collect();
        let gap = next(3);
        cases.push((list_scheduled(&tasks, slots, gap), tasks, slots, gap));
    }
    for (expected, tasks, slots, gap) in cases {
        let program = "import json, schedule; print(schedule.makespan(*json.loads(sys.argv[2])))";
        let found = python(program, &[&format!("[{tasks:?}, {slots}, {gap}]")], &[]);
        assert!(
            (found.parse::<f64>().unwrap() - expected as f64).abs() < 1e-6,
            "{tasks:?} on {slots}: {found}"
        );
    }
    // Eight equal tasks at once on two cores take four times as long as one; their gaps pass beside one another.
    let shared = python("import schedule; print(schedule.makespan([1] * 8, 8, 0.5, 2))", &[], &[]);
    assert_eq!(shared, "4.5");
}

/// A point is measured once; another program has points of its own.
#[test]
fn points_are_measured_once_for_a_program() {
    let here = tempfile::tempdir().unwrap();
    let experiments = here.path().join("experiments");
    fs::create_dir(&experiments).unwrap();
    for name in ["points.py", "result.py"] {
        fs::copy(root().join("experiments").join(name), experiments.join(name)).unwrap();
    }
    let program = "sys.path.insert(0, sys.argv[2]); import points; own = points.Points('own'); \
                   print([own.measured(setting, lambda: len(own.known)) for setting in ([1, 'a'], [2, 'a'], [1, 'a'])])";
    let bin = here.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let mut said = Vec::new();
    for version in ["one", "one", "two"] {
        fs::write(bin.join("twinsplit"), version).unwrap();
        said.push(python(program, &[experiments.to_str().unwrap()], &[("BIN_DIR", &bin)]));
    }
    assert_eq!(said, ["[0, 1, 0]", "[0, 1, 0]", "[2, 3, 2]"]);
}

/// Rows of a result that were measured, by the values of some columns.
fn measured(name: &str, by: &[&str]) -> BTreeMap<Vec<String>, Vec<BTreeMap<String, String>>> {
    let mut groups: BTreeMap<Vec<String>, Vec<_>> = BTreeMap::new();
    for row in rows(name) {
        let computed = row.get("how").is_some_and(|how| how == "computed");
        assert!(!computed || row["seconds"].is_empty() && number(&row, "disk_MB") > 0.0, "{row:?}");
        if !computed {
            groups.entry(by.iter().map(|column| row[*column].clone()).collect()).or_default().push(row);
        }
    }
    groups
}

/// Methods and engines find the same; Term-Split shuffles more than Doc-Split, and what was not run is what fills the disk.
#[test]
fn term_split_and_doc_split_find_the_same_and_shuffle_other_volumes() {
    let groups = measured("table1", &["documents", "idf", "tau"]);
    assert_eq!(groups.len(), 6);
    for (setting, group) in &groups {
        assert!(
            group
                .iter()
                .all(|row| row["pairs"] == group[0]["pairs"] && row["clusters"] == group[0]["clusters"])
        );
        assert!(number(&group[0], "pairs") > 1000.0 && group.len() >= 4, "{setting:?}");
        let own = |method: &str, engine: &str| {
            group
                .iter()
                .find(|row| row["method"] == method && row["engine"] == engine)
                .map(|row| number(row, "shuffled_MB"))
        };
        assert!(["local", "hadoop"].iter().all(|engine| own("Doc-Split", engine).is_some()), "{setting:?}");
        let (doc_split, term_split) = (own("Doc-Split", "pipes").unwrap(), own("Term-Split", "pipes"));
        assert!(term_split.is_none_or(|bytes| bytes > 10.0 * doc_split), "{setting:?}");
    }
    let most = measured("table1", &["how"])
        .into_values()
        .flatten()
        .map(|row| number(&row, "disk_MB"))
        .fold(0.0, f64::max);
    let computed = rows("table1").into_iter().filter(|row| row["how"] == "computed");
    let disks: Vec<f64> = computed.map(|row| number(&row, "disk_MB")).collect();
    assert!(!disks.is_empty() && disks.iter().all(|disk| *disk > most), "{most} {disks:?}");
}

/// By documents clusters are those of every method and engine, and plain Term-Split's rows grow faster than the documents.
#[test]
fn volumes_by_documents_grow_as_posting_lists_do() {
    for (documents, group) in measured("fig9a", &["documents"]) {
        assert!(group.iter().all(|row| row["clusters"] == group[0]["clusters"]), "{documents:?}");
        assert!(group.iter().any(|row| row["method"] == "Doc-Split"), "{documents:?}");
    }
    let volumes = rows("fig9a-volume");
    assert!(volumes.len() >= 4);
    for row in &volumes {
        assert!((number(row, "GB_at_8_bytes") - number(row, "rows") * 8e-9).abs() < 0.0051, "{row:?}");
        assert_eq!(row["more_than_128_GB"] == "yes", number(row, "disk_GB") > 128.0, "{row:?}");
    }
    for two in volumes.windows(2) {
        let times = number(&two[1], "documents") / number(&two[0], "documents");
        assert!(number(&two[1], "rows") > 1.2 * times * number(&two[0], "rows"), "{two:?}");
    }
}

/// By slots the model is what was measured with one, and says how far it is from what was measured with more.
#[test]
fn the_model_of_slots_stands_beside_what_was_measured() {
    let groups = measured("fig9b", &["method"]);
    assert_eq!(groups.len(), 2);
    for (method, group) in groups {
        let slots: Vec<&str> = group.iter().map(|row| &*row["slots"]).collect();
        assert_eq!(slots, ["1", "2", "4", "8"], "{method:?}");
        assert_eq!(group[0]["seconds"], group[0]["model_on_these_cores"], "{method:?}");
        for row in &group {
            let [seconds, model] = ["seconds", "model_on_these_cores"].map(|column| number(row, column));
            assert!(
                (number(row, "model_against_measured") - (model / seconds - 1.0)).abs() < 0.002,
                "{row:?}"
            );
            assert!(number(row, "model_with_a_core_a_slot") <= model + 0.11, "{row:?}");
        }
    }
}

/// What `corpora.py` makes of documents in a format: the ids, how many it could not read, and the texts.
fn own_documents(here: &Place, path: &str, format: &str) -> String {
    let program = "import argparse, sys; from pathlib import Path; sys.path.insert(0, sys.argv.pop(1)); import corpora; \
                   corpora.WORK = Path('work'); parser = argparse.ArgumentParser(); corpora.add_own(parser, parser); \
                   own = corpora.own(parser.parse_args()); print(corpora.name(own), *corpora.documents(own)[0])";
    let mut command = Command::new("python3");
    command.args(["-c", program]).arg(root().join("experiments")).args(["--corpus", path]);
    command.args(format.split_ascii_whitespace()).env("BIN_DIR", binaries());
    let said = here.run(command, "");
    let bad = said.err.matches("1 documents cannot be read").count();
    format!("{} {bad}", said.ok().trim_end())
}

/// A user's own documents may be TREC files or pages of HTML, too.
#[test]
fn own_documents_are_read_in_other_formats() {
    let here = Place::new();
    fs::create_dir_all(here.path("WT10G/WTX001")).unwrap();
    let document = |id: &str, page: &str| {
        format!("<DOC>\n<DOCNO>{id}</DOCNO>\n<DOCHDR>\nhttp://x/\n</DOCHDR>\n{page}\n</DOC>\n")
    };
    here.write("WT10G/WTX001/B01", document("a", "<title>t</title>one") + "stray\n" + &document("b", "two"));
    assert_eq!(own_documents(&here, "WT10G", "--format trec"), "WT10G ('a', 'one') ('b', 'two') 1");
    fs::create_dir(here.path("site")).unwrap();
    here.write("site/a.html", "<p>x");
    assert_eq!(own_documents(&here, "site", "--format html"), "site ('site/a.html', 'x') 0");
    fs::create_dir(here.path("lines")).unwrap();
    here.write("lines/1.jsonl", "{\"id\":1,\"text\":\"y\"}\n");
    assert_eq!(own_documents(&here, "lines", ""), "lines ('1', 'y') 0");
    assert_eq!(own_documents(&here, "lines/1.jsonl", "--format jsonl"), "1 ('1', 'y') 0");
}

/// The page is made anew from the results, and is the committed one.
#[test]
fn the_page_is_that_of_the_results() {
    let here = tempfile::tempdir().unwrap();
    let copy = |from: &Path, to: &Path| {
        fs::create_dir_all(to).unwrap();
        for file in
            fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()).filter(|file| file.is_file())
        {
            fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
        }
    };
    let experiments = here.path().join("experiments");
    copy(&root().join("experiments"), &experiments);
    copy(&results(), &experiments.join("results"));
    fs::remove_file(experiments.join("results/index.html")).unwrap();
    let made = Command::new("python3").arg(experiments.join("run.py")).arg("page").status().unwrap();
    assert!(made.success());
    let page = |folder: &Path| fs::read_to_string(folder.join("index.html")).unwrap();
    assert!(
        page(&experiments.join("results")) == page(&results()),
        "experiments/results/index.html is not that of the results: make experiments-page"
    );
}

/// A browser shows every number of every table; nothing is wider than a telephone but tables, which scroll by themselves.
#[test]
fn a_browser_shows_every_number() {
    let browser = Browser::start(360);
    browser.open(&results().join("index.html"));
    let mut cells = 0;
    for name in names() {
        let shown = browser.script(&format!(
            "return [...document.querySelectorAll('table[id=\"{name}\"] tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))"
        ));
        let mut reader = csv::Reader::from_path(results().join(format!("{name}.csv"))).unwrap();
        let expected: Vec<Vec<String>> = reader.deserialize().map(Result::unwrap).collect();
        cells += expected.iter().map(Vec::len).sum::<usize>();
        assert_eq!(serde_json::from_value::<Vec<Vec<String>>>(shown).unwrap(), expected, "{name}");
    }
    assert!(cells > 1000, "{cells} cells were compared");
    let wider =
        browser.script("return document.documentElement.scrollWidth > document.documentElement.clientWidth");
    assert_eq!(wider, false);
    assert_eq!(browser.console(), Vec::<String>::new());
}
