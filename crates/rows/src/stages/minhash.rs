//! `minhash`, `lsh-bands`, `lsh-candidates`: sets become signatures, signatures keys, and documents that share a key candidates
//! (broder1997; leskovec2020, section 3.4).
//!
//! What follows a key is a posting list, as what follows a feature is: a list of a frequent key is cut into blocks, and the
//! pairs of blocks are spread over mappers. A pair that meets under several keys is a candidate under each of them; the check
//! merges these in its first shuffle, before anything is copied to them.

use super::band_filter;
use super::blocks::BlockOpts;
use super::index_term::IndexTermReduce;
use super::list_pairs::{ListPairs, ListPairsOpts};
use super::options::{FeatureOpts, MaxPairsOpts, MinFeaturesOpts, SimilarityOpts};
use super::signature_check::{Check, CheckOpts};
use crate::record::Record;
use crate::record::pair::Candidate;
use crate::record::posting::{BlockPair, Posting, PostingRow};
use crate::record::set::Member;
use crate::record::signature::{Signature, Values, push_values};
use crate::record::tag;
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, SideFile, Stage, Task};
use std::path::PathBuf;
use std::sync::Arc;
use twinsplit_core::similarity::{SetSimilarity, Similarity};
use twinsplit_core::sketch::bands::Bands;
use twinsplit_core::sketch::bloom::Bloom;
use twinsplit_core::sketch::minhash::{MOST_HASHES, Method, Signer, VALUE_BITS, VERSION};
use twinsplit_io::error::{Error, FieldError, Result};
use twinsplit_io::terminal;

twinsplit_core::options! {
    /// How signatures are made.
    pub struct SignerOpts {
        /// How MinHash signatures are made
        pub minhash: Method = "fast";
        /// Values of a MinHash signature
        pub hashes: u32 = 128, "N", in 1..=MOST_HASHES as u32;
    }
}

impl SignerOpts {
    /// A signer.
    pub fn signer(&self) -> Signer {
        Signer::new(self.minhash, self.hashes as usize)
    }
}

twinsplit_core::options! {
    /// How signatures are made, and of what.
    pub struct SignatureOpts {}
    with {
        /// How they are made.
        pub signer: SignerOpts,
        /// What the sets are made of, which signatures of another kind are not compared with.
        pub features: FeatureOpts,
    }
}

impl SignatureOpts {
    /// What a signature says of how it was made.
    pub fn made(&self) -> Result<String> {
        let mut made = format!("minhash={VERSION} method={}", self.signer.minhash.name());
        for (name, value) in self.features.parameters()? {
            made.push_str(&format!(" {name}={value}"));
        }
        Ok(made)
    }
}

/// Refuses signatures that were made otherwise than the options say.
pub struct Made {
    made: String,
    hashes: usize,
}

impl Made {
    /// What the options say.
    pub fn of(opts: &SignatureOpts) -> Result<Self> {
        Ok(Self { made: opts.made()?, hashes: opts.signer.hashes as usize })
    }

    /// An error where a signature is not of this kind, which names both.
    pub fn check(&self, signature: &Signature<'_>, task: &Task<'_>) -> Result<()> {
        let found = String::from_utf8_lossy(signature.made);
        let (of, wanted) = (signature.values.count(), self.hashes);
        if signature.made == self.made.as_bytes() && of == wanted {
            return Ok(());
        }
        Err(Error::Usage(format!(
            "{}: {}: the signature was made otherwise than the options say, so it cannot be compared\n  it has: {of} values, \
             {found}\n  asked for: {wanted} values, {}",
            task.stage, task.place, self.made
        )))
    }
}

/// The mapper that signs.
pub struct MinHash {
    least: MinFeaturesOpts,
    signer: Signer,
    made: String,
    features: Vec<u64>,
    values: Vec<u32>,
    text: Vec<u8>,
}

twinsplit_core::options! {
    /// Its options.
    pub struct MinHashOpts {}
    with {
        signature: SignatureOpts,
        least: MinFeaturesOpts,
    }
}

impl Stage for MinHash {
    type In<'a> = Member<'a>;
    type Out<'a> = Signature<'a>;
    type Opts = MinHashOpts;
    const DECL: Decl = Decl {
        name: "minhash",
        role: Role::Map,
        about: "Makes the MinHash signature of each set",
        side: &[],
    };

