//! JSON that is no JSON lines: arrays of objects, and objects over any number of lines, one behind the other.
//!
//! An element is found by its brackets alone, so that one is in memory at a time, and becomes a line without the white space between its parts.
//! Whether it is right JSON and a document is told by the reader of lines. Where the brackets leave off, the rest of the file cannot be
//! told apart: that is an error of the file, and so is an array without its end.

use super::input::Input;
use super::{Decoding, Found, Source, SourceOpts, refuse, too_long};
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use twinsplit_io::error::{Error, Place, Result};
use twinsplit_io::{MARK, MaxLine};
use twinsplit_rows::record::document::DocumentOpts;

/// The elements of one file.
pub struct Json {
    reader: Box<dyn BufRead + Send>,
    path: PathBuf,
    read: Arc<AtomicU64>,
    opts: DocumentOpts,
    bound: MaxLine,
    expects: Expects,
    /// Where the element stands that was given last, and what is read next.
    place: Place,
    here: Place,
    raw: Vec<u8>,
    json: Vec<u8>,
}

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expects {
    /// An object or an array, or the end of the file.
    Top,
    /// An element of an array, or its end where none came before.
    Element { is_first: bool },
    /// A comma, or the end of the array.
    Comma,
}

impl Json {
    /// Opens a file.
    pub fn open(opts: &SourceOpts, input: Input) -> Result<Self> {
        let is_other = opts.encoding.is_some_and(|encoding| !encoding.is_utf_8());
        refuse(&[("--encoding", is_other)], "a JSON file is UTF-8; `iconv` makes UTF-8 of others")?;
        input.refuse_other_kinds("JSON", "documents.json", |_| false)?;
        let place = Place { line: 1, ..input.place() };
        Ok(Self {
            opts: opts.document()?,
            reader: input.opened.reader,
            path: input.path,
            read: input.read,
            bound: opts.max_line,
            expects: Expects::Top,
            here: place.clone(),
            place,
            raw: Vec::new(),
            json: Vec::new(),
        })
    }

    /// An error about the file at a place.
    fn broken(path: &Path, place: &Place, problem: &str) -> Error {
        let (offset, line) = (place.offset, place.line);
        Error::File {
            path: path.to_owned(),
            problem: format!("at byte {offset} (unpacked; line {line}) {problem}"),
        }
    }

    /// The next byte, which stays; nothing at the end of the file.
    fn peek(&mut self) -> Result<Option<u8>> {
        let some = self.reader.fill_buf().map_err(Error::io("read", &self.path))?;
        Ok(some.first().copied())
    }

    /// Passes over a byte.
    fn pass(&mut self, byte: u8) {
        self.reader.consume(1);
        self.here.offset += 1;
        self.here.line += u64::from(byte == b'\n');
    }

    /// Goes on to the first byte of the next element; nothing at the end of the file.
    fn next_element(&mut self) -> Result<Option<u8>> {
        loop {
            let Some(byte) = self.peek()? else {
                return match self.expects {
                    Expects::Top => Ok(None),
                    _ => Err(Self::broken(
                        &self.path,
                        &self.here,
                        "the file ends, and its array does not: it is truncated",
                    )),
                };
            };
            // Files of which each has a mark may stand one behind the other.
            let is_mark = self.expects == Expects::Top && MARK.contains(&byte);
            self.expects = match (self.expects, byte) {
                (expects, b' ' | b'\t' | b'\r' | b'\n') => expects,
                (Expects::Top, _) if is_mark => Expects::Top,
                (Expects::Top, b'[') => Expects::Element { is_first: true },
                (Expects::Comma, b',') => Expects::Element { is_first: false },
                (Expects::Comma | Expects::Element { is_first: true }, b']') => Expects::Top,
                (Expects::Top, b'{') => return Ok(Some(byte)),
                (Expects::Element { .. }, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                    return Ok(Some(byte));
                }
                (expects, other) => {
                    let what = match expects {
                        Expects::Top => "an object or an array should begin, or the file end",
                        Expects::Element { .. } => "an element of the array should begin",
                        Expects::Comma => "a comma or the end of the array should stand",
                    };
                    let problem =
                        format!("{what}, and there is {:?}; correct the file there", char::from(other));
                    return Err(Self::broken(&self.path, &self.here, &problem));
                }
            };
            self.pass(byte);
        }
    }

