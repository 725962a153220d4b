//! A service under load, beside Redis with the same client on the same machine in the same run: `make bench-serve`.
//!
//! The service is a process of its own, this program by another argument. Clients are threads that send some requests together and wait for all of their replies;
//! a latency is the time from sending these to the last reply. Rates count requests, as redis-benchmark does. The servers of a table are asked in turn, some times each,
//! and of each figure the middle is shown. What is printed is a table in Markdown. `--requests N` says how many requests a row of fingerprints has; rows of texts have a tenth, and those without a pipeline a fifth; with `--alone` there are
//! the last ones only. `--hold N MINUTES` holds so many and goes on for so long: see [`many`].
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod client;
mod many;
mod servers;

use client::{Asked, Measured, answer, fingerprint, measure, posted, reply, set, words};
use servers::Running;
use std::fs;
use std::path::PathBuf;
use twinsplit_core::hash::mix;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.first().map(String::as_str) {
        Some("serve") => servers::serve(&args[1..]),
        Some("--hold") => many::hold(args[1].parse().expect("a number"), args[2].parse().expect("minutes")),
        Some("--requests") => {
            load(args[1].parse().expect("a number"), args.get(2).is_some_and(|arg| arg == "--alone"))
        }
        _ => println!("load: --requests N [--alone] | --hold N MINUTES"),
    }
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

fn row(name: &str, (clients, together): (usize, usize), of: Measured, beside: &str) {
    let [half, p99, p999, most] = of.latencies;
    println!(
        "| {name} | {clients} | {together} | {:.0} | {beside} | {half:.2} | {p99:.2} | {p999:.2} | {most:.2} | {:.1} |",
        of.rate, of.processor
    );
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
        let ours = Running::ours(&folder(&format!("ours-{fsync}")), fsync, "words:3", None);
        let http = Running::ours(&folder(&format!("http-{fsync}")), fsync, "words:3", None);
        let redis = Running::redis(&folder(&format!("redis-{fsync}")), fsync);
        let of_redis = if fsync == "always" { "always" } else { "everysec" };
        let asked =
            |name: String, server, address, reply, request| Asked { name, server, address, reply, request };
        let all = [
            asked(format!("FP.CHECKADD, --fsync {fsync}"), &ours, ours.address, reply, fingerprint),
            asked(format!("check-add over HTTP, --fsync {fsync}"), &http, http.http, answer, posted),
            asked(format!("Redis SET, appendfsync {of_redis}"), &redis, redis.address, reply, set),
        ];
        let (empty, mut begun) = (ours.memory()[0], 0);
        if !alone {
            rows(&all, (50, 32, requests), &mut begun);
            let held = (ours.memory()[0] - empty) as f64 / begun as f64;
            eprintln!("--fsync {fsync}: {held:.0} bytes a document");
        }
        rows(&all, (50, 1, requests / 5), &mut begun);
        drop(ours);
        let again = Running::ours(&folder(&format!("ours-{fsync}")), fsync, "words:3", None);
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
            reply,
            request: fingerprint,
        };
        row(name, (8, 16), measure(&asked, (8, 16, requests / 10), request), "");
    }
    let place: PathBuf = place;
    fs::remove_dir_all(place).unwrap();
}
