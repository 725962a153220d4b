//! Ids in JSON.

use super::described::{Described, described};
use super::request::byte_of;
use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::fmt::{self, Write};

described! {
    Id => json!({ "oneOf": [
        { "type": "string", "minLength": 1 },
        { "type": "object", "properties": { "hex": { "type": "string" } }, "required": ["hex"], "additionalProperties": false,
          "description": "an id that is no UTF-8: its bytes in hex digits" },
    ] });
}

/// An id: a text, or an object with hex digits where it is no UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Id(pub Box<[u8]>);

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Ok(text) = std::str::from_utf8(&self.0) {
            return serializer.serialize_str(text);
        }
        let mut digits = String::with_capacity(2 * self.0.len());
        for byte in &self.0 {
            // Writing to a text does not fail.
            let _ = write!(digits, "{byte:02x}");
        }
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("hex", &digits)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfId;

        impl<'de> Visitor<'de> for OfId {
            type Value = Id;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an id as a string, or as {\"hex\": \"…\"}")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Id, E> {
                Ok(Id(text.as_bytes().into()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Id, A::Error> {
                let entry = map.next_entry::<String, String>()?;
                let digits = entry.filter(|(name, _)| name == "hex").map(|(_, digits)| digits);
                let bytes = digits.as_deref().and_then(of_hex);
                let more = map.next_key::<String>()?;
                bytes.filter(|_| more.is_none()).map(|bytes| Id(bytes.into())).ok_or_else(|| {
                    A::Error::custom(
                        "expected an id as a string, or as {\"hex\": \"…\"} with two digits a byte",
                    )
                })
            }
        }

        deserializer.deserialize_any(OfId)
    }
}

fn of_hex(digits: &str) -> Option<Vec<u8>> {
    digits.as_bytes().chunks(2).map(|two| byte_of(two.try_into().ok()?)).collect()
}
