//! Manifests: what a store was made with, its segments and its batches, as a checked file of lines.

use std::path::Path;
use twinsplit_core::cluster::keep::Date;
use twinsplit_io::checked_file::{self, CheckedWriter, broken};
use twinsplit_io::error::{Error, Result};

/// The kind that the first line names.
const KIND: &str = "store";
/// What a manifest's file is called, before its number.
const PREFIX: &str = "commit-";

/// What stands where an answer is not kept any more.
const NONE: &str = "-";

/// A segment, as a manifest knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its file.
    pub file: String,
    /// Its documents, those that are forgotten among them.
    pub documents: u64,
    /// The file of its tombstones, if it has some, and how many it has.
    pub forgotten: Option<(String, u64)>,
}

impl Listed {
    /// How many of its documents are not forgotten.
    pub fn living(&self) -> u64 {
        self.documents.saturating_sub(self.forgotten.as_ref().map_or(0, |(_, count)| *count))
    }
}

/// A batch that was committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Its number, from 1.
    pub number: u32,
    /// What whoever sent it calls it.
    pub id: String,
    /// How many documents it had; those that were there already are among them.
    pub documents: u64,
    /// How many of them were new.
    pub added: u64,
    /// The same for the same documents, in whatever order.
    pub digest: u128,
    /// The file of what was answered, while that is kept.
    pub answer: Option<String>,
    /// When it came: as whoever sent it says, or by the clock. Batches of the first stores have none.
    pub time: Option<Date>,
}

/// A manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// Its number; 0 before the first commit.
    pub number: u64,
    /// What the store was made with: an option, and its value.
    pub made_with: Vec<(String, String)>,
    /// The segments, in the order in which they were made.
    pub segments: Vec<Listed>,
    /// The file of the clusters, if there are some.
    pub clusters: Option<String>,
    /// The batches.
    pub batches: Vec<Committed>,
}

/// The name of the file of a manifest.
pub fn file_of(number: u64) -> String {
    format!("{PREFIX}{number:08}")
}

/// The number of a manifest, by the name of its file.
pub fn number_of(file: &str) -> Option<u64> {
    let digits = file.strip_prefix(PREFIX)?;
    digits.parse().ok().filter(|number| file_of(*number) == file)
}

impl Manifest {
    /// The bytes of its file.
    pub fn bytes(&self) -> Vec<u8> {
        let commit = ("commit", self.number.to_string());
        let parameters: Vec<(&str, String)> = std::iter::once(commit)
            .chain(self.made_with.iter().map(|(name, value)| (name.as_str(), value.clone())))
            .collect();
        let (mut text, mut lines) = CheckedWriter::start(KIND, &parameters);
        text.push(b'\n');
        let segments = self.segments.iter().map(|Listed { file, documents, forgotten }| {
            let forgotten =
                forgotten.as_ref().map_or_else(String::new, |(file, count)| format!("\t{file}\t{count}"));
            format!("segment\t{file}\t{documents}{forgotten}")
        });
        let clusters = self.clusters.iter().map(|file| format!("clusters\t{file}"));
        let batches = self.batches.iter().map(|one| {
            let Committed { number, id, documents, added, digest, answer, time } = one;
            let answer = answer.as_deref().unwrap_or(NONE);
            let time = time.map_or_else(String::new, |time| format!("\t{time}"));
            format!("batch\t{number}\t{id}\t{documents}\t{added}\t{digest:032x}\t{answer}{time}")
        });
        for line in segments.chain(clusters).chain(batches) {
            lines.line(line.as_bytes());
            text.extend_from_slice(line.as_bytes());
            text.push(b'\n');
        }
        text.extend_from_slice(&lines.end());
        text.push(b'\n');
        text
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It is no manifest, of another version, truncated or damaged.
    pub fn read(path: &Path) -> Result<Self> {
        let mut manifest = Self::default();
        let wrong = || broken(path, "a line of it names no segment, clusters or batch");
        let head = checked_file::read(path, KIND, |_, line| {
            let text = std::str::from_utf8(line).map_err(|_| wrong())?;
            let fields: Vec<&str> = text.split('\t').collect();
            match fields[..] {
                ["segment", file, documents, ref more @ ..] => {
                    let documents = documents.parse().map_err(|_| wrong())?;
                    let forgotten = match more {
                        [] => None,
                        [file, count] => Some(((*file).to_owned(), count.parse().map_err(|_| wrong())?)),
                        _ => return Err(wrong()),
                    };
                    manifest.segments.push(Listed { file: file.to_owned(), documents, forgotten });
                }
                ["clusters", file] => manifest.clusters = Some(file.to_owned()),
                ["batch", number, id, documents, added, digest, answer, ref more @ ..] => {
                    let time = match more {
                        [] => None,
                        [time] => Some(Date::of_nanoseconds(time).map_err(|_| wrong())?),
                        _ => return Err(wrong()),
                    };
                    manifest.batches.push(Committed {
                        number: number.parse().map_err(|_| wrong())?,
                        id: id.to_owned(),
                        documents: documents.parse().map_err(|_| wrong())?,
                        added: added.parse().map_err(|_| wrong())?,
                        digest: u128::from_str_radix(digest, 16).map_err(|_| wrong())?,
                        answer: Some(answer).filter(|file| *file != NONE).map(str::to_owned),
                        time,
                    });
                }
                _ => return Err(wrong()),
            }
            Ok(())
        })?;
        manifest.number = head.number("commit", path)?;
        let options = head.parameters().filter(|(name, _)| *name != "commit");
        manifest.made_with = options.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Ok(manifest)
    }

    /// Refuses options that are not those of the store.
    pub fn must_have(&self, wanted: &[(&str, String)], store: &Path) -> Result<()> {
        let value = |name: &str| {
            let known = self.made_with.iter().find(|(known, _)| known == name);
            known.map_or("", |(_, value)| value.as_str())
        };
        match wanted.iter().find(|(name, wanted)| value(name) != wanted) {
            None => Ok(()),
            Some((name, wanted)) => Err(Error::Usage(format!(
                "the store {} was made with {name}={}, and {name}={wanted} is asked for; give the options that it was made with \
                 (twinsplit store ls), or make another store",
                store.display(),
                value(name)
            ))),
        }
    }

    /// How many documents are there that are not forgotten.
    pub fn living(&self) -> u64 {
        self.segments.iter().map(Listed::living).sum()
    }

    /// The batch of an id.
    pub fn batch(&self, id: &str) -> Option<&Committed> {
        self.batches.iter().find(|batch| batch.id == id)
    }

    /// Every file that it names, but for its own.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let segments = self.segments.iter().map(|one| one.file.as_str());
        let tombstones = self.segments.iter().filter_map(|one| Some(one.forgotten.as_ref()?.0.as_str()));
        let answers = self.batches.iter().filter_map(|one| one.answer.as_deref());
        segments.chain(tombstones).chain(self.clusters.as_deref()).chain(answers)
    }
}
