//! Bounds of the address space (`ulimit -v`) and of files (`ulimit -f`): what the system does not give ends a run as an error does.

use crate::common::harness::{on_disk, twinsplit};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// A command under a bound of so many kilobytes: its exit code and what it said.
fn bounded(folder: &Path, kilobytes: u64, words: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new("bash");
    command.args(["-c", "ulimit -v \"$1\"; shift; exec \"$@\"", "bash", &kilobytes.to_string()]);
    command.arg(twinsplit().get_program()).args(words).current_dir(folder);
    let done = command.output().expect("bash is needed");
    (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
}

/// The command line of a run.
fn words<'w>(chain: &'w str, output: &'w str) -> Vec<&'w str> {
    let start = ["run", chain, "--features", "words:2", "--tau", "0.7", "--input", "docs.jsonl"];
    [&start[..], &["--threads", "2", "--memory", "256", "--quiet", "--output", output]].concat()
}

/// So little that a run ends at its beginning, and so much that it ends with its answer: whatever is missing in between, nothing looks like
/// an answer that is none, no `_work` is left that holds no step, and the same command goes on.
#[test]
fn without_address_space_a_run_is_an_error() {
    let folder = on_disk();
    let mut text = String::new();
    for document in 0..30_000 {
        let own = document / 3 * 31;
        writeln!(text, r#"{{"id":"d{document}","text":"w{own} w{} w{} w{} x"}}"#, own + 1, own + 2, own + 3)
            .unwrap();
    }
    std::fs::write(folder.path().join("docs.jsonl"), text).unwrap();
    let answer = |name: &str| std::fs::read(folder.path().join(name).join("clusters.tsv")).unwrap();
    for chain in ["doc-split", "term-split"] {
        let free = format!("{chain}-free");
        assert_eq!(bounded(folder.path(), 64 << 20, &words(chain, &free)), (Some(0), String::new()));
        let mut refused = 0;
        for megabytes in [80, 120, 160, 200, 260, 340] {
            let output = format!("{chain}-{megabytes}");
            let (code, said) = bounded(folder.path(), megabytes << 10, &words(chain, &output));
            let case = format!("{chain} in {megabytes} MB: {code:?} {said}");
            match code {
                Some(0) => assert!(answer(&output) == answer(&free), "{case}"),
                Some(1) => {
                    refused += 1;
                    assert!(said.contains("error: ") && !said.contains("panicked"), "{case}");
                    let work = folder.path().join(&output).join("_work");
                    assert!(!work.exists() || said.contains("--resume"), "{case}");
                    let again = [&words(chain, &output)[..], &["--resume"]].concat();
                    assert_eq!(bounded(folder.path(), 64 << 20, &again).0, Some(0), "{case}");
                    assert!(answer(&output) == answer(&free), "{case}");
                }
                _ => panic!("{case}"),
            }
        }
        assert!(refused > 0, "{chain} was never refused");
    }
    // A command without a folder of its own.
    let rows: String =
        (0..200_000_u64).map(|row| format!("{row}\t{:016x}\n", row.wrapping_mul(0x9e37_79b9))).collect();
    std::fs::write(folder.path().join("rows"), rows).unwrap();
    let (code, said) =
        bounded(folder.path(), 40 << 10, &["fingerprints", "pairs", "rows", "--memory", "2000"]);
    assert!(code == Some(1) && said.contains("error: ") && said.contains("ulimit -v"), "{code:?} {said}");
}

/// A file that may not be as long as it would be is an error that names it, and nothing is left that looks like an answer.
#[test]
fn a_file_that_may_not_be_so_long_is_an_error() {
    let folder = on_disk();
    let write = |name: &str, text: &dyn Fn(usize) -> String| {
        let line = |at: usize| format!("{{\"id\":\"d{at}\",\"text\":\"{}\"}}\n", text(at));
        std::fs::write(folder.path().join(name), (0..4000).map(line).collect::<String>()).unwrap();
    };
    write("alike", &|_| "one two three four five".to_owned());
    write("unlike", &|at| (0..5).map(|word| format!("w{at}x{word} ")).collect());
    let run = |limit: &str, words: &[&str]| {
        let mut command = Command::new("bash");
        command.args(["-c", "ulimit -f \"$1\"; shift; exec \"$@\"", "bash", limit]);
        let done =
            command.arg(twinsplit().get_program()).args(words).current_dir(folder.path()).output().unwrap();
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let words = ["run", "doc-split", "-i", "alike", "--write", "clusters", "-qo", "out"];
    let (code, said) = run("20", &words);
    assert!(
        code == Some(1) && said.contains("clusters.tsv") && said.contains("File too large"),
        "{code:?} {said}"
    );
    assert!(!folder.path().join("out/run.json").exists());
    let stored = ["run", "doc-split", "-i", "unlike", "--store", "store", "-qo", "stored"];
    let (code, said) = run("20", &stored);
    assert!(code == Some(1) && said.contains("File too large"), "{code:?} {said}");
    assert_eq!(run("unlimited", &stored), (Some(0), String::new()));
}
