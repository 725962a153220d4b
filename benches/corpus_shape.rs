//! How hard a corpus is to join: what its documents share, and what a prefix join makes of that.
//!
//! `cargo bench --bench corpus_shape -- [--features KIND]... [--documents N] FILE...` prints a row for each file, kind of
//! feature and threshold:
//!
//! | column | what |
//! |---|---|
//! | `df2` | sum over features of (documents that have it)², a document: the postings that a join without filters visits |
//! | `candidates` | pairs of different sets with a common token in their prefixes and sizes that fit, a document |
//! | `pairs` | pairs of documents at or above tau, a document |
//! | `component` | documents of the largest connected component |
//! | `equal` | documents of the largest group of equal sets |
//!
//! Features are the library's; everything after them is written out here once more, in the plainest way, so that the
//! figures do not depend on the join that they are about. Documents with fewer features than the kind asks for
//! (4 for SpotSigs) count as documents and have no pairs, as in a run.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use twinsplit_core::text::{Extractor, FeatureKind, FeatureSpec};

const TAUS: [u64; 7] = [3, 4, 5, 6, 7, 8, 9];

fn main() {
    let mut kinds = Vec::new();
    let mut files = Vec::new();
    let mut limit = usize::MAX;
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--features" => kinds.push(args.next().expect("--features KIND")),
            "--documents" => limit = args.next().and_then(|n| n.parse().ok()).expect("--documents N"),
            _ => files.push(PathBuf::from(arg)),
        }
    }
    if files.is_empty() {
        eprintln!("corpus_shape: no file of documents is given, so there is nothing to measure");
        return;
    }
    if kinds.is_empty() {
        kinds = vec!["spotsigs".to_owned(), "words:5".to_owned()];
    }
    println!(
        "file\tfeatures\ttau\tdocuments\tbytes\tfeatures_a_document\tdf2\tcandidates\tpairs\tcomponent\tequal"
    );
    for file in &files {
        let texts = texts(file, limit);
        let bytes: usize = texts.iter().map(String::len).sum();
        for kind in &kinds {
            let sets = Sets::of(&texts, kind);
            let n = texts.len() as f64;
            for tau in TAUS {
                let shape = sets.join(tau);
                println!(
                    "{}\t{kind}\t0.{tau}\t{}\t{bytes}\t{:.1}\t{:.1}\t{:.3}\t{:.4}\t{}\t{}",
                    file.display(),
                    texts.len(),
                    sets.features as f64 / n,
                    sets.df2 as f64 / n,
                    shape.candidates as f64 / n,
                    shape.pairs as f64 / n,
                    shape.component,
                    sets.equal(),
                );
            }
        }
    }
}

/// The texts of the first documents of a file of JSON lines.
fn texts(path: &Path, limit: usize) -> Vec<String> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = BufReader::new(file);
    if reader.fill_buf().unwrap().starts_with(&[0x1f, 0x8b]) {
        flate2::read::MultiGzDecoder::new(reader).read_to_end(&mut bytes).unwrap();
    } else {
        reader.read_to_end(&mut bytes).unwrap();
    }
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).take(limit);
    let text = |line| {
        let value: serde_json::Value = serde_json::from_slice(line).unwrap();
        value["text"].as_str().expect("a field text").to_owned()
    };
    lines.map(text).collect()
}

/// Different sets in ascending order of size, their tokens from rare to frequent, and who has them.
struct Sets {
    sets: Vec<Vec<u32>>,
    copies: Vec<u64>,
    features: usize,
    df2: u64,
}

struct Shape {
    candidates: u64,
    pairs: u64,
    component: u64,
}

