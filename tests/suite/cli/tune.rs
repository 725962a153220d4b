//! `twinsplit tune`: its counts are those of a run over the sampled documents and of brute force, its examples are
//! the pairs nearest to each threshold, and its sample depends on ids and seed alone.

use crate::common::cli::{Place, Said, fixture, jsonl};
use crate::common::expected::{KINDS, Keep, Kind, clusters};
use crate::common::harness::counted;
use crate::common::oracle::{Doc, Features, Overlaps, Pair, decimal, short_texts, six_decimals};
use crate::common::{corpora, features};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use twinsplit_core::hash;

/// The object that `--json` writes.
pub fn tuned(here: &Place, line: &str) -> Value {
    serde_json::from_str(&here.say(&format!("twinsplit tune {line} --quiet --json")).ok()).unwrap()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a Vec<Value> {
    value[name].as_array().unwrap_or_else(|| panic!("no list {name} in {value}"))
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("no text {name} in {value}"))
}

/// Pairs, clusters, documents to drop, documents of the largest cluster.
fn counts(row: &Value) -> [u64; 4] {
    ["pairs", "clusters", "documents_dropped", "largest_cluster"].map(|name| row[name].as_u64().unwrap())
}

/// The same of the files that a run wrote.
fn counts_of_run(here: &Place) -> [u64; 4] {
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    let clusters = here.read("out/clusters.tsv");
    for row in clusters.lines() {
        *sizes.entry(row.split('\t').next().unwrap().to_owned()).or_default() += 1;
    }
    let dropped = clusters.lines().filter(|row| row.split('\t').nth(2) == Some("drop")).count();
    let pairs = here.read("out/pairs.tsv").lines().count();
    [pairs as u64, sizes.len() as u64, dropped as u64, sizes.values().copied().max().unwrap_or(0)]
}

/// Runs Doc-Split over the documents of a sample at every row, and compares. Gives the number of pairs compared.
pub fn equals_runs(here: &Place, found: &Value, sample: &str, options: &str) -> u64 {
    let mut pairs = 0;
    for kind in list(found, "kinds") {
        for row in list(kind, "rows") {
            let about = format!("--features {} --tau {} {options}", text(kind, "features"), text(row, "tau"));
            let run = format!("twinsplit run doc-split --input {sample} {about}");
            here.say(&format!("{} --output out --overwrite --quiet", run.trim_end())).ok();
            assert_eq!(counts(row), counts_of_run(here), "{about}");
            pairs += counts(row)[0];
        }
        // Before any IDF range, which may leave a document without features.
        if !options.contains("--idf") {
            let without = counted(&here.path("out/run.json"), "without_features").unwrap();
            assert_eq!(kind["without_features"].as_u64(), Some(without), "{kind}");
        }
    }
    pairs
}

fn fixtures() -> String {
    let name = |language| fixture(&format!("documents/{language}.jsonl.gz")).display().to_string();
    format!("{} {}", name("en"), name("zh"))
}

const KINDS_OF_FEATURES: &str = "words:3,chars:5,sentence-ends:10,spotsigs,spotsigs:zh";

#[test]
fn counts_on_english_and_chinese_equal_runs_over_the_sample() {
    let here = Place::new();
    for (options, seed) in [
        ("", 0),
        ("--cluster star --keep longest", 1),
        ("--idf 0.1,0.95 --min-features 3 --normalise nfc", 2),
    ] {
        let line = format!(
            "--input {} --sample 500 --seed {seed} --kinds {KINDS_OF_FEATURES} --taus 0.3,0.55,0.9 \
             --write-sample sample.jsonl --overwrite {options}",
            fixtures()
        );
        let found = tuned(&here, line.trim_end());
        assert_eq!(here.read("sample.jsonl").lines().count(), 500);
        assert_eq!(found["sample"]["of"], 1_240);
        let pairs = equals_runs(&here, &found, "sample.jsonl", options);
        assert!(pairs > 1_000, "{options}: only {pairs} pairs were compared");
    }
}

