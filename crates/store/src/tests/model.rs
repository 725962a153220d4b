//! Random operations on a store against what must be there: a list of documents, compared by brute force.

use super::*;
use twinsplit_core::hash::mix;
use twinsplit_io::error::Error;

/// What must be there.
struct Model {
    similarity: Similarity,
    /// Each document with the batch that it came in.
    documents: BTreeMap<String, (Text, String)>,
    batches: Vec<Sent>,
}

/// A batch that was committed.
#[derive(Clone)]
struct Sent {
    id: String,
    time: Date,
    documents: Vec<Text>,
    /// How many pairs it had.
    pairs: usize,
    has_answer: bool,
}

impl Model {
    fn documents(&self) -> Vec<Text> {
        self.documents.values().map(|(text, _)| text.clone()).collect()
    }

    fn clusters(&self) -> BTreeMap<String, String> {
        clusters(&self.documents(), self.similarity)
    }

    /// What the store holds is what the model holds.
    fn compare<D: Disk>(&self, store: &Store<D>) {
        assert_eq!(held(store), self.clusters());
        let mut found = BTreeMap::new();
        for segment in &store.segments {
            for number in segment.living() {
                let Document { id, batch, text, features } = segment.document(number);
                let batch = store.batch_of(batch).unwrap().id.clone();
                let document = (string(&id), text, features.iter().copied().collect());
                assert!(found.insert(string(&id), (document, batch)).is_none(), "twice");
            }
        }
        assert_eq!(found, self.documents);
        let (clusters, mut entries) = (self.clusters(), Vec::new());
        let mut take = |Entry { id, batch, kept, text, features }: Entry<'_>| {
            entries.push((string(id), batch.to_owned(), kept.map(string), text, features));
            Ok(())
        };
        store.each_entry(&mut take).unwrap();
        let entry = |(id, ((_, text, features), batch)): (&String, &(Text, String))| {
            (id.clone(), batch.clone(), clusters.get(id).cloned(), *text, features.len() as u64)
        };
        assert_eq!(entries, self.documents.iter().map(entry).collect::<Vec<_>>());
        assert_eq!(store.manifest().living(), found.len() as u64);
        let batches =
            store.manifest().batches.iter().map(|one| (one.id.clone(), one.time, one.answer.is_some()));
        let expected = self.batches.iter().map(|one| (one.id.clone(), Some(one.time), one.has_answer));
        assert_eq!(batches.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }
}

/// Numbers that chance gives.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 = mix(self.0 + 1);
        (self.0 >> 20) as usize % n
    }
}

/// A document of some family, or one that is too small to be compared.
fn document(id: String, chance: &mut Chance) -> Text {
    let family = chance.below(4) as u64;
    let features: BTreeSet<u64> = match chance.below(6) {
        0 => (0..chance.below(2) as u64).collect(),
        _ => (0..10)
            .map(|at| if chance.below(4) == 0 { 100 + chance.below(9) as u64 } else { 10 * family + at })
            .collect(),
    };
    let text = if features.is_empty() {
        chance.below(3) as u128
    } else {
        features.iter().map(|x| 1 << (x % 100)).sum()
    };
    (id, text, features.into_iter().map(mix).collect())
}

/// What was done, and how often.
type Counts = BTreeMap<&'static str, usize>;

