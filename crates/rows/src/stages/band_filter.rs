//! `band-filter`: which keys of bands come more than once, so that the others need not be shuffled (`--bloom`).
//!
//! A key that one document has makes no candidate, and most keys are such. Each mapper counts the keys of its signatures in a
//! Bloom filter that counts to two ([`twinsplit_core::sketch::bloom`]); the filters are added up, and `lsh-bands` writes a posting only
//! where the sum says that the key came twice. Some that came once pass, and no key that came twice is lost.

use super::minhash::{BandOpts, Made, SignatureOpts};
use super::shared::Shared;
use crate::record::Record;
use crate::record::band_filter::FilterChunk;
use crate::record::checked::CheckedLine;
use crate::record::signature::Signature;
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, Stage, Task};
use std::path::Path;
use std::sync::Arc;
use twinsplit_core::sketch::bands::Bands;
use twinsplit_core::sketch::bloom::Bloom;
use twinsplit_io::Megabytes;
use twinsplit_io::checked_file::{self, CheckedWriter, broken};
use twinsplit_io::error::{FieldError, Result};

/// Kind of the file.
const BAND_FILTER: &str = "band-filter";

twinsplit_core::options! {
    /// Of which keys there is a filter, and how large it is.
    pub struct BandFilterOpts {
        /// Count the keys of MinHash bands in a Bloom filter of so many megabytes first, and shuffle only those that came more than
        /// once; 2 bytes for each different key let 3 % of the others pass, 1 byte 15 %. No pair is lost. In one process nothing is
        /// shuffled, and no filter is made
        bloom: Megabytes = 16, "MB", in Megabytes::new(1)..=Megabytes::new(4096);
    }
    with {
        signature: SignatureOpts,
        bands: BandOpts,
    }
}

impl BandFilterOpts {
    /// What the first line of a filter says of it.
    fn parameters(&self) -> Result<Vec<(&'static str, String)>> {
        let mut parameters = made_of(&self.signature, &self.bands)?;
        parameters.push(("bloom", self.bloom.to_string()));
        Ok(parameters)
    }
}

/// What two filters must have in common to be of the same keys.
fn made_of(signature: &SignatureOpts, bands: &BandOpts) -> Result<Vec<(&'static str, String)>> {
    let mut parameters = vec![
        ("minhash", signature.signer.minhash.name().to_owned()),
        ("hashes", signature.signer.hashes.to_string()),
        ("bands", bands.bands.to_string()),
        ("rows", bands.rows.to_string()),
    ];
    parameters.extend(signature.features.parameters()?);
    Ok(parameters)
}

/// A filter that [`BandFilterReduce`] wrote for such keys, which all tasks of a process share.
pub fn load(path: &Path, signature: &SignatureOpts, bands: &BandOpts) -> Result<Arc<Bloom>> {
    static FILTER: Shared<Bloom> = Shared::new();
    FILTER.load(path, || read(path, signature, bands))
}

fn read(path: &Path, signature: &SignatureOpts, bands: &BandOpts) -> Result<Bloom> {
    let mut filter = None;
    let head = checked_file::read(path, BAND_FILTER, |head, line| {
        let chunk = FilterChunk::decode(line)
            .map_err(|error| broken(path, &format!("{}: expected {}", error.field, error.expected)))?;
        let filter = match &mut filter {
            Some(filter) => filter,
            None => filter.insert(empty(head, path)?),
        };
        let added = filter.add_chunk(chunk.number, &chunk.bytes);
        added.map_err(|_| broken(path, "a line is no part of a filter of this size"))
    })?;
    head.must_have(&made_of(signature, bands)?, path)?;
    filter.map_or_else(|| empty(&head, path), Ok)
}

fn empty(head: &checked_file::Head, path: &Path) -> Result<Bloom> {
    let megabytes = head.number("bloom", path)?;
    let megabytes = u32::try_from(megabytes).ok().filter(|megabytes| *megabytes <= 4096);
    Ok(Bloom::of_megabytes(megabytes.ok_or_else(|| broken(path, "its size is over 4096 MB"))?))
}

/// The mapper.
pub struct BandFilter {
    bands: Bands,
    made: Made,
    filter: Bloom,
    values: Vec<u32>,
    keys: Vec<u64>,
}

impl Stage for BandFilter {
    type In<'a> = Signature<'a>;
    type Out<'a> = FilterChunk;
    type Opts = BandFilterOpts;
    const GROWTH: Growth = Growth::Constant;
    const DECL: Decl = Decl {
        name: "band-filter",
        role: Role::Map,
        about: "Counts the keys of the bands of signatures in a Bloom filter",
        side: &[],
    };

    fn open(opts: BandFilterOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self {
            bands: opts.bands.bands(opts.signature.signer.hashes)?,
            made: Made::of(&opts.signature)?,
            filter: Bloom::of_megabytes(opts.bloom.number() as u32),
            values: Vec::new(),
            keys: Vec::new(),
        })
    }

    fn push(&mut self, signature: Signature<'_>, task: &mut Task<'_>) -> Result<()> {
        self.made.check(&signature, task)?;
        signature.values.read(&mut self.values).map_err(|error| task.wrong(error))?;
        self.keys.clear();
        self.bands.keys(&self.values, &mut self.keys);
        self.keys.iter().for_each(|key| self.filter.add(*key));
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.filter.chunks().try_for_each(|(number, bytes)| task.emit(&FilterChunk { number, bytes }))
    }
}

/// The reducer, one task.
pub struct BandFilterReduce {
    opts: BandFilterOpts,
    filter: Bloom,
}

impl Stage for BandFilterReduce {
    type In<'a> = FilterChunk;
    type Out<'a> = CheckedLine<'a>;
    type Opts = BandFilterOpts;
    const ONE_TASK: bool = true;
    const GROWTH: Growth = Growth::Constant;
    const DECL: Decl = Decl {
        name: "band-filter-reduce",
        role: Role::Reduce,
        about: "Adds up the filters of all mappers; one task",
        side: &[],
    };

    fn open(opts: BandFilterOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { filter: Bloom::of_megabytes(opts.bloom.number() as u32), opts })
    }

    fn push(&mut self, chunk: FilterChunk, task: &mut Task<'_>) -> Result<()> {
        self.filter.add_chunk(chunk.number, &chunk.bytes).map_err(|_| {
            let expected = "a part of a filter of --bloom megabytes";
            task.wrong(FieldError::new("chunk", expected, chunk.number.to_string().as_bytes()))
        })
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count("filter_bytes", self.filter.bytes() as u64);
        task.count("filter_cells_used", self.filter.used());
        let (head, mut writer) = CheckedWriter::start(BAND_FILTER, &self.opts.parameters()?);
        task.emit_row(&head)?;
        let mut row = Vec::new();
        for (number, bytes) in self.filter.chunks() {
            row.clear();
            FilterChunk { number, bytes }.encode(&mut row);
            writer.line(&row);
            task.emit_row(&row)?;
        }
        task.emit_row(&writer.end())
    }
}
