//! Which tables an index has, and what they cost: the plan, made before anything is built.
//!
//! A table is a *key*, some of the bits, and a *radius*: it finds what differs from the query in at most `radius` bits of the key. A layout finds
//! all within distance K when its tables cannot all be missed:
//!
//! - `multi-index:M` (multi-index hashing): the bits are cut into M blocks, each the key of a table, with radii r₁ … r_M such that the sum of r + 1 is K + 1. A
//!   fingerprint that no table finds differs in at least r + 1 bits of each key, in K + 1 bits in all, for the blocks share
//!   no bit. (norouzi2012 for equal radii. For K = 3: four tables of 16 bits and radius 0; three with radii 1, 0, 0; two of 32 bits and radius 1.)
//! - `block-pairs`: the bits are cut into K + 2 blocks, and each two of them are the key of a table of radius 0. K bits touch at most K blocks, so two
//!   are left without a difference, and their table finds it (manku2007, section 3: five blocks, ten tables for K = 3).
//! - `scan`: one table whose key has no bit.
//!
//! Only the first [`directory`](TableShape::directory) bits of a key are looked at: fewer bits find more, never less. The larger the directory, the
//! fewer fingerprints stand in a bucket and the more buckets there are within the radius. Of what costs about the least the plan takes the smallest.

use super::bits::{Fingerprint, blocks};
use std::fmt;
use std::str::FromStr;
use twinsplit_io::error::{Error, Result};

/// The tables of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// All fingerprints are compared with the query.
    Scan,
    /// Multi-index hashing: so many tables, one for each block of bits (norouzi2012).
    MultiIndex(u32),
    /// A table for each two of distance + 2 blocks (manku2007).
    BlockPairs,
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Layout::Scan => f.write_str("scan"),
            Layout::MultiIndex(count) => write!(f, "multi-index:{count}"),
            Layout::BlockPairs => f.write_str("block-pairs"),
        }
    }
}

impl FromStr for Layout {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let count =
            || text.strip_prefix("multi-index:")?.parse().ok().filter(|count| (2..=MOST + 1).contains(count));
        match text {
            "scan" => Ok(Layout::Scan),
            "block-pairs" => Ok(Layout::BlockPairs),
            _ => count().map(Layout::MultiIndex).ok_or_else(|| Error::Value {
                name: "layout",
                value: text.to_owned(),
                problem: format!("it is scan, multi-index:M with M from 2 to {}, or block-pairs", MOST + 1),
            }),
        }
    }
}

/// The largest distance of an index.
pub const MOST: u32 = 8;

/// What is looked up of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableShape<F> {
    /// The bits of the key.
    pub key: F,
    /// How many of them, from the top, number the buckets.
    pub directory: u32,
    /// In how many of these a fingerprint may differ from the query to be found.
    pub radius: u32,
}

impl<F: Fingerprint> TableShape<F> {
    /// Bytes of an entry: the bits that the directory leaves.
    pub fn width(&self) -> usize {
        ((F::BITS - self.directory) as usize).div_ceil(8)
    }

    /// Bytes of a table of so many distinct fingerprints.
    pub fn bytes(&self, distinct: usize) -> u64 {
        let (directory, entries) = self.parts(distinct);
        (directory + entries) as u64
    }

    /// The same: of its directory, and of its entries.
    pub(super) fn parts(&self, distinct: usize) -> (usize, usize) {
        (4 * ((1 << self.directory) + 1), distinct * self.width() + F::BITS as usize / 8)
    }

    /// How many buckets a query looks at.
    pub fn probes(&self) -> u64 {
        ball(self.directory, self.radius)
    }

    /// About how many nanoseconds a query takes of a core, fitted to what `benches/hamming_layouts.rs` measured for 64 bits, distance 3 and 10
    /// thousand to 10 million fingerprints on a server processor of 2024 with 1 MB of second and 32 MB of third cache. Of directories above
    /// 100 MB the processor does not know the pages either: those of 25 and 26 bits answer 10 million no sooner than those of 24.
    fn cost(&self, distinct: usize) -> f64 {
        // A line where others are on their way: in the second cache, in the third, in memory.
        let line = |bytes: f64, third: f64, memory: f64| match bytes {
            ..1e6 => 0.0,
            ..32e6 => third,
            _ => memory,
        };
        let inside = distinct as f64 / f64::from(self.directory).exp2();
        let entries = (distinct * self.width()) as f64;
        // Only a bucket with an entry is looked at, and of a long one what comes later is on its way by itself.
        let (few, many) = (inside.min(16.0), (inside - 16.0).max(0.0));
        let lines = 1.0 - (-inside).exp() + few * self.width() as f64 / 256.0;
        let directory = 4.0 * f64::from(self.directory).exp2();
        let page = if directory > 100e6 { 10.0 } else { 0.0 };
        let look_up = line(directory, 2.0, 7.0) + page + line(entries, 11.0, 19.0) * lines;
        16.0 + self.probes() as f64 * (9.0 + look_up + 1.6 * few + 0.5 * many)
    }
}

