//! The oracle against examples worked out by hand: what judges the product is judged first.

use std::collections::BTreeMap;

use crate::common::corpora::{self, plain};
use crate::common::expected::{Expected, KINDS, Keep, Kind, clusters};
use crate::common::features;
use crate::common::oracle::{
    Doc, Features, Fraction, Frequencies, Overlaps, Pair, at_least, decimal, escape_id, shared, short_texts,
    six_decimals,
};
use crate::common::rng::Rng;

fn set(features: &str) -> Features {
    features.split_whitespace().map(str::to_owned).collect()
}

/// Documents named a, b, c … that need no text.
fn docs(count: u8) -> Vec<Doc> {
    (0..count).map(|i| plain(&char::from(b'a' + i).to_string(), &[])).collect()
}

/// Edges of a graph as pairs; their numbers do not matter to clusters.
fn edges(of: &[(usize, usize)]) -> Vec<Pair> {
    of.iter().map(|&(a, b)| Pair { a, b, overlap: 1, union: 1 }).collect()
}

#[test]
fn decimals_are_fractions() {
    assert_eq!(decimal("0.55"), Fraction::new(11, 20));
    assert_eq!(decimal("1.0"), Fraction::from_integer(1));
    assert_eq!(decimal("1"), Fraction::from_integer(1));
    assert_eq!(decimal("0.000000001"), Fraction::new(1, 1_000_000_000));
}

#[test]
fn ids_are_escaped_once() {
    assert_eq!(escape_id("a\tb\\c\0\n\u{7f} é"), "a\\x09b\\x5cc\\x00\\x0a\\x7f é");
    assert_eq!(escape_id("\\x09"), "\\x5cx09");
    assert_eq!(escape_id("\u{85}\u{a0}😀"), "\u{85}\u{a0}😀");
}

#[test]
fn six_decimals_round_half_up() {
    let cases = [
        (0, 7, "0.000000"),
        (1, 3, "0.333333"),
        (2, 3, "0.666667"),
        (1, 1, "1.000000"),
        (11, 20, "0.550000"),
        (1, 2_000_000, "0.000001"),
        (1, 2_000_001, "0.000000"),
        (3, 2_000_000, "0.000002"),
        (1_999_999, 2_000_000, "1.000000"),
        (1_999_998, 2_000_000, "0.999999"),
        (1, 64, "0.015625"),
        (1, 128, "0.007813"),
    ];
    for (overlap, union, expected) in cases {
        assert_eq!(six_decimals(overlap, union), expected, "{overlap}/{union}");
    }
}

#[test]
fn a_pair_on_the_threshold_is_in() {
    let both = (0..11).map(|i| format!("x{i}"));
    let a: Features = both.clone().chain((0..4).map(|i| format!("a{i}"))).collect();
    let b: Features = both.chain((0..5).map(|i| format!("b{i}"))).collect();
    let overlaps = Overlaps::count(&[a, b], "0.1");
    let pair = Pair { a: 0, b: 1, overlap: 11, union: 20 };
    assert_eq!(overlaps.pairs("0.55"), [pair]);
    assert_eq!(overlaps.pairs("0.1"), [pair]);
    assert_eq!(overlaps.pairs("0.550000001"), []);
}

#[test]
fn empty_sets_and_disjoint_sets_pair_with_nothing() {
    let sets = [set(""), set(""), set("a"), set("b"), set("a")];
    let pair = Pair { a: 2, b: 4, overlap: 1, union: 1 };
    assert_eq!(Overlaps::count(&sets, "0.1").pairs("0.1"), [pair]);
    assert_eq!(Overlaps::count(&at_least(&sets, 2), "0.1").pairs("0.1"), []);
}

#[test]
fn the_inverted_lists_count_what_all_pairs_count() {
    let docs = corpora::random(17, 60, 30);
    let sets = features::of(&docs, "lines");
    let mut all = Vec::new();
    for b in 0..sets.len() {
        for a in 0..b {
            let overlap = shared(&sets[a], &sets[b]);
            if overlap > 0 {
                all.push(Pair { a, b, overlap, union: sets[a].union(&sets[b]).count() });
            }
        }
    }
    all.sort_by_key(|pair| (pair.a, pair.b));
    assert!(all.len() > 100, "{} pairs say little", all.len());
    assert_eq!(Overlaps::count(&sets, "0.0").pairs("0.0"), all);
    all.retain(|pair| pair.jaccard() >= decimal("0.55"));
    assert_eq!(Overlaps::count(&sets, "0.2").pairs("0.55"), all);
}

