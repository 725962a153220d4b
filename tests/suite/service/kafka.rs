//! A service on several machines, with a real Kafka: four nodes and two fronts on loopback, each of which is killed under load, and Kafka too.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::Service;
use super::client::{Client, Value, new, words};
use crate::common::cli::Place;
use crate::common::kafka::Kafka;
use crate::common::rng::Rng;

const SHARDS: usize = 4;
const CLIENTS: u64 = 4;
const TOGETHER: usize = 16;

/// Documents of each client: some epochs are decided meanwhile.
const EACH: u64 = 3000;

/// The request of a number: every third one is near the one before it, which another client sends at the same time.
fn request(number: u64) -> Vec<String> {
    let near = if number % 3 == 2 { number - 1 } else { number };
    let value = Rng::new(near).bits() ^ u64::from(near != number);
    words(&format!("FP.CHECKADD load {number} FP {value:016x}"))
}

/// Nodes and fronts of a log.
struct Cluster {
    here: Place,
    kafka: Kafka,
    nodes: Vec<Option<Service>>,
    fronts: Vec<Option<Service>>,
    /// Where the fronts are that can be asked.
    addresses: Arc<Mutex<Vec<SocketAddr>>>,
}

impl Cluster {
    fn start() -> Self {
        let kafka = Kafka::start();
        kafka.topics("seen", SHARDS);
        let mut cluster = Self {
            here: Place::new(),
            kafka,
            nodes: (0..SHARDS).map(|_| None).collect(),
            fronts: (0..2).map(|_| None).collect(),
            addresses: Arc::default(),
        };
        (0..SHARDS).for_each(|shard| cluster.start_node(shard));
        (0..2).for_each(|front| cluster.start_front(front, "60s"));
        cluster
    }

    fn log(&self) -> String {
        format!("--log kafka://{}/seen", self.kafka.address())
    }

    fn start_node(&mut self, shard: usize) {
        let options = format!("node{shard} {} --shard {shard} --snapshot-after 1", self.log());
        self.nodes[shard] = Some(Service::start(&self.here, &options));
    }

    fn start_front(&mut self, front: usize, within: &str) {
        let service = Service::start(&self.here, &format!("{} --answer-within {within}", self.log()));
        self.addresses.lock().unwrap().push(service.address);
        self.fronts[front] = Some(service);
    }

    fn kill_node(&mut self, shard: usize) {
        let node = self.nodes[shard].take().unwrap();
        node.signal("KILL");
        node.end();
    }

    fn kill_front(&mut self, front: usize) {
        let service = self.fronts[front].take().unwrap();
        self.addresses.lock().unwrap().retain(|address| *address != service.address);
        service.signal("KILL");
        service.end();
    }

    fn front(&self, front: usize) -> Client {
        self.fronts[front].as_ref().unwrap().client()
    }

    /// A figure of `INFO`.
    fn figure(&self, of: &Service, name: &str) -> u64 {
        let Value::Bulk(info) = of.client().ask("INFO") else { panic!("INFO") };
        let line = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.unwrap_or_else(|| panic!("{info}")).trim().parse().unwrap()
    }

    /// How many records the log has, by Kafka's own word.
    fn records(&self) -> u64 {
        let said = self.kafka.tool("kafka-get-offsets.sh", "--bootstrap-server KAFKA --topic seen");
        said.trim().strip_prefix("seen:0:").unwrap_or_else(|| panic!("{said}")).parse().unwrap()
    }
}

/// Clients of whichever front is there.
struct Asking {
    addresses: Arc<Mutex<Vec<SocketAddr>>>,
    rng: Rng,
    client: Option<Client>,
}

