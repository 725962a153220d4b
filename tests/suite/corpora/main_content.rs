//! The main content of real pages, beside what people marked as such.

use crate::common::cli::Place;
use crate::formats::convert::values;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs;

use super::path;

/// Whether `benches/html/learn.py` has not learned from the page of this name.
fn is_unseen(name: &str) -> bool {
    Sha256::digest(name.as_bytes())[0] % 2 == 1
}

/// How often each word is in a text: runs of letters, digits and underscores, in small letters.
fn words(text: &str) -> HashMap<String, u64> {
    let lower = text.to_lowercase();
    let found = lower.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    found.fold(HashMap::new(), |mut counts, word| {
        *counts.entry(word.to_owned()).or_default() += 1;
        counts
    })
}

fn f1(text: &str, content: &str) -> f64 {
    let (found, wanted) = (words(text), words(content));
    let common: u64 = found.iter().map(|(word, count)| *count.min(wanted.get(word).unwrap_or(&0))).sum();
    let all: u64 = found.values().chain(wanted.values()).sum();
    if all == 0 { 1.0 } else { 2.0 * common as f64 / all as f64 }
}

fn mean(scores: &[f64]) -> f64 {
    scores.iter().sum::<f64>() / scores.len() as f64
}

/// The text of each page below `pages`, by its name.
fn articles(here: &Place) -> HashMap<String, String> {
    let lines = here.say("twinsplit convert pages --format html --html article -qo -").ok();
    let of = |line: &Value, field: &str| line[field].as_str().unwrap().to_owned();
    let name = |id: String| id.rsplit('/').next().unwrap().split('.').next().unwrap().to_owned();
    values(&lines).iter().map(|line| (name(of(line, "id")), of(line, "text"))).collect()
}

/// Floors are a little below what was measured (docs/performance/html.md).
#[test]
#[ignore = "needs the corpora; run by `make test-corpora`"]
fn the_main_content_is_what_people_marked() {
    let here = Place::new();
    let folder = path("wcxb-dev").with_file_name("");
    let folder = folder.display();
    here.shell(&format!(
        "mkdir pages && tar -xf '{folder}/html.tar' -C pages && tar -xzf '{folder}/ground-truth.tar.gz'"
    ))
    .ok();
    let found = articles(&here);
    let (mut all, mut of_articles) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(here.path("ground-truth")).unwrap() {
        let told: Value = serde_json::from_slice(&fs::read(entry.unwrap().path()).unwrap()).unwrap();
        let name = told["file_id"].as_str().unwrap();
        if !is_unseen(name) {
            continue;
        }
        let score = f1(&found[name], told["ground_truth"]["main_content"].as_str().unwrap_or(""));
        all.push(score);
        if told["_internal"]["page_type"]["primary"] == "article" {
            of_articles.push(score);
        }
    }
    assert_eq!((found.len(), all.len(), of_articles.len()), (567, 295, 170));
    assert!(mean(&all) > 0.86 && mean(&of_articles) > 0.95, "{} {}", mean(&all), mean(&of_articles));
}

#[test]
#[ignore = "needs the corpora; run by `make test-corpora`"]
fn the_main_content_of_news_is_what_people_marked() {
    let here = Place::new();
    let file = path("html-articles-en").with_file_name("html.tar.gz");
    here.shell(&format!("mkdir news && tar -xzf '{}' -C news && mv news/html pages", file.display())).ok();
    let found = articles(&here);
    let told: Value = serde_json::from_str(&here.read("news/ground-truth.json")).unwrap();
    let told = told.as_object().unwrap();
    let unseen = told.iter().filter(|(name, _)| is_unseen(name));
    let scores: Vec<f64> =
        unseen.map(|(name, page)| f1(&found[name], page["articleBody"].as_str().unwrap())).collect();
    assert_eq!((told.len(), scores.len()), (181, 90));
    assert!(mean(&scores) > 0.95, "{}", mean(&scores));
}
