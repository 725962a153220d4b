//! `run --and FIELD:TAU`: pairs whose documents are alike in two fields. The oracle compares every two documents in both.

use super::keep::counter;
use crate::common::cli::{Place, fixture};
use crate::common::expected::{Expected, Keep, Kind};
use crate::common::features;
use crate::common::oracle::{Doc, Features, Overlaps, Pair, Similarity, shared, short_texts};
use crate::common::real;
use std::fmt::Write as _;

const WAYS: [&str; 4] = [
    "doc-split --threads 1",
    "term-split --pcp prefix",
    "term-split",
    "doc-split --engine pipes --threads 2",
];

/// Documents with titles: the first line of the text, of every third one another; some lack one, and some texts are equal and short.
fn documents() -> (Vec<Doc>, Vec<Option<String>>) {
    let mut docs = real::every(4, real::read(&real::fixture("en.jsonl.gz")));
    docs.extend(real::every(9, real::read(&real::fixture("zh.jsonl.gz"))));
    let title = |text: &str| text.split_whitespace().take(7).collect::<Vec<_>>().join(" ");
    let mut all: Vec<(String, Option<String>, String)> = docs
        .iter()
        .enumerate()
        .map(|(at, doc)| {
            let own = title(&doc.text);
            let title = match at % 6 {
                0 => Some(format!("Version {at} of {own}")),
                1 => Some(format!("Chapter {at}")),
                2 if at % 4 == 0 => None,
                _ => Some(own),
            };
            (doc.id.clone(), title, doc.text.clone())
        })
        .collect();
    for (at, doc) in docs.iter().enumerate().step_by(7) {
        all.push((format!("again-{at}"), Some(title(&doc.text)), doc.text.clone()));
        all.push((format!("more-{at}"), Some(format!("Chapter {at}")), doc.text.clone()));
    }
    let short = ["OK, One", "ok, one", "OK, Two", "Yes, !", "yes, !", "Yes, ?", "No,"];
    for (at, words) in short.iter().enumerate() {
        let (text, title) = words.split_once(',').unwrap();
        all.push((format!("short {at}"), Some(title.to_owned()), text.to_owned()));
    }
    let read = |(at, (id, title, text)): (usize, &(String, Option<String>, String))| {
        let (date, score) = (format!("20{:02}", at * 7 % 23), at * 13 % 31);
        let mut line = serde_json::json!({ "id": id, "text": text, "date": date, "score": score });
        if let Some(title) = title {
            line["meta"] = serde_json::json!({ "title": title });
        }
        Doc { date: Some(date), score: Some(score as i64), ..Doc::from_line(&line.to_string()) }
    };
    let docs = all.iter().enumerate().map(read).collect();
    (docs, all.into_iter().map(|(_, title, _)| title).collect())
}

#[test]
fn pairs_are_alike_in_both_fields() {
    let (docs, titles) = documents();
    let here = Place::new();
    here.write(
        "docs",
        docs.iter().fold(String::new(), |mut all, doc| {
            writeln!(all, "{}", doc.line).unwrap();
            all
        }),
    );
    let sets = features::of(&docs, "words:2");
    let overlaps = Overlaps::of_any_similarity(&sets, "0.4");
    let as_docs: Vec<Doc> = titles
        .iter()
        .map(|title| Doc { text: title.clone().unwrap_or_default(), ..docs[0].clone() })
        .collect();
    let mut runs = 0;
    for (similarity, tau, title_tau, kind, keep) in [
        (Similarity::Jaccard, "0.5", "0.8", "words:1", Keep::SmallestId),
        (Similarity::Jaccard, "0.5", "0.35", "chars:3", Keep::Newest),
        (Similarity::Containment, "0.7", "1", "", Keep::Longest),
        (Similarity::Cosine, "0.6", "0.5", "words:1", Keep::Score),
        (Similarity::Dice, "0.7", "0.9", "words:2", Keep::First),
    ] {
        let title_sets = features::of(&as_docs, if kind.is_empty() { "words:2" } else { kind });
        // Titles without features are alike where they are equal.
        let whole = short_texts(&as_docs, &title_sets, 1);
        let is_alike = |x: usize, y: usize| {
            let (a, b): (&Features, &Features) = (&title_sets[x], &title_sets[y]);
            match a.is_empty() && b.is_empty() {
                true => whole[x].is_some() && whole[x] == whole[y],
                false => similarity.reaches(title_tau, shared(a, b), a.len(), b.len()),
            }
        };
        let found = overlaps.pairs_by(similarity, tau, &sets);
        let pairs: Vec<Pair> = found.iter().filter(|pair| is_alike(pair.a, pair.b)).copied().collect();
        assert!(pairs.len() > 10 && 10 * pairs.len() < 9 * found.len(), "{} of {}", pairs.len(), found.len());
        // A short text is equal to another one if the title is alike, too; here that is an equivalence.
        let texts = short_texts(&docs, &sets, 1);
        let texts: Vec<Option<String>> = (0..docs.len())
            .map(|at| {
                let text = texts[at].as_ref()?;
                let first = (0..=at)
                    .find(|other| texts[*other] == texts[at] && (*other == at || is_alike(*other, at)))?;
                Some(format!("{text}, {first}"))
            })
            .collect();
        let expected = Expected::by(similarity, (&docs, &sets, &texts), &pairs, Kind::Star, keep);
        let and = format!("meta.title:{title_tau}{}{kind}", if kind.is_empty() { "" } else { ":" });
        for way in if keep == Keep::Newest || keep == Keep::First { &WAYS[..] } else { &WAYS[..2] } {
            let line = format!(
                "twinsplit run {way} --features words:2 --similarity {} --tau {tau} {} --and {and} --write-kept --input docs --output out \
                 --overwrite --quiet",
                similarity.name(),
                keep.args().join(" ")
            );
            here.say(&line).ok();
            assert_eq!(here.read("out/pairs.tsv"), expected.pairs, "{line}");
            assert_eq!(here.read("out/clusters.tsv"), expected.clusters, "{line}");
            assert_eq!(here.read("out/kept.jsonl"), expected.kept, "{line}");
            let dropped = expected.clusters.lines().filter(|line| line.contains("\tdrop\t")).count();
            assert_eq!(counter(&here, "documents_dropped"), dropped as u64);
            assert_eq!(counter(&here, "pairs"), pairs.len() as u64);
            assert_eq!(counter(&here, "pairs_compared"), found.len() as u64);
            runs += 1;
        }
    }
    // What reads the answer takes it for what it is.
    here.say("twinsplit report out -q").ok();
    let first = here.read("out/pairs.tsv");
    let ids: Vec<&str> = first.lines().next().unwrap().split('\t').take(2).collect();
    let mut explain = crate::common::harness::twinsplit();
    explain.args(["explain", ids[0], ids[1], "--run", "out"]);
    let said = here.run(explain, "").ok();
    assert!(
        said.contains(
            "asked for another field, too (--and meta.title:0.9:words:2), which this does not show"
        ),
        "{said}"
    );
    let annotated = here.say("twinsplit annotate out --only kept -o - -q").ok();
    assert_eq!(annotated.lines().count(), here.read("out/kept.jsonl").lines().count());
    println!("{runs} runs");
}

