//! The index against brute force, and what its order is for.

use super::*;
use crate::similarity::containment::QueryContainment;
use crate::similarity::tests::{all, truth};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Operation {
    Insert(Vec<u64>),
    Remove(prop::sample::Index),
    Search(Vec<u64>),
}

fn sets() -> impl Strategy<Value = Vec<u64>> {
    // Some features are frequent.
    let feature = prop_oneof![0u64..8, 0u64..200];
    prop::collection::btree_set(feature, 1..24).prop_map(|set| set.into_iter().collect())
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        5 => sets().prop_map(Operation::Insert),
        1 => any::<prop::sample::Index>().prop_map(Operation::Remove),
        2 => sets().prop_map(Operation::Search),
    ];
    prop::collection::vec(operation, 0..200)
}

proptest! {
    /// What brute force finds at each moment, in the midst of a change of the order too.
    #[test]
    fn a_search_finds_what_brute_force_finds(
        operations in operations(), twentieths in 1u32..=20, kind in 0usize..6, first in 4usize..40,
    ) {
        let tau: crate::similarity::tau::Tau =
            format!("{}.{:02}", twentieths / 20, twentieths % 20 * 5).parse().unwrap();
        let directed = Similarity::QueryContainment(QueryContainment(tau));
        let similarity = all(tau, twentieths.into()).get(kind).copied().unwrap_or(directed);
        let mut index = GrowingIndex::ordered_from(similarity, first);
        let (mut held, mut next, mut room) = (BTreeMap::<u64, Vec<u64>>::new(), 0, Room::default());
        for operation in operations {
            match operation {
                Operation::Insert(set) => {
                    held.insert(next, set.clone());
                    index.insert(next, &set, |number| held.get(&number).map(|set| &set[..]));
                    next += 3;
                }
                Operation::Remove(which) if !held.is_empty() => {
                    let number = *held.keys().nth(which.index(held.len())).unwrap();
                    let set = held.remove(&number).unwrap();
                    prop_assert_eq!(index.remove(number, &set), index.indexed(&set) > 0);
                    prop_assert!(!index.remove(number, &set));
                }
                Operation::Remove(_) => {}
                Operation::Search(set) => {
                    let mut found = Vec::new();
                    index.search(&set, |number| held.get(&number).map(|set| &set[..]), &mut room, |number, overlap| {
                        found.push((number, overlap));
                        ControlFlow::Continue(())
                    });
                    let mut expected = Vec::new();
                    for (number, other) in &held {
                        let overlap = set.iter().filter(|feature| other.contains(feature)).count() as u64;
                        if truth(similarity, overlap, set.len() as u64, other.len() as u64) {
                            expected.push((*number, overlap));
                        }
                    }
                    prop_assert_eq!(&found, &expected);
                    found.clear();
                    let again = GrowingIndex::over(similarity, held.keys().copied().collect(), |number| held.get(&number).map(|set| &set[..]));
                    again.search(&set, |number| held.get(&number).map(|set| &set[..]), &mut room, |number, overlap| {
                        found.push((number, overlap));
                        ControlFlow::Continue(())
                    });
                    prop_assert_eq!(found, expected);
                }
            }
            prop_assert_eq!(index.len(), held.values().filter(|set| index.indexed(set) > 0).count());
        }
    }
}

/// Sets of one frequent feature and rare ones, more than an order is first made for.
fn many(count: u64) -> Vec<Vec<u64>> {
    (0..count)
        .map(|number| {
            let mut set: Vec<u64> = (0..20).map(|nth| crate::hash::mix(20 * number + nth) >> 1).collect();
            set.extend([1, 2, 3]);
            set.sort_unstable();
            set
        })
        .collect()
}

#[test]
fn frequent_features_go_out_of_prefixes() {
    let sets = many(20_000);
    let set = |number: u64| sets.get(number as usize).map(|set| &set[..]);
    let mut index = GrowingIndex::new(crate::similarity::Measure::Jaccard.reaching("0.7").unwrap());
    let (mut room, mut most) = (Room::default(), 0);
    for (number, one) in (0..).zip(&sets) {
        let before = room.contacts();
        index.search(one, set, &mut room, |_, _| ControlFlow::Continue(()));
        most = most.max(room.contacts() - before);
        index.insert(number, one, set);
    }
    // Features of small hashes stand in every prefix until the order is made, and in none after.
    assert!(most >= 3 * FIRST as u64, "{most}");
    let before = room.contacts();
    index.search(&sets[19_999], set, &mut room, |number, overlap| {
        assert_eq!((number, overlap), (19_999, 23));
        ControlFlow::Continue(())
    });
    assert_eq!(room.contacts() - before, index.indexed(&sets[0]));
}

#[test]
fn what_is_taken_out_takes_no_memory() {
    let sets = many(6000);
    let set = |number: u64| sets.get(number as usize % sets.len()).map(|set| &set[..]);
    let mut index = GrowingIndex::new(crate::similarity::Measure::Jaccard.reaching("0.7").unwrap());
    let mut memory = Vec::new();
    for number in 0..60_000u64 {
        index.insert(number, set(number).unwrap(), set);
        if let Some(gone) = number.checked_sub(3000) {
            assert!(index.remove(gone, set(gone).unwrap()));
        }
        if number % 20_000 == 19_999 {
            memory.push(index.memory());
        }
    }
    assert_eq!(index.len(), 3000);
    assert!(memory[2] <= memory[0] + memory[0] / 10, "{memory:?}");
}
