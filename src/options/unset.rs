//! What `--config` does not set and the answer of a `run.json` depends on: options of `run` beside those of its chain.

use clap::ArgMatches;
use twinsplit_io::error::{Error, Result};

/// What a command does that takes a file of options.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// It runs a chain, or prints one: all of these options say something to it.
    Runs,
    /// It looks at documents: what these are says something to it.
    ReadsDocuments,
}

/// Refuses a `run.json` whose answer depends on options that were not given as they were then. A store may be another one, or be left as it is.
pub fn must_be_given(matches: &ArgMatches, beside: &[(&str, String)], caller: Caller) -> Result<()> {
    let given = |name: &str| {
        let values = matches.try_get_raw(name).ok().flatten();
        values.and_then(|mut values| values.next()).map(|value| value.to_string_lossy())
    };
    for (name, value) in
        beside.iter().filter(|(name, _)| caller == Caller::Runs || ["html", "unit"].contains(name))
    {
        let is_given = match *name {
            "store" | "against" => given("store").or_else(|| given("against")).is_some(),
            name => given(name).is_some_and(|given| *given == **value),
        };
        if !is_given {
            return Err(Error::Usage(format!(
                "--config is the run.json of a run with --{name} {value}, which it does not set; give --{name}, too"
            )));
        }
    }
    Ok(())
}
