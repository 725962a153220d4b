//! Nodes, fronts and a log, which work in turn as a seed has it.

use super::broker::{Broker, Network, Random};
use crate::asked::{Answer, Operation};
use crate::disk::LogFolder;
use crate::document::{Document, Refused};
use crate::entries::Entry;
use crate::info::Shared;
use crate::namespace::Namespace;
use crate::settings::Settings;
use crate::shards::front::Front;
use crate::shards::merge::Merge;
use crate::shards::node::Node;
use crate::shards::reading;
use crate::shards::request::{self, Kind, Logged, Request};
use crate::shards::topics::{LogError, Partition, Read, Record};
use crate::shards::{FrontOptions, NodeOptions, Sharding};
use crate::state::State;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use twinsplit_io::error::Error;

/// The nodes: nothing where one is down.
pub(super) struct Nodes {
    options: Vec<NodeOptions>,
    folder: TempDir,
    pub running: Vec<Option<Node<LogFolder>>>,
    /// Those that are not started again.
    pub down: BTreeSet<usize>,
    broker: Arc<Mutex<Broker>>,
    random: Random,
    pub fails: bool,
}

impl Nodes {
    fn network(&mut self) -> Network {
        let random = Random(self.random.below(u64::MAX));
        Network { broker: self.broker.clone(), random, fails: self.fails, meanwhile: None }
    }

    /// Starts a node, where it is to run and Kafka is there.
    fn start(&mut self, place: usize) {
        let folder = self.folder.path().join(place.to_string());
        fs::create_dir_all(&folder).unwrap();
        let network = Box::new(self.network());
        let shared = Arc::new(Shared::new(None));
        match Node::open(self.options[place].clone(), LogFolder(folder), network, shared) {
            Ok((node, _)) => self.running[place] = Some(node),
            Err(error) => assert!(error.to_string().contains("the network has failed"), "{error}"),
        }
    }

    /// A node of other options answers what the log has so far.
    pub fn answers_of_others(&mut self, sharding: &Sharding, shard: usize) {
        let folder = TempDir::new().unwrap();
        let network = Box::new(self.network());
        let options = NodeOptions { sharding: sharding.clone(), shard, snapshot_after: 1 };
        let shared = Arc::new(Shared::new(None));
        let (mut node, _) =
            Node::open(options, LogFolder(folder.path().to_owned()), network, shared).unwrap();
        let partition = Partition::Answers(shard);
        let before = self.broker.lock().unwrap().records(partition).count();
        for _ in 0..5 {
            node.step(Duration::ZERO).unwrap();
        }
        assert!(self.broker.lock().unwrap().records(partition).count() > before);
        assert_eq!(node.foreign(), [0]);
    }

    /// Whether a shard has a node.
    pub fn is_there(&self, shard: usize) -> bool {
        self.options.iter().zip(&self.running).any(|(options, node)| options.shard == shard && node.is_some())
    }

    /// Opens an empty folder as the node of a shard.
    pub fn open_anew(&mut self, shard: usize) -> Result<(), Error> {
        let folder = TempDir::new().unwrap();
        let network = Box::new(self.network());
        let shared = Arc::new(Shared::new(None));
        let options = self.options[shard].clone();
        Node::open(options, LogFolder(folder.path().to_owned()), network, shared).map(drop)
    }

    /// One of them does something, dies or comes back.
    pub fn work(&mut self) {
        let place = self.random.below(self.running.len() as u64) as usize;
        if self.down.contains(&self.options[place].shard) {
            if let Some(node) = self.running[place].take() {
                node.die();
            }
            return;
        }
        let dies = self.fails && self.random.once_in(40);
        match &mut self.running[place] {
            None => self.start(place),
            Some(_) if dies => {
                let node = self.running[place].take().unwrap();
                if self.random.once_in(3) { node.end().unwrap() } else { node.die() }
            }
            Some(node) => match node.step(Duration::ZERO) {
                Ok(_) | Err(LogError::Unreachable(_)) => {}
                Err(error) => panic!("node {place}: {error}"),
            },
        }
    }
}

/// All of it.
pub(super) struct World {
    pub sharding: Sharding,
    pub broker: Arc<Mutex<Broker>>,
    pub nodes: Arc<Mutex<Nodes>>,
    fronts: Vec<Front>,
    random: Random,
    pub patience: Duration,
}

