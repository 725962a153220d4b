//! `--queries` of chains of sets: the pairs of a query and a document are those of brute force, and those of a run over both together, on
//! both engines; and what goes with queries, and what does not.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::common::cli::{Place, fixture, jsonl};
use crate::common::odd::gzip;
use crate::common::oracle::{
    Doc, Features, Frequencies, SIMILARITIES, Similarity, at_least, shared, short_texts, six_decimals,
};
use crate::common::rng::Rng;
use crate::common::{features, real};

/// Documents of few words, of 0 to 60, many like one another; some are equal, and some too short for rows of three words.
fn documents(rng: &mut Rng, count: usize, prefix: &str) -> Vec<Doc> {
    let words = ["ferry", "left", "at", "six", "用户", "and", "came", "back", "late", "Ärger", "again", "x"];
    let mut texts: Vec<Vec<&str>> = vec![(0..30).map(|at| words[at * 7 % words.len()]).collect()];
    while texts.len() < count {
        let mut text = match rng.below(4) {
            0 => (0..rng.below(60)).map(|_| words[rng.below(words.len())]).collect(),
            1 => texts[rng.below(texts.len())].iter().take(1 + rng.below(20)).copied().collect(),
            _ => texts[rng.below(texts.len())].clone(),
        };
        for _ in 0..rng.below(3) {
            text.insert(rng.below(text.len() + 1), words[rng.below(words.len())]);
        }
        texts.push(text);
    }
    let line = |(at, text): (usize, &Vec<&str>)| {
        // Each fourth query has the id of a document, too.
        let id = if at % 4 == 0 { format!("n{at:03}") } else { format!("{prefix}{at:03}") };
        Doc::from_line(&json!({ "id": id, "text": text.join(" ") }).to_string())
    };
    texts.iter().enumerate().map(line).collect()
}

fn lines(docs: &[Doc]) -> String {
    docs.iter().map(|doc| doc.line.clone() + "\n").collect()
}

/// What a run is asked for, as the oracle takes it.
struct Asked<'a> {
    /// The name of the similarity.
    similarity: &'a str,
    reaches: &'a dyn Fn(usize, usize, usize) -> bool,
    written: &'a dyn Fn(usize, usize, usize) -> String,
    idf: &'a str,
    least: usize,
}

/// `pairs.tsv` by brute force over every query and every document.
fn brute_force(queries: &[Doc], docs: &[Doc], kind: &str, asked: &Asked<'_>) -> String {
    let all: Vec<Doc> = queries.iter().chain(docs).cloned().collect();
    let sets = features::of(&all, kind);
    let sets = Frequencies::count(&sets).keep(&sets, asked.idf);
    let texts = short_texts(&all, &sets, asked.least);
    let sizes: Vec<usize> = sets.iter().map(Features::len).collect();
    let compared = at_least(&sets, asked.least);
    let mut rows = Vec::new();
    for q in 0..queries.len() {
        for d in queries.len()..all.len() {
            let equal = texts[q].is_some() && texts[q] == texts[d];
            let overlap = if equal { sizes[q] } else { shared(&compared[q], &compared[d]) };
            let (a, b) = (sizes[q], sizes[d]);
            let similar = overlap > 0 && (asked.reaches)(overlap, a, b);
            if !equal && !similar {
                continue;
            }
            let score = if a == 0 { six_decimals(1, 1) } else { (asked.written)(overlap, a, b) };
            let behind = match asked.similarity {
                "jaccard" => String::new(),
                "containment" => {
                    let relation = match (2 * a < b, 2 * b < a) {
                        (true, _) => "contained",
                        (_, true) => "contains",
                        _ => "duplicate",
                    };
                    let ratio = if a == b { six_decimals(1, 1) } else { six_decimals(a.min(b), a.max(b)) };
                    format!("\t{ratio}\t{relation}")
                }
                other => format!("\t{other}"),
            };
            rows.push(format!("{}\t{}\t{overlap}\t{a}\t{b}\t{score}{behind}\n", all[q].id, all[d].id));
        }
    }
    rows.sort();
    rows.concat()
}

