//! Documents of other formats in front of a command: they become JSON lines, and these are what the command reads. So do units of documents, of JSON
//! lines, too.
//!
//! Of a run they are a file of the answer, so that `explain` and `report` read the very lines that the run has read, which have their place
//! when the rest of the answer has its own. `run.json` names the documents as they were given; `--resume` compares these, and goes on
//! with lines that are complete.

mod places;

use super::super::inputs::InputOpts;
use super::super::output::Output;
use super::super::output::owned::{DOCUMENTS, UNITS};
use super::super::quarantine::QUARANTINE;
use super::Converted;
use std::fs;
use std::path::PathBuf;
use twinsplit_core::choice;
use twinsplit_core::text::units::Unit;
use twinsplit_io::Target;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::params::Params;
use twinsplit_rows::record::document::{DocumentOpts, FieldPath, IdField};
use twinsplit_sources::{Encoding, FieldNames, Format, HtmlText, PlaceIds, SourceOpts, UnitOpts, is_element};

/// Documents that are converted before a command reads them.
#[derive(Clone, Debug)]
pub struct InFront {
    format: Format,
    encoding: Option<Encoding>,
    /// What of a web page is its text.
    html: HtmlText,
    /// What becomes a document, if not each document.
    unit: Option<Unit>,
    /// What the user would say of all files to `convert`.
    option: String,
    /// Whether fields that no option names may be left out.
    needed_alone: bool,
}

/// The field in which documents get ids of places.
const ID: &str = "twinsplit_id";

impl InFront {
    /// What is to be converted; nothing for whole documents that are JSON lines in UTF-8.
    pub fn of(opts: &InputOpts, files: &[PathBuf]) -> Option<Self> {
        let format = match (opts.format, opts.encoding) {
            (Format::Jsonl | Format::Auto, Some(encoding)) if !encoding.is_utf_8() => {
                Some(format!("--format {} --encoding {encoding}", opts.format.name()))
            }
            (Format::Jsonl, _) => None,
            (Format::Auto, _) => {
                let other =
                    files.iter().map(|file| Format::of_file(file)).find(|format| *format != Format::Jsonl);
                other.map(|other| format!("--format {}", other.name()))
            }
            (other, _) => Some(format!("--format {}", other.name())),
        };
        let unit = opts.unit.map(|unit| format!("--unit {}", unit.name()));
        let html = opts.html.filter(|_| format.is_some()).map(|html| format!("--html {}", html.name()));
        let options: Vec<_> = format.into_iter().chain(html).chain(unit).collect();
        (!options.is_empty()).then(|| Self {
            format: opts.format,
            encoding: opts.encoding,
            html: opts.html.unwrap_or_default(),
            unit: opts.unit,
            option: options.join(" "),
            needed_alone: false,
        })
    }

    /// The same, without the fields that no option names where these take time to decode.
    #[must_use]
    pub fn of_needed_fields(self) -> Self {
        Self { needed_alone: true, ..self }
    }

    /// Refuses to convert for a command that cannot; `why` says so.
    pub fn refuse(&self, why: &str) -> Error {
        let option = &self.option;
        Error::Usage(format!(
            "{option} {why}: make them first with `twinsplit convert {option} FILE --output documents.jsonl`, and give that file as --input"
        ))
    }

    /// Refuses to convert for a sample of these files.
    pub fn refuse_sample(opts: &InputOpts, given: &[PathBuf]) -> Result<()> {
        let files = if given.is_empty() { Vec::new() } else { opts.files(given)? };
        match Self::of(opts, &files) {
            Some(in_front) => {
                Err(in_front.refuse("does not go with --recall, which takes a sample of JSON lines in UTF-8"))
            }
            None => Ok(()),
        }
    }

