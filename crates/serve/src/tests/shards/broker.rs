//! A log and its answers in memory, reached by a network that fails.

use crate::shards::topics::{Fetched, LogError, Partition, Read, Record, Result, Topics};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use twinsplit_core::hash::mix;

/// Numbers that follow from a seed.
#[derive(Clone, Debug)]
pub(super) struct Random(pub u64);

impl Random {
    /// One that is smaller than this.
    pub fn below(&mut self, most: u64) -> u64 {
        self.0 = mix(self.0.wrapping_add(0x9e37_79b9_7f4a_7c15));
        self.0 % most.max(1)
    }

    /// True once in so many times.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

/// What Kafka holds: numbers without a record are those of its own.
#[derive(Debug, Default)]
pub(super) struct Broker {
    pub partitions: BTreeMap<Partition, Vec<Option<Read>>>,
    /// The first number that is still there.
    pub starts: BTreeMap<Partition, u64>,
    pub now: u64,
}

impl Broker {
    pub fn append(&mut self, to: Partition, records: &[Record]) -> u64 {
        let time = self.now;
        let all = self.partitions.entry(to).or_default();
        let first = all.len() as u64;
        for (offset, record) in (first..).zip(records) {
            all.push(Some(Read { offset, time, record: record.clone() }));
        }
        first
    }

    pub fn records(&self, of: Partition) -> impl Iterator<Item = &Read> {
        self.partitions.get(&of).into_iter().flatten().flatten()
    }
}

/// A way to it.
pub(super) struct Network {
    pub broker: Arc<Mutex<Broker>>,
    pub random: Random,
    /// Whether it fails.
    pub fails: bool,
    /// What goes on elsewhere while one waits for what comes.
    pub meanwhile: Option<Box<dyn FnMut() + Send>>,
}

impl Network {
    fn broker(&self) -> std::sync::MutexGuard<'_, Broker> {
        self.broker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lost(&mut self) -> Result<()> {
        if self.fails && self.random.once_in(12) {
            return Err(LogError::Unreachable("the network has failed".to_owned()));
        }
        Ok(())
    }
}

impl Topics for Network {
    fn append(&mut self, to: Partition, records: &[Record]) -> Result<u64> {
        self.lost()?;
        if self.fails && self.random.once_in(20) {
            // Sent twice, for the first reply was lost below.
            self.broker().append(to, records);
        }
        if self.fails && self.random.once_in(20) {
            // Kafka's own records have numbers, too.
            self.broker().partitions.entry(to).or_default().push(None);
        }
        let first = self.broker().append(to, records);
        self.lost()?;
        Ok(first)
    }

    fn read(&mut self, from: &[(Partition, u64)], _: Duration) -> Result<Vec<Fetched>> {
        if let Some(meanwhile) = &mut self.meanwhile {
            meanwhile();
        }
        self.lost()?;
        let mut all = Vec::new();
        for (partition, at) in from {
            let most = self.random.below(if self.fails { 6 } else { 1000 });
            let broker = self.broker();
            assert!(broker.starts.get(partition).is_none_or(|start| start <= at));
            let known = broker.partitions.get(partition).map_or(&[][..], |all| &all[..]);
            let end = known.len() as u64;
            assert!(*at <= end, "{partition:?} {at}");
            let next = end.min(at + most);
            let records = known[*at as usize..next as usize].iter().flatten().cloned().collect();
            all.push(Fetched { partition: *partition, records, next, end });
        }
        Ok(all)
    }

    fn bounds(&mut self, of: Partition) -> Result<Range<u64>> {
        self.lost()?;
        let broker = self.broker();
        let start = broker.starts.get(&of).copied().unwrap_or(0);
        Ok(start..broker.partitions.get(&of).map_or(0, |all| all.len() as u64))
    }
}
