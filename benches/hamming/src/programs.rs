//! The programs, behind one interface: all rows within distance 3 of each query.

use super::Result;
use gaoya::simhash::SimHashIndex;
use twinsplit::hamming::{Index, IndexOptions, Layout, Plan, Scratch};

/// The distance up to which fingerprints are near, that distance included.
const DISTANCE: u32 = 3;

/// A program with its index.
pub trait Program {
    /// What is to be known of its parameters.
    fn parameters(&self) -> String;

    /// Calls `visit` with each query's number and each row that is near.
    fn search(&mut self, queries: &[u64], visit: &mut dyn FnMut(u32, u32));
}

/// Builds the index of a program: `scan`, `twinsplit:MEGABYTES` (with `:LAYOUT` if it is not the plan's choice), `twinsplit-single:MEGABYTES`, which is
/// asked for one query at a time as the libraries are, `mih-rs:BLOCKS`, `gaoya:BLOCKS`.
pub fn build(name: &str, values: Vec<u64>) -> Result<Box<dyn Program>> {
    let (name, parameters) = name.split_once(':').unwrap_or((name, ""));
    Ok(match name {
        "scan" => Box::new(Scan(values)),
        "twinsplit" | "twinsplit-single" => {
            let (memory, layout) = parameters.split_once(':').unwrap_or((parameters, ""));
            let layout: Option<Layout> = if layout.is_empty() { None } else { Some(layout.parse()?) };
            let memory = memory.parse::<u64>()? * 1_000_000;
            let options = IndexOptions { distance: DISTANCE, layout, memory, threads: 1 };
            let index = Index::build(&values, options)?;
            drop(values);
            let at_once = if name == "twinsplit" { usize::MAX } else { 1 };
            Box::new(Twinsplit { index, scratch: Scratch::default(), at_once })
        }
        "mih-rs" => {
            Box::new(MihRs(mih_rs::Index::with_blocks(values, parameters.parse()?)?, parameters.to_owned()))
        }
        "gaoya" => {
            // Its distance is a strict bound: "less than".
            let distance = DISTANCE as usize + 1;
            let mut index = SimHashIndex::new(parameters.parse()?, distance);
            values.iter().zip(0..).for_each(|(value, row)| index.insert(row, *value));
            drop(values);
            Box::new(Gaoya(index, parameters.to_owned()))
        }
        _ => return Err(format!("no program has the name {name}").into()),
    })
}

/// All pairs are compared.
struct Scan(Vec<u64>);

impl Program for Scan {
    fn parameters(&self) -> String {
        "compares all".to_owned()
    }

    fn search(&mut self, queries: &[u64], visit: &mut dyn FnMut(u32, u32)) {
        // What is in a cache is compared with all queries.
        for (block, values) in self.0.chunks(4096).enumerate() {
            for (query, number) in queries.iter().zip(0..) {
                for (value, at) in values.iter().zip(0..) {
                    if (query ^ value).count_ones() <= DISTANCE {
                        visit(number, block as u32 * 4096 + at);
                    }
                }
            }
        }
    }
}

struct Twinsplit {
    index: Index<u64>,
    scratch: Scratch<u64>,
    /// Queries that it is asked for in one call.
    at_once: usize,
}

impl Program for Twinsplit {
    fn parameters(&self) -> String {
        let Plan { layout, tables, .. } = self.index.plan();
        let tables: Vec<_> =
            tables.iter().map(|table| format!("{}/{}", table.directory, table.radius)).collect();
        format!("{layout}, directory bits/radius {}", tables.join(" "))
    }

    fn search(&mut self, queries: &[u64], visit: &mut dyn FnMut(u32, u32)) {
        for (number, queries) in queries.chunks(self.at_once).enumerate() {
            let mut found = |query, row| visit((number * self.at_once + query) as u32, row);
            self.index.search_all(queries, &mut self.scratch, |query, one| found(query, one.row));
        }
    }
}

struct MihRs(mih_rs::Index<u64>, String);

impl Program for MihRs {
    fn parameters(&self) -> String {
        format!("{} blocks", self.1)
    }

    fn search(&mut self, queries: &[u64], visit: &mut dyn FnMut(u32, u32)) {
        let mut searcher = self.0.range_searcher();
        for (query, number) in queries.iter().zip(0..) {
            searcher.run(*query, DISTANCE as usize).iter().for_each(|row| visit(number, *row));
        }
    }
}

struct Gaoya(SimHashIndex<u64, u32>, String);

impl Program for Gaoya {
    fn parameters(&self) -> String {
        format!("{} blocks, distance < {}", self.1, DISTANCE + 1)
    }

    fn search(&mut self, queries: &[u64], visit: &mut dyn FnMut(u32, u32)) {
        for (query, number) in queries.iter().zip(0..) {
            self.0.query(query).into_iter().for_each(|row| visit(number, *row));
        }
    }
}
