//! A service under load, beside Redis with the same client on the same machine in the same run: `make bench-serve`.
//!
//! The service is a process of its own, this program by another argument. Clients are threads that send some requests together and wait for all of their replies;
//! a latency is the time from sending these to the last reply. Rates count requests, as redis-benchmark does. The servers of a table are asked in turn, some times each,
//! and of each figure the middle is shown. What is printed is a table in Markdown. `--requests N` says how many requests a row of fingerprints has; rows of texts have a tenth, and those without a pipeline a fifth; with `--alone` there are
//! the last ones only. `--hold N MINUTES` holds so many and goes on for so long: see [`many`]. With TLS both servers have a certificate of an elliptic curve, and clients speak 1.3.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../../src/tests/certificates.rs"]
mod certificates;
mod many;
mod requests;
mod servers;

use certificates::Certificates;
use requests::{
    CHINESE, Channel, ENGLISH, From, answer, document, fingerprint, known, posted, reply, set, text,
};
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use servers::{Running, serve};
use std::fs;
use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.first().map(String::as_str) {
        Some("serve") => serve(&args[1..]),
        Some("--requests") => {
            load(args[1].parse().expect("a number"), args.get(2).is_some_and(|arg| arg == "--alone"))
        }
        Some("--hold") => many::hold(args[1].parse().expect("a number"), args[2].parse().expect("minutes")),
        _ => println!("load: --requests N [--alone] | --hold N MINUTES"),
    }
}

/// Who is asked, by TLS where clients know something, and what reads a reply.
struct Asked<'a> {
    name: String,
    server: &'a Running,
    address: SocketAddr,
    known: Option<Arc<ClientConfig>>,
    reply: fn(&mut From),
    request: fn(u64, &mut Vec<u8>),
}

impl<'a> Asked<'a> {
    fn resp(server: &'a Running, fsync: &str) -> Self {
        let name = format!("FP.CHECKADD, --fsync {fsync}");
        Self { name, server, address: server.address, known: None, reply, request: fingerprint }
    }

    fn http(server: &'a Running, fsync: &str) -> Self {
        let name = format!("check-add over HTTP, --fsync {fsync}");
        Self { name, server, address: server.http, known: None, reply: answer, request: posted }
    }

    fn redis(server: &'a Running, fsync: &str) -> Self {
        let fsync = if fsync == "always" { "always" } else { "everysec" };
        let name = format!("Redis SET, appendfsync {fsync}");
        Self { name, server, address: server.address, known: None, reply, request: set }
    }

    fn by_tls(self, known: &Arc<ClientConfig>) -> Self {
        Self { name: format!("{} by TLS", self.name), known: Some(known.clone()), ..self }
    }
}

/// What was measured.
#[derive(Clone, Copy)]
struct Measured {
    rate: f64,
    /// Milliseconds: half of the latencies, all but a hundredth, all but a thousandth, and all are no longer.
    latencies: [f64; 4],
    /// Microseconds of processor time of the server for a request.
    processor: f64,
}

/// Sends so many requests from a number on, by some clients, some together.
fn measure(
    asked: &Asked<'_>,
    (clients, together, count): (usize, usize, u64),
    request: impl Fn(u64, &mut Vec<u8>) + Sync,
) -> Measured {
    let latencies = Mutex::new(Vec::new());
    let share = count / clients as u64;
    let Asked { server, address, reply, ref known, .. } = *asked;
    let (began, processor) = (Instant::now(), server.processor());
    std::thread::scope(|scope| {
        for client in 0..clients as u64 {
            let (latencies, request) = (&latencies, &request);
            scope.spawn(move || {
                let stream = TcpStream::connect(address).unwrap();
                stream.set_nodelay(true).unwrap();
                let channel: Box<dyn Channel> = match known {
                    None => Box::new(stream),
                    Some(known) => {
                        let connection =
                            ClientConnection::new(known.clone(), "localhost".try_into().unwrap());
                        Box::new(StreamOwned::new(connection.unwrap(), stream))
                    }
                };
                let mut from = BufReader::with_capacity(1 << 16, channel);
                let (mut bytes, mut mine) = (Vec::new(), Vec::new());
                for start in (0..share).step_by(together) {
                    bytes.clear();
                    let end = share.min(start + together as u64);
                    (start..end).for_each(|number| request(client * share + number, &mut bytes));
                    let sent = Instant::now();
                    from.get_mut().write_all(&bytes).unwrap();
                    (start..end).for_each(|_| reply(&mut from));
                    mine.push(sent.elapsed());
                }
                latencies.lock().unwrap().append(&mut mine);
            });
        }
    });
    let took = began.elapsed().as_secs_f64();
    let mut latencies = latencies.into_inner().unwrap();
    latencies.sort_unstable();
    let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    let all = (share * clients as u64) as f64;
    Measured {
        rate: all / took,
        latencies: [0.5, 0.99, 0.999, 1.0].map(at),
        processor: (server.processor() - processor) * 1e6 / all,
    }
}

