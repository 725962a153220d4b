//! A door for the programs, tests, benchmarks and fuzz targets of this package, which are crates of their own. Nothing here is
//! promised to other programs: it may change with every commit.

/// See the module of this name.
pub mod allocator {
    pub use crate::allocator::Allocator;
}
/// See the module of this name.
pub mod chains {
    pub use crate::chains::{Chain, Columnar, FAMILIES, Family, Part, Step, Wanted};
}
/// See the module of this name.
pub mod checked_file {
    pub use crate::checked_file::{CheckedLine, CheckedWriter};
}
/// See the module of this name.
pub mod cli {
    pub use crate::cli::{command, main};
    /// See the module of this name.
    pub mod examples {
        pub use crate::cli::examples::{EXAMPLES, of};
    }
    /// See the module of this name.
    pub mod manual {
        pub use crate::cli::manual::driver_pages;
    }
    /// See the module of this name.
    pub mod stage {
        pub use crate::cli::stage::{command, main};
    }
    /// See the module of this name.
    pub mod stages {
        pub use crate::cli::stages::derived;
    }
}
/// See the module of this name.
pub mod cluster {
    /// See the module of this name.
    pub mod groups {
        pub use crate::cluster::groups::star_of_groups;
    }
    /// See the module of this name.
    pub mod keep {
        pub use crate::cluster::keep::{KeepRule, Meta, Score, key};
    }
    /// See the module of this name.
    pub mod star {
        pub use crate::cluster::star::star;
    }
    /// See the module of this name.
    pub mod union_find {
        pub use crate::cluster::union_find::UnionFind;
    }
}
/// See the module of this name.
pub mod engine {
    /// See the module of this name.
    pub mod columnar {
        pub use crate::engine::columnar::{ColumnarJoin, ColumnarOpts, ColumnarRun, Ran};
    }
    /// See the module of this name.
    pub mod memory {
        pub use crate::engine::memory::{DOCUMENT, PROGRAM, THREAD};
    }
    /// See the module of this name.
    pub mod progress {
        pub use crate::engine::progress::{Done, Progress};
    }
    /// See the module of this name.
    pub mod steps {
        pub use crate::engine::steps::LocalSteps;
    }
}
/// See the module of this name.
pub mod error {
    pub use crate::error::{Error, FieldError, Place};
}
/// See the module of this name.
pub mod hash {
    pub use crate::hash::{Checksum, feature, md5, sample, text};
}
/// See the module of this name.
pub mod index {
    /// See the module of this name.
    pub mod idf {
        pub use crate::index::idf::{IdfError, IdfRange};
    }
}
/// See the module of this name.
pub mod io {
    pub use crate::io::{Blocks, MaxLine, document_line, each_line};
}
/// See the module of this name.
pub mod join {
    pub use crate::join::overlap;
    /// See the module of this name.
    pub mod integers {
        pub use crate::join::integers::{Collection, RawSets};
    }
    /// See the module of this name.
    pub mod kernel {
        pub use crate::join::kernel::{
            Asked, Index, JoinStrategy, Purpose, Scratch, Work, index_shards, join_shards, whole,
        };
    }
    /// See the module of this name.
    pub mod sets {
        pub use crate::join::sets::Sets;
    }
}
/// See the module of this name.
pub mod params {
    pub use crate::params::Params;
}
/// See the module of this name.
pub mod record {
    pub use crate::record::{Keys, Record, key_end};
    /// See the module of this name.
    pub mod bad {
        pub use crate::record::bad::BadLine;
    }
    /// See the module of this name.
    pub mod band_filter {
        pub use crate::record::band_filter::FilterChunk;
    }
    /// See the module of this name.
    pub mod cluster {
        pub use crate::record::cluster::{
            Chosen, ChosenRow, ClusterInput, ClusterRow, Clustered, Compared, GraphRow, KeepRow, Label,
            LabelOrMember, Ranked, Verdict,
        };
    }
    /// See the module of this name.
    pub mod content {
        pub use crate::record::content::{
            ContentRow, HalfNear, LeftRow, RightRow, push_content, read_content,
        };
    }
    /// See the module of this name.
    pub mod count {
        pub use crate::record::count::{FeatureCount, SizeRow};
    }
    /// See the module of this name.
    pub mod document {
        pub use crate::record::document::{DocumentOpts, Line};
    }
    /// See the module of this name.
    pub mod expand {
        pub use crate::record::expand::{ExpandRow, LeftInput, RightInput};
    }
    /// See the module of this name.
    pub mod fingerprint {
        pub use crate::record::fingerprint::{
            FingerprintBlocks, FingerprintCount, FingerprintRow, Fingerprinted, GroupedFingerprint,
            GroupedRow, MemberFingerprint, PrintedFingerprint, ShortText, Table, TableRow,
        };
    }
    /// See the module of this name.
    pub mod id {
        pub use crate::record::id::escape;
    }
    /// See the module of this name.
    pub mod lookup {
        pub use crate::record::lookup::{KeptFeature, LeftInput, LeftRow, RightInput, RightRow};
    }
    /// See the module of this name.
    pub mod meta {
        pub use crate::record::meta::{InputPlace, Meta};
    }
    /// See the module of this name.
    pub mod near {
        pub use crate::record::near::{AnswerPair, AnyPair, Checked, Near, NearQuery};
    }
    /// See the module of this name.
    pub mod pair {
        pub use crate::record::pair::{Candidate, Joined, Pair, Part};
    }
    /// See the module of this name.
    pub mod posting {
        pub use crate::record::posting::{BlockPair, Posting, PostingRow, PrefixMark};
    }
    /// See the module of this name.
    pub mod round {
        pub use crate::record::round::{GraphInput, Neighbour};
    }
    /// See the module of this name.
    pub mod set {
        pub use crate::record::set::{Copy, Doc, Features, HashedDoc, HashedRow, Member};
    }
    /// See the module of this name.
    pub mod signature {
        pub use crate::record::signature::{
            HalfSigned, LeftInput, LeftRow, RightInput, RightRow, Signature, Signed, Values, push_values,
        };
    }
    /// See the module of this name.
    pub mod sampled {
        pub use crate::record::sampled::Sampled;
    }
    /// See the module of this name.
    pub mod site {
        pub use crate::record::site::SiteRow;
    }
    /// See the module of this name.
    pub mod slice {
        pub use crate::record::slice::{SliceRow, SlicedDoc};
    }
    /// See the module of this name.
    pub mod star {
        pub use crate::record::star::{
            LinkInput, LinkRow, RankRow, StarInput, StarLink, StarMember, StarRow,
        };
    }
    /// See the module of this name.
    pub mod star_sets {
        pub use crate::record::star_sets::{
            StarCentresInput, StarCentresRow, StarSet, StarSetsInput, StarSetsRow,
        };
    }
    /// See the module of this name.
    pub mod tokenized {
        pub use crate::record::tokenized::{SetRow, Tokenized};
    }
    /// See the module of this name.
    pub mod verify {
        pub use crate::record::verify::{Half, LeftInput, LeftRow, RightInput, RightRow};
    }
}
/// See the module of this name.
pub mod similarity {
    pub use crate::similarity::{Measure, Score, SetSimilarity, Similarity, ThresholdError};
    /// See the module of this name.
    pub mod tau {
        pub use crate::similarity::tau::{Tau, TauError};
    }
    /// See the module of this name.
    pub mod text {
        pub use crate::similarity::text::{Content, TEXT_MEASURES, TextMeasure};
    }
}
/// See the module of this name.
pub mod sketch {
    /// See the module of this name.
    pub mod bands {
        pub use crate::sketch::bands::Bands;
    }
    /// See the module of this name.
    pub mod minhash {
        pub use crate::sketch::minhash::{Estimate, Method, Signer, VALUE_BITS, matches};
    }
    /// See the module of this name.
    pub mod rice {
        pub use crate::sketch::rice::{BitReader, BitWriter, parameter};
    }
    /// See the module of this name.
    pub mod simhash {
        pub use crate::sketch::simhash::{Bits, Fingerprint};
    }
    /// See the module of this name.
    pub mod tables {
        pub use crate::sketch::tables::Tables;
    }
}
/// See the module of this name.
pub mod source {
    pub use crate::source::{Encoding, Format, Found, Source, SourceOpts};
}
/// See the module of this name.
pub mod stage {
    pub use crate::stage::{Counters, Entry, RecordInfo, Role, Runner, Task};
}
/// See the module of this name.
pub mod stages {
    pub use crate::stages::{STAGES, find};
    /// See the module of this name.
    pub mod cluster {
        pub use crate::stages::cluster::rank_of;
    }
    /// See the module of this name.
    pub mod components {
        pub use crate::stages::components::CHANGES;
    }
}
/// See the module of this name.
pub mod text {
    pub use crate::text::{
        Extractor, FeatureKind, FeatureSpec, Marks, NormalForm, TextError, dictionary_memory, dominant_script,
    };
    /// See the module of this name.
    pub mod jieba {
        pub use crate::text::jieba::idf;
    }
    /// See the module of this name.
    pub mod spotsigs {
        pub use crate::text::spotsigs::SpotSigs;
    }
}
