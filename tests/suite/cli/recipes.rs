//! docs/recipes.md: each recipe runs as it stands there, on documents of which it is known what it finds.

use crate::common::cli::{Place, jsonl};
use std::path::Path;

/// A text of so many words of its own.
fn words(name: &str, count: usize) -> String {
    (0..count).map(|at| format!("{name}{at} ")).collect()
}

/// The files that the recipes name. In each kind two documents are copies of one another, and one is alone.
fn files() -> Place {
    let here = Place::new();
    let (long, near, other) = (words("w", 60), words("w", 60) + "more", words("v", 40));
    for (name, text) in [("a b.txt", &long), ("c.txt", &near), ("d.txt", &other)] {
        std::fs::create_dir_all(here.path("texts")).unwrap();
        here.write(&format!("texts/{name}"), text);
    }
    here.write("table.csv", format!("nr,title,body\n1,One,{long}\n2,One,\"{near}\"\n3,Three,{other}\n"));
    let record = |id: &str, text: &str| {
        let http = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><body><p>{text}</p></body></html>"
        );
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:{id}>\r\nWARC-Target-URI: http://x/{id}\r\n\
             Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
            http.len()
        )
    };
    std::fs::create_dir_all(here.path("crawl")).unwrap();
    here.write("crawl/one.warc", record("a", &long) + &record("b", &near) + &record("c", &other));
    here.shell("gzip crawl/one.warc").ok();
    std::fs::create_dir_all(here.path("collection")).unwrap();
    here.write(
        "collection/table.csv",
        format!(
            "id,title,text\n1,One,{other}\n2,\"One, again\",\"{other}more\"\n3,Three,{}\n",
            words("q", 50)
        ),
    );
    here.shell("cp -r crawl collection").ok();
    let menu = words("menu", 30);
    let page = |id: &str, site: &str, text: &str| {
        serde_json::json!({"id": id, "url": format!("http://{site}/{id}"), "text": text}).to_string() + "\n"
    };
    let pages = [
        page("a", "one.org", &(menu.clone() + &words("p", 20))),
        page("b", "one.org", &(menu.clone() + &words("q", 20))),
        page("c", "two.org", &words("p", 20)),
    ];
    here.write("pages.jsonl", pages.concat());
    let chinese = "今天上午的会议讨论了城市交通的新规划，并且通过了三项决议。";
    let news = [
        ("a", chinese.to_owned()),
        ("b", format!("{chinese}完")),
        ("c", "另一条新闻说的是体育比赛的结果和天气。".to_owned()),
    ];
    here.write("news.jsonl", jsonl(&news.each_ref().map(|(id, text)| (*id, text.as_str()))));
    let question = "which of the seven bridges did the traveller cross twice on that day";
    let holds = format!("{other} {question} {}", words("z", 80));
    let docs = [("doc-1", &long), ("doc-2", &holds), ("doc-3", &near), ("doc-4", &near)];
    here.write("docs.jsonl", jsonl(&docs.map(|(id, text)| (id, text.as_str()))));
    let notice = "Nobody may copy this page in whole or in part without a word to those who wrote it.";
    let site = [
        ("s-1", format!("Home\n\nOf cats and of what they eat.\n\n{notice}")),
        ("s-2", format!("Home\n\nOf dogs and of where they sleep.\n\n{notice}")),
        ("s-3", format!("Home\n\n{notice}")),
    ];
    here.write("site.jsonl", jsonl(&site.each_ref().map(|(id, text)| (*id, text.as_str()))));
    here.write("bench.jsonl", jsonl(&[("q1", question), ("q2", &words("u", 12))]));
    here.write("day1.jsonl", jsonl(&[("1-a", &long), ("1-b", &other)]));
    here.write("day2.jsonl", jsonl(&[("2-a", &near)]));
    here.write("new.jsonl", jsonl(&[("3-a", &other), ("3-b", &words("y", 20))]));
    here
}

