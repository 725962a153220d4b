//! `feature-count`: document frequencies, combined in the mapper within a bound on its memory.

use super::NoOpts;
use crate::record::count::FeatureCount;
use crate::record::set::Member;
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, Stage, Task};
use rustc_hash::FxHashMap;
use twinsplit_io::error::Result;

/// The mapper.
pub struct FeatureCountMap {
    combine: usize,
    counts: FxHashMap<u64, u64>,
    documents: u64,
    features: Vec<u64>,
}

twinsplit_core::options! {
    /// Its options.
    pub struct FeatureCountOpts {
        /// Features that a mapper counts in memory (about 40 bytes each) before it writes the counts
        combine: usize = 1_000_000, "N";
    }
}

impl FeatureCountMap {
    /// Writes what is counted so far; the order of a hash table must not show, so it is sorted.
    fn flush(&mut self, task: &mut Task<'_>) -> Result<()> {
        let mut counts: Vec<_> = self.counts.drain().collect();
        counts.sort_unstable();
        for (feature, documents) in counts {
            task.emit(&FeatureCount { feature: Some(feature), documents })?;
        }
        Ok(())
    }
}

impl Stage for FeatureCountMap {
    type In<'a> = Member<'a>;
    type Out<'a> = FeatureCount;
    type Opts = FeatureCountOpts;
    const GROWTH: Growth = Growth::Combined;
    const DECL: Decl = Decl {
        name: "feature-count",
        role: Role::Map,
        about: "Counts in how many sets each feature stands, and the sets; copies are passed over",
        side: &[],
    };

    fn open(opts: FeatureCountOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self {
            combine: opts.combine.max(1),
            counts: FxHashMap::default(),
            documents: 0,
            features: Vec::new(),
        })
    }

    fn push(&mut self, member: Member<'_>, task: &mut Task<'_>) -> Result<()> {
        let Member::Doc(doc) = member else { return Ok(()) };
        doc.features.read(&mut self.features).map_err(|error| task.wrong(error))?;
        self.documents += 1;
        for feature in &self.features {
            *self.counts.entry(*feature).or_default() += 1;
        }
        if self.counts.len() > self.combine { self.flush(task) } else { Ok(()) }
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.emit(&FeatureCount { feature: None, documents: self.documents })?;
        self.flush(task)
    }
}

/// The reducer.
#[derive(Default)]
pub struct FeatureCountReduce {
    sum: Option<FeatureCount>,
}

impl Stage for FeatureCountReduce {
    type In<'a> = FeatureCount;
    type Out<'a> = FeatureCount;
    type Opts = NoOpts;
    const GROWTH: Growth = Growth::Distinct;
    const DECL: Decl = Decl {
        name: "feature-count-reduce",
        role: Role::Reduce,
        about: "Adds up the counts of each feature",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, count: FeatureCount, task: &mut Task<'_>) -> Result<()> {
        let before = self.sum.map_or(0, |sum| sum.documents);
        let documents = before.checked_add(count.documents).ok_or_else(|| task.wrong(count.too_many()))?;
        self.sum = Some(FeatureCount { documents, ..count });
        Ok(())
    }

    fn end_group(&mut self, task: &mut Task<'_>) -> Result<()> {
        match self.sum.take() {
            Some(sum) => task.emit(&sum),
            None => Ok(()),
        }
    }
}
