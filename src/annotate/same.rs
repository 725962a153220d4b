//! Each file of the input again in its own form, with six columns more: `--form same`.
//!
//! Documents that the run has read where they are say their ids themselves. Those that it has converted are read beside the lines that it made of
//! them, one for one: the lines have the ids.

use super::{AnnotateOpts, Annotations, Documents, Written};
use crate::convert::{InFront, UNIT};
use crate::documents::{Inputs, RunFile};
use crate::same_form::{SameForm, of_lines, size};
use std::path::Path;
use twinsplit_core::visible;
use twinsplit_engine::progress::Unit;
use twinsplit_io::NewFolder;
use twinsplit_io::error::{Error, Place, Result};
use twinsplit_rows::params::Params;
use twinsplit_rows::record::document::DocumentOpts;
use twinsplit_sources::Source;
use twinsplit_sources::cells::{Cell, Column};

/// The files of the input.
pub struct Originals {
    /// They, and the names that the run had of them.
    pub inputs: Inputs,
    form: SameForm,
    folder: NewFolder,
    /// Whether the run has converted them.
    are_converted: bool,
}

impl Originals {
    /// Those of a run, which go into a new folder.
    pub fn of(run: &RunFile, params: &Params, document: &DocumentOpts, opts: &AnnotateOpts) -> Result<Self> {
        if opts.output == Path::new("-") {
            return Err(Error::Usage("--form same makes a folder; name one with --output".to_owned()));
        }
        if let Some(unit) = params.get(UNIT) {
            return Err(Error::Usage(format!(
                "the run compared parts of documents (--unit {unit}), which have no files of their own: leave --form same out for a line for each of them"
            )));
        }
        let are_converted = run.has_converted();
        let source = if are_converted { InFront::source_of_run(params)? } else { of_lines(document) };
        let inputs = run.originals(&opts.input)?;
        crate::run::refuse_streams(&inputs, "--form same reads each file again")?;
        inputs.iter().try_for_each(|file| source.refuse_no_fields(file))?;
        let form = SameForm::of(&inputs, source, "--form same")?;
        Ok(Self { inputs, form, folder: NewFolder::begin(&opts.output)?, are_converted })
    }

    /// Writes them; `documents` are those that the run has read.
    pub fn write(
        &self,
        documents: &Documents<'_>,
        columns: &[Column],
        annotations: &Annotations<'_>,
    ) -> Result<Written> {
        documents.progress.start(super::NAME, "writing", Unit::Bytes, self.form.bytes());
        // One file after the other, for the lines that were made of them stand in their order.
        let mut lines = if self.are_converted { Some(Converted::of(documents)?) } else { None };
        let mut written = Written::default();
        let work = self.folder.work();
        for (at, file) in self.form.files().iter().enumerate() {
            let mut told = 0;
            let mut annotate = |line: &[u8], place: &Place, read: u64, cells: &mut Vec<Cell<'static>>| {
                documents.progress.add(read - told);
                told = read;
                let id = match &mut lines {
                    Some(lines) => lines.next_id()?,
                    // A file that has moved had another name, which may be a part of ids.
                    None => {
                        let place = Place { file: self.inputs.name(at).clone(), ..place.clone() };
                        documents.opts.read(line, &place).ok().map(|document| document.id)
                    }
                };
                let found = id.and_then(|id| annotations.of(&id, &mut written));
                Ok(found.map(|found| cells.extend(found)).is_some())
            };
            let source = &self.form.source;
            self.form.write(work, at, |part| {
                source.write_annotated(file, at as u32, part, columns, &mut annotate)
            })?;
            documents.progress.add(size(file).saturating_sub(told));
        }
        lines.map_or(Ok(()), Converted::finish)?;
        annotations.check(documents.inputs, &written)?;
        self.form.publish(work, self.folder.path())?;
        Ok(written)
    }
}

/// The lines that the run has made of its input.
struct Converted {
    source: Box<dyn Source>,
    opts: DocumentOpts,
}

impl Converted {
    fn of(documents: &Documents<'_>) -> Result<Self> {
        let opts = documents.opts.clone();
        let [file] = &**documents.inputs else {
            return Err(Error::Failed("a run converts its documents into one file".to_owned()));
        };
        Ok(Self { source: of_lines(&opts).open(file, 0)?, opts })
    }

    /// The id of the next document; nothing where the run could not read its line.
    fn next_id(&mut self) -> Result<Option<Vec<u8>>> {
        let Some(found) = self.source.next_document()? else { return Err(others()) };
        let document = found.line.and_then(|line| self.opts.read(line, found.place));
        Ok(document.ok().map(|document| document.id))
    }

    /// There are no more.
    fn finish(mut self) -> Result<()> {
        match self.source.next_document()? {
            None => Ok(()),
            Some(_) => Err(others()),
        }
    }
}

/// Each document of the input has a line.
fn others() -> Error {
    Error::Failed(format!(
        "the documents of the input are others than those in {} of the run; run again with this version of twinsplit",
        visible::path(Path::new(crate::output::owned::DOCUMENTS))
    ))
}
