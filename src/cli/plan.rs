//! `twinsplit plan`: a chain as a script, and what it will take.

use super::estimate::{self, EstimateOpts};
use super::{chain, keep_field, options};
use crate::chains::{Chain, Shape};
use crate::engine::params::Params;
use crate::engine::script::quote;
use crate::engine::{hadoop, pipes, spark};
use crate::error::Result;
use crate::stages::keep_field::KeepField;
use crate::terminal;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, ValueEnum, value_parser};

/// The command line of `plan`.
pub fn command() -> Command {
    let command = Command::new("plan")
        .arg(chain::arg())
        .arg(
            Arg::new("engine")
                .long("engine")
                .value_name("ENGINE")
                .value_parser(value_parser!(ScriptEngine))
                .default_value("pipes")
                .help("The engine that the script is for"),
        )
        .arg(
            Arg::new("write-kept")
                .long("write-kept")
                .action(clap::ArgAction::SetTrue)
                .help("Write kept documents too"),
        );
    options::with_stage_options(EstimateOpts::augment_args(command))
        .about(
            "Prints a chain as a script of stage binaries, to be read, changed and run, or what it will take",
        )
        .long_about(None)
}

/// The engines that run scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScriptEngine {
    /// The stage binaries joined by files and sort
    Pipes,
    /// Jobs of Hadoop Streaming
    Hadoop,
    /// A Python program for spark-submit
    Spark,
}

/// What the options make of the chain, with rounds where tasks are to hold no graph.
pub fn shape(params: &Params, write_kept: bool, rounds: bool) -> Shape {
    let is = |name, value| params.get(name) == Some(value);
    Shape {
        idf: params.get("idf").is_some_and(|range| {
            range.parse().is_ok_and(|range: crate::index::idf::IdfRange| !range.is_everything())
        }),
        idf_shuffle: is("idf-lookup", "shuffle"),
        prefix: is("pcp", "prefix"),
        by_task: is("partition", "by-task"),
        star: is("cluster", "star"),
        field: params.get("keep").and_then(KeepField::named),
        clusters_only: is("write", "clusters"),
        write_kept,
        rounds,
    }
}

/// `twinsplit plan`.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let mut params = options::params(matches)?;
    let chain = chain::chosen(matches, &params, false);
    let engine = *matches.get_one::<ScriptEngine>("engine").unwrap_or(&ScriptEngine::Pipes);
    let write_kept = matches.get_flag("write-kept");
    if options::settle_cluster(&mut params, write_kept) {
        terminal::note(options::STAR_NOTE);
    }
    let opts = EstimateOpts::from_arg_matches(matches)?;
    keep_field::check(&params, &[])?;
    if opts.estimate {
        return estimate::run(chain, engine, write_kept, &opts, &params);
    }
    let shape = shape(&params, write_kept, true);
    let mut out = crate::io::Stdout::new();
    let script = plan_script(engine, chain, shape, &params)?;
    out.line(script.trim_end().as_bytes())?;
    out.flush()
}

/// The script of a chain for an engine.
pub fn plan_script(engine: ScriptEngine, chain: Chain, shape: Shape, params: &Params) -> Result<String> {
    let mut title = format!("twinsplit plan {}", chain.name());
    match engine {
        ScriptEngine::Pipes => {}
        ScriptEngine::Hadoop => title.push_str(" --engine hadoop"),
        ScriptEngine::Spark => title.push_str(" --engine spark"),
    }
    for (name, value) in params.iter() {
        title.push_str(&format!(" --{name} {}", quote(value)));
    }
    if shape.write_kept {
        title.push_str(" --write-kept");
    }
    let (parts, outputs) = (chain.parts(shape), shape.answers());
    match engine {
        ScriptEngine::Pipes => pipes::script(&title, &parts, &outputs, params),
        ScriptEngine::Hadoop => hadoop::script(&title, &parts, &outputs, params),
        ScriptEngine::Spark => spark::script(&title, &parts, &outputs, params, &options::BOUNDS),
    }
}
