//! `--bad-records N`: N lines that are no documents take no part, and lie in the quarantine as they were.

use crate::common::cli::{Place, fixture};
use crate::common::harness::counted;
use flate2::read::GzDecoder;
use std::fs;
use std::io::Read;

const RUNS: [&str; 4] = [
    "doc-split",
    "term-split --pcp prefix",
    "doc-split --engine pipes",
    "term-split --pcp prefix --engine pipes",
];

/// Bad in each way: the line, and the fields of its row before it.
const BAD: [(&[u8], &str); 9] = [
    (b"not\tjson, with a TAB", "document"),
    (b"{\"id\":\"en-1\",\"text\":\"half a li", "document"),
    (b"{\"text\":\"no id\"}\r", "id"),
    (b"{\"id\":\"no text\"}", "text"),
    (b"{\"id\":\"a number\",\"text\":7}", "text"),
    (b"{\"id\":\"\\ud800\",\"text\":\"lone\"}", "id"),
    (b"{\"id\":\"latin-1\",\"text\":\"caf\xe9\"}", "document"),
    (b"{\"id\":\"words\",\"text\":\"x\",\"stars\":\"three\"}", "score"),
    (b"\xff\xfe\x00\x01", "document"),
];

/// A real corpus in two files, the same with the bad lines among the good ones, and the quarantine's first three
/// fields and lines, by hand: sorted by file, which are given in another order, then by line.
struct Corpus {
    clean: [Vec<u8>; 2],
    spread: [Vec<u8>; 2],
    quarantine: Vec<(String, Vec<u8>)>,
}

fn corpus() -> Corpus {
    let mut text = Vec::new();
    let file = fs::File::open(fixture("documents/en.jsonl.gz")).unwrap();
    GzDecoder::new(file).read_to_end(&mut text).unwrap();
    let lines: Vec<_> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let halves = [&lines[..300], &lines[300..]];
    let mut spread = [Vec::new(), Vec::new()];
    let mut quarantine = Vec::new();
    for (file, name) in ["b", "a"].iter().enumerate() {
        let mut at = 0;
        for (number, line) in halves[file].iter().enumerate() {
            // Bad lines first, last but one, and in between; `b` has four of them and `a` five.
            for (bad, (bytes, field)) in BAD.iter().enumerate().filter(|(bad, _)| bad % 2 != file) {
                if number == bad * 37 / if file == 0 { 1 } else { 2 } {
                    spread[file].extend([bytes, &b"\n"[..]].concat());
                    at += 1;
                    quarantine.push((format!("{name}\t{at}\t{field}"), bytes.to_vec()));
                }
            }
            spread[file].extend_from_slice(line);
            at += 1;
        }
    }
    quarantine.sort_by_key(|(start, _)| {
        let fields: Vec<_> = start.split('\t').map(str::to_owned).collect();
        (fields[0].clone(), fields[1].parse::<u64>().unwrap())
    });
    assert_eq!(quarantine.len(), BAD.len());
    Corpus { clean: halves.map(|half| half.concat()), spread, quarantine }
}

fn run(way: &str, files: &str, more: &str) -> String {
    format!(
        "twinsplit run {way} --input {files} --score stars --output out --overwrite --write-kept --quiet {more}"
    )
}

fn answer(here: &Place) -> [Vec<u8>; 3] {
    ["pairs.tsv", "clusters.tsv", "kept.jsonl"].map(|file| fs::read(here.path("out").join(file)).unwrap())
}