/// Does so many things to a store, and compares it after each.
fn operate(seed: u64, operations: usize, counts: &mut Counts) {
    let chance = &mut Chance(mix(seed));
    let place = tempfile::tempdir().unwrap();
    let (path, work) = (place.path().join("store"), place.path().join("work"));
    fs::create_dir(&work).unwrap();
    let measure = [Measure::Jaccard, Measure::Containment, Measure::Cosine][chance.below(3)];
    let similarity = measure.reaching("0.55").unwrap();
    // Some batches become several segments, and some clusters are made of several slices.
    let memory = [4000, 20_000, 1 << 20][chance.below(3)];
    let settings = || settings(similarity, memory);
    let mut model = Model { similarity, documents: BTreeMap::new(), batches: Vec::new() };
    let mut store = Store::writable(&path, settings()).unwrap();
    for number in 0..operations {
        let old = model.documents();
        let is_there = !store.manifest().batches.is_empty();
        let operation = match chance.below(13) {
            kind @ 0..=4 => {
                let mut batch: BTreeMap<String, Text> = BTreeMap::new();
                for _ in 0..1 + chance.below(5) {
                    let id = format!("d{:02}", chance.below(40));
                    let known =
                        model.documents.get(&id).filter(|_| chance.below(if kind == 3 { 2 } else { 8 }) > 0);
                    let text = known.map_or_else(|| document(id.clone(), chance), |(text, _)| text.clone());
                    batch.insert(id, text);
                }
                let batch: Vec<Text> = batch.into_values().collect();
                let way = match (kind, is_there) {
                    (3, _) => Way::Versions,
                    (4, true) if chance.below(2) == 0 => Way::Against(path.clone(), None),
                    (4, true) => {
                        let some = model.batches.iter().filter(|_| chance.below(2) == 0);
                        Way::Against(path.clone(), Some(some.map(|one| one.id.clone()).collect()))
                    }
                    _ => Way::Adds,
                };
                add_some(&mut model, &mut store, (number, batch), way, (&work, &settings))
            }
            5 if !model.batches.is_empty() => {
                let sent = model.batches[chance.below(model.batches.len())].clone();
                let said = add(&mut store, &sent.id, &sent.documents, &work);
                if !sent.has_answer {
                    assert!(said.unwrap_err().to_string().contains("keeps its answer no more"));
                    continue;
                }
                let (found, finished) = said.unwrap();
                let Finished::Before(_, parts) = finished else { panic!("it was there") };
                assert!(found.is_empty());
                assert_eq!(string(&parts[0]), sent.pairs.to_string());
                "retry"
            }
            6..=8 => {
                let ids: BTreeSet<String> =
                    (0..1 + chance.below(4)).map(|_| format!("d{:02}", chance.below(40))).collect();
                let unknown: Vec<&String> =
                    ids.iter().filter(|id| !model.documents.contains_key(*id)).collect();
                let unknown: Vec<String> = unknown.into_iter().cloned().collect();
                let removal = store.forget(ids.iter().map(|id| id.as_bytes())).unwrap();
                assert_eq!(removal.unknown().iter().map(|id| string(id)).collect::<Vec<_>>(), unknown);
                remove(&mut model, removal, |id, _| ids.contains(id), chance)
            }
            9 if !model.batches.is_empty() => {
                let id = model.batches[chance.below(model.batches.len())].id.clone();
                let removal = store.drop_batches([id.as_str()]).unwrap();
                let said = remove(&mut model, removal, |_, batch| *batch == id, chance);
                if said == "forget" {
                    model.batches.retain(|batch| batch.id != id);
                    "drop"
                } else {
                    said
                }
            }
            10 => {
                let time = date(number.saturating_sub(6 + chance.below(12)));
                let expired: Vec<String> =
                    model.batches.iter().filter(|one| one.time < time).map(|one| one.id.clone()).collect();
                assert_eq!(store.batches_before(time), expired);
                let removal = store.drop_batches(expired.iter().map(String::as_str)).unwrap();
                let said = remove(&mut model, removal, |_, batch| expired.contains(batch), chance);
                if said == "forget" {
                    model.batches.retain(|batch| !expired.contains(&batch.id));
                    "expire"
                } else {
                    said
                }
            }
            11 if is_there => {
                let answers = (chance.below(2) == 0).then(|| chance.below(9));
                let commit = store.manifest().number;
                let has_work = store.compact(answers).unwrap();
                assert_eq!(store.manifest().number, commit + u64::from(has_work));
                let old = model.batches.len().saturating_sub(answers.unwrap_or(usize::MAX));
                model.batches[..old].iter_mut().for_each(|batch| batch.has_answer = false);
                assert!(
                    store
                        .segments
                        .iter()
                        .all(|segment| segment.forgotten().is_empty() && !segment.is_empty())
                );
                assert!(!store.compact(answers).unwrap());
                "compact"
            }
            _ => {
                drop(store);
                store = Store::writable(&path, settings()).unwrap();
                if is_there {
                    store.verify().unwrap();
                }
                "reopen"
            }
        };
        *counts.entry(operation).or_default() += 1;
        if old != model.documents() {
            *counts.entry("changed").or_default() += 1;
        }
        model.compare(&store);
    }
    assert!(left(&store, &path).is_empty());
}

