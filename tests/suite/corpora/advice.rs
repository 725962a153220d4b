//! Figures of the advice, computed anew from two labelled sets: by the program, and by the rule of truth written a second time.

use super::{corpus, path};
use crate::common::cli::Place;
use crate::common::oracle::Doc;
use crate::repository::experiments::{number, rows};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;

/// The words of a text as numbers: what stands between white space, and each Chinese character.
fn words(text: &str, numbers: &mut HashMap<String, u32>) -> Vec<u32> {
    let han =
        |c: char| matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{3134f}');
    // White space as the experiment's language has it.
    let blank = |c: char| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}');
    let (mut found, mut word) = (Vec::new(), String::new());
    let mut take = |word: String| {
        if !word.is_empty() {
            let next = numbers.len() as u32;
            found.push(*numbers.entry(word).or_insert(next));
        }
    };
    for c in text.chars() {
        if han(c) || blank(c) {
            take(std::mem::take(&mut word));
        }
        if han(c) {
            take(c.to_string());
        } else if !blank(c) {
            word.push(c);
        }
    }
    take(word);
    found
}

/// The length of the longest common subsequence, a bit for each word of `x`: those that are 0 in the end are in it.
fn common_subsequence(x: &[u32], y: &[u32]) -> usize {
    let parts = x.len().div_ceil(64);
    let mut places: HashMap<u32, Vec<u64>> = HashMap::new();
    for (at, word) in x.iter().enumerate() {
        places.entry(*word).or_insert_with(|| vec![0; parts])[at / 64] |= 1 << (at % 64);
    }
    let mut row = vec![u64::MAX; parts];
    for places in y.iter().filter_map(|word| places.get(word)) {
        let mut carry = false;
        for (bits, places) in row.iter_mut().zip(places) {
            let met = *bits & places;
            let (sum, over) = bits.overflowing_add(met);
            let (sum, again) = sum.overflowing_add(carry.into());
            *bits = sum | (*bits & !met);
            carry = over || again;
        }
    }
    let ones: u32 = row.iter().map(|bits| bits.count_ones()).sum();
    64 * parts - ones as usize
}

/// How many words two sorted lists have in common, each as often as in both.
fn common_words(x: &[u32], y: &[u32]) -> usize {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < x.len() && j < y.len() {
        common += usize::from(x[i] == y[j]);
        let (left, right) = (x[i], y[j]);
        i += usize::from(left <= right);
        j += usize::from(right <= left);
    }
    common
}

/// The pairs with four fifths of their words in common, in order.
fn copies(texts: &[&str]) -> BTreeSet<(usize, usize)> {
    let mut numbers = HashMap::new();
    let texts: Vec<Vec<u32>> = texts.iter().map(|text| words(text, &mut numbers)).collect();
    let sorted = |text: &Vec<u32>| {
        let mut words = text.clone();
        words.sort_unstable();
        words
    };
    let bags: Vec<Vec<u32>> = texts.iter().map(sorted).collect();
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|&text| texts[text].len());
    let mut found = BTreeSet::new();
    for (at, &longer) in order.iter().enumerate() {
        for &shorter in order[..at].iter().rev() {
            let enough = |common: usize| 10 * common >= 4 * (texts[shorter].len() + texts[longer].len());
            if !enough(texts[shorter].len()) {
                break;
            }
            if enough(common_words(&bags[shorter], &bags[longer]))
                && enough(common_subsequence(&texts[shorter], &texts[longer]))
            {
                found.insert((shorter.min(longer), shorter.max(longer)));
            }
        }
    }
    found
}

/// Runs the default, its rival of before, and a row of lines; compares what is copied by the rule with what is found.
fn compare(set: &str, documents: Vec<Doc>) {
    let mut known = HashSet::new();
    let texts: Vec<&str> =
        documents.iter().map(|doc| doc.text.as_str()).filter(|text| known.insert(*text)).collect();
    let copies = copies(&texts);
    let here = Place::new();
    let line = |(id, text)| format!("{}\n", serde_json::json!({"id": id, "text": text}));
    here.write("docs", texts.iter().enumerate().map(line).collect::<String>());
    let measured = rows("feature-choice");
    for (features, tau) in [("words:3", "0.65"), ("words:5", "0.70"), ("lines", "0.70")] {
        here.say(&format!(
            "twinsplit run doc-split --features {features} --tau {tau} --input docs --output out --overwrite --quiet"
        ))
        .ok();
        let pairs = here.read("out/pairs.tsv");
        let id = |id: Option<&str>| id.unwrap().parse::<usize>().unwrap();
        let good = |line: &&str| {
            let mut fields = line.split('\t');
            let (a, b) = (id(fields.next()), id(fields.next()));
            copies.contains(&(a.min(b), a.max(b)))
        };
        let (found, right) = (pairs.lines().count(), pairs.lines().filter(good).count());
        let row = measured
            .iter()
            .find(|row| row["corpus"] == set && row["features"] == features && row["tau"] == tau);
        let row = row.unwrap_or_else(|| panic!("{set}: {features} at {tau} is not measured"));
        assert_eq!(copies.len() as f64, number(row, "true") + number(row, "missed"), "{set}");
        let f1 = 2.0 * right as f64 / (found + copies.len()) as f64;
        assert!((f1 - number(row, "f1")).abs() < 0.002, "{set}: {features} at {tau}: {f1}, {row:?}");
    }
}

#[test]
#[ignore = "needs the corpora; run by `make test-corpora`"]
fn figures_of_pages_of_a_manual() {
    let leads_on = |doc: &Doc| {
        let text = doc.text.trim_start();
        text.strip_prefix("---").is_some_and(|rest| {
            rest.starts_with(char::is_whitespace) && rest.trim_start().starts_with("redirectTo:")
        })
    };
    let pages = corpus("iotdb-docs-en").into_iter().filter(|doc| !leads_on(doc));
    compare("iotdb-docs-en-pages", pages.collect());
}

#[test]
#[ignore = "needs the corpora; run by `make test-corpora`"]
fn figures_of_licences() {
    let labels = path("licence-texts-a").with_file_name("labels.tsv");
    let labels = fs::read_to_string(labels).unwrap();
    let whole: HashSet<&str> = labels
        .lines()
        .filter(|line| line.ends_with("\tlicense_full") || line.ends_with("\tlicense_text"))
        .map(|line| line.split('\t').next().unwrap())
        .collect();
    let texts = corpus("licence-texts-a").into_iter().filter(|doc| whole.contains(&*doc.id));
    compare("licence-texts-a", texts.collect());
}
