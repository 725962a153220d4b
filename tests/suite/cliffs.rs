//! Shapes that make a join slow where a bound is missed: here each of them at a size at which all pairs can be compared, and
//! the counts of some. `make bench-cliffs` counts at sizes that hurt.

use crate::common::cli::Place;
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
