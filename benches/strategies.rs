//! Every way through an index on real sets, beside the way that the sample chooses.
//!
//! `cargo bench --bench strategies -- --all [--only NAME,NAME] [--taus T,T] [--rounds N] [--threads N] [--ways]` joins eight collections: the head of
//! kosarak, T10I4D100K, and words:5 and SpotSigs of news, mail and licences; and both features of the three texts together. They are read below
//! `CORPORA_DIR` (default `../shared/corpora`).
//!
//! Each way is timed alone, index included, the least of three rounds; one that takes four times the best one's first round is not run again. A row
//! says what the sample chose, how long that took (the sample included, and how long it took alone), which way was the best, and how many times
//! as long as that the chosen one took. The last three columns say what a join without longer prefixes, without bitmaps and without words takes
//! at its best, in times of the best of all. `--ways` prints a line of each way besides, to calibrate the model: seconds, visited postings,
//! candidates, sets. It ends with status 1 where the choice takes more than 1.3 times as long, and 10 ms more.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use flate2::read::MultiGzDecoder;
use std::convert::Infallible;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use twinsplit_core::join::integers::{Collection, RawSets};
use twinsplit_core::join::kernel::{Asked, JoinStrategy, Work, index_shards, join_shards, whole};
use twinsplit_core::join::sets::Sets;
use twinsplit_core::similarity::Similarity;
use twinsplit_core::similarity::tau::Tau;
use twinsplit_core::text::{Extractor, FeatureKind, FeatureSpec};

/// The collections: a name, files below the corpora's folder, and the features of texts.
const COLLECTIONS: [(&str, &[&str], Option<&str>); 10] = [
    ("kosarak", &["sets/kosarak_head.txt.gz"], None),
    ("t10i4", &["sets/T10I4D100K.txt.gz"], None),
    ("reuters-spotsigs", &[NEWS], Some("spotsigs")),
    ("enron-spotsigs", &[MAIL], Some("spotsigs")),
    ("licence-spotsigs", &[LICENCES], Some("spotsigs")),
    ("reuters-words5", &[NEWS], Some("words:5")),
    ("enron-words5", &[MAIL], Some("words:5")),
    ("licence-words5", &[LICENCES], Some("words:5")),
    ("three-spotsigs", &[NEWS, MAIL, LICENCES], Some("spotsigs")),
    ("three-words5", &[NEWS, MAIL, LICENCES], Some("words:5")),
];
const NEWS: &str = "reuters21578/docs.jsonl.gz";
const MAIL: &str = "enron1/docs.jsonl.gz";
const LICENCES: &str = "licence-texts-a/docs.jsonl.gz";

/// A choice may take so many times as long as the best way, or so many seconds more.
const TIMES: f64 = 1.3;
const SECONDS: f64 = 0.01;

/// A way whose first round takes so many times as long as the best one's is not run again.
const HOPELESS: f64 = 4.0;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if args.is_empty() {
        eprintln!("strategies: --all, or --only NAME,NAME");
        return;
    }
    let opts = Opts::of(&args);
    let folder = std::env::var_os("CORPORA_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpora"), PathBuf::from);

    println!(
        "| sets | tau | pairs | chosen | s | of that choosing | best | s | times | no longer prefixes | no bitmaps | no words |"
    );
    println!("|---|---|--:|---|--:|--:|---|--:|--:|--:|--:|--:|");
    let mut wrong = 0;
    for (name, files, features) in COLLECTIONS {
        if !opts.names.contains(&name) {
            continue;
        }
        let files: Vec<PathBuf> = files.iter().map(|file| folder.join(file)).collect();
        let read = read(&files, features);
        for tau in &opts.taus {
            let similarity: Similarity = tau.parse::<Tau>().unwrap().into();
            let sets = Collection::new(vec![read.clone()], similarity, opts.threads).sets;
            wrong += u32::from(row(&format!("{name} | {tau}"), &sets, similarity, &opts));
        }
    }
    println!("\nchoices that take more than {TIMES} times as long as the best way: {wrong}");
    std::process::exit(i32::from(wrong > 0));
}

/// What the command line says.
struct Opts<'a> {
    names: Vec<&'a str>,
    taus: Vec<&'a str>,
    rounds: usize,
    threads: usize,
    ways: bool,
}

impl<'a> Opts<'a> {
    fn of(args: &'a [String]) -> Self {
        let names: Vec<&str> = COLLECTIONS.map(|(name, ..)| name).to_vec();
        let taus = vec!["0.4", "0.5", "0.7", "0.9"];
        let mut opts = Self { names, taus, rounds: 3, threads: 1, ways: false };
        let mut args = args.iter().map(String::as_str);
        while let Some(arg) = args.next() {
            let mut value = || args.next().unwrap_or_else(|| panic!("{arg} needs a value"));
            match arg {
                "--all" => {}
                "--ways" => opts.ways = true,
                "--taus" => opts.taus = value().split(',').collect(),
                "--rounds" => opts.rounds = value().parse().expect("a number of rounds"),
                "--threads" => opts.threads = value().parse().expect("a number of threads"),
                "--only" => {
                    let only: Vec<&str> = value().split(',').collect();
                    let known = |name: &&str| opts.names.contains(name);
                    assert!(only.iter().all(known), "--only takes names of {}", opts.names.join(", "));
                    opts.names = only;
                }
                _ => panic!("there is no option {arg}"),
            }
        }
        opts
    }
}