impl World {
    pub fn new(settings: Settings, shards: usize, epoch: u64, seed: u64) -> Self {
        let made_with = vec![("distance", "3".to_owned())];
        let sharding = Sharding { shards, epoch, settings, made_with };
        let broker = Arc::new(Mutex::new(Broker { now: 1_000_000, ..Broker::default() }));
        let mut random = Random(seed);
        let options = |shard| NodeOptions { sharding: sharding.clone(), shard, snapshot_after: 300 };
        // Some shards have two nodes.
        let options: Vec<NodeOptions> =
            (0..shards).chain((0..shards).filter(|_| random.once_in(3))).map(options).collect();
        let nodes = Nodes {
            running: options.iter().map(|_| None).collect(),
            options,
            folder: TempDir::new().unwrap(),
            down: BTreeSet::new(),
            broker: broker.clone(),
            random: Random(random.below(u64::MAX)),
            fails: true,
        };
        let nodes = Arc::new(Mutex::new(nodes));
        let patience = Duration::from_secs(60);
        let mut world = Self { sharding, broker, nodes, fronts: Vec::new(), random, patience };
        for _ in 0..2 {
            let front = world.front(true);
            world.fronts.push(front);
        }
        world
    }

    /// A front that knows nothing yet.
    pub fn front(&mut self, fails: bool) -> Front {
        let nodes = self.nodes.clone();
        let mut random = Random(self.random.below(u64::MAX));
        let meanwhile = Box::new(move || (0..random.below(8)).for_each(|_| nodes.lock().unwrap().work()));
        let random = Random(self.random.below(u64::MAX));
        let network = Network { broker: self.broker.clone(), random, fails, meanwhile: Some(meanwhile) };
        Front::new(
            self.sharding.clone(),
            FrontOptions { patience: self.patience, again: Duration::ZERO },
            Box::new(network),
        )
    }

    /// Time goes on, or back.
    pub fn wait(&mut self, pause: u64) {
        let back = self.random.once_in(20);
        let mut broker = self.broker.lock().unwrap();
        broker.now = if back { broker.now - 3 } else { broker.now + pause };
        drop(broker);
        if self.random.once_in(25) {
            // What others put there is none of ours.
            let value = vec![self.random.below(4) as u8; self.random.below(30) as usize].into();
            self.broker.lock().unwrap().append(Partition::Log, &[Record { key: None, value }]);
        }
        if self.random.once_in(15) {
            let place = self.random.below(self.fronts.len() as u64) as usize;
            self.fronts[place] = self.front(true);
        }
    }

    /// Asks one front after the other until one has an answer; its number in the log.
    pub fn ask_until_answered(&mut self, request: &Request) -> (u64, Answer) {
        loop {
            let place = self.random.below(self.fronts.len() as u64) as usize;
            let answered = self.fronts[place].ask(std::slice::from_ref(request));
            let [(number, answer)] = &answered[..] else { panic!("{answered:?}") };
            match (number, answer) {
                (Some(number), answer) if !is_unanswered(answer) => return (*number, answer.clone()),
                (_, Answer::Refused(Refused::Unanswered(problem))) => {
                    assert!(problem.contains("the network has failed"), "{problem}");
                }
                other => panic!("{other:?}"),
            }
        }
    }

    /// Puts records into the log until its epoch ends, and has all nodes take it in.
    pub fn finish_epoch(&mut self) {
        let digest = self.sharding.digest();
        let request = Request {
            kind: Kind::Check,
            namespace: vec![0].into(),
            id: [].into(),
            document: Document::default(),
        };
        let mut broker = self.broker.lock().unwrap();
        while !(broker.partitions[&Partition::Log].len() as u64).is_multiple_of(self.sharding.epoch) {
            broker.append(Partition::Log, &[request::encode(&request, digest)]);
        }
        let end = broker.partitions[&Partition::Log].len() as u64;
        drop(broker);
        let mut nodes = self.nodes.lock().unwrap();
        let is_there = |node: &Option<Node<_>>| node.as_ref().is_some_and(|node| node.place().next == end);
        while !nodes.running.iter().all(is_there) {
            nodes.work();
        }
    }