fn date(number: usize) -> Date {
    Date::of_number(&(1_000_000 + number).to_string()).unwrap()
}

/// How a batch is compared.
enum Way {
    /// It is added.
    Adds,
    /// The same, and other texts take the place of those that are there.
    Versions,
    /// A reader of the folder compares it, with some batches or all.
    Against(std::path::PathBuf, Option<BTreeSet<String>>),
}

/// Adds a batch, or compares it as a reader does.
fn add_some(
    model: &mut Model,
    store: &mut Store,
    (number, batch): (usize, Vec<Text>),
    way: Way,
    (work, settings): (&Path, &dyn Fn() -> Settings),
) -> &'static str {
    let counts = |of: &String| match &way {
        Way::Against(_, Some(batches)) => batches.contains(of),
        _ => true,
    };
    let there = model.documents.iter().filter(|(_, (_, of))| counts(of));
    let there: BTreeMap<&String, &Text> = there.map(|(id, (text, _))| (id, text)).collect();
    let old: Vec<Text> = there.values().map(|text| (*text).clone()).collect();
    let is_other =
        |text: &&Text| there.get(&text.0).is_some_and(|old| (old.1, old.2.len()) != (text.1, text.2.len()));
    let others: BTreeSet<&String> = batch.iter().filter(is_other).map(|text| &text.0).collect();
    let new: Vec<Text> = batch
        .iter()
        .filter(|text| !there.contains_key(&text.0) || others.contains(&text.0))
        .cloned()
        .collect();
    let stays: Vec<Text> = old.iter().filter(|text| !others.contains(&text.0)).cloned().collect();
    let (id, time) = (format!("batch {number}"), date(number));
    let said = match &way {
        Way::Adds => add_as(store, (&id, time, false), &batch, work),
        Way::Versions => add_as(store, (&id, time, true), &batch, work),
        Way::Against(path, batches) => {
            let mut reader = Store::open(path, settings()).unwrap();
            batches.iter().for_each(|ids| reader.restrict(ids.iter().map(String::as_str)).unwrap());
            add_as(&mut reader, (&id, time, false), &batch, work)
        }
    };
    if !others.is_empty() && !matches!(way, Way::Versions) {
        assert!(said.unwrap_err().to_string().contains("with another text"));
        return "refused";
    }
    let (found, finished) = said.unwrap();
    let Finished::Now(added) = finished else { panic!("it is new") };
    let mut after: Vec<Text> = [stays.clone(), new.clone()].concat();
    after.sort();
    let (was, now) = (clusters(&old, model.similarity), clusters(&after, model.similarity));
    let earlier = pairs(&stays, model.similarity);
    let expected: Pairs = pairs(&after, model.similarity).difference(&earlier).cloned().collect();
    assert_eq!(found, expected);
    assert_eq!((added.added as usize, added.replaced as usize), (new.len(), others.len()));
    let of_changes =
        added.changes.iter().map(|change| [&change.id, &change.before, &change.now].map(|id| string(id)));
    assert_eq!(of_changes.collect::<Vec<_>>(), changes(&was, &now, &stays).collect::<Vec<_>>());
    let touched: BTreeSet<&String> = batch.iter().filter_map(|text| now.get(&text.0)).collect();
    let members =
        added.clusters.iter().flat_map(|(kept, of)| of.iter().map(|one| (string(&one.id), string(kept))));
    let expected = now.iter().filter(|(_, kept)| touched.contains(kept));
    assert_eq!(
        members.collect::<BTreeMap<_, _>>(),
        expected.map(|(id, kept)| (id.clone(), kept.clone())).collect()
    );
    let said = match way {
        Way::Adds => "add",
        Way::Versions if others.is_empty() => "add",
        Way::Versions => "versions",
        Way::Against(_, None) => return "against",
        Way::Against(_, Some(_)) => return "against some",
    };
    for text in new {
        model.documents.insert(text.0.clone(), (text, id.clone()));
    }
    model.batches.push(Sent { id, time, documents: batch, pairs: found.len(), has_answer: true });
    said
}

