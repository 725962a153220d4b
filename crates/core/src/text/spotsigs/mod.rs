//! `spotsigs`: spot signatures (theobald2008; the features of zhang2011).
//!
//! Running text is full of small words such as *the* and *is*; menus, headings and advertisements are not.
//! SpotSigs therefore anchors its features at such words. An *antecedent* has a *spot distance* d; where it
//! occurs, the *chain* of c content words after it is taken: from the antecedent go d words on, pass over
//! stop words, take the word there; go d words on from that word, pass over stop words, take the next; and
//! so on. The feature (*spot*) is the antecedent and its chain, joined by colons.
//!
//! With `a`, `the`, `is` as antecedents, d = 1 and c = 2, *a letter to read* makes `a:letter:read`, since
//! *to* is a stop word.
//!
//! * **Stop words** are passed over, not counted, once the d words have been counted; the d words count
//!   every word. An antecedent is a stop word only if it is listed as one too: of the released
//!   antecedents *un*, *une*, *le* and *la* are not.
//! * **At the end of a text** a chain keeps the words it has found, so it may be shorter than c; when it has
//!   found none there is no spot.
//! * **Several distances** may be given for one antecedent, each makes its own spots. The distance is not
//!   part of the feature's text, so two distances that lead to one word make one feature.
//! * Spots may overlap: a word that ends one chain can begin the next, and repeats count once in the set.
//! * Words are those of `words:K`: UAX 29, jieba in Han runs, normalised. Antecedents and stop words are
//!   normalised likewise. Nothing else is equated: *that's* with U+2019 is another word than with U+0027.
//!
//! Two differences from the authors' released Java program, on purpose: there the feature is the chain
//! alone, the antecedent being left out in a line that a comment offers to restore, as theobald2008 has it;
//! and there a stop word met inside a chain shifts the next link by one more word, which matters for c > 1
//! only. The released program compares multisets, this project sets.
//!
//! # The file format
//!
//! UTF-8, fields separated by TAB, `#` starts a comment line, empty lines are skipped, any order of rows:
//!
//! | row | meaning |
//! |---|---|
//! | `antecedent⇥word⇥distance` | an antecedent with its spot distance, 1 to 1000; at least one row |
//! | `stop⇥word` | a stop word |
//! | `chain⇥N` | the chain's length c, 1 to 1000; at most once, default 1 |
//! | `min⇥N` | the default of `--min-features`, 1 to 1000000; at most once, default 1 |
//!
//! A word is one word: no white space, and at least one letter or number. [`SpotSigs`] prints itself in this
//! form, so that a preset is a file to start from.

mod file;
mod preset;
mod spotter;

pub(crate) use spotter::Spotter;

/// An antecedent and its spot distance in words, at least 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Antecedent {
    /// The word that opens a spot.
    pub word: String,
    /// How many words after it the chain is looked for.
    pub distance: u32,
}

/// The settings of SpotSigs: antecedents, stop words, chain length and least number of spots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpotSigs {
    name: String,
    antecedents: Vec<Antecedent>,
    stop_words: Vec<String>,
    chain: u32,
    min: u32,
}

impl SpotSigs {
    /// The settings that the authors released, with the stop-word list of their program: chain length 1, at
    /// least 4 spots.
    pub fn released() -> Self {
        preset::build("", preset::RELEASED, preset::RELEASED_STOP_WORDS, 4)
    }

    /// Settings of the same shape for Chinese: frequent function words as antecedents at distance 1, all
    /// of them stop words too, chain length 1.
    pub fn chinese() -> Self {
        preset::build("zh", preset::CHINESE, preset::CHINESE_STOP_WORDS, 1)
    }

    /// What follows `spotsigs:` in a specification: empty for the released settings, `zh`, or a file's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The antecedents in the order given.
    pub fn antecedents(&self) -> &[Antecedent] {
        &self.antecedents
    }

    /// The stop words in the order given.
    pub fn stop_words(&self) -> &[String] {
        &self.stop_words
    }

    /// The chain's length in words.
    pub fn chain(&self) -> u32 {
        self.chain
    }

    /// The number of distinct spots below which a document is left out of joins, unless an option says otherwise.
    pub fn min_features(&self) -> u32 {
        self.min
    }
}