#[test]
fn idf_is_exact_on_its_bounds() {
    let docs = corpora::idf_boundaries();
    let sets = features::of(&docs, "lines");
    let frequencies = Frequencies::count(&sets);
    let left = |range: &str| {
        let mut left = BTreeMap::new();
        for feature in frequencies.keep(&sets, range).iter().flatten() {
            *left.entry(feature.split([' ', ',']).nth(1).unwrap().to_owned()).or_insert(0) += 1;
        }
        left.into_keys().map(|df| df.parse().unwrap()).collect::<Vec<usize>>()
    };
    let sorted = |mut dfs: Vec<usize>| {
        dfs.sort_unstable();
        dfs
    };
    assert_eq!(sorted(left("0,1")), [3, 4, 5, 255, 256, 257]);
    assert_eq!(sorted(left("0.2,0.8")), [4, 5, 255, 256]);
    assert_eq!(sorted(left("0.8,1")), [3, 4]);
    assert_eq!(sorted(left("0,0.2")), [256, 257]);
    assert_eq!(sorted(left("0.2001,0.7999")), [5, 255]);
}

#[test]
fn idf_of_a_reference_takes_the_unknown_as_rarest() {
    let reference = Frequencies::count(&[set("a b"), set("a"), set("a"), set("")]);
    let sets = [set("a b new")];
    assert_eq!(reference.keep(&sets, "1,1"), [set("b new")]);
    assert_eq!(reference.keep(&sets, "0.1,1"), [set("a b new")], "3^10 <= 4^9");
    assert_eq!(reference.keep(&sets, "0.25,1"), [set("b new")], "3^4 > 4^3");
    let one = Frequencies::count(&[set("a")]);
    assert_eq!(one.keep(&sets, "0.2,0.85"), sets, "N = 1 keeps all");
}

#[test]
fn a_chain_is_one_component_and_two_stars() {
    let (docs, chain) = (docs(4), edges(&[(0, 1), (1, 2), (2, 3)]));
    let components = clusters(&docs, &[], &chain, Kind::Components, Keep::SmallestId);
    assert_eq!(components, BTreeMap::from([(0, vec![0, 1, 2, 3])]));
    let stars = clusters(&docs, &[], &chain, Kind::Star, Keep::SmallestId);
    assert_eq!(stars, BTreeMap::from([(0, vec![0, 1]), (2, vec![2, 3])]));
}

#[test]
fn a_document_joins_its_earliest_centre_not_its_nearest() {
    let docs = docs(5);
    let graph = edges(&[(0, 3), (1, 3), (1, 4), (2, 4)]);
    let stars = clusters(&docs, &[], &graph, Kind::Star, Keep::SmallestId);
    assert_eq!(stars, BTreeMap::from([(0, vec![0, 3]), (1, vec![1, 4])]), "c is alone");
}

#[test]
fn the_keep_rule_orders_the_documents() {
    let mut docs: Vec<Doc> =
        [("c", "éé"), ("b", "xxx"), ("a", "yyy")].map(|(id, text)| plain(id, &[text])).into();
    docs[0].date = Some("2024-02-01".to_owned());
    docs[1].date = Some("2024-02-01".to_owned());
    docs[1].score = Some(-500);
    docs[0].score = Some(-1000);
    assert_eq!(Keep::SmallestId.order(&docs), [2, 1, 0]);
    assert_eq!(Keep::First.order(&docs), [0, 1, 2]);
    assert_eq!(Keep::Longest.order(&docs), [2, 1, 0], "characters, not bytes; then the id");
    assert_eq!(Keep::Newest.order(&docs), [1, 0, 2], "without a date: last");
    assert_eq!(Keep::Score.order(&docs), [1, 0, 2], "without a score: last");
}

