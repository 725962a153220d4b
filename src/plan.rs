//! `twinsplit plan`: a chain as a script, as JSON, or what it will take.

use super::convert::InFront;
use super::estimate::{self, EstimateOpts};
use super::{keep_field, options};
use crate::args;
use clap::{Arg, ArgMatches, Args, Command};
use twinsplit_engine::{self as engine, library::Library};
use twinsplit_io::Stdout;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::plan::{Engine, KeptForm};

/// The command line of `plan`.
pub fn command() -> Command {
    let command = Command::new("plan")
        .arg(options::chain())
        .arg(options::recall())
        .arg(
            Arg::new("engine")
                .long("engine")
                .value_name("ENGINE")
                .value_parser(args::choice::<Engine>())
                .default_value("pipes")
                .help("The engine that the script is for"),
        )
        .arg(
            Arg::new("write-kept")
                .long("write-kept")
                .action(clap::ArgAction::SetTrue)
                .help("Write kept documents too"),
        )
        .arg(
            Arg::new("inline")
                .long("inline")
                .action(clap::ArgAction::SetTrue)
                .help("Print one file that needs no library beside it"),
        );
    options::with_stage_options(EstimateOpts::augment_args(command))
        .about("Prints a chain as a script of stages, or what it will take")
        .long_about(None)
}

/// `twinsplit plan`.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let opts: EstimateOpts = args::read(matches)?;
    let engine = *matches.get_one::<Engine>("engine").unwrap_or(&Engine::Pipes);
    if !opts.input.is_empty() && !opts.estimate && !matches.contains_id("recall") {
        return Err(Error::Usage("--input is for --estimate and --recall, and neither is given".to_owned()));
    }
    if let (Some((name, value)), false, false) =
        (opts.inputs.words().first(), opts.estimate, matches.contains_id("recall"))
    {
        return Err(Error::Usage(format!(
            "--{name} {value} is for --estimate: scripts read JSON lines, which twinsplit convert makes of others, and of parts of documents"
        )));
    }
    let selected = if opts.inputs.selects() { opts.inputs.files(&opts.input)? } else { opts.input.clone() };
    if matches.contains_id("recall") {
        InFront::refuse_sample(&opts.inputs, &selected)?;
    }
    let write_kept = matches.get_flag("write-kept").then_some(KeptForm::Jsonl);
    let asked = options::asked(matches, engine, &selected, write_kept, None)?;
    let plan = options::plan(asked, false)?;
    keep_field::check(&plan.params, &[])?;
    let library = if matches.get_flag("inline") { Library::Inside } else { Library::Beside };
    let text = match (opts.estimate, opts.json) {
        (false, true) => format!("{:#}", plan.json()),
        (_, _) if engine == Engine::Local => {
            return Err(Error::Usage(
                "the engine local runs no script; --json shows its plan, and --engine pipes the same steps as a script"
                    .to_owned(),
            ));
        }
        (true, _) => return estimate::run(plan, &opts),
        (false, false) => engine::script_of(&plan, library)?,
    };
    let mut out = Stdout::new();
    out.line(text.trim_end().as_bytes())?;
    out.flush()
}
