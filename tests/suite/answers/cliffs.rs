//! Shapes that make a join slow where a bound is missed: here each of them at a size at which all pairs can be compared, and
//! the counts of some. `make bench-cliffs` counts at sizes that hurt.

use crate::common::cli::Place;
use crate::common::rng::Rng;
use crate::common::shapes::{SHAPES, Shape, decimal};

/// The answer by definition, as lines of pairs.tsv.
fn pairs(shape: &Shape, tau: u32, documents: usize) -> Vec<String> {
    let mut sets = Vec::new();
    let see = |number: usize, words: &[u64]| {
        sets.push((format!("d{number}"), words.to_vec()));
        Ok(())
    };
    shape.sets(tau, documents, see).unwrap();
    sets.sort();
    let mut lines = Vec::new();
    for (at, (a, x)) in sets.iter().enumerate() {
        for (b, y) in &sets[at + 1..] {
            let shared = x.iter().filter(|word| y.binary_search(word).is_ok()).count();
            let union = x.len() + y.len() - shared;
            if shared > 0 && 100 * shared >= tau as usize * union {
                lines.push(format!("{a}\t{b}\t{shared}/{union}"));
            }
        }
    }
    lines
}

/// The first fields of pairs.tsv, and the similarity as a fraction.
fn found(text: &str) -> Vec<String> {
    let line = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| fields[at].parse::<u64>().unwrap();
        let (overlap, a, b) = (number(2), number(3), number(4));
        format!("{}\t{}\t{overlap}/{}", fields[0], fields[1], a + b - overlap)
    };
    text.lines().map(line).collect()
}

#[test]
fn every_shape_gives_the_pairs_of_its_definition() {
    let place = Place::new();
    for shape in SHAPES {
        for tau in shape.taus {
            let documents = 60;
            shape.write(*tau, documents, &place.path("in.jsonl")).unwrap();
            let expected = pairs(shape, *tau, documents);
            for method in ["doc-split", "term-split --pcp prefix"] {
                let options = format!("--features words:1 --tau {} --threads 2 --overwrite", decimal(*tau));
                place
                    .say(&format!("twinsplit run {method} --input in.jsonl --output out --quiet {options}"))
                    .ok();
                assert_eq!(found(&place.read("out/pairs.tsv")), expected, "{} {tau} {method}", shape.name);
            }
        }
    }
}

/// Stars that are found without most of their pairs are those of all pairs.
#[test]
fn every_shape_has_the_stars_of_its_pairs() {
    let place = Place::new();
    for shape in SHAPES {
        for tau in shape.taus {
            shape.write(*tau, 200, &place.path("in.jsonl")).unwrap();
            let clusters = |write: &str| {
                let options = format!("--write {write} --cluster star --tau {} --threads 2", decimal(*tau));
                place
                    .say(&format!(
                        "twinsplit run doc-split --features words:1 --keep longest {options} --input in.jsonl --output out --overwrite --quiet"
                    ))
                    .ok();
                place.read("out/clusters.tsv")
            };
            assert!(clusters("clusters") == clusters("pairs"), "{} {tau}", shape.name);
        }
    }
}

/// Documents that are all alike are held against their centre, and not against each other.
#[test]
fn a_star_of_near_equal_documents_takes_a_pair_for_each() {
    let place = Place::new();
    let shape = Shape::named("near-equal").unwrap();
    for documents in [400, 800] {
        shape.write(90, documents, &place.path("in.jsonl")).unwrap();
        let line = "twinsplit run doc-split --features words:1 --tau 0.9 --cluster star --write clusters --input in.jsonl \
                    --output out --overwrite --quiet --json";
        let report: serde_json::Value = serde_json::from_str(&place.say(line).ok()).unwrap();
        let counters = &report["counters"]["docsplit-query"];
        assert_eq!(counters["joined_pairs"], documents as u64 - 1, "{counters}");
        assert!(counters["candidate_pairs"].as_u64() <= Some(2 * documents as u64), "{counters}");
    }
}

