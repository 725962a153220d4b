//! Random corpora whose lines are features (`--features lines`), made to be awkward.
//!
//! Frequencies are skewed, sets repeat, some are empty or of one feature, and for every threshold
//! that is a simple fraction there are pairs exactly on it and pairs one feature below it. The ids are
//! the kind that break tools which split, sort or compare text carelessly.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::oracle::{Doc, escape_id};
use super::rng::Rng;

/// The thresholds on which pairs are planted, each the fraction p/q of a tau of the matrix.
pub const PLANTED: [(usize, usize); 13] = [
    (1, 10),
    (1, 5),
    (3, 10),
    (2, 5),
    (1, 2),
    (11, 20),
    (3, 5),
    (13, 20),
    (7, 10),
    (4, 5),
    (17, 20),
    (9, 10),
    (1, 1),
];

/// JSON literals of ids: controls, backslashes, spaces, prefixes of one another, numbers, and
/// characters whose order differs between UTF-8 bytes and UTF-16 units.
const AWKWARD: [&str; 38] = [
    r#""a""#,
    r#""a b""#,
    r#""a\tb""#,
    r#""a\\b""#,
    r#""a\\x09b""#,
    r#""a\u0001""#,
    r#""a\u0000""#,
    r#""a\nb""#,
    r#""a\r""#,
    r#""ab""#,
    r#""abc""#,
    r#""a!""#,
    r#"" a""#,
    r#""a ""#,
    r#"" ""#,
    r#""A""#,
    r#""\u007f""#,
    r#""\\""#,
    r#""\\\\""#,
    r#""-""#,
    r#""=""#,
    r##""#\"quoted\"""##,
    r#""caf\u00e9""#,
    r#""cafe\u0301""#,
    r#""\ud83d\ude00""#,
    r#""😀a""#,
    r#""～""#,
    r#""日本""#,
    r#""\ufeffmark""#,
    r#""\ufeff\ufeff""#,
    r#""日""#,
    r#""\u0085""#,
    "7",
    "70",
    "-7",
    "7.0",
    "7e1",
    "123456789012345678901234567890",
];

/// The id that a JSON literal means.
fn id_of(literal: &str) -> String {
    if literal.starts_with('"') {
        escape_id(&serde_json::from_str::<String>(literal).expect("a JSON string"))
    } else {
        literal.to_owned()
    }
}

/// Makes documents out of lists of lines.
struct Maker {
    rng: Rng,
    docs: Vec<Vec<String>>,
}

impl Maker {
    /// Sizes and features skewed; every third document is an earlier one with a few changes.
    fn skewed(&mut self, count: usize, vocabulary: usize) {
        for _ in 0..count {
            let near = self.rng.once_in(3) && !self.docs.is_empty();
            let mut doc = if near {
                let of = self.rng.below(self.docs.len());
                self.docs[of].clone()
            } else {
                Vec::new()
            };
            let more = if near { self.rng.below(4) } else { 1 + self.rng.skewed(40) };
            for _ in 0..more {
                doc.push(format!("line {}", self.rng.skewed(vocabulary)));
            }
            if near && doc.len() > 1 {
                let at = self.rng.below(doc.len());
                doc.swap_remove(at);
            }
            self.docs.push(doc);
        }
    }

    /// Groups of documents with one set, its lines repeated and in other orders.
    fn equal(&mut self, groups: usize) {
        for _ in 0..groups {
            let of = self.rng.below(self.docs.len());
            for _ in 0..1 + self.rng.below(4) {
                let mut doc = self.docs[of].clone();
                if let Some(first) = doc.first().cloned() {
                    doc.push(first);
                }
                self.rng.shuffle(&mut doc);
                self.docs.push(doc);
            }
        }
    }

