//! `hamming-queries`: documents stream past the fingerprints of a batch of queries, which each task holds as an index (manku2007,
//! section 4; [`twinsplit_hamming::Batch`]). Map only: who holds all queries needs nobody else's rows.

use super::options::MaxPairsOpts;
use super::queries::{
    EQUAL_TEXTS, NEAR, PAIRS, QueriesOpts, QueryTexts, each_query, refuse_repeated, side_file,
};
use super::shared::Shared;
use super::simhash::DistanceOpts;
use crate::record::Record;
use crate::record::fingerprint::{FingerprintRow, Fingerprinted, ShortText};
use crate::record::near::NearQuery;
use crate::stage::{Decl, Role, Stage, Task};
use std::path::Path;
use std::sync::Arc;
use twinsplit_core::sketch::simhash::Bits;
use twinsplit_hamming::{Batch, BatchBuilder, Fingerprint, MOST_DISTANCE, Scratch};
use twinsplit_io::error::{Error, FieldError, Result};

/// So many documents are looked up together: their memory is asked for at once.
const TOGETHER: usize = 256;

/// The stage.
pub struct HammingQueries {
    /// The distance of rows that have none of their own.
    distance: u32,
    held: Arc<(Held, QueryTexts)>,
    short: Passing<u64>,
    long: Passing<u128>,
    pairs: u64,
    near: u64,
    equal_texts: u64,
}

twinsplit_core::options! {
    /// Its options.
    pub struct HammingQueriesOpts {}
    with {
        queries: QueriesOpts,
        distance: DistanceOpts,
        max_pairs: MaxPairsOpts,
    }
}

/// The queries of a process, by the width of their fingerprints.
enum Held {
    /// There is none.
    None,
    /// 64 bits.
    Short(Batch<u64>),
    /// 128 bits.
    Long(Batch<u128>),
}

static HELD: Shared<(Held, QueryTexts)> = Shared::new();

/// Documents that are looked up together.
#[derive(Default)]
struct Passing<F> {
    scratch: Scratch<F>,
    fingerprints: Vec<F>,
    distances: Vec<u32>,
    ids: Vec<u8>,
    ends: Vec<usize>,
}

impl<F: Fingerprint> Passing<F> {
    /// Takes a document, and says whether there are enough.
    fn take(&mut self, id: &[u8], fingerprint: F, distance: u32) -> bool {
        self.fingerprints.push(fingerprint);
        self.distances.push(distance);
        self.ids.extend_from_slice(id);
        self.ends.push(self.ids.len());
        self.fingerprints.len() >= TOGETHER
    }

