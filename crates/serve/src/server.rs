//! A service from outside: how it is started, told something, and stopped. What it does is done by one thread ([`crate::event_loop`]) and those that help it.

use crate::backend::{Backend, Common};
use crate::decider::{Decider, Decides, WriterOptions};
use crate::disk::LogDisk;
use crate::engine::Engine;
use crate::event_loop::{EventLoop, Note, WAKER};
use crate::http::date::Date;
use crate::info::Shared;
use crate::lender::Lender;
use crate::recent::Recent;
use crate::resp::Limits;
use crate::session::Protocol;
use crate::shards::asking::Asking;
use crate::shards::front::Front;
use crate::shards::node::{Begun, Node, NodeOptions};
use crate::shards::node_decider::NodeDecider;
use crate::shards::topics::Topics;
use crate::sketch::Sketching;
use crate::threads::{self, Work};
use crate::tls::Tls;
use crate::workers::Workers;
use mio::net::TcpListener;
use mio::{Poll, Waker};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
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
    /// TLS for both.
    pub tls: Option<Tls>,
}

/// How a service answers over HTTP.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Where it listens; port 0 for any that is free.
    pub address: SocketAddr,
    /// The page for people, which asks for the rest itself.
    pub page: Arc<str>,
}

impl ServerOptions {
    /// That nobody gets in unasked.
    ///
    /// # Errors
    /// The address is not loopback, and clients need neither a password nor a certificate.
    pub fn must_be_safe(&self) -> Result<()> {
        let addresses = [Some(self.address), self.http.as_ref().map(|http| http.address)];
        let open = addresses.into_iter().flatten().find(|address| !address.ip().is_loopback());
        let are_known = self.tls.as_ref().is_some_and(|tls| tls.options().client_ca.is_some());
        match open.filter(|_| self.password.is_none() && !are_known) {
            None => Ok(()),
            Some(address) => Err(Error::Usage(format!(
                "others reach {address}: give a password (--password-file), have clients show certificates (--tls-client-ca), or give an address of this machine alone, such as 127.0.0.1:6380"
            ))),
        }
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

/// A service that has not read its folder yet. Over HTTP it says so. It ends when it is dropped.
pub struct Listening {
    http: Option<SocketAddr>,
    common: Arc<Common>,
    remote: Remote,
    events: (Sender<()>, Receiver<()>),
    thread: Work,
}

/// A service that has begun. It ends when it is dropped.
pub struct Server {
    address: SocketAddr,
    listening: Listening,
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

/// Tells that the thread of a service has ended, in whatever way.
struct Ended(Stopper);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// What tells the thread of a service something.
struct Remote {
    notes: Sender<Note>,
    waker: Arc<Waker>,
}

impl Remote {
    fn tell(&self, note: Note) {
        // One that has ended needs to be told nothing.
        let _ = self.notes.send(note);
        let _ = self.waker.wake();
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.tell(Note::Stop);
    }
}

impl Listening {
    /// Where it listens for HTTP.
    pub fn http(&self) -> Option<SocketAddr> {
        self.http
    }

    /// Serves what an engine holds, and listens for RESP.
    ///
    /// # Errors
    /// The address cannot be had; a thread cannot be started.
    pub fn start<D: LogDisk>(self, engine: Engine<D>, writer: WriterOptions) -> Result<Server> {
        let decider = Decider::new(engine, writer, self.common.shared.clone(), self.wakes())?;
        self.serve_by(Box::new(decider))
    }

    /// Serves what a log and the shards of it decide, and listens for RESP.
    ///
    /// # Errors
    /// As [`Listening::start`].
    pub fn start_front(self, front: Front) -> Result<Server> {
        self.serve_by(Box::new(Asking::new(front)))
    }

    /// Holds a shard in a folder that is there, and listens for RESP, by which its figures are asked for. `begins` is told where it begins.
    ///
    /// # Errors
    /// Another process has the folder, or it does not fit; Kafka is not there, or has not what follows; as [`Listening::start`].
    pub fn start_node<D: LogDisk>(
        self,
        (options, disk, topics): (NodeOptions, D, Box<dyn Topics>),
        begins: impl FnOnce(&Begun),
    ) -> Result<Server> {
        let shards = (options.shard, options.sharding.shards);
        let (node, begun) = Node::open(options, disk, topics, self.common.shared.clone())?;
        begins(&begun);
        let decider = NodeDecider::start(node, shards, self.wakes())?;
        self.serve_by(Box::new(decider))
    }

    /// What wakes the thread.
    fn wakes(&self) -> impl Fn() + Send + 'static {
        let waker = self.remote.waker.clone();
        // Waking fails where the thread has ended.
        move || drop(waker.wake())
    }

    fn serve_by(self, decider: Box<dyn Decides>) -> Result<Server> {
        let (socket, address) = listen(self.common.options.address)?;
        let (told, serves) = channel();
        self.remote.tell(Note::Serve(socket, decider, told));
        let ended = || Err(Error::Failed("the service has ended".to_owned()));
        serves.recv().unwrap_or_else(|_| ended())?;
        Ok(Server { address, listening: self })
    }
}

fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr)> {
    let listening = TcpListener::bind(address).and_then(|socket| {
        let address = socket.local_addr()?;
        Ok((socket, address))
    });
    listening.map_err(Error::io("listen at", address.to_string()))
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
        let failed = || Error::io("wait for clients of", "the service");
        let poll = Poll::new().map_err(failed())?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER).map_err(failed())?);
        let http = options.http.as_ref().map(|http| listen(http.address)).transpose()?;
        let recent = http.as_ref().map(|_| Recent::default());
        let shared = Arc::new(Shared::new(options.tls.clone()));
        let common = Arc::new(Common { options, sketching, shared, about });
        // Waking fails where the thread has ended.
        let wake = {
            let waker = waker.clone();
            move || drop(waker.wake())
        };
        let workers = Workers::start(&common.sketching, wake.clone())?;
        let lender = Lender::start(wake)?;
        let backend = Backend { common: common.clone(), decider: None, recent, date: Date::default() };
        let (notes, received) = channel();
        let events = channel();
        let mut serving = EventLoop::new(poll, received, workers, lender, backend, Stopper(events.0.clone()));
        let address = http.as_ref().map(|(_, address)| *address);
        if let Some((socket, _)) = http {
            serving.listen(socket, Protocol::Http)?;
        }
        let ended = Ended(Stopper(events.0.clone()));
        let thread = threads::start("serve", move || {
            let _ended = ended;
            serving.run()
        })?;
        Ok(Listening { http: address, common, remote: Remote { notes, waker }, events, thread })
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
        self.listening.http
    }

    /// What stops it.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.listening.events.0.clone())
    }

    /// Serves until it is stopped, then answers what has come, and writes a snapshot.
    ///
    /// # Errors
    /// The log cannot be written: what was acknowledged is there, and the next start has it.
    pub fn serve(self) -> Result<()> {
        let Listening { remote, events, thread, .. } = self.listening;
        let _ = events.1.recv();
        drop(remote);
        threads::joined(thread)
    }
}