/// A document as brute force sees it: the examples of documents with equal sets are those of the smallest id.
struct Oracle {
    docs: Vec<Doc>,
    sets: Vec<Features>,
    texts: Vec<Option<String>>,
    overlaps: Overlaps,
}

type Example = (String, String, u64, u64, String);

impl Oracle {
    /// Documents in byte order of ids, so that the smaller position has the smaller id.
    fn new(mut docs: Vec<Doc>, kind: &str) -> Self {
        docs.sort_by(|x, y| x.id.as_bytes().cmp(y.id.as_bytes()));
        let sets = features::of(&docs, kind);
        let overlaps = Overlaps::count(&sets, "0.000000001");
        let texts = short_texts(&docs, &sets, 1);
        Self { docs, sets, texts, overlaps }
    }

    fn counts(&self, tau: &str, kind: Kind) -> [u64; 4] {
        let pairs = self.overlaps.pairs(tau);
        let clusters = clusters(&self.docs, &self.texts, &pairs, kind, Keep::SmallestId);
        let members: usize = clusters.values().map(Vec::len).sum();
        let largest = clusters.values().map(Vec::len).max().unwrap_or(0);
        [pairs.len(), clusters.len(), members - clusters.len(), largest].map(|count| count as u64)
    }

    fn example(&self, pair: &Pair) -> Example {
        let [a, b] = [pair.a, pair.b].map(|at| self.docs[at].id.clone());
        (a, b, pair.overlap as u64, pair.union as u64, six_decimals(pair.overlap, pair.union))
    }

    /// The nearest pairs at or above a threshold and below it, down to `floor`.
    fn nearest(&self, tau: &str, floor: &str, most: usize) -> [Vec<Example>; 2] {
        let mut first: BTreeMap<&Features, usize> = BTreeMap::new();
        for (at, set) in self.sets.iter().enumerate() {
            first.entry(set).or_insert(at);
        }
        let stands_for_all = |at: usize| first[&self.sets[at]] == at;
        // Of different sets both are the first of their group; of equal ones the second is the next.
        let mut pairs: Vec<Pair> = Vec::new();
        let mut groups: BTreeSet<usize> = BTreeSet::new();
        for pair in self.overlaps.pairs(floor) {
            let equal = self.sets[pair.a] == self.sets[pair.b];
            let shown = if equal {
                stands_for_all(pair.a) && groups.insert(pair.a)
            } else {
                stands_for_all(pair.a) && stands_for_all(pair.b)
            };
            if shown {
                pairs.push(pair);
            }
        }
        let (mut above, mut below): (Vec<Pair>, Vec<Pair>) =
            pairs.into_iter().partition(|pair| pair.jaccard() >= decimal(tau));
        above.sort_by_key(|pair| (pair.jaccard(), pair.a, pair.b));
        below.sort_by_key(|pair| (Reverse(pair.jaccard()), pair.a, pair.b));
        [above, below].map(|side| side.iter().take(most).map(|pair| self.example(pair)).collect())
    }
}

fn examples(row: &Value, side: &str) -> Vec<Example> {
    let number = |pair: &Value, name: &str| pair[name].as_u64().unwrap();
    let example = |pair: &Value| {
        let [a, b] = ["a", "b"].map(|name| text(pair, name).to_owned());
        let union = number(pair, "size_a") + number(pair, "size_b") - number(pair, "overlap");
        assert_eq!(union, number(pair, "union"));
        (a, b, number(pair, "overlap"), union, text(pair, "jaccard").to_owned())
    };
    list(row, side).iter().map(example).collect()
}

