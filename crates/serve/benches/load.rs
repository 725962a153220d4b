//! A service under load, beside Redis with the same client on the same machine in the same run: `make bench-serve`.
//!
//! The service is a process of its own, this program by another argument. Clients are threads that send some requests together and wait for all of their replies;
//! a latency is the time from sending these to the last reply. Rates count requests, as redis-benchmark does. The servers of a table are asked in turn, some times each,
//! and of each figure the middle is shown. What is printed is a table in Markdown. `--requests N` says how many requests a row of fingerprints has; rows of texts have a tenth, and those without a pipeline a fifth; with `--alone` there are
//! the last ones only.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use twinsplit_core::hash::mix;
use twinsplit_core::join::memory;
use twinsplit_core::similarity::Measure;
use twinsplit_core::sketch::simhash::{Bits, Tie};
use twinsplit_core::sketch::{Hash, Idf, Weights};
use twinsplit_core::text::{FeatureKind, FeatureSpec};
use twinsplit_serve::disk::LogFolder;
use twinsplit_serve::resp::Limits;
use twinsplit_serve::{
    Engine, Fingerprinting, Fsync, HttpOptions, Retention, Server, ServerOptions, Settings, Sketched,
    Sketching, WriterOptions,
};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.first().map(String::as_str) {
        Some("serve") => serve(&args[1..]),
        Some("--requests") => {
            load(args[1].parse().expect("a number"), args.get(2).is_some_and(|arg| arg == "--alone"))
        }
        _ => println!("load: --requests N [--alone]"),
    }
}

/// How the name of features begins whose sets are compared, and not their fingerprints.
const SETS: &str = "sets ";

/// Serves until it is killed; says its port.
fn serve(args: &[String]) {
    let [folder, fsync, compared] = args else { panic!("{args:?}") };
    let (features, sketched) = match compared.strip_prefix(SETS) {
        Some(features) => (features, Sketched::Sets(Measure::Jaccard.reaching("0.65").unwrap())),
        None => {
            let is_jieba = compared == "jieba";
            let fingerprinting = Fingerprinting {
                weights: if is_jieba { Weights::TfIdf } else { Weights::Tf },
                idf: if is_jieba { Idf::Jieba } else { Idf::None },
                hash: Hash::Xxh3,
                bits: Bits::B64,
                tie: Tie::Zero,
                distances: "3".parse().unwrap(),
                check: None,
            };
            (&**compared, Sketched::Fingerprints(fingerprinting))
        }
    };
    let kind = FeatureKind::parse(features, &|_| panic!("a file")).unwrap();
    let sketching = Sketching { features: FeatureSpec::new(kind), least: 1, sketched };
    let settings = Settings {
        comparison: sketching.comparison(),
        retention: Retention::default(),
        memory: 16 << 30,
        namespaces: 10,
    };
    fs::create_dir_all(folder).unwrap();
    memory::give_back_large();
    let began = Instant::now();
    let (engine, _) = Engine::open(LogFolder(folder.into()), settings, Vec::new()).unwrap();
    let ready = began.elapsed();
    let options = ServerOptions {
        address: "127.0.0.1:0".parse().unwrap(),
        password: None,
        limits: Limits { request: 16 << 20, arguments: 1 << 16 },
        pipeline: 1000,
        connections: 1000,
        idle: None,
        http: Some(HttpOptions { address: "127.0.0.1:0".parse().unwrap(), page: "".into() }),
    };
    let fsync = match fsync.as_str() {
        "always" => Fsync::Always,
        _ => Fsync::Within(Duration::from_millis(100)),
    };
    let writer = WriterOptions { fsync, snapshot_after: 1 << 30 };
    let server = Server::start(engine, sketching, options, writer, Vec::new()).unwrap();
    let http = server.http().unwrap().port();
    println!("{} {http} {}", server.address().port(), ready.as_millis());
    server.serve().unwrap();
}

