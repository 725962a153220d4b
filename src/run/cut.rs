//! `--unit`: what is cut out of documents, and the documents without it.
//!
//! The chain has compared units of documents, such as paragraphs, as it compares documents, and clusters say of which units there are others
//! that stay. Two passes follow. The first one goes through the units and lists those that are cut, in the order of the documents ([`list`]), for which it holds
//! clusters in memory, as many as fit at a time ([`parts`]). The second one reads the documents as they were given and the list beside them, which is in
//! the same order, and so holds one document ([`rest`]).

mod list;
mod parts;
mod rest;
mod said;

use crate::convert::{InFront, UNIT};
use crate::options::RunOpts;
use crate::output::owned::{CUT, CUT_DOCUMENTS, KEPT, UNITS};
use crate::same_form::{size, stamp};
use parts::Part;
pub use said::{nouns, of_documents, said};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};
use twinsplit_engine::progress::{Done, Progress, Unit};
use twinsplit_engine::steps::answer_file;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::chains::CLUSTERS;
use twinsplit_rows::params::Params;
use twinsplit_rows::plan::{Given, KeptForm, Origin, Plan};
use twinsplit_rows::record::document::DocumentOpts;
use twinsplit_sources::{SourceOpts, UnitOpts};

/// What is cut out of the documents of a run.
pub struct Cut {
    /// How the units are read.
    document: DocumentOpts,
    /// Bytes for clusters.
    room: usize,
    /// In how many documents a unit stands that is cut out everywhere.
    everywhere: Option<usize>,
    /// The documents, where they are written without what is cut.
    rest: Option<Documents>,
}

/// Documents that are read again.
struct Documents {
    files: Vec<PathBuf>,
    /// Of each, how long it was before the run has read it, and when it was written last.
    stamps: Vec<Option<(u64, SystemTime)>>,
    source: SourceOpts,
    units: UnitOpts,
}

/// Which units stay, where nothing else is asked for: the first of each cluster, in which all others are in a pair with it.
pub fn settle(given: &mut Given) {
    given.set_missing("cluster", "star", Origin::Follows(UNIT));
    given.set_missing("keep", "first", Origin::Follows(UNIT));
}

/// The name of the step, and of its counters.
const STEP: &str = "cut";
/// Units that are cut, and those of them of which none stays.
const UNITS_CUT: &str = "units_cut";
/// See [`UNITS_CUT`].
const CUT_EVERYWHERE: &str = "units_cut_everywhere";
/// Documents with units, those of which some are cut, and those of which all are.
const WITH_UNITS: &str = "documents_with_units";
/// See [`WITH_UNITS`].
const DOCUMENTS_CUT: &str = "documents_cut";
/// See [`WITH_UNITS`].
const EMPTIED: &str = "documents_emptied";
/// Characters of all units, and of those that are cut.
const CHARACTERS: &str = "characters";
/// See [`CHARACTERS`].
const CHARACTERS_CUT: &str = "characters_cut";
/// Documents that were written.
const WRITTEN: &str = "documents_kept";

/// Counters by their names.
type Counters = BTreeMap<String, u64>;

impl Cut {
    /// That of a run over these files, if it compares units. `asked` are its options as they were given.
    ///
    /// # Errors
    /// When it has no clusters, or the documents are to be written in a form that these are not.
    pub fn of(
        plan: &Plan,
        (files, in_front): (&[PathBuf], Option<&InFront>),
        asked: &Params,
        (write_kept, everywhere): (Option<KeptForm>, Option<u32>),
        memory: usize,
    ) -> Result<Option<Self>> {
        let units = in_front.map(|in_front| in_front.units(asked)).transpose()?.flatten();
        let (Some(in_front), Some(units)) = (in_front, units) else {
            return match everywhere {
                None => Ok(None),
                Some(_) => {
                    Err(refused("--cut-all goes with --unit, which divides documents into what can be cut"))
                }
            };
        };
        let rest = match write_kept {
            None => None,
            Some(KeptForm::Same) => {
                return Err(refused(
                    "--write-kept=same writes whole documents; with --unit they are written as JSON lines without what is cut: leave =same out",
                ));
            }
            Some(KeptForm::Jsonl) => {
                super::refuse_streams(
                    files,
                    "--write-kept with --unit reads the documents again, to write them without what is cut",
                )?;
                let stamps = files.iter().map(|file| stamp(file)).collect();
                Some(Documents { files: files.to_vec(), stamps, source: in_front.source(asked)?, units })
            }
        };
        let everywhere = everywhere.map(|least| least as usize);
        Ok(Some(Self { document: plan.params.parse()?, room: memory / 2, everywhere, rest }))
    }

