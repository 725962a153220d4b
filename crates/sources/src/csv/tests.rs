//! Rows, their cells and their places.

use super::*;
use crate::Format;
use proptest::prelude::*;
use serde_json::Value;
use std::io::Write;

type Seen = (u64, u64, Vec<u8>, std::result::Result<Value, String>);

fn read(bytes: &[u8], opts: &SourceOpts) -> Result<Vec<Seen>> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let mut source = opts.open(file.path(), 0)?;
    let mut all = Vec::new();
    while let Some(found) = source.next_document()? {
        let line = found.line.map(|line| serde_json::from_slice(line).unwrap());
        let line =
            line.map_err(|error| format!("{error} {}", error.advice.as_deref().map_or("", |words| words)));
        all.push((found.place.line, found.place.offset, found.raw.to_vec(), line));
    }
    Ok(all)
}

fn opts() -> SourceOpts {
    SourceOpts::of(Format::Csv)
}

#[test]
fn a_row_is_a_document_with_all_its_cells() {
    let table = "\u{feff}id,title,text\r\n1,One,\"a, \"\"b\"\"\nc\"\r\n\r\n2,,\r\n";
    let seen = read(table.as_bytes(), &opts()).unwrap();
    let rows: Vec<_> = seen
        .iter()
        .map(|(line, offset, raw, row)| (*line, *offset, raw.as_slice(), row.clone().unwrap()))
        .collect();
    let first = serde_json::json!({"id": "1", "title": "One", "text": "a, \"b\"\nc"});
    let second = serde_json::json!({"id": "2", "title": "", "text": ""});
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!((rows[0].0, rows[0].2, &rows[0].3), (2, &b"1,One,\"a, \"\"b\"\"\nc\""[..], &first));
    assert_eq!(
        (&table.as_bytes()[rows[1].1 as usize..], rows[1].2, &rows[1].3),
        (&b"2,,\r\n"[..], &b"2,,"[..], &second)
    );
}

#[test]
fn delimiters_are_those_of_the_first_row() {
    for table in [
        "id;text;x,y\n1;a, b;2\n",
        "\r\n\nid;text;x,y\n1;a, b;2\n",
        "id|text|x,y\n1|a, b|2\n",
        "\"id\",text,\"x,y\"\n1,\"a, b\",2\n",
    ] {
        let seen = read(table.as_bytes(), &opts()).unwrap();
        let expected = serde_json::json!({"id": "1", "text": "a, b", "x,y": "2"});
        assert_eq!(seen[0].3, Ok(expected), "{table}");
    }
    let seen = read(b"id\ttext\n1\ta, b; c\n", &SourceOpts::of(Format::Tsv)).unwrap();
    assert_eq!(seen[0].3, Ok(serde_json::json!({"id": "1", "text": "a, b; c"})));
}

/// A quotation mark that nothing closes would take the rest of the file for a cell: the row is wrong, and no row is lost in silence.
#[test]
fn a_cell_that_is_never_closed_is_wrong() {
    for table in ["id,text\n1,a\n2,\"b\n3,c\n", "id,text\n1,a\n2,\"b \"\"\n3,c", "id,text\r\n1,a\r\n2,\"\r\n"]
    {
        let seen = read(table.as_bytes(), &opts()).unwrap();
        assert_eq!(seen.len(), 2, "{table}");
        assert!(seen[0].3.is_ok());
        let wrong = seen[1].3.as_ref().unwrap_err();
        assert!(wrong.contains("a quotation mark that closes the cell"), "{wrong}");
        assert!(table.trim_end().ends_with(std::str::from_utf8(&seen[1].2).unwrap()));
    }
    let error = read(b"id,\"text\n1,a\n", &opts()).unwrap_err().to_string();
    assert!(error.contains("first row: a quotation mark"), "{error}");
    // Marks inside of cells that do not begin with one are characters.
    for table in [
        "id,text\n1,5\" disk\n2,\"b\"\n",
        "id,text\n1,a\n2,5\" disk",
        "id,text\n1,\"a\"\"\"\n",
        "id,text\n1,\"a\"",
    ] {
        assert!(read(table.as_bytes(), &opts()).unwrap().iter().all(|row| row.3.is_ok()), "{table}");
    }
}

#[test]
fn columns_are_named_by_options() {
    let table = b"key,title,body,day\n7,T,B,2024-01-02\n";
    let chosen = SourceOpts {
        id: Some("key".to_owned()),
        text: vec!["title".to_owned(), "body".to_owned()],
        date: Some("day".to_owned()),
        ..opts()
    };
    let expected =
        serde_json::json!({"key": "7", "title": "T", "body": "B", "day": "2024-01-02", "text": "T\nB"});
    assert_eq!(read(table, &chosen).unwrap()[0].3, Ok(expected));
    let error = read(table, &opts()).unwrap_err().to_string();
    assert!(
        error.contains("\"id\"") && error.contains("key, title, body, day") && error.contains("--id"),
        "{error}"
    );
    let twice = read(b"id,text,text\n", &opts()).unwrap_err().to_string();
    assert!(twice.contains("twice"), "{twice}");
}

