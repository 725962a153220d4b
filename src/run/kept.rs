//! `--write-kept=same`: of each file of the input, the documents that are kept, in a file of its own form.
//!
//! The chain has found the clusters, and these name what is dropped. Each file is read again as it was given, by the source of its format,
//! which says where each document stands and what its id is; `twinsplit_sources` writes those that stay
//! ([`twinsplit_sources::SourceOpts::write_subset`]), several files at a time. All files are made in a folder that has another name until all are
//! complete, and each under another name than its own, which may be as long as names can be.

mod dropped;
mod names;

use crate::convert::InFront;
use crate::output::owned::KEPT_FILES;
use dropped::Dropped;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};
use twinsplit_core::threads::in_threads;
use twinsplit_engine::progress::{Done, Progress, Unit};
use twinsplit_engine::steps::answer_file;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::chains::CLUSTERS;
use twinsplit_rows::params::Params;
use twinsplit_rows::record::document::{DocumentOpts, FieldPath};
use twinsplit_sources::{Format, SourceOpts};

/// The files that are written again.
pub struct KeptFiles {
    files: Vec<PathBuf>,
    /// Of each, how long it was before the run has read it, and when it was written last.
    stamps: Vec<Option<(u64, SystemTime)>>,
    /// Of each, the name in the folder.
    names: Vec<PathBuf>,
    /// How documents are found in them.
    source: SourceOpts,
    /// How their lines are read.
    document: DocumentOpts,
    /// Bytes for ids.
    room: usize,
    /// Files that are written at the same time.
    threads: usize,
    /// Whether every document that the clusters drop is one of these files.
    is_all: bool,
}

/// The name of the step.
const STEP: &str = "write-kept";

/// How many documents of a file were written, and how many were not because they are dropped.
#[derive(Default)]
struct Written {
    kept: u64,
    dropped: u64,
}

impl KeptFiles {
    /// Those of a run over these files. `asked` are its options as they were given, `params` those of its plan.
    ///
    /// # Errors
    /// When a file is named twice, is a stream, or is of a format that has no form without some of its documents.
    pub fn of(
        files: &[PathBuf],
        in_front: Option<&InFront>,
        (asked, params): (&Params, &Params),
        (memory, threads): (usize, usize),
        is_all: bool,
    ) -> Result<Self> {
        super::refuse_streams(files, "--write-kept=same reads each file again")?;
        let document: DocumentOpts = params.parse()?;
        let source = match in_front {
            Some(in_front) => in_front.source(asked)?,
            None => of_lines(&document),
        };
        files.iter().try_for_each(|file| source.refuse_no_subset(file))?;
        let names = names::below_one_folder(files)?;
        // Each thread holds a document and what it was made of. The rest is for ids.
        let room = memory / 2;
        let most = usize::try_from(document.max_line.bytes()).unwrap_or(usize::MAX);
        let threads = (room / most.saturating_mul(2)).clamp(1, threads);
        let stamps = files.iter().map(|file| stamp(file)).collect();
        Ok(Self { files: files.to_vec(), stamps, names, source, document, room, threads, is_all })
    }

    /// Writes them into the folder of an answer, where the clusters are.
    pub fn write(&self, answer: &Path, progress: &Progress) -> Result<Done> {
        let start = Instant::now();
        let dropped = Dropped::read(self, &answer.join(answer_file(CLUSTERS)), progress)?;
        let (made, partial) = (answer.join(KEPT_FILES), answer.join(format!("{KEPT_FILES}.partial")));
        // What a run that was stopped had made of files that may be others by now.
        [&made, &partial].into_iter().try_for_each(|folder| remove(folder))?;
        fs::create_dir_all(&partial).map_err(Error::io("create", &partial))?;
        self.start(progress, "writing");
        let written = in_threads(self.files.len(), self.threads, |at| {
            let part = answer.join(format!("{KEPT_FILES}-{at}.partial"));
            let written = self.write_file(at, &part, &dropped, progress)?;
            place(&part, &partial.join(&self.names[at]))?;
            Ok::<_, Error>(written)
        })?;
        self.refuse_changes()?;
        let left_out: u64 = written.iter().map(|file| file.dropped).sum();
        if self.is_all && left_out != dropped.count() {
            return Err(Error::Failed(format!(
                "{left_out} of {} dropped documents were found when the input was read again, which has changed; run again when nothing writes to it",
                dropped.count()
            )));
        }
        fs::rename(&partial, &made).map_err(Error::io("rename", &partial))?;
        let kept = written.iter().map(|file| file.kept).sum();
        let counters = [("documents_kept".to_owned(), kept)].into();
        Ok(Done { name: STEP.to_owned(), seconds: start.elapsed().as_secs_f64(), counters })
    }

    /// Refuses input that is not what the run has read: the places of its documents are others.
    fn refuse_changes(&self) -> Result<()> {
        match self.files.iter().zip(&self.stamps).find(|(file, before)| stamp(file) != **before) {
            None => Ok(()),
            Some((file, _)) => Err(Error::File {
                path: file.clone(),
                problem: "has changed while the run read it; run again when nothing writes to it".to_owned(),
            }),
        }
    }

    /// Writes one file under another name.
    fn write_file(&self, at: usize, to: &Path, dropped: &Dropped, progress: &Progress) -> Result<Written> {
        let (mut written, mut told) = (Written::default(), 0);
        let file = &self.files[at];
        self.source.write_subset(file, at as u32, to, &mut |line, place, read| {
            progress.add(read - told);
            told = read;
            // What the source takes for a document and the chain does not is a bad one.
            let Ok(document) = self.document.read(line, place) else { return Ok(false) };
            let is_dropped = dropped.has(at, written.kept + written.dropped, &document.id);
            *(if is_dropped { &mut written.dropped } else { &mut written.kept }) += 1;
            Ok(!is_dropped)
        })?;
        progress.add(size(file).saturating_sub(told));
        Ok(written)
    }

    /// Calls `visit` with each document: the number of its file, its own in that file, and its id.
    fn each_document(&self, progress: &Progress, mut visit: impl FnMut(usize, u64, &[u8])) -> Result<()> {
        self.start(progress, "reading");
        let mut before = 0;
        for (at, file) in self.files.iter().enumerate() {
            let (mut source, mut documents) = (self.source.open(file, at as u32)?, 0);
            while let Some(found) = source.next_document()? {
                let document = found.line.and_then(|line| self.document.read(line, found.place));
                if let Ok(document) = document {
                    visit(at, documents, &document.id);
                    documents += 1;
                }
                progress.set(before + source.raw_bytes());
            }
            before += size(file);
        }
        Ok(())
    }

    fn start(&self, progress: &Progress, doing: &'static str) {
        progress.start(STEP, doing, Unit::Bytes, self.files.iter().map(|file| size(file)).sum());
    }
}

fn stamp(file: &Path) -> Option<(u64, SystemTime)> {
    let meta = file.metadata().ok()?;
    Some((meta.len(), meta.modified().ok()?))
}

fn size(file: &Path) -> u64 {
    file.metadata().map_or(0, |meta| meta.len())
}

/// How JSON lines are read that the run reads where they are.
fn of_lines(document: &DocumentOpts) -> SourceOpts {
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

fn remove(folder: &Path) -> Result<()> {
    match folder.exists() {
        true => fs::remove_dir_all(folder).map_err(Error::io("remove", folder)),
        false => Ok(()),
    }
}
