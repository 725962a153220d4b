//! Slices of Doc-Split: a collection cut by size, so that the jobs cost about the same.
//!
//! A slice holds the documents of a contiguous range of sizes; its job indexes them and streams past
//! the index every document that may have a partner there. For sizes `s` to `e` these are the
//! documents of sizes `s` to the largest partner of `e` (`floor(e/tau)` for Jaccard, any for containment), for a pair
//! is found by its larger document. The cost of a job is estimated as the entries it touches:
//!
//! ```text
//! index prefixes of the documents of the slice  +  probe prefixes of the documents streamed past it
//! ```
//!
//! Widening a slice never makes it cheaper. Under a cap on the cost, filling slices greedily from the
//! smallest size is therefore optimal, and the least cap for which so many slices suffice is found by
//! bisection.
//!
//! One size can hold more documents than a slice may. Such a size stands alone and is split by a hash
//! of the id into *parts* of the same sizes; each part is met by all queries of that size, so only the
//! index gets smaller, and parts are used only where sizes alone do not do.

use crate::similarity::{SetSimilarity, Similarity};

/// How many documents have a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeCount {
    /// The number of features.
    pub size: u64,
    /// The number of documents with so many features.
    pub docs: u64,
}

/// What is asked of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// So many slices, fewer only when there are fewer documents; at least 1.
    Slices(u64),
    /// As few slices as hold at most so many features each, the estimate of what one process keeps in
    /// memory. A document that is larger by itself gets a slice of its own.
    Tokens(u64),
}

/// One slice of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceRange {
    /// The smallest size.
    pub first: u64,
    /// The largest size, included.
    pub last: u64,
    /// Which of the parts of its size this is, from 0.
    pub part: u32,
    /// Into how many parts the size is split; 1 for an unsplit range.
    pub parts: u32,
    /// How many documents are in the slice; for a part, how many an even split puts there.
    pub docs: u64,
    /// How many features these documents have in all.
    pub tokens: u64,
}

/// The slices of a collection, ascending by (size, part). Every size of `counts` is in exactly one range
/// or in all the parts of one size. The plan is a function of its arguments.
///
/// `counts` ascends strictly by size, every count is at least 1.
pub fn plan_slices(counts: &[SizeCount], similarity: Similarity, wanted: Wanted) -> Vec<SliceRange> {
    debug_assert!(counts.is_sorted_by(|a, b| a.size < b.size), "sizes out of order");
    let costs = Costs::new(counts, similarity);
    let limits = |cost| match wanted {
        Wanted::Slices(_) => Limits { cost, tokens: u128::MAX },
        Wanted::Tokens(tokens) => Limits { cost, tokens: tokens.into() },
    };
    let slices = match wanted {
        Wanted::Slices(slices) => slices.max(1),
        Wanted::Tokens(_) => costs.fill(limits(u128::MAX), u64::MAX).map_or(1, |runs| count(&runs)),
    };

    // The least cap on the cost under which so many slices suffice.
    let (mut low, mut high) = (0, costs.total());
    while low < high {
        let middle = low + (high - low) / 2;
        match costs.fill(limits(middle), slices) {
            Some(_) => high = middle,
            None => low = middle + 1,
        }
    }
    let mut runs = costs.fill(limits(high), slices).unwrap_or_default();
    if let Wanted::Slices(slices) = wanted {
        costs.split_further(&mut runs, slices);
    }
    runs.iter().flat_map(|run| costs.slices(run)).collect()
}

/// A range of `counts`, from `start` to before `end`, in so many parts.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: usize,
    end: usize,
    parts: u64,
}

/// What a slice may hold.
#[derive(Clone, Copy)]
struct Limits {
    cost: u128,
    tokens: u128,
}

fn count(runs: &[Run]) -> u64 {
    runs.iter().map(|run| run.parts).sum()
}

