//! Chinese pages with sites, and by brute force what CCDet (wei2013) finds in them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::cli::fixture;
use super::expected::{Expected, Keep, Kind};
use super::features;
use super::oracle::{Doc, Features, Frequencies, Overlaps, Similarity, short_texts};

/// A page, and the site that it is of, if any.
type Page = (Doc, Option<usize>);

/// Revisions of one manual. Two sites put two sentences of their own on each page; of the third no page says its site. One page
/// holds the first half of another.
fn pages() -> Vec<Page> {
    let file = File::open(fixture("documents/zh.jsonl.gz")).expect("a fixture");
    let lines = BufReader::new(MultiGzDecoder::new(file)).lines().map(|line| line.expect("UTF-8"));
    let mut docs: Vec<Doc> = lines.step_by(8).map(|line| Doc::from_line(&line)).collect();
    let longest = docs.iter().max_by_key(|doc| doc.text.matches('。').count()).expect("documents").clone();
    let half = longest.text.matches('。').count() / 3;
    let end = longest.text.match_indices('。').nth(half).expect("sentences").0 + '。'.len_utf8();
    docs.push(Doc { id: "half".to_owned(), text: longest.text[..end].to_owned(), ..longest });
    let with_site = |(number, mut doc): (usize, Doc)| {
        let site = (number % 3 < 2).then_some(number % 3);
        let host = site.map(|site| format!("https://站{site}.example:80/{number}"));
        let template = site
            .map(|site| format!("\n站点{site}的全部内容由编辑部维护。转载站点{site}的页面请注明来源。\n"));
        doc.text += &template.unwrap_or_default();
        doc.line = serde_json::json!({ "id": doc.id, "url": host, "text": doc.text }).to_string();
        (doc, site)
    };
    docs.into_iter().enumerate().map(with_site).collect()
}

/// The sets without what several pages of one site have and no others.
fn pruned(sets: &[Features], sites: &[Option<usize>]) -> Vec<Features> {
    let mut having: BTreeMap<&String, (usize, BTreeSet<Option<usize>>)> = BTreeMap::new();
    for (set, site) in sets.iter().zip(sites) {
        for feature in set {
            let (pages, of) = having.entry(feature).or_default();
            *pages += 1;
            of.insert(*site);
        }
    }
    let is_template = |feature: &String| {
        let (pages, of) = &having[feature];
        *pages > 1 && of.len() == 1 && !of.contains(&None)
    };
    sets.iter().map(|set| set.iter().filter(|feature| !is_template(feature)).cloned().collect()).collect()
}

/// Writes the pages, in two files, into a folder that is made.
pub fn write(folder: &Path) {
    let mut files = [String::new(), String::new()];
    pages().iter().enumerate().for_each(|(number, (doc, _))| files[number % 2] += &format!("{}\n", doc.line));
    std::fs::create_dir_all(folder).expect("a folder");
    for (name, lines) in ["a.jsonl", "b.jsonl"].iter().zip(files) {
        std::fs::write(folder.join(name), lines).expect("a file");
    }
}

/// What `ccdet --cluster star` writes at a threshold, but for the order of the kept lines: with or without sites, and an IDF
/// range.
pub fn expected(tau: &str, by_site: bool, idf: Option<&str>) -> Expected {
    let (docs, sites): (Vec<Doc>, Vec<_>) = pages().into_iter().unzip();
    let all = features::of(&docs, "sentence-ends:10");
    let sets = if by_site { pruned(&all, &sites) } else { all.clone() };
    assert_eq!(sets != all, by_site, "sites have templates");
    let sets = idf.map_or_else(|| sets.clone(), |range| Frequencies::count(&sets).keep(&sets, range));
    let texts = short_texts(&docs, &sets, 1);
    let contained = Similarity::Containment;
    let pairs = Overlaps::of_any_similarity(&sets, tau).pairs_by(contained, tau, &sets);
    let answer = Expected::by(contained, (&docs, &sets, &texts), &pairs, Kind::Star, Keep::Longest);
    for relation in ["\tduplicate\n", "\tcontains\n"] {
        assert!(answer.pairs.contains(relation), "{} pairs, none of them {relation}", pairs.len());
    }
    answer
}
