//! CCDet as a user runs it: pages of sites with templates, on columns and as processes, beside brute force.

use crate::common::cli::Place;
use crate::common::rng::Rng;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A page: its id, the site that it is of, if any, and the numbers of its sentences.
struct Page {
    id: String,
    site: Option<u64>,
    sentences: BTreeSet<u64>,
}

/// Pages that take sentences of one another. Those of a site share two sentences, those of no site share one.
fn pages() -> Vec<Page> {
    let mut rng = Rng::new(3);
    let mut pages: Vec<Page> = Vec::new();
    for number in 0..160_u64 {
        let site = (number % 7 < 6).then_some(number % 7);
        let mut sentences: BTreeSet<u64> = (0..2 + rng.below(8)).map(|_| rng.below(400) as u64).collect();
        if number > 0 && rng.below(2) == 0 {
            sentences.extend(pages[rng.below(pages.len())].sentences.iter().take(1 + rng.below(8)));
        }
        sentences.extend(site.map_or([5000, 5000], |site| [1000 + site, 2000 + site]));
        pages.push(Page { id: format!("p{:03}", number * 61 % 160), site, sentences });
    }
    pages
}

fn lines(pages: &[Page]) -> String {
    let line = |page: &Page| {
        let text: String = page.sentences.iter().map(|number| format!("正文里的第{number}句话。")).collect();
        let url = page.site.map(|site| format!("http://www{site}.example.cn:80/{}.html", page.id));
        format!("{}\n", json!({ "id": page.id, "url": url, "text": text }))
    };
    pages.iter().map(line).collect()
}

/// The sentences that several pages of one site have and no other page, and how many pages have them.
fn templates(pages: &[Page]) -> BTreeMap<u64, usize> {
    let mut having: BTreeMap<u64, Vec<Option<u64>>> = BTreeMap::new();
    for page in pages {
        page.sentences.iter().for_each(|number| having.entry(*number).or_default().push(page.site));
    }
    having.retain(|_, sites| {
        sites.len() > 1 && sites[0].is_some() && sites.iter().all(|site| *site == sites[0])
    });
    having.into_iter().map(|(number, sites)| (number, sites.len())).collect()
}

/// Pairs of at least .6 = 3/5 of the smaller set: ids, the numbers that are compared, and what the two are.
fn expected(pages: &[Page], left_out: &BTreeMap<u64, usize>) -> BTreeSet<String> {
    let set = |page: &Page| -> BTreeSet<u64> {
        page.sentences.iter().copied().filter(|number| !left_out.contains_key(number)).collect()
    };
    let mut sets: Vec<(&str, BTreeSet<u64>)> = pages.iter().map(|page| (&*page.id, set(page))).collect();
    sets.sort();
    let mut pairs = BTreeSet::new();
    for (at, (a, x)) in sets.iter().enumerate() {
        for (b, y) in &sets[at + 1..] {
            let (o, m, n) = (x.intersection(y).count(), x.len(), y.len());
            if o > 0 && 5 * o >= 3 * m.min(n) {
                let what = match (2 * n < m, 2 * m < n) {
                    (true, _) => "contains",
                    (_, true) => "contained",
                    _ => "duplicate",
                };
                pairs.insert(format!("{a} {b} {o} {m} {n} {what}"));
            }
        }
    }
    pairs
}

fn found(pairs: &str) -> BTreeSet<String> {
    let line = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        [&fields[..5], &fields[7..]].concat().join(" ")
    };
    pairs.lines().map(line).collect()
}

fn counter(here: &Place, name: &str) -> u64 {
    let run: Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
    run["counters"].as_object().unwrap().values().filter_map(|step| step[name].as_u64()).sum()
}

#[test]
fn pages_pair_without_the_templates_of_their_sites() {
    let here = Place::new();
    let pages = pages();
    here.write("docs", lines(&pages));
    let templates = templates(&pages);
    let expected = expected(&pages, &templates);
    assert!(templates.len() > 12, "{templates:?}");
    for what in ["contains", "contained", "duplicate"] {
        assert!(expected.iter().any(|pair| pair.ends_with(what)), "{what}");
    }
    let mut outputs = BTreeSet::new();
    for way in ["--threads 1 --memory 80", "--threads 3", "--engine pipes --threads 2"] {
        let run = format!(
            "twinsplit run ccdet {way} --tau 0.6 --input docs --site url --write-kept --min-features 1"
        );
        let said = here.say(&format!("{run} --overwrite --output out"));
        let message = said.err.clone();
        said.ok();
        assert_eq!(found(&here.read("out/pairs.tsv")), expected, "{way}");
        let postings: usize = templates.values().sum();
        assert_eq!(counter(&here, "features_of_one_site"), templates.len() as u64, "{way}");
        assert_eq!(counter(&here, "postings_of_one_site"), postings as u64, "{way}");
        let without = pages.iter().filter(|page| page.site.is_none()).count();
        assert_eq!(counter(&here, "documents_without_site"), without as u64, "{way}");
        let sentence = format!(
            "left out: {} features that only pages of one site have, {postings} times",
            templates.len()
        );
        assert!(message.contains(&sentence), "{way}: {message}");
        outputs.insert(
            ["pairs.tsv", "clusters.tsv", "kept.jsonl"].map(|name| here.read(&format!("out/{name}"))),
        );
    }
    assert_eq!(outputs.len(), 1);
}

/// Such a page is a bad line: its features are those of nobody, wherever it is read.
#[test]
fn a_site_that_is_no_string_is_a_bad_line() {
    let here = Place::new();
    here.write("docs", lines(&pages()).replacen("\"url\":\"http", "\"url\":7,\"was\":\"http", 1));
    let run = "twinsplit run ccdet --input docs --site url --overwrite --output out --quiet";
    for way in ["", "--engine pipes"] {
        here.say(format!("{run} {way}").trim_end())
            .fails(1, &["field site: expected a string, or null, found \"7\""]);
    }
    let outputs = ["", "--threads 3", "--engine pipes"].map(|way| {
        here.say(format!("{run} --bad-records 1 --write-kept {way}").trim_end()).ok();
        ["pairs.tsv", "clusters.tsv", "kept.jsonl"].map(|name| here.read(&format!("out/{name}")))
    });
    assert_eq!(outputs[0], outputs[1]);
    assert_eq!(outputs[0], outputs[2]);
}

/// Sites are counted in what a run may hold.
#[test]
fn sites_have_a_place_in_the_budget() {
    let here = Place::new();
    let pages: String = (0..60_000)
        .map(|number| {
            format!("{{\"id\":\"{number}\",\"url\":\"http://{}{number}/\",\"text\":\"\"}}\n", "x".repeat(600))
        })
        .collect();
    here.write("docs", pages);
    let run = "twinsplit run ccdet --threads 1 --memory 80 --input docs --overwrite --output out --quiet";
    here.say(run).ok();
    here.say(&format!("{run} --site url")).fails(1, &["must stay in memory", "--memory 80 is too small"]);
}
