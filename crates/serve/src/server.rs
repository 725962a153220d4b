//! The threads of a service: one that takes clients in, one for each of these, and the [`writer`].

use crate::connection::Connection;
use crate::disk::LogDisk;
use crate::engine::Engine;
use crate::info::Shared;
use crate::resp::Limits;
use crate::sketch::Sketching;
use crate::writer::{self, Message, WriterOptions};
use std::collections::BTreeMap;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use twinsplit_core::hash;
use twinsplit_io::error::{Error, Result};

/// How a service serves.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Where it listens; port 0 for any that is free.
    pub address: SocketAddr,
    /// What clients must give; an address that others reach has to have one.
    pub password: Option<Box<[u8]>>,
    /// What a request may be.
    pub limits: Limits,
    /// Requests of one client that are answered together.
    pub pipeline: usize,
    /// Clients at one time.
    pub connections: usize,
    /// How long a client may say nothing; for ever where there is no bound.
    pub idle: Option<Duration>,
}

impl ServerOptions {
    /// That nobody gets in unasked.
    ///
    /// # Errors
    /// The address is not loopback, and there is no password.
    pub fn must_be_safe(&self) -> Result<()> {
        if self.address.ip().is_loopback() || self.password.is_some() {
            return Ok(());
        }
        Err(Error::Usage(format!(
            "others reach {}: give a password (--password-file), or an address of this machine alone, such as 127.0.0.1:6380",
            self.address
        )))
    }
}

/// What all threads of a service have in common.
pub(crate) struct Common {
    pub options: ServerOptions,
    pub sketching: Sketching,
    pub writer: SyncSender<Message>,
    pub shared: Arc<Shared>,
    /// What it was made with.
    pub about: Vec<(&'static str, String)>,
    stops: AtomicBool,
    clients: Mutex<BTreeMap<u64, TcpStream>>,
    left: Condvar,
}

impl Common {
    /// Whether that is the password, where there is one.
    pub fn is_password(&self, given: &[u8]) -> Option<bool> {
        let password = self.options.password.as_deref()?;
        // How long it takes to compare hashes says nothing of the password.
        Some(hash::text(password) == hash::text(given) && password == given)
    }
}

/// A service that has begun.
pub struct Server {
    address: SocketAddr,
    common: Arc<Common>,
    events: (Sender<()>, Receiver<()>),
    accepting: JoinHandle<()>,
    writing: JoinHandle<Result<()>>,
}

/// Stops a service.
#[derive(Clone, Debug)]
pub struct Stopper(Sender<()>);

impl Stopper {
    /// Tells it to answer what has come, to write a snapshot, and to end.
    pub fn stop(&self) {
        // One that has ended is stopped.
        let _ = self.0.send(());
    }
}

/// Batches that may wait for the writer.
const WAITING: usize = 4096;

impl Server {
    /// Listens, and serves what an engine holds. `about` is shown by `INFO`.
    ///
    /// # Errors
    /// The address is not loopback, and there is no password; it cannot be had; a thread cannot be started.
    pub fn start<D: LogDisk>(
        engine: Engine<D>,
        sketching: Sketching,
        options: ServerOptions,
        writer: WriterOptions,
        about: Vec<(&'static str, String)>,
    ) -> Result<Self> {
        options.must_be_safe()?;
        let wanted = options.address;
        let failed = || Error::io("listen at", wanted.to_string());
        let listener = TcpListener::bind(wanted).map_err(failed())?;
        let address = listener.local_addr().map_err(failed())?;
        let (to_writer, messages) = sync_channel(WAITING);
        let shared = Arc::new(Shared::new());
        let common = Arc::new(Common {
            options,
            sketching,
            writer: to_writer,
            shared: shared.clone(),
            about,
            stops: AtomicBool::new(false),
            clients: Mutex::default(),
            left: Condvar::new(),
        });
        let events = channel();
        let spawn = thread::Builder::new;
        let ended = Stopper(events.0.clone());
        let writing = spawn().name("writer".to_owned()).spawn(move || {
            let result = writer::run(engine, &messages, writer, &shared);
            ended.stop();
            result
        });
        let writing = writing.map_err(Error::io("start a thread of", "the service"))?;
        let theirs = common.clone();
        let accepting = spawn().name("accept".to_owned()).spawn(move || accept(&listener, &theirs));
        let accepting = accepting.map_err(Error::io("start a thread of", "the service"))?;
        Ok(Self { address, common, events, accepting, writing })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What stops it.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.events.0.clone())
    }

    /// Serves until it is stopped, then answers what has come, and writes a snapshot.
    ///
    /// # Errors
    /// The log cannot be written: what was acknowledged is there, and the next start has it.
    pub fn serve(self) -> Result<()> {
        let Self { address, common, events, accepting, writing } = self;
        let _ = events.1.recv();
        common.stops.store(true, Ordering::Release);
        // The thread that takes clients in is waiting for one.
        let loopback = match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        if TcpStream::connect_timeout(&(loopback, address.port()).into(), Duration::from_secs(1)).is_ok() {
            let _ = accepting.join();
        }
        let mut clients = common.clients.lock().unwrap_or_else(PoisonError::into_inner);
        for client in clients.values() {
            // It reads what has come, and then the end.
            let _ = client.shutdown(Shutdown::Read);
        }
        while !clients.is_empty() {
            clients = common.left.wait(clients).unwrap_or_else(PoisonError::into_inner);
        }
        drop(clients);
        // A writer that failed is not there any more.
        let _ = common.writer.send(Message::Stop);
        writing.join().unwrap_or_else(|_| Err(Error::Failed("the writer of the service panicked".to_owned())))
    }
}

/// How long a thread waits that could not take a client in, such as for want of file handles.
const RESTS: Duration = Duration::from_millis(20);

fn accept(listener: &TcpListener, common: &Arc<Common>) {
    for number in 0.. {
        let client = listener.accept();
        if common.stops.load(Ordering::Acquire) {
            return;
        }
        match client {
            Ok((stream, _)) => take_in(number, stream, common),
            Err(_) => thread::sleep(RESTS),
        }
    }
}

fn take_in(number: u64, mut stream: TcpStream, common: &Arc<Common>) {
    let shared = &common.shared;
    shared.connections_received.fetch_add(1, Ordering::Relaxed);
    let mut clients = common.clients.lock().unwrap_or_else(PoisonError::into_inner);
    let known = if clients.len() < common.options.connections { stream.try_clone().ok() } else { None };
    let Some(known) = known else {
        drop(clients);
        shared.connections_refused.fetch_add(1, Ordering::Relaxed);
        // It may not be there any more to hear it.
        let _ = stream.set_write_timeout(Some(RESTS));
        let _ = stream.write_all(b"-ERR max number of clients reached\r\n");
        return;
    };
    clients.insert(number, known);
    drop(clients);
    shared.connections.fetch_add(1, Ordering::Relaxed);
    let theirs = common.clone();
    let started = thread::Builder::new().name("client".to_owned()).spawn(move || {
        let _leaves = Leaves(number, &theirs);
        // What happens to a connection is the client's to see.
        let _ = Connection::new(stream, &theirs).run();
    });
    if started.is_err() {
        shared.connections_refused.fetch_add(1, Ordering::Relaxed);
        drop(Leaves(number, common));
    }
}

/// Takes a client out when its thread ends, in whatever way.
struct Leaves<'c>(u64, &'c Common);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        let Self(number, common) = self;
        common.shared.connections.fetch_sub(1, Ordering::Relaxed);
        common.clients.lock().unwrap_or_else(PoisonError::into_inner).remove(number);
        common.left.notify_all();
    }
}
