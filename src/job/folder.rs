//! The folder of an answer that a script makes on a cluster: what may be replaced, what goes on, and how a complete answer
//! comes to its place. `Output` does the same for the runs of one machine, which have a lock besides.
//!
//! A script works in `_work`, whose manifest says whose it is. There, or in a folder of its own, the answer is put together,
//! its record last: from then on it is complete, and what is left to do is renaming. The old records go first, so that nothing
//! in between is taken for an answer, and the new one comes last. Whoever is called after a stop goes on where that was, by
//! the names that are left.

use crate::manifest::RunManifest;
use crate::output::files::{Files, Kind};
use crate::output::owned::{self, COUNTERS, MANIFEST, REPLACED, REPORT, RUN};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use twinsplit_io::error::{Error, Result};

/// The folder of an answer on a cluster.
pub struct Folder<'a> {
    /// Its file system.
    pub files: &'a dyn Files,
    /// The folder.
    pub output: PathBuf,
    /// Where the manifest lies.
    pub place: PathBuf,
    /// Where data sets in between lie, which may be elsewhere.
    pub work: PathBuf,
    /// Where the answer lies until it is complete.
    pub hidden: PathBuf,
    /// The record that ends an answer.
    pub record: &'static str,
}

/// What a script has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// All of it.
    Anew,
    /// What a run that was stopped did not do.
    GoesOn,
    /// Nothing: the answer is there.
    Complete,
}

/// What the user asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wishes {
    /// To go on with a run that was stopped.
    pub resume: bool,
    /// To replace an answer.
    pub overwrite: bool,
    /// To keep what lies in between.
    pub keep_work: bool,
}

impl Folder<'_> {
    /// Looks at what an earlier run left, compares with it, and leaves the manifest of this one.
    pub fn begin(&self, manifest: &RunManifest, wishes: Wishes) -> Result<Begun> {
        let Wishes { resume, overwrite, keep_work } = wishes;
        self.folders().into_iter().try_for_each(|folder| self.refuse_foreign(folder))?;
        let mut stopped = self.manifest()?;
        if (resume || overwrite) && self.is_complete()? {
            if let Some(earlier) = stopped.as_ref().filter(|_| resume) {
                compare(manifest, earlier, &self.place)?;
            }
            self.swap(overwrite)?;
        }
        // A run that has published its answer is over.
        if self.has(&self.place, REPLACED)? && !self.is_complete()? {
            if !stopped.as_ref().is_some_and(RunManifest::keeps_work) {
                self.end(false)?;
            }
            stopped = None;
        }
        let own = owned::owned_in(self.files, &self.output)?;
        if overwrite {
            owned::refuse_others_in(self.files, &self.output, &own)?;
            self.end(false)?;
        } else if let Some(earlier) = stopped {
            if !resume {
                return Err(Error::Failed(format!(
                    "{} holds a run that was stopped, or is at work: --resume (of a script in bash, RESUME=1) goes on with one that \
                     was stopped; remove the folder to begin anew",
                    self.place.display()
                )));
            }
            compare(manifest, &earlier, &self.place)?;
            self.files.remove(&[self.work.join("_tmp")])?;
            return Ok(Begun::GoesOn);
        } else if resume && own.contains(self.record) {
            let record = owned::json(self.files, &self.output.join(self.record))?.unwrap_or_default();
            compare(manifest, &manifest_of(record), &self.output)?;
            return Ok(Begun::Complete);
        } else {
            self.refuse_full()?;
        }
        self.folders().into_iter().try_for_each(|folder| self.files.make_folder(folder))?;
        for folder in self.folders() {
            if !self.files.create(&folder.join(MANIFEST), &manifest.text(overwrite, keep_work))? {
                return Err(Error::Failed(format!(
                    "another run has just begun in {}; wait for its end, or choose another folder",
                    folder.display()
                )));
            }
        }
        Ok(Begun::Anew)
    }

    /// Gives a complete answer its place, and removes what lies in between.
    pub fn publish(&self, wishes: Wishes) -> Result<()> {
        self.swap(wishes.overwrite)?;
        self.end(wishes.keep_work)
    }

    /// The manifest of the run that is at work or was stopped.
    pub fn manifest(&self) -> Result<Option<RunManifest>> {
        Ok(owned::json(self.files, &self.place.join(MANIFEST))?.map(manifest_of))
    }

    /// The folders of a run's own, which are one or two.
    fn folders(&self) -> Vec<&PathBuf> {
        if self.place == self.work { vec![&self.place] } else { vec![&self.place, &self.work] }
    }

    fn has(&self, folder: &Path, name: &str) -> Result<bool> {
        Ok(self.files.kind(&folder.join(name))?.is_some())
    }

    /// Whether the answer of a run that was stopped has only to get its place.
    fn is_complete(&self) -> Result<bool> {
        self.has(&self.hidden, self.record)
    }

    fn refuse_foreign(&self, folder: &Path) -> Result<()> {
        let what = match self.files.kind(folder)? {
            Some(Kind::Link) => "is a link",
            Some(Kind::File) => "is a file",
            Some(Kind::Folder)
                if !self.files.names(folder)?.is_empty() && !owned::has_manifest_in(self.files, folder)? =>
            {
                "was made by no run"
            }
            _ => return Ok(()),
        };
        let folder = folder.display();
        Err(Error::Usage(format!(
            "{folder} {what}, and a run works in a folder of its own; move it, or choose another folder"
        )))
    }

    fn refuse_full(&self) -> Result<()> {
        for folder in [&self.output, &self.work] {
            let is_own = |name: &String| self.folders().contains(&&folder.join(name));
            if let Some(name) = self.files.names(folder)?.iter().find(|name| !is_own(name)) {
                return Err(Error::Failed(format!(
                    "{} holds {name}: it may be an answer; remove it, or choose another folder",
                    folder.display()
                )));
            }
        }
        Ok(())
    }

    /// The answer comes to its place, and an old one goes to `_replaced`.
    fn swap(&self, replaces: bool) -> Result<()> {
        let new = owned::recorded_in(self.files, &self.hidden.join(self.record))?;
        let mut moved = BTreeSet::new();
        for name in &new {
            if !self.has(&self.hidden, name)? {
                moved.insert(name.clone());
            }
        }
        // What was to be put away when this was stopped, and what is there now.
        let old = self.place.join(REPLACED);
        let mut own = owned::owned_in(self.files, &old)?;
        if own.contains(RUN) && owned::is_page_in(self.files, &self.output.join(REPORT))? {
            own.insert(REPORT.to_owned());
        }
        if replaces || self.manifest()?.is_some_and(|manifest| manifest.replaces()) {
            own.append(&mut owned::owned_in(self.files, &self.output)?);
        }
        own.retain(|name| !moved.contains(name));
        owned::refuse_others_in(self.files, &self.output, &own.union(&moved).cloned().collect())?;
        self.files.make_folder(&old)?;
        let mut rest = Vec::new();
        for name in own {
            if self.has(&self.output, &name)? {
                rest.push(name);
            }
        }
        let is_record = |name: &String| name == RUN || name == COUNTERS;
        let (records, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(is_record);
        self.files.rename(&records, &self.output, &old)?;
        self.files.rename(&others, &self.output, &old)?;
        let (record, others): (Vec<_>, Vec<_>) =
            new.difference(&moved).cloned().partition(|name| name == self.record);
        self.files.rename(&others, &self.hidden, &self.output)?;
        self.files.rename(&record, &self.hidden, &self.output)
    }

    /// Removes what a run that is over has no more use for. The manifest goes last, for what it does not name is nobody's; what
    /// is kept tells by its `_replaced` that the run is over.
    fn end(&self, keep: bool) -> Result<()> {
        if keep {
            let old = self.place.join(REPLACED);
            let mut rest: Vec<_> = self.files.names(&old)?.iter().map(|name| old.join(name)).collect();
            if self.hidden != self.work {
                rest.push(self.hidden.clone());
            }
            return self.files.remove(&rest);
        }
        for folder in self.folders() {
            if self.files.kind(folder)?.is_some() {
                let rest =
                    self.files.names(folder)?.into_iter().filter(|name| name != MANIFEST && name != REPLACED);
                self.files.remove(&rest.map(|name| folder.join(name)).collect::<Vec<_>>())?;
                self.files.remove(std::slice::from_ref(folder))?;
            }
        }
        Ok(())
    }
}