#[test]
fn bad_lines_take_no_part_in_any_engine() {
    let (here, corpus) = (Place::new(), corpus());
    for (at, name) in ["b", "a"].iter().enumerate() {
        here.write(&format!("clean-{name}"), &corpus.clean[at]);
        here.write(name, &corpus.spread[at]);
    }
    here.say(&run("doc-split", "clean-b clean-a", "--threads 2")).ok();
    let expected = answer(&here);
    assert!(expected.iter().all(|file| file.len() > 1000), "there is something to find");
    let most = BAD.len();
    let mut quarantine = None;
    let mut runs = 0;
    for way in RUNS {
        for threads in [1, 2, 5] {
            let more = format!("--threads {threads} --bad-records");
            let said = here.say(&run(way, "b a", &format!("{more} {most}")));
            let warning =
                format!("warning: {most} lines are no documents and took no part; see out/quarantine.tsv");
            assert!(said.err.lines().any(|line| line == warning), "{way}: {}", said.err);
            said.ok();
            assert!(answer(&here) == expected, "{way} with {threads} threads differs");
            let written = fs::read(here.path("out/quarantine.tsv")).unwrap();
            assert!(
                *quarantine.get_or_insert_with(|| written.clone()) == written,
                "{way}: another quarantine"
            );
            assert!(counted(&here.path("out/run.json"), "bad_records").unwrap() >= most as u64, "{way}");
            assert!(here.read("out/run.json").contains(&warning["warning: ".len()..]));

            let said = here.say(&run(way, "b a", &format!("{more} {}", most - 1)));
            let last = said.err.lines().last().unwrap_or_default().to_owned();
            said.fails(1, &[]);
            for words in [
                format!("{most} bad documents, and --bad-records lets {} pass", most - 1),
                format!("the first is a, line {}, field", corpus.quarantine[0].0.split('\t').nth(1).unwrap()),
                "out/_work/quarantine.tsv holds those met".to_owned(),
            ] {
                assert!(last.contains(&words), "{way}: {words:?} is not in {last}");
            }
            // The answer that was to be replaced is still whole.
            let left = here.names("out").into_iter().collect::<Vec<_>>();
            let files = ["_work", "clusters.tsv", "kept.jsonl", "pairs.tsv", "quarantine.tsv", "run.json"];
            assert_eq!(left, files, "{way}");
            assert!(answer(&here) == expected, "{way} with {threads} threads: the old answer has changed");
            assert!(fs::read(here.path("out/_work/quarantine.tsv")).unwrap() == written, "{way}");
            runs += 2;
        }
        // One task meets more than may pass in all, and is not the only one.
        here.say(&run(way, "b a", "--threads 2 --bad-records 1")).fails(1, &["--bad-records lets 1 pass"]);
        here.say(&run(way, "clean-b clean-a", "--bad-records 3")).ok();
        assert!(!here.path("out/quarantine.tsv").exists(), "{way}: the quarantine of another run is left");
    }
    let rows = quarantine.unwrap();
    let rows: Vec<_> = rows.split_inclusive(|byte| *byte == b'\n').collect();
    assert_eq!(rows.len(), corpus.quarantine.len());
    for (row, (start, line)) in rows.iter().zip(&corpus.quarantine) {
        let mut fields = row.splitn(5, |byte| *byte == b'\t');
        let three: Vec<_> =
            fields.by_ref().take(3).map(|field| String::from_utf8(field.to_vec()).unwrap()).collect();
        assert_eq!(three.join("\t"), *start);
        assert!(fields.next().unwrap().starts_with(b"expected "));
        assert_eq!(fields.next().unwrap(), [line, &b"\n"[..]].concat());
    }
    for (bytes, _) in BAD {
        let held = expected[2].windows(bytes.len()).any(|window| window == bytes);
        assert!(!held, "kept.jsonl holds a bad line");
    }
    println!("{runs} runs in {} ways at 1, 2 and 5 threads", RUNS.len());
}

