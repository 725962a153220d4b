//! Options: groups of typed values, each declared once with its name, what it means, its default and its limits.
//!
//! Command lines, environment variables, files and programs are views of them: a view has [`Field`]s to show, and hands over values as
//! they are written, which [`Options::read`] takes.
//!
//! ```
//! twinsplit_core::options! {
//!     /// How a collection is cut.
//!     pub struct Cut {
//!         /// Parts of equal size
//!         pub most_parts: u32 = 4, "N", in 1..=100;
//!         /// Which part is taken
//!         pub part: Option<u32>, "K";
//!     }
//! }
//! use twinsplit_core::options::{Options, Values};
//! let mut values = Values::default();
//! assert_eq!(Cut::read(&values)?.most_parts, 4);
//! values.set("most-parts", "0");
//! assert_eq!(Cut::read(&values).unwrap_err().to_string(), "--most-parts 0: 0 is not in 1..=100");
//! # Ok::<(), twinsplit_core::options::Invalid>(())
//! ```

use crate::idf::IdfRange;
use crate::sketch::distance::Distances;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::{self, Display};
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// A group of options.
pub trait Options: Sized {
    /// What each of them is.
    fn fields() -> Vec<Field>;

    /// Their values, of those that were given and the defaults.
    fn read(given: &dyn Given) -> Result<Self, Invalid>;
}

/// Values that were given.
pub trait Given {
    /// The value of the option of this name, as it was written.
    fn value(&self, option: &str) -> Option<&OsStr>;
}

/// Values by the names of their options.
#[derive(Clone, Debug, Default)]
pub struct Values(BTreeMap<String, OsString>);

impl Values {
    /// Sets one.
    pub fn set(&mut self, option: &str, value: impl Into<OsString>) {
        self.0.insert(option.to_owned(), value.into());
    }

    /// The value of an option, where it was given and is one.
    pub fn get<T: Value>(&self, option: &str) -> Option<T> {
        T::read(self.value(option)?).ok()
    }
}

impl Given for Values {
    fn value(&self, option: &str) -> Option<&OsStr> {
        self.0.get(option).map(OsString::as_os_str)
    }
}

/// A value that its option does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The option's name.
    pub option: String,
    /// The value.
    pub value: String,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--{} {}: {}", self.option, self.value, self.problem)
    }
}

impl std::error::Error for Invalid {}

/// An option, as views show it.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name, such as `min-features`.
    pub name: String,
    /// Another name that command lines take for it.
    pub alias: Option<&'static str>,
    /// What it means.
    pub about: String,
    /// Its value when none is given.
    pub default: Option<String>,
    /// What stands for a value in help.
    pub shown: Option<&'static str>,
    /// What a value is.
    pub kind: ValueKind,
    /// Whether it takes this value; else what is wrong with it.
    pub check: fn(&OsStr) -> Result<(), String>,
}

impl Field {
    /// The environment variable that sets it, such as `TWINSPLIT_MIN_FEATURES`.
    pub fn variable(&self) -> String {
        variable_of(&self.name)
    }
}

/// What the values of an option are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Text that is read in one way or another.
    Text,
    /// The name of a file, of any bytes.
    File,
    /// One of these.
    Choice(Vec<Choosable>),
}

/// A value of a [choice](crate::choice::Choice), without its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choosable {
    /// Its name.
    pub name: &'static str,
    /// Another name under which it is known.
    pub alias: Option<&'static str>,
    /// What it means.
    pub about: &'static str,
}

/// What an option may be.
pub trait Value: Sized {
    /// Reads what was written; else what is wrong with it.
    fn read(written: &OsStr) -> Result<Self, String>;

    /// The value of an option that was not given and has no default, where there is one.
    fn absent() -> Option<Self> {
        None
    }

    /// What such values are.
    fn kind() -> ValueKind {
        ValueKind::Text
    }
}

/// What was written, as text.
pub fn text(written: &OsStr) -> Result<&str, String> {
    written.to_str().ok_or_else(|| "it is not UTF-8".to_owned())
}

impl Value for PathBuf {
    fn read(written: &OsStr) -> Result<Self, String> {
        Ok(written.into())
    }

    fn kind() -> ValueKind {
        ValueKind::File
    }
}

