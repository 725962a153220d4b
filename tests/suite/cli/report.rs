//! `twinsplit report`: the page as a reader meets it, in a real browser. What it shows is compared with counts made
//! here from the answer's files, and what it marks with features made here from the texts.

use crate::common::browser::Browser;
use crate::common::cli::{Place, fixture, jsonl};
use crate::common::oracle::escape_id;
use crate::common::real;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// Lines of a file as fields.
fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split('\t').collect()).collect()
}

/// Runs over the English and Chinese fixtures and writes the report.
fn report(options: &str, more: &str) -> Place {
    let here = Place::new();
    let [en, zh] =
        ["en", "zh"].map(|name| fixture(&format!("documents/{name}.jsonl.gz")).display().to_string());
    here.say(&format!("twinsplit run doc-split --input {en} {zh} {options} --output out --quiet")).ok();
    let said = here.say(format!("twinsplit report out {more}").trim_end());
    assert!(said.err.contains("out/report.html: "), "{}", said.err);
    said.ok();
    here
}

/// The texts of the fixtures, by id as the answer writes it.
fn texts() -> HashMap<String, String> {
    let files = ["en.jsonl.gz", "zh.jsonl.gz"].map(|name| real::read(&fixture(&format!("documents/{name}"))));
    files.into_iter().flatten().map(|doc| (doc.id, doc.text)).collect()
}

/// A number as the page writes it: groups of three.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<_> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap()).collect();
    groups.join(",")
}

/// The rows of a chart's table: label and count.
fn table(browser: &Browser, chart: usize) -> Vec<(String, usize)> {
    let found = browser.script(&format!(
        "return [...document.querySelectorAll('figure')[{chart}].querySelectorAll('tbody tr')]\
         .map((row) => [...row.children].map((cell) => cell.textContent))"
    ));
    let found: Vec<(String, String)> = serde_json::from_value(found).unwrap();
    found.into_iter().map(|(label, count)| (label, count.replace(',', "").parse().unwrap())).collect()
}

/// Opens a cluster and gives its members: id, similarity or "kept", and how the text begins.
fn members(browser: &Browser, cluster: usize) -> Vec<(String, String, String)> {
    browser.click(&format!("#cluster-{cluster} > summary"));
    browser.until(&format!("return document.querySelector('#cluster-{cluster} .members') !== null"));
    let found = browser.script(&format!(
        "return [...document.querySelectorAll('#cluster-{cluster} .row')].map((row) =>\
         ['.id', '.badge, .number', '.start'].map((css) => row.querySelector(css)?.textContent ?? ''))"
    ));
    serde_json::from_value(found).unwrap()
}

/// Chooses two members of clusters by clicking them; opens the comparison, unfolded. What was folded before is all
/// that was not seen then, and how many parts that were is given back.
fn compare(browser: &Browser, one: (usize, usize), two: (usize, usize)) -> u64 {
    let lengths = || {
        browser.script(
            "return [...document.querySelectorAll('#pair .text')].map((text) => [...text.childNodes].reduce((sum, node) =>\
             sum + (node.nodeName === 'BUTTON' ? Number(node.textContent.replace(/\\D/g, '')) : node.textContent.length\
             - [...node.querySelectorAll('.hidden')].reduce((more, span) => more + span.textContent.length - 1, 0)), 0))",
        )
    };
    for (cluster, member) in [one, two] {
        browser.click(&format!(".member[data-cluster='{cluster}'][data-member='{member}']"));
    }
    browser.until("return document.getElementById('pair').open");
    let (folded, parts) = (lengths(), browser.script("return document.querySelectorAll('.fold').length"));
    browser.click("#fold");
    browser.until("return document.querySelector('.fold') === null");
    assert_eq!(folded, lengths());
    parts.as_u64().unwrap()
}

/// How the two texts of the comparison are marked: kind and text of each stretch.
fn marked(browser: &Browser) -> Vec<Vec<(String, String)>> {
    let found = browser.script(
        "return [...document.querySelectorAll('#pair .text')].map((text) => [...text.childNodes].map((node) =>\
         [node.className ?? 'bare', node.textContent]))",
    );
    serde_json::from_value(found).unwrap()
}

/// Features with their places in bytes.
type Found = Vec<(String, Range<usize>)>;

/// words:5 of text without Han, by the words of UAX 29, independently of the product's segmenter.
fn five_words(text: &str) -> Found {
    let words: Vec<(usize, &str)> = text.unicode_word_indices().collect();
    let shingle = |window: &[(usize, &str)]| {
        let feature: Vec<_> = window.iter().map(|(_, word)| word.to_lowercase()).collect();
        (feature.join(" "), window[0].0..window[4].0 + window[4].1.len())
    };
    words.windows(5).map(shingle).collect()
}

/// chars:9 where each character is normalised by itself: white space is one space, and none at the ends.
fn nine_chars(text: &str) -> Found {
    let mut chars: Vec<(char, Range<usize>)> = Vec::new();
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let ascii = match c {
            '‘' | '’' => '\'',
            '“' | '”' => '"',
            c => c,
        };
        for c in std::iter::once(ascii).nfkc() {
            match chars.last_mut() {
                Some((' ', span)) if c.is_whitespace() => span.end = end,
                None if c.is_whitespace() => {}
                _ => chars.push((if c.is_whitespace() { ' ' } else { c.to_ascii_lowercase() }, at..end)),
            }
        }
    }
    if chars.last().is_some_and(|(c, _)| *c == ' ') {
        chars.pop();
    }
    let gram = |window: &[(char, Range<usize>)]| {
        (window.iter().map(|(c, _)| *c).collect(), window[0].1.start..window[8].1.end)
    };
    chars.windows(9).map(gram).collect()
}