fn place() -> (Place, Vec<Doc>, Vec<Doc>) {
    let mut rng = Rng::new(2027);
    let docs = documents(&mut rng, 110, "d");
    let mut queries = documents(&mut rng, 40, "q");
    // Some are documents of the collection under another id.
    for (at, query) in queries.iter_mut().enumerate().filter(|(at, _)| at % 3 == 1) {
        let text = format!("{} again", docs[at * 2].text);
        *query = Doc::from_line(&json!({ "id": query.id, "text": text }).to_string());
    }
    let here = Place::new();
    here.write("docs.jsonl", lines(&docs));
    here.write("queries.jsonl.gz", gzip(lines(&queries)));
    (here, docs, queries)
}

/// Runs of queries against documents: the pairs, and nothing else is written.
fn pairs(here: &Place, options: &str) -> String {
    let run = format!(
        "twinsplit run {options} --queries queries.jsonl.gz --input docs.jsonl --output out --quiet --overwrite"
    );
    here.say(&run).ok();
    assert_eq!(here.names("out"), ["pairs.tsv", "run.json"].map(str::to_owned).into());
    here.read("out/pairs.tsv")
}

const ENGINES: [&str; 2] = ["local --threads 3 --memory 100", "pipes"];

#[test]
fn every_similarity_finds_what_brute_force_finds() {
    let (here, docs, queries) = place();
    let mut runs = 0;
    for similarity in SIMILARITIES.map(Some).into_iter().chain([None]) {
        for (tau, idf, least) in [("0.5", "0,1", 1), ("0.8", "0.05,1", 4), ("0.8", "0.3,0.9", 1)] {
            // Sets of fewer features share no 6, so they are compared by their texts.
            let of_overlap = similarity == Some(Similarity::Overlap);
            let (tau, at_least) = if of_overlap { ("6", least.max(6)) } else { (tau, least) };
            let name = similarity.map_or("query-containment", Similarity::name);
            let asked = Asked {
                similarity: name,
                reaches: &|o, a, b| match similarity {
                    Some(similarity) => similarity.reaches(tau, o, a, b),
                    // The smaller of two sets, where both are the query.
                    None => Similarity::Containment.reaches(tau, o, a, a),
                },
                written: &|o, a, b| match similarity {
                    Some(similarity) => similarity.written(o, a, b),
                    None => six_decimals(o, a),
                },
                idf,
                least: at_least,
            };
            let expected = brute_force(&queries, &docs, "words:2", &asked);
            assert!(expected.lines().count() > 20, "{name} {tau} {idf}: {expected}");
            for engine in ENGINES {
                let lookup = if runs % 2 == 0 || idf == "0,1" { "" } else { " --idf-lookup shuffle" };
                let options = format!(
                    "doc-split --engine {engine} --features words:2 --similarity {name} --tau {tau} --idf {idf} --min-features {least}{lookup}"
                );
                assert_eq!(pairs(&here, &options), expected, "{options}");
                runs += 1;
            }
        }
    }
    println!("{runs} runs");
    assert_eq!(runs, 6 * 3 * 2);
}

/// The pairs of a run over both together, with ids that tell the sides apart, where one is a query and the other a document.
fn of_both(here: &Place, queries: &[Doc], docs: &[Doc], options: &str) -> BTreeSet<String> {
    let marked = |docs: &[Doc], mark: &str| {
        let line =
            |doc: &Doc| json!({ "id": format!("{mark}{}", doc.id), "text": doc.text }).to_string() + "\n";
        docs.iter().map(line).collect::<String>()
    };
    here.write("both.jsonl", marked(docs, "d:") + &marked(queries, "q:"));
    here.say(&format!("twinsplit run {options} --input both.jsonl --output both --quiet --overwrite")).ok();
    let all = here.read("both/pairs.tsv");
    let crossed = all.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        // `d:` comes before `q:`, so the document is the first one.
        let (document, query) = (fields[0].strip_prefix("d:")?, fields[1].strip_prefix("q:")?);
        Some(format!("{query}\t{document}\t{}\t{}\t{}\t{}", fields[2], fields[4], fields[3], fields[5]))
    });
    crossed.collect()
}

