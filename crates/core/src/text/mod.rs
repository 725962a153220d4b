//! Text to features: what the rest of the project compares.
//!
//! Two documents are near duplicates when their *sets of features* are alike. Which features to take is
//! the one choice in near-duplicate detection that decides what "alike" means; seven are offered:
//!
//! | kind | a feature is | from |
//! |---|---|---|
//! | [`words:K`](words) | K consecutive words | shingles, broder1997 |
//! | [`chars:K`](chars) | K consecutive characters | manber1994 |
//! | [`spotsigs`] | a frequent word and the content words after it | theobald2008, used by zhang2011 |
//! | [`sentence-ends:K`](sentence_ends) | the K characters before a full stop | CCDet: wei2013 |
//! | [`sentences:K`](sentences) | the K longest words of a sentence | our reading of CoDet: varol2011 |
//! | [`lines`] | a line | line-level deduplication of crawls |
//! | [`jieba`] | a word that jieba takes for a keyword | Chinese fingerprints: yanlan |
//!
//! The way from bytes to a set is the same for all. What a reader does not see or cannot tell
//! apart leaves the text (`folding`), which is brought to one normal form and to full case folding (`normalise`); word features are cut by UAX 29, with a dictionary for runs of Han
//! characters (`segment`, `han`, and `ascii` for nearly all bytes of English); a feature is then a text,
//! and stands in every later stage as its hash, [`crate::hash::feature`]. The set is those hashes,
//! ascending and without repeats. How often a feature occurs in a document counts for fingerprints alone
//! ([`Extractor::hashes`], [`Extractor::texts`]).
//!
//! ```
//! use twinsplit_core::text::{Extractor, FeatureKind, FeatureSpec};
//!
//! let kind = FeatureKind::parse("words:2", &|_| Err("no files here".into()))?;
//! let mut extractor = Extractor::new(FeatureSpec::new(kind));
//! let mut features = Vec::new();
//! extractor.each("The cat, the CAT!", |feature, bytes| features.push((feature.to_string(), bytes)));
//! assert_eq!(features[0], ("the cat".to_string(), 0..7));
//! assert_eq!(features.len(), 3); // the cat, cat the, the cat
//! let mut set = Vec::new();
//! extractor.set("The cat, the CAT!", &mut set);
//! assert_eq!(set.len(), 2);
//! # Ok::<(), twinsplit_core::text::TextError>(())
//! ```
//!
//! Nothing here knows of files or processes; a SpotSigs file is read by the caller's function.

mod ascii;
pub mod chars;
mod error;
mod extractor;
mod folding;
mod han;
pub mod ignorable;
pub mod jieba;
pub mod lines;
mod normalise;
mod normalised;
mod pieces;
pub mod repeats;
mod run_cache;
mod script;
mod seen;
mod segment;
pub mod sentence_ends;
pub mod sentences;
pub mod spotsigs;
mod stretch;
pub mod units;
pub mod words;

use crate::nearest::nearest;
use std::fmt;

pub use error::{Reason, TextError};
pub use extractor::Extractor;
pub use han::{DICTIONARY, dictionary_memory};
pub use pieces::Pieces;
pub use script::{Letters, dominant_script};
pub use stretch::LONG;

/// Changes with every change of what the features of a text are, which `tests/goldens/features` pins: what was made of those of
/// another version is refused.
pub const VERSION: u32 = 2;

/// The largest K of `words:K`, `chars:K`, `sentence-ends:K` and `sentences:K`.
pub const MAX_COUNT: u32 = 1000;

/// What a feature is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeatureKind {
    /// `words:K`: K consecutive words, K from 1 to [`MAX_COUNT`]. See [`words`].
    Words(u32),
    /// `chars:K`: K consecutive characters, K from 1 to [`MAX_COUNT`]. See [`chars`].
    Chars(u32),
    /// `spotsigs`, `spotsigs:zh`, `spotsigs:FILE`. See [`spotsigs`].
    SpotSigs(spotsigs::SpotSigs),
    /// `sentence-ends:K`: the K characters before a full stop, K from 1 to [`MAX_COUNT`]. See [`sentence_ends`].
    SentenceEnds(u32),
    /// `sentences:K`: the K longest words of a sentence, K from 1 to [`MAX_COUNT`]. See [`sentences`].
    Sentences(u32),
    /// `lines`: each line. See [`lines`].
    Lines,
    /// `jieba`: each keyword of a Chinese text. See [`jieba`].
    Jieba,
}

/// A kind of feature and the canonical form in which its text is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureSpec {
    /// What a feature is.
    pub kind: FeatureKind,
    /// The normal form of Unicode. Default NFKC.
    pub form: NormalForm,
    /// Apply full default case folding (Unicode 3.13). Default true.
    pub case_fold: bool,
    /// What becomes of the marks of Arabic and Hebrew. By default they are dropped.
    pub marks: Marks,
    /// Whether a feature counts as often as it stands in the text: its [repeats](mod@repeats) are features, too. Default false.
    pub counts: bool,
}

crate::choice! {
    /// The normal form of Unicode (UAX 15) to which text is brought.
    pub enum NormalForm {
        /// Texts stay as they are.
        None = "none",
        /// Form C, without characters that nobody sees.
        Nfc = "nfc",
        /// Form KC, without characters that nobody sees, and with the apostrophes, quotation marks and hyphens of ASCII.
        Nfkc = "nfkc",
    }
}

