//! The façade beside brute force on words.

use super::{Dedup, Document};
use crate::{ClusterKind, Error, KeepRule};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The sets of words of texts without capitals and marks.
fn sets(texts: &[String]) -> Vec<BTreeSet<&str>> {
    texts.iter().map(|text| text.split(' ').filter(|word| !word.is_empty()).collect()).collect()
}

/// Whether |A∩B|/|A∪B| >= tau billionths; sets that share nothing are no pair.
fn alike(a: &BTreeSet<&str>, b: &BTreeSet<&str>, tau: u64) -> bool {
    let (shared, union) = (a.intersection(b).count() as u64, a.union(b).count() as u64);
    shared > 0 && shared * 1_000_000_000 >= tau * union
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
    #![proptest_config(crate::cases(60))]

    #[test]
    fn pairs_and_clusters_are_those_of_brute_force(
        texts in texts(), tau in 1u64..1_000_000_000, threads in 1usize..4, least in 1u64..4,
    ) {
        let sets = sets(&texts);
        let dedup = Dedup::new().features("words:1").unwrap().tau(&decimal(tau)).unwrap();
        let dedup = dedup.min_features(least).equal_texts(false).threads(threads);
        let found = dedup.run((0..).map(id).zip(&texts)).unwrap();
        prop_assert_eq!(found.documents(), texts.len() as u64);

        let mut expected = Vec::new();
        let mut labels: Vec<usize> = (0..texts.len()).collect();
        let enough = |set: &BTreeSet<&str>| set.len() as u64 >= least;
        for (b, y) in sets.iter().enumerate().filter(|(_, set)| enough(set)) {
            for (a, x) in sets[..b].iter().enumerate().filter(|(_, set)| enough(set)) {
                if alike(x, y, tau) {
                    expected.push((id(a), id(b), x.intersection(y).count() as u64, x.len() as u64, y.len() as u64));
                    let (low, high) = (labels[a].min(labels[b]), labels[a].max(labels[b]));
                    labels.iter_mut().filter(|label| **label == high).for_each(|label| *label = low);
                }
            }
        }
        expected.sort();
        let pairs = found.pairs().unwrap().map(|pair| pair.unwrap());
        let pairs = pairs.map(|pair| (pair.a, pair.b, pair.overlap, pair.size_a, pair.size_b));
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
        texts in texts(), queries in prop::collection::vec("([a-h] ){0,9}[A-Z]?", 1..12), tau in 1u64..1_000_000_000,
        least in 1u64..4,
    ) {
        let queries: Vec<String> = queries.into_iter().map(|query| query.to_lowercase()).collect();
        let dedup = Dedup::new().features("words:1").unwrap().tau(&decimal(tau)).unwrap().min_features(least);
        let index = dedup.index((0..).map(id).zip(&texts)).unwrap();
        let indexed = sets(&texts);
        let enough = |set: &BTreeSet<&str>| set.len() as u64 >= least;
        prop_assert_eq!(index.len(), indexed.iter().filter(|set| enough(set)).count());
        for (text, query) in queries.iter().zip(sets(&queries)) {
            let like = |set: &&BTreeSet<&str>| enough(set) && enough(&query) && alike(set, &query, tau);
            let expected: BTreeSet<(String, u64, u64)> = (0..)
                .map(id)
                .zip(&indexed)
                .filter(|(_, set)| like(set))
                .map(|(id, set)| (id, set.intersection(&query).count() as u64, set.len() as u64))
                .collect();
            let matches = index.query(text);
            prop_assert!(matches.is_sorted_by(|x, y| x.similarity() >= y.similarity()));
            prop_assert!(matches.iter().all(|found| found.query_size == query.len() as u64));
            let count = matches.len();
            let found: BTreeSet<_> =
                matches.into_iter().map(|found| (found.id.to_owned(), found.overlap, found.size)).collect();
            prop_assert_eq!((found.len(), found), (count, expected));
        }
    }

    /// Asked for each of its own documents, an index gives the pairs of a run, in an IDF range, too.
    #[test]
    fn an_index_agrees_with_a_run(texts in texts(), tau in 1u64..1_000_000_000, range in 0usize..4) {
        let range = ["0,1", "0.2,1", "0,0.6", "0.1,0.5"][range];
        let dedup = Dedup::new().features("words:1").unwrap().tau(&decimal(tau)).unwrap();
        let dedup = dedup.idf(range).unwrap().equal_texts(false).threads(2);
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

#[test]
fn what_is_wrong_is_an_error_of_its_kind() {
    let value = |result: Result<Dedup, Error>| match result {
        Err(Error::Value { name, value, .. }) => (name, value),
        other => panic!("{other:?}"),
    };
    assert_eq!(value(Dedup::new().tau("0")), ("tau", "0".to_owned()));
    assert_eq!(value(Dedup::new().features("letters")), ("features", "letters".to_owned()));
    assert_eq!(value(Dedup::new().idf("0.5")), ("idf", "0.5".to_owned()));

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
