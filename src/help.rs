//! Help on one screen: what `-h` shows of `twinsplit` and of `twinsplit run`, where `--help` has all.

use clap::builder::Str;
use clap::{Arg, Command};
use std::ffi::OsString;
use twinsplit_rows::chains::FAMILIES;

/// What most runs need, by heading: an option, and what it does in a few words.
const OF_RUN: [(&str, &[(&str, &str)]); 3] = [
    (
        "Documents and answer",
        &[
            ("input", "files, folders, patterns, or - (standard input)"),
            ("id", "field, column or element that holds the id"),
            ("text", "the same of the text; several may be given"),
            ("output", "for pairs.tsv, clusters.tsv and run.json"),
            ("write-kept", "write the documents to keep, too; =same as files"),
            ("overwrite", "replace the answer that is there"),
        ],
    ),
    (
        "What is compared",
        &[
            ("features", "words:K, chars:K, spotsigs and others"),
            ("tau", "least similarity of a pair, in (0, 1]"),
            ("idf", "0.1,1 leaves out what most documents have"),
        ],
    ),
    (
        "How it runs",
        &[
            ("threads", "by default as many as there are cores"),
            ("memory", "bound in megabytes, or such as 4G"),
            ("dry-run", "say what would be done, and do nothing"),
            ("verbose", "print a table of the steps, too"),
            ("quiet", "print only warnings and errors"),
        ],
    ),
];

/// What follows these.
const AFTER_RUN: &str = "All options: twinsplit run --help, man twinsplit-run. Advice: docs/choosing.md";

/// The driver's help on one screen: commands, how to begin, and where the rest is.
const OF_DRIVER: &str = "{about}\n{usage-heading} {usage}\n\n{subcommands}\n\n\
     Begin with     twinsplit run -i docs.jsonl.gz -o out\n\
     Options        twinsplit COMMAND -h, and all of them --help; -V for the version\n\
     Read on        man twinsplit, README.md, docs/ (or share/doc/twinsplit)";

/// The command line with the help that these words ask for: that of `-h` is short.
pub fn asked_for(driver: Command, args: &[OsString]) -> Command {
    let is_short = |word: &OsString| {
        word.to_str().and_then(|word| word.strip_prefix('-')).is_some_and(|letters| {
            letters.ends_with('h') && letters.chars().all(|letter| letter.is_ascii_alphabetic())
        })
    };
    let is_asked = args.len() < 2 || args.iter().any(is_short);
    // People deal rows out in scripts alone, and a screen has no line to spare.
    let driver = match is_asked && driver.find_subcommand("partition").is_some() {
        true => driver.mut_subcommand("partition", |partition| partition.hide(true)),
        false => driver,
    };
    match is_asked {
        true if driver.find_subcommand("run").is_some() => {
            driver.help_template(OF_DRIVER).mut_subcommand("run", |run| {
                let text = of_run(&run);
                run.override_help(text)
            })
        }
        true => driver.help_template(OF_DRIVER),
        false => driver,
    }
}

fn of_run(run: &Command) -> String {
    let about = run.get_about().map(ToString::to_string).unwrap_or_default();
    let names = FAMILIES.map(|family| family.name).join(", ");
    let mut text =
        format!("{about}\n\nUsage: twinsplit run [CHAIN] -i FILE... -o FOLDER [OPTIONS]\nCHAIN: {names}\n");
    for (heading, options) in OF_RUN {
        text.push_str(&format!("\n{heading}:"));
        for (name, what) in options {
            let arg = run.get_arguments().find(|arg| arg.get_long() == Some(name));
            text.extend(arg.map(|arg| line(arg, what)));
        }
    }
    text.push_str(&format!("\n{AFTER_RUN}\n"));
    text
}

/// A line on an option, with the default that it has.
fn line(arg: &Arg, what: &str) -> String {
    let short = arg.get_short().map_or("    ".to_owned(), |short| format!("-{short}, "));
    let names = arg.get_value_names().filter(|_| arg.get_action().takes_values()).unwrap_or_default();
    let value = |name: &Str| match arg.is_require_equals_set() {
        true => format!("[=<{name}>]"),
        false => format!(" <{name}>"),
    };
    let values: String = names.iter().map(value).collect();
    let option = format!("{short}--{}{values}", arg.get_long().unwrap_or_default());
    let default = arg.get_default_values().first().filter(|_| !values.is_empty());
    let default = default.map(|value| format!(" [{}]", value.to_string_lossy())).unwrap_or_default();
    format!("\n  {option:<26} {what}{default}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_the_short_help_is_one_with_its_line() {
        let run = crate::run::command();
        let text = of_run(&run);
        for (_, options) in OF_RUN {
            for (name, what) in options {
                assert!(
                    text.lines().any(|line| line.contains(&format!("--{name}")) && line.contains(what)),
                    "{name}"
                );
            }
        }
        assert!(text.contains("-i, --input <FILE>  ") && text.contains("[0.65]"), "{text}");
    }

    #[test]
    fn letters_that_end_in_h_ask_for_short_help() {
        let is_short = |words: &[&str]| {
            let args: Vec<OsString> = ["twinsplit"].iter().chain(words).map(OsString::from).collect();
            asked_for(crate::command(), &args).render_help().to_string().contains("Begin with")
        };
        for words in [&["-h"][..], &["run", "-h"], &["run", "-qh"], &[]] {
            assert!(is_short(words), "{words:?}");
        }
        for words in [&["--help"][..], &["run", "--with"], &["run", "-i", "docs-h"]] {
            assert!(!is_short(words), "{words:?}");
        }
    }
}
