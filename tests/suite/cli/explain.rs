//! `twinsplit explain`: what it shows can be checked with a pencil.

use crate::common::cli::{Place, fixture, jsonl};
use crate::common::oracle::escape_id;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// words:2: 6 and 5 features, 4 shared, 7 in all.
const CHAIN: [(&str, &str); 2] =
    [("a", "one two three four five six seven"), ("b", "three four five six seven eight")];

fn place(docs: &[(&str, &str)]) -> Place {
    let here = Place::new();
    here.write("docs", jsonl(docs));
    here
}

/// The whole output, by hand: shared features in their context, sizes, and the decision on integers.
#[test]
fn a_pair_is_shown_with_its_arithmetic() {
    let here = place(&CHAIN);
    let shown = here.say("twinsplit explain a b --input docs --features words:2 --tau 0.5").ok();
    let expected = "\
A  a  6 features
B  b  5 features

Shared features: 4, passages: 1
  4 features
    A  one two [three four five six seven]
    B  [three four five six seven] eight

Jaccard: the features in both documents, as a share of those in one or both
Jaccard = |A∩B| / |A∪B| = 4 / (6 + 5 - 4) = 4 / 7 = 0.571429
tau = 0.5 = 1/2; a pair shares at least one feature, and o·(p+q) >= p·(|A|+|B|):
4·3 = 12  >=  1·11 = 11
=> a pair
";
    assert_eq!(shown, expected);
}

/// Below, exactly on and above the threshold; and nothing shared is never a pair.
#[test]
fn the_decision_is_made_on_integers() {
    let here = place(&[CHAIN[0], CHAIN[1], ("c", "x y"), ("d", "x y z"), ("e", "one"), ("f", "two")]);
    for (ids, tau, arithmetic, decision) in [
        ("a b", "0.6", "4·8 = 32  <  3·11 = 33", "=> not a pair"),
        ("b a", "0.55", "4·31 = 124  >=  11·11 = 121", "=> a pair"),
        ("c d", "0.5", "1·3 = 3  >=  1·3 = 3", "=> a pair"),
        ("c d", "0.500000001", "1·1500000001 = 1500000001  <  500000001·3 = 1500000003", "=> not a pair"),
        ("a c", "0.000000001", "0·1000000001 = 0  <  1·7 = 7", "=> not a pair"),
        ("e f", "1", "0·2 = 0  >=  1·0 = 0", "=> not a pair"),
    ] {
        let shown =
            here.say(&format!("twinsplit explain {ids} --input docs --features words:2 --tau {tau}")).ok();
        let lines: Vec<_> = shown.lines().rev().take(2).collect();
        assert_eq!(lines[1], arithmetic, "{ids} at {tau}");
        assert!(lines[0].starts_with(decision), "{ids} at {tau}: {}", lines[0]);
    }
}

