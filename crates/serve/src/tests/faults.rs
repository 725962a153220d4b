//! What is left of a service after a fault: of the power, of the disk, of single bytes.

use super::model::{self, seen};
use super::power::{Recorded, after_power_loss};
use crate::disk::{LogDisk, LogFolder};
use crate::document::{Document, Key, Refused, Verdict};
use crate::engine::Engine;
use crate::settings::{Comparison, Retention, Settings};
use crate::state::{Answer, Operation, State};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use twinsplit_core::similarity::Measure;
use twinsplit_core::sketch::simhash::Bits;
use twinsplit_io::error::Result;

fn put(folder: &Path, files: &BTreeMap<String, Vec<u8>>) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    files.iter().for_each(|(name, bytes)| fs::write(folder.join(name), bytes).unwrap());
    folder.to_owned()
}

fn settings(retention: Retention) -> Settings {
    let check = Some("jaccard:0.6".parse().unwrap());
    let comparison = Comparison::Fingerprints { bits: Bits::B64, distance: 3, check };
    Settings { comparison, retention, memory: 1 << 30, namespaces: 3 }
}

/// Fingerprints, or sets.
fn settings_of(seed: u8, retention: Retention) -> Settings {
    let sets = Comparison::Sets(Measure::Jaccard.reaching("0.6").unwrap());
    let settings = settings(retention);
    if seed.is_multiple_of(2) { settings } else { Settings { comparison: sets, ..settings } }
}

fn made_with() -> Vec<(&'static str, String)> {
    vec![("distance", "3".to_owned()), ("features", "words:3".to_owned())]
}

fn requests(seed: u8, count: usize) -> Vec<model::Asking> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let one = model::asked(&settings_of(seed, Retention::default()), 2);
    let mut all = Vec::new();
    while all.len() < count {
        all.extend(one.new_tree(&mut runner).unwrap().current());
    }
    let mut names = model::Names::default();
    for (operation, namespace, ..) in &mut all {
        *operation = names.put(*namespace, operation.clone());
    }
    all
}