/// How many numbers of so many bits have at most `radius` bits set.
fn ball(bits: u32, radius: u32) -> u64 {
    let mut choose = 1;
    let mut sum = 1;
    for set in 1..=radius.min(bits) {
        choose = choose * u64::from(bits - set + 1) / u64::from(set);
        sum += choose;
    }
    sum
}

/// A layout for so many fingerprints, and what it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan<F> {
    /// The layout.
    pub layout: Layout,
    /// Its tables; the key of the first is the topmost bits.
    pub tables: Vec<TableShape<F>>,
    /// Bytes of the index when all fingerprints are different, without ids other than row numbers.
    pub memory: u64,
    /// An estimate of a query, in nanoseconds of a core: to compare plans with.
    pub cost: f64,
}

/// The smallest plan that costs at most a tenth more than the cheapest one that fits into so many bytes, of one layout or of all; it depends on
/// nothing but its parameters.
///
/// What is larger takes longer to build: with directories of 26 bits instead of 24 ten tables of 10 million take 1.7 times as long. A tenth of a query
/// is no more than what the estimate is wrong by, so for less than that nothing larger is built.
///
/// # Errors
/// A distance above [`MOST`], a layout with more tables than the distance has use for, or none that fits: the message says what the
/// smallest one takes.
pub fn plan<F: Fingerprint>(
    distinct: usize,
    distance: u32,
    layout: Option<Layout>,
    memory: u64,
) -> Result<Plan<F>> {
    if distance > MOST {
        return Err(Error::Usage(format!("distance {distance}: an index has at most {MOST}")));
    }
    let layouts = match layout {
        Some(Layout::MultiIndex(count)) if count > distance + 1 => {
            return Err(Error::Usage(format!(
                "layout multi-index:{count}: distance {distance} has use for {} blocks at most",
                distance + 1
            )));
        }
        Some(layout) => vec![layout],
        None => {
            let several = (2..=distance + 1).map(Layout::MultiIndex);
            [Layout::Scan, Layout::BlockPairs].into_iter().chain(several).collect()
        }
    };
    let all = layouts.into_iter().flat_map(|layout| plans(distinct, distance, layout));
    let mut plans: Vec<Plan<F>> = all.collect();
    let least = plans.iter().map(|plan| plan.memory).min().unwrap_or(0);
    plans.retain(|plan| plan.memory <= memory);
    let cheapest = plans.iter().map(|plan| plan.cost).fold(f64::INFINITY, f64::min);
    plans.retain(|plan| plan.cost <= cheapest * NOTICED);
    plans.into_iter().min_by_key(|plan| plan.memory).ok_or_else(|| {
        Error::Limit(format!(
            "{distinct} fingerprints of {} bits do not fit into {memory} bytes: {least} is the least",
            F::BITS
        ))
    })
}

/// How many times the least cost is not worth more memory.
const NOTICED: f64 = 1.1;

/// The plans of a layout, by the size of their directories.
fn plans<F: Fingerprint>(distinct: usize, distance: u32, layout: Layout) -> impl Iterator<Item = Plan<F>> {
    let keys = keys(distance, layout);
    let most = if layout == Layout::Scan { 0 } else { DIRECTORY };
    (0..=most).map(move |most| {
        let shape = |&(key, radius): &(F, u32)| {
            let shapes = (0..=most.min(key.ones())).map(|directory| TableShape { key, directory, radius });
            let cost = |shape: &TableShape<F>| shape.cost(distinct);
            shapes.min_by(|a, b| cost(a).total_cmp(&cost(b)))
        };
        Plan::of(distinct, layout, keys.iter().filter_map(shape).collect())
    })
}

impl<F: Fingerprint> Plan<F> {
    fn of(distinct: usize, layout: Layout, tables: Vec<TableShape<F>>) -> Self {
        let memory = tables.iter().map(|table| table.bytes(distinct)).sum::<u64>() + 4 * distinct as u64;
        let cost = tables.iter().map(|table| table.cost(distinct)).sum();
        Self { layout, tables, memory, cost }
    }

    /// The plan of an index whose tables have directories of so many bits; `None` if there is none.
    pub(super) fn with_directories(
        distinct: usize,
        distance: u32,
        layout: Layout,
        directories: &[u32],
    ) -> Option<Self> {
        let fits = match layout {
            Layout::MultiIndex(count) => count <= distance + 1,
            Layout::Scan | Layout::BlockPairs => true,
        };
        if distance > MOST || !fits {
            return None;
        }
        let keys = keys::<F>(distance, layout);
        let fits = |((key, _), directory): (&(F, u32), &u32)| *directory <= key.ones().min(DIRECTORY);
        if keys.len() != directories.len() || !keys.iter().zip(directories).all(fits) {
            return None;
        }
        let tables = keys.into_iter().zip(directories);
        let shape = |((key, radius), directory): (_, &u32)| TableShape { key, directory: *directory, radius };
        Some(Self::of(distinct, layout, tables.map(shape).collect()))
    }
}

