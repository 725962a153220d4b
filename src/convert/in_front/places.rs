//! Where documents stand that were converted before a run: an error about ids names lines of a file that goes with the run.

use super::InFront;
use std::path::PathBuf;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::params::Params;
use twinsplit_rows::record::document::DocumentOpts;
use twinsplit_rows::record::id;

impl InFront {
    /// The same error, with the places where the documents stand that have one id, as the files were given. They are read again for that. `params` are the
    /// options as they were given.
    pub fn with_places(&self, error: Error, files: &[PathBuf], params: &Params) -> Error {
        match error {
            Error::DuplicateId { stage, id, .. } if self.unit.is_none() => {
                let found = self.places(&id, files, params).unwrap_or_default();
                let places = match &found[..] {
                    [first, second, ..] => format!(" ({first} and {second})"),
                    _ => String::new(),
                };
                Error::DuplicateId { stage, id, places }
            }
            other => other,
        }
    }

    /// The first two places of an id.
    fn places(&self, wanted: &str, files: &[PathBuf], params: &Params) -> Result<Vec<String>> {
        let mut settled = params.clone();
        if let Some(field) = Self::id_field(params) {
            settled.set("id", field);
        }
        let (opts, source): (DocumentOpts, _) = (settled.parse()?, self.source(params)?);
        let mut places = Vec::new();
        for (number, path) in (0..).zip(files) {
            let mut documents = source.open(path, number)?;
            while let Some(found) = documents.next_document()? {
                let Ok(line) = found.line else { continue };
                let Ok(document) = opts.read(line, found.place) else { continue };
                if *document.id == *wanted.as_bytes() || id::unescape(&document.id) == wanted {
                    places.push(found.place.to_string());
                    if places.len() == 2 {
                        return Ok(places);
                    }
                }
            }
        }
        Ok(places)
    }
}
