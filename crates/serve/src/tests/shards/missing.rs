//! What is told where a part is missing: a shard, some of the log, an agreement on options.

use super::broker::Random;
use super::settings;
use super::world::World;
use crate::asked::Answer;
use crate::document::{Document, Key, Refused, Verdict};
use crate::shards::request::{Kind, Request};
use crate::shards::topics::Partition;
use std::time::Duration;
use twinsplit_core::hash::mix;

fn request(id: u64, value: u128) -> Request {
    let document = Document { key: Key::Fingerprint { value, most: 3 }, digest: value as u64, content: None };
    let id = id.to_string().into_bytes();
    Request { kind: Kind::CheckAdd, namespace: b"n".as_slice().into(), id: id.into(), document }
}

/// Fingerprints that are near no other one of these.
fn far(id: u64) -> u128 {
    mix(id).into()
}

fn world(shards: usize) -> World {
    let world = World::new(settings(false, false, None), shards, 4, 7);
    world.nodes.lock().unwrap().fails = false;
    world
}

fn problem(answer: &Answer) -> &str {
    let Answer::Refused(Refused::Unanswered(problem)) = answer else { panic!("{answer:?}") };
    problem
}

/// A shard that is missing is an error that names it, never an answer without its part; and when it is back, the same request has its verdict.
#[test]
fn a_shard_that_is_missing_is_named() {
    for shard in 0..3 {
        let mut world = world(3);
        let mut front = world.front(false);
        for id in 0..10 {
            let answer = front.ask(&[request(id, far(id))]);
            assert_eq!(answer, [(Some(id), Answer::Verdict(Verdict::New))]);
        }
        world.nodes.lock().unwrap().down.insert(shard);
        while world.nodes.lock().unwrap().is_there(shard) {
            world.nodes.lock().unwrap().work();
        }
        world.patience = Duration::from_millis(60);
        let mut impatient = world.front(false);
        // One is like what each shard holds, and one is like nothing.
        for (id, value) in [(10, far(1) ^ 1), (11, far(2) ^ 2), (12, far(3) ^ 4), (13, far(13))] {
            let answers = impatient.ask(&[request(id, value)]);
            let expected =
                format!("UNANSWERED shard {shard} of 3 has not answered record 10 of the log within 60 ms");
            assert!(problem(&answers[0].1).starts_with(&expected), "{answers:?}");
        }
        world.nodes.lock().unwrap().down.clear();
        for (id, value, of) in [(10, far(1) ^ 1, "1"), (11, far(2) ^ 2, "2"), (12, far(3) ^ 4, "3")] {
            let (_, answer) = world.ask_until_answered(&request(id, value));
            let Answer::Verdict(Verdict::Duplicate { id, .. }) = answer else { panic!("{answer:?}") };
            assert_eq!(&*id, of.as_bytes());
        }
        let (_, answer) = world.ask_until_answered(&request(13, far(13)));
        assert_eq!(answer, Answer::Verdict(Verdict::New));
    }
}

/// Of many equal and near documents that several fronts put into the log at one moment, one is kept.
#[test]
fn of_a_race_one_is_kept() {
    for seed in 0..40 {
        let mut world = World::new(settings(false, false, None), 4, 4, seed);
        let mut random = Random(seed);
        let all: Vec<Request> = (0..12).map(|id| request(id, 1 << random.below(2))).collect();
        let mut fronts = [world.front(false), world.front(false)];
        let said: Vec<Answer> = all
            .chunks(3)
            .zip((0..2).cycle())
            .flat_map(|(some, front)| fronts[front].ask(some))
            .map(|(_, answer)| answer)
            .collect();
        let new = said.iter().filter(|answer| **answer == Answer::Verdict(Verdict::New)).count();
        assert_eq!((new, said.len()), (1, 12), "{said:?}");
    }
}

/// A front of other options is told so, and so is one that reads answers of other nodes.
#[test]
fn other_options_are_refused() {
    let mut world = world(2);
    let mut right = world.front(false);
    assert_eq!(right.ask(&[request(0, 1)]), [(Some(0), Answer::Verdict(Verdict::New))]);
    let sharding = world.sharding.clone();
    world.patience = Duration::from_millis(60);
    world.sharding.made_with = vec![("distance", "2".to_owned())];
    let mut wrong = world.front(false);
    let answers = wrong.ask(&[request(1, 2)]);
    assert!(problem(&answers[0].1).contains("was made with other options than this process"), "{answers:?}");
    // What it has put into the log changes nothing for others, nor do answers of a node of other options.
    let mut nodes = world.nodes.lock().unwrap();
    nodes.answers_of_others(&world.sharding, 1);
    drop(nodes);
    world.sharding = sharding;
    let answers = right.ask(&[request(1, 1 << 20)]);
    assert_eq!(
        answers,
        [(
            Some(2),
            Answer::Verdict(Verdict::Duplicate {
                id: b"0".as_slice().into(),
                distance: Some(2),
                measure: crate::document::Measure::Hamming,
                pending: None,
            })
        )]
    );
}

/// A log that begins behind what a snapshot needs is refused, with both offsets.
#[test]
fn a_log_that_was_cut_is_refused() {
    let mut world = world(2);
    let mut front = world.front(false);
    (0..10).for_each(|id| drop(front.ask(&[request(id, far(id))])));
    world.broker.lock().unwrap().starts.insert(Partition::Log, 6);
    let error = world.nodes.lock().unwrap().open_anew(0).unwrap_err().to_string();
    assert!(error.starts_with("the log begins at offset 6, and this folder needs it from 0 on"), "{error}");
    world.broker.lock().unwrap().starts.clear();
    world.broker.lock().unwrap().starts.insert(Partition::Answers(1), 1);
    let error = world.nodes.lock().unwrap().open_anew(0).unwrap_err().to_string();
    assert!(error.starts_with("the partition of shard 1's answers begins at offset 1"), "{error}");
}
