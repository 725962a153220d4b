use super::*;
use crate::Format;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::io::Write;

fn record(kind: &str, fields: &str, content: &[u8]) -> Vec<u8> {
    let id = content.len();
    let mut record = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{kind}-{id}>\r\nWARC-Date: 2024-05-18T01:58:10Z\r\n\
         WARC-Target-URI: http://x.example/{id}\r\n{fields}Content-Length: {}\r\n\r\n",
        content.len()
    )
    .into_bytes();
    record.extend_from_slice(content);
    record.extend_from_slice(b"\r\n\r\n");
    record
}

const HTTP: &str = "Content-Type: application/http; msgtype=response\r\n";

fn page(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<html><body><p>{body}</p></body></html>").into_bytes()
}

/// A crawl of two pages, a resource and a text, among what is none.
fn crawl() -> Vec<Vec<u8>> {
    vec![
        record("warcinfo", "Content-Type: application/warc-fields\r\n", b"software: x\r\n"),
        record("request", "Content-Type: application/http; msgtype=request\r\n", b"GET / HTTP/1.1\r\n\r\n"),
        record("response", HTTP, &page("caf\u{e9} noir")),
        record("response", HTTP, b"HTTP/1.1 301 Moved\r\nLocation: /\r\n\r\n"),
        record("response", "Content-Type: text/dns\r\n", b"20240518\nx.example. 1 IN A 192.0.2.1"),
        record("resource", "Content-Type: text/plain\r\n", b"as it is"),
        record("conversion", "Content-Type: text/plain\r\n", "text of a page\n\u{7528}\u{6237}".as_bytes()),
        record("metadata", "", b"x: y"),
        record("response", HTTP, &page("second")),
    ]
}

/// The id and the text of a document, or what is wrong with it.
type Row = Result<(String, String), String>;

struct Read {
    rows: Vec<(u64, Row)>,
    passed_over: u64,
}

fn read(bytes: &[u8], opts: &SourceOpts) -> Result<Read> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let mut source = opts.open(file.path(), 0)?;
    let mut rows = Vec::new();
    while let Some(found) = source.next_document()? {
        let line = found.line.map(|line| serde_json::from_slice::<Value>(line).unwrap());
        let of = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
        let row = line.map(|line| (of(&line, "id"), of(&line, "text"))).map_err(|error| error.to_string());
        rows.push((found.place.offset, row));
    }
    Ok(Read { rows, passed_over: source.passed_over() })
}

fn opts() -> SourceOpts {
    SourceOpts::of(Format::Warc)
}

#[test]
fn documents_are_the_pages_of_a_crawl() {
    let records = crawl();
    let plain = records.concat();
    let packed: Vec<u8> = records
        .iter()
        .flat_map(|record| {
            let mut member = GzEncoder::new(Vec::new(), Compression::fast());
            member.write_all(record).unwrap();
            member.finish().unwrap()
        })
        .collect();
    for bytes in [plain.clone(), packed] {
        let Read { rows, passed_over } = read(&bytes, &opts()).unwrap();
        let texts: Vec<_> = rows.iter().map(|(_, row)| row.as_ref().unwrap().1.as_str()).collect();
        assert_eq!(texts, ["caf\u{e9} noir", "as it is", "text of a page\n\u{7528}\u{6237}", "second"]);
        assert_eq!(passed_over, 5);
        assert!(rows[0].1.as_ref().unwrap().0.starts_with("urn:uuid:response-"));
        assert!(
            plain[rows[3].0 as usize..].starts_with(b"WARC/1.0")
                && rows[3].0 as usize + records[8].len() == plain.len()
        );
    }
    let by_address = SourceOpts { id: Some("WARC-Target-URI".to_owned()), ..opts() };
    assert_eq!(read(&plain, &by_address).unwrap().rows[1].1.as_ref().unwrap().0, "http://x.example/8");
}

/// A file that is cut off anywhere is an error, but between two records.
#[test]
fn no_end_is_taken_for_the_end_of_the_file() {
    let records = crawl();
    let whole = records.concat();
    let ends: Vec<usize> = records
        .iter()
        .scan(0, |end, record| {
            *end += record.len();
            Some(*end)
        })
        .collect();
    let mut errors = 0;
    for cut in (1..whole.len()).step_by(7) {
        let read = read(&whole[..cut], &opts());
        // Behind the content two line ends may be missing.
        let between = ends.iter().any(|end| (end - 4..=*end).contains(&cut));
        assert_eq!(read.is_ok(), between, "{cut}");
        errors += usize::from(!between);
    }
    assert!(errors > 200, "{errors}");
    let Err(error) = read(&whole[..whole.len() - 10], &opts()) else { panic!() };
    assert!(error.to_string().contains("ends in its content; the file is cut off"), "{error}");
}

#[test]
fn what_is_no_record_is_named() {
    for (bytes, part) in [
        (&b"WARC/1.0\r\nWARC-Type: response\r\n\r\n"[..], "Content-Length"),
        (b"hello\n", "does not begin with WARC/"),
    ] {
        let Err(error) = read(bytes, &opts()) else { panic!("{part}") };
        assert!(error.to_string().contains(part), "{error}");
    }
    let short = SourceOpts { max_line: "20B".parse().unwrap(), ..opts() };
    assert!(read(&crawl().concat(), &short).err().unwrap().to_string().contains("--max-line"));
    let without_id = b"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 1\r\n\r\nx\r\n\r\n";
    assert!(read(without_id, &opts()).unwrap().rows[0].1.as_ref().unwrap_err().contains("id"));
    assert!(read(b"", &opts()).unwrap().rows.is_empty());
}
