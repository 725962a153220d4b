//! What each layout of a Hamming index takes, beside what the plan expects of it: `cargo bench --bench hamming_layouts -- [MOST [KIND [DISTANCE]]]`.
//!
//! For fingerprints of 64 and of 128 bits, up to MOST of them (10 million by default), random or skewed: each layout with the directories that the
//! plan gives it, and with some larger and smaller ones. A line for each: nanoseconds a query, measured and expected, and bytes. At the end, for each
//! size and distance (1, 2, 3, 4, 6 and 8; or DISTANCE), how much longer the index of the plan takes than the quickest one that was measured.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "common/fingerprints.rs"]
mod fingerprints;

use fingerprints::{Drawn, Kind, queries};
use std::hint::black_box;
use std::time::Instant;
use twinsplit::hamming::{Fingerprint, Index, Layout, Scratch, plan};

/// Nanoseconds of a query: the least of some rounds, each with queries of its own, whose lines of memory are in no cache; short ones, for
/// something else may run on the machine.
fn measured<F: Fingerprint>(index: &Index<F>, queries: &[F]) -> f64 {
    let mut scratch = Scratch::default();
    let mut ask = |queries: &[F]| {
        let start = Instant::now();
        let mut found = 0_u64;
        index.search_all(queries, &mut scratch, |_, _| found += 1);
        black_box(found);
        start.elapsed().as_secs_f64() * 1e9 / queries.len() as f64
    };
    let (first, rest) = queries.split_at(64);
    let some = ((4e6 / ask(first).max(1.0)) as usize).clamp(16, rest.len() / ROUNDS);
    rest.chunks_exact(some).take(ROUNDS).map(ask).fold(f64::INFINITY, f64::min)
}

const ROUNDS: usize = 24;

fn layouts(distance: u32) -> Vec<Layout> {
    let several = (2..=distance + 1).map(Layout::MultiIndex);
    [Layout::Scan, Layout::BlockPairs].into_iter().chain(several).collect()
}

fn measure<F: Fingerprint + Into<u128>>(most: usize, kind: Kind, distances: &[u32], of: fn(u128) -> F) {
    for count in
        [10_000, 100_000, 1_000_000, 10_000_000, 50_000_000].into_iter().filter(|count| *count <= most)
    {
        let values: Vec<F> = Drawn::new(kind, F::BITS, 2).take(count).map(of).collect();
        let asked: Vec<F> = queries(&values, 200_000, kind, F::BITS).into_iter().map(of).collect();
        for &distance in distances {
            let taken = plan::<F>(count, distance, None, u64::MAX).unwrap();
            let (mut best, mut ours) = ((f64::INFINITY, String::new()), f64::INFINITY);
            for layout in layouts(distance) {
                let planned = plan::<F>(count, distance, Some(layout), u64::MAX).unwrap();
                // What is far from the best is not worth its time.
                if planned.cost > 30.0 * taken.cost {
                    continue;
                }
                for shift in if layout == Layout::Scan { 0..=0 } else { -2..=2 } {
                    let bits =
                        planned.tables.iter().map(|table| table.directory.saturating_add_signed(shift));
                    let bits: Vec<u32> = bits.collect();
                    let Some(index) = Index::with_directories(&values, distance, layout, &bits, 2) else {
                        continue;
                    };
                    let took = measured(&index, &asked);
                    let name =
                        format!("{layout} {}", bits.iter().map(u32::to_string).collect::<Vec<_>>().join(","));
                    println!(
                        "{}\t{count}\t{distance}\t{name}\t{took:.0}\t{:.0}\t{}",
                        F::BITS,
                        index.plan().cost,
                        index.memory()
                    );
                    if shift == 0 && layout == taken.layout {
                        ours = took;
                    }
                    if took < best.0 {
                        best = (took, name);
                    }
                }
            }
            println!(
                "#\t{}\t{count}\t{distance}\t{}\t{ours:.0}\tbest\t{}\t{:.0}\t{:.2}",
                F::BITS,
                taken.layout,
                best.1,
                best.0,
                ours / best.0
            );
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let most = arguments.first().map_or(10_000_000, |most| most.parse().unwrap());
    let kind = arguments.get(1).map_or(Kind::Random, |kind| Kind::of(kind).unwrap());
    println!("bits\tfingerprints\tdistance\tlayout and bits of its directories\tns\texpected\tbytes");
    let distance: Option<u32> = arguments.get(2).map(|distance| distance.parse().unwrap());
    let distances = distance.map_or(vec![1, 2, 3, 4, 6, 8], |distance| vec![distance]);
    measure::<u64>(most, kind, &distances, |value| value as u64);
    measure::<u128>(most, kind, &distances, |value| value);
}
