//! `twinsplit job`: what the scripts of all engines leave to the program, so that it is done once and alike: whether a run
//! goes on, what it may replace, how an answer comes to its place, what jobs counted, and the end of scripts whose driver is gone.

mod counters;
mod explain;
mod folder;
mod names;
pub mod remote;
mod watch;

use super::manifest::{PAGE, RunManifest, VARIABLES, digests, of_queries};
use super::output::files::Files;
use super::output::owned::{COUNTERS, REPLACED, RUN, WORK};
use crate::args;
use clap::{ArgMatches, Args, Command};
use folder::{Begun, Folder, Wishes};
use remote::{Asked, Hadoop};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::PathBuf;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::{Stdout, contents};
use twinsplit_rows::plan::{BOUNDS, Engine};

/// The command's name, which no help, manual page or completion shows.
pub const NAME: &str = "job";

/// The command line.
pub fn command() -> Command {
    let command = |name: &'static str, about: &'static str| Command::new(name).about(about);
    let begin = command(
        "begin",
        "Takes the folder of an answer for a script, or says why not; prints what is to be done",
    );
    let publish = command("publish", "Gives an answer that is complete its place");
    let watch = command("watch", "Ends a group of processes when standard input ends");
    Command::new(NAME)
        .about("What scripts leave to the program")
        .subcommand_required(true)
        .subcommand(BeginOpts::augment_args(FolderOpts::augment_args(begin)))
        .subcommand(PublishOpts::augment_args(FolderOpts::augment_args(publish)))
        .subcommand(command("counters", "Names and numbers of what the client of a job of Hadoop printed"))
        .subcommand(command("sum", "Adds counters up; of peaks the highest counts"))
        .subcommand(explain::ExplainOpts::augment_args(command("explain", "Says why a job of Hadoop failed")))
        .subcommand(
            names::command("addresses", "Prints names as Hadoop finds them from anywhere")
                .arg(names::hadoop()),
        )
        .subcommand(names::command(
            "match",
            "Which of the names on standard input, a list of JSON, a pattern matches",
        ))
        .subcommand(names::command("by-name", "Stops unless inputs come in the byte order of their names"))
        .subcommand(watch::WatchOpts::augment_args(watch))
}

/// Where an answer is made.
#[derive(Args, Clone, Debug)]
struct FolderOpts {
    /// Whose file system it is: that of Hadoop's command, or of the program for Spark that answers on standard input
    #[arg(long)]
    engine: Engine,
    /// The command `hadoop`
    #[arg(long, default_value = "hadoop")]
    hadoop: PathBuf,
    /// The folder of the answer, by its whole name
    #[arg(long)]
    output: PathBuf,
    /// The folder of data sets in between
    #[arg(long)]
    work: PathBuf,
    /// Go on with a run that was stopped
    #[arg(long)]
    resume: bool,
    /// Replace the answer that is there
    #[arg(long)]
    overwrite: bool,
    /// Keep the data sets in between
    #[arg(long)]
    keep_work: bool,
}

/// What makes a run the same run.
#[derive(Args, Clone, Debug)]
struct BeginOpts {
    /// The script, where nobody but a user started it
    #[arg(long, value_name = "SCRIPT")]
    page: PathBuf,
    /// What `twinsplit run` says of the run that it drives; the input is added to it
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// Files that options of stages name
    #[arg(long, value_name = "FILE", num_args = 0..)]
    file: Vec<PathBuf>,
    /// The input on Hadoop; a program for Spark writes names, bytes and times as its first line
    #[arg(long, value_name = "PATH", num_args = 0..)]
    input: Vec<PathBuf>,
    /// The queries on Hadoop, where there are some; the program for Spark writes them behind the input
    #[arg(long, value_name = "PATH")]
    queries: Vec<PathBuf>,
}

/// What an answer holds.
#[derive(Args, Clone, Debug)]
struct PublishOpts {
    /// The data sets of the answer; a program for Spark writes what its steps did as its first line
    #[arg(long, num_args = 1..)]
    data: Vec<String>,
}

impl FolderOpts {
    fn wishes(&self) -> Wishes {
        Wishes { resume: self.resume, overwrite: self.overwrite, keep_work: self.keep_work }
    }

    /// On Spark, where data sets may be in another file system, the answer stays beside its place.
    fn folder<'a>(&self, files: &'a dyn Files) -> Folder<'a> {
        let (output, work) = (self.output.clone(), self.work.clone());
        if self.engine == Engine::Spark {
            let place = output.join(WORK);
            let hidden = place.join("_answer");
            return Folder { files, output, place, work, hidden, record: COUNTERS };
        }
        Folder { files, output, place: work.clone(), hidden: work.clone(), work, record: RUN }
    }

    /// What is known of Hadoop's file system: with one call of its command what will be asked for.
    fn look(&self) -> Result<Hadoop> {
        let hadoop = Hadoop::new(self.hadoop.clone());
        if self.engine != Engine::Spark {
            let mut folders = vec![self.output.clone(), self.work.clone()];
            folders.extend(["_steps", REPLACED].map(|name| self.work.join(name)));
            hadoop.look(&folders)?;
        }
        Ok(hadoop)
    }
}

