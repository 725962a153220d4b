//! The forms in which documents come: gzip of several members, folders, standard input, other line ends.

use crate::common::cli::{Place, fixture, jsonl};
use crate::common::harness::counted;
use crate::common::odd::{self, gzip};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

const WAYS: [&str; 4] =
    ["doc-split", "term-split", "doc-split --engine pipes", "term-split --pcp prefix --engine pipes"];

fn tiny() -> String {
    std::fs::read_to_string(fixture("documents/tiny.jsonl")).unwrap_or_default()
}

/// The files of a run at words:2 and 0.5.
fn answer(here: &Place, way: &str, input: &str) -> [String; 3] {
    let run = "--features words:2 --tau 0.5 --write-kept --output out --overwrite --quiet --input";
    here.say(&format!("twinsplit run {way} {run} {input}")).ok();
    ["pairs.tsv", "clusters.tsv", "kept.jsonl"].map(|file| here.read(&format!("out/{file}")))
}

/// `cat a.gz b.gz` and folders of files are how large collections lie; each form is the same documents.
#[test]
fn members_and_folders_are_the_same_documents() {
    let here = Place::new();
    let text = tiny();
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    let (first, rest) = (lines[..10].concat(), lines[10..].concat());
    here.write("whole", &text);
    // A member may end inside a line.
    let at = text.len() / 2;
    let at = (at..).find(|at| text.is_char_boundary(*at)).unwrap();
    here.write("members.gz", [gzip(&text[..at]), gzip(b""), gzip(&text[at..])].concat());
    std::fs::create_dir_all(here.path("folder/_logs")).unwrap();
    here.write("folder/b", gzip(rest));
    here.write("folder/a", &first);
    here.write("folder/_SUCCESS", "not a document\n");
    here.write("folder/.hidden", "not a document\n");
    here.write("folder/_logs/c", "not a document\n");
    let expected = std::fs::read_to_string(fixture("expected/words-2/pairs.tsv")).unwrap();
    for way in WAYS {
        let whole = answer(&here, way, "whole");
        assert_eq!(whole[0], expected, "{way}");
        for input in ["members.gz", "folder", "folder/a folder/b"] {
            assert_eq!(answer(&here, way, input), whole, "{way} of {input}");
        }
    }
    let sets = here.say("tokenize --input whole").ok();
    assert_eq!(here.say("tokenize --input folder").ok(), sets);
    assert_eq!(here.with("tokenize", std::fs::read(here.path("members.gz")).unwrap(), &[]).ok(), sets);
    here.write("half.gz", &gzip(&text)[..300]);
    // A pipe may bring the two bytes that tell gzip one at a time.
    let slow = "(head -c 1 members.gz; sleep 0.3; tail -c +2 members.gz) | tokenize";
    assert_eq!(here.shell(slow).ok(), sets);
}

/// The one way that reads its input once takes standard input; the others would see nothing the
/// second time, and must say so before they begin.
#[test]
fn standard_input_is_taken_where_it_is_read_once() {
    let here = Place::new();
    here.write("whole", tiny());
    let run = "--features words:2 --tau 0.5 --output out --quiet --input -";
    here.with(&format!("twinsplit run doc-split {run}"), tiny(), &[]).ok();
    let expected = std::fs::read_to_string(fixture("expected/words-2/pairs.tsv")).unwrap();
    assert_eq!(here.read("out/pairs.tsv"), expected);
    let json: serde_json::Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
    assert_eq!(json["inputs"], serde_json::json!([{ "path": "-" }]));
    std::fs::remove_dir_all(here.path("out")).unwrap();
    for way in WAYS.into_iter().skip(1).chain(["doc-split --write-kept"]) {
        let said = here.with(&format!("twinsplit run {way} {run}"), tiny(), &[]);
        said.fails(2, &["standard input", "read more than once", "to a file first"]);
        assert!(!here.path("out").exists(), "{way}");
    }
    let pipe = "twinsplit run term-split --features words:2 --output out --quiet --input <(cat whole)";
    here.shell(pipe).fails(2, &["read more than once", "/dev/fd/"]);
    here.shell(
        "twinsplit run doc-split --features words:2 --tau 0.5 --output out --quiet --input <(cat whole)",
    )
    .ok();
    assert_eq!(here.read("out/pairs.tsv"), expected);
    here.shell("twinsplit plan term-split --inline > chain.sh").ok();
    here.shell("bash chain.sh other <(cat whole)").fails(1, &["no pipe can be the input"]);
    here.shell("bash chain.sh other nowhere").fails(1, &["nowhere: no file"]);
    here.with("twinsplit explain en-05 en-06 --input - --idf 0.1,1", tiny(), &[])
        .fails(2, &["standard input"]);
    let shown = here.with("twinsplit explain en-05 en-06 --features words:2 --input -", tiny(), &[]).ok();
    assert!(shown.contains("13 / 18 = 0.722222"), "{shown}");
}

/// Lines from other systems end in CR LF: the same pairs, and what is kept is kept byte for byte.
#[test]
fn line_ends_of_other_systems_are_kept() {
    let here = Place::new();
    here.write("whole", tiny());
    let crlf = format!("\u{feff}{}\r\n", tiny().replace('\n', "\r\n"));
    here.write("crlf", crlf.trim_end_matches("\r\n"));
    for way in WAYS {
        let plain = answer(&here, way, "whole");
        assert!(!plain[2].is_empty() && plain[2].len() < tiny().len());
        let mut other = answer(&here, way, "crlf");
        // The last line has no end of its own, and gets LF.
        let (before, last) = other[2].trim_end().rsplit_once('\n').unwrap();
        assert!(before.lines().count() > 5 && before.split('\n').all(|line| line.ends_with('\r')), "{way}");
        assert!(last.starts_with('{') && last.ends_with('}'), "{way}: {last}");
        other[2] = other[2].replace('\r', "");
        assert_eq!(other, plain, "{way}");
    }
    assert_eq!(here.say("tokenize --input crlf").ok(), here.say("tokenize --input whole").ok());
}