/// Ways to clusters alone, with the step and the counters that say how often two documents were looked at.
const FAMILIES: [(&str, &str, &[&str]); 4] = [
    ("minhash --bands 16 --rows 4", "lsh-bands", &["pairs_of_postings", "candidate_pairs"]),
    ("term-split --pcp prefix", "pcp-map", &["candidate_pairs", "joined_pairs"]),
    ("ccdet --similarity containment", "docsplit-query", &["candidate_pairs", "joined_pairs"]),
    ("simhash --distance 8", "hamming-pairs", &["fingerprints_compared", "joined_pairs"]),
];

/// The options of a family besides, for near-equal documents.
fn alike(way: &str) -> String {
    let tau = if way.starts_with("simhash") { "" } else { " --tau 0.9" };
    format!("{way} --features words:1{tau} --keep longest --input in.jsonl --overwrite --quiet --json")
}

/// Clusters alone of documents that are all alike take looks for each document, and not for each two, in every family and for both kinds
/// of clusters; and they are the clusters of all pairs.
#[test]
fn clusters_of_near_equal_documents_cost_a_few_looks_each() {
    let place = Place::new();
    let shape = Shape::named("near-equal").unwrap();
    for (way, step, counters) in FAMILIES {
        for kind in ["components", "star"] {
            let looks = |documents: usize, threads: usize| {
                shape.write(90, documents, &place.path("in.jsonl")).unwrap();
                let line = format!("twinsplit run {} --cluster {kind} --threads {threads}", alike(way));
                let said = place.say(&format!("{line} --write clusters --output out")).ok();
                let report: serde_json::Value = serde_json::from_str(&said).unwrap();
                let of = |name: &&str| {
                    let count = report["counters"][step][name].as_u64();
                    count.unwrap_or_else(|| panic!("{way}: no {name} in {}", report["counters"][step]))
                };
                (line, counters.iter().map(of).sum::<u64>())
            };
            let (some, (line, twice)) = (looks(300, 1).1, looks(600, 1));
            assert!(twice >= 300 && twice < 3 * some, "{way} {kind}: {some} looks, then {twice}");
            assert_eq!(looks(600, 3).1, twice, "{way} {kind}: the threads do not matter");
            place.say(&format!("{line} --write pairs --output pairs")).ok();
            assert_eq!(place.read("out/clusters.tsv"), place.read("pairs/clusters.tsv"), "{way} {kind}");
        }
    }
}

/// The same as programs: documents that are connected by the first one of a list are no candidates.
#[test]
fn pipes_pair_near_equal_documents_with_hubs() {
    let place = Place::new();
    let shape = Shape::named("near-equal").unwrap();
    for (way, step) in
        [FAMILIES[0], FAMILIES[1]].map(|(way, ..)| way).into_iter().zip(["lsh-candidates", "pcp-map"])
    {
        let candidates = |documents: usize| {
            shape.write(90, documents, &place.path("in.jsonl")).unwrap();
            let options = "--engine pipes --cluster components --write clusters --graph 1000 --output pipes";
            let said = place.say(&format!("twinsplit run {} {options}", alike(way))).ok();
            let report: serde_json::Value = serde_json::from_str(&said).unwrap();
            let of = |step: &str| {
                let count = report["counters"][step]["pairs_of_postings"].as_u64();
                count.unwrap_or_else(|| panic!("{way}: nothing of {step} in {}", report["counters"]))
            };
            of("hub-candidates") + of(step)
        };
        let (some, twice) = (candidates(150), candidates(300));
        assert!(twice >= 2 * 299 && twice < 3 * some, "{way}: {some} candidates, then {twice}");
        place
            .say(&format!("twinsplit run {} --cluster components --write pairs --output pairs", alike(way)))
            .ok();
        assert_eq!(place.read("pipes/clusters.tsv"), place.read("pairs/clusters.tsv"), "{way}");
    }
}