/// How the first `most` bytes of a text should be marked, byte by byte and then in stretches.
fn expected(text: &str, features: &Found, other: &Found, most: usize) -> Vec<(String, String)> {
    let others: BTreeSet<&String> = other.iter().map(|(feature, _)| feature).collect();
    let mut kinds = vec!["unseen"; text.len()];
    features.iter().for_each(|(_, span)| kinds[span.clone()].fill("differs"));
    let shared = features.iter().filter(|(feature, _)| others.contains(feature));
    shared.for_each(|(_, span)| kinds[span.clone()].fill("shared"));
    let mut stretches: Vec<(String, String)> = Vec::new();
    for (at, c) in text.char_indices().take_while(|(at, c)| at + c.len_utf8() <= most) {
        match stretches.last_mut() {
            Some((kind, stretch)) if *kind == kinds[at] => stretch.push(c),
            _ => stretches.push((kinds[at].to_owned(), c.to_string())),
        }
    }
    stretches.iter_mut().for_each(|(_, stretch)| *stretch = written_out(stretch));
    stretches
}

/// What the comparison says of shared features: overlap, both sizes, and the similarity.
fn arithmetic(browser: &Browser) -> (usize, usize, usize, String) {
    let said = browser.text("#arithmetic");
    let after = |word: &str| said.split_once(word).unwrap_or_else(|| panic!("{word:?} in {said}")).1;
    let number =
        |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap();
    let jaccard = after(") = ").split(" = ").nth(1).unwrap().split(',').next().unwrap();
    (number(after("Jaccard = ")), number(after(" / (")), number(after(" + ")), jaccard.to_owned())
}

fn distinct(features: &Found) -> BTreeSet<&str> {
    features.iter().map(|(feature, _)| feature.as_str()).collect()
}

