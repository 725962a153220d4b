//! Texts that are equal and too short for features: copies in clusters, and no pairs, by every engine alike. (The matrices
//! of `options` compare them with the oracle.)

use crate::common::browser::Browser;
use crate::common::cli::{Place, jsonl, search_path};
use crate::common::harness::{bash, counted};
use serde_json::Value;
use twinsplit_rows::chains::FAMILIES;

/// Ways that share no code between the hash of a text and the clusters.
const WAYS: [&str; 6] = [
    "doc-split",
    "doc-split --cluster star",
    "term-split --pcp prefix",
    "term-split",
    "doc-split --engine pipes",
    "term-split --cluster star --pcp prefix --engine pipes",
];

/// Two long equal texts, short ones in four groups (one of them in two scripts' ways to be written, one beside a text that is
/// no other's), and texts of nothing.
fn documents() -> String {
    jsonl(&[
        ("long-a", "one two three four five six seven"),
        ("long-b", "one two three four five six seven"),
        ("hello-b", "hello world"),
        ("hello-a", "  Hello\n\tWORLD "),
        ("hello-c", "hello\u{2028}world"),
        ("hello-other", "hello, world"),
        ("cafe-2", "CAF\u{c9}"),
        ("cafe-1", "cafe\u{301}"),
        ("han-1", "\u{4eca}\u{5929}"),
        ("han-2", "\u{3000}\u{4eca}\u{5929}\n"),
        ("alone", "alone"),
        ("dots-1", "!!!"),
        ("dots-2", "!!!"),
        ("nothing-1", ""),
        ("nothing-2", " \n"),
        ("nothing-3", "\u{3000}"),
    ])
}

const CLUSTERS: &str = "cafe-1\tcafe-1\tkeep\t-\n\
    cafe-1\tcafe-2\tdrop\t1.000000\n\
    dots-1\tdots-1\tkeep\t-\n\
    dots-1\tdots-2\tdrop\t1.000000\n\
    han-1\than-1\tkeep\t-\n\
    han-1\than-2\tdrop\t1.000000\n\
    hello-a\thello-a\tkeep\t-\n\
    hello-a\thello-b\tdrop\t1.000000\n\
    hello-a\thello-c\tdrop\t1.000000\n";
const LONG: &str = "long-a\tlong-a\tkeep\t-\nlong-a\tlong-b\tdrop\t1.000000\n";
/// Of seven words there are five windows of three.
const PAIR: &str = "long-a\tlong-b\t5\t5\t5\t1.000000\n";

/// What a run wrote: pairs and clusters.
fn run(here: &Place, options: &str) -> [String; 2] {
    here.say(&format!("twinsplit run {options} --input docs --output out --overwrite --quiet")).ok();
    ["pairs.tsv", "clusters.tsv"].map(|file| here.read(&format!("out/{file}")))
}

fn counters(here: &Place) -> [u64; 3] {
    ["equal_texts", "copies", "documents_without_text"]
        .map(|name| counted(&here.path("out/run.json"), name).unwrap())
}

#[test]
fn equal_short_texts_are_clusters_and_no_pairs() {
    let here = Place::new();
    here.write("docs", documents());
    for way in WAYS {
        assert_eq!(run(&here, way), [PAIR.to_owned(), format!("{CLUSTERS}{LONG}")], "{way}");
        assert_eq!(counters(&here), [5, 1, 3], "{way}");
        assert_eq!(run(&here, &format!("{way} --equal-texts off")), [PAIR, LONG], "{way}");
        assert_eq!(counters(&here), [0, 1, 0], "{way}");
        here.say(&format!(
            "twinsplit run {way} --write clusters --input docs --output out --overwrite --quiet"
        ))
        .ok();
        assert_eq!(here.read("out/clusters.tsv"), format!("{CLUSTERS}{LONG}"), "{way}");
    }
    // What the options do not level keeps texts apart.
    let [_, clusters] = run(&here, "doc-split --case-fold off --normalise none");
    let expected = CLUSTERS.lines().filter(|row| !row.contains("cafe-") && !row.contains("hello-a"));
    let expected: String = expected.map(|row| format!("{row}\n")).collect();
    let two = "hello-b\thello-b\tkeep\t-\nhello-b\thello-c\tdrop\t1.000000\n";
    assert_eq!(clusters, format!("{expected}{two}{LONG}"));
}

/// Short texts that are equal byte for byte, or but for case and white space, and short ones beside them that are not.
const SHORT: &str = "b\tb\tkeep\t-\nb\te\tdrop\t1.000000\nb\tg\tdrop\t1.000000\n\
    c\tc\tkeep\t-\nc\td\tdrop\t1.000000\n";

