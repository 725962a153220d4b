//! `--write-kept=same`: of each file of the input, the documents that are kept, in a file of its own form.
//!
//! The chain has found the clusters, and these name what is dropped. Of each file those documents that stay are written
//! ([`twinsplit_sources::SourceOpts::write_subset`]), several files at a time.

mod dropped;

use crate::convert::InFront;
use crate::output::owned::KEPT_FILES;
use crate::same_form::{SameForm, of_lines, size};
use dropped::Dropped;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use twinsplit_core::threads::in_threads;
use twinsplit_engine::progress::{Done, Progress, Unit};
use twinsplit_engine::steps::answer_file;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::chains::CLUSTERS;
use twinsplit_rows::params::Params;
use twinsplit_rows::record::document::DocumentOpts;

/// The files that are written again.
pub struct KeptFiles {
    form: SameForm,
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
        let form = SameForm::of(files, source, "--write-kept=same")?;
        // Each thread holds a document and what it was made of. The rest is for ids.
        let room = memory / 2;
        let most = usize::try_from(document.max_line.bytes()).unwrap_or(usize::MAX);
        let threads = (room / most.saturating_mul(2)).clamp(1, threads);
        Ok(Self { form, document, room, threads, is_all })
    }

    /// Writes them into the folder of an answer, where the clusters are.
    pub fn write(&self, answer: &Path, progress: &Progress) -> Result<Done> {
        let start = Instant::now();
        let dropped = Dropped::read(self, &answer.join(answer_file(CLUSTERS)), progress)?;
        let (made, work) = (answer.join(KEPT_FILES), answer.join(format!("{KEPT_FILES}.partial")));
        // What a run that was stopped had made of files that may be others by now.
        [&made, &work].into_iter().try_for_each(|folder| remove(folder))?;
        self.start(progress, "writing");
        let written = in_threads(self.form.files().len(), self.threads, |at| {
            self.form.write(&work, at, |part| self.write_file(at, part, &dropped, progress))
        })?;
        let left_out: u64 = written.iter().map(|file| file.dropped).sum();
        if self.is_all && left_out != dropped.count() {
            return Err(Error::Failed(format!(
                "{left_out} of {} dropped documents were found when the input was read again, which has changed; run again when nothing writes to it",
                dropped.count()
            )));
        }
        self.form.publish(&work, &made)?;
        remove(&work)?;
        let kept = written.iter().map(|file| file.kept).sum();
        let counters = [("documents_kept".to_owned(), kept)].into();
        Ok(Done { name: STEP.to_owned(), seconds: start.elapsed().as_secs_f64(), counters })
    }

    /// Writes one file under another name.
    fn write_file(&self, at: usize, to: &Path, dropped: &Dropped, progress: &Progress) -> Result<Written> {
        let (mut written, mut told) = (Written::default(), 0);
        let file = &self.form.files()[at];
        self.form.source.write_subset(file, at as u32, to, &mut |line, place, read| {
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
        for (at, file) in self.form.files().iter().enumerate() {
            let (mut source, mut documents) = (self.form.source.open(file, at as u32)?, 0);
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
        progress.start(STEP, doing, Unit::Bytes, self.form.bytes());
    }
}

fn remove(folder: &Path) -> Result<()> {
    match folder.exists() {
        true => fs::remove_dir_all(folder).map_err(Error::io("remove", folder)),
        false => Ok(()),
    }
}
