//! Stores against brute force over all documents, whatever the batches and the memory.

mod compact;
mod faults;
mod model;

use super::disk::Disk;
use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use twinsplit_core::cluster::keep::Date;
use twinsplit_core::similarity::{Measure, SetSimilarity, Similarity};
use twinsplit_io::error::Result;

/// Pairs: the smaller id, the larger one, what they share.
type Pairs = BTreeSet<(String, String, u64)>;

/// A document: its id, its text, and its features.
type Text = (String, u128, BTreeSet<u64>);

fn settings(similarity: Similarity, memory: usize) -> Settings {
    let made_with = vec![("features", "words:3".to_owned()), ("tau", similarity.threshold())];
    Settings { made_with, similarity, least: 2, equal_texts: true, memory, threads: 2 }
}

fn jaccard() -> Similarity {
    Measure::Jaccard.reaching("0.5").unwrap()
}

/// The pairs of documents, by brute force: the smaller id, the larger one, what they share.
fn pairs(documents: &[Text], similarity: Similarity) -> BTreeSet<(String, String, u64)> {
    let mut pairs = BTreeSet::new();
    for (a, _, x) in documents {
        for (b, _, y) in documents {
            let overlap = x.intersection(y).count() as u64;
            let (p, q) = (x.len() as u64, y.len() as u64);
            if a < b && p >= 2 && q >= 2 && overlap > 0 && similarity.accepts(overlap, p, q) {
                pairs.insert((a.clone(), b.clone(), overlap));
            }
        }
    }
    pairs
}

/// The clusters, by brute force: of each document that is in one, the smallest id.
fn clusters(documents: &[Text], similarity: Similarity) -> BTreeMap<String, String> {
    let mut edges: Vec<(String, String)> =
        pairs(documents, similarity).into_iter().map(|(a, b, _)| (a, b)).collect();
    for (a, text, x) in documents.iter().filter(|one| one.2.len() < 2 && one.1 != 0) {
        let others = documents.iter().filter(|other| other.1 == *text && other.2.len() < 2 && other.0 > *a);
        edges.extend(others.map(|other| (a.clone(), other.0.clone())));
        let _ = x;
    }
    let mut labels: BTreeMap<String, String> =
        edges.iter().flat_map(|(a, b)| [a, b]).map(|id| (id.clone(), id.clone())).collect();
    loop {
        let mut changed = false;
        for (a, b) in &edges {
            let least = labels[a].clone().min(labels[b].clone());
            for id in [a, b] {
                changed |= labels[id] != least;
                labels.insert(id.clone(), least.clone());
            }
        }
        if !changed {
            return labels;
        }
    }
}

/// The documents for which another one is kept than before: id, before, now.
fn changes<'t>(
    was: &'t BTreeMap<String, String>,
    now: &'t BTreeMap<String, String>,
    documents: &'t [Text],
) -> impl Iterator<Item = [String; 3]> + 't {
    let mut ids: Vec<&String> = documents.iter().map(|document| &document.0).collect();
    ids.sort();
    let kept = |of: &BTreeMap<String, String>, id: &String| of.get(id).unwrap_or(id).clone();
    let change = move |id: &String| [id.clone(), kept(was, id), kept(now, id)];
    ids.into_iter().map(change).filter(|[_, was, now]| was != now)
}

fn string(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Adds a batch, and gives its pairs and what it has come to.
fn add<D: Disk>(
    store: &mut Store<D>,
    id: &str,
    documents: &[Text],
    work: &Path,
) -> Result<(Pairs, Finished)> {
    add_as(store, (id, Date::of_number("0").unwrap(), false), documents, work)
}

/// The same of a batch of some time, which has new versions of documents or not.
fn add_as<D: Disk>(
    store: &mut Store<D>,
    (id, time, has_versions): (&str, Date, bool),
    documents: &[Text],
    work: &Path,
) -> Result<(Pairs, Finished)> {
    let mut found = BTreeSet::new();
    let mut sink = |pair: Pair<'_>| {
        assert!(found.insert((string(pair.a.id), string(pair.b.id), pair.overlap)), "twice: {pair:?}");
        Ok(())
    };
    let mut batch = store.batch(Some(id), work).dated(time);
    if has_versions {
        for (id, text, features) in documents {
            batch.announce(id.as_bytes(), *text, features.len() as u64);
        }
        batch.replace_announced()?;
    }
    for (id, text, features) in documents {
        batch.add(id.as_bytes(), *text, &features.iter().copied().collect::<Vec<_>>(), &mut sink)?;
    }
    let finished =
        batch.finish(&mut sink, |added, _| Ok(vec![added.pairs.to_string().into_bytes().into()]))?;
    Ok((found, finished))
}

fn files_of(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap()))
        .collect()
}

/// The files in the folder of a store that its manifest does not name.
fn left<D: Disk>(store: &Store<D>, folder: &Path) -> Vec<String> {
    let manifest = store.manifest();
    let named: BTreeSet<String> = manifest.files().map(str::to_owned).collect();
    let there = files_of(folder).into_keys();
    there
        .filter(|name| {
            !named.contains(name) && name != "lock" && manifest::number_of(name) != Some(manifest.number)
        })
        .collect()
}