/// Every family finds them, on the engines that share least, where documents have no feature and where they have too few.
#[test]
fn every_family_finds_equal_short_texts() {
    let here = Place::new();
    let texts = [
        ("a", "dog"),
        ("b", "cat"),
        ("c", "see you at noon"),
        ("d", "see you at noon"),
        ("e", "cat"),
        ("f", "see you at ten"),
        ("g", " Cat\n"),
        ("h", ""),
        ("i", " "),
    ];
    // Documents with features of their own, so that a range of frequencies keeps none of those that two have.
    let others: Vec<_> = (0..60)
        .map(|n| (format!("x{n:02}"), (0..12).map(|k| format!("w{n}a{k}")).collect::<Vec<_>>().join(" ")))
        .collect();
    let others: Vec<_> = others.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    here.write("docs", jsonl(&[&texts[..], &others].concat()));
    for family in FAMILIES {
        for features in ["words:5", "words:1 --min-features 5"] {
            for engine in ["local", "pipes --graph 0"] {
                let way =
                    format!("{} --features {features} --keep smallest-id --engine {engine}", family.name);
                let [pairs, clusters] = run(&here, &way);
                let expected = match family.name {
                    // What stands in the column is a distance.
                    "simhash" => SHORT.replace("1.000000", "0"),
                    _ => SHORT.to_owned(),
                };
                assert_eq!([pairs.as_str(), &clusters], ["", &expected], "{way}");
                assert_eq!(counters(&here), [3, 0, 2], "{way}");
                let [pairs, clusters] = run(&here, &format!("{way} --equal-texts off"));
                assert_eq!([pairs, clusters], [""; 2], "{way}");
            }
        }
    }
    // Words of eight documents and fewer are out of this range, which leaves their documents none.
    for engine in ["local", "pipes"] {
        let [pairs, clusters] = run(&here, &format!("i-match --idf 0.2,0.5 --engine {engine}"));
        assert_eq!([pairs.as_str(), &clusters], ["", SHORT], "{engine}");
    }
}

/// Queries that are too short for fingerprints are those that have the text of a document, at a distance of 0.
#[test]
fn queries_find_equal_short_texts() {
    let here = Place::new();
    here.write("docs", jsonl(&[("a", "cat"), ("b", "dog"), ("c", " CAT"), ("d", "")]));
    here.write("queries", jsonl(&[("p", "Cat"), ("q", "cat "), ("r", "cow"), ("s", "")]));
    let queries = "simhash --features words:5 --queries queries";
    for engine in ["local", "pipes"] {
        for (more, expected) in [("", "p\ta\t0\np\tc\t0\nq\ta\t0\nq\tc\t0\n"), (" --equal-texts off", "")] {
            let line = format!(
                "twinsplit run {queries}{more} --engine {engine} --input docs --output out --overwrite"
            );
            let said = here.say(&line);
            let pairs = expected.lines().count();
            let found =
                format!("4 documents, {} of them in a pair with one of 4 queries, {pairs} pairs", pairs / 2);
            assert!(said.err.contains(&found) && said.err.contains("APPROXIMATE"), "{}", said.err);
            said.ok();
            assert_eq!(here.read("out/pairs.tsv"), expected, "{engine}");
        }
    }
    here.write("queries", jsonl(&[("p", "cat"), ("p", "dog")]));
    here.say(&format!("twinsplit run {queries} --input docs --output other"))
        .fails(1, &["\"p\" stands at more than one document of --queries"]);
}

/// The kept document is chosen by the rule, as in any cluster, and the lines of the others are left out.
#[test]
fn the_best_of_equal_texts_is_kept() {
    let here = Place::new();
    here.write("docs", documents());
    for way in WAYS {
        let [_, clusters] = run(&here, &format!("{way} --keep longest --write-kept"));
        for row in
            ["hello-a\thello-a\tkeep\t-\n", "han-2\than-1\tdrop\t1.000000\n", "cafe-1\tcafe-1\tkeep\t-\n"]
        {
            assert!(clusters.contains(row), "{way}: {row} in {clusters}");
        }
        let kept = here.read("out/kept.jsonl");
        assert_eq!(kept.lines().count(), 16 - 6, "{way}");
        assert!(kept.contains("nothing-3") && kept.contains("han-2") && !kept.contains("han-1"), "{way}");
    }
}

