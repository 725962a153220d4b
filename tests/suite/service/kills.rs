//! Services that are killed under load: all that was acknowledged is there, once, with its first verdict.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Service;
use super::certificates::Certificates;
use super::client::{Client, Value, words};
use super::tls_client::Known;
use crate::common::cli::Place;
use crate::common::rng::Rng;

/// Clients at one time.
const CLIENTS: usize = 4;

/// Requests that a client sends together.
const TOGETHER: usize = 16;

/// The request of a number: every third one is near one that came before.
fn request(number: u64) -> Vec<String> {
    let near = if number % 3 == 2 { number - 1 } else { number };
    let value = Rng::new(near).bits() ^ u64::from(near != number);
    words(&format!("FP.CHECKADD load {number} FP {value:016x}"))
}

/// A client of a service, by TLS where it knows whom to trust.
fn connect(service: &Service, known: Option<&Known>) -> Client {
    known.map_or_else(|| service.client(), |known| known.to(service.address))
}

/// Loads a service until it is killed: all numbers that were sent, and what was said of those that were answered.
fn load(
    service: &Service,
    known: Option<&Known>,
    from: u64,
    kill_after: usize,
) -> (Vec<u64>, BTreeMap<u64, Value>) {
    let answered = AtomicUsize::new(0);
    let run = |client: u64| {
        let (mut sent, mut said): (Vec<u64>, _) = (Vec::new(), BTreeMap::new());
        let mut connection = connect(service, known);
        for round in 0.. {
            let numbers: Vec<u64> = (0..TOGETHER as u64)
                .map(|at| from + (round * CLIENTS as u64 + client) * TOGETHER as u64 + at)
                .collect();
            sent.extend(&numbers);
            let requests: Vec<_> = numbers.iter().map(|number| request(*number)).collect();
            if connection.send(&requests).is_err() {
                break;
            }
            for number in numbers {
                let Ok(value) = connection.reply() else { return (sent, said) };
                assert!(matches!(value, Value::Array(_)), "{value:?}");
                said.insert(number, value);
                answered.fetch_add(1, Ordering::Relaxed);
            }
        }
        (sent, said)
    };
    std::thread::scope(|scope| {
        let clients: Vec<_> =
            (0..CLIENTS as u64).map(|client| scope.spawn(move || run(client))).collect::<Vec<_>>();
        while answered.load(Ordering::Relaxed) < kill_after {
            std::thread::yield_now();
        }
        service.signal("KILL");
        let (mut sent, mut said): (Vec<u64>, _) = (Vec::new(), BTreeMap::new());
        for client in clients {
            let (theirs, answers) = client.join().unwrap();
            sent.extend(theirs);
            said.extend(answers);
        }
        (sent, said)
    })
}

fn kills(count: usize, fsync: &str) {
    kills_in(&Place::new(), count, fsync, None);
}

fn kills_in(here: &Place, count: usize, fsync: &str, tls: Option<(&str, &Known)>) {
    let (files, known) = tls.unzip();
    // Small snapshots, so that many kills come while one is written.
    let options = format!("served --fsync {fsync} --snapshot-after 1{}", files.unwrap_or_default());
    let mut rng = Rng::new(count as u64);
    let (mut all, mut acknowledged) = (Vec::new(), BTreeMap::new());
    let mut torn = 0;
    for _ in 0..count {
        let service = Service::start(here, &options);
        torn += usize::from(service.said.contains("cut off"));
        let from = all.iter().max().map_or(0, |last| last + 1);
        let (sent, said) = load(&service, known, from, 50 + rng.below(3000));
        drop(service);
        all.extend(sent);
        let numbers: Vec<u64> = said.keys().copied().collect();
        acknowledged.extend(said);
        // As many as were answered are there, and no more than were sent.
        let service = Service::start(here, &options);
        let mut client = connect(&service, known);
        let Value::Array(parts) = client.ask("FP.COUNT load") else { panic!("a count") };
        let Value::Number(there) = parts[1] else { panic!("{parts:?}") };
        let (least, most) = (acknowledged.len() as i64, all.len() as i64);
        assert!((least..=most).contains(&there), "{there} of {least} to {most}");
        // Each that was answered before this kill has its first verdict again.
        for some in numbers.chunks(500) {
            let requests: Vec<_> = some.iter().map(|number| request(*number)).collect();
            for (number, value) in some.iter().zip(client.ask_all(&requests).unwrap()) {
                assert_eq!(value, acknowledged[number], "{number}");
            }
        }
        assert_eq!(client.ask("FP.COUNT load"), Value::Array(parts), "a retry adds nothing");
        drop(service);
    }
    // And all is sent again, what was not answered too: then each is there once, and all verdicts are the first ones.
    let service = Service::start(here, &options);
    let mut client = connect(&service, known);
    for some in all.chunks(500) {
        let requests: Vec<_> = some.iter().map(|number| request(*number)).collect();
        for (number, value) in some.iter().zip(client.ask_all(&requests).unwrap()) {
            assert_eq!(acknowledged.get(number).unwrap_or(&value), &value, "{number}");
        }
    }
    let Value::Array(parts) = client.ask("FP.COUNT load") else { panic!("a count") };
    assert_eq!(parts[1], Value::Number(all.len() as i64));
    println!(
        "{count} kills, --fsync {fsync}, TLS {}: {} requests, {torn} torn tails",
        known.is_some(),
        all.len()
    );
    assert!(all.len() > 50 * count);
}

