//! An index that changes, against a map that is scanned.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Against a map that is scanned; enough are inserted for several runs.
    #[test]
    fn it_finds_what_is_there(
        steps in prop::collection::vec((0u8..6, 1u64..900, any::<u64>()), 1..60),
        base in 1usize..3000, in_background: bool,
    ) {
        let values: Vec<u64> = (0..base as u64).map(|n| (n % 700).mixed()).collect();
        let options = IndexOptions { distance: 2, memory: 1 << 22, ..IndexOptions::default() };
        let mut live = DynamicIndex::of((0..).zip(values.clone()), options).unwrap();
        if in_background {
            live = live.in_background();
        }
        let mut truth: BTreeMap<u64, u64> = (0..).zip(values).collect();
        let mut id = base as u64;
        for (kind, some, random) in steps {
            match kind {
                0..=2 => for n in 0..some {
                    id += 1 + random % 3;
                    let value = (n % 50 * 31).mixed() ^ (random >> 61);
                    live.insert(id, value).unwrap();
                    truth.insert(id, value);
                },
                3 | 4 => for n in 0..some.min(40) {
                    let gone = random.wrapping_mul(n) % (id + 2);
                    prop_assert_eq!(live.remove(gone), truth.remove(&gone).is_some());
                },
                _ => {
                    let oldest = id.saturating_sub(some * 3);
                    live.expire_before(oldest);
                    truth.retain(|id, _| *id >= oldest);
                }
            }
            let query = (random % 50 * 31).mixed() ^ 1;
            let near = truth.iter().map(|(id, value)| (*id, value.distance(query)));
            prop_assert_eq!(live.search(query), near.filter(|(_, distance)| *distance <= 2).collect::<Vec<_>>());
        }
        prop_assert!(live.insert(id - 1, 0).is_err());
        prop_assert!(in_background || live.runs.windows(2).all(|two| two[0].left() > two[1].left()));
    }
}

#[test]
fn ids_that_it_begins_with_must_grow() {
    let of = |ids: [u64; 2]| DynamicIndex::<u64>::of(ids.into_iter().zip([1, 2]), IndexOptions::default());
    assert_eq!(of([5, u64::MAX]).unwrap().search(3), [(5, 1), (u64::MAX, 1)]);
    assert!(of([5, 5]).is_err() && of([6, 5]).is_err());
}

/// However many there are, no run of the background is larger than it may be, and there are few.
#[test]
fn runs_are_bounded_and_few() {
    let mut live = DynamicIndex::<u64>::new(IndexOptions::default()).in_background();
    for id in 0..60 * FRESH as u64 {
        live.insert(id, id.mixed()).unwrap();
        if let Some(merge) = &live.merge {
            while !merge.thread.is_finished() {
                thread::yield_now();
            }
        }
        live.take_merged().unwrap();
    }
    let sizes: Vec<usize> = live.runs.iter().map(Run::left).collect();
    assert!(sizes.iter().all(|size| *size <= LARGEST), "{sizes:?}");
    assert!(sizes.len() <= 2 * 60 * FRESH / LARGEST + 4, "{sizes:?}");
    // What is gone is no part of any run in the end.
    for id in 0..59 * FRESH as u64 {
        assert!(live.remove(id));
    }
    for id in 60 * FRESH as u64..100 * FRESH as u64 {
        live.insert(id, id.mixed()).unwrap();
        while live.merge.as_ref().is_some_and(|merge| !merge.thread.is_finished()) {
            thread::yield_now();
        }
    }
    assert!(live.runs.iter().all(|run| run.removed.len() <= run.left()));
    assert_eq!(live.search(7_u64.mixed()), []);
    assert_eq!(live.search((59 * FRESH as u64).mixed()), [(59 * FRESH as u64, 0)]);
}
