//! Documents that are forgotten, batches that are dropped or expire: what is left is what a run over it finds, and what changes for it is told.

use std::collections::BTreeSet;

use serde_json::Value;

use super::batches::{documents, kept, lines, rows};
use crate::common::cli::{Place, jsonl};
use crate::common::oracle::Doc;
use crate::common::rng::Rng;

/// A store of three batches, of these days.
pub fn three_days(here: &Place, options: &str, docs: &[Doc]) {
    let third = docs.len().div_ceil(3);
    for (day, batch) in docs.chunks(third).enumerate() {
        here.write("batch", lines(batch));
        here.say(&format!(
            "twinsplit run {options} --input batch --output out --overwrite --quiet --store store --batch-id day-{day} --batch-time 2026-03-0{}",
            day + 1
        ))
        .ok();
    }
}

/// The clusters of a run over some documents.
pub fn run_over(here: &Place, options: &str, docs: &[Doc]) -> String {
    here.write("all", lines(docs));
    here.say(&format!("twinsplit run doc-split {options} --input all --output all-out --overwrite --quiet"))
        .ok();
    here.read("all-out/clusters.tsv")
}

/// The rows of what changes, from these clusters to those, for the documents that stay.
pub fn changes(before: &str, after: &str, docs: &[Doc]) -> BTreeSet<String> {
    let (was, now) = (kept(before), kept(after));
    let of = |kept: &std::collections::BTreeMap<&str, &str>, id: &str| {
        kept.get(id).copied().unwrap_or(id).to_owned()
    };
    let row = |doc: &Doc| (doc.id.clone(), of(&was, &doc.id), of(&now, &doc.id));
    let rows = docs.iter().map(row).filter(|(_, was, now)| was != now);
    rows.map(|(id, was, now)| format!("{id}\t{was}\t{now}")).collect()
}

/// The clusters that a store has: those that documents are in which it has already.
pub fn held(here: &Place, options: &str, docs: &[Doc]) -> String {
    here.write("known", lines(docs));
    here.say(&format!(
        "twinsplit run {options} --input known --against store --output known-out --overwrite --quiet"
    ))
    .ok();
    assert_eq!(here.read("known-out/pairs.tsv"), "");
    here.read("known-out/clusters.tsv")
}

fn ls(here: &Place) -> Value {
    serde_json::from_str(&here.say("twinsplit store ls store --json").ok()).unwrap()
}

