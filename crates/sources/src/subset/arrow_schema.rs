//! The note in which Arrow's libraries keep the schema of a Parquet file as they have it: types such as dictionaries and long texts.
//!
//! They expect as many columns in it as the file has, so columns that are added to a file are added to its note.

use crate::cells::{Column, arrow_field};
use crate::guard::guarded;
use arrow_ipc::convert::try_schema_from_ipc_buffer;
use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteOptions};
use arrow_schema::Schema;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::sync::Arc;

/// What it is called.
pub const KEY: &str = "ARROW:schema";

/// The note of a file that gets columns behind the `count` that it has; nothing where it is no such note, for one that is not true
/// would be worse than none.
pub fn with_columns(note: &str, count: usize, columns: &[Column]) -> Option<String> {
    let bytes = STANDARD.decode(note).ok()?;
    let schema = guarded(|| try_schema_from_ipc_buffer(&bytes)).ok()?;
    if schema.fields().len() != count {
        return None;
    }
    let added = columns.iter().map(arrow_field).map(Arc::new);
    let fields: Vec<_> = schema.fields().iter().cloned().chain(added).collect();
    let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
    let (mut dictionaries, options) = (DictionaryTracker::new(true), IpcWriteOptions::default());
    let message = IpcDataGenerator::default()
        .schema_to_bytes_with_dictionary_tracker(&schema, &mut dictionaries, &options)
        .ipc_message;
    let length = u32::try_from(message.len()).ok()?;
    let mut bytes = vec![0xff; 4];
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&message);
    Some(STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::Kind;

    #[test]
    fn a_note_that_is_none_is_left_out() {
        let columns = [Column { name: "n".to_owned(), kind: Kind::Whole, may_miss: false }];
        let none = with_columns(&STANDARD.encode([0xff; 4]), 0, &columns);
        assert_eq!((with_columns("no base64!", 0, &columns), none), (None, None));
        let tracker = &mut DictionaryTracker::new(true);
        let empty = IpcDataGenerator::default()
            .schema_to_bytes_with_dictionary_tracker(&Schema::empty(), tracker, &IpcWriteOptions::default())
            .ipc_message;
        let note = STANDARD.encode([&(empty.len() as u32).to_le_bytes()[..], &empty].concat());
        assert_eq!(with_columns(&note, 1, &columns), None);
        let made = STANDARD.decode(with_columns(&note, 0, &columns).unwrap()).unwrap();
        let schema = try_schema_from_ipc_buffer(&made).unwrap();
        assert_eq!(schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>(), ["n"]);
    }
}
