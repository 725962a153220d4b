//! `twinsplit fingerprints` against a scan, and on input that is not as it should be.

use crate::common::cli::Place;
use std::collections::BTreeSet;

/// Numbers without a pattern: squares of odd numbers, multiplied.
fn random(n: u128) -> u128 {
    let odd = 2 * n + 1;
    (odd * odd).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
        ^ ((odd * odd) >> 3).wrapping_mul(0xda94_2042_e4dd_58b5)
}

/// Rows of ids and fingerprints, some of them alike, some equal.
fn rows(count: u128, bits: u32, name: &str) -> Vec<(String, u128)> {
    let mask = if bits == 64 { u128::from(u64::MAX) } else { u128::MAX };
    (0..count)
        .map(|n| {
            let near =
                random(n / 4) ^ if n % 4 == 1 { 0 } else { 1 << (n * 7 % u128::from(bits)) | 1 << (n % 60) };
            (format!("{name}{}", n * 37 % 1000), near & mask)
        })
        .collect()
}

fn text(rows: &[(String, u128)], bits: u32) -> String {
    let digits = bits as usize / 4;
    rows.iter().map(|(id, value)| format!("{id}\t{value:0digits$x}\n")).collect()
}

#[test]
fn queries_find_what_a_scan_finds() {
    for (bits, distance) in [(64, 3), (64, 0), (128, 6), (64, 8)] {
        let here = Place::new();
        let (all, queries) = (rows(300, bits, "row"), rows(80, bits, "query"));
        here.write("rows", text(&all, bits));
        let mut expected = BTreeSet::new();
        for (query, value) in &queries {
            for (id, other) in &all {
                let differing = (value ^ other).count_ones();
                if differing <= distance {
                    expected.insert(format!("{query}\t{id}\t{differing}"));
                }
            }
        }
        assert!(expected.len() > 60);
        for (layout, ids) in
            [("", "bytes"), ("--layout scan", "bytes"), ("--layout block-pairs --memory 64", "rows")]
        {
            let build = format!(
                "twinsplit fingerprints build rows --output index --overwrite --distance {distance} --ids {ids} {layout}"
            );
            let built = here.say(build.trim_end());
            assert!(built.err.contains(&format!("300 fingerprints of {bits} bits, layout")), "{}", built.err);
            built.ok();
            let found =
                here.with("twinsplit fingerprints query index --threads 2", text(&queries, bits), &[]);
            let found = found.ok();
            let names = |line: &str| match ids {
                "rows" => {
                    let fields: Vec<_> = line.split('\t').collect();
                    format!("{}\t{}\t{}", fields[0], all[fields[1].parse::<usize>().unwrap()].0, fields[2])
                }
                _ => line.to_owned(),
            };
            assert_eq!(
                found.lines().map(names).collect::<BTreeSet<_>>(),
                expected,
                "{bits} {distance} {layout}"
            );
            if ids == "bytes" {
                let order: Vec<_> =
                    found.lines().map(|line| line.split('\t').take(2).collect::<Vec<_>>()).collect();
                assert!(order.is_sorted());
            }
        }
        let less =
            here.with("twinsplit fingerprints query index - --distance 0", text(&queries, bits), &[]).ok();
        assert!(less.lines().all(|line| line.ends_with("\t0")));
        let stats = here.say("twinsplit fingerprints stats index").ok();
        for line in [format!("bits\t{bits}"), format!("distance\t{distance}"), "fingerprints\t300".to_owned()]
        {
            assert!(stats.lines().any(|found| found == line), "{stats}");
        }
    }
}

/// Also where memory holds a small part of the rows.
#[test]
fn pairs_are_those_of_a_comparison_of_all() {
    for (bits, distance, count) in [(64, 3, 300_u128), (128, 5, 300), (64, 3, 200_000)] {
        let here = Place::new();
        let all: Vec<(String, u128)> = rows(count, bits, "")
            .into_iter()
            .zip(0..)
            .map(|((_, value), row)| (format!("{row:x}"), value))
            .collect();
        here.write("rows", text(&all, bits));
        let found = here
            .say(&format!("twinsplit fingerprints pairs rows --distance {distance} --memory 1 --temp ."))
            .ok();
        let found: Vec<&str> = found.lines().collect();
        let set: BTreeSet<&str> = found.iter().copied().collect();
        assert_eq!(set.len(), found.len(), "no pair comes twice");
        // Near fingerprints have the same quarter in all that is not random.
        let mut expected = BTreeSet::new();
        let near = |a: usize, b: usize| {
            let differing = (all[a].1 ^ all[b].1).count_ones();
            let (x, y) = (all[a].0.as_str().min(&all[b].0), all[a].0.as_str().max(&all[b].0));
            (differing <= distance).then(|| format!("{x}\t{y}\t{differing}"))
        };
        for a in 0..all.len() {
            let others = if count <= 300 { 0..a } else { a / 4 * 4..a };
            expected.extend(others.filter_map(|b| near(a, b)));
        }
        assert!(expected.len() > all.len() / 4);
        let expected: BTreeSet<&str> = expected.iter().map(String::as_str).collect();
        assert_eq!(set, expected, "{bits} {distance} {count}");
        assert_eq!(std::fs::read_dir(here.path(".")).unwrap().count(), 1, "nothing is left but the rows");
    }
    let here = Place::new();
    here.write("rows", "a\t00000000000000ff\nb\t0ff\n");
    here.say("twinsplit fingerprints pairs rows").fails(1, &["rows, line 2", "field fingerprint", "\"0ff\""]);
    here.write("rows", "a\t00000000000000ff\n");
    here.say("twinsplit fingerprints pairs rows --distance 32")
        .fails(2, &["distance 32", "half of the 64 bits"]);
    here.say("twinsplit fingerprints pairs rows --temp none").fails(1, &["a temporary file in none"]);
}

