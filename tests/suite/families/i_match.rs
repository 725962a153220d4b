//! I-Match against its definition: every two documents whose sets a lexicon makes equal, and no others.

use crate::common::cli::{Place, jsonl};
use crate::common::oracle::six_decimals;
use crate::common::rng::Rng;
use std::collections::{BTreeMap, BTreeSet};
use twinsplit_core::hash;

/// The finaliser of SplitMix64, by which the number of a lexicon is mixed.
fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

fn drops(lexicon: u64, feature: u64, share: f64) -> bool {
    let number = mix(0x7477_696e_0004u64.wrapping_add((lexicon + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    ((mix(feature ^ number) >> 32) as f64) < share * f64::from(1u32 << 31) * 2.0
}

/// A document: its id and the numbers of its words.
type Doc = (String, BTreeSet<usize>);

/// Documents of a few words, of which many differ in one or two; some are equal, some empty.
fn documents() -> Vec<Doc> {
    let mut rng = Rng::new(44);
    let mut sets: Vec<BTreeSet<usize>> = vec![BTreeSet::new()];
    while sets.len() < 140 {
        let mut set = match rng.below(4) {
            0 => (0..1 + rng.below(9)).map(|_| rng.below(50)).collect(),
            _ => sets[rng.below(sets.len())].clone(),
        };
        for _ in 0..rng.below(3) {
            set.insert(rng.below(50));
        }
        sets.push(set);
    }
    sets.into_iter().enumerate().map(|(number, set)| (format!("d{:03}", number * 9 % 140), set)).collect()
}

/// Whether each feature's normalised IDF, ln(N/df)/ln(N), lies in a range.
fn in_range(documents: &[Doc], (low, high): (f64, f64)) -> BTreeSet<usize> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    documents.iter().flat_map(|(_, set)| set).for_each(|word| *counts.entry(*word).or_default() += 1);
    let n = documents.len() as f64;
    let idf = |df: usize| (n / df as f64).ln() / n.ln();
    counts.into_iter().filter(|(_, df)| (low..=high).contains(&idf(*df))).map(|(word, _)| word).collect()
}

/// The pairs of so many lexicons, and how many of them the first one has alone.
fn expected(
    documents: &[Doc],
    range: (f64, f64),
    lexicons: u64,
    share: f64,
    tau: (usize, usize),
) -> (String, usize) {
    let in_range = in_range(documents, range);
    let feature = |word: usize| hash::feature(format!("w{word}").as_bytes());
    let mut sets: Vec<(&str, BTreeSet<u64>)> = documents
        .iter()
        .map(|(id, set)| (&**id, set.intersection(&in_range).map(|word| feature(*word)).collect()))
        .collect();
    sets.sort();
    let (mut rows, mut equal) = (String::new(), 0);
    for (at, (a, x)) in sets.iter().enumerate() {
        for (b, y) in &sets[at + 1..] {
            let kept = |lexicon: u64, set: &BTreeSet<u64>| -> BTreeSet<u64> {
                set.iter()
                    .copied()
                    .filter(|feature| lexicon == 0 || !drops(lexicon, *feature, share))
                    .collect()
            };
            let matches = |lexicon: u64| !kept(lexicon, x).is_empty() && kept(lexicon, x) == kept(lexicon, y);
            let (o, union) = (x.intersection(y).count(), x.union(y).count());
            if (0..lexicons).any(matches) && o * tau.1 >= tau.0 * union {
                rows += &format!("{a}\t{b}\t{o}\t{}\t{}\t{}\n", x.len(), y.len(), six_decimals(o, union));
                equal += usize::from(x == y);
            }
        }
    }
    (rows, equal)
}

#[test]
fn pairs_are_those_of_the_definition() {
    let here = Place::new();
    let documents = documents();
    let text = |set: &BTreeSet<usize>| set.iter().map(|word| format!("w{word} ")).collect::<String>();
    let texts: Vec<_> = documents.iter().map(|(id, set)| (&**id, text(set))).collect();
    here.write("docs", jsonl(&texts.iter().map(|(id, text)| (*id, &**text)).collect::<Vec<_>>()));
    let mut before = 0;
    for (lexicons, share, idf, tau) in [
        (1, "0.3", "0,1", None),
        (2, "0.3", "0,1", None),
        (11, "0.3", "0,1", None),
        (11, "0.3", "0,1", Some(("0.8", (4, 5)))),
        (11, "0.7", "0.3,0.7", None),
    ] {
        let range =
            idf.split_once(',').map(|(low, high)| (low.parse().unwrap(), high.parse().unwrap())).unwrap();
        let least = tau.map_or((0, 1), |(_, fraction)| fraction);
        let (expected, equal) = expected(&documents, range, lexicons, share.parse().unwrap(), least);
        let (pairs, others) = (expected.lines().count(), expected.lines().count() - equal);
        assert!(equal > 5 && (others > 5) == (lexicons > 1), "{equal} equal pairs, {others} others");
        assert!(tau.is_some() == (pairs < before), "{pairs} pairs after {before}");
        before = pairs;
        let tau = tau.map_or(String::new(), |(tau, _)| format!(" --tau {tau}"));
        for way in ["--threads 1", "--threads 3", "--engine pipes --threads 3"] {
            let line = format!(
                "twinsplit run i-match {way} --lexicons {lexicons} --lexicon-drops {share} --idf {idf}{tau} --input docs \
                 --overwrite --output out --quiet"
            );
            here.say(&line).ok();
            assert_eq!(here.read("out/pairs.tsv"), expected, "{line}");
        }
    }
}

/// `explain` says in which lexicons two documents have the same features, or that they are no pair however much they share.
#[test]
fn lexicons_are_explained() {
    let here = Place::new();
    here.write("docs", jsonl(&[("a", "u v w x"), ("b", "u v w y"), ("c", "w x y z")]));
    let options = "--lexicons 60 --lexicon-drops 0.4 --idf 0,1";
    here.say(&format!("twinsplit run i-match {options} --input docs --output out --quiet")).ok();
    let feature = |word: &str| hash::feature(word.as_bytes());
    let agree = |own: &[&str]| -> Vec<u64> {
        let drops = |lexicon: u64, word: &&str| drops(lexicon, feature(word), 0.4);
        (1..60)
            .filter(|lexicon| {
                own.iter().all(|word| drops(*lexicon, word))
                    && !["u", "v", "w"].iter().all(|word| drops(*lexicon, word))
            })
            .collect()
    };
    let lexicons: Vec<_> = agree(&["x", "y"]).iter().map(|lexicon| (lexicon + 1).to_string()).collect();
    assert!(lexicons.len() > 2);
    let said = here.say("twinsplit explain a b --run out").ok();
    let line = format!(
        "\nI-Match: of 60 lexicons their features are the same in {}\n=> a match\n",
        lexicons.join(", ")
    );
    assert!(said.contains(&line), "{said}\n{line}");
    let said = here.say("twinsplit explain a c --input docs --features words:1 --lexicons 2").ok();
    assert!(
        said.contains(
            "\nI-Match: in none of 2 lexicons are their features the same\n=> no pair of this chain\n"
        ),
        "{said}"
    );
}

#[test]
fn what_is_no_lexicon_is_refused() {
    let here = Place::new();
    here.write("docs", "{\"id\":1,\"text\":\"a\"}\n");
    for (option, said) in [
        ("--lexicons 0", "0 is not in 1..=10000"),
        ("--lexicon-drops 0", "expected a decimal in (0, 1)"),
        ("--lexicon-drops 1.0", "expected a decimal in (0, 1)"),
        ("--lexicon-drops 0.12345", "at most 4 places"),
        ("--check signature", "i-match counts what two documents share, exactly"),
        ("--check none", "give a --tau"),
    ] {
        here.say(&format!("twinsplit run i-match {option} --input docs --output out")).fails(2, &[said]);
    }
}
