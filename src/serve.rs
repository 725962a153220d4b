//! `twinsplit serve`: a service that compares documents as they come.

mod compared;
mod descriptors;
mod page;
mod ready;
mod secrets;
mod shards;
mod times;

use self::compared::Chain;
use self::times::{FsyncWhen, Time, some, some_time};
use crate::args;
use clap::{ArgMatches, Args, Command};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use twinsplit_core::join::memory;
use twinsplit_core::visible;
use twinsplit_io::Megabytes;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::terminal::{self, plural};
use twinsplit_serve::disk::LogFolder;
use twinsplit_serve::resp::Limits;
use twinsplit_serve::tls::TlsOptions;
use twinsplit_serve::{
    Engine, HttpOptions, Recovered, Retention, Server, ServerOptions, Settings, WriterOptions,
};

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Opts {
    /// Where documents, their verdicts and the log are kept; a folder that is not there is made
    #[arg(value_name = "FOLDER", required_unless_present = "log")]
    folder: Option<PathBuf>,
    /// The address and port to listen at; port 0 for one that is free. Any other than one of this machine alone needs a password
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:6380")]
    listen: SocketAddr,
    /// Another address and port, to listen at for HTTP: JSON, /metrics for Prometheus, and a page for people; without it there is none
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,
    /// Asks the service that has this --http whether it is ready, and ends: 0 where it is; by TLS where --tls-cert is given
    #[arg(long, requires = "http")]
    is_ready: bool,
    /// A file whose first line is the password of clients (AUTH; over HTTP as Bearer or Basic)
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Encrypts both: a file in PEM with the service's certificate, and behind it those that lead to one that clients trust. SIGUSR1 has all files of TLS read again
    #[arg(long, env = "TWINSPLIT_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The key of that certificate, in PEM
    #[arg(long, env = "TWINSPLIT_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Certificates of authorities, in PEM: each client has to show a certificate of one of them
    #[arg(long, env = "TWINSPLIT_TLS_CLIENT_CA", value_name = "FILE", requires = "tls_cert")]
    tls_client_ca: Option<PathBuf>,
    /// When an answer is sent: always, when what it rests on is on the disk; after a time such as 100ms, within which it will be; off,
    /// when the system has it
    #[arg(long, value_name = "WHEN", default_value = "always")]
    fsync: FsyncWhen,
    /// How long documents are kept, such as 48h (ms, s, m, h, d); for ever by default
    #[arg(long, value_name = "TIME", value_parser = some_time)]
    retain: Option<Time>,
    /// From when that counts [default: insertion]
    #[arg(long, value_parser = args::choice::<From>(), requires = "retain", value_name = "WHEN")]
    retain_from: Option<From>,
    /// The most documents of a namespace: before there are more, the oldest is forgotten
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max: Option<u64>,
    /// Megabytes that documents may take; what is new beyond that is refused
    #[arg(long, default_value_t = Megabytes::new(4096), value_name = "MB")]
    memory: Megabytes,
    /// The most namespaces
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = some)]
    namespaces: usize,
    /// Megabytes of the log after which a snapshot is written, beside the work
    #[arg(long, default_value_t = Megabytes::new(1024), value_name = "MB")]
    snapshot_after: Megabytes,
    /// Megabytes of the longest request
    #[arg(long, default_value_t = Megabytes::new(16), value_name = "MB")]
    max_request: Megabytes,
    /// Requests of one client that are answered together
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = some)]
    pipeline: usize,
    /// Clients at one time
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = some)]
    connections: usize,
    /// How long a client may say nothing before it is sent away; 0s for ever
    #[arg(long, default_value = "5m", value_name = "TIME")]
    idle: Time,
    #[command(flatten)]
    shards: shards::Opts,
    #[command(flatten)]
    compared: compared::Opts,
}

twinsplit_core::choice! {
    /// From when the time counts for which a document is kept.
    enum From {
        /// From when it came
        Insertion = "insertion",
        /// From when it was last found
        LastSeen = "last-seen",
    }
}

impl Opts {
    /// What TLS is made of, where there is to be any.
    fn tls(&self) -> Option<TlsOptions> {
        let (certificate, key) = self.tls_cert.clone().zip(self.tls_key.clone())?;
        let client_ca = self.tls_client_ca.clone();
        Some(TlsOptions { certificate, key, client_ca, patience: TlsOptions::PATIENCE })
    }
}

/// The command line.
pub fn command() -> Command {
    Opts::augment_args(Command::new("serve"))
        .about("Says of each document that comes whether it is new")
        .long_about(None)
}

