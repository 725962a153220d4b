//! The façade beside brute force on words.

mod cancelled;

use super::{Dedup, Document, Duplicates};
use crate::{ClusterKind, Error, KeepRule, Measure, Relation};
use crate::{NearPair, Pair};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use twinsplit_core::choice::Choice;

/// The sets of words of texts without capitals and marks.
fn sets(texts: &[String]) -> Vec<BTreeSet<&str>> {
    texts.iter().map(|text| text.split(' ').filter(|word| !word.is_empty()).collect()).collect()
}

/// Whether the similarity is tau billionths and more, by its formula; with overlap, whether tau features and more are shared.
/// Sets that share nothing are no pair.
fn alike(measure: Measure, a: &BTreeSet<&str>, b: &BTreeSet<&str>, tau: u64) -> bool {
    let shared = a.intersection(b).count() as u128;
    let (union, a, b) = (a.union(b).count() as u128, a.len() as u128, b.len() as u128);
    let (tau, one) = (u128::from(tau), 1_000_000_000);
    shared > 0
        && match measure {
            Measure::Jaccard => shared * one >= tau * union,
            Measure::Containment => shared * one >= tau * a.min(b),
            Measure::QueryContainment => shared * one >= tau * a,
            Measure::Cosine => shared * shared * one * one >= tau * tau * a * b,
            Measure::Dice => 2 * shared * one >= tau * (a + b),
            Measure::Overlap => shared >= tau,
        }
}

/// A measure with a threshold: billionths, or features.
fn thresholds() -> impl Strategy<Value = (Measure, u64)> {
    let share = prop_oneof![1u64..1_000_000_000, (1u64..20).prop_map(|twentieths| twentieths * 50_000_000)];
    (0usize..5, share, 1u64..6).prop_map(|(kind, share, count)| {
        match Measure::values().nth(kind).unwrap_or_default() {
            Measure::Overlap => (Measure::Overlap, count),
            measure => (measure, share),
        }
    })
}

/// Words as features, compared by this.
fn by((measure, tau): (Measure, u64)) -> Dedup {
    let tau = if measure == Measure::Overlap { tau.to_string() } else { decimal(tau) };
    Dedup::new().features("words:1").unwrap().similarity(measure, &tau).unwrap()
}

fn id(number: usize) -> String {
    format!("d{number:03}")
}

fn decimal(tau: u64) -> String {
    format!("0.{tau:09}")
}

