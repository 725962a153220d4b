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
    let mut lists: Vec<Vec<u32>> =
        vec![Vec::new(); collection.tokens.iter().max().map_or(0, |t| *t as usize + 1)];
    for (position, document) in (0..).zip(&sets) {
        collection.set(*document).iter().for_each(|token| lists[*token as usize].push(position));
    }
    let (next, found, contacts) = (AtomicUsize::new(0), Mutex::new((parents, 0_u64)), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..args.threads {
            scope.spawn(|| {
                let (mut counts, mut met) = (vec![0_u32; sets.len()], Vec::new());
                loop {
                    let x = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&document) = sets.get(x) else { return };
                    let set = collection.set(document);
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
                        if tau.reached(shared, a, collection.set(other).len() as u64) {
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
    let wrong = (0..collection.ids.len() as u32).filter(differ).count();
    println!("documents whose cluster differs: {wrong} of {}", collection.ids.len());
    wrong as u64
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
