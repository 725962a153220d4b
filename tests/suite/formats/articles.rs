//! `--html article`: the main content of web pages is what is compared, wherever pages are read.

use crate::common::cli::{Place, fixture};
use crate::formats::convert::values;
use serde_json::Value;
use std::fs;

/// A page with a menu, a notice and links to other pages around its article, and that article.
fn page() -> (String, &'static str) {
    let page = fs::read_to_string(fixture("../crates/html/src/article/pages/article.html")).unwrap();
    (
        page,
        "The bridge reopens after two years\n\nBy A. Writer, 3 May\n\nThe old bridge over the river was opened again on Monday, two years after a flood had damaged \
         its pillars, and hundreds of people walked across it in the first hour.\n\n“We had not thought that it would take so long,” the mayor \
         said, adding that the work had cost twice as much as planned, because the ground was softer than the first survey had \
         shown.\n\nWhat comes next\n\nBuses will use the bridge from June, the council said. Cars must wait until the road on the other side \
         has been rebuilt, which may take until the autumn.\n\nBuses cross from the first of June, every ten minutes.\nCyclists may cross at \
         any time, on the northern side.",
    )
}

/// The same article in three wrappings: on a page, on one with another menu, and in no page at all.
fn site() -> Place {
    let here = Place::new();
    let (page, _) = page();
    fs::create_dir(here.path("site")).unwrap();
    here.write("site/a.html", &page);
    let menu: String = (0..200).map(|at| format!("<li><a href=/{at}>Section number{at}</a>")).collect();
    here.write("site/b.html", page.replace("<li><a href=\"/w\">Weather</a>", &menu));
    here
}

fn texts(lines: &str) -> Vec<String> {
    values(lines).iter().map(|line| line["text"].as_str().unwrap().to_owned()).collect()
}

/// In every format that has pages; without the option a page is what it was.
#[test]
fn pages_of_every_format_become_articles() {
    let here = site();
    let (page, article) = page();
    let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{page}");
    here.write(
        "crawl.warc",
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:a>\r\nContent-Type: application/http; msgtype=response\r\n\
             Content-Length: {}\r\n\r\n{http}\r\n\r\n",
            http.len()
        ),
    );
    here.write(
        "crawl.arc",
        format!(
            "filedesc://x 0.0.0.0 20080430204825 text/plain 76\n1 0 Example\nURL IP-address Archive-date Content-type Archive-length\n\n\
             http://x/ 0.0.0.0 20080430204825 text/html {}\n{http}\n",
            http.len()
        ),
    );
    here.write(
        "crawl.trec",
        format!("<DOC>\n<DOCNO>a</DOCNO>\n<DOCHDR>\nhttp://x/\n</DOCHDR>\n{page}\n</DOC>\n"),
    );
    let mut ran = 0;
    for file in ["site/a.html", "site/b.html", "crawl.warc", "crawl.arc", "crawl.trec"] {
        let said = |option: &str| texts(&here.say(&format!("twinsplit convert {file}{option} -qo -")).ok());
        assert_eq!(said(" --html article"), [article], "{file}");
        let visible = said(" --html visible");
        assert_eq!(visible, said(""), "{file}");
        assert!(
            visible[0].starts_with("Daily Example\nNews\n") && visible[0].contains("We use cookies"),
            "{visible:?}"
        );
        assert!(visible[0].contains("two years\n\nBy A. Writer"), "{visible:?}");
        ran += 1;
    }
    assert_eq!(ran, 5);
    // Blocks are paragraphs where these are compared.
    let units = texts(&here.say("twinsplit convert site/a.html --html article --unit paragraph -qo -").ok());
    assert_eq!(units.join("\n\n"), article.replace("minutes.\nCyc", "minutes.\n\nCyc"));
}

/// Two pages are alike by their articles and not by their menus, in every engine that reads pages; the answer remembers how they were read.
#[test]
fn a_run_compares_articles() {
    let here = site();
    let (_, article) = page();
    here.say("twinsplit run -i site --tau 0.9 -qo visible").ok();
    assert_eq!(here.read("visible/pairs.tsv"), "");
    here.say("twinsplit run -i site --html article --tau 0.9 -qo out").ok();
    let pairs = here.read("out/pairs.tsv");
    assert!(pairs.starts_with("site/a.html\tsite/b.html\t") && pairs.ends_with("\t1.000000\n"), "{pairs}");
    assert_eq!(texts(&here.read("out/documents.jsonl")), [article, article]);
    here.say("twinsplit run -i site --html article --tau 0.9 --engine pipes -qo pipes").ok();
    assert_eq!(here.read("pipes/pairs.tsv"), pairs);

    let told = |folder: &str| {
        let run: Value = serde_json::from_str(&here.read(&format!("{folder}/run.json"))).unwrap();
        run["parameters"]["html"].clone()
    };
    assert_eq!((told("out"), told("visible")), ("article".into(), Value::Null));
    let again = "twinsplit run -i site --tau 0.9 -o out --resume";
    assert!(here.say(&format!("{again} --html article")).err.contains("complete"));
    here.say(again).fails(2, &["html"]);

    // What is compared is shown, of the run and without one.
    let shown = here.say("twinsplit explain site/a.html site/b.html --run out").ok();
    assert!(shown.contains("site/a.html") && !shown.contains("number7"), "{shown}");
    let alone = "twinsplit explain site/a.html site/b.html -i site --tau 0.9";
    let is_pair = |option: &str| !here.say(&format!("{alone}{option}")).ok().contains("not a pair");
    assert!(is_pair(" --html article") && !is_pair(" --html visible") && !is_pair(""));
    // Documents are read again as they were then.
    let annotated = here.say("twinsplit annotate out -o -").ok();
    assert_eq!(texts(&annotated), [article, article]);
}

#[test]
fn documents_that_are_no_pages_are_refused() {
    let here = site();
    here.write("docs.jsonl", "{\"id\": \"a\", \"text\": \"one two three\"}\n");
    here.write("table.csv", "id,text\n1,one\n");
    let words = ["--html article is for web pages", "leave --html out"];
    here.say("twinsplit run -i docs.jsonl --html article -qo out").fails(2, &words);
    here.say("twinsplit convert docs.jsonl table.csv --html article -qo -").fails(2, &words);
    here.say("twinsplit convert site --format csv --html article -qo -").fails(2, &words);
    here.say("twinsplit convert site --html readable -qo -").fails(2, &["--html", "visible", "article"]);
    here.say("twinsplit convert site --html article --keep-markup -qo -")
        .fails(2, &["--keep-markup", "--html"]);
    here.say("twinsplit run -i /x --html article --engine hadoop -qo out")
        .fails(2, &["--html is for --engine local and pipes", "twinsplit convert"]);
    // Beside pages there may be others.
    let said = here.say("twinsplit convert site docs.jsonl --html article -qo -").ok();
    assert_eq!(texts(&said)[2], "one two three");
    // What is missing is named, and not called no page.
    here.say("twinsplit convert missing.html --html article -qo -").fails(1, &["missing.html"]);
}

/// Other commands that read documents.
#[test]
fn idf_and_tune_read_articles() {
    let here = site();
    let counted = |option: &str| {
        here.say(&format!("twinsplit idf --from site --features words:1{option} --overwrite -o idf.tsv"))
            .ok();
        here.read("idf.tsv")
    };
    assert_ne!(counted(" --html article"), counted(""));
    assert_eq!(counted(" --html visible"), counted(""));
    let tuned = here.say("twinsplit tune -i site --html article").ok();
    assert!(tuned.contains("--html article"), "{tuned}");
}