/// The most bits of a directory: it takes 512 MB then.
const DIRECTORY: u32 = 27;

/// The keys of a layout and their radii.
fn keys<F: Fingerprint>(distance: u32, layout: Layout) -> Vec<(F, u32)> {
    let all = !F::default();
    match layout {
        Layout::Scan => vec![(F::default(), 0)],
        Layout::MultiIndex(count) => {
            // As equal as can be; those of the larger radius come first.
            let share = |block: u32| (distance + 1) / count + u32::from(block < (distance + 1) % count) - 1;
            blocks(all, count).into_iter().zip((0..count).map(share)).collect()
        }
        Layout::BlockPairs => {
            let blocks = blocks(all, distance + 2);
            let pairs = |(at, one): (usize, &F)| {
                blocks[at + 1..].iter().map(|two| (*one | *two, 0)).collect::<Vec<_>>()
            };
            blocks.iter().enumerate().flat_map(pairs).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLION: usize = 1_000_000;

    /// What is promised of fifty million fingerprints at distance 3, in bytes.
    #[test]
    fn the_layouts_fit_where_they_must() {
        let of = |layout| plan::<u64>(50 * MILLION, 3, Some(layout), u64::MAX).unwrap().memory;
        assert!(plan::<u64>(50 * MILLION, 3, None, 900_000_000).unwrap().layout == Layout::MultiIndex(2));
        assert!(plan::<u64>(50 * MILLION, 3, None, 4_400_000_000).unwrap().layout == Layout::BlockPairs);
        assert!(of(Layout::Scan) < 601_000_000);
        assert_eq!(plan::<u64>(50, 3, None, u64::MAX).unwrap().layout, Layout::Scan);
        let error = plan::<u64>(50 * MILLION, 3, None, 1 << 20).unwrap_err().to_string();
        assert_eq!(
            error,
            "50000000 fingerprints of 64 bits do not fit into 1048576 bytes: 600000016 is the least"
        );
    }

    /// What is larger must be faster by more than a tenth.
    #[test]
    fn a_larger_directory_must_be_noticed() {
        for (count, memory) in [(MILLION, u64::MAX), (10 * MILLION, 4_400_000_000), (50 * MILLION, u64::MAX)]
        {
            let taken = plan::<u64>(count, 3, None, memory).unwrap();
            let fits = || {
                let layouts = (2..=4).map(Layout::MultiIndex).chain([Layout::Scan, Layout::BlockPairs]);
                let all = layouts.flat_map(|layout| plans::<u64>(count, 3, layout));
                all.filter(|plan| plan.memory <= memory)
            };
            assert!(fits().all(|plan| taken.cost <= 1.1 * plan.cost), "{count}");
            let best = fits().map(|plan| plan.cost).fold(f64::INFINITY, f64::min);
            assert!(fits().all(|plan| plan.memory >= taken.memory || plan.cost > 1.1 * best), "{count}");
        }
        // Ten tables of 25 and 26 bits take 2.7 GB and answer no sooner than these.
        assert!(plan::<u64>(10 * MILLION, 3, None, 4_400_000_000).unwrap().memory < 1_300_000_000);
    }

    /// What makes a layout exact, for every one: the sum over disjoint keys, or two blocks that K bits cannot touch.
    #[test]
    fn no_layout_can_be_missed_by_all_its_tables() {
        for distance in 0..=MOST {
            for count in 2..=distance + 1 {
                let keys = keys::<u128>(distance, Layout::MultiIndex(count));
                assert_eq!(keys.iter().map(|(_, radius)| radius + 1).sum::<u32>(), distance + 1);
                let all = keys.iter().fold(0, |all, (key, _)| {
                    assert_eq!(all & key, 0);
                    all | key
                });
                assert_eq!(all, u128::MAX);
            }
            let pairs = keys::<u64>(distance, Layout::BlockPairs);
            assert_eq!(pairs.len() as u32, (distance + 2) * (distance + 1) / 2);
            assert!(pairs.iter().all(|(_, radius)| *radius == 0));
        }
        assert_eq!([ball(5, 0), ball(5, 1), ball(5, 2), ball(5, 5), ball(5, 9)], [1, 6, 16, 32, 32]);
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for layout in [Layout::Scan, Layout::MultiIndex(2), Layout::MultiIndex(9), Layout::BlockPairs] {
            assert_eq!(layout.to_string().parse::<Layout>().unwrap(), layout);
        }
        for bad in ["", "multi-index", "multi-index:1", "multi-index:10", "multi-index:x", "Scan"] {
            assert!(bad.parse::<Layout>().unwrap_err().to_string().contains("it is scan, multi-index:M"));
        }
        assert!(plan::<u64>(9, 3, Some(Layout::MultiIndex(5)), u64::MAX).is_err());
        assert!(plan::<u64>(9, 9, None, u64::MAX).is_err());
    }
}