prop_compose! {
    fn texts()(texts in prop::collection::vec("([a-h] ){0,7}[a-z]?", 0..40)) -> Vec<String> { texts }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn pairs_and_clusters_are_those_of_brute_force(
        texts in texts(), threshold in thresholds(), threads in 1usize..4, least in 1u64..4,
    ) {
        let sets = sets(&texts);
        let dedup = by(threshold).min_features(least).equal_texts(false).threads(threads);
        let (measure, tau) = threshold;
        let found = dedup.run((0..).map(id).zip(&texts)).unwrap();
        prop_assert_eq!(found.documents(), texts.len() as u64);

        let mut expected = Vec::new();
        let mut labels: Vec<usize> = (0..texts.len()).collect();
        let enough = |set: &BTreeSet<&str>| set.len() as u64 >= least;
        for (b, y) in sets.iter().enumerate().filter(|(_, set)| enough(set)) {
            for (a, x) in sets[..b].iter().enumerate().filter(|(_, set)| enough(set)) {
                if alike(measure, x, y, tau) {
                    expected.push((id(a), id(b), x.intersection(y).count() as u64, x.len() as u64, y.len() as u64));
                    let (low, high) = (labels[a].min(labels[b]), labels[a].max(labels[b]));
                    labels.iter_mut().filter(|label| **label == high).for_each(|label| *label = low);
                }
            }
        }
        expected.sort();
        let pairs: Vec<super::Pair> = found.pairs().unwrap().map(|pair| pair.unwrap()).collect();
        prop_assert!(pairs.iter().all(|pair| pair.measure == measure));
        let pairs = pairs.into_iter().map(|pair| (pair.a, pair.b, pair.overlap, pair.size_a, pair.size_b));
        prop_assert_eq!(pairs.collect::<Vec<_>>(), expected);

        let mut clusters: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (number, label) in labels.iter().enumerate().filter(|(number, label)| *number != **label) {
            clusters.entry(id(*label)).or_default().push(id(number));
        }
        let named = |cluster: super::Cluster| {
            (cluster.kept, cluster.dropped.into_iter().map(|dropped| dropped.id).collect::<Vec<_>>())
        };
        let found_clusters = found.clusters().unwrap().map(|cluster| named(cluster.unwrap()));
        prop_assert_eq!(found_clusters.collect::<BTreeMap<_, _>>(), clusters.clone());
        let dropped: BTreeSet<String> = found.dropped().unwrap().map(|id| id.unwrap()).collect();
        prop_assert_eq!(dropped, clusters.into_values().flatten().collect());
    }

    /// Queries are smaller and larger than what is indexed, and have words that nothing else has.
    #[test]
    fn an_index_finds_what_brute_force_finds(
        texts in texts(), queries in prop::collection::vec("([a-h] ){0,9}[A-Z]?", 1..12), threshold in thresholds(),
        least in 1u64..4,
    ) {
        let queries: Vec<String> = queries.into_iter().map(|query| query.to_lowercase()).collect();
        let dedup = by(threshold).min_features(least);
        let (measure, tau) = threshold;
        let index = dedup.index((0..).map(id).zip(&texts)).unwrap();
        let indexed = sets(&texts);
        let enough = |set: &BTreeSet<&str>| set.len() as u64 >= least;
        // Smaller sets are in no pair.
        let most = if measure == Measure::Overlap { least.max(tau) } else { least };
        prop_assert_eq!(index.len(), indexed.iter().filter(|set| set.len() as u64 >= most).count());
        for (text, query) in queries.iter().zip(sets(&queries)) {
            let like = |set: &&BTreeSet<&str>| enough(set) && enough(&query) && alike(measure, set, &query, tau);
            let expected: BTreeSet<(String, u64, u64)> = (0..)
                .map(id)
                .zip(&indexed)
                .filter(|(_, set)| like(set))
                .map(|(id, set)| (id, set.intersection(&query).count() as u64, set.len() as u64))
                .collect();
            let matches = index.query(text);
            prop_assert!(matches.is_sorted_by(|x, y| x.similarity() >= y.similarity() - 1e-12));
            prop_assert!(matches.iter().all(|found| found.query_size == query.len() as u64));
            let count = matches.len();
            let found: BTreeSet<_> =
                matches.into_iter().map(|found| (found.id.to_owned(), found.overlap, found.size)).collect();
            prop_assert_eq!((found.len(), found), (count, expected));
        }
    }

    /// Asked for each of its own documents, an index gives the pairs of a run, in an IDF range, too.
    #[test]
    fn an_index_agrees_with_a_run(texts in texts(), threshold in thresholds(), range in 0usize..4) {
        let range = ["0,1", "0.2,1", "0,0.6", "0.1,0.5"][range];
        let dedup = by(threshold).idf(range).unwrap().equal_texts(false).threads(2);
        let documents = || (0..).map(id).zip(&texts);
        let found = dedup.run(documents()).unwrap();
        let pairs: BTreeSet<(String, String)> =
            found.pairs().unwrap().map(|pair| pair.unwrap()).map(|pair| (pair.a, pair.b)).collect();
        let index = dedup.index(documents()).unwrap();
        let mut asked = BTreeSet::new();
        for (id, text) in documents() {
            let others = index.query(text).into_iter().filter(|found| *found.id < *id);
            asked.extend(others.map(|found| (found.id.to_owned(), id.clone())));
        }
        prop_assert_eq!(asked, pairs);
    }
}

