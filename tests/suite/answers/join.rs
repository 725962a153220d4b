//! `twinsplit join` against brute force, and on input that is not as it should be.

use crate::common::cli::{Place, Said};
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::io::Write;

const KINDS: [&str; 5] = ["jaccard", "ccs", "cosine", "dice", "overlap"];

/// Whether `o` of `a` and `b` tokens make a pair, and the last field of its row: `tau` is in hundredths, or an overlap.
fn pair(kind: &str, tau: u64, o: u64, a: u64, b: u64) -> Option<String> {
    // The similarity is n/d; that of the cosine squared.
    let (n, d) = match kind {
        "jaccard" => (o, a + b - o),
        "ccs" => (o, a.min(b)),
        "dice" => (2 * o, a + b),
        "cosine" => (o * o, a * b),
        _ => return (o > 0 && o >= tau).then(|| o.to_string()),
    };
    let reaches = if kind == "cosine" { 10_000 * n >= tau * tau * d } else { 100 * n >= tau * d };
    let share = n as f64 / d as f64;
    let share = if kind == "cosine" { share.sqrt() } else { share };
    // These sets are too small for a share that lies halfway between two millionths.
    (o > 0 && reaches).then(|| format!("{share:.6}"))
}

fn brute(lines: &[BTreeSet<u64>], kind: &str, tau: u64) -> String {
    let mut rows = String::new();
    for (x, a) in lines.iter().enumerate() {
        for (y, b) in lines.iter().enumerate().skip(x + 1) {
            let overlap = a.intersection(b).count() as u64;
            if let Some(share) = pair(kind, tau, overlap, a.len() as u64, b.len() as u64) {
                rows += &format!("{}\t{}\t{overlap}\t{}\t{}\t{share}\n", x + 1, y + 1, a.len(), b.len());
            }
        }
    }
    rows
}

fn threshold(kind: &str, tau: u64) -> String {
    if kind == "overlap" { tau.div_ceil(10).to_string() } else { format!("{}.{:02}", tau / 100, tau % 100) }
}

fn join(place: &Place, text: &str, options: &str) -> Said {
    place.with(&format!("twinsplit join - {options}"), text, &[])
}

