//! The file systems of a cluster: Hadoop's by its own command, and Spark's by asking the program that has it.

use crate::output::files::{Files, Kind, Local};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use twinsplit_io::WorkFolder;
use twinsplit_io::error::{Error, Result};

/// What Hadoop knows by its command, each call of which starts a Java; files of this machine need none.
pub struct Hadoop {
    program: PathBuf,
    /// The folders that were listed, as they are after what was done since.
    known: RefCell<BTreeMap<PathBuf, BTreeMap<String, Kind>>>,
}

impl Hadoop {
    /// By this command.
    pub fn new(program: PathBuf) -> Self {
        Self { program, known: RefCell::default() }
    }

    fn fs(&self, words: &[&str], paths: &[PathBuf]) -> Result<Output> {
        let mut command = Command::new(&self.program);
        command.arg("fs").args(words).args(paths).stdin(Stdio::null());
        command.output().map_err(Error::io("start", &self.program))
    }

    /// Runs a command that must succeed.
    fn must(&self, words: &[&str], paths: &[PathBuf]) -> Result<()> {
        let output = self.fs(words, paths)?;
        if output.status.success() { Ok(()) } else { Err(failed(words[0], &output)) }
    }

    /// The input as `hadoop fs -ls -R` shows it: the name of each file, its bytes, and when it was changed.
    pub fn inputs(&self, inputs: &[PathBuf]) -> Result<Vec<Value>> {
        let output = self.fs(&["-ls", "-R"], inputs)?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let why = said.lines().find(|line| line.starts_with("ls")).unwrap_or("ls failed").to_owned();
            return Err(Error::Failed(format!("an input is not found: {why}")));
        }
        let rows = String::from_utf8_lossy(&output.stdout);
        let file = |row: Row<'_>| json!({ "path": row.path, "bytes": row.bytes, "changed": row.changed });
        Ok(rows.lines().filter_map(Row::of).filter(|row| row.kind == Kind::File).map(file).collect())
    }

    /// Lists folders that will be asked for, in one call.
    pub fn look(&self, folders: &[PathBuf]) -> Result<()> {
        let folders: Vec<_> = folders.iter().filter(|folder| here(folder).is_none()).cloned().collect();
        if folders.is_empty() {
            return Ok(());
        }
        let output = self.fs(&["-ls"], &folders)?;
        let said = String::from_utf8_lossy(&output.stderr);
        let is_absent = |line: &str| !line.starts_with("ls:") || line.ends_with("No such file or directory");
        if !said.lines().all(is_absent) {
            return Err(failed("-ls", &output));
        }
        let mut known = self.known.borrow_mut();
        folders.iter().for_each(|folder| drop(known.insert(folder.clone(), BTreeMap::new())));
        let rows = String::from_utf8_lossy(&output.stdout);
        for row in rows.lines().filter_map(Row::of) {
            if let Some((folder, name)) = row.path.rsplit_once('/')
                && let Some(names) = known.get_mut(Path::new(folder))
            {
                names.insert(name.to_owned(), row.kind);
            }
        }
        Ok(())
    }

    fn in_folder<T: Default>(
        &self,
        folder: &Path,
        of: impl FnOnce(&BTreeMap<String, Kind>) -> T,
    ) -> Result<T> {
        if !self.known.borrow().contains_key(folder) {
            self.look(&[folder.to_owned()])?;
        }
        Ok(self.known.borrow().get(folder).map(of).unwrap_or_default())
    }

    /// What a change makes of the listings.
    fn note(&self, path: &Path, kind: Option<Kind>) {
        let mut known = self.known.borrow_mut();
        known.retain(|folder, _| kind.is_some() || !folder.starts_with(path));
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return };
        if let Some(names) = known.get_mut(folder) {
            let name = name.to_string_lossy().into_owned();
            match kind {
                Some(kind) => drop(names.insert(name, kind)),
                None => drop(names.remove(&name)),
            }
        }
    }
}

fn failed(what: &str, output: &Output) -> Error {
    let said = String::from_utf8_lossy(&output.stderr);
    let said: Vec<_> = said.lines().filter(|line| !line.contains(" WARN ")).take(3).collect();
    Error::Failed(format!("hadoop fs {what} failed: {}", said.join("; ")))
}

/// A row of `hadoop fs -ls`.
struct Row<'a> {
    kind: Kind,
    bytes: u64,
    changed: String,
    path: &'a str,
}

impl<'a> Row<'a> {
    /// Mode, replicas, owner, group, bytes, day and time stand before the name, which may hold blanks.
    fn of(line: &'a str) -> Option<Self> {
        let (mut fields, mut rest) = ([""; 7], line);
        for field in &mut fields {
            (*field, rest) = rest.trim_start().split_once(' ')?;
        }
        let kind = if fields[0].starts_with('d') { Kind::Folder } else { Kind::File };
        let changed = format!("{} {}", fields[5], fields[6]);
        Some(Self { kind, bytes: fields[4].parse().ok()?, changed, path: rest.trim_start() })
    }
}

/// A file of this machine, by the address that Hadoop has for it.
fn here(path: &Path) -> Option<PathBuf> {
    let rest = path.to_str()?.strip_prefix("file:")?;
    Some(PathBuf::from(format!("/{}", rest.trim_start_matches('/'))))
}

