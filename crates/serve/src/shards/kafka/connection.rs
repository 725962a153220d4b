//! A connection to a broker: one request after the other, each with its answer.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use kafka_protocol::messages::{
    ApiKey, FetchRequest, FetchResponse, ListOffsetsRequest, ListOffsetsResponse, MetadataRequest,
    MetadataResponse, ProduceRequest, ProduceResponse, RequestHeader, ResponseHeader,
};
use kafka_protocol::protocol::{Decodable, Encodable, HeaderVersion, StrBytes};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// How long a broker may take to let anyone in.
const CONNECTS: Duration = Duration::from_secs(3);

/// Bytes of the longest answer: more is none of Kafka.
const MOST: usize = 128 << 20;

/// A request that is made here. The crate has such a trait for those who compile both sides of the protocol, which takes twice as long.
pub(super) trait Request: Encodable + HeaderVersion {
    const KEY: ApiKey;
    type Response: Decodable + HeaderVersion;
}

macro_rules! requests {
    ($($key:ident $request:ident $response:ident;)+) => {
        $(impl Request for $request {
            const KEY: ApiKey = ApiKey::$key;
            type Response = $response;
        })+
    };
}

requests! {
    Metadata MetadataRequest MetadataResponse;
    ListOffsets ListOffsetsRequest ListOffsetsResponse;
    Produce ProduceRequest ProduceResponse;
    Fetch FetchRequest FetchResponse;
}

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    correlation: i32,
}

fn wrong(problem: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::InvalidData, format!("this is no answer of Kafka ({problem})"))
}

impl Connection {
    /// Connects to `host:port`.
    ///
    /// # Errors
    /// Nobody is there.
    pub fn to(address: &str) -> Result<Self> {
        let mut last = Error::new(ErrorKind::NotFound, "the name has no address");
        for address in address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECTS) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    return Ok(Self { stream, correlation: 0 });
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Sends a request of a version.
    ///
    /// # Errors
    /// Those of the connection.
    pub fn send<R: Request>(&mut self, request: &R, version: i16) -> Result<()> {
        self.correlation = self.correlation.wrapping_add(1);
        let header = RequestHeader::default()
            .with_request_api_key(R::KEY as i16)
            .with_request_api_version(version)
            .with_correlation_id(self.correlation)
            .with_client_id(Some(StrBytes::from_static_str("twinsplit")));
        let mut bytes = BytesMut::new();
        bytes.put_i32(0);
        header.encode(&mut bytes, R::header_version(version)).map_err(wrong)?;
        request.encode(&mut bytes, version).map_err(wrong)?;
        let length = i32::try_from(bytes.len() - 4).map_err(wrong)?;
        bytes[..4].copy_from_slice(&length.to_be_bytes());
        self.stream.write_all(&bytes)
    }

    /// Receives the answer to the request that was sent, which has to begin within a time.
    ///
    /// # Errors
    /// Those of the connection; it is no answer.
    pub fn receive<R: Request>(&mut self, version: i16, within: Duration) -> Result<R::Response> {
        self.stream.set_read_timeout(Some(within.max(Duration::from_millis(1))))?;
        let late = |error: Error| match error.kind() {
            ErrorKind::WouldBlock => Error::new(ErrorKind::TimedOut, "it does not answer"),
            ErrorKind::UnexpectedEof => Error::new(ErrorKind::UnexpectedEof, "it has closed the connection"),
            _ => error,
        };
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).map_err(late)?;
        let length = usize::try_from(i32::from_be_bytes(length)).ok().filter(|length| *length <= MOST);
        let mut bytes = vec![0; length.ok_or_else(|| wrong("its length"))?];
        self.stream.read_exact(&mut bytes).map_err(late)?;
        let mut bytes = Bytes::from(bytes);
        let header =
            ResponseHeader::decode(&mut bytes, R::Response::header_version(version)).map_err(wrong)?;
        if header.correlation_id != self.correlation {
            return Err(wrong("it answers another request"));
        }
        let response = R::Response::decode(&mut bytes, version).map_err(wrong)?;
        if bytes.has_remaining() {
            return Err(wrong("there is more behind it"));
        }
        Ok(response)
    }
}