    /// Reads an element to its end. `first` is its first byte.
    fn element(&mut self, first: u8) -> Result<()> {
        self.raw.clear();
        self.json.clear();
        self.place.clone_from(&self.here);
        let mut scan = Scan { is_plain: !matches!(first, b'{' | b'[' | b'"'), ..Scan::default() };
        loop {
            let some = self.reader.fill_buf().map_err(Error::io("read", &self.path))?;
            if some.is_empty() {
                let problem = "begins an element that the file does not end: it is truncated";
                return Err(Self::broken(&self.path, &self.place, problem));
            }
            let (taken, is_end) = scan.take(some, &mut self.json);
            self.raw.extend_from_slice(&some[..taken]);
            self.here.line += memchr::memchr_iter(b'\n', &some[..taken]).count() as u64;
            self.here.offset += taken as u64;
            self.reader.consume(taken);
            if self.raw.len() as u64 > self.bound.bytes() {
                return Err(too_long(&self.place, "element", self.bound));
            }
            if is_end {
                if self.expects != Expects::Top {
                    self.expects = Expects::Comma;
                }
                return Ok(());
            }
        }
    }
}

/// Finds the end of an element.
#[derive(Default)]
struct Scan {
    /// Whether the element is a number or a word, which has no end of its own.
    is_plain: bool,
    depth: u64,
    in_string: bool,
    escaped: bool,
}

impl Scan {
    /// Takes bytes of the element, and puts them into `out` without white space between its parts. Gives how many there are, and whether
    /// the element ends with them.
    fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> (usize, bool) {
        let mut at = 0;
        while at < bytes.len() {
            if self.in_string && !self.escaped {
                let length = memchr::memchr2(b'"', b'\\', &bytes[at..]).unwrap_or(bytes.len() - at);
                out.extend_from_slice(&bytes[at..at + length]);
                at += length;
            }
            let Some(byte) = bytes.get(at).copied() else { break };
            if self.is_plain && matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n') {
                return (at, true);
            }
            at += 1;
            if self.escaped {
                self.escaped = false;
            } else if self.in_string {
                self.escaped = byte == b'\\';
                self.in_string = byte != b'"';
            } else {
                match byte {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                    b' ' | b'\t' | b'\r' | b'\n' => continue,
                    _ => {}
                }
            }
            out.push(byte);
            if !self.is_plain && self.depth == 0 && !self.in_string {
                return (at, true);
            }
        }
        (at, false)
    }
}

impl Source for Json {
    fn next_document(&mut self) -> Result<Option<Found<'_>>> {
        let Some(first) = self.next_element()? else { return Ok(None) };
        self.element(first)?;
        let (place, raw) = (&self.place, self.raw.as_slice());
        // One behind the other may stand on one line, so its number alone says little.
        let line = self.opts.read(&self.json, place).map(|_| self.json.as_slice()).map_err(|mut wrong| {
            wrong.found =
                format!("{} in the element that begins at byte {}", wrong.found, place.offset).into();
            wrong
        });
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
    use proptest::prelude::*;
    use serde_json::Value;

    /// Offset and line of a document, or what is wrong with it.
    type Seen = Result<(u64, Value), String>;