/// Prints the row of a collection at a threshold; whether its choice is wrong.
fn row(name: &str, sets: &Sets, similarity: Similarity, opts: &Opts<'_>) -> bool {
    let asked: Vec<Asked> =
        std::iter::once(Asked::Pairs).chain(JoinStrategy::all().map(Asked::PairsBy)).collect();
    let mut seconds = vec![f64::INFINITY; asked.len()];
    let mut works = vec![Work::default(); asked.len()];
    let mut pairs = None;
    for round in 0..opts.rounds {
        let best = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        for ((asked, least), counted) in asked.iter().zip(&mut seconds).zip(&mut works) {
            if round > 0 && *asked != Asked::Pairs && *least > HOPELESS * best {
                continue;
            }
            let (found, took, work) = join(sets, similarity, *asked, opts.threads);
            assert_eq!(*pairs.get_or_insert(found), found, "{name} {asked:?}: other pairs");
            *least = least.min(took);
            *counted = work;
        }
    }
    let (chosen, ways) = (seconds[0], &seconds[1..]);
    let least = |keep: &dyn Fn(&JoinStrategy) -> bool| {
        let ways = JoinStrategy::all().zip(ways).filter(|(way, _)| keep(way));
        ways.min_by(|x, y| x.1.total_cmp(y.1)).map(|(way, seconds)| (way, *seconds)).unwrap()
    };
    let (way, best) = least(&|_| true);
    if opts.ways {
        for (way, (seconds, work)) in JoinStrategy::all().zip(ways.iter().zip(&works[1..])) {
            eprintln!(
                "{name} | {way} | {seconds:.5} | {} | {} | {}",
                work.postings,
                work.candidates,
                sets.len()
            );
        }
    }
    let (choice, choosing) = choice(sets, similarity, opts.threads);
    let without = |keep: &dyn Fn(&JoinStrategy) -> bool| least(keep).1 / best;
    println!(
        "| {name} | {} | {} | {chosen:.4} | {choosing:.4} | {way} | {best:.4} | {:.2} | {:.2} | {:.2} | {:.2} |",
        pairs.unwrap_or(0),
        choice,
        chosen / best,
        without(&|way| way.common == 1),
        without(&|way| !way.bitmaps),
        without(&|way| !way.words),
    );
    chosen > best * TIMES && chosen > best + SECONDS
}

/// What the sample chooses, for each part of the collection that differs from the one before.
fn choice(sets: &Sets, similarity: Similarity, threads: usize) -> (String, f64) {
    let start = Instant::now();
    let Ok::<_, Infallible>(parts) = index_shards(sets, &whole(sets), similarity, threads);
    let ways = parts.iter().map(|part| JoinStrategy::of(sets, part.first..part.end, similarity, threads));
    let mut ways: Vec<String> = ways.map(|way| way.to_string()).collect();
    let seconds = start.elapsed().as_secs_f64();
    ways.dedup();
    (ways.join(", "), seconds)
}

/// The number of pairs, the seconds that a join takes, and what it counts.
fn join(sets: &Sets, similarity: Similarity, asked: Asked, threads: usize) -> (u64, f64, Work) {
    let start = Instant::now();
    let pairs = AtomicU64::new(0);
    let Ok::<_, Infallible>(parts) = index_shards(sets, &whole(sets), similarity, threads);
    let joined = join_shards(sets, &parts, similarity, asked, threads, &|_| (), &|found| {
        pairs.fetch_add(found.len() as u64, Ordering::Relaxed);
        Ok::<(), Infallible>(())
    });
    let Ok(work) = joined;
    (pairs.into_inner(), start.elapsed().as_secs_f64(), work)
}

/// Sets of integers, one a line, or the features of the texts of JSON lines.
fn read(files: &[PathBuf], features: Option<&str>) -> RawSets {
    let mut sets = RawSets::default();
    let kind = features.map(|kind| FeatureKind::parse(kind, &|_| Err("no files here".into())).unwrap());
    let mut extractor = kind.map(|kind| Extractor::new(FeatureSpec::new(kind)));
    for file in files {
        let opened = File::open(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for line in BufReader::new(MultiGzDecoder::new(opened)).lines() {
            let line = line.unwrap();
            match &mut extractor {
                None => line.split_whitespace().for_each(|token| sets.push(token.parse().unwrap())),
                Some(extractor) => {
                    let document: serde_json::Value = serde_json::from_str(&line).unwrap();
                    let mut set = Vec::new();
                    extractor.set(document["text"].as_str().expect("a field text"), &mut set);
                    set.iter().for_each(|feature| sets.push(*feature));
                }
            }
            sets.end_set();
        }
    }
    sets
}
