//! What is left of a store after a fault: of the power, of the disk, of single bytes.

use super::*;
use crate::disk::Folder;
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use twinsplit_io::error::Error;

/// A disk that remembers what was asked of it, and fails where it is told to.
struct Recorded {
    folder: Folder,
    log: Rc<RefCell<Vec<Asked>>>,
    /// From so many operations on, those of this kind fail.
    fails_at: usize,
    fails: Fails,
}

/// What a disk does no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fails {
    Everything,
    /// It is full: what is removed is.
    Writes,
}

/// What was asked of a disk.
#[derive(Clone, Debug)]
enum Asked {
    Write(String, Vec<u8>),
    Rename(String, String),
    Sync,
    Remove(String),
}

impl Recorded {
    fn ask(&self, asked: Asked) -> Result<()> {
        let mut log = self.log.borrow_mut();
        let is_hit = self.fails == Fails::Everything || matches!(asked, Asked::Write(..));
        if log.len() >= self.fails_at && is_hit {
            return Err(Error::io("write", self.folder.path())(std::io::ErrorKind::StorageFull.into()));
        }
        log.push(asked);
        Ok(())
    }
}

impl Disk for Recorded {
    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&mut self, name: &str, pieces: &[&[u8]]) -> Result<()> {
        self.ask(Asked::Write(name.to_owned(), pieces.concat()))?;
        self.folder.write(name, pieces)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<()> {
        self.ask(Asked::Rename(from.to_owned(), to.to_owned()))?;
        self.folder.rename(from, to)
    }

    fn sync(&mut self) -> Result<()> {
        self.ask(Asked::Sync)?;
        self.folder.sync()
    }

    fn remove(&mut self, name: &str) -> Result<()> {
        self.ask(Asked::Remove(name.to_owned()))?;
        self.folder.remove(name)
    }
}

/// What a disk may hold after its power has failed: the files of before, what was asked up to some point, and of names that were not synced any; the file
/// that was being written is cut anywhere, or has other bytes.
fn after_power_loss(
    before: &BTreeMap<String, Vec<u8>>,
    log: &[Asked],
    at: usize,
    chance: &mut u64,
) -> BTreeMap<String, Vec<u8>> {
    let mut next = || {
        *chance = twinsplit_core::hash::mix(*chance + 1);
        *chance
    };
    let mut durable = before.clone();
    let mut pending: Vec<Asked> = Vec::new();
    let apply = |files: &mut BTreeMap<String, Vec<u8>>, asked: &Asked| match asked {
        Asked::Write(name, bytes) => drop(files.insert(name.clone(), bytes.clone())),
        Asked::Rename(from, to) => {
            if let Some(bytes) = files.remove(from) {
                files.insert(to.clone(), bytes);
            }
        }
        Asked::Remove(name) => drop(files.remove(name)),
        Asked::Sync => {}
    };
    for asked in &log[..at] {
        match asked {
            Asked::Sync => pending.drain(..).for_each(|asked| apply(&mut durable, &asked)),
            other => pending.push(other.clone()),
        }
    }
    // Of names that are not synced some are there and some not, in whatever order.
    for asked in &pending {
        if next() % 2 == 0 {
            apply(&mut durable, asked);
        }
    }
    if let Some(Asked::Write(name, bytes)) = log.get(at) {
        let end = next() as usize % (bytes.len() + 1);
        let mut torn = bytes[..end].to_vec();
        if let (0, Some(last)) = (next() % 2, torn.last_mut()) {
            *last ^= 0x55;
        }
        if next() % 2 == 0 {
            durable.insert(name.clone(), torn);
        }
    }
    durable
}

fn put(folder: &Path, files: &BTreeMap<String, Vec<u8>>) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    files.iter().for_each(|(name, bytes)| fs::write(folder.join(name), bytes).unwrap());
    folder.to_owned()
}