/// What counts is the set after the IDF range: of one that the range empties nothing else is left to be compared.
#[test]
fn a_set_that_the_idf_range_empties_is_a_short_text() {
    let here = Place::new();
    let common = "all of these words are in all of them";
    let other = "each of these texts has words of its own";
    here.write(
        "docs",
        jsonl(&[("a", common), ("b", common), ("c", common), ("d", other), ("s", "short"), ("t", "Short")]),
    );
    let expected =
        "a\ta\tkeep\t-\na\tb\tdrop\t1.000000\na\tc\tdrop\t1.000000\ns\ts\tkeep\t-\ns\tt\tdrop\t1.000000\n";
    for way in WAYS {
        for lookup in ["", " --idf-lookup shuffle --idf-list 0"] {
            let found = run(&here, &format!("{way} --idf 0.9,1{lookup}"));
            assert_eq!(found, ["", expected], "{way}{lookup}");
            assert_eq!(counters(&here), [3, 0, 0], "{way}{lookup}");
        }
    }
}

/// Below `--min-features` sets may differ where texts are equal: lines are ends of lines, and a blank in a text.
#[test]
fn equal_texts_are_equal_whatever_their_sets() {
    let here = Place::new();
    here.write("docs", jsonl(&[("a", "one\ntwo"), ("b", "one two"), ("c", "two\none")]));
    for way in WAYS {
        let [pairs, clusters] = run(&here, &format!("{way} --features lines --min-features 3"));
        assert_eq!(pairs, "", "{way}");
        assert_eq!(clusters, "a\ta\tkeep\t-\na\tb\tdrop\t1.000000\n", "{way}");
        let [pairs, clusters] = run(&here, &format!("{way} --features lines"));
        assert_eq!(pairs, "a\tc\t2\t2\t2\t1.000000\n", "{way}");
        assert_eq!(clusters, "a\ta\tkeep\t-\na\tc\tdrop\t1.000000\n", "{way}");
    }
}

/// SpotSigs asks for 4 features: documents with 1 to 3 are short texts too.
#[test]
fn the_least_number_of_features_is_that_of_the_kind() {
    let here = Place::new();
    let few = "the harbour is grey and the sea is cold";
    here.write("docs", jsonl(&[("a", few), ("b", few), ("c", "")]));
    for way in WAYS {
        let [pairs, clusters] = run(&here, &format!("{way} --features spotsigs"));
        assert_eq!(pairs, "", "{way}");
        assert_eq!(clusters, "a\ta\tkeep\t-\na\tb\tdrop\t1.000000\n", "{way}");
        assert_eq!(counters(&here), [1, 0, 1], "{way}");
        let [pairs, _] = run(&here, &format!("{way} --features spotsigs --min-features 1"));
        assert_eq!(pairs.lines().count(), 1, "{way}");
    }
}

/// The rounds of a script, where no task has the whole graph, and its clusters of both kinds.
#[test]
fn scripts_find_them_in_rounds() {
    let here = Place::new();
    here.write("docs", documents());
    for options in
        ["doc-split", "term-split --pcp prefix --cluster star", "doc-split --cluster star --write clusters"]
    {
        here.write("script", here.say(&format!("twinsplit plan {options} --inline")).ok());
        let mut line = bash();
        line.args(["script", "answer", "docs"]).env("PATH", search_path());
        here.run(line, "").ok();
        assert_eq!(here.read("answer/clusters.tsv"), format!("{CLUSTERS}{LONG}"), "{options}");
        std::fs::remove_dir_all(here.path("answer")).unwrap();
    }
}

/// A bare pipe reads what `tokenize` writes, the hashes of texts among it, and says what it always said.
#[test]
fn bare_pipes_pass_over_the_hashes() {
    let here = Place::new();
    here.write("docs", documents());
    let sets = here.say("tokenize --input docs").ok();
    let hash = format!("{:032x}", twinsplit_core::hash::text("hello world".as_bytes()));
    for id in ["hello-a", "hello-b", "hello-c"] {
        assert!(sets.contains(&format!("{id}\t\\~\t{hash}\t\n")), "{sets}");
    }
    assert!(sets.contains("nothing-2\t\n") && !sets.contains("long-a\t~"), "{sets}");
    for options in ["", " --min-features 2", " --equal-texts off"] {
        let term = format!(
            "tokenize --input docs{options} | index-term | LC_ALL=C sort | index-term-reduce | pcp-map | LC_ALL=C sort \
             | pcp-reduce"
        );
        assert_eq!(here.shell(&term).ok(), PAIR, "{options}");
        let doc = format!(
            "tokenize --input docs{options} > sets; index-doc --partition by-task < sets > index; docsplit-query < sets"
        );
        assert_eq!(here.shell(&doc).ok(), PAIR, "{options}");
    }
    // A hash that is none is an error that names its field.
    here.with("equal-sets", "a\t\\~\txyz\t\n", &[])
        .fails(1, &["equal-sets", "field text", "32 lower-case hex digits"]);
    here.with("index-term", "a\t\\~\txyz\t\n", &[]).fails(1, &["index-term", "field text"]);
}

