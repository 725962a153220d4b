//! What `--input` may name: patterns, folders with all below them, links, standard input; and that the order of the
//! names decides nothing but the order of kept lines.

use crate::common::cli::{Place, fixture, jsonl};
use std::os::unix::fs::symlink;

const WAYS: [&str; 4] =
    ["doc-split", "term-split", "doc-split --engine pipes", "term-split --pcp prefix --engine pipes"];

/// Real documents in files whose byte order is not that of their paths' parts: `-`, `.` and `/` follow each other.
const FILES: [&str; 4] = ["crawl/a-b/x.jsonl", "crawl/a.jsonl", "crawl/a/deep/x.jsonl", "crawl/a/x.jsonl"];

fn crawl() -> (Place, String) {
    let here = Place::new();
    let text = std::fs::read_to_string(fixture("documents/tiny.jsonl")).unwrap();
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    std::fs::create_dir_all(here.path("crawl/a/deep")).unwrap();
    std::fs::create_dir(here.path("crawl/a-b")).unwrap();
    for (file, lines) in FILES.iter().zip(lines.chunks(lines.len().div_ceil(4))) {
        here.write(file, lines.concat());
    }
    (here, text)
}

fn answer(here: &Place, way: &str, input: &str) -> [String; 3] {
    let options = "--features words:2 --tau 0.5 --write-kept --output out --overwrite --quiet";
    here.say(&format!("twinsplit run {way} {options} --input {input}")).ok();
    ["pairs.tsv", "clusters.tsv", "kept.jsonl"].map(|file| here.read(&format!("out/{file}")))
}