/// Compares counts and examples of every row with brute force; gives how many examples were seen on each side.
fn equals_brute_force(found: &Value, docs: &[Doc], cluster: Kind, most: usize) -> [usize; 2] {
    let mut seen = [0, 0];
    for kind in list(found, "kinds") {
        let features = text(kind, "features");
        let oracle = Oracle::new(docs.to_vec(), features);
        for row in list(kind, "rows") {
            let tau = text(row, "tau");
            assert_eq!(counts(row), oracle.counts(tau, cluster), "{features} at {tau}, {cluster:?}");
            let nearest = oracle.nearest(tau, text(kind, "joined_from"), most);
            for ((side, expected), seen) in ["at_or_above", "below"].into_iter().zip(nearest).zip(&mut seen) {
                assert_eq!(examples(row, side), expected, "{features}, {side} {tau}");
                *seen += expected.len();
            }
        }
    }
    seen
}

/// Awkward ids and sets, with pairs planted exactly on each threshold and one feature below it.
#[test]
fn counts_and_examples_of_planted_pairs_equal_brute_force() {
    let docs = corpora::random(31, 150, 60);
    let here = Place::new();
    let files = corpora::write(&docs, &here.path("."));
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let taus: Vec<String> =
        corpora::PLANTED.iter().map(|(p, q)| format!("{}", *p as f64 / *q as f64)).collect();
    for cluster in KINDS {
        let found = tuned(
            &here,
            &format!(
                "--input {} --kinds lines --taus {} --examples 5 --cluster {}",
                names.join(" "),
                taus.join(","),
                cluster.name()
            ),
        );
        let seen = equals_brute_force(&found, &docs, cluster, 5);
        assert_eq!(list(&found["kinds"][0], "rows").len(), 13);
        assert!(seen[0] == 65 && seen[1] > 50, "{seen:?}");
    }
}

#[test]
fn counts_and_examples_of_real_text_equal_brute_force() {
    let here = Place::new();
    let line = format!(
        "--input {} --sample 250 --kinds words:2,chars:5,sentence-ends:10 --taus 0.4,0.7 --examples 4 \
         --write-sample sample.jsonl",
        fixtures()
    );
    let found = tuned(&here, &line);
    let docs: Vec<Doc> = here.read("sample.jsonl").lines().map(Doc::from_line).collect();
    let chinese = docs.iter().filter(|doc| doc.text.contains('的')).count();
    assert!((20..230).contains(&chinese), "{chinese} Chinese documents");
    assert_eq!(equals_brute_force(&found, &docs, Kind::Components, 4), [24, 24]);
    // The excerpts come from the texts of the two ids, and the first difference stands where the column says.
    let of = |id: &str| docs.iter().find(|doc| doc.id == id).unwrap().text.clone();
    let plain =
        |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").replace('\u{feff}', r"\u{feff}");
    let mut inside = 0;
    for pair in list(&found["kinds"][1]["rows"][1], "at_or_above") {
        for side in ["a", "b"] {
            let excerpt = text(pair, &format!("excerpt_{side}"));
            assert!(plain(&of(text(pair, side))).contains(excerpt.trim_matches('…')), "{pair}");
        }
        inside += usize::from(pair["differ_at_column"].as_u64() > Some(0));
    }
    assert!(inside > 0, "all texts differ from their first character on");
}

/// The lines of the documents whose hash of seed and id is among the `most` smallest, by the definition.
fn bottom(docs: &[Doc], seed: u64, most: usize) -> String {
    let mut order: Vec<&Doc> = docs.iter().collect();
    order.sort_by_key(|doc| (hash::sample(seed, doc.id.as_bytes()), doc.id.clone()));
    order.truncate(most);
    order.sort_by_key(|doc| doc.id.clone());
    order.iter().map(|doc| format!("{}\n", doc.line)).collect()
}

