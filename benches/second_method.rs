//! The clusters of a run, found once more by a method that shares nothing with it but the features.
//!
//! `cargo bench --bench second_method -- --idf LOW,HIGH --tau TAU [--threads N] [--planted-only] DOCUMENTS CLUSTERS`
//! reads JSON lines and the `clusters.tsv` that `twinsplit run doc-split --features spotsigs --write clusters` made of
//! them. It counts what all pairs of sets share by going through whole posting lists, a counter for each set, some
//! thousands of sets at a time: no prefixes, no bitmaps, no sample, no numbers by frequency. It then compares
//!
//! - the clusters: each document must be in one of its own kind here and there;
//! - each row's similarity to the kept document;
//! - each planted copy of which `_truth.tsv` beside the documents tells: where the exact Jaccard of copy and source
//!   reaches tau, both must be in one cluster. With `--planted-only` whole lists are not gone through.
//!
//! It prints what it counted, and ends with status 1 when anything differs.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Args, Collection, Decimal};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn main() {
    let Some(args) = Args::read() else {
        eprintln!("second_method: nothing to compare is given");
        return;
    };
    let [_, clusters] = &args.files[..] else { panic!("DOCUMENTS CLUSTERS") };
    let collection = Collection::read(&args);
    let clusters = Clusters::read(clusters, &collection);
    let mut wrong = clusters.similarities(&collection);
    wrong += planted(&args, &collection, &clusters);
    if !args.flags.iter().any(|flag| flag == "--planted-only") {
        wrong += compare(&collection, &args, &clusters);
    }
    println!("differences: {wrong}");
    std::process::exit(i32::from(wrong > 0));
}

/// So many sets are counted at once: their counters stay in a core's first caches.
const PART: usize = 1 << 14;

/// Finds all components and compares them; how many documents are with others than there.
fn compare(collection: &Collection, args: &Args, clusters: &Clusters) -> u64 {
    let tau = Decimal::of(&args.tau);
    // Equal sets once: a group is its first document's.
    let mut parents: Vec<u32> = (0..collection.ids.len() as u32).collect();
    let mut sets: Vec<u32> = Vec::new();
    for (document, first) in collection.firsts() {
        if first == document {
            sets.push(document);
        }
        parents[document as usize] = first;
    }
    sets.sort_by_key(|document| collection.set(*document).len());
    let (mut contacts, mut pairs) = (0, 0);
    for part in (0..sets.len()).step_by(PART) {
        let found = of_part(collection, args.threads, tau, &sets, part);
        contacts += found.contacts;
        pairs += found.pairs.len();
        for (x, y) in found.pairs {
            let (x, y) = (root(&mut parents, x), root(&mut parents, y));
            parents[x.max(y) as usize] = x.min(y);
        }
    }
    println!("sets: {}; contacts: {contacts}; pairs of sets: {pairs}", sets.len());
    // Both are a label for each document: they agree when labels correspond one to one.
    let (mut there, mut here) = (HashMap::new(), HashMap::new());
    let differ = |document: &u32| {
        let (own, other) = (root(&mut parents, *document), clusters.labels[*document as usize]);
        *there.entry(own).or_insert(other) != other || *here.entry(other).or_insert(own) != own
    };
    let wrong = (0..collection.ids.len() as u32).filter(differ).count();
    println!("documents whose cluster differs: {wrong} of {}", collection.ids.len());
    wrong as u64
}

/// What [`of_part`] finds.
#[derive(Default)]
struct Found {
    /// How often a counter was raised.
    contacts: u64,
    /// Documents.
    pairs: Vec<(u32, u32)>,
}

/// Pairs of each set, in the order of `sets`, with those before it from `first` on, [`PART`] at most.
fn of_part(collection: &Collection, threads: usize, tau: Decimal, sets: &[u32], first: usize) -> Found {
    let part = &sets[first..sets.len().min(first + PART)];
    let lists = Lists::of(collection, part);
    let smallest = collection.set(part[0]).len() as u64;
    let (next, all) = (AtomicUsize::new(first), Mutex::new(Found::default()));
    let worker = || {
        let (mut counts, mut found) = (vec![0_u16; part.len()], Found::default());
        loop {
            let x = next.fetch_add(1, Ordering::Relaxed);
            let Some(&document) = sets.get(x) else { break };
            let before = part.len().min(x - first);
            let set = collection.set(document);
            for token in set {
                let mut list = lists.list(*token);
                if before < part.len() {
                    list = &list[..list.partition_point(|y| usize::from(*y) < before)];
                }
                found.contacts += list.len() as u64;
                list.iter().for_each(|y| counts[usize::from(*y)] += 1);
            }
            // No set of the part is smaller than the first, so none reaches tau with less.
            let a = set.len() as u64;
            let least = u16::try_from(tau.overlap(a, smallest)).unwrap_or(u16::MAX);
            for (counts, ys) in counts.chunks(64).zip(part.chunks(64)) {
                if counts.iter().fold(0, |most, count| most.max(*count)) < least {
                    continue;
                }
                for (count, &y) in counts.iter().zip(ys) {
                    if tau.reached(u64::from(*count), a, collection.set(y).len() as u64) {
                        found.pairs.push((document, y));
                    }
                }
            }
            counts.fill(0);
        }
        let mut all = all.lock().unwrap();
        all.contacts += found.contacts;
        all.pairs.extend(found.pairs);
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(worker);
        }
    });
    all.into_inner().unwrap()
}

/// For each token, the sets of a part that hold it, by position.
struct Lists {
    starts: Vec<u32>,
    sets: Vec<u16>,
}

impl Lists {
    fn of(collection: &Collection, part: &[u32]) -> Self {
        let tokens = || part.iter().flat_map(|document| collection.set(*document));
        let kinds = collection.tokens.iter().max().map_or(0, |token| *token as usize + 1);
        let mut starts = vec![0_u32; kinds + 1];
        tokens().for_each(|token| starts[*token as usize + 1] += 1);
        for token in 0..kinds {
            starts[token + 1] += starts[token];
        }
        let mut ends = starts.clone();
        let mut sets = vec![0; tokens().count()];
        for (y, document) in (0..).zip(part) {
            let set = collection.set(*document);
            // A counter may reach the size of a set.
            assert!(set.len() < usize::from(u16::MAX), "a set of {} tokens", set.len());
            for token in set {
                let end = &mut ends[*token as usize];
                sets[*end as usize] = y;
                *end += 1;
            }
        }
        Self { starts, sets }
    }

    fn list(&self, token: u32) -> &[u16] {
        let token = token as usize;
        &self.sets[self.starts[token] as usize..self.starts[token + 1] as usize]
    }
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
    let truth = args.files[0].with_file_name("_truth.tsv");
    let Ok(truth) = File::open(&truth) else {
        println!("planted copies: no {}", truth.display());
        return 0;
    };
    let tau = Decimal::of(&args.tau);
    let (mut all, mut reach, mut apart) = (0, 0, 0);
    for line in BufReader::new(truth).lines() {
        let line = line.unwrap();
        let mut fields = line.split('\t');
        let number = |id: Option<&str>| id.and_then(|id| collection.numbers.get(id)).copied();
        let (Some(copy), Some(source)) = (number(fields.next()), number(fields.next())) else { continue };
        all += 1;
        let (x, y) = (collection.set(copy), collection.set(source));
        let sizes = (x.len() as u64, y.len() as u64);
        if collection.joins(copy) && collection.joins(source) && tau.reached(shared(x, y), sizes.0, sizes.1) {
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