/// After a power loss at every operation a restart has all that was synced and nothing that was not asked, a part of the requests from their beginning; and
/// goes on from there to the same end.
#[test]
fn after_power_loss_there_is_all_that_was_synced() {
    let place = tempfile::tempdir().unwrap();
    let mut chance = 5u64;
    let mut next = || {
        chance = twinsplit_core::hash::mix(chance + 1);
        (chance >> 8) as usize
    };
    let (mut cases, mut cut, mut lost) = (0, 0, 0);
    for seed in 0..6u8 {
        let retention = Retention {
            keep: (seed % 2 == 1).then_some(60),
            from_last_seen: seed % 4 == 3,
            most: (seed > 3).then_some(20),
        };
        let folder = place.path().join(format!("run-{seed}"));
        fs::create_dir(&folder).unwrap();
        let disk = Recorded::new(&folder, usize::MAX);
        let (mut engine, _) = Engine::open(disk.clone(), settings_of(seed, retention), made_with()).unwrap();
        // A state without a disk after each change, by their number, and what was on the disk when.
        let mut twin = State::new(settings_of(seed, retention));
        let mut again = State::new(settings_of(seed, retention));
        let mut states = vec![seen(&mut again, 0)];
        let mut synced = vec![(disk.log.lock().unwrap().len(), 0)];
        let mut now = 0;
        let mut changes: Vec<Vec<u8>> = Vec::new();
        let mut writer = None;
        for (number, (mut asked, namespace, _, passes)) in requests(seed, 160).into_iter().enumerate() {
            now += passes;
            let answer = engine.ask(now, &[namespace], &mut asked.clone());
            let mut made = Vec::new();
            let same = twin.ask(now, &[namespace], &mut asked, &mut |change| made.push(change.to_vec()));
            assert_eq!(answer, same);
            for change in made {
                changes.push(change);
                // Expiry is no change: what is said is that of the time of the change.
                again.replay(changes.last().unwrap()).unwrap();
                again.fill().unwrap();
                states.push(seen(&mut again, 0));
            }
            assert_eq!(engine.last() as usize, changes.len());
            match number % 7 {
                0 | 4 => engine.write().unwrap(),
                2 => engine.sync().unwrap(),
                _ => {}
            }
            if number % 50 == 20 {
                writer = Some(engine.begin_snapshot().unwrap().unwrap());
            }
            // Some documents at a time, while others come and go.
            if let Some(mut held) = writer.take() {
                match engine.step(5) {
                    Some((count, content)) => {
                        held.add(count, &content).unwrap();
                        writer = Some(held);
                    }
                    None => drop(held.finish().unwrap()),
                }
            }
            let done = disk.log.lock().unwrap().len();
            if number % 7 == 2 || number % 50 == 20 {
                synced.push((done, changes.len()));
            }
        }
        engine.sync().unwrap();
        drop(engine);
        let log = disk.log.lock().unwrap().clone();
        synced.push((log.len(), changes.len()));
        for at in synced[0].0..=log.len() {
            for _ in 0..2 {
                cases += 1;
                let files = after_power_loss(&log, at, &mut next);
                let folder = put(&place.path().join(format!("case-{cases}")), &files);
                let opened =
                    Engine::open(LogFolder(folder.clone()), settings_of(seed, retention), made_with());
                let (mut engine, recovered) =
                    opened.unwrap_or_else(|error| panic!("{seed}, {at} of {log:?}: {error}"));
                cut += usize::from(recovered.torn.is_some());
                let least = synced.iter().rfind(|(done, _)| *done <= at).unwrap().1;
                let last = engine.last() as usize;
                assert!((least..=changes.len()).contains(&last), "{seed}, {at}: {last}, synced {least}");
                lost += usize::from(last < changes.len());
                assert_eq!(engine_seen(&mut engine), states[last], "{seed}, {at}, {last}");
                // What is left of the requests leads to the same end.
                for change in &changes[last..] {
                    engine_replay(&mut engine, change);
                }
                assert_eq!(&engine_seen(&mut engine), states.last().unwrap());
                fs::remove_dir_all(&folder).unwrap();
            }
        }
        // The same folder, opened once more, and then from a snapshot alone.
        let open =
            || Engine::open(LogFolder(folder.clone()), settings_of(seed, retention), made_with()).unwrap();
        for _ in 0..3 {
            let (mut engine, recovered) = open();
            assert_eq!((recovered.torn, engine.last() as usize), (None, changes.len()));
            assert_eq!(&engine_seen(&mut engine), states.last().unwrap());
            engine.snapshot().unwrap();
        }
        let names = fs::read_dir(&folder).unwrap().count();
        assert_eq!(names, 3, "a lock, a snapshot, and an empty log");
    }
    println!("{cases} cases, {cut} with a torn tail, {lost} with changes that were not synced");
    assert!(cases > 800 && cut > 50 && lost > 500, "{cases} {cut} {lost}");
}

fn engine_seen<D: LogDisk>(engine: &mut Engine<D>) -> Vec<Answer> {
    seen(engine.state_mut(), 0)
}

fn engine_replay<D: LogDisk>(engine: &mut Engine<D>, change: &[u8]) {
    engine.state_mut().replay(change).unwrap();
    engine.state_mut().fill().unwrap();
}