    /// All documents, and the error of the file.
    fn read(bytes: &[u8], opts: &SourceOpts) -> (Vec<Seen>, Option<String>) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let mut source = opts.open(file.path(), 0).unwrap();
        let mut all = Vec::new();
        loop {
            match source.next_document() {
                Ok(Some(found)) => {
                    let at = found.place.offset;
                    assert_eq!(&bytes[at as usize..][..found.raw.len()], found.raw);
                    let before = bytes[..at as usize].iter().filter(|byte| **byte == b'\n').count() as u64;
                    assert_eq!(found.place.line, before + 1);
                    let line = found.line.inspect(|line| assert!(!line.contains(&b'\n')));
                    let line = line.map(|line| (at, serde_json::from_slice(line).unwrap()));
                    all.push(line.map_err(|error| error.to_string()));
                }
                Ok(None) => return (all, None),
                Err(error) => return (all, Some(error.to_string())),
            }
        }
    }

    fn opts() -> SourceOpts {
        SourceOpts::of(Format::Json)
    }

    const TWO: &str =
        "\u{feff}[ {\"id\": 1, \"text\": \"a\\\"}]\\\\\"},\n {\"id\":\"b\",\n \"text\" : \"[ c\"} ]\n";

    #[test]
    fn elements_of_an_array_are_documents() {
        let (seen, error) = read(TWO.as_bytes(), &opts());
        assert_eq!(error, None);
        let texts: Vec<_> =
            seen.iter().map(|one| one.as_ref().unwrap().1["text"].as_str().unwrap()).collect();
        assert_eq!(texts, ["a\"}]\\", "[ c"]);
        for (text, documents) in [
            ("", 0),
            (" [ ] ", 0),
            ("[][]", 0),
            (r#"{"id":1,"text":"a"}{"id":2,"text":"b"}"#, 2),
            (r#"[{"id":1,"text":"a"}]{"id":2,"text":"b"}[{"id":3,"text":"c"}]"#, 3),
        ] {
            let (seen, error) = read(text.as_bytes(), &opts());
            assert_eq!((seen.iter().filter(|one| one.is_ok()).count(), error), (documents, None), "{text}");
        }
    }

    #[test]
    fn what_is_cut_off_or_broken_is_named_after_what_came_before() {
        for end in 1..TWO.len() - 2 {
            let (seen, error) = read(&TWO.as_bytes()[..end], &opts());
            // A mark alone is a file without documents.
            assert_eq!(error.is_some(), end > 3, "{end}");
            let closed = [TWO.find("},\n"), TWO.rfind("} ]")].map(|at| at.unwrap());
            assert_eq!(seen.len(), closed.iter().filter(|at| **at < end).count(), "{end}");
            assert!(error.is_none_or(|error| error.contains("truncated") && error.contains("at byte ")));
        }
        for (text, before, words) in [
            ("[{\"id\":1,\"text\":\"a\"} {", 1, "at byte 21 (unpacked; line 1) a comma or the end"),
            ("[,", 0, "at byte 1 (unpacked; line 1) an element of the array should begin"),
            ("[{\"id\":1,\"text\":\"a\"},]", 1, "an element of the array should begin, and there is ']'"),
            ("x", 0, "an object or an array should begin"),
            ("[1]2", 1, "an object or an array should begin"),
        ] {
            let (seen, error) = read(text.as_bytes(), &opts());
            let error = error.unwrap();
            assert!(seen.len() == before && error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn elements_that_are_no_documents_are_bad_ones() {
        let (seen, error) = read(
            br#"[1, "a]", [{}], null,{"id":1,"text":2}, {"id":1,"text":"a",}, {"id":2,"text":"b"}]"#,
            &opts(),
        );
        assert_eq!(error, None);
        assert_eq!(
            seen.iter().map(Result::is_ok).collect::<Vec<_>>(),
            [false, false, false, false, false, false, true]
        );
        let wrong = seen[4].as_ref().unwrap_err();
        assert!(
            wrong.contains("field text") && wrong.contains("in the element that begins at byte 21"),
            "{wrong}"
        );
        let short = SourceOpts { max_line: "20B".parse().unwrap(), ..opts() };
        let (seen, error) = read(br#"[{"id":1,"text":"a"},{"id":1,"text":"abcdef"}]"#, &short);
        let error = error.unwrap();
        assert!(
            seen.len() == 1
                && error.contains("the element is longer than 20B")
                && error.contains("--max-line"),
            "{error}"
        );
        let latin = SourceOpts { encoding: Some("latin1".parse().unwrap()), ..opts() };
        assert!(latin.open(Path::new("/dev/null"), 0).err().unwrap().to_string().contains("--encoding"));
    }

    proptest! {
        /// What a writer of JSON writes comes back, close together and spread over lines.
        #[test]
        fn what_is_written_is_read(texts in prop::collection::vec("([\\[\\]{},:\"\\\\ \n\té用]|[a-c]){0,12}", 0..6), pretty: bool) {
            let documents: Vec<Value> = texts.iter().enumerate()
                .map(|(n, text)| serde_json::json!({"id": n, "text": text, "x": [{"y": text}, [], {}]})).collect();
            let written = if pretty { serde_json::to_vec_pretty(&documents) } else { serde_json::to_vec(&documents) };
            let (seen, error) = read(&written.unwrap(), &opts());
            prop_assert_eq!(error, None);
            let seen: Vec<Value> = seen.into_iter().map(|one| one.unwrap().1).collect();
            prop_assert_eq!(seen, documents);
        }
    }
}
