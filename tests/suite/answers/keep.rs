//! Which document of a cluster is kept: rules that say what they need, dates as instants, and documents that a chain of
//! pairs joins to one that they are unlike.

use crate::common::cli::{Place, fixture};
use crate::common::real;
use serde_json::Value;

const WAYS: [&str; 5] = [
    "doc-split",
    "term-split --pcp prefix",
    "term-split",
    "doc-split --engine pipes",
    "term-split --pcp prefix --engine pipes",
];

/// One of each kind: on numbers, as stages in one process, as processes.
const FEW_WAYS: [&str; 3] = ["doc-split", "term-split", "doc-split --engine pipes"];

const OPTIONS: &str = "--features words:2 --tau 0.5 --quiet --overwrite --output out";

fn run_json(here: &Place) -> Value {
    serde_json::from_str(&here.read("out/run.json")).unwrap()
}

/// The sum of a counter over all steps.
pub fn counter(here: &Place, name: &str) -> u64 {
    let run = run_json(here);
    run["counters"].as_object().unwrap().values().filter_map(|step| step[name].as_u64()).sum()
}

fn kept(here: &Place) -> Vec<String> {
    let clusters = here.read("out/clusters.tsv");
    let kept = clusters.lines().filter(|line| line.ends_with("\tkeep\t-"));
    kept.map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

/// Two equal documents with some more fields each.
fn twins(fields: [&str; 2]) -> String {
    let line = |(id, more): (&str, &str)| {
        format!("{{\"id\":\"{id}\",{more}\"text\":\"a page that stands twice\"}}\n")
    };
    ["a", "b"].into_iter().zip(fields).map(line).collect()
}

#[test]
fn a_rule_whose_field_no_option_names_lists_the_fields_there_are() {
    let here = Place::new();
    here.write("docs", twins(["\"day\":\"2024\",", "\"day\":\"2025\",\"stars\":3,"]));
    for (rule, option) in [("newest", "--date FIELD"), ("score", "--score FIELD")] {
        let line = "docs, line 1, has the fields \"id\", \"day\", \"text\"";
        let needs = format!("--keep {rule} needs {option}");
        for way in WAYS {
            let said = here.say(&format!("twinsplit run {way} {OPTIONS} --input docs --keep {rule}"));
            said.fails(2, &[&needs, line]);
            assert!(!here.path("out/clusters.tsv").exists(), "{way}");
        }
        for (stream, words) in [("doc-split", "twinsplit run"), ("doc-split", "twinsplit tune")] {
            let line = match words {
                "twinsplit run" => format!("{words} {stream} {OPTIONS} --input - --keep {rule}"),
                _ => format!("{words} --input - --keep {rule}"),
            };
            let said = here.with(&line, here.read("docs"), &[]);
            said.fails(2, &[&needs, "standard input, line 1, has the fields \"id\", \"day\", \"text\""]);
        }
        here.say(&format!("tokenize --meta on --input docs --keep {rule}")).fails(2, &[&needs, line]);
        // Where no line can be read, what is missing is named at once.
        here.say(&format!("twinsplit plan doc-split --keep {rule}")).fails(2, &[&needs]);
        for engine in ["hadoop", "spark"] {
            let line =
                format!("twinsplit run doc-split --engine {engine} --input docs --output out --keep {rule}");
            here.say(&line).fails(2, &[&needs]);
        }
    }
}

#[test]
fn a_field_that_no_document_has_is_an_error() {
    let here = Place::new();
    here.write("docs", twins(["\"day\":\"2024\",", "\"day\":null,"]));
    let fields = "docs, line 1, has the fields \"id\", \"day\", \"text\"";
    for (rule, option) in [("newest", "date"), ("score", "score")] {
        let nowhere = format!("no document has the field \"dya\" that --{option} names for --keep {rule}");
        for way in WAYS {
            let line = format!("twinsplit run {way} {OPTIONS} --input docs --keep {rule} --{option} dya");
            let code = if way.contains("pipes") { 1 } else { 2 };
            here.say(&line).fails(code, &[&nowhere, fields]);
            assert!(!here.path("out/clusters.tsv").exists(), "{way}");
            here.shell("rm -rf out").ok();
        }
        let script =
            here.say(&format!("twinsplit plan doc-split --keep {rule} --{option} dya --inline")).ok();
        here.write("script", script);
        here.shell("bash script out docs").fails(1, &[&nowhere]);
        here.shell("rm -rf out").ok();
    }
    // One document that has it is enough, and those without it are counted.
    for way in WAYS {
        here.say(&format!("twinsplit run {way} {OPTIONS} --input docs --keep newest --date day")).ok();
        assert_eq!(kept(&here), ["a"], "{way}");
        assert_eq!(counter(&here, "documents_with_date"), 1, "{way}");
        assert_eq!(counter(&here, "documents_without_date"), 1, "{way}");
    }
    // No document at all is another matter.
    here.write("nothing", "");
    for way in WAYS {
        here.say(&format!("twinsplit run {way} {OPTIONS} --input nothing --keep newest --date day")).ok();
    }
    for (engine, words) in [
        ("hadoop", "some documents_with_date documents_without_date 'no document has the field \"day\" "),
        ("spark", "some(\"documents_with_date\", \"documents_without_date\", \"no document has the field "),
    ] {
        let plan =
            here.say(&format!("twinsplit plan doc-split --engine {engine} --keep newest --date day")).ok();
        assert_eq!(plan.matches(words).count(), 1, "{engine}");
    }
}

/// Each is later than the one before it, as an instant; as bytes most are not.
const LATER: [&str; 12] = [
    "\"1969-12-31\"",
    "0",
    "\"2001-09-09T03:46:39+02:00\"",
    "1000000000",
    "\"2001-09-09T01:46:41Z\"",
    "1000000002000",
    "\"2023\"",
    "\"2023-01-01 00:30:00\"",
    "\"2023-01-01T00:00:01-01:00\"",
    "\"2023-01-01T01:00:01,5\"",
    "1700000000000000",
    "\"1700000001\"",
];

#[test]
fn the_newest_is_the_latest_instant() {
    let here = Place::new();
    for (older, newer) in LATER.iter().zip(&LATER[1..]) {
        // The older one has the smaller id and stands first.
        let fields = [older, newer].map(|date| format!("\"when\":{date},"));
        here.write("docs", twins([&fields[0], &fields[1]]));
        let way = "doc-split";
        here.say(&format!("twinsplit run {way} {OPTIONS} --input docs --keep newest --date when")).ok();
        assert_eq!(kept(&here), ["b"], "{older} and {newer}");
    }
    // All at once, in each way and kind.
    let line = |(number, date): (usize, &&str)| {
        format!("{{\"id\":{},\"when\":{date},\"text\":\"a page that stands often\"}}\n", number + 10)
    };
    here.write("docs", LATER.iter().enumerate().map(line).collect::<String>());
    for way in WAYS {
        for kind in ["components", "star"] {
            let more = format!("--cluster {kind} --keep newest --date when");
            here.say(&format!("twinsplit run {way} {OPTIONS} --input docs {more}")).ok();
            assert_eq!(kept(&here), ["21"], "{way} {kind}");
        }
    }
}

#[test]
fn what_is_no_date_is_an_error_that_says_where() {
    let here = Place::new();
    here.write("docs", twins(["\"when\":\"2024\",", "\"when\":\"31.01.2024\","]));
    for way in WAYS {
        let said = here.say(&format!("twinsplit run {way} {OPTIONS} --input docs --keep newest --date when"));
        said.fails(1, &["docs, line 2, field date: expected an ISO 8601 date", "31.01.2024"]);
    }
}

/// Three families of equal documents in files whose order is not that of their names, ids or lengths.
#[test]
fn first_is_first_in_the_input() {
    let here = Place::new();
    std::fs::create_dir(here.path("folder")).unwrap();
    let line = |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
    let (x, y, z) =
        ("a page of the first kind", "a page of the second kind here", "that is the third of all kinds");
    here.write("b", line("9", x) + "\n" + &line("1", x));
    here.write("a", line("0", x) + &line("5", y) + &line("4", z));
    here.write("folder/2", line("3", y));
    here.write("folder/1", line("7", z) + &line("2", y));
    here.shell("gzip -c folder/2 > folder/3 && rm folder/2").ok();
    for (input, expected) in
        [("b folder a", ["2", "7", "9"]), ("a b folder", ["0", "4", "5"]), ("folder b a", ["2", "7", "9"])]
    {
        for way in WAYS {
            for kind in ["components", "star"] {
                let options =
                    format!("{OPTIONS} --tau 0.9 --cluster {kind} --keep first").replace("--tau 0.5 ", "");
                here.say(&format!("twinsplit run {way} {options} --input {input}")).ok();
                assert_eq!(kept(&here), expected, "{way} {kind} {input}");
            }
        }
    }
    // The default is another rule, which has a name of its own.
    for rule in ["", "--keep smallest-id"] {
        here.say(
            &format!("twinsplit run doc-split {OPTIONS} --tau 0.9 {rule} --input b folder a")
                .replace("--tau 0.5 ", "")
                .replace("  ", " "),
        )
        .ok();
        assert_eq!(kept(&here), ["0", "2", "4"], "{rule}");
        assert_eq!(run_json(&here)["parameters"]["keep"], "smallest-id");
    }
}

/// A task of a cluster knows the name of its file, and the offset of a line when the job tells it.
#[test]
fn on_hadoop_places_are_names_and_offsets() {
    let here = Place::new();
    let task = |file: &str, ignored: &str, offset: u64, id: u64| {
        let line = format!("{offset}\t{{\"id\":{id},\"text\":\"x\"}}\n");
        let variables = [
            ("mapreduce_map_input_file", file),
            ("stream_map_input_ignoreKey", ignored),
            ("mapreduce_map_input_start", "9"),
        ];
        here.with("tokenize --meta on --keep first", line, &variables)
    };
    let rows = [("hdfs://n/a", 40, 3), ("hdfs://n/a", 300, 2), ("hdfs://n/a.b", 7, 1), ("hdfs://n/b", 0, 0)]
        .map(|(file, offset, id)| task(file, "false", offset, id).ok());
    let rows =
        rows.map(|rows| rows.lines().find(|row| row.contains("\\m")).unwrap_or_default().to_owned() + "\n");
    here.write("meta", rows.concat());
    let mut ranks: Vec<(String, String)> = here
        .say("keep-rank --keep first --input meta")
        .ok()
        .lines()
        .map(|row| row.split('\t').collect::<Vec<_>>())
        .map(|fields| (fields[2].to_owned(), fields[0].to_owned()))
        .collect();
    ranks.sort();
    assert_eq!(ranks.iter().map(|(_, id)| id.as_str()).collect::<Vec<_>>(), ["3", "2", "1", "0"]);
    task("hdfs://n/a", "true", 0, 0)
        .fails(2, &["--keep first needs the offset", "stream.map.input.ignoreKey=false"]);
    // Rows of a task that was not asked for places are refused, and rank by the other rules.
    let rows = here.with("tokenize --meta on", "{\"id\":1,\"text\":\"x\"}\n", &[]).ok();
    let meta = rows.lines().next().unwrap().to_owned() + "\n";
    here.with("keep-rank --keep first", &meta, &[]).fails(1, &["field input", "--meta on --keep first"]);
    here.with("keep-rank --keep longest", &meta, &[]).ok();

    let plan = here.say("twinsplit plan doc-split --engine hadoop --keep first --inline").ok();
    let places = "\nOF_DOCUMENTS+=(-D stream.map.input.ignoreKey=false)\n";
    assert_eq!(plan.matches(places).count(), 1, "tokenize reads documents");
    // Inputs in another order than that of their names would be another answer than elsewhere.
    assert!(plan.contains("by_name() { \"$BINARY\" job by-name \"${INPUT[@]}\"; }\n"), "{plan}");
    let call = |inputs: &str| here.shell(&format!("twinsplit job by-name {inputs}"));
    for inputs in ["hdfs://n/b", "/a /b", "/A /a", "'/a/x*' /b", "/a1 /a2 /b/c"] {
        call(inputs).ok();
    }
    for inputs in ["/b /a", "/a /a-b", "/a /a/b", "'/a/*' /a/b", "/a /b /a2"] {
        call(inputs).fails(1, &["--keep first", "byte order of their names"]);
    }
    here.say("twinsplit plan doc-split --engine spark --keep first")
        .fails(2, &["--keep first", "Spark does not see"]);
}

/// Of real pages in a chain some are unlike the one that is kept. What a run says of them is counted anew from its
/// clusters.tsv, where the similarity is rounded: none is so near to tau that this decides.
#[test]
fn what_a_chain_drops_below_tau_is_counted() {
    let here = Place::new();
    let input = fixture("documents/zh.jsonl.gz").display().to_string();
    let base = format!("--features words:5 --tau 0.4 --overwrite --output out --input {input}");
    let mut said = Vec::new();
    for way in FEW_WAYS {
        let table = here.say(&format!("twinsplit run {way} {base} --cluster components"));
        assert_eq!(table.code, 0, "{}", table.err);
        let table = table.err;
        let clusters = here.read("out/clusters.tsv");
        let dropped: Vec<&str> =
            clusters.lines().filter_map(|line| line.split_once("\tdrop\t")).map(|row| row.1).collect();
        let below = dropped.iter().filter(|jaccard| **jaccard < "0.400000").count() as u64;
        let least = *dropped.iter().min().unwrap();
        assert!(below > 10 && least < "0.350000", "{below} {least}");
        assert_eq!(counter(&here, "documents_dropped"), dropped.len() as u64, "{way}");
        assert_eq!(counter(&here, "documents_dropped_below_tau"), below, "{way}");
        let millionths: u64 = least.strip_prefix("0.").unwrap().parse().unwrap();
        assert_eq!(counter(&here, "peak_distance_to_kept"), 1_000_000 - millionths, "{way}");
        let sentence = format!(
            "{below} of {} dropped documents are below tau to the document that is kept, which a chain of pairs joins to \
             them, the least similarity is {least}; --cluster star drops none of these",
            dropped.len()
        );
        assert!(table.contains(&sentence), "{table}");
        said.push(sentence);
        // In stars there are none, and nothing is said.
        let table = here.say(&format!("twinsplit run {way} {base} --cluster star")).err;
        assert!(!table.contains("below tau"), "{table}");
        assert_eq!(counter(&here, "documents_dropped_below_tau"), 0, "{way}");
        assert!(counter(&here, "peak_distance_to_kept") <= 600_000, "{way}");
    }
    assert!(said.iter().all(|sentence| *sentence == said[0]));
}

/// With `--write-kept` documents go for good.
#[test]
fn what_is_dropped_for_good_reaches_tau_unless_asked_otherwise() {
    let here = Place::new();
    let pages = real::read(&fixture("documents/zh.jsonl.gz"));
    here.write("docs", real::every(2, pages).iter().map(|page| page.line.clone() + "\n").collect::<String>());
    let base = "--tau 0.4 --quiet --overwrite --output out --input docs";
    for way in FEW_WAYS {
        let clusters = |more: &str| {
            here.say(&format!("twinsplit run {way} {base}{more}")).ok();
            (here.read("out/clusters.tsv"), run_json(&here)["parameters"]["cluster"].clone())
        };
        let [components, star] = ["components", "star"].map(|kind| clusters(&format!(" --cluster {kind}")));
        assert!(components.0 != star.0 && star.0.lines().count() > 150);
        assert_eq!(clusters(""), components, "{way}");
        assert_eq!(clusters(" --write-kept"), star, "{way}");
        assert_eq!(clusters(" --write-kept --cluster components"), components, "{way}");
    }
    let line = format!("twinsplit run doc-split {base} --write-kept").replace(" --quiet", "");
    let note = "with --write-kept clusters are stars";
    assert_eq!(here.say(&line).err.matches(note).count(), 1);
    assert!(!here.say(&format!("{line} --cluster components")).err.contains(note));
    for engine in ["pipes", "hadoop", "spark"] {
        let plan = |more: &str| here.say(&format!("twinsplit plan doc-split --engine {engine}{more}"));
        assert_eq!(plan(" --write-kept").err.matches(note).count(), 1);
        let [settled, asked] = [plan(" --write-kept").ok(), plan(" --write-kept --cluster star").ok()];
        assert!(settled.contains("star-link") && settled == asked, "{engine}");
        assert!(!plan(" --write-kept --cluster components").ok().contains("star-link"), "{engine}");
    }
}