    fn open(opts: MinHashOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self {
            signer: opts.signature.signer.signer(),
            made: opts.signature.made()?,
            least: opts.least,
            features: Vec::new(),
            values: Vec::new(),
            text: Vec::new(),
        })
    }

    fn push(&mut self, member: Member<'_>, task: &mut Task<'_>) -> Result<()> {
        let Member::Doc(doc) = member else { return Ok(()) };
        doc.features.read(&mut self.features).map_err(|error| task.wrong(error))?;
        let size = self.features.len() as u64;
        if !self.least.admits(size) {
            return Ok(());
        }
        self.values.clear();
        self.signer.sign(&self.features, &mut self.values);
        self.text.clear();
        push_values(&mut self.text, &self.values, VALUE_BITS);
        let values = Values::of(&self.text).map_err(|error| task.wrong(error))?;
        task.emit(&Signature { id: doc.id, size, made: self.made.as_bytes(), values })
    }
}

twinsplit_core::options! {
    /// How signatures are cut.
    pub struct BandOpts {
        /// Bands of a MinHash signature: documents that agree in all rows of one are candidates
        pub bands: u32 = 16, "N", in 1..=u32::MAX;
        /// Values of a band
        pub rows: u32 = 8, "N", in 1..=u32::MAX;
    }
}

impl BandOpts {
    /// How many values they need.
    pub fn values(&self) -> u64 {
        u64::from(self.bands) * u64::from(self.rows)
    }

    /// The bands of signatures of so many values.
    pub fn bands(&self, hashes: u32) -> Result<Bands> {
        let needed = self.values();
        if needed > hashes.into() {
            return Err(Error::Usage(format!(
                "--bands {} of --rows {} need {needed} values, and --hashes {hashes} makes fewer",
                self.bands, self.rows
            )));
        }
        Ok(Bands { bands: self.bands as usize, rows: self.rows as usize })
    }
}

/// The mapper that cuts signatures into bands.
pub struct LshBands {
    bands: Bands,
    made: Made,
    filter: Option<Arc<Bloom>>,
    values: Vec<u32>,
    keys: Vec<u64>,
    left_out: LeftOut,
}

/// What the filter has saved.
#[derive(Default)]
struct LeftOut {
    keys: u64,
    bytes: u64,
    row: Vec<u8>,
}

impl LeftOut {
    fn count(&mut self, row: &PostingRow<'_>) {
        self.row.clear();
        row.encode(&mut self.row);
        self.keys += 1;
        self.bytes += self.row.len() as u64 + 1;
    }
}

twinsplit_core::options! {
    /// Its options.
    pub struct LshBandsOpts {
        /// Leave out keys that came once, by the filter that band-filter made of these signatures
        band_filter: Option<PathBuf>, "FILE";
    }
    with {
        signature: SignatureOpts,
        bands: BandOpts,
    }
}

impl Stage for LshBands {
    type In<'a> = Signature<'a>;
    type Out<'a> = PostingRow<'a>;
    type Opts = LshBandsOpts;
    const DECL: Decl = Decl {
        name: "lsh-bands",
        role: Role::Map,
        about: "Writes a posting for the key of each band of a signature",
        side: &[SideFile {
            option: "band-filter",
            about: "which keys came more than once, as band-filter found; optional",
        }],
    };

    fn open(opts: LshBandsOpts, _: &mut Task<'_>) -> Result<Self> {
        let bands = opts.bands.bands(opts.signature.signer.hashes)?;
        let load = |path: &PathBuf| band_filter::load(path, &opts.signature, &opts.bands);
        Ok(Self {
            bands,
            made: Made::of(&opts.signature)?,
            filter: opts.band_filter.as_ref().map(load).transpose()?,
            values: Vec::new(),
            keys: Vec::new(),
            left_out: LeftOut::default(),
        })
    }

    fn push(&mut self, signature: Signature<'_>, task: &mut Task<'_>) -> Result<()> {
        self.made.check(&signature, task)?;
        signature.values.read(&mut self.values).map_err(|error| task.wrong(error))?;
        self.keys.clear();
        self.bands.keys(&self.values, &mut self.keys);
        let posting = Posting { id: signature.id, size: signature.size, mark: None };
        for key in &self.keys {
            let row = PostingRow { feature: *key, posting };
            match &self.filter {
                Some(filter) if !filter.came_twice(*key) => self.left_out.count(&row),
                _ => task.emit(&row)?,
            }
        }
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        if self.filter.is_some() {
            task.count("keys_left_out", self.left_out.keys);
            task.count("bytes_left_out", self.left_out.bytes);
        }
        Ok(())
    }
}

