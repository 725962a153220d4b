//! Lines that are no documents: how many may pass, and the quarantine that they pass into.
//!
//! With `--bad-records N` a task passes over at most N lines that [`DocumentOpts::read`] refuses. One stage,
//! `tokenize`, writes them into the file of its task below [`FOLDER`]; the others pass over the same lines and only
//! count them, so that no line is in the quarantine twice.
//!
//! [`DocumentOpts::read`]: crate::record::document::DocumentOpts::read

use crate::record::Record;
use crate::record::bad::BadLine;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use twinsplit_io::error::{Error, FieldError, Place, Result};
use twinsplit_io::{AtomicFile, Target};

/// The folder below a task's own that holds its quarantine.
pub const FOLDER: &str = "_bad";

/// The counter of bad lines that passed.
pub const COUNTER: &str = "bad_records";

/// How many lines that are no documents may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MostBad(pub u64);

impl MostBad {
    /// The word for all of them.
    pub const ALL: &str = "all";
}

impl FromStr for MostBad {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            Self::ALL => Ok(Self(u64::MAX)),
            number => {
                number.parse().map(Self).map_err(|_| "expected a number of documents, or all".to_owned())
            }
        }
    }
}

twinsplit_core::read_from_text!(MostBad);

/// What one task let pass.
pub struct BadRecords {
    stage: &'static str,
    allowed: u64,
    met: u64,
    first: String,
    path: Option<PathBuf>,
    /// What the user named, where it is no task's own file.
    target: Option<Target>,
    file: Option<AtomicFile>,
}

impl BadRecords {
    /// Lets `allowed` lines pass and counts them.
    pub fn counted(stage: &'static str, allowed: MostBad) -> Self {
        Self { stage, allowed: allowed.0, met: 0, first: String::new(), path: None, target: None, file: None }
    }

    /// The same, and writes them into the quarantine of a task. That of an earlier attempt goes.
    pub fn kept(stage: &'static str, allowed: MostBad, task_folder: &Path, number: u32) -> Result<Self> {
        let path = task_folder.join(FOLDER).join(format!("{stage}-{number:05}"));
        if allowed.0 > 0 && path.exists() {
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
        Ok(Self { path: Some(path), ..Self::counted(stage, allowed) })
    }

    /// The same into what the user named, where lines may pass.
    pub fn kept_in(stage: &'static str, allowed: MostBad, target: Option<Target>) -> Self {
        let path = target.as_ref().map(|target| target.path().to_owned());
        Self { path, target, ..Self::counted(stage, allowed) }
    }

    /// Takes a line that is no document; the error says that no more may pass.
    pub fn pass(&mut self, line: &[u8], place: &Place, error: FieldError) -> Result<()> {
        if self.allowed == 0 {
            return Err(Error::Document { stage: self.stage, place: place.clone(), error });
        }
        self.met += 1;
        if self.met == 1 {
            let advice = error.advice.iter().map(|advice| format!("; {advice}")).collect::<String>();
            self.first = format!("{place}, {error}{advice}");
        }
        self.write(line, place, &error)?;
        if self.met <= self.allowed {
            return Ok(());
        }
        // What was met is shown, although the task fails.
        self.close()?;
        Err(Error::BadRecords {
            stage: self.stage.to_owned(),
            met: self.met,
            allowed: self.allowed,
            first: self.first.clone(),
            quarantine: self.path.clone(),
        })
    }

    fn write(&mut self, line: &[u8], place: &Place, error: &FieldError) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(match &self.target {
                Some(target) => target.start()?,
                None => {
                    let folder = path.with_file_name("");
                    fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
                    AtomicFile::create(path)?
                }
            }),
        };
        // The line comes last in the row, and is not copied: it may be long.
        let mut row = Vec::new();
        BadLine::of(&[], place, error).encode(&mut row);
        file.bytes(&row)?;
        file.line(line)
    }

    fn close(&mut self) -> Result<()> {
        self.file.take().map_or(Ok(()), AtomicFile::finish)
    }

    /// Completes the quarantine and gives the number of lines that passed.
    pub fn finish(&mut self) -> Result<u64> {
        self.close()?;
        Ok(self.met)
    }
}
