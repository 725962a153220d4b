//! `twinsplit completions`: what makes the stages and the driver at home in a shell, completions and manual pages, written into the
//! usual places below a folder. Both follow from the declarations that parse the command lines.

use super::manual::{self, Page};
use super::options::{Overwrite, with_overwrite};
use crate::args;
use clap::{Arg, ArgGroup, ArgMatches, Command, ValueHint, value_parser};
use clap_complete::Shell;
use std::fs;
use std::path::{Path, PathBuf};
use twinsplit_core::visible;
use twinsplit_io::Target;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::stages::STAGES;

/// The command line.
pub fn command() -> Command {
    let folder = |name: &'static str| {
        Arg::new(name).long(name).value_name("FOLDER").value_parser(value_parser!(PathBuf))
    };
    let command = Command::new("completions")
        .about("Writes completions for bash, zsh and fish, and manual pages")
        .arg(folder("completions").help(
            "Write to bash-completion/completions, zsh/site-functions and fish/vendor_completions.d below \
             this folder; /usr/local/share and ~/.local/share are usual",
        ))
        .arg(
            folder("man").help(
                "Write to man1 below this folder; /usr/local/share/man and ~/.local/share/man are usual",
            ),
        )
        .group(ArgGroup::new("what").args(["completions", "man"]).multiple(true).required(true));
    with_overwrite(command)
}

/// The last line of each file, behind what its format takes for a comment: by it a later call knows its own files.
const MARK: &str = " made by twinsplit completions\n";

/// Runs the command.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let mut files = Vec::new();
    if let Some(folder) = matches.get_one::<PathBuf>("completions") {
        files.append(&mut completions(folder));
    }
    if let Some(folder) = matches.get_one::<PathBuf>("man") {
        let stages = STAGES.iter().map(manual::stage_page).collect::<Result<Vec<_>>>()?;
        for Page { name, text } in manual::driver_pages()?.into_iter().chain(stages) {
            let text = format!("{text}.\\\"{MARK}");
            files.push((folder.join("man1").join(format!("{name}.1")), text.into_bytes()));
        }
    }
    // Names such as keep and cluster may be those of other programs.
    let others = |path: &&PathBuf| {
        path.symlink_metadata().is_ok() && !fs::read(path).is_ok_and(|text| text.ends_with(MARK.as_bytes()))
    };
    if let Some(path) = files.iter().map(|(path, _)| path).find(others) {
        return Err(Error::Usage(format!(
            "{} was not made by twinsplit completions and is not replaced; move it, or choose another folder",
            visible::path(path)
        )));
    }
    let replaces = args::read::<Overwrite>(matches)?.overwrite;
    let write = |(path, text): (PathBuf, Vec<u8>)| Ok((Target::of(&path, replaces, [])?, text));
    let files = files.into_iter().map(write).collect::<Result<Vec<_>>>()?;
    files.iter().try_for_each(|(target, text)| target.write(text))
}

fn completions(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let programs = std::iter::once(super::command()).chain(STAGES.iter().map(super::stage::command));
    for program in programs {
        let name = program.get_name().to_owned();
        let mut program = with_hints(program);
        for (shell, file) in [
            (Shell::Bash, format!("bash-completion/completions/{name}")),
            (Shell::Zsh, format!("zsh/site-functions/_{name}")),
            (Shell::Fish, format!("fish/vendor_completions.d/{name}.fish")),
        ] {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut program, &name, &mut text);
            text.extend(format!("#{MARK}").bytes());
            files.push((folder.join(file), text));
        }
    }
    files
}

/// Options whose value is a folder complete to folders; those that name files do so by their type.
fn with_hints(command: Command) -> Command {
    let is_folder =
        |arg: &Arg| arg.get_value_names().is_some_and(|names| names.iter().any(|n| n == "FOLDER"));
    command
        .mut_args(|arg| if is_folder(&arg) { arg.value_hint(ValueHint::DirPath) } else { arg })
        .mut_subcommands(with_hints)
}
