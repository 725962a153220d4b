//! A client of HTTP, for tests: it sends bytes or requests, and reads answers one after the other.

use super::client::Client;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, Read, Result};
use std::net::SocketAddr;

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The lines of the head, names in lower case.
    pub head: BTreeMap<String, String>,
    /// The body.
    pub body: String,
}

impl Answer {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A connection, which is that of any client.
pub struct HttpClient(Client);

impl HttpClient {
    /// Connects.
    pub fn to(address: SocketAddr) -> Self {
        Self(Client::to(address))
    }

    /// One over a connection that is there.
    pub fn over(client: Client) -> Self {
        Self(client)
    }

    /// Sends bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.raw(bytes)
    }

    /// Says that nothing more comes.
    pub fn no_more(&mut self) {
        self.0.no_more();
    }

    /// The next answer; that to HEAD has no body.
    pub fn answer(&mut self, has_body: bool) -> Result<Answer> {
        let mut line = || {
            let mut line = String::new();
            match self.0.from.read_line(&mut line)? {
                0 => Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof)),
                _ => Ok(line.trim_end().to_owned()),
            }
        };
        let first = line()?;
        let status = first.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
        let status = status.unwrap_or_else(|| panic!("{first:?}"));
        let mut head = BTreeMap::new();
        loop {
            let line = line()?;
            let Some((name, value)) = line.split_once(": ") else { break };
            head.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        let length = head.get("content-length").filter(|_| has_body);
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        self.0.from.read_exact(&mut body)?;
        Ok(Answer { status, head, body: String::from_utf8(body).unwrap() })
    }

    /// Sends a request, and reads its answer.
    pub fn ask(&mut self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        self.raw(&request(method, path, body)).unwrap();
        self.answer(method != "HEAD").unwrap()
    }

    /// Sends JSON, and reads the answer.
    pub fn post(&mut self, path: &str, body: Value) -> Answer {
        self.ask("POST", path, Some(&body))
    }

    /// Asks for something.
    pub fn get(&mut self, path: &str) -> Answer {
        self.ask("GET", path, None)
    }
}

/// The bytes of a request.
pub fn request(method: &str, path: &str, body: Option<&Value>) -> Vec<u8> {
    let body = body.map(Value::to_string);
    let length = body.as_ref().map_or(String::new(), |body| {
        format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len())
    });
    format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{length}\r\n{}", body.unwrap_or_default())
        .into_bytes()
}
