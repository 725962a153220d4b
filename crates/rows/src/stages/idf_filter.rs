//! `idf-filter`: keeps the features whose document frequency lies in the IDF range. A set's size is counted after
//! it: |A| is the number of kept features.

use super::options::OrderOpts;
use super::side::load_filter;
use crate::record::set::{Doc, Features};
use crate::record::tokenized::{SetRow, Tokenized};
use crate::stage::{Decl, Role, SideFile, Stage, Task};
use crate::stages::order::Filter;
use twinsplit_io::error::Result;

/// The stage.
pub struct IdfFilter {
    filter: Filter,
    features: Vec<u64>,
    kept: u64,
    dropped: u64,
}

impl Stage for IdfFilter {
    type In<'a> = SetRow<'a>;
    type Out<'a> = SetRow<'a>;
    type Opts = OrderOpts;
    const DECL: Decl = Decl {
        name: "idf-filter",
        role: Role::Map,
        about: "Keeps the features of each set that lie in the IDF range",
        side: &[SideFile {
            option: "order",
            about: "the order that feature-order wrote for an IDF range; required",
        }],
    };

    fn open(opts: OrderOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { filter: load_filter(&opts)?, features: Vec::new(), kept: 0, dropped: 0 })
    }

    fn push(&mut self, row: SetRow<'_>, task: &mut Task<'_>) -> Result<()> {
        let SetRow::Set(Tokenized { doc, text }) = row else { return task.emit(&row) };
        doc.features.read(&mut self.features).map_err(|error| task.wrong(error))?;
        let before = self.features.len();
        self.features.retain(|feature| self.filter.keeps(*feature));
        self.kept += self.features.len() as u64;
        self.dropped += (before - self.features.len()) as u64;
        let doc = Doc { id: doc.id, features: Features::Values(&self.features) };
        task.emit(&Tokenized { doc, text })
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count("postings_in_idf_range", self.kept);
        task.count("postings_out_of_idf_range", self.dropped);
        Ok(())
    }
}
