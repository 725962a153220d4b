//! Manual pages, made from the declarations of stages and commands: what clap knows of a command, and the sections that
//! follow from its stage, its variables and the examples.

use super::examples;
use super::stage::{COUNTERS, TASK};
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::stage::Entry;
use twinsplit_rows::stage::partition::PARTITIONER;

/// A manual page: its name without the section, and its text.
pub struct Page {
    /// Such as `twinsplit-run` or `tokenize`.
    pub name: String,
    /// In the language of man(7).
    pub text: String,
}

/// What a run leaves, for FILES of `twinsplit-run`.
const ANSWER: &[(&str, &str)] = &[
    (
        "OUTPUT/quarantine.tsv",
        "With --bad-records: file, line, field, what was expected, and the line as it was, of each line that is no document.",
    ),
    ("OUTPUT/pairs.tsv", "Every pair at or above tau: both ids, shared features, both sizes, similarity."),
    ("OUTPUT/clusters.tsv", "Every member of every cluster: the kept id, the id, keep or drop, similarity."),
    ("OUTPUT/kept.jsonl", "With --write-kept: the input lines of documents that no cluster drops."),
    (
        "OUTPUT/kept",
        "With --write-kept=same: of each file of the input the documents that no cluster drops, in its own format and compression.",
    ),
    (
        "OUTPUT/pairs.jsonl, OUTPUT/pairs.parquet, OUTPUT/clusters.jsonl, OUTPUT/clusters.parquet; with --unit OUTPUT/cut.jsonl and so on",
        "With --tables: pairs and clusters with named columns.",
    ),
    ("OUTPUT/run.json", "Parameters, digests of inputs and outputs, counters, seconds, warnings."),
    (
        "OUTPUT/documents.jsonl",
        "Where a file was not JSON lines in UTF-8: the documents as such lines, which are the input of the run.",
    ),
    ("OUTPUT/units.jsonl", "With --unit: the units of the documents, which are the input of the run."),
    (
        "OUTPUT/cut.tsv, OUTPUT/cut-documents.tsv",
        "With --unit: each unit that is cut, and the one for which it is; each document of which something is cut, and how much.",
    ),
    ("OUTPUT/_work", "The data sets between steps; removed at the end, unless --keep-work is given."),
    (
        "*.partial",
        "A file that is being written: it gets its own name when it is complete. A run that was killed may leave one.",
    ),
];

/// The day on which the manual last changed in more than its words.
const DATE: &str = "2026-11-30";

/// The page of the driver, and one for each of its commands and of theirs.
pub fn driver_pages() -> Result<Vec<Page>> {
    let without_help = |command: Command| command.disable_help_subcommand(true);
    let mut driver = without_help(super::command()).mut_subcommands(without_help);
    driver.build();
    let mut pages = vec![page(&driver, None)?];
    for command in driver.get_subcommands() {
        pages.push(page(command, None)?);
        for nested in command.get_subcommands() {
            pages.push(page(nested, None)?);
        }
    }
    Ok(pages)
}

/// The page of a stage.
pub fn stage_page(entry: &'static Entry) -> Result<Page> {
    let mut command = super::stage::command(entry);
    command.build();
    page(&command, Some(entry))
}

fn page(command: &Command, entry: Option<&'static Entry>) -> Result<Page> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    // The line of --help: a list of all options would say less.
    let usage = command.clone().render_usage().to_string();
    let command = command.clone().override_usage(usage.trim_start_matches("Usage: ").to_owned());
    let man = Man::new(command.clone())
        .title(name.to_uppercase())
        .date(DATE)
        .source(format!("twinsplit {}", env!("CARGO_PKG_VERSION")))
        .manual("twinsplit");
    let mut roff = Roff::default();
    description(&mut roff, entry);
    let mut text = Vec::new();
    let mut sections = || {
        man.render_title(&mut text)?;
        man.render_name_section(&mut text)?;
        man.render_synopsis_section(&mut text)?;
        man.render_description_section(&mut text)?;
        roff.to_writer(&mut text)?;
        man.render_options_section(&mut text)?;
        if command.has_subcommands() {
            man.render_subcommands_section(&mut text)?;
        }
        let mut roff = Roff::default();
        exit_status(&mut roff, entry.is_some());
        environment(&mut roff, &command, entry.is_some());
        files(&mut roff, &name, entry);
        // As it is called: the page twinsplit-run is about the command `twinsplit run`.
        shown_examples(&mut roff, command.get_bin_name().unwrap_or(&name));
        see_also(&mut roff, &name, entry);
        roff.to_writer(&mut text)
    };
    sections().map_err(Error::io("make the manual page", &name))?;
    // Formatters warn of line breaks around an empty line, which clap_mangen puts before possible values, and of a
    // backslash that is written twice: it is \e outside of a macro's definition.
    let text = String::from_utf8_lossy(&text).replace(".br\n\n.br\n", ".sp\n").replace(r"\\", r"\e");
    Ok(Page { name, text })
}

fn section(roff: &mut Roff, title: &str) {
    roff.control("SH", [title]);
}

/// A term and what it means.
fn item(roff: &mut Roff, term: &str, text: &str) {
    roff.control("TP", []);
    roff.text([bold(term)]);
    roff.text([roman(text)]);
}

