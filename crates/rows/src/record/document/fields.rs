//! Which fields a line has, for messages, and the text of one that few stages ask for.

use super::key::Key;
use super::path::{FieldPath, Slot};
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use twinsplit_io::error::FieldError;

/// More names than these are counted.
const MOST: usize = 30;

/// The names of the fields of a line, in quotes, as far as it is a JSON object.
pub fn field_names(line: &[u8]) -> String {
    let mut names = Vec::new();
    // Where the object breaks off, the names before that are known.
    let _ = serde_json::Deserializer::from_slice(line).deserialize_map(Names(&mut names));
    if names.is_empty() {
        return "none".to_owned();
    }
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    let names = names.join(", ");
    if more > 0 { format!("{names} and {more} more") } else { names }
}

struct Names<'n>(&'n mut Vec<String>);

impl<'de> Visitor<'de> for Names<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(Key(name)) = map.next_key()? {
            self.0.push(format!("{name:?}"));
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// The first field of an object that holds an array of objects: the documents may be its elements.
pub(super) fn field_of_objects(line: &[u8]) -> Option<String> {
    let fields: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_slice(line).ok()?;
    let holds = |raw: &RawValue| {
        raw.get().strip_prefix('[').is_some_and(|inside| inside.trim_ascii_start().starts_with('{'))
    };
    fields.into_iter().find(|(_, raw)| holds(raw)).map(|(name, _)| name.into_owned())
}

/// The values of fields of a line that is a JSON object, as they stand there; nothing for those that are not there.
pub fn raw_fields<'a>(line: &'a [u8], paths: &[&FieldPath]) -> Result<Vec<Option<&'a str>>, FieldError> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let whole = |_| FieldError::new("document", "a JSON object in UTF-8 on one line", line);
    let fields: BTreeMap<Cow<'a, str>, &'a RawValue> = serde_json::from_slice(line).map_err(whole)?;
    let value = |path: &&FieldPath| {
        let mut slot = Slot::default();
        for (name, raw) in &fields {
            slot.take(path, name, raw).map_err(|error: serde_json::Error| whole(error))?;
        }
        slot.value(path).map_err(whole)
    };
    paths.iter().map(value).collect()
}

/// The text of a field of a line that is a JSON object; nothing where it is not there, or `null`.
pub fn string_field<'a>(line: &'a [u8], path: &FieldPath) -> Result<Option<Cow<'a, str>>, FieldError> {
    let Some(raw) = raw_fields(line, &[path])?.pop().flatten().filter(|raw| *raw != "null") else {
        return Ok(None);
    };
    let wrong = |_| FieldError::new("site", "a string, or null", raw.as_bytes());
    serde_json::from_str::<String>(raw).map(|text| Some(text.into())).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_their_order_and_cannot_harm_a_terminal() {
        assert_eq!(field_names(br#"{"b":{"c":1},"a":[],"\u001b[2J":0}"#), r#""b", "a", "\u{1b}[2J""#);
        assert_eq!(field_names(b"[1]"), "none");
        assert_eq!(field_names(br#"{"a":1,"b":"#), r#""a", "b""#);
        assert_eq!(field_of_objects(br#"{"a":[1],"b":[ {}],"c":[{}]}"#).as_deref(), Some("b"));
        assert_eq!(field_of_objects(br#"{"a":{"b":[{}]}}"#), None);
        let many: Vec<String> = (0..32).map(|number| format!("\"f{number}\":0")).collect();
        assert!(field_names(format!("{{{}}}", many.join(",")).as_bytes()).ends_with("\"f29\" and 2 more"));
    }
}
