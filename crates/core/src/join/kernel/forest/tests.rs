use super::super::tests::{corpus, templates, truth_pairs, ways_to_cut, with_classes};
use super::super::{Shard, join_components};
use super::*;
use crate::similarity::tau::Tau;
use crate::similarity::tests::all;
use proptest::prelude::*;

/// The smallest member of each set's component.
fn labels(sets: &Sets, parts: &[Shard], similarity: Similarity, threads: usize) -> (Vec<u32>, Work, u64) {
    let mut forest = UnionFind::new(sets.len() as u32);
    let Ok((work, joined)) = join_components(sets, parts, similarity, threads, &|_| (), &mut forest);
    (forest.into_labels(), work, joined)
}

fn check(sets: &Sets, tau: Tau, least: u64, parts: usize) -> Result<(), TestCaseError> {
    for similarity in all(tau, least) {
        let mut forest = UnionFind::new(sets.len() as u32);
        for pair in truth_pairs(sets, similarity) {
            forest.union(pair.a, pair.b);
        }
        let expected = forest.into_labels();
        let components = expected.iter().enumerate().filter(|(set, label)| *set == **label as usize).count();
        for parts in &ways_to_cut(sets, parts, similarity) {
            let (found, work, joined) = labels(sets, parts, similarity, 1);
            prop_assert_eq!(&found, &expected, "{:?} {:?}", similarity, parts);
            // A forest has an edge for each set that is not alone, but one in each component.
            prop_assert_eq!(joined as usize, sets.len() - components);
            prop_assert!(work.candidates >= joined);
            for threads in 2..4 {
                prop_assert_eq!(&labels(sets, parts, similarity, threads), &(found.clone(), work, joined));
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// The components of all pairs, for every similarity, parts of any kind and any number of threads; what it took does not
    /// depend on threads.
    #[test]
    fn components_are_those_of_all_pairs(
        seed: u64, count in 0usize..80, vocabulary in prop_oneof![1usize..60, 500usize..3000], longest in 1usize..40,
        singleton in 0usize..6, billionths in 1u32..=1_000_000_000, least in 1u64..9, parts in 1usize..5,
        of_class in 1u32..4,
    ) {
        let sets = with_classes(&corpus(seed, count, vocabulary, longest, true, singleton), of_class);
        let Some(tau) = Tau::from_billionths(billionths) else { return Ok(()) };
        check(&sets, tau, least, parts)?;
    }

    /// The same where sets are nearly equal.
    #[test]
    fn components_of_near_equal_sets(
        seed: u64, count in 0usize..120, of in 1usize..4, others in 0usize..3, size in 5usize..60, exchanged in 0usize..12, tenths in 1u32..=10,
        least in 1u64..9, parts in 1usize..5,
    ) {
        let tau: Tau = format!("{}.{}", tenths / 10, tenths % 10).parse().unwrap();
        check(&templates(seed, count, (of, others), size, exchanged), tau, least, parts)?;
    }
}

/// The first set of a part is like one of the same size that an earlier part has brought into another component.
#[test]
fn the_first_set_of_a_part_is_met() {
    let mut sets = Sets::default();
    for tokens in [0..8, 14..22, 7..15] {
        sets.push_with_singletons(&tokens.collect::<Vec<u32>>(), 0);
    }
    let tau: Tau = "0.05".parse().unwrap();
    let parts = [Shard::range(0..1), Shard::range(1..3)];
    let (found, _, joined) = labels(&sets, &parts, tau.into(), 1);
    assert_eq!((found, joined), (vec![0; 3], 2));
}

/// Twice as many near-equal sets take twice as many comparisons and hardly a posting, not four times.
#[test]
fn near_equal_sets_are_met_once() {
    let tau: Tau = "0.7".parse().unwrap();
    let of = |count: usize| {
        let sets = templates(7, count, (1, 0), 80, 4);
        let (_, work, _) = labels(&sets, &[Shard::range(0..count)], tau.into(), 2);
        work
    };
    let (some, twice) = (of(1000), of(2000));
    for work in [some, twice] {
        println!("{work:?}");
    }
    assert!(twice.candidates < some.candidates * 3 && twice.candidates < 3 * 2000, "{some:?} {twice:?}");
    assert!(twice.postings < some.postings * 3 + 1000, "{some:?} {twice:?}");
}
