//! What `twinsplit convert` makes of whole collections, beside what other readers find in them.

use crate::common::cli::Place;
use crate::formats::convert::values;
use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::Read;

use super::path;

/// The expected rows were made by `tests/goldens/trec/make.py`, which knows nothing of this program.
#[test]
#[ignore = "needs the corpora; run by `make test-corpora`"]
fn cranfield_is_what_another_reader_finds() {
    let here = Place::new();
    let file = path("cranfield-trec").with_file_name("cranfield.trec.gz");
    let said =
        here.say(&format!("twinsplit convert --format trec {} --output out/docs.jsonl.gz", file.display()));
    assert!(said.err.ends_with("1400 documents: out/docs.jsonl.gz\n"), "{}", said.err);
    said.ok();
    let mut lines = String::new();
    let packed = fs::File::open(here.path("out/docs.jsonl.gz")).unwrap();
    MultiGzDecoder::new(packed).read_to_string(&mut lines).unwrap();
    let rows = values(&lines).iter().fold(String::new(), |rows, document| {
        let [id, text] = ["id", "text"].map(|field| document[field].as_str().unwrap());
        let digest = Sha256::digest(text.as_bytes());
        let digest = digest[..8].iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        rows + &format!("{id}\t{}\t{digest}\n", text.chars().count())
    });
    assert_eq!(rows, include_str!("../../goldens/trec/cranfield.tsv"));
    let run = "twinsplit run --input out/docs.jsonl.gz --tau 0.5 --features words:2 --output found --quiet";
    here.say(run).ok();
    let documents = &values(&here.read("found/run.json").replace('\n', ""))[0];
    assert_eq!(documents["inputs"][0]["path"], "out/docs.jsonl.gz");
}

/// The expected rows were made by `tests/goldens/html/make.py`, in which another parser builds the tree of each page.
#[test]
#[ignore = "needs the corpora; run by `make test-corpora`"]
fn pages_have_the_words_that_another_parser_finds() {
    let here = Place::new();
    let file = path("html-articles-en").with_file_name("html.tar.gz");
    here.shell(&format!("mkdir pages && tar -xzf '{}' -C pages", file.display())).ok();
    let lines = here.say("twinsplit convert pages/**/*.html --format html --output - --quiet").ok();
    let mut rows: Vec<String> = values(&lines)
        .iter()
        .map(|document| {
            let [id, text] = ["id", "text"].map(|field| document[field].as_str().unwrap());
            let mut words: Vec<&str> = text.split_ascii_whitespace().collect();
            words.sort_unstable();
            let digest = Sha256::digest(words.join(" ").as_bytes());
            let digest = digest[..8].iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
            format!("{}\t{}\t{digest}\n", id.rsplit('/').next().unwrap(), words.len())
        })
        .collect();
    rows.sort();
    assert_eq!(rows.len(), 181);
    assert_eq!(rows.concat(), include_str!("../../goldens/html/articles.tsv"));
}

/// The expected rows were made by `tests/goldens/crawls/make.py`, in which warcio reads the crawl; three of its pages are not of the encoding in
/// their headers.
#[test]
#[ignore = "needs the corpora; run by `make test-corpora`"]
fn a_crawl_has_the_pages_that_another_reader_finds() {
    let here = Place::new();
    let samples = path("warc-samples").with_file_name("aut");
    let mut ran = 0;
    for file in ["arc/example.arc.gz", "warc/example.warc.gz"] {
        let file = samples.join(file);
        let said = here.say(&format!("twinsplit convert {} --keep-markup --output -", file.display()));
        let warned = ["1 page with another encoding", "3 pages neither UTF-8 nor of an encoding"];
        warned.iter().for_each(|words| assert!(said.err.contains(words), "{}", said.err));
        let rows = values(&said.ok()).iter().fold(String::new(), |rows, document| {
            let [url, date, text] = ["url", "date", "text"].map(|field| document[field].as_str().unwrap());
            let digest = Sha256::digest(text.as_bytes());
            let digest = digest[..8].iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
            rows + &format!("{url}\t{date}\t{}\t{digest}\n", text.chars().count())
        });
        assert_eq!(rows, include_str!("../../goldens/crawls/example.tsv"), "{}", file.display());
        ran += 1;
    }
    println!("{ran} files");
    assert_eq!(ran, 2);
    let bad = samples.join("arc/badexample.arc.gz");
    here.say(&format!("twinsplit convert {} --output -", bad.display()))
        .fails(1, &["badexample.arc.gz", "begins at byte 2369", "a date"]);
}

/// The documents of the same corpus, in the file beside it, were made by another program.
#[test]
#[ignore = "needs the corpora; run by `make test-corpora`"]
fn news_are_what_another_reader_finds() {
    let here = Place::new();
    let folder = path("reuters21578");
    let file = folder.with_file_name("reut2-000.sgm");
    let lines = here.say(&format!("twinsplit convert {} --output -", file.display())).ok();
    let found = values(&lines);
    let mut others = String::new();
    let packed = fs::File::open(folder.with_file_name("docs.jsonl.gz")).unwrap();
    MultiGzDecoder::new(packed).read_to_string(&mut others).unwrap();
    let others: std::collections::BTreeMap<String, serde_json::Value> = values(&others)
        .into_iter()
        .map(|document| (document["id"].as_str().unwrap().to_owned(), document))
        .collect();
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut bodies = 0;
    for document in &found {
        let other = &others[document["id"].as_str().unwrap()];
        let [title, body] = ["title", "text"].map(|field| other[field].as_str().unwrap_or_default());
        if !body.is_empty() {
            assert_eq!(
                words(document["text"].as_str().unwrap()),
                words(&format!("{title}\n{body}")),
                "{other}"
            );
            bodies += 1;
        }
    }
    println!("{bodies} of {} have a body", found.len());
    assert!(found.len() == 1000 && bodies > 900, "{bodies}");
}