    /// Writes the queries that are near the documents that were taken. Gives how many pairs there were, of how many documents.
    fn look_up(&mut self, queries: &Batch<F>, task: &mut Task<'_>) -> Result<(u64, u64)> {
        let (mut written, mut pairs, mut near, mut last) = (Ok(()), 0, 0, None);
        let id =
            |place: usize| &self.ids[place.checked_sub(1).map_or(0, |at| self.ends[at])..self.ends[place]];
        queries.near(&self.fingerprints, &self.distances, &mut self.scratch, |place, query, distance| {
            pairs += 1;
            near += u64::from(last.replace(place) != Some(place));
            if written.is_ok() {
                written = task.emit(&NearQuery { query, id: id(place), distance });
            }
        });
        self.fingerprints.clear();
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

/// Reads the fingerprints of queries, and the hashes of the texts that have none.
fn load(path: &Path, opts: &HammingQueriesOpts) -> Result<(Held, QueryTexts)> {
    let memory = opts.queries.memory();
    let mut texts = QueryTexts::default();
    let mut reading = Reading::Nothing;
    each_query(path, |line| {
        let row = match FingerprintRow::decode(line)? {
            FingerprintRow::Fingerprint(row) => row,
            FingerprintRow::Text(ShortText { id, text }) => {
                texts.push(id, text, memory);
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
    let (short, of_short) = texts.needs();
    opts.queries.admit(STAGE, short, of_short)?;
    let held = match reading {
        Reading::Nothing => Held::None,
        Reading::Short(queries) => Held::Short(built(queries, opts)?),
        Reading::Long(queries) => Held::Long(built(queries, opts)?),
    };
    refuse_repeated(STAGE, texts.ids())?;
    Ok((held, texts))
}

/// The error of a fingerprint that is as wide as no query.
fn other_width(row: &Fingerprinted<'_>) -> FieldError {
    let found = row.fingerprint.to_string();
    FieldError::new("fingerprint", "as many bits as the queries have", found.as_bytes())
}

fn built<F: Fingerprint>(queries: BatchBuilder<F>, opts: &HammingQueriesOpts) -> Result<Batch<F>> {
    opts.queries.admit(STAGE, queries.count(), queries.needs())?;
    let most = queries.most();
    if most > MOST_DISTANCE {
        return Err(Error::Usage(too_far(most)));
    }
    if let Some(id) = queries.repeated_id() {
        refuse_repeated(STAGE, [id, id].into_iter())?;
    }
    queries.build()
}

/// What is said of a distance that no index of queries has.
pub fn too_far(distance: u32) -> String {
    format!(
        "--distance {distance} with --queries: an index of queries has distances up to {MOST_DISTANCE}; run simhash without --queries \
         over queries and documents together, which has any"
    )
}

const STAGE: &str = "hamming-queries";

impl Stage for HammingQueries {
    type In<'a> = FingerprintRow<'a>;
    type Out<'a> = NearQuery<'a>;
    type Opts = HammingQueriesOpts;
    const DECL: Decl = Decl {
        name: STAGE,
        role: Role::Map,
        about: "Streams fingerprints past those of queries in memory, and writes the pairs that are near",
        side: &[side_file(
            "the fingerprints of the queries, which simhash writes: a file, or a folder of part files; required",
        )],
    };

    fn open(opts: HammingQueriesOpts, _: &mut Task<'_>) -> Result<Self> {
        let path = opts.queries.path(STAGE, "simhash")?;
        let held = HELD.load(path, || load(path, &opts))?;
        let distance = opts.distance.distance.all();
        let (short, long) = (Passing::default(), Passing::default());
        Ok(Self { distance, held, short, long, pairs: 0, near: 0, equal_texts: 0 })
    }

    fn push(&mut self, row: FingerprintRow<'_>, task: &mut Task<'_>) -> Result<()> {
        let (queries, texts) = &*self.held;
        let row = match row {
            FingerprintRow::Fingerprint(row) => row,
            FingerprintRow::Text(ShortText { id, text }) => {
                let queries = texts.of(text);
                self.pairs += queries.len() as u64;
                self.near += u64::from(!queries.is_empty());
                self.equal_texts += u64::from(!queries.is_empty());
                // What makes equal fingerprints of equal texts that are long enough.
                return queries.iter().try_for_each(|query| task.emit(&NearQuery { query, id, distance: 0 }));
            }
            FingerprintRow::Meta(_) => return Ok(()),
        };
        let (distance, value) = (row.distance.unwrap_or(self.distance), row.fingerprint.value);
        let is_full = match (queries, row.fingerprint.bits) {
            (Held::None, _) => false,
            (Held::Short(_), Bits::B64) => self.short.take(row.id, value as u64, distance),
            (Held::Long(_), Bits::B128) => self.long.take(row.id, value, distance),
            _ => return Err(task.wrong(other_width(&row))),
        };
        if is_full { self.look_up(task) } else { Ok(()) }
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.look_up(task)?;
        task.count(PAIRS, self.pairs);
        task.count(NEAR, self.near);
        task.count(EQUAL_TEXTS, self.equal_texts);
        Ok(())
    }
}

impl HammingQueries {
    /// Looks up the documents that were taken.
    fn look_up(&mut self, task: &mut Task<'_>) -> Result<()> {
        let (pairs, near) = match &self.held.0 {
            Held::None => (0, 0),
            Held::Short(queries) => self.short.look_up(queries, task)?,
            Held::Long(queries) => self.long.look_up(queries, task)?,
        };
        self.pairs += pairs;
        self.near += near;
        Ok(())
    }
}
