//! A server for tests, in this process.

use super::client::Client;
use super::http_client::HttpClient;
use crate::decider::{Fsync, WriterOptions};
use crate::disk::LogFolder;
use crate::engine::Engine;
use crate::resp::Limits;
use crate::server::{HttpOptions, Server, ServerOptions, Stopper};
use crate::settings::{Retention, Settings};
use crate::sketch::{Fingerprinting, Sketched, Sketching};
use crate::tls::Tls;
use std::net::SocketAddr;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tempfile::TempDir;
use twinsplit_core::hash::mix;
use twinsplit_core::sketch::simhash::{Bits, Tie};
use twinsplit_core::sketch::{Hash, Idf, Weights};
use twinsplit_core::text::{FeatureKind, FeatureSpec};
use twinsplit_io::error::Result;

/// A server in this process, in a folder of its own.
pub(super) struct Serving {
    pub address: SocketAddr,
    /// Where it listens for HTTP; the same as `address` where it does not.
    pub http: SocketAddr,
    stopper: Stopper,
    thread: Option<JoinHandle<Result<()>>>,
    /// What its clients get by TLS, where they have it.
    pub tls: Option<Tls>,
    pub folder: TempDir,
}

/// What a server has where a test says nothing else.
pub(super) fn options() -> ServerOptions {
    ServerOptions {
        address: "127.0.0.1:0".parse().unwrap(),
        password: None,
        limits: Limits { request: 1 << 20, arguments: 1000 },
        pipeline: 64,
        connections: 50,
        idle: None,
        http: None,
        tls: None,
    }
}

/// The same with HTTP.
pub(super) fn http_options() -> ServerOptions {
    let http = HttpOptions { address: "127.0.0.1:0".parse().unwrap(), page: "<p>a page</p>".into() };
    ServerOptions { http: Some(http), ..options() }
}

pub(super) fn sketching(check: Option<&str>) -> Sketching {
    let kind = FeatureKind::parse("words:1", &|_| panic!("a file")).unwrap();
    Sketching {
        features: FeatureSpec::new(kind),
        least: 3,
        sketched: Sketched::Fingerprints(Fingerprinting {
            weights: Weights::Tf,
            idf: Idf::None,
            hash: Hash::Xxh3,
            bits: Bits::B64,
            tie: Tie::Zero,
            distances: "3,60:8".parse().unwrap(),
            check: check.map(|check| check.parse().unwrap()),
        }),
    }
}

/// What the state of a server is made with.
pub(super) fn settings(sketching: &Sketching) -> Settings {
    Settings {
        comparison: sketching.comparison(),
        retention: Retention::default(),
        memory: 1 << 30,
        namespaces: 4,
    }
}

/// Some requests, cut off and with other bytes in some places.
pub(crate) fn damaged(requests: &[u8], seed: u64) -> Vec<u8> {
    let mut bytes = requests.to_vec();
    for change in 0..1 + seed % 4 {
        let at = mix(seed * 7 + change) as usize % bytes.len();
        bytes[at] = mix(seed + change * 1000) as u8;
    }
    bytes.truncate(mix(seed ^ 0xff) as usize % bytes.len() + 1);
    bytes
}

impl Serving {
    pub fn start(options: ServerOptions, check: Option<&str>, fsync: Fsync) -> Self {
        Self::of(options, sketching(check), fsync)
    }

    pub fn of(options: ServerOptions, sketching: Sketching, fsync: Fsync) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tls = options.tls.clone();
        let server = Self::server(&folder, options, sketching, fsync);
        let (address, stopper) = (server.address(), server.stopper());
        let http = server.http().unwrap_or(address);
        Self { address, http, stopper, thread: Some(thread::spawn(|| server.serve())), tls, folder }
    }

    pub fn over(
        folder: &TempDir,
        options: ServerOptions,
        check: Option<&str>,
        fsync: Fsync,
    ) -> (SocketAddr, Stopper, JoinHandle<Result<()>>) {
        let server = Self::server(folder, options, sketching(check), fsync);
        (server.address(), server.stopper(), thread::spawn(|| server.serve()))
    }

    fn server(folder: &TempDir, options: ServerOptions, sketching: Sketching, fsync: Fsync) -> Server {
        let disk = LogFolder(folder.path().to_owned());
        let (engine, _) = Engine::open(disk, settings(&sketching), Vec::new()).unwrap();
        // So small that there are snapshots all the time.
        let writer = WriterOptions { fsync, snapshot_after: 1 << 16 };
        let about = vec![("weights", "tf".to_owned())];
        Server::start(engine, sketching, options, writer, about).unwrap()
    }

    pub fn client(&self) -> Client {
        Client::to(self.address)
    }

    pub fn http(&self) -> HttpClient {
        HttpClient::to(self.http)
    }

    pub fn stop(&mut self) {
        self.stopper.stop();
        self.thread.take().unwrap().join().unwrap().unwrap();
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if self.thread.is_some() && !thread::panicking() {
            self.stop();
        }
    }
}

pub(super) const FSYNCS: [Fsync; 3] = [Fsync::Always, Fsync::Within(Duration::from_millis(20)), Fsync::Off];
