//! What a snapshot holds is what there was: whatever was asked before it, a restart reads it.

use super::model::{Names, asked, seen, settings};
use crate::disk::LogFolder;
use crate::engine::Engine;
use crate::runs::Mode;
use crate::state::{Answer, Operation};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::path::Path;

/// Opens the folder anew, and compares what there is with what there was when the engine wrote its snapshot and ended.
fn restarted(
    folder: &Path,
    mut engine: Engine<LogFolder>,
    settings: &crate::settings::Settings,
) -> Engine<LogFolder> {
    engine.snapshot().unwrap();
    let now = engine.state().now();
    let before = seen(engine.state_mut(), now);
    drop(engine);
    let (mut engine, _) = Engine::open(LogFolder(folder.to_owned()), settings.clone(), Vec::new()).unwrap();
    assert_eq!(seen(engine.state_mut(), now), before);
    engine
}

/// Snapshots between random requests, runs among them that bring the same ids.
#[test]
fn a_restart_reads_every_snapshot() {
    let mut runner = TestRunner::deterministic();
    let (mut snapshots, mut twins) = (0, 0);
    for _ in 0..40 {
        let place = tempfile::tempdir().unwrap();
        let settings = settings().new_tree(&mut runner).unwrap().current();
        let all = asked(&settings, 200).new_tree(&mut runner).unwrap().current();
        let opened = Engine::open(LogFolder(place.path().to_owned()), settings.clone(), Vec::new());
        let (mut engine, mut names) = (opened.unwrap().0, Names::default());
        for (number, (operation, namespace, _, passes)) in all.into_iter().enumerate() {
            let mut operation = names.put(namespace, operation);
            let now = engine.state().now() + passes;
            engine.ask(now, &[namespace], &mut operation);
            if number % 10 == 9 {
                twins += usize::from(has_twins(&engine, namespace));
                snapshots += 1;
                engine = restarted(place.path(), engine, &settings);
            }
        }
    }
    assert!(
        snapshots > 300 && twins > 10,
        "{snapshots} snapshots, {twins} of them with an id that two documents have"
    );
}

/// Whether two documents have one id, of which one counts for all and the other is of an isolated run that is open.
fn has_twins(engine: &Engine<LogFolder>, namespace: u8) -> bool {
    let Some(held) = engine.state().get(&[namespace]) else { return false };
    let isolated = |run: u32| held.runs.is_isolated(run);
    let of_all: std::collections::BTreeSet<&[u8]> =
        held.entries.all().filter(|entry| !isolated(entry.run())).map(|entry| entry.id()).collect();
    held.entries.all().any(|entry| isolated(entry.run()) && of_all.contains(entry.id()))
}

/// Two isolated runs bring one id. The first one is committed, so its document counts for all, and the second one still has its own.
#[test]
fn a_committed_document_and_one_of_an_open_run_may_have_the_same_id() {
    let place = tempfile::tempdir().unwrap();
    let mut runner = TestRunner::deterministic();
    let settings = settings().new_tree(&mut runner).unwrap().current();
    let document = super::model::documents(settings.comparison).new_tree(&mut runner).unwrap().current();
    let opened = Engine::open(LogFolder(place.path().to_owned()), settings.clone(), Vec::new());
    let mut engine = opened.unwrap().0;
    let run = |name: &str| name.as_bytes().into();
    for name in ["one", "two"] {
        engine.ask(0, b"n", &mut Operation::Begin(run(name), Mode::Isolated));
        let add = Operation::CheckAdd(b"page".as_slice().into(), document.clone());
        let answer = engine.ask(0, b"n", &mut Operation::InRun(run(name), Box::new(add)));
        assert!(matches!(answer, Answer::Verdict(_)), "{answer:?}");
    }
    assert!(matches!(engine.ask(0, b"n", &mut Operation::Commit(run("one"))), Answer::Committed(_)));
    let mut engine = restarted(place.path(), engine, &settings);
    assert!(matches!(engine.ask(0, b"n", &mut Operation::Commit(run("two"))), Answer::Committed(_)));
    restarted(place.path(), engine, &settings);
}
