//! The log and the answers in Kafka, or what speaks its protocol.
//!
//! Versions of requests are those of Kafka 2.3, which later ones understand too, up to 4.1 at least, and so does Redpanda.

mod batches;
mod connection;
mod place;

use self::connection::{Connection, Request};
pub use self::place::KafkaPlace;
use super::topics::{Fetched, LogError, Partition, Record, Result, Topics};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use kafka_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use kafka_protocol::messages::{
    BrokerId, FetchRequest, FetchResponse, ListOffsetsRequest, MetadataRequest, ProduceRequest, TopicName,
};
use kafka_protocol::protocol::StrBytes;
use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const METADATA: i16 = 7;
const PRODUCE: i16 = 7;
const FETCH: i16 = 11;
const LIST_OFFSETS: i16 = 4;

/// That all replicas that are in step have a record before it is acknowledged.
const ALL: i16 = -1;
/// What stands for the first and for the next offset of a partition.
const EARLIEST: i64 = -2;
const LATEST: i64 = -1;

/// How long a broker may take for what it does at once.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long one broker of several is waited for: none of them knows of what the others have.
const IN_TURN: Duration = Duration::from_millis(5);

/// Bytes that are read at once, of all partitions and of one.
const BYTES: i32 = 16 << 20;
const PARTITION_BYTES: i32 = 4 << 20;

/// Both topics.
pub struct Kafka {
    place: KafkaPlace,
    names: [TopicName; 2],
    /// Of each topic the leader of each partition; empty where that is not known.
    leaders: [Vec<BrokerId>; 2],
    addresses: HashMap<BrokerId, String>,
    connections: HashMap<BrokerId, Connection>,
    /// How many shards there are, when it has been known once.
    shards: Option<usize>,
}

