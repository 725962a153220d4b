//! `run --format` and `run --encoding`: the documents are converted into a file beside the output folder, and that file is the
//! input of the run.
//!
//! So `run.json` names a file that can be read again, by `explain`, `report` and `tune`, and lines and digests are
//! those of this file. `--resume` converts again: the same input gives the same bytes, and what differs is named as ever.

use super::super::manifest::RunManifest;
use super::super::options::RunOpts;
use super::super::output::owned::{MANIFEST, RUN, WORK};
use crate::error::{Error, Result};
use crate::params::Params;
use crate::record::document::DocumentOpts;
use crate::source::{Format, SourceOpts};
use crate::visible;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Documents that a run converts before it reads them.
pub struct InFront {
    /// What was asked for.
    option: String,
    inputs: Vec<PathBuf>,
    file: PathBuf,
}

impl InFront {
    /// What is to be converted for a run, whose input becomes the file that is still to be made; nothing for JSON lines in UTF-8.
    pub fn of(opts: &mut RunOpts, takes_sample: bool) -> Result<Option<Self>> {
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
            let file = target(&opts.output)?;
            let inputs = std::mem::replace(&mut opts.input, vec![file.clone()]);
            return Ok(Some(Self { option, inputs, file }));
        };
        Err(Error::Usage(format!(
            "{option} {refused}: make them first with `twinsplit convert {option} FILE --output documents.jsonl`, and give that file \
             as --input"
        )))
    }

    /// Converts the documents.
    pub fn convert(self, opts: &RunOpts, params: &Params) -> Result<Converted> {
        let (output, file) = (&opts.output, self.file);
        let replaces = opts.resume || opts.overwrite;
        let mut entries = output.read_dir().into_iter().flatten().flatten();
        if !replaces && entries.any(|entry| entry.file_name() != WORK) {
            return Err(Error::Usage(format!(
                "{} exists and is not empty; --overwrite replaces the output of a run in it",
                visible::path(output)
            )));
        }
        if file.symlink_metadata().is_ok() && !(replaces && is_input(output, &file)) {
            return Err(Error::Usage(format!(
                "{} would write {}, which is there already; --resume and --overwrite replace it when it is the input of the \
                 run in {}; otherwise move it, or choose another --output",
                self.option,
                visible::path(&file),
                visible::path(output)
            )));
        }
        let document: DocumentOpts = params.parse()?;
        let is_json = opts.format == Format::Jsonl;
        let source = SourceOpts {
            format: opts.format,
            // Elements have their usual names; fields those that the run asks for.
            id: is_json.then_some(document.id),
            text: if is_json { vec![document.text] } else { Vec::new() },
            date: document.date.filter(|_| is_json),
            encoding: opts.encoding,
            keep_markup: false,
            script_templates: false,
            bad_records: document.bad_records,
            max_line: document.max_line,
        };
        let warnings = super::write(&self.inputs, &file, &source, opts.quiet)?;
        Ok(Converted { output: output.clone(), file, warnings })
    }
}

/// The file, which goes with this value when neither the answer of a run nor a stopped one knows it, so that the next run may
/// write it again.
pub struct Converted {
    output: PathBuf,
    file: PathBuf,
    /// Of the conversion.
    pub warnings: Vec<String>,
}

impl Drop for Converted {
    fn drop(&mut self) {
        if !is_input(&self.output, &self.file) {
            // What went wrong is being told already.
            let _ = std::fs::remove_file(&self.file);
        }
    }
}

/// The file beside the output folder.
fn target(output: &Path) -> Result<PathBuf> {
    let Some(name) = output.file_name() else {
        return Err(Error::Usage(format!(
            "the documents are converted into a file beside --output {}, which has no name; name a folder",
            visible::path(output)
        )));
    };
    let mut name = name.to_owned();
    name.push(".documents.jsonl");
    Ok(output.with_file_name(name))
}

/// Whether a run in the output folder has made this file.
fn is_input(output: &Path, file: &Path) -> bool {
    [output.join(RUN), output.join(WORK).join(MANIFEST)]
        .iter()
        .filter_map(|path| RunManifest::read(path).ok())
        .any(|run| {
            let inputs = run.fields().get("inputs").and_then(Value::as_array).into_iter().flatten();
            let mut paths = inputs.filter_map(|input| input["path"].as_str());
            paths.any(|path| Path::new(path).file_name() == file.file_name())
        })
}
