//! MinHash signatures: time of a feature, and bias and variance of the estimate, of the two methods and of those that were not
//! taken (docs/decisions/minhash.md): `make bench-parts`, and the table of all by
//! `cargo bench --manifest-path benches/parts/Cargo.toml --bench minhash -- table`.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../tests/suite/common/rng.rs"]
#[allow(dead_code)]
mod rng;

use criterion::{Criterion, Throughput, criterion_group};
use rng::Rng;
use std::hint::black_box;
use std::time::Instant;
use twinsplit_core::hash::feature;
use twinsplit_core::sketch::bands::Bands;
use twinsplit_core::sketch::minhash::{Method, Signer, matches};
use twinsplit_core::text::{Extractor, FeatureKind, FeatureSpec};

const HASHES: usize = 128;

fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

fn random_features(rng: &mut Rng, count: usize) -> Vec<u64> {
    (0..count).map(|_| rng.bits()).collect()
}

/// One permutation hashing; an empty bucket takes what a bucket holds that it draws (shrivastava2017).
fn densified(features: &[u64], out: &mut Vec<u32>) {
    let mut buckets = [u64::MAX; HASHES];
    for feature in features {
        let hash = mix(*feature);
        let held = &mut buckets[(((hash >> 32) * HASHES as u64) >> 32) as usize];
        *held = (*held).min(hash & 0xffff_ffff);
    }
    for at in 0..HASHES {
        let draw = |attempt: u64| ((mix((at as u64) << 32 | attempt) >> 32) as usize * HASHES) >> 32;
        let from = std::iter::once(at).chain((1..).map(draw)).find(|bucket| buckets[*bucket] != u64::MAX);
        out.push(buckets[from.unwrap()] as u32);
    }
}

/// Two permutations, the second one shifted for each value (li2022), hashes in their place.
fn circulant(features: &[u64], out: &mut Vec<u32>) {
    let mut values = [u32::MAX; HASHES];
    for feature in features {
        let first = mix(*feature);
        for (shift, held) in (0u64..).zip(&mut values) {
            let second = first
                .wrapping_add(shift.wrapping_mul(0x9e37_79b9_7f4a_7c15))
                .wrapping_mul(0xd134_2543_de82_ef95);
            *held = (*held).min((second >> 32) as u32);
        }
    }
    out.extend(values);
}

/// SuperMinHash: each feature deals its values out in an order of its own, and stops where none can be smaller (ertl2017).
fn super_minhash(features: &[u64], out: &mut Vec<u32>) {
    let mut values = [u64::MAX; HASHES];
    let (mut order, mut of) = ([0usize; HASHES], [usize::MAX; HASHES]);
    let (mut level, mut counts) = ([HASHES - 1; HASHES], [0usize; HASHES]);
    counts[HASHES - 1] = HASHES;
    let mut most = HASHES - 1;
    for (number, feature) in features.iter().enumerate() {
        let mut rng = Rng::new(*feature);
        let mut at = 0;
        while at <= most {
            let draw = rng.bits();
            let other = at + (((draw >> 32) * (HASHES - at) as u64) >> 32) as usize;
            for place in [at, other] {
                if of[place] != number {
                    (of[place], order[place]) = (number, place);
                }
            }
            order.swap(at, other);
            let (bucket, value) = (order[at], (at as u64) << 32 | draw & 0xffff_ffff);
            if value < values[bucket] {
                let now = at.min(HASHES - 1);
                values[bucket] = value;
                if now < level[bucket] {
                    counts[level[bucket]] -= 1;
                    counts[now] += 1;
                    level[bucket] = now;
                    while counts[most] == 0 {
                        most -= 1;
                    }
                }
            }
            at += 1;
        }
    }
    out.extend(values.iter().map(|value| *value as u32));
}

fn method(method: Method) -> impl FnMut(&[u64], &mut Vec<u32>) {
    let mut signer = Signer::new(method, HASHES);
    move |features, out| signer.sign(features, out)
}

type Sign<'s> = &'s mut dyn FnMut(&[u64], &mut Vec<u32>);

/// Nanoseconds a feature, mean error, and variance over J(1-J)/K.
fn measure(sign: Sign<'_>, features: usize, pairs: usize) -> (f64, f64, f64) {
    let mut rng = Rng::new(features as u64);
    // J = 1/2: two thirds of each set are shared.
    let own = features / 3;
    let jaccard = (features - own) as f64 / (features + own) as f64;
    let (mut x, mut y, mut sum, mut squares) = (Vec::new(), Vec::new(), 0.0, 0.0);
    for _ in 0..pairs {
        let all = random_features(&mut rng, features + own);
        x.clear();
        y.clear();
        sign(&all[..features], &mut x);
        sign(&all[own..], &mut y);
        let error = f64::from(matches(&x, &y)) / HASHES as f64 - jaccard;
        (sum, squares) = (sum + error, squares + error * error);
    }
    let set = random_features(&mut rng, features);
    let start = Instant::now();
    let rounds = (2_000_000 / features).max(1);
    for _ in 0..rounds {
        x.clear();
        sign(black_box(&set), &mut x);
        black_box(&x);
    }
    let nanoseconds = start.elapsed().as_secs_f64() * 1e9 / (rounds * features) as f64;
    let variance = squares / pairs as f64 / (jaccard * (1.0 - jaccard) / HASHES as f64);
    (nanoseconds, sum / pairs as f64, variance)
}

