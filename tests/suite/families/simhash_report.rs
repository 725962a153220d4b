//! A run of fingerprints as people look at it: `report` in a browser, `tune --distances`, `explain`, and what the run itself says.
//! None of them speaks of a threshold of sets.

use std::collections::BTreeMap;

use serde_json::Value;

use super::simhash::{NOT_COMPARED, brute_force, documents, fingerprints, write_documents};
use crate::common::browser::Browser;
use crate::common::cli::{Place, jsonl};
use crate::common::expected::{Keep, Kind};

const RUN: &str = "twinsplit run simhash --features words:1 --weights tf-idf --distance 8 --input docs.jsonl";

/// A run over made documents.
fn run(options: &str) -> Place {
    let here = Place::new();
    write_documents(&documents(), &here.path(""));
    let said = here.say(&format!("{RUN} --output out {options}"));
    assert!(!said.err.contains("tau"), "{}", said.err);
    said.ok();
    here
}

fn rows(text: &str) -> Vec<Vec<String>> {
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn a_report_shows_distances() {
    let here = run("--write pairs");
    here.say("twinsplit report out").ok();
    let (pairs, clusters) = (rows(&here.read("out/pairs.tsv")), rows(&here.read("out/clusters.tsv")));
    let dropped: Vec<u32> =
        clusters.iter().filter(|row| row[2] == "drop").map(|row| row[3].parse().unwrap()).collect();
    let beyond = dropped.iter().filter(|distance| **distance > 8).count();
    assert!(beyond > 0, "the chains of pairs are short");

    let browser = Browser::start(1200);
    browser.open(&here.path("out/report.html"));
    let greatest = dropped.iter().max().unwrap();
    assert_eq!(browser.text("#total-below"), format!("{beyond}, greatest distance {greatest}"));
    assert!(browser.text("#subtitle").ends_with("distance, --distance 8"), "{}", browser.text("#subtitle"));
    // A bar for each distance, from 0.
    let bars = browser.script(
        "return [...document.querySelectorAll('figure')[0].querySelectorAll('tbody tr')]\
         .map((row) => [...row.children].map((cell) => cell.textContent))",
    );
    let mut counted: BTreeMap<u32, usize> = (0..=8).map(|distance| (distance, 0)).collect();
    pairs.iter().for_each(|row| *counted.get_mut(&row[2].parse().unwrap()).unwrap() += 1);
    let expected: Vec<[String; 2]> =
        counted.iter().map(|(distance, count)| [distance.to_string(), count.to_string()]).collect();
    assert_eq!(serde_json::from_value::<Vec<[String; 2]>>(bars).unwrap(), expected);

    // The kept document of the largest cluster and the one farthest from it, which is listed last.
    browser.click("#cluster-0 > summary");
    browser.until("return document.querySelector('#cluster-0 .members') !== null");
    let members = browser.script("return report.shown[0].members.map(([id, alike]) => [id, alike])");
    let members: Vec<(String, Option<String>)> = serde_json::from_value(members).unwrap();
    let (kept, (far, distance)) = (&members[0].0, members.last().unwrap());
    let distances: Vec<u32> =
        members[1..].iter().map(|one| one.1.as_ref().unwrap().parse().unwrap()).collect();
    assert!(distances.is_sorted(), "{distances:?}");
    let row = clusters.iter().find(|row| row[1] == *far).unwrap();
    assert_eq!((&row[0], Some(&row[3])), (kept, distance.as_ref()));
    for member in [0, members.len() - 1] {
        browser.click(&format!(".member[data-cluster='0'][data-member='{member}']"));
    }
    browser.until("return document.getElementById('pair').open");
    let said = browser.text("#arithmetic");
    let distance: u32 = row[3].parse().unwrap();
    let verdict = if distance <= 8 { "no more than" } else { "more than" };
    assert!(said.contains(&format!("differ in {distance} bit")) && said.contains(verdict), "{said}");
    assert!(!browser.script("return document.body.textContent").as_str().unwrap().contains("tau 0."));
    assert_eq!(browser.console(), [""; 0]);

    // The same two in a terminal.
    let said = here.say(&format!("twinsplit explain {kept} {far} --run out"));
    assert!(said.out.contains(&format!("distance {distance} ")), "{} {}", said.out, said.err);
    // What was not made by these options is refused.
    let clusters = here.read("out/clusters.tsv");
    here.write("docs.jsonl", jsonl(&[("a", "another text")]));
    here.say("twinsplit report out --overwrite").fails(1, &["docs.jsonl", "has changed since"]);
    assert_eq!(here.read("out/clusters.tsv"), clusters);
}

#[test]
fn a_distance_can_be_chosen_on_a_sample() {
    let here = Place::new();
    let docs = documents();
    write_documents(&docs, &here.path(""));
    here.say("twinsplit idf --from docs.jsonl --output table --features words:1").ok();
    let prints = fingerprints(&here, &docs, "--features words:1 --weights tf-idf --idf-table table");
    let line = "twinsplit tune --distances 8,0,3 --kinds words:1 --input docs.jsonl --weights tf-idf";
    let found: Value = serde_json::from_str(&here.say(&format!("{line} --quiet --json")).ok()).unwrap();
    let kind = &found["kinds"][0];
    let without = prints.iter().filter(|print| print.is_none()).count();
    assert_eq!(kind["without_features"], without);
    assert_eq!(kind["joined_from"], "11");
    let of: BTreeMap<&str, u128> =
        docs.iter().zip(&prints).filter_map(|(doc, print)| Some((doc.id.as_str(), (*print)?))).collect();
    for (row, distance) in kind["rows"].as_array().unwrap().iter().zip([0, 3, 8]) {
        let expected =
            brute_force(&docs, &prints, (&|_, _| distance, NOT_COMPARED), Kind::Components, Keep::SmallestId);
        assert_eq!(row["distance"], distance.to_string());
        assert_eq!(row["pairs"], expected[0].lines().count());
        let kept = expected[1].lines().filter(|line| line.contains("\tkeep\t")).count();
        assert_eq!(
            (&row["clusters"], &row["documents_dropped"]),
            (&kept.into(), &(expected[1].lines().count() - kept).into())
        );
        // The examples are the pairs nearest to the distance on either side.
        for (side, nearest) in
            [("within", (0..=distance).rev().collect::<Vec<_>>()), ("beyond", (distance + 1..=11).collect())]
        {
            let shown = row[side].as_array().unwrap();
            let first = nearest.iter().find(|at| {
                of.iter().any(|(a, x)| of.iter().any(|(b, y)| a < b && (x ^ y).count_ones() == **at))
            });
            assert_eq!(
                shown.first().map(|pair| &pair["distance"]),
                first.map(|at| Value::from(*at)).as_ref(),
                "{side}"
            );
            for pair in shown {
                let [a, b] = ["a", "b"].map(|name| of[pair[name].as_str().unwrap()]);
                assert_eq!(pair["distance"], (a ^ b).count_ones());
            }
        }
        assert!(row["run"].as_str().unwrap().contains(&format!(
            "run simhash --input docs.jsonl --output out --features words:1 --distance {distance}"
        )));
    }
    let shown = here.say(&format!("{line} --quiet")).ok();
    assert!(shown.contains("words:1, distance 3") && !shown.contains("tau"), "{shown}");
    here.say("twinsplit tune --distances 3 --taus 0.5 --input docs.jsonl").fails(2, &["--taus"]);
    here.say("twinsplit tune --bits 128 --input docs.jsonl").fails(2, &["--bits", "--distances"]);
}

/// Too many pairs, large clusters, chains of pairs, kept lines.
#[test]
fn what_a_run_says_names_its_distance() {
    let here = run("--write-kept --cluster components");
    let said = here.say(&format!("{RUN} --output out2"));
    assert!(said.err.contains("farther than --distance from the document that is kept"), "{}", said.err);
    assert!(
        said.err.contains("split it by a smaller --distance, --cluster star or --min-features"),
        "{}",
        said.err
    );
    assert!(!said.err.contains("tau"), "{}", said.err);
    for engine in ["local", "pipes"] {
        for weights in ["tf", "tf-idf"] {
            let line = format!(
                "{RUN} --weights {weights} --output {engine}{weights} --max-pairs 5 --engine {engine}"
            );
            let said = here.say(&line.replacen(" --weights tf-idf", "", 1));
            assert_ne!(said.code, 0);
            assert!(said.err.contains("--max-pairs") && !said.err.contains("tau"), "{engine}: {}", said.err);
        }
    }
}
