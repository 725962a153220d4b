//! `run --reduce-to`: as many documents stay as are asked for, those that are least alike. The oracle goes by the words of
//! docs/choosing.md: copies first, then level after level of equally similar pairs.

use super::keep::counter;
use crate::common::cli::{Place, fixture, jsonl};
use crate::common::expected::{Expected, Keep};
use crate::common::features;
use crate::common::oracle::{Doc, Features, Fraction, Overlaps, Pair, SIMILARITIES, Similarity, short_texts};
use crate::common::real;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Documents, best first, groups of copies, and pairs with their similarities.
struct Graph {
    order: Vec<usize>,
    copies: Vec<Vec<usize>>,
    pairs: BTreeMap<(usize, usize), Fraction>,
}

/// What is left when so many were to be dropped.
struct Left {
    /// The document that stands for each.
    stands: Vec<usize>,
    /// The similarity of the last pairs for which documents were dropped.
    last: Option<Fraction>,
    /// How many are too many still.
    lacking: usize,
}

impl Graph {
    fn similarity(&self, x: usize, y: usize) -> Option<Fraction> {
        self.pairs.get(&(x.min(y), x.max(y))).copied()
    }

    fn reduced(&self, drop: usize) -> Left {
        let place = |document: usize| self.order.iter().position(|other| *other == document).unwrap();
        let places: Vec<usize> = (0..self.order.len()).map(place).collect();
        // Of each dropped document whom it was dropped for.
        let mut dropped: BTreeMap<usize, usize> = BTreeMap::new();
        let mut lacking = drop;
        let mut worst = |mut level: Vec<(usize, usize)>, dropped: &mut BTreeMap<usize, usize>| {
            level.sort_by_key(|(document, _)| std::cmp::Reverse(places[*document]));
            let went = level.len().min(lacking);
            dropped.extend(level[..went].iter().copied());
            lacking -= went;
            went
        };
        let best_of = |group: &[usize]| group.iter().copied().min_by_key(|other| places[*other]).unwrap();
        let mut copies = Vec::new();
        for group in &self.copies {
            let best = best_of(group);
            copies.extend(group.iter().filter(|other| **other != best).map(|other| (*other, best)));
        }
        let all_copies: BTreeSet<usize> = copies.iter().map(|(copy, _)| *copy).collect();
        worst(copies, &mut dropped);
        let levels: BTreeSet<Fraction> = self.pairs.values().copied().collect();
        let mut last = None;
        for similarity in levels.into_iter().rev() {
            let mut stay: Vec<usize> = Vec::new();
            let mut level = Vec::new();
            // Where copies are left, nothing more is to drop.
            for &document in self.order.iter().filter(|document| !all_copies.contains(document)) {
                if dropped.contains_key(&document) {
                    continue;
                }
                match stay.iter().find(|better| self.similarity(document, **better) == Some(similarity)) {
                    Some(better) => level.push((document, *better)),
                    None => stay.push(document),
                }
            }
            if worst(level, &mut dropped) > 0 {
                last = Some(similarity);
            }
        }
        let mut stands: Vec<usize> = (0..self.order.len()).collect();
        for &document in &self.order {
            let Some(&dropped_for) = dropped.get(&document) else { continue };
            let better = self.order[..places[document]].iter().copied();
            let partners = better.filter(|other| !dropped.contains_key(other));
            let partners = partners.filter_map(|other| Some((self.similarity(document, other)?, other)));
            // Of equally similar ones the best.
            let nearest =
                partners.max_by_key(|(similarity, other)| (*similarity, std::cmp::Reverse(places[*other])));
            stands[document] = match nearest {
                Some((_, nearest)) if !all_copies.contains(&document) => nearest,
                _ => stands[dropped_for],
            };
        }
        Left { stands, last, lacking }
    }
}