    /// What all nodes hold together, and what one process holds.
    pub fn must_hold_what_one_process_holds(&self) {
        let nodes = self.nodes.lock().unwrap();
        let mut shards: BTreeMap<usize, Vec<Held>> = BTreeMap::new();
        for (options, node) in nodes.options.iter().zip(nodes.running.iter().flatten()) {
            let of_it = held(node.state(), Some((options.shard, self)));
            let known = shards.entry(options.shard).or_insert_with(|| of_it.clone());
            assert_eq!(*known, of_it, "two nodes of shard {}", options.shard);
        }
        let mut all: Vec<Held> = shards.into_values().flatten().collect();
        all.sort();
        let (alone, _) = alone(self);
        assert_eq!(all, held(&alone, None));
    }

    /// What follows for each record from the log and the answers, read once more from their beginnings.
    pub fn merged_again(&self) -> BTreeMap<u64, Answer> {
        let mut network =
            Network { broker: self.broker.clone(), random: Random(1), fails: false, meanwhile: None };
        let at = vec![0; self.sharding.shards];
        let mut merge = Merge::new(self.sharding.clone(), 0, Some(0), &at);
        let mut all = BTreeMap::new();
        loop {
            let read = reading::read(&mut network, &mut merge, &self.sharding, Duration::ZERO).unwrap();
            let before = all.len();
            while let Some((number, answer)) = merge.decide() {
                all.insert(number, answer);
            }
            if merge.is_over() {
                merge.begin_next();
            } else if !read.is_some && all.len() == before {
                break;
            }
        }
        // What is no request has an answer of no importance.
        let digest = self.sharding.digest();
        let broker = self.broker.lock().unwrap();
        let is_request = |read: &&Read| matches!(request::decode(&read.record, digest), Logged::Request(_));
        let requests: BTreeSet<u64> =
            broker.records(Partition::Log).filter(is_request).map(|read| read.offset).collect();
        all.retain(|number, _| requests.contains(number));
        all
    }
}

fn is_unanswered(answer: &Answer) -> bool {
    matches!(answer, Answer::Refused(Refused::Unanswered(_)))
}

/// A document: its namespace, id, digest, time, and the id of what it was dropped for.
type Held = (Vec<u8>, Vec<u8>, u64, u64, Option<Vec<u8>>);

/// What a state holds; of a shard, that it is where it belongs.
fn held(state: &State, of: Option<(usize, &World)>) -> Vec<Held> {
    let mut all = Vec::new();
    for (name, namespace) in state.namespaces() {
        let original = |namespace: &Namespace, entry: &Entry<'_>| {
            entry.grounds().map(|grounds| namespace.entries.get(grounds.of).unwrap().id().to_vec())
        };
        for entry in namespace.entries.all() {
            if let Some((shard, world)) = of {
                let of = entry.grounds().map_or(entry.number, |grounds| grounds.of);
                assert_eq!(world.sharding.shard_of(of), shard);
            }
            let original = original(namespace, &entry);
            all.push((name.to_vec(), entry.id().to_vec(), entry.digest(), entry.time(), original));
        }
    }
    all.sort();
    all
}

/// One process that reads the log alone, and what it says to each record.
fn alone(world: &World) -> (State, BTreeMap<u64, Answer>) {
    let mut state = State::new(world.sharding.settings.clone());
    let mut answers = BTreeMap::new();
    let digest = world.sharding.digest();
    let broker = world.broker.lock().unwrap();
    let mut latest = 0;
    for read in broker.records(Partition::Log) {
        latest = read.time.max(latest);
        let Logged::Request(request) = request::decode(&read.record, digest) else { continue };
        let Request { kind, namespace, id, document } = request;
        let mut operation = match kind {
            Kind::CheckAdd => Operation::CheckAdd(id, document),
            Kind::Add => Operation::Add(id, document),
            Kind::Check => Operation::Check(document),
            Kind::Count => Operation::Count,
        };
        answers.insert(read.offset, state.ask(read.time, &namespace, &mut operation, &mut |_| {}));
    }
    state.expire(latest);
    (state, answers)
}

/// What one process says to each record of the log.
pub(super) fn answers_alone(world: &World) -> BTreeMap<u64, Answer> {
    alone(world).1
}