/// What is asked of a store.
enum Step {
    Add(&'static str, u64),
    /// Other texts of documents of a family.
    Versions(&'static str, u64),
    Forget(Vec<&'static str>),
    Drop(&'static str),
    Compact,
}

impl Step {
    fn take<D: Disk>(&self, store: &mut Store<D>, work: &Path) -> Result<()> {
        match self {
            Step::Add(prefix, count) => add(store, prefix, &family(prefix, *count), work).map(drop),
            Step::Versions(prefix, count) => {
                let mut texts = family(prefix, *count);
                texts.iter_mut().for_each(|text| text.1 += 1000);
                add_as(store, ("versions", Date::of_number("0").unwrap(), true), &texts, work).map(drop)
            }
            Step::Forget(ids) => store.forget(ids.iter().map(|id| id.as_bytes()))?.commit(),
            // Whoever drops it again is told that it is not there.
            Step::Drop(id) if store.manifest().batch(id).is_none() => Ok(()),
            Step::Drop(id) => store.drop_batches([*id])?.commit(),
            Step::Compact => store.compact(Some(1)).map(drop),
        }
    }
}

/// What a store holds: the documents with their texts, the clusters, and how many answers and forgotten documents.
type Contents = (BTreeSet<(String, u128)>, BTreeMap<String, String>, usize, usize);

fn contents<D: Disk>(store: &Store<D>) -> Contents {
    let texts = |segment: &Arc<Segment>| {
        let texts: Vec<_> = segment.living().map(|at| (string(segment.id(at)), segment.text(at))).collect();
        texts
    };
    let texts = store.segments.iter().flat_map(texts);
    let answers = store.manifest().batches.iter().filter(|batch| batch.answer.is_some()).count();
    let forgotten = store.segments.iter().map(|segment| segment.forgotten().len()).sum();
    (texts.collect(), held(store), answers, forgotten)
}

/// At every operation of a commit the power fails, or the disk: then the store is that of before or that of after, and takes the step again.
#[test]
fn after_a_fault_the_store_is_the_old_or_the_new_one() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("store");
    // Small, so that a batch is several segments, and merges happen.
    let settings = || settings(jaccard(), 6000);
    let steps = [
        Step::Add("a", 7),
        Step::Add("b", 9),
        Step::Forget(vec!["a00", "a04", "b03", "nobody"]),
        Step::Add("c", 4),
        Step::Versions("c", 6),
        Step::Forget(vec!["b01", "c00"]),
        Step::Compact,
        Step::Drop("b"),
        Step::Compact,
    ];
    let mut before = BTreeMap::new();
    let (mut cases, mut olds, mut news) = (0, 0, 0);
    let mut chance = 7;
    for (number, step) in steps.iter().enumerate() {
        let log = Rc::new(RefCell::new(Vec::new()));
        fs::create_dir_all(&path).unwrap();
        let disk = Recorded {
            folder: Folder(path.clone()),
            log: log.clone(),
            fails_at: usize::MAX,
            fails: Fails::Everything,
        };
        let mut store = Store::on(disk, settings(), true).unwrap();
        let (old, commit) = (contents(&store), store.manifest().number);
        step.take(&mut store, place.path()).unwrap();
        let new = contents(&store);
        assert_ne!(old, new);
        drop(store);
        let log = log.borrow().clone();
        for at in 0..=log.len() {
            for _ in 0..6 {
                cases += 1;
                let files = after_power_loss(&before, &log, at, &mut chance);
                let folder = put(&place.path().join(format!("case-{cases}")), &files);
                let mut store = Store::writable(&folder, settings()).unwrap();
                store.verify().unwrap();
                let is_new = store.manifest().number > commit;
                assert_eq!(
                    contents(&store),
                    if is_new { new.clone() } else { old.clone() },
                    "{at} of {log:?}"
                );
                // What was acknowledged stays.
                assert!(is_new || at < log.len());
                olds += usize::from(!is_new);
                news += usize::from(is_new);
                step.take(&mut store, place.path()).unwrap();
                assert_eq!(contents(&store), new);
                // What failed commits have left goes with the next one; a step that was taken already makes none.
                assert!(is_new || left(&store, &folder).is_empty(), "{:?}", left(&store, &folder));
                drop(store);
                fs::remove_dir_all(&folder).unwrap();
            }
            // An error of the disk.
            for fails in [Fails::Everything, Fails::Writes] {
                let folder = put(&place.path().join("full"), &before);
                let disk =
                    Recorded { folder: Folder(folder.clone()), log: Rc::default(), fails_at: at, fails };
                let mut store = Store::on(disk, settings(), true).unwrap();
                let failed = step.take(&mut store, place.path());
                let has_writes = log[at..].iter().any(|asked| matches!(asked, Asked::Write(..)));
                assert_eq!(failed.is_err(), if fails == Fails::Writes { has_writes } else { at < log.len() });
                // Where there was no room for all of a commit, what was there of it gives its room back.
                assert!(
                    fails == Fails::Everything || left(&store, &folder).is_empty(),
                    "{:?}",
                    left(&store, &folder)
                );
                drop(store);
                let store = Store::open(&folder, settings());
                if let Ok(store) = &store {
                    store.verify().unwrap();
                    assert!([&old, &new].contains(&&contents(store)));
                }
                assert!(store.is_ok() || number == 0);
                fs::remove_dir_all(&folder).unwrap();
            }
        }
        before = files_of(&path);
    }
    println!("{cases} cases: {olds} of before, {news} of after");
    assert!(cases > 300 && olds > 60 && news > 60, "{cases} {olds} {news}");
}

/// What readers say of a store: its entries, and pairs and clusters of a batch that is compared with it.
fn read(path: &Path, work: &Path) -> Result<(Vec<String>, Pairs, String)> {
    let mut store = Store::open(path, settings(jaccard(), 1 << 20))?;
    let mut entries = Vec::new();
    store.each_entry(|entry| {
        entries.push(format!("{entry:?}"));
        Ok(())
    })?;
    let mut batch = family("a", 14);
    batch.extend(family("c", 3));
    let (pairs, finished) = add(&mut store, "new", &batch, work)?;
    Ok((entries, pairs, format!("{finished:?}")))
}

/// A thousand flipped bytes: each is refused by whoever reads it, or lies where nothing is read. Nothing is made of it.
#[test]
fn damage_is_refused_or_harmless() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("store");
    let mut store = Store::writable(&path, settings(jaccard(), 1 << 20)).unwrap();
    add(&mut store, "one", &family("a", 12), place.path()).unwrap();
    add(&mut store, "two", &family("b", 12), place.path()).unwrap();
    store.forget([&b"a00"[..], b"b07"]).unwrap().commit().unwrap();
    let good = contents(&store);
    drop(store);
    let answer = read(&path, place.path()).unwrap();
    assert!(answer.0.len() == 22 && answer.1.len() > 10);
    let files = files_of(&path);
    let compacted = |path: &Path| {
        let mut store = Store::writable(path, settings(jaccard(), 1 << 20))?;
        store.compact(None)?;
        drop(store);
        let store = Store::open(path, settings(jaccard(), 1 << 20))?;
        store.verify()?;
        let rows = read(path, place.path())?;
        Ok::<_, Error>((contents(&store), rows))
    };
    let other = place.path().join("other");
    let whole = compacted(&put(&other, &files)).unwrap();
    let (mut refused, mut harmless, mut unread) = (0, 0, 0);
    let mut chance = 1;
    let all: Vec<(&String, usize)> =
        files.iter().filter(|file| *file.0 != "lock").map(|(name, bytes)| (name, bytes.len())).collect();
    for number in 0..1000 {
        chance = twinsplit_core::hash::mix(chance);
        let (name, bytes) = all[chance as usize % all.len()];
        let mut bad = files[name].clone();
        bad[(chance >> 20) as usize % bytes] ^= 1 << (chance >> 60 & 7);
        fs::write(path.join(name), &bad).unwrap();
        let is_damaged = match Store::open(&path, settings(jaccard(), 1 << 20))
            .and_then(|store| store.verify().map(|_| contents(&store)))
        {
            Err(_) => true,
            Ok(found) => {
                assert_eq!(found, good);
                false
            }
        };
        *(if is_damaged { &mut refused } else { &mut harmless }) += 1;
        match read(&path, place.path()) {
            Err(error) => assert!(is_damaged, "{name}: {error}"),
            Ok(found) => {
                assert_eq!(found, answer, "{name}");
                unread += usize::from(is_damaged);
            }
        }
        if number % 8 == 0 {
            fs::remove_dir_all(&other).unwrap();
            let mut files = files.clone();
            files.insert(name.clone(), bad);
            if let Ok(found) = compacted(&put(&other, &files)) {
                assert_eq!(found, whole, "{name}");
            }
        }
        fs::write(path.join(name), &files[name]).unwrap();
    }
    println!("{refused} refused, of which a batch reads {}, {harmless} harmless", refused - unread);
    assert!(refused > 100 && unread < refused / 2, "{refused} {unread}");
}
