//! What measurements on whole corpora share: documents as sets of spots within a range of IDF, found with nothing of the
//! engines but the features.
// Each bench is a crate that uses a part of it.
#![allow(dead_code)]

use num_bigint::BigUint;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use twinsplit_core::text::{Extractor, FeatureKind, FeatureSpec};

/// Documents with fewer spots are in no pair.
const LEAST: usize = 4;

/// A decimal as a fraction.
#[derive(Clone, Copy)]
pub struct Decimal {
    p: u64,
    q: u64,
}

impl Decimal {
    /// As it is written.
    pub fn of(text: &str) -> Self {
        let (whole, places) = text.split_once('.').unwrap_or((text, ""));
        let q = 10_u64.pow(places.len() as u32);
        let number = |digits: &str| if digits.is_empty() { 0 } else { digits.parse().unwrap() };
        Decimal { p: number(whole) * q + number(places), q }
    }

    /// The least overlap with which [`Decimal::reached`] holds.
    pub fn overlap(self, a: u64, b: u64) -> u64 {
        (self.p * (a + b)).div_ceil(self.p + self.q).max(1)
    }

    /// Whether `overlap / (a + b - overlap)` reaches it.
    pub fn reached(self, overlap: u64, a: u64, b: u64) -> bool {
        overlap > 0 && overlap * self.q >= self.p * (a + b - overlap)
    }
}

/// What the command line says.
pub struct Args {
    /// `--idf LOW,HIGH`
    pub idf: (Decimal, Decimal),
    /// `--tau TAU`, as it is written.
    pub tau: String,
    /// `--threads N`
    pub threads: usize,
    /// Other options.
    pub flags: Vec<String>,
    /// Documents first.
    pub files: Vec<PathBuf>,
}

impl Args {
    /// `None` when there is nothing to do, as when all benches are run.
    pub fn read() -> Option<Self> {
        let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench").peekable();
        args.peek()?;
        let (mut idf, mut tau, mut threads) = (None, None, 2);
        let (mut flags, mut files) = (Vec::new(), Vec::new());
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--idf" => {
                    let range = args.next().expect("--idf LOW,HIGH");
                    let (low, high) = range.split_once(',').expect("--idf LOW,HIGH");
                    idf = Some((Decimal::of(low), Decimal::of(high)));
                }
                "--tau" => tau = args.next(),
                "--threads" => threads = args.next().and_then(|n| n.parse().ok()).expect("--threads N"),
                _ if arg.starts_with("--") => flags.push(arg),
                _ => files.push(PathBuf::from(arg)),
            }
        }
        Some(Self { idf: idf.expect("--idf"), tau: tau.expect("--tau"), threads, flags, files })
    }
}

/// Features of documents, those in the IDF range alone, as numbers in the order of their hashes.
pub struct Collection {
    /// Of each id.
    pub numbers: HashMap<String, u32>,
    /// In the order of the file.
    pub ids: Vec<String>,
    starts: Vec<usize>,
    /// Document by document.
    pub tokens: Vec<u32>,
}

impl Collection {
    /// Reads JSON lines.
    pub fn read(args: &Args) -> Self {
        let (mut ids, mut starts, mut features) = (Vec::new(), vec![0], Vec::new());
        let mut reader = BufReader::with_capacity(1 << 20, File::open(&args.files[0]).unwrap());
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

    /// The features of a document, ascending.
    pub fn set(&self, document: u32) -> &[u32] {
        &self.tokens[self.starts[document as usize]..self.starts[document as usize + 1]]
    }

    /// Whether a document's set may be in a pair.
    pub fn joins(&self, document: u32) -> bool {
        self.set(document).len() >= LEAST
    }

    /// The documents whose sets may be in a pair, each with the first that has the same set.
    pub fn firsts(&self) -> impl Iterator<Item = (u32, u32)> {
        let mut groups: HashMap<&[u32], u32> = HashMap::new();
        let joined = (0..self.ids.len() as u32).filter(|document| self.joins(*document));
        joined.map(move |document| (document, *groups.entry(self.set(document)).or_insert(document)))
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
