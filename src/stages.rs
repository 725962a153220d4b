//! `twinsplit stages`: what follows from the declarations — the stages' names, `docs/stages.md` and the committed scripts. A
//! test compares each file with a fresh one; `--write` renews them.

use super::options::{Overwrite, read_file, with_overwrite};
use crate::args;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use twinsplit_core::visible;
use twinsplit_engine::{self as engine, library::Library};
use twinsplit_io::Target;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::plan::{Asked, Engine, Given, KeptForm, Origin, Plan};
use twinsplit_rows::record::Keys;
use twinsplit_rows::stage::{Entry, Role};
use twinsplit_rows::stages::STAGES;

/// The command line.
pub fn command() -> Command {
    let command =
        Command::new("stages")
            .about("Shows every stage: what it reads and writes, its options")
            .arg(
                Arg::new("names").long("names").action(ArgAction::SetTrue).conflicts_with("write").help(
                    "Show the names alone, one a line: a link to twinsplit by such a name is that stage",
                ),
            )
            .arg(
                Arg::new("write")
                    .long("write")
                    .value_name("FOLDER")
                    .value_parser(value_parser!(PathBuf))
                    .help("Renew the files that follow from the declarations in a source folder"),
            );
    with_overwrite(command)
}

/// Runs the command.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let Some(folder) = matches.get_one::<PathBuf>("write") else {
        let mut out = twinsplit_io::Stdout::new();
        if matches.get_flag("names") {
            STAGES.iter().try_for_each(|entry| out.line(entry.decl.name.as_bytes()))?;
        } else {
            out.line(document().trim_end().as_bytes())?;
        }
        return out.flush();
    };
    let package = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    if !package.lines().any(|line| line == "name = \"twinsplit-cli\"") {
        return Err(Error::Usage(format!(
            "{} is no source folder of twinsplit: its Cargo.toml is not there; name the folder that holds it",
            visible::path(folder)
        )));
    }
    let replaces = args::read::<Overwrite>(matches)?.overwrite;
    let target =
        |(name, text): (String, String)| Ok((Target::of(&folder.join(&name), replaces, [])?, name, text));
    for (target, name, text) in derived()?.into_iter().map(target).collect::<Result<Vec<_>>>()? {
        target.write(text.as_bytes())?;
        if name.starts_with("jobs/") {
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(target.path(), mode)
                .map_err(Error::io("make executable", target.path()))?;
        }
    }
    Ok(())
}

/// The committed files that follow from the declarations: path in the source folder, and text.
pub fn derived() -> Result<Vec<(String, String)>> {
    let mut files = vec![("docs/stages.md".to_owned(), document())];
    for (name, chain, options, engine) in SCRIPTS {
        let mut given = Given::default();
        options.iter().for_each(|(name, value)| given.set(name, *value, Origin::CommandLine));
        let chain = Some((*chain).to_owned());
        let asked = Asked {
            chain,
            engine: *engine,
            given,
            inputs: Vec::new(),
            write_kept: Some(KeptForm::Jsonl),
            recall: None,
            notes: Vec::new(),
        };
        let script = engine::script_of(&Plan::of(asked, &read_file)?, Library::Beside)?;
        let ending = if *engine == Engine::Spark { "py" } else { "sh" };
        files.push((format!("jobs/{}/{name}.{ending}", engine.name()), script));
    }
    Ok(files)
}

/// The committed scripts: name, chain, options, engine. Each exact method is there once, and each engine; `twinsplit plan` prints
/// any other.
type Script = (&'static str, &'static str, &'static [(&'static str, &'static str)], Engine);
const SCRIPTS: &[Script] = &[
    ("term-split", "term-split", &[], Engine::Pipes),
    ("term-split-prefix", "term-split", &[("pcp", "prefix")], Engine::Hadoop),
    ("doc-split", "doc-split", &[], Engine::Hadoop),
    ("doc-split", "doc-split", &[], Engine::Spark),
];

/// `docs/stages.md`.
fn document() -> String {
    let mut text = String::from(
        "# Stages\n\n\
         Each stage is a program of this name: a link to `twinsplit`, which acts as the stage by whose name it is called. Rows are\n\
         lines, fields are separated by TAB (⇥). *Partition* and *sort* are how many leading fields choose the task and sort its rows;\n\
         `-` marks rows that are never shuffled. A reducer reads the rows of its mapper, sorted by the line given.\n\n\
         This page is made from the declarations in `crates/rows/src/stages` (`make derived`).\n\n\
         | stage | role | reads | writes | partition | sort | side files |\n|---|---|---|---|---|---|---|\n",
    );
    for entry in STAGES.iter() {
        let (partition, sort) = keys_of(entry).map_or(("-".to_owned(), "-".to_owned()), |keys| {
            (keys.partition.to_string(), keys.sort.to_string())
        });
        let side: Vec<_> = entry.decl.side.iter().map(|side| format!("`{}`", side.option)).collect();
        text.push_str(&format!(
            "| [`{0}`](#{0}) | {1} | {2} | {3} | {partition} | {sort} | {4} |\n",
            entry.decl.name,
            role(entry),
            escape(entry.input.fields),
            escape(entry.output.fields),
            side.join(", ")
        ));
    }
    for entry in STAGES.iter() {
        text.push_str(&format!("\n## {}\n\n{} ({}).\n", entry.decl.name, entry.decl.about, role(entry)));
        if let Some(sort) = entry.sort_line() {
            let says =
                if entry.decl.role == Role::Map { "Its rows are sorted by" } else { "Reads rows sorted by" };
            text.push_str(&format!("\n{says}: `{sort}`\n"));
        }
        for side in entry.decl.side {
            text.push_str(&format!("\nSide file `--{}`: {}.\n", side.option, side.about));
        }
        push_options(entry, &mut text);
    }
    text
}

fn push_options(entry: &Entry, text: &mut String) {
    let command = args::stage_command(entry);
    let mut options = command.get_arguments().peekable();
    if options.peek().is_none() {
        return;
    }
    text.push_str("\n| option | environment | default | meaning |\n|---|---|---|---|\n");
    for arg in options {
        let env = arg.get_env().map(|env| format!("`{}`", env.to_string_lossy())).unwrap_or_default();
        let default = arg.get_default_values().first().map(|value| format!("`{}`", value.to_string_lossy()));
        let values = arg.get_possible_values();
        let values: Vec<_> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let choice = if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) };
        text.push_str(&format!(
            "| `--{}` | {env} | {} | {}{choice} |\n",
            arg.get_long().unwrap_or_default(),
            default.unwrap_or_default(),
            escape(&help)
        ));
    }
}

/// The keys of a stage's shuffle: a reducer's are those of what it reads.
fn keys_of(entry: &Entry) -> Option<Keys> {
    match entry.decl.role {
        Role::Map => entry.output.keys,
        Role::Reduce => entry.input.keys,
    }
}

fn role(entry: &Entry) -> &'static str {
    match entry.decl.role {
        Role::Map => "map",
        Role::Reduce => "reduce",
    }
}

fn escape(text: &str) -> String {
    text.replace('|', "\\|")
}