impl Asking {
    fn connect(&mut self) -> Client {
        loop {
            let known = self.addresses.lock().unwrap().clone();
            if !known.is_empty()
                && let Ok(socket) = TcpStream::connect(known[self.rng.below(known.len())])
            {
                let [to, from] = [(); 2].map(|()| socket.try_clone().unwrap());
                return Client::over(socket, to, from);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends requests until all have verdicts.
    fn ask(&mut self, requests: &[Vec<String>]) -> Vec<Value> {
        let is_late =
            |value: &Value| matches!(value, Value::Error(error) if error.starts_with("UNANSWERED "));
        loop {
            let mut client = match self.client.take() {
                Some(client) => client,
                None => self.connect(),
            };
            if let Ok(values) = client.ask_all(requests) {
                self.client = Some(client);
                if !values.iter().any(is_late) {
                    return values;
                }
            }
        }
    }
}

/// The verdicts of all numbers, for which clients ask while the cluster is disturbed.
fn load(cluster: &mut Cluster, disturb: impl FnOnce(&mut Cluster, &dyn Fn())) -> BTreeMap<u64, Value> {
    let answered = AtomicUsize::new(0);
    let (answers, addresses) = (&answered, cluster.addresses.clone());
    let run = |client: u64| {
        let mut asking = Asking { addresses: addresses.clone(), rng: Rng::new(client), client: None };
        let mut said = BTreeMap::new();
        let numbers: Vec<u64> = (0..EACH).map(|at| at * CLIENTS + client).collect();
        for some in numbers.chunks(TOGETHER) {
            let requests: Vec<_> = some.iter().map(|number| request(*number)).collect();
            said.extend(some.iter().copied().zip(asking.ask(&requests)));
            answers.fetch_add(some.len(), Ordering::Relaxed);
        }
        said
    };
    let goes_on = || {
        let (from, until) = (answers.load(Ordering::Relaxed), Instant::now() + Duration::from_secs(300));
        let enough = (from + 400).min((EACH * CLIENTS) as usize);
        while answers.load(Ordering::Relaxed) < enough {
            assert!(Instant::now() < until, "nothing goes on");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let run = &run;
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|client| scope.spawn(move || run(client))).collect();
        disturb(cluster, &goes_on);
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    })
}

/// What is said of each number, from the other end: of two that are near one is new, and the other one its duplicate.
fn must_keep_one_of_two(said: &BTreeMap<u64, Value>) {
    let of = |number: u64, distance: i64| super::client::duplicate(&number.to_string(), distance, "hamming");
    for (number, value) in said {
        let other = match number % 3 {
            1 => said.get(&(number + 1)).map(|other| (number + 1, other)),
            2 => said.get(&(number - 1)).map(|other| (number - 1, other)),
            _ => None,
        };
        match other {
            Some((other, said)) if *said == new() => assert_eq!(*value, of(other, 1), "{number}"),
            _ => assert_eq!(*value, new(), "{number}"),
        }
    }
}

/// Every node is killed under load, a front and Kafka as well: nothing acknowledged is lost, of two that are near one is kept, and each verdict is that
/// of one process to which Kafka's own consumer reads the log.
#[test]
fn nodes_fronts_and_kafka_are_killed() {
    let mut cluster = Cluster::start();
    let said = load(&mut cluster, |cluster, goes_on| {
        for shard in 0..SHARDS {
            goes_on();
            cluster.kill_node(shard);
            cluster.start_node(shard);
        }
        goes_on();
        cluster.kill_front(0);
        goes_on();
        cluster.start_front(0, "60s");
        goes_on();
        cluster.kafka.kill();
        cluster.kafka.run();
        goes_on();
    });
    assert_eq!(said.len() as u64, EACH * CLIENTS);
    must_keep_one_of_two(&said);
    // The same again from both fronts, also from nodes that begin with what they had.
    for shard in 0..SHARDS {
        cluster.kill_node(shard);
        cluster.start_node(shard);
    }
    let numbers: Vec<u64> = said.keys().copied().collect();
    for (place, some) in numbers.chunks(500).enumerate() {
        let requests: Vec<_> = some.iter().map(|number| request(*number)).collect();
        let again = cluster.front(place % 2).ask_all(&requests).unwrap();
        assert!(some.iter().zip(again).all(|(number, value)| said[number] == value));
    }
    let count = cluster.front(0).ask("FP.COUNT load");
    // One process, to which the log is read.
    let records = cluster.records();
    assert!(records > 2 * said.len() as u64, "{records}");
    let read = cluster.kafka.tool(
        "kafka-console-consumer.sh",
        &format!(
            "--bootstrap-server KAFKA --topic seen --partition 0 --offset earliest --max-messages {records} --property print.key=true --property print.value=false"
        ),
    );
    let ids: Vec<u64> = read.lines().filter_map(|line| line.parse().ok()).collect();
    assert_eq!(read.lines().count() as u64, records);
    let alone = Service::start(&cluster.here, "alone --fsync off");
    let mut client = alone.client();
    for some in ids.chunks(500) {
        let requests: Vec<_> = some.iter().map(|number| request(*number)).collect();
        let values = client.ask_all(&requests).unwrap();
        assert!(some.iter().zip(values).all(|(number, value)| said[number] == value));
    }
    assert_eq!(client.ask("FP.COUNT load"), count);
    // All nodes come to the end of the log.
    for shard in 0..SHARDS {
        let until = Instant::now() + Duration::from_secs(60);
        let node = cluster.nodes[shard].as_ref().unwrap();
        while cluster.figure(node, "sequence_offset") < records {
            assert!(Instant::now() < until, "shard {shard} does not come to the end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    races(&mut cluster);
    a_shard_is_missing(&mut cluster);
    a_log_is_cut(cluster);
}

/// Clients of both fronts ask for equal and near documents at one moment: one of them is new, always.
fn races(cluster: &mut Cluster) {
    const RACERS: usize = 8;
    const RACES: usize = 100;
    let run = |racer: usize| {
        let mut client = cluster.front(racer % 2);
        let ask = |race: usize| {
            let value = Rng::new(race as u64 + 1_000_000).bits() ^ (racer as u64 % 3);
            client.ask(&format!("FP.CHECKADD races {race}-{racer} FP {value:016x}"))
        };
        (0..RACES).map(ask).collect::<Vec<Value>>()
    };
    let (run, mut all) = (&run, Vec::new());
    std::thread::scope(|scope| {
        let racers: Vec<_> = (0..RACERS).map(|racer| scope.spawn(move || run(racer))).collect();
        all.extend(racers.into_iter().map(|racer| racer.join().unwrap()));
    });
    for race in 0..RACES {
        let kept: Vec<usize> = (0..RACERS).filter(|racer| all[*racer][race] == new()).collect();
        let [kept] = kept[..] else { panic!("race {race}: {kept:?} are new") };
        for said in &all {
            let Value::Array(parts) = &said[race] else { panic!("{:?}", said[race]) };
            assert!(parts.len() == 1 || parts[1] == Value::Bulk(format!("{race}-{kept}")), "{parts:?}");
        }
    }
}

/// Without a shard there is an error that names it, and no answer without its part; when it is there again, the verdict.
fn a_shard_is_missing(cluster: &mut Cluster) {
    cluster.kill_front(1);
    cluster.start_front(1, "1s --http 127.0.0.1:0");
    let http = cluster.fronts[1].as_ref().unwrap().http();
    let mut client = cluster.front(1);
    let requests: Vec<Vec<String>> = (0..20)
        .map(|at| words(&format!("FP.CHECKADD late {at} FP {:016x}", Rng::new(at + 2_000_000).bits())))
        .collect();
    assert!(client.ask_all(&requests).unwrap().iter().all(|value| *value == new()));
    cluster.kill_node(2);
    let near = words(&format!("FP.CHECKADD late near FP {:016x}", Rng::new(2_000_007).bits() ^ 1));
    let Value::Error(error) = client.ask_all(std::slice::from_ref(&near)).unwrap().remove(0) else {
        panic!("an answer without shard 2")
    };
    assert!(error.starts_with("UNANSWERED shard 2 of 4 has not answered record "), "{error}");
    assert_eq!(client.ask("PING"), Value::Simple("PONG".to_owned()));
    // Over HTTP as well, with the status of what is not there now.
    let curl = |arguments: &str| {
        let said = cluster
            .here
            .shell(&format!("curl --silent --noproxy '*' --write-out ' %{{http_code}}' {arguments}"));
        said.ok()
    };
    let body = r#"'{"id": "near", "fingerprint": "00000000000000ff"}'"#;
    let said = curl(&format!("--json {body} http://{http}/v1/http/check-add"));
    assert!(said.contains("\"error\":\"UNANSWERED\"") && said.contains("shard 2 of 4"), "{said}");
    assert!(said.ends_with(" 503"), "{said}");
    assert!(curl(&format!("http://{http}/metrics")).contains("\ntwinsplit_sequence_end "));
    cluster.start_node(2);
    let mut asking = Asking { addresses: cluster.addresses.clone(), rng: Rng::new(9), client: None };
    assert_eq!(asking.ask(&[near]), [super::client::duplicate("7", 1, "hamming")]);
    let said = cluster
        .here
        .shell(&format!("curl --silent --noproxy '*' --json {body} http://{http}/v1/http/check-add"));
    assert_eq!(said.ok(), r#"{"verdict":"NEW"}"#);
}

/// A node whose snapshot is older than the log's first record says so and ends, with both offsets.
fn a_log_is_cut(mut cluster: Cluster) {
    // A stop writes a snapshot of the epoch, from which the next start goes on.
    let node = cluster.nodes[3].take().unwrap();
    node.signal("TERM");
    assert_eq!(node.end().0, Some(0));
    cluster.start_node(3);
    let begins = cluster.figure(cluster.nodes[3].as_ref().unwrap(), "sequence_snapshot");
    assert!(begins > 0 && begins.is_multiple_of(1024), "{begins}");
    cluster.kill_node(3);
    let end = cluster.records();
    assert!(end > begins);
    cluster.here.write(
        "cut.json",
        format!("{{\"partitions\": [{{\"topic\": \"seen\", \"partition\": 0, \"offset\": {end}}}], \"version\": 1}}"),
    );
    let cut = cluster.here.path("cut.json");
    let arguments = format!("--bootstrap-server KAFKA --offset-json-file {}", cut.display());
    cluster.kafka.tool("kafka-delete-records.sh", &arguments);
    let log = cluster.log();
    let refused = |line: &str, code: i32, expected: &[&str]| {
        cluster.here.say(&format!("twinsplit serve {line} --listen 127.0.0.1:0")).fails(code, expected);
    };
    let expected = format!("the log begins at offset {end}, and this folder needs it from {begins} on");
    refused(&format!("node3 {log} --shard 3"), 1, &[&expected, "retention.ms"]);
    refused(&format!("empty {log} --shard 3"), 1, &["needs it from 0 on"]);
    // And what does not go together.
    refused(&format!("node3 {log} --shard 4"), 2, &["--shard 4", "shards are 0 to 3"]);
    refused(&format!("node3 {log} --shard 3 --distance 2"), 1, &["it was made with --distance 3"]);
    refused(&format!("node3 {log} --shard 2"), 1, &["it was made with --shard 3"]);
    let other = log.replace("/seen", "/other");
    refused(&other, 1, &["has no topic other", "kafka-topics.sh", "LogAppendTime"]);
    refused("node3", 1, &["shard-snapshot"]);
}

/// Options that do not go with a log are refused, each with the reason, before anyone is asked.
#[test]
fn what_does_not_go_with_a_log_is_refused() {
    let here = Place::new();
    let refused = |line: &str, words: &[&str]| {
        here.say(&format!("twinsplit serve {line}")).fails(2, words);
    };
    refused("", &["FOLDER"]);
    refused("--log nowhere", &["kafka://HOST:PORT/TOPIC"]);
    let log = "--log kafka://127.0.0.1:9/t";
    refused(&format!("folder {log}"), &["a front keeps nothing in folder", "--shard N"]);
    refused(&format!("{log} --shard 0"), &["FOLDER"]);
    refused("folder --shard 0", &["--log"]);
    refused(&format!("{log} --memory 100"), &["--memory", "a front keeps nothing"]);
    refused(&format!("{log} --fsync off"), &["--fsync", "acks=all"]);
    refused(&format!("folder {log} --shard 0 --max 5"), &["--max", "--retain"]);
    refused(&format!("folder {log} --shard 0 --retain 1h --retain-from last-seen"), &["--retain-from"]);
    refused(&format!("folder {log} --shard 0 --chain doc-split"), &["--chain doc-split", "one process"]);
    here.say(&format!("twinsplit serve {log} --listen 127.0.0.1:0")).fails(1, &["Kafka at 127.0.0.1:9"]);
    assert!(here.names("").is_empty());
}
