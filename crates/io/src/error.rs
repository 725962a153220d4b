//! The errors of a run, typed, each with the place it happened at and what was expected there.

use crate::MaxLine;
use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use twinsplit_core::options::Invalid;
use twinsplit_core::visible;

/// The result of everything that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Where a record was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file's name as it was given; empty for standard input.
    pub file: std::sync::Arc<str>,
    /// 1-based number of the line in that file, or in the split of it.
    pub line: u64,
    /// Offset in uncompressed bytes of the line's first byte.
    pub offset: u64,
    /// The byte at which a cluster cut the file, for a task that reads from there on; 0 at its beginning.
    pub split: u64,
    /// The file's number among the inputs, from 0; nothing for a task that a cluster hands a share of a file.
    pub number: Option<u32>,
}

impl Place {
    /// The file as hex digits that sort like the inputs: by its number, or on a cluster by the bytes of its name.
    pub fn input(&self) -> String {
        match self.number {
            Some(number) => format!("{number:08x}"),
            None => self.file.bytes().map(|byte| format!("{byte:02x}")).collect(),
        }
    }

    /// The file, and from where in it lines are counted; empty for standard input.
    pub fn name(&self) -> Cow<'_, str> {
        match self.split {
            0 => Cow::Borrowed(&self.file),
            split => Cow::Owned(format!("{} from byte {split}", self.file)),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = if self.file.is_empty() { "standard input".into() } else { self.name() };
        write!(f, "{}, line {}", visible::line(&file), self.line)
    }
}

/// A field that does not hold what its record declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The field's name in the record's declaration.
    pub field: &'static str,
    /// What the declaration says stands there.
    pub expected: &'static str,
    /// What was found, shortened.
    pub found: Box<Words>,
    /// What to do, where there is more to say than to correct it.
    pub advice: Option<Box<Words>>,
}

/// Words of an error, which are behind a thin pointer so that every `Result` of the crate is small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words(Box<str>);

impl<T: Into<Box<str>>> From<T> for Box<Words> {
    fn from(text: T) -> Self {
        Box::new(Words(text.into()))
    }
}

impl Deref for Words {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "field {}: expected {}, found {}", self.field, self.expected, self.found)
    }
}

impl FieldError {
    /// An error about `field`, quoting at most 60 bytes of what was found.
    pub fn new(field: &'static str, expected: &'static str, found: &[u8]) -> Self {
        let shown = &found[..found.len().min(60)];
        let mut found_text = format!("{:?}", String::from_utf8_lossy(shown));
        if shown.len() < found.len() {
            found_text.push_str(&format!("… ({} bytes)", found.len()));
        }
        Self { field, expected, found: found_text.into(), advice: None }
    }

    /// An error about a field that is not there at all.
    pub fn missing(field: &'static str, expected: &'static str) -> Self {
        Self { field, expected, found: "nothing".into(), advice: None }
    }

    /// What to do about a document with this error.
    fn advice(&self) -> &str {
        self.advice.as_deref().map_or("correct the line", |advice| advice)
    }
}

/// Everything that can stop a run. Messages name an option as the command line does, `tau` as `--tau`.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A line that is not the record its stage reads.
    Record {
        /// The stage that read it.
        stage: &'static str,
        /// Where the line stands.
        place: Place,
        /// What is wrong with it.
        error: FieldError,
    },
    /// A line of the input that is not a document.
    Document {
        /// The stage that read it.
        stage: &'static str,
        /// Where the line stands.
        place: Place,
        /// What is wrong with it.
        error: FieldError,
    },
    /// More lines that are not documents than may pass.
    BadRecords {
        /// Who met the last of them.
        stage: String,
        /// How many have been met.
        met: u64,
        /// How many may pass.
        allowed: u64,
        /// The first of them: where it stands and what is wrong with it.
        first: String,
        /// The file that holds them, where one is written.
        quarantine: Option<PathBuf>,
    },
    /// A line that is longer than it may be.
    LongLine {
        /// Where it stands.
        place: Place,
        /// The bound.
        bound: MaxLine,
    },
    /// A reducer's input that is not sorted by its key.
    Unsorted {
        /// The stage that read it.
        stage: String,
        /// Where the line stands.
        place: Place,
        /// The command that sorts it as the stage needs it.
        sort: String,
        /// The option of a job on Hadoop that does.
        option: String,
    },
    /// A reducer's input that is not what its job must bring to one task.
    Partition {
        /// The stage that read it.
        stage: String,
        /// What is wrong with the job, and the options that it should have.
        problem: String,
    },
    /// Two documents with one id.
    DuplicateId {
        /// The stage that met both.
        stage: String,
        /// The id.
        id: String,
        /// Where it was seen, as far as that is known.
        places: String,
    },
    /// A side file that is missing, damaged or of another kind.
    File {
        /// The file.
        path: PathBuf,
        /// What was expected of it and what to do.
        problem: String,
    },
    /// An operation of the operating system that failed.
    Io {
        /// What was being done, e.g. "read".
        action: &'static str,
        /// To which file; empty for a standard stream.
        path: PathBuf,
        /// The system's own error.
        source: io::Error,
    },
    /// An option's value that is none of those it may have.
    Value {
        /// The option.
        name: &'static str,
        /// Its value.
        value: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Options that contradict each other or the data.
    Usage(String),
    /// A bound that the user set, or the default one, was reached before the disk or the memory was.
    Limit(String),
    /// The documents that a program hands over ended with an error of its own.
    Documents(Box<dyn std::error::Error + Send + Sync>),
    /// Whoever watches the run has stopped it.
    Cancelled,
    /// A command of a chain that failed; its own message stands on standard error already.
    Failed(String),
}

