//! MinHash against its definition: signatures value by value, every two documents that agree in a band, and of these the pairs.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::common::cli::{Place, jsonl};
use crate::common::oracle::six_decimals;
use crate::common::rng::Rng;
use twinsplit_core::text::{Extractor, FeatureKind, FeatureSpec};

const HASHES: usize = 24;
const BANDS: usize = 6;
const ROWS: usize = 4;
const OPTIONS: &str = "--features lines --hashes 24 --bands 6 --rows 4 --tau 0.5";

fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

fn stream(number: u64) -> u64 {
    mix(0x7477_696e_0004u64.wrapping_add((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

fn fold(value: u64) -> u64 {
    let product = u128::from(value) * 0xd134_2543_de82_ef95;
    (product & u128::from(u64::MAX)) as u64 ^ (product >> 64) as u64
}

fn mix32(value: u32) -> u32 {
    let value = (value ^ value >> 16).wrapping_mul(0x85eb_ca6b);
    let value = (value ^ value >> 13).wrapping_mul(0xc2b2_ae35);
    value ^ value >> 16
}

/// The value of a bucket: the first throw into it in the order of rounds, of which 24 values have two, then values; or the smallest by
/// a function of its own.
fn value(set: &BTreeSet<u64>, bucket: u64) -> u32 {
    let throws = (0..2).flat_map(|round| {
        let of = move |feature: &u64| (round, fold(feature ^ stream(round)));
        set.iter().map(of)
    });
    let into = throws.filter(|(_, hash)| ((hash >> 32) * HASHES as u64) >> 32 == bucket);
    let first = into.map(|(round, hash)| (round, hash as u32)).min();
    let seed = stream(1024 + bucket);
    let own = |feature: &u64| (*feature as u32 ^ seed as u32).wrapping_mul((seed >> 32) as u32 | 1);
    first.map_or_else(|| mix32(set.iter().map(own).min().unwrap()), |(_, value)| value)
}

/// Documents of a few lines, many like one another.
fn documents() -> Vec<(String, String)> {
    let mut rng = Rng::new(7);
    let mut sets: Vec<Vec<usize>> = vec![(0..9).collect()];
    while sets.len() < 120 {
        let mut set = sets[rng.below(sets.len())].clone();
        match rng.below(3) {
            0 => set = (0..1 + rng.below(14)).map(|_| rng.below(60)).collect(),
            1 => set.push(rng.below(60)),
            _ => {
                set.push(rng.below(60));
                let at = rng.below(set.len());
                set.swap_remove(at);
            }
        }
        sets.push(set);
    }
    let text =
        |set: Vec<usize>| set.iter().fold(String::new(), |text, line| text + &format!("line {line}\n"));
    sets.into_iter()
        .enumerate()
        .map(|(number, set)| (format!("d{:03}", number * 77 % 120), text(set)))
        .collect()
}

/// The sets of the documents, by id.
fn sets(documents: &[(String, String)]) -> Vec<(String, BTreeSet<u64>)> {
    let kind = FeatureKind::parse("lines", &|_| Err("no files here".into())).unwrap();
    let mut extractor = Extractor::new(FeatureSpec::new(kind));
    let mut set = Vec::new();
    let mut sets: Vec<_> = documents
        .iter()
        .map(|(id, text)| {
            extractor.set(text, &mut set);
            (id.clone(), set.iter().copied().collect())
        })
        .collect();
    sets.sort();
    sets
}

/// What is written by each check, and how many candidates there are.
struct Expected {
    exact: String,
    signature: String,
    none: String,
    candidates: usize,
    /// Pairs of the answer that agree in no band.
    lost: usize,
}

fn row(a: &str, b: &str, overlap: usize, sizes: (usize, usize)) -> String {
    let jaccard = six_decimals(overlap, sizes.0 + sizes.1 - overlap);
    format!("{a}\t{b}\t{overlap}\t{}\t{}\t{jaccard}\n", sizes.0, sizes.1)
}

/// What is expected where so many low bits of each value are compared.
fn expected(sets: &[(String, BTreeSet<u64>)], bits: u32) -> Expected {
    let signature =
        |set: &BTreeSet<u64>| (0..HASHES as u64).map(|bucket| value(set, bucket)).collect::<Vec<_>>();
    let signatures: Vec<_> = sets.iter().map(|(_, set)| signature(set)).collect();
    let mut found = Expected {
        exact: String::new(),
        signature: String::new(),
        none: String::new(),
        candidates: 0,
        lost: 0,
    };
    let mut different = BTreeSet::new();
    for (y, (b, set_b)) in sets.iter().enumerate() {
        for (x, (a, set_a)) in sets[..y].iter().enumerate() {
            let sizes = (set_a.len(), set_b.len());
            let overlap = set_a.intersection(set_b).count();
            let reaches = 3 * overlap >= sizes.0 + sizes.1;
            let of = |signature: &[u32], band: usize| signature[band * ROWS..(band + 1) * ROWS].to_vec();
            let meet = (0..BANDS).any(|band| of(&signatures[x], band) == of(&signatures[y], band));
            // Equal sets need no candidate: they are joined before.
            if set_a == set_b {
                let row = row(a, b, overlap, sizes);
                for rows in [&mut found.exact, &mut found.signature, &mut found.none] {
                    rows.push_str(&row);
                }
                continue;
            }
            found.lost += usize::from(reaches && !meet);
            // Sizes say that the pair cannot reach tau.
            if !meet || 2 * sizes.0.min(sizes.1) < sizes.0.max(sizes.1) {
                continue;
            }
            found.candidates += usize::from(different.insert((set_a.min(set_b), set_a.max(set_b))));
            if reaches {
                found.exact.push_str(&row(a, b, overlap, sizes));
            }
            let low = |value: &u32| u64::from(*value) & ((1u64 << bits) - 1);
            let agree = signatures[x].iter().zip(&signatures[y]).filter(|(x, y)| low(x) == low(y)).count();
            // Of values that have nothing to do with each other 2^-bits agree.
            let (agree, of) = match bits {
                32 => (agree, HASHES),
                _ => ((agree << bits).saturating_sub(HASHES), (HASHES << bits) - HASHES),
            };
            let shares = agree as f64 * (sizes.0 + sizes.1) as f64 / (of + agree) as f64;
            let estimate = ((shares + 1e-9).round() as usize).min(sizes.0).min(sizes.1);
            let row = row(a, b, estimate, sizes);
            found.none.push_str(&row);
            if 2 * agree >= of {
                found.signature.push_str(&row);
            }
        }
    }
    let sorted = |rows: &str| {
        let mut rows: Vec<_> = rows.lines().collect();
        rows.sort_unstable();
        rows.iter().fold(String::new(), |mut all, row| {
            writeln!(all, "{row}").unwrap();
            all
        })
    };
    for rows in [&mut found.exact, &mut found.signature, &mut found.none] {
        *rows = sorted(rows);
    }
    found
}

fn corpus(here: &Place) -> Expected {
    let documents = documents();
    let pairs: Vec<_> = documents.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    here.write("docs", jsonl(&pairs));
    expected(&sets(&documents), 32)
}

/// Few bits of each value travel, and chance is taken out of the estimate; padding of the last digit never counts.
#[test]
fn low_bits_of_signatures_give_the_corrected_estimate() {
    let here = Place::new();
    let whole = corpus(&here);
    let sets = sets(&documents());
    for (bits, way) in
        [(1, "--engine pipes"), (2, "--engine local"), (4, "--engine pipes"), (8, "--engine local")]
    {
        let expected = expected(&sets, bits);
        for (check, rows) in [("signature", &expected.signature), ("none", &expected.none)] {
            let line = format!(
                "twinsplit run minhash --input docs --output out --check {check} {OPTIONS} --signature-bits {bits} {way} --overwrite"
            );
            here.say(&line).ok();
            assert_eq!(&here.read("out/pairs.tsv"), rows, "{line}");
        }
        assert!(bits > 2 || expected.signature != whole.signature, "{bits} bits make no difference");
        let said = here.say("twinsplit explain d000 d077 --run out").ok();
        assert!(said.contains(&format!("of 24 values agree in {bits} bits")), "{said}");
    }
    here.say(&format!("twinsplit run minhash --input docs --output no {OPTIONS} --signature-bits 3"))
        .fails(2, &["--signature-bits", "1, 2, 4, 8, 32"]);
}

/// Keys that one document has are not shuffled, and nothing else changes.
#[test]
fn a_filter_of_keys_loses_no_pair() {
    let here = Place::new();
    let expected = corpus(&here);
    // Without a filter, keys are made in the job that makes the signatures, which has that step's name.
    let shuffled = |run: &serde_json::Value| {
        let counted =
            ["lsh-bands", "minhash"].map(|step| run["counters"][step]["reduce_records_in"].as_u64());
        counted[0].or(counted[1]).unwrap()
    };
    // With an IDF range the engine local runs stages as well.
    let ways = ["--engine pipes --threads 1", "--engine pipes --threads 3", "--idf 0,0.9999"];
    for way in ways {
        let line = format!("twinsplit run minhash --input docs {OPTIONS} {way} --overwrite --output");
        here.say(&format!("{line} plain")).ok();
        here.say(&format!("{line} out --bloom 1")).ok();
        assert_eq!(here.read("out/pairs.tsv"), here.read("plain/pairs.tsv"), "{way}");
        assert_eq!(here.read("out/clusters.tsv"), here.read("plain/clusters.tsv"), "{way}");
        let (plain, run) = (run_json(&here, "plain"), run_json(&here, "out"));
        let count = |step: &str, name: &str| run["counters"][step][name].as_u64().unwrap();
        let left_out = count("lsh-bands", "keys_left_out");
        assert!(left_out > 50 && shuffled(&plain) == shuffled(&run) + left_out, "{way}: {left_out}");
        assert!(count("lsh-bands", "bytes_left_out") > 20 * left_out);
        assert_eq!(count("band-filter", "filter_bytes"), 1 << 20);
        assert!((1..=3 * shuffled(&plain)).contains(&count("band-filter", "filter_cells_used")));
    }
    here.say(&format!(
        "twinsplit run minhash --input docs {OPTIONS} --engine pipes --output exact --bloom 1"
    ))
    .ok();
    assert_eq!(here.read("exact/pairs.tsv"), expected.exact);
}

#[test]
fn a_filter_of_other_keys_is_refused_by_name() {
    let here = Place::new();
    corpus(&here);
    here.shell("tokenize --features lines < docs | equal-sets | LC_ALL=C sort | equal-sets-reduce > members")
        .ok();
    let stage = "--features lines --hashes 24 --bands 6 --rows 4";
    here.shell("minhash --features lines --hashes 24 < members > signatures").ok();
    here.shell(&format!(
        "band-filter {stage} --bloom 1 < signatures | LC_ALL=C sort > parts; band-filter-reduce {stage} --bloom 1 < parts > filter"
    ))
    .ok();
    here.shell(&format!("lsh-bands {stage} --band-filter filter < signatures > bands")).ok();
    here.shell("lsh-bands --features lines --hashes 24 --bands 4 --rows 6 --band-filter filter < signatures")
        .fails(1, &["filter", "--bands 6", "--bands 4"]);
    here.shell(&format!("band-filter-reduce {stage} --bloom 1 < bands"))
        .fails(1, &["band-filter-reduce", "line 1", "chunk"]);
    here.shell(&format!("sed 2d filter > cut; lsh-bands {stage} --band-filter cut < signatures"))
        .fails(1, &["cut"]);
}

#[test]
fn candidates_and_pairs_are_those_of_the_definition() {
    let here = Place::new();
    let expected = corpus(&here);
    assert!(expected.lost > 0 && expected.exact.lines().count() > 100, "{} lost", expected.lost);
    for engine in ["local", "pipes"] {
        for (check, rows) in
            [("exact", &expected.exact), ("signature", &expected.signature), ("none", &expected.none)]
        {
            let out = format!("{engine}-{check}");
            let line = format!(
                "twinsplit run minhash --engine {engine} --input docs --output {out} --check {check} {OPTIONS}"
            );
            here.say(&line).ok();
            assert_eq!(&here.read(&format!("{out}/pairs.tsv")), rows, "{line}");
            let run: serde_json::Value =
                serde_json::from_str(&here.read(&format!("{out}/run.json"))).unwrap();
            let warnings = run["warnings"].to_string();
            assert_eq!(warnings.contains("APPROXIMATE"), check != "exact", "{warnings}");
        }
    }
}

/// Pairs of one key are made of blocks; a key of many documents, and blocks of two.
#[test]
fn a_list_of_blocks_has_the_candidates_of_the_whole_list() {
    let here = Place::new();
    let expected = corpus(&here);
    for option in ["--posting-block 2", "--posting-block 7 --threads 3"] {
        let line = format!(
            "twinsplit run minhash --engine pipes --input docs --output out {OPTIONS} {option} --overwrite"
        );
        here.say(&line).ok();
        assert_eq!(here.read("out/pairs.tsv"), expected.exact, "{option}");
    }
    let run: serde_json::Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
    let counters = run["counters"].as_object().unwrap();
    let sum = |name: &str| counters.values().filter_map(|step| step[name].as_u64()).sum::<u64>();
    assert_eq!(sum("candidates"), expected.candidates as u64);
    assert!(sum("candidates_repeated") > 0);
}

fn run_json(here: &Place, out: &str) -> serde_json::Value {
    serde_json::from_str(&here.read(&format!("{out}/run.json"))).unwrap()
}

/// All sets are audited where they are few: then the audit is the recall.
#[test]
fn the_audit_says_what_was_lost() {
    let here = Place::new();
    let expected = corpus(&here);
    let said = here.say(&format!("twinsplit run minhash --input docs --output out {OPTIONS}"));
    assert!(said.err.contains("counted: "), "{}", said.err);
    here.say("twinsplit run doc-split --input docs --output all --features lines --tau 0.5").ok();
    let [exact, found] = ["all", "out"].map(|out| {
        let rows: BTreeSet<String> =
            here.read(&format!("{out}/pairs.tsv")).lines().map(str::to_owned).collect();
        rows
    });
    assert!(found.is_subset(&exact) && exact.len() - found.len() == expected.lost);
    let audit = &run_json(&here, "out")["audit"];
    let [pairs, met] = ["pairs", "found"].map(|name| audit[name].as_u64().unwrap());
    // Of different sets: documents with equal sets count as one here.
    assert!(pairs > met && met > 50 && pairs - met <= expected.lost as u64, "{audit}");
    assert!(audit["counted"] == true && audit.get("interval").is_none(), "{audit}");
}

#[test]
fn bands_are_chosen_by_the_recall_that_is_asked_for() {
    let here = Place::new();
    corpus(&here);
    let line = "twinsplit run minhash --input docs --features lines --tau 0.5 --recall 0.99 --output";
    let said = here.say(&format!("{line} out"));
    assert!(said.err.contains("note: --recall 0.99: "), "{}", said.err);
    let run = run_json(&here, "out");
    let number = |name: &str| run["parameters"][name].as_str().unwrap().parse::<u64>().unwrap();
    assert_eq!(number("hashes"), number("bands") * number("rows"));
    assert_eq!(
        (&run["origins"]["bands"], &run["parameters"]["recall"]),
        (&"--recall".into(), &"0.99".into())
    );
    assert!(run["audit"]["recall"].as_f64().unwrap() >= 0.99, "{}", run["audit"]);
    assert!(!run["warnings"].to_string().contains("NOT REACHED"));
    for (options, words) in [
        ("--bands 4", &["--recall", "--bands"][..]),
        ("--similarity cosine", &["--recall", "jaccard"]),
        ("--hashes 2", &["not reached", "2 --hashes", "doc-split"]),
    ] {
        here.say(&format!("{line} no {options}")).fails(2, words);
        assert!(!here.path("no").exists());
    }
    // A plan without documents has nothing to choose by.
    here.say("twinsplit plan minhash --engine hadoop --recall 0.9 --features lines")
        .fails(2, &["--recall", "--input", "--bands and --rows"]);
    let plan =
        here.say("twinsplit plan minhash --features lines --tau 0.5 --recall 0.99 --input docs --json").ok();
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    assert_eq!(plan["parameters"]["bands"], run["parameters"]["bands"]);
    // Estimates rest on all values of a signature.
    let hashes = |check: &str| {
        let line = "twinsplit plan minhash --features lines --tau 0.5 --recall 0.9 --input docs --json";
        let plan: serde_json::Value =
            serde_json::from_str(&here.say(&format!("{line} --check {check}")).ok()).unwrap();
        plan["parameters"]["hashes"].as_str().unwrap().parse::<u32>().unwrap()
    };
    assert!(hashes("exact") < 128 && hashes("signature") == 128);
    here.say("twinsplit run minhash --input docs --recall 1.5 --output no")
        .fails(2, &["1.5", "between 0 and 1"]);
}

/// What is expected of bands stands beside what the exact join takes, and what comes is near it.
#[test]
fn an_estimate_says_what_bands_find_and_whether_they_are_needed() {
    let here = Place::new();
    corpus(&here);
    let line = format!("twinsplit plan minhash --engine pipes --input docs --estimate {OPTIONS}");
    let said = here.say(&line).ok();
    for words in ["The bands will find 0.", "candidates.", "doc-split, which finds all pairs", "=> "] {
        assert!(said.contains(words), "{words:?} is not in {said}");
    }
    let estimate: serde_json::Value =
        serde_json::from_str(&here.say(&format!("{line} --json")).ok()).unwrap();
    here.say(&format!("twinsplit run minhash --input docs --output out {OPTIONS}")).ok();
    let run = run_json(&here, "out");
    let bands = &estimate["bands"];
    let reached = run["audit"]["found"].as_f64().unwrap() / run["audit"]["pairs"].as_f64().unwrap();
    assert!((bands["recall"].as_f64().unwrap() - reached).abs() < 0.15, "{bands} {reached}");
    let candidates = run["counters"]["lsh-bands"]["candidate_pairs"].as_f64().unwrap();
    let ratio = bands["candidates"].as_f64().unwrap() / candidates;
    assert!((0.7..1.4).contains(&ratio), "{bands} {candidates}");
    assert!(bands["exact_core_seconds"].as_f64().unwrap() > 0.0 && bands["needless"].is_boolean());
    let exact = here
        .say("twinsplit plan doc-split --engine pipes --input docs --estimate --features lines --json")
        .ok();
    assert!(serde_json::from_str::<serde_json::Value>(&exact).unwrap()["bands"].is_null());
}

#[test]
fn explain_shows_the_estimate_beside_the_truth_and_the_bands() {
    let here = Place::new();
    let lines =
        |from: usize| (from..from + 20).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n");
    here.write("docs", jsonl(&[("a", &lines(0)), ("b", &lines(1)), ("c", &lines(500))]));
    here.say(
        "twinsplit run minhash --input docs --output out --features lines --hashes 64 --bands 16 --rows 4",
    )
    .ok();
    let said = here.say("twinsplit explain a b --run out").ok();
    for word in
        ["MinHash: ", "of 64 values agree", "Jaccard 0.904762", "=> a candidate: of 16 bands of 4 rows"]
    {
        assert!(said.contains(word), "{word:?} is not in {said}");
    }
    let said = here.say("twinsplit explain a c --run out").ok();
    assert!(said.contains("MinHash: 0 of 64 values") && said.contains("=> no candidate: "), "{said}");
    let said = here.say("twinsplit explain a b --input docs --features lines").ok();
    assert!(!said.contains("MinHash"), "{said}");
}

#[test]
fn the_preset_has_the_settings_of_the_article() {
    let here = Place::new();
    let text =
        "the quick brown fox jumps over the lazy dog and runs away into the dark wood near the old mill";
    let other = text.replace("lazy", "lame").to_uppercase();
    here.write("docs", jsonl(&[("a", text), ("b", &other), ("c", "nothing of the kind")]));
    let said = here.say("twinsplit run --preset webcorpora --input docs --output out --write-kept");
    assert!(said.err.contains("minhash is taken") && said.err.contains("APPROXIMATE"), "{}", said.err);
    let run = run_json(&here, "out");
    let of = |name: &str| run["parameters"][name].as_str().unwrap().to_owned();
    assert_eq!(
        ["features", "tau", "hashes", "bands", "rows", "check", "case-fold"].map(of),
        ["chars:3", "0.8", "128", "16", "8", "signature", "on"]
    );
    assert_eq!(here.read("out/kept.jsonl").lines().count(), 2);
}

#[test]
fn signatures_that_were_made_otherwise_are_refused_by_name() {
    let here = Place::new();
    corpus(&here);
    here.shell("tokenize --features lines < docs | equal-sets | LC_ALL=C sort | equal-sets-reduce > members")
        .ok();
    here.shell("minhash --features lines < members > signatures").ok();
    here.shell("lsh-bands --features lines < signatures > bands").ok();
    for (options, words) in [
        ("--features lines --hashes 64 --bands 8", &["64 values", "128 values"][..]),
        ("--features lines --minhash classic", &["method=fast", "method=classic"]),
        ("--features words:2", &["features=lines", "features=words:2"]),
        ("--features lines --case-fold off", &["case-fold=on", "case-fold=off"]),
    ] {
        let said = here.shell(&format!("lsh-bands {options} < signatures"));
        said.fails(2, &[&["lsh-bands", "line 1", "made otherwise"], words].concat());
    }
    here.shell("sed 's/minhash=2/minhash=1/' signatures | lsh-bands --features lines")
        .fails(2, &["minhash=1", "minhash=2"]);
    here.shell("sed 's/tokenizer=2/tokenizer=1/' signatures | lsh-bands --features lines")
        .fails(2, &["tokenizer=1", "tokenizer=2"]);
    here.say("lsh-bands --bands 20 --rows 13 --hashes 128")
        .fails(2, &["--bands 20", "--rows 13", "260", "--hashes 128"]);
    here.say("twinsplit run minhash --input docs --output out --bands 20 --rows 13 --hashes 128")
        .fails(2, &["--bands 20", "260"]);
    assert!(!here.path("out").exists());
}
