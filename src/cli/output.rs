//! The folder of an answer: who may write into it, what is left of an earlier run, what a stopped run leaves.

use super::identity::Identity;
use super::options::RunOpts;
use crate::error::{Error, Result};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The files that a run writes into the folder.
pub const ANSWER: [&str; 4] = ["pairs.tsv", "clusters.tsv", "kept.jsonl", "run.json"];
/// What other commands and a run that failed leave there; it goes with an answer that is replaced.
const BESIDE: [&str; 2] = ["quarantine.tsv", "report.html"];
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
        let known = work.join(IDENTITY);
        let done = folder.join("run.json");
        if !opts.overwrite && folder.exists() {
            let empty = fs::read_dir(&folder).map_err(Error::io("read", &folder))?.next().is_none();
            match (opts.resume, done.exists(), known.exists()) {
                (true, true, _) => return compare(identity, &done).map(|()| Start::Complete),
                (true, false, true) => compare(identity, &known)?,
                (false, _, true) => {
                    return Err(refuse(
                        &folder,
                        "holds a run that was stopped; --resume goes on with it, --overwrite begins anew",
                    ));
                }
                _ if empty => {}
                _ => {
                    return Err(refuse(
                        &folder,
                        "exists and is not empty; --overwrite replaces the answer in it",
                    ));
                }
            }
        }
        fs::create_dir_all(&work).map_err(Error::io("create", &work))?;
        let lock = lock(&work, &folder)?;
        let output = Self { answer: work.join("_answer"), folder, work, lock };
        if opts.overwrite {
            output.remove_answer()?;
            output.clear_work(|_| true)?;
        }
        // What was being written when a run was stopped.
        output.clear_work(|name| name.ends_with(".partial") || name == "_sort" || name == "_dense")?;
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

    /// Gives the files of the answer their place; `run.json`, which comes last, makes it complete.
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
    let file = File::create(&path).map_err(Error::io("create", &path))?;
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(50));
            }
            Err(TryLockError::WouldBlock) => return Err(refuse(folder, "is being written by another run")),
            Err(TryLockError::Error(error)) => return Err(Error::io("lock", &path)(error)),
        }
    }
}