/// A server that is killed at the end.
struct Running {
    child: Child,
    address: SocketAddr,
    /// Where it listens for HTTP; Redis does not.
    http: SocketAddr,
    ready: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    fn ours(folder: &str, fsync: &str, features: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["serve", folder, fsync, features]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let [port, http, ready] = line.trim().split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let address = |port: &str| format!("127.0.0.1:{port}").parse().unwrap();
        Self { child, address: address(port), http: address(http), ready: ready.to_owned() }
    }

    fn redis(folder: &str, fsync: &str) -> Self {
        fs::create_dir_all(folder).unwrap();
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let fsync = if fsync == "always" { "always" } else { "everysec" };
        let port = free.port().to_string();
        let mut command = Command::new("redis-server");
        command.args([
            "--port",
            &port,
            "--dir",
            folder,
            "--appendonly",
            "yes",
            "--appendfsync",
            fsync,
            "--save",
            "",
        ]);
        let child =
            command.stdout(Stdio::null()).spawn().expect("redis-server: apt-get install redis-server");
        while TcpStream::connect(free).is_err() {
            std::thread::yield_now();
        }
        Self { child, address: free, http: free, ready: String::new() }
    }

    /// Seconds of processor time that it has taken.
    fn processor(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        let ticks: u64 = fields[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum();
        ticks as f64 / 100.0
    }

    /// Bytes that it holds.
    fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
    }
}

