//! The oracle: brute force on feature texts with exact fractions.
//!
//! It is meant to be read and believed, not to be fast. After feature text it shares no code with the
//! product: no hashes, no prefixes, no integer bounds. A pair is in the answer when its documents
//! share a feature and `|A ∩ B| / |A ∪ B| >= tau`, and that sentence is the code of [`Overlaps::pairs`]; for other
//! similarities it is that of [`Similarity::reaches`].

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use caseless::Caseless;
use num_bigint::BigUint;
use num_rational::Ratio;
use regex_syntax::hir::{Class, HirKind};
use rustc_hash::FxHashMap;
use unicode_normalization::UnicodeNormalization;

/// An exact, non-negative fraction.
pub type Fraction = Ratio<u128>;

/// The distinct feature texts of one document.
pub type Features = BTreeSet<String>;

/// A document as the oracle knows it.
#[derive(Clone, Debug)]
pub struct Doc {
    /// The id in the form that every output uses (see [`escape_id`]).
    pub id: String,
    /// The whole input line, without its line feed.
    pub line: String,
    /// The text, decoded.
    pub text: String,
    /// The field `date`, where the line has one.
    pub date: Option<String>,
    /// The field `score` in thousandths, where the line has one.
    pub score: Option<i64>,
}

impl Doc {
    /// A document of a real corpus: a JSON line whose `id` is a string.
    pub fn from_line(line: &str) -> Self {
        let value: serde_json::Value = serde_json::from_str(line).expect("a JSON line");
        let field = |name: &str| value.get(name).and_then(|v| v.as_str()).map(str::to_owned);
        Self {
            id: escape_id(&field("id").expect("an id that is a string")),
            line: line.to_owned(),
            text: field("text").expect("a text"),
            date: field("date"),
            score: None,
        }
    }
}

/// Bytes below 0x20, 0x7F, the backslash and a byte order mark at the beginning become `\xHH`; that form is the id
/// from then on.
pub fn escape_id(id: &str) -> String {
    let rest = id.strip_prefix('\u{feff}');
    let mut out = if rest.is_some() { "\\xef\\xbb\\xbf".to_owned() } else { String::new() };
    for c in rest.unwrap_or(id).chars() {
        if c < ' ' || c == '\u{7f}' || c == '\\' {
            out.push_str(&format!("\\x{:02x}", c as u32));
        } else {
            out.push(c);
        }
    }
    out
}

/// The decimal that a user types, as the fraction that it is: `0.55` is 11/20.
pub fn decimal(typed: &str) -> Fraction {
    let (whole, places) = typed.split_once('.').unwrap_or((typed, ""));
    let digits: u128 = format!("{whole}{places}").parse().expect("a decimal");
    Ratio::new(digits, 10u128.pow(places.len() as u32))
}

/// `overlap / union` with six decimals, rounded half up.
pub fn six_decimals(overlap: usize, union: usize) -> String {
    let half = Fraction::new(1, 2);
    let millionths = Fraction::new(overlap as u128, union as u128) * 1_000_000 + half;
    let floor = millionths.floor().to_integer();
    format!("{}.{:06}", floor / 1_000_000, floor % 1_000_000)
}

/// The number of features in both sets.
pub fn shared(a: &Features, b: &Features) -> usize {
    a.iter().filter(|feature| b.contains(*feature)).count()
}

/// How often each feature occurs in a collection: in how many documents, of how many.
pub struct Frequencies {
    documents: usize,
    of: HashMap<String, usize>,
}

impl Frequencies {
    /// Counts a collection; documents without features count as documents.
    pub fn count(sets: &[Features]) -> Self {
        let mut of = HashMap::new();
        for feature in sets.iter().flatten() {
            *of.entry(feature.clone()).or_insert(0) += 1;
        }
        Self { documents: sets.len(), of }
    }

