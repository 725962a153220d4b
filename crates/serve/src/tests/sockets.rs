//! A server and its clients, over sockets.

use super::client::{Client, Value, duplicate, new, words};
use super::serving::{FSYNCS, Serving, damaged, options};
use crate::decider::Fsync;
use crate::server::ServerOptions;
use std::process::Command;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;
use twinsplit_core::hash::mix;

/// Races of two to eight clients with equal and near documents: of each race one is new, and all others name it.
#[test]
fn of_documents_that_are_alike_exactly_one_is_new() {
    const RACES: usize = 21_000;
    const AT_ONCE: usize = 40;
    let (mut races, mut wins) = (0, [0; 8]);
    for (clients, fsync) in (2..=8).zip(FSYNCS.into_iter().cycle()) {
        let serving = Serving::start(options(), None, fsync);
        let rounds = RACES / 7 / AT_ONCE;
        let barrier = Barrier::new(clients);
        let run = |number: usize| {
            let (mut client, mut all) = (serving.client(), Vec::new());
            for round in 0..rounds {
                let race = |at: usize| {
                    let race = round * AT_ONCE + at;
                    // One bit of each client is its own, in every second race.
                    let value = mix(race as u64) ^ (race as u64 % 2) << number;
                    let id = format!("{race}-{number}");
                    if race.is_multiple_of(3) {
                        let text: Vec<String> =
                            (0..12).map(|word| mix(race as u64 * 31 + word).to_string()).collect();
                        vec!["FP.CHECKADD".into(), "races".into(), id, "TEXT".into(), text.join(" ")]
                    } else {
                        words(&format!("FP.CHECKADD races {id} FP {value:016x}"))
                    }
                };
                barrier.wait();
                all.extend(client.ask_all(&(0..AT_ONCE).map(race).collect::<Vec<_>>()).unwrap());
            }
            all
        };
        let verdicts: Vec<Vec<Value>> = thread::scope(|scope| {
            let started: Vec<_> =
                (0..clients).map(|number| scope.spawn(move || run(number))).collect::<Vec<_>>();
            started.into_iter().map(|one| one.join().unwrap()).collect()
        });
        for race in 0..rounds * AT_ONCE {
            races += 1;
            let said: Vec<&Value> = verdicts.iter().map(|all| &all[race]).collect();
            let winners: Vec<usize> = (0..clients).filter(|number| *said[*number] == new()).collect();
            let [winner] = winners[..] else { panic!("race {race} of {clients}: {said:?}") };
            wins[winner] += 1;
            let kept = Value::Bulk(format!("{race}-{winner}"));
            let named = |value: &Value| matches!(value, Value::Array(parts) if parts.get(1) == Some(&kept));
            assert!((0..clients).all(|number| number == winner || named(said[number])), "{race}: {said:?}");
        }
    }
    println!("{races} races, won by {wins:?}");
    assert!(races >= 20_000 && wins.iter().filter(|won| **won > 0).count() > 1, "{wins:?}");
}

/// What was answered is there after a stop, with the same verdicts.
#[test]
fn a_stop_answers_what_has_come_and_keeps_it() {
    for fsync in FSYNCS {
        let mut serving = Serving::start(options(), None, fsync);
        let requests: Vec<Vec<String>> = (0..4000u64)
            .map(|number| {
                words(&format!("FP.CHECKADD a {number} FP {:016x}", mix(number / 2) ^ (number & 1)))
            })
            .collect();
        let mut client = serving.client();
        let first = client.ask_all(&requests).unwrap();
        assert_eq!(first.iter().filter(|value| **value == new()).count(), 2000);
        // Requests that are on their way when it stops.
        let mut late = serving.client();
        late.send(
            &requests[..50]
                .iter()
                .map(|words| {
                    let mut words = words.clone();
                    words[1] = "late".to_owned();
                    words
                })
                .collect::<Vec<_>>(),
        )
        .unwrap();
        assert_eq!(late.reply().unwrap(), new());
        serving.stop();
        let answered = 1 + std::iter::from_fn(|| late.reply().ok())
            .take_while(|value| !matches!(value, Value::Error(_)))
            .count();
        let (address, stopper, thread) = Serving::over(&serving.folder, options(), None, fsync);
        let mut client = Client::to(address);
        assert_eq!(client.ask_all(&requests).unwrap(), first);
        let Value::Array(count) = client.ask("FP.COUNT late") else { panic!("a map") };
        assert!(matches!(count[1], Value::Number(there) if there >= answered as i64), "{count:?} {answered}");
        stopper.stop();
        thread.join().unwrap().unwrap();
    }
}

