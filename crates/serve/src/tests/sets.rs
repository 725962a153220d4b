//! Sets of features, over sockets: what is said of them, in both protocols.

use super::client::{Client, Value, new};
use super::serving::{Serving, http_options, sketching};
use crate::decider::Fsync;
use crate::sketch::{Sketched, Sketching};
use serde_json::json;
use std::collections::BTreeMap;
use std::thread;
use twinsplit_core::similarity::Measure;

/// Words as features, by a similarity.
fn serving(measure: Measure, tau: &str) -> Serving {
    let sketched = Sketched::Sets(measure.reaching(tau).unwrap());
    Serving::of(http_options(), Sketching { sketched, ..sketching(None) }, Fsync::Off)
}

fn bulk(text: &str) -> Value {
    Value::Bulk(text.to_owned())
}

fn duplicate(id: &str, measure: &str) -> Value {
    Value::Array(vec![bulk("DUPLICATE"), bulk(id), Value::Null, bulk(measure)])
}

fn ask(client: &mut Client, id: &str, text: &str) -> Value {
    let request = ["FP.CHECKADD", "n", id, "TEXT", text].map(str::to_owned).to_vec();
    client.ask_all(&[request]).unwrap().remove(0)
}

/// A pair on the threshold is one, and there is no distance; texts with too few features are compared as a whole.
#[test]
fn a_verdict_tells_the_similarity_and_no_distance() {
    let serving = serving(Measure::Jaccard, "0.5");
    let mut client = serving.client();
    assert_eq!(ask(&mut client, "a", "one two three"), new());
    // 3 of 6, and 3 of 7.
    assert_eq!(ask(&mut client, "b", "one two three four five six"), duplicate("a", "jaccard:0.500000"));
    assert_eq!(ask(&mut client, "c", "one two three four five six seven"), new());
    // Both are alike enough, and the first one is named.
    assert_eq!(ask(&mut client, "d", "six five four three two one"), duplicate("a", "jaccard:0.500000"));
    assert_eq!(ask(&mut client, "d", "six five four three two one"), duplicate("a", "jaccard:0.500000"));
    assert_eq!(ask(&mut client, "s", "one two"), new());
    assert_eq!(ask(&mut client, "t", "ONE  two"), super::client::duplicate("s", 0, "equal-text"));
    assert_eq!(ask(&mut client, "u", "two one"), new());
    let Value::Error(error) = client.ask("FP.CHECK n FP 00000000000000ff") else { panic!("an answer") };
    assert!(error.contains("--chain doc-split") && error.contains("TEXT"), "{error}");
    let number = Value::Number;
    let why = vec![
        bulk("first"),
        new(),
        bulk("second"),
        new(),
        bulk("features_first"),
        number(3),
        bulk("features_second"),
        number(7),
        bulk("features_shared"),
        number(3),
        bulk("similarity"),
        bulk("0.428571"),
        bulk("alike"),
        bulk("no"),
    ];
    assert_eq!(client.ask("FP.WHY n a c"), Value::Array(why));
    // What had dropped two goes, and one of these is kept then.
    assert_eq!(client.ask("FP.DEL n a"), Value::Array(vec![bulk("b"), bulk("d")]));
    assert_eq!(ask(&mut client, "b", "one two three four five six"), duplicate("c", "jaccard:0.857143"));

    let mut http = serving.http();
    let body = json!({ "id": "e", "text": "one two three four five six" });
    let verdict = json!({ "verdict": "DUPLICATE", "of": "c", "measure": "jaccard:0.857143" });
    assert_eq!(http.post("/v1/n/check-add", body).json(), verdict);
    let why = json!({
        "first": { "verdict": "NEW" }, "second": verdict, "features_first": 7, "features_second": 6,
        "features_shared": 6, "similarity": 0.857143, "alike": true,
    });
    assert_eq!(http.post("/v1/n/why", json!({ "first": "c", "second": "e" })).json(), why);
}

/// The document that comes is the query: it is a duplicate where enough of it stands in one that is kept, and not the other way round.
#[test]
fn what_is_held_by_a_longer_one_is_a_duplicate() {
    let serving = serving(Measure::QueryContainment, "0.75");
    let mut client = serving.client();
    let long = "one two three four five six seven eight nine ten";
    assert_eq!(ask(&mut client, "part", "one two three"), new());
    assert_eq!(ask(&mut client, "whole", long), new());
    assert_eq!(
        ask(&mut client, "other", "seven eight nine eleven"),
        duplicate("whole", "query-containment:0.750000")
    );
    assert_eq!(ask(&mut client, "more", "seven eight eleven twelve"), new());
    let serving = self::serving(Measure::Overlap, "4");
    let mut client = serving.client();
    assert_eq!(ask(&mut client, "a", long), new());
    assert_eq!(ask(&mut client, "b", "seven eight nine eleven"), new());
    assert_eq!(ask(&mut client, "c", "seven eight nine ten eleven twelve"), duplicate("a", "overlap:4"));
}

/// Of equal and near sets that several clients bring at one moment exactly one is kept, and the others name it.
#[test]
fn of_sets_at_one_moment_one_is_kept() {
    const CLIENTS: usize = 4;
    const RACES: usize = 500;
    let serving = serving(Measure::Jaccard, "0.6");
    let said: Vec<Vec<Value>> = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|which| {
                let mut client = serving.client();
                scope.spawn(move || {
                    // Eight words that all have, and one of each.
                    let race = |race: usize| {
                        let words: Vec<String> = (0..8).map(|word| format!("w{race}x{word}")).collect();
                        ask(
                            &mut client,
                            &format!("{race}/{which}"),
                            &format!("{} own{which}", words.join(" ")),
                        )
                    };
                    (0..RACES).map(race).collect()
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let mut kept = BTreeMap::new();
    for race in 0..RACES {
        let said: Vec<&Value> = said.iter().map(|of_client| &of_client[race]).collect();
        let new: Vec<usize> = (0..CLIENTS).filter(|which| *said[*which] == new()).collect();
        assert_eq!(new.len(), 1, "race {race}: {new:?}");
        let expected = duplicate(&format!("{race}/{}", new[0]), "jaccard:0.800000");
        for which in (0..CLIENTS).filter(|which| *which != new[0]) {
            assert_eq!(*said[which], expected, "race {race}");
        }
        *kept.entry(new[0]).or_insert(0) += 1;
    }
    println!("{RACES} races, kept by client: {kept:?}");
}
