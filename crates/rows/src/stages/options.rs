//! Options that more than one stage has, each declared once.

use super::queries::QUERIES;
use std::path::PathBuf;
use std::str::FromStr;
use twinsplit_core::cluster::keep::KeepRule;
use twinsplit_core::idf::IdfRange;
use twinsplit_core::options::{Field, Given, Invalid, Options};
use twinsplit_core::similarity::{Measure, Similarity, ThresholdError};
use twinsplit_core::text::{self, FeatureKind, FeatureSpec, Marks, NormalForm};
use twinsplit_io::checked_file::TOKENIZER;
use twinsplit_io::error::{Error, Result};

/// What documents are compared by, where nothing else is asked for: docs/decisions/features-and-similarities.md has the
/// measurements.
pub const FEATURES: &str = "words:3";
/// The least similarity of a pair, where nothing else is asked for.
pub const TAU: &str = "0.65";

/// Which pairs are in the answer: what makes two documents similar, and how similar they must be. The two options are
/// read as one, so that a threshold that does not fit its similarity is refused before anything is read.
#[derive(Clone, Copy, Debug)]
pub struct SimilarityOpts(pub Similarity);

/// The same where what comes is the query of what is there, so that a similarity may be the share of a query.
#[derive(Clone, Copy, Debug)]
pub struct QuerySimilarityOpts(pub Similarity);

/// A threshold of any similarity.
#[derive(Clone, Debug)]
struct Threshold(String);

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> std::result::Result<Self, ThresholdError> {
        let share = Measure::Jaccard.reaching(text);
        let any = share.or_else(|error| Measure::Overlap.reaching(text).map_err(|_| error));
        any.map(|_| Self(text.to_owned()))
    }
}

twinsplit_core::read_from_text!(Threshold);

twinsplit_core::options! {
    /// The two options.
    struct SimilarityFields {
        /// How the similarity of two documents A and B is computed from their sets of features
        similarity: Measure = "jaccard";
        /// Least similarity of a pair, a decimal in (0, 1] with at most 9 places; with --similarity overlap a whole number
        /// of features
        tau: Threshold = TAU, "DECIMAL", or "threshold";
    }
}

impl Options for SimilarityOpts {
    fn fields() -> Vec<Field> {
        SimilarityFields::fields()
    }

    fn read(given: &dyn Given) -> std::result::Result<Self, Invalid> {
        let QuerySimilarityOpts(similarity) = QuerySimilarityOpts::read(given)?;
        if similarity.measure() == Measure::QueryContainment && given.value(QUERIES).is_none() {
            return Err(Invalid {
                option: "similarity".to_owned(),
                value: similarity.measure().name().to_owned(),
                problem: "it is the share of a query, so it goes with --queries; between documents of the input take containment"
                    .to_owned(),
            });
        }
        Ok(Self(similarity))
    }
}

impl Options for QuerySimilarityOpts {
    fn fields() -> Vec<Field> {
        SimilarityFields::fields()
    }

    fn read(given: &dyn Given) -> std::result::Result<Self, Invalid> {
        let SimilarityFields { similarity, tau: Threshold(tau) } = SimilarityFields::read(given)?;
        let wrong = |error: ThresholdError| Invalid {
            option: "tau".to_owned(),
            value: tau.clone(),
            problem: error.to_string(),
        };
        similarity.reaching(&tau).map(Self).map_err(wrong)
    }
}

twinsplit_core::options! {
    /// The guard against tiny sets.
    pub struct MinFeaturesOpts {
        /// Documents with fewer features are in no pair (4 by default with --features spotsigs)
        pub min_features: u64 = 1, "N";
    }
}

impl MinFeaturesOpts {
    /// Whether a set of this size enters a join.
    pub fn admits(&self, size: u64) -> bool {
        size >= self.min_features.max(1)
    }
}

twinsplit_core::options! {
    /// The pass over texts that are too short to be compared by their features.
    pub struct EqualTextsOpts {
        /// Put documents with fewer features than --min-features, after those that --idf and --site leave out, into one cluster
        /// where their texts are equal, ignoring white space and what --normalise, --case-fold and --marks level
        pub equal_texts: Switch = "on";
    }
}

impl EqualTextsOpts {
    /// Whether texts are compared as a whole.
    pub fn are_compared(&self) -> bool {
        self.equal_texts == Switch::On
    }

    /// Whether the text of a document with so many features is compared with others.
    pub fn compares(&self, least: &MinFeaturesOpts, features: u64) -> bool {
        self.are_compared() && !least.admits(features)
    }
}

twinsplit_core::choice! {
    /// Of which documents the hash of the text is made.
    pub enum Hashed {
        /// Of those with too few features.
        Short = "short",
        /// Of all, where features are left out later.
        All = "all",
    }
}

twinsplit_core::options! {
    /// Of which documents a stage that makes sets writes the hash of the text.
    pub struct TextHashOpts {
        /// Write the hash of the text of documents with fewer features than --min-features, or of all: set by chains that leave out
        /// features later
        hashed_texts: Hashed = "short";
    }
    with {
        /// What texts are compared as a whole.
        pub(crate) texts: EqualTextsOpts,
    }
}

