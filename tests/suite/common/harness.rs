//! Runs the real binary and compares what it wrote with the oracle, byte for byte.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Condvar, Mutex};

use tempfile::TempDir;

use super::corpora;
use super::expected::Expected;
use super::oracle::Doc;

/// A corpus on disk, ready to be an input.
pub struct Input {
    folder: TempDir,
    files: Vec<PathBuf>,
}

impl Input {
    /// Writes a corpus into a folder of its own, which goes when this value does.
    pub fn new(docs: &[Doc]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let files = corpora::write(docs, folder.path());
        Self { folder, files }
    }

    /// The options that name the input.
    pub fn args(&self) -> Vec<String> {
        let files = self.files.iter().map(|file| file.display().to_string());
        ["--input".to_owned()].into_iter().chain(files).collect()
    }

    /// Where the corpus lies, and other files of a test may.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves the files for whoever repeats a failed run.
    pub fn keep(self) {
        let _ = self.folder.keep();
    }
}

/// At most two runs at a time in a test binary, however many tests it runs beside one another:
/// a run has threads or processes of its own.
struct Slots {
    free: Mutex<usize>,
    given: Condvar,
}

static SLOTS: Slots = Slots { free: Mutex::new(2), given: Condvar::new() };

impl Slots {
    fn with<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut free = self.free.lock().expect("no panic while counting");
        while *free == 0 {
            free = self.given.wait(free).expect("no panic while counting");
        }
        *free -= 1;
        drop(free);
        let out = work();
        *self.free.lock().expect("no panic while counting") += 1;
        self.given.notify_one();
        out
    }
}

/// The driver, without options that the environment of the tests may hold.
pub fn twinsplit() -> Command {
    clean(Command::new(env!("CARGO_BIN_EXE_twinsplit")))
}

/// A command without our variables: each `TWINSPLIT_` one is an option, and others are errors.
pub fn clean(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        let ours = name.to_string_lossy().starts_with("TWINSPLIT_");
        if ours || name == "CORPORA_DIR" {
            command.env_remove(name);
        }
    }
    command
}

/// A bash, without our variables. By its path, so that it is started without a copy of this process, which is large.
pub fn bash() -> Command {
    clean(Command::new("/bin/bash"))
}

/// A folder for files larger than memory has room for, where `tests/with-tmpfs.sh` lets those of other tests lie. It goes with this value.
pub fn on_disk() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}

/// Runs a command and returns what it printed, or why it failed and how to repeat it.
pub fn run(mut command: Command) -> Result<String, String> {
    let output = SLOTS.with(|| command.output());
    let output = output.map_err(|error| format!("{}\n  {error}", repeat(&command)))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = stderr.lines().rev().take(12).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(format!("{}\n  {}\n  {}", repeat(&command), output.status, last.join("\n  ")))
}

/// The command as a line for a shell.
fn repeat(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let quoted = words.map(|word| {
        let word = word.to_string_lossy();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=".contains(c);
        if word.chars().all(plain) { word.into_owned() } else { format!("'{word}'") }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Runs `twinsplit run` with these options; the answer is in the folder `out` of the one returned.
pub fn answer(input: &Input, args: &[String]) -> Result<TempDir, String> {
    let folder = tempfile::tempdir().expect("a folder");
    run(driver(input, args, folder.path()))?;
    Ok(folder)
}

fn driver(input: &Input, args: &[String], folder: &Path) -> Command {
    let mut command = twinsplit();
    command.arg("run").args(args).args(input.args()).arg("--write-kept");
    command.arg("--output").arg(folder.join("out"));
    command
}

/// Runs `twinsplit run` with these options and compares its files with what is expected. `blocks`
/// asks for at least one posting list to have been cut into blocks.
pub fn check(input: &Input, args: &[String], expected: &Expected, blocks: bool) -> Result<(), String> {
    let folder = answer(input, args)?;
    let output = folder.path().join("out");
    let mut wrong = String::new();
    for (name, expected) in
        [("pairs.tsv", &expected.pairs), ("clusters.tsv", &expected.clusters), ("kept.jsonl", &expected.kept)]
    {
        match std::fs::read(output.join(name)) {
            Ok(written) if written == expected.as_bytes() => {}
            Ok(written) => {
                let difference = first_difference(&String::from_utf8_lossy(&written), expected);
                let _ = write!(wrong, "\n  {name}: {difference}");
            }
            Err(error) => {
                let _ = write!(wrong, "\n  {name}: {error}");
            }
        }
    }
    match counted(&output.join("run.json"), "posting_blocks") {
        Ok(0) if blocks => wrong.push_str("\n  run.json: no posting list was cut into blocks"),
        Ok(_) => {}
        Err(error) => {
            let _ = write!(wrong, "\n  run.json: {error}");
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(repeat(&driver(input, args, folder.path())) + &wrong)
}

/// The sum over all steps of a counter in run.json.
pub fn counted(path: &Path, counter: &str) -> Result<u64, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let run: serde_json::Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let steps = run.get("counters").and_then(|c| c.as_object()).ok_or("no object `counters`")?;
    Ok(steps.values().filter_map(|step| step.get(counter)?.as_u64()).sum())
}

/// The first line in which two files differ.
pub fn first_difference(written: &str, expected: &str) -> String {
    let (mut left, mut right) = (written.lines(), expected.lines());
    for number in 1.. {
        let (written, expected) = (left.next(), right.next());
        if written.is_none() && expected.is_none() {
            break;
        }
        if written != expected {
            let show = |line: Option<&str>| match line {
                Some(line) => format!("{line:?}"),
                None => "the end".to_owned(),
            };
            let (written, expected) = (show(written), show(expected));
            return format!("line {number} is {written}, expected {expected}");
        }
    }
    "the same lines, but other line ends".to_owned()
}
