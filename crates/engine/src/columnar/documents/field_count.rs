//! How many documents have the field that the keep rule looks at.

use crate::columnar::ColumnarOpts;
use twinsplit_io::error::{Error, Place, Result};
use twinsplit_rows::record::document::Document;
use twinsplit_rows::stage::Counters;
use twinsplit_rows::stages::keep_field::{KeepField, fields_of};

/// What is counted; nothing for rules that need no field.
#[derive(Default)]
pub struct FieldCount {
    field: Option<KeepField>,
    with: u64,
    without: u64,
    /// The fields of the first line, for messages.
    first: String,
}

impl FieldCount {
    /// For documents that are read with these options.
    pub fn of(opts: &ColumnarOpts) -> Self {
        Self { field: KeepField::of(opts.keep.keep), ..Self::default() }
    }

    /// Looks at a line before it is read: a field that no option names is an error at the first one.
    pub fn look(&mut self, opts: &ColumnarOpts, place: &Place, line: &[u8]) -> Result<()> {
        let Some(field) = self.field.filter(|_| self.first.is_empty()) else { return Ok(()) };
        self.first = fields_of(place, line);
        field.name(&opts.document).map(drop).ok_or_else(|| field.unnamed(&self.first))
    }

    /// Counts a document.
    pub fn add(&mut self, document: &Document<'_>) {
        match self.field {
            Some(field) if field.is_in(document) => self.with += 1,
            Some(_) => self.without += 1,
            None => {}
        }
    }

    /// Adds the counts of later documents.
    pub fn append(&mut self, later: Self) {
        self.with += later.with;
        self.without += later.without;
        if self.first.is_empty() {
            self.first = later.first;
        }
    }

    /// Refuses a field that no document has.
    pub fn check(&self, opts: &ColumnarOpts) -> Result<()> {
        match self.field {
            Some(field) if self.with == 0 && self.without > 0 => {
                let nowhere = field.nowhere(field.name(&opts.document).unwrap_or_default());
                Err(Error::Usage(format!("{nowhere}; {}", self.first)))
            }
            _ => Ok(()),
        }
    }

    /// The counts by name.
    pub fn counters(&self) -> Counters {
        let counted = self.field.map(|field| [(field.with, self.with), (field.without, self.without)]);
        counted.into_iter().flatten().map(|(name, count)| (name.to_owned(), count)).collect()
    }
}