/// Pairs without those that equal texts make, which are none in a run over both.
fn of_sets(pairs: &str) -> BTreeSet<String> {
    let fields = |line: &str| line.split('\t').take(6).collect::<Vec<_>>().join("\t");
    pairs.lines().map(fields).filter(|row| row.split('\t').nth(2) != Some("0")).collect()
}

#[test]
fn every_chain_finds_what_a_run_over_both_together_finds() {
    let (here, docs, queries) = place();
    let mut runs = 0;
    for chain in [
        "doc-split",
        "term-split",
        "ccdet --similarity jaccard",
        "ccdet --similarity containment --features sentence-ends:4",
        "minhash --bands 16 --rows 8",
        "minhash --bands 4 --rows 3 --hashes 24 --minhash classic",
        "doc-split --counts on",
    ] {
        let features = if chain.contains("--features") { "" } else { " --features words:2" };
        for more in ["--tau 0.5", "--tau 0.8 --idf 0.2,0.95"] {
            let options = format!("{chain}{features} {more}");
            let pcp = if chain == "term-split" { " --pcp prefix" } else { "" };
            let expected = of_both(&here, &queries, &docs, &format!("{options}{pcp}"));
            for engine in ENGINES {
                let found = pairs(&here, &format!("{options} --engine {engine}"));
                assert_eq!(of_sets(&found), expected, "{options} --engine {engine}");
                runs += 1;
            }
            assert!(expected.len() > 20 || chain.contains("sentence-ends"), "{options}: {expected:?}");
        }
    }
    println!("{runs} runs");
    assert_eq!(runs, 7 * 2 * 2);
}

/// Texts as people write them: each 40th document with a sentence less is a query.
#[test]
fn real_documents_are_found_by_changed_copies() {
    let here = Place::new();
    let docs = real::read(&fixture("documents/en.jsonl.gz"));
    let cut = |(at, doc): (usize, &Doc)| {
        let text = doc.text.split_once(". ").map_or(doc.text.as_str(), |(_, rest)| rest);
        Doc::from_line(&json!({ "id": format!("copy-{at}"), "text": text }).to_string())
    };
    let queries: Vec<Doc> = docs.iter().enumerate().step_by(40).map(cut).collect();
    here.write("docs.jsonl", lines(&docs));
    here.write("queries.jsonl.gz", gzip(lines(&queries)));
    let expected = of_both(&here, &queries, &docs, "doc-split");
    assert!(expected.len() >= queries.len() / 2, "{} of {}", expected.len(), queries.len());
    for engine in ENGINES {
        assert_eq!(of_sets(&pairs(&here, &format!("doc-split --engine {engine}"))), expected, "{engine}");
    }
}

#[test]
fn the_run_says_what_it_did_and_knows_its_queries() {
    let (here, docs, queries) = place();
    let run = "twinsplit run --features words:2 --queries queries.jsonl.gz --input docs.jsonl --output out";
    let said = here.say(run);
    assert_eq!(said.code, 0, "{}", said.err);
    let report: Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
    assert_eq!(report["chain"], "doc-split");
    let rows = here.read("out/pairs.tsv");
    let near: BTreeSet<_> = rows.lines().map(|line| line.split('\t').nth(1).unwrap()).collect();
    let expected = format!(
        "{} documents, {} of them in a pair with one of {} queries, {} pairs, in ",
        docs.len(),
        near.len(),
        queries.len(),
        rows.lines().count()
    );
    assert!(said.err.contains(&expected), "{expected}: {}", said.err);
    assert!(!said.err.contains("APPROXIMATE"), "{}", said.err);
    here.say(&format!("{run} --resume --quiet")).ok();
    here.write("queries.jsonl.gz", gzip(lines(&queries[1..])));
    here.say(&format!("{run} --resume")).fails(2, &["queries.jsonl.gz has changed"]);
    here.write("queries.jsonl.gz", "");
    assert_eq!(pairs(&here, "doc-split"), "");
}