/// An index is the same file, however little memory it is built in.
#[test]
fn an_index_is_the_same_in_little_memory() {
    let here = Place::new();
    here.write("rows", text(&rows(400_000, 64, "row"), 64));
    for layout in ["multi-index:2", "block-pairs"] {
        let build = format!("twinsplit fingerprints build rows --layout {layout} --overwrite --output");
        here.say(&format!("{build} large --threads 2")).ok();
        here.say(&format!("{build} little --build-memory 4 --threads 1")).ok();
        let read = |name| std::fs::read(here.path(name)).unwrap();
        assert_eq!(read("large"), read("little"), "{layout}");
    }
}

#[test]
fn numbers_are_ids_too() {
    let here = Place::new();
    here.write("rows", "18446744073709551615\t00000000000000ff\n7\t00000000000000fe\r\n\n");
    here.say("twinsplit fingerprints build rows --output index --ids numbers").ok();
    let found = here.with("twinsplit fingerprints query index", "q\t00000000000000fF\n", &[]).ok();
    assert_eq!(found, "q\t7\t1\nq\t18446744073709551615\t0\n");
    here.write("others", "seven\t00000000000000ff\n");
    let wrong = here.say("twinsplit fingerprints build others --output index --overwrite --ids numbers");
    wrong.fails(2, &["\"seven\" of row 1 is no whole number below 2^64"]);
    // What was there stays.
    here.say("twinsplit fingerprints stats index").ok();
}

#[test]
fn what_is_wrong_is_named() {
    let here = Place::new();
    for (rows, expected) in [
        (
            "a\t00000000000000ff\nb\t0ff\n",
            &["rows, line 2", "field fingerprint", "16 hex digits", "\"0ff\""][..],
        ),
        ("a\t00000000000000ff\n\nb\n", &["line 3", "field fingerprint", "found nothing"]),
        ("a\t000000000000000000000000000000ff\nb\t00000000000000ff\n", &["line 2", "32 hex digits"]),
        ("\t00000000000000ff\n", &["line 1", "field id"]),
        ("a\t00000000000000ff\tmore\n", &["line 1", "no third field", "\"more\""]),
        ("a\t00000000000000fg\n", &["line 1", "field fingerprint", "00fg"]),
    ] {
        here.write("rows", rows);
        here.say("twinsplit fingerprints build rows --output index").fails(1, expected);
        assert!(!here.path("index").exists());
    }
    here.write("rows", "a\t00000000000000ff\n");
    let build = "twinsplit fingerprints build rows --output index";
    here.say(&format!("{build} --distance 9")).fails(2, &["distance 9", "at most 8"]);
    here.say(&format!("{build} --layout multi-index:5")).fails(2, &["multi-index:5", "4 blocks at most"]);
    here.say(&format!("{build} --layout tree")).fails(2, &["scan, multi-index:M"]);
    here.say(&format!("{build} --memory 0")).fails(2, &["--memory", "at least 1"]);
    here.say(build).ok();
    here.say("twinsplit fingerprints query index rows --distance 4").fails(2, &["built for 3"]);
    here.write("wide", "a\t000000000000000000000000000000ff\n");
    here.say("twinsplit fingerprints query index wide").fails(1, &["wide, line 1", "16 hex digits"]);
    here.say("twinsplit fingerprints query rows rows").fails(1, &["it is not a twinsplit fingerprints file"]);
    here.say("twinsplit fingerprints query none rows").fails(1, &["cannot open none"]);
    let mut bytes = std::fs::read(here.path("index")).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    here.write("index", &bytes);
    here.say("twinsplit fingerprints query index rows").fails(1, &["index: it is damaged", "checksum"]);
    here.write("index", &bytes[..last]);
    here.say("twinsplit fingerprints query index rows --verify head").fails(1, &["index: it is truncated"]);
}

#[test]
fn the_plan_says_what_layouts_take() {
    let here = Place::new();
    let plan = here.say("twinsplit fingerprints plan --fingerprints 50000000 --memory 860").ok();
    assert_eq!(plan.lines().count(), 6);
    let taken: Vec<_> = plan.lines().filter(|line| line.ends_with("\tyes")).collect();
    assert!(taken.len() == 1 && taken[0].starts_with("multi-index:2\t"), "{plan}");
    here.say("twinsplit fingerprints plan --fingerprints 50000000 --memory 1").fails(1, &["is the least"]);
}
