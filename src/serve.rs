//! `twinsplit serve`: a service that compares documents as they come.

mod compared;
mod descriptors;
mod page;
mod ready;
mod secrets;

use crate::args;
use clap::{ArgMatches, Args, Command};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
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
    Engine, Fsync, HttpOptions, Recovered, Retention, Server, ServerOptions, Settings, WriterOptions,
};

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Opts {
    /// Where documents, their verdicts and the log are kept; a folder that is not there is made
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
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

/// A time, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Time(u64);

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let unit = match unit {
            "ms" => Some(1),
            "s" => Some(1000),
            "m" => Some(60_000),
            "h" => Some(3_600_000),
            "d" => Some(86_400_000),
            _ => None,
        };
        let time = unit.zip(number.parse::<u64>().ok()).and_then(|(unit, number)| number.checked_mul(unit));
        time.map(Self).ok_or_else(|| "expected a number and ms, s, m, h or d, such as 48h".to_owned())
    }
}

/// A number that is not 0.
fn some(text: &str) -> std::result::Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "expected a number from 1 on".to_owned())
}

/// A time that is not none at all: what is kept for that is never there.
fn some_time(text: &str) -> std::result::Result<Time, String> {
    match text.parse()? {
        Time(0) => {
            Err("expected a time, such as 48h; without --retain documents are kept for ever".to_owned())
        }
        time => Ok(time),
    }
}

/// When an answer is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FsyncWhen(Fsync);

impl FromStr for FsyncWhen {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        Ok(Self(match text {
            "always" => Fsync::Always,
            "off" => Fsync::Off,
            time => match time.parse() {
                Ok(Time(milliseconds @ 1..)) => Fsync::Within(Duration::from_millis(milliseconds)),
                _ => return Err("expected always, off, or a time such as 100ms".to_owned()),
            },
        }))
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
        .map_err(Error::io("wait for signals in", &opts.folder))?;
    fs::create_dir_all(&opts.folder).map_err(Error::io("create", &opts.folder))?;
    let (about, tls) = (made_with.clone(), server.tls.clone());
    let (scheme, by_tls) = if tls.is_some() { ("https", "--tls ") } else { ("http", "") };
    // What asks whether it is ready has an answer while the folder is read.
    let listening = Server::listen(sketching, server, about)?;
    if let Some(address) = listening.http() {
        terminal::line(format_args!("HTTP at {address}; curl {scheme}://{address}/ready"));
    }
    let (engine, recovered) = Engine::open(LogFolder(opts.folder.clone()), settings, made_with)?;
    report(&opts.folder, &recovered, engine.state().namespaces().map(|(_, held)| held.held().0).sum());
    let writer = WriterOptions { fsync: opts.fsync.0, snapshot_after: opts.snapshot_after.bytes() as u64 };
    let server = listening.start(engine, writer)?;
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
    waiting.map_err(Error::io("wait for signals in", &opts.folder))?;
    server.serve()?;
    terminal::line(format_args!(
        "stopped; {} holds a snapshot of all there was",
        visible::path(&opts.folder)
    ));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let read = |text: &str| text.parse::<Time>().map(|time| time.0).ok();
        assert_eq!(
            ["100ms", "5s", "3m", "48h", "2d"].map(read),
            [100, 5000, 180_000, 172_800_000, 172_800_000].map(Some)
        );
        assert_eq!(
            ["", "5", "h", "-1s", "1w", "1.5h", "99999999999999999999s", "999999999999999999d"].map(read),
            [None; 8]
        );
        assert!("0s".parse::<FsyncWhen>().is_err() && "never".parse::<FsyncWhen>().is_err());
    }
}
