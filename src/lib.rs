//! Command lines: the stages and the driver.

#![deny(clippy::print_stderr)]

pub mod allocator;
mod annotate;
mod args;
pub mod audit;
mod cluster_driver;
mod cluster_sample;
pub mod completions;
pub mod convert;
pub mod documents;
pub mod estimate;
pub mod examples;
pub mod explain;
pub mod fingerprints;
pub mod forecast;
pub mod generate_corpus;
mod help;
pub mod idf;
pub mod inputs;
pub mod interrupt;
pub mod job;
pub mod join;
mod keep_field;
pub mod manifest;
pub mod manual;
pub mod options;
pub mod output;
pub mod partition;
pub mod plan;
pub mod progress;
pub mod quarantine;
mod recall;
pub mod report;
pub mod run;
pub mod same_form;
mod sample;
pub mod serve;
mod sketches;

pub mod stage;
pub mod stages;
pub mod store;
mod suggest;
pub mod summary;
pub mod table;
pub mod tune;
mod warnings;

use clap::{ArgMatches, Args, Command};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use twinsplit_core::options::variable_of;
use twinsplit_core::visible;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::stage::partition::PARTITIONER;
use twinsplit_rows::stages::STAGES;

/// The `main` of `twinsplit`: the driver, or, when it is called by the name of a stage, that stage.
pub fn main() -> ExitCode {
    interrupt::long_files_are_errors();
    let args: Vec<OsString> = std::env::args_os().collect();
    let called = args.first().and_then(|path| Path::new(path).file_name()?.to_str().map(str::to_owned));
    if let Some(name) = called.filter(|name| twinsplit_rows::stages::find(name).is_some()) {
        return stage::main_with(&name, args);
    }
    // The options of all commands take as long to put together as a small join takes: those of the one that is called will do.
    let named = COMMANDS.iter().filter(|(name, ..)| args.get(1).is_some_and(|arg| arg == name));
    let driver = if named.clone().count() > 0 { driver(named) } else { command() };
    let matches = match parse(help::asked_for(driver, &args), &args) {
        Ok(matches) => matches,
        Err(error) => {
            let code = report_usage(&error);
            let old = RENAMED.iter().find(|(old, _)| args.iter().skip(1).any(|arg| arg == old));
            if let Some((old, new)) = old.filter(|_| error.use_stderr()) {
                twinsplit_io::terminal::note(format_args!("{old} is called {new} now"));
            }
            return code;
        }
    };
    let result = refuse_unknown_variables().and_then(|()| {
        let (name, matches) = matches.subcommand().unzip();
        let called = COMMANDS.iter().find(|(known, ..)| Some(*known) == name);
        match called.zip(matches) {
            Some(((_, _, run), matches)) => run(matches),
            None => Err(Error::Usage("no command is given; twinsplit --help shows them".to_owned())),
        }
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => report(&error),
    }
}

/// A command's name, its command line, and what it does.
type Entry = (&'static str, fn() -> Command, fn(&ArgMatches) -> Result<()>);

/// The driver's commands, in the order in which help shows them.
const COMMANDS: [Entry; 17] = [
    ("run", run::command, run::run),
    ("explain", explain::command, explain::run),
    ("plan", plan::command, plan::run),
    ("report", report::command, report::run),
    ("annotate", annotate::command, annotate::run),
    ("tune", tune::command, tune::run),
    ("join", join::command, join::run),
    ("fingerprints", fingerprints::command, fingerprints::run),
    ("store", store::command, store::run),
    ("serve", serve::command, serve::run),
    ("convert", convert::command, convert::run),
    ("stages", stages::command, stages::run),
    ("idf", idf::command, idf::run),
    ("generate-corpus", generate_corpus::command, generate_corpus::run),
    ("completions", completions::command, completions::run),
    ("partition", partition::command, partition::run),
    (job::NAME, job::command, job::run),
];

/// What was called otherwise once, and how it is called.
const RENAMED: [(&str, &str); 3] =
    [("corpus", "generate-corpus"), ("shell", "completions"), ("--paper", "--preset")];

/// The driver's command line, but for what only scripts call.
pub fn command() -> Command {
    driver(COMMANDS.iter().filter(|(name, ..)| *name != job::NAME))
}

fn driver<'c>(commands: impl Iterator<Item = &'c Entry>) -> Command {
    Command::new("twinsplit")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Exact near-duplicate detection for web-scale text")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .after_help(after_help())
        .subcommands(commands.map(|(_, command, _)| command()))
}

/// How to begin, and where to read on.
fn after_help() -> String {
    let mut text = String::from("Examples:\n");
    for example in examples::of("twinsplit").take(4) {
        text.push_str(&format!("  {}\n", example.line));
    }
    text.push_str(
        "\n`twinsplit COMMAND --help` shows the options of a command. Each stage is a program with --help, too.\n\
         Read on: man twinsplit, man twinsplit-run; README.md and docs/ (share/doc/twinsplit when installed).",
    );
    text
}

/// Prints an error and gives its exit code.
fn report(error: &Error) -> ExitCode {
    twinsplit_io::terminal::error(error);
    ExitCode::from(error.exit_code())
}

/// The arguments as a command line has them, or what clap has to say.
fn parse(mut command: Command, args: &[OsString]) -> Result<ArgMatches, clap::Error> {
    command.try_get_matches_from_mut(args).map_err(|error| {
        // It repeats an argument as it is, and a pattern of the shell makes names of files arguments.
        let shown = args.iter().map(|arg| visible::path(Path::new(arg)));
        let error = command.try_get_matches_from_mut(shown).err().unwrap_or(error);
        suggest::improved(error, &command, args)
    })
}

/// Prints what clap has to say (which may be the help that was asked for) and gives its exit code.
fn report_usage(error: &clap::Error) -> ExitCode {
    // A closed standard output is no reason to fail at showing help.
    let _ = error.print();
    ExitCode::from(error.exit_code().clamp(0, 255) as u8)
}

/// Stops at a `TWINSPLIT_…` variable that nothing reads, so that a typo is not a default.
fn refuse_unknown_variables() -> Result<()> {
    let given: Vec<String> = std::env::vars_os()
        .map(|(name, _)| name.to_string_lossy().into_owned())
        .filter(|name| name.starts_with("TWINSPLIT_"))
        .collect();
    if given.is_empty() {
        return Ok(());
    }
    let mut known: BTreeSet<String> = [stage::COUNTERS, stage::TASK, PARTITIONER].map(str::to_owned).into();
    let driver = options::RunOpts::augment_args(Command::new("run"));
    for command in STAGES.iter().map(args::stage_command).chain([driver, serve::command()]) {
        known.extend(
            command.get_arguments().filter_map(|arg| Some(arg.get_env()?.to_string_lossy().into_owned())),
        );
    }
    let Some(name) = given.into_iter().find(|name| !known.contains(name)) else { return Ok(()) };
    let known: Vec<_> = known.iter().map(|name| vec![option_of(name)]).collect();
    let near = suggest::meant(&option_of(&name), &known);
    let near = near.as_deref().and_then(|option| option.split(' ').next());
    Err(Error::Usage(format!(
        "the environment variable {name} is not an option of any stage; {}",
        match near {
            Some(option) => format!("the nearest is {}", variable_of(option)),
            None => "twinsplit run --help shows those that there are".to_owned(),
        }
    )))
}

/// The name of the option that a variable sets.
fn option_of(variable: &str) -> String {
    variable.strip_prefix("TWINSPLIT_").unwrap_or(variable).replace('_', "-").to_lowercase()
}