/// The counts, and their running totals, each one entry longer.
struct Costs<'a> {
    counts: &'a [SizeCount],
    /// Features of the documents of the first so many sizes.
    tokens: Vec<u128>,
    /// Features in their index prefixes.
    index: Vec<u128>,
    /// Features in their probe prefixes.
    probe: Vec<u128>,
    /// For each size, how many sizes can be its partner or are smaller.
    reach: Vec<usize>,
}

impl<'a> Costs<'a> {
    fn new(counts: &'a [SizeCount], similarity: Similarity) -> Self {
        let totals = |entries: &dyn Fn(u64) -> u64| {
            let mut total = 0;
            let each = counts.iter().map(|c| {
                total += u128::from(c.docs) * u128::from(entries(c.size));
                total
            });
            std::iter::once(0).chain(each).collect::<Vec<u128>>()
        };
        let reach = |c: &SizeCount| {
            // Documents too small for any partner are met by those of their size all the same.
            let largest = similarity.max_partner(c.size).max(c.size);
            counts.partition_point(|other| other.size <= largest)
        };
        Costs {
            tokens: totals(&|size| size),
            index: totals(&|size| similarity.index_prefix(size)),
            probe: totals(&|size| similarity.probe_prefix(size)),
            reach: counts.iter().map(reach).collect(),
            counts,
        }
    }

    /// A cost that no slice exceeds.
    fn total(&self) -> u128 {
        let last = self.counts.len();
        self.index[last] + self.probe[last]
    }

    /// The cost of one of the parts of a run.
    fn cost(&self, run: &Run) -> u128 {
        let index = self.index[run.end] - self.index[run.start];
        let reach = self.reach[run.end - 1];
        index.div_ceil(run.parts.into()) + self.probe[reach] - self.probe[run.start]
    }

    fn fits(&self, run: &Run, limits: Limits) -> bool {
        let tokens = self.tokens[run.end] - self.tokens[run.start];
        let largest_part = match run.parts {
            1 => tokens,
            // Documents are not divisible.
            parts => {
                let SizeCount { size, docs } = self.counts[run.start];
                u128::from(docs.div_ceil(parts)) * u128::from(size)
            }
        };
        largest_part <= limits.tokens && self.cost(run) <= limits.cost
    }

    /// The fewest slices within the limits; `None` when that is more than `most`, or impossible.
    fn fill(&self, limits: Limits, most: u64) -> Option<Vec<Run>> {
        let (mut runs, mut used, mut start) = (Vec::new(), 0_u64, 0);
        while start < self.counts.len() {
            let fits = |end: usize| self.fits(&Run { start, end, parts: 1 }, limits);
            let mut end = start + 1;
            let mut parts = 1;
            if fits(end) {
                // Doubling strides, then bisection: widening never makes a slice fit again.
                let mut stride = 1;
                while end + stride <= self.counts.len() && fits(end + stride) {
                    end += stride;
                    stride *= 2;
                }
                let mut beyond = (end + stride).min(self.counts.len() + 1);
                while beyond - end > 1 {
                    let middle = end + (beyond - end) / 2;
                    if fits(middle) { end = middle } else { beyond = middle }
                }
            } else {
                parts = self.parts(start, limits)?;
            }
            used = used.saturating_add(parts);
            if used > most {
                return None;
            }
            runs.push(Run { start, end, parts });
            start = end;
        }
        Some(runs)
    }