#[test]
fn a_score_is_a_number_as_it_is_written() {
    let scored = SourceOpts { score: Some("s".to_owned()), ..opts() };
    let seen = read(b"id,text,s\n1,a,3.50\n2,b,\n3,c,high\n", &scored).unwrap();
    assert_eq!(seen[0].3, Ok(serde_json::json!({"id": "1", "text": "a", "s": 3.5})));
    assert_eq!(seen[1].3, Ok(serde_json::json!({"id": "2", "text": "b"})));
    assert!(seen[2].3.as_ref().unwrap_err().contains("score"), "{:?}", seen[2].3);
}

#[test]
fn no_cell_is_lost_where_texts_are_joined() {
    let joined =
        |names: &[&str]| SourceOpts { text: names.iter().map(|name| (*name).to_owned()).collect(), ..opts() };
    let table = b"id,title,text\n1,a,b\n";
    assert_eq!(
        read(table, &joined(&["title", "text"])).unwrap()[0].3,
        Ok(serde_json::json!({"id": "1", "title": "a", "text": "a\nb"}))
    );
    assert!(read(table, &joined(&["title", "id"])).unwrap_err().to_string().contains("called text"));
}

#[test]
fn rows_of_another_width_and_of_other_bytes_are_bad() {
    let seen = read(b"id,text\n1,a,b\n2,c\n3\n4,\xff\n,d\n", &opts()).unwrap();
    let bad: Vec<_> = seen.iter().map(|(line, _, _, row)| (*line, row.is_err())).collect();
    assert_eq!(bad, [(2, true), (3, false), (4, true), (5, true), (6, true)]);
    let said = seen[0].3.as_ref().unwrap_err();
    assert!(said.contains("3 cells where there are 2 columns"), "{said}");
    let latin = SourceOpts { encoding: Some("latin1".parse().unwrap()), ..opts() };
    assert_eq!(
        read(b"id,text\n4,\xe9\n", &latin).unwrap()[0].3,
        Ok(serde_json::json!({"id": "4", "text": "é"}))
    );
}

#[test]
fn a_row_is_no_longer_than_it_may_be() {
    let short = SourceOpts { max_line: "1K".parse().unwrap(), ..opts() };
    let table = format!("id,text\n1,a\n2,\"{}", "x".repeat(1 << 20));
    let error = read(table.as_bytes(), &short).unwrap_err().to_string();
    assert!(error.contains("--max-line") && error.contains("line 2"), "{error}");
    assert!(read(b"", &opts()).unwrap().is_empty());
}

proptest! {
    /// What the library writes comes back, and what is given is what stands in the file.
    #[test]
    fn what_is_written_is_read(cells in prop::collection::vec(("[a-z]{1,3}", "[a,;|\"\\r\\n é用]{0,9}"), 0..9)) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["id", "text"]).unwrap();
        cells.iter().for_each(|(id, text)| writer.write_record([id, text]).unwrap());
        let table = writer.into_inner().unwrap();
        let seen = read(&table, &opts()).unwrap();
        prop_assert_eq!(seen.len(), cells.len());
        for ((id, text), (_, offset, raw, row)) in cells.iter().zip(&seen) {
            prop_assert_eq!(row, &Ok(serde_json::json!({ "id": id, "text": text })));
            prop_assert_eq!(&table[*offset as usize..][..raw.len()], raw.as_slice());
        }
    }
}

/// A mark that opens a cell by mistake would make one row of several, which are never compared.
#[test]
fn what_stands_behind_a_closing_quotation_mark_is_an_error() {
    let cases: [(&str, Format, Option<u64>); 9] = [
        (
            "id\ttext\n1\t\"Hello there\n2\tsecond\n3\tsays \"goodbye\" to us\n4\tfourth\n",
            Format::Tsv,
            Some(40),
        ),
        ("id,text\n1,\"Hello\" there\n", Format::Csv, Some(17)),
        ("id,text\n1,\"a\"b\"\n", Format::Csv, Some(13)),
        ("id,text\n1,\"a\" \n", Format::Csv, Some(13)),
        ("id,text\n\"1\",\"a\"\r\n", Format::Csv, None),
        ("id,text\n\"1\",a \"quoted\" word\n", Format::Csv, None),
        ("id,text\n1,\"\"\n", Format::Csv, None),
        ("id,text\n1,\"\"\"\"\n", Format::Csv, None),
        ("\u{feff}\"id\",\"text\"\n1,\"a,\"\"b\"\"\nc\"\n", Format::Csv, None),
    ];
    for (table, format, place) in cases {
        let seen = read(table.as_bytes(), &SourceOpts::of(format)).unwrap();
        let wrong = seen.iter().find_map(|(.., row)| row.as_ref().err());
        match place {
            Some(byte) => {
                let wrong = wrong.unwrap_or_else(|| panic!("{table}"));
                assert!(
                    wrong.contains(&format!("that closes a cell, at byte {byte}, stands neither")),
                    "{table}: {wrong}"
                );
            }
            None => assert_eq!((seen.len(), wrong), (1, None), "{table}"),
        }
    }
    let head = read(b"\"id\"x,text\n1,a\n", &opts()).unwrap_err().to_string();
    assert!(head.contains("first row: behind the quotation mark") && head.contains("at byte 4"), "{head}");
}
