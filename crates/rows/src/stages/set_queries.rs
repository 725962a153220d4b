//! `set-queries` and `lsh-queries`: sets of documents stream past those of queries, which each task holds as an index ([`QueryIndex`]), or under the keys of
//! their bands ([`QueryBands`]). Map only: who holds all queries needs nobody else's rows.

use super::minhash::{BandOpts, SignerOpts};
use super::options::{MaxPairsOpts, MinFeaturesOpts, SimilarityOpts};
use super::queries::{
    EQUAL_TEXTS, NEAR, PAIRS, QueriesOpts, QueryTexts, each_query, refuse_repeated, side_file,
};
use super::shared::Shared;
use crate::record::Record;
use crate::record::pair::Pair;
use crate::record::tokenized::{SetRow, Tokenized};
use crate::stage::{Decl, Role, SideFile, Stage, Task};
use std::path::Path;
use std::sync::Arc;
use twinsplit_core::join::doc_split::SliceBuilder;
use twinsplit_core::join::queries::{BYTES_OF_FEATURE, BYTES_OF_QUERY, Probe, QueryIndex};
use twinsplit_core::similarity::Measure;
use twinsplit_core::sketch::bands::BandHasher;
use twinsplit_core::sketch::query_bands::{BYTES_OF_KEY, BandProbe, QueryBands};
use twinsplit_io::error::Result;

/// The side file of both.
const SETS: SideFile =
    side_file("the sets of the queries, which tokenize writes: a file, or a folder of part files; required");

twinsplit_core::options! {
    /// Which queries are held, and which pairs are in the answer.
    pub struct SetQueriesOpts {}
    with {
        queries: QueriesOpts,
        similarity: SimilarityOpts,
        least: MinFeaturesOpts,
        max_pairs: MaxPairsOpts,
    }
}

/// Queries of which a document finds those that it is in a pair with.
trait Queries {
    /// The working memory of a task.
    type Probe;

    /// Calls `hit` with id and size of each of them, and with what the two share.
    fn find(&self, features: &[u64], probe: &mut Self::Probe, hit: impl FnMut(&[u8], u64, u64));

    /// How many pairs were verified.
    fn verified(probe: &Self::Probe) -> u64;
}

impl Queries for QueryIndex {
    type Probe = Probe;

    fn find(&self, features: &[u64], probe: &mut Probe, hit: impl FnMut(&[u8], u64, u64)) {
        self.find(features, probe, hit);
    }

    fn verified(probe: &Probe) -> u64 {
        probe.verified()
    }
}

impl Queries for QueryBands {
    type Probe = BandProbe;

    fn find(&self, features: &[u64], probe: &mut BandProbe, hit: impl FnMut(&[u8], u64, u64)) {
        self.find(features, probe, hit);
    }

    fn verified(probe: &BandProbe) -> u64 {
        probe.verified()
    }
}

/// The queries of a process, and those that are too short for anything but their text.
struct Held<Q> {
    queries: Q,
    texts: QueryTexts,
}

/// Reads queries: `push` takes the id and the features of each one that is compared by them, as long as there is room, where one takes
/// so many bytes beside its features. Gives those that are compared by their text.
fn read(
    (stage, path): (&str, &Path),
    opts: &SetQueriesOpts,
    beside: u64,
    mut push: impl FnMut(&[u8], &[u64]),
) -> Result<QueryTexts> {
    let bound = opts.queries.memory();
    let (mut texts, mut features) = (QueryTexts::default(), Vec::new());
    let (mut queries, mut bytes) = (0, 0);
    each_query(path, |line| {
        let SetRow::Set(Tokenized { doc, text }) = SetRow::decode(line)? else { return Ok(()) };
        let size = doc.features.size();
        if opts.least.admits(size) {
            queries += 1;
            bytes += size * BYTES_OF_FEATURE + BYTES_OF_QUERY + beside + doc.id.len() as u64;
            // Beyond the bound they are counted and not held.
            if bytes <= bound {
                doc.features.read(&mut features)?;
                push(doc.id, &features);
            }
        } else if let Some(text) = text {
            texts.push(doc.id, text, bound);
        }
        Ok(())
    })?;
    let (short, of_short) = texts.needs();
    opts.queries.admit(stage, queries + short, bytes + of_short)?;
    Ok(texts)
}

/// A task: the queries, and what it has found.
struct Passing<Q: Queries> {
    held: Arc<Held<Q>>,
    measure: Measure,
    least: MinFeaturesOpts,
    probe: Q::Probe,
    features: Vec<u64>,
    pairs: u64,
    near: u64,
    equal_texts: u64,
}

impl<Q: Queries> Passing<Q> {
    fn new(held: Arc<Held<Q>>, opts: SetQueriesOpts, probe: Q::Probe) -> Self {
        let measure = opts.similarity.0.measure();
        let (features, pairs, near, equal_texts) = (Vec::new(), 0, 0, 0);
        Self { held, measure, least: opts.least, probe, features, pairs, near, equal_texts }
    }