/// A star as programs: each document is held against its centre, and not against the others.
#[test]
fn pipes_hold_near_equal_documents_against_their_centre() {
    let place = Place::new();
    let shape = Shape::named("near-equal").unwrap();
    let documents = 300;
    shape.write(90, documents, &place.path("in.jsonl")).unwrap();
    for way in FAMILIES.map(|(way, ..)| way).into_iter().chain(["doc-split --slices 2"]) {
        let line = format!("twinsplit run {} --cluster star", alike(way));
        let said =
            place.say(&format!("{line} --engine pipes --write clusters --graph 1000 --output pipes")).ok();
        let report: serde_json::Value = serde_json::from_str(&said).unwrap();
        let compared = report["counters"]["star-centres"]["compared_with_centres"].as_u64();
        // Of fingerprints some are equal, and some are too far from the first centre.
        match way.starts_with("simhash") {
            true => assert!((100..1200).contains(&compared.unwrap()), "{way}: {compared:?}"),
            false => assert_eq!(compared, Some(documents as u64 - 1), "{way}"),
        }
        if let Some(pairs) = report["counters"]["docsplit-query"]["map_records_out"].as_u64() {
            assert!((299..600).contains(&pairs), "{way}: {pairs} pairs");
            let verified = report["counters"]["docsplit-query"]["candidate_pairs"].as_u64();
            assert!(verified < Some(2 * documents as u64), "{way}: {verified:?}");
        }
        place.say(&format!("{line} --write pairs --output pairs")).ok();
        assert_eq!(place.read("pipes/clusters.tsv"), place.read("pairs/clusters.tsv"), "{way}");
    }
}

/// Lists in several blocks, forests that hold few documents, documents that no hub is similar to, and stars that touch.
#[test]
fn pipes_find_the_clusters_of_all_pairs() {
    let place = Place::new();
    let ways = [
        "minhash --hashes 32 --bands 16 --rows 2 --tau 0.55",
        "term-split --pcp prefix --tau 0.6",
        "doc-split --slices 3 --tau 0.6",
        "ccdet --similarity containment --tau 0.7",
        "simhash --distance 6",
    ];
    for (seed, options) in [(7, "--graph 20 --posting-block 16"), (8, "--graph 20 --forest 30"), (9, "")] {
        place.write("in.jsonl", skewed(&mut Rng::new(seed), 160));
        for way in ways {
            // Slices have no lists, and fingerprints no hubs.
            let by_hubs = way.starts_with("minhash") || way.starts_with("term-split");
            let options = match way {
                _ if by_hubs => options,
                "simhash --distance 6" => "--posting-block 16",
                _ => "",
            };
            for kind in ["components", "star"] {
                let line = format!(
                    "twinsplit run {way} --features words:1 --cluster {kind} --keep longest --input in.jsonl --quiet --overwrite"
                );
                place.say(&format!("{line} --write pairs --output pairs")).ok();
                let pipes = "--engine pipes --write clusters --output pipes --threads 2";
                place.say(&format!("{line} {options} {pipes}").replace("  ", " ")).ok();
                let (found, expected) = (place.read("pipes/clusters.tsv"), place.read("pairs/clusters.tsv"));
                assert!(found == expected && found.lines().count() > 40, "{seed} {way} {kind}");
                let report: serde_json::Value = serde_json::from_str(&place.read("pipes/run.json")).unwrap();
                let with_hubs = report["counters"]["hub-candidates"]["pairs_of_postings"].as_u64();
                assert_eq!(with_hubs > Some(0), by_hubs && !options.is_empty(), "{seed} {way} {kind}");
            }
        }
    }
}

/// Documents of a few templates, and chains of documents of which each is made of the one before: large components, stars that touch.
fn skewed(random: &mut Rng, documents: usize) -> String {
    let mut all: Vec<Vec<usize>> = Vec::new();
    let mut text = String::new();
    for number in 0..documents {
        let chains = random.once_in(3) && !all.is_empty();
        let template = random.skewed(4);
        let mut words: Vec<usize> = match chains {
            true => all[random.below(all.len())].clone(),
            false => (0..24 + 4 * template).map(|word| word + 100 * template).collect(),
        };
        for _ in 0..random.below(7) {
            let at = random.below(words.len());
            words[at] = 1000 + random.below(3 * documents);
        }
        words.truncate(words.len() - random.below(3));
        let words_of: Vec<String> = words.iter().map(|word| format!("w{word}")).collect();
        text.push_str(&format!("{{\"id\":\"d{number}\",\"text\":\"{}\"}}\n", words_of.join(" ")));
        all.push(words);
    }
    text
}

