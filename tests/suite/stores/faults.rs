//! Stores after their writers were killed, at moments of all kinds.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::common::cli::{Place, binaries};
use crate::common::harness::clean;
use crate::common::rng::Rng;

/// Kills of writers.
const KILLS: usize = 30;

fn batch(number: usize) -> String {
    let mut rng = Rng::new(number as u64 / 2);
    let text = |rng: &mut Rng| (0..60).map(|_| format!("w{} ", rng.below(4000))).collect::<String>();
    let line = |at: usize| {
        // Every second batch has the texts of the one before it, with a word more.
        let text = text(&mut rng) + if number % 2 == 1 { "more" } else { "" };
        json!({ "id": format!("{number:02}-{at:03}"), "text": text }).to_string() + "\n"
    };
    (0..250).map(line).collect()
}

/// A killed commit has happened or not: the store is whole, the same command ends it, and the end is that of writers that nobody killed.
#[test]
fn killed_writers_leave_the_old_store_or_the_new_one() {
    let here = Place::new();
    let mut rng = Rng::new(3);
    let run = |number: usize, store: &str, output: &str| {
        let mut command = clean(Command::new(binaries().join("twinsplit")));
        let id = number.to_string();
        command.args([
            "run",
            "--quiet",
            "--overwrite",
            "--threads",
            "2",
            "--input",
            "batch",
            "--output",
            output,
        ]);
        // The time, so that two stores are the same.
        command
            .args(["--store", store, "--batch-id", &id, "--batch-time", "2026-01-01"])
            .current_dir(here.path(""));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let (mut killed, mut committed) = (0, 0);
    for number in 0..KILLS {
        here.write("batch", batch(number));
        let began = Instant::now();
        assert!(run(number, "whole", "whole-out").status().unwrap().success());
        let took = began.elapsed();
        let mut child = run(number, "store", "out").spawn().unwrap();
        std::thread::sleep(Duration::from_micros(rng.below(took.as_micros() as usize) as u64));
        let is_running = child.try_wait().unwrap().is_none();
        child.kill().unwrap();
        child.wait().unwrap();
        killed += usize::from(is_running);
        if here.path("store").join(format!("commit-{:08}", number + 1)).exists() {
            committed += usize::from(is_running);
        }
        if number > 0 {
            here.say("twinsplit store verify store").ok();
        }
        // The same command again, whether the batch is there or not.
        assert!(run(number, "store", "out").status().unwrap().success());
        for name in ["pairs.tsv", "clusters.tsv", "changes.tsv", "batches.tsv"] {
            assert_eq!(
                here.read(&format!("out/{name}")),
                here.read(&format!("whole-out/{name}")),
                "{number} {name}"
            );
        }
        assert_eq!(
            here.say("twinsplit store ls store --json").ok(),
            here.say("twinsplit store ls whole --json").ok(),
            "{number}"
        );
    }
    println!("{killed} of {KILLS} killed, {committed} of these after the commit");
    assert!(killed >= KILLS / 2, "{killed}");
}
