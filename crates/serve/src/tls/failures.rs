//! Clients with which there is no TLS: all are counted, and the first of each kind is told.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use twinsplit_io::terminal;

/// Why there is none.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The client began with something else.
    Plain,
    /// The client began TLS where there is none.
    Unexpected,
    /// The handshake has failed, for this reason.
    Refused(rustls::Error),
    /// The client went in the middle of it.
    Ended,
    /// It was not over in time.
    Late,
}

/// What there was so far.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    count: AtomicU64,
    /// A bit for each kind that was told.
    told: AtomicU8,
}

impl Failure {
    /// Its kind: those of one bit are told once.
    fn kind(&self) -> u8 {
        match self {
            Failure::Plain => 1,
            Failure::Unexpected => 2,
            // A client that does not believe the service, one that the service does not believe, and all else.
            Failure::Refused(rustls::Error::AlertReceived(_)) => 4,
            Failure::Refused(
                rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented,
            ) => 8,
            Failure::Refused(_) => 16,
            Failure::Ended => 32,
            Failure::Late => 64,
        }
    }

    fn words(&self) -> String {
        match self {
            Failure::Plain => "it did not begin TLS; redis-cli --tls and https:// do".to_owned(),
            Failure::Unexpected => {
                "it began TLS, and the service has none; give the service --tls-cert and --tls-key, or the client no TLS".to_owned()
            }
            Failure::Refused(error @ rustls::Error::AlertReceived(_)) => {
                format!("the client has ended the handshake ({error}); it has to believe the service's certificate (--cacert)")
            }
            Failure::Refused(error @ (rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented)) => {
                format!("{error}; --tls-client-ca asks for a certificate of one of its authorities")
            }
            Failure::Refused(error) => format!("the handshake has failed: {error}"),
            Failure::Ended => "the client has gone in the middle of the handshake".to_owned(),
            Failure::Late => "the handshake took too long".to_owned(),
        }
    }
}

impl Failures {
    /// Counts one, and tells it where it is the first of its kind.
    pub fn note(&self, failure: &Failure, peer: Option<SocketAddr>) {
        self.count.fetch_add(1, Ordering::Relaxed);
        if self.told.fetch_or(failure.kind(), Ordering::Relaxed) & failure.kind() == 0 {
            let peer = peer.map_or("a client".to_owned(), |peer| peer.to_string());
            terminal::warning(format_args!(
                "no TLS with {peer}: {}; more of this kind are counted and not told (tls_handshake_failures)",
                failure.words()
            ));
        }
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}