/// Forgets documents, or only looks at what it would do.
fn remove<D: Disk>(
    model: &mut Model,
    removal: Removal<'_, D>,
    goes: impl Fn(&String, &String) -> bool,
    chance: &mut Chance,
) -> &'static str {
    let was = model.clusters();
    let left: BTreeMap<String, (Text, String)> = model
        .documents
        .iter()
        .filter(|(id, (_, batch))| !goes(id, batch))
        .map(|(id, of)| (id.clone(), of.clone()))
        .collect();
    let documents: Vec<Text> = left.values().map(|(text, _)| text.clone()).collect();
    let now = clusters(&documents, model.similarity);
    assert_eq!(removal.forgotten() as usize, model.documents.len() - left.len());
    let found =
        removal.changes().iter().map(|change| [&change.id, &change.before, &change.now].map(|id| string(id)));
    assert_eq!(found.collect::<Vec<_>>(), changes(&was, &now, &documents).collect::<Vec<_>>());
    for change in removal.changes() {
        assert_eq!(change.is_orphan, !left.contains_key(&string(&change.before)), "{change:?}");
    }
    if chance.below(4) == 0 {
        return "looked";
    }
    removal.commit().unwrap();
    model.documents = left;
    "forget"
}

fn run(operations: usize) {
    let (mut counts, mut seed) = (Counts::new(), 0);
    let total = |counts: &Counts| {
        counts.iter().filter(|(name, _)| **name != "changed").map(|(_, count)| count).sum::<usize>()
    };
    while total(&counts) < operations {
        operate(seed, 50, &mut counts);
        seed += 1;
    }
    println!("{operations} operations: {counts:?}");
    for name in [
        "add", "against", "refused", "retry", "forget", "looked", "drop", "expire", "compact", "reopen",
        "changed",
    ] {
        assert!(counts.get(name).is_some_and(|count| *count > operations / 200), "{name} {counts:?}");
    }
}

/// The store holds what a list of documents would, whatever is done.
#[test]
fn a_store_is_a_list_of_documents() {
    run(3000);
}

/// The same a hundred thousand times: `make test-long`.
#[test]
#[ignore = "minutes"]
fn a_store_is_a_list_of_documents_for_long() {
    run(100_000);
}

#[test]
fn what_is_open_to_be_read_forgets_nothing() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("store");
    let mut store = Store::writable(&path, settings(jaccard(), 1 << 20)).unwrap();
    add(&mut store, "one", &family("a", 4), place.path()).unwrap();
    let mut reader = Store::open(&path, settings(jaccard(), 1 << 20)).unwrap();
    let removal = reader.forget([&b"a00"[..]]).unwrap();
    assert_eq!((removal.forgotten(), removal.changes().len()), (1, 3));
    assert!(matches!(removal.commit(), Err(Error::File { .. })));
    let error = |result: Result<Removal<'_, _>>| result.map(|_| ()).unwrap_err().to_string();
    assert!(error(store.drop_batches(["two"])).contains("has no batch two"));
    // What does nothing is no commit.
    let before = store.manifest().clone();
    store.forget([&b"nobody"[..]]).unwrap().commit().unwrap();
    assert_eq!(*store.manifest(), before);
}
