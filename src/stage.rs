//! The `main` of every stage: options, rows from files or standard input, rows to standard output.

use super::args;
use clap::{Arg, ArgMatches, Command, value_parser};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use twinsplit_core::cluster::keep::KeepRule;
use twinsplit_core::options::{Given, Values};
use twinsplit_core::visible;
use twinsplit_engine::peak::peak_memory;
use twinsplit_io::error::{Error, FieldError, Place, Result};
use twinsplit_io::terminal;
use twinsplit_io::{self as io, Blocks, MaxLine, Stdout, each_line};
use twinsplit_rows::bad_records;
use twinsplit_rows::record::parse_number;
use twinsplit_rows::stage::chained::{self, Surroundings};
use twinsplit_rows::stage::partition::Partition;
use twinsplit_rows::stage::{Counters, Entry, Role, Sink, Task};
use twinsplit_rows::stages;

/// The folder into which a task's counters are written, a file for each task, one `name⇥number` a line.
pub const COUNTERS: &str = "TWINSPLIT_COUNTERS";
/// The number of the task, where no Hadoop says it.
pub const TASK: &str = "TWINSPLIT_TASK";

/// Runs the stage of a name as a process and gives its exit code.
pub fn main(name: &str) -> ExitCode {
    main_with(name, std::env::args_os().collect())
}

/// The same with the arguments given, the program's name first.
pub fn main_with(name: &str, args: Vec<OsString>) -> ExitCode {
    let Some(entry) = stages::find(name) else {
        return super::report(&Error::Usage(format!("{name} is not a stage")));
    };
    let matches = match super::parse(command(entry), &args) {
        Ok(matches) => matches,
        Err(error) => return super::report_usage(&error),
    };
    let then = match matches.try_get_many::<OsString>("then").ok().flatten() {
        Some(words) => following(words.cloned().collect()),
        None => Ok(Vec::new()),
    };
    let then = match then {
        Ok(then) => then,
        Err(Misread::Option(error)) => return super::report_usage(&error),
        Err(Misread::Stage(error)) => return super::report(&error),
    };
    match super::refuse_unknown_variables().and_then(|()| run(entry, &matches, then)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_broken_pipe() && !on_hadoop() => ExitCode::SUCCESS,
        Err(error) => super::report(&error),
    }
}

/// Why the words behind `--then` are no stages.
enum Misread {
    Option(clap::Error),
    Stage(Box<Error>),
}

/// The stages that `--then` names, each with its options.
fn following(words: Vec<OsString>) -> std::result::Result<Vec<(&'static Entry, Values)>, Misread> {
    let parse = |words: &[OsString]| {
        let name = words.first().map(|name| name.to_string_lossy()).unwrap_or_default();
        let mapper = stages::find(&name).filter(|entry| entry.decl.role == Role::Map);
        let entry = mapper.ok_or_else(|| {
            Misread::Stage(Box::new(Error::Usage(format!("--then {name}: expected the name of a mapper"))))
        })?;
        let matches = super::parse(args::stage_command(entry), words).map_err(Misread::Option)?;
        Ok((entry, args::values(&matches, &(entry.fields)())))
    };
    words.split(|word| word == "--then").map(parse).collect()
}

/// The stage's command line: its own options, and where its rows come from.
pub fn command(entry: &Entry) -> Command {
    let mut after = format!("Reads rows   {}\nWrites rows  {}\n", entry.input.fields, entry.output.fields);
    if let Some(sort) = entry.sort_line() {
        after.push_str(&match entry.decl.role {
            Role::Map => format!("Before its reducer  {sort}\n"),
            Role::Reduce => format!("Reads rows sorted by  {sort}\n"),
        });
    }
    for side in entry.decl.side {
        after.push_str(&format!("Side file --{}  {}\n", side.option, side.about));
    }
    let mut command = args::stage_command(entry).version(env!("CARGO_PKG_VERSION")).after_help(after).arg(
        Arg::new("input")
            .long("input")
            .value_name("FILE")
            .num_args(1..)
            .value_parser(value_parser!(PathBuf))
            .help(
                "Read rows from files, plain or compressed by gzip, zstd, bzip2 or xz, instead of standard input: files, folders with all below \
                 them, quoted patterns such as 'part-*', or - for standard input",
            ),
    );
    if entry.decl.role == Role::Map {
        command = command.arg(
            Arg::new("then")
                .long("then")
                .value_name("STAGE")
                .num_args(1..)
                .allow_hyphen_values(true)
                .value_parser(value_parser!(OsString))
                .help("Pass the rows on to another mapper in the same process; its options, and a further --then, follow its name"),
        );
        command = command.arg(
            Arg::new("split")
                .long("split")
                .value_name("K/N")
                .value_parser(parse_split)
                .help("Read only the K-th (from 0) of N shares of the input, as the K-th of N tasks"),
        );
    }
    command
}

/// The share of the input that one of several tasks reads.
#[derive(Clone, Copy, Debug)]
struct Split {
    number: u32,
    of: u32,
}

