//! Plain text: a file a document, or a line a document.

use super::input::Input;
use super::{Decoding, Encoding, FieldNames, Fields, Found, Source, SourceOpts, refuse, too_long};
use std::borrow::Cow;
use std::io::{BufRead, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use twinsplit_io::error::{Error, Place, Result};
use twinsplit_io::{MARK, MaxLine, read_rest};

/// The documents of one file.
pub struct Plain {
    reader: Box<dyn BufRead + Send>,
    path: PathBuf,
    read: Arc<AtomicU64>,
    names: FieldNames,
    encoding: Encoding,
    bound: MaxLine,
    /// Whether a line is a document, and not the whole file.
    by_line: bool,
    ended: bool,
    /// Where the document stands that was given last, and where the next one does.
    place: Place,
    next: Place,
    raw: Vec<u8>,
    json: Vec<u8>,
}

impl Plain {
    /// Opens a file.
    pub fn open(opts: &SourceOpts, input: Input, by_line: bool) -> Result<Self> {
        let given = [
            ("--id", opts.id.is_some()),
            ("--text", !opts.text.is_empty()),
            ("--date", opts.date.is_some()),
            ("--score", opts.score.is_some()),
        ];
        refuse(
            &given,
            "plain text has no fields; the id is the name of the file, with --format lines FILE@OFFSET",
        )?;
        input.refuse_other_kinds("plain text", "documents.txt", |_| false)?;
        let place = Place { line: 1, ..input.place() };
        Ok(Self {
            reader: input.opened.reader,
            path: input.path,
            read: input.read,
            names: opts.names.clone(),
            encoding: opts.encoding.unwrap_or_default(),
            bound: opts.max_line,
            by_line,
            ended: false,
            next: place.clone(),
            place,
            raw: Vec::new(),
            json: Vec::new(),
        })
    }

    /// Reads the next document; false at the end.
    fn next_raw(&mut self) -> Result<bool> {
        self.raw.clear();
        self.place.clone_from(&self.next);
        let failed = Error::io("read", &self.path);
        let is_whole = if self.by_line {
            read_rest(&mut *self.reader, &mut self.raw, 0, self.bound).map_err(failed)?
        } else {
            let bound = self.bound.bytes();
            (&mut self.reader).take(bound.saturating_add(1)).read_to_end(&mut self.raw).map_err(failed)?;
            self.raw.len() as u64 <= bound
        };
        if !is_whole {
            return Err(too_long(&self.place, "text", self.bound));
        }
        self.next.offset += self.raw.len() as u64;
        self.next.line += 1;
        let given = self.by_line || !std::mem::replace(&mut self.ended, true);
        Ok(given && !(self.by_line && self.raw.is_empty()))
    }
}

impl Source for Plain {
    fn next_document(&mut self) -> Result<Option<Found<'_>>> {
        let text = loop {
            if !self.next_raw()? {
                return Ok(None);
            }
            let marks = if self.place.offset == 0 && self.raw.starts_with(&MARK) { MARK.len() } else { 0 };
            let text = self.raw[marks..].trim_ascii();
            // A line of nothing is none; a file of nothing is a document without text.
            if !self.by_line || !text.is_empty() {
                let start = text.as_ptr() as usize - self.raw.as_ptr() as usize;
                self.place.offset += start as u64;
                self.place.line += memchr::memchr_iter(b'\n', &self.raw[..start]).count() as u64;
                break start..start + text.len();
            }
        };
        let (place, raw) = (&self.place, &self.raw[text]);
        let line = match self.encoding.decode(raw) {
            Ok(text) => {
                let id = match self.by_line {
                    true => Cow::Owned(format!("{}@{}", place.file, place.offset)),
                    false => Cow::Borrowed(&*place.file),
                };
                Fields { id, url: None, date: None, text }.write(&self.names, &mut self.json)?;
                Ok(self.json.as_slice())
            }
            Err(error) => Err(error),
        };
        Ok(Some(Found { place, raw, line, decoding: Decoding::default(), in_templates: false }))
    }

    fn raw_bytes(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use serde_json::Value;

    fn read(bytes: &[u8], opts: &SourceOpts) -> Result<Vec<std::result::Result<(String, String), u64>>> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        std::fs::write(&file, bytes).unwrap();
        let mut source = opts.open(&file, 0)?;
        let mut all = Vec::new();
        while let Some(found) = source.next_document()? {
            let line = found.line.map(|line| serde_json::from_slice::<Value>(line).unwrap());
            let of = |value: &Value, name: &str| {
                value[name].as_str().unwrap().rsplit('/').next().unwrap().to_owned()
            };
            all.push(line.map(|line| (of(&line, "id"), of(&line, "text"))).map_err(|_| found.place.line));
        }
        Ok(all)
    }

    #[test]
    fn a_file_is_a_document() {
        let of = |bytes: &[u8]| read(bytes, &SourceOpts::of(Format::Text)).unwrap();
        assert_eq!(of(b"\xef\xbb\xbf one\ntwo \n"), [Ok(("a.txt".into(), "one\ntwo".into()))]);
        assert_eq!(of(b""), [Ok(("a.txt".into(), String::new()))]);
        assert_eq!(of(b"caf\xe9"), [Err(1)]);
    }

    #[test]
    fn a_line_is_a_document() {
        let of = |bytes: &[u8]| read(bytes, &SourceOpts::of(Format::Lines)).unwrap();
        let two = [Ok(("a.txt@0".into(), "one".into())), Ok(("a.txt@8".into(), "two".into()))];
        assert_eq!(of(b"one\r\n \r\ntwo"), two);
        assert_eq!(of(b""), []);
        let latin = SourceOpts { encoding: Some("latin1".parse().unwrap()), ..SourceOpts::of(Format::Lines) };
        assert_eq!(read(b"\n\xe9\n", &latin).unwrap(), [Ok(("a.txt@1".into(), "é".into()))]);
    }

    #[test]
    fn a_text_is_no_longer_than_it_may_be() {
        for format in [Format::Text, Format::Lines] {
            let short = SourceOpts { max_line: "4B".parse().unwrap(), ..SourceOpts::of(format) };
            assert!(read(b"12345678", &short).unwrap_err().to_string().contains("--max-line"));
            let named = SourceOpts { id: Some("x".to_owned()), ..SourceOpts::of(format) };
            assert!(read(b"1", &named).unwrap_err().to_string().contains("--id"));
        }
    }
}