#[test]
fn a_run_says_how_many_there_were() {
    let here = Place::new();
    // The warning is for fifty documents and more.
    let others: String = (0..34)
        .map(|n| format!("{{\"id\":\"other-{n}\",\"text\":\"a{n} b{n} c{n} d{n} e{n}\"}}\n"))
        .collect();
    here.write("docs", documents() + &others);
    let line = "twinsplit run doc-split --input docs --output out --overwrite";
    let said = here.say(line);
    let found = "5 clusters, 6 documents to drop (5 by equal texts)\n44 documents kept\n";
    assert!(said.err.contains(found), "{}", said.err);
    let warned = "5 copies among such documents were found by their equal texts";
    assert!(said.err.contains(warned), "{}", said.err);
    let said = here.say(&format!("{line} --equal-texts off"));
    assert!(said.err.contains("1 cluster, 1 document to drop\n"), "{}", said.err);
    assert!(!said.err.contains("equal texts"), "{}", said.err);
}

#[test]
fn explain_says_why() {
    let here = Place::new();
    here.write("docs", documents());
    run(&here, "doc-split");
    let explain = |a: &str, b: &str, more: &str| {
        let said = here.say(&format!("twinsplit explain {a} {b} --run out{more}")).ok();
        said.lines().find_map(|line| line.strip_prefix("=> ")).unwrap_or_else(|| panic!("{said}")).to_owned()
    };
    let equal = explain("hello-a", "hello-b", "");
    assert!(equal.starts_with("copies: both texts are too short") && equal.contains("not a pair"), "{equal}");
    let differ = explain("hello-a", "hello-other", "");
    assert!(
        differ.starts_with("not a pair: both") && differ.ends_with("compared as a whole, differ"),
        "{differ}"
    );
    let nothing = explain("nothing-1", "nothing-2", "");
    assert!(nothing.ends_with("a text of nothing but white space is a copy of none"), "{nothing}");
    let one = explain("hello-a", "long-a", "");
    assert_eq!(one, "not a pair: a document has fewer than --min-features 1");
    here.say("twinsplit run simhash --input docs --output out --overwrite --quiet").ok();
    let equal = explain("hello-a", "hello-b", "");
    assert!(equal.starts_with("copies: both texts are too short"), "{equal}");
    run(&here, "doc-split");
    let off = explain("hello-a", "hello-b", " --equal-texts off");
    assert_eq!(off, "not a pair: a document has fewer than --min-features 1");
    assert_eq!(explain("long-a", "long-b", ""), "a pair");
}

/// tune counts the clusters of a run, and says which documents they are.
#[test]
fn tune_counts_them() {
    let here = Place::new();
    here.write("docs", documents());
    let line = "twinsplit tune --input docs --kinds words:5 --taus 0.5 --quiet";
    let found: Value = serde_json::from_str(&here.say(&format!("{line} --json")).ok()).unwrap();
    let kind = &found["kinds"][0];
    assert_eq!(kind["equal_texts"], 5);
    let row = &kind["rows"][0];
    assert_eq!([&row["pairs"], &row["clusters"], &row["documents_dropped"]], [1, 5, 6]);
    let text = here.say(line).ok();
    assert!(text.contains("; 5 of them copies by equal texts"), "{text}");
    let off: Value =
        serde_json::from_str(&here.say(&format!("{line} --json --equal-texts off")).ok()).unwrap();
    assert_eq!(off["kinds"][0]["rows"][0]["clusters"], 1);
}

/// report makes the features of a cluster's documents again, and these have none to compare.
#[test]
fn report_shows_them() {
    let here = Place::new();
    here.write("docs", documents());
    run(&here, "doc-split");
    here.say("twinsplit report out --order size").ok();
    let page = here.read("out/report.html");
    let hash = format!("{:032x}", twinsplit_core::hash::text("hello world".as_bytes()));
    assert_eq!(page.matches(&hash).count(), 3);
    let browser = Browser::start(1000);
    browser.open(&here.path("out/report.html"));
    // Three are more than two, so theirs is the first cluster by size.
    browser.click("#cluster-0 > summary");
    browser.until("return document.querySelector('#cluster-0 .members') !== null");
    for member in [0, 1] {
        browser.click(&format!(".member[data-cluster='0'][data-member='{member}']"));
    }
    browser.until("return document.getElementById('pair').open");
    assert!(browser.text("#pair").contains("hello-b"));
    let arithmetic = browser.text("#arithmetic");
    assert!(arithmetic.contains("no pair: both texts are too short for features"), "{arithmetic}");
    assert_eq!(browser.console(), Vec::<String>::new());
}
