//! What `--and` asks for.

use crate::options::RunOpts;
use std::fmt;
use std::str::FromStr;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::plan::{KeptForm, Plan};
use twinsplit_rows::stages::reduce::REDUCE_TO;

/// The name of the option, and of the step.
pub const AND: &str = "and";

/// What is asked for: a field, the least similarity in it, and its features where these are others than those of the text.
#[derive(Clone, Debug)]
pub struct AndField {
    pub(super) field: String,
    pub(super) tau: String,
    pub(super) features: Option<String>,
}

impl FromStr for AndField {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let expected = || "expected FIELD:TAU, or FIELD:TAU:FEATURES such as title:0.8:words:1".to_owned();
        let (field, rest) = text.split_once(':').ok_or_else(expected)?;
        let (tau, features) = rest.split_once(':').map_or((rest, None), |(tau, kind)| (tau, Some(kind)));
        let is_number = !tau.is_empty() && tau.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if field.is_empty() || !is_number || features == Some("") {
            return Err(expected());
        }
        Ok(Self { field: field.to_owned(), tau: tau.to_owned(), features: features.map(str::to_owned) })
    }
}

impl fmt::Display for AndField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, tau, features } = self;
        write!(f, "{field}:{tau}")?;
        features.iter().try_for_each(|features| write!(f, ":{features}"))
    }
}

/// The options that a run with one of these fields does not go with, and why.
pub fn refuse(plan: &Plan, opts: &RunOpts) -> Result<()> {
    let given = |name: &str| plan.params.get(name).is_some();
    let has_store = opts.store.store.is_some() || opts.store.against.is_some();
    let wrong = [
        (
            plan.engine.is_remote(),
            "is for --engine local and pipes, which read documents of this machine again; run there, or leave it out",
        ),
        (has_store, "does not go with a store, which holds no other field; leave it out, or the store"),
        (
            opts.inputs.unit.is_some(),
            "checks a field of documents, and --unit compares parts of them; leave one of the two out",
        ),
        (given("queries"), "checks pairs of documents of the input; leave --queries out"),
        (given(REDUCE_TO), "leaves pairs out that --reduce-to would go through; leave one of the two out"),
        (plan.params.is("write", "clusters"), "checks the pairs; leave --write clusters out"),
        (
            plan.params.is("cluster", "components"),
            "makes stars, so that a document that is dropped is alike in both fields to the one that is kept; leave --cluster components out",
        ),
    ];
    match wrong.iter().find(|(is_wrong, _)| *is_wrong) {
        Some((_, why)) => Err(Error::Usage(format!("--and {why}"))),
        None => Ok(()),
    }
}

/// The option and its value, for `run.json`.
pub fn parameters(opts: &RunOpts) -> impl Iterator<Item = (&'static str, String)> {
    let is_same = opts.write_kept == Some(KeptForm::Same);
    let write_kept = ("write-kept", opts.write_kept.is_some().to_string());
    let write_kept = opts.and.iter().filter(move |_| !is_same).map(move |_| write_kept.clone());
    opts.and.iter().map(|and| (AND, and.to_string())).chain(write_kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_comes_with_its_threshold() {
        for text in ["title:0.8", "meta.title,sub:1:words:1", "t:3:spotsigs:zh"] {
            assert_eq!(text.parse::<AndField>().unwrap().to_string(), text);
        }
        for text in ["title", "title:", ":0.8", "title:high", "title:0.8:", "title:words:1", ""] {
            assert!(text.parse::<AndField>().is_err(), "{text}");
        }
    }
}
