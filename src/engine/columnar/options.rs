//! What a run is asked for.

use crate::chains::Columnar;
use crate::error::Result;
use crate::io::Blocks;
use crate::params::Params;
use crate::record::document::DocumentOpts;
use crate::sketch::Idf;
use crate::sketch::bands::BandHasher;
use crate::stages::cluster::ClusterKindOpts;
use crate::stages::index_doc::PartitionOpts;
use crate::stages::minhash::{BandOpts, SignerOpts};
use crate::stages::options::{
    EqualTextsOpts, FeatureOpts, IdfOpts, KeepOpts, MaxPairsOpts, MinFeaturesOpts, SimilarityOpts, WriteOpts,
};
use crate::stages::simhash::FingerprintOpts;
use crate::stages::site::SiteFieldOpts;
use crate::stages::slice_plan::SlicesOpts;
use clap::Args;
use std::path::PathBuf;

/// The options of the chain, the same structs that its stages have.
#[derive(Args, Clone, Debug)]
pub struct ColumnarOpts {
    #[command(flatten)]
    pub(crate) document: DocumentOpts,
    #[command(flatten)]
    pub(crate) features: FeatureOpts,
    #[command(flatten)]
    pub(crate) idf: IdfOpts,
    #[command(flatten)]
    pub(crate) least: MinFeaturesOpts,
    #[command(flatten)]
    pub(crate) texts: EqualTextsOpts,
    #[command(flatten)]
    pub(crate) similarity: SimilarityOpts,
    #[command(flatten)]
    pub(super) partition: PartitionOpts,
    #[command(flatten)]
    pub(super) slices: SlicesOpts,
    #[command(flatten)]
    pub(crate) cluster: ClusterKindOpts,
    #[command(flatten)]
    pub(crate) keep: KeepOpts,
    #[command(flatten)]
    pub(super) max_pairs: MaxPairsOpts,
    #[command(flatten)]
    pub(super) write: WriteOpts,
    #[command(flatten)]
    pub(crate) site: SiteFieldOpts,
    #[command(flatten)]
    pub(super) signer: SignerOpts,
    #[command(flatten)]
    pub(super) bands: BandOpts,
    /// Whether documents get the keys of their bands as they are read.
    #[arg(skip)]
    pub(super) keyed: bool,
    /// How documents become fingerprints, where these are compared.
    #[arg(skip)]
    pub(crate) fingerprints: Option<FingerprintOpts>,
    /// The document frequencies that their weights are made of, where these have been counted.
    #[arg(skip)]
    pub(crate) idf_of_weights: Option<Idf>,
}

impl ColumnarOpts {
    /// What the weights of fingerprints are made of, where there are fingerprints.
    pub(super) fn weights_idf(&self) -> Result<Option<Idf>> {
        match (&self.fingerprints, &self.idf_of_weights) {
            (Some(_), Some(idf)) => Ok(Some(idf.clone())),
            (Some(opts), None) => opts.idf().map(Some),
            (None, _) => Ok(None),
        }
    }
}

/// Bytes of input that a thread takes at a time.
const BLOCK: usize = 1 << 20;

impl ColumnarOpts {
    /// Those of a chain whose components have these ways in one process: no other front looks at sites.
    pub fn of(params: &Params, [front, ..]: [Columnar; 4]) -> Result<Self> {
        let opts: Self = params.parse()?;
        let site = opts.site.site.filter(|_| front == Columnar::SitePrunedSets);
        let fingerprints = (front == Columnar::Fingerprints).then(|| params.parse()).transpose()?;
        Ok(Self { site: SiteFieldOpts { site }, fingerprints, ..opts })
    }

    /// Whether features are left out of sets once all documents are read, so that which have too few is not known before.
    pub(super) fn leaves_out(&self) -> bool {
        !self.idf.idf.is_everything() || self.site.site.is_some()
    }

    /// Whether the hash of the text of a document that has so many features as it is read is kept.
    pub(super) fn hashes_text(&self, features: u64) -> bool {
        self.texts.are_compared() && (self.leaves_out() || !self.least.admits(features))
    }

    /// How many keys a document gets.
    pub(super) fn keys_of_a_document(&self) -> Result<usize> {
        let bands = self.bands.bands(self.signer.hashes)?;
        Ok(if self.keyed { bands.bands } else { 0 })
    }

    /// What makes the keys of bands, where they are asked for.
    pub(super) fn band_keys(&self) -> Result<Option<BandHasher>> {
        let bands = self.bands.bands(self.signer.hashes)?;
        Ok(self.keyed.then(|| BandHasher::new(bands, self.signer.signer())))
    }

    pub(super) fn blocks(&self, inputs: &[PathBuf]) -> Blocks {
        Blocks::new(inputs.to_vec(), BLOCK).of_documents(self.document.max_line)
    }
}

/// How pairs of sets are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnarJoin {
    /// By an index of some sets at a time, past which larger ones are held.
    IndexShards,
    /// By candidates, which are put down before they are verified, as Term-Split with the prefix filter has it.
    PrefixCandidates,
    /// By the keys of the bands of MinHash signatures.
    Bands,
    /// By the bits of fingerprints, and not by sets.
    Fingerprints,
}

impl ColumnarJoin {
    /// The step that it is reported as.
    pub(super) fn step(self) -> &'static str {
        match self {
            Self::IndexShards => "docsplit-query",
            Self::PrefixCandidates => "pcp-map",
            Self::Bands => "lsh-bands",
            Self::Fingerprints => "hamming-pairs",
        }
    }

    /// That of a chain whose components have these ways in one process, where they go together.
    pub fn of(ways: [Columnar; 4]) -> Option<Self> {
        let fingerprints =
            [Columnar::Fingerprints, Columnar::EqualBits, Columnar::Distances, Columnar::Output];
        if ways == fingerprints {
            return Some(Self::Fingerprints);
        }
        let [
            Columnar::NumberedSets | Columnar::SitePrunedSets,
            candidates,
            Columnar::Overlaps,
            Columnar::Output,
        ] = ways
        else {
            return None;
        };
        match candidates {
            Columnar::IndexShards => Some(Self::IndexShards),
            Columnar::PrefixCandidates => Some(Self::PrefixCandidates),
            Columnar::Bands => Some(Self::Bands),
            _ => None,
        }
    }
}
