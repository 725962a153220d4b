//! The client: threads that send some requests together and wait for all of their replies, and the requests that they send.

use crate::servers::Running;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;
use std::time::Instant;
use twinsplit_core::hash::mix;

/// Who is asked, and what reads a reply.
pub struct Asked<'a> {
    pub name: String,
    pub server: &'a Running,
    pub address: SocketAddr,
    pub reply: fn(&mut BufReader<TcpStream>),
    pub request: fn(u64, &mut Vec<u8>),
}

/// What was measured.
#[derive(Clone, Copy)]
pub struct Measured {
    pub rate: f64,
    /// Milliseconds: half of the latencies, all but a hundredth, all but a thousandth, and all are no longer.
    pub latencies: [f64; 4],
    /// Microseconds of processor time of the server for a request.
    pub processor: f64,
}

/// Sends so many requests from a number on, by some clients, some together.
pub fn measure(
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

/// Reads a reply.
pub fn reply(from: &mut BufReader<TcpStream>) {
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
pub fn answer(from: &mut BufReader<TcpStream>) {
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

pub fn words(words: &[&[u8]], out: &mut Vec<u8>) {
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

pub fn set(number: u64, out: &mut Vec<u8>) {
    words(&[b"SET", format!("doc-{number:012}").as_bytes(), format!("{:016x}", mix(number)).as_bytes()], out);
}
