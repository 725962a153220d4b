//! The files of an input, each written again in its own form: `--write-kept=same` and `annotate --form same`.
//!
//! Each file is read again as it was given, by the source of its format, which says where each document stands; `twinsplit_sources` writes what stays
//! and what is added. All files are made in a work folder until all are complete, and each under another name than its own, which may be as long
//! as names can be.

mod names;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::record::document::{DocumentOpts, FieldPath};
use twinsplit_sources::{Format, SourceOpts};

/// See the module.
pub struct SameForm {
    files: Vec<PathBuf>,
    /// Of each, how long it was before it was read, and when it was written last.
    stamps: Vec<Option<(u64, SystemTime)>>,
    /// Of each, the name in the folder.
    names: Vec<PathBuf>,
    /// How documents are found in them.
    pub source: SourceOpts,
}

impl SameForm {
    /// Files that this source reads; `option` asks for them.
    ///
    /// # Errors
    /// When a file is named twice.
    pub fn of(files: &[PathBuf], source: SourceOpts, option: &str) -> Result<Self> {
        let names = names::below_one_folder(files, option)?;
        let stamps = files.iter().map(|file| stamp(file)).collect();
        Ok(Self { files: files.to_vec(), stamps, names, source })
    }

    /// The files.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Their size.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| size(file)).sum()
    }

    /// Writes a file, or none, in the work folder: `write` gets the name under which it does so.
    pub fn write<T>(&self, work: &Path, at: usize, write: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        let part = work.join(format!("part-{at}"));
        fs::create_dir_all(work).map_err(Error::io("create", work))?;
        let written = write(&part)?;
        place(&part, &work.join(FILES).join(&self.names[at]))?;
        Ok(written)
    }

    /// Gives the folder of all that were written its name.
    ///
    /// # Errors
    /// When one of the files that were read has changed since.
    pub fn publish(&self, work: &Path, folder: &Path) -> Result<()> {
        refuse_changes(&self.files, &self.stamps)?;
        let files = work.join(FILES);
        fs::create_dir_all(&files).map_err(Error::io("create", &files))?;
        fs::rename(files, folder).map_err(Error::io("write", folder))
    }
}

/// Refuses input that is not what the command has read, of which these are the [stamps](stamp) of before: the places of its documents are others.
pub fn refuse_changes(files: &[PathBuf], stamps: &[Option<(u64, SystemTime)>]) -> Result<()> {
    match files.iter().zip(stamps).find(|(file, before)| stamp(file) != **before) {
        None => Ok(()),
        Some((file, _)) => Err(changed(file)),
    }
}

/// The error about input that is not what the command has read.
pub fn changed(file: &Path) -> Error {
    let problem = "has changed while it was read; run again when nothing writes to it".to_owned();
    Error::File { path: file.to_owned(), problem }
}

/// What the folder is called while files come into it.
const FILES: &str = "files";

/// How long a file is, and when it was written last.
pub fn stamp(file: &Path) -> Option<(u64, SystemTime)> {
    let meta = file.metadata().ok()?;
    Some((meta.len(), meta.modified().ok()?))
}

/// How long a file is.
pub fn size(file: &Path) -> u64 {
    file.metadata().map_or(0, |meta| meta.len())
}

/// How JSON lines are read that a run reads where they are.
pub fn of_lines(document: &DocumentOpts) -> SourceOpts {
    let name = |path: &FieldPath| path.name().to_owned();
    SourceOpts {
        id: Some(document.id.name().to_owned()),
        text: document.text.all().map(name).collect(),
        date: document.date.as_ref().map(name),
        score: document.score.as_ref().map(name),
        bad_records: document.bad_records,
        max_line: document.max_line,
        ..SourceOpts::of(Format::Jsonl)
    }
}

/// Gives a file its name, if there is one: of a document that is a file by itself there is none where it is dropped.
fn place(part: &Path, to: &Path) -> Result<()> {
    if !part.exists() {
        return Ok(());
    }
    let folder = to.parent().unwrap_or(to);
    fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    fs::rename(part, to).map_err(Error::io("rename", part))
}
