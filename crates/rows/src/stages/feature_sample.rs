//! `feature-sample`: document frequencies in a sample of the sets, for an order of features that no task makes of all features.
//!
//! Any total order of features makes the prefix filter exact. What makes it fast is that features of many documents come last. Each task that
//! needs the order holds `--ranked` features of it, and which are the most frequent a bounded number of sets tells as well as all of them.
//!
//! The sample is drawn by a hash of the id of each different set, so that it is the same for any number of tasks. Of the counts no more
//! than `--ranked`, and one for each bucket, go on to the one task that orders them (`feature-order`): features, which are hashes, fall into buckets, and each bucket
//! passes on its share of the most frequent.

use super::feature_count::{CombineOpts, Combined};
use super::order::{MostFrequent, RankedOpts};
use crate::record::count::{BucketCount, CountSums, FeatureCount};
use crate::record::set::Member;
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, Stage, Task};
use twinsplit_core::hash;
use twinsplit_io::error::Result;

/// The seed of the sample, other than those of samples that users draw: a collection that is such a sample has hashes of its own.
const SEED: u64 = 0x6f72_6465_7200;

/// The option by which a chain says how many different sets there are.
pub const SETS: &str = "sets";

/// The mapper.
pub struct FeatureSample {
    opts: FeatureSampleOpts,
    counts: Combined,
}

twinsplit_core::options! {
    /// The options of the mapper.
    pub struct FeatureSampleOpts {
        /// About how many documents' features are counted to order features by frequency; where there are more, a sample by the hash of
        /// their ids. Pairs are the same whatever it is: a smaller one counts less, and has more candidates to verify
        order_sample: u64 = 100_000, "N";
        /// How many different sets the sample is drawn from; without it all are counted: set by chains
        sets: Option<u64>, "N";
    }
    with {
        combine: CombineOpts,
    }
}

impl FeatureSampleOpts {
    /// Whether the set of a document is in the sample: as many of 2^64 hashes are as the sample has of the sets.
    fn draws(&self, id: &[u8]) -> bool {
        let sets = u128::from(self.sets.unwrap_or(0).max(1));
        (u128::from(hash::sample(SEED, id)) * sets) >> 64 < u128::from(self.order_sample)
    }
}

impl Stage for FeatureSample {
    type In<'a> = Member<'a>;
    type Out<'a> = BucketCount;
    type Opts = FeatureSampleOpts;
    const GROWTH: Growth = Growth::Drawn;
    const DECL: Decl = Decl {
        name: "feature-sample",
        role: Role::Map,
        about: "Counts in how many sets of a sample each feature stands, and the sets of it; copies are passed over",
        side: &[],
    };

    fn open(opts: FeatureSampleOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { counts: Combined::new(&opts.combine), opts })
    }

    fn push(&mut self, member: Member<'_>, task: &mut Task<'_>) -> Result<()> {
        let Member::Doc(doc) = member else { return Ok(()) };
        if !self.opts.draws(doc.id) {
            return Ok(());
        }
        let full = self.counts.add(doc.features).map_err(|error| task.wrong(error))?;
        full.into_iter().try_for_each(|count| task.emit(&BucketCount(count)))
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count("sets_sampled", self.counts.documents);
        self.counts.finish().try_for_each(|count| task.emit(&BucketCount(count)))
    }
}

/// The reducer, a bucket after the other.
pub struct FeatureSampleReduce {
    sums: CountSums,
    most_frequent: MostFrequent,
}

impl FeatureSampleReduce {
    fn take(&mut self, count: FeatureCount, task: &mut Task<'_>) -> Result<()> {
        match count.feature {
            None => task.emit(&count),
            Some(feature) => {
                self.most_frequent.visit(feature, count.documents);
                Ok(())
            }
        }
    }
}

impl Stage for FeatureSampleReduce {
    type In<'a> = BucketCount;
    type Out<'a> = FeatureCount;
    type Opts = RankedOpts;
    const GROWTH: Growth = Growth::Repeated;
    const DECL: Decl = Decl {
        name: "feature-sample-reduce",
        role: Role::Reduce,
        about: "Adds up the counts of each feature, and passes on the most frequent of each bucket",
        side: &[],
    };

    fn open(opts: RankedOpts, _: &mut Task<'_>) -> Result<Self> {
        let of_each = opts.ranked.div_ceil(BucketCount::BUCKETS);
        Ok(Self { sums: CountSums::default(), most_frequent: MostFrequent::new(of_each) })
    }

    fn push(&mut self, BucketCount(count): BucketCount, task: &mut Task<'_>) -> Result<()> {
        match self.sums.push(count).map_err(|error| task.wrong(error))? {
            Some(count) => self.take(count, task),
            None => Ok(()),
        }
    }

    fn end_group(&mut self, task: &mut Task<'_>) -> Result<()> {
        if let Some(count) = self.sums.finish() {
            self.take(count, task)?;
        }
        let most_frequent = self.most_frequent.take().into_iter();
        most_frequent
            .map(|(documents, feature)| FeatureCount { feature: Some(feature), documents })
            .try_for_each(|count| task.emit(&count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twinsplit_core::options::{Options, Values};

    fn drawn(order_sample: u64, sets: Option<u64>, of: u64) -> Vec<u64> {
        let mut values = Values::default();
        values.set("order-sample", order_sample.to_string());
        sets.iter().for_each(|sets| values.set(SETS, sets.to_string()));
        let opts = FeatureSampleOpts::read(&values).unwrap();
        (0..of).filter(|number| opts.draws(format!("d{number}").as_bytes())).collect()
    }

    #[test]
    fn a_sample_has_about_as_many_sets_as_it_should_and_a_larger_one_has_them_too() {
        let some = drawn(1_000, Some(20_000), 20_000);
        // Three times the error of chance.
        assert!(some.len().abs_diff(1_000) < 100, "{}", some.len());
        let more = drawn(3_000, Some(20_000), 20_000);
        assert!(more.len().abs_diff(3_000) < 170 && some.iter().all(|id| more.binary_search(id).is_ok()));
        // The first ids are no other sample than the last.
        assert!(some.iter().filter(|id| **id < 10_000).count().abs_diff(500) < 80);
    }

    #[test]
    fn all_sets_are_drawn_where_there_are_no_more_and_none_where_none_is_wanted() {
        for (order_sample, sets) in
            [(500, Some(500)), (u64::MAX, Some(500)), (1, None), (1, Some(0)), (1, Some(1))]
        {
            assert_eq!(drawn(order_sample, sets, 500).len(), 500, "{order_sample} of {sets:?}");
        }
        assert!(drawn(0, Some(500), 500).is_empty() && drawn(0, None, 500).is_empty());
    }
}