    /// The files that it writes beside those of the chain.
    pub fn files(&self) -> Vec<&'static str> {
        files(self.rest.is_some())
    }

    /// Writes them into the folder of an answer, where the clusters and the units are.
    pub fn write(&self, answer: &Path, progress: &Progress) -> Result<Done> {
        let start = Instant::now();
        let (clusters, units) = (answer.join(answer_file(CLUSTERS)), answer.join(UNITS));
        let cut = parts::Cut::read(&clusters, self.everywhere)?;
        let mut earlier = Vec::new();
        let mut part = Part::read(&clusters, &cut, 0, self.room)?;
        let mut done = part.len();
        while done < cut.count {
            progress.start(STEP, "reading", Unit::Bytes, size(&units));
            let file = answer.join(format!("{CUT}-{}.partial", earlier.len()));
            list::write_part(&units, &self.document, &part, &file, progress)?;
            earlier.push(file);
            // What was held goes before more is.
            drop(part);
            part = Part::read(&clusters, &cut, done, self.room)?;
            done += part.len();
        }
        progress.start(STEP, "reading", Unit::Bytes, size(&units));
        let mut counters = list::write(&units, &self.document, (&part, &earlier), answer, progress)?;
        for file in &earlier {
            std::fs::remove_file(file).map_err(Error::io("remove", file))?;
        }
        if counters.get(UNITS_CUT) != Some(&cut.count) {
            return Err(Error::Failed(format!(
                "{} of {} units to be cut were found in {UNITS}, which has changed; run again when nothing writes to it",
                counters.get(UNITS_CUT).unwrap_or(&0),
                cut.count
            )));
        }
        counters.insert(CUT_EVERYWHERE.to_owned(), cut.everywhere);
        drop(part);
        if let Some(documents) = &self.rest {
            progress.start(STEP, "writing", Unit::Bytes, documents.files.iter().map(|file| size(file)).sum());
            counters.insert(WRITTEN.to_owned(), documents.write(answer, progress)?);
        }
        Ok(Done { name: STEP.to_owned(), seconds: start.elapsed().as_secs_f64(), counters })
    }
}

/// The files that are written beside those of the chain.
pub fn files(writes_kept: bool) -> Vec<&'static str> {
    [CUT, CUT_DOCUMENTS].into_iter().chain(writes_kept.then_some(KEPT)).collect()
}

/// What is said of a run that compares units before it begins; `asked` are its options as they were given.
pub fn note(unit: twinsplit_core::text::units::Unit, asked: &Params) -> String {
    let [one, several] = unit.nouns();
    let stars = match asked.get("cluster") {
        None => "clusters are stars, so that each that is cut reaches tau with the one that stays, and ",
        Some(_) => "",
    };
    let first = if asked.get("keep").is_none() { "the first stays" } else { "--keep says which one stays" };
    format!(
        "each {one} is compared as a document of its own, and what is said of documents is said of {several}; {stars}{first}"
    )
}

/// The options that decide what is written, and their values, for `run.json`.
pub fn parameters(opts: &RunOpts) -> impl Iterator<Item = (&'static str, String)> {
    let all = opts.cut_all.map(|least| ("cut-all", least.to_string()));
    std::iter::once(("write-kept", opts.write_kept.is_some().to_string())).chain(all)
}

fn refused(why: &str) -> Error {
    Error::Usage(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Whatever room there is for clusters, the same is cut.
    #[test]
    fn clusters_that_do_not_fit_come_in_parts() {
        let folder = tempfile::tempdir().unwrap();
        let (mut units, mut clusters, mut expected) = (String::new(), Vec::new(), String::new());
        for document in 0..90 {
            for unit in 1..=4 {
                let (id, text) = (format!("d{document}#{unit}"), format!("text\\n {document} {unit}"));
                units += &format!(
                    "{{\"id\":\"{id}\",\"text\":\"{text}\",\"start\":{},\"end\":{}}}\n",
                    unit * 9,
                    unit * 9 + 8
                );
                if (document + unit) % 3 == 0 && document > 0 {
                    clusters.push(format!("d0#{unit}\t{id}\tdrop\t0.900000\n"));
                    expected += &format!(
                        "d{document}\t{unit}\t{}\t{}\td0\t{unit}\t0.900000\ttext {document} {unit}\n",
                        unit * 9,
                        unit * 9 + 8
                    );
                } else if document == 0 {
                    clusters.push(format!("{id}\t{id}\tkeep\t-\n"));
                }
            }
        }
        clusters.sort();
        let document: DocumentOpts = Params::default().parse().unwrap();
        for (number, room) in [1, 200, 2000, 1 << 20].into_iter().enumerate() {
            let answer = folder.path().join(number.to_string());
            fs::create_dir(&answer).unwrap();
            fs::write(answer.join(UNITS), &units).unwrap();
            fs::write(answer.join("clusters.tsv"), clusters.concat()).unwrap();
            let cut = Cut { document: document.clone(), room, everywhere: None, rest: None };
            let done = cut.write(&answer, &Progress::default()).unwrap();
            assert_eq!(fs::read_to_string(answer.join(CUT)).unwrap(), expected, "{room}");
            assert_eq!(done.counters[UNITS_CUT], expected.lines().count() as u64);
            assert_eq!(done.counters[WITH_UNITS], 90);
            assert_eq!(fs::read_dir(&answer).unwrap().count(), 4, "{room}");
        }
    }
}