impl Files for Hadoop {
    fn kind(&self, path: &Path) -> Result<Option<Kind>> {
        if let Some(path) = here(path) {
            return Local.kind(&path);
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
        self.in_folder(folder, |names| names.get(&*name.to_string_lossy()).copied())
    }

    fn names(&self, folder: &Path) -> Result<Vec<String>> {
        match here(folder) {
            Some(folder) => Local.names(&folder),
            None => self.in_folder(folder, |names| names.keys().cloned().collect()),
        }
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>> {
        if let Some(path) = here(path) {
            return Local.read(&path, limit);
        }
        let mut command = Command::new(&self.program);
        command
            .args(["fs", "-cat"])
            .arg(path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().map_err(Error::io("start", &self.program))?;
        let mut bytes = Vec::new();
        if let Some(stream) = child.stdout.take() {
            stream.take(limit).read_to_end(&mut bytes).map_err(Error::io("read", path))?;
        }
        // It may have been cut off.
        child.wait().map_err(Error::io("wait for", &self.program))?;
        Ok(bytes)
    }

    fn create(&self, path: &Path, text: &str) -> Result<bool> {
        if let Some(path) = here(path) {
            return Local.create(&path, text);
        }
        let name = path.file_name().unwrap_or_default();
        let folder = WorkFolder::temporary()?;
        let file = folder.path().join(name);
        std::fs::write(&file, text).map_err(Error::io("write", &file))?;
        let output = self.fs(&["-put"], &[file, path.to_owned()])?;
        if !output.status.success() && String::from_utf8_lossy(&output.stderr).contains("File exists") {
            return Ok(false);
        }
        self.note(path, Some(Kind::File));
        if output.status.success() { Ok(true) } else { Err(failed("-put", &output)) }
    }

    fn make_folder(&self, path: &Path) -> Result<()> {
        if let Some(path) = here(path) {
            return Local.make_folder(&path);
        }
        self.must(&["-mkdir", "-p"], &[path.to_owned()])?;
        self.note(path, Some(Kind::Folder));
        Ok(())
    }

    fn rename(&self, names: &[String], from: &Path, to: &Path) -> Result<()> {
        if let (Some(from), Some(to)) = (here(from), here(to)) {
            return Local.rename(names, &from, &to);
        }
        if names.is_empty() {
            return Ok(());
        }
        let kinds: Vec<_> = names.iter().map(|name| self.kind(&from.join(name))).collect::<Result<_>>()?;
        let mut paths: Vec<_> = names.iter().map(|name| from.join(name)).collect();
        paths.push(to.to_owned());
        self.must(&["-mv"], &paths)?;
        for (name, kind) in names.iter().zip(kinds) {
            self.note(&from.join(name), None);
            self.note(&to.join(name), kind);
        }
        Ok(())
    }

    fn remove(&self, paths: &[PathBuf]) -> Result<()> {
        let (local, remote): (Vec<_>, Vec<_>) = paths.iter().cloned().partition(|path| here(path).is_some());
        Local.remove(&local.iter().filter_map(|path| here(path)).collect::<Vec<_>>())?;
        if remote.is_empty() {
            return Ok(());
        }
        self.must(&["-rm", "-r", "-f", "-skipTrash"], &remote)?;
        remote.iter().for_each(|path| self.note(path, None));
        Ok(())
    }
}

/// The file system of the program that started this one: a request is a line of JSON on standard output, and its answer a
/// line on standard input.
pub struct Asked;

/// The next line that the program wrote.
pub fn next() -> Result<Value> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(Error::io("read", ""))?;
    serde_json::from_str(&line).map_err(|error| Error::Failed(format!("what a script says: {error}")))
}

fn ask(request: &Value) -> Result<Value> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{request}").and_then(|()| out.flush()).map_err(Error::io("write", "standard output"))?;
    next()
}

impl Files for Asked {
    fn kind(&self, path: &Path) -> Result<Option<Kind>> {
        let answer = ask(&json!(["kind", path.to_string_lossy()]))?;
        Ok(answer.as_str().map(|kind| match kind {
            "link" => Kind::Link,
            "folder" => Kind::Folder,
            _ => Kind::File,
        }))
    }

    fn names(&self, folder: &Path) -> Result<Vec<String>> {
        let answer = ask(&json!(["names", folder.to_string_lossy()]))?;
        Ok(answer.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>> {
        let limit = (limit < u64::MAX).then_some(limit);
        let answer = ask(&json!(["read", path.to_string_lossy(), limit]))?;
        Ok(answer.as_str().unwrap_or_default().as_bytes().to_vec())
    }

    fn create(&self, path: &Path, text: &str) -> Result<bool> {
        Ok(ask(&json!(["create", path.to_string_lossy(), text]))? == Value::Bool(true))
    }

    fn make_folder(&self, path: &Path) -> Result<()> {
        ask(&json!(["make_folder", path.to_string_lossy()])).map(drop)
    }

    fn rename(&self, names: &[String], from: &Path, to: &Path) -> Result<()> {
        names.iter().try_for_each(|name| {
            let [from, to] = [from, to].map(|folder| folder.join(name).to_string_lossy().into_owned());
            ask(&json!(["move", from, to])).map(drop)
        })
    }

    fn remove(&self, paths: &[PathBuf]) -> Result<()> {
        paths.iter().try_for_each(|path| ask(&json!(["remove", path.to_string_lossy()])).map(drop))
    }
}
