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
