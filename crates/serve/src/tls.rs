//! TLS: which certificate a service has, whom it lets in by certificates, and how these files are read again while it runs.
//!
//! | | |
//! |---|---|
//! | [`Tls`] | what new clients get: made of files, and made again of them by [`Tls::renew`] |
//! | [`connection`] | one client's side: records become bytes, and bytes records |
//! | `failures` | what went wrong, counted, and said once of each kind |
//! | [`certificate`] | from when until when a certificate is valid |
//! | `asking` | the other side, for who asks whether a service is ready |

mod asking;
pub mod certificate;
pub mod connection;
pub(crate) mod failures;

pub use asking::ask;

use certificate::Validity;
use connection::Connection;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{InconsistentKeys, RootCertStore, ServerConfig};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use twinsplit_core::visible;
use twinsplit_io::error::{Error, Result};

/// Where what TLS needs is read from, and how long it waits. All files are PEM.
#[derive(Clone, Debug)]
pub struct TlsOptions {
    /// The service's certificate, and behind it those that lead to one that clients trust.
    pub certificate: PathBuf,
    /// The key of the first of these: PKCS #8, SEC 1 or RSA (PKCS #1).
    pub key: PathBuf,
    /// Authorities of clients; where there are some each client has to have a certificate of one of them.
    pub client_ca: Option<PathBuf>,
    /// How long a handshake may take, from when the client was taken in.
    pub patience: Duration,
}

impl TlsOptions {
    /// How long a handshake may take where nothing else is said.
    pub const PATIENCE: Duration = Duration::from_secs(10);
}

/// What new clients get. Copies are the same one.
#[derive(Clone)]
pub struct Tls(Arc<Inner>);

struct Inner {
    options: TlsOptions,
    current: RwLock<Current>,
}

/// What was read last.
#[derive(Clone)]
struct Current {
    config: Arc<ServerConfig>,
    validity: Validity,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tls").field(&self.0.options).finish()
    }
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// One of them cannot be read or holds no PEM of its kind; the certificate has expired or is not valid yet; the key is not its key.
    pub fn read(options: TlsOptions) -> Result<Self> {
        let current = RwLock::new(Current::read(&options)?);
        Ok(Self(Arc::new(Inner { options, current })))
    }

    /// Reads the files again. Clients that come from here on get what is in them now; others keep what they have.
    ///
    /// # Errors
    /// As [`Tls::read`]; then all stays as it is.
    pub fn renew(&self) -> Result<()> {
        let current = Current::read(&self.0.options)?;
        *self.0.current.write().unwrap_or_else(PoisonError::into_inner) = current;
        Ok(())
    }

    /// From when until when the certificate is valid that new clients get.
    pub fn validity(&self) -> Validity {
        self.current().validity
    }

    /// Where what it has was read from.
    pub fn options(&self) -> &TlsOptions {
        &self.0.options
    }

    /// A new client's side.
    ///
    /// # Errors
    /// What was read does not make one.
    pub fn begin(&self) -> Result<Connection, rustls::Error> {
        Connection::new(self.current().config)
    }

    fn current(&self) -> Current {
        self.0.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Current {
    fn read(options: &TlsOptions) -> Result<Self> {
        let provider = provider();
        let chain = certificates(&options.certificate)?;
        let validity = chain.first().and_then(|first| Validity::of(first));
        let validity =
            validity.ok_or_else(|| wrong(&options.certificate, "its first certificate is none of X.509"))?;
        validity.must_be_now().map_err(|problem| wrong(&options.certificate, problem))?;
        let key = key(&options.key)?;
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::Failed(format!("TLS: {error}")))?;
        let builder = match &options.client_ca {
            None => builder.with_no_client_auth(),
            Some(path) => {
                let roots = authorities(path)?;
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
                builder.with_client_cert_verifier(verifier.map_err(|error| wrong(path, error))?)
            }
        };
        let mut config = builder.with_single_cert(chain, key).map_err(|error| match error {
            rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => wrong(
                &options.key,
                format!(
                    "it is not the key of the first certificate in {}; give the two that were made together",
                    visible::path(&options.certificate)
                ),
            ),
            error => wrong(&options.key, error),
        })?;
        // Answers are small, and nothing is to be sent before it is known who asks.
        config.max_early_data_size = 0;
        Ok(Self { config: Arc::new(config), validity })
    }
}

/// What encrypts.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn wrong(path: &Path, problem: impl fmt::Display) -> Error {
    Error::File { path: path.to_owned(), problem: problem.to_string() }
}

/// What is wrong with a file of PEM.
fn no_pem(path: &Path, error: &pem::Error, expected: &str) -> Error {
    let problem = match error {
        pem::Error::NoItemsFound => format!("it holds no {expected}"),
        pem::Error::MissingSectionEnd { end_marker } => {
            format!("a section has no line -----END {}-----", String::from_utf8_lossy(end_marker))
        }
        pem::Error::IllegalSectionStart { line } => {
            format!("a section begins with {:?}", String::from_utf8_lossy(line))
        }
        error => format!("{error:?}; {expected} was expected"),
    };
    wrong(path, problem)
}

/// All certificates of a file, at least one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    const EXPECTED: &str = "certificate in PEM (-----BEGIN CERTIFICATE-----)";
    let text = fs::read(path).map_err(Error::io("read", path))?;
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let all = all.map_err(|error| no_pem(path, &error, EXPECTED))?;
    if all.is_empty() {
        return Err(no_pem(path, &pem::Error::NoItemsFound, EXPECTED));
    }
    Ok(all)
}

fn key(path: &Path) -> Result<PrivateKeyDer<'static>> {
    const LOCKED: &[u8] = b"-----BEGIN ENCRYPTED PRIVATE KEY-----";
    let text = fs::read(path).map_err(Error::io("read", path))?;
    PrivateKeyDer::from_pem_slice(&text).map_err(|error| {
        if text.windows(LOCKED.len()).any(|some| some == LOCKED) {
            return wrong(path, "the key is encrypted, and nobody is asked for its password; openssl pkey -in FILE writes it without");
        }
        no_pem(path, &error, "private key in PEM (PKCS #8, SEC 1 or RSA)")
    })
}

/// Those whose certificates are believed.
fn authorities(path: &Path) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for (number, certificate) in (1..).zip(certificates(path)?) {
        let added = roots.add(certificate);
        added.map_err(|error| wrong(path, format!("certificate {number} is no authority's: {error}")))?;
    }
    Ok(roots)
}
