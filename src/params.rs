//! The options of a run by their long names, as the user gave them, and the arguments they make for a stage.

use crate::error::{Error, Result};
use crate::stage::Entry;
use crate::stages;
use crate::text::FeatureKind;
use clap::builder::Resettable;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

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
        let given = self.get(name).and_then(|value| value.parse().ok());
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

    /// A struct of options, from those of the options given that it knows. The environment is not asked: what it gives is
    /// here, where it counts.
    pub fn parse<O: Args + FromArgMatches>(&self) -> Result<O> {
        let command = O::augment_args(Command::new("twinsplit").no_binary_name(true))
            .mut_args(|arg| arg.env(Resettable::Reset));
        let known: BTreeSet<String> =
            command.get_arguments().filter_map(|arg| Some(arg.get_long()?.to_owned())).collect();
        let given = self.iter().filter(|(name, _)| known.contains(*name));
        let args: Vec<String> =
            given.flat_map(|(name, value)| [format!("--{name}"), value.to_owned()]).collect();
        Ok(O::from_arg_matches(&command.try_get_matches_from(args)?)?)
    }

    /// The parsed options of a stage, with the paths of its side files.
    pub fn matches_for(&self, entry: &Entry, side: &[(&'static str, &Path)]) -> Result<ArgMatches> {
        let mut args = vec![entry.decl.name.to_owned()];
        args.extend(self.args_for(entry));
        let mut args: Vec<std::ffi::OsString> = args.into_iter().map(Into::into).collect();
        for (option, path) in side {
            if entry.has_side(option) {
                args.extend([format!("--{option}").into(), (*path).into()]);
            }
        }
        Ok(entry.command().try_get_matches_from(args)?)
    }
}
