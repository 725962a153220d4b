//! How options name the fields of documents: by a field's name, or by the way to it through objects and arrays.

use super::key::Key;
use super::text::RawText;
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use std::str::FromStr;
use twinsplit_io::error::FieldError;

/// A field: `content` by its name, `meta.content` by the way to it, where an array's elements are counted from 0. A field that is itself
/// called `meta.content` comes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath {
    name: String,
    /// How many bytes of it name the field of the document itself with which the way begins; all where it is no way.
    first: usize,
}

impl FieldPath {
    /// The field of this name or way.
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        Self { first: name.find('.').unwrap_or(name.len()), name }
    }

    /// As options name it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the document's field of this name is the one, or the way begins with it.
    #[inline]
    pub(super) fn concerns(&self, key: &str) -> bool {
        let (name, key) = (self.name.as_bytes(), key.as_bytes());
        key.len() == self.first && key == &name[..self.first] || self.first < name.len() && key == name
    }
}

impl FromStr for FieldPath {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.is_empty() {
            true => Err("expected the name of a field".to_owned()),
            false => Ok(Self::new(text)),
        }
    }
}

/// Where the id of a document is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdField {
    /// In a field.
    Named(FieldPath),
    /// Nowhere: it is the name of the file and the offset of the line, FILE@OFFSET.
    Auto,
    /// Nowhere: it is the name of the file and the number of the line, FILE@NUMBER.
    Row,
}

impl IdField {
    /// What the option calls it.
    pub fn name(&self) -> &str {
        match self {
            Self::Named(path) => path.name(),
            Self::Auto => "auto",
            Self::Row => "row",
        }
    }
}

impl FromStr for IdField {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "auto" => Self::Auto,
            "row" => Self::Row,
            name => Self::Named(name.parse()?),
        })
    }
}

/// The fields that hold the text, one or several that are joined by a line end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFields {
    /// The first of them.
    pub first: FieldPath,
    /// Those that follow.
    pub rest: Vec<FieldPath>,
}

impl TextFields {
    /// The one of this name or way.
    pub fn one(name: impl Into<String>) -> Self {
        Self { first: FieldPath::new(name), rest: Vec::new() }
    }

    /// All of them, in their order.
    pub fn all(&self) -> impl Iterator<Item = &FieldPath> {
        std::iter::once(&self.first).chain(&self.rest)
    }

    /// As the option names them.
    pub fn names(&self) -> String {
        self.all().map(FieldPath::name).collect::<Vec<_>>().join(",")
    }
}

impl FromStr for TextFields {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "expected the name of a field, or several with commas between them".to_owned();
        let mut names = text.split(',').map(|name| name.parse::<FieldPath>().map_err(|_| expected()));
        let first = names.next().ok_or_else(expected)??;
        Ok(Self { first, rest: names.collect::<Result<_, _>>()? })
    }
}

twinsplit_core::read_from_text!(FieldPath, IdField, TextFields);

/// What a document's object has for a path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot<'a> {
    /// The field that has the whole name.
    named: Option<&'a RawValue>,
    /// The field with which the way begins.
    around: Option<&'a RawValue>,
}

impl<'a> Slot<'a> {
    /// Takes the value of a field of this name, if the path has to do with it. The error says that it stands twice.
    pub fn take<E: serde::de::Error>(
        &mut self,
        path: &FieldPath,
        key: &str,
        raw: &'a RawValue,
    ) -> Result<(), E> {
        let place = match () {
            () if key == path.name => &mut self.named,
            () if path.concerns(key) => &mut self.around,
            () => return Ok(()),
        };
        if place.replace(raw).is_some() { Err(twice(key)) } else { Ok(()) }
    }

    /// The value at the end of the path; nothing where there is none. The error is JSON's.
    pub fn value(self, path: &FieldPath) -> serde_json::Result<Option<&'a str>> {
        let mut found = match (self.named, self.around) {
            (Some(named), _) => return Ok(Some(named.get())),
            (None, Some(around)) => around,
            (None, None) => return Ok(None),
        };
        for part in path.name.split('.').skip(1) {
            let mut reader = serde_json::Deserializer::from_str(found.get());
            let inside = match found.get().as_bytes().first() {
                Some(b'{') => reader.deserialize_map(Inside(part))?,
                Some(b'[') => reader.deserialize_seq(Inside(part))?,
                _ => None,
            };
            match inside {
                Some(inside) => found = inside,
                None => return Ok(None),
            }
        }
        Ok(Some(found.get()))
    }
}

/// Picks one member of an object, or one element of an array.
struct Inside<'p>(&'p str);

impl<'de> Visitor<'de> for Inside<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut found = None;
        while let Some(Key(key)) = map.next_key()? {
            if key != self.0 {
                map.next_value::<IgnoredAny>()?;
            } else if found.replace(map.next_value()?).is_some() {
                return Err(twice(&key));
            }
        }
        Ok(found)
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<Self::Value, S::Error> {
        let number = self.0.parse::<usize>().ok();
        let (mut found, mut at) = (None, 0);
        loop {
            let is_here = number == Some(at);
            let next = if is_here {
                found = seq.next_element()?;
                found.map(drop)
            } else {
                seq.next_element::<IgnoredAny>()?.map(drop)
            };
            if next.is_none() {
                return Ok(found);
            }
            at += 1;
        }
    }
}

/// The error about a field that stands twice in one object.
pub(super) fn twice<E: serde::de::Error>(key: &str) -> E {
    E::custom(format_args!("the field {key:?} stands twice"))
}

/// The text that the fields of an object hold: missing ones and `null` are passed over where there are several. Nothing where no field is
/// there.
pub(super) fn text<'a>(
    fields: &TextFields,
    slots: impl Iterator<Item = Slot<'a>>,
    broken: impl Fn(&serde_json::Error) -> FieldError,
) -> Result<Option<RawText<'a>>, FieldError> {
    let mut text: Option<RawText<'a>> = None;
    for (path, slot) in fields.all().zip(slots) {
        match slot.value(path).map_err(|error| broken(&error))? {
            None => {}
            Some("null") if !fields.rest.is_empty() => {}
            Some(raw) => match &mut text {
                Some(text) => text.push(raw)?,
                None => text = Some(RawText::new(raw)?),
            },
        }
    }
    Ok(text)
}