impl<T: Value> Value for Option<T> {
    fn read(written: &OsStr) -> Result<Self, String> {
        T::read(written).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn kind() -> ValueKind {
        T::kind()
    }
}

/// Makes values of types that are read from text ([`FromStr`](std::str::FromStr)).
#[macro_export]
macro_rules! read_from_text {
    ($($type:ty),+) => {$(
        impl $crate::options::Value for $type {
            fn read(written: &std::ffi::OsStr) -> Result<Self, String> {
                $crate::options::text(written)?.parse::<$type>().map_err(|error| error.to_string())
            }
        }
    )+};
}

read_from_text!(u32, u64, usize, String, Distances, IdfRange);

/// Numbers of which an option takes some.
pub trait Within<N> {
    /// What is wrong with a number that is not in the range.
    fn within(&self, range: &RangeInclusive<N>) -> Result<(), String>;
}

impl<N: PartialOrd + Display> Within<N> for N {
    fn within(&self, range: &RangeInclusive<N>) -> Result<(), String> {
        match range.contains(self) {
            true => Ok(()),
            false => Err(format!("{self} is not in {}..={}", range.start(), range.end())),
        }
    }
}

impl<N: PartialOrd + Display> Within<N> for Option<N> {
    fn within(&self, range: &RangeInclusive<N>) -> Result<(), String> {
        self.as_ref().map_or(Ok(()), |number| number.within(range))
    }
}

/// The environment variable that sets the option of this name.
pub fn variable_of(option: &str) -> String {
    format!("TWINSPLIT_{}", option.replace('-', "_").to_uppercase())
}

/// The name of the option that a field is.
pub fn name_of(field: &str) -> String {
    field.replace('_', "-")
}

/// The value of an option that may have a default.
#[doc(hidden)]
pub fn value_of<T: Value>(
    given: &dyn Given,
    field: &str,
    default: Option<String>,
    check: impl Fn(&T) -> Result<(), String>,
) -> Result<T, Invalid> {
    let option = name_of(field);
    let default = default.map(OsString::from);
    let written = given.value(&option).or(default.as_deref());
    let value = match written {
        Some(written) => T::read(written).and_then(|value| check(&value).map(|()| value)),
        None => T::absent().ok_or_else(|| "a value is needed".to_owned()),
    };
    value.map_err(|problem| Invalid {
        option,
        value: written.unwrap_or_default().to_string_lossy().into_owned(),
        problem,
    })
}

/// Declares a group of options.
///
/// A field is an option of its name, with `-` for `_`. Behind its type stand its default, what is shown for its value in help, which
/// numbers it takes, and another name (`, or "threshold"`), each where there is one. A group may have those of others `with` it, and fields that are no options `beside` them.
#[macro_export]
macro_rules! options {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $about:literal])+
                $of:vis $field:ident: $type:ty $(= $default:expr)? $(, $shown:literal)? $(, in $range:expr)?
                    $(, or $alias:literal)?;
            )*
        }
        $(with { $($(#[$with_meta:meta])* $of_with:vis $with:ident: $group:ty,)+ })?
        $(beside { $($(#[$beside_meta:meta])* $of_beside:vis $beside:ident: $other:ty,)+ })?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        $vis struct $name {
            $($(#[doc = $about])+ $of $field: $type,)*
            $($($(#[$with_meta])* $of_with $with: $group,)+)?
            $($($(#[$beside_meta])* $of_beside $beside: $other,)+)?
        }

        impl $crate::options::Options for $name {
            fn fields() -> Vec<$crate::options::Field> {
                #[allow(unused_mut, reason = "where there is no group with these")]
                let mut fields = vec![$($crate::options::Field {
                    name: $crate::options::name_of(stringify!($field)),
                    alias: [$(Some($alias),)? None][0],
                    about: concat!($($about),+).trim().to_owned(),
                    default: [$(Some($default.to_string()),)? None].into_iter().next().flatten(),
                    shown: [$(Some($shown),)? None][0],
                    kind: <$type as $crate::options::Value>::kind(),
                    check: |written| {
                        let value = <$type as $crate::options::Value>::read(written)?;
                        let _ = &value;
                        $($crate::options::Within::within(&value, &$range)?;)?
                        Ok(())
                    },
                },)*];
                $($(fields.extend(<$group as $crate::options::Options>::fields());)+)?
                fields
            }

            fn read(given: &dyn $crate::options::Given) -> Result<Self, $crate::options::Invalid> {
                let _ = given;
                Ok(Self {
                    $($field: $crate::options::value_of(
                        given,
                        stringify!($field),
                        [$(Some($default.to_string()),)? None].into_iter().next().flatten(),
                        |value: &$type| {
                            let _ = value;
                            $($crate::options::Within::within(value, &$range)?;)?
                            Ok(())
                        },
                    )?,)*
                    $($($with: $crate::options::Options::read(given)?,)+)?
                    $($($beside: Default::default(),)+)?
                })
            }
        }
    };
}

#[cfg(test)]
mod tests;
