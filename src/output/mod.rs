//! The folder of an answer: who may write into it, what is left of an earlier run, what a stopped run leaves.

pub mod files;
mod lock;
pub mod owned;
mod publish;

use super::manifest::RunManifest;
use super::options::RunOpts;
use lock::RunLock;
use owned::{ANSWER, MANIFEST, REPLACED, RUN, WORK};
use std::fs;
use std::path::{Path, PathBuf};
use twinsplit_core::visible;
use twinsplit_io::MadeFolders;
use twinsplit_io::error::{Error, Result};

/// A folder in which this run, and no other, writes an answer.
pub struct Output {
    /// The folder.
    pub folder: PathBuf,
    /// Where data sets in between lie.
    pub work: PathBuf,
    /// Where the files of the answer lie until all are complete.
    pub answer: PathBuf,
    /// Held as long as the run works.
    pub lock: RunLock,
    /// The folders that were made for it.
    made: MadeFolders,
    /// Whether an old answer may be replaced.
    replaces: bool,
}

/// What is to be done with the folder.
pub enum Start {
    /// Run, or go on.
    Run(Output),
    /// The same run has ended before.
    Complete,
}

impl Output {
    /// Takes the folder for a run of this manifest.
    pub fn open(opts: &RunOpts, manifest: &RunManifest) -> Result<Start> {
        let folder = opts.output.clone();
        let work = folder.join(WORK);
        if !owned::is_begun(&work)? {
            // Before anything is made in a folder that may be somebody else's. A run that begins in it meanwhile has not been
            // stopped: it holds the lock.
            look(opts, manifest, false)?;
        }
        let made = MadeFolders::make(&folder)?;
        let lock = lock::wait(&work, &folder)?;
        let mut output =
            Self { answer: work.join(ANSWER), folder, work, lock, made, replaces: opts.overwrite };
        output.settle(opts, manifest)?;
        let is_stopped = owned::is_begun(&output.work)? && !is_over(&output.work);
        let found = look(opts, manifest, is_stopped);
        if !matches!(found, Ok(Found::Steps | Found::Nothing)) && !owned::has_manifest(&output.work) {
            // There is nothing left to do, or another run has ended while this one waited for the lock.
            output.remove_work()?;
        }
        match found? {
            Found::Complete => return Ok(Start::Complete),
            Found::Steps => output.replaces |= RunManifest::read(&output.work.join(MANIFEST))?.replaces(),
            Found::Nothing => output.clear(&|_| true)?,
        }
        // What was being written when a run was stopped.
        output.remove_partial()?;
        manifest.write(&output.work.join(MANIFEST), output.replaces, opts.keep_work)?;
        fs::create_dir_all(&output.answer).map_err(Error::io("create", &output.answer))?;
        Ok(Start::Run(output))
    }

    /// Ends what an earlier run had only to end: publishing a complete answer, removing its `_work`.
    fn settle(&mut self, opts: &RunOpts, manifest: &RunManifest) -> Result<()> {
        let path = self.work.join(MANIFEST);
        if (opts.resume || opts.overwrite) && self.answer.join(RUN).exists() {
            if opts.resume {
                compare(manifest, &path)?;
            }
            self.replaces |= RunManifest::read(&path)?.replaces();
            self.publish()?;
        }
        match is_over(&self.work) && !RunManifest::read(&path)?.keeps_work() {
            true => self.clear(&|_| true),
            false => Ok(()),
        }
    }

    /// Whether there is a finished step that a later run can go on with, or a whole answer to publish.
    pub fn has_steps(&self) -> bool {
        let entries = fs::read_dir(&self.work).into_iter().flatten().flatten();
        self.answer.join(RUN).exists()
            || entries.into_iter().any(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                !name.starts_with('_') && !name.ends_with(".partial")
            })
    }

    /// Removes what was being written, after a run was stopped.
    pub fn remove_partial(&self) -> Result<()> {
        self.clear(&|name| name.ends_with(".partial") || name == "_sort" || name == "_columnar")?;
        match self.answer.exists() {
            true => publish::empty(&self.answer, &|name| name.ends_with(".partial")),
            false => Ok(()),
        }
    }
}

