//! What lines are documents, and which of their fields are read.

use super::*;

fn opts() -> DocumentOpts {
    DocumentOpts {
        id: "id".parse().unwrap(),
        text: "text".parse().unwrap(),
        date: Some(FieldPath::new("day")),
        score: Some(FieldPath::new("s")),
        bad_records: MostBad(0),
        max_line: "256".parse().unwrap(),
    }
}

fn read(line: &str) -> Result<(String, String, String, String), FieldError> {
    opts().read(line.as_bytes(), &Place::default()).map(|d| {
        let date = d.date.map(|date| date.to_string()).unwrap_or_default();
        (String::from_utf8(d.id).unwrap(), d.text.into_owned(), date, d.score.to_owned())
    })
}

#[test]
fn wanted_fields_are_read_and_others_passed_over() {
    let line = r#" {"x":[{"id":3}],"id":"a\tb","s":-1.50e3,"text":"a\u00e9 \ud83d\ude00","day":"2020"} "#;
    let expected = ("a\\x09b".into(), "aé 😀".into(), "1577836800000000000".into(), "-1.50e3".into());
    assert_eq!(read(line), Ok(expected));
}

#[test]
fn dates_are_strings_or_numbers_and_may_be_missing() {
    for (value, date) in [
        (r#""2020""#, "1577836800000000000"),
        (r#""2020-01-01\u005400:00Z""#, "1577836800000000000"),
        ("1577836800", "1577836800000000000"),
        ("1577836800.5", "1577836800500000000"),
        ("null", ""),
        (r#""""#, ""),
    ] {
        let line = format!(r#"{{"id":1,"text":"a","day":{value},"s":null}}"#);
        let (_, _, read_date, score) = read(&line).unwrap();
        assert_eq!((read_date.as_str(), score.as_str()), (date, ""), "{line}");
    }
}

fn text_of(fields: &str, line: &str) -> Result<String, FieldError> {
    let opts = DocumentOpts { text: fields.parse().unwrap(), ..opts() };
    let read = opts.read(line.as_bytes(), &Place::default());
    let parts = opts.read_but_text(line.as_bytes(), &Place::default()).map(|(_, text)| {
        let mut parts = String::new();
        text.each_part(|part| {
            parts.push_str(part);
            Ok::<(), ()>(())
        })
        .unwrap()
        .map(|_| parts)
    });
    // Whole and part by part it is the same.
    if let (Ok(document), Ok(parts)) = (&read, parts) {
        assert_eq!(Ok(document.text.to_string()), parts);
    }
    read.map(|document| document.text.into_owned())
}

#[test]
fn fields_are_named_by_paths() {
    let line = r#"{"id":1,"meta":{"content":"in","x":{"y":"deep"},"a.b":"dot"},"a":[{"b":"zero"},{"b":"one"},["x","y"]]}"#;
    for (path, text) in [("meta.content", "in"), ("meta.x.y", "deep"), ("a.1.b", "one"), ("a.2.0", "x")] {
        assert_eq!(text_of(path, line).as_deref(), Ok(text), "{path}");
    }
    // A way ends where the value is none to go on into, and members are named by single parts.
    for path in ["meta", "meta.x", "a.3.b", "a.b", "a.-1.b", "meta.content.x", "meta.a.b", "id.x", "meta."] {
        assert_eq!(text_of(path, line).unwrap_err().field, "text", "{path}");
    }
    let both = r#"{"id":1,"meta":{"content":"in"},"meta.content":"named"}"#;
    assert_eq!(text_of("meta.content", both).as_deref(), Ok("named"));
    let twice = r#"{"id":1,"meta":{"content":"a","content":"b"}}"#;
    assert!(text_of("meta.content", twice).unwrap_err().to_string().contains("stands twice"));
}

#[test]
fn several_texts_are_joined_and_missing_ones_passed_over() {
    for (line, text) in [
        (r#"{"id":1,"title":"A","meta":{"body":"B\u0041"}}"#, "A\nBA"),
        (r#"{"id":1,"meta":{"body":"B"},"title":"A"}"#, "A\nB"),
        (r#"{"id":1,"title":null,"meta":{"body":"B"}}"#, "B"),
        (r#"{"id":1,"title":"A","meta":null}"#, "A"),
        (r#"{"id":1,"title":"","meta":{"body":""}}"#, "\n"),
    ] {
        assert_eq!(text_of("title,meta.body", line).as_deref(), Ok(text), "{line}");
    }
    for line in
        [r#"{"id":1}"#, r#"{"id":1,"title":null,"meta":{}}"#, r#"{"id":1,"title":"A","meta":{"body":7}}"#]
    {
        let wrong = text_of("title,meta.body", line).unwrap_err();
        assert_eq!(wrong.field, "text", "{line}");
    }
    assert!(text_of("title,body", r#"{"id":1}"#).unwrap_err().found.contains("\"title,body\""));
    for wrong in ["", "a,,b", "a,"] {
        assert!(wrong.parse::<TextFields>().is_err(), "{wrong}");
    }
}

#[test]
fn ids_are_paths_or_places() {
    let place = Place { file: "f".into(), line: 7, offset: 99, ..Place::default() };
    for (id, found) in [("meta.nr", "5"), ("auto", "f@99"), ("row", "f@7")] {
        let opts = DocumentOpts { id: id.parse().unwrap(), ..opts() };
        let read = opts.read(br#"{"meta":{"nr":5},"text":""}"#, &place).unwrap();
        assert_eq!(String::from_utf8(read.id).unwrap(), found);
    }
}

#[test]
fn a_number_as_id_keeps_its_literal() {
    assert_eq!(read(r#"{"id":1.50,"text":""}"#).unwrap().0, "1.50");
}

#[test]
fn errors_name_the_field() {
    for (line, field) in [
        ("[1]", "document"),
        ("{\"id\":1,\"text\":\"a\"", "document"),
        (r#"{"id":1,"text":"a"} x"#, "document"),
        (r#"{"id":1,"id":2,"text":"a"}"#, "document"),
        (r#"{"text":"a"}"#, "id"),
        (r#"{"id":"","text":"a"}"#, "id"),
        (r#"{"id":null,"text":"a"}"#, "id"),
        (r#"{"id":1}"#, "text"),
        (r#"{"id":1,"text":null}"#, "text"),
        (r#"{"id":1,"text":7}"#, "text"),
        (r#"{"id":"\ud800","text":""}"#, "id"),
        (r#"{"id":1,"text":"\ud800\u"}"#, "document"),
        (r#"{"id":1,"text":"a","day":"yesterday"}"#, "date"),
        (r#"{"id":1,"text":"a","day":"20200101"}"#, "date"),
        (r#"{"id":1,"text":"a","day":[3]}"#, "date"),
        (r#"{"id":1,"text":"a","day":true}"#, "date"),
        (r#"{"id":1,"text":"a","s":"3"}"#, "score"),
        (r#"{"id":1,"text":"a","s":1e1234567890123456789}"#, "score"),
    ] {
        assert_eq!(read(line).unwrap_err().field, field, "{line}");
    }
}
