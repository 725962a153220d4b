//! Runs that are stopped.

use super::id;
use crate::{Dedup, Error, Phase};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Wherever in a run it comes: it is stopped, nobody waits, and no file stays.
#[test]
fn a_run_is_cancelled_in_each_phase() {
    let texts: Vec<String> = (0..400usize)
        .map(|n| {
            (0..30).map(|at| format!("w{}", (at * (1 + n % 9) + n / 5) % 70)).collect::<Vec<_>>().join(" ")
        })
        .collect();
    let documents = || (0..).map(id).zip(&texts);
    let mut stopped = 0;
    for (chain, options) in [
        ("doc-split", &[][..]),
        ("doc-split", &[("cluster", "star")]),
        ("doc-split", &[("cluster", "star"), ("write", "clusters")]),
        ("term-split", &[("pcp", "prefix")]),
        ("term-split", &[("pcp", "plain")]),
        ("minhash", &[("bands", "64"), ("rows", "1")]),
        ("simhash", &[("distance", "3")]),
        ("ccdet", &[]),
        ("i-match", &[]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let dedup = Dedup::new().features("words:2").unwrap().chain(chain).unwrap().folder(folder.path());
        let dedup = options.iter().fold(dedup, |dedup, (name, value)| dedup.option(name, value).unwrap());
        for threads in [1, 2] {
            let phases = Arc::new(Mutex::new(Vec::new()));
            let told = phases.clone();
            let dedup = dedup.clone().threads(threads);
            let whole = dedup.clone().on_progress(move |phase, _| told.lock().unwrap().push(name_of(phase)));
            drop(whole.run(documents()).unwrap());
            let phases = std::mem::take(&mut *phases.lock().unwrap());
            assert!(phases.len() > 2, "{chain}: {phases:?}");
            let end = phases.last().cloned();
            for phase in phases {
                let stop = Arc::new(AtomicBool::new(false));
                let (flag, last) = (stop.clone(), phase.clone());
                let dedup = dedup.clone().cancelled_by(&stop).on_progress(move |phase, _| {
                    flag.fetch_or(name_of(phase) == last, Ordering::Relaxed);
                });
                match dedup.run(documents()) {
                    Err(Error::Cancelled) => stopped += 1,
                    // What is told last may be told at its end.
                    Ok(_) => assert_eq!(Some(&phase), end.as_ref(), "{chain} went on"),
                    Err(other) => panic!("{chain}: {phase}: {other}"),
                }
                let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
                assert!(left.is_empty(), "{chain}: {phase} leaves {left:?}");
            }
        }
    }
    assert!(stopped > 60, "{stopped}");
}

fn name_of(phase: &Phase) -> String {
    format!("{} {}", phase.step, phase.doing)
}

/// A store stays as it was, and the same batch can come again.
#[test]
fn a_cancelled_batch_leaves_its_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("news.store");
    let dedup = Dedup::new().features("words:1").unwrap();
    let first = [("a", "one two three"), ("b", "four five six")];
    dedup.clone().store(&store, Some("monday")).run(first).unwrap();
    let second = || (0..50).map(|number| (format!("c{number}"), "one two three"));
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let stopped = dedup.clone().store(&store, Some("tuesday")).cancelled_by(&stop);
    let stopped = stopped.on_progress(move |_, _| flag.store(true, Ordering::Relaxed)).run(second());
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
    let against = dedup.clone().against(&store).run([("x", "one two three")]).unwrap();
    assert_eq!(against.pairs().unwrap().count(), 1);
    let again = dedup.store(&store, Some("tuesday")).run(second()).unwrap();
    assert_eq!(again.pairs().unwrap().count(), 50 * 49 / 2 + 50);
}
