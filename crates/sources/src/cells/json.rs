//! Members of JSON objects.

use super::{Cell, Column};
use memchr::memmem::Finder;
use serde_json::Value;
use std::io;
use std::io::Write as _;

impl Cell<'_> {
    /// Writes it as a value of JSON.
    ///
    /// # Errors
    /// None that memory has.
    pub fn write_json(&self, out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Missing => out.extend_from_slice(b"null"),
            Self::Text(text) => serde_json::to_writer(out, text)?,
            Self::Whole(number) => write!(out, "{number}")?,
            Self::Share(share) => out.extend_from_slice(share.as_bytes()),
            Self::Is(is) => write!(out, "{is}")?,
        }
        Ok(())
    }
}

/// The members that objects get behind their own.
pub struct Members {
    columns: Vec<Column>,
    /// Finds what all names begin with, behind a quotation mark.
    beginning: Finder<'static>,
}

impl Members {
    /// Those of columns.
    pub fn of(columns: &[Column]) -> Self {
        let mut beginning = columns.first().map_or("", |first| first.name.as_str());
        while !columns.iter().all(|column| column.name.starts_with(beginning)) {
            beginning = &beginning[..beginning.char_indices().next_back().map_or(0, |(last, _)| last)];
        }
        let beginning = Finder::new(&format!("\"{beginning}")).into_owned();
        Self { columns: columns.to_vec(), beginning }
    }

    /// A name that an object has already. Few have the beginning of one anywhere, and only these are looked at closely.
    pub fn taken(&self, object: &[u8]) -> Option<&str> {
        self.beginning.find(object)?;
        let object: Value = serde_json::from_slice(object).ok()?;
        self.columns.iter().map(|column| column.name.as_str()).find(|name| object.get(name).is_some())
    }

    /// Writes them with these values, each with a comma before it, in characters of ASCII alone if `is_ascii`.
    ///
    /// # Errors
    /// None that memory has.
    pub fn write(&self, cells: &[Cell<'_>], is_ascii: bool, out: &mut Vec<u8>) -> io::Result<()> {
        let start = out.len();
        for (column, cell) in self.columns.iter().zip(cells) {
            out.push(b',');
            serde_json::to_writer(&mut *out, &column.name)?;
            out.push(b':');
            cell.write_json(out)?;
        }
        if is_ascii && !out[start..].is_ascii() {
            let members = String::from_utf8_lossy(&out[start..]).into_owned();
            out.truncate(start);
            for unit in members.encode_utf16() {
                match u8::try_from(unit).ok().filter(u8::is_ascii) {
                    Some(byte) => out.push(byte),
                    // Characters of other planes are two units in JSON, too.
                    None => write!(out, "\\u{unit:04x}")?,
                }
            }
        }
        Ok(())
    }
}

/// Where the members of an object end.
pub fn end(object: &[u8]) -> usize {
    let object = object.trim_ascii_end();
    object.strip_suffix(b"}").unwrap_or(object).len()
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn columns() -> Vec<Column> {
        let column = |name: &str, kind, may_miss| Column { name: name.to_owned(), kind, may_miss };
        vec![
            column("k\u{e9}pt", Kind::Text, false),
            column("size", Kind::Whole, false),
            column("share", Kind::Share, true),
            column("drop", Kind::Is, false),
        ]
    }

    fn object(members: &[u8]) -> Value {
        serde_json::from_slice(&[b"{\"a\":0", members, b"}"].concat()).unwrap()
    }

    proptest! {
        #[test]
        fn members_are_read_as_they_were_written(text in any::<String>(), size in any::<i64>(), drop in any::<bool>()) {
            let cells = [Cell::Text(text.as_str().into()), Cell::Whole(size), Cell::Missing, Cell::Is(drop)];
            let expected = json!({"a": 0, "k\u{e9}pt": text, "size": size, "share": null, "drop": drop});
            for is_ascii in [false, true] {
                let mut out = Vec::new();
                Members::of(&columns()).write(&cells, is_ascii, &mut out).unwrap();
                prop_assert!(!is_ascii || out.is_ascii());
                prop_assert_eq!(&object(&out), &expected);
            }
        }
    }

    #[test]
    fn a_name_that_is_taken_is_found() {
        let members = Members::of(&columns());
        for (object, taken) in [
            ("{\"text\":\"size\"}", None),
            ("{\"text\":\"\\\"size\"}", None),
            ("{\"a\":{\"size\":1}}", None),
            ("{\"size\" : null}", Some("size")),
            ("{\"drop\":1,\"size\":2}", Some("size")),
        ] {
            assert_eq!(members.taken(object.as_bytes()), taken, "{object}");
        }
    }

    #[test]
    fn members_end_before_the_brace() {
        for (object, expected) in [("{\"a\":1}", 6), ("{\"a\":1 } \r", 7)] {
            assert_eq!(end(object.as_bytes()), expected, "{object}");
        }
    }
}
