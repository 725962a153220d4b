//! `idf-left`, `idf-right`: what `idf-filter` does, without a list of features in memory.
//!
//! Two joins: under each feature its document frequency comes first, and says whether the documents after it keep the
//! feature; then the kept features meet again under their documents' ids. Both read in order and hold one row, so a
//! vocabulary of any size is looked up in memory of any size; the price is that each feature of each document is
//! shuffled twice.

use super::NoOpts;
use super::options::OrderOpts;
use super::side::kept_frequencies;
use crate::record::lookup::{KeptFeature, LeftInput, LeftRow, RightInput, RightRow};
use crate::record::set::{Doc, Features};
use crate::record::tokenized::{SetRow, Tokenized};
use crate::stage::{Decl, Role, SideFile, Stage, Task};
use std::ops::RangeInclusive;
use twinsplit_io::error::{FieldError, Result};

/// The first mapper: document frequencies in the range, and sets, by feature.
pub struct IdfLeft {
    kept: RangeInclusive<u64>,
    features: Vec<u64>,
}

impl Stage for IdfLeft {
    type In<'a> = LeftInput<'a>;
    type Out<'a> = LeftRow<'a>;
    type Opts = OrderOpts;
    const DECL: Decl = Decl {
        name: "idf-left",
        role: Role::Map,
        about: "Brings each feature of each set to the word that it lies in the IDF range",
        side: &[SideFile {
            option: "order",
            about: "the order that feature-order wrote for an IDF range, of which the range is read; required",
        }],
    };

    fn open(opts: OrderOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { kept: kept_frequencies(&opts)?, features: Vec::new() })
    }

    fn push(&mut self, row: LeftInput<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            LeftInput::Count(count) => match count.feature {
                Some(feature) if self.kept.contains(&count.documents) => task.emit(&LeftRow::Kept(feature)),
                _ => Ok(()),
            },
            LeftInput::Row(SetRow::Meta(_)) => Ok(()),
            LeftInput::Row(SetRow::Set(Tokenized { doc, .. })) => {
                doc.features.read(&mut self.features).map_err(|error| task.wrong(error))?;
                self.features
                    .iter()
                    .try_for_each(|&feature| task.emit(&LeftRow::Posting { feature, id: doc.id }))
            }
        }
    }
}

/// The first reducer.
#[derive(Default)]
pub struct IdfLeftReduce {
    kept: bool,
    postings: u64,
    dropped: u64,
}

impl Stage for IdfLeftReduce {
    type In<'a> = LeftRow<'a>;
    type Out<'a> = KeptFeature<'a>;
    type Opts = NoOpts;
    const DECL: Decl = Decl {
        name: "idf-left-reduce",
        role: Role::Reduce,
        about: "Sends the features in the IDF range back to their documents",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, row: LeftRow<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            LeftRow::Kept(_) => self.kept = true,
            LeftRow::Posting { feature, id } if self.kept => {
                self.postings += 1;
                task.emit(&KeptFeature { id, feature })?;
            }
            LeftRow::Posting { .. } => self.dropped += 1,
        }
        Ok(())
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.kept = false;
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count("postings_in_idf_range", self.postings);
        task.count("postings_out_of_idf_range", self.dropped);
        Ok(())
    }
}

/// The second mapper: kept features, and the documents again, by id.
pub struct IdfRight;

impl Stage for IdfRight {
    type In<'a> = RightInput<'a>;
    type Out<'a> = RightRow<'a>;
    type Opts = NoOpts;
    const DECL: Decl = Decl {
        name: "idf-right",
        role: Role::Map,
        about: "Brings the features in the IDF range together by document",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self)
    }

    fn push(&mut self, row: RightInput<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            RightInput::Feature(kept) => task.emit(&RightRow::Feature(kept)),
            RightInput::Row(SetRow::Set(Tokenized { doc, text })) => {
                task.emit(&RightRow::Document { id: doc.id, text })
            }
            RightInput::Row(SetRow::Meta(meta)) => task.emit(&RightRow::Meta(meta)),
        }
    }
}

/// The second reducer.
#[derive(Default)]
pub struct IdfRightReduce {
    id: Option<Vec<u8>>,
    text: Option<u128>,
    features: Vec<u64>,
}

impl Stage for IdfRightReduce {
    type In<'a> = RightRow<'a>;
    type Out<'a> = SetRow<'a>;
    type Opts = NoOpts;
    const DECL: Decl = Decl {
        name: "idf-right-reduce",
        role: Role::Reduce,
        about: "Makes each document's set of the features in the IDF range",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, row: RightRow<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            RightRow::Document { id, text } => (self.id, self.text) = (Some(id.to_vec()), text),
            RightRow::Feature(kept) => {
                if self.id.is_none() {
                    let expected = "an id whose document is among the input";
                    return Err(task.wrong(FieldError::new("id", expected, kept.id)));
                }
                if self.features.last().is_some_and(|last| *last >= kept.feature) {
                    let mut found = Vec::new();
                    crate::record::set::push_feature(&mut found, kept.feature);
                    let expected = "each feature of a document once (are rows read twice?)";
                    return Err(task.wrong(FieldError::new("feature", expected, &found)));
                }
                self.features.push(kept.feature);
            }
            RightRow::Meta(meta) => task.emit(&meta)?,
        }
        Ok(())
    }

    fn end_group(&mut self, task: &mut Task<'_>) -> Result<()> {
        if let Some(id) = self.id.take() {
            let doc = Doc { id: &id, features: Features::Values(&self.features) };
            task.emit(&Tokenized { doc, text: self.text })?;
        }
        self.features.clear();
        Ok(())
    }
}
