//! Runs the real program as a shell would: standard input, exit code and both outputs.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{ErrorKind, Seek, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use tempfile::TempDir;
use twinsplit_rows::stages::STAGES;

use super::harness::{bash, clean};

/// A folder with links to the program by its own name and by those of all stages, as an installation has them.
pub fn binaries() -> &'static Path {
    static MADE: LazyLock<PathBuf> = LazyLock::new(|| {
        let program = Path::new(env!("CARGO_BIN_EXE_twinsplit"));
        let folder = program.with_file_name("names");
        std::fs::create_dir_all(&folder).expect("a folder");
        for name in STAGES.iter().map(|entry| entry.decl.name).chain(["twinsplit"]) {
            match symlink("../twinsplit", folder.join(name)) {
                // Made by tests before, or by others beside these.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => made.expect("a link"),
            }
        }
        folder
    });
    &MADE
}

/// `PATH` with our program first, by all its names.
pub fn search_path() -> String {
    format!("{}:{}", binaries().display(), std::env::var("PATH").unwrap_or_default())
}

/// A file of hdfs-fixtures.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("hdfs-fixtures").join(name)
}

/// What a command said.
#[derive(Debug)]
pub struct Said {
    /// The exit code; -1 when a signal ended it.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Said {
    /// The standard output of a command that must succeed.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{}", self.err);
        self.out
    }

    /// The message of a command that must fail with this code: an `error:`, all these words, no panic.
    #[track_caller]
    pub fn fails(self, code: i32, words: &[&str]) -> String {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        assert!(self.err.lines().any(|line| line.starts_with("error: ")), "{}", self.err);
        assert!(!self.err.contains("panicked") && !self.err.contains("RUST_BACKTRACE"), "{}", self.err);
        for word in words {
            assert!(self.err.contains(word), "{word:?} is not in: {}", self.err);
        }
        self.err
    }
}

/// A folder in which commands run and their files lie; it goes with this value.
pub struct Place(TempDir);

impl Place {
    /// An empty folder.
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Leaves it for whoever repeats a failed run.
    pub fn keep(self) -> PathBuf {
        self.0.keep()
    }

    /// Writes a file.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).expect("a file");
    }

    /// A file's text.
    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The names in a folder, without those that begin with a dot.
    pub fn names(&self, folder: &str) -> BTreeSet<String> {
        let entries =
            std::fs::read_dir(self.path(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
        let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
        names.filter(|name| !name.starts_with('.')).collect()
    }

    /// Runs twinsplit or a stage here; `line` is its name and arguments with single spaces between.
    pub fn say(&self, line: &str) -> Said {
        self.with(line, "", &[])
    }

    /// The same with bytes for standard input and with variables of the environment.
    pub fn with(&self, line: &str, input: impl AsRef<[u8]>, variables: &[(&str, &str)]) -> Said {
        let mut words = line.split(' ');
        let mut command = clean(Command::new(binaries().join(words.next().expect("a name"))));
        command.args(words).envs(variables.iter().copied());
        self.run(command, input)
    }

    /// Runs a line with a pseudo-terminal of 24 lines and 80 columns for standard output and standard error; what it shows is `out`.
    pub fn at_a_terminal(&self, line: &str, variables: &[(&str, &str)]) -> Said {
        let mut command = clean(Command::new("script"));
        command.args(["-qec", &format!("stty cols 80 rows 24; {line}"), "/dev/null"]);
        command.env("PATH", search_path()).env("TERM", "xterm");
        // Each decides on colours by itself; with `CI` set even a dumb terminal has them.
        for name in ["COLUMNS", "LINES", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
            command.env_remove(name);
        }
        command.envs(variables.iter().copied());
        self.run(command, "")
    }

    /// Runs a command here.
    pub fn run(&self, mut command: Command, input: impl AsRef<[u8]>) -> Said {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(input.as_ref()).and_then(|()| file.rewind()).expect("a file");
        let output = command.current_dir(self.0.path()).stdin(Stdio::from(file)).output();
        let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Said {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    /// Runs a line of bash here, our program first on the path.
    pub fn shell(&self, line: &str) -> Said {
        let mut command = bash();
        command.args(["-c", &format!("set -euo pipefail; {line}")]).env("PATH", search_path());
        self.run(command, "")
    }
}

/// JSON lines of ids and texts.
pub fn jsonl(docs: &[(&str, &str)]) -> String {
    docs.iter().fold(String::new(), |mut lines, (id, text)| {
        let line = serde_json::json!({ "id": id, "text": text });
        writeln!(lines, "{line}").expect("a string takes everything");
        lines
    })
}
