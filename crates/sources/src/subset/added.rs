//! The fields that documents get which stand in a file as text: members of JSON lines, cells of tables.

use crate::cells::{Cell, Column, Members, cells, end, is_taken};
use crate::csv::Csv;
use crate::input::Input;
use crate::{Encoding, Format, Found, SourceOpts};
use std::path::Path;
use twinsplit_io::error::{Error, Result};

/// See the module.
pub struct Added {
    form: Form,
    encoding: Encoding,
    path: std::path::PathBuf,
}

enum Form {
    Members(Box<Members>),
    /// With the place behind the first row, if there is one, and what is put there.
    Cells {
        delimiter: u8,
        names: Option<(u64, Vec<u8>)>,
    },
}

impl Added {
    /// Those of a file of this format; nothing where there are no columns.
    pub fn of(opts: &SourceOpts, format: Format, path: &Path, columns: &[Column]) -> Result<Option<Self>> {
        if columns.is_empty() {
            return Ok(None);
        }
        let encoding = opts.encoding.unwrap_or_default();
        let form = match format {
            Format::Csv | Format::Tsv => {
                let table = Csv::open(&opts.of_one(format), Input::open(path, 0)?, format == Format::Tsv)?;
                refuse_taken(path, columns, table.columns())?;
                let names: Vec<_> =
                    columns.iter().map(|column| Cell::Text(column.name.as_str().into())).collect();
                let delimiter = table.delimiter();
                let names = match table.first_row_end() {
                    Some(end) => Some((end, row(&names, delimiter, encoding, path)?)),
                    None => None,
                };
                Form::Cells { delimiter, names }
            }
            _ => Form::Members(Box::new(Members::of(columns))),
        };
        Ok(Some(Self { form, encoding, path: path.to_owned() }))
    }

    /// The place behind the first row and the names that stand there, where the file has such a row.
    pub fn names(&self) -> Option<(u64, &[u8])> {
        match &self.form {
            Form::Cells { names: Some((end, names)), .. } => Some((*end, names)),
            _ => None,
        }
    }

    /// What is put into a document, and behind how many of its bytes.
    pub fn to(&self, found: &Found<'_>, cells: &[Cell<'_>], out: &mut Vec<u8>) -> Result<usize> {
        out.clear();
        match &self.form {
            Form::Members(members) => {
                let taken = found.line.as_ref().ok().and_then(|line| members.taken(line));
                if let Some(taken) = taken {
                    return Err(Error::Usage(format!(
                        "{}: the document {}",
                        found.place,
                        is_taken("field", taken)
                    )));
                }
                let is_ascii = !self.encoding.is_utf_8();
                members.write(cells, is_ascii, out).map_err(Error::io("write", &self.path))?;
                Ok(end(found.raw))
            }
            Form::Cells { delimiter, .. } => {
                *out = row(cells, *delimiter, self.encoding, &self.path)?;
                Ok(found.raw.len())
            }
        }
    }
}

/// Cells in the encoding of a file.
fn row(all: &[Cell<'_>], delimiter: u8, encoding: Encoding, path: &Path) -> Result<Vec<u8>> {
    let row = cells(all, delimiter).map_err(Error::io("write", path))?;
    match encoding.encode(&row) {
        Some(bytes) => Ok(bytes.into_owned()),
        None => Err(Error::File {
            path: path.to_owned(),
            problem: format!(
                "{encoding}, its encoding, has not all characters of {row:?}; make UTF-8 of it with iconv"
            ),
        }),
    }
}

/// Refuses columns whose names a file has already.
pub fn refuse_taken<'n>(
    path: &Path,
    columns: &[Column],
    names: impl IntoIterator<Item = &'n str>,
) -> Result<()> {
    let taken = |name: &&str| columns.iter().any(|column| column.name == **name);
    match names.into_iter().find(taken) {
        None => Ok(()),
        Some(name) => Err(Error::File { path: path.to_owned(), problem: is_taken("column", name) }),
    }
}
