//! What others are told and ask of a service: that it is ready.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::{SocketAddr as UnixAddress, UnixDatagram};
use std::time::Duration;
use twinsplit_io::error::{Error, Result};
use twinsplit_serve::reached_at;
use twinsplit_serve::tls::{self, TlsOptions};

/// How long a service may take to say whether it is ready.
const PATIENCE: Duration = Duration::from_secs(5);

/// Asks the service at an address whether it is ready, by TLS where there are options for it.
///
/// # Errors
/// It is not, or it is not there; a file of TLS cannot be read.
pub(crate) fn ask(address: SocketAddr, by: Option<&TlsOptions>) -> Result<()> {
    let address = reached_at(address);
    let failed = || Error::io("ask", address.to_string());
    let stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(failed())?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(failed())?;
    let answer = match by {
        None => asked(stream, address),
        Some(options) => asked(tls::ask(stream, address, options)?, address),
    };
    if answer.map_err(failed())?.starts_with(b"HTTP/1.1 200 ") {
        return Ok(());
    }
    let scheme = if by.is_some() { "https" } else { "http" };
    Err(Error::Failed(format!(
        "the service at {address} is not ready; curl {scheme}://{address}/ready says why"
    )))
}

/// What is answered.
fn asked(mut stream: impl Read + Write, address: SocketAddr) -> std::io::Result<Vec<u8>> {
    stream.write_all(
        format!("GET /ready HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes(),
    )?;
    let mut answer = Vec::new();
    stream.take(64 << 10).read_to_end(&mut answer)?;
    Ok(answer)
}

/// Tells systemd, where it has started the service, what is so now: `READY=1` or `STOPPING=1`.
pub(crate) fn tell(state: &str) {
    let Some(socket) = std::env::var_os("NOTIFY_SOCKET") else { return };
    let send = |address| UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address);
    // Without it the service does what it is for as well; systemd says that it was not told.
    let _ = socket_of(&socket).and_then(send);
}

/// The address of a name, which is none of the file system where it begins with `@` (sd_notify(3)).
fn socket_of(name: &OsStr) -> std::io::Result<UnixAddress> {
    #[cfg(target_os = "linux")]
    if let Some(name) = std::os::unix::ffi::OsStrExt::as_bytes(name).strip_prefix(b"@") {
        return <UnixAddress as std::os::linux::net::SocketAddrExt>::from_abstract_name(name);
    }
    UnixAddress::from_pathname(name)
}
