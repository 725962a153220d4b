//! Every measure against its definition: each bound by exhaustive trial, and by random thresholds and large sizes.

use super::tau::Tau;
use super::*;
use crate::choice::Choice;
use num_rational::Ratio;
use proptest::prelude::*;

/// The definitions, with fractions; the cosine squared.
pub(crate) fn truth(similarity: Similarity, o: u64, a: u64, b: u64) -> bool {
    let [o, a, b] = [o, a, b].map(|n| Ratio::from_integer(u128::from(n)));
    let tau = similarity.tau().map(|tau| Ratio::new(tau.fraction().0.into(), tau.fraction().1.into()));
    let reaches = |n: Ratio<u128>, d: Ratio<u128>| n >= d * tau.unwrap();
    let zero = Ratio::from_integer(0);
    o > zero
        && match similarity {
            Similarity::Jaccard(_) => a + b <= o || reaches(o, a + b - o),
            Similarity::Containment(_) => reaches(o, a.min(b)),
            Similarity::QueryContainment(_) => reaches(o, a),
            Similarity::Dice(_) => reaches(o * 2, a + b),
            Similarity::Cosine(_) => o * o >= tau.unwrap() * tau.unwrap() * a * b,
            Similarity::Overlap(Overlap(least)) => o >= Ratio::from_integer(least.into()),
        }
}

/// Every similarity, with this share or this number of elements.
pub(crate) fn all(tau: Tau, least: u64) -> [Similarity; 5] {
    [
        Similarity::Jaccard(Jaccard(tau)),
        Similarity::Containment(Containment(tau)),
        Similarity::Cosine(Cosine(tau)),
        Similarity::Dice(Dice(tau)),
        Similarity::Overlap(Overlap(least)),
    ]
}

/// Each bound at these sizes is the extreme value that the definition allows, found by trial.
fn check_bounds(similarity: Similarity, o: u64, a: u64, b: u64) {
    let say = || format!("{similarity:?} o {o} a {a} b {b}");
    let needed = (1..).find(|&o| truth(similarity, o, a, b)).unwrap();
    assert_eq!(similarity.overlap_needed(a, b), needed, "{}", say());
    assert_eq!(similarity.accepts(o, a, b), truth(similarity, o, a, b), "{}", say());
    assert!(similarity.overlap_needed(a, b) <= similarity.overlap_needed(a, b + 1), "{}", say());
    assert_eq!(needed, similarity.overlap_needed(b, a), "{}", say());
    if o > 0 {
        assert_eq!(needed <= o, b <= similarity.max_partner_sharing(a, o), "{}", say());
    }
    // A partner of which all lies in the set, up to the set's own size.
    if let Some(smallest) = (1..=a).find(|&b| truth(similarity, b, a, b)) {
        assert_eq!(similarity.min_partner(a), smallest, "{}", say());
    }
    if needed <= a.min(b) {
        assert!((similarity.min_partner(a)..=similarity.max_partner(a)).contains(&b), "{}", say());
        assert!(similarity.least_overlap(a) <= needed, "{}", say());
    }
}

/// The prefixes are as long as the neediest partner asks for, and no longer.
fn check_prefixes(similarity: Similarity, a: u64) {
    let longest = |least: u64| {
        let partners = least..=3 * a + 40;
        let any = partners.filter(|&b| similarity.overlap_needed(a, b) <= a.min(b));
        any.map(|b| a - similarity.overlap_needed(a, b) + 1).max()
    };
    if let Some(longest) = longest(1) {
        assert_eq!(similarity.probe_prefix(a), longest, "{similarity:?} {a}");
        assert_eq!(similarity.least_overlap(a), a - longest + 1, "{similarity:?} {a}");
    }
    if let Some(longest) = longest(a) {
        assert_eq!(similarity.index_prefix(a), longest, "{similarity:?} {a}");
    }
    assert!(similarity.index_prefix(a) <= similarity.probe_prefix(a), "{similarity:?} {a}");
    assert!(similarity.max_partner(a) <= similarity.max_partner(a + 1), "{similarity:?} {a}");
}