    /// The fewest parts of one size within the limits; `None` when documents one by one exceed the cost.
    fn parts(&self, at: usize, limits: Limits) -> Option<u64> {
        let docs = self.counts[at].docs.min(u32::MAX.into());
        let run = |parts| Run { start: at, end: at + 1, parts };
        // A document larger than the limit on memory must go somewhere.
        let limits = Limits { tokens: limits.tokens.max(self.counts[at].size.into()), ..limits };
        if !self.fits(&run(docs), limits) {
            return None;
        }
        let (mut low, mut high) = (1, docs);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.fits(&run(middle), limits) { high = middle } else { low = middle + 1 }
        }
        Some(high)
    }

    /// Splits the costliest ranges of several sizes, and when there are none left the sizes with the
    /// most documents to a part, until there are so many slices or every document stands alone.
    fn split_further(&self, runs: &mut Vec<Run>, slices: u64) {
        for _ in count(runs)..slices {
            let ranges = runs.iter().enumerate().filter(|(_, run)| run.end - run.start > 1);
            // Of equals the first, hence the reversed order.
            if let Some((at, run)) = ranges.rev().max_by_key(|(_, run)| self.cost(run)) {
                let halves = self.halves(*run);
                runs.splice(at..=at, halves);
                continue;
            }
            let docs = |run: &Run| self.counts[run.start].docs;
            let sizes = runs.iter_mut().filter(|run| run.parts < docs(run).min(u32::MAX.into()));
            match sizes.rev().max_by_key(|run| docs(run).div_ceil(run.parts)) {
                Some(run) => run.parts += 1,
                None => return,
            }
        }
    }

    /// A range of several sizes in two, the costlier one as cheap as can be.
    fn halves(&self, run: Run) -> [Run; 2] {
        let halves = |cut| [Run { end: cut, ..run }, Run { start: cut, ..run }];
        let worse = |cut| halves(cut).iter().map(|half| self.cost(half)).max();
        let cut = (run.start + 1..run.end).min_by_key(|&cut| worse(cut));
        halves(cut.unwrap_or(run.start + 1))
    }

    /// The slices of a run, documents dealt out evenly to its parts.
    fn slices(&self, run: &Run) -> impl Iterator<Item = SliceRange> {
        let counts = &self.counts[run.start..run.end];
        let (first, last) = (counts[0].size, counts[counts.len() - 1].size);
        let docs: u64 = counts.iter().map(|c| c.docs).sum();
        let tokens = self.tokens[run.end] - self.tokens[run.start];
        let parts = run.parts;
        (0..parts).map(move |part| {
            let share = docs / parts + u64::from(part < docs % parts);
            let tokens = if parts == 1 { tokens } else { u128::from(share) * u128::from(first) };
            SliceRange {
                first,
                last,
                part: part as u32,
                parts: parts as u32,
                docs: share,
                tokens: u64::try_from(tokens).unwrap_or(u64::MAX),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::Measure;
    use crate::similarity::tests::all;
    use proptest::prelude::*;

    /// Any similarity, with a threshold of so many tenths or of three features more than those.
    fn any_similarity() -> impl Strategy<Value = Similarity> {
        let of = |(tenths, kind): (u32, usize)| {
            let Ok(tau) = format!("{}.{}", tenths / 10, tenths % 10).parse() else { unreachable!() };
            all(tau, u64::from(tenths) + 3)[kind]
        };
        (1u32..=10, 0usize..5).prop_map(of)
    }

    fn similarity(tenths: u32) -> Similarity {
        Measure::Jaccard.reaching(&format!("{}.{}", tenths / 10, tenths % 10)).unwrap()
    }

    fn collection() -> impl Strategy<Value = Vec<SizeCount>> {
        prop::collection::btree_map(0u64..60, 1u64..40, 0..14)
            .prop_map(|counts| counts.into_iter().map(|(size, docs)| SizeCount { size, docs }).collect())
    }

    /// The cost by its definition, document by document.
    fn cost(counts: &[SizeCount], similarity: Similarity, slice: &SliceRange) -> u64 {
        let of = |first: u64, last: u64, entries: &dyn Fn(u64) -> u64| -> u64 {
            let inside = counts.iter().filter(|c| (first..=last).contains(&c.size));
            inside.map(|c| c.docs * entries(c.size)).sum()
        };
        of(slice.first, slice.last, &|s| similarity.index_prefix(s)).div_ceil(slice.parts.into())
            + of(slice.first, similarity.max_partner(slice.last).max(slice.last), &|s| {
                similarity.probe_prefix(s)
            })
    }

    fn worst(counts: &[SizeCount], similarity: Similarity, plan: &[SliceRange]) -> u64 {
        plan.iter().map(|slice| cost(counts, similarity, slice)).max().unwrap_or(0)
    }

    /// The least worst cost of any cut into at most `slices` ranges, by trying them all.
    fn best(counts: &[SizeCount], all: &[SizeCount], similarity: Similarity, slices: u64) -> u64 {
        let range = |end: usize| SliceRange {
            first: counts[0].size,
            last: counts[end - 1].size,
            part: 0,
            parts: 1,
            docs: 0,
            tokens: 0,
        };
        match (counts.len(), slices) {
            (0, _) => 0,
            (_, 0) => u64::MAX,
            _ => (1..=counts.len())
                .map(|end| {
                    cost(all, similarity, &range(end)).max(best(&counts[end..], all, similarity, slices - 1))
                })
                .min()
                .unwrap(),
        }
    }

    fn check_cover(counts: &[SizeCount], plan: &[SliceRange]) -> Result<(), TestCaseError> {
        prop_assert!(
            plan.is_sorted_by(|a, b| {
                if a.first == b.first {
                    (a.last, a.parts, a.part + 1) == (b.last, b.parts, b.part)
                } else {
                    a.last < b.first && a.part + 1 == a.parts && b.part == 0
                }
            }),
            "{plan:?}"
        );
        for slice in plan {
            prop_assert!(slice.first <= slice.last && slice.docs >= 1);
            prop_assert!(slice.parts == 1 || slice.first == slice.last);
        }
        for c in counts {
            let holding: Vec<_> = plan.iter().filter(|s| (s.first..=s.last).contains(&c.size)).collect();
            prop_assert!(!holding.is_empty());
            prop_assert_eq!(holding.len(), holding[0].parts as usize);
        }
        let docs: u64 = counts.iter().map(|c| c.docs).sum();
        let tokens: u64 = counts.iter().map(|c| c.docs * c.size).sum();
        prop_assert_eq!(plan.iter().map(|slice| slice.docs).sum::<u64>(), docs);
        prop_assert_eq!(plan.iter().map(|slice| slice.tokens).sum::<u64>(), tokens);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn so_many_slices_as_balanced_as_can_be(counts in collection(), similarity in any_similarity(), slices in 1u64..9) {
            let plan = plan_slices(&counts, similarity, Wanted::Slices(slices));
            check_cover(&counts, &plan)?;
            let docs: u64 = counts.iter().map(|c| c.docs).sum();
            prop_assert_eq!(plan.len() as u64, slices.min(docs));
            prop_assert!(worst(&counts, similarity, &plan) <= best(&counts, &counts, similarity, slices), "{:?}", plan);
        }

        #[test]
        fn no_slice_outgrows_memory(counts in collection(), similarity in any_similarity(), most in 0u64..3_000) {
            let plan = plan_slices(&counts, similarity, Wanted::Tokens(most));
            check_cover(&counts, &plan)?;
            for slice in &plan {
                prop_assert!(slice.tokens <= most || slice.docs == 1, "{slice:?}");
            }
        }
    }

    /// Log-normal sizes of a web crawl, a million documents of one size among them.
    #[test]
    fn plans_a_large_collection() {
        let docs = |size: u64| 10_000_000 / (1 + size.abs_diff(300)) + u64::from(size == 57) * 1_000_000;
        let counts: Vec<SizeCount> = (1..20_000).map(|size| SizeCount { size, docs: docs(size) }).collect();
        let similarity = similarity(4);
        let plan = plan_slices(&counts, similarity, Wanted::Slices(200));
        assert_eq!(plan.len(), 200);
        let naive: Vec<SliceRange> = (0..200_u64)
            .map(|i| (i * 100 + 1, ((i + 1) * 100).min(19_999)))
            .map(|(first, last)| SliceRange { first, last, part: 0, parts: 1, docs: 0, tokens: 0 })
            .collect();
        assert!(worst(&counts, similarity, &plan) < worst(&counts, similarity, &naive));
        assert_eq!(plan_slices(&[], similarity, Wanted::Slices(3)), []);
    }
}
