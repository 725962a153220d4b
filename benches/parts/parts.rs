//! The parts of a join, each on its own: `make bench-parts`.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../tests/suite/common/rng.rs"]
#[allow(dead_code)]
mod rng;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use flate2::read::MultiGzDecoder;
use rng::Rng;
use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use twinsplit_core::join::integers::{Collection, RawSets};
use twinsplit_core::join::kernel::{Index, Purpose, Scratch};
use twinsplit_core::join::overlap;
use twinsplit_core::similarity::Similarity;
use twinsplit_core::similarity::tau::Tau;
use twinsplit_core::text::{Extractor, FeatureKind, FeatureSpec, dominant_script};
use twinsplit_io::error::Place;
use twinsplit_rows::bad_records::MostBad;
use twinsplit_rows::record::document::{DocumentOpts, TextFields};

/// Sets of about 20 of so many tokens, small ones more frequent; every fourth a copy with an edit.
fn raw(tokens: usize) -> RawSets {
    let (mut rng, mut sets, mut before) = (Rng::new(1), RawSets::default(), Vec::new());
    for number in 0..20_000 {
        if number % 4 == 3 {
            before[0] = rng.below(tokens);
        } else {
            before = (0..10 + rng.below(20)).map(|_| rng.below((tokens >> (number % 3)).max(2))).collect();
        }
        before.iter().for_each(|&token| sets.push(token as u64));
        sets.end_set();
    }
    sets
}

fn similarity() -> Similarity {
    "0.7".parse::<Tau>().unwrap().into()
}

/// JSON lines to sets: reading, segmenting, hashing and sorting, the way of the front of every run.
fn front(c: &mut Criterion) {
    let document = DocumentOpts {
        id: "id".parse().unwrap(),
        text: TextFields::one("text"),
        date: None,
        score: None,
        bad_records: MostBad(0),
        max_line: "1".parse().unwrap(),
    };
    for language in ["en", "zh"] {
        let path =
            format!("{}/../../hdfs-fixtures/documents/{language}.jsonl.gz", env!("CARGO_MANIFEST_DIR"));
        let mut lines = String::new();
        MultiGzDecoder::new(File::open(path).unwrap()).read_to_string(&mut lines).unwrap();
        let mut group = c.benchmark_group(format!("front, {language}"));
        group.throughput(Throughput::Bytes(lines.len() as u64));
        for kind in ["words:5", "spotsigs", "chars:9"] {
            let kind = FeatureKind::parse(kind, &|_| Err(String::new())).unwrap();
            let mut extractor = Extractor::new(FeatureSpec::new(kind.clone()));
            let mut set = Vec::new();
            group.bench_function(kind.to_string(), |b| {
                b.iter(|| {
                    let mut features = 0;
                    for line in black_box(&lines).lines() {
                        let document = document.read(line.as_bytes(), &Place::default()).unwrap();
                        black_box(dominant_script(&document.text));
                        extractor.set(&document.text, &mut set);
                        features += set.len();
                    }
                    features
                });
            });
        }
    }
}

fn joining(c: &mut Criterion) {
    for (name, tokens) in [("dense", 300), ("sparse", 200_000)] {
        let mut group = c.benchmark_group(name);
        group.bench_function("counting", |b| {
            b.iter_batched(
                || vec![raw(tokens)],
                |parts| Collection::new(parts, similarity(), 1),
                BatchSize::LargeInput,
            );
        });
        let collection = Collection::new(vec![raw(tokens)], similarity(), 1);
        let sets = &collection.sets;
        let build = || Index::build(sets, 0..sets.len(), similarity(), Purpose::SelfJoin);
        group.bench_function("indexing", |b| b.iter(build));
        let (index, mut scratch) = (build(), Scratch::default());
        group.bench_function("probing", |b| {
            b.iter(|| {
                let mut pairs = 0_u64;
                for set in (0..sets.len()).step_by(50) {
                    index.query(sets.get(set), sets.singleton(set), set, &mut scratch, |_, _| pairs += 1);
                }
                pairs
            });
        });
        group.bench_function("verifying", |b| {
            b.iter(|| (1..sets.len()).map(|set| overlap(sets.get(set - 1), sets.get(set))).sum::<u64>());
        });
    }
}

criterion_group!(parts, front, joining);
criterion_main!(parts);
