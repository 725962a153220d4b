//! Elements of arrays, and files that are cut off.

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
    let texts: Vec<_> = seen.iter().map(|one| one.as_ref().unwrap().1["text"].as_str().unwrap()).collect();
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
        seen.len() == 1 && error.contains("the element is longer than 20B") && error.contains("--max-line"),
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
