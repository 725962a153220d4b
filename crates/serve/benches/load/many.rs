//! A service that holds many: what it takes, how soon it is ready again, and whether it stays as it is under load for minutes.

use crate::requests::fingerprint;
use crate::servers::Running;
use crate::{Asked, measure};
use std::fs;
use std::time::{Duration, Instant};

/// How many requests are sent together while documents are put in.
const TOGETHER: usize = 256;

/// Puts so many documents in, starts again from what is on the disk, and then has new ones come for so many minutes, each of which takes the place of the oldest.
pub fn hold(documents: u64, minutes: u64) {
    let place = std::env::temp_dir().join(format!("twinsplit-bench-many-{}", std::process::id()));
    let folder = place.display().to_string();
    let server = Running::ours(&folder, "100ms", "words:3", None);
    let empty = server.memory()[0];
    let began = Instant::now();
    let (mut begun, share) = (0, documents.div_ceil(20));
    println!(
        "| documents | s | requests/s | p99.9 ms | longest | MB | at most | bytes a document, used_memory | of the process | at most |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    while begun < documents {
        let of = measure_from(&server, begun, (8, TOGETHER, share.min(documents - begun)));
        begun += share;
        let [now, most] = server.memory().map(|bytes| bytes - empty);
        let each = |bytes: u64| bytes / begun;
        println!(
            "| {begun} | {:.0} | {:.0} | {:.1} | {:.1} | {} | {} | {} | {} | {} |",
            began.elapsed().as_secs_f64(),
            of.0,
            of.1,
            of.2,
            now >> 20,
            most >> 20,
            each(server.figure("used_memory")),
            each(now),
            each(most)
        );
    }
    drop(server);
    let began = Instant::now();
    let server = Running::with_most(&folder, ("100ms", "words:3"), &documents.to_string(), None);
    println!(
        "\nready again after a kill: {:.1} s, {} ms of them to read what there was; {:?} MB and at most",
        began.elapsed().as_secs_f64(),
        server.ready,
        server.memory().map(|bytes| bytes >> 20)
    );
    for (clients, together, count) in [(50, 32, 1_000_000), (50, 1, 200_000)] {
        let (rate, p999, most) = measure_from(&server, begun, (clients, together, count));
        begun += count;
        println!(
            "{clients} clients, {together} together: {rate:.0}/s, p99.9 {p999:.1} ms, longest {most:.1} ms"
        );
    }
    println!("\n| minute | requests/s | p99.9 ms | longest | MB | at most | snapshots |");
    println!("|---|---|---|---|---|---|---|");
    for minute in 1..=minutes {
        let began = Instant::now();
        let (mut requests, mut p999, mut most) = (0, 0.0_f64, 0.0_f64);
        while began.elapsed() < Duration::from_secs(60) {
            let of = measure_from(&server, begun, (50, 32, 1_000_000));
            begun += 1_000_000;
            requests += 1_000_000;
            (p999, most) = (p999.max(of.1), most.max(of.2));
        }
        let rate = requests as f64 / began.elapsed().as_secs_f64();
        let [now, largest] = server.memory().map(|bytes| bytes >> 20);
        let snapshots = server.figure("snapshots_written");
        println!("| {minute} | {rate:.0} | {p999:.1} | {most:.1} | {now} | {largest} | {snapshots} |");
    }
    drop(server);
    fs::remove_dir_all(place).unwrap();
}

/// The rate, the latency of all but a thousandth, and the longest, in milliseconds.
fn measure_from(server: &Running, first: u64, load: (usize, usize, u64)) -> (f64, f64, f64) {
    let of = measure(&Asked::resp(server, "100ms"), load, |number, out| fingerprint(first + number, out));
    (of.rate, of.latencies[2], of.latencies[3])
}