/// The option and its value by which a step asks for the hashes of all texts.
pub const HASHED_TEXTS: (&str, &str) = ("hashed-texts", "all");

impl TextHashOpts {
    /// Whether the hash of the text of a document with so many features is written.
    pub fn hashes(&self, least: &MinFeaturesOpts, features: u64) -> bool {
        self.texts.are_compared() && (self.hashed_texts == Hashed::All || !least.admits(features))
    }
}

twinsplit_core::choice! {
    /// On or off.
    pub enum Switch {
        /// Yes.
        On = "on",
        /// No.
        Off = "off",
    }
}

twinsplit_core::options! {
    /// How a text becomes features.
    pub struct FeatureOpts {
        /// What a document is split into: words:K, chars:K (K in a row), spotsigs, spotsigs:zh, spotsigs:FILE,
        /// sentence-ends:K (K characters before a full stop), sentences:K (the K longest words of each), lines, or jieba (keywords of Chinese texts)
        pub features: String = FEATURES, "KIND";
        /// The normal form of texts: nfkc takes full-width letters, ligatures, typographic apostrophes and quotation marks for plain ones, nfc
        /// does not; both leave out characters that nobody sees, such as soft hyphens
        pub normalise: NormalForm = "nfkc", "FORM";
        /// Fold the case of letters
        pub case_fold: Switch = "on";
        /// Marks that Arabic and Hebrew are written with and without: tatweel, vowel marks, points and accents
        pub marks: Marks = "drop", "WHAT";
        /// Whether a feature counts as often as it stands in a document, so that documents are weighted sets: Jaccard is the sum of the
        /// smaller counts over that of the larger ones; off counts each feature once
        pub counts: Switch = "off";
    }
}

impl FeatureOpts {
    /// The features that are asked for; a file of antecedents is read here.
    pub fn spec(&self) -> Result<FeatureSpec> {
        let read = |path: &str| std::fs::read_to_string(path).map_err(|error| error.to_string());
        let kind =
            FeatureKind::parse(&self.features, &read).map_err(|error| Error::Usage(error.to_string()))?;
        let (form, case_fold) = (self.normalise, self.case_fold == Switch::On);
        Ok(FeatureSpec { kind, form, case_fold, marks: self.marks, counts: self.counts == Switch::On })
    }
}

impl FeatureOpts {
    /// What is said of features wherever something made of them is stored: in the first line of a checked file, and in signatures.
    pub fn parameters(&self) -> Result<Vec<(&'static str, String)>> {
        // A file of antecedents is named, and not read: a stage that only compares names need not have it.
        let kind = if self.features.starts_with("spotsigs:") {
            self.features.replace(|c: char| c.is_ascii_control(), " ")
        } else {
            self.spec()?.kind.to_string()
        };
        let mut parameters = vec![
            (TOKENIZER, text::VERSION.to_string()),
            ("features", kind),
            ("normalise", self.normalise.name().to_owned()),
            ("case-fold", self.case_fold.name().to_owned()),
            ("marks", self.marks.name().to_owned()),
        ];
        // Files that were written before there were counts say nothing of them.
        if self.counts == Switch::On {
            parameters.push(("counts", self.counts.name().to_owned()));
        }
        Ok(parameters)
    }
}

twinsplit_core::options! {
    /// Which document of a cluster is kept.
    pub struct KeepOpts {
        /// Which document of a cluster is kept; the smallest id decides between equals
        pub keep: KeepRule = "smallest-id";
    }
}

twinsplit_core::options! {
    /// The bound on written pairs.
    pub struct MaxPairsOpts {
        /// Stop when more pairs than this would be written
        pub max_pairs: u64 = 1_000_000_000, "N";
    }
}

twinsplit_core::choice! {
    /// What of the answer is written.
    pub enum Write {
        /// Pairs and clusters.
        Pairs = "pairs",
        /// Clusters alone.
        Clusters = "clusters",
    }
}

twinsplit_core::options! {
    /// What of the answer is written.
    pub struct WriteOpts {
        /// Write pairs and clusters, or clusters alone, which needs less memory and disk
        pub write: Write = "pairs";
    }
}

twinsplit_core::options! {
    /// The order of features, of which the stages that need one hold the most frequent.
    pub struct OrderOpts {
        /// The order of features that feature-order wrote; without such a file features are ordered by hash
        pub order: PathBuf = "order", "FILE";
    }
    with {
        /// What the sets are made of, which the order must be made of too.
        pub features: FeatureOpts,
    }
}

twinsplit_core::options! {
    /// The IDF range.
    pub struct IdfOpts {
        /// Keep features whose normalised IDF, ln(N/df)/ln(N), lies in LOW,HIGH (at most 4 decimals each): 0.1,1 leaves out what most
        /// documents share; HIGH below 1 leaves out what one document or few have, so that signatures, quotations and notices remain
        pub idf: IdfRange = "0,1", "LOW,HIGH";
    }
    with {
        /// Where document frequencies are taken from.
        pub table: IdfTableOpts,
    }
}

twinsplit_core::options! {
    /// The document frequencies of a reference corpus.
    pub struct IdfTableOpts {
        /// Take the document frequencies for --idf and --weights from this table, made by twinsplit idf, instead of the input
        pub idf_table: Option<PathBuf>, "FILE";
    }
}
