//! Options that more than one stage has, each declared once.

use crate::checked_file::TOKENIZER;
use crate::cluster::keep::KeepRule;
use crate::error::{Error, Result};
use crate::index::idf::IdfRange;
use crate::similarity::{Measure, Similarity, ThresholdError};
use crate::text::{self, FeatureKind, FeatureSpec, Marks, NormalForm};
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use std::path::PathBuf;

/// What documents are compared by, where nothing else is asked for: docs/decisions/0068 has the measurements.
pub const FEATURES: &str = "words:3";
/// The least similarity of a pair, where nothing else is asked for.
pub const TAU: &str = "0.65";

/// Which pairs are in the answer: what makes two documents similar, and how similar they must be. The two options are
/// read as one, so that a threshold that does not fit its similarity is refused before anything is read.
#[derive(Clone, Copy, Debug)]
pub struct SimilarityOpts(pub Similarity);

#[derive(Args)]
struct SimilarityArgs {
    /// How the similarity of two documents A and B is computed from their sets of features
    #[arg(long, env = "TWINSPLIT_SIMILARITY", value_enum, default_value = "jaccard")]
    similarity: Measure,
    /// Least similarity of a pair, a decimal in (0, 1] with at most 9 places; with --similarity overlap a whole number
    /// of features
    #[arg(long, env = "TWINSPLIT_TAU", default_value = TAU, value_name = "DECIMAL", value_parser = threshold)]
    tau: String,
}

/// A threshold of any similarity.
fn threshold(text: &str) -> std::result::Result<String, ThresholdError> {
    let share = Measure::Jaccard.reaching(text);
    share.or_else(|error| Measure::Overlap.reaching(text).map_err(|_| error)).map(|_| text.to_owned())
}

impl FromArgMatches for SimilarityOpts {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let SimilarityArgs { similarity, tau } = SimilarityArgs::from_arg_matches(matches)?;
        let wrong = |error| {
            clap::Error::raw(
                ErrorKind::ValueValidation,
                format!("invalid value '{tau}' for '--tau': {error}\n"),
            )
        };
        similarity.reaching(&tau).map(Self).map_err(wrong)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for SimilarityOpts {
    fn augment_args(command: Command) -> Command {
        SimilarityArgs::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        SimilarityArgs::augment_args_for_update(command)
    }
}

/// The guard against tiny sets.
#[derive(Args, Clone, Debug)]
pub struct MinFeaturesOpts {
    /// Documents with fewer features are in no pair (4 by default with --features spotsigs)
    #[arg(long, env = "TWINSPLIT_MIN_FEATURES", default_value_t = 1, value_name = "N")]
    pub min_features: u64,
}

impl MinFeaturesOpts {
    /// Whether a set of this size enters a join.
    pub fn admits(&self, size: u64) -> bool {
        size >= self.min_features.max(1)
    }
}

/// The pass over texts that are too short to be compared by their features.
#[derive(Args, Clone, Debug)]
pub struct EqualTextsOpts {
    /// Put documents with fewer features than --min-features, after those that --idf and --site leave out, into one cluster
    /// where their texts are equal, ignoring white space and what --normalise, --case-fold and --marks level
    #[arg(long, env = "TWINSPLIT_EQUAL_TEXTS", value_enum, default_value = "on")]
    pub equal_texts: Switch,
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

/// Of which documents the hash of the text is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Hashed {
    /// Of those with too few features.
    Short,
    /// Of all, where features are left out later.
    All,
}

/// Of which documents a stage that makes sets writes the hash of the text.
#[derive(Args, Clone, Debug)]
pub struct TextHashOpts {
    /// What texts are compared as a whole.
    #[command(flatten)]
    pub texts: EqualTextsOpts,
    /// Write the hash of the text of documents with fewer features than --min-features, or of all: set by chains that leave out
    /// features later
    #[arg(long, env = "TWINSPLIT_HASHED_TEXTS", value_enum, default_value = "short")]
    hashed_texts: Hashed,
}

/// The option and its value by which a step asks for the hashes of all texts.
pub const HASHED_TEXTS: (&str, &str) = ("hashed-texts", "all");

impl TextHashOpts {
    /// Whether the hash of the text of a document with so many features is written.
    pub fn hashes(&self, least: &MinFeaturesOpts, features: u64) -> bool {
        self.texts.are_compared() && (self.hashed_texts == Hashed::All || !least.admits(features))
    }
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// Yes.
    On,
    /// No.
    Off,
}

/// How a text becomes features.
#[derive(Args, Clone, Debug)]
pub struct FeatureOpts {
    /// What a document is split into: words:K, chars:K (K in a row), spotsigs, spotsigs:zh, spotsigs:FILE,
    /// sentence-ends:K (K characters before a full stop), sentences:K (the K longest words of each), lines, or jieba (keywords of Chinese texts)
    #[arg(long, env = "TWINSPLIT_FEATURES", default_value = FEATURES, value_name = "KIND")]
    pub features: String,
    /// The normal form of texts: nfkc takes full-width letters, ligatures, typographic apostrophes and quotation marks for plain ones, nfc
    /// does not; both leave out characters that nobody sees, such as soft hyphens
    #[arg(long, env = "TWINSPLIT_NORMALISE", value_enum, default_value = "nfkc", value_name = "FORM")]
    pub normalise: NormalForm,
    /// Fold the case of letters
    #[arg(long, env = "TWINSPLIT_CASE_FOLD", value_enum, default_value = "on")]
    pub case_fold: Switch,
    /// Marks that Arabic and Hebrew are written with and without: tatweel, vowel marks, points and accents
    #[arg(long, env = "TWINSPLIT_MARKS", value_enum, default_value = "drop", value_name = "WHAT")]
    pub marks: Marks,
}

impl FeatureOpts {
    /// The features that are asked for; a file of antecedents is read here.
    pub fn spec(&self) -> Result<FeatureSpec> {
        let read = |path: &str| std::fs::read_to_string(path).map_err(|error| error.to_string());
        let kind =
            FeatureKind::parse(&self.features, &read).map_err(|error| Error::Usage(error.to_string()))?;
        let (form, case_fold) = (self.normalise, self.case_fold == Switch::On);
        Ok(FeatureSpec { kind, form, case_fold, marks: self.marks })
    }
}

/// What the command line calls a choice.
pub fn name_of(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
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
        Ok(vec![
            (TOKENIZER, text::VERSION.to_string()),
            ("features", kind),
            ("normalise", name_of(&self.normalise)),
            ("case-fold", name_of(&self.case_fold)),
            ("marks", name_of(&self.marks)),
        ])
    }
}

