//! Records as Kafka has them, in batches.

use crate::shards::topics::{Read, Record};
use bytes::{Bytes, BytesMut};
use kafka_protocol::records::{
    Compression, NO_PARTITION_LEADER_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, Record as KafkaRecord,
    RecordBatchDecoder, RecordBatchEncoder, RecordEncodeOptions, TimestampType,
};

/// Where parts of the head of a batch are: its base offset, how many bytes follow its length, attributes, the last offset, the latest time.
const LENGTH: usize = 8;
const BEHIND_LENGTH: usize = 12;
const ATTRIBUTES: usize = 21;
const LAST: usize = 23;
const TIME: usize = 35;
const HEAD: usize = 61;

/// The bits of attributes: the time is when the log took it in; records say something of transactions.
const LOG_APPEND_TIME: u16 = 8;
const CONTROL: u16 = 32;

/// What was read of a partition.
#[derive(Debug, Default)]
pub(super) struct Batches {
    pub records: Vec<Read>,
    /// Behind the last batch that is there as a whole.
    pub next: Option<u64>,
    /// Whether the times of all are those at which the log took them in.
    pub by_log: bool,
}

/// Records as one batch.
///
/// # Errors
/// They are too many, or too long.
pub(super) fn encode(records: &[Record], now: i64) -> Result<Bytes, String> {
    let record = |(place, record): (usize, &Record)| KafkaRecord {
        transactional: false,
        control: false,
        delete_horizon: false,
        partition_leader_epoch: NO_PARTITION_LEADER_EPOCH,
        producer_id: NO_PRODUCER_ID,
        producer_epoch: NO_PRODUCER_EPOCH,
        timestamp_type: TimestampType::Creation,
        offset: place as i64,
        // Of a producer without a number there are none, which the first of a batch says.
        sequence: place as i32 - 1,
        timestamp: now,
        key: record.key.clone(),
        value: Some(record.value.clone()),
        headers: Default::default(),
    };
    let records: Vec<KafkaRecord> = records.iter().enumerate().map(record).collect();
    let mut bytes = BytesMut::new();
    let options = RecordEncodeOptions { version: 2, compression: Compression::None };
    RecordBatchEncoder::encode(&mut bytes, records.iter(), &options).map_err(|error| error.to_string())?;
    Ok(bytes.freeze())
}

fn fixed<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}

/// The records from an offset on. The last batch may be there in part, and the first one may begin before.
///
/// # Errors
/// A batch is damaged, or compressed.
pub(super) fn decode(mut bytes: Bytes, from: u64) -> Result<Batches, String> {
    let mut all = Batches { by_log: true, ..Batches::default() };
    while bytes.len() >= HEAD {
        let length = i32::from_be_bytes(fixed(&bytes, LENGTH));
        let length = usize::try_from(length).map_err(|_| "a batch has a negative length".to_owned())?;
        if bytes.len() < BEHIND_LENGTH + length {
            break;
        }
        let mut batch = bytes.split_to(BEHIND_LENGTH + length);
        let base = u64::from_be_bytes(fixed(&batch, 0));
        let attributes = u16::from_be_bytes(fixed(&batch, ATTRIBUTES));
        let last = u32::from_be_bytes(fixed(&batch, LAST));
        let time = u64::from_be_bytes(fixed(&batch, TIME));
        all.next = Some(base + u64::from(last) + 1);
        if attributes & CONTROL > 0 {
            continue;
        }
        all.by_log &= attributes & LOG_APPEND_TIME > 0;
        let set = RecordBatchDecoder::decode(&mut batch).map_err(|error| error.to_string())?;
        all.records.extend(set.records.into_iter().filter(|record| record.offset as u64 >= from).map(
            |record| Read {
                offset: record.offset as u64,
                time,
                record: Record { key: record.key, value: record.value.unwrap_or_default() },
            },
        ));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is put into a batch is read out of it, from any offset on, whole or cut off behind it.
    #[test]
    fn batches_are_read_as_they_were_written() {
        let record = |n: u8| Record {
            key: n.is_multiple_of(2).then(|| Bytes::from(vec![n; 3])),
            value: Bytes::from(vec![n; usize::from(n) * 7]),
        };
        let records: Vec<Record> = (0..20).map(record).collect();
        let mut both = encode(&records[..12], 5).unwrap().to_vec();
        let first = both.len();
        let mut second = encode(&records[12..], 6).unwrap().to_vec();
        second[..8].copy_from_slice(&12u64.to_be_bytes());
        both.extend_from_slice(&second);
        for from in 0..20 {
            let read = decode(Bytes::from(both.clone()), from).unwrap();
            assert_eq!(read.next, Some(20));
            let expected: Vec<Read> = (0u64..)
                .zip(&records)
                .skip(from as usize)
                .map(|(offset, record)| Read {
                    offset,
                    time: if offset < 12 { 5 } else { 6 },
                    record: record.clone(),
                })
                .collect();
            assert_eq!(read.records, expected);
            assert!(!read.by_log);
        }
        for cut in 0..both.len() {
            let read = decode(Bytes::from(both[..cut].to_vec()), 0).unwrap();
            let expected = if cut < first { None } else { Some(12) };
            assert_eq!((read.next, read.records.len() as u64), (expected, expected.unwrap_or(0)));
        }
        let mut damaged = both.clone();
        damaged[first - 1] ^= 1;
        assert!(decode(Bytes::from(damaged), 0).is_err());
    }
}
