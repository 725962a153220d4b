//! The options of a run by their long names, as the user gave them, and the arguments they make for a stage.

use crate::bad_records::MostBad;
use crate::stage::Entry;
use crate::stages;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use twinsplit_core::options::{Given, Options, Values};
use twinsplit_core::text::FeatureKind;
use twinsplit_io::Megabytes;
use twinsplit_io::error::{Error, Result};

/// The last part of a file's name.
fn base_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// Options that were given, by long name. What is not here has its stage's default.
#[derive(Clone, Debug, Default)]
pub struct Params(BTreeMap<String, String>);

impl Params {
    /// Sets an option.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// The value of an option that was given.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The same options, with another one set.
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.set(name, value);
        self
    }

    /// The options without this one.
    pub fn without(mut self, name: &str) -> Self {
        self.0.remove(name);
        self
    }

    /// Whether an option was given this value.
    pub fn is(&self, name: &str, value: &str) -> bool {
        self.get(name) == Some(value)
    }

    /// The value of an option as a number, or its default; an option that has none is bound to nothing.
    pub fn number(&self, name: &str) -> u64 {
        // Without a bound where all may pass.
        let all = |value: &str| (value == MostBad::ALL).then_some(u64::MAX);
        let megabytes = |value: &str| Some(value.parse::<Megabytes>().ok()?.number());
        let number = |value: &str| value.parse().ok().or_else(|| all(value)).or_else(|| megabytes(value));
        let given = self.get(name).and_then(number);
        given.unwrap_or_else(|| stages::number_by_default(name))
    }

    /// All options that were given.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The user's files that options name: the option, and the file.
    pub fn named_files(&self) -> Vec<(&'static str, &str)> {
        let table = self.get("idf-table").map(|file| ("idf-table", file));
        let features = self.get("features").and_then(FeatureKind::file_of).map(|file| ("features", file));
        table.into_iter().chain(features).collect()
    }

    /// The options for tasks that find those files in their own folder, under the last part of their names.
    pub fn beside_files(&self) -> Result<Self> {
        let mut params = self.clone();
        let mut known: BTreeMap<&str, &str> = BTreeMap::new();
        for (option, file) in self.named_files() {
            let name = base_name(file);
            if known.insert(name, file).is_some_and(|other| other != file) {
                return Err(Error::Usage(format!(
                    "--{option}: tasks would have two files named {name}; rename {file}"
                )));
            }
            let value = self.get(option).unwrap_or(file);
            params.set(option, format!("{}{name}", &value[..value.len() - file.len()]));
        }
        Ok(params)
    }

    /// The arguments for a stage: those of the options given that it knows.
    pub fn args_for(&self, entry: &Entry) -> Vec<String> {
        let known = entry.options();
        let given = known.iter().filter_map(|name| Some((name, self.get(name)?)));
        given.flat_map(|(name, value)| [format!("--{name}"), value.to_owned()]).collect()
    }

    /// A group of options, from those of the options given that it knows.
    pub fn parse<O: Options>(&self) -> Result<O> {
        Ok(O::read(self)?)
    }

    /// The values of a stage's options, with the paths of its side files.
    pub fn values_for(&self, entry: &Entry, side: &[(&'static str, &Path)]) -> Values {
        let mut values = Values::default();
        for option in entry.options() {
            if let Some(value) = self.get(&option) {
                values.set(&option, value);
            }
        }
        for (option, path) in side.iter().filter(|(option, _)| entry.has_side(option)) {
            values.set(option, *path);
        }
        values
    }
}

impl Given for Params {
    fn value(&self, option: &str) -> Option<&OsStr> {
        self.get(option).map(OsStr::new)
    }
}
