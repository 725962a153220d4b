//! The front of a chain: documents become groups of equal sets, or of equal fingerprints.

use super::documents::Documents;
use super::fingerprints::Fingerprints;
use super::groups::Groups;
use super::join::admit_largest;
use super::numbering::{Candidates, count};
use super::options::ColumnarOpts;
use super::sorter::Sorter;
use super::{named, no_fingerprints};
use crate::memory::Budget;
use crate::progress::Progress;
use std::path::Path;
use twinsplit_core::visible;
use twinsplit_io::Blocks;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::stage::Counters;
use twinsplit_rows::stages::feature_order::read_reference;

/// The steps before a join, and what they work with.
pub struct Front<'a> {
    /// Options.
    pub opts: &'a ColumnarOpts,
    /// Threads.
    pub threads: usize,
    /// What may be held in memory.
    pub budget: &'a Budget,
    /// Where the rest goes.
    pub work: &'a Path,
    /// How far it is.
    pub progress: &'a Progress,
}

impl Front<'_> {
    /// Reads the documents and brings them into groups of equal sets; `end` hears of each step with its counters. Only
    /// documents that may be in a pair at or above tau, or equal another one, are in a group.
    pub fn groups(&self, blocks: Blocks, mut end: impl FnMut(&str, Counters)) -> Result<(Documents, Groups)> {
        let Self { opts, threads, budget, work, progress } = *self;
        let place = (budget, work);
        let features = Sorter::new(budget, work, 0, u64::MAX);
        let texts = Sorter::new(budget, work, 0, u64::MAX);
        let rows = (&features, &texts);
        let (mut documents, counters) = Documents::read(blocks, opts, threads, rows, place, progress)?;
        let admits = |size| opts.least.admits(size);
        if !opts.leaves_out() {
            documents.find_equal_texts(&texts, threads, admits)?;
        }
        end("tokenize", counters);

        let keeps = self.keeps(documents.count() as u64)?;
        let (lists, counted) = count(features, &mut documents, keeps, threads, place, progress)?;
        if opts.leaves_out() {
            documents.find_equal_texts(&texts, threads, admits)?;
        }
        drop(texts);
        let mut counters = vec![
            ("features", counted.features),
            ("features_out_of_idf_range", counted.out_of_range.features),
            ("postings_in_idf_range", counted.in_range),
            ("postings_out_of_idf_range", counted.out_of_range.postings),
            ("features_shared", counted.shared),
            ("spilled_bytes", counted.spilled),
        ];
        if opts.site.site.is_some() {
            counters.push(("features_of_one_site", counted.of_one_site.features));
            counters.push(("postings_of_one_site", counted.of_one_site.postings));
        }
        end("feature-order", named(&counters));

        let similarity = opts.similarity.0;
        let candidates = Candidates::choose(&documents, &lists, similarity, admits);
        if candidates.largest.1 > 0 {
            admit_largest(&documents, candidates.largest, similarity, budget)?;
        }
        let rows = candidates.rows(lists, threads, place, progress)?;
        let groups = Groups::of(&rows, &candidates, &documents, similarity, threads, place, progress)?;
        let counters = [
            ("copies", groups.copies()),
            ("equal_texts", documents.texts.copies()),
            ("candidates", candidates.numbers.len() as u64),
            ("sets", groups.count().into()),
            ("sets_below_min_features", documents.sets(|size| !opts.least.admits(size))),
            ("sets_without_features", documents.sets(|size| size == 0)),
            ("spilled_bytes", rows.rows.spilled() + groups.store.spilled()),
        ];
        (documents.sizes, documents.hashes) = Default::default();
        end("equal-sets", named(&counters));
        Ok((documents, groups))
    }

    /// The same of fingerprints.
    pub fn fingerprints(
        &self,
        blocks: Blocks,
        mut end: impl FnMut(&str, Counters),
    ) -> Result<(Documents, Groups)> {
        let Self { opts, threads, budget, work, progress } = *self;
        let features = Sorter::new(budget, work, 0, u64::MAX);
        let texts = Sorter::new(budget, work, 0, u64::MAX);
        let (mut documents, counters) =
            Documents::read(blocks, opts, threads, (&features, &texts), (budget, work), progress)?;
        // A document without a fingerprint has a size of 0.
        documents.find_equal_texts(&texts, threads, |size| size > 0)?;
        end("simhash", counters);
        let Some(opts) = &opts.fingerprints else { return Err(no_fingerprints()) };
        let groups = Fingerprints::of(&documents, opts).groups((budget, work), progress)?;
        let counters = [("copies", groups.copies()), ("equal_texts", documents.texts.copies())];
        end("equal-fingerprints", named(&counters));
        Ok((documents, groups))
    }

    /// Whether a feature of a document frequency is in the IDF range.
    fn keeps(&self, documents: u64) -> Result<Box<dyn Fn(u64, u64) -> bool + Sync>> {
        let range = self.opts.idf.idf;
        if range.is_everything() {
            return Ok(Box::new(|_, _| true));
        }
        let Some(path) = &self.opts.idf.table.idf_table else {
            let (least, most) = range.df_range(documents);
            return Ok(Box::new(move |_, frequency| (least..=most).contains(&frequency)));
        };
        let table = read_reference(path, &self.opts.features)?;
        let (least, most) = range.df_range(table.documents);
        let mut rows = table.rows;
        rows.sort_unstable();
        self.budget.hold(rows.len() * 16);
        if self.budget.spare() == 0 {
            return Err(Error::Limit(format!(
                "feature-order: {}: a table of {} features takes {} MB of memory; give more with --memory",
                visible::path(path),
                rows.len(),
                (rows.len() * 16) >> 20
            )));
        }
        Ok(Box::new(move |feature, _| {
            let at = rows.binary_search_by_key(&feature, |row| row.0);
            (least..=most).contains(&at.map_or(1, |at| rows[at].1))
        }))
    }
}
