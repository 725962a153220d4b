//! What in an output folder a run has recorded as its own: what `run.json` lists, and the `_work` of a manifest. All else
//! is somebody else's and stays.

use super::files::{Files, Kind, Local};
use crate::convert::UNREAD;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use twinsplit_core::visible;
use twinsplit_engine::stores::{BATCHES, CHANGES};
use twinsplit_io::contents;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::chains::SAMPLE;

/// The record of a whole answer.
pub const RUN: &str = "run.json";
/// The record of an answer that a program for Spark wrote without a driver.
pub const COUNTERS: &str = "counters.json";
/// The page of `twinsplit report`.
pub const REPORT: &str = "report.html";
/// The documents that a run has converted before it read them.
pub const DOCUMENTS: &str = "documents.jsonl";
/// The units that a run has divided its documents into before it read them.
pub const UNITS: &str = "units.jsonl";
/// What is cut out of documents, and the documents of which something is.
pub const CUT: &str = "cut.tsv";
/// See [`CUT`].
pub const CUT_DOCUMENTS: &str = "cut-documents.tsv";
/// The lines of kept documents.
pub const KEPT: &str = "kept.jsonl";
/// The folder of the files of kept documents: one for each file of the input, or on a cluster one of each task.
pub const KEPT_FILES: &str = "kept";
/// Where in the folder of a run the files of its answer lie until all are complete.
pub const ANSWER: &str = "_answer";
/// The folder of a run that is at work.
pub const WORK: &str = "_work";
/// The manifest of the run in it.
pub const MANIFEST: &str = "_run.json";
/// The manifest of a script.
const SCRIPT_MANIFEST: &str = "_same";
/// The lock of the run in it.
pub const LOCK: &str = "_lock";
/// Where an old answer goes when the new one takes its place.
pub const REPLACED: &str = "_replaced";
/// What stands in the head of a page of `twinsplit report`.
pub const REPORT_MARK: &str = "<meta name=\"generator\" content=\"twinsplit ";

/// All names that runs, of whichever engine, give to what they leave for good.
const FILES: [&str; 22] = [
    RUN,
    "pairs.tsv",
    "pairs.jsonl",
    "pairs.parquet",
    "clusters.tsv",
    "clusters.jsonl",
    "clusters.parquet",
    KEPT,
    "quarantine.tsv",
    CHANGES,
    BATCHES,
    DOCUMENTS,
    UNREAD,
    UNITS,
    CUT,
    "cut.jsonl",
    "cut.parquet",
    CUT_DOCUMENTS,
    "cut-documents.jsonl",
    "cut-documents.parquet",
    COUNTERS,
    REPORT,
];
const FOLDERS: [&str; 5] = ["pairs", "clusters", KEPT_FILES, "quarantine", SAMPLE];

/// The names that a record lists, its own among them; none when it is no record of ours.
pub fn recorded_in(files: &dyn Files, path: &Path) -> Result<BTreeSet<String>> {
    let Some(value) = json(files, path)? else { return Ok(BTreeSet::new()) };
    let of_driver = value["twinsplit"].is_string() && value["chain"].is_string();
    let of_program = value["manifest"].is_object() && value["steps"].is_array();
    let (true, Some(outputs)) = (of_driver || of_program, value["outputs"].as_array()) else {
        return Ok(BTreeSet::new());
    };
    let names = outputs.iter().filter_map(|output| Path::new(output["path"].as_str()?).file_name()?.to_str());
    let own = path.file_name().and_then(|name| name.to_str());
    let known = names.chain(own).filter(|name| FILES.contains(name) || FOLDERS.contains(name));
    Ok(known.map(str::to_owned).collect())
}

/// The names that a record on this machine lists.
pub fn recorded(path: &Path) -> BTreeSet<String> {
    recorded_in(&Local, path).unwrap_or_default()
}

/// The names of what is in a folder and a run recorded there.
pub fn owned_in(files: &dyn Files, folder: &Path) -> Result<BTreeSet<String>> {
    let mut names = recorded_in(files, &folder.join(RUN))?;
    names.append(&mut recorded_in(files, &folder.join(COUNTERS))?);
    if names.contains(RUN) && is_page_in(files, &folder.join(REPORT))? {
        names.insert(REPORT.to_owned());
    }
    Ok(names)
}

/// The names of what is in a folder on this machine and a run recorded there.
pub fn owned(folder: &Path) -> BTreeSet<String> {
    owned_in(&Local, folder).unwrap_or_default()
}

/// Refuses a folder that holds something with a name of a run's that is not among `owned`, or is not of the kind that
/// a run makes: all of it is named.
pub fn refuse_others_in(files: &dyn Files, folder: &Path, owned: &BTreeSet<String>) -> Result<()> {
    let mut others = Vec::new();
    let (names, folders) = (FILES.map(|name| (name, Kind::File)), FOLDERS.map(|name| (name, Kind::Folder)));
    for (name, expected) in names.into_iter().chain(folders) {
        let Some(kind) = files.kind(&folder.join(name))? else { continue };
        if !(kind == expected && owned.contains(name)) {
            let link = if kind == Kind::Link { " (a link)" } else { "" };
            others.push(format!("{}{link}", visible::path(&folder.join(name))));
        }
    }
    if others.is_empty() {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "{} in the way: no run recorded {} as its own, so none replaces it; move it, or choose another --output",
        match &others[..] {
            [one] => format!("{one} stands"),
            several => format!("{} stand", several.join(", ")),
        },
        if others.len() == 1 { "it" } else { "them" }
    )))
}

