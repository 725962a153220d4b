use super::*;
use crate::Format;
use proptest::prelude::*;
use std::fs;

fn opts() -> SourceOpts {
    SourceOpts { max_line: "1M".parse().unwrap(), ..SourceOpts::of(Format::Trec) }
}

/// What was found: the line of the file, and the JSON line, or the field that is wrong and the bytes as they were.
type Seen = (u64, Result<String, (&'static str, Vec<u8>)>);

fn read(bytes: &[u8], opts: &SourceOpts) -> Result<Vec<Seen>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, bytes).unwrap();
    let element = if opts.format == Format::Reuters { Element::Reuters } else { Element::Doc };
    let mut source = Trec::open(opts, Input::open(&path, 0)?, element)?;
    let mut seen = Vec::new();
    while let Some(found) = source.next_document()? {
        let at = found.place.offset as usize;
        assert_eq!(&bytes[at..at + found.raw.len()], found.raw);
        assert_eq!(found.place.line, bytes[..at].iter().filter(|byte| **byte == b'\n').count() as u64 + 1);
        let line = found.line.map(|line| String::from_utf8(line.to_vec()).unwrap());
        seen.push((found.place.line, line.map_err(|error| (error.field, found.raw.to_vec()))));
    }
    assert_eq!(source.raw_bytes(), bytes.len() as u64);
    Ok(seen)
}

fn lines(text: &str, opts: &SourceOpts) -> Vec<String> {
    read(text.as_bytes(), opts).unwrap().into_iter().map(|(_, line)| line.unwrap()).collect()
}

#[test]
fn news_and_web_pages_are_read() {
    let text = "\u{feff}\n<DOC>\n<DOCNO> FT911-3 </DOCNO>\n<TEXT>\nIt < rained & \"so\".\n</TEXT>\n</DOC>\n\
                \n<doc id=1><docno>b</docno><Text lang=\"en\">one</text><HL>no</HL><TEXT>two</TEXT></doc> <DOC>\n\
                <DOCNO>WTX001-B01-1</DOCNO>\n<DOCHDR>\nhttp://a.example/ 192.0.2.1\nHTTP/1.0 200 OK\n</DOCHDR>\n\
                <html><text>x</text> <!DOCTYPE <DOCX>\n</html>\n</DOC>";
    assert_eq!(
        lines(text, &opts()),
        [
            r#"{"id":"FT911-3","text":"It < rained & \"so\"."}"#,
            r#"{"id":"b","text":"one\ntwo"}"#,
            r#"{"id":"WTX001-B01-1","url":"http://a.example/","text":"x"}"#,
        ]
    );
}

/// A page is read by the encoding that its header or its own bytes name, and only what is HTML as such.
#[test]
fn pages_become_text_in_their_own_encoding() {
    let page = |header: &str, page: &[u8], opts: &SourceOpts| {
        let begin = format!("<DOC>\n<DOCNO>1</DOCNO>\n<DOCHDR>\nhttp://a.example/ {header}\n</DOCHDR>\n");
        let seen = read(&[begin.as_bytes(), page, b"\n</DOC>\n"].concat(), opts).unwrap();
        let line = seen[0].1.as_ref().unwrap();
        serde_json::from_str::<serde_json::Value>(line).unwrap()["text"].as_str().unwrap().to_owned()
    };
    let opts = opts();
    assert_eq!(page("x", b"<title>t</title>a &amp; caf\xe9<p>b", &opts), "a & café\n\nb");
    assert_eq!(page("x\nCONTENT-type: text/html; charset=gbk", b"<meta charset=utf-8>\xd6\xd0", &opts), "中");
    assert_eq!(
        page("caf\u{e9}\ncontent-type: application/xhtml+xml", b"<meta charset=gbk>\xd6\xd0<br/>x", &opts),
        "中\nx"
    );
    assert_eq!(page("x\nContent-Type: text/plain", b"a <b> c &amp;", &opts), "a <b> c &amp;");
    let kept = SourceOpts { keep_markup: true, ..opts.clone() };
    assert_eq!(
        page("x", b"<html><text>x</text> <!DOCTYPE <DOCX>\n</html>", &kept),
        "<html><text>x</text> <!DOCTYPE <DOCX>\n</html>"
    );
    let latin = SourceOpts { encoding: Some("latin1".parse().unwrap()), ..opts };
    assert_eq!(page("x", b"<meta charset=utf-8>caf\xe9", &latin), "café");
}