/// The reducer: that of posting lists.
pub struct LshBandsReduce(IndexTermReduce);

impl Stage for LshBandsReduce {
    type In<'a> = PostingRow<'a>;
    type Out<'a> = BlockPair<'a>;
    type Opts = BlockOpts;
    const GROWTH: Growth = Growth::Repeated;
    const DECL: Decl = Decl {
        name: "lsh-bands-reduce",
        role: Role::Reduce,
        about: "Gathers the documents of a key and writes their list as pairs of blocks",
        side: &[],
    };

    fn open(opts: BlockOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self(IndexTermReduce::of_all(&opts)))
    }

    fn push(&mut self, row: PostingRow<'_>, task: &mut Task<'_>) -> Result<()> {
        self.0.push(row, task)
    }

    fn end_group(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.0.end_group(task)
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.0.finish(task)
    }
}

/// The mapper that pairs the documents of a key.
pub struct LshCandidates {
    opts: LshCandidatesOpts,
    pairs: ListPairs,
    written: u64,
    too_unlike: u64,
}

twinsplit_core::options! {
    /// Its options.
    pub struct LshCandidatesOpts {}
    with {
        similarity: SimilarityOpts,
        max_pairs: MaxPairsOpts,
        check: CheckOpts,
        pairs: ListPairsOpts,
    }
}

/// Whether sets of these sizes can be in the answer.
pub fn sizes_fit(similarity: Similarity, x: u64, y: u64) -> bool {
    x.max(y) <= similarity.max_partner(x.min(y))
}

impl LshCandidates {
    fn pair(&mut self, x: &Posting<'_>, y: &Posting<'_>, task: &mut Task<'_>) -> Result<()> {
        if x.id == y.id {
            let id = String::from_utf8_lossy(x.id).into_owned();
            return Err(Error::DuplicateId { stage: task.stage.to_owned(), id, places: String::new() });
        }
        if !sizes_fit(self.opts.similarity.0, x.size, y.size) {
            self.too_unlike += 1;
            return Ok(());
        }
        self.written += 1;
        let most = self.opts.max_pairs.max_pairs;
        if self.written > most {
            return Err(Error::Limit(format!(
                "lsh-candidates: more than {most} pairs of documents with a common key in one task; more --rows have fewer, or \
                 raise --max-pairs"
            )));
        }
        task.emit(&Candidate { a: x.id.min(y.id), b: x.id.max(y.id) })
    }
}

impl Stage for LshCandidates {
    type In<'a> = BlockPair<'a>;
    type Out<'a> = Candidate<'a>;
    type Opts = LshCandidatesOpts;
    const GROWTH: Growth = Growth::Pairs;
    const DECL: Decl = Decl {
        name: "lsh-candidates",
        role: Role::Map,
        about: "Pairs the documents of each key whose sizes allow it",
        side: &[ListPairs::SIDE],
    };

    const TAG: Option<&'static [u8]> = Some(tag::LIST);

    fn open(opts: LshCandidatesOpts, _: &mut Task<'_>) -> Result<Self> {
        opts.check.candidates()?;
        let pairs = ListPairs::open(&opts.pairs)?;
        Ok(Self { opts, pairs, written: 0, too_unlike: 0 })
    }

    fn push(&mut self, list: BlockPair<'_>, task: &mut Task<'_>) -> Result<()> {
        if list.marked {
            let error = FieldError::new("kind", "plain, as lsh-bands-reduce writes it", b"prefix");
            return Err(task.wrong(error));
        }
        let mut postings = Vec::new();
        list.read(&mut postings).map_err(|error| task.wrong(error))?;
        let pairs = self.pairs.of(&list, &postings);
        pairs.each(|x, y| self.pair(&postings[x], &postings[y], task))
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count("pairs_of_postings", self.written);
        task.count("pairs_of_unlike_sizes", self.too_unlike);
        match self.opts.check.check {
            Check::Exact | Check::Texts(_) => {}
            Check::Signature => terminal::line(
                "lsh-candidates: APPROXIMATE: --check signature takes estimates for similarities",
            ),
            Check::None => {
                terminal::line("lsh-candidates: APPROXIMATE: --check none takes every candidate for a pair")
            }
        }
        Ok(())
    }
}