/// A table, with the files that are kept in their own form, and with tables of the answer.
#[test]
fn columns_of_a_table_have_a_threshold_each() {
    let here = Place::new();
    let body = "Rain fell on the harbour all night and the ferry left at six.";
    here.write("t.csv", format!("nr,title,body\n1,The ferry,{body}\n2,Rain in town,{body}\n3,the ferry!,{body} Nobody saw it go.\n4,,{body}\n5,,{body}\n"));
    here.say("twinsplit run -i t.csv --id nr --text body --and title:0.9:words:1 --write-kept=same --tables jsonl -qo out").ok();
    assert_eq!(here.read("out/clusters.tsv"), "1\t1\tkeep\t-\n1\t3\tdrop\t0.733333\n");
    assert_eq!(here.read("out/kept/t.csv").lines().count(), 5);
    assert_eq!(here.read("out/pairs.jsonl").lines().count(), 1);
    let run: serde_json::Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
    assert_eq!(
        (&run["parameters"]["and"], &run["parameters"]["cluster"]),
        (&"title:0.9:words:1".into(), &"star".into())
    );
}

#[test]
fn what_it_does_not_go_with_is_refused() {
    let here = Place::new();
    let docs = fixture("documents/tiny.jsonl").display().to_string();
    let run = |more: &str| here.say(&format!("twinsplit run -i {docs} -o out {more}"));
    for (more, words) in [
        ("--and title", "FIELD:TAU"),
        ("--and title:0", "--and"),
        ("--and title:0.5:words:0", "--and"),
        ("--and title:0.5 --cluster components", "leave --cluster components out"),
        ("--and title:0.5 --write clusters", "leave --write clusters out"),
        ("--and title:0.5 --unit line", "leave one of the two out"),
        ("--and title:0.5 --reduce-to 3", "leave one of the two out"),
        ("--and title:0.5 --store s", "or the store"),
        (&*format!("--and title:0.5 --queries {docs}"), "leave --queries out"),
        ("--and title:0.5 --engine hadoop", "--engine local and pipes"),
        (
            "--and nofield:0.5",
            "no document that is in a pair has a text or a number in the field \"nofield\"",
        ),
    ] {
        run(more).fails(2, &[words]);
        assert!(!here.path("out").exists(), "{more}");
    }
    here.with("twinsplit run -i - -o out --and title:0.5", "", &[]).fails(2, &["--and", "standard input"]);
}

/// A number in the other field is compared as it is written, and documents that have neither are told.
#[test]
fn numbers_are_compared_as_they_are_written() {
    let here = Place::new();
    let text = "one two three four five six seven eight";
    let years = ["2020", "2020", "\"2020\"", "\"2021\"", "true", "null"];
    let line =
        |(at, year): (usize, &&str)| format!("{{\"id\":\"d{at}\",\"year\":{year},\"text\":\"{text}\"}}\n");
    here.write("docs", years.iter().enumerate().map(line).collect::<String>());
    let said = here.say("twinsplit run -i docs --and year:1:words:1 -o out");
    assert!(said.err.contains("2 of 6 documents that the text puts into pairs have neither a text nor a number in the field \"year\""), "{}", said.err);
    said.ok();
    let pairs: Vec<String> =
        here.read("out/pairs.tsv").lines().map(|line| line[..5].replace('\t', " ")).collect();
    assert_eq!(pairs, ["d0 d1", "d0 d2", "d1 d2"]);
    here.say("twinsplit run -i docs --and other:1 -o none")
        .fails(2, &["no document that is in a pair has a text or a number in the field \"other\""]);
}
