//! The documents that are in pairs: which there are, and what is read of them.

use super::{AND, And};
use crate::documents::{Inputs, each_line_of_document};
use crate::same_form::size;
use std::borrow::Cow;
use std::path::Path;
use twinsplit_core::cluster::ids::Ids;
use twinsplit_core::cluster::keep;
use twinsplit_core::text::Extractor;
use twinsplit_engine::progress::{Progress, Unit};
use twinsplit_io::each_row;
use twinsplit_io::error::{Error, FieldError, Place, Result};
use twinsplit_rows::record::Record;
use twinsplit_rows::record::cluster::ClusterRow;
use twinsplit_rows::record::document::Document;
use twinsplit_rows::record::near::AnswerPair;

/// What is held of a document.
pub(super) struct Known {
    /// The features of the other field, and the hash of its text where it has none.
    pub set: Vec<u64>,
    pub text: Option<u128>,
    /// What documents are in order of, best first.
    pub rank: String,
}

/// Documents of pairs, by number.
#[derive(Default)]
pub(super) struct Documents {
    pub ids: Ids,
    pub known: Vec<Option<Known>>,
    /// Those that are in no pair and have equal texts, group by group.
    pub groups: Vec<Vec<u32>>,
}

impl And {
    /// Reads which documents there are.
    pub(super) fn documents(&self, pairs: &Path, clusters: &Path) -> Result<Documents> {
        let mut documents = Documents::default();
        each_row(pairs, |line| {
            let (a, b) = AnswerPair::of_run(line, self.fingerprints)?.ids();
            for id in [a, b] {
                documents.ids.number(id);
            }
            Ok(())
        })?;
        let (in_pairs, mut last) = (documents.ids.len() as u32, Vec::new());
        each_row(clusters, |line| {
            let row = ClusterRow::decode(line)?;
            if documents.ids.find(row.id).is_some_and(|number| number < in_pairs) {
                return Ok(());
            }
            if last != row.kept {
                last = row.kept.to_vec();
                documents.groups.push(Vec::new());
            }
            let number = documents.ids.number(row.id);
            documents.groups.last_mut().into_iter().for_each(|group| group.push(number));
            Ok(())
        })?;
        documents.known.resize_with(documents.ids.len(), || None);
        Ok(documents)
    }

    /// Reads the documents; how many have neither a text nor a number in the other field.
    pub(super) fn read(
        &self,
        inputs: &Inputs,
        documents: &mut Documents,
        progress: &Progress,
    ) -> Result<u64> {
        progress.start(AND, "reading", Unit::Bytes, inputs.iter().map(|file| size(file)).sum());
        let mut extractor = Extractor::new(self.features.spec()?);
        let (mut set, mut bytes, mut place, mut missing) = (Vec::new(), 0, 0_u64, documents.ids.len());
        let Documents { ids, known, .. } = documents;
        let read = |bytes| progress.set(bytes);
        // Whether one has the field, and why the first one without it has none.
        let (mut is_there, mut without, mut lacking) = (false, None, 0);
        each_line_of_document(inputs, &self.document, AND, read, |document, line, at| {
            place += 1;
            let Some(number) = ids.find(&document.id) else { return Ok(()) };
            set.clear();
            let mut text = None;
            // A document without the field is like no other one.
            match self.other_text(line, at) {
                Ok(other) => {
                    is_there = true;
                    extractor.set(&other, &mut set);
                    text = if set.is_empty() { extractor.text_hash(&other) } else { None };
                }
                Err(error) => {
                    lacking += 1;
                    without.get_or_insert_with(|| format!("{at}: {error}"));
                }
            }
            let rank = self.rank(&document, place)?;
            bytes += 2 * document.id.len() + size_of_val(&*set) + rank.len() + 2 * size_of::<Known>();
            if bytes > self.room {
                return Err(Error::Limit(format!(
                    "--and holds the other field's features of the {} documents that are in pairs, and these take more than half of --memory; give more, or a \
                     higher --tau",
                    ids.len()
                )));
            }
            let known = &mut known[number as usize];
            missing -= usize::from(known.is_none());
            *known = Some(Known { set: set.as_slice().to_vec(), text, rank });
            Ok(())
        })?;
        if let (false, Some(why)) = (is_there, without) {
            let field = &self.field;
            return Err(Error::Usage(format!(
                "--and: no document that is in a pair has a text or a number in the field {field:?}; {why}"
            )));
        }
        match missing {
            0 => Ok(lacking),
            _ => Err(Error::Failed(format!(
                "{missing} documents of pairs were not found when the input was read again, which has changed; run again when nothing writes to it"
            ))),
        }
    }

    /// The text of the other field of a document, or the number there as it is written, as for ids.
    fn other_text<'l>(&self, line: &'l [u8], at: &Place) -> std::result::Result<Cow<'l, str>, FieldError> {
        self.other.read(line, at).map(|other| other.text).or_else(|error| match self.number.read(line, at) {
            Ok(Document { score, .. }) if !score.is_empty() => Ok(Cow::Borrowed(score)),
            _ => Err(error),
        })
    }

    /// What a document is ranked by; `place` is its own among all.
    fn rank(&self, document: &Document<'_>, place: u64) -> Result<String> {
        let score = match document.score {
            "" => None,
            score => {
                Some(score.parse::<keep::Score>().map_err(|_| Error::Failed(format!("{score}: no score")))?)
            }
        };
        let place = format!("{place:016x}");
        let length = document.text.chars().count() as u64;
        Ok(keep::key(
            self.keep.keep,
            &keep::Meta { length, date: document.date, score: score.as_ref(), place: &place },
        ))
    }
}
