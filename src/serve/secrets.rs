//! Files that are nobody else's to read: the password of clients, and the key of TLS.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use twinsplit_core::visible;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::terminal;
use twinsplit_serve::tls::{Tls, TlsOptions};

/// The right of all users of a machine to read a file.
const READ_BY_ALL: u32 = 0o004;

/// Warns where every user of the machine may read a secret.
fn is_ours(path: &Path, what: &str) -> Result<()> {
    let mode = fs::metadata(path).map_err(Error::io("read", path))?.permissions().mode();
    if mode & READ_BY_ALL != 0 {
        let path = visible::path(path);
        terminal::warning(format_args!(
            "{path}: every user of this machine may read {what}; chmod o-rwx {path}"
        ));
    }
    Ok(())
}

/// The first line of a file.
pub(crate) fn password(path: &Path) -> Result<Box<[u8]>> {
    let text = fs::read(path).map_err(Error::io("read", path))?;
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let password = line.strip_suffix(b"\r").unwrap_or(line);
    if password.is_empty() {
        return Err(Error::File {
            path: path.to_owned(),
            problem: "its first line is empty; a password was expected".to_owned(),
        });
    }
    is_ours(path, "the password")?;
    Ok(password.into())
}

/// Reads what TLS is made of.
pub(crate) fn tls(options: TlsOptions) -> Result<Tls> {
    let tls = Tls::read(options)?;
    is_ours(&tls.options().key, "the key")?;
    Ok(tls)
}

/// Reads that again, and says what came of it. A service goes on with what it has where there is something wrong with it.
pub(crate) fn renew(tls: Option<&Tls>) {
    let Some(tls) = tls else {
        return terminal::line("SIGUSR1: there is no TLS whose files could be read again");
    };
    let renewed = tls.renew().and_then(|()| is_ours(&tls.options().key, "the key"));
    match renewed {
        Ok(()) => terminal::line(format_args!(
            "SIGUSR1: new clients get the certificate in {}, which is valid until {}",
            visible::path(&tls.options().certificate),
            tls.validity().until
        )),
        Err(error) => terminal::warning(format_args!(
            "SIGUSR1: {error}; new clients get the certificate that was read before"
        )),
    }
}