/// Sets of few tokens and of many, small numbers and huge ones, equal lines, repeats, empty lines.
fn sets() -> impl Strategy<Value = Vec<Vec<u64>>> {
    let token = prop_oneof![0u64..9, 0u64..40, Just(1 << 31), Just(1 << 40), any::<u64>()];
    let fresh = prop::collection::vec(token, 0..14);
    prop::collection::vec((fresh, prop::option::weighted(0.5, any::<prop::sample::Index>())), 1..40).prop_map(
        |drawn| {
            let mut sets: Vec<Vec<u64>> = Vec::new();
            for (mut set, copied) in drawn {
                if let Some(of) = copied.filter(|_| !sets.is_empty()) {
                    set.truncate(2);
                    set.extend(of.get(&sets).iter().rev());
                    set.truncate(12);
                }
                sets.push(set);
            }
            sets
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn equals_brute_force(sets in sets(), hundredths in 1u64..=100, threads in 1usize..4) {
        let place = Place::new();
        let text: String = sets
            .iter()
            .map(|set| set.iter().map(u64::to_string).collect::<Vec<_>>().join(" ") + "\n")
            .collect();
        let distinct: Vec<BTreeSet<u64>> = sets.iter().map(|set| set.iter().copied().collect()).collect();
        for kind in KINDS {
            let tau = if kind == "overlap" { hundredths.div_ceil(10) } else { hundredths };
            let options = format!("--similarity {kind} --tau {} --threads {threads}", threshold(kind, hundredths));
            let expected = brute(&distinct, kind, tau);
            prop_assert_eq!(&join(&place, &text, &options).ok(), &expected, "{}", options);
            let count = join(&place, &text, &format!("{options} --count")).ok();
            prop_assert_eq!(count, format!("{}\n", expected.lines().count()));
        }
    }
}

/// Enough sets for several blocks of input, long lists, and every similarity, against the same brute force.
#[test]
fn dense_data_of_several_blocks() {
    let mut state = 7_u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % n
    };
    // Tokens as of baskets: some are in most sets. Wide numbers make the text long.
    let base = 10_000_000_000_000_000_000_u64;
    let lines: Vec<Vec<u64>> = (0..1_600)
        .map(|_| (0..24 + below(20)).map(|_| base + below(8) * below(9) + below(4)).collect())
        .collect();
    let text: String =
        lines.iter().map(|set| set.iter().map(u64::to_string).collect::<Vec<_>>().join(" ") + "\n").collect();
    assert!(text.len() > 1 << 20);
    let distinct: Vec<BTreeSet<u64>> = lines.iter().map(|set| set.iter().copied().collect()).collect();
    let place = Place::new();
    for (kind, tau) in [("jaccard", 60), ("ccs", 85), ("cosine", 80), ("dice", 75), ("overlap", 14)] {
        let typed = if kind == "overlap" { tau.to_string() } else { threshold(kind, tau) };
        let expected = brute(&distinct, kind, tau);
        assert!(expected.lines().count() > 100, "{kind}");
        for threads in [1, 2] {
            let options = format!("--similarity {kind} --tau {typed} --threads {threads}");
            assert_eq!(join(&place, &text, &options).ok(), expected, "{options}");
        }
    }
}

#[test]
fn reads_lines_as_people_write_them() {
    let place = Place::new();
    let expected = "1\t4\t3\t3\t3\t1.000000\n";
    for text in ["1 2 3\n\n5\n3 2 1", " 1\t2  3 3\r\n\r\n5\r\n3 2 1 \r\n", "001 2 3\n \n5\n3 2 1 1\n"] {
        assert_eq!(join(&place, text, "--tau 1").ok(), expected, "{text:?}");
    }
    assert_eq!(join(&place, "", "--tau 1").ok(), "");
    assert_eq!(join(&place, "\n\n\n", "--tau 0.1 --count").ok(), "0\n");
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(b"1 2 3\n\n5\n3 2 1\n").unwrap();
    place.write("sets.gz", packed.finish().unwrap());
    assert_eq!(place.say("twinsplit join sets.gz --tau 1 --output pairs.tsv").ok(), "");
    assert_eq!(place.read("pairs.tsv"), expected);
}

#[test]
fn says_what_is_wrong() {
    let place = Place::new();
    place.write("sets", "1 2\n3 4\n5 six 7\n");
    let wrong = place.say("twinsplit join sets --tau 0.5 --output pairs.tsv");
    wrong.fails(
        1,
        &["sets, line 3, field token", "whole numbers", "\"six\" as token 2", "twinsplit join --help"],
    );
    assert!(!place.path("pairs.tsv").exists());
    join(&place, "1\n18446744073709551616\n", "--tau 1").fails(1, &["standard input, line 2"]);
    place.say("twinsplit join none --tau 1").fails(1, &["cannot open none"]);
    join(&place, "1\n", "--tau 1.5").fails(2, &["--tau", "decimal in (0, 1]", "1.5"]);
    join(&place, "1\n", "--tau 0.5 --similarity overlap")
        .fails(2, &["--tau", "whole number", "0.5", "containment"]);
    join(&place, "1\n", "--tau 1 --similarity query-containment").fails(2, &["query-containment", "dice"]);
    join(&place, "1\n", "--tau 0 --similarity overlap").fails(2, &["--tau", "whole number"]);
    let three = join(&place, "1\n1\n1\n", "--tau 1 --max-pairs 2");
    three.fails(1, &["more pairs than --max-pairs 2", "--count"]);
}

#[test]
fn a_join_of_too_many_pairs_leaves_nothing() {
    let place = Place::new();
    let set = |line: usize| (0..20).chain([100 + line]).map(|token| format!("{token} ")).collect::<String>();
    place.write("sets", (0..400).map(|line| set(line) + "\n").collect::<String>());
    let said = |most: usize| {
        place.say(&format!("twinsplit join sets --tau 0.9 --threads 2 --output pairs --max-pairs {most}"))
    };
    let all = 400 * 399 / 2;
    for most in [0, 10_000, all - 1] {
        said(most).fails(1, &[&format!("more pairs than --max-pairs {most}; --count says how many")]);
        assert_eq!(std::fs::read_dir(place.path(".")).unwrap().count(), 1, "only the input");
    }
    said(all).ok();
    assert_eq!(place.read("pairs").lines().count(), all);
}
