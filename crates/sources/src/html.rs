//! Pages of HTML: a file is a document, its text is the page's.

use super::input::Input;
use super::{Decoding, Encoding, FieldNames, Fields, Found, HtmlText, Source, SourceOpts, refuse, too_long};
use std::borrow::Cow;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use twinsplit_html::Wanted;
use twinsplit_io::error::{Error, FieldError, Place, Result};
use twinsplit_io::{Kind, MaxLine, Opened, Packing};

/// What becomes of the markup of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Markup {
    /// It stays.
    Kept,
    /// The text is taken: which, and what is asked of it.
    Text(HtmlText, Wanted),
}

impl Markup {
    /// What was asked for.
    pub fn of(opts: &SourceOpts) -> Self {
        let wanted = Wanted { templates: opts.script_templates, blocks_apart: opts.blocks_apart };
        if opts.keep_markup { Self::Kept } else { Self::Text(opts.html, wanted) }
    }

    /// What is taken of a page, and whether more of it stands in scripts that are templates and were left out.
    pub fn text(self, page: Cow<'_, str>) -> (Cow<'_, str>, bool) {
        match self {
            Self::Kept => (page, false),
            Self::Text(which, wanted) => {
                let (text, in_templates) = match which {
                    HtmlText::Visible => twinsplit_html::visible(&page, wanted),
                    HtmlText::Article => twinsplit_html::article(&page, wanted),
                };
                (Cow::Owned(text), in_templates)
            }
        }
    }
}

/// The page of one file.
pub struct Html {
    /// Nothing when the page has been given.
    reader: Option<Opened>,
    path: PathBuf,
    read: Arc<AtomicU64>,
    names: FieldNames,
    encoding: Option<Encoding>,
    markup: Markup,
    bound: MaxLine,
    place: Place,
    raw: Vec<u8>,
    json: Vec<u8>,
}

impl Html {
    /// Opens a file.
    pub fn open(opts: &SourceOpts, input: Input) -> Result<Self> {
        let given = [
            ("--id", opts.id.is_some()),
            ("--text", !opts.text.is_empty()),
            ("--date", opts.date.is_some()),
            ("--score", opts.score.is_some()),
        ];
        refuse(&given, "with --format html a file is a document, whose id is the name of the file")?;
        Ok(Self {
            place: Place { line: 1, ..input.place() },
            reader: Some(input.opened),
            path: input.path,
            read: input.read,
            names: opts.names.clone(),
            encoding: opts.encoding,
            markup: Markup::of(opts),
            bound: opts.max_line,
            raw: Vec::new(),
            json: Vec::new(),
        })
    }
}

/// The error about a file that is no page.
fn no_page(raw: &[u8], kind: Kind, name: &str, packing: Option<Packing>) -> FieldError {
    let mut wrong = FieldError::new("document", "a page of HTML", raw);
    let what = kind.problem("HTML", name, packing, "page.html");
    wrong.advice = Some(format!("{what}; a pattern such as 'FOLDER/**/*.html' names pages alone").into());
    wrong
}

impl Source for Html {
    fn next_document(&mut self) -> Result<Option<Found<'_>>> {
        let Some(Opened { reader, packing }) = self.reader.take() else { return Ok(None) };
        let bound = self.bound.bytes();
        reader
            .take(bound.saturating_add(1))
            .read_to_end(&mut self.raw)
            .map_err(Error::io("read", &self.path))?;
        if self.raw.len() as u64 > bound {
            return Err(too_long(&self.place, "page", self.bound));
        }
        let page = match Kind::of_page(&self.raw) {
            Some(kind) => Err(no_page(&self.raw, kind, &self.place.file, packing)),
            None => Encoding::decode_page(&self.raw, self.encoding, None),
        };
        let (mut decoding, mut in_templates) = (Decoding::default(), false);
        let line = match page {
            Ok((page, how)) => {
                decoding = how;
                let text;
                (text, in_templates) = self.markup.text(page);
                Fields { id: Cow::Borrowed(&self.place.file), url: None, date: None, text }
                    .write(&self.names, &mut self.json)?;
                Ok(self.json.as_slice())
            }
            Err(error) => Err(error),
        };
        Ok(Some(Found { place: &self.place, raw: &self.raw, line, decoding, in_templates }))
    }

    fn raw_bytes(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use std::fs;

    #[test]
    fn a_file_is_a_document_in_its_own_encoding() {
        let folder = tempfile::tempdir().unwrap();
        let opts = SourceOpts { max_line: "60B".parse().unwrap(), ..SourceOpts::of(Format::Html) };
        let read = |name: &str, bytes: &[u8], opts: &SourceOpts| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            let mut source = Html::open(opts, Input::open(&path, 0)?)?;
            let line = source.next_document()?.map(|found| {
                assert_eq!(found.raw, bytes);
                found.line.map(|line| serde_json::from_slice::<serde_json::Value>(line).unwrap())
            });
            assert!(source.next_document()?.is_none());
            Ok::<_, Error>(line.unwrap())
        };
        let page = b"<meta charset=gb2312><title>t</title>\n<p>\xd6\xd0\n<b>\xce\xc4</b>";
        let found = read("a.html", page, &opts).unwrap().unwrap();
        assert_eq!(found["text"], "中 文");
        assert!(found["id"].as_str().unwrap().ends_with("/a.html"), "{found}");
        let kept = read("a.html", page, &SourceOpts { keep_markup: true, ..opts.clone() }).unwrap().unwrap();
        assert!(kept["text"].as_str().unwrap().ends_with("<p>中\n<b>文</b>"), "{kept}");
        assert_eq!(read("b", b"", &opts).unwrap().unwrap()["text"], "");
        assert_eq!(read("b", b"\xff\xfea\0<\0b\0r\0>\0b\0", &opts).unwrap().unwrap()["text"], "a\nb");
        let page = b"<meta charset=utf-8>caf\xe9";
        assert_eq!(read("c", page, &opts).unwrap().unwrap()["text"], "café");
        let asked = SourceOpts { encoding: Some("utf-8".parse().unwrap()), ..opts.clone() };
        let wrong = read("c", page, &asked).unwrap().unwrap_err();
        assert!(
            wrong.field == "document" && wrong.found.contains("its byte 23, 0xe9, is not UTF-8"),
            "{wrong:?}"
        );
        let latin = SourceOpts { encoding: Some("latin1".parse().unwrap()), ..opts.clone() };
        assert_eq!(read("c", page, &latin).unwrap().unwrap()["text"], "café");
        let long = read("d", &[b'x'; 61], &opts).unwrap_err().to_string();
        assert!(long.contains("longer than 60B") && long.contains("--max-line"), "{long}");
        let named = SourceOpts { id: Some("auto".to_owned()), ..opts };
        assert!(read("e", b"", &named).unwrap_err().to_string().contains("leave --id out"));
    }
}