/// Which document of a cluster is kept.
#[derive(Args, Clone, Debug)]
pub struct KeepOpts {
    /// Which document of a cluster is kept; the smallest id decides between equals
    #[arg(long, env = "TWINSPLIT_KEEP", value_enum, default_value = "smallest-id")]
    pub keep: KeepRule,
}

/// The bound on written pairs.
#[derive(Args, Clone, Debug)]
pub struct MaxPairsOpts {
    /// Stop when more pairs than this would be written
    #[arg(long, env = "TWINSPLIT_MAX_PAIRS", default_value_t = 1_000_000_000, value_name = "N")]
    pub max_pairs: u64,
}

/// What of the answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Write {
    /// Pairs and clusters.
    Pairs,
    /// Clusters alone.
    Clusters,
}

/// What of the answer is written.
#[derive(Args, Clone, Debug)]
pub struct WriteOpts {
    /// Write pairs and clusters, or clusters alone, which needs less memory and disk
    #[arg(long, env = "TWINSPLIT_WRITE", value_enum, default_value = "pairs")]
    pub write: Write,
}

/// The order of features, of which the stages that need one hold the most frequent.
#[derive(Args, Clone, Debug)]
pub struct OrderOpts {
    /// The order of features that feature-order wrote; without such a file features are ordered by hash
    #[arg(long, env = "TWINSPLIT_ORDER", default_value = "order", value_name = "FILE")]
    pub order: PathBuf,
    /// What the sets are made of, which the order must be made of too.
    #[command(flatten)]
    pub features: FeatureOpts,
}

/// The IDF range.
#[derive(Args, Clone, Debug)]
pub struct IdfOpts {
    /// Keep features whose normalised IDF, ln(N/df)/ln(N), lies in LOW,HIGH (at most 4 decimals each): 0.1,1 leaves out what most
    /// documents share; HIGH below 1 leaves out what one document or few have, so that signatures, quotations and notices remain
    #[arg(long, env = "TWINSPLIT_IDF", default_value = "0,1", value_name = "LOW,HIGH")]
    pub idf: IdfRange,
    /// Where document frequencies are taken from.
    #[command(flatten)]
    pub table: IdfTableOpts,
}

/// The document frequencies of a reference corpus.
#[derive(Args, Clone, Debug)]
pub struct IdfTableOpts {
    /// Take the document frequencies for --idf and --weights from this table, made by twinsplit idf, instead of the input
    #[arg(long, env = "TWINSPLIT_IDF_TABLE", value_name = "FILE")]
    pub idf_table: Option<PathBuf>,
}