#[test]
fn what_is_left_is_a_run_over_it() {
    let docs = documents();
    let (mut orphans, mut others, mut steps) = (0, 0, 0);
    for options in
        ["--tau 0.5", "--similarity containment --tau 0.7 --features words:5", "--tau 0.6 --equal-texts off"]
    {
        let here = Place::new();
        three_days(&here, options, &docs);
        let third = docs.len().div_ceil(3);
        let mut rng = Rng::new(5);
        let some: BTreeSet<String> =
            docs.iter().filter(|_| rng.below(7) == 0).map(|doc| doc.id.clone()).collect();
        let ids: String = some.iter().map(|id| format!("{id}\n")).collect();
        here.write("ids", &ids);
        let second: BTreeSet<String> = docs[third..2 * third].iter().map(|doc| doc.id.clone()).collect();
        let first: BTreeSet<String> = docs[..third].iter().map(|doc| doc.id.clone()).collect();
        let mut left = docs.clone();
        let mut before = run_over(&here, options, &left);
        for (command, gone) in [
            ("forget store --ids ids", &some),
            ("drop-batch store day-1", &second),
            ("expire store --before 2026-03-02", &first),
        ] {
            let stays: Vec<Doc> = left.iter().filter(|doc| !gone.contains(&doc.id)).cloned().collect();
            let after = run_over(&here, options, &stays);
            let expected = changes(&before, &after, &stays);
            // Looked at only: the same answer, and the store as it was.
            let was = ls(&here);
            let said = here.say(&format!("twinsplit store {command} --dry-run --memory 16")).ok();
            assert_eq!(rows(&said), expected.iter().map(String::as_str).collect(), "{options} {command}");
            assert_eq!(ls(&here), was);
            let json = here.say(&format!("twinsplit store {command} --json --output said --overwrite"));
            let count = left.len() - stays.len();
            assert!(json.err.contains(&format!("forgot {count} documents")), "{}", json.err);
            json.ok();
            let json: Value = serde_json::from_str(&here.read("said")).unwrap();
            assert_eq!(json["forgotten"], count);
            let told = json["changes"].as_array().unwrap().iter().map(|change| {
                let text = |name: &str| change[name].as_str().unwrap().to_owned();
                let is_orphan = gone.contains(&text("kept_before"));
                assert_eq!(change["orphan"], is_orphan, "{change}");
                *if is_orphan { &mut orphans } else { &mut others } += 1;
                [text("id"), text("kept_before"), text("kept_now")].join("\t")
            });
            assert_eq!(told.collect::<BTreeSet<_>>(), expected);
            assert_eq!(held(&here, options, &stays), after, "{options} {command}");
            assert_eq!(ls(&here)["documents"], stays.len());
            here.say("twinsplit store verify store").ok();
            (left, before) = (stays, after);
            steps += 1;
        }
        // Again: nothing goes and nothing changes.
        let was = ls(&here);
        let said = here.say("twinsplit store forget store --ids ids");
        assert!(
            said.err.contains(&format!("forgot 0 documents; {} ids no document has", some.len())),
            "{}",
            said.err
        );
        assert_eq!(said.ok(), "");
        here.say("twinsplit store expire store --before 2026-03-02").ok();
        here.say("twinsplit store drop-batch store day-1")
            .fails(2, &["has no batch day-1", "twinsplit store ls"]);
        assert_eq!(ls(&here), was);
        // Compact, it is the same store, but for the space and for the answers that are no longer kept.
        let said = here.say("twinsplit store compact store --answers 0");
        assert!(said.err.contains(&format!("{} documents in 1 segment", left.len())), "{}", said.err);
        said.ok();
        assert_eq!(ls(&here)["forgotten"], 0);
        assert_eq!(held(&here, options, &left), before);
        here.write("batch", lines(&docs[2 * third..]));
        here.say(&format!("twinsplit run {options} --input batch --output x --store store --batch-id day-2"))
            .fails(2, &["has the batch day-2 and keeps its answer no more", "--against"]);
        let said = here.say("twinsplit store compact store");
        assert!(said.err.contains("nothing to give back"), "{}", said.err);
        said.ok();
        // A batch that was dropped, and documents that were forgotten, come again as new ones.
        here.write("batch", lines(&docs[third..2 * third]));
        let again =
            format!("twinsplit run {options} --store store --output again --quiet --overwrite --input");
        here.say(&format!("{again} batch --batch-id day-1")).ok();
        left.extend_from_slice(&docs[third..2 * third]);
        assert_eq!(held(&here, options, &left), run_over(&here, options, &left));
        // A retry changes nothing, though documents of it were forgotten.
        let first = docs[third].id.clone();
        here.say(&format!("twinsplit store forget store {first}")).ok();
        let was = ls(&here);
        here.write("batch", lines(&docs[third..2 * third]));
        here.say(&format!("{again} batch --batch-id day-1")).ok();
        assert_eq!(ls(&here), was);
    }
    println!("{steps} steps, {orphans} orphans, {others} others");
    assert!(steps == 9 && orphans > 60 && others > 3, "{steps} {orphans} {others}");
}