/// Totals, both histograms, the largest cluster and a pair of it, in English.
#[test]
fn a_real_run_is_shown_as_it_is() {
    let here = report("--features words:5 --tau 0.7", "--order size");
    let (pairs, clusters) = (here.read("out/pairs.tsv"), here.read("out/clusters.tsv"));
    let (pairs, clusters) = (rows(&pairs), rows(&clusters));
    let run: Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
    let mut by_kept: BTreeMap<&str, Vec<&[&str]>> = BTreeMap::new();
    clusters.iter().for_each(|row| by_kept.entry(row[0]).or_default().push(row));
    let dropped = clusters.iter().filter(|row| row[2] == "drop").count();

    let browser = Browser::start(1200);
    browser.open(&here.path("out/report.html"));
    let documents = run["counters"]["tokenize"]["documents"].as_u64().unwrap() as usize;
    assert_eq!(documents, texts().len());
    for (name, expected) in [
        ("documents", grouped(documents)),
        ("without", "0".to_owned()),
        ("clusters-count", grouped(by_kept.len())),
        ("members", grouped(clusters.len())),
        (
            "dropped",
            format!("{}\u{20}({:.1}\u{a0}%)", grouped(dropped), 100.0 * dropped as f64 / documents as f64),
        ),
        ("below", {
            // Rounded similarities decide as the exact ones do: none is so near to tau.
            let dropped = || clusters.iter().filter(|row| row[2] == "drop").map(|row| row[3]);
            let below = dropped().filter(|jaccard| *jaccard < "0.700000").count();
            format!("{}, least similarity {}", grouped(below), dropped().min().unwrap())
        }),
        ("pairs", grouped(pairs.len())),
        ("seconds", format!("{} s", run["seconds"]["total"])),
    ] {
        assert_eq!(browser.text(&format!("#total-{name}")), expected, "{name}");
    }
    let shown = browser.text("main");
    for warning in run["warnings"].as_array().unwrap() {
        assert!(shown.contains(warning.as_str().unwrap()), "{warning}");
    }
    for (name, value) in run["parameters"].as_object().unwrap() {
        let row = browser.script(&format!(
            "return [...document.querySelectorAll('#parameters tr')].map((row) => row.textContent)\
             .includes({})",
            json!(format!("{name}{}", value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
        ));
        assert_eq!(row, json!(true), "{name}");
    }

    // Similarities as they stand in the file, their first two decimals as text.
    let mut similar: BTreeMap<String, usize> = BTreeMap::new();
    pairs.iter().for_each(|row| *similar.entry(row[5][..4].to_owned()).or_default() += 1);
    let bars = table(&browser, 0);
    assert_eq!(bars.len(), 31, "30 hundredths from tau, and 1: {bars:?}");
    for (label, count) in &bars {
        let start = if label == "1" { "1.00" } else { &label[..4] };
        assert_eq!(similar.get(start).copied().unwrap_or(0), *count, "{label}");
    }
    assert_eq!(bars.iter().map(|(_, count)| count).sum::<usize>(), pairs.len());
    let bars = table(&browser, 1);
    for (label, count) in &bars {
        let (from, to) = label.split_once(" to ").unwrap_or((label, label));
        let range = from.parse::<usize>().unwrap()..=to.parse().unwrap();
        assert_eq!(by_kept.values().filter(|rows| range.contains(&rows.len())).count(), *count, "{label}");
    }
    assert_eq!(bars.iter().map(|(_, count)| count).sum::<usize>(), by_kept.len());
    assert_eq!(
        browser.script("return document.querySelectorAll('figure rect.bar').length"),
        json!(31 + bars.len())
    );

    let mut largest: Vec<_> = by_kept.iter().collect();
    largest.sort_by_key(|(kept, rows)| (std::cmp::Reverse(rows.len()), **kept));
    let embedded: usize = largest.iter().take(100).map(|(_, rows)| rows.len()).sum();
    let sentence = browser.text("#embedded");
    for words in [
        format!("the texts of {} of {} documents", grouped(embedded), grouped(clusters.len())),
        format!("the largest 100 of {} clusters", by_kept.len()),
        format!("--clusters {} holds all", by_kept.len()),
    ] {
        assert!(sentence.contains(&words), "{words:?} is not in: {sentence}");
    }
    let (kept, expected_rows) = largest[0];
    let shown = members(&browser, 0);
    assert_eq!((shown[0].0.as_str(), shown[0].1.as_str()), (*kept, "kept"));
    let similarities: BTreeSet<_> =
        shown[1..].iter().map(|(id, jaccard, _)| (id.as_str(), jaccard.as_str())).collect();
    let others = expected_rows.iter().filter(|row| row[2] == "drop").map(|row| (row[1], row[3]));
    assert_eq!(similarities, others.collect());
    let texts = texts();
    for (id, _, start) in &shown {
        let words = texts[id].split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!start.is_empty() && words.starts_with(start.as_str()), "{id}: {start}");
    }

    // The kept document and the one that is least like it.
    let (a, b) = (&texts[&shown[0].0], &texts[&shown[shown.len() - 1].0]);
    compare(&browser, (0, 0), (0, shown.len() - 1));
    let (fa, fb) = (five_words(a), five_words(b));
    let most = 20_000;
    assert_eq!(marked(&browser), [expected(a, &fa, &fb, most), expected(b, &fb, &fa, most)]);
    let kinds: BTreeSet<_> = marked(&browser).into_iter().flatten().map(|(kind, _)| kind).collect();
    assert!(kinds.contains("shared") && kinds.contains("differs"), "{kinds:?}");
    let (da, db) = (distinct(&fa), distinct(&fb));
    let (overlap, size_a, size_b, jaccard) = arithmetic(&browser);
    assert_eq!((overlap, size_a, size_b), (da.intersection(&db).count(), da.len(), db.len()));
    assert_eq!(jaccard, shown[shown.len() - 1].1);
    assert!(browser.text("#arithmetic").contains("below tau 0.7; other documents put them into one cluster"));
    assert_eq!(browser.console(), Vec::<String>::new());
    assert_eq!(browser.script("return performance.getEntriesByType('resource').length"), json!(0));
}

/// Chinese by characters, cut texts, documents of two clusters, and a page that is as narrow as a phone.
#[test]
fn chinese_and_narrow() {
    let most = 1_000;
    let here = report(
        "--features chars:9 --tau 0.6",
        &format!("--text {most} --members 5 --clusters 40 --order size"),
    );
    let texts = texts();
    let browser = Browser::start(360);
    browser.open(&here.path("out/report.html"));
    let narrow = |what: &str| {
        let wide = browser.script(
            "const dialog = document.getElementById('pair'); return [document.documentElement.scrollWidth, innerWidth,\
             dialog.scrollWidth, dialog.clientWidth]",
        );
        let wide: Vec<u64> = serde_json::from_value(wide).unwrap();
        assert!(wide[0] <= wide[1] && wide[1] == 360 && wide[2] <= wide[3], "{what}: {wide:?}");
    };
    narrow("the page");
    browser.script("document.querySelectorAll('details:not(.cluster)').forEach((each) => each.open = true)");
    narrow("all tables");

    // The first two clusters whose kept documents are Chinese and of characters that are normalised one by one.
    let plain = |text: &str| {
        text.chars().all(|c| {
            c.is_ascii()
                || (c.to_lowercase().eq([c])
                    && matches!(c, '\u{2010}'..='\u{fefe}' | '\u{ff00}'..='\u{ffff}'))
        }) && text.chars().filter(|c| *c > '\u{2fff}').count() > 300
    };
    let kept = browser.script("return report.shown.map((cluster) => cluster.members.map(([id]) => id))");
    let kept: Vec<Vec<String>> = serde_json::from_value(kept).unwrap();
    let fits = |ids: &[String]| plain(&texts[&ids[0]]) && plain(&texts[&ids[ids.len() - 1]]);
    let chosen: Vec<usize> = (0..kept.len()).filter(|at| fits(&kept[*at])).take(2).collect();
    let [first, second] = chosen[..] else { panic!("two Chinese clusters: {chosen:?}") };
    let last = members(&browser, first).len() - 1;
    members(&browser, second);
    narrow("two clusters");
    // What is tabbed to does not lie under the tray of chosen documents.
    browser.click(&format!(".member[data-cluster='{first}']"));
    for member in (0..=last).rev().chain(0..=last) {
        browser.script(&format!("document.querySelectorAll('#cluster-{first} .member')[{member}].focus()"));
        let places = browser.script(
            "return [document.activeElement, document.getElementById('tray')].map((each) => each.getBoundingClientRect())\
             .flatMap((place) => [place.top, place.bottom])",
        );
        let places: Vec<f64> = serde_json::from_value(places).unwrap();
        assert!(places[0] >= -1.0 && places[1] <= places[2] + 1.0, "{member}: {places:?}");
    }
    browser.click("#clear");
    for (one, two) in [((first, 0), (first, last)), ((first, last), (second, 0))] {
        compare(&browser, one, two);
        narrow("two documents");
        let [a, b] = [one, two].map(|(cluster, member)| texts[&kept[cluster][member]].as_str());
        let (fa, fb) = (nine_chars(a), nine_chars(b));
        assert_eq!(marked(&browser), [expected(a, &fa, &fb, most), expected(b, &fb, &fa, most)]);
        let (da, db) = (distinct(&fa), distinct(&fb));
        let (overlap, size_a, size_b, _) = arithmetic(&browser);
        assert_eq!((overlap, size_a, size_b), (da.intersection(&db).count(), da.len(), db.len()));
        assert!(
            a.len() > most && browser.text("#pair").contains(&format!("of its {} bytes", grouped(a.len())))
        );
        browser.click("#close-pair");
        browser.click("#clear");
    }
    assert_eq!(browser.console(), Vec::<String>::new());
}

/// Every kind of feature, with and without an IDF range: two documents share in the page what `explain` counts.
#[test]
fn every_kind_of_feature_agrees_with_explain() {
    let browser = Browser::start(1000);
    let mut folded = 0;
    for (options, by_hand) in [
        ("--features words:2 --tau 0.4", false),
        ("--features spotsigs --tau 0.3", false),
        ("--features spotsigs:zh --tau 0.3", false),
        ("--features sentence-ends:10 --tau 0.3", false),
        ("--features lines --tau 0.3", false),
        ("--features chars:5 --tau 0.5 --idf 0.2,0.9", false),
        ("--features words:3 --tau 0.3 --idf 0.1,0.95 --case-fold off", true),
    ] {
        let here = report(options, "--clusters 3 --order size");
        browser.open(&here.path("out/report.html"));
        let shown = members(&browser, 0);
        members(&browser, 1);
        let other = browser.script("return report.shown[1].members[0][0]").as_str().unwrap().to_owned();
        let last = shown.len() - 1;
        for ((cluster, member), id) in [((0, last), &shown[last].0), ((1, 0), &other)] {
            folded += compare(&browser, (0, 0), (cluster, member));
            let mut explain = crate::common::harness::twinsplit();
            explain.args(["explain", &shown[0].0, id, "--run", "out"]);
            let said = here.run(explain, "").ok();
            let (overlap, a, b, jaccard) = arithmetic(&browser);
            let line = format!(
                "= {overlap} / ({a} + {b} - {overlap}) = {overlap} / {} = {jaccard}\n",
                a + b - overlap
            );
            assert!(said.contains(&line), "{options}: {line} is not in {said}");
            let verdict = browser.text("#arithmetic").contains("reaches tau");
            assert_eq!(
                verdict && a.min(b) >= least(&here),
                said.ends_with("=> a pair\n"),
                "{options}: {said}"
            );
            let kinds: BTreeSet<_> = marked(&browser).into_iter().flatten().map(|(kind, _)| kind).collect();
            assert_eq!(kinds.contains("shared"), overlap > 0, "{options}");
            browser.click("#close-pair");
            browser.click("#clear");
        }
        // One click compares with the kept document.
        if by_hand {
            browser.click("#cluster-0 .with-kept");
            browser.until("return document.getElementById('pair').open");
            assert_eq!(browser.text("#pair .document h3 .id"), shown[0].0);
            browser.keys("#pair", "\u{e00c}");
            browser.until("return !document.getElementById('pair').open");
        }
    }
    assert!(folded > 0);
    assert_eq!(browser.console(), Vec::<String>::new());
}

fn least(here: &Place) -> usize {
    let run: Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
    run["parameters"]["min-features"].as_str().unwrap().parse().unwrap()
}

/// All clusters, a page at a time, those first of which most would be lost, as `annotate` counts it; by size and script; what would be lost in
/// colour; on a phone, and in the dark.
#[test]
fn clusters_come_by_what_would_be_lost() {
    let here = report("--features words:5 --tau 0.6", "--clusters 30");
    let annotated = here.say("twinsplit annotate out -o - -q").ok();
    let mut least: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for line in annotated.lines() {
        let document: Value = serde_json::from_str(line).unwrap();
        if let (Some(share), true) = (document["dup_share"].as_f64(), document["dup_drop"] == json!(true)) {
            let own =
                least.entry(document["dup_kept"].as_str().unwrap().to_owned()).or_insert(("2".to_owned(), 1));
            own.0 = std::mem::take(&mut own.0).min(format!("{share:.6}"));
            own.1 += 1;
        }
    }
    let mut expected: Vec<(&String, &(String, usize))> = least.iter().collect();
    expected.sort_by_key(|(kept, (share, size))| (share, std::cmp::Reverse(size), *kept));
    let expected: Vec<String> = expected.into_iter().map(|(kept, _)| kept.clone()).collect();
    let clusters = expected.len();
    assert!(clusters > 110, "{clusters}");

    let browser = Browser::start(390);
    browser.open(&here.path("out/report.html"));
    let narrow = |what: &str| {
        let wide = browser.script("return [document.documentElement.scrollWidth, innerWidth]");
        let wide: Vec<u64> = serde_json::from_value(wide).unwrap();
        assert!(wide[0] <= wide[1] && wide[1] == 390, "{what}: {wide:?}");
    };
    let listed = || -> Vec<(String, String)> {
        let found = browser.script(
            "return [...document.querySelectorAll('#clusters > li')].map((line) => [line.querySelector('.id').textContent,\
             line.querySelector('.part')?.textContent ?? ''])",
        );
        serde_json::from_value(found).unwrap()
    };
    let all_pages = || {
        let mut all = listed();
        while browser.script("return document.getElementById('next-page').disabled") == json!(false) {
            assert_eq!(listed().len(), 50);
            browser.click("#next-page");
            all.extend(listed());
        }
        all
    };
    narrow("the list");
    let all = all_pages();
    assert_eq!(all.iter().map(|(kept, _)| kept.clone()).collect::<Vec<_>>(), expected);
    for (kept, lost) in &all {
        let share: f64 = least[kept].0.parse().unwrap();
        let percent = 100.0 * (1.0 - share);
        let lost = lost.strip_prefix("up to ").filter(|_| least[kept].1 > 2).unwrap_or(lost);
        match lost.strip_suffix("\u{a0}% lost") {
            None => assert!(lost == "nothing lost" && least[kept].0 == "1.000000", "{kept}: {lost}"),
            Some("under 0.1") => assert!(percent > 0.0 && percent < 0.1, "{kept}: {lost}"),
            Some(lost) => assert!((lost.parse::<f64>().unwrap() - percent).abs() < 0.051, "{kept}: {lost}"),
        }
    }
    assert!(browser.text("#listed").contains(&format!("{clusters} of {clusters} clusters, most lost first")));

    // Chosen by hand, as a reader would.
    let choose = |select: &str, value: &str| {
        browser.script(&format!(
            "const select = document.getElementById('{select}'); select.value = '{value}';\
             select.dispatchEvent(new Event('change')); return 0"
        ));
    };
    choose("order", "size");
    let sizes: Vec<usize> = all_pages().iter().map(|(kept, _)| least[kept].1).collect();
    assert!(sizes.len() == clusters && sizes.is_sorted_by(|x, y| x >= y), "{sizes:?}");
    let texts = texts();
    let is_han = |kept: &str| {
        let han = texts[kept].chars().filter(|c| ('\u{4e00}'..='\u{9fff}').contains(c)).count();
        3 * han > texts[kept].chars().filter(char::is_ascii_alphabetic).count()
    };
    choose("script", "Han");
    let han: BTreeSet<String> = all_pages().into_iter().map(|(kept, _)| kept).collect();
    assert_eq!(han, expected.iter().filter(|kept| is_han(kept)).cloned().collect());
    assert!(!han.is_empty() && han.len() < clusters);
    // What is searched for is found whatever the list shows.
    let shown = browser.script("return report.shown.map((cluster) => cluster.members.map(([id]) => id))");
    let shown: Vec<Vec<String>> = serde_json::from_value(shown).unwrap();
    assert_eq!(shown.iter().map(|ids| ids[0].clone()).collect::<Vec<_>>(), expected[..30]);
    let latin =
        shown.iter().position(|ids| ids.len() > 1 && ids.iter().all(|id| texts[id].is_ascii())).unwrap();
    browser.fill("#query", &shown[latin][1]);
    browser.keys("#query", "\u{e007}");
    browser.until(&format!("return document.getElementById('cluster-{latin}')?.open === true"));
    assert_eq!(browser.script("return document.getElementById('script').value"), json!(""));

    // The passages under no feature of the kept document, and no others, are in colour.
    browser.click(&format!("#cluster-{latin} .show-losses"));
    narrow("what would be lost");
    let kept = five_words(&texts[&shown[latin][0]]);
    let mut lost = 0;
    for id in &shown[latin][1..] {
        let found = browser.script(&format!(
            "return [...document.querySelectorAll('#cluster-{latin} .loss')].filter((loss) => loss.querySelector('.id').textContent === {})\
             .flatMap((loss) => [...loss.querySelectorAll('mark')].map((mark) => mark.textContent))",
            json!(id)
        ));
        let found: Vec<String> = serde_json::from_value(found).unwrap();
        let stretches = expected_marks(&texts[id], &five_words(&texts[id]), &kept);
        assert_eq!(found, stretches, "{id}");
        lost += found.len();
    }
    assert!(lost > 0);
    let colours = || {
        browser.script(
        "const style = (css) => getComputedStyle(document.querySelector(css)); return [style('.loss mark').backgroundColor,\
         style('body').backgroundColor, style('#order').backgroundColor]",
    )
    };
    let light = colours();
    browser.dark();
    let dark = colours();
    for at in 0..3 {
        assert_ne!(light[at], dark[at], "{light} and {dark}");
    }
    browser.click(&format!("#cluster-{latin} .show-losses"));
    assert_eq!(browser.script("return document.querySelectorAll('.loss').length"), json!(0));
    assert_eq!(browser.console(), Vec::<String>::new());

    // Without texts nothing is known of what is lost.
    here.say("twinsplit report out --text 0 --order risk --to -").fails(2, &["--order risk", "--order size"]);
    here.say("twinsplit report out --text 0 --overwrite -q").ok();
    browser.open(&here.path("out/report.html"));
    let sizes: Vec<usize> = all_pages().iter().map(|(kept, _)| least[kept].1).collect();
    assert!(sizes.len() == clusters && sizes.is_sorted_by(|x, y| x >= y), "{sizes:?}");
}

/// What of the beginning of a text is marked as different.
fn expected_marks(text: &str, features: &Found, other: &Found) -> Vec<String> {
    let stretches = expected(text, features, other, 20_000).into_iter();
    stretches.filter(|(kind, _)| kind == "differs").map(|(_, stretch)| stretch).collect()
}

/// A search finds what is embedded and says honestly where the rest is.
#[test]
fn a_search_is_honest() {
    let here = report("--features words:5 --tau 0.7", "--clusters 3 --members 4 --order size");
    let clusters = here.read("out/clusters.tsv");
    let browser = Browser::start(800);
    browser.open(&here.path("out/report.html"));
    let shown = browser.script("return report.shown.map((cluster) => cluster.members.map(([id]) => id))");
    let shown: Vec<Vec<String>> = serde_json::from_value(shown).unwrap();
    let kepts: Vec<&str> = shown.iter().map(|ids| ids[0].as_str()).collect();
    let find = |id: &str| {
        browser.fill("#query", id);
        browser.text("#exact")
    };
    // Embedded: Enter opens its cluster and puts the focus on it.
    let found = find(&shown[1][2]);
    assert!(found.starts_with(&shown[1][2]) && found.contains("in cluster 2 of"), "{found}");
    browser.keys("#query", "\u{e007}");
    browser.until("return document.getElementById('cluster-1').open");
    assert_eq!(
        browser.script("return document.activeElement.querySelector('.id').textContent"),
        json!(shown[1][2])
    );
    // From there two documents are compared without a pointer; Escape leads back.
    for member in [2, 1] {
        browser.keys(&format!(".member[data-cluster='1'][data-member='{member}']"), "\u{e007}");
    }
    browser.until("return document.getElementById('pair').open");
    assert_eq!(browser.text("#pair .document h3 .id"), shown[1][2]);
    browser.keys("#close-pair", "\u{e00c}");
    browser.until("return !document.getElementById('pair').open");
    // In a cluster of the page, beyond --members.
    let rows = rows(&clusters);
    let beyond =
        rows.iter().find(|row| row[0] == kepts[0] && !shown[0].iter().any(|id| id == row[1])).unwrap();
    let found = find(beyond[1]);
    assert!(found.contains("its text is not embedded. --members 28 embeds it"), "{found}");
    // In another cluster.
    let other = rows.iter().rfind(|row| !kepts.contains(&row[0]) && row[2] == "drop").unwrap();
    let size = rows.iter().filter(|row| row[0] == other[0]).count();
    let found = find(other[1]);
    let words = format!("is in the cluster of {} ({size} documents), whose texts are not embedded", other[0]);
    assert!(found.contains(&words), "{words:?} is not in: {found}");
    // In no cluster, though in the input; and in nothing at all.
    let alone = texts().into_keys().find(|id| rows.iter().all(|row| row[1] != id)).unwrap();
    for id in [alone.as_str(), "no such document"] {
        let found = find(id);
        assert!(found.starts_with("No cluster has a document with the id "), "{found}");
    }
    // Ids are a list with a bound; beyond it the page cannot know, and says so.
    here.say("twinsplit report out --overwrite --clusters 3 --members 4 --ids 10 --order size --quiet").ok();
    browser.open(&here.path("out/report.html"));
    let found = find(other[1]);
    let unlisted = rows.len() - 12 - 10;
    assert!(
        found.contains(&format!("is one of {unlisted} documents in clusters that the page does not list")),
        "{found}"
    );
    assert_eq!(browser.console(), Vec::<String>::new());
}

/// A text as the page shows it: controls, line ends of Unicode and directions are written out, line ends and TABs are not.
fn written_out(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' if rest.peek() == Some(&'\n') => out.push(c),
            '\0'..='\x1f' | '\x7f' => write!(out, "\\x{:02x}", u32::from(c)).unwrap(),
            '\u{80}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}' => write!(out, "\\u{{{:x}}}", u32::from(c)).unwrap(),
            c => out.push(c),
        }
    }
    out
}

