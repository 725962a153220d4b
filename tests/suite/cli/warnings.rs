//! The two warnings, just above and exactly on one in a hundred: a collection that the features do not fit
//! gives an answer that looks good and is empty, or one large cluster that is an accident.

use crate::common::cli::{Place, jsonl};
use twinsplit_rows::chains::FAMILIES;

const WAYS: [&str; 4] =
    ["doc-split", "term-split", "doc-split --engine pipes", "term-split --pcp prefix --engine pipes"];

/// `count` documents that share nothing.
fn different(count: usize) -> String {
    let docs: Vec<_> = (0..count).map(|n| (format!("d{n:03}"), format!("u{n}a u{n}b"))).collect();
    let docs: Vec<_> = docs.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    jsonl(&docs)
}

/// The warnings on standard error, which run.json must repeat.
fn warnings(way: &str, docs: &str) -> Vec<String> {
    let here = Place::new();
    here.write("docs", docs);
    let said = here.say(&format!("twinsplit run {way} --features words:1 --input docs --output out --quiet"));
    let lines = said.err.lines().map(|line| line.strip_prefix("warning: ").unwrap_or(line).to_owned());
    let lines: Vec<_> = lines.collect();
    said.ok();
    let run: serde_json::Value = serde_json::from_str(&here.read("out/run.json")).unwrap_or_default();
    assert_eq!(run["warnings"], serde_json::json!(lines), "{way}");
    lines
}

/// One of 100 is not over one percent, one of 99 is.
#[test]
fn documents_without_features() {
    for way in WAYS {
        let empty = jsonl(&[("empty", "。。。 … !")]);
        assert_eq!(warnings(way, &(different(99) + &empty)), [""; 0], "{way}");
        let above = warnings(way, &(different(98) + &empty));
        assert_eq!(above.len(), 1, "{way}: {above:?}");
        assert!(
            above[0].starts_with("1 of 99 documents have no feature and pair with nothing (1 of 1 Common);")
        );
        assert!(above[0].contains("chars:K"), "it says what to do: {}", above[0]);
    }
}

/// Of 49 documents nobody is warned; from 50 on by one in a hundred, and by over one in five so that nobody misses it.
#[test]
fn documents_without_features_by_their_share() {
    let empty = |count: usize| {
        let docs: Vec<_> = (0..count).map(|n| (format!("e{n}"), "!".repeat(n + 1))).collect();
        jsonl(&docs.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect::<Vec<_>>())
    };
    for way in WAYS {
        assert_eq!(warnings(way, &empty(49)), [""; 0], "{way}");
        for (count, start) in [
            (1, "1 of 50 documents have no feature and pair with nothing"),
            (10, "10 of 50 documents have no feature and pair with nothing"),
            (11, "22 % OF THE DOCUMENTS CANNOT BE COMPARED: 11 of 50 documents have no feature"),
            (50, "100 % OF THE DOCUMENTS CANNOT BE COMPARED: 50 of 50 documents have no feature"),
        ] {
            let said = warnings(way, &(different(50 - count) + &empty(count)));
            assert_eq!(said.len(), 1, "{way}: {said:?}");
            assert!(said[0].starts_with(start), "{way}: {}", said[0]);
        }
        // It comes before what else there is to say.
        let triplets = jsonl(&[("t1", "one two"), ("t2", "one two"), ("t3", "one two")]);
        let said = warnings(way, &(triplets + &different(36) + &empty(11)));
        assert!(said.len() == 2 && said[0].starts_with("22 % OF THE DOCUMENTS"), "{way}: {said:?}");
    }
}

/// A warning names the scripts, for what fits one language may leave out another.
#[test]
fn documents_without_features_by_script() {
    let mut docs = different(96);
    docs.push_str(&jsonl(&[
        ("z1", "短"),
        ("z2", "南京市长江大桥在一九六八年建成通车"),
        ("l1", "short"),
        ("l2", "too short"),
    ]));
    // With five words in a row most of these texts have no feature.
    let here = Place::new();
    here.write("docs", &docs);
    for way in WAYS {
        let run =
            format!("twinsplit run {way} --features words:5 --input docs --output out --quiet --overwrite");
        let said = here.say(&run);
        let expected = "99 % OF THE DOCUMENTS CANNOT BE COMPARED: \
             99 of 100 documents have no feature and pair with nothing (1 of 2 Han, 98 of 98 Latin);";
        assert!(said.err.starts_with(&format!("warning: {expected}")), "{way}: {}", said.err);
        said.ok();
    }
}

/// Three documents of 300 are one percent, three of 299 are more. Of fewer than 50 documents each pair would be, and a pair is no large
/// cluster of any number.
#[test]
fn a_large_cluster() {
    // Equal sets, but the one has 4 bytes of Latin to 3 of Han, the other 4 to 6.
    let documents = [("t1", "abcd 中"), ("t2", "abcd 中 中"), ("t3", "中 abcd")];
    let (twins, triplets) = (jsonl(&documents[..2]), jsonl(&documents));
    for way in WAYS {
        for others in [0, 8, 47, 48, 197] {
            assert_eq!(warnings(way, &(different(others) + &twins)), [""; 0], "{way}");
        }
        assert_eq!(warnings(way, &(different(297) + &triplets)), [""; 0], "{way}");
        assert_eq!(warnings(way, &(different(46) + &triplets)), [""; 0], "{way}");
        assert_eq!(warnings(way, &(different(47) + &triplets)).len(), 1, "{way}");
        let docs = different(296) + &triplets;
        let start = "1 cluster of over 1 % of the 299 documents; the largest, kept t1, holds 3 (1 Han, 2 Latin): look at it \
                     with twinsplit explain, and split it by a higher --tau";
        assert_eq!(warnings(way, &docs), [format!("{start}, --cluster star or --min-features")], "{way}");
        // Nothing is advised that the run has done.
        let stars = warnings(&format!("{way} --cluster star"), &docs);
        assert_eq!(stars, [format!("{start} or --min-features")], "{way}");
    }
}

