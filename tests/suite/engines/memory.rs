//! What `--memory` and the limits of a shell promise.
//!
//! Term-Split: a feature that very many documents share. The quadratic part of the plain form goes to disk, not to
//! memory; every process runs under a limit on its address space (`ulimit -v`), which counts more than it uses.
//!
//! Local Doc-Split: a collection several times `--memory`. The system is asked what the process holds while it runs
//! (`VmHWM` in /proc), and what the process says of itself must not be less. Local SimHash, and an index of
//! fingerprints: what does not fit.

use crate::common::bounds::{asked_for, most, parts};
use crate::common::cli::search_path;
use crate::common::corpora::synthetic;
use crate::common::harness::{on_disk, twinsplit};
use crate::common::polled::{Polled, polled};
use crate::common::real::{fixture, read};
use crate::common::rng::Rng;
use crate::common::shapes::{SHAPES, decimal};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// So many documents, all with the line `hot`, each with a line of its own: any two have Jaccard 1/3.
fn documents(folder: &Path, count: usize) -> String {
    let mut text = String::new();
    for document in 0..count {
        writeln!(text, r#"{{"id":"d{document}","text":"hot\nown line {document}"}}"#).unwrap();
    }
    let path = folder.join("docs.jsonl");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Runs a bash line in a folder, with the program on PATH and a limit of so many kilobytes on each process, and gives
/// what it printed.
fn bash(folder: &Path, kilobytes: u64, line: &str) -> String {
    let script = format!("set -euo pipefail; ulimit -v {kilobytes}; {line}");
    let done = Command::new("bash")
        .args(["-c", &script])
        .current_dir(folder)
        .env("PATH", search_path())
        .env("TMPDIR", folder)
        .env("LC_ALL", "C")
        .output()
        .expect("bash is needed: apt-get install bash");
    assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn hot_feature(count: usize, kilobytes: u64, megabytes: u64) {
    let folder = on_disk();
    let input = documents(folder.path(), count);
    let pairs = count * (count - 1) / 2;

    let found = bash(
        folder.path(),
        kilobytes,
        &format!(
            "tokenize --features lines < {input} | index-term | sort -S {megabytes}M | index-term-reduce | pcp-map | \
             sort -S {megabytes}M | pcp-reduce --tau 0.333333333 | wc -l"
        ),
    );
    assert_eq!(found.trim(), pairs.to_string(), "every two documents have Jaccard 1/3");

    bash(
        folder.path(),
        kilobytes,
        &format!(
            "twinsplit run term-split --features lines --tau 0.34 --memory {megabytes} --threads 2 --input {input} \
             --output out --quiet"
        ),
    );
    let run = std::fs::read_to_string(folder.path().join("out/run.json")).unwrap();
    let run: serde_json::Value = serde_json::from_str(&run).unwrap();
    let counters = &run["counters"]["pcp-map"];
    assert_eq!(counters["pairs_below_tau"], pairs);
    assert!(counters["spills"].as_u64().unwrap() > 1, "rows went to disk: {counters}");
    assert_eq!(std::fs::read_to_string(folder.path().join("out/pairs.tsv")).unwrap(), "");
}

#[test]
fn a_hot_feature_goes_to_disk() {
    hot_feature(3_000, 320 << 10, 80);
}

/// 2·10^8 pairs in 512 MB.
#[test]
#[ignore = "minutes; run by `make test-long`"]
fn a_feature_of_20_000_documents_stays_inside_512_megabytes() {
    hot_feature(20_000, 512 << 10, 200);
}

/// What a run took.
struct Took {
    seconds: f64,
    /// The most it held, by the system's count and its own.
    peak: u64,
    /// Bytes of Doc-Split, times of Term-Split.
    spilled: u64,
    slices: u64,
}

/// Runs a chain on a file and looks every few milliseconds at what it holds.
fn run(chain: &str, input: &Path, output: &Path, megabytes: u64) -> Took {
    try_run(chain, input, output, megabytes).unwrap_or_else(|said| panic!("--memory {megabytes}: {said}"))
}

/// The same of a run that may be refused, with what it says then.
fn try_run(chain: &str, input: &Path, output: &Path, megabytes: u64) -> Result<Took, String> {
    let mut command = twinsplit();
    command.arg("run").args(chain.split(' '));
    command.args(["--quiet", "--threads", "2", "--memory", &megabytes.to_string()]);
    command.arg("--input").arg(input).arg("--output").arg(output);
    let start = Instant::now();
    let Polled { status, stderr, peak: seen } = polled(&mut command);
    if !status.success() {
        return Err(stderr);
    }
    let seconds = start.elapsed().as_secs_f64();
    let run = std::fs::read_to_string(output.join("run.json")).unwrap();
    let run: serde_json::Value = serde_json::from_str(&run).unwrap();
    let steps = run["counters"].as_object().unwrap();
    let all = |name: &str| steps.values().filter_map(|step| step[name].as_u64()).collect::<Vec<_>>();
    let said = all("peak_memory").into_iter().max().unwrap();
    // After the last step the report is written, for which a process that held little may hold some more.
    assert!(said + (1 << 20) >= seen / 100 * 95, "the system saw {seen} bytes, the run says {said}");
    let took = Took {
        seconds,
        peak: said.max(seen),
        spilled: all("spilled_bytes").iter().chain(&all("spills")).sum(),
        slices: all("slices").iter().sum(),
    };
    let peaks: Vec<String> = steps
        .iter()
        .map(|(name, step)| format!("{name} {}", step["peak_memory"].as_u64().unwrap_or(0) >> 20))
        .collect();
    println!(
        "{chain} --memory {megabytes}: {:.1} s, peak {} MB, spilled {}, {} slices; by step, MB: {}",
        took.seconds,
        took.peak >> 20,
        took.spilled,
        took.slices,
        peaks.join(", ")
    );
    Ok(took)
}

fn same(x: &Path, y: &Path, name: &str) {
    let read = |folder: &Path| std::fs::read(folder.join(name)).unwrap_or_default();
    assert!(!read(x).is_empty() && read(x) == read(y), "{name} differs from that with plenty of memory");
}

/// So many bytes of text within each of these numbers of megabytes.
fn bounded(chain: &str, tau: &str, bytes: u64, memory: &[u64]) {
    let folder = on_disk();
    let input = folder.path().join("docs.jsonl");
    let documents = synthetic(&read(&fixture("en.jsonl.gz")), &input, bytes, 7);
    println!("{documents} documents, {} MB", bytes >> 20);
    let plenty = folder.path().join("plenty");
    let free = run(&format!("doc-split --tau {tau}"), &input, &plenty, 16 << 10);
    assert_eq!(free.spilled, 0, "plenty is plenty");
    for &megabytes in memory {
        let output = folder.path().join(format!("{megabytes}"));
        let took = run(&format!("{chain} --tau {tau}"), &input, &output, megabytes);
        assert!(took.peak <= megabytes << 20, "{} MB of {megabytes}", took.peak >> 20);
        same(&output, &plenty, "clusters.tsv");
        same(&output, &plenty, "pairs.tsv");
        let least = free.peak > (2 * megabytes) << 20;
        assert!(!least || took.spilled > 0, "{megabytes} MB of {} and nothing on disk", free.peak >> 20);
    }
}

#[test]
fn doc_split_stays_inside_its_memory() {
    bounded("doc-split", "0.5", 128 << 20, &[80, 128]);
}

#[test]
#[ignore = "minutes, and 8 GB of disk; run by `make test-long`"]
fn doc_split_of_a_gigabyte_stays_inside_its_memory() {
    bounded("doc-split", "0.5", 1 << 30, &[256, 1024, 4096]);
}

/// On numbers, and as stages, which `--df-cut` asks for and which cuts nothing here: the sets alone are several times the
/// bound then, and every step shuffles them.
#[test]
fn term_split_stays_inside_its_memory() {
    bounded("term-split --pcp prefix", "0.9", 96 << 20, &[80]);
    bounded("term-split --pcp prefix --df-cut 1000000000", "0.9", 64 << 20, &[80]);
}

#[test]
#[ignore = "minutes, and 20 GB of disk; run by `make test-long`"]
fn term_split_of_a_gigabyte_stays_inside_its_memory() {
    bounded("term-split --pcp prefix", "0.9", 1 << 30, &[256]);
    bounded("term-split --pcp prefix --df-cut 1000000000", "0.9", 1 << 30, &[256]);
}

/// Fingerprints that do not fit beside their documents are sorted and joined in temporary files. With `text`, which all
/// documents have, half of the bits of each are decided, so that many of the others agree.
#[test]
fn fingerprints_are_joined_in_files_where_they_do_not_fit() {
    const DOCUMENTS: usize = 400_000;
    let folder = on_disk();
    let input = folder.path().join("docs.jsonl");
    let mut lines = String::new();
    for document in 0..DOCUMENTS {
        let id = document * 7919 % DOCUMENTS;
        writeln!(lines, r#"{{"id":"d{id:06}","text":"text {document}"}}"#).unwrap();
    }
    std::fs::write(&input, lines).unwrap();
    let [little, plenty] = ["little", "plenty"].map(|name| folder.path().join(name));
    let took = run("simhash --features words:1", &input, &little, 88);
    assert!(took.peak <= 88 << 20, "{} MB of 88", took.peak >> 20);
    assert!(took.spilled > 8 * DOCUMENTS as u64, "{} bytes on disk", took.spilled);
    let free = run("simhash --features words:1", &input, &plenty, 512);
    assert_eq!(free.spilled, 0, "plenty is plenty");
    same(&little, &plenty, "pairs.tsv");
    same(&little, &plenty, "clusters.tsv");
}

/// The tables of an index are written one group after the other, and no room of one is held while the next is built. A
/// program that holds nothing takes 13 MB.
#[test]
fn an_index_is_built_inside_its_memory() {
    let folder = on_disk();
    let mut rows = String::new();
    for row in 0..1_000_000_u64 {
        writeln!(rows, "{row}\t{:016x}", (row + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).unwrap();
    }
    std::fs::write(folder.path().join("rows"), rows).unwrap();
    for layout in ["multi-index:2", "block-pairs"] {
        let mut command = twinsplit();
        command.args(["fingerprints", "build", "rows", "--output", "index", "--layout", layout]);
        command.args(["--ids", "rows", "--build-memory", "32", "--threads", "2", "--overwrite"]);
        let Polled { status, stderr, peak } = polled(command.current_dir(folder.path()));
        assert!(status.success(), "{layout}: {stderr}");
        assert!(peak <= (32 + 24) << 20, "{layout}: {} MB", peak >> 20);
    }
}

/// Documents without a feature, all of one text, or two of each: nothing but hashes of texts, which have no other place
/// than the budget has for them.
#[test]
fn short_texts_stay_inside_their_memory() {
    const DOCUMENTS: usize = 600_000;
    let folder = on_disk();
    let input = folder.path().join("docs.jsonl");
    for texts in [1, DOCUMENTS / 2] {
        let mut lines = String::new();
        for document in 0..DOCUMENTS {
            // Ids are not in the order of the file, and equal texts stand next to one another.
            let id = document * 7919 % DOCUMENTS;
            let text = document * texts / DOCUMENTS;
            writeln!(lines, r#"{{"id":"d{id:06}","text":"text {text}"}}"#).unwrap();
        }
        std::fs::write(&input, lines).unwrap();
        let output = folder.path().join(format!("{texts}"));
        let took = run("doc-split", &input, &output, 88);
        assert!(took.peak <= 88 << 20, "{} MB of 88", took.peak >> 20);
        assert!(took.spilled > 0, "nothing on disk");
        let clusters = std::fs::read_to_string(output.join("clusters.tsv")).unwrap();
        assert_eq!(clusters.lines().count(), DOCUMENTS);
        assert_eq!(clusters.lines().filter(|row| row.contains("\tkeep\t")).count(), texts);
    }
}

/// So many documents of so many words, of which each tenth is the one before with another last word.
fn near_copies(path: &Path, documents: u64, words: usize) {
    let (mut rng, mut lines, mut text) = (Rng::new(21), String::new(), String::new());
    for document in 0..documents {
        if document % 10 > 0 || text.is_empty() {
            text.clear();
            (0..words).for_each(|_| write!(text, "w{:x} ", rng.bits() >> 46).unwrap());
        }
        let id = document * 7919 % documents;
        writeln!(lines, r#"{{"id":"d{id:06}","text":"{text}{}"}}"#, document % 10).unwrap();
    }
    std::fs::write(path, lines).unwrap();
}

/// A run with so many megabytes, or with as many as one that is refused asks for: before it reads anything, what the program takes by itself; and while
/// documents are read, what all of them need.
fn accepted(chain: &str, input: &Path, output: &Path, mut megabytes: u64) -> (u64, Took) {
    for _ in 0..2 {
        let said = match try_run(chain, input, output, megabytes) {
            Ok(took) => return (megabytes, took),
            Err(said) => said,
        };
        let enough = asked_for(&said);
        assert!(enough > megabytes, "{chain} --memory {megabytes}: {said}");
        megabytes = enough;
        if said.contains("% of the input") {
            break;
        }
    }
    (megabytes, run(chain, input, output, megabytes))
}

/// A chain with .5, .4 and .33 of what it takes where nothing binds it: it holds no more than it may, or says with how much it would
/// do, and does; the answer is the same, and something lay on disk.
fn parts_of_its_peak(chain: &str, documents: u64, words: usize) {
    let folder = on_disk();
    let [input, plenty, little] = ["docs.jsonl", "plenty", "little"].map(|name| folder.path().join(name));
    near_copies(&input, documents, words);
    let chain = format!("{chain} --overwrite");
    let free = run(&chain, &input, &plenty, 8192);
    let mut ran = 0;
    for part in parts(free.peak) {
        let (megabytes, took) = accepted(&chain, &input, &little, part);
        assert!(took.peak <= most(megabytes), "{chain} --memory {megabytes}: {} MB", took.peak >> 20);
        let least = free.peak > (megabytes << 20) / 2 * 3;
        assert!(
            !least || took.spilled > 0,
            "{chain} --memory {megabytes} of {}: nothing on disk",
            free.peak >> 20
        );
        ran += usize::from(least);
        same(&little, &plenty, "clusters.tsv");
        if !chain.contains("--write clusters") {
            same(&little, &plenty, "pairs.tsv");
        }
    }
    assert!(ran > 0, "{chain} takes no more than {} MB", free.peak >> 20);
}

#[test]
fn minhash_stays_inside_a_part_of_its_peak() {
    parts_of_its_peak("minhash --tau 0.5 --bands 128 --rows 2 --write clusters", 100_000, 40);
}

#[test]
#[ignore = "minutes; run by `make test-long`"]
fn every_chain_stays_inside_a_part_of_its_peak() {
    let chains = [
        "doc-split --tau 0.5",
        "doc-split --tau 0.5 --cluster star",
        "doc-split --tau 0.5 --write clusters",
        "term-split --pcp prefix --tau 0.5",
        "ccdet --features words:2 --tau 0.5",
        "minhash --tau 0.5 --bands 64 --rows 4",
        "minhash --tau 0.5 --bands 64 --rows 4 --cluster star --write clusters",
        "simhash --features words:1 --distance 3",
        "doc-split --tau 0.5 --engine pipes",
        "term-split --engine pipes",
        "minhash --tau 0.5 --bands 8 --rows 4 --engine pipes",
        "i-match --features words:1",
    ];
    chains.iter().for_each(|chain| parts_of_its_peak(chain, 600_000, 40));
}

/// Who waits for the process is told by the system what it held at most: no less than what the steps say.
#[test]
fn outside_tools_see_the_same_peak() {
    let folder = on_disk();
    let input = folder.path().join("docs.jsonl");
    synthetic(&read(&fixture("en.jsonl.gz")), &input, 120 << 20, 7);
    let output = folder.path().join("out");
    // Python comes with the tests of Spark, and has the call that Rust's library has not.
    let wait = "import os, sys; child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ); \
                _, status, used = os.wait4(child, 0); print(used.ru_maxrss << 10); sys.exit(status != 0)";
    let done = Command::new("python3")
        .args(["-c", wait, env!("CARGO_BIN_EXE_twinsplit"), "run", "doc-split", "--tau", "0.5", "--quiet"])
        .args(["--threads", "2", "--memory", "160", "--input"])
        .arg(&input)
        .arg("--output")
        .arg(&output)
        .output()
        .expect("python3 is needed");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let most: u64 = String::from_utf8(done.stdout).unwrap().trim().parse().unwrap();
    let run = std::fs::read_to_string(output.join("run.json")).unwrap();
    let run: serde_json::Value = serde_json::from_str(&run).unwrap();
    let steps = run["counters"].as_object().unwrap();
    let peaks: Vec<u64> = steps.values().map(|step| step["peak_memory"].as_u64().unwrap()).collect();
    let (least, largest) = (*peaks.iter().min().unwrap(), *peaks.iter().max().unwrap());
    println!("ru_maxrss {most}, steps {peaks:?}");
    assert!(largest > 60 << 20, "the run is large enough to tell");
    // The system counts pages for each thread, and adds them up now and then.
    assert!(most + (1 << 20) >= largest, "wait4 says {most}, a step {largest}");
    assert!(least < largest, "each step has its own peak: {peaks:?}");
}

/// Shapes that make joins slow, at a size that is quick: `make bench-cliffs` does the same at sizes that hurt.
#[test]
fn shapes_that_hurt_stay_inside_their_memory() {
    let folder = on_disk();
    let (input, output) = (folder.path().join("docs.jsonl"), folder.path().join("out"));
    for shape in SHAPES {
        let tau = shape.taus[0];
        shape.write(tau, shape.documents.min(2000), &input).unwrap();
        for chain in ["doc-split", "term-split --pcp prefix"] {
            let chain = format!("{chain} --features words:1 --tau {} --overwrite", decimal(tau));
            let took = run(&chain, &input, &output, 80);
            assert!(took.peak <= 80 << 20, "{}, {chain}: {} MB", shape.name, took.peak >> 20);
        }
    }
}
