//! Those who are asked: the service, which is this program by another argument, and Redis.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use twinsplit_core::join::memory;
use twinsplit_core::similarity::Measure;
use twinsplit_core::sketch::simhash::{Bits, Tie};
use twinsplit_core::sketch::{Hash, Idf, Weights};
use twinsplit_core::text::{FeatureKind, FeatureSpec};
use twinsplit_serve::disk::LogFolder;
use twinsplit_serve::resp::Limits;
use twinsplit_serve::tls::{Tls, TlsOptions};
use twinsplit_serve::{
    Engine, Fingerprinting, Fsync, HttpOptions, Retention, Server, ServerOptions, Settings, Sketched,
    Sketching, WriterOptions,
};

/// How the name of features begins whose sets are compared, and not their fingerprints.
const SETS: &str = "sets ";

/// Serves until it is killed; says its port. `most` is how many documents there may be, if that is a number; where a folder of certificates is given, it
/// serves by TLS.
pub fn serve(args: &[String]) {
    let [folder, fsync, compared, most, made @ ..] = args else { panic!("{args:?}") };
    let tls = made.first().map(|made| {
        let path = |name: &str| Path::new(made).join(name);
        let (certificate, key) = (path("service.pem"), path("service.key"));
        Tls::read(TlsOptions { certificate, key, client_ca: None, patience: TlsOptions::PATIENCE }).unwrap()
    });
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
        retention: Retention { most: most.parse().ok(), ..Retention::default() },
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
        tls,
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
pub struct Running {
    child: Child,
    pub address: SocketAddr,
    /// Where it listens for HTTP; Redis does not.
    pub http: SocketAddr,
    /// Milliseconds that it took to read its folder.
    pub ready: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    /// Ours over a folder, with all documents that come.
    pub fn ours(folder: &str, fsync: &str, features: &str, made: Option<&Path>) -> Self {
        Self::with_most(folder, (fsync, features), "all", made)
    }

    /// The same with so many documents.
    pub fn with_most(folder: &str, (fsync, features): (&str, &str), most: &str, made: Option<&Path>) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["serve", folder, fsync, features, most]).args(made).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let [port, http, ready] = line.trim().split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let address = |port: &str| format!("127.0.0.1:{port}").parse().unwrap();
        Self { child, address: address(port), http: address(http), ready: ready.to_owned() }
    }

    pub fn redis(folder: &str, fsync: &str, made: Option<&Path>) -> Self {
        fs::create_dir_all(folder).unwrap();
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let fsync = if fsync == "always" { "always" } else { "everysec" };
        let port = free.port().to_string();
        let mut command = Command::new("redis-server");
        if let Some(made) = made {
            let path = |name: &str| made.join(name).display().to_string();
            command.args(["--tls-port", &port, "--port", "0", "--tls-auth-clients", "no"]);
            command.args(["--tls-cert-file", &path("service.pem"), "--tls-key-file", &path("service.key")]);
            command.args(["--tls-ca-cert-file", &path("ca.pem")]);
        } else {
            command.args(["--port", &port]);
        }
        command.args(["--dir", folder, "--appendonly", "yes", "--appendfsync", fsync, "--save", ""]);
        let child =
            command.stdout(Stdio::null()).spawn().expect("redis-server: apt-get install redis-server");
        while TcpStream::connect(free).is_err() {
            std::thread::yield_now();
        }
        Self { child, address: free, http: free, ready: String::new() }
    }

    /// Seconds of processor time that it has taken.
    pub fn processor(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        let ticks: u64 = fields[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum();
        ticks as f64 / 100.0
    }

    /// Bytes that it holds now, and the most that it has held.
    pub fn memory(&self) -> [u64; 2] {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        ["VmRSS:", "VmHWM:"].map(|name| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
        })
    }

    /// A figure of ours, by its name in `INFO`.
    pub fn figure(&self, name: &str) -> u64 {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(b"INFO\r\n").unwrap();
        let mut from = BufReader::new(stream);
        let mut line = String::new();
        from.read_line(&mut line).unwrap();
        let mut all = vec![0; line[1..].trim().parse().unwrap()];
        from.read_exact(&mut all).unwrap();
        let all = String::from_utf8(all).unwrap();
        all.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
            .unwrap()
            .trim()
            .parse()
            .unwrap()
    }
}