/// Text that tries to be more than text: in ids, in texts, in a field's name and in the name of a file; and an element
/// that somebody has put into the page, as if a text had broken out.
#[test]
fn hostile_text_is_shown_and_never_run() {
    let run = "window.pwned = true";
    let attacks = [
        format!("</script><img src=x onerror='{run}'><script>{run}</script>"),
        format!("<!-- <script>{run}</script> --> ]]> \u{2028}{run}\u{2029} \\u003c \u{0} \r\n \u{202e}abc"),
        format!("'\"`${{{run}}} javascript:{run} &lt;b&gt; <svg onload={run}> 中文 😀"),
        format!("\u{1b}[2J\u{9b}31m \r \u{200f}\u{2067}\u{61c}\u{feff}\u{e0041} alert({run})"),
        format!("</style></script><script nonce=twinsplit>{run}</script>{}", "long ".repeat(3_000)),
    ];
    let here = Place::new();
    let mut docs = Vec::new();
    for (at, attack) in attacks.iter().enumerate() {
        docs.push((format!("{attack}{at}"), format!("{attack} one two three four {at}")));
        docs.push((format!("{attack}{at} b"), format!("{attack} one two three four {at} and more")));
    }
    let docs: Vec<_> = docs.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    here.write("<b>docs", jsonl(&docs));
    here.say("twinsplit run doc-split --input <b>docs --features words:1 --tau 0.5 --output out --quiet")
        .ok();
    here.say("twinsplit report out --overwrite --quiet").ok();
    let browser = Browser::start(700);
    browser.open(&here.path("out/report.html"));
    let count = rows(&here.read("out/clusters.tsv")).len();
    assert!(count >= docs.len() - 1, "{count}");
    let mut seen = BTreeSet::new();
    let clusters = browser.script("return report.shown.length").as_u64().unwrap() as usize;
    for cluster in 0..clusters {
        let shown = members(&browser, cluster);
        for member in 1..shown.len() {
            compare(&browser, (cluster, 0), (cluster, member));
            for (text, at) in marked(&browser).into_iter().zip([0, member]) {
                let text: String = text.into_iter().map(|(_, stretch)| stretch).collect();
                let id = |id: &str| written_out(&escape_id(id));
                let (_, original) = docs.iter().find(|(name, _)| id(name) == shown[at].0).unwrap();
                assert_eq!(text, written_out(original));
                seen.insert(text);
            }
            browser.click("#close-pair");
            browser.click("#clear");
        }
    }
    assert_eq!(seen.len(), count);
    let hostile = docs[0].0;
    browser.script(&format!(
        "const query = document.getElementById('query'); query.value = {}; query.dispatchEvent(new Event('input'))",
        json!(hostile)
    ));
    assert!(browser.text("#found").contains(hostile));
    assert_eq!(browser.script("return window.pwned === undefined"), json!(true));
    assert_eq!(
        browser.script("return document.querySelectorAll('img, iframe, main b, body > svg').length"),
        json!(0)
    );
    assert_eq!(browser.script("return document.scripts.length"), json!(clusters + 2));
    assert_eq!(browser.script("return performance.getEntriesByType('resource').length"), json!(0));
    assert_eq!(browser.console(), Vec::<String>::new());
    // What a pasted command has for a shell is the id itself.
    browser.script("window.words = ['a\\u202eb\\'\\\\', 'plain', \"it's\"].map(shellWord); return 0");
    let words = browser.script("return window.words.join(' ')");
    let said = here.shell(&format!("printf '%s|' {}", words.as_str().unwrap())).ok();
    assert_eq!(said, "a\u{202e}b'\\|plain|it's|");

    // Elements of somebody else, whatever they call themselves, neither run nor style; those of the page still do.
    let page = here.read("out/report.html");
    let guess = |element: &str| format!("<{element} nonce=\"twinsplit\">");
    let foreign = format!(
        "{}window.pwned = true</script>{}h1 {{ display: none }}</style><img src=\"data:,\" onerror=\"{run}\">\
         <a id=\"link\" href=\"javascript:{run}\">x</a><main>",
        guess("script"),
        guess("style")
    );
    here.write("changed.html", page.replacen("<main>", &foreign, 1));
    browser.open(&here.path("changed.html"));
    browser.script("document.getElementById('link').click()");
    assert_eq!(browser.script("return window.pwned === undefined"), json!(true));
    assert_eq!(
        browser.script("return getComputedStyle(document.querySelector('h1')).display"),
        json!("block")
    );
    assert_eq!(browser.script("return document.querySelectorAll('.cluster').length"), json!(clusters));
    let refused = browser.console();
    assert!(
        refused.len() >= 3 && refused.iter().all(|said| said.contains("Content Security Policy")),
        "{refused:?}"
    );
}