/// The clusters of a store.
fn held<D: Disk>(store: &Store<D>) -> BTreeMap<String, String> {
    let rows = string(store.clusters().bytes());
    let row = |line: &str| line.split_once('\t').map(|(id, kept)| (id.to_owned(), kept.to_owned())).unwrap();
    rows.lines().map(row).collect()
}

fn documents() -> impl Strategy<Value = Vec<Text>> {
    let set = prop_oneof![
        prop::collection::btree_set(0u64..12, 0..8),
        // Frequent features, so that some come last in the order of a segment.
        prop::collection::btree_set(0u64..6, 3..6),
        prop::collection::btree_set(100u64..140, 1..20),
    ];
    prop::collection::vec(set, 1..60).prop_map(|sets| {
        let text =
            |set: &BTreeSet<u64>| if set.is_empty() { 0 } else { u128::from(set.iter().sum::<u64>()) + 1 };
        let named = |(at, set): (usize, BTreeSet<u64>)| {
            // Ids in no order of batches.
            (
                format!("d{:03}", at * 37 % 101),
                text(&set),
                set.into_iter().map(twinsplit_core::hash::mix).collect(),
            )
        };
        sets.into_iter().enumerate().map(named).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever the cut into batches and the memory: pairs are those of brute force with a new document, each once, and the clusters at the end those
    /// of all documents. What is compared only changes nothing.
    #[test]
    fn batches_end_in_what_one_run_finds(
        documents in documents(), cuts in prop::collection::vec(0usize..60, 0..6), kind in 0usize..5,
        small in any::<bool>(),
    ) {
        let measure = <Measure as twinsplit_core::choice::Choice>::values().nth(kind).unwrap_or(Measure::Jaccard);
        let similarity = measure.reaching(if measure == Measure::Overlap { "3" } else { "0.6" }).unwrap();
        let memory = if small { 3000 } else { 1 << 20 };
        let folder = tempfile::tempdir().unwrap();
        let (path, work) = (folder.path().join("store"), folder.path().join("work"));
        fs::create_dir(&work).unwrap();
        let cuts: BTreeSet<usize> = cuts.into_iter().filter(|cut| *cut < documents.len()).chain([0, documents.len()]).collect();
        let cuts: Vec<usize> = cuts.into_iter().collect();
        let mut before = BTreeSet::new();
        for (number, cut) in cuts.windows(2).enumerate() {
            let (old, batch) = (&documents[..cut[0]], &documents[cut[0]..cut[1]]);
            let all = pairs(&documents[..cut[1]], similarity);
            let expected: BTreeSet<_> = all.difference(&before).cloned().collect();
            let id = format!("batch {number}");
            if !old.is_empty() {
                let mut reader = Store::open(&path, settings(similarity, memory)).unwrap();
                let (found, _) = add(&mut reader, &id, batch, &work).unwrap();
                prop_assert_eq!(&found, &expected);
                prop_assert_eq!(held(&reader), clusters(old, similarity));
            }
            let mut store = Store::writable(&path, settings(similarity, memory)).unwrap();
            let (found, finished) = add(&mut store, &id, batch, &work).unwrap();
            prop_assert_eq!(&found, &expected);
            let Finished::Now(added) = finished else { panic!("it is new") };
            prop_assert_eq!((added.documents, added.added), (batch.len() as u64, batch.len() as u64));
            let now = clusters(&documents[..cut[1]], similarity);
            prop_assert_eq!(held(&store), now.clone());
            let was = clusters(old, similarity);
            for (kept, members) in &added.clusters {
                let kept = string(kept);
                let ids: BTreeSet<String> = members.iter().map(|member| string(&member.id)).collect();
                let whole: BTreeSet<String> = now.iter().filter(|(_, of)| **of == kept).map(|(id, _)| id.clone()).collect();
                prop_assert_eq!(&ids, &whole);
            }
            let expected: Vec<_> = changes(&was, &now, old).collect();
            let found = added.changes.iter().map(|change| [&change.id, &change.before, &change.now].map(|id| string(id)));
            prop_assert_eq!(found.collect::<Vec<_>>(), expected);
            // Every cluster that is another than before was touched.
            for (id, kept) in now.iter().filter(|(id, kept)| was.get(*id) != Some(kept)) {
                prop_assert!(added.clusters.contains_key(kept.as_bytes()), "{id} {kept}");
            }
            before = all;
        }
        let store = Store::open(&path, settings(similarity, memory)).unwrap();
        prop_assert!(store.verify().unwrap() > 0);
        prop_assert_eq!(store.manifest().segments.iter().map(|one| one.documents).sum::<u64>(), documents.len() as u64);
        prop_assert_eq!(left(&store, &path), Vec::<String>::new());
    }
}

/// Texts of one family, and some that are too short.
fn family(prefix: &str, count: u64) -> Vec<Text> {
    let one = |at: u64| {
        let features: BTreeSet<u64> = (0..20).chain([100 + at]).map(twinsplit_core::hash::mix).collect();
        (format!("{prefix}{at:02}"), u128::from(at) + 1, if at % 5 == 4 { BTreeSet::new() } else { features })
    };
    (0..count).map(one).collect()
}

#[test]
fn a_batch_that_comes_again_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let mut store = Store::writable(&path, settings(jaccard(), 1 << 20)).unwrap();
    add(&mut store, "one", &family("a", 10), folder.path()).unwrap();
    let before = store.manifest().clone();
    let mut shuffled = family("a", 10);
    shuffled.reverse();
    let (found, again) = add(&mut store, "one", &shuffled, folder.path()).unwrap();
    assert!(found.is_empty());
    let Finished::Before(_, parts) = again else { panic!("it was there") };
    assert_eq!(&parts[0][..], b"28", "the pairs of 8 documents");
    assert_eq!(*store.manifest(), before);
    // Other documents under its name, another text under an id, and an id that stands twice.
    let error = |result: Result<_>| result.map(|_: (Pairs, Finished)| ()).unwrap_err().to_string();
    let other = error(add(&mut store, "one", &family("b", 3), folder.path()));
    assert!(other.contains("has a batch one of other documents"), "{other}");
    let mut changed = family("a", 10);
    changed[3].1 = 99;
    let other = error(add(&mut store, "two", &changed, folder.path()));
    assert!(other.contains("a03 stands in the store with another text, from the batch one"), "{other}");
    let twice = [family("c", 2), family("c", 2)].concat();
    let other = error(add(&mut store, "two", &twice, folder.path()));
    assert!(other.contains("\"c00\" stands at more than one document of the batch"), "{other}");
    // Some documents again, with others: they are no copies of themselves.
    let mixed = [family("a", 2), family("b", 1)].concat();
    let (found, now) = add(&mut store, "two", &mixed, folder.path()).unwrap();
    assert_eq!(found.len(), 8, "{found:?}");
    let Finished::Now(added) = now else { panic!("it is new") };
    assert_eq!((added.documents, added.added, added.clusters.len()), (3, 1, 1));
}

#[test]
fn one_process_adds_and_others_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let missing = Store::open(&path, settings(jaccard(), 1 << 20)).map(|_| ()).unwrap_err().to_string();
    assert!(missing.contains("store"), "{missing}");
    let mut store = Store::writable(&path, settings(jaccard(), 1 << 20)).unwrap();
    let second = Store::writable(&path, settings(jaccard(), 1 << 20)).map(|_| ()).unwrap_err().to_string();
    assert!(second.contains("another process is adding to this store"), "{second}");
    add(&mut store, "one", &family("a", 6), folder.path()).unwrap();
    let mut reader = Store::open(&path, settings(jaccard(), 1 << 20)).unwrap();
    add(&mut store, "two", &family("b", 6), folder.path()).unwrap();
    // The reader keeps what it has opened, though its segment was merged and is gone.
    let (found, _) = add(&mut reader, "q", &family("q", 1), folder.path()).unwrap();
    assert_eq!(found.len(), 5);
    // All of that is as it was written, and what has gone since is missed by nobody.
    add(&mut store, "three", &family("c", 6), folder.path()).unwrap();
    let later = Store::open(&path, settings(jaccard(), 1 << 20)).unwrap();
    store.compact(Some(1)).unwrap();
    for opened in [&reader, &later] {
        opened.verify().unwrap();
    }
    // What is missing though nobody has put anything in its place is.
    let last = store.manifest().batches.last().unwrap().answer.clone().unwrap();
    fs::remove_file(path.join(last)).unwrap();
    assert!(store.verify().is_err());
    drop(store);
    let other = settings(Measure::Jaccard.reaching("0.7").unwrap(), 1 << 20);
    let refused = Store::writable(&path, other).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("was made with tau=0.5, and tau=0.7 is asked for"), "{refused}");
    let foreign = folder.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("mine"), "x").unwrap();
    let refused =
        Store::writable(&foreign, settings(jaccard(), 1 << 20)).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("is no store, and holds mine"), "{refused}");
}

/// Documents are written again as often as a logarithm says, and the number of segments is one.
#[test]
fn merging_is_logarithmic() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::writable(&folder.path().join("store"), settings(jaccard(), 1 << 24)).unwrap();
    let mut written = 0;
    for number in 0..64 {
        let before: BTreeSet<String> = store.manifest().segments.iter().map(|one| one.file.clone()).collect();
        let features =
            |at: u64| (0..10).map(|f| twinsplit_core::hash::mix(1000 * number + 10 * at + f)).collect();
        let batch: Vec<Text> = (0..4).map(|at| (format!("d{number:02}-{at}"), 1, features(at))).collect();
        add(&mut store, &number.to_string(), &batch, folder.path()).unwrap();
        let new = store.manifest().segments.iter().filter(|one| !before.contains(&one.file));
        written += new.map(|one| one.documents).sum::<u64>();
        assert!(store.manifest().segments.len() <= 7, "{:?}", store.manifest().segments);
    }
    // 256 documents: log2 is 8.
    assert!(written <= 256 * 2 * 8, "{written}");
}
