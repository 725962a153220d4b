//! `doc-meta`: what the keep rules need of each document, and the place where two documents with one id meet.

use crate::error::{Error, Result};
use crate::record::cluster::Meta;
use crate::record::document::{DocumentOpts, Line};
use crate::stage::{Decl, Role, Stage, Task};
use crate::text::dominant_script;

/// The mapper.
pub struct DocMeta {
    document: DocumentOpts,
}

impl Stage for DocMeta {
    type In<'a> = Line<'a>;
    type Out<'a> = Meta<'a>;
    type Opts = DocumentOpts;
    const DECL: Decl = Decl {
        name: "doc-meta",
        role: Role::Map,
        about: "Takes from each document what the keep rules need: length, date, score",
        side: &[],
    };

    fn open(document: DocumentOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { document })
    }

    fn push(&mut self, line: Line<'_>, task: &mut Task<'_>) -> Result<()> {
        let document = self.document.read(line.0, &task.place).map_err(|error| task.wrong(error))?;
        task.emit(&Meta {
            id: &document.id,
            length: document.text.chars().count() as u64,
            date: &document.date,
            score: document.score.as_bytes(),
            script: dominant_script(&document.text).as_bytes(),
        })
    }
}

/// The reducer.
#[derive(Default)]
pub struct DocMetaReduce {
    last: Vec<u8>,
}

impl Stage for DocMetaReduce {
    type In<'a> = Meta<'a>;
    type Out<'a> = Meta<'a>;
    type Opts = super::NoOpts;
    const DECL: Decl = Decl {
        name: "doc-meta-reduce",
        role: Role::Reduce,
        about: "Passes each document's properties on, and stops at an id that two documents have",
        side: &[],
    };

    fn open(_: super::NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, meta: Meta<'_>, task: &mut Task<'_>) -> Result<()> {
        if meta.id == self.last {
            let id = String::from_utf8_lossy(meta.id).into_owned();
            return Err(Error::DuplicateId { stage: task.stage.to_owned(), id, places: String::new() });
        }
        self.last.clear();
        self.last.extend_from_slice(meta.id);
        task.emit(&meta)
    }
}
