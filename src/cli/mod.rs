//! Command lines: the stage binaries and the driver.

pub mod corpus;
pub mod documents;
pub mod estimate;
pub mod examples;
pub mod explain;
pub mod identity;
pub mod idf;
pub mod interrupt;
pub mod join;
pub mod manual;
pub mod options;
pub mod output;
pub mod partition;
pub mod plan;
pub mod progress;
pub mod quarantine;
pub mod remote;
pub mod report;
pub mod run;
pub mod sample;
pub mod shell;
pub mod stage;
pub mod stages;
pub mod summary;
pub mod table;
pub mod tune;

use crate::error::{Error, Result};
use crate::stages::STAGES;
use clap::{Args, Command};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// The `main` of `twinsplit`: the driver, or, when it is called by the name of a stage, that stage.
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    let called = args.first().and_then(|path| Path::new(path).file_name()?.to_str().map(str::to_owned));
    if let Some(name) = called.filter(|name| crate::stages::find(name).is_some()) {
        return stage::main_with(&name, args);
    }
    let matches = match command().try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => return report_usage(&error),
    };
    let result = refuse_unknown_variables().and_then(|()| match matches.subcommand() {
        Some(("run", matches)) => run::run(matches),
        Some(("plan", matches)) => plan::run(matches),
        Some(("idf", matches)) => idf::run(matches),
        Some(("corpus", matches)) => corpus::run(matches),
        Some(("explain", matches)) => explain::run(matches),
        Some(("report", matches)) => report::run(matches),
        Some(("tune", matches)) => tune::run(matches),
        Some(("join", matches)) => join::run(matches),
        Some(("stages", matches)) => stages::run(matches),
        Some(("shell", matches)) => shell::run(matches),
        Some(("partition", matches)) => partition::run(matches),
        _ => Err(Error::Usage("no command is given; twinsplit --help shows them".to_owned())),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => report(&error),
    }
}

/// The driver's command line.
pub fn command() -> Command {
    Command::new("twinsplit")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Exact near-duplicate detection for web-scale text")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .after_help(after_help())
        .subcommand(run::command())
        .subcommand(explain::command())
        .subcommand(plan::command())
        .subcommand(report::command())
        .subcommand(tune::command())
        .subcommand(join::command())
        .subcommand(stages::command())
        .subcommand(idf::command())
        .subcommand(corpus::command())
        .subcommand(shell::command())
        .subcommand(partition::command())
}

/// How to begin, and where to read on.
fn after_help() -> String {
    let mut text = String::from("Examples:\n");
    for example in examples::of("twinsplit").take(4) {
        text.push_str(&format!("  {}\n", example.line));
    }
    text.push_str(
        "\n`twinsplit COMMAND --help` shows a command's options; each stage is a program of its own with --help.\n\
         Read on: man twinsplit, man twinsplit-run; README.md and docs/ (share/doc/twinsplit when installed).",
    );
    text
}

/// Prints an error and gives its exit code.
fn report(error: &Error) -> ExitCode {
    crate::terminal::error(error);
    ExitCode::from(error.exit_code())
}

/// Prints what clap has to say (which may be the help that was asked for) and gives its exit code.
fn report_usage(error: &clap::Error) -> ExitCode {
    // A closed standard output is no reason to fail at showing help.
    let _ = error.print();
    ExitCode::from(error.exit_code().clamp(0, 255) as u8)
}

/// Stops at a `TWINSPLIT_…` variable that nothing reads, so that a typo is not a default.
fn refuse_unknown_variables() -> Result<()> {
    let mut known: BTreeSet<String> = [stage::COUNTERS, stage::TASK].map(str::to_owned).into();
    let driver = options::RunOpts::augment_args(Command::new("run"));
    for command in STAGES.iter().map(|entry| entry.command()).chain([driver]) {
        known.extend(
            command.get_arguments().filter_map(|arg| Some(arg.get_env()?.to_string_lossy().into_owned())),
        );
    }
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("TWINSPLIT_") && !known.contains(&*name) {
            return Err(Error::Usage(format!(
                "the environment variable {name} is not an option of any stage; known are {}",
                known.into_iter().collect::<Vec<_>>().join(", ")
            )));
        }
    }
    Ok(())
}