    /// For each threshold a pair of sets exactly on it, and one whose overlap is one too small.
    fn planted(&mut self) {
        for (at, &(p, q)) in PLANTED.iter().enumerate() {
            for (way, overlap, union) in [("on", p, q), ("twice", 2 * p, 2 * q), ("below", p - 1, q)] {
                let name = |i: usize| format!("{way} {at} feature {i}");
                let least = overlap.max(1);
                let left = least + self.rng.below(union - least + 1);
                self.docs.push((0..left).map(name).collect());
                self.docs.push((0..overlap).chain(left..union).map(name).collect());
            }
        }
    }

    /// Sets that share a feature rarer than all their others, so that even at tau 1, where only the
    /// rarest feature is indexed, a posting list outgrows a block of two.
    fn rarest_shared(&mut self) {
        for group in 0..3 {
            for i in 0..5 {
                let mut doc = vec![format!("rare {group}")];
                doc.extend((0..i).map(|common| format!("common {common}")));
                self.docs.push(doc);
            }
        }
        for i in 0..12 {
            let mut doc: Vec<String> = (0..5).map(|common| format!("common {common}")).collect();
            doc.push(format!("else {i}"));
            self.docs.push(doc);
        }
    }

    /// Sets of one feature and of two, whose texts may be equal although their lines are not, and documents without any.
    fn tiny(&mut self) {
        for _ in 0..6 {
            let line = format!("line {}", self.rng.below(4));
            self.docs.push(vec![line]);
        }
        for text in ["LINE 0", "line 1\nline 2", " Line 1  line 2\t", "line 2 line 1", "line 1\nline 2"] {
            self.docs.push(text.lines().map(str::to_owned).collect());
        }
        for empty in ["", "\n\n\n", " "] {
            self.docs.push(vec![empty.to_owned()]);
        }
    }
}

/// A corpus of about `size` documents and the planted ones; equal seeds make equal corpora.
pub fn random(seed: u64, size: usize, vocabulary: usize) -> Vec<Doc> {
    let mut maker = Maker { rng: Rng::new(seed), docs: Vec::new() };
    maker.skewed(size, vocabulary);
    maker.equal(size / 15);
    maker.planted();
    maker.rarest_shared();
    maker.tiny();
    let Maker { mut rng, mut docs } = maker;
    rng.shuffle(&mut docs);
    let mut literals: Vec<String> = AWKWARD.iter().map(|id| (*id).to_owned()).collect();
    literals.extend((literals.len()..docs.len()).map(|i| format!("\"d{i}\"")));
    rng.shuffle(&mut literals);
    let mut all = Vec::new();
    for (lines, literal) in docs.iter().zip(literals) {
        let end = if rng.once_in(8) { "\r\n" } else { "\n" };
        all.push(doc(&mut rng, &literal, &lines.join(end)));
    }
    all
}

/// A document whose line has, some of the time, a date and a score; both have ties.
fn doc(rng: &mut Rng, literal: &str, text: &str) -> Doc {
    let date = (!rng.once_in(5)).then(|| format!("20{:02}-0{}-01", rng.below(3), 1 + rng.below(9)));
    let score = (!rng.once_in(5)).then(|| 125 * (rng.below(40) as i64 - 20));
    let mut line = format!("{{\"id\": {literal}");
    if let Some(date) = &date {
        line.push_str(&format!(", \"date\": \"{date}\""));
    }
    if let Some(score) = score {
        line.push_str(&format!(", \"score\": {}", score as f64 / 1000.0));
    }
    let text_literal = serde_json::to_string(text).expect("JSON");
    line.push_str(&format!(", \"other\": [1,  {{\"id\": 2}}], \"text\": {text_literal}}}"));
    Doc { id: id_of(literal), line, text: text.to_owned(), date, score }
}

/// A document of a test: its id as text, and its lines.
pub fn plain(id: &str, lines: &[&str]) -> Doc {
    let literal = serde_json::to_string(id).expect("JSON");
    let text = lines.join("\n");
    let text_literal = serde_json::to_string(&text).expect("JSON");
    let line = format!("{{\"id\":{literal},\"text\":{text_literal}}}");
    Doc { id: escape_id(id), line, text, date: None, score: None }
}

