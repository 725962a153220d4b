//! The folder of an answer: who may write into it, what is left of an earlier run, what a stopped run leaves.

use super::identity::Identity;
use super::options::RunOpts;
use super::quarantine::QUARANTINE;
use crate::error::{Error, Result};
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The files of an answer, which come to their place together.
const ANSWER: [&str; 3] = ["pairs.tsv", "clusters.tsv", "kept.jsonl"];
/// What makes an answer complete, and what is left beside it; it goes with an answer that is replaced.
const BESIDE: [&str; 3] = ["run.json", QUARANTINE, "report.html"];
/// The data sets of an answer that Hadoop or Spark wrote into a folder of this machine, and what Spark counted.
const OF_CLUSTERS: [&str; 5] = ["pairs", "clusters", "kept", "quarantine", "counters.json"];
/// The identity of the run that works in the folder.
const IDENTITY: &str = "_run.json";
/// How long to wait for tasks of a run that was killed a moment ago.
const PATIENCE: Duration = Duration::from_secs(5);

/// A folder in which this run, and no other, writes an answer.
pub struct Output {
    /// The folder.
    pub folder: PathBuf,
    /// Where data sets in between lie.
    pub work: PathBuf,
    /// Where the files of the answer lie until all are complete.
    pub answer: PathBuf,
    /// Held as long as the run works.
    pub lock: File,
}

/// What is to be done with the folder.
pub enum Start {
    /// Run, or go on.
    Run(Output),
    /// The same run has ended before.
    Complete,
}

impl Output {
    /// Takes the folder for a run of this identity.
    pub fn open(opts: &RunOpts, identity: &Identity) -> Result<Start> {
        let folder = opts.output.clone();
        let work = folder.join("_work");
        // Looked at twice: before anything is made in a folder that may be somebody else's, and when no other run, which
        // may have ended meanwhile, can change it.
        if is_complete(opts, identity)? {
            return Ok(Start::Complete);
        }
        let lock = lock(&work, &folder)?;
        if is_complete(opts, identity)? {
            return Ok(Start::Complete);
        }
        let output = Self { answer: work.join("_answer"), folder, work, lock };
        if opts.overwrite {
            output.remove_answer()?;
            output.clear_work(|_| true)?;
        }
        // What was being written when a run was stopped.
        output.remove_partial()?;
        let known = output.work.join(IDENTITY);
        if !known.exists() {
            identity.write(&known)?;
        }
        fs::create_dir_all(&output.answer).map_err(Error::io("create", &output.answer))?;
        Ok(Start::Run(output))
    }

    /// Whether there is a finished step that a later run can go on with.
    pub fn has_steps(&self) -> bool {
        let entries = fs::read_dir(&self.work).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            !name.starts_with('_') && !name.ends_with(".partial")
        })
    }

    /// Gives the files of the answer their place; `run.json`, which is written after that, makes it complete.
    pub fn publish(&self) -> Result<()> {
        for name in ANSWER {
            let from = self.answer.join(name);
            if from.exists() {
                fs::rename(&from, self.folder.join(name)).map_err(Error::io("rename", &from))?;
            }
        }
        Ok(())
    }

    /// Removes the files of an answer.
    fn remove_answer(&self) -> Result<()> {
        for name in ANSWER.into_iter().chain(BESIDE) {
            let path = self.folder.join(name);
            if path.exists() {
                fs::remove_file(&path).map_err(Error::io("remove", &path))?;
            }
        }
        for name in OF_CLUSTERS {
            let path = self.folder.join(name);
            // A folder that no engine has finished may be anybody's.
            let removed = match () {
                () if path.join("_SUCCESS").exists() => fs::remove_dir_all(&path),
                () if path.is_file() => fs::remove_file(&path),
                () => Ok(()),
            };
            removed.map_err(Error::io("remove", &path))?;
        }
        Ok(())
    }

    /// Removes all that lies in between.
    pub fn remove_work(&self) -> Result<()> {
        fs::remove_dir_all(&self.work).map_err(Error::io("remove", &self.work))
    }

    /// Removes what was being written, after a run was stopped.
    pub fn remove_partial(&self) -> Result<()> {
        self.clear_work(|name| name.ends_with(".partial") || name == "_sort" || name == "_dense")
    }

    fn clear_work(&self, which: impl Fn(&str) -> bool) -> Result<()> {
        for entry in fs::read_dir(&self.work).map_err(Error::io("read", &self.work))? {
            let path = entry.map_err(Error::io("read", &self.work))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name == LOCK || !which(&name) {
                continue;
            }
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(Error::io("remove", &path))?;
        }
        Ok(())
    }
}

const LOCK: &str = "_lock";

/// Whether the folder holds the whole answer of this run already; an error when the run may not write into it.
fn is_complete(opts: &RunOpts, identity: &Identity) -> Result<bool> {
    let folder = &opts.output;
    if opts.overwrite || !folder.exists() {
        return Ok(false);
    }
    let (known, done) = (folder.join("_work").join(IDENTITY), folder.join("run.json"));
    match (opts.resume, done.exists(), known.exists()) {
        (true, true, _) => compare(identity, &done).map(|()| true),
        (true, false, true) => compare(identity, &known).map(|()| false),
        (false, _, true) => Err(refuse(
            folder,
            "holds a run that was stopped; --resume goes on with it, --overwrite begins anew",
        )),
        _ => {
            let mut entries = fs::read_dir(folder).map_err(Error::io("read", folder))?;
            // A run that was stopped before it left its identity has made this folder and nothing in it.
            if entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == "_work")) {
                return Ok(false);
            }
            Err(refuse(folder, "exists and is not empty; --overwrite replaces the answer in it"))
        }
    }
}

fn refuse(folder: &Path, why: &str) -> Error {
    Error::Usage(format!("{} {why}", folder.display()))
}

fn compare(identity: &Identity, path: &Path) -> Result<()> {
    let differences = identity.differences(&Identity::read(path)?);
    if !differences.is_empty() {
        return Err(Error::Usage(format!(
            "--resume goes on with the same run only: {}; --overwrite begins anew",
            differences.join("; ")
        )));
    }
    match identity.stream() {
        Some(stream) => Err(Error::Usage(format!(
            "--resume: the input {stream} is a stream, which cannot be read a second time; --overwrite begins anew"
        ))),
        None => Ok(()),
    }
}

/// Takes the lock; tasks of a run that was killed may hold it for a moment.
fn lock(work: &Path, folder: &Path) -> Result<File> {
    let path = work.join(LOCK);
    let start = Instant::now();
    loop {
        fs::create_dir_all(work).map_err(Error::io("create", work))?;
        let file = match File::create(&path) {
            // The run that held the lock has just removed its folder.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            file => file.map_err(Error::io("create", &path))?,
        };
        match file.try_lock() {
            Ok(()) if is_at(&file, &path) => return Ok(file),
            Ok(()) => continue,
            Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => {}
            Err(TryLockError::WouldBlock) => return Err(refuse(folder, "is being written by another run")),
            Err(TryLockError::Error(error)) => return Err(Error::io("lock", &path)(error)),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Whether the file still has this name: a lock on one that was removed keeps nobody out.
fn is_at(file: &File, path: &Path) -> bool {
    let identity = |meta: io::Result<fs::Metadata>| meta.ok().map(|meta| (meta.dev(), meta.ino()));
    identity(file.metadata()).is_some_and(|own| identity(path.metadata()) == Some(own))
}