/// The manifest that a record holds, or is.
fn manifest_of(mut value: Value) -> RunManifest {
    let value = if value["manifest"].is_object() { value["manifest"].take() } else { value };
    RunManifest::from_fields(value.as_object().cloned().unwrap_or_default())
}

fn compare(manifest: &RunManifest, earlier: &RunManifest, place: &Path) -> Result<()> {
    let differences = manifest.differences(earlier);
    if differences.is_empty() {
        return Ok(());
    }
    Err(Error::Failed(format!(
        "{} is of a run with other options, or of another input: {}; remove it to begin anew",
        place.display(),
        differences.join("; ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::files::Local;
    use serde_json::json;
    use std::cell::Cell;
    use std::fs;

    /// This machine's files, until so many changes were made.
    struct Until(Cell<usize>);

    impl Until {
        fn change(&self) -> Result<()> {
            match self.0.get().checked_sub(1) {
                Some(left) => {
                    self.0.set(left);
                    Ok(())
                }
                None => Err(Error::Failed("stopped".to_owned())),
            }
        }
    }

    impl Files for Until {
        fn kind(&self, path: &Path) -> Result<Option<Kind>> {
            Local.kind(path)
        }
        fn names(&self, folder: &Path) -> Result<Vec<String>> {
            Local.names(folder)
        }
        fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>> {
            Local.read(path, limit)
        }
        fn create(&self, path: &Path, text: &str) -> Result<bool> {
            self.change().and_then(|()| Local.create(path, text))
        }
        fn make_folder(&self, path: &Path) -> Result<()> {
            self.change().and_then(|()| Local.make_folder(path))
        }
        fn rename(&self, names: &[String], from: &Path, to: &Path) -> Result<()> {
            let one = |name: &String| {
                self.change().and_then(|()| Local.rename(std::slice::from_ref(name), from, to))
            };
            names.iter().try_for_each(one)
        }
        fn remove(&self, paths: &[PathBuf]) -> Result<()> {
            paths
                .iter()
                .try_for_each(|path| self.change().and_then(|()| Local.remove(std::slice::from_ref(path))))
        }
    }

    fn manifest(tau: &str) -> RunManifest {
        let value = json!({ "twinsplit": "1", "chain": "c", "engine": "e", "parameters": { "tau": tau } });
        RunManifest::from_fields(value.as_object().unwrap().clone())
    }

    /// Both ways in which an answer lies beside its place.
    fn folder<'a>(files: &'a dyn Files, output: &Path, apart: bool) -> Folder<'a> {
        let (output, place) = (output.to_owned(), output.join("_work"));
        let (hidden, record) = if apart { (place.join("_answer"), COUNTERS) } else { (place.clone(), RUN) };
        Folder { files, output, work: place.clone(), place, hidden, record }
    }

    fn write(path: PathBuf, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Leaves a complete answer that has not its place yet, of a run that replaces an answer of one machine and its page.
    fn complete(of: &Folder<'_>) {
        let old = json!({ "twinsplit": "1", "chain": "c", "outputs": [{ "path": "x/pairs.tsv" }] });
        write(of.output.join(RUN), &old.to_string());
        write(of.output.join("pairs.tsv"), "old");
        write(of.output.join(REPORT), "<meta name=\"generator\" content=\"twinsplit 1\">");
        of.begin(&manifest("1"), Wishes { overwrite: true, ..Wishes::default() }).unwrap();
        write(of.hidden.join("pairs/part-0"), "new");
        write(of.hidden.join("clusters/part-0"), "new");
        let outputs = json!([{ "path": "o/pairs" }, { "path": "o/clusters" }]);
        let mut record = Value::from(manifest("1").fields().clone());
        if of.record == COUNTERS {
            record = json!({ "manifest": record, "steps": [] });
        }
        record["outputs"] = outputs;
        write(of.hidden.join(of.record), &record.to_string());
    }

    /// Stopped after any change, it is ended by whoever comes next; the old answer is whole, or the new one is, or nothing
    /// looks like one.
    #[test]
    fn a_swap_that_was_stopped_is_ended() {
        for apart in [false, true] {
            let mut stopped = 0;
            for changes in 0.. {
                let place = tempfile::tempdir().unwrap();
                let output = place.path().join("out");
                complete(&folder(&Local, &output, apart));
                let until = Until(Cell::new(changes));
                let ended = folder(&until, &output, apart).publish(Wishes::default());
                let records = [RUN, COUNTERS].map(|name| output.join(name).exists());
                if output.join("pairs.tsv").exists() && records[0] {
                    assert!(output.join(REPORT).exists() && !output.join("pairs").exists() && !records[1]);
                }
                if records[usize::from(apart)] && !output.join("pairs.tsv").exists() {
                    assert!(output.join("pairs").exists() && output.join("clusters").exists());
                }
                let of = folder(&Local, &output, apart);
                let again = of.begin(&manifest("1"), Wishes { resume: true, ..Wishes::default() });
                assert_eq!(again.unwrap(), Begun::Complete, "{apart} {changes}");
                let mut names = ["clusters", of.record, "pairs"].map(str::to_owned);
                names.sort();
                assert_eq!(Local.names(&output).unwrap(), names);
                let other = of.begin(&manifest("2"), Wishes { resume: true, ..Wishes::default() });
                let said = other.unwrap_err().to_string();
                assert!(said.contains("--tau was 1 and is 2"), "{said}");
                stopped += usize::from(ended.is_err());
                if ended.is_ok() {
                    break;
                }
            }
            assert!(stopped >= 7, "{stopped}");
        }
    }

    #[test]
    fn what_no_run_made_is_refused_and_stays() {
        let place = tempfile::tempdir().unwrap();
        let output = place.path().join("out");
        let of = folder(&Local, &output, true);
        let begin = |wishes: Wishes| of.begin(&manifest("1"), wishes);
        let overwrite = Wishes { overwrite: true, ..Wishes::default() };
        write(output.join("pairs/part-0"), "mine");
        assert!(begin(Wishes::default()).unwrap_err().to_string().contains("holds pairs"));
        assert!(begin(overwrite).unwrap_err().to_string().contains("pairs stands in the way"));
        fs::remove_dir_all(output.join("pairs")).unwrap();
        write(output.join("_work/file"), "mine");
        assert!(begin(overwrite).unwrap_err().to_string().contains("was made by no run"));
        fs::remove_dir_all(output.join("_work")).unwrap();
        assert_eq!(begin(overwrite).unwrap(), Begun::Anew);
        // Another one that looked at the same moment finds the manifest there.
        assert!(begin(Wishes::default()).unwrap_err().to_string().contains("was stopped, or is at work"));
        assert_eq!(begin(Wishes { resume: true, ..Wishes::default() }).unwrap(), Begun::GoesOn);
        assert!(!Local.create(&output.join("_work/_run.json"), "").unwrap());
    }
}
