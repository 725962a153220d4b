//! The list of what is cut, in the order of the documents, and of the documents of which something is.

use super::parts::Part;
use super::{CHARACTERS, CHARACTERS_CUT, Counters, DOCUMENTS_CUT, EMPTIED, UNITS_CUT, WITH_UNITS};
use crate::documents::{Inputs, each_line_of_document};
use crate::output::owned::{CUT, CUT_DOCUMENTS};
use std::io::BufRead;
use std::path::{Path, PathBuf};
use twinsplit_engine::progress::Progress;
use twinsplit_io::error::{Error, FieldError, Place, Result};
use twinsplit_io::{AtomicFile, open, read_row};
use twinsplit_rows::record::cut::{CutDocument, CutRow};
use twinsplit_rows::record::document::DocumentOpts;
use twinsplit_rows::record::{Record, id, unit};

/// Characters of a unit that are shown.
const SHOWN: usize = 80;

/// A unit that the documents are divided into.
struct OfDocument<'u> {
    document: &'u [u8],
    number: u64,
    id: &'u [u8],
    text: &'u str,
    line: &'u [u8],
    place: &'u Place,
}

/// Calls `visit` with each unit, in the order of the documents.
fn each_unit(
    units: &Path,
    opts: &DocumentOpts,
    progress: &Progress,
    mut visit: impl FnMut(OfDocument<'_>) -> Result<()>,
) -> Result<()> {
    let inputs = Inputs::of(vec![units.to_owned()]);
    each_line_of_document(
        &inputs,
        opts,
        super::STEP,
        |read| progress.set(read),
        |unit, line, place| {
            let (document, number) = unit::parts(&unit.id).map_err(|wrong| bad(wrong, place))?;
            visit(OfDocument { document, number, id: &unit.id, text: &unit.text, line, place })
        },
    )
}

fn bad(wrong: FieldError, place: &Place) -> Error {
    Error::Record { stage: super::STEP, place: place.clone(), error: wrong }
}

/// The row of a unit, if it is one of this part; whether it is.
fn row(unit: &OfDocument<'_>, part: &Part, out: &mut Vec<u8>) -> Result<bool> {
    let Some((kept, score)) = part.find(unit.id) else { return Ok(false) };
    let parts = |id| unit::parts(id).map_err(|wrong| bad(wrong, unit.place));
    let (kept_document, kept_unit) = parts(kept)?;
    let span = unit::Span::read(unit.line).map_err(|wrong| bad(wrong, unit.place))?;
    let text = beginning(unit.text);
    let row = CutRow {
        document: unit.document,
        unit: unit.number,
        span,
        kept_document,
        kept_unit,
        score,
        text: &text,
    };
    row.encode(out);
    Ok(true)
}

/// How a unit begins, in one line: each run of white space is a blank, and control characters are escaped as in ids.
fn beginning(text: &str) -> Vec<u8> {
    let (mut shown, mut count) = (String::new(), 0);
    for word in text.split_whitespace() {
        if !shown.is_empty() {
            shown.push(' ');
        }
        let left = SHOWN - count;
        shown.extend(word.chars().take(left));
        count += word.chars().take(left).count() + 1;
        if count >= SHOWN {
            break;
        }
    }
    let mut escaped = Vec::new();
    id::escape_place(shown.as_bytes(), &mut escaped);
    escaped
}

/// Writes the rows of a part, each behind the number of its unit among all.
pub fn write_part(
    units: &Path,
    opts: &DocumentOpts,
    part: &Part,
    file: &Path,
    progress: &Progress,
) -> Result<()> {
    let (mut out, mut number, mut line) = (AtomicFile::create(file)?, 0_u64, Vec::new());
    each_unit(units, opts, progress, |unit| {
        number += 1;
        line.clear();
        line.extend_from_slice(format!("{number}\t").as_bytes());
        if row(&unit, part, &mut line)? { out.line(&line) } else { Ok(()) }
    })?;
    out.finish()
}

/// The rows of a part that was written before.
struct Rows {
    reader: Box<dyn BufRead + Send>,
    path: PathBuf,
    /// The next row, the number of its unit, and the number of the line.
    line: Vec<u8>,
    unit: Option<u64>,
    number: u64,
}

impl Rows {
    fn open(path: &Path) -> Result<Self> {
        let (reader, path) = (open(path)?, path.to_owned());
        let mut rows = Self { reader, path, line: Vec::new(), unit: None, number: 0 };
        rows.next()?;
        Ok(rows)
    }

    fn next(&mut self) -> Result<()> {
        self.line.clear();
        self.number += 1;
        self.unit = None;
        if read_row(&mut *self.reader, &mut self.line, &self.path, self.number)? {
            let end = memchr::memchr(b'\t', &self.line).unwrap_or(0);
            self.unit = std::str::from_utf8(&self.line[..end]).ok().and_then(|unit| unit.parse().ok());
            self.line.drain(..=end);
        }
        Ok(())
    }
}

/// Writes the whole list, of the last part and of those that were written before, and gives what it counts.
pub fn write(
    units: &Path,
    opts: &DocumentOpts,
    (part, earlier): (&Part, &[PathBuf]),
    answer: &Path,
    progress: &Progress,
) -> Result<Counters> {
    let mut earlier = earlier.iter().map(|file| Rows::open(file)).collect::<Result<Vec<_>>>()?;
    let mut list = List {
        cut: AtomicFile::create(&answer.join(CUT))?,
        documents: AtomicFile::create(&answer.join(CUT_DOCUMENTS))?,
        document: Vec::new(),
        current: Counted::default(),
        counts: [0; 6],
        line: Vec::new(),
    };
    let (mut number, mut line) = (0_u64, Vec::new());
    each_unit(units, opts, progress, |unit| {
        number += 1;
        list.unit(&unit)?;
        line.clear();
        if row(&unit, part, &mut line)? {
            return list.cut(&unit, &line);
        }
        match earlier.iter_mut().find(|rows| rows.unit == Some(number)) {
            Some(rows) => {
                list.cut(&unit, &rows.line)?;
                rows.next()
            }
            None => Ok(()),
        }
    })?;
    list.finish()
}

/// The files that are written.
struct List {
    cut: AtomicFile,
    documents: AtomicFile,
    /// The document whose units come now, and what is known of it.
    document: Vec<u8>,
    current: Counted,
    counts: [u64; 6],
    line: Vec<u8>,
}

/// Units of a document and their characters, and those of them that are cut.
#[derive(Clone, Copy, Default)]
struct Counted {
    units: u64,
    cut: u64,
    characters: u64,
    cut_characters: u64,
}

impl List {
    /// Counts a unit.
    fn unit(&mut self, unit: &OfDocument<'_>) -> Result<()> {
        if unit.document != self.document {
            self.end_document()?;
            self.document = unit.document.to_vec();
        }
        self.current.units += 1;
        self.current.characters += unit.text.chars().count() as u64;
        Ok(())
    }

    /// Writes the row of that unit.
    fn cut(&mut self, unit: &OfDocument<'_>, row: &[u8]) -> Result<()> {
        self.current.cut += 1;
        self.current.cut_characters += unit.text.chars().count() as u64;
        self.cut.line(row)
    }

    fn end_document(&mut self) -> Result<()> {
        let Counted { units, cut, characters, cut_characters } = std::mem::take(&mut self.current);
        let counted = [cut, u64::from(units > 0), u64::from(cut > 0), u64::from(units > 0 && cut == units)];
        let counted = counted.into_iter().chain([characters, cut_characters]);
        self.counts.iter_mut().zip(counted).for_each(|(all, one)| *all += one);
        if cut > 0 {
            self.line.clear();
            CutDocument { document: &self.document, units, cut, characters, cut_characters }
                .encode(&mut self.line);
            self.documents.line(&self.line)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Counters> {
        self.end_document()?;
        self.cut.finish()?;
        self.documents.finish()?;
        let names = [UNITS_CUT, WITH_UNITS, DOCUMENTS_CUT, EMPTIED, CHARACTERS, CHARACTERS_CUT];
        Ok(names.map(str::to_owned).into_iter().zip(self.counts).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::beginning;

    #[test]
    fn a_unit_is_shown_in_one_line() {
        assert_eq!(beginning(" a\n\tb\u{1b} \\c "), b"a b\\x1b \\c");
        assert_eq!(beginning(&"字".repeat(100)), "字".repeat(80).into_bytes());
        let long = beginning(&"ab ".repeat(100));
        assert_eq!(long.len(), 80);
        assert_eq!(beginning("x\n".repeat(100).as_str()).len(), 79);
    }
}