crate::choice! {
    /// What becomes of the marks that Arabic and Hebrew are written with and without: tatweel, vowel marks, points and accents.
    pub enum Marks {
        /// They are left out.
        Drop = "drop",
        /// They count.
        Keep = "keep",
    }
}

impl FeatureSpec {
    /// The kind with the normal form NFKC, case folded and without optional marks.
    pub fn new(kind: FeatureKind) -> Self {
        FeatureSpec { kind, form: NormalForm::Nfkc, case_fold: true, marks: Marks::Drop, counts: false }
    }
}

impl FeatureKind {
    /// Reads a specification: `words:K` (`words` is `words:3`), `chars:K` (`chars` is `chars:9`), `spotsigs`
    /// (the released settings), `spotsigs:zh` (for Chinese), `spotsigs:FILE`, `sentence-ends:K`
    /// (`sentence-ends` is `sentence-ends:10`), `sentences:K` (`sentences` is `sentences:5`), `lines` or `jieba`. `read_file` returns the text of a file, or says
    /// why it cannot; it is called for `spotsigs:FILE` only.
    pub fn parse(spec: &str, read_file: &dyn Fn(&str) -> Result<String, String>) -> Result<Self, TextError> {
        let (name, parameter) = match spec.split_once(':') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (spec, None),
        };
        let count = |kind, default| count(kind, spec, parameter, default);
        let wrong = |expected| Err(TextError(Reason::Parameter { expected, found: spec.to_string() }));
        match (name, parameter) {
            ("words", _) => count("words", 3).map(FeatureKind::Words),
            ("chars", _) => count("chars", 9).map(FeatureKind::Chars),
            ("sentence-ends", _) => count("sentence-ends", 10).map(FeatureKind::SentenceEnds),
            ("sentences", _) => count("sentences", 5).map(FeatureKind::Sentences),
            ("lines", None) => Ok(FeatureKind::Lines),
            ("lines", Some(_)) => wrong("lines, without a parameter"),
            ("jieba", None) => Ok(FeatureKind::Jieba),
            ("jieba", Some(_)) => wrong("jieba, without a parameter"),
            ("spotsigs", None) => Ok(FeatureKind::SpotSigs(spotsigs::SpotSigs::released())),
            ("spotsigs", Some("zh")) => Ok(FeatureKind::SpotSigs(spotsigs::SpotSigs::chinese())),
            ("spotsigs", Some("")) => wrong("spotsigs, spotsigs:zh or spotsigs:FILE"),
            ("spotsigs", Some(file)) => {
                let text = read_file(file)
                    .map_err(|why| TextError(Reason::Unreadable { file: file.to_string(), why }))?;
                spotsigs::SpotSigs::parse(file, &text).map(FeatureKind::SpotSigs)
            }
            _ => Err(TextError(Reason::UnknownKind { found: spec.to_string() })),
        }
    }

    /// The nearest specification to one whose kind is mistyped, or is called otherwise elsewhere.
    pub fn nearest(spec: &str) -> Option<String> {
        const KINDS: [&str; 7] =
            ["words", "chars", "sentence-ends", "sentences", "lines", "jieba", "spotsigs"];
        const ELSEWHERE: [(&str, &str); 4] =
            [("ngram", "words"), ("shingle", "words"), ("token", "words"), ("character", "chars")];
        let (name, parameter) = spec.split_once(':').map_or((spec, None), |(name, k)| (name, Some(k)));
        let other = ELSEWHERE.iter().find(|(other, _)| name.strip_suffix('s').unwrap_or(name) == *other);
        let kind = other.map(|(_, kind)| *kind).or_else(|| nearest(name, KINDS))?;
        let near = parameter.map_or_else(|| kind.to_owned(), |parameter| format!("{kind}:{parameter}"));
        // It must be right itself.
        Self::parse(&near, &|_| Err(String::new())).is_ok().then_some(near)
    }

    /// The file that a specification names.
    pub fn file_of(spec: &str) -> Option<&str> {
        let file = spec.strip_prefix("spotsigs:")?;
        (!matches!(file, "" | "zh")).then_some(file)
    }

    /// The default of `--min-features`, the number of distinct features below which a document is left
    /// out of joins: what the SpotSigs settings say (4 in the released ones), else 1.
    pub fn min_features_default(&self) -> u32 {
        match self {
            FeatureKind::SpotSigs(settings) => settings.min_features(),
            _ => 1,
        }
    }
}

/// The canonical specification, which [`FeatureKind::parse`] reads back.
impl fmt::Display for FeatureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FeatureKind::Words(k) => write!(f, "words:{k}"),
            FeatureKind::Chars(k) => write!(f, "chars:{k}"),
            FeatureKind::SentenceEnds(k) => write!(f, "sentence-ends:{k}"),
            FeatureKind::Sentences(k) => write!(f, "sentences:{k}"),
            FeatureKind::Lines => f.write_str("lines"),
            FeatureKind::Jieba => f.write_str("jieba"),
            FeatureKind::SpotSigs(settings) => match settings.name() {
                "" => f.write_str("spotsigs"),
                name => write!(f, "spotsigs:{name}"),
            },
        }
    }
}

fn count(kind: &'static str, spec: &str, parameter: Option<&str>, default: u32) -> Result<u32, TextError> {
    let Some(text) = parameter else {
        return Ok(default);
    };
    whole_number(text)
        .filter(|k| (1..=MAX_COUNT).contains(k))
        .ok_or_else(|| TextError(Reason::Count { kind, found: spec.to_string() }))
}

/// Decimal digits only: no sign, no space.
fn whole_number(text: &str) -> Option<u32> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests;
