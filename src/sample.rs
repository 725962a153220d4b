//! A uniform sample without replacement, in one pass and with memory for the chosen documents only.
//!
//! Every document has a hash of the seed and its id, and the sample is the documents with the smallest ones (bottom-k,
//! cohen1997). Hashes are as good as random, so each set of N documents is equally likely; they depend on nothing but
//! seed and id, so the sample is the same for any order of the input, any split into files and any number of threads,
//! and a larger sample contains a smaller one of the same seed.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use twinsplit_core::hash;
use twinsplit_core::threads::{in_threads, lock};
use twinsplit_io::error::{Error, Place, Result};
use twinsplit_io::{Blocks, Target, each_line};
use twinsplit_rows::bad_records::BadRecords;
use twinsplit_rows::record::document::DocumentOpts;

/// Bytes of input that a thread takes at a time.
const BLOCK: usize = 1 << 20;

/// The chosen documents.
pub struct Sample {
    /// Their lines, in byte order of their ids, unless the order of the input was asked for.
    pub lines: Vec<(Place, Vec<u8>)>,
    /// Where each stands among all documents: its block, and its line.
    at: Vec<(u64, u64)>,
    /// How many documents there were to choose from.
    pub documents: u64,
    /// Bytes of all their lines, line ends among them.
    pub bytes: u64,
}

/// A chosen document.
struct Held {
    /// Where it stands among all: its block, and its line.
    at: (u64, u64),
    place: Place,
    line: Vec<u8>,
    /// Where other documents with its id stand; at most one is named.
    again: Option<Place>,
}

/// The documents with the smallest hashes so far.
struct Bottom {
    most: usize,
    /// No greater hash can come in any more.
    limit: AtomicU64,
    held: Mutex<BTreeMap<(u64, Vec<u8>), Held>>,
}

impl Sample {
    /// Takes `most` of the documents, or all when there are no more. Errors name the command `who`.
    pub fn take(
        who: &'static str,
        inputs: &[PathBuf],
        document: &DocumentOpts,
        most: usize,
        seed: u64,
        threads: usize,
    ) -> Result<Self> {
        let blocks = Mutex::new(Blocks::new(inputs.to_vec(), BLOCK).of_documents(document.max_line));
        let bottom = Bottom { most, limit: AtomicU64::new(u64::MAX), held: Mutex::new(BTreeMap::new()) };
        let seen = in_threads(threads, threads, |_| {
            let mut seen = (0, 0);
            let mut bad = BadRecords::counted(who, document.bad_records);
            loop {
                let Some(block) = lock(&blocks).next_block()? else { return Ok::<_, Error>(seen) };
                each_line(&block, |line, place| {
                    let document = match document.read(line, place) {
                        Ok(document) => document,
                        Err(error) => return bad.pass(line, place, error),
                    };
                    seen = (seen.0 + 1, seen.1 + line.len() as u64 + 1);
                    let hash = hash::sample(seed, &document.id);
                    bottom.offer((hash, document.id), block.number, line, place);
                    Ok(())
                })?;
            }
        })?;
        let held = bottom.held.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut chosen: Vec<(Vec<u8>, Held)> = held.into_iter().map(|((_, id), held)| (id, held)).collect();
        chosen.sort_unstable_by(|x, y| x.0.cmp(&y.0));
        if let Some((id, Held { place, again: Some(again), .. })) =
            chosen.iter().find(|(_, held)| held.again.is_some())
        {
            return Err(Error::DuplicateId {
                stage: who.to_owned(),
                id: String::from_utf8_lossy(id).into_owned(),
                places: format!(" ({place} and {again})"),
            });
        }
        let at = chosen.iter().map(|(_, held)| held.at).collect();
        let lines = chosen.into_iter().map(|(_, held)| (held.place, held.line)).collect();
        let sum = |of: fn(&(u64, u64)) -> u64| seen.iter().map(of).sum();
        Ok(Self { lines, at, documents: sum(|seen| seen.0), bytes: sum(|seen| seen.1) })
    }

    /// Brings the documents into the order of the input, where it decides which ones are kept.
    pub fn in_order_of_input(&mut self) {
        let mut all: Vec<_> = std::mem::take(&mut self.at).into_iter().zip(self.lines.drain(..)).collect();
        all.sort_unstable_by_key(|(at, _)| *at);
        (self.at, self.lines) = all.into_iter().unzip();
    }

    /// Whether no document was left out.
    pub fn is_whole(&self) -> bool {
        self.lines.len() as u64 == self.documents
    }

    /// Of how many pairs of documents one has both in the sample, as a fraction: N(N-1)/2 of the collection over
    /// n(n-1)/2 of the sample. `None` when the sample holds no two documents of several.
    pub fn pairs_for_one(&self) -> Option<(u128, u128)> {
        let two_of = |n: u64| u128::from(n) * u128::from(n.saturating_sub(1));
        let (all, ours) = (two_of(self.documents), two_of(self.lines.len() as u64));
        if self.is_whole() { Some((1, 1)) } else { (ours > 0).then_some((all, ours)) }
    }

    /// How many pairs the collection has, estimated from the sample's, to the nearest whole number.
    pub fn estimate(&self, pairs: u64) -> Option<u128> {
        let (all, ours) = self.pairs_for_one()?;
        Some((2 * u128::from(pairs) * all + ours) / (2 * ours))
    }

    /// Writes the lines.
    pub fn write(&self, output: &Target) -> Result<()> {
        let mut file = output.start()?;
        for (_, line) in &self.lines {
            file.line(line)?;
        }
        file.finish()
    }
}

impl Bottom {
    /// Takes a document in, if its hash is among the smallest, and the one that it supplants out.
    fn offer(&self, (hash, id): (u64, Vec<u8>), block: u64, line: &[u8], place: &Place) {
        // Most documents end here without waiting for one another; the limit only ever falls.
        if hash > self.limit.load(Ordering::Relaxed) {
            return;
        }
        let mut held = lock(&self.held);
        match held.entry((hash, id)) {
            // The same two of several places are named whichever thread comes first.
            Entry::Occupied(mut known) => {
                let known = known.get_mut();
                let mut places = vec![known.place.clone(), place.clone()];
                places.extend(known.again.take());
                places.sort_by(|x, y| (&x.file, x.line).cmp(&(&y.file, y.line)));
                let mut places = places.into_iter();
                known.place = places.next().unwrap_or_default();
                known.again = places.next();
            }
            Entry::Vacant(free) => {
                let at = (block, place.line);
                free.insert(Held { at, place: place.clone(), line: line.to_vec(), again: None });
            }
        }
        if held.len() > self.most {
            held.pop_last();
        }
        if let (true, Some(((greatest, _), _))) = (held.len() == self.most, held.last_key_value()) {
            self.limit.store(*greatest, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_rounded_to_the_nearest() {
        let of = |sampled, documents| Sample {
            lines: vec![Default::default(); sampled],
            at: vec![Default::default(); sampled],
            documents,
            bytes: 0,
        };
        // 3 of 10 pairs are in a sample of 3 of 5.
        assert_eq!(of(3, 5).estimate(1), Some(3));
        assert_eq!(of(3, 5).estimate(2), Some(7));
        assert_eq!(of(3, 5).estimate(0), Some(0));
        assert_eq!(of(5, 5).estimate(4), Some(4));
        assert_eq!(of(1, 1).estimate(0), Some(0));
        assert_eq!(of(1, 5).estimate(0), None);
    }
}