/// More than one block, an iterator that stays on its thread, and ids that lines cannot hold as they are.
#[test]
fn documents_are_streamed() {
    let count = std::rc::Rc::new(std::cell::Cell::new(0_u64));
    let counted = std::rc::Rc::clone(&count);
    let filler = "x".repeat(2000);
    let documents = (0..3000_u64).map(move |number| {
        counted.set(number + 1);
        (format!("{}\t\\x{number}\n", number / 2), format!("{filler} two{} own{number}", number / 2))
    });
    let found = Dedup::new().features("words:1").unwrap().tau("0.5").unwrap().run(documents).unwrap();
    assert_eq!((count.get(), found.documents()), (3000, 3000));
    let pairs: BTreeSet<_> =
        found.pairs().unwrap().map(|pair| pair.unwrap()).map(|pair| (pair.a, pair.b)).collect();
    let ids = |number: u64| format!("{}\t\\x{number}\n", number / 2);
    assert!(pairs == (0..1500).map(|two| (ids(2 * two), ids(2 * two + 1))).collect());
}

#[test]
fn a_rule_keeps_what_it_says() {
    let document = |id, date, score| Document::new(id, "one two three").date(date).score(score);
    let documents = || {
        [document("a", "2024-01-01", 2.5), document("b", "2024-03-01", 1.0), document("c", "2023-01-01", 7e3)]
    };
    let kept = |rule| {
        let dedup = Dedup::new().features("words:1").unwrap().keep(rule).cluster(ClusterKind::Star);
        let found = dedup.run(documents()).unwrap();
        let clusters: Vec<_> = found.clusters().unwrap().map(|cluster| cluster.unwrap()).collect();
        assert_eq!((clusters.len(), clusters[0].dropped.len()), (1, 2));
        clusters[0].kept.clone()
    };
    let rules = [KeepRule::SmallestId, KeepRule::First, KeepRule::Newest, KeepRule::Highest];
    assert_eq!(rules.map(kept), ["a", "a", "b", "c"]);
}

/// a and b share 3 of 5 words, c and d all but one of 4, and e is alone.
#[test]
fn as_many_documents_stay_as_are_asked_for() {
    let documents = [
        ("a", "one two three four"),
        ("b", "two three four five"),
        ("c", "red green blue"),
        ("d", "red green blue grey"),
        ("e", "nothing like that"),
    ];
    let dropped = |wanted| {
        let dedup = Dedup::new().features("words:1").unwrap().tau("0.5").unwrap().reduce_to(wanted);
        let found = dedup.run(documents)?;
        found.dropped()?.collect::<Result<Vec<String>, Error>>()
    };
    assert_eq!(dropped(5).unwrap(), [""; 0]);
    assert_eq!(dropped(4).unwrap(), ["d"]);
    assert_eq!(dropped(3).unwrap(), ["b", "d"]);
    assert!(
        matches!(dropped(2), Err(Error::Limit(said)) if said.starts_with("--reduce-to 2: 3 of 5 documents are left"))
    );
}

#[test]
fn what_is_wrong_is_an_error_of_its_kind() {
    let value = |result: Result<Dedup, Error>| match result {
        Err(Error::Value { name, value, .. }) => (name, value),
        other => panic!("{other:?}"),
    };
    assert_eq!(value(Dedup::new().tau("0")), ("tau", "0".to_owned()));
    assert_eq!(value(Dedup::new().features("letters")), ("features", "letters".to_owned()));
    assert_eq!(value(Dedup::new().idf("0.5")), ("idf", "0.5".to_owned()));
    assert_eq!(value(Dedup::new().similarity(Measure::Overlap, "0.5")), ("tau", "0.5".to_owned()));
    assert_eq!(value(Dedup::new().similarity(Measure::Dice, "3")), ("tau", "3".to_owned()));
    let overlap = Dedup::new().similarity(Measure::Overlap, "3").unwrap();
    assert_eq!(value(overlap.clone().tau("0.7")), ("tau", "0.7".to_owned()));
    assert!(overlap.tau("4").is_ok());
    assert_eq!("containment".parse::<Measure>().ok(), Some(Measure::Containment));
    let known = "expected one of smallest-id, first, longest, newest, score";
    assert_eq!("best".parse::<KeepRule>().err().map(|error| error.to_string()).as_deref(), Some(known));

    let twice = [("a", "one"), ("b", "two"), ("a", "three")];
    let found = Dedup::new().run(twice).err();
    assert!(matches!(&found, Some(Error::DuplicateId { id, .. }) if id == "a"), "{found:?}");
    let found = Dedup::new().index(twice).err();
    assert!(matches!(&found, Some(Error::DuplicateId { id, .. }) if id == "a"), "{found:?}");
    let none = Dedup::new().run([("", "one")]).err();
    assert!(matches!(none, Some(Error::Document { .. })), "{none:?}");
    let same = (0..10).map(|number| (number.to_string(), "one two"));
    let many = Dedup::new().features("words:1").unwrap().max_pairs(44).run(same).err();
    assert!(matches!(many, Some(Error::Limit(_))), "{many:?}");
    let little = Dedup::new().memory(1 << 20).run(twice).err();
    assert!(matches!(little, Some(Error::Limit(_) | Error::Usage(_))), "{little:?}");
}