/// At a shell a stage says what it passed over, and only `tokenize` keeps it.
#[test]
fn stages_pass_over_the_same_lines() {
    let here = Place::new();
    let lines = ["x", "{\"id\":1,\"text\":\"one\"}", "{\"id\":2}", "", "{\"id\":3,\"text\":\"three\"}"];
    here.write("docs", lines.join("\n"));
    here.write("clusters", "");
    for stage in ["write-kept", "tokenize"] {
        let said = here.say(&format!("{stage} --input docs --bad-records 2"));
        let tail = if stage == "tokenize" { "; they are in ./_bad" } else { "" };
        assert_eq!(said.err, format!("warning: {stage}: 2 bad documents were passed over{tail}\n"));
        assert_eq!(said.ok().lines().count(), 2, "{stage}");
        let kept = here.path("_bad/tokenize-00000");
        assert_eq!(kept.exists(), stage == "tokenize");
        if kept.exists() {
            assert_eq!(
                here.shell("cut -f 1-3,5- _bad/tokenize-00000").ok(),
                "docs\t1\tdocument\tx\ndocs\t3\ttext\t{\"id\":2}\n"
            );
            fs::remove_file(kept).unwrap();
        }
        let counters = here.path("counters").display().to_string();
        let said = here.with(
            &format!("{stage} --input docs"),
            "",
            &[("TWINSPLIT_BAD_RECORDS", "3"), ("TWINSPLIT_COUNTERS", &counters)],
        );
        assert_eq!(said.err, "", "{stage}: a driver tells");
        assert!(here.read(&format!("counters/{stage}-00000")).contains("bad_records\t2\n"), "{stage}");
        here.say(&format!("{stage} --input docs --bad-records 1")).fails(
            1,
            &[
                &format!("{stage}: 2 bad documents, and --bad-records lets 1 pass"),
                "the first is docs, line 1, field document",
            ],
        );
    }
    // What the task that failed had met can be looked at; the next attempt without a bad line takes it away.
    assert_eq!(here.read("_bad/tokenize-00000").lines().count(), 2);
    here.with("tokenize --bad-records 1", lines[1], &[]).ok();
    assert!(!here.path("_bad/tokenize-00000").exists());
    here.with("tokenize --bad-records 1", "x", &[]).ok();
    assert!(here.read("_bad/tokenize-00000").starts_with("-\t1\tdocument\t"), "- is standard input");
    here.say("tokenize --bad-records=-1").fails(2, &["--bad-records"]);
}

/// Other damage is no bad record: nothing can be passed over there.
#[test]
fn other_damage_stays_an_error() {
    let here = Place::new();
    here.write("twice", "{\"id\":1,\"text\":\"x\"}\n{\"id\":1,\"text\":\"x\"}\n");
    here.write("long", format!("{{\"id\":1,\"text\":\"{}\"}}\n", "x".repeat(3000)));
    let packed = fs::read(fixture("documents/en.jsonl.gz")).unwrap();
    here.write("half", &packed[..packed.len() / 2]);
    for way in RUNS {
        for (input, words) in
            [("twice", "more than one document"), ("long", "longer than 1K"), ("half", "truncated")]
        {
            let bound = if input == "long" { "--max-line 1K" } else { "--max-line 9" };
            here.say(&run(way, input, &format!("--bad-records 1000 {bound}"))).fails(1, &[words]);
            assert!(!here.path("out").exists() || here.names("out").is_subset(&["_work".to_owned()].into()));
        }
    }
}

/// What reads documents beside the chains lets the same lines pass.
#[test]
fn explain_and_idf_pass_over_them_too() {
    let here = Place::new();
    let tiny = fs::read_to_string(fixture("documents/tiny.jsonl")).unwrap();
    here.write("clean", &tiny);
    here.write("docs", format!("bad\n{tiny}bad\n"));
    let options = "--features words:2 --tau 0.5 --idf 0.1,0.95";
    for input in ["clean", "docs"] {
        here.say(&format!(
            "twinsplit run doc-split --input {input} --output out-{input} --quiet --bad-records 2 {options}"
        ))
        .ok();
        here.say(&format!(
            "twinsplit idf --from {input} --output table-{input} --bad-records 2 --features words:2"
        ))
        .ok();
    }
    assert_eq!(here.read("table-docs"), here.read("table-clean"));
    assert_eq!(here.read("table-docs.quarantine.tsv").lines().count(), 2);
    assert!(!here.path("table-clean.quarantine.tsv").exists());
    let explained = here.say("twinsplit explain en-05 en-06 --run out-docs").ok();
    assert_eq!(explained, here.say("twinsplit explain en-05 en-06 --run out-clean").ok());
    here.say("twinsplit explain en-05 en-06 --run out-docs --bad-records 0")
        .fails(1, &["explain: docs, line 1"]);
    here.say("twinsplit idf --from docs --output table --bad-records 1")
        .fails(1, &["table.quarantine.tsv", "lets 1 pass"]);
}
