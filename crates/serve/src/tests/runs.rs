//! Runs of crawlers, over sockets.

use super::client::{Client, Value, duplicate, new, words};
use super::serving::{FSYNCS, Serving, options};
use crate::decider::Fsync;
use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use twinsplit_core::hash::mix;

fn bulk(text: &str) -> Value {
    Value::Bulk(text.to_owned())
}

fn bulks(texts: &[&str]) -> Value {
    Value::Array(texts.iter().map(|text| bulk(text)).collect())
}

fn listed(of: &str, id: &str, distance: i64) -> Value {
    Value::Array(vec![bulk(of), bulk("DUPLICATE"), bulk(id), Value::Number(distance), bulk("hamming")])
}

fn pending(id: &str, distance: i64, run: &str) -> Value {
    let Value::Array(mut parts) = duplicate(id, distance, "hamming") else { panic!("an array") };
    parts.extend([bulk("PENDING"), bulk(run)]);
    Value::Array(parts)
}

fn ok() -> Value {
    Value::Simple("OK".into())
}

/// What an isolated run brings counts when it is committed; then one is kept of what several runs have kept.
#[test]
fn an_isolated_run_counts_when_it_is_committed() {
    let serving = Serving::start(options(), None, Fsync::Off);
    let mut client = serving.client();
    let mut says = |line: &str, expected: Value| assert_eq!(client.ask(line), expected, "{line}");
    says("FP.BEGIN n monday ISOLATED", ok());
    says("fp.begin n monday isolated", ok());
    says("FP.BEGIN n tuesday ISOLATED", ok());
    says("FP.CHECKADD n m1 FP 00000000000000ff RUN monday", new());
    says("FP.CHECKADD n m2 FP 00000000000001ff RUN monday", duplicate("m1", 1, "hamming"));
    says("FP.CHECKADD n m3 FP 00000000000007ff RUN monday", duplicate("m1", 3, "hamming"));
    says("FP.CHECK n FP 00000000000000ff", new());
    says("FP.CHECK n FP 00000000000000ff RUN tuesday", new());
    says("FP.CHECKADD n t1 FP 00000000000000fc RUN tuesday", new());
    // The same page under the same id, in both.
    says("FP.CHECKADD n page FP 00ff000000000000 RUN monday", new());
    says("FP.CHECKADD n page FP 00ff000000000000 RUN tuesday", new());
    says("FP.CHECKADD n page FP 00ff000000000001 RUN tuesday", conflict());
    says("FP.ADD n forced FP 00000000000000fd RUN monday", new());
    says(
        "FP.MCHECKADD n RUN monday FP x 1111111111111111 y 1111111111111110",
        Value::Array(vec![new(), duplicate("x", 1, "hamming")]),
    );
    says("FP.WHY n x y", Value::Null);
    says("FP.DEL n x", Value::Null);
    says("FP.DEL n x RUN monday", bulks(&["y"]));
    says("FP.COMMIT n tuesday", Value::Array(Vec::new()));
    says("FP.CHECK n FP 00000000000000ff", duplicate("t1", 2, "hamming"));
    let settled =
        || Value::Array(vec![listed("m1", "t1", 2), listed("m2", "t1", 3), bulks(&["m3", "ORPHAN"])]);
    // The page is kept under its id, and is no duplicate of itself.
    // m3 differs from m1 in three bits, from forced in four and from t1 in five.
    says("FP.COMMIT n monday", settled());
    says("FP.COMMIT n monday", settled());
    says(
        "FP.COUNT n",
        Value::Array(vec![bulk("documents"), Value::Number(5), bulk("kept"), Value::Number(3)]),
    );
    says("FP.CHECKADD n m1 FP 00000000000000ff", duplicate("t1", 2, "hamming"));
    says("FP.CHECKADD n m3 FP 00000000000007ff", new());
    let run = |name: &str, state: &str| {
        let texts = ["name", name, "mode", "isolated", "state", state, "documents"];
        Value::Array(texts.map(bulk).into_iter().chain([Value::Number(0)]).collect())
    };
    says("FP.RUNS n", Value::Array(vec![run("tuesday", "committed"), run("monday", "committed")]));
    for (line, expected) in [
        ("FP.CHECKADD n z FP 00000000000000ff RUN monday", "RUNENDED the run 'monday' was committed"),
        ("FP.BEGIN n monday ISOLATED", "RUNENDED"),
        ("FP.CANCEL n monday", "RUNENDED the run 'monday' was committed"),
        ("FP.CHECKADD n z FP 00000000000000ff RUN none", "NORUN there is no run 'none'"),
        ("FP.COMMIT n none", "NORUN"),
        ("FP.CANCEL other none", "NORUN"),
        ("FP.BEGIN n r ALONE", "ISOLATED or SHARED"),
        ("FP.CHECKADD n z FP 00000000000000ff WALK r", "expected RUN"),
        ("FP.CHECKADD n z FP 00000000000000ff RUN", "wrong number"),
        ("FP.BEGIN n r", "wrong number"),
    ] {
        let Value::Error(error) = client.ask(line) else { panic!("{line}") };
        assert!(error.contains(expected), "{line}: {error}");
    }
}

fn conflict() -> Value {
    Value::Error("IDCONFLICT this id stands for a document with other content; FP.DEL forgets that, or give another id".into())
}

