//! What the answer of a `run.json` depends on beside the options of its chain: `--config` cannot give it.

use clap::ArgMatches;
use twinsplit_io::error::{Error, Result};

/// Which options of a run that are none of its chain say something to a command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Besides {
    /// To one that runs a chain: all.
    All,
    /// To one that looks at documents: what these are.
    Documents,
}

/// Refuses a `run.json` whose answer depends on options that were not given as they were then. A store may be another one, or be left as it is.
pub fn must_be_given(matches: &ArgMatches, beside: &[(&str, String)], besides: Besides) -> Result<()> {
    let given = |name: &str| {
        let values = matches.try_get_raw(name).ok().flatten();
        values.and_then(|mut values| values.next()).map(|value| value.to_string_lossy())
    };
    for (name, value) in beside.iter().filter(|(name, _)| besides == Besides::All || *name == "unit") {
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
