//! What has a schema: texts, numbers, lists, and objects that are declared once, with how they are read and written.

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};
use std::fmt;
use std::marker::PhantomData;

/// What has a schema.
pub(crate) trait Described {
    /// Whether it has to be there.
    const IS_REQUIRED: bool = true;

    /// Its schema; those of others by name, which are put into `all`.
    fn schema(all: &mut Map<String, Value>) -> Value;

    /// Whether it is not written.
    fn is_left_out(&self) -> bool {
        false
    }
}

macro_rules! described {
    ($($type:ty => $schema:expr;)*) => { $(
        impl Described for $type {
            fn schema(_: &mut Map<String, Value>) -> Value {
                $schema
            }
        }
    )* };
}

described! {
    String => json!({ "type": "string" });
    bool => json!({ "type": "boolean" });
    u32 => json!({ "type": "integer", "minimum": 0 });
    u64 => json!({ "type": "integer", "minimum": 0 });
    f64 => json!({ "type": "number" });
}

impl<T: Described> Described for Option<T> {
    const IS_REQUIRED: bool = false;

    fn schema(all: &mut Map<String, Value>) -> Value {
        T::schema(all)
    }

    fn is_left_out(&self) -> bool {
        self.is_none()
    }
}

impl<T: Described> Described for Vec<T> {
    fn schema(all: &mut Map<String, Value>) -> Value {
        json!({ "type": "array", "items": T::schema(all) })
    }
}

/// What is read from an object, and from nothing else: a structure is also read from an array of its fields, which no schema has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Object<T>(pub T);

impl<T: Described> Described for Object<T> {
    fn schema(all: &mut Map<String, Value>) -> Value {
        T::schema(all)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfObject<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for OfObject<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }

        deserializer.deserialize_map(OfObject(PhantomData))
    }
}

/// Declares objects: Rust structures, how they are read and written, and their schemas.
macro_rules! objects {
    ($derive:tt $($(#[doc = $about:literal])+ $name:ident { $($(#[doc = $says:literal])+ $field:ident: $type:ty,)* })*) => { $(
        $(#[doc = $about])+
        #[derive $derive]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $name {
            $($(#[doc = $says])+ #[serde(skip_serializing_if = "Described::is_left_out")] pub $field: $type,)*
        }

        impl Described for $name {
            fn schema(all: &mut Map<String, Value>) -> Value {
                if !all.contains_key(stringify!($name)) {
                    // What it holds comes behind it, and nothing holds itself.
                    let mut fields = Map::new();
                    let mut required: Vec<&str> = Vec::new();
                    $(
                        let mut field = <$type>::schema(all);
                        // What has a name is described there.
                        if let Some(field) = field.as_object_mut().filter(|field| !field.contains_key("$ref")) {
                            field.insert("description".to_owned(), concat!($($says),+).trim().into());
                        }
                        fields.insert(stringify!($field).to_owned(), field);
                        if <$type>::IS_REQUIRED {
                            required.push(stringify!($field));
                        }
                    )*
                    all.insert(stringify!($name).to_owned(), json!({
                        "type": "object",
                        "description": concat!($($about),+).trim(),
                        "properties": fields,
                        "required": required,
                        "additionalProperties": false,
                    }));
                }
                json!({ "$ref": concat!("#/components/schemas/", stringify!($name)) })
            }
        }
    )* };
}

pub(crate) use {described, objects};
