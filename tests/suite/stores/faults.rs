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

/// A command of these words, which says nothing.
fn command(here: &Place, words: &str) -> Command {
    let mut command = clean(Command::new(binaries().join("twinsplit")));
    command.args(words.split(' ')).current_dir(here.path(""));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Commands on two stores, of which the second one's are killed first.
struct Killer {
    here: Place,
    rng: Rng,
    killed: usize,
    committed: usize,
    commits: u64,
}

impl Killer {
    /// Runs a command on `whole`; on `store` it is killed at some moment, and then given again.
    fn run(&mut self, words: impl Fn(&str) -> String) {
        let Self { here, rng, killed, committed, commits } = self;
        let began = Instant::now();
        assert!(command(here, &words("whole")).status().unwrap().success(), "{}", words("whole"));
        let took = began.elapsed();
        let mut child = command(here, &words("store")).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(rng.below(took.as_micros() as usize) as u64));
        let is_running = child.try_wait().unwrap().is_none();
        child.kill().unwrap();
        child.wait().unwrap();
        *killed += usize::from(is_running);
        *commits += 1;
        if here.path("store").join(format!("commit-{commits:08}")).exists() {
            *committed += usize::from(is_running);
        }
        if *commits > 1 {
            here.say("twinsplit store verify store").ok();
        }
        // The same command again, whether it was done or not.
        assert!(command(here, &words("store")).status().unwrap().success(), "{}", words("store"));
        let [store, whole] =
            ["store", "whole"].map(|store| here.say(&format!("twinsplit store ls {store} --json")).ok());
        assert_eq!(store, whole, "{}", words("store"));
    }
}

/// A killed commit has happened or not: the store is whole, the same command ends it, and the end is that of commands that nobody killed.
#[test]
fn killed_writers_leave_the_old_store_or_the_new_one() {
    let mut killer = Killer { here: Place::new(), rng: Rng::new(3), killed: 0, committed: 0, commits: 0 };
    for number in 0..KILLS {
        killer.here.write("batch", batch(number));
        killer.run(|store| {
            // The time, so that two stores are the same.
            format!(
                "run --quiet --overwrite --threads 2 --input batch --output {store}-out --store {store} --batch-id {number} --batch-time 2026-01-01"
            )
        });
        for name in ["pairs.tsv", "clusters.tsv", "changes.tsv", "batches.tsv"] {
            let [store, whole] =
                ["store", "whole"].map(|store| killer.here.read(&format!("{store}-out/{name}")));
            assert_eq!(store, whole, "{number} {name}");
        }
        if number % 3 == 2 {
            // Of the batch before the last one, which has the same texts but for a word.
            let ids: String = (0..100).map(|at| format!(" {:02}-{at:03}", number - 1)).collect();
            killer.run(|store| format!("store forget {store}{ids}"));
            let last = number - 2;
            killer.run(|store| match number % 2 {
                0 => format!("store forget {store} {last:02}-000 {number:02}-249"),
                _ => format!("store compact {store} --answers 5"),
            });
        }
    }
    let Killer { killed, committed, commits, .. } = killer;
    println!("{killed} of {commits} killed, {committed} of these after the commit");
    assert!(commits == 50 && killed >= 25, "{killed} of {commits}");
}
