//! What a join did, counted: how long it takes follows from these numbers, and they do not change with the machine.

use std::ops::AddAssign;

/// Counts of a join. They follow from the sets, their parts and the similarity, never from threads or time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Parts that were indexed, one after the other.
    pub shards: u64,
    /// Sets that were held against an index, counted anew for each.
    pub queries: u64,
    /// Postings that queries visited; where a query compared bitmaps of sets instead, those that it would have visited, which
    /// cost more.
    pub postings: u64,
    /// Pairs of sets that were left to be verified.
    pub candidates: u64,
}

impl AddAssign for Work {
    fn add_assign(&mut self, more: Self) {
        self.shards += more.shards;
        self.queries += more.queries;
        self.postings += more.postings;
        self.candidates += more.candidates;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{corpus, with_classes};
    use super::super::{Asked, Scratch, Shard, index_shards, join_shards};
    use super::super::{Index, Purpose, counters::Counters};
    use super::*;
    use crate::join::sets::Sets;
    use crate::similarity::tau::Tau;
    use proptest::prelude::*;
    use std::convert::Infallible;

    fn work(sets: &Sets, tau: Tau, asked: Asked, threads: usize) -> Work {
        let Ok(parts) = index_shards(sets, &[Shard::range(0..sets.len())], tau, threads);
        let Ok::<Work, Infallible>(work) =
            join_shards(sets, &parts, tau, asked, threads, &|_| (), &|_| Ok(()));
        work
    }

    /// Sets of 100 words, so many of them in all.
    fn template(count: usize, shared: u32) -> Sets {
        let mut sets = Sets::default();
        let shared: Vec<u32> = (0..shared).collect();
        (0..count).for_each(|_| sets.push_with_singletons(&shared, 100 - shared.len()));
        sets
    }

    /// All sets but the first are held against the one part.
    fn queries_of(count: usize) -> u64 {
        count as u64 - 1
    }

    #[test]
    fn a_template_without_pairs_is_indexed_once_and_visits_nothing() {
        let tau: Tau = "0.5".parse().unwrap();
        for count in [500, 1000] {
            for shared in [60, 66] {
                let queries = queries_of(count);
                let expected = Work { shards: 1, queries, postings: 0, candidates: 0 };
                for asked in [Asked::Pairs, Asked::Candidates] {
                    assert_eq!(work(&template(count, shared), tau, asked, 2), expected);
                }
            }
            // One word more, and all are pairs.
            let all = (count * (count - 1) / 2) as u64;
            let found = work(&template(count, 67), tau, Asked::Candidates, 2);
            assert_eq!((found.shards, found.candidates), (1, all));
            // A query sees where the list goes on behind its own set.
            assert!((all..=all + queries_of(count)).contains(&found.postings), "{found:?}");
        }
    }

    /// A query that meets no list leaves the counters of all sets alone, however large it is.
    #[test]
    fn queries_without_lists_count_nothing() {
        let (sets, tau) = (template(100, 60), "0.5".parse::<Tau>().unwrap());
        let index = Index::build(&sets, 0..100, tau, Purpose::SelfJoin);
        let mut scratch = Scratch::default();
        for set in 0..100 {
            index.query(sets.get(set), sets.singleton(set), set, &mut scratch, |_, _| panic!("a pair"));
        }
        assert_eq!(format!("{:?}", scratch.counters), format!("{:?}", Counters::default()));
        assert_eq!(scratch.work, Work::default());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn counts_do_not_depend_on_threads(
            seed: u64, count in 0usize..200, of_class in 1u32..4, vocabulary in prop_oneof![1usize..60, 500usize..3000],
            singleton in 0usize..4, twentieths in 1u32..=20, candidates: bool,
        ) {
            let sets = with_classes(&corpus(seed, count, vocabulary, 20, true, singleton), of_class);
            let tau: Tau = format!("{}.{:02}", twentieths / 20, twentieths % 20 * 5).parse().unwrap();
            let asked = if candidates { Asked::Candidates } else { Asked::Pairs };
            let one = work(&sets, tau, asked, 1);
            for threads in 2..5 {
                prop_assert_eq!(work(&sets, tau, asked, threads), one);
            }
        }
    }
}
