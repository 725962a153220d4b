//! What a signature takes in each form, beside its entropy: bytes a document, time to read a value, and the error that is added
//! (docs/performance/minhash.md): `cargo bench --bench signature_bytes -- docs.jsonl.gz`.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../tests/suite/common/rng.rs"]
#[allow(dead_code)]
mod rng;

use rng::Rng;
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::time::Instant;
use twinsplit_core::sketch::bands::Bands;
use twinsplit_core::sketch::minhash::{Estimate, Method, Signer, VALUE_BITS, matches};
use twinsplit_core::sketch::rice::{BitReader, BitWriter, parameter};
use twinsplit_core::text::{Extractor, FeatureKind, FeatureSpec};

const HASHES: usize = 128;
const ROWS: usize = 8;
const PAIRS: usize = 10_000;

/// The sets of the documents of a file of JSON lines.
fn sets(path: &str) -> Vec<Vec<u64>> {
    let file = std::fs::File::open(path).unwrap();
    let kind = FeatureKind::parse("words:5", &|_| Err("no files here".into())).unwrap();
    let mut extractor = Extractor::new(FeatureSpec::new(kind));
    let lines = BufReader::new(flate2::read::MultiGzDecoder::new(file)).lines();
    let set = |line: std::io::Result<String>| {
        let document: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let mut set = Vec::new();
        extractor.set(document["text"].as_str().unwrap(), &mut set);
        set
    };
    lines.map(set).filter(|set| !set.is_empty()).collect()
}

/// A way to write values and to read them again.
struct Form {
    name: &'static str,
    write: fn(&[u32]) -> Vec<u8>,
    read: fn(&[u8], &mut Vec<u32>),
}

/// Each value by its Rice code, the parameter by their mean.
fn rice(values: &[u32]) -> Vec<u8> {
    let k = parameter(values.iter().map(|value| u64::from(*value)).sum::<u64>() / values.len() as u64);
    let mut bits = BitWriter::default();
    bits.bits(k.into(), 8);
    values.iter().for_each(|value| bits.rice((*value).into(), k));
    bits.finish()
}

fn read_rice(bytes: &[u8], out: &mut Vec<u32>) {
    let mut bits = BitReader::new(bytes);
    let k = bits.bits(8).unwrap() as u32;
    out.extend((0..HASHES).map(|_| bits.rice(k).unwrap() as u32));
}

/// The values of a band in ascending order, by the Rice codes of their gaps: which row has which is lost, so that bands can be
/// compared and values cannot.
fn sorted_bands(values: &[u32]) -> Vec<u8> {
    let mut gaps = Vec::new();
    for band in values.chunks(ROWS) {
        let mut band = band.to_vec();
        band.sort_unstable();
        let mut last = 0;
        for value in band {
            gaps.push(value - last);
            last = value;
        }
    }
    rice(&gaps)
}

fn read_sorted_bands(bytes: &[u8], out: &mut Vec<u32>) {
    read_rice(bytes, out);
    for band in out.chunks_mut(ROWS) {
        let mut last = 0;
        for value in band {
            *value += last;
            last = *value;
        }
    }
}

