//! `doc-meta`: what the keep rules need of each document, and the place where two documents with one id meet.

use crate::error::{Error, Place, Result};
use crate::record::cluster::{Meta, PlacedMeta};
use crate::record::document::{DocumentOpts, Line};
use crate::record::id;
use crate::stage::{Decl, Role, Stage, Task};
use crate::text::dominant_script;

/// The mapper.
pub struct DocMeta {
    document: DocumentOpts,
    file: Vec<u8>,
}

impl Stage for DocMeta {
    type In<'a> = Line<'a>;
    type Out<'a> = PlacedMeta<'a>;
    type Opts = DocumentOpts;
    const DECL: Decl = Decl {
        name: "doc-meta",
        role: Role::Map,
        about: "Takes from each document what the keep rules need: length, date, score",
        side: &[],
    };

    fn open(document: DocumentOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { document, file: Vec::new() })
    }

    fn push(&mut self, line: Line<'_>, task: &mut Task<'_>) -> Result<()> {
        let document = self.document.read(line.0, &task.place).map_err(|error| task.bad(error))?;
        self.file.clear();
        id::escape(task.place.name().as_bytes(), &mut self.file);
        let meta = Meta {
            id: &document.id,
            length: document.text.chars().count() as u64,
            date: &document.date,
            score: document.score.as_bytes(),
            script: dominant_script(&document.text).as_bytes(),
        };
        let line = task.place.line;
        task.emit(&PlacedMeta { meta, file: &self.file, line })
    }
}

/// The reducer.
#[derive(Default)]
pub struct DocMetaReduce {
    last: Vec<u8>,
    place: Place,
}

impl Stage for DocMetaReduce {
    type In<'a> = PlacedMeta<'a>;
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

    fn push(&mut self, row: PlacedMeta<'_>, task: &mut Task<'_>) -> Result<()> {
        let meta = row.meta;
        let place =
            Place { file: String::from_utf8_lossy(row.file).into(), line: row.line, ..Place::default() };
        if meta.id == self.last {
            let id = String::from_utf8_lossy(meta.id).into_owned();
            let mut both = [&self.place, &place];
            both.sort_by_key(|place| (&place.file, place.line));
            let places = format!(" ({} and {})", both[0], both[1]);
            return Err(Error::DuplicateId { stage: task.stage.to_owned(), id, places });
        }
        self.last.clear();
        self.last.extend_from_slice(meta.id);
        self.place = place;
        task.emit(&meta)
    }
}
