//! `equal-sets`: documents with the same set are joined once. The smallest id of each group represents it; every
//! other member becomes a copy line, which joins pass over and `expand-pairs` reads, so that a million equal pages are
//! a million lines and not 5·10^11 pairs.
//!
//! Documents whose sets are too small for a join meet by the hashes of their texts, which `tokenize` wrote, and become
//! copies of the smallest id among them: of size 0, for they are in no pair. That one is no set, and is not passed on.
//!
//! What the keep rule needs of each document goes the same way, by id, and comes out as it is.

use super::NoOpts;
use super::meta::SingleIds;
use super::options::MinFeaturesOpts;
use crate::record::set::{Copy, Doc, Features, HashedDoc, HashedRow, Member};
use crate::record::tokenized::{SetRow, Tokenized};
use crate::stage::{Decl, Role, Stage, Task};
use twinsplit_core::hash;
use twinsplit_io::error::Result;

/// The mapper. Sets that enter no join (empty, or below `--min-features`) end here, where no hash of a text goes with them.
pub struct EqualSets {
    least: MinFeaturesOpts,
    features: Vec<u64>,
    too_small: u64,
}

impl Stage for EqualSets {
    type In<'a> = SetRow<'a>;
    type Out<'a> = HashedRow<'a>;
    type Opts = MinFeaturesOpts;
    const DECL: Decl = Decl {
        name: "equal-sets",
        role: Role::Map,
        about: "Brings equal sets together by a hash of all their features, and equal short texts by theirs",
        side: &[],
    };

    fn open(least: MinFeaturesOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { least, features: Vec::new(), too_small: 0 })
    }

    fn push(&mut self, row: SetRow<'_>, task: &mut Task<'_>) -> Result<()> {
        let Tokenized { doc, text } = match row {
            SetRow::Set(row) => row,
            SetRow::Meta(meta) => return task.emit(&HashedRow::Meta(meta)),
        };
        if !self.least.admits(doc.features.size()) {
            self.too_small += 1;
            let Some(hash) = text else { return Ok(()) };
            let doc = Tokenized { doc: Doc { id: doc.id, features: Features::Values(&[]) }, text };
            return task.emit(&HashedDoc { hash: hash as u64, doc });
        }
        doc.features.read(&mut self.features).map_err(|error| task.wrong(error))?;
        let doc = Doc { id: doc.id, features: Features::Values(&self.features) };
        task.emit(&HashedDoc { hash: hash::set(&self.features), doc: Tokenized::of_set(doc) })
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count("sets_below_min_features", self.too_small);
        Ok(())
    }
}

/// The reducer.
#[derive(Default)]
pub struct EqualSetsReduce {
    /// The distinct sets of one hash (more than one only when hashes collide): representative, features.
    group: Vec<(Vec<u8>, Vec<u64>)>,
    /// The distinct hashes of texts of one half: representative, hash.
    texts: Vec<(Vec<u8>, u128)>,
    features: Vec<u64>,
    ids: SingleIds,
    sets: u64,
    copies: u64,
    equal_texts: u64,
}

impl EqualSetsReduce {
    fn text(&mut self, id: &[u8], text: u128, task: &mut Task<'_>) -> Result<()> {
        if let Some((representative, _)) = self.texts.iter().find(|(_, known)| *known == text) {
            self.equal_texts += 1;
            return task.emit(&Member::Copy(Copy { id, representative, size: 0 }));
        }
        self.texts.push((id.to_vec(), text));
        Ok(())
    }
}

impl Stage for EqualSetsReduce {
    type In<'a> = HashedRow<'a>;
    type Out<'a> = Member<'a>;
    type Opts = NoOpts;
    const DECL: Decl = Decl {
        name: "equal-sets-reduce",
        role: Role::Reduce,
        about: "Passes one of several equal sets on, turns the others, and equal short texts, into copies, and stops at an id that two documents have",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, row: HashedRow<'_>, task: &mut Task<'_>) -> Result<()> {
        let Tokenized { doc, text } = match row {
            HashedRow::Doc(row) => row.doc,
            HashedRow::Meta(meta) => {
                self.ids.take(&meta, task)?;
                return task.emit(&Member::Meta(meta));
            }
        };
        if let Some(text) = text {
            return self.text(doc.id, text, task);
        }
        doc.features.read(&mut self.features).map_err(|error| task.wrong(error))?;
        if let Some((representative, features)) = self.group.iter().find(|(_, set)| *set == self.features) {
            self.copies += 1;
            let size = features.len() as u64;
            return task.emit(&Member::Copy(Copy { id: doc.id, representative, size }));
        }
        self.sets += 1;
        self.group.push((doc.id.to_vec(), self.features.clone()));
        task.emit(&Member::Doc(doc))
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.group.clear();
        self.texts.clear();
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count("sets", self.sets);
        task.count("copies", self.copies);
        task.count("equal_texts", self.equal_texts);
        Ok(())
    }
}
