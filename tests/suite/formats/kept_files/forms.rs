//! Documents in several forms, as pieces of files, and what stands in files.

use crate::common::cli::{Place, fixture};
use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};

/// A piece of a file: the document that it is, if it is one, and its bytes.
pub type Piece = (Option<String>, Vec<u8>);

/// Real documents, of which more than half are near-duplicates.
pub fn documents() -> Vec<(String, String)> {
    let packed = fs::read(fixture("documents/en.jsonl.gz")).unwrap();
    let mut text = String::new();
    MultiGzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
    let field = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
    let all = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.map(|line| (field(&line, "id"), field(&line, "text"))).collect()
}

/// A member of gzip.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// What stands in the parts of a file of gzip.
pub fn members(packed: &[u8]) -> Vec<Vec<u8>> {
    let (mut all, mut rest) = (Vec::new(), packed);
    while !rest.is_empty() {
        let mut bytes = Vec::new();
        let mut decoder = flate2::bufread::GzDecoder::new(rest);
        decoder.read_to_end(&mut bytes).unwrap();
        rest = decoder.into_inner();
        all.push(bytes);
    }
    all
}

/// The ids that an answer drops; those of these tests need no escapes.
pub fn dropped(here: &Place, folder: &str) -> BTreeSet<String> {
    let text = here.read(&format!("{folder}/clusters.tsv"));
    let rows = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    rows.filter(|row| row[2] == "drop").map(|row| row[1].to_owned()).collect()
}

/// The pieces that stay.
pub fn without(pieces: &[Piece], dropped: &BTreeSet<String>) -> Vec<Vec<u8>> {
    let stays = |piece: &&Piece| piece.0.as_ref().is_none_or(|id| !dropped.contains(id));
    pieces.iter().filter(stays).map(|(_, bytes)| bytes.clone()).collect()
}

/// Documents as JSON lines: with blanks and other orders of fields here and there, two line ends, and none behind the last one.
pub fn as_lines(documents: &[(String, String)]) -> Vec<Piece> {
    let mut pieces = vec![(None, "\u{feff}".into())];
    for (at, (id, text)) in documents.iter().enumerate() {
        let (id_of, text_of) = (Value::from(id.as_str()), Value::from(text.as_str()));
        let line = match at % 3 {
            0 => format!("{{\"text\": {text_of}, \"n\":1.50, \"id\": {id_of} }}\r\n"),
            1 => format!(" {{\"id\":{id_of},\"text\":{text_of}}}\n"),
            _ => format!("{{\"id\":{id_of},\"text\":{text_of}}}"),
        };
        let end = if at % 3 == 2 && at + 1 < documents.len() { "\n" } else { "" };
        pieces.push((Some(id.clone()), (line + end).into()));
    }
    pieces
}

/// Documents as a table: cells with quotes and without, line ends in cells, and two kinds of them behind rows.
pub fn as_table(documents: &[(String, String)], delimiter: char) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = vec![(None, format!("\"n\"{delimiter}text{delimiter}id\r\n").into())];
    for (at, (id, text)) in documents.iter().enumerate() {
        let text = text.replace('"', "\"\"");
        let text = if at % 5 == 0 { text.replace('\n', "\r\n") } else { text };
        let id_cell = if at % 2 == 0 { format!("\"{id}\"") } else { id.clone() };
        let end = if at % 4 == 0 { "\n" } else { "\r\n" };
        let row = format!("{at}{delimiter}\"{text}\"{delimiter}{id_cell}{end}");
        pieces.push((Some(id.clone()), row.into()));
    }
    pieces
}

/// Documents as elements of TREC.
pub fn as_trec(documents: &[(String, String)]) -> Vec<Piece> {
    let piece = |(id, text): &(String, String)| {
        let text = text.replace('<', " ");
        (Some(id.clone()), format!("<DOC>\n<DOCNO>{id}</DOCNO>\n<TEXT>\n{text}</TEXT>\n</DOC>\n").into())
    };
    documents.iter().map(piece).collect()
}

/// Documents as a crawl: beside each page its request, and between them records that are no pages.
pub fn as_crawl(documents: &[(String, String)], texts: bool) -> Vec<Piece> {
    let record = |kind: &str, id: &str, more: &str, content: &str| -> Vec<u8> {
        let length = content.len();
        let head = format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <{id}>\r\n{more}Content-Length: {length}\r\n\r\n"
        );
        (head + content + "\r\n\r\n").into()
    };
    let http = "Content-Type: application/http; msgtype=response\r\n";
    let mut pieces = vec![(None, record("warcinfo", "info", "", "software: a crawler\r\n"))];
    for (at, (id, text)) in documents.iter().enumerate() {
        if texts {
            pieces.push((Some(id.clone()), record("conversion", id, "Content-Type: text/plain\r\n", text)));
            continue;
        }
        pieces.push((None, record("request", &format!("{id}-request"), "", "GET / HTTP/1.1\r\n\r\n")));
        let page = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{text}");
        pieces.push((Some(id.clone()), record("response", id, http, &page)));
        if at % 10 == 0 {
            let image = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\nWARC/1.0\r\n\r\n\u{0}";
            pieces.push((None, record("response", &format!("{id}-image"), http, image)));
        }
    }
    pieces
}

/// Documents as a crawl in ARC: each address is the id, and the id of a document is a date and that.
pub fn as_arc(documents: &[(String, String)]) -> Vec<Piece> {
    let record = |url: &str, kind: &str, content: &str| -> Vec<u8> {
        format!("{url} 192.0.2.1 20080430204825 {kind} {}\n{content}\n", content.len()).into()
    };
    let names = "1 0 A crawler\nURL IP-address Archive-date Content-type Archive-length\n";
    let mut pieces = vec![(None, record("filedesc://a.arc", "text/plain", names))];
    for (at, (id, text)) in documents.iter().enumerate() {
        let url = format!("http://x.example/{id}");
        let page = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{text}");
        pieces.push((Some(format!("20080430204825/{url}")), record(&url, "text/plain", &page)));
        if at % 10 == 0 {
            pieces.push((None, record("dns:x.example", "text/dns", "20080430\nx.example. 1 IN A 192.0.2.1")));
            pieces.push((
                None,
                record(&url, "image/png", "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\u{0}"),
            ));
        }
    }
    pieces
}

/// Documents as JSON lines with their fields inside an object.
pub fn nested(documents: &[(String, String)]) -> Vec<Piece> {
    let line = |(id, text): &(String, String)| {
        let line = serde_json::json!({ "text": { "id": id, "body": text } });
        (Some(id.clone()), format!("{line}\n").into())
    };
    documents.iter().map(line).collect()
}