impl Error {
    /// Wraps an error of the operating system with what was being done to which file.
    pub fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Io { action, path: path.as_ref().to_owned(), source }
    }

    /// Whether the reader of our output went away (`… | head`), which is no failure of ours.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The exit code: 2 for options that do not fit, 1 for everything else.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Usage(_) | Error::Value { .. } => 2,
            _ => 1,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Record { stage, place, error } => {
                write!(f, "{stage}: {place}, {error}; {stage} --help shows the rows it reads")
            }
            Error::Document { stage, place, error } => write!(
                f,
                "{stage}: {place}, {error}; {}, or let such lines pass with --bad-records N (all engines but hadoop)",
                error.advice()
            ),
            Error::BadRecords { stage, met, allowed, first, quarantine } => {
                write!(f, "{stage}: {met} bad documents, and --bad-records lets {allowed} pass; ")?;
                write!(f, "the first is {first}")?;
                quarantine.iter().try_for_each(|path| write!(f, "; {} holds those met", visible::path(path)))
            }
            Error::LongLine { place, bound: MaxLine::ROW } => {
                write!(f, "{place}: the line has over 4 GB, more than any row may have; is it a text file?")
            }
            Error::LongLine { place, bound } => write!(
                f,
                "{place}: the line is longer than {bound}; if it is a document, let it in with --max-line"
            ),
            Error::Unsorted { stage, place, sort, option } => write!(
                f,
                "{stage}: {place}: the input is not sorted by its key; put `{sort}` before {stage}, or give its job on Hadoop {option}"
            ),
            Error::Partition { stage, problem } => write!(f, "{stage}: {problem}"),
            Error::DuplicateId { stage, id, places } => write!(
                f,
                "{stage}: the id {id:?} stands at more than one document{places}; \
                 ids must be unique (or use --id auto, with all engines but spark)"
            ),
            Error::File { path, problem } => write!(f, "{}: {problem}", visible::path(path)),
            Error::Io { action, path, source } if path.as_os_str().is_empty() => {
                write!(f, "cannot {action} a standard stream: {source}{}", advice(source.kind()))
            }
            Error::Io { action, path, source } => {
                write!(f, "cannot {action} {}: {source}{}", visible::path(path), advice(source.kind()))
            }
            Error::Value { name, value, problem } => write!(f, "{name} {value:?}: {problem}"),
            Error::Cancelled => f.write_str("the run was cancelled"),
            Error::Documents(source) => write!(f, "cannot read the documents: {source}"),
            Error::Usage(text) | Error::Limit(text) | Error::Failed(text) => f.write_str(text),
        }
    }
}

/// What to do about an error of the operating system, where that is known.
fn advice(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; make room there, or name a folder on another disk"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; allow it (ls -ld shows the rights), or name another place"
        }
        _ => "",
    }
}

/// What cannot fail is no error: sets in memory are always there.
impl From<Infallible> for Error {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        let Invalid { option, value, problem } = invalid;
        Self::Usage(format!("invalid value '{value}' for '--{option}': {problem}"))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            Error::Documents(source) => Some(&**source),
            _ => None,
        }
    }
}
