//! The threads of a service: one that takes clients in, one for each of these, and the [`writer`].

use crate::connection::Connection;
use crate::disk::LogDisk;
use crate::engine::Engine;
use crate::http::connection as http;
use crate::info::{Figures, Phase, Shared};
use crate::recent::{self, Recent};
use crate::resp::Limits;
use crate::sketch::Sketching;
use crate::state::{Answer, Operation};
use crate::writer::{self, Batch, Message, WriterOptions};
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
    /// HTTP beside RESP.
    pub http: Option<HttpOptions>,
}

/// How a service answers over HTTP.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Where it listens; port 0 for any that is free.
    pub address: SocketAddr,
    /// The page for people, which asks for the rest itself.
    pub page: Arc<str>,
}

/// What a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Resp,
    Http,
}

impl ServerOptions {
    /// That nobody gets in unasked.
    ///
    /// # Errors
    /// The address is not loopback, and there is no password.
    pub fn must_be_safe(&self) -> Result<()> {
        let addresses = [Some(self.address), self.http.as_ref().map(|http| http.address)];
        let open = addresses.into_iter().flatten().find(|address| !address.ip().is_loopback());
        match open.filter(|_| self.password.is_none()) {
            None => Ok(()),
            Some(address) => Err(Error::Usage(format!(
                "others reach {address}: give a password (--password-file), or an address of this machine alone, such as 127.0.0.1:6380"
            ))),
        }
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
    /// The last duplicates, where there is a page that shows them.
    pub recent: Option<Recent>,
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

    /// Has the writer answer; nothing where it has stopped.
    pub fn ask(&self, asked: Vec<(Box<[u8]>, Operation)>) -> Option<Vec<Answer>> {
        let names = self.recent.as_ref().map(|recent| (recent, recent::names(&asked)));
        let (answers, received) = channel();
        self.writer.send(Message::Batch(Batch { asked, answers })).ok()?;
        let answers = received.recv().ok()?;
        if let Some((recent, names)) = names {
            recent.note(names, &answers);
        }
        Some(answers)
    }

    /// What the writer knows; nothing where it has stopped.
    pub fn figures(&self) -> Option<Figures> {
        let (reply, received) = channel();
        self.writer.send(Message::Info(reply)).ok()?;
        received.recv().ok()
    }
}

/// Where this machine reaches what listens at an address, which may stand for all of its own.
pub fn reached_at(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    (ip, address.port()).into()
}

/// A service that has not read its folder yet. Over HTTP it says so.
pub struct Listening {
    common: Arc<Common>,
    messages: Receiver<Message>,
    accepting: Vec<Accepting>,
}

/// A thread that takes clients in, and where it listens.
type Accepting = (SocketAddr, JoinHandle<()>);

/// A service that has begun.
pub struct Server {
    address: SocketAddr,
    common: Arc<Common>,
    events: (Sender<()>, Receiver<()>),
    accepting: Vec<Accepting>,
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

impl Listening {
    /// Where it listens for HTTP.
    pub fn http(&self) -> Option<SocketAddr> {
        self.accepting.first().map(|(address, _)| *address)
    }

