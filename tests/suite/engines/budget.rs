//! One bound of memory for every command that has such an option: the peak stays within 1.15 times the bound and 40 MB for the program, the answer is that
//! of a run without a bound, and a bound that is too small is refused with one that is not.

use crate::common::bounds::{asked_for, most, parts};
use crate::common::harness::{on_disk, twinsplit};
use crate::common::polled::{Polled, polled};
use crate::common::rng::Rng;
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;

/// Runs a command with its standard output in a file, and gives its peak; nothing where it was refused with a bound, which is the error then.
fn peak(folder: &Path, words: &[&str], output: &str) -> Result<u64, String> {
    let mut command = twinsplit();
    command.args(words).args(["--threads", "2"]).current_dir(folder);
    command.stdout(File::create(folder.join(output)).unwrap());
    let Polled { status, stderr, peak } = polled(&mut command);
    if status.success() { Ok(peak) } else { Err(stderr) }
}

#[test]
fn pairs_of_fingerprints_stay_inside_their_memory() {
    let folder = on_disk();
    let mut rng = Rng::new(11);
    let mut rows = String::new();
    let mut last = 0;
    for row in 0..1_000_000_u64 {
        last = if row % 50 == 0 { last ^ 5 } else { rng.bits() };
        writeln!(rows, "row{row:09}\t{last:016x}").unwrap();
    }
    std::fs::write(folder.path().join("rows"), rows).unwrap();
    let run = |megabytes: u64, output| {
        peak(folder.path(), &["fingerprints", "pairs", "rows", "--memory", &megabytes.to_string()], output)
            .unwrap()
    };
    let free = run(4096, "free");
    let expected = std::fs::read(folder.path().join("free")).unwrap();
    assert!(expected.len() > 100_000, "{} bytes of pairs", expected.len());
    for megabytes in parts(free).into_iter().chain([1]) {
        let peak = run(megabytes, "bounded");
        assert!(peak <= most(megabytes), "--memory {megabytes}: {} MB", peak >> 20);
        assert!(std::fs::read(folder.path().join("bounded")).unwrap() == expected, "--memory {megabytes}");
    }
}

#[test]
fn sets_of_a_join_are_refused_or_fit() {
    let folder = on_disk();
    let mut rng = Rng::new(12);
    let mut sets = String::new();
    for set in 0..300_000_u64 {
        let wide = if set % 3 == 0 { 1 << 40 } else { 0 };
        for at in 0..12 {
            write!(sets, "{} ", wide + (set / 2 * 12 + at + rng.bits() % 2) % 50_000).unwrap();
        }
        sets.push('\n');
    }
    std::fs::write(folder.path().join("sets"), sets).unwrap();
    let run = |megabytes: u64, output| {
        peak(folder.path(), &["join", "sets", "--tau", "0.9", "--memory", &megabytes.to_string()], output)
    };
    let free = run(4096, "free").unwrap();
    let expected = std::fs::read(folder.path().join("free")).unwrap();
    for megabytes in parts(free).into_iter().chain([1]) {
        let enough = match run(megabytes, "bounded") {
            Ok(peak) => {
                assert!(peak <= most(megabytes), "--memory {megabytes}: {} MB", peak >> 20);
                continue;
            }
            Err(said) => {
                assert!(said.contains("give at least "), "{said}");
                asked_for(&said)
            }
        };
        let peak = run(enough, "enough").unwrap();
        assert!(enough > megabytes && peak <= most(enough), "--memory {enough}: {} MB", peak >> 20);
        assert!(std::fs::read(folder.path().join("enough")).unwrap() == expected, "--memory {enough}");
    }
}

/// Texts of words, of so many bytes, in groups of two that differ in a few words.
fn long_texts(path: &Path, documents: u64, bytes: usize) {
    let mut lines = String::new();
    for document in 0..documents {
        let mut rng = Rng::new(document / 2);
        write!(lines, r#"{{"id":"d{document}","text":"#).unwrap();
        lines.push('"');
        let end = lines.len() + bytes;
        while lines.len() < end {
            write!(lines, "w{:x} ", rng.bits() >> 44).unwrap();
        }
        writeln!(lines, "own{}\"}}", document % 2).unwrap();
    }
    std::fs::write(path, lines).unwrap();
}

fn simhash(folder: &Path, input: &str, output: &str, more: &[&str]) -> Result<u64, String> {
    let words = [
        "run",
        "simhash",
        "--features",
        "words:3",
        "--distance",
        "3",
        "--quiet",
        "--input",
        input,
        "--output",
        output,
    ];
    peak(folder, &[&words[..], more].concat(), "printed")
}

/// Of a long line nothing is held but itself where its fingerprint is a sum; else there is room for it, or it is refused.
#[test]
fn fingerprints_of_long_lines_stay_inside_their_memory() {
    let folder = on_disk();
    long_texts(&folder.path().join("one.jsonl"), 1, 48 << 20);
    let peak = simhash(folder.path(), "one.jsonl", "one", &["--memory", "128"]).unwrap();
    assert!(peak <= 128 << 20, "{} MB", peak >> 20);
    let said =
        simhash(folder.path(), "one.jsonl", "other", &["--memory", "128", "--weights", "1"]).unwrap_err();
    assert!(said.contains("give at least") && said.contains("line 1"), "{said}");
}

/// Piece by piece or whole, a text has one fingerprint.
#[test]
fn long_texts_have_the_fingerprints_of_whole_ones() {
    let folder = on_disk();
    long_texts(&folder.path().join("some.jsonl"), 6, 200 << 10);
    let pairs = |output: &str, more: &[&str]| {
        simhash(folder.path(), "some.jsonl", output, more).unwrap();
        std::fs::read_to_string(folder.path().join(output).join("pairs.tsv")).unwrap()
    };
    let expected = pairs("whole", &["--engine", "pipes"]);
    assert_eq!(expected.lines().count(), 3, "{expected}");
    assert_eq!(pairs("pieces", &["--engine", "local"]), expected);
}