/// The names in run.json.
fn inputs_of_the_run(here: &Place) -> Vec<String> {
    let run: serde_json::Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
    let inputs = run["inputs"].as_array().unwrap();
    inputs.iter().map(|input| input["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn folders_and_patterns_are_their_files_in_byte_order() {
    let (here, text) = crawl();
    here.write("whole", &text);
    let absolute = here.path("crawl").display().to_string();
    for way in WAYS {
        let whole = answer(&here, way, "whole");
        assert_eq!(whole[0], std::fs::read_to_string(fixture("expected/words-2/pairs.tsv")).unwrap());
        let inputs =
            ["crawl", "crawl/**/*.jsonl", "./crawl", "./crawl/**", "cr*/**/*.jsonl", "c?awl", "crawl/a*"];
        // Processes are slow to start; the list of files is made in one place.
        for input in inputs.into_iter().take(if way.contains("pipes") { 2 } else { 7 }) {
            assert_eq!(answer(&here, way, input), whole, "{way} of {input}");
            let names: Vec<_> = inputs_of_the_run(&here)
                .iter()
                .map(|name| name.trim_start_matches("./").to_owned())
                .collect();
            assert_eq!(names, FILES, "{way} of {input}");
        }
        assert_eq!(
            answer(&here, way, &format!("{absolute}/**/[wx].jsonl {absolute}/*.jsonl"))[..2],
            whole[..2]
        );
        assert_eq!(answer(&here, way, "crawl/a*/x.jsonl crawl/*/*/x.jsonl crawl/?.jsonl")[..2], whole[..2]);
    }
    let sets = here.say("tokenize --input whole").ok();
    assert_eq!(here.say("tokenize --input crawl/**/*").ok(), sets);
    here.say("twinsplit idf --from crawl/** --features words:2 --output table").ok();
    here.say("twinsplit idf --from whole --features words:2 --output whole-table").ok();
    assert_eq!(here.read("table"), here.read("whole-table"));
    let explained =
        |from: &str| here.say(&format!("twinsplit explain en-05 en-06 --features words:2 {from}")).ok();
    assert_eq!(explained("--input crawl/**"), explained("--input whole"));
    // explain takes the files that a run found, whatever lies there now.
    answer(&here, "doc-split", "crawl/*");
    here.write("crawl/later.jsonl", "not a document\n");
    assert_eq!(explained("--run out"), explained("--input whole --tau 0.5"));
    here.shell("twinsplit plan doc-split --features words:2 --tau 0.5 --inline > chain.sh").ok();
    here.shell("bash chain.sh by-script 'crawl/**/[ax].jsonl'").ok();
    assert_eq!(here.read("by-script/pairs.tsv"), here.read("out/pairs.tsv"));
}

#[test]
fn a_pattern_that_matches_nothing_is_an_error_and_a_name_goes_before_a_pattern() {
    let here = Place::new();
    let docs = jsonl(&[("a", "one two three"), ("b", "one two three")]);
    for (name, text) in [("a[1].jsonl", &*docs), ("a1.jsonl", "no document\n"), ("*", &docs), (".dot", &docs)]
    {
        here.write(name, text);
    }
    for way in WAYS {
        for input in ["a[1].jsonl", "*"] {
            assert_eq!(answer(&here, way, input)[0], "a\tb\t2\t2\t2\t1.000000\n", "{way} of {input}");
            assert_eq!(inputs_of_the_run(&here), [input]);
        }
        std::fs::remove_dir_all(here.path("out")).unwrap();
        for input in ["b*", "?dot", "a1.jsonl/*", "nowhere/**", "**/*.gz"] {
            let run = here.say(&format!("twinsplit run {way} --input {input} --output out"));
            run.fails(1, &[&format!("error: {input}: "), "matches no file", "**"]);
        }
        here.say(&format!("twinsplit run {way} --input a[ --output out"))
            .fails(1, &["a[: no file has this name, and it is not a pattern"]);
        here.say(&format!("twinsplit run {way} --input a***b --output out")).fails(1, &["not a pattern"]);
        assert!(!here.path("out").exists(), "{way}");
    }
    here.say("tokenize --input b*").fails(1, &["b*: ", "matches no file"]);
    here.say("twinsplit idf --from b* --output table").fails(1, &["b*: ", "matches no file"]);
    here.say("twinsplit explain a b --input b*").fails(1, &["b*: ", "matches no file"]);
    here.shell("twinsplit plan doc-split --inline > chain.sh").ok();
    here.shell("bash chain.sh out 'b*'").fails(1, &["b*: no file"]);
    std::fs::create_dir_all(here.path("empty/_logs")).unwrap();
    here.write("empty/_SUCCESS", "");
    here.say("twinsplit run doc-split --input empty --output out")
        .fails(1, &["empty: no file lies", "_ or ."]);
    here.say("twinsplit idf --from empty --output table").fails(1, &["empty: no file lies"]);
}

/// Collections are often folders of links. What has no end is refused by name; what is hidden is not looked at.
#[test]
fn links_are_followed_and_circles_are_errors() {
    let (here, text) = crawl();
    here.write("whole", &text);
    std::fs::create_dir_all(here.path("links/_hidden/below")).unwrap();
    std::fs::create_dir(here.path("links/.git")).unwrap();
    for name in ["links/_hidden/x", "links/_hidden/below/x", "links/.git/x", "links/_SUCCESS", "links/.x"] {
        here.write(name, "not a document\n");
    }
    symlink("../crawl/a", here.path("links/folder")).unwrap();
    symlink("../../crawl/a-b/x.jsonl", here.path("links/.git/link")).unwrap();
    symlink("../crawl/a-b/x.jsonl", here.path("links/file")).unwrap();
    symlink("../crawl/a.jsonl", here.path("links/other")).unwrap();
    symlink("..", here.path("links/.circle")).unwrap();
    symlink("nowhere", here.path("links/.#lock")).unwrap();
    for way in WAYS {
        let whole = answer(&here, way, "whole");
        for input in ["links", "links/**", "links/*", "**/links", "./links/*"] {
            assert_eq!(answer(&here, way, input)[..2], whole[..2], "{way} of {input}");
            assert_eq!(inputs_of_the_run(&here).len(), 4, "{way} of {input}");
        }
    }
    // A hidden name that is spelled is meant.
    here.say("tokenize --input links/_*").fails(1, &["links/_SUCCESS, line 1"]);
    here.say("tokenize --input links/_hidden").fails(1, &["links/_hidden/below/x, line 1"]);
    here.say("tokenize --input links/.g*/x").fails(1, &["links/.git/x, line 1"]);

    symlink("nowhere", here.path("links/lost")).unwrap();
    for input in ["links", "links/**"] {
        here.say(&format!("tokenize --input {input}"))
            .fails(1, &["links/lost: this link leads nowhere", "remove it"]);
    }
    std::fs::remove_file(here.path("links/lost")).unwrap();
    symlink("..", here.path("crawl/a/deep/circle")).unwrap();
    symlink("../..", here.path("crawl/a/deep/other")).unwrap();
    for way in WAYS {
        for input in ["crawl", "crawl/**/*.jsonl", "links", "**", "crawl/*"] {
            let run = here.say(&format!("twinsplit run {way} --input {input} --output circle"));
            run.fails(1, &["leads back to", "the folder that it lies in", "no end"]);
        }
        assert!(!here.path("circle").exists(), "{way}");
    }
    // Nothing goes in circles where it is not looked for files at any depth.
    assert_eq!(
        here.say("tokenize --input crawl/a/*.jsonl").ok(),
        here.say("tokenize --input crawl/a/x.jsonl").ok()
    );
}

/// Which file comes first decides the order of kept lines, as it must, and nothing else.
#[test]
fn the_order_of_files_does_not_decide_the_answer() {
    let (here, _) = crawl();
    for (name, line) in [
        (
            "y",
            r#"{"id":"copy-1","text":"a page that stands nowhere else in this crawl","when":"2026","points":1}"#,
        ),
        (
            "z",
            r#"{"id":"copy-0","text":"a page that stands nowhere else in this crawl","when":"2026","points":1.0}"#,
        ),
    ] {
        here.write(&format!("crawl/{name}"), format!("{line}\n"));
    }
    let orders = [
        "crawl",
        "crawl/z crawl/y crawl/a/x.jsonl crawl/a.jsonl crawl/a-b crawl/a/deep",
        "crawl/?/**/* crawl/[y-z] crawl/a-b crawl/a.jsonl",
    ];
    for way in WAYS {
        let keeps = if way.contains("pipes") { 2..4 } else { 0..4 };
        let rules = ["smallest-id", "longest", "newest --date when", "score --score points --cluster star"];
        for keep in &rules[keeps] {
            let way = format!("{way} --keep {keep}");
            let [pairs, clusters, kept] = answer(&here, &way, orders[0]);
            assert!(clusters.contains("copy-0\tcopy-1\tdrop\t1.000000\n"), "{way}: {clusters}");
            let sorted = |text: &str| {
                let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
                lines.sort();
                lines
            };
            for order in &orders[1..] {
                let other = answer(&here, &way, order);
                assert_eq!((&other[0], &other[1]), (&pairs, &clusters), "{way} of {order}");
                assert_ne!(other[2], kept, "{way} of {order}: kept lines come in the order of the input");
                assert_eq!(sorted(&other[2]), sorted(&kept), "{way} of {order}");
            }
        }
    }
}

/// More names than a process can be given: `getconf ARG_MAX` is two megabytes on most machines.
#[test]
fn a_list_of_files_may_be_longer_than_a_command_line() {
    let here = Place::new();
    let folder = ["f".repeat(250).as_str(); 7].join("/");
    std::fs::create_dir_all(here.path(&folder)).unwrap();
    let mut bytes = 0;
    for number in 0..1_200 {
        let name = format!("{folder}/{number:0>200}");
        bytes += name.len();
        here.write(&name, format!("{{\"id\":{number},\"text\":\"{} x y\"}}\n", number / 2));
    }
    let args: usize = here.shell("getconf ARG_MAX").ok().trim().parse().unwrap();
    assert!(bytes > args, "{bytes} bytes of names and {args} of arguments");
    for way in ["doc-split", "term-split --engine pipes"] {
        for input in ["f*", "f*/**/*0*"] {
            let options = "--features words:3 --output out --overwrite --quiet";
            here.say(&format!("twinsplit run {way} {options} --input {input}")).ok();
            assert_eq!(here.read("out/pairs.tsv").lines().count(), 600, "{way} of {input}");
        }
    }
}

/// `-` is standard input where something is read and standard output where one stream is written; elsewhere it is
/// refused, for a file of that name would be a surprise.
#[test]
fn a_dash_is_a_standard_stream_or_an_error() {
    let (here, text) = crawl();
    here.write("docs", &text);
    let sets = here.say("tokenize --input docs").ok();
    assert_eq!(here.with("tokenize --input -", &text, &[]).ok(), sets);
    here.write("-", "a file of this name\n");
    assert_eq!(here.with("tokenize --input -", &text, &[]).ok(), sets);
    here.say("tokenize --input ./-").fails(1, &["./-, line 1"]);
    for command in ["tokenize", "twinsplit run doc-split --output out", "twinsplit explain a b"] {
        here.with(&format!("{command} --input - docs -"), &text, &[]).fails(2, &["named twice", "once"]);
    }
    // The table on standard output is that of the file, from standard input too.
    here.say("twinsplit idf --from docs --output table").ok();
    let table = here.read("table");
    assert!(table.starts_with("#twinsplit\tidf-table") && table.lines().count() > 50);
    assert_eq!(here.say("twinsplit idf --from docs --output -").ok(), table);
    assert_eq!(here.with("twinsplit idf --from - --output -", &text, &[]).ok(), table);
    assert_eq!(here.shell("twinsplit idf --from docs --output - | head -1").ok().lines().count(), 1);
    // A side file can be standard input when the rows are not.
    here.say("twinsplit run doc-split --input docs --output out --write-kept").ok();
    let clusters = here.read("out/clusters.tsv");
    let kept = here.with("write-kept --clusters - --input docs", &clusters, &[]).ok();
    assert_eq!(kept, here.read("out/kept.jsonl"));
    here.with("write-kept --clusters -", &clusters, &[])
        .fails(2, &["standard input", "--clusters", "its name"]);
    here.say("feature-order --idf-table - --input -").fails(2, &["standard input", "--idf-table"]);
    // What is a folder or is read more than once is not a stream.
    for (line, words) in [
        ("twinsplit run doc-split --input docs --output -", &["--output is a folder", "twinsplit plan"][..]),
        (
            "twinsplit run doc-split --input docs --output other --idf 0.1,1 --idf-table -",
            &["--idf-table", "file first"],
        ),
        ("twinsplit run term-split --input - --output other", &["standard input", "file first"]),
        ("twinsplit run doc-split --input - --output other --write-kept", &["standard input", "file first"]),
    ] {
        here.with(line, &text, &[]).fails(2, words);
        assert!(!here.path("other").exists(), "{line}");
    }
    assert_eq!(here.read("-"), "a file of this name\n");
}

/// `--overwrite` removes an old answer first: what it kept, as input, would be gone before it is read.
#[test]
fn the_input_does_not_lie_in_the_output_folder() {
    let (here, text) = crawl();
    for way in WAYS {
        answer(&here, way, "crawl");
        let kept = here.read("out/kept.jsonl");
        assert!(!kept.is_empty() && kept.len() < text.len());
        for input in ["out/kept.jsonl", "crawl ./crawl/../out/kept.jsonl", "**/*.jsonl"] {
            here.say(&format!("twinsplit run {way} --overwrite --output out --input {input}"))
                .fails(2, &["out/kept.jsonl", "lies in the output folder", "another --output"]);
            assert_eq!(here.read("out/kept.jsonl"), kept, "{way} of {input}");
        }
        let again =
            here.say(&format!("twinsplit run {way} --overwrite --output out2 --input out/kept.jsonl"));
        again.ok();
    }
}

/// File systems hold names of any bytes, and a pattern may not pass over one.
#[test]
fn names_that_are_not_utf_8_match_too() {
    use std::os::unix::ffi::OsStrExt;
    let here = Place::new();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9");
    std::fs::create_dir(here.path("docs")).unwrap();
    std::fs::write(here.path("docs").join(name), jsonl(&[("a", "one two three four five")])).unwrap();
    let sets = here.say("tokenize --input docs").ok();
    assert_eq!(sets.lines().count(), 1);
    for pattern in ["docs/*", "docs/caf?", "docs/**", "**/c*"] {
        assert_eq!(here.say(&format!("tokenize --input {pattern}")).ok(), sets, "{pattern}");
    }
}
