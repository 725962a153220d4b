//! `feature-count`: document frequencies, combined in the mapper within a bound on its memory.
//!
//! [`feature_sample`](super::feature_sample) counts a share of the sets in the same way.

use super::NoOpts;
use crate::record::count::FeatureCount;
use crate::record::set::{Features, Member};
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, Stage, Task};
use rustc_hash::FxHashMap;
use twinsplit_io::error::{FieldError, Result};

/// Counts of features that a mapper has added up and not yet written.
pub(super) struct Combined {
    most: usize,
    counts: FxHashMap<u64, u64>,
    /// Sets that were counted.
    pub(super) documents: u64,
    features: Vec<u64>,
}

twinsplit_core::options! {
    /// The bound on the counts of a mapper.
    pub struct CombineOpts {
        /// Features that a mapper counts in memory (about 40 bytes each) before it writes the counts
        combine: usize = 1_000_000, "N";
    }
}

impl Combined {
    pub(super) fn new(opts: &CombineOpts) -> Self {
        Self { most: opts.combine.max(1), counts: FxHashMap::default(), documents: 0, features: Vec::new() }
    }

    /// Counts the features of a set; gives the counts that are to be written, where they are too many to be held.
    pub(super) fn add(&mut self, features: Features<'_>) -> Result<Vec<FeatureCount>, FieldError> {
        features.read(&mut self.features)?;
        self.documents += 1;
        for feature in &self.features {
            *self.counts.entry(*feature).or_default() += 1;
        }
        Ok(if self.counts.len() > self.most { self.take() } else { Vec::new() })
    }

    /// Gives all counts; the order of a hash table must not show, so they are sorted.
    fn take(&mut self) -> Vec<FeatureCount> {
        let counts = self.counts.drain().map(|(feature, documents)| (Some(feature), documents));
        let mut counts: Vec<_> =
            counts.map(|(feature, documents)| FeatureCount { feature, documents }).collect();
        counts.sort_unstable_by_key(|count| count.feature);
        counts
    }

    /// Gives the number of sets, and all counts.
    pub(super) fn finish(&mut self) -> impl Iterator<Item = FeatureCount> + use<> {
        let all = FeatureCount { feature: None, documents: self.documents };
        std::iter::once(all).chain(self.take())
    }
}

/// The mapper.
pub struct FeatureCountMap {
    counts: Combined,
}

impl Stage for FeatureCountMap {
    type In<'a> = Member<'a>;
    type Out<'a> = FeatureCount;
    type Opts = CombineOpts;
    const GROWTH: Growth = Growth::Combined;
    const DECL: Decl = Decl {
        name: "feature-count",
        role: Role::Map,
        about: "Counts in how many sets each feature stands, and the sets; copies are passed over",
        side: &[],
    };

    fn open(opts: CombineOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { counts: Combined::new(&opts) })
    }

    fn push(&mut self, member: Member<'_>, task: &mut Task<'_>) -> Result<()> {
        let Member::Doc(doc) = member else { return Ok(()) };
        let full = self.counts.add(doc.features).map_err(|error| task.wrong(error))?;
        full.iter().try_for_each(|count| task.emit(count))
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.counts.finish().try_for_each(|count| task.emit(&count))
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