#[test]
fn the_three_files_of_a_tiny_corpus() {
    let lines: [&[&str]; 6] = [&["p", "q", "r"], &["p", "q", "r"], &["p", "q"], &["p"], &[], &["z"]];
    let ids = ["b", "a\t", "ab", "a b", "e", "z"];
    let docs: Vec<Doc> = ids.iter().zip(lines).map(|(id, lines)| plain(id, lines)).collect();
    let sets = features::of(&docs, "lines");
    let pairs = Overlaps::count(&sets, "0.5").pairs("0.5");
    let components =
        Expected::new(&docs, &sets, &vec![None; docs.len()], &pairs, Kind::Components, Keep::SmallestId);
    // J(b, a\t) = 3/3; both with ab = 2/3; ab with "a b" = 1/2; "a b" with the threes = 1/3, below.
    let expected = "a b\tab\t1\t1\t2\t0.500000\n\
                    a\\x09\tab\t2\t3\t2\t0.666667\n\
                    a\\x09\tb\t3\t3\t3\t1.000000\n\
                    ab\tb\t2\t2\t3\t0.666667\n";
    assert_eq!(components.pairs, expected);
    let expected = "a b\ta b\tkeep\t-\n\
                    a b\ta\\x09\tdrop\t0.333333\n\
                    a b\tab\tdrop\t0.500000\n\
                    a b\tb\tdrop\t0.333333\n";
    assert_eq!(components.clusters, expected);
    let kept = |of: &[usize]| of.iter().map(|&i| docs[i].line.clone() + "\n").collect::<String>();
    assert_eq!(components.kept, kept(&[3, 4, 5]));
    let star = Expected::new(&docs, &sets, &vec![None; docs.len()], &pairs, Kind::Star, Keep::SmallestId);
    let expected = "a b\ta b\tkeep\t-\n\
                    a b\tab\tdrop\t0.500000\n\
                    a\\x09\ta\\x09\tkeep\t-\n\
                    a\\x09\tb\tdrop\t1.000000\n";
    assert_eq!(star.clusters, expected);
    assert_eq!(star.kept, kept(&[1, 3, 4, 5]));
}

#[test]
fn short_texts_are_level_and_empty_ones_are_none() {
    let docs = [
        plain("a", &[" Stra\u{df}e\u{301}", "\u{3000}two"]),
        plain("b", &["\u{2028} "]),
        plain("c", &["One"]),
    ];
    let sets = [set("x"), set(""), set("x y")];
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(short_texts(&docs, &sets, 3), [text("strass\u{e9} two"), None, text("one")]);
    assert_eq!(short_texts(&docs, &sets, 2), [text("strass\u{e9} two"), None, None]);
    assert_eq!(short_texts(&docs, &sets, 1), [None, None, None]);
    for kind in KINDS {
        let texts = [text("same"), None, text("same")];
        let files = Expected::new(&docs, &[set(""), set(""), set("y")], &texts, &[], kind, Keep::SmallestId);
        assert_eq!(files.clusters, "a\ta\tkeep\t-\na\tc\tdrop\t1.000000\n");
    }
}

/// The product computes stars over representatives; see the module `expected` for the proof.
#[test]
fn stars_over_representatives_are_stars_over_documents() {
    let mut grown = 0;
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let docs = corpora::random(seed, 40, 8 + rng.below(20));
        let sets = features::of(&docs, "lines");
        let tau = ["0.2", "0.4", "0.5", "0.65", "1.0"][rng.below(5)];
        let pairs = Overlaps::count(&sets, tau).pairs(tau);
        for keep in [Keep::SmallestId, Keep::Longest, Keep::Newest, Keep::Score] {
            let order = keep.order(&docs);
            let best = |i: usize| *order.iter().find(|&&j| sets[j] == sets[i]).unwrap();
            let best: Vec<usize> = (0..docs.len()).map(best).collect();
            let among_best = |pair: &&Pair| best[pair.a] == pair.a && best[pair.b] == pair.b;
            let few: Vec<Pair> = pairs.iter().filter(among_best).copied().collect();
            let mut centre: Vec<usize> = (0..docs.len()).collect();
            for (kept, members) in clusters(&docs, &[], &few, Kind::Star, keep) {
                members.iter().for_each(|&member| centre[member] = kept);
            }
            for (kept, members) in clusters(&docs, &[], &pairs, Kind::Star, keep) {
                for member in members {
                    let group = if sets[member].is_empty() { member } else { best[member] };
                    assert_eq!(centre[group], kept, "seed {seed}, {keep:?}, document {member}");
                    grown += 1;
                }
            }
        }
    }
    assert!(grown > 5_000, "only {grown} memberships were compared");
}

#[test]
fn clusters_of_both_kinds_keep_their_best_document() {
    let docs = corpora::random(5, 80, 25);
    let sets = features::of(&docs, "lines");
    let pairs = Overlaps::count(&sets, "0.3").pairs("0.3");
    for kind in KINDS {
        for keep in [Keep::SmallestId, Keep::Longest, Keep::Newest, Keep::Score] {
            let order = keep.order(&docs);
            let found = clusters(&docs, &[], &pairs, kind, keep);
            assert!(found.len() > 3, "{kind:?}");
            for (kept, members) in found {
                assert_eq!(order.iter().find(|i| members.contains(i)), Some(&kept));
            }
        }
    }
}
