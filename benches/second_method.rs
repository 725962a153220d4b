//! The clusters of a run, found once more by a method that shares nothing with it but the features.
//!
//! `cargo bench --bench second_method -- --idf LOW,HIGH --tau TAU [--threads N] [--planted-only] DOCUMENTS CLUSTERS`
//! reads JSON lines and the `clusters.tsv` that `twinsplit run doc-split --features spotsigs --write clusters` made of
//! them. It counts what all pairs of sets share by going through whole posting lists, a counter for each set: no
//! prefixes, no bitmaps, no sample, no numbers by frequency. It then compares
//!
//! - the clusters: each document must be in one of its own kind here and there;
//! - each row's similarity to the kept document;
//! - each planted copy of which `_truth.tsv` beside the documents tells: where the exact Jaccard of copy and source
//!   reaches tau, both must be in one cluster. With `--planted-only` that is all that is compared, for sizes at which going
//!   through whole lists would take hours.
//!
//! It prints what it counted, and ends with status 1 when anything differs.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use num_bigint::BigUint;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use twinsplit::text::{Extractor, FeatureKind, FeatureSpec};

/// Documents with fewer spots are in no pair.
const LEAST: usize = 4;

/// A decimal as a fraction.
#[derive(Clone, Copy)]
struct Decimal {
    p: u64,
    q: u64,
}

impl Decimal {
    fn of(text: &str) -> Self {
        let (whole, places) = text.split_once('.').unwrap_or((text, ""));
        let q = 10_u64.pow(places.len() as u32);
        let number = |digits: &str| if digits.is_empty() { 0 } else { digits.parse().unwrap() };
        Decimal { p: number(whole) * q + number(places), q }
    }

    /// Whether `overlap / (a + b - overlap)` reaches it.
    fn reached(self, overlap: u64, a: u64, b: u64) -> bool {
        overlap > 0 && overlap * self.q >= self.p * (a + b - overlap)
    }
}

struct Args {
    idf: (Decimal, Decimal),
    tau: Decimal,
    threads: usize,
    planted_only: bool,
    documents: PathBuf,
    clusters: PathBuf,
}

fn args() -> Option<Args> {
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench").peekable();
    args.peek()?;
    let (mut idf, mut tau, mut threads, mut planted_only, mut files) = (None, None, 2, false, Vec::new());
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--idf" => {
                let range = args.next().expect("--idf LOW,HIGH");
                let (low, high) = range.split_once(',').expect("--idf LOW,HIGH");
                idf = Some((Decimal::of(low), Decimal::of(high)));
            }
            "--tau" => tau = args.next().map(|tau| Decimal::of(&tau)),
            "--threads" => threads = args.next().and_then(|n| n.parse().ok()).expect("--threads N"),
            "--planted-only" => planted_only = true,
            _ => files.push(PathBuf::from(arg)),
        }
    }
    let [documents, clusters] = files.try_into().expect("DOCUMENTS CLUSTERS");
    let (idf, tau) = (idf.expect("--idf"), tau.expect("--tau"));
    Some(Args { idf, tau, threads, planted_only, documents, clusters })
}

fn main() {
    let Some(args) = args() else {
        eprintln!("second_method: nothing to compare is given");
        return;
    };
    let collection = Collection::read(&args);
    let clusters = Clusters::read(&args.clusters, &collection);
    let mut wrong = clusters.similarities(&collection);
    wrong += planted(&args, &collection, &clusters);
    if !args.planted_only {
        wrong += collection.compare(&args, &clusters);
    }
    println!("differences: {wrong}");
    std::process::exit(i32::from(wrong > 0));
}

/// Features of documents, those in the IDF range alone, as numbers in the order of their hashes.
struct Collection {
    numbers: HashMap<String, u32>,
    ids: Vec<String>,
    starts: Vec<usize>,
    tokens: Vec<u32>,
}