/// Each command, in both versions of the protocol, as arrays and as lines.
#[test]
fn commands_answer_as_they_are_documented() {
    let serving = Serving::start(options(), None, Fsync::Off);
    let mut client = serving.client();
    let bulk = |text: &str| Value::Bulk(text.to_owned());
    let number = Value::Number;
    let mut cases = 0;
    let mut says = |line: &str, expected: Value| {
        assert_eq!(client.ask(line), expected, "{line}");
        cases += 1;
    };
    says("PING", Value::Simple("PONG".into()));
    says("ping hello", bulk("hello"));
    says("ECHO x", bulk("x"));
    says("SELECT 0", Value::Simple("OK".into()));
    says("CLIENT SETINFO LIB-NAME x", Value::Simple("OK".into()));
    says("FP.CHECK n FP 00000000000000ff", new());
    says("FP.CHECKADD n a FP 00000000000000ff", new());
    says("FP.CHECKADD n b FP 00000000000000F0", new());
    says("FP.CHECKADD n c FP 00000000000000FE", duplicate("a", 1, "hamming"));
    says("FP.CHECKADD n c FP 00000000000000fe", duplicate("a", 1, "hamming"));
    says("FP.CHECK n FP 00000000000000fe", duplicate("a", 1, "hamming"));
    says("FP.ADD n d FP 00000000000000fe", new());
    says("FP.CHECK n FP 00000000000000fe", duplicate("a", 1, "hamming"));
    says("FP.CHECK other FP 00000000000000fe", new());
    says("FP.COUNT n", Value::Array(vec![bulk("documents"), number(4), bulk("kept"), number(3)]));
    says("FP.COUNT none", Value::Array(vec![bulk("documents"), number(0), bulk("kept"), number(0)]));
    says(
        "FP.WHY n a c",
        Value::Array(vec![
            bulk("first"),
            new(),
            bulk("second"),
            duplicate("a", 1, "hamming"),
            bulk("distance"),
            number(1),
            bulk("distance_allowed"),
            number(3),
            bulk("alike"),
            bulk("yes"),
        ]),
    );
    says("FP.WHY n a x", Value::Null);
    says("FP.DEL n a", Value::Array(vec![bulk("c")]));
    says("FP.DEL n a", Value::Null);
    says("FP.CHECKADD n c FP 00000000000000fe", duplicate("b", 3, "hamming"));
    says("FP.CHECKADD n s TEXT short", new());
    says("FP.CHECKADD n t TEXT SHORT", duplicate("s", 0, "equal-text"));
    says("FP.MCHECKADD n FP e 1111111111111111 f 1111111111111111 e 2222222222222222", Value::Array(vec![
        new(), duplicate("e", 0, "hamming"),
        Value::Error("IDCONFLICT this id stands for a document with other content; FP.DEL forgets that, or give another id".into()),
    ]));
    says("FP.READONLY n ON", Value::Simple("OK".into()));
    says("FP.CHECK n TEXT SHORT", duplicate("s", 0, "equal-text"));
    says("FP.CHECKADD n t TEXT SHORT", duplicate("s", 0, "equal-text"));
    let fails = |client: &mut Client, line: &str, words: &[&str]| {
        let Value::Error(error) = client.ask(line) else { panic!("{line}") };
        words.iter().for_each(|word| assert!(error.contains(word), "{line}: {error}"));
    };
    for line in ["FP.CHECKADD n u TEXT SHORT", "FP.ADD n u TEXT more", "FP.DEL n t", "fp.del n none"] {
        fails(&mut client, line, &["READONLY ", "FP.READONLY ns OFF"]);
    }
    fails(&mut client, "FP.READONLY n MAYBE", &["ON or OFF", "MAYBE"]);
    assert_eq!(client.ask("fp.readonly n off"), Value::Simple("OK".into()));
    for (line, expected) in [
        ("FP.CHECKADD n a FP 12", &["ERR", "16 hex digits", "2 bytes"][..]),
        ("FP.CHECKADD n a FP 000000000000000g", &["16 hex digits"]),
        ("FP.CHECKADD n a HTML x", &["TEXT or FP", "html"]),
        ("FP.CHECKADD n a TEXT", &["wrong number of arguments for 'fp.checkadd'"]),
        ("FP.MCHECKADD n FP a", &["wrong number of arguments"]),
        ("FP.MCHECKADD n FP never 1111111111111111 no 11", &["hex digits", "document 2", "'no'"]),
        ("FP.CHECKADD  a TEXT x", &["the namespace is empty"]),
        ("FP.COUNT", &["wrong number"]),
        ("GET x", &["unknown command 'get'"]),
        ("SELECT 1", &["one database"]),
        ("HELLO 4", &["NOPROTO"]),
        ("AUTH x", &["no password"]),
        ("COMMAND KEYS", &["unknown subcommand"]),
    ] {
        fails(&mut client, line, expected);
        cases += 1;
    }
    let long = format!("FP.DEL n {}", "x".repeat(5000));
    fails(&mut client, &long, &["5000 bytes, and 4096 is the most"]);
    for name in ["a1", "a2"] {
        assert_eq!(client.ask(&format!("FP.CHECKADD {name} a FP 00000000000000ff")), new());
    }
    assert_eq!(client.ask("FP.CHECKADD a3 a FP 00000000000000ff"), new());
    fails(&mut client, "FP.CHECKADD a4 a FP 00000000000000ff", &["4 namespaces"]);
    // RESP3 has maps and a null of its own.
    let Value::Map(hello) = client.ask("HELLO 3") else { panic!("a map") };
    assert_eq!(hello[7], number(3), "{hello:?}");
    assert_eq!(
        client.ask("FP.COUNT none"),
        Value::Map(vec![bulk("documents"), number(0), bulk("kept"), number(0)])
    );
    // Lines with quotes.
    let mut client = serving.client();
    client.raw(b"\r\n  FP.CHECKADD  lines 'a \\' b' TEXT \"x\\x41\\n\\\"y\"  \r\nFP.CHECK lines TEXT \"xa \\\"Y\"\nPING\n").unwrap();
    assert_eq!(
        client.reply().unwrap(),
        Value::Error("ERR there are 4 namespaces, as many as --namespaces lets be".into())
    );
    assert_eq!(client.reply().unwrap(), new());
    assert_eq!(client.reply().unwrap(), Value::Simple("PONG".into()));
    let Value::Bulk(info) = client.ask("INFO") else { panic!("a text") };
    for line in [
        "weights:tf",
        "verdicts_new:8",
        "n:documents=7,kept=4",
        "connected_clients:",
        "deleted:1",
        "orphans:1",
    ] {
        assert!(info.contains(line), "{line}: {info}");
    }
    let Value::Array(commands) = client.ask("COMMAND") else { panic!("an array") };
    assert_eq!(client.ask("COMMAND COUNT"), number(commands.len() as i64));
    assert_eq!(client.ask("QUIT"), Value::Simple("OK".into()));
    assert!(client.reply().is_err());
    println!("{cases} lines");
}

