//! `hamming-batch`: documents stream past the fingerprints of a batch of queries, which each task holds as an index (manku2007,
//! section 4; [`twinsplit_hamming::Batch`]). Map only: who holds all queries needs nobody else's rows.

use super::options::MaxPairsOpts;
use super::simhash::DistanceOpts;
use crate::record::Record;
use crate::record::fingerprint::{FingerprintRow, Fingerprinted, ShortText};
use crate::record::near::NearQuery;
use crate::stage::{Decl, Role, SideFile, Stage, Task};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use twinsplit_core::sketch::simhash::Bits;
use twinsplit_hamming::{Batch, BatchBuilder, Fingerprint, MOST_DISTANCE, Scratch};
use twinsplit_io::error::{Error, FieldError, Result};
use twinsplit_io::{each_row, expand_inputs};

/// The counter of pairs.
pub const PAIRS: &str = "pairs";
/// The counter of documents that are near a query.
pub const NEAR: &str = "documents_near_queries";

/// So many documents are looked up together: their memory is asked for at once.
const TOGETHER: usize = 256;

/// The stage.
pub struct HammingBatch {
    /// The distance of rows that have none of their own.
    distance: u32,
    queries: Queries,
    texts: ShortQueries,
    pairs: u64,
    near: u64,
    equal_texts: u64,
}

twinsplit_core::options! {
    /// Its options.
    pub struct HammingBatchOpts {
        /// Find the documents of the input that are near those of this batch, instead of one another: more documents (JSON lines, plain
        /// or gzip, a file, folder or pattern), of which each task holds the fingerprints; for the stage, these fingerprints
        batch: Option<PathBuf>, "QUERIES";
        /// Megabytes of memory for the index of a batch in a task
        batch_memory: u64 = 256, "MB";
    }
    with {
        distance: DistanceOpts,
        max_pairs: MaxPairsOpts,
    }
}

/// The queries, by the width of their fingerprints.
enum Queries {
    /// There is none.
    None,
    /// 64 bits.
    Short(Lookup<u64>),
    /// 128 bits.
    Long(Lookup<u128>),
}

/// Looks documents up in an index of queries, several at a time.
struct Lookup<F> {
    batch: Batch<F>,
    scratch: Scratch<F>,
    passing: Vec<F>,
    distances: Vec<u32>,
    ids: Vec<u8>,
    ends: Vec<usize>,
}

impl<F: Fingerprint> Lookup<F> {
    fn of(batch: Batch<F>) -> Self {
        let (passing, distances, ids, ends) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { batch, scratch: Scratch::default(), passing, distances, ids, ends }
    }

    /// Takes a document, and looks up those that were taken when there are enough. Gives what that has found.
    fn take(&mut self, id: &[u8], fingerprint: F, distance: u32, task: &mut Task<'_>) -> Result<(u64, u64)> {
        self.passing.push(fingerprint);
        self.distances.push(distance);
        self.ids.extend_from_slice(id);
        self.ends.push(self.ids.len());
        if self.passing.len() < TOGETHER { Ok((0, 0)) } else { self.look_up(task) }
    }

    /// Writes the queries that are near the documents that were taken. Gives how many pairs there were, of how many documents.
    fn look_up(&mut self, task: &mut Task<'_>) -> Result<(u64, u64)> {
        let (mut written, mut pairs, mut near, mut last) = (Ok(()), 0, 0, None);
        let id =
            |place: usize| &self.ids[place.checked_sub(1).map_or(0, |at| self.ends[at])..self.ends[place]];
        self.batch.near(&self.passing, &self.distances, &mut self.scratch, |place, query, distance| {
            pairs += 1;
            near += u64::from(last.replace(place) != Some(place));
            if written.is_ok() {
                written = task.emit(&NearQuery { query, id: id(place), distance });
            }
        });
        self.passing.clear();
        self.distances.clear();
        self.ids.clear();
        self.ends.clear();
        written.map(|()| (pairs, near))
    }
}

