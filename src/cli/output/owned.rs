//! What in an output folder a run has recorded as its own: what `run.json` lists, and the `_work` of a manifest. All else
//! is somebody else's and stays.

use crate::error::{Error, Result};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;

/// The record of a whole answer.
pub const RUN: &str = "run.json";
/// The record of an answer that a program for Spark wrote without a driver.
pub const COUNTERS: &str = "counters.json";
/// The page of `twinsplit report`.
pub const REPORT: &str = "report.html";
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
const FILES: [&str; 7] = [RUN, "pairs.tsv", "clusters.tsv", "kept.jsonl", "quarantine.tsv", COUNTERS, REPORT];
const FOLDERS: [&str; 4] = ["pairs", "clusters", "kept", "quarantine"];

/// The names that a record lists, its own among them; none when it is no record of ours.
pub fn recorded(path: &Path) -> BTreeSet<String> {
    let Some(value) = json(path) else { return BTreeSet::new() };
    let of_driver = value["twinsplit"].is_string() && value["chain"].is_string();
    let of_program = value["manifest"].is_object() && value["steps"].is_array();
    let (true, Some(outputs)) = (of_driver || of_program, value["outputs"].as_array()) else {
        return BTreeSet::new();
    };
    let names = outputs.iter().filter_map(|output| Path::new(output["path"].as_str()?).file_name()?.to_str());
    let own = path.file_name().and_then(|name| name.to_str());
    names
        .chain(own)
        .filter(|name| FILES.contains(name) || FOLDERS.contains(name))
        .map(str::to_owned)
        .collect()
}

/// The names of what is in a folder and a run recorded there.
pub fn owned(folder: &Path) -> BTreeSet<String> {
    let mut names = recorded(&folder.join(RUN));
    names.append(&mut recorded(&folder.join(COUNTERS)));
    if names.contains(RUN) && is_page(&folder.join(REPORT)) {
        names.insert(REPORT.to_owned());
    }
    names
}

/// Refuses a folder that holds something with a name of a run's that is not among `owned`, or is not of the kind that
/// a run makes: all of it is named.
pub fn refuse_others(folder: &Path, owned: &BTreeSet<String>) -> Result<()> {
    let mut others = Vec::new();
    for (name, is_folder) in
        FILES.map(|name| (name, false)).into_iter().chain(FOLDERS.map(|name| (name, true)))
    {
        let Ok(meta) = folder.join(name).symlink_metadata() else { continue };
        let is_kind = if is_folder { meta.is_dir() } else { meta.is_file() };
        if !(is_kind && owned.contains(name)) {
            let link = if meta.is_symlink() { " (a link)" } else { "" };
            others.push(format!("{}{link}", folder.join(name).display()));
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

/// Whether a page was written by `twinsplit report`.
pub fn is_page(path: &Path) -> bool {
    let mut head = String::new();
    is_file(path)
        && fs::File::open(path).and_then(|file| file.take(4096).read_to_string(&mut head)).is_ok()
        && head.contains(REPORT_MARK)
}

/// Whether `_work` is a run's own: a folder, and no link to one, that holds the manifest of a run, or nothing at all
/// because its run was stopped before it wrote one. An error when it is anything else; false when it is not there.
pub fn is_work(work: &Path) -> Result<bool> {
    let Ok(meta) = work.symlink_metadata() else { return Ok(false) };
    let is_ours = meta.is_dir() && !work.join(LOCK).is_symlink() && (has_manifest(work) || is_bare(work)?);
    if is_ours {
        return Ok(true);
    }
    let what = if meta.is_symlink() { "is a link" } else { "was made by no run" };
    Err(Error::Usage(format!(
        "{} {what}, and a run works in a folder of this name of its own; move it, or choose another --output",
        work.display()
    )))
}

/// Whether a run, or a script, has left its manifest.
pub fn has_manifest(work: &Path) -> bool {
    let of_driver = json(&work.join(MANIFEST)).is_some_and(|value| {
        let program = value["program"].as_str().unwrap_or_default();
        value["twinsplit"].is_string() && value["chain"].is_string() || program.starts_with("twinsplit ")
    });
    let script = work.join(SCRIPT_MANIFEST);
    let first = || fs::read_to_string(&script).unwrap_or_default();
    of_driver || is_file(&script) && first().trim_start_matches("# ").starts_with("twinsplit ")
}

/// Whether a folder holds no more than a run does before its manifest and after it.
fn is_bare(work: &Path) -> Result<bool> {
    for entry in fs::read_dir(work).map_err(Error::io("read", work))? {
        let entry = entry.map_err(Error::io("read", work))?;
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let meta = path.symlink_metadata().map_err(Error::io("read", &path))?;
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
fn json(path: &Path) -> Option<Value> {
    let text = is_file(path).then(|| fs::read(path).ok())??;
    serde_json::from_slice(&text).ok()
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_file())
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
