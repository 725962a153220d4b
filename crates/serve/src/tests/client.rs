//! A client of the protocol of Redis, for tests: it sends requests many at a time, and reads what comes.

use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{SocketAddr, TcpStream};

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A short text.
    Simple(String),
    /// An error.
    Error(String),
    /// A number.
    Number(i64),
    /// A byte string.
    Bulk(String),
    /// Nothing.
    Null,
    /// An array.
    Array(Vec<Value>),
    /// A map of RESP3: names and values in turn.
    Map(Vec<Value>),
}

/// A connection.
pub struct Client {
    /// The socket below.
    pub socket: TcpStream,
    to: Box<dyn Write + Send>,
    /// What comes.
    pub from: BufReader<Box<dyn Read + Send>>,
}

/// The reply that some bytes are.
pub fn reply(from: &mut impl BufRead) -> Result<Value> {
    let mut line = String::new();
    if from.read_line(&mut line)? == 0 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    let (mark, text) = line.trim_end().split_at(1);
    let number = || text.parse::<i64>().unwrap_or_else(|_| panic!("{line:?}"));
    Ok(match mark {
        "+" => Value::Simple(text.to_owned()),
        "-" => Value::Error(text.to_owned()),
        ":" => Value::Number(number()),
        "_" => Value::Null,
        "$" if text == "-1" => Value::Null,
        "$" => {
            let mut bytes = vec![0; number() as usize + 2];
            from.read_exact(&mut bytes)?;
            bytes.truncate(bytes.len() - 2);
            Value::Bulk(String::from_utf8(bytes).unwrap())
        }
        "*" => Value::Array((0..number()).map(|_| reply(from)).collect::<Result<_>>()?),
        "%" => Value::Map((0..2 * number()).map(|_| reply(from)).collect::<Result<_>>()?),
        _ => panic!("{line:?}"),
    })
}

impl Client {
    /// Connects.
    pub fn to(address: SocketAddr) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_nodelay(true).unwrap();
        let twin = || socket.try_clone().unwrap();
        Self::over(twin(), twin(), twin())
    }

    /// One that is connected, by what lies between it and a socket.
    pub fn over(
        socket: TcpStream,
        to: impl Write + Send + 'static,
        from: impl Read + Send + 'static,
    ) -> Self {
        Self { socket, to: Box::new(to), from: BufReader::new(Box::new(from)) }
    }

    /// Sends bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) -> Result<()> {
        self.to.write_all(bytes)?;
        self.to.flush()
    }

    /// Sends requests together.
    pub fn send(&mut self, requests: &[Vec<String>]) -> Result<()> {
        let mut bytes = Vec::new();
        for words in requests {
            bytes.extend(format!("*{}\r\n", words.len()).bytes());
            for word in words {
                bytes.extend(format!("${}\r\n{word}\r\n", word.len()).bytes());
            }
        }
        self.raw(&bytes)
    }

    /// Says that nothing more comes.
    pub fn no_more(&mut self) {
        // The server may have ended the connection.
        let _ = self.socket.shutdown(std::net::Shutdown::Write);
    }

    /// The next reply.
    pub fn reply(&mut self) -> Result<Value> {
        reply(&mut self.from)
    }

    /// Sends requests together, and reads their replies.
    pub fn ask_all(&mut self, requests: &[Vec<String>]) -> Result<Vec<Value>> {
        self.send(requests)?;
        requests.iter().map(|_| self.reply()).collect()
    }

    /// Sends the words of a line, with blanks between them, and reads the reply.
    pub fn ask(&mut self, line: &str) -> Value {
        self.ask_all(&[words(line)]).unwrap().remove(0)
    }
}

/// The words of a line.
pub fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// That something is new.
pub fn new() -> Value {
    Value::Array(vec![Value::Bulk("NEW".to_owned())])
}

/// That something is a duplicate.
pub fn duplicate(id: &str, distance: i64, measure: &str) -> Value {
    let bulk = |text: &str| Value::Bulk(text.to_owned());
    Value::Array(vec![bulk("DUPLICATE"), bulk(id), Value::Number(distance), bulk(measure)])
}