#[test]
fn a_sample_depends_on_ids_and_seed_alone() {
    let here = Place::new();
    let docs = corpora::random(5, 400, 80);
    let lines = |docs: &[Doc]| docs.iter().map(|doc| format!("{}\n", doc.line)).collect::<String>();
    let (x, y) = docs.split_at(300);
    here.write("x", lines(x));
    here.write("y", lines(y));
    let mut all: Vec<Doc> = docs.clone();
    all.reverse();
    here.write("reversed", lines(&all));
    std::fs::create_dir(here.path("folder")).unwrap();
    corpora::write(&docs, &here.path("folder"));
    here.write("folder/_left-out", "not a document");

    let options = "--kinds lines --sample 60 --write-sample sample --overwrite --json --quiet";
    let mut answers = BTreeSet::new();
    for way in
        ["x y", "y x", "reversed", "folder", "x y --threads 1", "reversed --threads 7", "- --threads 3"]
    {
        let said = here.with(&format!("twinsplit tune --input {way} {options}"), lines(&docs), &[]);
        let mut found: Value = serde_json::from_str(&said.ok()).unwrap();
        for row in found["kinds"][0]["rows"].as_array_mut().unwrap() {
            // It names the input.
            assert!(row.as_object_mut().unwrap().remove("run").is_some());
        }
        answers.insert(found.to_string());
        assert_eq!(here.read("sample"), bottom(&docs, 0, 60), "{way}");
    }
    assert_eq!(answers.len(), 1);

    here.say(&format!("twinsplit tune --input x y {options} --seed 1")).ok();
    assert_eq!(here.read("sample"), bottom(&docs, 1, 60));
    assert_ne!(bottom(&docs, 0, 60), bottom(&docs, 1, 60));
}

/// 20 of 200 documents with ids that could hardly be more alike, for 300 seeds. Each document should be chosen 30
/// times: chi squared with 199 degrees of freedom exceeds 270 once in 1,700 times. Two neighbours should be chosen
/// together 20·19/(200·199) of the time, 570 times in all; the bound is four standard deviations.
#[test]
fn samples_are_uniform() {
    let here = Place::new();
    let ids: Vec<String> = (0..200).map(|at| at.to_string()).collect();
    here.write("docs", jsonl(&ids.iter().map(|id| (id.as_str(), "x")).collect::<Vec<_>>()));
    let (mut chosen, mut neighbours) = (vec![0_u32; 200], 0_u32);
    for seed in 0..300 {
        let line = format!(
            "twinsplit tune --input docs --sample 20 --seed {seed} --kinds lines --taus 1 --write-sample sample --overwrite \
             --json --quiet --threads 1"
        );
        here.say(&line).ok();
        let ours: BTreeSet<usize> =
            here.read("sample").lines().map(|line| Doc::from_line(line).id.parse().unwrap()).collect();
        assert_eq!(ours.len(), 20);
        ours.iter().for_each(|at| chosen[*at] += 1);
        neighbours += ours.iter().filter(|at| ours.contains(&(*at + 1))).count() as u32;
    }
    let variance = 300.0 * 0.1 * 0.9;
    let chi: f64 = chosen.iter().map(|count| (f64::from(*count) - 30.0).powi(2) / variance).sum();
    println!("chi squared {chi:.1}, neighbours {neighbours}");
    assert!((140.0..270.0).contains(&chi), "chi squared {chi}: {chosen:?}");
    assert!((475..665).contains(&neighbours), "{neighbours} neighbours");
}

