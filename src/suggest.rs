//! What was meant by an option, a variable or an argument that is not there.

use crate::options;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use std::ffi::OsString;
use std::path::Path;
use twinsplit_core::choice::Choice as _;
use twinsplit_core::nearest::nearest;
use twinsplit_rows::chains::FAMILIES;
use twinsplit_rows::plan::KeptForm;

/// An option, what is to be given for it where that is not what was given, and what the field and other programs call it.
type Usual = (&'static str, &'static str, &'static [&'static str]);

const USUAL: [Usual; 11] = [
    ("tau", "", &["threshold", "jaccard", "min-jaccard", "min-similarity", "similarity-threshold"]),
    ("hashes", "", &["num-perm", "num-hashes", "permutations"]),
    ("features", " words:K", &["ngram", "ngrams", "ngram-size", "shingle", "shingles", "shingle-size"]),
    ("features", "", &["tokenizer", "tokeniser"]),
    ("output", "", &["output-dir", "output-folder", "out", "out-dir"]),
    ("input", "", &["input-dir", "input-folder", "file", "files"]),
    ("threads", "", &["num-workers", "workers", "jobs", "num-proc", "num-threads", "cores", "processes"]),
    ("memory", "", &["max-memory", "ram"]),
    ("id", "", &["id-column", "id-field"]),
    ("text", "", &["text-column", "text-field", "column"]),
    ("overwrite", "", &["force"]),
];

/// So many letters of an option may stand for it.
const BEGINNING: usize = 4;

/// The option of `known`, of which each has all its names, that was meant by another name; and what is to be given for it.
pub fn meant(name: &str, known: &[Vec<String>]) -> Option<String> {
    let name = name.to_lowercase().replace('_', "-");
    let own = |option: &str| known.iter().find(|names| names.iter().any(|known| known == option));
    let usual = USUAL.iter().find(|(option, _, words)| words.contains(&&*name) && own(option).is_some());
    if let Some((option, value, _)) = usual {
        return Some(format!("{option}{value}"));
    }
    let begins =
        |names: &&Vec<String>| name.len() >= BEGINNING && names.iter().any(|known| known.starts_with(&name));
    let mut beginning = known.iter().filter(begins);
    let near = match (beginning.next(), beginning.next()) {
        (Some(names), None) => names,
        _ => own(nearest(&name, known.iter().flatten().map(String::as_str))?)?,
    };
    near.first().cloned()
}

/// The long names of an option, its own first.
fn names(arg: &Arg) -> Option<Vec<String>> {
    let own = arg.get_long()?;
    let aliases = arg.get_all_aliases().unwrap_or_default();
    Some(std::iter::once(own).chain(aliases).map(str::to_owned).collect())
}

/// The command that the words of a command line call.
fn called<'c>(driver: &'c Command, args: &[OsString]) -> &'c Command {
    let mut command = driver;
    for word in args.iter().skip(1).map_while(|word| word.to_str()) {
        match command.find_subcommand(word) {
            Some(nested) => command = nested,
            None => break,
        }
    }
    command
}

/// What clap says of a command line, with what suits it: it knows neither what others call an option, nor that documents are no
/// argument.
pub fn improved(mut error: clap::Error, driver: &Command, args: &[OsString]) -> clap::Error {
    let command = called(driver, args);
    let text = |error: &clap::Error, kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let word = match error.kind() {
        ErrorKind::UnknownArgument => text(&error, ContextKind::InvalidArg),
        ErrorKind::InvalidValue => text(&error, ContextKind::InvalidValue),
        _ => None,
    };
    let Some(word) = word.filter(|_| error.get(ContextKind::SuggestedSubcommand).is_none()) else {
        return error;
    };
    if let (ErrorKind::UnknownArgument, Some(name)) = (error.kind(), word.strip_prefix("--")) {
        let known: Vec<_> = command.get_arguments().filter_map(names).collect();
        // What clap has found is near by another measure.
        error.remove(ContextKind::SuggestedArg);
        if let Some(option) = meant(name, &known) {
            error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{option}")));
        }
        // Of these clap makes a usage with its own suggestion, and a hint at arguments that look like options.
        error.remove(ContextKind::Suggested);
        error.insert(ContextKind::Usage, ContextValue::StyledStr(command.clone().render_usage()));
        return error;
    }
    if let Some(form) = kept_form(&word, args) {
        let text =
            format!("unexpected argument '{word}' found; the form of kept documents is given as {form}\n");
        return clap::Error::raw(error.kind(), text);
    }
    let has_input = command.get_arguments().any(|arg| arg.get_short() == Some(options::INPUT));
    let is_documents = match error.kind() {
        ErrorKind::UnknownArgument => !word.starts_with('-'),
        _ => text(&error, ContextKind::InvalidArg).as_deref() == Some("[CHAIN]") && !is_chain(&word, args),
    };
    match has_input && is_documents {
        true => clap::Error::raw(
            error.kind(),
            format!(
                "unexpected argument '{word}' found; documents are named by --input: -{} {word}\n",
                options::INPUT
            ),
        ),
        false => error,
    }
}

/// The option and its form as they are to be written, where a form stands behind `--write-kept` as a word of its own: there a chain may stand,
/// too.
fn kept_form(word: &str, args: &[OsString]) -> Option<String> {
    let is_there = args.windows(2).any(|two| two[0] == "--write-kept" && two[1] == word);
    (is_there && KeptForm::named(word).is_some()).then(|| format!("--write-kept={word}"))
}

/// Whether a word that is no name of a chain is rather one that was mistyped than the name of a file: it is near one, or documents are
/// named beside it.
fn is_chain(word: &str, args: &[OsString]) -> bool {
    let has_documents = args.iter().filter_map(|arg| arg.to_str()).any(|arg| {
        arg.starts_with("--input")
            || arg.strip_prefix('-').is_some_and(|letters| letters.starts_with(options::INPUT))
    });
    let is_near = || nearest(word, FAMILIES.iter().map(|family| family.name)).is_some();
    !Path::new(word).exists() && (has_documents || is_near())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_for_what_the_field_calls_so_then_for_a_beginning_then_for_the_nearest() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let known = [
            names(&["tau", "threshold"]),
            names(&["threads"]),
            names(&["features"]),
            names(&["min-features"]),
            names(&["output"]),
        ];
        for (name, option) in [
            ("thresh", Some("tau")),
            ("jaccard", Some("tau")),
            ("similarity_threshold", Some("tau")),
            ("ngram", Some("features words:K")),
            ("output-dir", Some("output")),
            ("jobs", Some("threads")),
            ("thread", Some("threads")),
            ("thr", None),
            ("FEATURE", Some("features")),
            ("min-feetures", Some("min-features")),
            ("tua", Some("tau")),
            ("taux", Some("tau")),
            // An option that the command has not is none to take.
            ("num-perm", None),
            ("nonsense", None),
        ] {
            assert_eq!(meant(name, &known).as_deref(), option, "{name}");
        }
    }
}