impl Collection {
    fn read(args: &Args) -> Self {
        let (mut ids, mut starts, mut features) = (Vec::new(), vec![0], Vec::new());
        let mut reader = BufReader::with_capacity(1 << 20, File::open(&args.documents).unwrap());
        loop {
            let mut lines = Vec::new();
            let mut line = Vec::new();
            while lines.len() < 4096 && reader.read_until(b'\n', &mut line).unwrap() > 0 {
                lines.push(std::mem::take(&mut line));
            }
            if lines.is_empty() {
                break;
            }
            let parts: Vec<&[Vec<u8>]> = lines.chunks(lines.len().div_ceil(args.threads)).collect();
            let read: Vec<Vec<(String, Vec<u64>)>> = std::thread::scope(|scope| {
                let workers: Vec<_> = parts.iter().map(|part| scope.spawn(|| spots(part))).collect();
                workers.into_iter().map(|worker| worker.join().unwrap()).collect()
            });
            for (id, set) in read.into_iter().flatten() {
                ids.push(id);
                features.extend(set);
                starts.push(features.len());
            }
        }
        let mut frequencies: HashMap<u64, u32> = HashMap::new();
        features.iter().for_each(|feature| *frequencies.entry(*feature).or_default() += 1);
        let (least, most) = frequency_range(ids.len() as u64, args.idf);
        let mut kept: Vec<u64> = frequencies
            .iter()
            .filter(|(_, frequency)| (least..=most).contains(&u64::from(**frequency)))
            .map(|(feature, _)| *feature)
            .collect();
        kept.sort_unstable();
        println!(
            "documents: {}; features: {}, of them in documents from {least} to {most}: {}",
            ids.len(),
            frequencies.len(),
            kept.len()
        );
        let numbers_of: HashMap<u64, u32> = kept.iter().copied().zip(0..).collect();
        let mut tokens = Vec::new();
        let mut ends = vec![0];
        for bounds in starts.windows(2) {
            let set = &features[bounds[0]..bounds[1]];
            tokens.extend(set.iter().filter_map(|feature| numbers_of.get(feature)));
            ends.push(tokens.len());
        }
        let numbers = ids.iter().cloned().zip(0..).collect();
        Self { numbers, ids, starts: ends, tokens }
    }

    fn set(&self, document: u32) -> &[u32] {
        &self.tokens[self.starts[document as usize]..self.starts[document as usize + 1]]
    }

    /// Whether a document's set may be in a pair.
    fn joins(&self, document: u32) -> bool {
        self.set(document).len() >= LEAST
    }

    /// Finds all components and compares them; how many documents are with others than there.
    fn compare(&self, args: &Args, clusters: &Clusters) -> u64 {
        // Equal sets once: a group is its first document's.
        let mut groups: HashMap<&[u32], u32> = HashMap::new();
        let mut parents: Vec<u32> = (0..self.ids.len() as u32).collect();
        let mut sets: Vec<u32> = Vec::new();
        for document in (0..self.ids.len() as u32).filter(|document| self.joins(*document)) {
            let first = *groups.entry(self.set(document)).or_insert(document);
            if first == document {
                sets.push(document);
            }
            parents[document as usize] = first;
        }
        sets.sort_by_key(|document| self.set(*document).len());
        let mut lists: Vec<Vec<u32>> =
            vec![Vec::new(); self.tokens.iter().max().map_or(0, |t| *t as usize + 1)];
        for (position, document) in (0..).zip(&sets) {
            self.set(*document).iter().for_each(|token| lists[*token as usize].push(position));
        }
        let (next, found, contacts) =
            (AtomicUsize::new(0), Mutex::new((parents, 0_u64)), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..args.threads {
                scope.spawn(|| {
                    let (mut counts, mut met) = (vec![0_u32; sets.len()], Vec::new());
                    loop {
                        let x = next.fetch_add(1, Ordering::Relaxed);
                        let Some(&document) = sets.get(x) else { return };
                        let set = self.set(document);
                        for token in set {
                            let list = &lists[*token as usize];
                            let before = list.partition_point(|y| (*y as usize) < x);
                            contacts.fetch_add(before, Ordering::Relaxed);
                            for &y in &list[..before] {
                                if counts[y as usize] == 0 {
                                    met.push(y);
                                }
                                counts[y as usize] += 1;
                            }
                        }
                        let a = set.len() as u64;
                        let mut pairs = Vec::new();
                        for y in met.drain(..) {
                            let shared = u64::from(std::mem::take(&mut counts[y as usize]));
                            let other = sets[y as usize];
                            if args.tau.reached(shared, a, self.set(other).len() as u64) {
                                pairs.push(other);
                            }
                        }
                        if !pairs.is_empty() {
                            let mut found = found.lock().unwrap();
                            found.1 += pairs.len() as u64;
                            for other in pairs {
                                let (from, to) = (root(&mut found.0, document), root(&mut found.0, other));
                                found.0[from.max(to) as usize] = from.min(to);
                            }
                        }
                    }
                });
            }
        });
        let (mut parents, pairs) = found.into_inner().unwrap();
        println!("sets: {}; contacts: {}; pairs of sets: {pairs}", sets.len(), contacts.into_inner());
        // Both are a label for each document: they agree when labels correspond one to one.
        let (mut there, mut here) = (HashMap::new(), HashMap::new());
        let differ = |document: &u32| {
            let (own, other) = (root(&mut parents, *document), clusters.labels[*document as usize]);
            *there.entry(own).or_insert(other) != other || *here.entry(other).or_insert(own) != own
        };
        let wrong = (0..self.ids.len() as u32).filter(differ).count();
        println!("documents whose cluster differs: {wrong} of {}", self.ids.len());
        wrong as u64
    }
}