fn parse_split(text: &str) -> std::result::Result<Split, String> {
    let parse = |text: &str| text.parse::<u32>().ok();
    match text.split_once('/').map(|(number, of)| (parse(number), parse(of))) {
        Some((Some(number), Some(of))) if number < of => Ok(Split { number, of }),
        _ => Err("expected K/N with K below N, e.g. 0/2".to_owned()),
    }
}

/// Bytes of a share's blocks: blocks are dealt out to the tasks in turn.
const SPLIT_BLOCK: usize = 64 << 10;

struct ToStdout {
    out: Stdout,
    /// Whether a CR may stand in a row: Hadoop takes it for the end of a line. In a line of JSON it is white space.
    cr: bool,
    row: Vec<u8>,
}

impl Sink for ToStdout {
    fn row(&mut self, row: &[u8]) -> Result<()> {
        if self.cr || memchr::memchr(b'\r', row).is_none() {
            return self.out.line(row);
        }
        self.row.clear();
        self.row.extend(row.strip_suffix(b"\r").unwrap_or(row));
        self.row.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b' ');
        self.out.line(&self.row)
    }
}

fn run(entry: &'static Entry, matches: &ArgMatches, then: Vec<(&'static Entry, Values)>) -> Result<()> {
    let inputs: Vec<PathBuf> = match matches.get_many::<PathBuf>("input") {
        Some(paths) => io::expand_inputs(&paths.cloned().collect::<Vec<_>>())?,
        None => vec![PathBuf::from("-")],
    };
    let stages: Vec<_> =
        std::iter::once((entry, args::values(matches, &(entry.fields)()))).chain(then).collect();
    refuse_one_stream_twice(&stages, &inputs)?;
    let split = match entry.decl.role {
        Role::Map => matches.get_one::<Split>("split").copied(),
        Role::Reduce => None,
    };
    let number = split.map_or_else(task_number, |split| split.number);
    let mut out = ToStdout { out: Stdout::new(), cr: !on_hadoop(), row: Vec::new() };
    let partition = Partition::of_job(entry, setting_of_job)?;
    let around = Surroundings { number, folder: task_folder(), row_limit: None, partition };
    let bound = stages[0].1.get::<MaxLine>("max-line");
    let mut blocks = Blocks::new(inputs, SPLIT_BLOCK);
    let share = Share::of_environment();
    if let Some(share) = &share {
        blocks = blocks.of_split(&share.file, share.start);
    }
    if let Some(bound) = bound {
        // The stages that have the option read documents.
        blocks = blocks.of_documents(bound);
    }
    if share.as_ref().is_some_and(|share| !share.keyed) && bound.is_some() {
        refuse_without_offsets(&stages)?;
    }
    let keyed = bound.is_some() && share.is_some_and(|share| share.keyed);
    let of_keys = on_hadoop() && entry.decl.role == Role::Reduce;
    let mut counters = chained::run(&stages, &around, &mut out, &mut |first| {
        while let Some(block) = blocks.next_block()? {
            if split.is_some_and(|split| block.number % u64::from(split.of) != u64::from(split.number)) {
                continue;
            }
            each_line(&block, |line, place| {
                first.task.place.clone_from(place);
                let line = if keyed {
                    without_offset(line, first.task)?
                } else if of_keys {
                    without_tab(entry, line)
                } else {
                    line
                };
                if bound.is_none() {
                    return if matches!(line, b"" | b"\r") { Ok(()) } else { first.row(line) };
                }
                let Some(document) = io::document_line(line) else { return Ok(()) };
                first.task.place.offset += (line.len() - document.len()) as u64;
                first.row(document)
            })?;
        }
        first.task.place = Place { file: "the end of the input".into(), ..Place::default() };
        Ok(())
    })?;
    counters.extend(peak_memory().map(|bytes| ("peak_memory".to_owned(), bytes)));
    out.out.flush()?;
    report_counters(entry, number, &counters)?;
    warn_of_bad_records(entry, &counters, &around.folder);
    Ok(())
}

/// Refuses options that need the offset of each document's line where no task is told it.
fn refuse_without_offsets(stages: &[(&Entry, Values)]) -> Result<()> {
    let any = |option: &str, value: &str| {
        stages.iter().any(|(_, values)| values.value(option).is_some_and(|given| given == value))
    };
    if any("id", "row") {
        return Err(Error::Usage("--id row counts the lines of a file, of which a task sees a share; --id auto takes their offsets".to_owned()));
    }
    let (auto, first) = (any("id", "auto"), any("keep", KeepRule::First.name()));
    match [("--id auto", auto), ("--keep first", first)].into_iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Error::Usage(format!(
            "{option} needs the offset of each line; give the job -D stream.map.input.ignoreKey=false"
        ))),
        None => Ok(()),
    }
}

