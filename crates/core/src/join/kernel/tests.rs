//! The kernel against brute force with exact fractions.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::join::prefix::{Posting, may_pair};
use crate::similarity::tau::Tau;
use crate::similarity::tests::{all, truth};
use crate::threads::{lock, unlocked};
use num_rational::Ratio;
use proptest::prelude::*;

use super::bitmap_index::Costs;
use super::strategy::JoinStrategy;
use super::*;

const THRESHOLDS: [&str; 13] =
    ["0.1", "0.2", "0.3", "0.4", "0.5", "0.55", "0.6", "0.65", "0.7", "0.8", "0.85", "0.9", "1.0"];

/// Every pair of `sets` that are similar, once, sorted by (`b`, `a`).
fn self_join(sets: &Sets, similarity: impl Into<Similarity>, threads: usize) -> Vec<JoinPair> {
    let similarity = similarity.into();
    let pairs = Mutex::new(Vec::new());
    let Ok(parts) = index_shards(sets, &whole(sets), similarity, threads);
    let Ok::<Work, Infallible>(_) =
        join_shards(sets, &parts, similarity, Asked::Pairs, threads, &|_| (), &|found| {
            lock(&pairs).extend_from_slice(found);
            Ok(())
        });
    let mut pairs = unlocked(pairs);
    pairs.sort_unstable_by_key(|pair| (pair.b, pair.a));
    pairs
}

/// SplitMix64: a corpus is a function of its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    /// Small numbers far more often than large ones.
    fn skewed(&mut self, n: usize) -> usize {
        let below = self.below(n) + 1;
        let below = self.below(below) + 1;
        self.below(below)
    }
}

/// Skewed sets with so many singleton tokens at most: some empty, many singletons, and in part altered copies of earlier ones, so that
/// every threshold has an answer. With `by_frequency` frequent tokens get large numbers; otherwise the
/// numbering is arbitrary, which must not change the answer.
pub(super) fn corpus(
    seed: u64,
    count: usize,
    vocabulary: usize,
    longest: usize,
    by_frequency: bool,
    singleton: usize,
) -> Sets {
    let mut random = Random(seed);
    let mut sets: Vec<BTreeSet<u32>> = Vec::new();
    for _ in 0..count {
        let mut set = BTreeSet::new();
        if !sets.is_empty() && random.below(2) == 0 {
            set = sets[random.below(sets.len())].clone();
            for _ in 0..random.skewed(6) {
                set.remove(&(random.skewed(vocabulary) as u32));
                if random.below(2) == 0 {
                    set.insert(random.skewed(vocabulary) as u32);
                }
            }
        } else {
            for _ in 0..random.skewed(longest + 1) {
                set.insert(random.skewed(vocabulary) as u32);
            }
        }
        sets.push(set);
    }
    let number = |token: u32| {
        if by_frequency { vocabulary as u32 - 1 - token } else { token }
    };
    let mut rows: Vec<(Vec<u32>, usize)> = sets
        .into_iter()
        .map(|set| {
            let mut row: Vec<u32> = set.into_iter().map(number).collect();
            row.sort_unstable();
            (row, random.below(singleton + 1))
        })
        .collect();
    rows.sort_by_key(|(row, singleton)| row.len() + singleton);
    let mut sets = Sets::default();
    rows.iter().for_each(|(row, singleton)| sets.push_with_singletons(row, *singleton));
    sets
}

/// Sets of the same kind in which each token stands for a class of up to `most`, with numbers one after the other; alone where that is 1.
pub(super) fn with_classes(sets: &Sets, most: u32) -> Sets {
    let end = (0..sets.len()).filter_map(|set| sets.get(set).last()).max().map_or(0, |last| last + 1);
    let mut rows: Vec<(Vec<u32>, usize)> = (0..sets.len())
        .map(|set| {
            // Those of a class are far apart before they are numbered anew.
            let class = |token: u32| (0..1 + (7 * token + 3) % most).map(move |nth| nth * end + token);
            let mut row: Vec<u32> = sets.get(set).iter().flat_map(|token| class(*token)).collect();
            row.sort_unstable();
            (row, sets.singleton(set))
        })
        .collect();
    rows.sort_by_key(|(row, singleton)| row.len() + singleton);
    let mut grouped = Sets::default();
    rows.iter().for_each(|(row, singleton)| grouped.push_with_singletons(row, *singleton));
    grouped.group_tokens(1 + sets.len() % 3);
    grouped
}