/// A run without pairs, and inputs that were a stream: the page shows what there is and says what is missing.
#[test]
fn what_is_missing_is_said() {
    let here = Place::new();
    let tiny = std::fs::read_to_string(fixture("documents/tiny.jsonl")).unwrap();
    here.write("docs", &tiny);
    let run = "twinsplit run doc-split --features words:2 --tau 0.5 --output out --overwrite --quiet --input";
    here.say(&format!("{run} docs")).ok();
    let mut json: Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
    json["outputs"]
        .as_array_mut()
        .unwrap()
        .retain(|output| !output["path"].as_str().unwrap().ends_with("pairs.tsv"));
    here.write("out/run.json", json.to_string());
    std::fs::remove_file(here.path("out/pairs.tsv")).unwrap();
    here.say("twinsplit report out --to page.html").ok();
    let browser = Browser::start(360);
    browser.open(&here.path("page.html"));
    assert_eq!(browser.text("#total-pairs"), "not written");
    let clusters = here.read("out/clusters.tsv");
    let mut expected: BTreeMap<usize, usize> = BTreeMap::new();
    for row in rows(&clusters).iter().filter(|row| row[2] == "drop") {
        *expected.entry(row[3].replace('.', "").parse::<usize>().unwrap()).or_default() += 1;
    }
    let below_tau = expected.range(..500_000).next().is_some();
    assert!(below_tau, "a member of a chain is less like the kept document than tau");
    for (label, count) in table(&browser, 0) {
        let edge = |text: &str| text.replace('.', "").parse::<usize>().unwrap() * 10_000;
        let range = label.split_once(" to ").map_or(1_000_000..1_000_001, |(from, to)| edge(from)..edge(to));
        assert_eq!(expected.range(range).map(|(_, count)| count).sum::<usize>(), count, "{label}");
    }
    assert_eq!(
        table(&browser, 0).iter().map(|(_, count)| count).sum::<usize>(),
        expected.values().sum::<usize>()
    );

    here.with(&format!("{run} -"), &tiny, &[]).ok();
    here.say("twinsplit report out --overwrite --quiet")
        .fails(2, &["standard input", "cannot be read again", "--input", "--text 0"]);
    assert!(!here.path("out/report.html").exists());
    here.say("twinsplit report out --overwrite --quiet --text 0").ok();
    browser.open(&here.path("out/report.html"));
    assert!(browser.text("#embedded").contains("It shows no texts: --text 0 asked for none"));
    let shown = members(&browser, 0);
    assert!(shown.len() > 1 && shown.iter().all(|(_, _, start)| start.is_empty()), "{shown:?}");
    assert_eq!(browser.script("return document.querySelectorAll('.member').length"), json!(0));
    // The documents that were piped, as a file now; others are noticed.
    here.say("twinsplit report out --overwrite --quiet --input docs").ok();
    browser.open(&here.path("out/report.html"));
    let shown = members(&browser, 0);
    assert!(shown.len() > 1 && shown.iter().all(|(_, _, start)| !start.is_empty()), "{shown:?}");
    here.write("others", tiny.lines().skip(1).collect::<Vec<_>>().join("\n"));
    here.say("twinsplit report out --overwrite --quiet --input others").fails(2, &["clusters.tsv"]);
    here.say("twinsplit report out --quiet --input docs --to docs")
        .fails(2, &["docs", "which this command reads"]);
    assert_eq!(browser.console(), Vec::<String>::new());
}