/// A larger sample contains a smaller one, all documents are taken when there are no more, and one is enough.
#[test]
fn a_sample_is_as_large_as_asked_or_whole() {
    let here = Place::new();
    let docs = corpora::random(9, 60, 30);
    let all = docs.len();
    here.write("docs", docs.iter().map(|doc| format!("{}\n", doc.line)).collect::<String>());
    let mut smaller = BTreeSet::new();
    for most in [1, 2, 30, all - 1, all, all + 1, 1_000_000] {
        let line = format!("--input docs --sample {most} --kinds lines --write-sample sample --overwrite");
        let found = tuned(&here, &line);
        let sample = &found["sample"];
        let lines: BTreeSet<String> = here.read("sample").lines().map(str::to_owned).collect();
        assert_eq!((lines.len(), sample["documents"].as_u64()), (most.min(all), Some(most.min(all) as u64)));
        assert_eq!(sample["of"].as_u64(), Some(all as u64));
        assert!(smaller.is_subset(&lines), "{most}");
        smaller = lines;
        let (ours, all) = (most.min(all) as f64, all as f64);
        for row in list(&found["kinds"][0], "rows") {
            let pairs = row["pairs"].as_f64().unwrap();
            let Some(estimate) = row["estimated_pairs"].as_f64() else {
                assert_eq!((most, pairs), (1, 0.0), "{row}");
                continue;
            };
            let exact = if ours == all { pairs } else { pairs * all * (all - 1.0) / (ours * (ours - 1.0)) };
            assert!(most > 1 && (estimate - exact).abs() <= 0.5 + 1e-9 * exact, "{row}: {exact}");
        }
    }
    let shown = here.say("twinsplit tune --input docs --sample 1 --kinds lines --quiet").ok();
    assert!(shown.contains("nothing can be estimated"), "{shown}");
    let shown = here.say(&format!("twinsplit tune --input docs --sample {all} --kinds lines --quiet")).ok();
    assert!(
        shown.contains(&format!("all {all} documents")) && !shown.contains("estimated in all"),
        "{shown}"
    );
}

/// The numbers of the table, by kind and row: tau, pairs, estimated (unless whole), clusters, to drop, largest.
fn table(shown: &str) -> BTreeMap<String, Vec<Vec<String>>> {
    let mut kinds: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    let mut kind = String::new();
    let counts = shown.split("PAIRS AT THE EDGE").next().unwrap();
    for line in counts.lines() {
        match line.split_once(": ") {
            Some((name, _)) if !line.starts_with(' ') => kind = name.to_owned(),
            _ if line.starts_with("  ") && !line.contains("tau") => {
                let cells = line.split_whitespace().map(|cell| cell.replace(',', "")).collect();
                kinds.entry(kind.clone()).or_default().push(cells);
            }
            _ => {}
        }
    }
    kinds
}

#[test]
fn the_table_and_the_object_say_the_same() {
    let here = Place::new();
    for (most, estimated) in [(700, true), (5_000, false)] {
        let line = format!("--input {} --sample {most} --examples 1", fixtures());
        let found = tuned(&here, &line);
        let Said { code, out, err } = here.say(&format!("twinsplit tune {line}"));
        assert_eq!(code, 0, "{err}");
        let kinds = ["words:3", "words:5", "chars:5", "sentence-ends:10", "spotsigs", "spotsigs:zh"];
        for step in kinds.iter().chain(&["sample"]) {
            assert!(err.lines().any(|line| line.starts_with(step) && line.ends_with(" s")), "{step}: {err}");
        }
        let tables = table(&out);
        assert_eq!(tables.len(), kinds.len(), "{out}");
        assert_eq!(list(&found, "kinds").len(), kinds.len());
        for kind in list(&found, "kinds") {
            let rows = &tables[text(kind, "features")];
            assert_eq!(rows.len(), 8);
            for (row, cells) in list(kind, "rows").iter().zip(rows) {
                let mut expected = vec![text(row, "tau").to_owned(), row["pairs"].to_string()];
                if estimated {
                    expected.push(row["estimated_pairs"].to_string());
                }
                expected.extend(counts(row)[1..].iter().map(u64::to_string));
                assert_eq!(*cells, expected, "{kind}");
                for pair in list(row, "at_or_above").iter().chain(list(row, "below")) {
                    let fraction =
                        format!("{} = {}/{}", text(pair, "jaccard"), pair["overlap"], pair["union"]);
                    assert!(out.contains(&fraction), "{fraction}");
                    assert!(out.contains(&format!("  {}\n", text(pair, "excerpt_b"))), "{pair}");
                }
            }
        }
        let next = out.lines().last().unwrap().trim();
        assert_eq!(next, text(&found["kinds"][0]["rows"][4], "run"));
    }
}

