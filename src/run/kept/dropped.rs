//! Which documents are dropped: by their ids where these fit in memory, or else by their numbers, a bit each.

use super::KeptFiles;
use std::path::Path;
use twinsplit_core::cluster::ids::Ids;
use twinsplit_engine::progress::Progress;
use twinsplit_io::each_row;
use twinsplit_io::error::Result;
use twinsplit_rows::record::Record;
use twinsplit_rows::record::cluster::{ClusterRow, Verdict};

/// See the module.
pub struct Dropped {
    which: Which,
    count: u64,
}

enum Which {
    Ids(Ids),
    /// Of each file, a bit for each document.
    Numbers(Vec<Vec<u64>>),
}

/// Bytes that an id takes beside its own.
const EACH: usize = 24;

impl Dropped {
    /// Reads them. Where their ids take more than the room that there is, the documents are read once for each part of them.
    pub fn read(kept: &KeptFiles, clusters: &Path, progress: &Progress) -> Result<Self> {
        let (mut part, count) = part_of(clusters, 0, kept.room)?;
        if part.len() as u64 == count {
            return Ok(Self { which: Which::Ids(part), count });
        }
        let (mut numbers, mut done) = (vec![Vec::new(); kept.form.files().len()], 0);
        loop {
            kept.each_document(progress, |file, number, id| {
                let (of_file, at, bit) = (&mut numbers[file], (number / 64) as usize, number % 64);
                if of_file.len() <= at {
                    of_file.resize(at + 1, 0);
                }
                of_file[at] |= u64::from(part.find(id).is_some()) << bit;
            })?;
            done += part.len() as u64;
            if done >= count {
                return Ok(Self { which: Which::Numbers(numbers), count });
            }
            // What was held goes before more is.
            drop(part);
            part = part_of(clusters, done, kept.room)?.0;
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether the document of this number in a file, and of this id, is one of them.
    pub fn has(&self, file: usize, number: u64, id: &[u8]) -> bool {
        match &self.which {
            Which::Ids(ids) => ids.find(id).is_some(),
            Which::Numbers(numbers) => {
                let bits = numbers[file].get((number / 64) as usize);
                bits.is_some_and(|bits| bits >> (number % 64) & 1 == 1)
            }
        }
    }
}

/// The dropped ids behind the first `skip`, as many as fit, but one at least; and how many there are in all.
fn part_of(clusters: &Path, skip: u64, room: usize) -> Result<(Ids, u64)> {
    let (mut ids, mut count, mut bytes) = (Ids::default(), 0, 0);
    each_row(clusters, |line| {
        let row = ClusterRow::decode(line)?;
        if row.verdict != Verdict::Keep {
            count += 1;
            if count > skip {
                bytes += row.id.len() + EACH;
                if bytes <= room && ids.len() < u32::MAX as usize || ids.is_empty() {
                    ids.number(row.id);
                }
            }
        }
        Ok(())
    })?;
    Ok((ids, count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::same_form::{SameForm, of_lines};
    use std::fs;
    use std::path::PathBuf;
    use twinsplit_engine::progress::Progress;
    use twinsplit_rows::params::Params;

    /// Whatever room there is for ids, the same documents are dropped and the same files written.
    #[test]
    fn ids_that_do_not_fit_come_in_parts() {
        let folder = tempfile::tempdir().unwrap();
        let names: Vec<PathBuf> = ["a", "b", "c"].map(PathBuf::from).into();
        let files: Vec<PathBuf> = names.iter().map(|name| folder.path().join(name)).collect();
        let (mut number, mut clusters, mut expected) = (0, String::new(), Vec::new());
        for (file, count) in files.iter().zip([150, 0, 90]) {
            let (mut all, mut left) = (String::new(), String::new());
            for _ in 0..count {
                let line = format!("{{\"id\":\"{number:03}\",\"text\":\"x\"}}\n");
                all += &line;
                match number % 7 < 3 {
                    true => clusters += &format!("000\t{number:03}\tdrop\t1.000000\n"),
                    false => left += &line,
                }
                number += 1;
            }
            fs::write(file, all).unwrap();
            expected.push(left);
        }
        let document: twinsplit_rows::record::document::DocumentOpts = Params::default().parse().unwrap();
        for room in [1, 27, 500, 2000, 1 << 20] {
            for threads in [1, 3] {
                let kept = KeptFiles {
                    form: SameForm::of(&files, of_lines(&document), "").unwrap(),
                    document: document.clone(),
                    room,
                    threads,
                    is_all: true,
                };
                let answer = folder.path().join(format!("{room}-{threads}"));
                fs::create_dir(&answer).unwrap();
                fs::write(answer.join("clusters.tsv"), &clusters).unwrap();
                let dropped =
                    Dropped::read(&kept, &answer.join("clusters.tsv"), &Progress::default()).unwrap();
                assert_eq!(matches!(dropped.which, Which::Numbers(_)), room < 3000, "{room}");
                let done = kept.write(&answer, &Progress::default()).unwrap();
                assert_eq!(done.counters["documents_kept"], 240 - dropped.count());
                let found =
                    names.iter().map(|name| fs::read_to_string(answer.join("kept").join(name)).unwrap());
                assert_eq!(found.collect::<Vec<_>>(), expected, "{room} {threads}");
            }
        }
    }
}
