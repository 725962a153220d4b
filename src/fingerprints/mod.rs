//! `twinsplit fingerprints`: an index of fingerprints for Hamming search, built, asked and looked at.
//!
//! The rows are those that the stage `simhash` writes, an id and a fingerprint in hex digits (`read`); all else is done by [`twinsplit_hamming`].

mod build;
mod pairs;
mod query;
mod read;
mod stats;

use crate::args;
use clap::{ArgMatches, Args, Command};
use twinsplit_io::Stdout;
use twinsplit_io::error::{Error, Result};

/// The command line.
pub fn command() -> Command {
    let nested = |options: fn(Command) -> Command, name: &'static str, about: &'static str| {
        options(Command::new(name)).about(about).long_about(None)
    };
    Command::new("fingerprints")
        .about("Finds all fingerprints within a Hamming distance")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(nested(build::Opts::augment_args, "build", "Builds an index file of rows id⇥fingerprint"))
        .subcommand(nested(
            query::Opts::augment_args,
            "query",
            "Prints query_id⇥id⇥distance for all fingerprints of an index that are near those of the rows",
        ))
        .subcommand(nested(
            pairs::Opts::augment_args,
            "pairs",
            "Prints id_a⇥id_b⇥distance for each two of the rows whose fingerprints are near each other",
        ))
        .subcommand(nested(
            stats::StatsOpts::augment_args,
            "stats",
            "Shows the layout, memory and skew of an index file, and whether it is whole",
        ))
        .subcommand(nested(
            stats::PlanOpts::augment_args,
            "plan",
            "Shows the layouts for so many fingerprints, with their memory and expected time, and which one is taken",
        ))
}

/// Runs the command.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let Some((name, matches)) = matches.subcommand() else {
        return Err(Error::Usage("fingerprints: give build, query, pairs, stats or plan".to_owned()));
    };
    match name {
        "build" => build::run(&args::read::<build::Opts>(matches)?),
        "query" => query::run(&args::read::<query::Opts>(matches)?),
        "pairs" => pairs::run(&args::read::<pairs::Opts>(matches)?),
        "plan" => stats::plan_of(&args::read::<stats::PlanOpts>(matches)?),
        _ => stats::run(&args::read::<stats::StatsOpts>(matches)?),
    }
}

/// What records' errors name.
const STAGE: &str = "twinsplit fingerprints";

/// Prints `name⇥value` lines.
fn show(lines: &[(&str, String)]) -> Result<()> {
    let mut out = Stdout::new();
    for (name, value) in lines {
        out.line(format!("{name}\t{value}").as_bytes())?;
    }
    out.flush()
}
