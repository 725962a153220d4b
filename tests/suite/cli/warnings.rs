//! The two warnings, just above and exactly on one in a hundred: a collection that the features do not fit
//! gives an answer that looks good and is empty, or one large cluster that is an accident.

use crate::common::cli::{Place, jsonl};

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
        let twins = jsonl(&[("t1", "one two"), ("t2", "one two")]);
        let said = warnings(way, &(twins + &different(37) + &empty(11)));
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

/// Two documents of 200 are one percent, two of 199 are more. Of fewer than 50 documents each pair would be.
#[test]
fn a_large_cluster() {
    // Equal sets, but the one has 4 bytes of Latin to 3 of Han, the other 4 to 6.
    let twins = jsonl(&[("t1", "abcd 中"), ("t2", "abcd 中 中")]);
    for way in WAYS {
        assert_eq!(warnings(way, &(different(198) + &twins)), [""; 0], "{way}");
        assert_eq!(warnings(way, &(different(47) + &twins)), [""; 0], "{way}");
        assert_eq!(warnings(way, &(different(48) + &twins)).len(), 1, "{way}");
        let above = warnings(way, &(different(197) + &twins));
        assert_eq!(above.len(), 1, "{way}: {above:?}");
        let expected =
            "1 cluster of over 1 % of the 199 documents; the largest, kept t1, holds 2 (1 Han, 1 Latin).";
        assert!(above[0].starts_with(expected), "{way}: {}", above[0]);
        assert!(
            above[0].contains("twinsplit explain") && above[0].contains("--cluster star"),
            "{}",
            above[0]
        );
    }
}

/// Of several the largest is shown, and both warnings may come.
#[test]
fn several_large_clusters_and_both_warnings() {
    let docs = different(90)
        + &jsonl(&[
            ("a1", "p q"),
            ("a2", "p q"),
            ("b1", "r s"),
            ("b2", "r s"),
            ("b3", "r s"),
            ("n1", ""),
            ("n2", ""),
        ]);
    for way in WAYS {
        let both = warnings(way, &docs);
        assert_eq!(both.len(), 2, "{way}: {both:?}");
        assert!(both[0].starts_with("2 of 97 documents have no feature"), "{}", both[0]);
        assert!(
            both[1].starts_with("2 clusters of over 1 %") && both[1].contains("kept b1, holds 3 (3 Latin)")
        );
    }
}