/// Queries as they are read; the first row says how wide all are.
enum Reading {
    Nothing,
    Short(BatchBuilder<u64>),
    Long(BatchBuilder<u128>),
}

/// The queries without a fingerprint, by the hash of their text.
#[derive(Default)]
struct ShortQueries {
    ids: FxHashMap<u128, Vec<Box<[u8]>>>,
    bytes: u64,
}

/// Bytes that a query takes beside its id.
const OF_SHORT_QUERY: u64 = 96;

impl ShortQueries {
    fn push(&mut self, ShortText { id, text }: ShortText<'_>) {
        self.bytes += OF_SHORT_QUERY + id.len() as u64;
        self.ids.entry(text).or_default().push(id.into());
    }

    fn repeated_id(&self) -> Option<&[u8]> {
        let mut all: Vec<&[u8]> = self.ids.values().flatten().map(|id| &**id).collect();
        all.sort_unstable();
        all.windows(2).find(|two| two[0] == two[1]).map(|two| two[0])
    }
}

impl Queries {
    /// Reads the fingerprints of a batch, a file, or a folder of part files, and the hashes of the texts that have none.
    fn load(path: &Path, opts: &HammingBatchOpts) -> Result<(Self, ShortQueries)> {
        let memory = opts.batch_memory.saturating_mul(1 << 20);
        let mut texts = ShortQueries::default();
        let mut reading = Reading::Nothing;
        for file in expand_inputs(&[path.to_owned()])? {
            each_row(&file, |line| {
                let row = match FingerprintRow::decode(line)? {
                    FingerprintRow::Fingerprint(row) => row,
                    // Beyond the bound they are counted and not held.
                    FingerprintRow::Text(text) if texts.bytes > memory => {
                        texts.bytes += OF_SHORT_QUERY + text.id.len() as u64;
                        return Ok(());
                    }
                    FingerprintRow::Text(text) => {
                        texts.push(text);
                        return Ok(());
                    }
                    FingerprintRow::Meta(_) => return Ok(()),
                };
                let distance = row.distance.unwrap_or_else(|| opts.distance.distance.all());
                if matches!(reading, Reading::Nothing) {
                    reading = match row.fingerprint.bits {
                        Bits::B64 => Reading::Short(BatchBuilder::new(memory)),
                        Bits::B128 => Reading::Long(BatchBuilder::new(memory)),
                    };
                }
                match (&mut reading, row.fingerprint.bits) {
                    (Reading::Short(queries), Bits::B64) => {
                        queries.push(row.id, row.fingerprint.value as u64, distance);
                    }
                    (Reading::Long(queries), Bits::B128) => {
                        queries.push(row.id, row.fingerprint.value, distance);
                    }
                    _ => return Err(other_width(&row)),
                }
                Ok(())
            })?;
        }
        if texts.bytes > memory {
            return Err(Error::Limit(format!(
                "{STAGE}: the queries without a fingerprint need {} MB in each task, and --batch-memory allows {}: give at least \
                 that many, leave them out with --equal-texts off, or run the batch in several parts",
                texts.bytes.div_ceil(1 << 20),
                opts.batch_memory
            )));
        }
        if let Some(id) = texts.repeated_id() {
            return Err(repeated(id));
        }
        let queries = match reading {
            Reading::Nothing => Queries::None,
            Reading::Short(queries) => Queries::Short(Lookup::of(built(queries, opts)?)),
            Reading::Long(queries) => Queries::Long(Lookup::of(built(queries, opts)?)),
        };
        Ok((queries, texts))
    }
}

/// The error of a fingerprint that is as wide as no query.
fn other_width(row: &Fingerprinted<'_>) -> FieldError {
    let found = row.fingerprint.to_string();
    FieldError::new("fingerprint", "as many bits as the queries have", found.as_bytes())
}