/// A disk that fails at each operation in turn: the error is said, and what was synced before is there when the disk is mended.
#[test]
fn after_an_error_of_the_disk_there_is_all_that_was_synced() {
    let place = tempfile::tempdir().unwrap();
    let run = |folder: &Path, fails_at: usize| {
        let disk = Recorded::new(folder, fails_at);
        let log = disk.log.clone();
        let mut synced = 0;
        let work = || -> Result<()> {
            let (mut engine, _) = Engine::open(disk, settings(Retention::default()), made_with())?;
            for (number, (mut asked, namespace, ..)) in requests(9, 90).into_iter().enumerate() {
                engine.ask(number as u64, &[namespace], &mut asked);
                engine.sync()?;
                synced = engine.last();
                if number % 20 == 10 {
                    engine.snapshot()?;
                }
            }
            Ok(())
        };
        let done = work();
        (done, synced, log.lock().unwrap().len())
    };
    let whole = place.path().join("whole");
    fs::create_dir(&whole).unwrap();
    let (done, _, operations) = run(&whole, usize::MAX);
    done.unwrap();
    for fails_at in 0..operations {
        let folder = place.path().join("full");
        fs::create_dir(&folder).unwrap();
        let (done, synced, _) = run(&folder, fails_at);
        let error = done.unwrap_err().to_string();
        assert!(error.contains("make room there"), "{error}");
        let opened = Engine::open(LogFolder(folder.clone()), settings(Retention::default()), made_with());
        let (engine, _) = opened.unwrap_or_else(|error| panic!("{fails_at}: {error}"));
        assert!(engine.last() >= synced, "{fails_at}: {} of {synced}", engine.last());
        drop(engine);
        fs::remove_dir_all(&folder).unwrap();
    }
    println!("{operations} operations failed");
    assert!(operations > 100, "{operations}");
}

/// Bytes that are flipped in what was synced are refused, with the file and the place, or lie in the last records, of which nothing says that they
/// were synced.
#[test]
fn damage_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("run");
    fs::create_dir(&folder).unwrap();
    let open = || Engine::open(LogFolder(folder.clone()), settings(Retention::default()), made_with());
    let mut engine = open().unwrap().0;
    for (number, (mut asked, namespace, ..)) in requests(3, 200).into_iter().enumerate() {
        engine.ask(number as u64, &[namespace], &mut asked);
        engine.sync().unwrap();
        if number == 100 {
            engine.snapshot().unwrap();
        }
    }
    let (all, last) = (engine_seen(&mut engine), engine.last());
    drop(engine);
    let names: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let files: Vec<(PathBuf, Vec<u8>)> = names
        .into_iter()
        .filter(|path| !path.ends_with("lock"))
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    let (mut refused, mut cut, mut chance) = (0, 0, 1u64);
    for _ in 0..600 {
        chance = twinsplit_core::hash::mix(chance);
        let (path, good) = &files[chance as usize % files.len()];
        let mut bad = good.clone();
        let place = (chance >> 16) as usize % bad.len();
        bad[place] ^= 1 << (chance >> 60 & 7);
        fs::write(path, &bad).unwrap();
        match open() {
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains(&*path.file_name().unwrap().to_string_lossy()), "{error}");
                refused += 1;
            }
            Ok((engine, recovered)) => {
                // The last record alone.
                assert_eq!(
                    (engine.last(), recovered.torn.is_some()),
                    (last - 1, true),
                    "{place} of {path:?}"
                );
                cut += 1;
            }
        }
        for entry in fs::read_dir(&folder).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        files.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    }
    println!("{refused} refused, {cut} cut");
    assert!(refused > 500 && cut > 0, "{refused} {cut}");
    assert_eq!(engine_seen(&mut open().unwrap().0), all);
}

/// What is not this version's, not these options', somebody else's or in use is refused by name.
#[test]
fn folders_that_do_not_fit_are_refused_by_name() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("run");
    fs::create_dir(&folder).unwrap();
    let open = |made_with| Engine::open(LogFolder(folder.clone()), settings(Retention::default()), made_with);
    let refused = |made_with| open(made_with).err().unwrap().to_string();
    let (mut engine, _) = open(made_with()).unwrap();
    assert!(refused(made_with()).contains("another service has this folder"));
    let (mut asked, ..) = requests(1, 1).remove(0);
    engine.ask(1, b"a", &mut asked);
    engine.sync().unwrap();
    drop(engine);
    let other = refused(vec![("distance", "5".to_owned())]);
    assert!(
        other.contains("made with --distance 3 where --distance 5 is asked for")
            && other.contains("another folder"),
        "{other}"
    );
    // A later format has a line that is whole.
    let path = folder.join("log-00000000000000000001");
    let (head, lines) = twinsplit_io::checked_file::CheckedWriter::start(
        "service-log",
        &[("service-format", "3".to_owned())],
    );
    fs::write(&path, [&head[..], b"\n", &lines.end(), b"\n"].concat()).unwrap();
    let later = refused(made_with());
    assert!(
        later.contains("it is of format 3 of services, and this version of twinsplit reads 1 and 2"),
        "{later}"
    );
    fs::write(folder.join("notes.txt"), "mine").unwrap();
    assert!(refused(made_with()).contains("holds notes.txt"));
}

