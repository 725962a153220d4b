//! An index of fingerprints, asked for all within its distance of a query.
//!
//! A query waits for memory and for little else: a bucket's place in the directory is in one line of memory, its entries in
//! another, and nearly each of them is somewhere else. So the lines of all buckets of some queries are asked for, then the lines of
//! their entries, and only then are they compared: while one is on its way so are twenty others.

use super::bits::Fingerprint;
use super::build::{self, InMemory};
use super::collapse::Collapsed;
use super::layout::{Layout, Plan, plan};
use super::rows::{Id, Ids, MOST as MOST_ROWS, Rows};
use super::table::Table;
use super::values::Values;
use std::ops::Range;
use twinsplit_core::processor::{self, Instructions, Work};
use twinsplit_io::error::{Error, Result};
use twinsplit_io::mapped::Bytes;

/// How an index is built.
#[derive(Clone, Copy, Debug)]
pub struct IndexOptions {
    /// The most bits in which a fingerprint that is found differs from a query, at most 8.
    pub distance: u32,
    /// The tables; the plan's choice by default.
    pub layout: Option<Layout>,
    /// Bytes that the index may take, its ids left out.
    pub memory: u64,
    /// Threads that build it; it is the same for any number.
    pub threads: usize,
}

impl Default for IndexOptions {
    /// Distance 3, any layout in 4 GB, one thread.
    fn default() -> Self {
        Self { distance: 3, layout: None, memory: 4 << 30, threads: 1 }
    }
}

impl IndexOptions {
    /// The plan for so many distinct fingerprints. `grouped` is bytes of the rows that share one: they are known by now, and are no tables.
    pub(super) fn plan<F: Fingerprint>(&self, distinct: usize, grouped: u64) -> Result<Plan<F>> {
        plan(distinct, self.distance, self.layout, self.memory.saturating_sub(grouped))
    }
}

/// Bytes for what is sorted at one time while an index is built.
const BUILDING: usize = 512 << 20;

/// Fingerprints of 64 bits (`u64`) or 128 (`u128`), to be asked for those within a distance of a query.
///
/// It answers with rows, the numbers of the fingerprints from 0 in the order in which they were given; [`id`](Self::id) gives
/// their ids. Many threads may ask at once.
///
/// ```
/// use twinsplit_hamming::{Index, IndexOptions, Match};
/// let index = Index::<u64>::build(&[0b0000, 0b0111, 0xff00], IndexOptions::default())?;
/// assert_eq!(index.search(0b0001), [Match { row: 0, distance: 1 }, Match { row: 1, distance: 2 }]);
/// # Ok::<(), twinsplit_io::error::Error>(())
/// ```
#[derive(Debug)]
pub struct Index<F> {
    pub(super) distance: u32,
    pub(super) plan: Plan<F>,
    pub(super) tables: Vec<Table<F>>,
    pub(super) rows: Rows,
}

/// A fingerprint that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    /// Its row.
    pub row: u32,
    /// In how many bits it differs from the query.
    pub distance: u32,
}

impl<F: Fingerprint> Index<F> {
    /// Builds an index. Equal fingerprints are stored once.
    ///
    /// # Errors
    /// Options for which there is no [`plan`]; 2^31 - 1 fingerprints and more.
    pub fn build(fingerprints: &[F], options: IndexOptions) -> Result<Self> {
        // Before the work, so that too little memory is said at once.
        options.plan::<F>(fingerprints.len().min(1), 0)?;
        let collapsed = Collapsed::of(fingerprints, options.threads, BUILDING)?;
        let Collapsed { values, rows } = &collapsed;
        let plan = options.plan(values.len(), (rows.starts.len() + rows.grouped.len()) as u64)?;
        Self::of(collapsed, options.distance, plan, options.threads)
    }

    fn of(collapsed: Collapsed<F>, distance: u32, plan: Plan<F>, threads: usize) -> Result<Self> {
        let Collapsed { values, rows } = collapsed;
        let mut made: Vec<InMemory> =
            plan.tables.iter().map(|shape| InMemory::of(shape, values.len())).collect();
        build::tables(&plan.tables, Values::Memory(&values), threads, BUILDING, &mut made)?;
        let tables = made.into_iter().zip(&plan.tables).map(|(made, shape)| made.table(*shape)).collect();
        Ok(Self { distance, plan, tables, rows })
    }

    /// Builds an index with directories of so many bits, one for each table of a layout: to measure what [`plan`] does not choose. `None` if
    /// there is no such index.
    pub fn with_directories(
        fingerprints: &[F],
        distance: u32,
        layout: Layout,
        directories: &[u32],
        threads: usize,
    ) -> Option<Self> {
        let collapsed = Collapsed::of(fingerprints, threads, BUILDING).ok()?;
        let plan = Plan::with_directories(collapsed.values.len(), distance, layout, directories)?;
        Self::of(collapsed, distance, plan, threads).ok()
    }

    /// How many fingerprints it was built of.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many of them are different.
    pub fn distinct(&self) -> usize {
        self.rows.distinct()
    }

    /// The distance that it was built for.
    pub fn distance(&self) -> u32 {
        self.distance
    }

    /// Its layout, and what was expected of it.
    pub fn plan(&self) -> &Plan<F> {
        &self.plan
    }