/// Who is asked, and what reads a reply.
struct Asked<'a> {
    name: String,
    server: &'a Running,
    address: SocketAddr,
    reply: fn(&mut BufReader<TcpStream>),
    request: fn(u64, &mut Vec<u8>),
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
    let Asked { server, address, reply, .. } = *asked;
    let (began, processor) = (Instant::now(), server.processor());
    std::thread::scope(|scope| {
        for client in 0..clients as u64 {
            let (latencies, request) = (&latencies, &request);
            scope.spawn(move || {
                let mut stream = TcpStream::connect(address).unwrap();
                stream.set_nodelay(true).unwrap();
                let mut from = BufReader::with_capacity(1 << 16, stream.try_clone().unwrap());
                let (mut bytes, mut mine) = (Vec::new(), Vec::new());
                for start in (0..share).step_by(together) {
                    bytes.clear();
                    let end = share.min(start + together as u64);
                    (start..end).for_each(|number| request(client * share + number, &mut bytes));
                    let sent = Instant::now();
                    stream.write_all(&bytes).unwrap();
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

/// Reads a reply.
fn reply(from: &mut BufReader<TcpStream>) {
    let mut line = Vec::new();
    from.read_until(b'\n', &mut line).unwrap();
    let number = || std::str::from_utf8(&line[1..]).unwrap().trim().parse::<usize>().unwrap();
    match line[0] {
        b'*' => (0..number()).for_each(|_| reply(from)),
        // Nothing.
        b'$' if line.starts_with(b"$-1") => {}
        b'$' => {
            let mut bytes = vec![0; number() + 2];
            from.read_exact(&mut bytes).unwrap();
        }
        b'+' | b':' => {}
        _ => panic!("{}", String::from_utf8_lossy(&line)),
    }
}

/// Reads an answer of HTTP.
fn answer(from: &mut BufReader<TcpStream>) {
    let (mut line, mut length) = (String::new(), 0);
    while line != "\r\n" {
        line.clear();
        from.read_line(&mut line).unwrap();
        if let Some(number) = line.strip_prefix("Content-Length: ") {
            length = number.trim().parse().unwrap();
        }
        assert!(!line.starts_with("HTTP/1.1 ") || line.starts_with("HTTP/1.1 200 "), "{line}");
    }
    from.read_exact(&mut vec![0; length]).unwrap();
}

fn words(words: &[&[u8]], out: &mut Vec<u8>) {
    write!(out, "*{}\r\n", words.len()).unwrap();
    for word in words {
        write!(out, "${}\r\n", word.len()).unwrap();
        out.extend_from_slice(word);
        out.extend_from_slice(b"\r\n");
    }
}

/// A random fingerprint, of ten one near another.
fn value(number: u64) -> u64 {
    let near = if number % 10 == 9 { number - 1 } else { number };
    mix(near) ^ u64::from(near != number)
}

/// A document with the same over HTTP.
fn posted(number: u64, out: &mut Vec<u8>) {
    let body = format!("{{\"id\":\"doc-{number:012}\",\"fingerprint\":\"{:016x}\"}}", value(number));
    write!(
        out,
        "POST /v1/bench/check-add HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
}

/// A document with a fingerprint.
fn fingerprint(number: u64, out: &mut Vec<u8>) {
    let value = value(number);
    words(
        &[
            b"FP.CHECKADD",
            b"bench",
            format!("doc-{number:012}").as_bytes(),
            b"FP",
            format!("{value:016x}").as_bytes(),
        ],
        out,
    );
}

fn set(number: u64, out: &mut Vec<u8>) {
    words(&[b"SET", format!("doc-{number:012}").as_bytes(), format!("{:016x}", mix(number)).as_bytes()], out);
}

/// About a kilobyte of words, which a document has in its own order.
fn text(number: u64, of: &[&str], gap: &str) -> String {
    let mut text = String::new();
    for place in 0.. {
        if text.len() >= 1000 {
            break;
        }
        text.push_str(of[mix(number << 16 | place) as usize % of.len()]);
        text.push_str(if place % 12 == 11 { "。" } else { gap });
    }
    text
}

fn document(number: u64, text: &str, out: &mut Vec<u8>) {
    words(&[b"FP.CHECKADD", b"texts", format!("doc-{number:012}").as_bytes(), b"TEXT", text.as_bytes()], out);
}

const CHINESE: &str = "我们 今天 开始 研究 中国 经济 发展 问题 政府 公司 市场 技术 工作 社会 学生 学校 老师 国家 世界 城市 农村 北京 上海 天气 下雨 新闻 报道 记者 表示 认为 可以 因为 所以 但是 已经 没有 进行 使用 系统 数据 分析 方法 文本 相似 重复 网页 采集 搜索 引擎 的 了 在 是 和 有 这 不 人 大 为 上 个 到 说 们";
const ENGLISH: &str = "the of and to in that is was for it with as his on be at by had not are but from or have an they which one you were all her she there would their we him been has when who will no more if out so up said what its about than into them can only other time new some could these two may first then do any like my now over such our man me even most made after also did many before must through back years where much your way well down should because long each just state those people too";

fn load(requests: u64, alone: bool) {
    let place = std::env::temp_dir().join(format!("twinsplit-bench-serve-{}", std::process::id()));
    let folder = |name: &str| -> String { place.join(name).display().to_string() };
    println!(
        "| what | clients | together | requests/s | of Redis' | p50 ms | p99 | p99.9 | most | server's CPU, us a request |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for fsync in ["100ms", "always"] {
        let ours = Running::ours(&folder(&format!("ours-{fsync}")), fsync, "words:3");
        let http = Running::ours(&folder(&format!("http-{fsync}")), fsync, "words:3");
        let redis = Running::redis(&folder(&format!("redis-{fsync}")), fsync);
        let of_redis = if fsync == "always" { "always" } else { "everysec" };
        let asked =
            |name: String, server, address, reply, request| Asked { name, server, address, reply, request };
        let all = [
            asked(format!("FP.CHECKADD, --fsync {fsync}"), &ours, ours.address, reply, fingerprint),
            asked(format!("check-add over HTTP, --fsync {fsync}"), &http, http.http, answer, posted),
            asked(format!("Redis SET, appendfsync {of_redis}"), &redis, redis.address, reply, set),
        ];
        let (empty, mut begun) = (ours.memory(), 0);
        if !alone {
            rows(&all, (50, 32, requests), &mut begun);
            let held = (ours.memory() - empty) as f64 / begun as f64;
            eprintln!("--fsync {fsync}: {held:.0} bytes a document");
        }
        rows(&all, (50, 1, requests / 5), &mut begun);
        drop(ours);
        let again = Running::ours(&folder(&format!("ours-{fsync}")), fsync, "words:3");
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
        let server = Running::ours(&folder(features), "100ms", features);
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
            reply,
            request: fingerprint,
        };
        row(name, (8, 16), measure(&asked, (8, 16, requests / 10), request), "");
    }
    let place: PathBuf = place;
    fs::remove_dir_all(place).unwrap();
}
