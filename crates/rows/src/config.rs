//! Files of options: a chain and options of its stages, by their names.
//!
//! ```toml
//! chain = "minhash"
//! features = "words:3"
//! tau = 0.7
//! case-fold = true
//! ```
//!
//! What `twinsplit plan --json` prints, and the `run.json` of a run, are such files as well: what was given for them is given again. Input,
//! output, engine, threads and memory are no part of them, for they decide nothing about pairs and clusters.

use crate::chains::Family;
use crate::stages;
use serde_json::{Map, Value};
use std::path::Path;
use toml::de::{DeTable, DeValue};
use twinsplit_core::nearest::nearest;
use twinsplit_core::options::Field;
use twinsplit_io::error::{Error, Result};

/// What a file asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The family of chains.
    pub chain: Option<String>,
    /// Options and their values.
    pub options: Vec<(String, String)>,
    /// What the answer of a `run.json` depends on beside its chain, and the file does not set: options of `run` and their values.
    pub beside: Vec<(&'static str, String)>,
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// When it is neither TOML nor JSON, and for a name or a value that no option has: each with its line.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
        Self::parse(&text).map_err(|problem| Error::File { path: path.to_owned(), problem })
    }

    /// Reads the text of a file, or says what is wrong with it.
    fn parse(text: &str) -> std::result::Result<Self, String> {
        if text.trim_start().starts_with('{') { of_plan(text) } else { of_toml(text) }
    }

    /// Takes an option, if there is one of this name that takes this value.
    fn take(&mut self, known: &[Field], name: &str, value: String) -> std::result::Result<(), String> {
        let name = name.replace('_', "-");
        if name == "chain" {
            Family::named(&value).ok_or_else(|| {
                let names: Vec<_> = crate::chains::FAMILIES.iter().map(|family| family.name).collect();
                format!("there is no chain {value}; expected one of {}", names.join(", "))
            })?;
            self.chain = Some(value);
            return Ok(());
        }
        let is_called = |field: &&Field| field.name == name || field.alias == Some(&*name);
        let field = known.iter().find(is_called).ok_or_else(|| unknown(&name, known))?;
        (field.check)(value.as_ref()).map_err(|problem| format!("{name} {value:?}: {problem}"))?;
        self.options.push((field.name.clone(), value));
        Ok(())
    }
}

/// Options of `run` that are none of a chain, and that pairs and clusters depend on.
const BESIDE: [&str; 5] = ["html", "unit", "and", "store", "against"];

/// What was given for a plan, beside what its chain has for itself.
fn of_plan(text: &str) -> std::result::Result<Config, String> {
    let plan: Value = serde_json::from_str(text).map_err(|error| format!("is no JSON: {error}"))?;
    let fields = |name: &str| plan[name].as_object().cloned().unwrap_or_default();
    let (parameters, origins): (Map<_, _>, Map<_, _>) = (fields("parameters"), fields("origins"));
    let chain = plan["chain"].as_str().filter(|_| !parameters.is_empty());
    let chain = chain
        .ok_or("is JSON, but neither a plan nor the run.json of a run, which name chain and parameters")?;
    let known = stages::all_options();
    let mut config = Config::default();
    config.take(&known, "chain", chain.to_owned())?;
    let beside =
        BESIDE.into_iter().filter_map(|name| Some((name, parameters.get(name)?.as_str()?.to_owned())));
    config.beside = beside.collect();
    for (name, origin) in &origins {
        if let (Some(value), true) = (parameters[name].as_str(), origin != "chain") {
            config.take(&known, name, value.to_owned())?;
        }
    }
    Ok(config)
}

fn of_toml(text: &str) -> std::result::Result<Config, String> {
    let line =
        |at: usize| text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1;
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        format!("line {}: {}", line(at), error.message())
    })?;
    let known = stages::all_options();
    let mut config = Config::default();
    let mut entries: Vec<_> = table.get_ref().iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    for (name, value) in entries {
        // Numbers as they are written: .7 is no binary fraction.
        let written = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) => number.as_str().replace('_', ""),
            DeValue::Float(number) => number.as_str().replace('_', ""),
            DeValue::Boolean(on) => if *on { "on" } else { "off" }.to_owned(),
            _ => {
                return Err(format!(
                    "line {}: {}: expected a text, a number, true or false",
                    line(value.span().start),
                    name.get_ref()
                ));
            }
        };
        let taken = config.take(&known, name.get_ref(), written);
        taken.map_err(|problem| format!("line {}: {problem}", line(name.span().start)))?;
    }
    Ok(config)
}

/// What is to be said of a name that no option has: it may be that of another one, mistyped.
fn unknown(name: &str, known: &[Field]) -> String {
    let all = known.iter().map(|field| field.name.as_str()).chain(["chain"]);
    let near = nearest(name, all).map_or_else(String::new, |near| format!("; there is {near}"));
    format!(
        "{name} is no option of a chain{near}; input, output, engine, threads, memory, html, unit, and, store and against are given on the command line"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(config: &Config) -> Vec<(&str, &str)> {
        config.options.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    #[test]
    fn values_are_as_they_are_written() {
        let text = "# Copies\nchain = \"minhash\"\ntau = 0.70\nhashes = 1_28\ncase_fold = false\nfeatures = 'chars:4'\n";
        let config = Config::parse(text).unwrap();
        assert_eq!(config.chain.as_deref(), Some("minhash"));
        let expected = [("tau", "0.70"), ("hashes", "128"), ("case-fold", "off"), ("features", "chars:4")];
        assert_eq!(options(&config), expected);
        assert_eq!(Config::parse("").unwrap(), Config::default());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, parts) in [
            ("tau = 0.7\n\ntaux = 1", &["line 3", "taux", "there is tau"][..]),
            ("hashes = 0", &["line 1", "hashes", "0 is not in 1..="]),
            ("chain = 'doc'", &["line 1", "there is no chain doc", "doc-split"]),
            ("tau = [1]", &["line 1", "tau", "expected a text"]),
            ("a\n= 1", &["line 1"]),
            ("input = 'docs'", &["input is no option", "command line"]),
            ("{\"a\": 1}", &["neither a plan nor"]),
            ("{", &["no JSON"]),
        ] {
            let problem = Config::parse(text).unwrap_err();
            assert!(parts.iter().all(|part| problem.contains(part)), "{text}: {problem}");
        }
    }

    #[test]
    fn a_plan_gives_again_what_it_was_given() {
        let plan = r#"{"chain": "doc-split", "engine": "local",
            "parameters": {"tau": "0.5", "features": "words:2", "idf": "0,1", "min-features": "4", "write-kept": true},
            "origins": {"tau": "command line", "features": "environment", "min-features": "--features", "idf": "chain"}}"#;
        let config = Config::parse(plan).unwrap();
        assert_eq!(config.chain.as_deref(), Some("doc-split"));
        assert_eq!(options(&config), [("features", "words:2"), ("min-features", "4"), ("tau", "0.5")]);
    }
}
