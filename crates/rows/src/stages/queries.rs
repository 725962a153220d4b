//! What the stages that hold queries in memory have in common: the options that name and bound them, and queries that are found by their
//! text, because it is too short for anything else.

use super::NoOpts;
use super::index_doc::SLICES_MADE;
use crate::record::query::OfQuery;
use crate::stage::{Decl, Role, SideFile, Stage, Task};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use twinsplit_io::error::{Error, FieldError, Result};
use twinsplit_io::{Megabytes, each_row, expand_inputs};

/// The option that names queries.
pub const QUERIES: &str = "queries";
/// The option that says in how many parts they are held.
pub const PARTS: &str = "query-parts";
/// The counter of pairs.
pub const PAIRS: &str = "pairs";
/// The counter of documents that are in a pair with a query.
pub const NEAR: &str = "documents_near_queries";
/// The counter of those whose text is that of a query.
pub const EQUAL_TEXTS: &str = "equal_texts";

twinsplit_core::options! {
    /// The queries, and what their index may take.
    pub struct QueriesOpts {
        /// Find the pairs of a query and a document of the input, instead of those within the input. The queries are documents, too
        /// (JSON lines, plain or gzip, a file, folder or pattern), which each task holds in memory; for the stage, what the
        /// chain has made of them
        pub queries: Option<PathBuf>, "FILE";
        /// Megabytes of memory for the index of the queries in a task
        pub queries_memory: Megabytes = 256, "MB";
        /// Parts of the queries that are held one after the other: the documents pass by each
        pub query_parts: u64 = 1, "N", in 1..=10_000;
    }
}

/// The side file of a stage that holds queries; `about` says what it is.
pub const fn side_file(about: &'static str) -> SideFile {
    SideFile { option: QUERIES, about }
}

impl QueriesOpts {
    /// Bytes that the index may take.
    pub fn memory(&self) -> u64 {
        self.queries_memory.bytes() as u64
    }

    /// The file of the queries, or the folder of its parts; `made_by` is the stage that writes it.
    pub fn path(&self, stage: &str, made_by: &str) -> Result<&Path> {
        let missing =
            || Error::Usage(format!("{stage}: give --queries FILE, the queries as {made_by} writes them"));
        self.queries.as_deref().ok_or_else(missing)
    }

    /// Refuses queries that need so many bytes, where that is too much.
    pub fn admit(&self, stage: &str, queries: u64, bytes: u64) -> Result<()> {
        if bytes <= self.memory() {
            return Ok(());
        }
        Err(Error::Limit(format!(
            "{stage}: the index of {queries} queries needs at least {} MB in each task, and --queries-memory allows {}: give at \
             least that many (in one process --memory, too, of which it is a share), or hold the queries in parts with --query-parts {}",
            bytes.div_ceil(1 << 20),
            self.queries_memory,
            // Parts are not of one size.
            self.query_parts * (bytes + bytes / 4).div_ceil(self.memory().max(1))
        )))
    }
}

/// `query-parts`: cuts queries into as many parts as it has tasks.
pub struct QueryParts {
    is_empty: bool,
}

impl Stage for QueryParts {
    type In<'a> = OfQuery<'a>;
    type Out<'a> = OfQuery<'a>;
    type Opts = NoOpts;
    const DECL: Decl = Decl {
        name: "query-parts",
        role: Role::Reduce,
        about: "Passes on what a chain compares of queries: with as many tasks as --query-parts, each part is one of theirs",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { is_empty: true })
    }

    fn push(&mut self, row: OfQuery<'_>, task: &mut Task<'_>) -> Result<()> {
        self.is_empty = false;
        task.emit(&row)
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        // A job holds a part as it holds a slice, and one that was lost is missed.
        task.count(SLICES_MADE, u64::from(!self.is_empty));
        Ok(())
    }
}

/// `gather-pairs`: passes on the pairs of all parts of the queries. A job for each part leaves a folder for each, and an answer has files.
pub struct GatherPairs;

impl Stage for GatherPairs {
    type In<'a> = OfQuery<'a>;
    type Out<'a> = OfQuery<'a>;
    type Opts = NoOpts;
    const DECL: Decl = Decl {
        name: "gather-pairs",
        role: Role::Map,
        about: "Passes on the pairs of all parts of the queries, as they are",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self)
    }

    fn push(&mut self, row: OfQuery<'_>, task: &mut Task<'_>) -> Result<()> {
        task.emit(&row)
    }
}

/// Reads the rows of queries, of a file or of a folder of part files.
pub fn each_query(path: &Path, mut visit: impl FnMut(&[u8]) -> Result<(), FieldError>) -> Result<()> {
    expand_inputs(&[path.to_owned()])?.iter().try_for_each(|file| each_row(file, &mut visit))
}

/// Refuses queries of which two have one id.
pub fn refuse_repeated<'q>(stage: &str, ids: impl Iterator<Item = &'q [u8]>) -> Result<()> {
    let mut all: Vec<&[u8]> = ids.collect();
    all.sort_unstable();
    match all.windows(2).find(|two| two[0] == two[1]) {
        Some(two) => Err(Error::DuplicateId {
            stage: stage.to_owned(),
            id: String::from_utf8_lossy(two[0]).into_owned(),
            places: " of --queries".to_owned(),
        }),
        None => Ok(()),
    }
}

/// Queries by the hash of their text.
#[derive(Default)]
pub struct QueryTexts {
    ids: FxHashMap<u128, Vec<Box<[u8]>>>,
    queries: u64,
    bytes: u64,
}

/// Bytes that a query takes beside its id.
const OF_QUERY: u64 = 96;

impl QueryTexts {
    /// Takes a query; beyond the bound it is counted and not held.
    pub fn push(&mut self, id: &[u8], text: u128, bound: u64) {
        self.queries += 1;
        self.bytes += OF_QUERY + id.len() as u64;
        if self.bytes <= bound {
            self.ids.entry(text).or_default().push(id.into());
        }
    }

    /// How many queries there are, and the bytes that they need.
    pub fn needs(&self) -> (u64, u64) {
        (self.queries, self.bytes)
    }

    /// The ids of all.
    pub fn ids(&self) -> impl Iterator<Item = &[u8]> {
        self.ids.values().flatten().map(|id| &**id)
    }

    /// The ids of those with this text.
    pub fn of(&self, text: u128) -> &[Box<[u8]>] {
        self.ids.get(&text).map_or(&[], Vec::as_slice)
    }
}