fn shared(x: &[u32], y: &[u32]) -> u64 {
    let x: BTreeSet<u32> = x.iter().copied().collect();
    y.iter().filter(|token| x.contains(token)).count() as u64
}

/// The definition: Jaccard as a fraction, compared with the threshold as a fraction.
fn similar(overlap: u64, a: usize, b: usize, tau: Tau) -> bool {
    let threshold = Ratio::new(u64::from(tau.fraction().0), u64::from(tau.fraction().1));
    overlap > 0 && Ratio::new(overlap, a as u64 + b as u64 - overlap) >= threshold
}

/// Overlap of all pairs that share a token, sorted by (later, earlier).
fn overlaps(sets: &Sets) -> Vec<JoinPair> {
    let mut all = Vec::new();
    for b in 0..sets.len() {
        for a in 0..b {
            let overlap = shared(sets.get(a), sets.get(b)) as u32;
            if overlap > 0 {
                all.push(JoinPair { a: a as u32, b: b as u32, overlap });
            }
        }
    }
    all
}

/// Sets of so many templates, each with a few of its tokens exchanged; and `others` of as many kinds.
pub(super) fn templates(
    seed: u64,
    count: usize,
    (templates, others): (usize, usize),
    size: usize,
    exchanged: usize,
) -> Sets {
    let mut state = seed | 1;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as usize) % n.max(1)
    };
    let mut rows: Vec<(Vec<u32>, usize)> = (0..count)
        .map(|_| {
            let (template, mut tokens) = (below(templates + others), std::collections::BTreeSet::new());
            let first = if template >= templates { below(3000) } else { 100 * template };
            tokens.extend((0..size).map(|at| (first + at) as u32));
            for _ in 0..below(exchanged + 1) {
                tokens.remove(&((first + below(size)) as u32));
                tokens.insert(below(4000) as u32);
            }
            (tokens.into_iter().collect(), below(3))
        })
        .collect();
    rows.sort_by_key(|(row, singleton)| row.len() + singleton);
    let mut sets = Sets::default();
    rows.iter().for_each(|(row, singleton)| sets.push_with_singletons(row, *singleton));
    sets
}

/// The pairs of a similarity, by definition.
pub(super) fn truth_pairs(sets: &Sets, similarity: Similarity) -> Vec<JoinPair> {
    let size = |set: u32| sets.size(set as usize) as u64;
    let mut pairs = overlaps(sets);
    pairs.retain(|pair| truth(similarity, pair.overlap.into(), size(pair.a), size(pair.b)));
    pairs
}

fn accepted(sets: &Sets, overlaps: &[JoinPair], tau: Tau) -> Vec<JoinPair> {
    let size = |set: u32| sets.size(set as usize);
    let keep = |pair: &&JoinPair| similar(pair.overlap.into(), size(pair.a), size(pair.b), tau);
    overlaps.iter().filter(keep).copied().collect()
}

pub(super) fn slices(len: usize, parts: usize) -> Vec<Range<usize>> {
    (0..parts).map(|part| len * part / parts..len * (part + 1) / parts).collect()
}

/// A collection whole, in shards, in so many ranges, and dealt out to as many parts.
pub(super) fn ways_to_cut(sets: &Sets, parts: usize, similarity: Similarity) -> [Vec<Shard>; 4] {
    let whole = vec![Shard::range(0..sets.len())];
    let Ok(cut) = index_shards(sets, &whole, similarity, 2);
    let ranges = slices(sets.len(), parts).into_iter().map(Shard::range).collect();
    let dealt = (0..parts).map(|first| Shard { first, end: sets.len(), step: parts }).collect();
    [whole, cut, ranges, dealt]
}

/// The pairs of a join in parts, sorted, and how many sets were held against them.
fn joined(sets: &Sets, parts: &[Shard], tau: Tau, threads: usize) -> (Vec<JoinPair>, usize) {
    let (found, seen) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    let count = |sets| {
        seen.fetch_add(sets, Ordering::Relaxed);
    };
    let Ok::<Work, Infallible>(_) = join_shards(sets, parts, tau, Asked::Pairs, threads, &count, &|pairs| {
        lock(&found).extend_from_slice(pairs);
        Ok(())
    });
    let mut found = unlocked(found);
    found.sort_unstable_by_key(|pair| (pair.b, pair.a));
    (found, seen.into_inner())
}