/// The similarity of a pair as a fraction; the square of a cosine.
fn exact(similarity: Similarity, pair: &Pair, sets: &[Features]) -> Fraction {
    let (overlap, a, b) = (pair.overlap as u128, sets[pair.a].len() as u128, sets[pair.b].len() as u128);
    match similarity {
        Similarity::Jaccard => Fraction::new(overlap, a + b - overlap),
        Similarity::Containment => Fraction::new(overlap, a.min(b)),
        Similarity::Cosine => Fraction::new(overlap * overlap, a * b),
        Similarity::Dice => Fraction::new(2 * overlap, a + b),
        Similarity::Overlap => Fraction::new(overlap, 1),
    }
}

/// Real documents, some of them again, and short ones of which some have equal texts. Each has a date and a score; equal ones are among these.
fn documents() -> Vec<Doc> {
    let mut docs = real::every(7, real::read(&real::fixture("en.jsonl.gz")));
    docs.extend(real::every(11, real::read(&real::fixture("zh.jsonl.gz"))));
    let texts: Vec<String> = docs.iter().map(|doc| doc.text.clone()).collect();
    let again = texts.iter().step_by(9).enumerate().map(|(at, text)| (format!("again-{at}"), text.clone()));
    let more =
        texts.iter().step_by(18).enumerate().map(|(at, text)| (format!("More {at}"), format!("{text}\n")));
    let short = ["OK", "ok", "Yes", "Ok ", "yes", "no"].iter().enumerate();
    let short = short.map(|(at, text)| (format!("short {at}"), (*text).to_owned()));
    let all: Vec<(String, String)> = docs
        .iter()
        .map(|doc| doc.id.clone())
        .zip(texts.iter().cloned())
        .chain(again)
        .chain(more)
        .chain(short)
        .collect();
    let line = |(at, (id, text)): (usize, &(String, String))| {
        let (date, score) = (format!("20{:02}", at * 7 % 23), at * 13 % 31);
        let line = serde_json::json!({ "id": id, "text": text, "date": date, "score": score }).to_string();
        Doc { date: Some(date), score: Some(score as i64), ..Doc::from_line(&line) }
    };
    all.iter().enumerate().map(line).collect()
}

/// A collection with its sets and what is equal in it.
struct Collection {
    docs: Vec<Doc>,
    sets: Vec<Features>,
    texts: Vec<Option<String>>,
    overlaps: Overlaps,
    copies: Vec<Vec<usize>>,
}

impl Collection {
    fn new(features: &str) -> Self {
        let docs = documents();
        let sets = features::of(&docs, features);
        let texts = short_texts(&docs, &sets, 1);
        let overlaps = Overlaps::of_any_similarity(&sets, "0.001");
        let mut equal: BTreeMap<(&Features, Option<&String>), Vec<usize>> = BTreeMap::new();
        for (at, set) in sets.iter().enumerate() {
            if !set.is_empty() || texts[at].is_some() {
                equal.entry((set, texts[at].as_ref())).or_default().push(at);
            }
        }
        let copies = equal.into_values().filter(|group| group.len() > 1).collect();
        Self { docs, sets, texts, overlaps, copies }
    }

    /// How many copies there are.
    fn copies(&self) -> usize {
        self.copies.iter().map(|group| group.len() - 1).sum()
    }

    fn graph(&self, similarity: Similarity, tau: &str, keep: Keep) -> (Vec<Pair>, Graph) {
        let pairs = self.overlaps.pairs_by(similarity, tau, &self.sets);
        let known =
            pairs.iter().map(|pair| ((pair.a, pair.b), exact(similarity, pair, &self.sets))).collect();
        let graph = Graph { order: keep.order(&self.docs), copies: self.copies.clone(), pairs: known };
        (pairs, graph)
    }
}

const WAYS: [&str; 4] = [
    "doc-split --threads 1",
    "term-split --pcp prefix --threads 3",
    "term-split",
    "doc-split --engine pipes --threads 2",
];

