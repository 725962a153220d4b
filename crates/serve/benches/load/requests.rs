//! What is asked, by which connections, and what reads the replies.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::sync::Arc;
use twinsplit_core::hash::mix;

/// A connection.
pub trait Channel: Read + Write {}

impl<T: Read + Write> Channel for T {}

/// What comes of it, and what it is.
pub type From = BufReader<Box<dyn Channel>>;

/// What clients know that trust an authority.
pub fn known(authority: &Path) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(authority).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    Arc::new(builder.with_root_certificates(roots).with_no_client_auth())
}

/// Reads a reply.
pub fn reply(from: &mut From) {
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
pub fn answer(from: &mut From) {
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
pub fn posted(number: u64, out: &mut Vec<u8>) {
    let body = format!("{{\"id\":\"doc-{number:012}\",\"fingerprint\":\"{:016x}\"}}", value(number));
    write!(
        out,
        "POST /v1/bench/check-add HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
}

/// A document with a fingerprint.
pub fn fingerprint(number: u64, out: &mut Vec<u8>) {
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

/// The same for Redis.
pub fn set(number: u64, out: &mut Vec<u8>) {
    words(&[b"SET", format!("doc-{number:012}").as_bytes(), format!("{:016x}", mix(number)).as_bytes()], out);
}

/// About a kilobyte of words, which a document has in its own order.
pub fn text(number: u64, of: &[&str], gap: &str) -> String {
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

/// A document with a text.
pub fn document(number: u64, text: &str, out: &mut Vec<u8>) {
    words(&[b"FP.CHECKADD", b"texts", format!("doc-{number:012}").as_bytes(), b"TEXT", text.as_bytes()], out);
}

/// Words of Chinese texts.
pub const CHINESE: &str = "我们 今天 开始 研究 中国 经济 发展 问题 政府 公司 市场 技术 工作 社会 学生 学校 老师 国家 世界 城市 农村 北京 上海 天气 下雨 新闻 报道 记者 表示 认为 可以 因为 所以 但是 已经 没有 进行 使用 系统 数据 分析 方法 文本 相似 重复 网页 采集 搜索 引擎 的 了 在 是 和 有 这 不 人 大 为 上 个 到 说 们";
/// Words of English texts.
pub const ENGLISH: &str = "the of and to in that is was for it with as his on be at by had not are but from or have an they which one you were all her she there would their we him been has when who will no more if out so up said what its about than into them can only other time new some could these two may first then do any like my now over such our man me even most made after also did many before must through back years where much your way well down should because long each just state those people too";