/// A threshold that some pair of the corpus meets exactly, if it is a decimal of at most 9 places.
fn on_a_pair(sets: &Sets, overlaps: &[JoinPair], pick: usize) -> Option<Tau> {
    let exact = |pair: &JoinPair| {
        let union =
            (sets.size(pair.a as usize) + sets.size(pair.b as usize)) as u64 - u64::from(pair.overlap);
        let billionths = u64::from(pair.overlap) * 1_000_000_000;
        billionths.is_multiple_of(union).then(|| billionths / union)
    };
    let all: Vec<u64> = overlaps.iter().filter_map(exact).filter(|&n| n < 1_000_000_000).collect();
    let chosen = all.get(pick.checked_rem(all.len())?)?;
    Some(format!("0.{chosen:09}").parse().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn finds_every_pair_once_and_no_other(
        seed: u64,
        count in 0usize..90,
        vocabulary in 1usize..120,
        longest in 1usize..40,
        by_frequency: bool,
        singleton in prop_oneof![Just(0usize), 1usize..12],
        billionths in 1u32..1_000_000_000,
        pick: u16,
        of_class in 1u32..5,
    ) {
        let sets = with_classes(&corpus(seed, count, vocabulary, longest, by_frequency, singleton), of_class);
        let overlaps = overlaps(&sets);
        let mut thresholds: Vec<Tau> = THRESHOLDS.iter().map(|tau| tau.parse().unwrap()).collect();
        thresholds.push(format!("0.{billionths:09}").parse().unwrap());
        thresholds.extend(on_a_pair(&sets, &overlaps, pick.into()));
        for (round, tau) in thresholds.into_iter().enumerate() {
            let expected = accepted(&sets, &overlaps, tau);
            let threads = round % 4 + 1;
            prop_assert_eq!(&self_join(&sets, tau, threads), &expected, "tau {} threads {}", tau, threads);
            for parts in [1, 3, 7] {
                let slices: Vec<Shard> = slices(sets.len(), parts).into_iter().map(Shard::range).collect();
                let dealt: Vec<Shard> =
                    (0..parts).map(|first| Shard { first, end: sets.len(), step: parts }).collect();
                for parts in [slices, dealt] {
                    let (found, seen) = joined(&sets, &parts, tau, threads);
                    prop_assert_eq!(&found, &expected, "tau {} parts {:?}", tau, parts);
                    prop_assert_eq!(seen, queries(&sets, &parts, tau));
                }
            }
        }
    }

    /// Candidates are the pairs that Term-Split's test lets pass, each once with how often it does; verified from behind
    /// their prefixes they are the answer.
    #[test]
    fn candidates_are_those_of_term_split(
        seed: u64, count in 0usize..60, vocabulary in 1usize..60, twentieths in 1u32..=20, singleton in 0usize..4,
        parts in 1usize..4, threads in 1usize..4, of_class in 1u32..4,
    ) {
        let tau: Tau = format!("{}.{:02}", twentieths / 20, twentieths % 20 * 5).parse().unwrap();
        let sets = with_classes(&corpus(seed, count, vocabulary, 20, true, singleton), of_class);
        let posting = |set: usize, token: u32| {
            let position = sets.get(set).iter().position(|own| *own == token)? + sets.singleton(set);
            Posting::new(tau.into(), sets.size(set) as u64, position as u64)
        };
        let mut expected = Vec::new();
        for b in 0..sets.len() {
            for a in 0..b {
                let passes = |token: &&u32| match (posting(a, **token), posting(b, **token)) {
                    (Some(smaller), Some(larger)) => may_pair(tau.into(), &smaller, &larger),
                    _ => false,
                };
                let overlap = sets.get(a).iter().filter(passes).count() as u32;
                expected.extend((overlap > 0).then_some(JoinPair { a: a as u32, b: b as u32, overlap }));
            }
        }
        let parts: Vec<Shard> = slices(sets.len(), parts).into_iter().map(Shard::range).collect();
        let found = Mutex::new(Vec::new());
        let asked = Asked::Candidates;
        let Ok::<Work, Infallible>(_) = join_shards(&sets, &parts, tau, asked, threads, &|_| (), &|pairs| {
            if threads == 1 && parts.len() == 1 {
                assert!(pairs.is_sorted_by_key(|pair| (pair.b, pair.a)));
            }
            lock(&found).extend_from_slice(pairs);
            Ok(())
        });
        let mut found = unlocked(found);
        found.sort_unstable_by_key(|pair| (pair.b, pair.a));
        prop_assert_eq!(&found, &expected);

        let verified = |pair: &JoinPair| {
            let (x, y) = (pair.b as usize, pair.a as usize);
            let needed = Similarity::from(tau).overlap_needed(sets.size(x) as u64, sets.size(y) as u64) as usize;
            let overlap = overlap_of_candidate(sets.get(x), sets.get(y), pair.overlap, needed);
            overlap.map(|overlap| JoinPair { overlap, ..*pair })
        };
        let pairs: Vec<JoinPair> = found.iter().filter_map(verified).collect();
        prop_assert_eq!(pairs, accepted(&sets, &overlaps(&sets), tau));
    }

    /// A set with singleton tokens pairs as one whose singleton tokens are written out, with numbers of their own.
    #[test]
    fn lone_tokens_need_no_numbers(seed: u64, count in 0usize..60, twentieths in 1u32..=20, singleton in 1usize..12) {
        let sets = corpus(seed, count, 60, 20, true, singleton);
        let total: usize = (0..sets.len()).map(|set| sets.singleton(set)).sum();
        let (mut written, mut next) = (Sets::default(), 0);
        for set in 0..sets.len() {
            let after = next + sets.singleton(set) as u32;
            let known = sets.get(set).iter().map(|token| total as u32 + token);
            written.push(&(next..after).chain(known).collect::<Vec<_>>());
            next = after;
        }
        let tau: Tau = format!("{}.{:02}", twentieths / 20, twentieths % 20 * 5).parse().unwrap();
        prop_assert_eq!(self_join(&sets, tau, 2), self_join(&written, tau, 2));
    }

    /// Queries of any size, of which some tokens occur nowhere, against a part of a collection.
    #[test]
    fn answers_foreign_queries(
        seed: u64,
        count in 1usize..60,
        vocabulary in 1usize..80,
        longest in 1usize..30,
        foreign in 0usize..5,
        singleton in 0usize..4,
        cut in 0usize..60,
        of_class in 1u32..4,
    ) {
        // Queries have some tokens of a class, and not others.
        let sets = with_classes(&corpus(seed, count, vocabulary, longest, true, singleton), of_class);
        let queries = corpus(!seed, 20, vocabulary, longest, true, singleton);
        let mut scratch = Scratch::default();
        let first = cut % sets.len();
        for tau in THRESHOLDS {
            let tau: Tau = tau.parse().unwrap();
            let index = Index::build(&sets, first..sets.len(), tau, Purpose::Foreign);
            let short = Index::build(&sets, first..sets.len(), tau, Purpose::SelfJoin);
            // Strangers and the indexed sets themselves.
            let own = (0..sets.len()).map(|i| (sets.get(i), sets.singleton(i)));
            for (row, singleton) in (0..queries.len()).map(|i| (queries.get(i), queries.singleton(i))).chain(own) {
                // Tokens that occur nowhere may have numbers.
                let mut query = row.to_vec();
                query.extend((0..foreign).map(|i| (4 * vocabulary + i) as u32));
                let size = query.len() + singleton;
                let expected: Vec<(usize, u64)> = (first..sets.len())
                    .map(|y| (y, shared(row, sets.get(y))))
                    .filter(|&(y, overlap)| similar(overlap, size, sets.size(y), tau))
                    .collect();
                let mut found = Vec::new();
                index.query(&query, singleton, sets.len(), &mut scratch, |y, overlap| found.push((y, overlap)));
                prop_assert_eq!(&found, &expected, "tau {}", tau);

                let limit = first + cut / 2;
                let mut below = Vec::new();
                index.query(&query, singleton, limit, &mut scratch, |y, overlap| below.push((y, overlap)));
                found.retain(|&(y, _)| y < limit);
                prop_assert_eq!(below, found);

                let mut no_larger = Vec::new();
                short.query(&query, singleton, usize::MAX, &mut scratch, |y, overlap| no_larger.push((y, overlap)));
                let expected: Vec<_> =
                    expected.into_iter().filter(|&(y, _)| sets.size(y) <= size).collect();
                prop_assert_eq!(no_larger, expected);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    /// Every similarity on every way through an index: lists alone, lists with bitmaps, windows of bitmaps; bitmaps with a
    /// bit for each token, and hashed ones.
    #[test]
    fn every_similarity_finds_every_pair(
        seed: u64,
        count in 1usize..80,
        vocabulary in prop_oneof![1usize..60, 500usize..3000],
        longest in 1usize..40,
        singleton in prop_oneof![Just(0usize), 1usize..6],
        billionths in 1u32..=1_000_000_000,
        places in 1u32..=9,
        least in 1u64..9,
        of_class in 1u32..5,
    ) {
        let sets = with_classes(&corpus(seed, count, vocabulary, longest, true, singleton), of_class);
        let overlaps = overlaps(&sets);
        let step = 10_u32.pow(9 - places);
        let Some(tau) = Tau::from_billionths(billionths.div_ceil(step) * step) else { return Ok(()) };
        let mut scratch = Scratch::default();
        for similarity in all(tau, least) {
            let size = |set: u32| sets.size(set as usize);
            let keep = |pair: &&JoinPair| truth(similarity, pair.overlap.into(), size(pair.a) as u64, size(pair.b) as u64);
            let expected: Vec<JoinPair> = overlaps.iter().filter(keep).copied().collect();
            prop_assert_eq!(&self_join(&sets, similarity, 2), &expected, "{:?}", similarity);
            let first = count / 3;
            let ways = [(usize::MAX, 0, 1), (usize::MAX, 0, 2), (usize::MAX, 0, 5), (0, 0, 1), (0, 0, 3), (0, usize::MAX, 1), (0, 1, 2)];
            for (long, contact, common) in ways {
                for purpose in [Purpose::SelfJoin, Purpose::Foreign] {
                    let strategy = JoinStrategy { common, bitmaps: true, words: count.is_multiple_of(2) };
                    let costs = Costs { long, contact, strategy: Some(strategy), ..Costs::default() };
                    let (asked, classes) = ((similarity, purpose), sets.classes().clone());
                    let index = Index::build_at(&sets, first..sets.len(), asked, classes, costs, 1 + count % 3);
                    prop_assert!(index.bitmaps.is_none() || long == 0);
                    let mut found = Vec::new();
                    for b in 0..sets.len() {
                        // A query of any size has all sets of the range for partners, itself among them.
                        let limit = if purpose == Purpose::SelfJoin { b } else { sets.len() };
                        index.query(sets.get(b), sets.singleton(b), limit, &mut scratch, |a, overlap| {
                            if a < b {
                                found.push(JoinPair { a: a as u32, b: b as u32, overlap: overlap as u32 });
                            }
                        });
                    }
                    let mut expected = expected.clone();
                    expected.retain(|pair| pair.a as usize >= first);
                    prop_assert_eq!(found, expected, "{:?} {:?} {:?}", similarity, costs, purpose);
                }
            }
        }
    }
}

/// More pairs than a thread holds before it hands them over.
#[test]
fn many_pairs_are_handed_over() {
    let mut sets = Sets::default();
    (0..2_500).for_each(|_| sets.push(&[1, 2, 3]));
    let tau: Tau = "1".parse().unwrap();
    let one = self_join(&sets, tau, 1);
    assert_eq!(one.len(), 2_500 * 2_499 / 2);
    assert!(one.is_sorted_by(|x, y| (x.b, x.a) < (y.b, y.a)));
    assert_eq!(self_join(&sets, tau, 3), one);
}

#[test]
fn empty_collections_and_sets_pair_with_nothing() {
    let tau: Tau = "0.000000001".parse().unwrap();
    let mut sets = Sets::default();
    assert_eq!(self_join(&sets, tau, 2), []);
    (0..3).for_each(|_| sets.push(&[]));
    assert_eq!(self_join(&sets, tau, 2), []);
    let index = Index::build(&sets, 0..3, tau, Purpose::Foreign);
    index.query(&[], 0, 3, &mut Scratch::default(), |_, _| panic!("an empty set matched"));
}
