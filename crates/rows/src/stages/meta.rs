//! What the keep rules need of each document, which goes with its set or its fingerprint into the job where equal ones meet.
//! Two documents with one id meet there too, and are named.

use super::keep_field::{KeepField, fields_of};
use super::options::KeepOpts;
use crate::record::document::{Document, DocumentOpts, Line};
use crate::record::id;
use crate::record::meta::{self, InputPlace};
use crate::stage::Task;
use std::collections::BTreeMap;
use twinsplit_core::cluster::keep::KeepRule;
use twinsplit_io::error::{Error, Place, Result};

/// Writes what a keep rule needs of the documents of a task.
pub struct MetaWriter {
    rule: KeepRule,
    /// What the rule needs.
    field: Option<KeepField>,
    /// Documents that have it, and that have it not.
    with: u64,
    without: u64,
    file: Vec<u8>,
}

/// What is seen of a text while it is read.
#[derive(Clone, Copy, Debug)]
pub struct TextSeen {
    /// The script of most of its letters.
    pub script: &'static str,
    /// Unicode scalars.
    pub length: u64,
}

/// How many documents of each script (Latin, Han and others) a task has read, and how many of them had no feature.
#[derive(Debug, Default)]
pub struct ScriptCounts(BTreeMap<&'static str, (u64, u64)>);

impl ScriptCounts {
    /// Takes a document.
    pub fn take(&mut self, script: &'static str, has_features: bool) {
        let (documents, without) = self.0.entry(script).or_default();
        *documents += 1;
        *without += u64::from(!has_features);
    }

    /// Counts them, in all and by script.
    pub fn count(&self, task: &mut Task<'_>) {
        for (script, (documents, without)) in &self.0 {
            task.count("documents", *documents);
            task.count(&format!("documents.{script}"), *documents);
            if *without > 0 {
                task.count("without_features", *without);
                task.count(&format!("without_features.{script}"), *without);
            }
        }
    }
}

twinsplit_core::options! {
    /// Whether a stage that reads documents writes what the keep rule needs.
    pub struct MetaOpts {
        /// Write a row more for each document: what --keep needs of it, and where it stands; set by chains, which read
        /// documents once
        meta: Meta = "off";
    }
    with {
        keep: KeepOpts,
    }
}

twinsplit_core::choice! {
    /// See [`MetaOpts`].
    enum Meta {
        /// Sets or fingerprints alone.
        Off = "off",
        /// What the keep rule needs, too.
        On = "on",
    }
}

/// The option and its value by which a step asks for it.
pub const META: (&str, &str) = ("meta", "on");

impl MetaWriter {
    /// What writes the rows, where the options ask for them.
    pub fn of(opts: &MetaOpts) -> Option<Self> {
        let rule = opts.keep.keep;
        let writer = Self { rule, field: KeepField::of(rule), with: 0, without: 0, file: Vec::new() };
        (opts.meta == Meta::On).then_some(writer)
    }

    /// Stops at a rule whose field no option names.
    pub fn check(&self, opts: &DocumentOpts, line: Line<'_>, task: &Task<'_>) -> Result<()> {
        match self.field.filter(|field| field.name(opts).is_none()) {
            Some(field) => Err(field.unnamed(&fields_of(&task.place, line.0))),
            None => Ok(()),
        }
    }

    /// Writes what there is of a document.
    pub fn write(&mut self, document: &Document<'_>, seen: TextSeen, task: &mut Task<'_>) -> Result<()> {
        match self.field {
            Some(field) if field.is_in(document) => self.with += 1,
            Some(_) => self.without += 1,
            None => {}
        }
        self.file.clear();
        id::escape_place(task.place.name().as_bytes(), &mut self.file);
        let date = document.date.map(|date| date.to_string()).unwrap_or_default();
        let (input, offset) = match self.rule {
            KeepRule::First => (task.place.input(), format!("{:016x}", task.place.offset)),
            _ => (String::new(), String::new()),
        };
        let meta = meta::Meta {
            id: &document.id,
            length: seen.length,
            date: date.as_bytes(),
            score: document.score.as_bytes(),
            script: seen.script.as_bytes(),
            place: InputPlace { input: input.as_bytes(), offset: offset.as_bytes() },
            file: &self.file,
            line: task.place.line,
        };
        task.emit(&meta)
    }

    /// Counts who had the field.
    pub fn finish(&self, task: &mut Task<'_>) {
        if let Some(field) = self.field {
            task.count(field.with, self.with);
            task.count(field.without, self.without);
        }
    }
}

/// Stops at an id that two documents have, when their rows come one after the other.
#[derive(Default)]
pub struct SingleIds {
    last: Vec<u8>,
    place: Place,
}

impl SingleIds {
    /// Takes the next document.
    pub fn take(&mut self, meta: &meta::Meta<'_>, task: &Task<'_>) -> Result<()> {
        let file = String::from_utf8_lossy(meta.file).into();
        let place = Place { file, line: meta.line, ..Place::default() };
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
        Ok(())
    }
}
