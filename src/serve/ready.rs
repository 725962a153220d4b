//! What others are told and ask of a service: that it is ready.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixDatagram;
use std::time::Duration;
use twinsplit_io::error::{Error, Result};
use twinsplit_serve::reached_at;

/// How long a service may take to say whether it is ready.
const PATIENCE: Duration = Duration::from_secs(5);

/// Asks the service at an address whether it is ready.
///
/// # Errors
/// It is not, or it is not there.
pub(crate) fn ask(address: SocketAddr) -> Result<()> {
    let address = reached_at(address);
    let asked = |mut stream: TcpStream| {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(
            format!("GET /ready HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes(),
        )?;
        let mut answer = Vec::new();
        stream.take(64 << 10).read_to_end(&mut answer)?;
        Ok(answer)
    };
    let answer = TcpStream::connect_timeout(&address, PATIENCE).and_then(asked);
    let answer = answer.map_err(Error::io("ask", address.to_string()))?;
    if answer.starts_with(b"HTTP/1.1 200 ") {
        return Ok(());
    }
    Err(Error::Failed(format!("the service at {address} is not ready; curl http://{address}/ready says why")))
}

/// Tells systemd, where it has started the service, what is so now: `READY=1` or `STOPPING=1`.
pub(crate) fn tell(state: &str) {
    let Some(socket) = std::env::var_os("NOTIFY_SOCKET") else { return };
    // Without it the service does what it is for as well; systemd says that it was not told.
    let _ = UnixDatagram::unbound().and_then(|datagram| datagram.send_to(state.as_bytes(), socket));
}