    /// The id of a row; `None` if there is no such row.
    pub fn id(&self, row: u32) -> Option<Id<'_>> {
        self.rows.id(row)
    }

    /// Gives the rows ids of eight bytes, in their order.
    ///
    /// # Errors
    /// Not as many as there are rows.
    pub fn with_numbers(mut self, ids: &[u64]) -> Result<Self> {
        self.must_be_rows(ids.len())?;
        self.rows.ids = Ids::Numbers(Bytes::of_longs(ids));
        Ok(self)
    }

    /// Gives the rows ids of any bytes, in their order.
    ///
    /// # Errors
    /// Not as many as there are rows.
    pub fn with_names<'n>(mut self, ids: impl IntoIterator<Item = &'n [u8]>) -> Result<Self> {
        let (mut ends, mut bytes) = (Vec::new(), Vec::new());
        for id in ids {
            bytes.extend_from_slice(id);
            ends.push(bytes.len() as u64);
        }
        self.must_be_rows(ends.len())?;
        self.rows.ids = Ids::Names(Bytes::of_longs(&ends), Bytes::from(bytes));
        Ok(self)
    }

    fn must_be_rows(&self, ids: usize) -> Result<()> {
        if ids == self.len() {
            return Ok(());
        }
        Err(Error::Usage(format!("{ids} ids for an index of {} fingerprints", self.len())))
    }

    /// Bytes of tables, rows and ids.
    pub fn memory(&self) -> u64 {
        let tables = self.tables.iter().map(|table| (table.directory.len() + table.entries.len()) as u64);
        tables.sum::<u64>() + self.rows.memory()
    }

    /// By table, how many entries its fullest bucket has: many more than others where fingerprints are skewed.
    pub fn fullest(&self) -> impl Iterator<Item = u32> {
        self.tables.iter().map(Table::fullest)
    }

    /// All fingerprints within the distance of a query, ascending by row.
    pub fn search(&self, query: F) -> Vec<Match> {
        let mut found = Vec::new();
        self.search_all(&[query], &mut Scratch::default(), |_, row| found.push(row));
        found.sort_unstable();
        found
    }

    /// The same for many queries, which takes less time for each: `visit` is called with a query's place and a match, in ascending order of
    /// the places, and in no order that means something for one query.
    pub fn search_all(&self, queries: &[F], scratch: &mut Scratch<F>, mut visit: impl FnMut(usize, Match)) {
        self.search_distinct(queries, scratch, &mut |query, place, distance| {
            self.rows.of(place).for_each(|row| visit(query, Match { row, distance }));
        });
    }

    /// The same; `visit` gets the places of distinct fingerprints.
    pub(super) fn search_distinct(
        &self,
        queries: &[F],
        scratch: &mut Scratch<F>,
        visit: &mut impl FnMut(usize, u32, u32),
    ) {
        let probes: usize = self.tables.iter().map(|table| table.flips.len()).sum();
        let some = (PROBES / probes.max(1)).clamp(1, QUERIES);
        for (number, queries) in queries.chunks(some).enumerate() {
            let mut visit = |query: usize, place, distance| visit(number * some + query, place, distance);
            processor::run(Instructions::Popcnt, Search { index: self, queries, scratch, visit: &mut visit });
        }
    }

    /// Each distinct fingerprint, with a place of its own; ascending.
    pub(super) fn each_distinct(&self, visit: &mut impl FnMut(u32, F)) {
        if let Some(table) = self.tables.first() {
            table.each(visit);
        }
    }

    /// A distance that is asked for, or that of the index.
    ///
    /// # Errors
    /// A larger one than the index was built for.
    pub fn within(&self, distance: Option<u32>) -> Result<u32> {
        match distance {
            Some(distance) if distance > self.distance => Err(Error::Usage(format!(
                "distance {distance}: the index was built for {}; build it again with --distance {distance}",
                self.distance
            ))),
            distance => Ok(distance.unwrap_or(self.distance)),
        }
    }
}

/// The most rows of an index.
pub const ROWS: usize = MOST_ROWS;

/// Buckets that are looked at together, about, and the most queries: so many lines as the first of the caches holds.
const PROBES: usize = 256;
const QUERIES: usize = 32;

/// Room that queries of one thread share.
#[derive(Debug, Default)]
pub struct Scratch<F> {
    /// The queries as each table has them.
    put: Vec<F>,
    ranges: Vec<Range<u32>>,
}

struct Search<'s, F, V> {
    index: &'s Index<F>,
    queries: &'s [F],
    scratch: &'s mut Scratch<F>,
    visit: &'s mut V,
}

impl<F: Fingerprint, V: FnMut(usize, u32, u32)> Work for Search<'_, F, V> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let Self { index, queries, scratch: Scratch { put, ranges }, visit } = self;
        put.clear();
        ranges.clear();
        for query in queries {
            for table in &index.tables {
                let value = table.put(*query);
                let bucket = table.bucket(value);
                put.push(value);
                table.flips.iter().for_each(|flip| table.soon(bucket ^ flip));
            }
        }
        let mut values = put.iter();
        for _ in queries {
            for (table, value) in index.tables.iter().zip(&mut values) {
                let bucket = table.bucket(*value);
                ranges.extend(table.flips.iter().map(|flip| table.entries_of(bucket ^ flip)));
            }
        }
        let (mut values, mut ranges) = (put.iter(), ranges.iter());
        for (number, query) in queries.iter().enumerate() {
            for ((nth, table), value) in index.tables.iter().enumerate().zip(&mut values) {
                let bucket = table.bucket(*value);
                for (flip, range) in table.flips.iter().zip(&mut ranges) {
                    table.compare(
                        bucket ^ flip,
                        range.clone(),
                        *value,
                        index.distance,
                        &mut |place, found, distance| {
                            // A fingerprint counts where it is found first. It stands in the first table, by whose places rows are known.
                            let differing = found ^ *query;
                            if index.tables[..nth].iter().any(|before| before.finds(differing)) {
                                return;
                            }
                            let place = if nth == 0 { Some(place) } else { index.tables[0].place(found) };
                            if let Some(place) = place {
                                visit(number, place, distance);
                            }
                        },
                    );
                }
            }
        }
    }
}