fn row(name: &str, (clients, together): (usize, usize), of: Measured, beside: &str) {
    let [half, p99, p999, most] = of.latencies;
    println!(
        "| {name} | {clients} | {together} | {:.0} | {beside} | {half:.2} | {p99:.2} | {p999:.2} | {most:.2} | {:.1} |",
        of.rate, of.processor
    );
}

/// How often each is asked, in turn: what else the machine does in a second is then no one's alone.
const TIMES: usize = 9;

/// Measures some in turn, each as often as the others, and prints of each the middle of what was measured, with its rate beside that of the last of them.
fn rows(all: &[Asked<'_>], (clients, together, count): (usize, usize, u64), begun: &mut u64) {
    let share = count / TIMES as u64;
    let mut measured: Vec<Vec<Measured>> = all.iter().map(|_| Vec::new()).collect();
    for _ in 0..TIMES {
        let first = *begun;
        *begun += share;
        for (asked, measured) in all.iter().zip(&mut measured) {
            let request = |number: u64, out: &mut Vec<u8>| (asked.request)(first + number, out);
            measured.push(measure(asked, (clients, together, share), request));
        }
    }
    let beside: Vec<f64> = measured.last().unwrap().iter().map(|last| last.rate).collect();
    for (asked, measured) in all.iter().zip(&measured) {
        let of = |figure: &dyn Fn(&Measured) -> f64| middle(measured.iter().map(figure));
        let figures = Measured {
            rate: of(&|one| one.rate),
            latencies: std::array::from_fn(|place| of(&|one| one.latencies[place])),
            processor: of(&|one| one.processor),
        };
        let ratio = middle(measured.iter().zip(&beside).map(|(one, beside)| one.rate / beside));
        row(&asked.name, (clients, together), figures, &format!("{ratio:.2}"));
    }
}

/// The middle of some numbers.
fn middle(all: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = all.collect();
    all.sort_unstable_by(f64::total_cmp);
    all[all.len() / 2]
}

fn load(requests: u64, alone: bool) {
    let place = std::env::temp_dir().join(format!("twinsplit-bench-serve-{}", std::process::id()));
    let folder = |name: &str| -> String { place.join(name).display().to_string() };
    println!(
        "| what | clients | together | requests/s | of Redis' | p50 ms | p99 | p99.9 | most | server's CPU, us a request |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let made = place.join("tls");
    fs::create_dir_all(&made).unwrap();
    let certificates = Certificates::in_folder(&made);
    certificates.authority("ca").signed("service", "ca", 30);
    let known = known(&certificates.path("ca.pem"));
    for fsync in ["100ms", "always"] {
        let ours =
            |name: &str, made| Running::ours(&folder(&format!("{name}-{fsync}")), fsync, "words:3", made);
        let redis = |name: &str, made| Running::redis(&folder(&format!("{name}-{fsync}")), fsync, made);
        let (resp, resp_tls) = (ours("ours", None), ours("ours-tls", Some(&*made)));
        let (http, http_tls) = (ours("http", None), ours("http-tls", Some(&*made)));
        let (redis_tls, redis) = (redis("redis-tls", Some(&*made)), redis("redis", None));
        let all = [
            Asked::resp(&resp, fsync),
            Asked::resp(&resp_tls, fsync).by_tls(&known),
            Asked::http(&http, fsync),
            Asked::http(&http_tls, fsync).by_tls(&known),
            Asked::redis(&redis_tls, fsync).by_tls(&known),
            Asked::redis(&redis, fsync),
        ];
        let (empty, mut begun) = (resp.memory()[0], 0);
        if !alone {
            rows(&all, (50, 32, requests), &mut begun);
            let held = (resp.memory()[0] - empty) as f64 / begun as f64;
            eprintln!("--fsync {fsync}: {held:.0} bytes a document");
        }
        rows(&all, (50, 1, requests / 5), &mut begun);
        drop(resp);
        let again = ours("ours", None);
        eprintln!("--fsync {fsync}: ready again from the log in {} ms", again.ready);
    }
    for (name, features, of, gap) in [
        ("1 KB Chinese texts, jieba", "jieba", CHINESE, ""),
        ("1 KB English texts, words:3", "words:3", ENGLISH, " "),
        ("the same, --chain doc-split at .65", "sets words:3", ENGLISH, " "),
    ]
    .into_iter()
    .filter(|_| !alone)
    {
        let server = Running::ours(&folder(features), "100ms", features, None);
        let of: Vec<&str> = of.split(' ').collect();
        let texts: Vec<String> = (0..2000).map(|number| text(number, &of, gap)).collect();
        // Each is another one by its first word.
        let request = |number: u64, out: &mut Vec<u8>| {
            let text = format!("{number} {}", texts[number as usize % texts.len()]);
            document(number, &text, out);
        };
        let asked = Asked {
            name: name.to_owned(),
            server: &server,
            address: server.address,
            known: None,
            reply,
            request: fingerprint,
        };
        row(name, (8, 16), measure(&asked, (8, 16, requests / 10), request), "");
    }
    fs::remove_dir_all(place).unwrap();
}
