//! `twinsplit idf`: document frequencies of a reference corpus as a table.

use super::inputs::{InputOpts, with_inputs};
use super::options::{self, Overwrite, with_overwrite};
use super::progress::Display;
use super::quarantine::{self, Places};
use crate::args;
use clap::{Arg, ArgMatches, Command, value_parser};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use twinsplit_engine::progress::Progress;
use twinsplit_engine::steps::LocalSteps;
use twinsplit_io::Target;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::terminal;
use twinsplit_rows::chains::{IDF_TABLE, idf_table};
use twinsplit_rows::params::Params;
use twinsplit_rows::record::document::DocumentOpts;

/// The stages' options that this command has.
const OPTIONS: [&str; 9] =
    ["id", "text", "features", "normalise", "case-fold", "marks", "counts", "bad-records", "max-line"];

/// The command line of `idf`.
pub fn command() -> Command {
    let command = Command::new("idf")
        .about("Makes a table of document frequencies, for --idf-table")
        .arg(
            Arg::new("from")
                .short(options::INPUT)
                .long("from")
                .visible_alias("input")
                .required(true)
                .num_args(1..)
                .value_parser(value_parser!(PathBuf))
                .value_name("FILE")
                .help(
                    "The reference corpus: documents, plain or compressed by gzip, zstd, bzip2 or xz; files, folders, quoted \
                     patterns such as 'crawl/*.gz', or - for standard input",
                ),
        )
        .arg(
            Arg::new("output")
                .short(options::OUTPUT)
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
        );
    with_overwrite(with_inputs(command))
}

/// `twinsplit idf`.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let mut params = Params::default();
    // A table of features needs no texts.
    params.set("equal-texts", "off");
    for name in OPTIONS {
        if let Some(value) =
            matches.get_raw(name).and_then(|mut values| values.next()).and_then(|value| value.to_str())
        {
            params.set(name, value);
        }
    }
    let path =
        |name: &str| matches.get_many::<PathBuf>(name).into_iter().flatten().cloned().collect::<Vec<_>>();
    let given = params.clone();
    let inputs = args::read::<InputOpts>(matches)?.of(&path("from"))?;
    inputs.settle(&mut params);
    let output = path("output").pop().ok_or_else(|| Error::Usage("no output".into()))?;
    let replaces = args::read::<Overwrite>(matches)?.overwrite;
    let named = params.clone();
    let side = named.named_files();
    let files = inputs.files.clone();
    let reads = || files.iter().map(PathBuf::as_path).chain(side.iter().map(|(_, file)| Path::new(*file)));
    let output = Target::of(&output, replaces, reads())?;
    let most = params.parse::<DocumentOpts>()?.bad_records;
    let quarantine = quarantine::beside(&output, most, reads())?;
    let work = output.work_folder()?;
    let inputs = inputs.of_needed_fields().read(&given, quarantine.as_ref(), false)?;
    let made = table(&inputs, &params, work.path());
    let made = match &quarantine {
        // What was converted holds no others.
        Some(quarantine) if !inputs.is_converted => {
            let places = Places { made: quarantine, shown: quarantine.path(), failed: quarantine };
            let made = made.map(|file| (file, Vec::new()));
            let (file, warnings) =
                quarantine::settle(made, work.path(), &places, &params, |(_, warnings)| warnings)?;
            warnings.iter().for_each(terminal::warning);
            file
        }
        _ => made?,
    };
    output.take(&made)
}

/// Makes the table of a collection in a folder, and gives its file.
pub fn table(inputs: &[PathBuf], params: &Params, work: &Path) -> Result<PathBuf> {
    let progress = Arc::new(Progress::default());
    let memory = options::MEMORY.bytes();
    let mut engine = LocalSteps::new(inputs, work, params, options::threads(None), memory, &progress)?;
    let parts = idf_table();
    let display = Display::start(&progress, parts.len(), false);
    let made = engine.run_parts(&parts, "");
    drop(display);
    made.map(|_| work.join(IDF_TABLE).join("part-00000"))
}