/// Refuses a folder in which something stands in the way of a run, before anything is read.
pub fn check(opts: &RunOpts) -> Result<()> {
    let work = opts.output.join(WORK);
    let is_begun = owned::is_begun(&work)?;
    lock::refuse_busy(&work, &opts.output)?;
    // What an earlier run was about to replace is known when that is ended.
    match opts.overwrite && !is_begun {
        true => owned::refuse_others(&opts.output, &owned::owned(&opts.output))
            .and_then(|()| owned::refuse_edited(&opts.output)),
        false => Ok(()),
    }
}

/// Refuses a folder into which a run that begins anew may not write, and makes nothing in it.
pub fn refuse_present(opts: &RunOpts, manifest: &RunManifest) -> Result<()> {
    let work = opts.output.join(WORK);
    let is_stopped = owned::is_begun(&work)? && !is_over(&work);
    look(opts, manifest, is_stopped).map(drop)
}

/// Removes the `_work` of a run that was killed between its answer and its end; readers of the answer do so, too.
pub fn tidy(folder: &Path) {
    let work = folder.join(WORK);
    let is_left =
        || is_over(&work) && RunManifest::read(&work.join(MANIFEST)).is_ok_and(|run| !run.keeps_work());
    // Whoever only reads may have no right to remove anything, and has what it came for.
    if !is_left() || !owned::is_work(&work).unwrap_or(false) {
        return;
    }
    let Ok(Some(_lock)) = lock::take(&work) else { return };
    if is_left() {
        let _ = publish::remove(&work);
    }
}

/// What the folder holds for a run.
enum Found {
    /// The same run, stopped.
    Steps,
    /// The whole answer of the same run.
    Complete,
    /// Nothing, or what it may replace.
    Nothing,
}

/// Whether the run in `_work` has published its answer.
fn is_over(work: &Path) -> bool {
    work.join(MANIFEST).exists() && work.join(REPLACED).exists() && !work.join(ANSWER).join(RUN).exists()
}

/// Looks at what the folder holds; an error when the run may not write into it. Whether it holds a run that was stopped, only
/// who holds the lock can tell.
fn look(opts: &RunOpts, manifest: &RunManifest, is_stopped: bool) -> Result<Found> {
    let folder = &opts.output;
    if !folder.exists() {
        return Ok(Found::Nothing);
    }
    let (work, done) = (folder.join(WORK), folder.join(RUN));
    if opts.overwrite {
        return owned::refuse_others(folder, &owned::owned(folder)).map(|()| Found::Nothing);
    }
    match (opts.resume, is_stopped, done.exists()) {
        (true, true, _) if !work.join(MANIFEST).exists() => {
            return Err(refuse(
                folder,
                "holds a run of a script, which continues it with RESUME=1; --overwrite starts again",
            ));
        }
        (true, true, _) => return compare(manifest, &work.join(MANIFEST)).map(|()| Found::Steps),
        (true, false, true) if owned::recorded(&done).is_empty() => {
            return owned::refuse_others(folder, &owned::owned(folder)).map(|()| Found::Nothing);
        }
        (true, false, true) => {
            compare(manifest, &done)?;
            owned::refuse_edited(folder)?;
            return owned::refuse_missing(folder).map(|()| Found::Complete);
        }
        (false, true, _) => {
            // A store takes a batch whole or not at all, so nothing of it is there to go on with.
            let has_store = opts.store.store.is_some() || opts.store.against.is_some();
            return Err(refuse(
                folder,
                match has_store {
                    true => "holds a run that was stopped; --overwrite starts again",
                    false => "holds a run that was stopped; --resume continues it, --overwrite starts again",
                },
            ));
        }
        _ => {}
    }
    let mut entries = fs::read_dir(folder).map_err(Error::io("read", folder))?;
    // A run that was stopped before it left its manifest has made this folder and nothing in it.
    if entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == WORK)) {
        return Ok(Found::Nothing);
    }
    Err(refuse(folder, "exists and is not empty; --overwrite replaces the output of a run in it"))
}

fn refuse(folder: &Path, why: &str) -> Error {
    Error::Usage(format!("{} {why}", visible::path(folder)))
}

fn compare(manifest: &RunManifest, path: &Path) -> Result<()> {
    let differences = manifest.differences(&RunManifest::read(path)?);
    if !differences.is_empty() {
        return Err(Error::Usage(format!(
            "--resume continues only the same run: {}; --overwrite starts again",
            differences.join("; ")
        )));
    }
    match manifest.stream() {
        Some(stream) => Err(Error::Usage(format!(
            "--resume: the input {stream} is a stream, which cannot be read a second time; --overwrite starts again"
        ))),
        None => Ok(()),
    }
}