impl Sets {
    fn of(texts: &[String], kind: &str) -> Self {
        let kind = FeatureKind::parse(kind, &|_| Err("no files here".into())).unwrap();
        let least = kind.min_features_default() as usize;
        let mut extractor = Extractor::new(FeatureSpec::new(kind));
        let mut sets = Vec::new();
        for text in texts {
            let mut set = Vec::new();
            extractor.set(text, &mut set);
            sets.push(set);
        }
        let mut frequencies: HashMap<u64, u64> = HashMap::new();
        sets.iter().flatten().for_each(|feature| *frequencies.entry(*feature).or_default() += 1);
        let mut order: Vec<(u64, u64)> = frequencies.iter().map(|(feature, df)| (*df, *feature)).collect();
        order.sort_unstable();
        let tokens: HashMap<u64, u32> =
            (0..).zip(&order).map(|(token, (_, feature))| (*feature, token)).collect();
        let features = sets.iter().map(Vec::len).sum();
        let mut groups: HashMap<Vec<u32>, u64> = HashMap::new();
        for set in sets.iter().filter(|set| set.len() >= least.max(1)) {
            let mut set: Vec<u32> = set.iter().map(|feature| tokens[feature]).collect();
            set.sort_unstable();
            *groups.entry(set).or_default() += 1;
        }
        let mut groups: Vec<(Vec<u32>, u64)> = groups.into_iter().collect();
        groups.sort_unstable_by(|x, y| (x.0.len(), &x.0).cmp(&(y.0.len(), &y.0)));
        let (sets, copies) = groups.into_iter().unzip();
        Self { sets, copies, features, df2: order.iter().map(|(df, _)| df * df).sum() }
    }

    fn equal(&self) -> u64 {
        self.copies.iter().copied().max().unwrap_or(0)
    }

    /// Joins at tau = `p` / 10.
    fn join(&self, p: u64) -> Shape {
        let q = 10;
        let mut lists: HashMap<u32, Vec<u32>> = HashMap::new();
        let mut parents: Vec<usize> = (0..self.sets.len()).collect();
        let mut seen = vec![u32::MAX; self.sets.len()];
        let (mut candidates, mut pairs) = (0, 0);
        for (x, set) in (0_u32..).zip(&self.sets) {
            let a = set.len() as u64;
            pairs += self.copies[x as usize] * (self.copies[x as usize] - 1) / 2;
            let probe = a - (p * a).div_ceil(q) + 1;
            for token in &set[..probe as usize] {
                for &y in lists.get(token).into_iter().flatten() {
                    let other = &self.sets[y as usize];
                    let b = other.len() as u64;
                    if std::mem::replace(&mut seen[y as usize], x) == x || b * q < a * p {
                        continue;
                    }
                    candidates += 1;
                    if reaches(set, other, (p * (a + b)).div_ceil(p + q)) {
                        pairs += self.copies[x as usize] * self.copies[y as usize];
                        let (from, to) = (root(&mut parents, x as usize), root(&mut parents, y as usize));
                        parents[from] = to;
                    }
                }
            }
            let index = a - (2 * p * a).div_ceil(p + q) + 1;
            for token in &set[..index as usize] {
                lists.entry(*token).or_default().push(x);
            }
        }
        let mut sizes: HashMap<usize, u64> = HashMap::new();
        for set in 0..self.sets.len() {
            *sizes.entry(root(&mut parents, set)).or_default() += self.copies[set];
        }
        Shape { candidates, pairs, component: sizes.into_values().max().unwrap_or(0) }
    }
}

/// Whether two ascending sets share so many tokens.
fn reaches(x: &[u32], y: &[u32], needed: u64) -> bool {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < x.len() && j < y.len() {
        if shared + ((x.len() - i).min(y.len() - j) as u64) < needed {
            return false;
        }
        let (u, v) = (x[i], y[j]);
        shared += u64::from(u == v);
        i += usize::from(u <= v);
        j += usize::from(v <= u);
    }
    shared >= needed
}

fn root(parents: &mut [usize], mut of: usize) -> usize {
    while parents[of] != of {
        parents[of] = parents[parents[of]];
        of = parents[of];
    }
    of
}