    /// Writes the pairs of a document.
    fn push(&mut self, row: SetRow<'_>, task: &mut Task<'_>) -> Result<()> {
        let SetRow::Set(Tokenized { doc, text }) = row else { return Ok(()) };
        let (size, measure) = (doc.features.size(), self.measure);
        let is_admitted = self.least.admits(size);
        if is_admitted {
            doc.features.read(&mut self.features).map_err(|error| task.wrong(error))?;
        }
        let (mut written, mut pairs) = (Ok(()), 0);
        let mut hit = |query: &[u8], size_a, overlap| {
            pairs += 1;
            if written.is_ok() {
                written = task.emit(&Pair { a: query, b: doc.id, overlap, size_a, size_b: size, measure });
            }
        };
        if is_admitted {
            self.held.queries.find(&self.features, &mut self.probe, hit);
        } else {
            // Equal texts have equal sets.
            let queries = text.map_or(&[][..], |text| self.held.texts.of(text));
            queries.iter().for_each(|query| hit(query, size, size));
            self.equal_texts += u64::from(!queries.is_empty());
        }
        self.pairs += pairs;
        self.near += u64::from(pairs > 0);
        written
    }

    fn finish(&self, task: &mut Task<'_>) {
        task.count(PAIRS, self.pairs);
        task.count(NEAR, self.near);
        task.count(EQUAL_TEXTS, self.equal_texts);
        task.count("candidate_pairs", Q::verified(&self.probe));
    }
}

/// The stage that finds all pairs.
pub struct SetQueries(Passing<QueryIndex>);

static INDEX: Shared<Held<QueryIndex>> = Shared::new();

impl Stage for SetQueries {
    type In<'a> = SetRow<'a>;
    type Out<'a> = Pair<'a>;
    type Opts = SetQueriesOpts;
    const DECL: Decl = Decl {
        name: "set-queries",
        role: Role::Map,
        about: "Streams sets past those of queries in memory, and writes the pairs that reach tau",
        side: &[SETS],
    };

    fn open(opts: SetQueriesOpts, _: &mut Task<'_>) -> Result<Self> {
        let stage = Self::DECL.name;
        let path = opts.queries.path(stage, "tokenize")?.to_owned();
        let held = INDEX.load(&path, || {
            let mut builder = SliceBuilder::default();
            let texts = read((stage, &path), &opts, 0, |id, features| builder.push(id, features))?;
            let queries = QueryIndex::build(builder, opts.similarity.0);
            refuse_repeated(stage, queries.ids().chain(texts.ids()))?;
            Ok(Held { queries, texts })
        })?;
        Ok(Self(Passing::new(held, opts, Probe::default())))
    }

    fn push(&mut self, row: SetRow<'_>, task: &mut Task<'_>) -> Result<()> {
        self.0.push(row, task)
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.0.finish(task);
        Ok(())
    }
}

/// The stage that finds those that share the key of a band.
pub struct LshQueries(Passing<QueryBands>);

static BANDS: Shared<Held<QueryBands>> = Shared::new();

twinsplit_core::options! {
    /// Its options.
    pub struct LshQueriesOpts {}
    with {
        sets: SetQueriesOpts,
        signer: SignerOpts,
        bands: BandOpts,
    }
}

impl Stage for LshQueries {
    type In<'a> = SetRow<'a>;
    type Out<'a> = Pair<'a>;
    type Opts = LshQueriesOpts;
    const DECL: Decl = Decl {
        name: "lsh-queries",
        role: Role::Map,
        about: "Streams sets past those of queries in memory, and writes the pairs that reach tau and share the key of a band",
        side: &[SETS],
    };

    fn open(opts: LshQueriesOpts, _: &mut Task<'_>) -> Result<Self> {
        let LshQueriesOpts { sets, signer, bands } = opts;
        let stage = Self::DECL.name;
        let path = sets.queries.path(stage, "tokenize")?.to_owned();
        let cut = bands.bands(signer.hashes)?;
        let probe = || BandProbe::new(BandHasher::new(cut, signer.signer()));
        let held = BANDS.load(&path, || {
            let (mut queries, mut keys) = (QueryBands::new(sets.similarity.0), probe());
            let of_keys = u64::from(bands.bands) * BYTES_OF_KEY;
            let texts =
                read((stage, &path), &sets, of_keys, |id, features| queries.push(id, features, &mut keys))?;
            refuse_repeated(stage, queries.ids().chain(texts.ids()))?;
            Ok(Held { queries, texts })
        })?;
        Ok(Self(Passing::new(held, sets, probe())))
    }

    fn push(&mut self, row: SetRow<'_>, task: &mut Task<'_>) -> Result<()> {
        self.0.push(row, task)
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.0.finish(task);
        Ok(())
    }
}