fn whole(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn read_whole(bytes: &[u8], out: &mut Vec<u32>) {
    let value = |four: &[u8]| u32::from_le_bytes(four.try_into().unwrap());
    out.extend(bytes.chunks(4).map(value));
}

fn low<const BITS: u32>(values: &[u32]) -> Vec<u8> {
    let mut bits = BitWriter::default();
    values.iter().for_each(|value| bits.bits(u64::from(*value), BITS));
    bits.finish()
}

fn read_low<const BITS: u32>(bytes: &[u8], out: &mut Vec<u32>) {
    let mask = (1 << BITS) - 1;
    let each = 8 / BITS;
    let of = |byte: &u8| {
        let byte = u32::from(*byte);
        (0..each).map(move |at| byte >> (8 - (at + 1) * BITS) & mask)
    };
    out.extend(bytes.iter().flat_map(of));
}

/// The standard deviation of the estimate of so many bits, of pairs with Jaccard similarity 0.8 and many features.
fn deviation(bits: u32) -> (f64, f64) {
    let mut rng = Rng::new(22);
    let mut signer = Signer::new(Method::Fast, HASHES);
    let (mut x, mut y, mut sum, mut squares) = (Vec::new(), Vec::new(), 0.0, 0.0);
    for _ in 0..PAIRS {
        let features: Vec<u64> = (0..1000).map(|_| rng.bits()).collect();
        x.clear();
        y.clear();
        signer.sign(&features[..900], &mut x);
        signer.sign(&features[100..], &mut y);
        let cut = |values: &[u32]| values.iter().map(|v| v << (VALUE_BITS - bits)).collect::<Vec<_>>();
        let Estimate { part, whole } = Estimate::of(matches(&cut(&x), &cut(&y)), HASHES, bits);
        let estimate = part as f64 / whole as f64;
        sum += estimate;
        squares += estimate * estimate;
    }
    let mean = sum / PAIRS as f64;
    (mean - 0.8, (squares / PAIRS as f64 - mean * mean).sqrt())
}

fn main() {
    let Some(path) = std::env::args().skip(1).find(|argument| !argument.starts_with("--")) else { return };
    let sets = sets(&path);
    let mut signer = Signer::new(Method::Fast, HASHES);
    let signatures: Vec<Vec<u32>> = sets
        .iter()
        .map(|set| {
            let mut values = Vec::new();
            signer.sign(set, &mut values);
            values
        })
        .collect();
    // The least of n/K uniform values of 32 bits is about exponential, of mean 2^32 K/n: log2 of e times that; no more than 32.
    let bits_of = |set: &Vec<u64>| {
        let mean = 2f64.powi(32) * HASHES as f64 / set.len() as f64;
        HASHES as f64 * (mean * std::f64::consts::E).log2().min(32.0)
    };
    let entropy = sets.iter().map(bits_of).sum::<f64>() / 8.0 / sets.len() as f64;
    println!("{} documents of {path}; {HASHES} values, entropy {entropy:.1} bytes a document", sets.len());
    println!(
        "| form | bytes a document | ns to read a value | bias at .8 | standard deviation at .8 |\n|---|--:|--:|--:|--:|"
    );
    let forms = [
        (Form { name: "whole values", write: whole, read: read_whole }, 32),
        (Form { name: "whole values, Rice coded", write: rice, read: read_rice }, 32),
        (
            Form {
                name: "sorted in each band, gaps Rice coded",
                write: sorted_bands,
                read: read_sorted_bands,
            },
            0,
        ),
        (Form { name: "8 bits", write: low::<8>, read: read_low::<8> }, 8),
        (Form { name: "4 bits", write: low::<4>, read: read_low::<4> }, 4),
        (Form { name: "2 bits", write: low::<2>, read: read_low::<2> }, 2),
        (Form { name: "1 bit", write: low::<1>, read: read_low::<1> }, 1),
    ];
    for (form, bits) in forms {
        let written: Vec<Vec<u8>> = signatures.iter().map(|values| (form.write)(values)).collect();
        let mut out = Vec::with_capacity(HASHES);
        let start = Instant::now();
        for bytes in &written {
            out.clear();
            (form.read)(black_box(bytes), &mut out);
            black_box(&out);
        }
        let nanoseconds = start.elapsed().as_secs_f64() * 1e9 / (written.len() * HASHES) as f64;
        let bytes = written.iter().map(Vec::len).sum::<usize>() as f64 / written.len() as f64;
        let error = match bits {
            0 => "– | –".to_owned(),
            bits => {
                let (bias, deviation) = deviation(bits);
                format!("{bias:+.4} | {deviation:.4}")
            }
        };
        println!("| {} | {bytes:.1} | {nanoseconds:.2} | {error} |", form.name);
    }
    // Keys of one band over all documents, in their order.
    let mut keys = Vec::new();
    signatures.iter().for_each(|values| Bands { bands: 1, rows: ROWS }.keys(values, &mut keys));
    keys.sort_unstable();
    keys.dedup();
    let gaps: Vec<u64> = keys.windows(2).map(|two| two[1] - two[0] - 1).collect();
    let k = parameter(gaps.iter().sum::<u64>() / gaps.len().max(1) as u64);
    let mut bits = BitWriter::default();
    gaps.iter().for_each(|gap| bits.rice(*gap, k));
    let bytes = bits.finish().len() as f64 / gaps.len() as f64;
    println!("keys of a band, sorted over all documents, gaps Rice coded: {bytes:.2} of 8 bytes a key");
}