fn built<F: Fingerprint>(queries: BatchBuilder<F>, opts: &HammingBatchOpts) -> Result<Batch<F>> {
    if !queries.fits() {
        return Err(Error::Limit(format!(
            "{STAGE}: the index of {} queries needs at least {} MB in each task, and --batch-memory allows {}: give at least \
             that many (in one process --memory, too, of which each task has a share), or run the batch in several parts",
            queries.count(),
            queries.needs().div_ceil(1 << 20),
            opts.batch_memory
        )));
    }
    let most = queries.most();
    if most > MOST_DISTANCE {
        return Err(Error::Usage(too_far(most)));
    }
    if let Some(id) = queries.repeated_id() {
        return Err(repeated(id));
    }
    queries.build()
}

/// The error of an id that two queries have.
fn repeated(id: &[u8]) -> Error {
    let id = String::from_utf8_lossy(id).into_owned();
    Error::DuplicateId { stage: STAGE.to_owned(), id, places: " of --batch".to_owned() }
}

/// What is said of a distance that no index of queries has.
pub fn too_far(distance: u32) -> String {
    format!(
        "--distance {distance} with --batch: an index of queries has distances up to {MOST_DISTANCE}; run simhash without --batch \
         over queries and documents together, which has any"
    )
}

const STAGE: &str = "hamming-batch";

impl Stage for HammingBatch {
    type In<'a> = FingerprintRow<'a>;
    type Out<'a> = NearQuery<'a>;
    type Opts = HammingBatchOpts;
    const DECL: Decl = Decl {
        name: STAGE,
        role: Role::Map,
        about: "Streams fingerprints past those of a batch of queries in memory, and writes the queries that are near",
        side: &[SideFile {
            option: "batch",
            about: "the fingerprints of the queries, which simhash writes: a file, or a folder of part files; required",
        }],
    };

    fn open(opts: HammingBatchOpts, _: &mut Task<'_>) -> Result<Self> {
        let missing = || {
            Error::Usage(format!(
                "{STAGE}: give --batch FILE, the fingerprints of the queries, which simhash writes"
            ))
        };
        let path = opts.batch.as_ref().ok_or_else(missing)?;
        let (queries, texts) = Queries::load(path, &opts)?;
        let distance = opts.distance.distance.all();
        Ok(Self { distance, queries, texts, pairs: 0, near: 0, equal_texts: 0 })
    }

    fn push(&mut self, row: FingerprintRow<'_>, task: &mut Task<'_>) -> Result<()> {
        let row = match row {
            FingerprintRow::Fingerprint(row) => row,
            FingerprintRow::Text(ShortText { id, text }) => {
                let Some(queries) = self.texts.ids.get(&text) else { return Ok(()) };
                (self.pairs, self.near) = (self.pairs + queries.len() as u64, self.near + 1);
                self.equal_texts += 1;
                // What makes equal fingerprints of equal texts that are long enough.
                return queries.iter().try_for_each(|query| task.emit(&NearQuery { query, id, distance: 0 }));
            }
            FingerprintRow::Meta(_) => return Ok(()),
        };
        let (distance, value) = (row.distance.unwrap_or(self.distance), row.fingerprint.value);
        let (pairs, near) = match (&mut self.queries, row.fingerprint.bits) {
            (Queries::None, _) => return Ok(()),
            (Queries::Short(lookup), Bits::B64) => lookup.take(row.id, value as u64, distance, task)?,
            (Queries::Long(lookup), Bits::B128) => lookup.take(row.id, value, distance, task)?,
            _ => return Err(task.wrong(other_width(&row))),
        };
        self.pairs += pairs;
        self.near += near;
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        let (pairs, near) = match &mut self.queries {
            Queries::None => (0, 0),
            Queries::Short(lookup) => lookup.look_up(task)?,
            Queries::Long(lookup) => lookup.look_up(task)?,
        };
        task.count(PAIRS, self.pairs + pairs);
        task.count(NEAR, self.near + near);
        task.count("equal_texts", self.equal_texts);
        Ok(())
    }
}