/// The command that a row proposes runs as it stands, with the options that were given, and finds what the row says.
#[test]
fn the_next_step_can_be_typed_as_it_is() {
    let here = Place::new();
    let docs = [("a", "one two three four"), ("b", "one two three five"), ("c", "nothing alike here at all")];
    here.write("it's $HOME.jsonl", jsonl(&docs).replace("\"text\"", "\"body text\""));
    let mut command = crate::common::harness::twinsplit();
    command.args([
        "tune",
        "--input",
        "it's $HOME.jsonl",
        "--text",
        "body text",
        "--kinds",
        "words:1,words:2",
    ]);
    command.args(["--taus", "0.5,0.6", "--cluster", "star", "--json", "--quiet"]);
    let found: Value = serde_json::from_str(&here.run(command, "").ok()).unwrap();
    for (kind, tau, pairs) in [(0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 0)] {
        let row = &found["kinds"][kind]["rows"][tau];
        let run = text(row, "run");
        assert!(run.contains("--cluster star"), "{run}");
        here.shell(&format!("{run} --overwrite --quiet")).ok();
        assert_eq!(counts_of_run(&here), counts(row));
        assert_eq!(counts(row)[0], pairs, "{run}");
    }
}

/// The least number of features is what each kind asks for, also one from a file, unless it is given.
#[test]
fn a_kind_may_be_a_file() {
    let here = Place::new();
    here.write("mine.tsv", "min\t2\nantecedent\tthe\t1\nantecedent\ta\t1\nstop\tthe\nstop\ta\n");
    let docs = [
        ("a", "The cat sat on the mat of a house."),
        ("b", "the cat lay on the mat of a house"),
        ("c", "the cat"),
        ("d", "the cat"),
        ("e", "no spots"),
    ];
    here.write("docs", jsonl(&docs));
    let found = tuned(&here, "--input docs --kinds spotsigs:mine.tsv,words:1 --taus 0.5,1");
    let kind = &found["kinds"][0];
    assert_eq!(text(kind, "features"), "spotsigs:mine.tsv");
    let left_out = ["min_features", "without_features", "below_min_features"].map(|name| kind[name].as_u64());
    assert_eq!(left_out, [Some(2), Some(1), Some(3)]);
    assert_eq!(found["kinds"][1]["min_features"], 1);
    // c and d have too few features for a pair, and equal texts.
    assert_eq!((counts(&kind["rows"][0]), &kind["equal_texts"]), ([1, 2, 2, 2], &1.into()));
    assert_eq!(equals_runs(&here, &found, "docs", ""), 5);
    let given = tuned(&here, "--input docs --kinds spotsigs:mine.tsv --taus 1 --min-features 1");
    assert_eq!(counts(&given["kinds"][0]["rows"][0]), [2, 2, 2, 2]);
    let shown = here.say("twinsplit tune --input docs --kinds spotsigs:mine.tsv --quiet").ok();
    assert!(shown.contains("1 of 5 documents without features, 2 with fewer than 2"), "{shown}");
}

/// The whole of a small output, by hand. a and b share 3 of 5 words; c shares 2 of 6 with each; d is c in another order.
#[test]
fn a_small_table_is_shown_as_drawn() {
    let here = Place::new();
    let docs = [
        ("a", "北京 汉字 red blue"),
        ("b", "北京 汉字 red \u{1b}green"),
        ("c", "北京 gold red iron"),
        ("d", "iron  red\ngold 北京"),
        ("e", ""),
    ];
    here.write("docs", jsonl(&docs));
    let shown = here.say("twinsplit tune --input docs --kinds words:1,spotsigs --taus 0.6,0.34 --quiet").ok();
    assert_eq!(shown, include_str!("../../goldens/tune.txt"));
}