    /// What decides how they are read: the options and their values.
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let encoding = self.encoding.map(|encoding| ("encoding", encoding.to_string()));
        let unit = self.unit.map(|unit| (UNIT, unit.name().to_owned()));
        let format = std::iter::once(("format", self.format.name().to_owned()));
        let html = (self.html != HtmlText::default()).then(|| (HTML, self.html.name().to_owned()));
        format.chain(encoding).chain(html).chain(unit).collect()
    }

    /// The field that holds the ids once documents are JSON lines, where these are made of places: the lines have others then.
    pub fn id_field(params: &Params) -> Option<&'static str> {
        let is_place = ["auto", "row"].into_iter().any(|id| params.get("id") == Some(id));
        is_place.then_some(ID)
    }

    /// How a run has found the documents that it converted, by the options in its `run.json`.
    ///
    /// # Errors
    /// Such an option has no value of today.
    pub fn source_of_run(params: &Params) -> Result<SourceOpts> {
        let given = |name: &str| params.get(name).unwrap_or_default();
        let unknown = |error: String| Error::Usage(format!("run.json: {error}"));
        let format = choice::parse::<Format>(given("format")).map_err(|error| unknown(error.to_string()))?;
        let encoding = params.get("encoding").map(str::parse).transpose().map_err(unknown)?;
        let html = params.get(HTML).map(choice::parse::<HtmlText>).transpose();
        let html = html.map_err(|error| unknown(error.to_string()))?.unwrap_or_default();
        // The lines have the ids that places gave them.
        let is_place = given("id") == ID;
        let params = if is_place { params.clone().with("id", IdField::Row.name()) } else { params.clone() };
        Self { format, encoding, html, unit: None, option: String::new(), needed_alone: false }
            .source(&params)
    }

    /// How the documents are found, by the options of the command as they were given.
    pub fn source(&self, params: &Params) -> Result<SourceOpts> {
        let document: DocumentOpts = params.parse()?;
        let keeps_fields = self.format.keeps_fields() || self.format == Format::Auto;
        let field = |path: Option<FieldPath>, is_one: bool| {
            path.filter(|_| is_one).map(|path| path.name().to_owned())
        };
        let text: Vec<String> = document.text.all().map(|path| path.name().to_owned()).collect();
        let element = |name: &str| self.format.has_elements() && is_element(name);
        let are_elements = text.iter().all(|name| element(name));
        let (id, place_ids) = match &document.id {
            IdField::Named(path) => (Some(path.clone()), None),
            place => {
                let ids = PlaceIds { field: ID.to_owned(), by_number: *place == IdField::Row };
                (None, Some(ids))
            }
        };
        // Documents without fields get their id and text under the names that the command looks for, unless they are those of other fields.
        let is_of_record = id.as_ref().is_some_and(|path| path.name().starts_with("WARC-"));
        let name = |path: Option<&FieldPath>, usual: &str| {
            let is_asked =
                self.format == Format::Auto || is_of_record || path.is_some_and(|path| element(path.name()));
            let is_free =
                |path: &&FieldPath| is_asked && !["id", "url", "date", "text"].contains(&path.name());
            path.filter(is_free).map_or(usual, FieldPath::name).to_owned()
        };
        let names =
            FieldNames { id: Some(name(id.as_ref(), "id")), text: name(Some(&document.text.first), "text") };
        let is_id_element = id.as_ref().is_some_and(|path| element(path.name()));
        let source = SourceOpts {
            // Elements have their usual names; fields those that the command asks for.
            id: field(id, keeps_fields || is_of_record || is_id_element),
            text: if keeps_fields || are_elements { text } else { Vec::new() },
            date: field(document.date, keeps_fields),
            score: field(document.score, keeps_fields),
            place_ids,
            names,
            // The command joins them.
            joins_columns: false,
            encoding: self.encoding,
            html: self.html,
            blocks_apart: self.unit == Some(Unit::Paragraph),
            bad_records: document.bad_records,
            max_line: document.max_line,
            ..SourceOpts::of(self.format)
        };
        let site = params.get("site").map(str::to_owned);
        Ok(if self.needed_alone { source.needing(site.as_slice()) } else { source })
    }

    /// How documents are divided, where units are compared.
    pub fn units(&self, params: &Params) -> Result<Option<UnitOpts>> {
        let Some(unit) = self.unit else { return Ok(None) };
        let mut settled = params.clone();
        if let Some(field) = Self::id_field(params) {
            settled.set("id", field);
        }
        let site = params.get("site").map(FieldPath::new);
        UnitOpts::new(unit, settled.parse()?, site).map(Some)
    }

    /// Writes the documents of these files, or their units, into one.
    pub fn write(
        &self,
        files: &[PathBuf],
        to: &Target,
        quarantine: Option<&Target>,
        params: &Params,
        quiet: bool,
    ) -> Result<Converted> {
        super::write(files, to, quarantine, (&self.source(params)?, self.units(params)?.as_ref()), quiet)
    }

    /// Converts the documents of these files for a run, unless a run that was stopped has done so. Gives the file that the run is to read,
    /// and the warnings of the conversion.
    pub fn convert(
        &self,
        files: &[PathBuf],
        output: &Output,
        params: &Params,
        quiet: bool,
    ) -> Result<(PathBuf, Vec<String>)> {
        let file = output.answer.join(if self.unit.is_some() { UNITS } else { DOCUMENTS });
        if file.exists() {
            return Ok((file, Vec::new()));
        }
        // Where it stays when there are too many.
        let quarantine = Target::of(&output.work.join(QUARANTINE), true, [])?;
        let converted = self.write(files, &Target::of(&file, true, [])?, Some(&quarantine), params, quiet)?;
        let [made, shown] = [&output.answer, &output.folder].map(|folder| folder.join(UNREAD));
        let warnings = converted.warnings(Some(&shown));
        if converted.bad > 0 {
            fs::rename(quarantine.path(), &made).map_err(Error::io("rename", quarantine.path()))?;
        }
        Ok((file, warnings))
    }
}

/// The name of the option that says what of a web page is its text, in `run.json`, too.
const HTML: &str = "html";

/// The name of the option of units, in `run.json`, too.
pub const UNIT: &str = "unit";

/// The name of the file of documents that could not be read.
pub const UNREAD: &str = "documents.jsonl.quarantine.tsv";
