//! The client's side of TLS, for tests.

use super::client::Client;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion};
use std::io::{Read, Result, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// What clients know: whom they trust, and what they show where they are asked.
#[derive(Clone)]
pub struct Known(Arc<ClientConfig>);

impl Known {
    /// Trusts who is signed by the authority of a file; shows the certificate and the key of two others.
    pub fn new(
        trusts: &Path,
        shows: Option<(&Path, &Path)>,
        versions: &[&'static SupportedProtocolVersion],
    ) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(trusts).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(versions).unwrap();
        let builder = builder.with_root_certificates(roots);
        Self(Arc::new(match shows {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = vec![CertificateDer::from_pem_file(certificate).unwrap()];
                builder.with_client_auth_cert(chain, PrivateKeyDer::from_pem_file(key).unwrap()).unwrap()
            }
        }))
    }

    /// A client's side of which nothing has been sent.
    pub fn connection(&self) -> ClientConnection {
        ClientConnection::new(self.0.clone(), "localhost".try_into().unwrap()).unwrap()
    }

    /// Connects, and has the two agree.
    pub fn try_to(&self, address: SocketAddr) -> Result<Client> {
        let mut socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        let mut connection = self.connection();
        while connection.is_handshaking() {
            connection.complete_io(&mut socket)?;
        }
        let twin = socket.try_clone()?;
        let channel = Channel(Arc::new(Mutex::new(StreamOwned::new(connection, socket))));
        Ok(Client::over(twin, channel.clone(), channel))
    }

    /// The same where nothing is wrong.
    pub fn to(&self, address: SocketAddr) -> Client {
        self.try_to(address).unwrap()
    }
}

/// Both directions of a connection, of which there is one at a time.
#[derive(Clone)]
struct Channel(Arc<Mutex<StreamOwned<ClientConnection, TcpStream>>>);

impl Read for Channel {
    fn read(&mut self, room: &mut [u8]) -> Result<usize> {
        self.0.lock().unwrap().read(room)
    }
}

impl Write for Channel {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.0.lock().unwrap().flush()
    }
}