/// What docs/choosing.md shows is what comes out. Its numbers were counted by hdfs-fixtures/expected/brute_force.py's
/// features on a sample drawn with the Python package xxhash.
#[test]
fn the_page_shows_what_comes_out() {
    let page = include_str!("../../../docs/choosing.md");
    let block = page.split("### Choose tau by looking").nth(1).unwrap().split("\n```\n").nth(1).unwrap();
    let (command, lines) = block.split_once('\n').unwrap();
    let documents = fixture("documents").display().to_string();
    let command = command.strip_prefix("$ ").unwrap().replace("hdfs-fixtures/documents", &documents);
    let shown = Place::new().shell(&command).ok();
    let mut rest = shown.lines();
    let (mut found, mut gap) = (0, false);
    for line in lines.lines() {
        if line == "…" {
            gap = true;
            continue;
        }
        let at = rest.position(|other| other == line);
        assert!(at.is_some_and(|skipped| skipped == 0 || gap), "{line:?} does not stand there in {shown}");
        (found, gap) = (found + 1, false);
    }
    assert_eq!(found, 23);
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let here = Place::new();
    here.write("docs", jsonl(&[("a", "x y"), ("b", "x z")]));
    let tune = |options: &str| here.say(&format!("twinsplit tune --input docs {options}"));
    for tau in ["0", "1.5", "0.3,seven", "0.5,,0.6", "0.1234567891"] {
        let value =
            tau.split(',').find(|one| one.parse::<twinsplit_core::similarity::tau::Tau>().is_err()).unwrap();
        tune(&format!("--taus {tau}")).fails(2, &["--taus", "(0, 1]", &format!("{value:?}")]);
    }
    tune("--kinds words:5,wrods:3").fails(2, &["--kinds wrods:3", "words:K"]);
    tune("--kinds words:0").fails(2, &["--kinds words:0", "K from 1"]);
    tune("--kinds spotsigs:nowhere").fails(2, &["--kinds spotsigs:nowhere", "cannot read"]);
    tune("--sample 0").fails(2, &["--sample", "'0'"]);
    tune("--tau 0.5").fails(2, &["--tau"]);
    tune("--write-sample docs").fails(2, &["the output docs would replace docs, which this command reads"]);
    assert_eq!(here.read("docs").lines().count(), 2);
    here.say("twinsplit tune --input nowhere").fails(1, &["nowhere"]);
    here.say("twinsplit tune").fails(2, &["--input"]);

    here.write("wrong", "{\"id\":\"a\",\"text\":\"x\"}\n{\"id\":\"b\"}\n");
    here.say("twinsplit tune --input wrong")
        .fails(1, &["tune: wrong, line 2, field text: expected a string"]);
    here.write("twice", jsonl(&[("a", "x"), ("b", "y"), ("a", "z"), ("a", "w")]));
    here.say("twinsplit tune --input twice").fails(1, &["the id \"a\"", "(twice, line 1 and twice, line 3)"]);
    for empty in ["", "\n\r\n"] {
        here.write("empty", empty);
        here.say("twinsplit tune --input empty").fails(2, &["holds no document"]);
    }
}

/// Where the order of the input or the unit decides which documents stay, counts are those of the run that is proposed.
#[test]
fn what_stays_is_what_the_run_keeps() {
    let here = Place::new();
    let docs = [
        ("b", "three four five six seven eight"),
        ("a", "one two three four five six seven"),
        ("c", "five six seven eight nine"),
    ];
    here.write("docs", jsonl(&docs));
    here.write("lines", jsonl(&[("z", &docs.map(|(_, text)| text).join("\n"))]));
    for options in ["-i docs --cluster star --keep first", "-i lines --unit line", "-i docs --cluster star"] {
        let line = format!("{options} --kinds words:2 --taus 0.5 --examples 0");
        let found = tuned(&here, &line);
        let run = format!("twinsplit run doc-split {options} --features words:2 --tau 0.5");
        here.say(&format!("{run} --output out --overwrite --quiet")).ok();
        assert_eq!(counts(&found["kinds"][0]["rows"][0]), counts_of_run(&here), "{options}");
    }
}