/// Of each recipe, its heading, and what its commands leave: a file and what it holds.
const LEFT: [(&str, &str, &str); 17] = [
    ("A folder of texts", "ls kept", "a b.txt\nd.txt\n"),
    (
        "A table",
        "head -1 annotated/table.csv; grep -c ',[12],true,' annotated/table.csv",
        "nr,title,body,dup_kept,dup_size,dup_rank,dup_drop,dup_similarity,dup_share\n1\n",
    ),
    ("A crawl", "cut -f1,2 out/pairs.tsv; test -s out/report.html", "urn:a\turn:b\n"),
    (
        "A folder without its near-duplicates",
        "cut -c1-8 out/kept/table.csv; zcat out/kept/crawl/one.warc.gz | grep -a ^WARC-Record",
        "id,title\n1,One,v0\n3,Three,\nWARC-Record-ID: <urn:a>\r\n",
    ),
    (
        "Tables for DuckDB, pandas and Polars",
        "cut -d, -f1,2 out/pairs.jsonl | tail -n 1; head -c 4 out/clusters.parquet; ls out | wc -l",
        "{\"id_a\":\"doc-3\",\"id_b\":\"doc-4\"\nPAR17\n",
    ),
    ("Pages with templates", "cut -f1,2 out/pairs.tsv", "a\tc\n"),
    (
        "Articles of a crawl",
        "cut -f1,2 articles/pairs.tsv; zcat articles/kept/*.warc.gz | grep -a ^WARC-Record",
        "urn:a\turn:b\nWARC-Record-ID: <urn:a>\r\nWARC-Record-ID: <urn:c>\r\n",
    ),
    ("Two columns with a threshold each", "cut -f1,2 out/pairs.tsv", "1\t2\n"),
    (
        "The documents that are least alike",
        "cut -c1-14 out/kept.jsonl",
        "{\"id\":\"doc-1\",\n{\"id\":\"doc-2\",\n{\"id\":\"doc-3\",\n",
    ),
    ("Chinese", "cut -f1,2 out/pairs.tsv", "a\tb\n"),
    (
        "Contamination: which documents hold a benchmark's questions",
        "cut -f1,2,6 out/pairs.tsv",
        "q1\tdoc-2\t1.000000\n",
    ),
    ("Yesterday and today", "cat day2/batches.tsv; cut -f1,2 new/pairs.tsv", "1-a\tday1\n1-b\t3-a\n"),
    ("Exact copies alone", "cut -f2,3 out/clusters.tsv", "doc-3\tkeep\ndoc-4\tdrop\n"),
    (
        "Repeated paragraphs, lines and sentences",
        "cut -f1,2,5,6 out/cut.tsv; wc -l < out/kept.jsonl; cut -c13- lines/kept.jsonl; tail -n 1 lines/cut-documents.tsv",
        "s-2\t1\ts-1\t1\ns-2\t3\ts-1\t3\ns-3\t1\ts-1\t1\ns-3\t2\ts-1\t3\n2\n\"text\":\"Of cats and of what they eat.\"}\n\
         \"text\":\"Of dogs and of where they sleep.\"}\ns-3\t2\t2\t87\t87\n",
    ),
    ("Weighing instead of removing", "wc -l < three.jsonl", "4\n"),
    (
        "Dropping only what is not lost",
        "zcat kept.jsonl.gz | cut -c1-14",
        "{\"id\":\"doc-2\",\n{\"id\":\"doc-3\",\n",
    ),
    ("A threshold without guessing", "true", ""),
];

/// Recipes in Python, which python/tests run.
const IN_PYTHON: [&str; 1] = ["A DataFrame of Spark"];

#[test]
fn every_recipe_runs_as_it_stands() {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/recipes.md")).unwrap();
    let mut ran = 0;
    for section in page.split("\n## ").skip(1) {
        let (heading, rest) = section.split_once('\n').unwrap();
        if IN_PYTHON.contains(&heading) {
            assert!(rest.contains("```python\n") && !rest.contains("```sh\n"), "{heading}");
            continue;
        }
        let here = files();
        for block in rest.split("```sh\n").skip(1) {
            let (commands, _) = block.split_once("```").unwrap();
            let said = here.shell(commands);
            assert_eq!(said.code, 0, "{heading}: {}", said.err);
        }
        let (_, command, left) =
            LEFT.iter().find(|(name, ..)| *name == heading).unwrap_or_else(|| panic!("{heading}"));
        assert_eq!(here.shell(command).ok(), *left, "{heading}");
        ran += 1;
    }
    assert_eq!(ran, LEFT.len());
}
