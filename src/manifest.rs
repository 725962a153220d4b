//! What a run is, so that another run knows whether it may go on with what that one left.

use super::output::owned::{FILES_OF_FOLDER, files_below};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use twinsplit_core::visible;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::{AtomicFile, Contents, contents};
use twinsplit_rows::plan::{BOUNDS, Plan};

/// The plan and the input, as they stand in `run.json` and, while
/// a run works, in `_work/_run.json`.
pub struct RunManifest(Map<String, Value>);

/// Fields of `_run.json` alone.
const REPLACES: &str = "overwrite";
const KEEPS_WORK: &str = "keep_work";

/// The field of an input that is of queries and not of the documents near which these are looked for.
pub const QUERIES: &str = "queries";

/// An input, marked as one of queries.
pub fn of_queries(mut input: Value) -> Value {
    input[QUERIES] = true.into();
    input
}

/// Fields of a script that runs by itself: the digest of its text, and the variables that its stages read.
pub const PAGE: &str = "page";
/// See [`PAGE`].
pub const VARIABLES: &str = "variables";

/// What is known of the input before a run begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// Names: the script of a run on a cluster compares what the cluster's file system tells of them.
    Names,
    /// Sizes too; [`RunManifest::add_digests`] adds digests, which are taken while the run reads.
    Sizes,
    /// Digests: the input is read once for them.
    Digests,
}

impl RunManifest {
    /// The manifest of a run of a plan over these files of documents, and of queries where it has some.
    pub fn of(plan: &Plan, [documents, queries]: [&[PathBuf]; 2], known: Known) -> Result<Self> {
        let describe = |path: &PathBuf| match known {
            Known::Names => Ok(json!({ "path": visible::stored(path) })),
            Known::Sizes => size(path),
            Known::Digests => digest(path),
        };
        let mut inputs = documents.iter().map(describe).collect::<Result<Vec<_>>>()?;
        for query in queries {
            inputs.push(of_queries(describe(query)?));
        }
        let mut fields = plan.fields();
        fields.insert("inputs".to_owned(), inputs.into());
        let files = plan.params.named_files();
        let files = digests(files.into_iter().map(|(_, file)| Path::new(file)))?;
        fields.insert("parameter_files".to_owned(), files);
        Ok(Self(fields))
    }

    /// Adds the digests of what was read of the inputs, which are in the same order; streams have none.
    pub fn add_digests(&mut self, read: &[Contents]) {
        let inputs = self.0.get_mut("inputs").and_then(Value::as_array_mut).into_iter().flatten();
        for (input, read) in inputs.zip(read).filter(|(input, _)| !is_stream(input)) {
            input["bytes"] = read.bytes.into();
            input["xxh3"] = read.xxh3.as_str().into();
        }
    }

    /// Adds an option that decides how the input is read, where no stage has it.
    pub fn add_parameter(&mut self, name: &str, value: String) {
        if let Some(parameters) = self.0.get_mut("parameters").and_then(Value::as_object_mut) {
            parameters.insert(name.to_owned(), value.into());
        }
    }

    /// The manifest of these fields.
    pub fn from_fields(fields: Map<String, Value>) -> Self {
        Self(fields)
    }