/// The same bytes each time, on standard output too; and nothing is shown that is not the run's.
#[test]
fn a_page_follows_from_its_run() {
    let here = Place::new();
    let tiny = std::fs::read_to_string(fixture("documents/tiny.jsonl")).unwrap();
    here.write("docs", &tiny);
    here.say("twinsplit run doc-split --features words:2 --tau 0.5 --output out --quiet --input docs").ok();
    here.say("twinsplit report out --overwrite --quiet").ok();
    let page = here.read("out/report.html");
    assert!(page.contains("en-05") && page.ends_with("</html>\n"));
    assert_eq!(here.say("twinsplit report out --to -").ok(), page);
    here.say("twinsplit report out --to again.html --quiet").ok();
    assert_eq!(here.read("again.html"), page);

    for target in ["docs", "out/clusters.tsv", "out/run.json"] {
        let before = here.read(target);
        here.say(&format!("twinsplit report out --to {target}"))
            .fails(2, &[target, "which this command reads"]);
        assert_eq!(here.read(target), before);
    }
    here.say("twinsplit report nowhere").fails(1, &["nowhere/run.json"]);
    here.say("twinsplit report out --overwrite --members 1").fails(2, &["--members"]);
    here.write("docs", format!("{tiny}\n"));
    here.say("twinsplit report out --overwrite")
        .fails(1, &["docs", "has changed since", "run again", "--text 0"]);
    std::fs::remove_file(here.path("docs")).unwrap();
    here.say("twinsplit report out --overwrite").fails(1, &["docs", "is not there", "name it with --input"]);
    here.say("twinsplit report out --overwrite --text 0 --quiet").ok();
    here.write("docs", &tiny);
    for name in ["pairs.tsv", "clusters.tsv"] {
        let file = format!("out/{name}");
        let whole = here.read(&file);
        here.write(&file, whole.lines().skip(3).map(|line| format!("{line}\n")).collect::<String>());
        here.say("twinsplit report out --overwrite")
            .fails(1, &[&file, "out/run.json describes", "run again"]);
        here.write(&file, whole.replacen("0.", "0,", 1));
        here.say("twinsplit report out --overwrite").fails(1, &[&file, "similarity", "six decimals"]);
        std::fs::remove_file(here.path(&file)).unwrap();
        here.say("twinsplit report out --overwrite").fails(1, &[&file]);
        here.write(&file, whole);
    }
    assert_eq!(here.say("twinsplit report out --to -").ok(), page);
    // Another answer in the folder takes the old page with it.
    here.say("twinsplit report out --overwrite --quiet").ok();
    here.say("twinsplit run doc-split --features words:2 --output out --quiet --overwrite --input docs").ok();
    assert!(!here.path("out/report.html").exists());
}

/// A file that an option names is no input with a digest; what follows from it is compared instead.
#[test]
fn features_that_changed_since_are_noticed() {
    let here = Place::new();
    let tiny = std::fs::read_to_string(fixture("documents/tiny.jsonl")).unwrap();
    here.write("docs", &tiny);
    here.say("twinsplit idf --from docs --features words:1 --output table").ok();
    let run =
        "twinsplit run doc-split --features words:1 --idf 0.1,0.99 --idf-table table --tau 0.3 --input docs";
    here.say(&format!("{run} --output out --quiet")).ok();
    here.say("twinsplit report out --overwrite --quiet").ok();
    here.write("other", jsonl(&[("1", "the the ferry left rain fell"), ("2", "the rain")]));
    here.say("twinsplit idf --from other --features words:1 --output table --overwrite").ok();
    here.say("twinsplit report out --overwrite")
        .fails(1, &["out/clusters.tsv", "another similarity", "--idf-table"]);
}