/// Each document shares two thirds with the next one. The shortest chain is shown, and of two the one of smaller ids.
#[test]
fn two_documents_of_a_cluster_are_joined_by_a_chain() {
    let words: Vec<String> = (10..40).map(|number| format!("w{number}")).collect();
    let text = |from: usize| words[from..from + 12].join(" ");
    let texts: Vec<String> = (0..7).map(|step| text(2 * step)).collect();
    let docs: Vec<(&str, &str)> =
        ["z", "b", "a\t", "c", "y", "x", "w"].into_iter().zip(texts.iter().map(String::as_str)).collect();
    let mut all = docs.clone();
    // A second way over the middle, and documents of another cluster.
    all.extend([("c2", texts[3].as_str()), ("far", "one two three"), ("away", "one two three")]);
    let here = place(&all);
    let run = |more: &str| {
        let line = format!(
            "twinsplit run doc-split --input docs --features words:1 --tau 0.6 --quiet --overwrite --output out{more}"
        );
        here.say(&line).ok();
    };
    run("");
    let explain = |ids: &str| {
        let mut words = vec!["explain"];
        words.extend(ids.split('|'));
        words.extend(["--run", "out"]);
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_twinsplit"));
        command.args(words);
        here.run(command, "").ok()
    };
    let tail = |shown: &str| shown.split_once("=> not a pair\n").map(|(_, tail)| tail.to_owned());
    let expected = "
Both are in the cluster of a\\x09, joined by a chain of 3 pairs; no shorter one does:
  0.714286  b  a\\x09
  0.714286  a\\x09  c
  0.714286  c  y
";
    assert_eq!(tail(&explain("b|y")).as_deref(), Some(expected));
    // From the other end the same pairs, for no other way is as short but that over c2, which is equal to c.
    let back: Vec<String> = tail(&explain("y|b")).unwrap().lines().skip(2).map(str::to_owned).collect();
    assert_eq!(back, ["  0.714286  y  c", "  0.714286  c  a\\x09", "  0.714286  a\\x09  b"]);
    let whole = tail(&explain("z|w")).unwrap();
    assert!(whole.contains("a chain of 6 pairs") && whole.lines().count() == 8, "{whole}");
    // An id may be given as it is, too.
    assert!(tail(&explain("a\t|w")).unwrap().contains("a chain of 4 pairs"));
    // A pair is its own chain, and documents of different clusters have none.
    assert_eq!(tail(&explain("b|a\t")), None);
    assert_eq!(tail(&explain("b|far")).as_deref(), Some(""));
    run(" --write clusters");
    let shown = tail(&explain("b|y")).unwrap();
    assert_eq!(
        shown.trim(),
        r"Both are in the cluster of a\x09; the run wrote no pairs (--write clusters), which would show how"
    );
}

/// With --run nothing has to be typed again, and what is typed all the same wins.
#[test]
fn a_run_gives_input_and_options() {
    let here = place(&CHAIN);
    here.say("twinsplit run doc-split --input docs --features words:2 --tau 0.5 --output out --quiet").ok();
    let shown = here.say("twinsplit explain a b --run out").ok();
    assert_eq!(shown, here.say("twinsplit explain a b --input docs --features words:2 --tau 0.5").ok());
    let stricter = here.say("twinsplit explain a b --run out --tau 0.6").ok();
    assert!(stricter.contains("A  a  6 features") && stricter.contains("=> not a pair\n"), "{stricter}");
    // What the run made of them is another matter.
    assert!(
        stricter.contains("joined by a chain of 1 pair; no shorter one does:\n  0.571429  a  b\n"),
        "{stricter}"
    );
    let other = here.say("twinsplit explain a b --run out --features words:6").ok();
    assert!(other.contains("A  a  2 features") && other.contains("Shared features: 0"), "{other}");
    here.write("out/run.json", "{");
    here.say("twinsplit explain a b --run out").fails(1, &["out/run.json", "is not what a run writes"]);
    here.say("twinsplit explain a b --run nowhere").fails(1, &["nowhere/run.json"]);
    here.say("twinsplit explain a b").fails(2, &["--input"]);
}