/// With a second stage near fingerprints are not enough, and short texts may differ in more bits.
#[test]
fn texts_decide_where_they_are_asked_for() {
    let serving = Serving::start(options(), Some("jaccard:0.5"), Fsync::Off);
    let mut client = serving.client();
    let mut says = |id: &str, text: &str| {
        let request = vec!["FP.CHECKADD".into(), "n".into(), id.to_owned(), "TEXT".into(), text.to_owned()];
        client.ask_all(&[request]).unwrap().remove(0)
    };
    assert_eq!(says("a", "one two three four five six seven eight nine ten eleven"), new());
    let said = says("b", "One two three four five six seven eight nine ten eleven!");
    assert_eq!(said, duplicate("a", 0, "jaccard:1.000000"));
    assert_eq!(says("c", "something else altogether stands in this text of words"), new());
    let Value::Error(error) = client.ask("FP.CHECK n FP 0000000000000000") else { panic!("an error") };
    assert!(error.contains("give TEXT"), "{error}");
    let Value::Array(why) = client.ask("FP.WHY n a b") else { panic!("a map") };
    assert!(why.contains(&Value::Bulk("1.000000".into())), "{why:?}");
}

/// Nobody gets in without the password, sends more than strangers may, or listens where others are without one.
#[test]
fn strangers_are_kept_out() {
    let password = Some(b"secret"[..].into());
    let serving = Serving::start(ServerOptions { password, ..options() }, None, Fsync::Off);
    let mut client = serving.client();
    let error = |value: Value| match value {
        Value::Error(error) => error,
        other => panic!("{other:?}"),
    };
    for line in ["PING", "FP.COUNT n", "INFO", "COMMAND", "HELLO 3"] {
        assert!(error(client.ask(line)).starts_with("NOAUTH"), "{line}");
    }
    for line in ["AUTH wrong", "AUTH other secret", "HELLO 3 AUTH default wrong"] {
        assert!(error(client.ask(line)).starts_with("WRONGPASS"), "{line}");
    }
    // More than a stranger may send is refused before it is there.
    let mut other = serving.client();
    other.raw(b"*2\r\n$4\r\nECHO\r\n$20000\r\n").unwrap();
    assert!(error(other.reply().unwrap()).contains("longer than 16384 bytes"));
    assert!(other.reply().is_err());
    assert_eq!(client.ask("AUTH secret"), Value::Simple("OK".into()));
    assert_eq!(client.ask("PING"), Value::Simple("PONG".into()));
    let mut third = serving.client();
    let requests =
        [words("HELLO 3 AUTH default secret SETNAME me"), words("FP.CHECKADD n a FP 0000000000000001")];
    assert_eq!(third.ask_all(&requests).unwrap()[1], new());
    let open = ServerOptions { address: "0.0.0.0:0".parse().unwrap(), ..options() };
    assert!(open.must_be_safe().unwrap_err().to_string().contains("give a password"));
    assert!(ServerOptions { password: Some(b"x"[..].into()), ..open }.must_be_safe().is_ok());
}