    /// The sets without the features whose normalised IDF is outside a range, typed as `0.2,0.85`.
    ///
    /// `ln(N/df)/ln(N) >= p/q` says the same as `df^q <= N^(q-p)`, and there are no logarithms in
    /// the second form. A feature that the counted collection lacks has the frequency 1.
    pub fn keep(&self, sets: &[Features], range: &str) -> Vec<Features> {
        let (low, high) = range.split_once(',').expect("two decimals");
        let (low, high) = (decimal(low), decimal(high));
        let mut known: HashMap<usize, bool> = HashMap::new();
        let mut inside = |df: usize| {
            *known.entry(df).or_insert_with(|| {
                let (p, q) = (*low.numer() as u32, *low.denom() as u32);
                let rare_enough = power(df, q) <= power(self.documents, q - p);
                let (p, q) = (*high.numer() as u32, *high.denom() as u32);
                let common_enough = power(df, q) >= power(self.documents, q - p);
                self.documents <= 1 || (rare_enough && common_enough)
            })
        };
        let mut df = |feature: &String| inside(self.of.get(feature).copied().unwrap_or(1));
        sets.iter().map(|set| set.iter().filter(|f| df(f)).cloned().collect()).collect()
    }
}

fn power(base: usize, exponent: u32) -> BigUint {
    BigUint::from(base).pow(exponent)
}

/// Sets smaller than `least` take no part in a join: to a join they are empty.
pub fn at_least(sets: &[Features], least: usize) -> Vec<Features> {
    let keep = |set: &Features| {
        if set.len() >= least { set.clone() } else { Features::new() }
    };
    sets.iter().map(keep).collect()
}

/// The text of each document whose set has fewer than `least` features: without ignorable characters, with the apostrophes and quotation marks
/// of ASCII, NFKC, case folded and NFKC again, words of it with single blanks between. `None` where sets are compared, and where nothing is left of the text.
pub fn short_texts(docs: &[Doc], sets: &[Features], least: usize) -> Vec<Option<String>> {
    let normal = |text: &str| {
        let ascii = |c| match c {
            '‘' | '’' => '\'',
            '“' | '”' => '"',
            c => c,
        };
        let seen = text.chars().filter(|c| !is_ignorable(*c)).map(ascii);
        let folded: String = seen.nfkc().default_case_fold().nfkc().collect();
        folded.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let short = |(doc, set): (&Doc, &Features)| (set.len() < least).then(|| normal(&doc.text));
    docs.iter().zip(sets).map(short).map(|text| text.filter(|text| !text.is_empty())).collect()
}

/// Whether nobody sees anything in a text.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_ignorable(c))
}

/// Whether a character is ignorable, by another table than that of the program.
fn is_ignorable(c: char) -> bool {
    static IGNORABLE: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
        let class = regex_syntax::parse(r"\p{Default_Ignorable_Code_Point}").expect("a property");
        let HirKind::Class(Class::Unicode(class)) = class.kind() else { panic!("a class") };
        class.ranges().iter().map(|range| (range.start(), range.end())).collect()
    });
    IGNORABLE.iter().any(|(first, last)| (*first..=*last).contains(&c))
}

/// What makes two sets similar, as `--similarity` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Similarity {
    Jaccard,
    Containment,
    Cosine,
    Dice,
    Overlap,
}

/// All of them, for tables.
pub const SIMILARITIES: [Similarity; 5] =
    [Similarity::Jaccard, Similarity::Containment, Similarity::Cosine, Similarity::Dice, Similarity::Overlap];