/// Clusters alone are those of all pairs, where buckets are hot and components are long.
#[test]
fn clusters_alone_are_those_of_all_pairs_in_every_family() {
    let place = Place::new();
    let mut sizes = std::collections::BTreeSet::new();
    for seed in 0..4 {
        place.write("in.jsonl", skewed(&mut Rng::new(seed), 160));
        for way in [
            "minhash --hashes 32 --bands 16 --rows 2 --tau 0.55",
            "minhash --hashes 32 --bands 5 --rows 6 --tau 0.7",
            "term-split --pcp prefix --tau 0.6",
            "ccdet --similarity containment --tau 0.7",
            "simhash --distance 6",
            "simhash --bits 128 --distance 11",
        ] {
            for kind in ["components", "star"] {
                let answer = |write: &str| {
                    let options = format!("--cluster {kind} --keep longest --threads 2 --write {write}");
                    let line = format!("twinsplit run {way} --features words:1 {options} --input in.jsonl");
                    place.say(&format!("{line} --output {write} --overwrite --quiet")).ok();
                    place.read(&format!("{write}/clusters.tsv"))
                };
                let expected = answer("pairs");
                sizes.insert(expected.lines().count());
                assert!(answer("clusters") == expected, "{seed} {way} {kind}");
            }
        }
    }
    assert!(sizes.len() > 12 && sizes.iter().all(|lines| *lines > 10), "{sizes:?}");
}

/// One shared word more would make every two documents a pair.
#[test]
fn templates_share_as_much_as_no_pair_does() {
    let template = Shape::named("template").unwrap();
    for tau in template.taus {
        assert_eq!(pairs(template, *tau, 6), Vec::<String>::new(), "{tau}");
        let mut shared = 0;
        template
            .sets(*tau, 1, |_, words| {
                shared = words.iter().filter(|word| **word < 100).count() as u32 + 1;
                Ok(())
            })
            .unwrap();
        assert!(100 * shared >= tau * (200 - shared), "{tau}: {shared}");
    }
}

/// What is counted of a join grows no faster than the input, and is the same for any number of threads.
#[test]
fn templates_are_joined_in_one_part_without_a_candidate() {
    let place = Place::new();
    let template = Shape::named("template-60").unwrap();
    for documents in [300, 600] {
        template.write(50, documents, &place.path("in.jsonl")).unwrap();
        for (method, step) in [("doc-split", "docsplit-query"), ("term-split --pcp prefix", "pcp-map")] {
            for threads in 1..4 {
                let options = "--features words:1 --tau 0.5 --overwrite --quiet --json";
                let line = format!(
                    "twinsplit run {method} --input in.jsonl --output out --threads {threads} {options}"
                );
                let report: serde_json::Value = serde_json::from_str(&place.say(&line).ok()).unwrap();
                let counters = &report["counters"][step];
                let expected = [
                    ("shards", 1),
                    ("queries", documents as u64 - 1),
                    ("postings_visited", 0),
                    ("candidate_pairs", 0),
                ];
                for (name, count) in expected {
                    assert_eq!(counters[name], count, "{name}, {method}, {threads} threads");
                }
            }
        }
    }
}

/// Counts of a join with candidates, with the memory for all of them, are those of the input alone.
#[test]
fn counts_of_a_join_do_not_depend_on_threads() {
    let place = Place::new();
    for name in ["zipf", "dense-many", "huge-among-small", "equal-sizes"] {
        let shape = Shape::named(name).unwrap();
        shape.write(30, 700, &place.path("in.jsonl")).unwrap();
        for method in ["doc-split", "term-split --pcp prefix"] {
            let counts = |threads: usize| {
                let options = "--features words:1 --tau 0.3 --overwrite --quiet --json";
                let line = format!(
                    "twinsplit run {method} --input in.jsonl --output out --threads {threads} {options}"
                );
                let report: serde_json::Value = serde_json::from_str(&place.say(&line).ok()).unwrap();
                let step = if method == "doc-split" { "docsplit-query" } else { "pcp-map" };
                ["shards", "queries", "postings_visited", "candidate_pairs"]
                    .map(|name| report["counters"][step][name].as_u64().unwrap())
            };
            let one = counts(1);
            assert!(one.iter().all(|count| *count > 0), "{name} {method}: {one:?}");
            assert_eq!((counts(2), counts(3)), (one, one), "{name} {method}");
        }
    }
}
