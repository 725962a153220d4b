//! What a run is asked for.

use std::path::PathBuf;
use twinsplit_core::sketch::Idf;
use twinsplit_core::sketch::bands::BandHasher;
use twinsplit_io::Blocks;
use twinsplit_io::error::Result;
use twinsplit_rows::chains::Columnar;
use twinsplit_rows::params::Params;
use twinsplit_rows::record::document::DocumentOpts;
use twinsplit_rows::stages::cluster::ClusterKindOpts;
use twinsplit_rows::stages::index_doc::PartitionOpts;
use twinsplit_rows::stages::minhash::{BandOpts, SignerOpts};
use twinsplit_rows::stages::options::{
    EqualTextsOpts, FeatureOpts, IdfOpts, KeepOpts, MaxPairsOpts, MinFeaturesOpts, SimilarityOpts, WriteOpts,
};
use twinsplit_rows::stages::reduce::ReduceOpts;
use twinsplit_rows::stages::simhash::FingerprintOpts;
use twinsplit_rows::stages::site::SiteFieldOpts;
use twinsplit_rows::stages::slice_plan::SlicesOpts;

twinsplit_core::options! {
    /// The options of the chain, the same structs that its stages have.
    pub struct ColumnarOpts {}
    with {
        /// How documents are read.
        pub document: DocumentOpts,
        /// How a text becomes features.
        pub features: FeatureOpts,
        /// Which features count.
        pub idf: IdfOpts,
        /// Which documents count.
        pub least: MinFeaturesOpts,
        /// Which texts are compared as a whole.
        pub(crate) texts: EqualTextsOpts,
        /// What makes two documents similar, and how similar they must be.
        pub similarity: SimilarityOpts,
        pub(super) partition: PartitionOpts,
        pub(super) slices: SlicesOpts,
        /// What a cluster is.
        pub cluster: ClusterKindOpts,
        /// How many documents are to stay.
        pub(super) reduce: ReduceOpts,
        pub(crate) keep: KeepOpts,
        pub(super) max_pairs: MaxPairsOpts,
        pub(super) write: WriteOpts,
        pub(crate) site: SiteFieldOpts,
        pub(super) signer: SignerOpts,
        pub(super) bands: BandOpts,
    }
    beside {
        /// Whether documents get the keys of their bands as they are read.
        pub(super) keyed: bool,
        /// How documents become fingerprints, where these are compared.
        pub fingerprints: Option<FingerprintOpts>,
        /// The document frequencies that their weights are made of, where these have been counted.
        pub idf_of_weights: Option<Idf>,
    }
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