/// Kept lines are the input's own bytes: spaces, order of fields, fields that are not read, numbers as ids.
#[test]
fn kept_lines_are_the_bytes_of_the_input() {
    let here = Place::new();
    let odd = " { \"text\" : \"one two thr\\u0065e\", \"x\":[1.0e5 ,{}],\"id\":1.50 }  \n";
    let docs = format!(
        "{odd}\n{}{}",
        jsonl(&[("2", "one two three"), ("alone", "four five"), ("empty", "")]),
        odd.replace("1.50", "1.5")
    );
    here.write("docs", &docs);
    for way in WAYS {
        let [pairs, clusters, kept] = answer(&here, way, "docs");
        assert_eq!(pairs.lines().count(), 3, "{way}: {pairs}");
        assert_eq!(clusters.lines().next(), Some("1.5\t1.5\tkeep\t-"), "{way}");
        let expected =
            format!("{}{}", jsonl(&[("alone", "four five"), ("empty", "")]), odd.replace("1.50", "1.5"));
        assert_eq!(kept, expected, "{way}");
    }
}

/// Ids made of places name the same bytes in every engine, whatever the form of the input.
#[test]
fn automatic_ids_are_places() {
    let here = Place::new();
    let text = "{\"text\":\"one two three\"}\n\n{\"text\":\"one two three\"}\n";
    here.write("docs", text);
    here.write("docs.gz", gzip(text));
    for way in WAYS {
        for file in ["docs", "docs.gz"] {
            let pairs = answer(&here, &format!("{way} --id auto"), file)[0].clone();
            assert_eq!(pairs, format!("{file}@0\t{file}@26\t2\t2\t2\t1.000000\n"), "{way}");
        }
    }
}

/// Some systems put a byte order mark before the first document of a file, and an id may begin with the same character:
/// escaped, no reader of a file takes it away.
#[test]
fn a_mark_before_a_file_is_none_of_an_id() {
    let here = Place::new();
    let ids = ["\u{feff}a", "a", "\u{feff}b"];
    let docs = jsonl(&ids.map(|id| (id, "one two three")));
    for mark in ["", "\u{feff}"] {
        here.write("docs", format!("{mark}{docs}"));
        for way in [
            "doc-split",
            "term-split",
            "term-split --pcp prefix",
            "doc-split --engine pipes",
            "term-split --engine pipes",
        ] {
            let run = format!(
                "twinsplit run {way} --features words:1 --input docs --output out --overwrite --quiet --write-kept"
            );
            here.say(&run).ok();
            // In byte order the backslash comes before "a".
            let (a, b) = (r"\xef\xbb\xbfa", r"\xef\xbb\xbfb");
            let pairs = [(a, b), (a, "a"), (b, "a")];
            let expected: String =
                pairs.iter().map(|(x, y)| format!("{x}\t{y}\t3\t3\t3\t1.000000\n")).collect();
            assert_eq!(here.read("out/pairs.tsv"), expected, "{way}");
            assert_eq!(here.read("out/kept.jsonl"), jsonl(&[(ids[0], "one two three")]), "{way}");
        }
    }
}

/// What breaks tools that split, sort or compare text carelessly; Hadoop's and Spark's tests give them the same files.
#[test]
fn odd_ids_texts_and_files_are_read_alike() {
    let here = Place::new();
    std::fs::create_dir(here.path("odd")).unwrap();
    odd::accepted().iter().for_each(|(name, bytes)| here.write(&format!("odd/{name}"), bytes));
    let (mut first, mut digests) = (None, None);
    for way in WAYS {
        let files = answer(&here, way, "odd");
        // Some ways take them while they read, others before; compressed files as they stand on disk.
        let mut run: Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
        let inputs = run["inputs"].take();
        for (name, bytes) in odd::accepted() {
            let named = |input: &&Value| input["path"] == format!("odd/{name}");
            let input = inputs.as_array().unwrap().iter().find(named).unwrap();
            assert_eq!(input["bytes"], bytes.len(), "{way}: {name}");
            assert_eq!(input["xxh3"], format!("{:016x}", xxh3_64(&bytes)), "{way}: {name}");
        }
        assert_eq!(digests.get_or_insert_with(|| inputs.clone()), &inputs, "{way}");
        assert_eq!(counted(&here.path("out/run.json"), "documents"), Ok(odd::ACCEPTED), "{way}");
        let apart = ["equal_texts", "documents_without_text"];
        let apart = apart.map(|name| counted(&here.path("out/run.json"), name).unwrap());
        assert_eq!(apart, [odd::EQUAL_TEXTS, odd::EMPTY], "{way}");
        assert!(!files[0].contains("short "), "{way}: {}", files[0]);
        // The empty ones are like no other.
        assert_eq!(files[1].lines().count() as u64, odd::ACCEPTED - odd::EMPTY, "{way}");
        assert!(files[0].contains("\nnul\\x00\tnul\\x001\t"), "{way}: {}", files[0]);
        assert_eq!(first.get_or_insert_with(|| files.clone()), &files, "{way}");
    }
}