#[test]
fn what_goes_with_no_queries_is_refused_by_name() {
    let (here, docs, queries) = place();
    here.write("twice", lines(&[queries[1].clone(), queries[2].clone(), queries[1].clone()]));
    let run = |options: &str| here.say(&format!("twinsplit run {options} --input docs.jsonl --output out"));
    for (options, words) in [
        ("--queries twice --write clusters", &["--queries", "no clusters", "leave --write out"][..]),
        ("--queries twice --write-kept", &["--queries", "leave --write-kept out"]),
        ("minhash --queries twice --check signature", &["--queries", "leave --check out"]),
        ("i-match --queries twice", &["--queries is not for i-match; take one of doc-split, "]),
        ("--queries twice --partition by-task", &["--partition here", "leave it out, or --queries"]),
        ("--queries twice --keep longest", &["--keep here", "leave it out, or --queries"]),
        ("--queries -", &["standard input", "--queries"]),
        ("--similarity query-containment", &["'query-containment'", "goes with --queries"]),
    ] {
        run(options).fails(2, words);
    }
    run("--queries nothing").fails(1, &["nothing", "no such file", "--queries"]);
    let twice =
        format!("set-queries: the id {:?} stands at more than one document of --queries", queries[1].id);
    run("--features words:1 --queries twice").fails(1, &[&twice]);
    run("--features words:2 --queries docs.jsonl --max-pairs 3")
        .fails(1, &["tokenize: ", "pairs of a query and a document", "--max-pairs", "(the limit is 3)"]);
    // A bound names what is enough, and that is enough.
    let long: String = (0..20_000).map(|at| format!("word{at} ")).collect();
    here.write("long", jsonl(&[("long", &long)]));
    let error = run("--queries long --queries-memory 1 --overwrite")
        .fails(1, &["set-queries: the index of 1 queries needs at least ", "--queries-memory allows 1"]);
    let needed = error.split_once("needs at least ").unwrap().1.split(' ').next().unwrap();
    run(&format!("--queries long --queries-memory {needed} --overwrite --quiet")).ok();
    assert!(docs.len() > 100);
}

/// Queries that do not fit are held in parts, as many as the message names, and the answer is the same.
#[test]
fn queries_are_held_in_parts() {
    let here = Place::new();
    let mut rng = Rng::new(5);
    let text = |rng: &mut Rng| (0..40).map(|_| format!("w{} ", rng.below(3000))).collect::<String>();
    let texts: Vec<String> = (0..900).map(|_| text(&mut rng)).collect();
    let named = |prefix: &str, step: usize| {
        let all = texts.iter().enumerate().step_by(step);
        all.map(|(at, text)| json!({ "id": format!("{prefix}{at}"), "text": text }).to_string() + "\n")
            .collect::<String>()
    };
    here.write("docs.jsonl", named("d", 1));
    here.write("queries.jsonl", named("q", 2));
    let mut runs = 0;
    for options in [
        "doc-split --features words:2",
        "doc-split --features words:2 --idf 0.1,1",
        "simhash --features words:1",
    ] {
        let run = |more: &str| {
            let line = format!(
                "twinsplit run {options}{more} --queries queries.jsonl --input docs.jsonl --output out --overwrite"
            );
            let said = here.say(&line);
            (said.code == 0).then(|| here.read("out/pairs.tsv")).ok_or(said.err)
        };
        let expected = run("").unwrap();
        assert!(expected.lines().count() >= 450, "{options}");
        let parts = match run(" --queries-memory 1") {
            Err(error) => error.split_once("--query-parts ").unwrap().1.trim().parse().unwrap(),
            Ok(_) => 3,
        };
        assert!(parts > 1 && (parts < 4 || options.starts_with("doc-split")), "{options}: {parts}");
        for engine in ["local --threads 2", "pipes"] {
            let found = run(&format!(" --query-parts {parts} --queries-memory 1 --engine {engine}")).unwrap();
            assert_eq!(found, expected, "{options} {engine}");
            runs += 1;
        }
    }
    println!("{runs} runs");
    assert_eq!(runs, 6);
}

