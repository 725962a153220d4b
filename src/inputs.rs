//! The documents that a command reads: which files, in which format.
//!
//! What reads documents in this process reads JSON lines. Files of another format are converted first: by a run into a file of its answer
//! ([`InFront`]), by other commands into a folder that goes with them ([`Inputs::read`]). Files that all hold JSON lines are read as they are.

use super::convert::InFront;
use crate::args;
use clap::{Args, Command};
use std::ops::Deref;
use std::path::PathBuf;
use twinsplit_core::text::units::Unit;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::terminal;
use twinsplit_io::{Selection, Target, WorkFolder, selected_files};
use twinsplit_rows::params::Params;
use twinsplit_sources::{Encoding, Format, HtmlText};

/// How the files of an input are chosen and read.
#[derive(Args, Clone, Debug)]
pub struct InputOpts {
    /// The format of the documents. Those that are not JSON lines are converted first: by run into the file documents.jsonl of
    /// its output, with engines local and pipes
    #[arg(long, value_parser = args::choice::<Format>(), default_value = "auto")]
    pub format: Format,
    /// The encoding of the documents, by a name of the WHATWG Encoding Standard such as latin1 or gb18030; bytes that are not of
    /// it are errors [default: utf-8; of a web page, what it says]
    #[arg(long, value_name = "NAME")]
    pub encoding: Option<Encoding>,
    /// What of a web page is its text: in files of HTML, crawls, and TREC behind a DOCHDR [default: visible]
    #[arg(long, value_parser = args::choice::<HtmlText>(), value_name = "TEXT")]
    pub html: Option<HtmlText>,
    /// Compare parts of documents instead of whole ones, each as a document of its own, with the id DOCUMENT#NUMBER. run cuts out what is
    /// repeated: it lists that in cut.tsv, and writes the documents without it with --write-kept
    #[arg(long, value_parser = args::choice::<Unit>(), value_name = "UNIT")]
    pub unit: Option<Unit>,
    /// Of the files that folders and patterns stand for, take those that match: by their names, or by their paths where the
    /// pattern has a /; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// Leave out those that match, in the same way
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
}

/// A command with [`InputOpts`]. What is said of these would take the place of what the command says of itself.
pub fn with_inputs(command: Command) -> Command {
    let about = command.get_about().cloned().unwrap_or_default();
    InputOpts::augment_args(command).about(about).long_about(None)
}

/// What is compared, one and several: units, or whole documents.
pub fn nouns(unit: Option<Unit>) -> [&'static str; 2] {
    unit.map_or(["document", "documents"], Unit::nouns)
}

impl InputOpts {
    /// The names of these options.
    pub const NAMES: [&str; 6] = ["format", "encoding", "html", "unit", "include", "exclude"];

    /// The files that names on a command line stand for.
    pub fn files(&self, given: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let files = selected_files(given, &Selection::new(&self.include, &self.exclude)?)?;
        self.refuse_html(&files)?;
        Ok(files)
    }

    /// Refuses to say what the text of a web page is where there are none.
    fn refuse_html(&self, files: &[PathBuf]) -> Result<()> {
        let Some(html) = self.html else { return Ok(()) };
        // What is missing is named by whoever reads it.
        let may_be = |file: &PathBuf| !file.is_file() || Format::of_file(file).has_pages();
        let has_pages = match self.format {
            Format::Auto => files.is_empty() || files.iter().any(may_be),
            format => format.has_pages(),
        };
        if has_pages {
            return Ok(());
        }
        Err(Error::Usage(format!(
            "--html {} is for web pages, in files of HTML, WARC, ARC and TREC, and these are none; leave --html out, or name their format with --format",
            html.name()
        )))
    }

    /// Whether some of the files that names stand for are left out.
    pub fn selects(&self) -> bool {
        !self.include.is_empty() || !self.exclude.is_empty()
    }

    /// The files that names stand for, and what is to be done before they are read.
    pub fn of(&self, given: &[PathBuf]) -> Result<Inputs> {
        let files = self.files(given)?;
        let in_front = InFront::of(self, &files);
        Ok(Inputs { files, in_front })
    }

    /// As words of a command line, those that are not as by default.
    pub fn words(&self) -> Vec<(&'static str, String)> {
        let format = (self.format != Format::Auto).then(|| self.format.name().to_owned());
        let encoding = self.encoding.map(|encoding| encoding.to_string());
        let of =
            |name, values: &[String]| values.iter().map(|value| (name, value.clone())).collect::<Vec<_>>();
        let mut words: Vec<_> = format.map(|format| ("format", format)).into_iter().collect();
        words.extend(encoding.map(|encoding| ("encoding", encoding)));
        words.extend(self.html.map(|html| ("html", html.name().to_owned())));
        words.extend(self.unit.map(|unit| ("unit", unit.name().to_owned())));
        words.extend(of("include", &self.include));
        words.extend(of("exclude", &self.exclude));
        words
    }
}

/// Files of documents of any format.
pub struct Inputs {
    /// As they are.
    pub files: Vec<PathBuf>,
    in_front: Option<InFront>,
}

impl Inputs {
    /// The options by which documents are read once they are JSON lines.
    pub fn settle(&self, params: &mut Params) {
        if let (Some(_), Some(field)) = (&self.in_front, InFront::id_field(params)) {
            params.set("id", field);
        }
    }

    /// The same for a command that gives back no fields: columns that no option names need not be decoded.
    #[must_use]
    pub fn of_needed_fields(self) -> Self {
        Self { in_front: self.in_front.map(InFront::of_needed_fields), ..self }
    }

    /// The files of JSON lines. `params` are the options as they were given.
    pub fn read(self, params: &Params, quarantine: Option<&Target>, quiet: bool) -> Result<JsonLines> {
        let Some(in_front) = self.in_front else {
            return Ok(JsonLines { files: self.files, is_converted: false, _work: None });
        };
        let work = WorkFolder::temporary()?;
        let file = work.path().join("documents.jsonl");
        let converted =
            in_front.write(&self.files, &Target::of(&file, true, [])?, quarantine, params, quiet)?;
        converted.warnings(quarantine.map(Target::path)).iter().for_each(terminal::warning);
        Ok(JsonLines { files: vec![file], is_converted: true, _work: Some(work) })
    }
}

/// Files of JSON lines, which may be gone with this value.
pub struct JsonLines {
    files: Vec<PathBuf>,
    /// Whether they were made of others.
    pub is_converted: bool,
    _work: Option<WorkFolder>,
}

impl Deref for JsonLines {
    type Target = [PathBuf];

    fn deref(&self) -> &[PathBuf] {
        &self.files
    }
}
