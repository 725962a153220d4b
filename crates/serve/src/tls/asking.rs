//! The other side of TLS, for who asks a service of this machine whether it is ready.

use super::{TlsOptions, certificates, key, provider};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use twinsplit_io::error::{Error, Result};

/// Begins TLS with a service at an address, as a client that has the service's own files. Its certificate may be anyone's: the address is told, nothing that is secret is
/// sent to it, and whether it is ready is all that is believed. Where it wants a certificate of clients it is shown the one of the options.
///
/// # Errors
/// A file cannot be read, or does not hold what it should; the address is none of TLS.
pub fn ask(
    stream: TcpStream,
    address: SocketAddr,
    options: &TlsOptions,
) -> Result<impl Read + Write + use<>> {
    let failed = |error: rustls::Error| Error::Failed(format!("TLS with {address}: {error}"));
    let config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(failed)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anyone(provider())))
        .with_client_auth_cert(certificates(&options.certificate)?, key(&options.key)?)
        .map_err(|error| super::wrong(&options.key, error))?;
    let name = ServerName::IpAddress(address.ip().into());
    let connection = ClientConnection::new(Arc::new(config), name).map_err(failed)?;
    Ok(StreamOwned::new(connection, stream))
}

/// Takes every certificate, where whoever shows it has its key.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