impl Similarity {
    /// The value of `--similarity`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jaccard => "jaccard",
            Self::Containment => "containment",
            Self::Cosine => "cosine",
            Self::Dice => "dice",
            Self::Overlap => "overlap",
        }
    }

    /// Whether two sets of these sizes that share so many features are a pair at a threshold.
    pub fn reaches(self, threshold: &str, overlap: usize, a: usize, b: usize) -> bool {
        let least = decimal(threshold);
        let of = |n: usize, d: usize| Fraction::new(n as u128, d as u128);
        overlap > 0
            && match self {
                Self::Jaccard => of(overlap, a + b - overlap) >= least,
                Self::Containment => of(overlap, a.min(b)) >= least,
                // The cosine squared.
                Self::Cosine => of(overlap * overlap, a * b) >= least * least,
                Self::Dice => of(2 * overlap, a + b) >= least,
                Self::Overlap => of(overlap, 1) >= least,
            }
    }

    /// The similarity as a run writes it.
    pub fn written(self, overlap: usize, a: usize, b: usize) -> String {
        match self {
            Self::Jaccard => six_decimals(overlap, a + b - overlap),
            Self::Containment => six_decimals(overlap, a.min(b)),
            Self::Dice => six_decimals(2 * overlap, a + b),
            Self::Overlap => overlap.to_string(),
            Self::Cosine => {
                // The last millionth of which the half before it is not above the cosine.
                let square = Fraction::new((overlap * overlap) as u128, (a * b) as u128);
                let half_before = |k: u128| Fraction::new(2 * k - 1, 2_000_000);
                let mut last = (overlap as f64 / ((a * b) as f64).sqrt() * 1e6) as u128 + 2;
                while last > 0 && half_before(last) * half_before(last) > square {
                    last -= 1;
                }
                format!("{}.{:06}", last / 1_000_000, last % 1_000_000)
            }
        }
    }
}

/// Two documents (by position, the first the smaller) that share `overlap >= 1` features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    pub a: usize,
    pub b: usize,
    pub overlap: usize,
    pub union: usize,
}

impl Pair {
    /// `|A ∩ B| / |A ∪ B|`.
    pub fn jaccard(&self) -> Fraction {
        Fraction::new(self.overlap as u128, self.union as u128)
    }
}

/// The overlaps of all pairs of a collection, counted once and then cut at one threshold after another.
pub struct Overlaps(Vec<Pair>);

impl Overlaps {
    /// Counts what every two documents share, and keeps the pairs whose Jaccard is at least `floor`
    /// (the lowest threshold that will be asked for: large collections have many pairs below any).
    pub fn count(sets: &[Features], floor: &str) -> Self {
        let floor = decimal(floor);
        let mut pairs = Vec::new();
        let mut earlier: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (b, set) in sets.iter().enumerate() {
            let mut overlaps = vec![0; b];
            for feature in set {
                let documents = earlier.entry(feature).or_default();
                for &a in documents.iter() {
                    overlaps[a] += 1;
                }
                documents.push(b);
            }
            for (a, overlap) in overlaps.into_iter().enumerate().filter(|(_, overlap)| *overlap > 0) {
                let union = sets[a].len() + set.len() - overlap;
                let pair = Pair { a, b, overlap, union };
                if pair.jaccard() >= floor {
                    pairs.push(pair);
                }
            }
        }
        pairs.sort_by_key(|pair| (pair.a, pair.b));
        Self(pairs)
    }

    /// All pairs of a collection that share a feature, for similarities of which the lowest threshold is `floor`: none of
    /// them is above the containment.
    pub fn of_any_similarity(sets: &[Features], floor: &str) -> Self {
        let all = Self::count(sets, "0").0.into_iter();
        let kept = |pair: &Pair| {
            Similarity::Containment.reaches(floor, pair.overlap, sets[pair.a].len(), sets[pair.b].len())
        };
        Self(all.filter(kept).collect())
    }

    /// The pairs that a similarity accepts.
    pub fn pairs_by(&self, similarity: Similarity, threshold: &str, sets: &[Features]) -> Vec<Pair> {
        let accepts = |pair: &&Pair| {
            similarity.reaches(threshold, pair.overlap, sets[pair.a].len(), sets[pair.b].len())
        };
        self.0.iter().filter(accepts).copied().collect()
    }

    /// The pairs at or above a threshold.
    pub fn pairs(&self, tau: &str) -> Vec<Pair> {
        let tau = decimal(tau);
        self.0.iter().filter(|pair| pair.jaccard() >= tau).copied().collect()
    }
}
