//! Lines of many megabytes under `--memory`: read within it one after the other, or refused by size.

use crate::common::harness::{on_disk, twinsplit};
use crate::common::polled::{Polled, polled};
use crate::common::rng::Rng;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// Sentences of words, of so many bytes.
fn sentences(rng: &mut Rng, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 64);
    while text.len() < bytes {
        let number = rng.bits();
        let end = match number % 60 {
            0 => ".\\n",
            1..6 => ". ",
            _ => " ",
        };
        write!(text, "w{:x}{end}", number >> 40 & 0xf_ffff).unwrap();
    }
    text
}

/// So many documents of a line of so many megabytes each, all alike but for their last twentieth.
fn documents(folder: &Path, lines: usize, megabytes: usize) -> PathBuf {
    let path = folder.join(format!("{lines}-{megabytes}.jsonl"));
    let mut file = BufWriter::new(File::create(&path).unwrap());
    let mut rng = Rng::new(7);
    let common = sentences(&mut rng, (megabytes << 20) / 20 * 19);
    for line in 0..lines {
        let own = sentences(&mut rng, (megabytes << 20) / 20);
        writeln!(file, r#"{{"id":"d{line}","text":"{common}{own}"}}"#).unwrap();
    }
    file.flush().unwrap();
    path
}

/// Runs a chain, and says whether it found its end, or refused a line or a document by its size and asked for so many
/// megabytes. Either way it stays within the bound.
fn run(chain: &str, input: &Path, output: &Path, bounds: (usize, usize)) -> Result<u64, usize> {
    outcome(chain, input, output, bounds).map_err(|(enough, _)| enough)
}

/// The same with what it says.
fn outcome(
    chain: &str,
    input: &Path,
    output: &Path,
    (megabytes, threads): (usize, usize),
) -> Result<u64, (usize, String)> {
    let mut command = twinsplit();
    command.arg("run").args(chain.split(' ')).args(["--quiet", "--overwrite", "--tau", "0.5"]);
    command.args(["--memory", &megabytes.to_string(), "--threads", &threads.to_string()]);
    let Polled { status, stderr, peak } =
        polled(command.arg("--input").arg(input).arg("--output").arg(output));
    println!("{chain}, {} at --memory {megabytes}: {} MB, {status}", input.display(), peak >> 20);
    let bound = (megabytes << 20) as u64 / 100 * 115 + (40 << 20);
    assert!(peak <= bound, "{chain}: {} MB of {megabytes}: {stderr}", peak >> 20);
    if status.success() {
        return Ok(peak);
    }
    for word in ["line ", &input.display().to_string(), &format!("--memory {megabytes}"), "--max-line"] {
        assert!(stderr.contains(word), "{word:?} is not in: {stderr}");
    }
    let words: Vec<_> = stderr.split_whitespace().collect();
    let at = words.windows(2).position(|two| two == ["at", "least"]).unwrap();
    let enough = words[at + 2].parse().unwrap();
    Err((enough, stderr))
}

/// The bytes of an answer.
fn answer(output: &Path) -> Vec<Vec<u8>> {
    ["pairs.tsv", "clusters.tsv"].map(|name| std::fs::read(output.join(name)).unwrap()).to_vec()
}

/// Four lines that fit one at a time: the texts, their features and their sets are bounded, and nothing of the answer
/// depends on it.
#[test]
fn long_lines_are_read_within_the_memory() {
    let folder = on_disk();
    let input = documents(folder.path(), 4, 20);
    let (bounded, plenty) = (folder.path().join("bounded"), folder.path().join("plenty"));
    // Most features are those of one document here, so that the sets are small and it is about lines.
    for chain in ["doc-split --features lines", "term-split --pcp prefix --features sentence-ends:10"] {
        run(chain, &input, &bounded, (80, 4)).unwrap();
        run(chain, &input, &plenty, (4096, 2)).unwrap();
        assert_eq!(answer(&bounded), answer(&plenty));
        assert!(answer(&bounded)[0].len() > 100, "all are pairs");
    }
}

/// Sets that do not fit are refused where they are known, and what the message asks for suffices.
#[test]
fn sets_of_long_lines_are_refused_by_size() {
    let folder = on_disk();
    let input = documents(folder.path(), 2, 24);
    let output = folder.path().join("out");
    for chain in ["doc-split --features words:5", "term-split --pcp prefix --features words:5"] {
        let (enough, message) = outcome(chain, &input, &output, (80, 4)).unwrap_err();
        let place = format!("equal-sets: {}, line ", input.display());
        assert!(message.contains(&place) && message.contains("of them in others too"), "{message}");
        assert!((100..200).contains(&enough), "{enough}: {message}");
        run(chain, &input, &output, (enough, 4)).unwrap();
        assert!(answer(&output)[0].len() > 10, "both are a pair");
    }
}

/// Nothing of a line is held to refuse it, and no quarantine takes it.
#[test]
fn a_line_that_never_fits_is_refused_by_size() {
    let folder = on_disk();
    let input = documents(folder.path(), 1, 60);
    let output = folder.path().join("out");
    for chain in ["doc-split --bad-records 5", "doc-split --features chars:9"] {
        let enough = run(chain, &input, &output, (80, 4)).unwrap_err();
        assert!((100..200).contains(&enough), "{enough}");
        assert!(!output.join("quarantine.tsv").exists());
    }
    // Stages hold rows whole, and say so.
    let enough = run("term-split", &input, &output, (200, 4)).unwrap_err();
    assert!(enough > 400, "{enough}");
    // A text without a space for megabytes needs more than its line.
    let one = folder.path().join("one.jsonl");
    std::fs::write(&one, format!(r#"{{"id":"x","text":"{}"}}"#, "x".repeat(8 << 20))).unwrap();
    let enough = run("doc-split", &one, &output, (80, 4)).unwrap_err();
    run("doc-split", &one, &output, (enough, 4)).unwrap();
    assert!(
        run("doc-split --features lines", &one, &output, (80, 4)).unwrap_err() > enough,
        "12 bytes, not 11"
    );
    run("doc-split --features chars:9", &one, &output, (80, 4)).unwrap();
}

/// A bad line that fits goes to the quarantine whole, and kept lines are copied without being held.
#[test]
fn long_lines_are_kept_and_passed_over_part_by_part() {
    let folder = on_disk();
    let input = folder.path().join("docs.jsonl");
    let text = sentences(&mut Rng::new(3), 20 << 20);
    let good = format!(r#"{{"id":"good","text":"{text}"}}"#);
    let bad = format!(r#"{{"id":"bad","text":"{text}\x"}}"#);
    std::fs::write(&input, format!("{bad}\n{good}\n{{\"id\":\"short\",\"text\":\"a b c\"}}\n")).unwrap();
    let output = folder.path().join("out");
    run("doc-split --features lines --write-kept --bad-records 1", &input, &output, (80, 4)).unwrap();
    let kept = std::fs::read_to_string(output.join("kept.jsonl")).unwrap();
    assert!(kept == format!("{good}\n{{\"id\":\"short\",\"text\":\"a b c\"}}\n"), "{} bytes", kept.len());
    let quarantine = std::fs::read_to_string(output.join("quarantine.tsv")).unwrap();
    assert!(quarantine.ends_with(&format!("\t{bad}\n")), "{} bytes", quarantine.len());
}

/// The chains of stages, whose rows are as long as their sets.
#[test]
fn stages_stay_within_the_memory() {
    let folder = on_disk();
    let input = documents(folder.path(), 4, 4);
    let (bounded, plenty) = (folder.path().join("bounded"), folder.path().join("plenty"));
    let chain = "term-split --features sentence-ends:10";
    let enough = run(chain, &input, &bounded, (80, 4)).unwrap_err();
    run(chain, &input, &bounded, (enough, 4)).unwrap();
    run(chain, &input, &plenty, (4096, 1)).unwrap();
    assert_eq!(answer(&bounded), answer(&plenty));
}

/// Each kind of features, one line and four.
#[test]
#[ignore = "minutes, and 10 GB of disk; run by `make test-long`"]
fn lines_of_200_megabytes_stay_within_the_memory() {
    let folder = on_disk();
    let output = folder.path().join("out");
    for lines in [1, 4] {
        let input = documents(folder.path(), lines, 200);
        for kind in ["words:5", "chars:100", "spotsigs", "lines", "sentence-ends:10"] {
            for megabytes in [80, 1024] {
                let ran = run(&format!("doc-split --features {kind}"), &input, &output, (megabytes, 4));
                assert!(megabytes > 80 || ran.is_err(), "a line of 200 MB does not fit into 80");
            }
        }
    }
}
