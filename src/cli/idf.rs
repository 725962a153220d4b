//! `twinsplit idf`: document frequencies of a reference corpus as a table.

use super::options;
use super::progress::Display;
use super::quarantine::{self, Places, QUARANTINE, is_quarantine};
use crate::chains::{IDF_TABLE, idf_table};
use crate::engine::progress::Progress;
use crate::engine::steps::LocalSteps;
use crate::error::{Error, Result};
use crate::io::{Stdout, document_files, is_device, move_into_place};
use crate::params::Params;
use crate::terminal;
use clap::{Arg, ArgMatches, Command, value_parser};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The stages' options that this command has.
const OPTIONS: [&str; 8] =
    ["id", "text", "features", "normalise", "case-fold", "marks", "bad-records", "max-line"];

/// The command line of `idf`.
pub fn command() -> Command {
    Command::new("idf")
        .about("Makes a table of document frequencies, for --idf-table of another run")
        .arg(
            Arg::new("from")
                .long("from")
                .required(true)
                .num_args(1..)
                .value_parser(value_parser!(PathBuf))
                .value_name("FILE")
                .help(
                    "The reference corpus: JSON lines, plain or gzip; files, folders, quoted patterns \
                     such as 'crawl/*.gz', or - for standard input",
                ),
        )
        .arg(
            Arg::new("output")
                .long("output")
                .required(true)
                .value_parser(options::output_file())
                .value_name("FILE")
                .help("The table; - for standard output"),
        )
        .args(
            options::stage_options()
                .into_iter()
                .filter(|arg| OPTIONS.contains(&arg.get_long().unwrap_or_default())),
        )
}

/// `twinsplit idf`.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let mut params = Params::default();
    // A table of features needs no texts.
    params.set("equal-texts", "off");
    for name in OPTIONS {
        let id = name.replace('-', "_");
        if let Some(value) =
            matches.get_raw(&id).and_then(|mut values| values.next()).and_then(|value| value.to_str())
        {
            params.set(name, value);
        }
    }
    let path =
        |name: &str| matches.get_many::<PathBuf>(name).into_iter().flatten().cloned().collect::<Vec<_>>();
    let inputs = document_files(&path("from"))?;
    let output = path("output").pop().ok_or_else(|| Error::Usage("no output".into()))?;
    let stream = output == Path::new("-");
    let mut beside = output.clone().into_os_string();
    beside.push(format!(".{QUARANTINE}"));
    let beside = PathBuf::from(beside);
    let lets_pass = params.get("bad-records").is_some_and(|number| number != "0");
    if lets_pass && beside.symlink_metadata().is_ok() && !is_quarantine(&beside) {
        return Err(Error::Usage(format!(
            "{} was not written by twinsplit, so bad lines cannot go there; move it, or choose another --output",
            beside.display()
        )));
    }
    let around = output.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A device or a pipe stands where no files belong.
    let folder = if stream || is_device(&output) { std::env::temp_dir() } else { around.to_owned() };
    let work = tempfile::tempdir_in(&folder).map_err(Error::io("make a folder in", &folder))?;
    let made = table(&inputs, &params, work.path());
    let places = Places { made: &beside, shown: &beside, failed: &beside };
    let warnings =
        quarantine::settle(made.map(|_| Vec::new()), work.path(), &places, &params, |warnings| warnings)?;
    warnings.iter().for_each(terminal::warning);
    let made = work.path().join(IDF_TABLE).join("part-00000");
    if stream {
        return Stdout::new().file(&made);
    }
    move_into_place(&made, &output)
}

/// Makes the table of a collection in a folder, and gives its file.
pub fn table(inputs: &[PathBuf], params: &Params, work: &Path) -> Result<PathBuf> {
    let progress = Arc::new(Progress::default());
    let memory = options::MEMORY << 20;
    let mut engine = LocalSteps::new(inputs, work, params, options::threads(None), memory, &progress)?;
    let parts = idf_table();
    let display = Display::start(&progress, parts.len(), false);
    let made = engine.run_parts(&parts, "");
    drop(display);
    made.map(|_| work.join(IDF_TABLE).join("part-00000"))
}
