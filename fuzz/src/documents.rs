//! Documents: a line is read or refused; what is read is what a general JSON reader sees, and later stages accept it.

use serde_json::Value;
use std::sync::LazyLock;
use twinsplit_core::choice::Choice;
use twinsplit_core::cluster::keep::KeepRule;
use twinsplit_io::error::Place;
use twinsplit_rows::params::Params;
use twinsplit_rows::record::bad::BadLine;
use twinsplit_rows::record::document::DocumentOpts;
use twinsplit_rows::record::meta::{InputPlace, Meta};
use twinsplit_rows::record::{Record, id};
use twinsplit_rows::stages::cluster::rank_of;

static OPTIONS: LazyLock<[DocumentOpts; 2]> = LazyLock::new(|| {
    ["id", "auto"].map(|id| {
        let mut params = Params::default();
        for (name, value) in [("id", id), ("date", "date"), ("score", "score")] {
            params.set(name, value);
        }
        params.parse().expect("options")
    })
});

/// One input.
pub fn run(data: &[u8]) {
    if data.contains(&b'\n') {
        return;
    }
    let place = Place { file: "a file".into(), line: 3, offset: 40, split: 0, number: Some(1) };
    for options in &*OPTIONS {
        let document = match options.read(data, &place) {
            Ok(document) => document,
            Err(error) => {
                let row = BadLine::of(data, &place, &error);
                let mut line = Vec::new();
                row.encode(&mut line);
                assert_eq!(BadLine::decode(&line), Ok(row));
                assert!(line.ends_with(data));
                continue;
            }
        };
        assert!(!document.id.is_empty() && document.id.iter().all(|byte| *byte >= 0x20 && *byte != 0x7f));
        // The general reader has no numbers beyond those of a float.
        if let Ok(Value::Object(fields)) = serde_json::from_slice::<Value>(data) {
            assert_eq!(fields["text"], *document.text);
            if let (Value::String(raw), "id") = (&fields.get("id").unwrap_or(&Value::Null), options.id.name())
            {
                let mut escaped = Vec::new();
                id::escape(raw.as_bytes(), &mut escaped);
                assert_eq!(escaped, document.id);
            }
        }
        let date = document.date.map(|date| date.to_string()).unwrap_or_default();
        let (date, score) = (date.as_bytes(), document.score.as_bytes());
        let place = InputPlace { input: b"00000001", offset: b"0000000000000028" };
        let (file, line) = (b"docs", 7);
        let meta = Meta { id: &document.id, length: 1, date, score, script: b"Latin", place, file, line };
        let mut row = Vec::new();
        meta.encode(&mut row);
        assert_eq!(Meta::decode(&row), Ok(meta));
        for rule in KeepRule::values() {
            let rank = rank_of(rule, &meta).expect("a document that was read can be ranked");
            assert!(rank.iter().all(|byte| (0x20..0x7f).contains(byte)));
        }
    }
}
