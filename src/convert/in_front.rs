//! `run --format` and `run --encoding`: the documents are converted into a file of the answer, and that file is what the run reads.
//!
//! So `explain` and `report` read the very lines that the run has read, which have their place when the rest of the answer has its own.
//! `run.json` names the documents as they were given; `--resume` compares these, and goes on with lines that are complete.

use super::super::options::RunOpts;
use super::super::output::Output;
use super::super::output::owned::DOCUMENTS;
use super::super::quarantine::QUARANTINE;
use std::fs;
use std::path::PathBuf;
use twinsplit_io::Target;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::params::Params;
use twinsplit_rows::record::document::DocumentOpts;
use twinsplit_sources::{Encoding, Format, SourceOpts};

/// Documents that a run converts before it reads them.
pub struct InFront {
    format: Format,
    encoding: Option<Encoding>,
    quiet: bool,
}

impl InFront {
    /// What is to be converted for a run; nothing for JSON lines in UTF-8.
    pub fn of(opts: &RunOpts, takes_sample: bool) -> Result<Option<Self>> {
        let option = match (opts.format, opts.encoding) {
            (Format::Jsonl, Some(encoding)) if !encoding.is_utf_8() => {
                format!("--format jsonl --encoding {encoding}")
            }
            (Format::Jsonl, _) => return Ok(None),
            (other, _) => format!("--format {}", other.name()),
        };
        let refused = if opts.engine.is_remote() {
            "is for --engine local and pipes; a cluster's jobs read JSON lines in UTF-8"
        } else if takes_sample {
            "does not go with --recall, which takes a sample of JSON lines in UTF-8"
        } else {
            return Ok(Some(Self { format: opts.format, encoding: opts.encoding, quiet: opts.quiet }));
        };
        Err(Error::Usage(format!(
            "{option} {refused}: make them first with `twinsplit convert {option} FILE --output documents.jsonl`, and give that file \
             as --input"
        )))
    }

    /// What decides how they are read: the options and their values.
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let encoding = self.encoding.map(|encoding| ("encoding", encoding.to_string()));
        std::iter::once(("format", self.format.name().to_owned())).chain(encoding).collect()
    }

    /// Converts the documents of these files, unless a run that was stopped has done so. Gives the file that the run is to read, and
    /// the warnings of the conversion.
    pub fn convert(
        &self,
        files: &[PathBuf],
        output: &Output,
        params: &Params,
    ) -> Result<(PathBuf, Vec<String>)> {
        let file = output.answer.join(DOCUMENTS);
        if file.exists() {
            return Ok((file, Vec::new()));
        }
        let document: DocumentOpts = params.parse()?;
        let keeps_fields = self.format.keeps_fields();
        let source = SourceOpts {
            format: self.format,
            // Elements have their usual names; fields those that the run asks for.
            id: keeps_fields.then_some(document.id),
            text: if keeps_fields { vec![document.text] } else { Vec::new() },
            date: document.date.filter(|_| keeps_fields),
            score: document.score.filter(|_| keeps_fields),
            encoding: self.encoding,
            keep_markup: false,
            script_templates: false,
            bad_records: document.bad_records,
            max_line: document.max_line,
        };
        // Where it stays when there are too many.
        let quarantine = Target::of(&output.work.join(QUARANTINE), true, [])?;
        let target = Target::of(&file, true, [])?;
        let converted = super::write(files, &target, Some(&quarantine), &source, self.quiet)?;
        let [made, shown] = [&output.answer, &output.folder].map(|folder| folder.join(UNREAD));
        let warnings = converted.warnings(&shown);
        if converted.bad > 0 {
            fs::rename(quarantine.path(), &made).map_err(Error::io("rename", quarantine.path()))?;
        }
        Ok((file, warnings))
    }
}

/// The name of the file of documents that could not be read.
pub const UNREAD: &str = "documents.jsonl.quarantine.tsv";