/// Runs the command.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let opts = args::read::<Opts>(matches)?;
    if let Some(address) = opts.http.filter(|_| opts.is_ready) {
        return ready::ask(address, opts.tls().as_ref());
    }
    opts.shards.refuse_others(matches, opts.folder.as_deref(), opts.compared.chain)?;
    let sketching = opts.compared.sketching(matches)?;
    let made_with = opts.compared.made_with()?;
    let retention = Retention {
        keep: opts.retain.map(|time| time.0),
        from_last_seen: opts.retain_from == Some(From::LastSeen),
        most: opts.max,
    };
    let settings = Settings {
        comparison: sketching.comparison(),
        retention,
        memory: opts.memory.bytes() as u64,
        namespaces: opts.namespaces,
    };
    let server = ServerOptions {
        address: opts.listen,
        password: opts.password_file.as_deref().map(secrets::password).transpose()?,
        limits: Limits { request: opts.max_request.bytes(), arguments: 1 << 16 },
        pipeline: opts.pipeline,
        connections: opts.connections,
        idle: Some(opts.idle.0).filter(|time| *time > 0).map(Duration::from_millis),
        http: opts.http.map(|address| HttpOptions { address, page: page::page().into() }),
        tls: opts.tls().map(secrets::tls).transpose()?,
    };
    server.must_be_safe()?;
    memory::give_back_large();
    descriptors::allow(opts.connections);
    // Before anything is read, so that a signal is never lost.
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM, SIGUSR1])
        .map_err(Error::io("wait for signals of", "the service"))?;
    let (about, tls) = (made_with.clone(), server.tls.clone());
    let (scheme, by_tls) = if tls.is_some() { ("https", "--tls ") } else { ("http", "") };
    // What asks whether it is ready has an answer while the folder is read.
    let listening = Server::listen(sketching, server, about)?;
    if let Some(address) = listening.http() {
        terminal::line(format_args!("HTTP at {address}; curl {scheme}://{address}/ready"));
    }
    let snapshot_after = opts.snapshot_after.bytes() as u64;
    let server = match (&opts.shards.log, &opts.folder) {
        (Some(place), folder) => {
            opts.shards.start(place, folder.as_ref(), (listening, settings, made_with), snapshot_after)?
        }
        (None, Some(folder)) => {
            fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
            let (engine, recovered) = Engine::open(LogFolder(folder.clone()), settings, made_with)?;
            report(folder, &recovered, engine.state().namespaces().map(|(_, held)| held.held().0).sum());
            listening.start(engine, WriterOptions { fsync: opts.fsync.0, snapshot_after })?
        }
        (None, None) => return Err(Error::Usage("serve: a folder was expected".to_owned())),
    };
    terminal::line(format_args!(
        "listening at {}; redis-cli {by_tls}-p {} ping",
        server.address(),
        server.address().port()
    ));
    ready::tell("READY=1");
    let stopper = server.stopper();
    let wait = move || {
        let mut signals = signals.forever().filter(|signal| match *signal {
            SIGUSR1 => {
                secrets::renew(tls.as_ref());
                false
            }
            _ => true,
        });
        if signals.next().is_some() {
            ready::tell("STOPPING=1");
            stopper.stop();
        }
        // Whoever asks twice does not wait: the log has all that was acknowledged.
        if let Some(signal) = signals.next() {
            let _ = emulate_default_handler(signal);
        }
    };
    let waiting = std::thread::Builder::new().name("signals".to_owned()).spawn(wait);
    waiting.map_err(Error::io("wait for signals of", "the service"))?;
    server.serve()?;
    match &opts.folder {
        Some(folder) => terminal::line(format_args!(
            "stopped; {} holds a snapshot of all there was",
            visible::path(folder)
        )),
        None => terminal::line("stopped"),
    }
    Ok(())
}

/// Says what a restart found.
fn report(folder: &Path, recovered: &Recovered, documents: u64) {
    let folder = visible::path(folder);
    if let Some(torn) = &recovered.torn {
        terminal::warning(format_args!(
            "{folder}/{}: {} behind byte {} were cut off: the service or its machine had stopped while they were written, before anything in them was acknowledged as on the disk",
            torn.file,
            plural(torn.cut, "byte", "bytes"),
            torn.kept
        ));
    }
    let documents = plural(documents, "document", "documents");
    let changes = plural(recovered.replayed, "change", "changes");
    match recovered.snapshot {
        Some(_) => {
            terminal::line(format_args!("{folder}: {documents}, of a snapshot and {changes} after it"))
        }
        None => terminal::line(format_args!("{folder}: {documents}, of {changes}")),
    }
}
