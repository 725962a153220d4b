//! `doc-meta`: what the keep rules need of each document, and the place where two documents with one id meet.

use super::keep_field::{KeepField, fields_of};
use super::options::KeepOpts;
use crate::cluster::keep::KeepRule;
use crate::error::{Error, Place, Result};
use crate::record::document::{DocumentOpts, Line};
use crate::record::id;
use crate::record::meta::{InputPlace, Meta, PlacedMeta};
use crate::stage::{Decl, Role, Stage, Task};
use crate::text::dominant_script;
use clap::Args;

/// Its options.
#[derive(Args, Clone, Debug)]
pub struct DocMetaOpts {
    #[command(flatten)]
    document: DocumentOpts,
    #[command(flatten)]
    keep: KeepOpts,
}

/// The mapper.
pub struct DocMeta {
    document: DocumentOpts,
    rule: KeepRule,
    /// What the rule needs.
    field: Option<KeepField>,
    /// Documents that have it, and that have it not.
    with: u64,
    without: u64,
    file: Vec<u8>,
}

impl Stage for DocMeta {
    type In<'a> = Line<'a>;
    type Out<'a> = PlacedMeta<'a>;
    type Opts = DocMetaOpts;
    const DECL: Decl = Decl {
        name: "doc-meta",
        role: Role::Map,
        about: "Takes from each document what the keep rules need: length, date, score, place",
        side: &[],
    };

    fn open(opts: DocMetaOpts, _: &mut Task<'_>) -> Result<Self> {
        let DocMetaOpts { document, keep } = opts;
        let field = KeepField::of(keep.keep);
        Ok(Self { document, rule: keep.keep, field, with: 0, without: 0, file: Vec::new() })
    }

    fn push(&mut self, line: Line<'_>, task: &mut Task<'_>) -> Result<()> {
        if let Some(field) = self.field.filter(|field| field.name(&self.document).is_none()) {
            return Err(field.unnamed(&fields_of(&task.place, line.0)));
        }
        let document = self.document.read(line.0, &task.place).map_err(|error| task.bad(error))?;
        match self.field {
            Some(field) if field.is_in(&document) => self.with += 1,
            Some(_) => self.without += 1,
            None => {}
        }
        self.file.clear();
        id::escape(task.place.name().as_bytes(), &mut self.file);
        let date = document.date.map(|date| date.to_string()).unwrap_or_default();
        let (input, offset) = match self.rule {
            KeepRule::First => (task.place.input(), format!("{:016x}", task.place.offset)),
            _ => (String::new(), String::new()),
        };
        let meta = Meta {
            id: &document.id,
            length: document.text.chars().count() as u64,
            date: date.as_bytes(),
            score: document.score.as_bytes(),
            script: dominant_script(&document.text).as_bytes(),
            place: InputPlace { input: input.as_bytes(), offset: offset.as_bytes() },
        };
        let line = task.place.line;
        task.emit(&PlacedMeta { meta, file: &self.file, line })
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        if let Some(field) = self.field {
            task.count(field.with, self.with);
            task.count(field.without, self.without);
        }
        Ok(())
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
