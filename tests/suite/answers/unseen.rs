//! Copies that differ in what a reader does not see, or cannot tell apart: by every family the same answer as of identical texts.

use crate::common::cli::{Place, jsonl};
use twinsplit_core::hash::Checksum;

/// A copy by each kind of difference, all of one text, and one text that a reader tells from it.
const PLAIN: &str = "It's the old mill's last season and the neighbours don't know who'll repair its 12 wheels before the \
    river freezes. The town hasn't said what it'll pay for \"the works\" this year. Nobody saw the miller's cat, \
    who'd slept through it all since 1962.";

fn copies() -> Vec<(&'static str, String)> {
    let between = |mark: char| -> String { PLAIN.chars().flat_map(|c| [c, mark]).collect() };
    let typographic = PLAIN.replace('\'', "’").replacen('"', "“", 1).replacen('"', "”", 1);
    let wide = |c: char| match c {
        '0'..='9' | 'a'..='z' | 'A'..='Z' => char::from_u32(u32::from(c) + 0xfee0).unwrap_or(c),
        c => c,
    };
    vec![
        ("byte-order-marks", between('\u{feff}')),
        ("directional-marks", between('\u{200e}')),
        ("full-width", PLAIN.chars().map(wide).collect()),
        ("narrow-spaces", PLAIN.replace(' ', "\u{202f}")),
        ("plain", PLAIN.to_owned()),
        ("selectors", between('\u{fe0f}')),
        ("soft-hyphens", between('\u{ad}')),
        ("tags", between('\u{e0041}')),
        ("typographic", typographic),
        ("zero-width-joiners", between('\u{200d}')),
        ("zero-width-spaces", between('\u{200b}')),
    ]
}

fn documents() -> String {
    let copies = copies();
    let mut all: Vec<(&str, &str)> = copies.iter().map(|(id, text)| (*id, text.as_str())).collect();
    all.push((
        "other",
        "Rain fell on the harbour all night. The ferry left at six. Nobody but the gulls saw it go.",
    ));
    jsonl(&all)
}

#[test]
fn copies_are_copies_in_every_family() {
    let here = Place::new();
    here.write("docs", documents());
    let ids: Vec<&str> = copies().iter().map(|(id, _)| *id).collect();
    for family in [
        "doc-split --features words:3",
        "doc-split --features chars:5 --engine pipes",
        "term-split --features words:3 --pcp prefix",
        "ccdet --features sentence-ends:8",
        "minhash --features words:3 --bands 4 --rows 2 --hashes 8",
        "i-match --features words:1",
        "simhash --features words:2",
    ] {
        let similar =
            if family.contains("doc-split") || family.contains("term-split") { " --tau 1" } else { "" };
        here.say(&format!("twinsplit run {family}{similar} --input docs --output out --overwrite --quiet"))
            .ok();
        let clusters = here.read("out/clusters.tsv");
        let found: Vec<&str> = clusters.lines().filter_map(|row| row.split('\t').nth(1)).collect();
        assert_eq!(found, ids, "{family}: {clusters}");
    }
    // Those who ask for it keep them apart.
    here.say("twinsplit run doc-split --features words:3 --tau 1 --normalise none --input docs --output out --overwrite --quiet").ok();
    let clusters = here.read("out/clusters.tsv");
    let found: Vec<&str> = clusters.lines().filter_map(|row| row.split('\t').nth(1)).collect();
    assert!(found.contains(&"narrow-spaces") && !found.contains(&"soft-hyphens"), "{clusters}");
}

#[test]
fn short_texts_are_equal_where_a_reader_sees_the_same() {
    let here = Place::new();
    here.write(
        "docs",
        jsonl(&[
            ("a", "ok"),
            ("b", "o\u{ad}k"),
            ("c", "\u{feff}ok\u{200e}"),
            ("d", "ok\u{200b} "),
            ("e", "ｏｋ\u{202f}"),
            ("f", "ok."),
            ("g", "\u{ad}\u{200b}"),
            ("h", "\u{feff}"),
            ("i", "👨\u{200d}👩\u{200d}👧"),
            ("j", "👨👩👧"),
            ("k", "❤\u{fe0f}"),
            ("l", "❤"),
            ("m", "سـلام"),
            ("n", "سَلَام"),
            ("o", "می\u{200c}روم"),
            ("p", "میروم"),
        ]),
    );
    for way in ["doc-split", "term-split --engine pipes"] {
        here.say(&format!(
            "twinsplit run {way} --features words:5 --input docs --output out --overwrite --quiet"
        ))
        .ok();
        let clusters = here.read("out/clusters.tsv");
        let found: Vec<&str> =
            clusters.lines().map(|row| row.rsplit_once('\t').map_or(row, |(row, _)| row)).collect();
        let expected = [
            "a\ta\tkeep",
            "a\tb\tdrop",
            "a\tc\tdrop",
            "a\td\tdrop",
            "a\te\tdrop",
            "k\tk\tkeep",
            "k\tl\tdrop",
            "m\tm\tkeep",
            "m\tn\tdrop",
        ];
        assert_eq!(found, expected, "{way}");
    }
}

#[test]
fn what_an_older_tokenizer_made_is_refused_by_name() {
    let here = Place::new();
    here.write("docs", documents());
    here.say("twinsplit idf --from docs --output table --features words:2").ok();
    let table = here.read("table");
    assert!(table.starts_with("#twinsplit\tidf-table\t1\ttokenizer=2\tfeatures=words:2\tnormalise=nfkc\tcase-fold=on\tmarks=drop\t"), "{table}");
    let run = "twinsplit run doc-split --features words:2 --idf 0.1,1 --idf-table table --input docs --output out --overwrite --quiet";
    here.say(run).ok();
    for (option, made, asked) in
        [("normalise nfc", "normalise nfkc", "normalise nfc"), ("marks keep", "marks drop", "marks keep")]
    {
        let said = here.say(&format!("{run} --{option}"));
        said.fails(1, &[&format!("--{made}"), &format!("--{asked}")]);
    }
    // Files of the first version did not name it.
    let old = table.replace("tokenizer=2\t", "");
    let (rows, _) = old.rsplit_once("#end\t").unwrap();
    let mut checksum = Checksum::default();
    rows.lines().for_each(|line| checksum.line(line.as_bytes()));
    here.write("table", format!("{rows}#end\t{}\t{}\n", rows.lines().count() - 1, checksum.hex()));
    here.say(run).fails(1, &["version 1 of the tokenizer where 2 is needed", "make it again"]);
}