fn description(roff: &mut Roff, entry: Option<&Entry>) {
    let Some(entry) = entry else { return };
    roff.control("PP", []);
    roff.text([roman(
        "A stage of twinsplit: it reads rows on standard input, or from files, and writes rows to standard output. \
         Rows are lines; their fields are separated by a TAB, shown as ⇥.",
    )]);
    section(roff, "ROWS");
    item(roff, "Reads", entry.input.fields);
    item(roff, "Writes", entry.output.fields);
    if let Some(sort) = entry.sort_line() {
        let term = match entry.decl.role {
            twinsplit_rows::stage::Role::Map => "Before its reducer",
            twinsplit_rows::stage::Role::Reduce => "Reads rows sorted by",
        };
        item(roff, term, &sort);
    }
}

fn exit_status(roff: &mut Roff, stage: bool) {
    section(roff, "EXIT STATUS");
    item(
        roff,
        "0",
        "All is done. Also when the reader of standard output went away before the end, as head does; \
         there is no message then.",
    );
    item(
        roff,
        "1",
        "The input, a file, the system or a limit stopped it; the message on standard error names the place \
         and what to do. No file of an answer is left in part.",
    );
    item(roff, "2", "Options, or variables of the environment, that are wrong; no output was touched.");
    item(
        roff,
        "130",
        "As the shell shows it: Ctrl-C ended it. Other signals are shown as 128 and their number in the same way, \
         such as 137 when the system ran out of memory.",
    );
    if stage {
        roff.control("PP", []);
        roff.text([roman(
            "Under Hadoop, where mapreduce_task_attempt_id is set, a reader that went away is a failure, 1, so that \
             the task is repeated.",
        )]);
    }
}

fn environment(roff: &mut Roff, command: &Command, stage: bool) {
    section(roff, "ENVIRONMENT");
    for arg in command.get_arguments() {
        if let (Some(env), Some(long)) = (arg.get_env(), arg.get_long()) {
            item(roff, &env.to_string_lossy(), &format!("Taken where --{long} is not given."));
        }
    }
    if stage {
        let of_hadoop = "mapreduce_task_partition, mapreduce_task_output_dir, mapreduce_task_attempt_id";
        item(roff, COUNTERS, "A folder: the task's counters are written there, as lines of name and number.");
        item(roff, TASK, "The number of the task, from 0, where Hadoop does not say it.");
        item(
            roff,
            PARTITIONER,
            "Under Hadoop, the class of the job's own partitioner: what is not known here brings the rows of a key to one task.",
        );
        item(
            roff,
            of_hadoop,
            "Hadoop's: the number of the task, the folder for its files, and that it runs there.",
        );
    }
    let refused = "Any other name that begins so is an error, so that a typing error is no default.";
    item(roff, "TWINSPLIT_*", refused);
    item(roff, "NO_COLOR", "When it is set, messages have no colour. They have it on a terminal only.");
}

fn files(roff: &mut Roff, name: &str, entry: Option<&Entry>) {
    let mut files: Vec<(String, String)> = Vec::new();
    if name == "twinsplit-run" {
        files.extend(ANSWER.iter().map(|(file, what)| ((*file).to_owned(), (*what).to_owned())));
    }
    for side in entry.into_iter().flat_map(|entry| entry.decl.side) {
        files.push((format!("--{}", side.option), format!("{}.", side.about)));
    }
    if !files.is_empty() {
        section(roff, "FILES");
        files.iter().for_each(|(file, what)| item(roff, file, what));
    }
}

fn shown_examples(roff: &mut Roff, program: &str) {
    section(roff, "EXAMPLES");
    let all = examples::of(program);
    // The page of the driver itself shows how to begin; the others are on the pages of its commands.
    for (number, example) in all.take(if program == "twinsplit" { 4 } else { usize::MAX }).enumerate() {
        if number > 0 {
            roff.control("PP", []);
        }
        roff.text([roman(format!("{}:", example.about))]);
        roff.control("PP", []);
        roff.control("RS", ["4"]);
        roff.control("nf", []);
        for line in shell_lines(example.line) {
            roff.text([bold(line)]);
        }
        roff.control("fi", []);
        roff.control("RE", []);
    }
}

/// Commands that follow one another each get a line; a pipe goes on in a new line where it gets long, as a shell
/// allows after `|`.
fn shell_lines(line: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for command in line.split("; ") {
        let mut rest = String::new();
        for part in command.split_inclusive("| ") {
            if !rest.is_empty() && rest.len() + part.len() > 68 {
                lines.push(std::mem::take(&mut rest).trim_end().to_owned());
                rest.push_str("  ");
            }
            rest.push_str(part);
        }
        lines.push(rest);
    }
    lines
}

fn see_also(roff: &mut Roff, name: &str, entry: Option<&Entry>) {
    section(roff, "SEE ALSO");
    let mut pages: Vec<String> = Vec::new();
    if entry.is_some() {
        let neighbours = examples::of(name).flat_map(|example| {
            twinsplit_rows::stages::STAGES
                .iter()
                .map(|entry| entry.decl.name)
                .filter(|other| example.runs(other))
        });
        pages.extend(neighbours.filter(|other| *other != name).map(|other| format!("{other}(1)")));
        pages.push("sort(1)".to_owned());
        pages.push("twinsplit-stages(1)".to_owned());
        pages.push("twinsplit(1)".to_owned());
    } else {
        let driver = super::command();
        let commands = driver.get_subcommands().map(|command| format!("twinsplit-{}", command.get_name()));
        let all = std::iter::once("twinsplit".to_owned()).chain(commands);
        pages.extend(all.filter(|other| other != name).map(|other| format!("{other}(1)")));
    }
    pages.sort();
    pages.dedup();
    roff.text([roman(pages.join(", "))]);
    roff.control("PP", []);
    roff.text([roman(
        "The files docs/choosing.md, docs/formats.md, docs/stages.md and docs/operating.md of the documentation \
         (share/doc/twinsplit where make install put it).",
    )]);
}