/// Runs the command.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(()) };
    match name {
        "counters" => counters::print(&counters::of_client(std::io::stdin().lock())?),
        "sum" => counters::print(&counters::sum(std::io::stdin().lock())?),
        "explain" => explain::explain(&args::read::<explain::ExplainOpts>(matches)?),
        "addresses" => names::addresses(matches),
        "match" => names::print_matching(&names::given(matches)),
        "by-name" => names::by_name(&names::given(matches)),
        "watch" => watch::wait(&args::read::<watch::WatchOpts>(matches)?),
        "begin" => begin(&args::read::<FolderOpts>(matches)?, &args::read::<BeginOpts>(matches)?),
        _ => publish(&args::read::<FolderOpts>(matches)?, &args::read::<PublishOpts>(matches)?),
    }
}

fn begin(opts: &FolderOpts, of: &BeginOpts) -> Result<()> {
    let hadoop = opts.look()?;
    let is_spark = opts.engine == Engine::Spark;
    let files: &dyn Files = if is_spark { &Asked } else { &hadoop };
    let inputs = if is_spark { remote::next()? } else { inputs(&hadoop, of)?.into() };
    let manifest = manifest(opts, of, inputs)?;
    let folder = opts.folder(files);
    let begun = folder.begin(&manifest, opts.wishes())?;
    let word = match begun {
        Begun::Anew => "anew",
        Begun::GoesOn => "goes-on",
        Begun::Complete => "complete",
    };
    let mut out = Stdout::new();
    if is_spark {
        out.line(json!(["begun", word]).to_string().as_bytes())?;
        return out.flush();
    }
    // What is there already: data sets, and what finished steps counted.
    out.line(word.as_bytes())?;
    for (below, at) in [("", opts.work.clone()), ("_steps/", opts.work.join("_steps"))] {
        for name in files.names(&at)?.iter().filter(|_| begun == Begun::GoesOn) {
            out.line(format!("{below}{name}").as_bytes())?;
        }
    }
    out.flush()
}

/// What Hadoop tells of the input, and of the queries, which are marked.
fn inputs(hadoop: &Hadoop, of: &BeginOpts) -> Result<Vec<Value>> {
    let mut inputs = hadoop.inputs(&of.input)?;
    if !of.queries.is_empty() {
        inputs.extend(hadoop.inputs(&of.queries)?.into_iter().map(of_queries));
    }
    Ok(inputs)
}

/// What makes it the same run: what its driver says of it, or the text of the script and the variables of stages; and the
/// input.
fn manifest(opts: &FolderOpts, of: &BeginOpts, inputs: Value) -> Result<RunManifest> {
    let mut fields = match &of.manifest {
        Some(path) => RunManifest::read(path)?.fields().clone(),
        None => own_fields(opts, of)?,
    };
    fields.insert("inputs".to_owned(), inputs);
    if let Some(path) = &of.manifest {
        fs::write(path, Value::from(fields.clone()).to_string()).map_err(Error::io("write", path))?;
    }
    Ok(RunManifest::from_fields(fields))
}

fn own_fields(opts: &FolderOpts, of: &BeginOpts) -> Result<Map<String, Value>> {
    let page = contents(&of.page)?;
    let script = fs::read_to_string(&of.page).map_err(Error::io("read", &of.page))?;
    let chain = script.lines().nth(1).and_then(|title| title.split(' ').nth(3)).unwrap_or_default();
    // Tasks of Hadoop have no variables of whoever starts the script.
    let is_heard = |name: &str| {
        let option = name.strip_prefix("TWINSPLIT_").unwrap_or_default().to_lowercase().replace('_', "-");
        opts.engine == Engine::Spark && !option.is_empty() && !BOUNDS.contains(&&*option)
    };
    let variables: Map<String, Value> = std::env::vars()
        .filter(|(name, _)| is_heard(name))
        .map(|(name, value)| (name, value.into()))
        .collect();
    let fields = json!({
        "twinsplit": env!("CARGO_PKG_VERSION"),
        "chain": chain,
        "engine": opts.engine.name(),
        PAGE: page.xxh3,
        VARIABLES: variables,
        "parameter_files": digests(of.file.iter().map(PathBuf::as_path))?,
    });
    Ok(fields.as_object().cloned().unwrap_or_default())
}

/// The answer is complete when its record lies beside it, and gets its place then.
fn publish(opts: &FolderOpts, of: &PublishOpts) -> Result<()> {
    let hadoop = opts.look()?;
    let is_spark = opts.engine == Engine::Spark;
    let files: &dyn Files = if is_spark { &Asked } else { &hadoop };
    // Before anything is asked, for answers come on the same stream.
    let steps = if is_spark { remote::next()? } else { Value::Null };
    let folder = opts.folder(files);
    let manifest = folder.manifest()?.map(|manifest| manifest.fields().clone()).unwrap_or_default();
    let path = |data: &String| json!({ "path": opts.output.join(data).to_string_lossy() });
    let outputs: Vec<_> = of.data.iter().map(path).collect();
    let record = if is_spark {
        json!({ "manifest": manifest, "steps": steps, "outputs": outputs })
    } else {
        let mut record = manifest;
        record.insert("outputs".to_owned(), outputs.into());
        record.into()
    };
    let to = folder.hidden.join(folder.record);
    files.remove(std::slice::from_ref(&to))?;
    if !files.create(&to, &format!("{record:#}\n"))? {
        return Err(Error::Failed(format!("{}: another run has written it meanwhile", to.display())));
    }
    folder.publish(opts.wishes())
}