    /// Serves what an engine holds, and listens for RESP.
    ///
    /// # Errors
    /// The address cannot be had; a thread cannot be started.
    pub fn start<D: LogDisk>(self, engine: Engine<D>, writer: WriterOptions) -> Result<Server> {
        let Self { common, messages, mut accepting } = self;
        let events = channel();
        let ended = Stopper(events.0.clone());
        let shared = common.shared.clone();
        let listener = listen(common.options.address)?;
        common.shared.is_now(Phase::Serves);
        let writing = thread::Builder::new().name("writer".to_owned()).spawn(move || {
            let result = writer::run(engine, &messages, writer, &shared);
            shared.is_now(Phase::Ended);
            ended.stop();
            result
        });
        let writing = writing.map_err(Error::io("start a thread of", "the service"))?;
        let resp = take_clients_in(listener, Protocol::Resp, &common)?;
        let address = resp.0;
        accepting.push(resp);
        Ok(Server { address, common, events, accepting, writing })
    }
}

fn listen(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).map_err(Error::io("listen at", address.to_string()))
}

fn take_clients_in(listener: TcpListener, protocol: Protocol, common: &Arc<Common>) -> Result<Accepting> {
    let address = listener.local_addr().map_err(Error::io("listen at", "an address"))?;
    let theirs = common.clone();
    let thread = thread::Builder::new().name("accept".to_owned());
    let thread = thread.spawn(move || accept(&listener, protocol, &theirs));
    Ok((address, thread.map_err(Error::io("start a thread of", "the service"))?))
}

impl Server {
    /// Listens for HTTP, where it is asked for. `about` is shown by `INFO`.
    ///
    /// # Errors
    /// An address is not loopback, and there is no password; it cannot be had; a thread cannot be started.
    pub fn listen(
        sketching: Sketching,
        options: ServerOptions,
        about: Vec<(&'static str, String)>,
    ) -> Result<Listening> {
        options.must_be_safe()?;
        let (to_writer, messages) = sync_channel(WAITING);
        let recent = options.http.as_ref().map(|_| Recent::default());
        let common = Arc::new(Common {
            options,
            sketching,
            writer: to_writer,
            shared: Arc::new(Shared::new()),
            about,
            recent,
            stops: AtomicBool::new(false),
            clients: Mutex::default(),
            left: Condvar::new(),
        });
        let mut accepting = Vec::new();
        if let Some(http) = &common.options.http {
            accepting.push(take_clients_in(listen(http.address)?, Protocol::Http, &common)?);
        }
        Ok(Listening { common, messages, accepting })
    }

    /// Listens, and serves what an engine holds.
    ///
    /// # Errors
    /// As [`Server::listen`] and [`Listening::start`].
    pub fn start<D: LogDisk>(
        engine: Engine<D>,
        sketching: Sketching,
        options: ServerOptions,
        writer: WriterOptions,
        about: Vec<(&'static str, String)>,
    ) -> Result<Self> {
        Self::listen(sketching, options, about)?.start(engine, writer)
    }

    /// Where it listens for RESP.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it listens for HTTP.
    pub fn http(&self) -> Option<SocketAddr> {
        let mut others = self.accepting.iter().map(|(address, _)| *address);
        others.find(|address| *address != self.address)
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
        let Self { common, events, accepting, writing, .. } = self;
        let _ = events.1.recv();
        common.stops.store(true, Ordering::Release);
        common.shared.is_now(Phase::Ended);
        for (address, thread) in accepting {
            // It is waiting for a client.
            if TcpStream::connect_timeout(&reached_at(address), Duration::from_secs(1)).is_ok() {
                let _ = thread.join();
            }
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

fn accept(listener: &TcpListener, protocol: Protocol, common: &Arc<Common>) {
    loop {
        let client = listener.accept();
        if common.stops.load(Ordering::Acquire) {
            return;
        }
        match client {
            Ok((stream, _)) => take_in(stream, protocol, common),
            Err(_) => thread::sleep(RESTS),
        }
    }
}

fn take_in(mut stream: TcpStream, protocol: Protocol, common: &Arc<Common>) {
    let shared = &common.shared;
    let number = shared.connections_received.fetch_add(1, Ordering::Relaxed);
    let mut clients = common.clients.lock().unwrap_or_else(PoisonError::into_inner);
    let known = if clients.len() < common.options.connections { stream.try_clone().ok() } else { None };
    let Some(known) = known else {
        drop(clients);
        shared.connections_refused.fetch_add(1, Ordering::Relaxed);
        // It may not be there any more to hear it.
        let _ = stream.set_write_timeout(Some(RESTS));
        let _ = match protocol {
            Protocol::Resp => stream.write_all(b"-ERR max number of clients reached\r\n"),
            Protocol::Http => stream.write_all(&http::too_many()),
        };
        return;
    };
    clients.insert(number, known);
    drop(clients);
    shared.connections.fetch_add(1, Ordering::Relaxed);
    let theirs = common.clone();
    let started = thread::Builder::new().name("client".to_owned()).spawn(move || {
        let _leaves = Leaves(number, &theirs);
        // What happens to a connection is the client's to see.
        let _ = match protocol {
            Protocol::Resp => Connection::new(stream, &theirs).run(),
            Protocol::Http => http::Connection::new(stream, &theirs).run(),
        };
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