/// All small sizes and overlaps, at thresholds that lie exactly on many of them.
#[test]
fn bounds_hold_for_all_small_sets() {
    for tau in
        ["0.000000001", "0.1", "0.25", "0.333333333", "0.5", "0.55", "0.6", "0.75", "0.8", "0.999999999", "1"]
    {
        for least in 1..=7 {
            for similarity in all(tau.parse().unwrap(), least) {
                if least > 1 && similarity.tau().is_some() {
                    continue;
                }
                for a in 1..=14 {
                    check_prefixes(similarity, a);
                    (1..=14).for_each(|b| (0..=14).for_each(|o| check_bounds(similarity, o, a, b)));
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn bounds_are_tight(
        billionths in 1u32..=1_000_000_000, places in 0u32..=9, least in 0u64..9,
        a in 1u64..40, b in 1u64..40, o in 0u64..40,
    ) {
        let step = 10u32.pow(9 - places);
        let Some(tau) = Tau::from_billionths(billionths.div_ceil(step) * step) else { return Ok(()) };
        for similarity in all(tau, least) {
            check_bounds(similarity, o, a, b);
            check_prefixes(similarity, a);
        }
    }

    /// Sizes up to the largest that a collection holds.
    #[test]
    fn large_sizes_do_not_overflow(billionths in 1u32..=1_000_000_000, a in 1u32.., b in 1u32..) {
        let Some(tau) = Tau::from_billionths(billionths) else { return Ok(()) };
        let (a, b) = (u64::from(a), u64::from(b));
        for similarity in all(tau, b) {
            let o = similarity.overlap_needed(a, b);
            prop_assert!(similarity.accepts(o, a, b));
            prop_assert!(o == 1 || !similarity.accepts(o - 1, a, b));
            prop_assert!(similarity.max_partner_sharing(a, o) >= b);
            prop_assert!(o == 1 || similarity.max_partner_sharing(a, o - 1) < b);
        }
    }

    #[test]
    fn scores_are_rounded_half_up(a in 1u64..5000, b in 1u64..5000, share in 1u64..=5000) {
        let o = share.min(a).min(b);
        for measure in Measure::values() {
            let k = match measure.score(o, a, b) {
                Score::Count(count) => {
                    prop_assert_eq!((measure, count), (Measure::Overlap, o));
                    continue;
                }
                Score::Share(k) => u64::from(k),
            };
            let not_above = |twice: u64| {
                // Whether twice/2 millionths are at most the similarity.
                let n = Ratio::new(u128::from(twice), 2_000_000);
                let [o, a, b] = [o, a, b].map(|n| Ratio::from_integer(u128::from(n)));
                match measure {
                    Measure::Jaccard => n * (a + b - o) <= o,
                    Measure::Containment => n * a.min(b) <= o,
                    Measure::QueryContainment => n * a <= o,
                    Measure::Dice => n * (a + b) <= o * 2,
                    Measure::Cosine => n * n * a * b <= o * o,
                    Measure::Overlap => unreachable!(),
                }
            };
            prop_assert!(k == 0 || not_above(2 * k - 1), "{:?} {}", measure, k);
            prop_assert!(!not_above(2 * k + 1), "{:?} {}", measure, k);
        }
    }

    /// The exact order of two pairs is that of their scores, where these differ.
    #[test]
    fn the_order_of_pairs_is_that_of_their_scores(x in (1u64..50, 1u64..50, 1u64..50), y in (1u64..50, 1u64..50, 1u64..50)) {
        let pair = |(o, a, b): (u64, u64, u64)| (o.min(a).min(b), a, b);
        let (x, y) = (pair(x), pair(y));
        for measure in Measure::values() {
            let [s, t] = [x, y].map(|(o, a, b)| measure.score(o, a, b));
            prop_assert!(s == t || measure.compare(x, y) == s.cmp(&t), "{} {:?} {:?}", measure, x, y);
            prop_assert_eq!(measure.compare(x, y), measure.compare(y, x).reverse());
        }
    }
}

#[test]
fn scores_of_known_pairs() {
    let jaccard = |o, a, b| Measure::Jaccard.score(o, a, b);
    assert_eq!(jaccard(13, 16, 13).to_string(), "0.812500");
    assert_eq!(jaccard(9, 9, 9).to_string(), "1.000000");
    assert_eq!(jaccard(2, 3, 2).to_string(), "0.666667");
    // 1/2,000,000 lies halfway and goes up; 1/2,000,001 goes down.
    assert_eq!(jaccard(1, 2_000_000, 1), Score::Share(1));
    assert_eq!(jaccard(1, 2_000_001, 1), Score::Share(0));
    for measure in Measure::values() {
        // As large as a collection's sets may be.
        let max = u64::from(u32::MAX);
        assert!([Score::ONE, Score::Count(max)].contains(&measure.score(max, max, max)));
        for (a, b) in [(0, 0), (0, 4), (4, 0)] {
            assert!([Score::Share(0), Score::Count(0)].contains(&measure.score(0, a, b)), "{measure}");
        }
    }
    let of = |measure: Measure| measure.score(4, 16, 9).to_string();
    assert_eq!(
        Measure::values().map(of).collect::<Vec<_>>(),
        ["0.190476", "0.444444", "0.333333", "0.320000", "4", "0.250000"]
    );
    assert_eq!(Score::share(1_000_001), None);
}

#[test]
fn thresholds_that_do_not_fit_are_refused_by_name() {
    for measure in Measure::values() {
        assert_eq!(Measure::named(measure.name()), Some(measure));
        let refused =
            if measure == Measure::Overlap { ["0.5", "0", "+3", ""] } else { ["2", "0", "1.5", ""] };
        for text in refused {
            let message = measure.reaching(text).unwrap_err().to_string();
            assert!(message.contains(&format!("found {text:?}")), "{message}");
        }
        let similarity = measure.reaching("1").unwrap();
        assert_eq!((similarity.measure(), similarity.threshold()), (measure, "1".to_owned()));
    }
    assert_eq!(Measure::Overlap.reaching("020").unwrap().threshold(), "20");
    assert_eq!(Measure::Dice.reaching(".70").unwrap().threshold(), "0.7");
}