/// The same for a folder on this machine.
pub fn refuse_others(folder: &Path, owned: &BTreeSet<String>) -> Result<()> {
    refuse_others_in(&Local, folder, owned)
}

/// A file that a run has recorded: where it is, its length and its digest.
type Recorded = (PathBuf, u64, String);

/// The files that the run of a folder has recorded. In a folder whose files are recorded there is nothing else.
fn recorded_files(folder: &Path) -> Result<Vec<Recorded>> {
    let record = json(&Local, &folder.join(RUN))?.unwrap_or_default();
    let owned = recorded(&folder.join(RUN));
    let mut known = Vec::new();
    let mut add = |path: PathBuf, output: &Value| {
        if let (Some(bytes), Some(xxh3)) = (output["bytes"].as_u64(), output["xxh3"].as_str()) {
            known.push((path, bytes, xxh3.to_owned()));
        }
    };
    for output in record["outputs"].as_array().into_iter().flatten() {
        let name = output["path"].as_str().and_then(|path| Path::new(path).file_name()?.to_str());
        let Some(name) = name.filter(|name| owned.contains(*name)) else { continue };
        add(folder.join(name), output);
        let Some(files) = output[FILES_OF_FOLDER].as_array() else { continue };
        let name_of = |file: &Value| visible::named(file["path"].as_str().unwrap_or_default());
        let names: BTreeSet<_> = files.iter().map(name_of).collect();
        let (inside, found) = (folder.join(name), files_below(&folder.join(name))?);
        if let Some(other) = found.into_iter().find(|found| !names.contains(found)) {
            return Err(not_ours(&inside.join(other), "was put there after the run that wrote the folder"));
        }
        files.iter().for_each(|file| add(inside.join(name_of(file)), file));
    }
    Ok(known)
}

/// Refuses to replace what was changed after a run recorded it: lengths are looked at first, then digests.
pub fn refuse_edited(folder: &Path) -> Result<()> {
    let mut known = recorded_files(folder)?;
    known.retain(|(path, ..)| path.is_file());
    let mut changed = None;
    for (path, bytes, _) in &known {
        let length = path.metadata().map_err(Error::io("look at", path))?.len();
        changed = changed.or_else(|| (length != *bytes).then_some(path));
    }
    for (path, _, xxh3) in &known {
        if changed.is_none() && contents(path)?.xxh3 != *xxh3 {
            changed = Some(path);
        }
    }
    match changed {
        None => Ok(()),
        Some(path) => Err(not_ours(path, "was changed after the run that wrote it")),
    }
}

/// Refuses to call an answer complete of which a file is missing.
pub fn refuse_missing(folder: &Path) -> Result<()> {
    match recorded_files(folder)?.into_iter().find(|(path, ..)| !path.is_file()) {
        None => Ok(()),
        Some((path, ..)) => Err(Error::Usage(format!(
            "{} is missing, which {RUN} beside it records; --overwrite makes the answer again",
            visible::path(&path)
        ))),
    }
}

fn not_ours(path: &Path, why: &str) -> Error {
    Error::Usage(format!(
        "{} {why}: it is not what {RUN} beside it records, so it is not replaced; move it, or choose another --output",
        visible::path(path)
    ))
}

/// The field of a folder among the outputs that lists the files in it.
pub const FILES_OF_FOLDER: &str = "files";

/// The paths below a folder of all that is no folder, in byte order; none where it is not there.
pub fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(inside) = folders.pop() {
        let at = folder.join(&inside);
        if !at.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&at).map_err(Error::io("read", &at))? {
            let entry = entry.map_err(Error::io("read", &at))?;
            let kind = entry.file_type().map_err(Error::io("look at", &entry.path()))?;
            let into = if kind.is_dir() { &mut folders } else { &mut files };
            into.push(inside.join(entry.file_name()));
        }
    }
    files.sort_by(|x, y| x.as_os_str().cmp(y.as_os_str()));
    Ok(files)
}

/// Refuses input that a run would replace: what lies in the folder under a name of a run's, or is the same file.
pub fn refuse_inputs<'p>(folder: &Path, inputs: impl Iterator<Item = &'p Path>) -> Result<()> {
    let Some(real) = folder.canonicalize().ok().filter(|real| real.is_dir()) else { return Ok(()) };
    let identity = |path: &Path| path.metadata().ok().map(|meta| (meta.dev(), meta.ino()));
    let own: BTreeSet<_> = FILES.iter().filter_map(|name| identity(&real.join(name))).collect();
    let is_replaced = |path: &Path| {
        let inside = path.canonicalize().ok();
        let inside = inside.as_ref().and_then(|path| path.strip_prefix(&real).ok());
        let first = inside.and_then(|inside| inside.components().next()?.as_os_str().to_str());
        let is_named =
            first.is_some_and(|name| FILES.contains(&name) || FOLDERS.contains(&name) || name == WORK);
        is_named || identity(path).is_some_and(|path| own.contains(&path))
    };
    match inputs.into_iter().find(|path| is_replaced(path)) {
        None => Ok(()),
        Some(path) => Err(Error::Usage(format!(
            "{}, which this run reads, is a file of the answer in {}, which a run replaces; copy it to another place, or choose \
             another --output",
            visible::path(path),
            visible::path(folder)
        ))),
    }
}