/// What was kept while the log was written is what a restart makes again, whatever is kept from then on.
#[test]
fn retention_changes_with_a_restart() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("run");
    fs::create_dir(&folder).unwrap();
    let kept = |keep| Retention { keep: Some(keep), ..Retention::default() };
    let open = |keep| Engine::open(LogFolder(folder.clone()), settings(kept(keep)), made_with()).unwrap().0;
    let mut engine = open(1000);
    let mut last = 0;
    for (mut asked, ..) in requests(4, 120) {
        last += 4;
        engine.ask(last, b"a", &mut asked);
    }
    engine.sync().unwrap();
    let before = engine.ask(last, b"a", &mut Operation::Count);
    drop(engine);
    let mut engine = open(100);
    let Answer::Count(few, _) = engine.ask(last, b"a", &mut Operation::Count) else { panic!("a count") };
    let Answer::Count(many, _) = before else { panic!("a count") };
    assert!(0 < few && few < many, "{few} of {many}");
    engine.sync().unwrap();
    drop(engine);
    let again = open(100).ask(last, b"a", &mut Operation::Count);
    assert_eq!(
        again,
        Answer::Count(
            few,
            match again {
                Answer::Count(_, kept) => kept,
                _ => panic!(),
            }
        )
    );
}

/// A namespace that is read-only is so after a restart, of the log and of a snapshot, until that is ended.
#[test]
fn what_is_read_only_is_so_after_a_restart() {
    let place = tempfile::tempdir().unwrap();
    let settings = || settings(Retention::default());
    let open = || Engine::open(LogFolder(place.path().to_owned()), settings(), made_with()).unwrap().0;
    let document = Document { key: Key::Text(7), digest: 7, content: None };
    let add = |engine: &mut Engine<LogFolder>, namespace: &[u8], id: &[u8]| {
        engine.ask(1, namespace, &mut Operation::CheckAdd(id.into(), document.clone()))
    };
    let refused = Answer::Refused(Refused::ReadOnly);
    let mut engine = open();
    assert_eq!(add(&mut engine, b"a", b"1"), Answer::Verdict(Verdict::New));
    assert_eq!(engine.ask(1, b"a", &mut Operation::ReadOnly(true)), Answer::ReadOnly(true));
    for with_snapshot in [false, true, false] {
        engine.sync().unwrap();
        if with_snapshot {
            engine.snapshot().unwrap();
        }
        drop(engine);
        engine = open();
        assert_eq!(add(&mut engine, b"a", b"2"), refused);
        assert_eq!(engine.ask(1, b"a", &mut Operation::Delete(b"1"[..].into())), refused);
        assert_eq!(add(&mut engine, b"a", b"1"), Answer::Verdict(Verdict::New), "a retry changes nothing");
        assert!(matches!(add(&mut engine, b"b", b"2"), Answer::Verdict(_)), "another namespace");
    }
    assert_eq!(engine.ask(1, b"a", &mut Operation::ReadOnly(false)), Answer::ReadOnly(false));
    engine.sync().unwrap();
    drop(engine);
    assert!(matches!(add(&mut open(), b"a", b"2"), Answer::Verdict(Verdict::Duplicate { .. })));
}