/// Who piped the documents in has nothing that could be read again, and is told so at once: standard input is held open
/// here, and nothing ever comes of it.
#[test]
fn a_stream_is_not_waited_for() {
    let here = place(&CHAIN);
    let docs = here.read("docs");
    here.with(
        "twinsplit run doc-split --features words:2 --tau 0.5 --output out --quiet --input -",
        &docs,
        &[],
    )
    .ok();
    for args in ["explain a b --run out", "report out"] {
        let mut command = crate::common::harness::twinsplit();
        command.args(args.split(' ')).current_dir(here.path(""));
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let held = child.stdin.take();
        let start = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if start.elapsed() > Duration::from_secs(60) {
                child.kill().unwrap();
                panic!("{args} waits for standard input");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let said = child.wait_with_output().unwrap();
        drop(held);
        let err = String::from_utf8(said.stderr).unwrap();
        assert_eq!(said.status.code(), Some(2), "{args}: {err}");
        for words in ["the run in out read standard input", "cannot be read again", "--input"] {
            assert!(err.contains(words), "{args}: {err}");
        }
    }
    let shown = here.say("twinsplit explain a b --run out --input docs").ok();
    assert!(shown.ends_with("=> a pair\n"), "{shown}");
    // Standard input may be what is given.
    assert_eq!(here.with("twinsplit explain a b --run out --input -", &docs, &[]).ok(), shown);
    here.say("twinsplit report out --quiet --input docs").ok();
}

/// x stands in 4 of 4 documents (IDF 0), y in 2 (IDF 1/2), z and w in one (IDF 1).
const COMMON: [(&str, &str); 4] = [("a", "x y z"), ("b", "x y w"), ("c", "x"), ("d", "x")];

/// What an IDF range leaves out does not count, here, in a table of another corpus and in a run.
#[test]
fn an_idf_range_is_part_of_the_arithmetic() {
    let here = place(&COMMON);
    let explain = "twinsplit explain a b --input docs --features words:1 --tau 0.5";
    let all = here.say(explain).ok();
    assert!(all.contains("2 / (3 + 3 - 2) = 2 / 4 = 0.500000") && all.ends_with("=> a pair\n"), "{all}");
    let rare = here.say(&format!("{explain} --idf 0.1,1")).ok();
    for line in
        ["A  a  2 features", "   1 of A and 1 of B left out by --idf 0.1,1", "1 / (2 + 2 - 1) = 1 / 3"]
    {
        assert!(rare.contains(line), "{line:?} is not in: {rare}");
    }
    assert!(rare.contains("x [y] z") && rare.ends_with("1·3 = 3  <  1·4 = 4\n=> not a pair\n"), "{rare}");
    for (way, expected) in [("--idf 0.1,1", 0), ("", 1)] {
        let run = "twinsplit run doc-split --input docs --features words:1 --tau 0.5 --output out --overwrite --quiet";
        here.say(format!("{run} {way}").trim_end()).ok();
        let pairs = here.read("out/pairs.tsv").lines().filter(|row| row.starts_with("a\tb\t")).count();
        assert_eq!(pairs, expected, "{way}");
        let shown = here.say("twinsplit explain a b --run out").ok();
        assert_eq!(shown.ends_with("=> a pair\n"), expected == 1, "{way}: {shown}");
    }
    // There y stands in all documents, and x and z in none: they count as rare.
    here.write("reference", jsonl(&[("1", "y w"), ("2", "y w"), ("3", "y"), ("4", "y")]));
    here.say("twinsplit idf --from reference --features words:1 --output table").ok();
    let by_table = here.say(&format!("{explain} --idf 0.6,1 --idf-table table")).ok();
    assert!(by_table.contains("   1 of A and 2 of B left out by --idf 0.6,1"), "{by_table}");
    assert!(by_table.contains("1 / (2 + 1 - 1) = 1 / 2"), "{by_table}");
}

/// The guard against tiny sets decides even where the arithmetic would say yes.
#[test]
fn too_few_features_are_the_reason() {
    let here = place(&CHAIN);
    let explain = "twinsplit explain a b --input docs --features words:2 --tau 0.5 --min-features";
    assert!(here.say(&format!("{explain} 5")).ok().ends_with("=> a pair\n"));
    let shown = here.say(&format!("{explain} 6")).ok();
    assert!(shown.contains("4·3 = 12  >=  1·11 = 11"), "{shown}");
    assert!(shown.ends_with("=> not a pair: a document has fewer than --min-features 6\n"), "{shown}");
    let few = place(&[("a", "the cat is mine"), ("b", "the cat is mine")]);
    let shown = few.say("twinsplit explain a b --input docs --features spotsigs").ok();
    assert!(shown.contains("--min-features 4"), "the preset asks for four spots: {shown}");
}

/// A slip in an id is told at once, and not answered with the other document.
/// What a run leaves out by sites is not shown, and said.
#[test]
fn what_a_run_does_besides_is_said() {
    let here = Place::new();
    let doc = |id: &str, text: &str| serde_json::json!({"id": id, "host": "h", "text": text}).to_string();
    let menu = "home news sport weather about us";
    here.write(
        "docs",
        [doc("a", &format!("{menu} one two three four")), doc("b", &format!("{menu} five six seven eight"))]
            .join("\n"),
    );
    here.say("twinsplit run -i docs --site host --features words:1 --tau 0.3 -qo out").ok();
    assert_eq!(here.read("out/pairs.tsv"), "");
    let said = here.say("twinsplit explain a b --run out").ok();
    assert!(
        said.contains("left out what the pages of one site share (--site host), which this does not show"),
        "{said}"
    );
    here.say("twinsplit report out").fails(2, &["--site host", "--text 0 makes the page without texts"]);
    here.say("twinsplit report out --text 0 -q").ok();
}

#[test]
fn an_unknown_id_is_an_error() {
    let here = place(&CHAIN);
    for (ids, unknown) in [("a nobody", "nobody"), ("nobody b", "nobody"), ("A b", "A")] {
        here.say(&format!("twinsplit explain {ids} --input docs"))
            .fails(2, &[&format!("the id {unknown:?}")]);
    }
    here.say("twinsplit explain a --input docs").fails(2, &["<B>"]);
}

/// Every pair of a run, and some that are none, are explained as the run decided, by the ids that it wrote.
#[test]
fn explanations_agree_with_a_run() {
    let here = Place::new();
    let tiny = fixture("documents/tiny.jsonl").display().to_string();
    here.say(&format!(
        "twinsplit run doc-split --input {tiny} --features words:2 --tau 0.5 --output out --quiet"
    ))
    .ok();
    let pairs = here.read("out/pairs.tsv");
    assert!(pairs.contains(&escape_id("id\twith\ttab")), "ids with tabs are among them");
    let explain = |a: &str, b: &str| {
        let mut command = crate::common::harness::twinsplit();
        here.run(
            {
                command.args(["explain", a, b, "--run", "out"]);
                command
            },
            "",
        )
        .ok()
    };
    for row in pairs.lines() {
        let [a, b, overlap, size_a, size_b, jaccard] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        let shown = explain(a, b);
        let arithmetic = format!(" = {overlap} / ({size_a} + {size_b} - {overlap}) = ");
        assert!(shown.contains(&arithmetic) && shown.contains(&format!(" = {jaccard}\n")), "{row}: {shown}");
        assert!(shown.ends_with("=> a pair\n"), "{row}");
    }
    for (a, b) in [("zh-01", "zh-04"), ("en-08", "en-09"), ("chain-a", "chain-c"), ("empty", "punctuation")] {
        assert!(!pairs.contains(&format!("{a}\t{b}\t")), "{a} {b}");
        let shown = explain(a, b);
        assert!(shown.lines().any(|line| line.starts_with("=> not a pair")), "{a} {b}: {shown}");
    }
}

/// Options that ask for another chain are explained with what that chain has for its own, as a run of them would have it.
#[test]
fn lexicons_are_those_of_a_run() {
    let here = Place::new();
    let docs = fixture("documents/tiny.jsonl").display().to_string();
    here.say(&format!("twinsplit run -i {docs} --lexicons 3 -qo out")).ok();
    let from_files = here.say(&format!("twinsplit explain chain-a chain-b -i {docs} --lexicons 3")).ok();
    assert!(from_files.contains("=> a match"), "{from_files}");
    let of_run = here.say("twinsplit explain chain-a chain-b --run out").ok();
    assert!(of_run.starts_with(&from_files), "{of_run}{from_files}");
}