/// Id and features of each line.
fn spots(lines: &[Vec<u8>]) -> Vec<(String, Vec<u64>)> {
    let kind = FeatureKind::parse("spotsigs", &|_| Err("no files here".into())).unwrap();
    let mut extractor = Extractor::new(FeatureSpec::new(kind));
    let read = |line: &Vec<u8>| {
        let value: serde_json::Value = serde_json::from_slice(line).unwrap();
        let mut set = Vec::new();
        extractor.set(value["text"].as_str().expect("a field text"), &mut set);
        (value["id"].as_str().expect("a field id").to_owned(), set)
    };
    lines.iter().map(read).collect()
}

/// The document frequencies from the least to the most with `low <= ln(n / df) / ln(n) <= high`.
fn frequency_range(n: u64, (low, high): (Decimal, Decimal)) -> (u64, u64) {
    // ln(n / df) >= p/q ln(n) says df^q <= n^(q - p).
    let power = |base: u64, exponent: u64| BigUint::from(base).pow(exponent as u32);
    let at_least = |df: u64, idf: Decimal| power(df, idf.q) <= power(n, idf.q - idf.p);
    let at_most = |df: u64, idf: Decimal| power(df, idf.q) >= power(n, idf.q - idf.p);
    let first = |wanted: &dyn Fn(u64) -> bool| {
        let (mut from, mut to) = (1, n + 1);
        while from < to {
            let middle = from.midpoint(to);
            if wanted(middle) { to = middle } else { from = middle + 1 }
        }
        from
    };
    (first(&|df| at_most(df, high)), first(&|df| !at_least(df, low)) - 1)
}

/// What a run found.
struct Clusters {
    /// By document: the number of the kept one, its own when it is alone.
    labels: Vec<u32>,
    /// Dropped document, kept one, similarity as it stands.
    rows: Vec<(u32, u32, String)>,
}

impl Clusters {
    fn read(path: &Path, collection: &Collection) -> Self {
        let mut labels: Vec<u32> = (0..collection.ids.len() as u32).collect();
        let mut rows = Vec::new();
        for line in BufReader::new(File::open(path).unwrap()).lines() {
            let line = line.unwrap();
            let fields: Vec<&str> = line.split('\t').collect();
            let (kept, document) = (collection.numbers[fields[0]], collection.numbers[fields[1]]);
            labels[document as usize] = kept;
            if fields[2] == "drop" {
                rows.push((document, kept, fields[3].to_owned()));
            }
        }
        Self { labels, rows }
    }

    /// How many similarities differ from a count of what two sets share.
    fn similarities(&self, collection: &Collection) -> u64 {
        let wrong = |row: &&(u32, u32, String)| {
            let (x, y) = (collection.set(row.0), collection.set(row.1));
            let (shared, all) = (shared(x, y), (x.len() + y.len()) as u64);
            // In millionths, rounded half up.
            let millionths = (2_000_000 * shared + (all - shared)) / (2 * (all - shared));
            row.2 != format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
        };
        let wrong = self.rows.iter().filter(wrong).count();
        println!("similarities that differ: {wrong} of {}", self.rows.len());
        wrong as u64
    }
}

/// How many planted copies that reach tau are apart from their sources.
fn planted(args: &Args, collection: &Collection, clusters: &Clusters) -> u64 {
    let truth = args.documents.with_file_name("_truth.tsv");
    let Ok(truth) = File::open(&truth) else {
        println!("planted copies: no {}", truth.display());
        return 0;
    };
    let (mut all, mut reach, mut apart) = (0, 0, 0);
    for line in BufReader::new(truth).lines() {
        let line = line.unwrap();
        let mut fields = line.split('\t');
        let number = |id: Option<&str>| id.and_then(|id| collection.numbers.get(id)).copied();
        let (Some(copy), Some(source)) = (number(fields.next()), number(fields.next())) else { continue };
        all += 1;
        let (x, y) = (collection.set(copy), collection.set(source));
        let sizes = (x.len() as u64, y.len() as u64);
        if collection.joins(copy)
            && collection.joins(source)
            && args.tau.reached(shared(x, y), sizes.0, sizes.1)
        {
            reach += 1;
            apart += u64::from(clusters.labels[copy as usize] != clusters.labels[source as usize]);
        }
    }
    println!("planted copies: {all}; of them at or above tau: {reach}; of these apart: {apart}");
    apart
}

fn shared(x: &[u32], y: &[u32]) -> u64 {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < x.len() && j < y.len() {
        shared += u64::from(x[i] == y[j]);
        let (u, v) = (x[i], y[j]);
        i += usize::from(u <= v);
        j += usize::from(v <= u);
    }
    shared
}

fn root(parents: &mut [u32], mut of: u32) -> u32 {
    while parents[of as usize] != of {
        parents[of as usize] = parents[parents[of as usize] as usize];
        of = parents[of as usize];
    }
    of
}