fn name(text: &str) -> TopicName {
    TopicName(StrBytes::from_string(text.to_owned()))
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

impl Kafka {
    /// Finds both topics.
    ///
    /// # Errors
    /// No broker answers; a topic is not there, or the log has several partitions.
    pub fn open(place: KafkaPlace) -> Result<Self> {
        let names = [name(&place.topic), name(&place.answers())];
        let mut kafka = Self {
            place,
            names,
            leaders: Default::default(),
            addresses: HashMap::new(),
            connections: HashMap::new(),
            shards: None,
        };
        kafka.find()?;
        Ok(kafka)
    }

    /// How many shards there are: partitions of the answers.
    pub fn shards(&self) -> usize {
        self.shards.unwrap_or(0)
    }

    fn unreachable(&self, problem: impl std::fmt::Display) -> LogError {
        LogError::Unreachable(format!("Kafka at {}: {problem}", self.place.brokers.join(",")))
    }

    /// Nothing is known of brokers any more: the next request asks again.
    fn forget(&mut self) {
        self.connections.clear();
        self.leaders = Default::default();
    }

    /// Finds who leads which partition.
    fn find(&mut self) -> Result<()> {
        if self.leaders.iter().all(|leaders| !leaders.is_empty()) {
            return Ok(());
        }
        let topic = |name: &TopicName| MetadataRequestTopic::default().with_name(Some(name.clone()));
        let request = MetadataRequest::default()
            .with_topics(Some(self.names.iter().map(topic).collect()))
            .with_allow_auto_topic_creation(false);
        let mut problem = "there is no broker".to_owned();
        for address in &self.place.brokers {
            let asked = Connection::to(address).and_then(|mut connection| {
                connection.send(&request, METADATA)?;
                connection.receive::<MetadataRequest>(METADATA, PATIENCE)
            });
            let found = match asked {
                Ok(found) => found,
                Err(error) => {
                    problem = format!("{address}: {error}");
                    continue;
                }
            };
            for broker in found.brokers {
                self.addresses.insert(broker.node_id, format!("{}:{}", &*broker.host, broker.port));
            }
            let mut leaders: [Vec<BrokerId>; 2] = Default::default();
            for topic in found.topics {
                let Some(place) = self.names.iter().position(|name| Some(name) == topic.name.as_ref()) else {
                    continue;
                };
                if let Some(error) = ResponseError::try_from_code(topic.error_code) {
                    return Err(self.no_topic(place, error));
                }
                let mut partitions = topic.partitions;
                partitions.sort_by_key(|partition| partition.partition_index);
                leaders[place] = partitions.iter().map(|partition| partition.leader_id).collect();
            }
            return self.must_be_these(leaders);
        }
        Err(self.unreachable(problem))
    }

    fn no_topic(&self, place: usize, error: ResponseError) -> LogError {
        let topic = if place == 0 { self.place.topic.clone() } else { self.place.answers() };
        // A broker that has just begun knows no topics.
        if error != ResponseError::UnknownTopicOrPartition || self.shards.is_some() {
            return self.unreachable(format!("{topic}: {error}"));
        }
        let how = if place == 0 {
            "--partitions 1 --config message.timestamp.type=LogAppendTime"
        } else {
            "--partitions SHARDS"
        };
        LogError::Failed(format!(
            "Kafka at {} has no topic {topic}; make it: kafka-topics.sh --bootstrap-server {} --create --topic {topic} {how}",
            self.place.brokers.join(","),
            self.place.brokers[0],
        ))
    }

    fn must_be_these(&mut self, leaders: [Vec<BrokerId>; 2]) -> Result<()> {
        let [log, answers] = [leaders[0].len(), leaders[1].len()];
        if log != 1 {
            return Err(LogError::Failed(format!(
                "the topic {} has {log} partitions: the log has one, for one order decides",
                self.place.topic
            )));
        }
        if self.shards.is_some_and(|shards| shards != answers) {
            return Err(LogError::Failed(format!(
                "the topic {} has {answers} partitions by now, and had {}: the number of shards cannot be changed; begin with new topics",
                self.place.answers(),
                self.shards()
            )));
        }
        if leaders.iter().flatten().any(|leader| leader.0 < 0) {
            return Err(self.unreachable("a partition has no leader now"));
        }
        self.shards = Some(answers);
        self.leaders = leaders;
        Ok(())
    }

    fn leader(&self, of: Partition) -> Option<BrokerId> {
        let (topic, partition) = numbers(of);
        self.leaders[topic].get(partition as usize).copied()
    }

    fn connection(&mut self, broker: BrokerId) -> Result<&mut Connection> {
        if !self.connections.contains_key(&broker) {
            let address = self.addresses.get(&broker).cloned().unwrap_or_default();
            let connection =
                Connection::to(&address).map_err(|error| self.unreachable(format!("{address}: {error}")))?;
            self.connections.insert(broker, connection);
        }
        self.connections.get_mut(&broker).ok_or(LogError::Unreachable(String::new()))
    }

    /// Does something of which nothing is left where it fails: what is known of brokers may be wrong then.
    fn attempt<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let done = self.find().and_then(|()| work(self));
        if matches!(done, Err(LogError::Unreachable(_))) {
            self.forget();
        }
        done
    }

    fn ask<R: Request>(&mut self, broker: BrokerId, request: &R, version: i16) -> Result<R::Response> {
        let connection = self.connection(broker)?;
        let answered =
            connection.send(request, version).and_then(|()| connection.receive::<R>(version, PATIENCE));
        answered.map_err(|error| self.unreachable(error))
    }

    fn leads(&self, of: Partition) -> Result<BrokerId> {
        self.leader(of).ok_or_else(|| {
            LogError::Failed(format!("the topic {} has no partition for {of:?}", self.place.answers()))
        })
    }

    /// What an error of a partition means.
    fn failed(&self, of: Partition, error: ResponseError) -> LogError {
        let topic = self.shown(of);
        match error {
            ResponseError::OffsetOutOfRange => LogError::Failed(format!(
                "{topic}: Kafka has no records at the offset that follows; they were deleted, or the topic was made anew. Have it keep records for longer (retention.ms)"
            )),
            ResponseError::MessageTooLarge | ResponseError::RecordListTooLarge => LogError::Refused(format!(
                "{topic}: the request is longer than the topic takes; raise its max.message.bytes"
            )),
            ResponseError::TopicAuthorizationFailed => {
                LogError::Failed(format!("{topic}: Kafka does not allow that: {error}"))
            }
            other => self.unreachable(format!("{topic}: {other}")),
        }
    }

    fn shown(&self, of: Partition) -> String {
        let (_, partition) = numbers(of);
        let topic = if of == Partition::Log { self.place.topic.clone() } else { self.place.answers() };
        format!("{topic}-{partition}")
    }

    /// The offset of a partition for which a time stands.
    fn offset(&mut self, of: Partition, time: i64) -> Result<u64> {
        let (topic, partition) = numbers(of);
        let asked = ListOffsetsPartition::default()
            .with_partition_index(partition)
            .with_timestamp(time)
            .with_current_leader_epoch(-1);
        let topic =
            ListOffsetsTopic::default().with_name(self.names[topic].clone()).with_partitions(vec![asked]);
        let request = ListOffsetsRequest::default().with_replica_id(BrokerId(-1)).with_topics(vec![topic]);
        let broker = self.leads(of)?;
        let found = self.ask(broker, &request, LIST_OFFSETS)?;
        let found = found.topics.into_iter().flat_map(|topic| topic.partitions).next();
        let found = found.ok_or_else(|| self.unreachable("it says nothing of the partition"))?;
        if let Some(error) = ResponseError::try_from_code(found.error_code) {
            return Err(self.failed(of, error));
        }
        Ok(found.offset.max(0) as u64)
    }

    fn try_append(&mut self, to: Partition, records: &[Record]) -> Result<u64> {
        let (topic, partition) = numbers(to);
        let bytes = batches::encode(records, now()).map_err(LogError::Refused)?;
        let data = PartitionProduceData::default().with_index(partition).with_records(Some(bytes));
        let topic =
            TopicProduceData::default().with_name(self.names[topic].clone()).with_partition_data(vec![data]);
        let request = ProduceRequest::default()
            .with_acks(ALL)
            .with_timeout_ms(PATIENCE.as_millis() as i32)
            .with_topic_data(vec![topic]);
        let broker = self.leads(to)?;
        let done = self.ask(broker, &request, PRODUCE)?;
        let done = done.responses.into_iter().flat_map(|topic| topic.partition_responses).next();
        let done = done.ok_or_else(|| self.unreachable("it says nothing of what was appended"))?;
        match ResponseError::try_from_code(done.error_code) {
            Some(error) => Err(self.failed(to, error)),
            None => Ok(done.base_offset.max(0) as u64),
        }
    }

    fn try_read(&mut self, from: &[(Partition, u64)], wait: Duration) -> Result<Vec<Fetched>> {
        let mut by_broker: Vec<(BrokerId, Vec<(Partition, u64)>)> = Vec::new();
        for (partition, at) in from {
            let leader = self.leads(*partition)?;
            match by_broker.iter_mut().find(|(broker, _)| *broker == leader) {
                Some((_, known)) => known.push((*partition, *at)),
                None => by_broker.push((leader, vec![(*partition, *at)])),
            }
        }
        let wait = if by_broker.len() > 1 { wait.min(IN_TURN) } else { wait };
        for (broker, from) in &by_broker {
            let request = self.fetching(from, wait);
            let sent = self.connection(*broker)?.send(&request, FETCH);
            sent.map_err(|error| self.unreachable(error))?;
        }
        let mut all = Vec::new();
        for (broker, from) in &by_broker {
            let received = self.connection(*broker)?.receive::<FetchRequest>(FETCH, wait + PATIENCE);
            let received = received.map_err(|error| self.unreachable(error))?;
            self.take(received, from, &mut all)?;
        }
        Ok(all)
    }

    fn fetching(&self, from: &[(Partition, u64)], wait: Duration) -> FetchRequest {
        let mut topics: [Vec<FetchPartition>; 2] = Default::default();
        for (of, at) in from {
            let (topic, partition) = numbers(*of);
            topics[topic].push(
                FetchPartition::default()
                    .with_partition(partition)
                    .with_current_leader_epoch(-1)
                    .with_fetch_offset(*at as i64)
                    .with_partition_max_bytes(PARTITION_BYTES),
            );
        }
        let topics = self.names.iter().zip(topics).filter(|(_, partitions)| !partitions.is_empty());
        let topic = |(name, partitions): (&TopicName, _)| {
            FetchTopic::default().with_topic(name.clone()).with_partitions(partitions)
        };
        FetchRequest::default()
            .with_replica_id(BrokerId(-1))
            .with_max_wait_ms(wait.as_millis() as i32)
            .with_min_bytes(1)
            .with_max_bytes(BYTES)
            .with_session_epoch(-1)
            .with_topics(topics.map(topic).collect())
    }

    fn take(&self, received: FetchResponse, from: &[(Partition, u64)], all: &mut Vec<Fetched>) -> Result<()> {
        if let Some(error) = ResponseError::try_from_code(received.error_code) {
            return Err(self.unreachable(error));
        }
        for topic in received.responses {
            let is_log = topic.topic == self.names[0];
            for data in topic.partitions {
                let of =
                    if is_log { Partition::Log } else { Partition::Answers(data.partition_index as usize) };
                let Some((_, at)) = from.iter().find(|(asked, _)| *asked == of) else { continue };
                if let Some(error) = ResponseError::try_from_code(data.error_code) {
                    return Err(self.failed(of, error));
                }
                let batches = batches::decode(data.records.unwrap_or_default(), *at)
                    .map_err(|problem| LogError::Failed(format!("{}: {problem}", self.shown(of))))?;
                if is_log && !batches.by_log {
                    return Err(LogError::Failed(format!(
                        "{}: its times are those of whoever wrote, and expiry goes by the log's own: kafka-configs.sh --alter --topic {} --add-config message.timestamp.type=LogAppendTime, and begin with an empty topic",
                        self.shown(of),
                        self.place.topic
                    )));
                }
                let end = data.high_watermark.max(0) as u64;
                let next = batches.next.unwrap_or(*at).max(*at);
                all.push(Fetched { partition: of, records: batches.records, next, end });
            }
        }
        Ok(())
    }
}

/// The numbers of a partition and its topic.
fn numbers(of: Partition) -> (usize, i32) {
    match of {
        Partition::Log => (0, 0),
        Partition::Answers(shard) => (1, shard as i32),
    }
}

impl Topics for Kafka {
    fn append(&mut self, to: Partition, records: &[Record]) -> Result<u64> {
        self.attempt(|kafka| kafka.try_append(to, records))
    }

    fn read(&mut self, from: &[(Partition, u64)], wait: Duration) -> Result<Vec<Fetched>> {
        self.attempt(|kafka| kafka.try_read(from, wait))
    }

    fn bounds(&mut self, of: Partition) -> Result<Range<u64>> {
        self.attempt(|kafka| Ok(kafka.offset(of, EARLIEST)?..kafka.offset(of, LATEST)?))
    }
}