/// Says on standard error that lines were passed over, unless a driver counts them.
fn warn_of_bad_records(entry: &Entry, counters: &Counters, folder: &Path) {
    let Some(passed) = counters.get(bad_records::COUNTER) else { return };
    if on_hadoop() || std::env::var_os(COUNTERS).is_some() {
        return;
    }
    let kept = folder.join(bad_records::FOLDER);
    let kept = if entry.keeps_bad_records {
        format!("; they are in {}", visible::path(&kept))
    } else {
        String::new()
    };
    terminal::warning(format_args!("{}: {passed} bad documents were passed over{kept}", entry.decl.name));
}

/// Standard input can be the rows or a side file: the one that is read last would be empty, and nothing would say so.
fn refuse_one_stream_twice(stages: &[(&Entry, Values)], inputs: &[PathBuf]) -> Result<()> {
    let of_stage = |(entry, values): &(&Entry, Values)| {
        let is_stream = |option: &str| values.value(option).is_some_and(|value| value == "-");
        let options = entry.decl.side.iter().map(|side| side.option);
        options.filter(|option| is_stream(option)).collect::<Vec<_>>()
    };
    let mut streams = stages.iter().flat_map(of_stage);
    let first = streams.next();
    if let (Some(option), true) = (first, inputs.iter().any(|input| input == Path::new("-"))) {
        return Err(Error::Usage(format!(
            "standard input cannot be the rows and the file of --{option}; give one of them by its name"
        )));
    }
    if let (Some(one), Some(other)) = (first, streams.next()) {
        return Err(Error::Usage(format!(
            "standard input cannot be the files of both --{one} and --{other}"
        )));
    }
    Ok(())
}

/// The share of a file that Hadoop hands to a map task, as its environment tells.
struct Share {
    file: String,
    start: u64,
    /// Whether each line begins with its offset in the file, in uncompressed bytes, and a TAB.
    keyed: bool,
}

impl Share {
    fn of_environment() -> Option<Self> {
        let value = |name: &str| Some(visible::stored(Path::new(&std::env::var_os(name)?)));
        let file = value("mapreduce_map_input_file")?;
        let start = value("mapreduce_map_input_start").and_then(|start| start.parse().ok()).unwrap_or(0);
        let keyed = value("stream_map_input_ignoreKey").is_some_and(|value| value == "false");
        Some(Self { file, start, keyed })
    }
}

/// A document's line without the offset before it, which becomes its place.
fn without_offset<'a>(line: &'a [u8], task: &mut Task<'_>) -> Result<&'a [u8]> {
    let end = memchr::memchr(b'\t', line);
    let parts = end.and_then(|end| Some((parse_number(&line[..end])?, &line[end + 1..])));
    let (offset, line) = parts.ok_or_else(|| {
        task.wrong(FieldError::new(
            "offset",
            "the line's offset and a TAB, as stream.map.input.ignoreKey=false has it",
            line,
        ))
    })?;
    task.place.offset = offset;
    Ok(line)
}

/// A row without the TAB that Hadoop puts behind one whose fields are all part of its key.
fn without_tab<'a>(entry: &Entry, row: &'a [u8]) -> &'a [u8] {
    match row.strip_suffix(b"\t") {
        Some(stripped) if (entry.input.decodes)(stripped).is_ok() => stripped,
        _ => row,
    }
}

/// A setting of the job that this task is part of: Hadoop puts all of them into the environment, dots as underscores.
fn setting_of_job(name: &str) -> Option<String> {
    std::env::var_os(name.replace('.', "_")).map(|value| value.to_string_lossy().into_owned())
}

/// Whether Hadoop runs this task: a broken pipe is an error there, and counters go to standard error.
fn on_hadoop() -> bool {
    std::env::var_os("mapreduce_task_attempt_id").is_some()
}

fn task_number() -> u32 {
    ["mapreduce_task_partition", TASK]
        .iter()
        .find_map(|name| parse_number(std::env::var_os(name)?.as_encoded_bytes()))
        .unwrap_or(0) as u32
}

/// The task's own folder. On a cluster the output folder may be an address that files cannot be written to; the
/// working folder is the task's own there.
fn task_folder() -> PathBuf {
    let folder = std::env::var_os("mapreduce_task_output_dir").map(PathBuf::from);
    let is_path = |folder: &PathBuf| !folder.to_string_lossy().contains(":/");
    folder.filter(is_path).unwrap_or_else(|| PathBuf::from("."))
}

fn report_counters(entry: &Entry, number: u32, counters: &Counters) -> Result<()> {
    if on_hadoop() {
        for (name, value) in counters {
            terminal::line(format_args!("reporter:counter:{},{name},{value}", entry.decl.name));
        }
    }
    let Some(folder) = std::env::var_os(COUNTERS).map(PathBuf::from) else { return Ok(()) };
    std::fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
    let mut file = io::AtomicFile::create(&folder.join(format!("{}-{number:05}", entry.decl.name)))?;
    for (name, value) in counters {
        file.line(format!("{name}\t{value}").as_bytes())?;
    }
    file.finish()
}