/// Runs one way and compares it with what is expected; gives the similarity at which the last documents were dropped.
fn check(
    here: &Place,
    of: &Collection,
    (similarity, tau, keep): (Similarity, &str, Keep),
    drop: usize,
    ways: &[&str],
) {
    let (pairs, graph) = of.graph(similarity, tau, keep);
    let left = graph.reduced(drop);
    let wanted = of.docs.len() - drop;
    let keep_args = keep.args().join(" ");
    for way in ways {
        let line = format!(
            "twinsplit run {way} --features words:2 --similarity {} --tau {tau} {keep_args} --reduce-to {wanted} --write-kept \
             --input docs --output out --overwrite",
            similarity.name()
        );
        let said = here.say(&line);
        if left.lacking > 0 {
            let least = wanted + left.lacking;
            let what =
                format!("{least} of {} documents are left when every pair has lost one", of.docs.len());
            said.fails(1, &[&what, &format!("--reduce-to {least} or more")]);
            continue;
        }
        assert_eq!(said.code, 0, "{line}\n{}", said.err);
        let mut clusters: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        left.stands.iter().enumerate().for_each(|(at, stands)| clusters.entry(*stands).or_default().push(at));
        assert_eq!(clusters.len(), wanted, "the oracle keeps as many");
        clusters.retain(|_, members| members.len() > 1);
        let documents = (&of.docs[..], &of.sets[..], &of.texts[..]);
        let expected = Expected::of_clusters(similarity, documents, &pairs, &clusters);
        assert_eq!(here.read("out/pairs.tsv"), expected.pairs, "{line}");
        assert_eq!(here.read("out/clusters.tsv"), expected.clusters, "{line}");
        assert_eq!(here.read("out/kept.jsonl"), expected.kept, "{line}");
        assert_eq!(here.read("out/kept.jsonl").lines().count(), wanted);
        assert_eq!(counter(here, "documents_left"), wanted as u64);
        assert_eq!(counter(here, "copies_dropped"), of.copies().min(drop) as u64);
        let last = pairs.iter().find(|pair| Some(exact(similarity, pair, &of.sets)) == left.last);
        let at = match last {
            Some(pair) => {
                let (a, b) = (of.sets[pair.a].len(), of.sets[pair.b].len());
                let written = similarity.written(pair.overlap, a, b);
                match similarity {
                    Similarity::Overlap => format!("dropped at {written} shared features and more"),
                    _ => format!("dropped at {written} and above"),
                }
            }
            None if drop > 0 => "dropped: copies alone".to_owned(),
            None => "nothing had to be dropped".to_owned(),
        };
        assert!(said.err.contains(&format!("{wanted} documents kept, {at}")), "{line}\n{}", said.err);
    }
}

fn written(of: &Collection) -> Place {
    let here = Place::new();
    here.write(
        "docs",
        of.docs.iter().fold(String::new(), |mut all, doc| {
            writeln!(all, "{}", doc.line).unwrap();
            all
        }),
    );
    here
}

/// Every number of documents to drop that ends a level, or lies within one, for every rule: one way in one process, and fewer numbers for all.
#[test]
fn as_many_stay_as_are_asked_for_whatever_the_rule() {
    let of = Collection::new("words:2");
    let here = written(&of);
    let most = of.docs.len()
        - of.graph(Similarity::Jaccard, "0.5", Keep::SmallestId)
            .1
            .reduced(usize::MAX)
            .stands
            .iter()
            .collect::<BTreeSet<_>>()
            .len();
    let copies = of.copies();
    assert!(copies > 20 && most > copies + 15, "{copies} copies, and {most} to drop at most");
    let numbers = [0, 1, copies / 2, copies, copies + 1, copies + (most - copies) / 2, most, most + 1];
    let mut cases = 0;
    for keep in [Keep::SmallestId, Keep::First, Keep::Longest, Keep::Newest, Keep::Score] {
        for (at, drop) in numbers.into_iter().enumerate() {
            let ways = if keep == Keep::Longest && at % 3 == 2 { &WAYS[..] } else { &WAYS[..1] };
            check(&here, &of, (Similarity::Jaccard, "0.5", keep), drop, ways);
            cases += ways.len();
        }
    }
    println!("{cases} runs");
}