/// What a shared run brings counts at once, and says so until the run is committed; when it is cancelled, what rested on it is told.
#[test]
fn a_shared_run_counts_at_once() {
    let serving = Serving::start(options(), None, Fsync::Off);
    let mut client = serving.client();
    let mut says = |line: &str, expected: Value| assert_eq!(client.ask(line), expected, "{line}");
    says("FP.BEGIN n one SHARED", ok());
    says("FP.BEGIN n two SHARED", ok());
    says("FP.CHECKADD n a FP 00000000000000ff RUN one", new());
    says("FP.CHECKADD n b FP 00000000000000fe RUN one", duplicate("a", 1, "hamming"));
    says("FP.CHECKADD n c FP 00000000000000fd RUN two", pending("a", 1, "one"));
    says("FP.CHECKADD n d FP 00000000000000fb", pending("a", 1, "one"));
    says("FP.CHECKADD n e FP 1111111111111111 RUN two", new());
    says("FP.CHECKADD n f FP 1111111111111110", pending("e", 1, "two"));
    says("FP.COMMIT n two", Value::Array(Vec::new()));
    says("FP.CHECKADD n f FP 1111111111111110", duplicate("e", 1, "hamming"));
    says("FP.CANCEL n one", bulks(&["c", "d"]));
    says("FP.CANCEL n one", bulks(&["c", "d"]));
    says("FP.CHECKADD n d FP 00000000000000fb", new());
    says("FP.CHECKADD n a FP 00000000000000ff", duplicate("d", 1, "hamming"));
}

/// Clients of two isolated runs and one without a run, at the same time, and commits in the middle of it: of documents that are alike exactly one is
/// kept in the end.
#[test]
fn of_what_runs_bring_at_once_exactly_one_is_kept() {
    const RACES: u64 = 600;
    for (round, fsync) in FSYNCS.into_iter().enumerate() {
        let serving = Serving::start(options(), None, fsync);
        let mut client = serving.client();
        let runs = ["", "r", "s", "shared"];
        for (run, mode) in [("r", "ISOLATED"), ("s", "ISOLATED"), ("shared", "SHARED")] {
            assert_eq!(client.ask(&format!("FP.BEGIN n {run} {mode}")), ok());
        }
        let request = |race: u64, number: usize| {
            let run = runs[number % runs.len()];
            // Any two of a race are near one another.
            let value = mix(race) ^ u64::from(number > 3) << number;
            let of = if run.is_empty() { String::new() } else { format!(" RUN {run}") };
            words(&format!("FP.CHECKADD n {race}-{number} FP {value:016x}{of}"))
        };
        let load = |number: usize| {
            let mut client = serving.client();
            let (mut said, mut settled) = (BTreeMap::new(), BTreeMap::new());
            for race in (0..RACES).step_by(20) {
                let some: Vec<_> = (race..race + 20).map(|race| request(race, number)).collect();
                let replies = client.ask_all(&some).unwrap();
                said.extend((race..).zip(replies).map(|(race, value)| (format!("{race}-{number}"), value)));
                // The half of a run is committed while others go on; what comes after it is refused.
                if race == RACES / 2 && number == 1 + round % 2 {
                    settled = committed(&mut client, runs[number]);
                }
            }
            (said, settled)
        };
        let all: Vec<_> = thread::scope(|scope| {
            let load = &load;
            let clients: Vec<_> = (0..8).map(|number| scope.spawn(move || load(number))).collect::<Vec<_>>();
            clients.into_iter().map(|client| client.join().unwrap()).collect()
        });
        let (said, settled): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        let mut verdicts: BTreeMap<String, Value> = said.into_iter().chain(settled).flatten().collect();
        for run in ["s", "shared", "r"] {
            verdicts.extend(committed(&mut client, run));
        }
        let mut kept: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut refused = 0;
        for (id, value) in &verdicts {
            match value {
                Value::Error(error) => {
                    assert!(error.starts_with("RUNENDED"), "{error}");
                    refused += 1;
                }
                value if *value == new() => {
                    kept.entry(id.split_once('-').unwrap().0).or_default().insert(id);
                }
                _ => {}
            }
        }
        assert!(refused > 0 && kept.len() as u64 == RACES, "{refused} {}", kept.len());
        for (race, ids) in &kept {
            assert_eq!(ids.len(), 1, "{race}: {ids:?}");
        }
        // That is what the service holds.
        let Value::Array(count) = client.ask("FP.COUNT n") else { panic!("a count") };
        assert_eq!(count[3], Value::Number(RACES as i64));
    }
}

/// Commits a run, and gives what has become of its documents; the answer is the same again.
fn committed(client: &mut Client, run: &str) -> BTreeMap<String, Value> {
    let line = format!("FP.COMMIT n {run}");
    let settled = client.ask(&line);
    assert_eq!(client.ask(&line), settled);
    let Value::Array(all) = settled else { panic!("{settled:?}") };
    let one = |value: Value| {
        let Value::Array(mut parts) = value else { panic!("{value:?}") };
        let Value::Bulk(id) = parts.remove(0) else { panic!("{parts:?}") };
        (id, Value::Array(parts))
    };
    all.into_iter().map(one).collect()
}
