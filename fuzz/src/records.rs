//! Every declared record: whatever the bytes, reading ends in a record or in an error about a field, and what was
//! read is written in a form that is read and written back as it is. The first byte takes a record from the table.

use std::sync::LazyLock;
use twinsplit_rows::stage::RecordInfo;
use twinsplit_rows::stages::STAGES;

static RECORDS: LazyLock<Vec<RecordInfo>> =
    LazyLock::new(|| STAGES.iter().flat_map(|entry| [entry.input, entry.output]).collect());

/// One input.
pub fn run(data: &[u8]) {
    let Some((&first, line)) = data.split_first() else { return };
    let record = RECORDS[usize::from(first) % RECORDS.len()];
    match (record.rewrites)(line) {
        Ok(written) => assert_eq!((record.rewrites)(&written), Ok(written), "{}", record.fields),
        Err(error) => {
            assert!(!error.field.is_empty() && !error.expected.is_empty() && !error.found.is_empty())
        }
    }
}