#[test]
fn as_many_stay_as_are_asked_for_by_every_similarity() {
    let of = Collection::new("words:2");
    let here = written(&of);
    let (copies, mut cases) = (of.copies(), 0);
    for similarity in SIMILARITIES {
        let tau = if similarity == Similarity::Overlap { "60" } else { "0.6" };
        for (drop, ways) in [(copies / 2, &WAYS[..]), (copies + 12, &WAYS[..]), (copies + 20, &WAYS[..2])] {
            check(&here, &of, (similarity, tau, Keep::Longest), drop, ways);
            cases += ways.len();
        }
    }
    println!("{cases} runs");
}

/// Fingerprints go by their distance, and what is written of it is the distance; what the answer is follows from the pairs that a run without
/// the option finds.
#[test]
fn fingerprints_go_by_their_distance() {
    let of = Collection::new("words:2");
    let here = written(&of);
    let options = "--features words:2 --distance 12 --input docs --output out --overwrite";
    here.say(&format!("twinsplit run simhash {options}")).ok();
    let number: BTreeMap<&str, usize> = of.docs.iter().enumerate().map(|(at, doc)| (&*doc.id, at)).collect();
    let (mut pairs, mut equal) = (BTreeMap::new(), (0..of.docs.len()).collect::<Vec<_>>());
    let text = here.read("out/pairs.tsv");
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let (x, y) = (number[fields[0]], number[fields[1]]);
        pairs.insert((x.min(y), x.max(y)), Fraction::from(64 - fields[2].parse::<u128>().unwrap()));
        if fields[2] == "0" {
            let (x, y) = (equal[x].min(equal[y]), equal[x].max(equal[y]));
            equal.iter_mut().filter(|other| **other == y).for_each(|other| *other = x);
        }
    }
    // Equal texts are in no pair.
    for line in here.read("out/clusters.tsv").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        if fields[0].starts_with("short") {
            equal[number[fields[1]]] = equal[number[fields[0]]];
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    equal.iter().enumerate().for_each(|(at, group)| groups.entry(*group).or_default().push(at));
    let copies: Vec<Vec<usize>> = groups.into_values().filter(|group| group.len() > 1).collect();
    let dropped: usize = copies.iter().map(|group| group.len() - 1).sum();
    let graph = Graph { order: Keep::SmallestId.order(&of.docs), copies, pairs };
    let mut cases = 0;
    for drop in [dropped / 2, dropped + 6, dropped + 11] {
        let left = graph.reduced(drop);
        assert_eq!(left.lacking, 0);
        let expected: BTreeSet<(&str, &str)> = left
            .stands
            .iter()
            .enumerate()
            .filter(|(at, stands)| at != *stands)
            .map(|(at, stands)| (&*of.docs[*stands].id, &*of.docs[at].id))
            .collect();
        for way in ["--threads 2", "--engine pipes"] {
            let wanted = of.docs.len() - drop;
            let said = here.say(&format!("twinsplit run simhash {way} {options} --reduce-to {wanted}"));
            assert_eq!(said.code, 0, "{}", said.err);
            let clusters = here.read("out/clusters.tsv");
            let rows = clusters.lines().map(|line| line.split('\t').collect::<Vec<_>>());
            let found: BTreeSet<(&str, &str)> = rows
                .filter(|row| row[2] == "drop")
                .map(|row| (number.get_key_value(row[0]).unwrap().0, number.get_key_value(row[1]).unwrap().0))
                .map(|(x, y)| (*x, *y))
                .collect();
            assert_eq!(found, expected, "{way} {drop}");
            let at = match left.last {
                None => "dropped: copies alone".to_owned(),
                Some(last) => format!("dropped at a distance of {} and less", 64 - last.to_integer()),
            };
            assert!(said.err.contains(&at), "{at}: {}", said.err);
            cases += 1;
        }
    }
    println!("{cases} runs");
}