#[test]
fn ten_kills_lose_nothing_that_was_acknowledged() {
    kills(10, "always");
}

/// The same by TLS.
#[test]
fn kills_lose_nothing_that_was_acknowledged_by_tls() {
    let here = Place::new();
    let made = Certificates::in_folder(&here.path(""));
    made.authority("ca").signed("service", "ca", 30);
    let known = Known::new(&made.path("ca.pem"), None, rustls::ALL_VERSIONS);
    kills_in(&here, 4, "always", Some((" --tls-cert service.pem --tls-key service.key", &known)));
}

/// What the system has outlives the process, with whatever `--fsync`.
#[test]
fn kills_of_the_process_lose_nothing_with_any_fsync() {
    kills(3, "100ms");
    kills(3, "off");
}

/// A run that is not committed outlives the crawler and the service, and whoever commits it, or cancels it, has the same answer however often the service is killed.
#[test]
fn runs_outlive_the_service() {
    let here = Place::new();
    let options = "served --fsync always --snapshot-after 1";
    let again = |service: Service| {
        service.signal("KILL");
        drop(service);
        Service::start(&here, options)
    };
    let mut service = Service::start(&here, options);
    let ask = |service: &Service, line: &str| service.client().ask(line);
    for line in ["FP.BEGIN n alone ISOLATED", "FP.BEGIN n open SHARED"] {
        assert_eq!(ask(&service, line), Value::Simple("OK".into()));
    }
    for line in [
        "FP.CHECKADD n a FP 00000000000000ff RUN alone",
        "FP.CHECKADD n b FP 00000000000000fe RUN open",
        "FP.CHECKADD n c FP 00000000000000fc RUN alone",
        "FP.CHECKADD n d FP 00000000000000fa",
    ] {
        ask(&service, line);
        service = again(service);
    }
    let bulk = |text: &str| Value::Bulk(text.to_owned());
    let runs = ask(&service, "FP.RUNS n");
    let Value::Array(both) = &runs else { panic!("{runs:?}") };
    assert!(
        matches!(&both[..], [Value::Array(one), Value::Array(two)]
        if one.contains(&bulk("alone")) && two.contains(&bulk("open"))),
        "{runs:?}"
    );
    let committed = ask(&service, "FP.COMMIT n alone");
    let said = format!("{committed:?}");
    assert!(said.contains("DUPLICATE") && said.contains("PENDING") && said.contains("\"b\""), "{said}");
    service = again(service);
    assert_eq!(ask(&service, "FP.COMMIT n alone"), committed);
    let orphans = ask(&service, "FP.CANCEL n open");
    assert_eq!(orphans, Value::Array(["a", "c", "d"].map(bulk).to_vec()));
    service = again(service);
    assert_eq!(ask(&service, "FP.CANCEL n open"), orphans);
    // A stop writes all of it into a snapshot.
    service.signal("TERM");
    assert_eq!(service.end().0, Some(0));
    let service = Service::start(&here, options);
    assert_eq!(ask(&service, "FP.COMMIT n alone"), committed);
    assert_eq!(ask(&service, "FP.CANCEL n open"), orphans);
    let Value::Array(count) = ask(&service, "FP.COUNT n") else { panic!("a count") };
    assert_eq!(count[1], Value::Number(0));
}

#[test]
#[ignore = "minutes: make test-long"]
fn long_a_hundred_kills_lose_nothing_that_was_acknowledged() {
    kills(100, "always");
}
