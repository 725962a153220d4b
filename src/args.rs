//! Options as arguments of a command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use std::ffi::OsStr;
use twinsplit::Error;
use twinsplit_core::choice::{self, Choice};
use twinsplit_core::options::{Choosable, Field, Options, ValueKind, Values};
use twinsplit_rows::stage::Entry;

/// The argument of an option.
pub fn arg(field: Field) -> Arg {
    let variable = field.variable();
    let check = field.check;
    let parser = match &field.kind {
        ValueKind::File => value_parser!(std::path::PathBuf),
        ValueKind::Choice(choices) => one_of(choices).into(),
        ValueKind::Text => {
            ValueParser::new(move |text: &str| check(OsStr::new(text)).map(|()| text.to_owned()))
        }
    };
    let arg = Arg::new(field.name.clone())
        .long(field.name.clone())
        .env(variable)
        .help(without_full_stop(&field.about))
        .value_name(field.shown.map_or_else(|| field.name.replace('-', "_").to_uppercase(), str::to_owned))
        .value_parser(parser);
    let arg = field.alias.into_iter().fold(arg, Arg::visible_alias);
    match field.default {
        Some(default) => arg.default_value(default),
        None => arg,
    }
}

/// The arguments of a group of options.
pub fn args_of(fields: Vec<Field>) -> impl Iterator<Item = Arg> {
    fields.into_iter().map(arg)
}

/// The command line of a stage's own options, without those that every stage has.
pub fn stage_command(entry: &Entry) -> Command {
    Command::new(entry.decl.name).about(entry.decl.about).args(args_of((entry.fields)()))
}

/// The values that a command line has, or the environment.
pub fn values(matches: &ArgMatches, fields: &[Field]) -> Values {
    let mut values = Values::default();
    for Field { name, .. } in fields {
        let written = matches.try_get_raw(name).ok().flatten().and_then(|mut written| written.next());
        if let Some(written) = written {
            values.set(name, written);
        }
    }
    values
}

/// The value of an option that is a choice.
pub fn choice<T: Choice>() -> impl TypedValueParser<Value = T> {
    choice_but::<T>(&[])
}

/// The same without some of its values, which a command has no use for.
pub fn choice_but<T: Choice>(without: &[T]) -> impl TypedValueParser<Value = T> + use<T> {
    let is_there = |one: &Choosable| !without.iter().any(|value| value.name() == one.name);
    let choices: Vec<Choosable> = choice::choices::<T>().into_iter().filter(is_there).collect();
    one_of(&choices).try_map(|name| choice::read(OsStr::new(&name)))
}

fn one_of(choices: &[Choosable]) -> PossibleValuesParser {
    PossibleValuesParser::new(choices.iter().map(|one| {
        let value = PossibleValue::new(one.name).help(without_full_stop(one.about));
        one.alias.into_iter().fold(value, PossibleValue::alias)
    }))
}

/// Help of one sentence has no full stop.
fn without_full_stop(about: &str) -> String {
    about.strip_suffix('.').unwrap_or(about).to_owned()
}

/// What a command line says, read into a struct.
pub fn read<T: FromArgMatches>(matches: &ArgMatches) -> twinsplit::Result<T> {
    T::from_arg_matches(matches).map_err(|error| {
        let text = error.to_string();
        // The word that every error is printed after.
        Error::Usage(text.strip_prefix("error: ").unwrap_or(&text).trim_end().to_owned())
    })
}

/// A group of options among the arguments of a command that clap derives.
#[derive(Clone, Debug)]
pub struct OptionsArgs<O>(pub O);

impl<O: Options> FromArgMatches for OptionsArgs<O> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let read = O::read(&values(matches, &O::fields())).map(Self);
        read.map_err(|invalid| {
            clap::Error::raw(ErrorKind::ValueValidation, format!("{}\n", Error::from(invalid)))
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<O: Options> Args for OptionsArgs<O> {
    fn augment_args(command: Command) -> Command {
        command.args(args_of(O::fields()))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
