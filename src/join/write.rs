//! Pairs of lines, in order.

use super::{each_some, pairs_of};
use std::path::Path;
use std::sync::Mutex;
use twinsplit_core::join::integers::Collection;
use twinsplit_core::similarity::Similarity;
use twinsplit_core::threads::{lock, unlocked};
use twinsplit_engine::columnar::join::{PairRow, pair_sorter};
use twinsplit_engine::columnar::sorter::{pack, unpack};
use twinsplit_engine::memory::Budget;
use twinsplit_io::Target;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::record::{push_number, push_score};

/// What is written, and how.
pub struct Writing<'c> {
    /// The sets.
    pub collection: &'c Collection,
    /// How many lines were read.
    pub lines: u32,
    /// What makes them similar.
    pub similarity: Similarity,
    /// Threads.
    pub threads: usize,
    /// Bytes for pairs that are sorted.
    pub memory: usize,
    /// How many pairs may be written.
    pub most: u64,
}

impl Writing<'_> {
    /// Writes a file or a stream.
    pub fn to(&self, output: &Target) -> Result<()> {
        let work = output.work_folder()?;
        let mut file = output.start()?;
        self.each_line(work.path(), &mut |line| file.line(line))?;
        file.finish()
    }

    fn each_line(&self, folder: &Path, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let budget = Budget::new(self.memory, self.threads)?;
        let rows = pair_sorter((&budget, folder), self.lines as usize);
        let state = Mutex::new((rows.writer(), 0));
        each_some(self.collection, self.similarity, self.threads, &|pairs| {
            let (writer, count) = &mut *lock(&state);
            for pair in pairs {
                *count += pairs_of(self.collection, pair);
                if *count > self.most {
                    return Err(Error::Limit(format!(
                        "join: there are more pairs than --max-pairs {}; --count says how many",
                        self.most
                    )));
                }
                let [xs, ys] = [pair.a, pair.b].map(|set| self.collection.members(set));
                for (at, &x) in xs.iter().enumerate() {
                    // A set's lines with one another: each two of them once.
                    let ys = if pair.a == pair.b { &ys[..at] } else { ys };
                    ys.iter().try_for_each(|&y| {
                        writer.push(PairRow { documents: pack(x.min(y), x.max(y)), overlap: pair.overlap })
                    })?;
                }
            }
            Ok(())
        })?;
        unlocked(state).0.finish()?;
        let sizes = self.sizes();
        let mut line = Vec::new();
        rows.drain_all(self.threads, &mut |rows| {
            rows.iter().try_for_each(|row| {
                self.encode(row, &sizes, &mut line);
                visit(&line)
            })
        })?;
        Ok(())
    }

    /// By line the size of its set, where it may be in a pair.
    fn sizes(&self) -> Vec<u32> {
        let mut sizes = vec![0; self.lines as usize];
        for set in 0..self.collection.sets.len() {
            let size = self.collection.sets.size(set) as u32;
            self.collection.members(set as u32).iter().for_each(|&line| sizes[line as usize] = size);
        }
        sizes
    }

    fn encode(&self, row: &PairRow, sizes: &[u32], line: &mut Vec<u8>) {
        let (x, y) = unpack(row.documents);
        let (a, b) = (sizes[x as usize], sizes[y as usize]);
        let score = self.similarity.measure().score(row.overlap.into(), a.into(), b.into());
        line.clear();
        for number in [u64::from(x) + 1, u64::from(y) + 1, row.overlap.into(), a.into(), b.into()] {
            push_number(line, number);
            line.push(b'\t');
        }
        push_score(line, score);
    }
}