#[test]
fn elements_are_chosen() {
    let text = "<DOC><DOCNO>1</DOCNO><DATE> 1991-03-14 </DATE><TEXT>t</TEXT><HL>h</HL><NO>7</NO></DOC>";
    let chosen = SourceOpts {
        id: Some("no".to_owned()),
        text: vec!["HL".to_owned(), "text".to_owned()],
        date: Some("Date".to_owned()),
        ..opts()
    };
    assert_eq!(lines(text, &chosen), [r#"{"id":"7","date":"1991-03-14","text":"t\nh"}"#]);
    let auto = SourceOpts { id: Some("auto".to_owned()), ..opts() };
    let found = lines(&format!("\n{text}"), &auto);
    assert!(found[0].contains("file@1\""), "{found:?}");
    let day = SourceOpts { date: Some("HL".to_owned()), ..opts() };
    assert_eq!(read(text.as_bytes(), &day).unwrap()[0].1.as_ref().unwrap_err().0, "date");
}

/// Every byte of a bad document is given back, and the documents around it are read.
#[test]
fn what_is_no_document_is_told_and_passed() {
    let good = "<DOC><DOCNO>g</DOCNO><TEXT>x</TEXT></DOC>\n";
    for (bad, field) in [
        ("stray\n\n text\n", "document"),
        ("x <DOC><DOCNO>1</DOCNO><TEXT></TEXT></DOC>\n", "document"),
        ("<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>never ends\n", "document"),
        ("</DOC>\n", "document"),
        ("<DOC></DOC>", "id"),
        ("<DOC ></DOC>", "id"),
        ("<DOC <TEXT></DOC>", "id"),
        ("<DOC><DOCNO> </DOCNO><TEXT>x</TEXT></DOC>", "id"),
        ("<DOC><DOCNO>1<TEXT>x</TEXT></DOC>", "id"),
        ("<DOC><DOCNO>1</DOCNO></DOC>", "text"),
        ("<DOC><DOCNO>1</DOCNO><TEXT>x</DOC>", "text"),
        ("<DOC><DOCNO>1</DOCNO><DOCHDR>x</DOC>", "text"),
    ] {
        let seen = read(format!("{good}{bad}{good}").as_bytes(), &opts()).unwrap();
        assert_eq!(seen.len(), 3, "{bad}");
        assert_eq!(seen[1], (2, Err((field, bad.as_bytes().to_vec()))));
        assert!(seen[0].1.is_ok() && seen[2].1.is_ok(), "{bad}");
    }
    let cut = read(b"<DOC><DOCNO>g</DOCNO>", &opts()).unwrap();
    assert_eq!(cut, [(1, Err(("document", b"<DOC><DOCNO>g</DOCNO>".to_vec())))]);
}

#[test]
fn other_encodings_are_decoded_and_never_repaired() {
    let raw = b"<DOC><DOCNO>1</DOCNO><TEXT>caf\xe9 \xd6\xd0</TEXT></DOC>";
    let of = |label: &str| SourceOpts { encoding: Some(label.parse().unwrap()), ..opts() };
    assert_eq!(read(raw, &of("latin1")).unwrap()[0].1.as_ref().unwrap(), r#"{"id":"1","text":"café ÖÐ"}"#);
    assert_eq!(read(raw, &of("utf-8")).unwrap()[0].1.as_ref().unwrap_err().0, "document");
    assert_eq!(read(raw, &of("gb18030")).unwrap()[0].1.as_ref().unwrap_err().0, "document");
}

#[test]
fn a_document_stays_within_its_bound() {
    let text = |length| format!("<DOC>\n<DOCNO>1</DOCNO><TEXT>{}</TEXT>\n</DOC>\n", "x".repeat(length));
    let around = text(0).len() - 1;
    for bound in [70, 100] {
        let within = SourceOpts { max_line: format!("{bound}B").parse().unwrap(), ..opts() };
        let most = bound - around;
        assert_eq!(read((text(most) + &text(most)).as_bytes(), &within).unwrap().len(), 2);
        for long in [text(most + 1), "x".repeat(bound + 1), format!("<DOC>{}", "\nab".repeat(bound))] {
            let error = read(format!("\n\n{long}").as_bytes(), &within).unwrap_err().to_string();
            assert!(error.contains("line 3") && error.contains("--max-line"), "{error}");
        }
    }
}

proptest! {
    /// What is written as TREC is read as it was, whatever the lines, marks and white space around.
    #[test]
    fn what_is_written_is_read(
        docs in proptest::collection::vec(("[!-~é中]{1,8}", "[a-c <>&/\n\té中\"\\\\]{0,40}", 0..4usize), 0..6),
    ) {
        let (mut text, mut expected) = (String::new(), Vec::new());
        for (id, body, around) in &docs {
            if id.contains('<') {
                continue;
            }
            let space = ["", " ", "\n", "\r\n"][*around];
            // No mark can be made of the letters that are drawn.
            text += &format!("{space}<DOC>{space}<DOCNO>{space}{id}{space}</DOCNO><TEXT>{space}{body}</TEXT>{space}</DOC>\n");
            let body = body.trim_ascii();
            expected.push(serde_json::json!({ "id": id, "text": body }).to_string());
        }
        prop_assert_eq!(lines(&text, &opts()), expected);
    }

    /// Whatever the bytes, all of them but white space are in one piece.
    #[test]
    fn nothing_is_lost(parts in proptest::collection::vec(
        prop::sample::select(vec!["<DOC>", "</DOC>", "<DOCNO>a</DOCNO>", "<TEXT>", "</TEXT>", "\n", " ", "x", "<DOCHDR>"]), 0..30,
    )) {
        let text = parts.concat();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, &text).unwrap();
        let mut source = Trec::open(&opts(), Input::open(&path, 0).unwrap(), Element::Doc).unwrap();
        let mut pieces = String::new();
        while let Some(found) = source.next_document().unwrap() {
            pieces += std::str::from_utf8(found.raw).unwrap();
        }
        let shown = |text: &str| text.split_ascii_whitespace().collect::<String>();
        prop_assert_eq!(shown(&pieces), shown(&text));
    }
}

#[test]
fn news_of_reuters_are_read() {
    let opts = SourceOpts { max_line: "1M".parse().unwrap(), ..SourceOpts::of(Format::Reuters) };
    let text = "<!DOCTYPE lewis SYSTEM \"lewis.dtd\">\n<REUTERS TOPICS=\"YES\" OLDID=\"5544\" NEWID=\"1\">\n\
                <DATE>26-FEB-1987 15:01:01.79</DATE>\n<TOPICS><D>cocoa</D></TOPICS>\n<UNKNOWN>&#5;</UNKNOWN>\n<TEXT>&#2;\n\
                <TITLE>R&amp;D REVIEW</TITLE>\n<DATELINE> SALVADOR</DATELINE><BODY>One\n  &lt;two>\n &#3;</BODY></TEXT>\n</REUTERS>\n\
                <REUTERS NEWID=\"2\">\n<TEXT TYPE=\"BRIEF\">&#2;\n***<TITLE>A TITLE\n</TITLE>Blah.\n&#3;\n</TEXT>\n</REUTERS>\n";
    let first = r#"{"id":"1","date":"1987-02-26T15:01:01.79","text":"R&D REVIEW\nOne\n  <two>"}"#;
    assert_eq!(lines(text, &opts), [first, r#"{"id":"2","text":"***A TITLE\nBlah."}"#]);
    let others = SourceOpts { id: Some("OLDID".to_owned()), text: vec!["title".to_owned()], ..opts.clone() };
    let seen = read(text.as_bytes(), &others).unwrap();
    let line = r#"{"id":"5544","date":"1987-02-26T15:01:01.79","text":"R&D REVIEW"}"#;
    assert_eq!(seen[0].1.as_deref().unwrap(), line);
    assert_eq!(seen[1].1.as_ref().unwrap_err().0, "id");
    let seen = read(b"note\n<REUTERS NEWID=\"3\">\n<REUTERS NEWID=\"4\"></REUTERS>", &opts).unwrap();
    assert_eq!(
        seen.into_iter().map(|(_, line)| line.unwrap_err().0).collect::<Vec<_>>(),
        ["document", "document", "text"]
    );
}