/// Bad lines are those of the file that they stand in.
#[test]
fn bad_lines_of_queries_are_named_or_passed_over() {
    let (here, _, queries) = place();
    here.write("bad", lines(&queries[..3]) + "{\"id\":\"q\",\"text\":3}\n");
    for engine in ["local", "pipes"] {
        let run = format!(
            "twinsplit run --queries bad --input docs.jsonl --output out-{engine} --engine {engine} --quiet"
        );
        here.say(&run).fails(1, &["tokenize: bad, line 4", "field text", "expected a string"]);
        here.say(&format!("{run} --overwrite --bad-records 1")).ok();
        assert!(here.read(&format!("out-{engine}/quarantine.tsv")).contains("{\"id\":\"q\",\"text\":3}"));
    }
    assert_eq!(here.read("out-local/pairs.tsv"), here.read("out-pipes/pairs.tsv"));
}

/// `explain` looks for the first id among the queries, and for the second one among the documents.
#[test]
fn a_pair_with_a_query_is_explained() {
    let here = Place::new();
    let text = "one two three four five six seven eight nine ten";
    here.write(
        "docs",
        jsonl(&[("a", &format!("{text} and much more of it that is no query")), ("b", "another")]),
    );
    here.write("new", jsonl(&[("b", text)]));
    let options = "--similarity query-containment --tau 0.9 --features words:2";
    here.say(&format!("twinsplit run {options} --queries new --input docs --output out --quiet")).ok();
    assert_eq!(here.read("out/pairs.tsv"), "b\ta\t9\t9\t18\t1.000000\tquery-containment\n");
    for from in ["--run out".to_owned(), format!("--queries new --input docs {options}")] {
        let explain = |ids: &str| here.say(&format!("twinsplit explain {ids} {from}"));
        let said = explain("b a").ok();
        assert!(said.contains("= 9 / 9 = 1.000000") && said.contains("=> a pair"), "{said}");
        assert!(explain("b b").ok().contains("=> not a pair"));
        explain("a b").fails(2, &["no query has the id \"a\""]);
        explain("b c").fails(2, &["no document has the id \"c\""]);
    }
    here.say("twinsplit report out").fails(2, &["pairs with queries", "twinsplit explain QUERY ID"]);
}

/// Ids that are made of names of files are those of the run, wherever `explain` is called.
#[test]
fn a_pair_with_a_query_by_its_place_is_explained() {
    let here = Place::new();
    let text = "one two three four five six seven eight nine ten";
    here.write("docs", jsonl(&[("a", text), ("b", "another text of nine words that is not alike")]));
    here.write("new", jsonl(&[("c", text)]));
    for (id, first) in [("row", 1), ("auto", 0)] {
        here.say(&format!("twinsplit run --id {id} --queries new -i docs -qo out-{id}")).ok();
        assert!(
            here.read(&format!("out-{id}/pairs.tsv")).starts_with(&format!("new@{first}\tdocs@{first}\t"))
        );
        let from = here.path(&format!("out-{id}"));
        let said = here
            .shell(&format!("cd / && twinsplit explain new@{first} docs@{first} --run {}", from.display()))
            .ok();
        assert!(said.contains("=> a pair"), "{said}");
    }
    here.say("twinsplit run -q -i - --queries new -o x").fails(2, &["with --queries each task reads"]);
}