/// What is no request has an error and ends its connection, and nothing else.
#[test]
fn malformed_requests_end_their_connection_alone() {
    let serving = Serving::start(options(), None, Fsync::Off);
    let mut bystander = serving.client();
    let cases: [(&[u8], &str); 12] = [
        (b"*1001\r\n", "1000 is the most"),
        (b"*2147483647\r\n", "1000 is the most"),
        (b"*99999999999999\r\n", "invalid multibulk length"),
        (b"*x\r\n", "invalid multibulk length"),
        (b"*1\r\n$2000000\r\n", "longer than 1048576 bytes"),
        (b"*2\r\n$1\r\na\r\n$1048570\r\n", "longer than"),
        (b"*1\r\n$-1\r\n", "bulk length"),
        (b"*1\r\n$4\r\nPINGxx", "CR and LF"),
        (b"*1\r\n:4\r\n", "expected '$'"),
        (b"PING \"x\r\n", "unbalanced quotes"),
        (b"PING 'x'y\r\n", "unbalanced quotes"),
        (b"*1\r\n$1111111111111111111111111111111111111111111", "longer than 32 bytes"),
    ];
    for (bytes, problem) in cases {
        let mut client = serving.client();
        client.raw(bytes).unwrap();
        let Value::Error(error) = client.reply().unwrap() else { panic!("{bytes:?}") };
        assert!(error.starts_with("ERR Protocol error: ") && error.contains(problem), "{error}");
        assert!(client.reply().is_err());
        assert_eq!(bystander.ask("PING"), Value::Simple("PONG".into()));
    }
    // Bytes of any kind; what is left of requests.
    let requests =
        b"*5\r\n$11\r\nFP.CHECKADD\r\n$1\r\nn\r\n$1\r\na\r\n$4\r\nTEXT\r\n$9\r\nsome text\r\n".repeat(3);
    for seed in 0..300u64 {
        let mut client = serving.client();
        client.raw(&damaged(&requests, seed)).unwrap();
        client.no_more();
        while client.reply().is_ok() {}
    }
    assert_eq!(bystander.ask("PING"), Value::Simple("PONG".into()));
    // Too many clients are told so.
    let mut all: Vec<Client> = (0..60).map(|_| serving.client()).collect();
    let refused = all.iter_mut().filter_map(|client| {
        client.raw(b"PING\r\n").ok()?;
        matches!(client.reply(), Ok(Value::Error(error)) if error.contains("max number of clients"))
            .then_some(())
    });
    assert!(refused.count() > 0);
}

/// A client that says nothing is sent away.
#[test]
fn idle_clients_are_sent_away() {
    let idle = Some(Duration::from_millis(30));
    let serving = Serving::start(ServerOptions { idle, ..options() }, None, Fsync::Off);
    assert!(serving.client().reply().is_err());
}

/// redis-cli, which people have.
#[test]
fn redis_cli_is_a_client() {
    let serving = Serving::start(options(), None, Fsync::Always);
    let port = serving.address.port().to_string();
    let says = |version: &str, words: &[&str]| {
        let mut command = Command::new("redis-cli");
        command.args(["-p", &port, version]).args(words);
        let output = command
            .output()
            .unwrap_or_else(|error| panic!("redis-cli: {error}; apt-get install redis-tools"));
        String::from_utf8(output.stdout).unwrap()
    };
    for version in ["-2", "-3"] {
        let near = [version, "x"].concat();
        assert_eq!(
            says(version, &["FP.CHECKADD", version, "a", "TEXT", "a text of some words in a row"]),
            "NEW\n"
        );
        let said = says(version, &["FP.CHECKADD", version, &near, "TEXT", "A text of some words in a row!"]);
        assert_eq!(said, "DUPLICATE\na\n0\nhamming\n");
    }
    assert!(says("-3", &["COMMAND", "DOCS"]).contains("fp.checkadd"));
    assert!(says("-2", &["INFO"]).contains("verdicts_duplicate:2"));
}