#[test]
fn what_is_forgotten_is_named() {
    let here = Place::new();
    let text = |at: usize| (0..30).map(|word| format!("w{} ", (word * at) % 41)).collect::<String>();
    here.write("docs", jsonl(&[("a\tb", &text(1)), ("a\\x09b", &text(1)), ("c", &text(1)), ("e", &text(5))]));
    here.say("twinsplit run --input docs --store s --output out --quiet").ok();
    // Ids as they are, and on standard input.
    let said = here.say("twinsplit store forget s a\tb --dry-run");
    assert_eq!(said.out, "a\\x5cx09b\ta\\x09b\ta\\x5cx09b\nc\ta\\x09b\ta\\x5cx09b\n");
    said.ok();
    let json = here.with("twinsplit store forget s e --ids - --json", "nobody\na\tb\n", &[]).ok();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["forgotten"], &json["unknown"][0]), (&2.into(), &"nobody".into()), "{json}");
    assert_eq!(json["changes"][0]["kept_before"], "a\tb");
    for (command, code, words) in [
        ("forget s", 2, &["<ID>"][..]),
        ("forget nowhere x", 1, &["nowhere"]),
        ("forget . x", 1, &["holds no store"]),
        ("forget s c --output docs", 2, &["docs", "--overwrite"]),
        ("drop-batch s monday", 2, &["has no batch monday"]),
        ("expire s", 2, &["--before"]),
        ("expire s --before yesterday", 2, &["yesterday", "ISO 8601"]),
    ] {
        here.say(&format!("twinsplit store {command}")).fails(code, words);
    }
    let ls: Value = serde_json::from_str(&here.say("twinsplit store ls s --json").ok()).unwrap();
    assert_eq!((&ls["documents"], &ls["forgotten"]), (&2.into(), &2.into()), "{ls}");
    let shown = here.say("twinsplit store ls s").ok();
    assert!(shown.contains("2 documents in 1 segment, 2 of them in clusters; 2 more forgotten"), "{shown}");
    here.say("twinsplit run --input docs --output x --batch-time 2026-01-01")
        .fails(2, &["--batch-time goes with --store"]);
    here.say("twinsplit run --input docs --store s --output x --batch-time noon")
        .fails(2, &["noon", "--batch-time"]);
}

/// A store's files are read, and so are ids: nothing that is said of them is written over them, by whatever name.
#[test]
fn nothing_is_written_over_what_is_read() {
    let here = Place::new();
    three_days(&here, "--features words:1 --tau 0.5", &documents());
    here.write("ids", "no-such-id\n");
    here.shell("cp -r store before; ln store/commit-00000003 hard; ln -s store/lock link").ok();
    let mut tried = 0;
    for file in
        here.names("store").iter().map(|name| format!("store/{name}")).chain(["hard".into(), "link".into()])
    {
        for command in
            ["export store", "forget store id", "drop-batch store day-1", "expire store --before 2027-01-01"]
        {
            here.say(&format!("twinsplit store {command} --output {file} --overwrite"))
                .fails(2, &[&file, "which this command reads"]);
            tried += 1;
        }
    }
    assert!(tried > 20, "{tried}");
    here.say("twinsplit store forget store --ids ids --output ids --overwrite").fails(2, &["ids", "reads"]);
    assert_eq!(here.read("ids"), "no-such-id\n");
    here.shell("diff -r store before && twinsplit store verify store").ok();
    here.say("twinsplit store export store --output lines").ok();
    here.say("twinsplit store export store --output lines").fails(2, &["lines is there already"]);
}

/// Ids as other programs write lists of them; an id that could be two is refused, and each of the two has a name.
#[test]
fn ids_are_those_that_are_meant() {
    let here = Place::new();
    let docs = [
        ("a", "one two three four"),
        ("b", "five six seven eight"),
        ("x\ty", "nine ten eleven twelve"),
        ("x\\x09y", "a b c d"),
    ];
    here.write("docs", jsonl(&docs));
    here.say("twinsplit run doc-split -i docs --store store -qo out").ok();
    here.write("ids", "\u{feff}a\r\n\r\nb\r\n");
    let said = here.say("twinsplit store forget store --ids ids");
    assert!(said.err.contains("forgot 2 documents"), "{}", said.err);
    here.say("twinsplit store forget store x\\x09y").fails(2, &["names two documents", "x\\x5cx09y"]);
    assert_eq!(ls(&here)["documents"], 2);
    here.say("twinsplit store forget store x\\x5cx09y").ok();
    let left: Value = serde_json::from_str(here.say("twinsplit store export store").ok().trim()).unwrap();
    assert_eq!(left["id"], "x\ty");
    // Now it names one, as rows have its id.
    here.say("twinsplit store forget store x\\x09y").ok();
    assert_eq!(ls(&here)["documents"], 0);
}