/// Of several the largest is shown, and both warnings may come.
#[test]
fn several_large_clusters_and_both_warnings() {
    let mut docs = different(88);
    for (id, text) in [("a", "p q"), ("b", "r s"), ("n", "")] {
        let count = match id {
            "a" => 3,
            "b" => 4,
            _ => 2,
        };
        (1..=count).for_each(|n| docs.push_str(&jsonl(&[(&format!("{id}{n}"), text)])));
    }
    for way in WAYS {
        let both = warnings(way, &docs);
        assert_eq!(both.len(), 2, "{way}: {both:?}");
        assert!(both[0].starts_with("2 of 97 documents have no feature"), "{}", both[0]);
        assert!(
            both[1].starts_with("2 clusters of over 1 %") && both[1].contains("kept b1, holds 4 (4 Latin)")
        );
    }
}

/// Forms of forty words and a name: with the words that all have left out, they are no cluster.
#[test]
fn a_template_is_named_as_the_cause() {
    let words: Vec<_> = (0..40).map(|n| format!("form{n}")).collect();
    let docs: Vec<_> =
        (0..60).map(|n| (format!("d{n:02}"), format!("{} name{n}", words.join(" ")))).collect();
    let docs: Vec<_> = docs.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    for way in WAYS {
        let said = warnings(&format!("{way} --cluster star"), &jsonl(&docs));
        assert_eq!(
            said,
            [
                "1 cluster of over 1 % of the 60 documents; the largest, kept d00, holds 60 (60 Latin): most of its documents \
              share 97 % of their features, so look at it with twinsplit explain, and where that is a template leave it out with \
              --idf 0.1,1"
            ],
            "{way}"
        );
        // What is left is a name of one document each.
        assert_eq!(warnings(&format!("{way} --idf 0.1,1"), &jsonl(&docs)).len(), 1, "{way}");
    }
}

/// An upper bound below 1 leaves out the words of one document, which are all but two here.
#[test]
fn a_range_that_leaves_little_says_what_it_does() {
    let docs: Vec<_> =
        (0..10).map(|n| (format!("d{n}"), format!("a{n} b{n} c{n} x{} y{}", n / 2, n / 2))).collect();
    let docs: Vec<_> = docs.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    for way in WAYS {
        for lookup in ["", " --idf-lookup shuffle"] {
            let way = format!("{way}{lookup}");
            let said = warnings(&format!("{way} --idf 0.1,0.95"), &jsonl(&docs));
            assert_eq!(
                said,
                [
                    "documents keep 40 % of their features in --idf 0.1,0.95; an upper bound below 1 leaves out what one document or \
                  few have, so give --idf 0.1,1 to leave out only what most share"
                ],
                "{way}"
            );
            assert_eq!(warnings(&format!("{way} --idf 0.1,1"), &jsonl(&docs)), [""; 0], "{way}");
        }
    }
    // A family is made of the range that it has by default.
    assert_eq!(warnings("i-match", &jsonl(&docs)), [""; 0]);
}

/// Documents with features, of which most have too few, by the option that is the cause; in every family.
#[test]
fn a_run_that_compares_few_documents_says_so() {
    let docs = different(48)
        + &jsonl(&[
            ("a", "one two three"),
            ("b", "one two three"),
            ("c", "one two four"),
            ("d", "one two five"),
        ]);
    for family in FAMILIES {
        for engine in ["local", "pipes"] {
            let said = warnings(&format!("{} --min-features 3 --engine {engine}", family.name), &docs);
            let words = match family.name {
                "simhash" => {
                    "48 of 52 documents have fewer features than --min-features 3 and pair with nothing (48 of 52 Latin); take"
                }
                "i-match" => {
                    "have fewer features than --min-features 3 after --idf 0.2,0.85 and pair with nothing; give a wider --idf"
                }
                _ => {
                    "48 of 52 documents have fewer features than --min-features 3 and pair with nothing; give a smaller --min-features"
                }
            };
            assert!(
                said[0].contains(words) && said[0].contains(" % OF THE DOCUMENTS CANNOT BE COMPARED: "),
                "{said:?}"
            );
        }
    }
    let pages: String = (0..60)
        .map(|n| format!("{{\"id\":\"p{n}\",\"url\":\"http://one.example/{n}\",\"text\":\"前面的十個字在這裡了{}。\"}}\n", n % 7))
        .collect();
    let here = Place::new();
    here.write("docs", pages);
    for engine in ["local", "pipes"] {
        let line = format!(
            "twinsplit run ccdet --site url --engine {engine} --input docs --output out --quiet --overwrite"
        );
        let said = here.say(&line);
        let words = "60 of 60 documents have fewer features than --min-features 1 after --site url and pair with nothing; leave --site out";
        assert!(said.err.contains(words), "{engine}: {}", said.err);
        said.ok();
    }
}
