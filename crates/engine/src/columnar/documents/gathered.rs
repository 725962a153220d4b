//! Batches of documents are put together, in the order of the input.

use super::read::Batch;
use super::sites::Sites;
use super::{Documents, Run};
use crate::memory::{self, Budget};
use crate::progress::Progress;
use std::collections::BTreeMap;
use std::path::Path;
use twinsplit_io::error::Result;

/// Batches come from the threads in any order, and are put together in that of the input.
pub(super) struct Gathered<'b> {
    budget: &'b Budget,
    work: &'b Path,
    progress: &'b Progress,
    all: Documents,
    waiting: BTreeMap<u64, Batch>,
    next: u64,
    bytes: u64,
}

impl<'b> Gathered<'b> {
    /// No batch yet, after these documents, which are none.
    pub fn new(budget: &'b Budget, work: &'b Path, progress: &'b Progress, all: Documents) -> Self {
        Self { budget, work, progress, all, waiting: BTreeMap::new(), next: 0, bytes: 0 }
    }

    /// The documents, and how many bytes they were read from.
    pub fn finish(self) -> (Documents, u64) {
        (self.all, self.bytes)
    }

    /// Adds a block's documents as soon as all before them are there.
    pub fn add(&mut self, number: u64, batch: Batch) -> Result<()> {
        self.waiting.insert(number, batch);
        while let Some(batch) = self.waiting.remove(&self.next) {
            self.next += 1;
            self.append(batch)?;
        }
        Ok(())
    }

    fn append(&mut self, batch: Batch) -> Result<()> {
        let Batch { documents, numbers, scripts, bytes, .. } = batch;
        let names = |documents: &Documents| {
            documents.ids.items().len()
                + documents.ranks.as_ref().map_or(0, |ranks| ranks.items().len() + 8 * ranks.len())
                + documents.sites.as_ref().map_or(0, Sites::bytes)
                + documents.keys.bytes()
                + size_of_val(documents.fingerprints.as_slice())
        };
        let all = &mut self.all;
        let (before, places) = (names(all), documents.places());
        let base = all.places() as u32;
        all.bad.extend(documents.bad.iter().map(|place| base + place));
        for run in &documents.runs {
            all.files.extend(
                documents.files.get(run.file as usize).filter(|file| all.files.last() != Some(file)).cloned(),
            );
            all.runs.push(Run {
                document: base + run.document,
                file: all.files.len() as u32 - 1,
                line: run.line,
            });
        }
        all.field.append(documents.field);
        all.ids.append(&documents.ids);
        if let (Some(ranks), Some(more)) = (&mut all.ranks, &documents.ranks) {
            ranks.append(more);
        }
        if let (Some(sites), Some(more)) = (&mut all.sites, &documents.sites) {
            sites.append(more);
        }
        all.sizes.extend_from_slice(&documents.sizes);
        all.hashes.extend_from_slice(&documents.hashes);
        match all.keys.is_wanted() {
            true => all.keys.append(&numbers)?,
            false => all.fingerprints.extend_from_slice(&numbers),
        }
        all.without_text += documents.without_text;
        all.surrogates += documents.surrogates;
        for script in scripts {
            let known = all.script_names.iter().position(|name| *name == script).unwrap_or_else(|| {
                all.script_names.push(script);
                all.script_names.len() - 1
            });
            // Unicode has fewer scripts than a byte has values.
            all.scripts.push(known as u8);
        }
        self.bytes += bytes;
        // What is sorted, joined and written later needs the other half.
        if self.budget.by_name() / 2 < all.places() * memory::DOCUMENT + names(all) {
            all.keys.spill(self.work)?;
        }
        let after = names(all);
        self.budget.hold_documents(places * memory::DOCUMENT + after.saturating_sub(before));
        self.budget.release_documents(before.saturating_sub(after));
        let read = self.progress.now().map_or([0, 0], |(phase, read)| [read, phase.total]);
        self.budget.admit_documents(all.places(), names(all), read)
    }
}