fn table() {
    println!(
        "| method | features | ns a feature | mean error | variance over J(1-J)/K |\n|---|--:|--:|--:|--:|"
    );
    let (mut fast, mut classic) = (method(Method::Fast), method(Method::Classic));
    let all: [(&str, Sign<'_>); 5] = [
        ("fast (dahlgaard2017)", &mut fast),
        ("one permutation, densified (shrivastava2017)", &mut densified),
        ("circulant (li2022)", &mut circulant),
        ("SuperMinHash (ertl2017)", &mut super_minhash),
        ("classic (broder1997)", &mut classic),
    ];
    for (name, sign) in all {
        for features in [30, 150, 600, 6_000] {
            let (nanoseconds, error, variance) = measure(sign, features, 2_400_000 / features.max(600));
            println!("| {name} | {features} | {nanoseconds:.2} | {error:+.5} | {variance:.3} |");
        }
    }
}

/// Words of one to eight letters.
fn words(count: usize) -> Vec<String> {
    let mut rng = Rng::new(2);
    let letter = |draw: u64| char::from(b'a' + (draw % 26) as u8);
    let word = |rng: &mut Rng| (0..1 + rng.below(8)).map(|_| letter(rng.bits())).collect();
    (0..count).map(|_| word(&mut rng)).collect()
}

/// The words with a blank between, and where each of them ends.
fn joined(words: &[String]) -> (String, Vec<usize>) {
    let mut ends = Vec::new();
    let mut end = 0;
    for word in words {
        end += word.len();
        ends.push(end);
        end += 1;
    }
    (words.join(" "), ends)
}

/// The hash of each run of five words.
fn hash_runs(text: &str, ends: &[usize], out: &mut Vec<u64>) {
    out.clear();
    let mut start = 0;
    for (at, run) in ends.windows(5).enumerate() {
        out.push(feature(&text.as_bytes()[start..run[4]]));
        start = ends[at] + 1;
    }
}

fn signatures(c: &mut Criterion) {
    let mut group = c.benchmark_group("signature of 128 values");
    for features in [150, 600, 6_000] {
        let set = random_features(&mut Rng::new(1), features);
        group.throughput(Throughput::Elements(features as u64));
        let mut out = Vec::new();
        for (name, mut sign) in
            [("fast", Signer::new(Method::Fast, HASHES)), ("classic", Signer::new(Method::Classic, HASHES))]
        {
            group.bench_function(format!("{name}, {features} features"), |b| {
                b.iter(|| {
                    out.clear();
                    sign.sign(black_box(&set), &mut out);
                })
            });
        }
    }
    group.finish();
    // From words that are there, one blank between: the hash of each run of five, and 128 values.
    let mut group = c.benchmark_group("words that are there");
    for count in [150, 600, 6_000] {
        let words = words(count);
        let (text, ends) = joined(&words);
        group.throughput(Throughput::Elements(count as u64));
        for (name, signs) in [("hashes of runs of five", false), ("the same, 128 values", true)] {
            let mut signer = Signer::new(Method::Fast, HASHES);
            let (mut runs, mut values) = (Vec::new(), Vec::new());
            group.bench_function(format!("{name}, {count} words"), |b| {
                b.iter(|| {
                    hash_runs(black_box(&text), &ends, &mut runs);
                    values.clear();
                    if signs {
                        signer.sign(&runs, &mut values);
                    }
                    black_box((&runs, &values));
                })
            });
        }
    }
    group.finish();
    // From text: words, runs of five of them, their hashes, 128 values, 16 keys.
    let text = words(600).join(" ");
    let mut group = c.benchmark_group("keys of a text");
    group.throughput(Throughput::Bytes(text.len() as u64));
    for (name, signs) in [("words:5 alone", false), ("words:5, 128 values, 16 keys", true)] {
        let kind = FeatureKind::parse("words:5", &|_| Err("no files here".into())).unwrap();
        let mut extractor = Extractor::new(FeatureSpec::new(kind));
        let mut signer = Signer::new(Method::Fast, HASHES);
        let (mut set, mut values, mut keys) = (Vec::new(), Vec::new(), Vec::new());
        group.bench_function(name, |b| {
            b.iter(|| {
                extractor.set(black_box(&text), &mut set);
                if signs {
                    values.clear();
                    keys.clear();
                    signer.sign(&set, &mut values);
                    Bands { bands: 16, rows: 8 }.keys(&values, &mut keys);
                }
                black_box(&keys);
            })
        });
    }
    group.finish();
}

criterion_group!(benches, signatures);

fn main() {
    if std::env::args().any(|argument| argument == "table") {
        return table();
    }
    benches();
    Criterion::default().configure_from_args().final_summary();
}