/// Whether a page was written by `twinsplit report`.
pub fn is_page_in(files: &dyn Files, path: &Path) -> Result<bool> {
    if files.kind(path)? != Some(Kind::File) {
        return Ok(false);
    }
    Ok(String::from_utf8_lossy(&files.read(path, 4096)?).contains(REPORT_MARK))
}

/// Whether a page on this machine was written by `twinsplit report`.
pub fn is_page(path: &Path) -> bool {
    is_page_in(&Local, path).unwrap_or(false)
}

/// Whether `_work` is a run's own: a folder, and no link to one, that holds the manifest of a run, or nothing at all
/// because its run was stopped before it wrote one. An error when it is anything else; false when it is not there.
pub fn is_work(work: &Path) -> Result<bool> {
    let Ok(meta) = work.symlink_metadata() else { return Ok(false) };
    // Another run may write its manifest meanwhile, after which the folder is bare no more.
    let has_begun = || Ok::<bool, Error>(has_manifest(work) || is_bare(work)? || has_manifest(work));
    let is_ours = meta.is_dir() && !work.join(LOCK).is_symlink() && has_begun()?;
    if is_ours {
        return Ok(true);
    }
    let what = if meta.is_symlink() { "is a link" } else { "was made by no run" };
    Err(Error::Usage(format!(
        "{} {what}, and a run works in a folder of this name of its own; move it, or choose another --output",
        visible::path(work)
    )))
}

/// Whether a run, or a script, has left its manifest.
pub fn has_manifest_in(files: &dyn Files, work: &Path) -> Result<bool> {
    let of_run = json(files, &work.join(MANIFEST))?.is_some_and(|value| {
        let program = value["program"].as_str().unwrap_or_default();
        value["twinsplit"].is_string() && value["chain"].is_string() || program.starts_with("twinsplit ")
    });
    let script = work.join(SCRIPT_MANIFEST);
    if of_run || files.kind(&script)? != Some(Kind::File) {
        return Ok(of_run);
    }
    Ok(String::from_utf8_lossy(&files.read(&script, 4096)?)
        .trim_start_matches("# ")
        .starts_with("twinsplit "))
}

/// Whether a run, or a script, has left its manifest on this machine.
pub fn has_manifest(work: &Path) -> bool {
    has_manifest_in(&Local, work).unwrap_or(false)
}

/// Whether `_work` is a run's own, and its manifest is there.
pub fn is_begun(work: &Path) -> Result<bool> {
    Ok(is_work(work)? && has_manifest(work))
}

/// Whether a folder holds no more than a run does before its manifest and after it.
fn is_bare(work: &Path) -> Result<bool> {
    let entries = match fs::read_dir(work) {
        // Its run has just ended.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(true),
        entries => entries.map_err(Error::io("read", work))?,
    };
    for entry in entries {
        let entry = entry.map_err(Error::io("read", work))?;
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let meta = match path.symlink_metadata() {
            // Its run has just given it its name.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            meta => meta.map_err(Error::io("read", &path))?,
        };
        let is_begun = name.starts_with(MANIFEST) && name.ends_with(".partial") && meta.is_file();
        let is_lock = name == LOCK && meta.is_file() && meta.len() == 0;
        let is_replaced =
            || name == REPLACED && fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_none());
        if !(is_begun || is_lock || meta.is_dir() && is_replaced()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What a file of JSON holds, where there is one and it is no link.
pub fn json(files: &dyn Files, path: &Path) -> Result<Option<Value>> {
    if files.kind(path)? != Some(Kind::File) {
        return Ok(None);
    }
    Ok(serde_json::from_slice(&files.read(path, u64::MAX)?).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &Path) -> Vec<String> {
        recorded(path).into_iter().collect()
    }

    #[test]
    fn a_record_owns_what_it_lists_under_names_of_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(RUN);
        let write = |text: &str| fs::write(&path, text).unwrap();
        write(
            r#"{"twinsplit":"1","chain":"c","outputs":[{"path":"a/pairs.tsv"},{"path":"/etc/passwd"},{"path":".."}]}"#,
        );
        assert_eq!(names(&path), ["pairs.tsv", "run.json"]);
        for other in
            [r#"{"outputs":[{"path":"pairs.tsv"}]}"#, r#"{"twinsplit":"1","chain":"c"}"#, "[]", "mine", ""]
        {
            write(other);
            assert!(names(&path).is_empty(), "{other}");
        }
        fs::rename(&path, folder.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        assert!(names(&path).is_empty(), "a link is no record");
    }
}