/// Other chains that find the same pairs, and the texts of near fingerprints, give the same on stages and in one process.
#[test]
fn every_chain_takes_it() {
    let of = Collection::new("words:2");
    let here = written(&of);
    let wanted = of.docs.len() - of.copies() - 4;
    let mut cases = 0;
    for chain in [
        "minhash --tau 0.6 --bands 24 --rows 3 --hashes 72",
        "minhash --tau 0.6 --bands 24 --rows 3 --hashes 72 --check signature",
        "ccdet --features words:3 --tau 0.6",
        "i-match --lexicons 4",
        "simhash --distance 14 --check jaccard:0.4",
    ] {
        let mut answers = BTreeSet::new();
        for engine in ["local", "pipes"] {
            let line = format!(
                "twinsplit run {chain} --engine {engine} --reduce-to {wanted} --write-kept --input docs --output out --overwrite"
            );
            let said = here.say(&line);
            assert_eq!(said.code, 0, "{line}\n{}", said.err);
            let [clusters, kept] = ["out/clusters.tsv", "out/kept.jsonl"].map(|name| here.read(name));
            assert_eq!(kept.lines().count(), wanted, "{line}");
            answers.insert((clusters, kept));
            cases += 1;
        }
        assert_eq!(answers.len(), 1, "{chain}");
    }
    println!("{cases} runs");
}

/// Of four copies the worst go, and who is left is on his own: other forms of the answer agree.
#[test]
fn the_other_files_say_the_same() {
    let here = Place::new();
    let text = "Rain fell on the harbour all night. The ferry left at six.";
    let docs =
        [("a", text), ("b", text), ("c", text), ("d", text), ("e", "Nobody saw it go, not even the cat.")];
    here.write("docs.jsonl", jsonl(&docs));
    here.say("twinsplit run -i docs.jsonl -o out --reduce-to 3 --write-kept=same --tables jsonl -q").ok();
    assert_eq!(here.read("out/clusters.tsv"), "a\ta\tkeep\t-\na\tc\tdrop\t1.000000\na\td\tdrop\t1.000000\n");
    assert_eq!(here.read("out/kept/docs.jsonl"), jsonl(&[docs[0], docs[1], docs[4]]));
    assert_eq!(here.read("out/clusters.jsonl").lines().count(), 3);
    let run: serde_json::Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
    assert_eq!(run["parameters"]["reduce-to"], "3");
    let annotated = here.say("twinsplit annotate out -o -").ok();
    let drops = annotated
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["dup_drop"].clone());
    assert_eq!(drops.collect::<Vec<_>>(), [false, false, true, true, false]);
    here.say("twinsplit report out --to page.html").ok();
    assert!(here.read("page.html").contains("harbour"));

    let said = here.say("twinsplit run -i docs.jsonl -o more --reduce-to 9");
    assert!(
        said.err.contains("--reduce-to 9 is more than the 5 documents of the input, so all are kept"),
        "{}",
        said.err
    );
    assert!(said.err.contains("nothing had to be dropped"), "{}", said.err);
    assert_eq!(said.code, 0);
}

#[test]
fn what_it_does_not_go_with_is_refused() {
    let here = Place::new();
    let docs = fixture("documents/tiny.jsonl");
    let run =
        |more: &str| here.say(&format!("twinsplit run -i {} -o out --reduce-to 5 {more}", docs.display()));
    for (more, words) in [
        ("--cluster star", "leave --cluster out"),
        ("--write clusters", "leave --write clusters out"),
        ("--unit line", "leave one of the two out"),
        ("--store there", "leave --reduce-to out"),
        (&*format!("--queries {}", docs.display()), "--reduce-to"),
    ] {
        run(more).fails(2, &[words]);
        assert!(!here.path("out").exists(), "{more}");
    }
    here.say(&format!("twinsplit run -i {} -o out --reduce-to 0", docs.display())).fails(2, &["--reduce-to"]);
    here.say(&format!("twinsplit plan --estimate --reduce-to 5 --input {}", docs.display()))
        .fails(2, &["leave it out"]);
    // What cannot be reached leaves no answer.
    run("--tau 0.9")
        .fails(1, &["--reduce-to 5: ", "tau is 0.9, and a lower one finds more pairs: try --tau 0.75"]);
    assert!(!here.path("out/clusters.tsv").exists());
}