    /// The manifest in a file that a run left.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
        match serde_json::from_str(&text) {
            Ok(Value::Object(fields)) => Ok(Self(fields)),
            _ => Err(Error::File {
                path: path.to_owned(),
                problem: "this is not what a run writes there".to_owned(),
            }),
        }
    }

    /// Leaves the manifest for a later run, and what this one may replace and leaves at its end.
    pub fn write(&self, path: &Path, replaces: bool, keeps_work: bool) -> Result<()> {
        let mut file = AtomicFile::create(path)?;
        file.line(self.text(replaces, keeps_work).as_bytes())?;
        file.finish()
    }

    /// What stands in the file that it is left in.
    pub fn text(&self, replaces: bool, keeps_work: bool) -> String {
        let mut fields = self.0.clone();
        fields.insert(REPLACES.to_owned(), replaces.into());
        fields.insert(KEEPS_WORK.to_owned(), keeps_work.into());
        Value::from(fields).to_string()
    }

    /// Whether the run that left it may replace an answer.
    pub fn replaces(&self) -> bool {
        self.0.get(REPLACES) == Some(&Value::Bool(true))
    }

    /// Whether the run that left it leaves its data sets when it is over.
    pub fn keeps_work(&self) -> bool {
        self.0.get(KEEPS_WORK) == Some(&Value::Bool(true))
    }

    /// The fields, for `run.json`.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.0
    }

    /// What differs from an earlier run, by name; what only bounds a run may differ.
    pub fn differences(&self, earlier: &Self) -> Vec<String> {
        let mut found = Vec::new();
        for name in ["twinsplit", "chain", "engine"] {
            let [now, then] = [&self.0, &earlier.0].map(|of| of.get(name).unwrap_or(&Value::Null));
            if now != then {
                found.push(format!("{name} was {} and is {}", plain(then), plain(now)));
            }
        }
        if self.0.get(PAGE) != earlier.0.get(PAGE) {
            found.push("the script has changed".to_owned());
        }
        for (group, before) in [("parameters", "--"), (VARIABLES, "")] {
            let of = |of: &'_ Map<String, Value>| of.get(group).and_then(Value::as_object).cloned();
            let [now, then] = [&self.0, &earlier.0].map(|fields| of(fields).unwrap_or_default());
            let names: BTreeSet<_> = now.keys().chain(then.keys()).collect();
            for name in names.into_iter().filter(|name| !BOUNDS.contains(&name.as_str())) {
                let (now, then) = (now.get(name), then.get(name));
                if now != then {
                    let show = |value: Option<&Value>| value.map_or("not given".to_owned(), plain);
                    found.push(format!("{before}{name} was {} and is {}", show(then), show(now)));
                }
            }
        }
        // Automatic ids are made of names as they were given.
        let by_names = self
            .0
            .get("parameters")
            .is_some_and(|parameters| ["auto", "row"].iter().any(|place| parameters["id"] == *place));
        let same = |one: &Value, other: &Value| {
            one["path"] == other["path"]
                || !by_names && one["absolute"].is_string() && one["absolute"] == other["absolute"]
        };
        for (list, what) in [("inputs", "the input"), ("parameter_files", "the file")] {
            let (now, then) = (files(&self.0, list), files(&earlier.0, list));
            for file in now {
                let path = plain(&file["path"]);
                match then.iter().find(|other| same(file, other)) {
                    None => found.push(format!("{what} {path} was not there")),
                    Some(other) if differs(other, file) => found.push(format!("{what} {path} has changed")),
                    Some(_) => {}
                }
            }
            let gone = then.iter().filter(|other| !now.iter().any(|file| same(file, other)));
            found.extend(gone.map(|file| format!("{what} {} is not given now", plain(&file["path"]))));
            if found.is_empty() && !now.iter().zip(then).all(|(file, other)| same(file, other)) {
                found.push(format!("{what} comes in another order"));
            }
        }
        found
    }

    /// The first input that is a stream: it cannot be read a second time, nor compared.
    pub fn stream(&self) -> Option<String> {
        let inputs = self.0.get("inputs").and_then(Value::as_array)?;
        let stream = inputs.iter().find(|input| is_stream(input))?;
        Some(plain(&stream["path"]))
    }
}

fn files<'f>(fields: &'f Map<String, Value>, list: &str) -> &'f [Value] {
    fields.get(list).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn is_stream(input: &Value) -> bool {
    input.get("bytes").is_none()
}

/// Whether two files differ, as far as both are known: a run that reads its input once and was stopped has no digests,
/// and nothing that another run would go on with.
fn differs(one: &Value, other: &Value) -> bool {
    let both_read = [one, other].iter().all(|file| file.get("xxh3").is_some());
    // A cluster's file system tells when a file was changed.
    let known: &[&str] = if both_read { &["bytes", "xxh3"] } else { &["bytes", "changed"] };
    known.iter().any(|field| one.get(field) != other.get(field))
}

/// Names, sizes and checksums of files.
pub fn digests<'a>(paths: impl Iterator<Item = &'a Path>) -> Result<Value> {
    paths.map(digest).collect::<Result<Vec<_>>>().map(Value::from)
}

/// A file's name as it was given, and where that is: it is found from another folder, too.
pub fn file(path: &Path) -> Value {
    let mut fields = json!({ "path": visible::stored(path) });
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let (true, Some(name), Ok(folder)) = (path != Path::new("-"), path.file_name(), folder.canonicalize())
    {
        fields["absolute"] = visible::stored(&folder.join(name)).into();
    }
    fields
}

/// A file's name and size; of a stream the name alone.
fn size(path: &Path) -> Result<Value> {
    let mut fields = file(path);
    if path != Path::new("-") && path.is_file() {
        fields["bytes"] = path.metadata().map_err(Error::io("read", path))?.len().into();
    }
    Ok(fields)
}

/// What was written under a name: of a folder all files below it, by their paths in it.
pub fn digest_of_output(path: &Path) -> Result<Value> {
    let mut fields = digest(path)?;
    if path.is_dir() {
        let of_file = |name: PathBuf| {
            let Contents { bytes, xxh3 } = contents(&path.join(&name))?;
            Ok(json!({ "path": visible::stored(&name), "bytes": bytes, "xxh3": xxh3 }))
        };
        let files = files_below(path)?.into_iter().map(of_file);
        fields[FILES_OF_FOLDER] = files.collect::<Result<Vec<_>>>()?.into();
    }
    Ok(fields)
}

/// A file's name, size and checksum as it stands on disk; of a stream the name alone.
pub fn digest(path: &Path) -> Result<Value> {
    let mut fields = file(path);
    if path != Path::new("-") && path.is_file() {
        let Contents { bytes, xxh3 } = contents(path)?;
        (fields["bytes"], fields["xxh3"]) = (bytes.into(), xxh3.into());
    }
    Ok(fields)
}