/// An engine that stops early does not leave the caller waiting, and neither does an iterator that panics.
#[test]
fn nobody_waits_for_who_has_gone() {
    let endless =
        (0..).map(|number: u64| (if number < 9 { "same".to_owned() } else { number.to_string() }, "word"));
    let bad = endless.map(|(id, text)| if id == "9" { (String::new(), text) } else { (id, text) });
    assert!(Dedup::new().run(bad).is_err());
    let dead = std::panic::catch_unwind(|| {
        let documents = (0..5).map(|number| {
            assert!(number < 3, "no more");
            (number.to_string(), "word")
        });
        Dedup::new().run(documents).map(|_| ())
    });
    assert!(dead.is_err());
}

/// A source that fails is an error, whatever came before it.
#[test]
fn documents_that_do_not_come_are_an_error() {
    let documents = || {
        (0..3000).map(|number: u64| match number {
            2500 => Err("the line is cut off"),
            _ => Ok((number.to_string(), "x".repeat(1000))),
        })
    };
    let failed = |error: Option<Error>| match error {
        Some(Error::Documents(source)) => source.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(failed(Dedup::new().try_run(documents()).err()), "the line is cut off");
    assert_eq!(failed(Dedup::new().try_index(documents()).err()), "the line is cut off");
}

/// Three documents, of which the first contains the second, and the third is the first with a word changed.
#[test]
fn pairs_say_what_they_were_compared_by() {
    let documents =
        [("a", "one two three four five six"), ("b", "two three"), ("c", "one two three four five nine")];
    let found = by((Measure::Containment, 800_000_000)).run(documents).unwrap();
    let pairs: Vec<_> = found.pairs().unwrap().map(|pair| pair.unwrap()).collect();
    let told = |pair: &super::Pair| (pair.a.clone() + &pair.b, pair.similarity(), pair.relation());
    let expected = [
        ("ab".to_owned(), 1.0, Some(Relation::Contains)),
        ("ac".to_owned(), 5.0 / 6.0, Some(Relation::Duplicate)),
        ("bc".to_owned(), 1.0, Some(Relation::Contained)),
    ];
    assert_eq!(pairs.iter().map(told).collect::<Vec<_>>(), expected);
    let json = serde_json::to_value(&pairs[0]).unwrap();
    assert_eq!((json["measure"].as_str(), json["size_b"].as_u64()), (Some("containment"), Some(2)));

    // Equal texts without features have no number of shared ones.
    let twins = [("a", "one two three"), ("b", "one two three"), ("c", "!"), ("d", "!")];
    let found = by((Measure::Overlap, 2)).run(twins).unwrap();
    let dropped: Vec<_> = found
        .clusters()
        .unwrap()
        .flat_map(|cluster| cluster.unwrap().dropped)
        .map(|dropped| dropped.similarity)
        .collect();
    assert_eq!(dropped, [Some(3.0), None]);

    let clusters = by((Measure::Jaccard, 500_000_000)).clusters_only().run(twins).unwrap();
    assert!(clusters.pairs().is_err() && clusters.dropped().unwrap().count() == 2);
}

/// What a run left in a folder is read as what a program has found.
#[test]
fn a_folder_of_a_run_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Duplicates::open(folder.path());
    assert!(matches!(open().err(), Some(Error::Io { .. })));
    for other in ["{}", "mine", r#"{"counters":{"tokenize":{"documents":7}}}"#] {
        std::fs::write(folder.path().join("run.json"), other).unwrap();
        assert!(matches!(open().err(), Some(Error::File { .. })), "{other}");
    }
    std::fs::write(folder.path().join("run.json"), r#"{"documents":7}"#).unwrap();
    std::fs::write(folder.path().join("pairs.tsv"), "a\tb\t3\t4\t4\t0.750000\tcosine\n").unwrap();
    let found = open().unwrap();
    let pair = found.pairs().unwrap().next().unwrap().unwrap();
    assert_eq!((found.documents(), pair.measure, pair.similarity()), (7, Measure::Cosine, 0.75));
}

/// Chains that find every pair of these documents find the same, in one process on columns or by stages, from an iterator.
#[test]
fn every_chain_runs_from_an_iterator() {
    let words = ["rain", "fell", "on", "the", "harbour", "all", "night", "ferry", "left", "at", "six", "and"];
    let text = |n: usize| {
        (0..20).map(|at| words[(at * (1 + n % 4) + n / 7) % words.len()]).collect::<Vec<_>>().join(" ")
    };
    let documents = || (0..60usize).map(|n| (format!("d{n:02}"), text(n)));
    let dedup = || Dedup::new().features("words:2").unwrap().tau("0.5").unwrap();
    let pairs = |dedup: Dedup| -> Vec<Pair> {
        dedup.threads(2).run(documents()).unwrap().pairs().unwrap().map(|pair| pair.unwrap()).collect()
    };
    let expected = pairs(dedup());
    assert!(expected.len() > 40, "{}", expected.len());
    let with = |chain: &str, options: &[(&str, &str)]| {
        let named = dedup().chain(chain).unwrap();
        options.iter().fold(named, |dedup, (name, value)| dedup.option(name, value).unwrap())
    };
    for (chain, options) in [
        ("doc-split", &[][..]),
        ("term-split", &[("pcp", "prefix")]),
        ("term-split", &[("pcp", "plain")]),
        ("term-split", &[("pcp", "plain"), ("df-cut", "1000")]),
        ("minhash", &[("bands", "128"), ("rows", "1")]),
        ("ccdet", &[("min-features", "1")]),
    ] {
        assert_eq!(pairs(with(chain, options)), expected, "{chain} {options:?}");
    }
    let found = with("simhash", &[("distance", "3")]).run(documents()).unwrap();
    let near: Vec<NearPair> = found.near_pairs().unwrap().map(|pair| pair.unwrap()).collect();
    assert!(!near.is_empty() && near.iter().all(|pair| pair.distance <= 3 && pair.a < pair.b), "{near:?}");
    assert!(matches!(found.pairs(), Err(Error::Usage(_))));
    assert!(with("i-match", &[]).run(documents()).unwrap().clusters().is_ok());
}

#[test]
fn a_file_of_options_and_an_option_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copies.toml");
    std::fs::write(&path, "features = \"words:1\"\ntau = 0.5\n").unwrap();
    let documents = [("a", "one two three"), ("b", "one two four")];
    let found = Dedup::new().config(&path).unwrap().run(documents).unwrap();
    assert_eq!(found.pairs().unwrap().count(), 1);
    assert!(Dedup::new().chain("doc").is_err() && Dedup::new().option("taux", "1").is_err());
    assert!(
        Dedup::new().option("tau", "1.5").is_err()
            && Dedup::new().config(folder.path().join("none")).is_err()
    );
    assert!(Dedup::new().chain("simhash").unwrap().index(documents).is_err());
}

#[test]
fn an_option_has_the_names_of_the_command_line() {
    let named = Dedup::options();
    assert!(named.iter().any(|field| field.name == "bands") && named.len() > 30, "{}", named.len());
    let documents = [("a", "one two three"), ("b", "one two four")];
    let found = Dedup::new().features("words:1").unwrap().option("threshold", "0.5").unwrap().run(documents);
    assert_eq!(found.unwrap().pairs().unwrap().count(), 1);
}