/// 1,024 documents with features in exactly 3, 4, 5, 255, 256 and 257 of them. At 1,024 the
/// normalised IDF of 4 and of 256 is exactly .8 and .2, and a computation in `f64` gets
/// 0.7999999999999999 and 0.19999999999999998.
pub fn idf_boundaries() -> Vec<Doc> {
    let mut lines = vec![Vec::new(); 1024];
    for (way, df) in [3, 4, 5, 255, 256, 257].into_iter().enumerate() {
        for copy in 0..2 {
            for i in 0..df {
                lines[(i + 128 * copy) % 1024].push(format!("in {df}, {way}.{copy}"));
            }
        }
    }
    let doc = |(i, lines): (usize, &Vec<String>)| {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        plain(&format!("{i}"), &lines)
    };
    lines.iter().enumerate().map(doc).collect()
}

/// Writes documents of real text, taken apart and put together anew, until the file has so many bytes; gives how many.
///
/// A document is a row of passages of three to twenty words from random places of `texts`, so most of its runs of five
/// words stand in it alone and some in many, as in natural text. One in ten is an earlier one with a few words
/// changed, one in thirty an exact copy, and one in a hundred holds a notice that all of these share.
pub fn synthetic(texts: &[Doc], path: &Path, bytes: u64, seed: u64) -> usize {
    let mut rng = Rng::new(seed);
    let words: Vec<&str> = texts.iter().flat_map(|doc| doc.text.split_whitespace()).collect();
    let mut out = std::io::BufWriter::new(std::fs::File::create(path).expect("an input file"));
    let mut recent: Vec<String> = Vec::new();
    let (mut written, mut documents) = (0, 0);
    while written < bytes {
        let earlier = recent.get(rng.below(recent.len().max(1))).cloned();
        let text = match earlier {
            Some(earlier) if rng.once_in(30) => earlier,
            Some(earlier) if rng.once_in(10) => {
                let mut changed: Vec<&str> = earlier.split(' ').collect();
                for _ in 0..1 + rng.below(8) {
                    let at = rng.below(changed.len());
                    changed[at] = words[rng.below(words.len())];
                }
                changed.join(" ")
            }
            _ => {
                let mut text = String::new();
                let length = 30 + rng.skewed(12_000);
                while text.len() < length {
                    let at = rng.below(words.len() - 20);
                    for word in &words[at..at + 3 + rng.below(18)] {
                        text.push_str(word);
                        text.push(' ');
                    }
                }
                if rng.once_in(100) {
                    text.push_str(
                        "all rights reserved the reader may pass this page on as long as it stays whole",
                    );
                }
                text.trim_end().to_owned()
            }
        };
        let literal = serde_json::to_string(&text).expect("JSON");
        // Numbers out of order, so that the order of ids is not that of the file.
        let line = format!("{{\"id\":\"doc-{}-{documents}\",\"text\":{literal}}}\n", documents % 7);
        out.write_all(line.as_bytes()).expect("an input file");
        written += line.len() as u64;
        documents += 1;
        if recent.len() < 2_000 {
            recent.push(text);
        } else {
            let at = rng.below(recent.len());
            recent[at] = text;
        }
    }
    out.flush().expect("an input file");
    documents
}

/// Writes a corpus as two input files, the second compressed, and the last line of the first without
/// a line feed; returns them in order.
pub fn write(docs: &[Doc], folder: &Path) -> Vec<PathBuf> {
    let (plain, packed) = docs.split_at(docs.len() / 2);
    let paths = vec![folder.join("one.jsonl"), folder.join("two.jsonl.gz")];
    let lines: Vec<&str> = plain.iter().map(|doc| doc.line.as_str()).collect();
    std::fs::write(&paths[0], lines.join("\n")).expect("an input file");
    let file = std::fs::File::create(&paths[1]).expect("an input file");
    let mut gzip = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    for doc in packed {
        writeln!(gzip, "{}", doc.line).expect("an input file");
    }
    gzip.finish().expect("an input file");
    paths
}
