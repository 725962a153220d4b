//! Choices: types with a few values, each of which has a name in options, files and tables.

use crate::options::{self, Choosable};
use std::ffi::OsStr;
use std::fmt;

/// A type with a few values that have names.
pub trait Choice: Copy + PartialEq + Send + Sync + 'static {
    /// All values, in the order in which help lists them.
    const ALL: &'static [Named<Self>];

    /// The value of this name, or of another name that it has.
    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|one| one.name == name || one.alias == Some(name)).map(|one| one.value)
    }

    /// Its name.
    fn name(self) -> &'static str {
        Self::ALL.iter().find(|one| one.value == self).map_or("", |one| one.name)
    }

    /// All values, in the order in which help lists them.
    fn values() -> impl Iterator<Item = Self> {
        Self::ALL.iter().map(|one| one.value)
    }
}

/// A value of a choice.
#[derive(Clone, Copy, Debug)]
pub struct Named<T> {
    /// The value.
    pub value: T,
    /// Its name.
    pub name: &'static str,
    /// Another name under which it is known.
    pub alias: Option<&'static str>,
    /// What it means, in a sentence.
    pub about: &'static str,
}

/// A name that no value of a choice has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unnamed {
    names: Vec<&'static str>,
}

impl fmt::Display for Unnamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected one of {}", self.names.join(", "))
    }
}

impl std::error::Error for Unnamed {}

/// The value of a name, or which names there are.
pub fn parse<T: Choice>(name: &str) -> Result<T, Unnamed> {
    T::named(name).ok_or_else(|| Unnamed { names: T::ALL.iter().map(|one| one.name).collect() })
}

/// The value of what was written, as an option's.
pub fn read<T: Choice>(written: &OsStr) -> Result<T, String> {
    parse(options::text(written)?).map_err(|error| error.to_string())
}

/// What may be chosen, for those who show it.
pub fn choices<T: Choice>() -> Vec<Choosable> {
    let shown = |one: &Named<T>| Choosable { name: one.name, alias: one.alias, about: one.about.trim() };
    T::ALL.iter().map(shown).collect()
}

/// Declares a [`Choice`]: each value with what it means and its name. Behind the name may stand another one (`or "other"`), and which
/// value is taken when none is given (`; default`). Values are written and read by their names.
#[macro_export]
macro_rules! choice {
    (
        $(#[$meta:meta])*
        $vis:vis enum $type:ident {
            $($(#[doc = $about:literal])+ $value:ident = $name:literal $(or $alias:literal)? $(; $default:ident)?,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $type {
            $($(#[doc = $about])+ $(#[$default])? $value,)+
        }

        impl $type {
            /// Its name, as options and files have it.
            #[allow(dead_code, reason = "not every choice is named")]
            $vis fn name(self) -> &'static str {
                $crate::choice::Choice::name(self)
            }
        }

        impl $crate::choice::Choice for $type {
            const ALL: &'static [$crate::choice::Named<Self>] = &[
                $($crate::choice::Named {
                    value: Self::$value,
                    name: $name,
                    alias: [$(Some($alias),)? None][0],
                    about: concat!($($about),+),
                },)+
            ];
        }

        impl std::str::FromStr for $type {
            type Err = $crate::choice::Unnamed;

            fn from_str(name: &str) -> Result<Self, $crate::choice::Unnamed> {
                $crate::choice::parse(name)
            }
        }

        impl $crate::options::Value for $type {
            fn read(written: &std::ffi::OsStr) -> Result<Self, String> {
                $crate::choice::read(written)
            }

            fn kind() -> $crate::options::ValueKind {
                $crate::options::ValueKind::Choice($crate::choice::choices::<Self>())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    choice! {
        /// How a thing is done.
        #[derive(Default)]
        enum Way {
            /// At once
            Fast = "fast" or "quick"; default,
            /// Later
            Slow = "in-the-end",
        }
    }

    #[test]
    fn values_have_names() {
        assert_eq!(Way::ALL.iter().map(|one| one.name).collect::<Vec<_>>(), ["fast", "in-the-end"]);
        assert_eq!(Way::ALL.iter().map(|one| one.about.trim()).collect::<Vec<_>>(), ["At once", "Later"]);
        assert_eq!(["quick", "in-the-end", "Fast"].map(Way::named), [Some(Way::Fast), Some(Way::Slow), None]);
        assert_eq!((Way::default().name(), Way::Slow.name()), ("fast", "in-the-end"));
    }
}
