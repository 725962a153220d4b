//! `i-match`: documents with the same features in a lexicon meet (I-Match: chowdhury2002; several lexicons: kolcz2004, our reading).
//!
//! The lexicon of chowdhury2002 is what lies in an IDF range, and two documents match where their features in it are the same: their
//! sets are equal, and `equal-sets` has joined them before. One word more or less parts them. So kolcz2004 adds lexicons that leave out
//! a part of the first, drawn at random; documents match where one of them makes their sets the same, that is, where it leaves out all in
//! which they differ.
//!
//! Which features a lexicon leaves out is decided by their hashes with its number, so it is the same in every task and every run.

use super::options::MinFeaturesOpts;
use crate::record::posting::{Posting, PostingRow};
use crate::record::set::Member;
use crate::stage::{Decl, Role, Stage, Task};
use std::fmt;
use std::str::FromStr;
use twinsplit_core::decimal;
use twinsplit_core::hash;
use twinsplit_io::error::Result;

/// Lexicons that documents may have.
const MOST_LEXICONS: u32 = 10_000;

twinsplit_core::options! {
    /// The lexicons.
    pub struct LexiconOpts {
        /// Lexicons, in one of which documents have the same features to be a pair: the first is all features in the IDF range, each
        /// other one leaves out a part of them
        lexicons: u32 = 11, "N", in 1..=MOST_LEXICONS;
        /// The share of the features that each lexicon but the first leaves out, drawn at random, a decimal in (0, 1) with at most
        /// 4 places
        lexicon_drops: Share = "0.3", "SHARE";
    }
}

/// A share in (0, 1), in ten-thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Share(u32);

const PLACES: usize = 4;
const WHOLE: u32 = 10_000;

twinsplit_core::read_from_text!(Share);

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let share = decimal::parse(text, PLACES).filter(|share| (1..WHOLE).contains(share)).map(Self);
        share.ok_or_else(|| {
            format!("expected a decimal in (0, 1) with at most {PLACES} places, found {text:?}")
        })
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&decimal::show(self.0, PLACES))
    }
}

impl LexiconOpts {
    /// How many lexicons there are.
    pub fn number(&self) -> u32 {
        self.lexicons
    }

    /// The lexicons, by their numbers from 0, in which two sets, which ascend, have the same features, and have any.
    pub fn agree(&self, x: &[u64], y: &[u64]) -> Vec<u32> {
        let kept = |lexicon, set: &[u64]| {
            let mut kept = Vec::new();
            self.retain(lexicon, set, &mut kept);
            kept
        };
        (0..self.lexicons)
            .filter(|lexicon| {
                let own = kept(*lexicon, x);
                !own.is_empty() && own == kept(*lexicon, y)
            })
            .collect()
    }

    /// The features of a set, which ascends, that a lexicon has: all of them in the first.
    fn retain(&self, lexicon: u32, features: &[u64], kept: &mut Vec<u64>) {
        let drops = |feature: &u64| {
            let uniform = u64::from(hash::in_lexicon(lexicon.into(), *feature));
            lexicon > 0 && uniform * u64::from(WHOLE) < u64::from(self.lexicon_drops.0) << 32
        };
        kept.clear();
        kept.extend(features.iter().filter(|feature| !drops(feature)));
    }
}

/// The stage.
pub struct IMatch {
    opts: IMatchOpts,
    features: Vec<u64>,
    kept: Vec<u64>,
}

twinsplit_core::options! {
    /// Its options.
    pub struct IMatchOpts {}
    with {
        lexicons: LexiconOpts,
        least: MinFeaturesOpts,
    }
}

impl Stage for IMatch {
    type In<'a> = Member<'a>;
    type Out<'a> = PostingRow<'a>;
    type Opts = IMatchOpts;
    const DECL: Decl = Decl {
        name: "i-match",
        role: Role::Map,
        about: "Writes a posting for what each lexicon but the first keeps of a set (I-Match)",
        side: &[],
    };

    fn open(opts: IMatchOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { opts, features: Vec::new(), kept: Vec::new() })
    }

    fn push(&mut self, member: Member<'_>, task: &mut Task<'_>) -> Result<()> {
        let Member::Doc(doc) = member else { return Ok(()) };
        doc.features.read(&mut self.features).map_err(|error| task.wrong(error))?;
        let size = self.features.len() as u64;
        if !self.opts.least.admits(size) {
            return Ok(());
        }
        for lexicon in 1..self.opts.lexicons.lexicons {
            self.opts.lexicons.retain(lexicon, &self.features, &mut self.kept);
            // What has nothing in a lexicon is like nothing there.
            if !self.kept.is_empty() {
                let feature = hash::lexicon(lexicon.into(), &self.kept);
                task.emit(&PostingRow { feature, posting: Posting { id: doc.id, size, mark: None } })?;
            }
        }
        Ok(())
    }
}
