//! TLS, of any bytes: a service decrypts nothing but what a client has encrypted, in its order, whatever comes between the two and in whatever pieces; and it ends.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::io::Read;
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use twinsplit_serve::tls::connection::{Connection, UNSENT};
use twinsplit_serve::tls::{Tls, TlsOptions};

/// Steps after which the two have agreed, or never will.
const STEPS: usize = 20;

/// What a service and its clients have: of TLS 1.2, and of 1.3.
struct Both {
    service: Tls,
    clients: [Arc<ClientConfig>; 2],
}

fn both() -> &'static Both {
    static BOTH: OnceLock<Both> = OnceLock::new();
    BOTH.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let made = Command::new("openssl")
            .args(
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj /CN=fuzz"
                    .split(' '),
            )
            .args([
                "-addext",
                "subjectAltName=DNS:localhost",
                "-addext",
                "basicConstraints=critical,CA:FALSE",
            ])
            .args(["-keyout", "key", "-out", "certificate"])
            .current_dir(folder.path())
            .output()
            .expect("openssl: apt-get install openssl");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let (certificate, key) = (path("certificate"), path("key"));
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_file(&certificate).expect("a certificate"))
            .expect("a certificate");
        let options = TlsOptions { certificate, key, client_ca: None, patience: Duration::MAX };
        let clients = [&TLS12, &TLS13].map(|version| {
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(&[version]);
            let builder = builder.expect("a version").with_root_certificates(roots.clone());
            Arc::new(builder.with_no_client_auth())
        });
        Both { service: Tls::read(options).expect("what openssl makes"), clients }
    })
}

/// One input: the version, how many bytes come at one time, which byte is changed and how; then what the client says, or bytes that are no client's.
pub fn run(data: &[u8]) {
    let Some((&[kind, size, at, low, change], rest)) = data.split_first_chunk() else { return };
    let at = usize::from(at) << 8 | usize::from(low);
    let mut service = both().service.begin().expect("a side");
    let size = usize::from(size) * 8 + 1;
    if kind % 4 == 0 {
        let (decrypted, _) = come(&mut service, rest, size);
        assert!(decrypted.is_empty(), "nothing was agreed on");
        return;
    }
    let config = both().clients[usize::from(kind) % 2].clone();
    let mut client = ClientConnection::new(config, "localhost".try_into().expect("a name")).expect("a side");
    let (mut decrypted, mut sent, mut said) = (Vec::new(), 0, 0);
    let mut is_changed = false;
    for _ in 0..STEPS {
        if !client.is_handshaking() && said < rest.len() {
            said += std::io::Write::write(&mut client.writer(), &rest[said..]).expect("room");
        }
        let mut bytes = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut bytes).expect("a vector");
        }
        if change != 0 && (sent..sent + bytes.len()).contains(&at) {
            bytes[at - sent] ^= change;
            is_changed = true;
        }
        sent += bytes.len();
        let (some, is_right) = come(&mut service, &bytes, size);
        decrypted.extend(some);
        assert!(rest.starts_with(&decrypted), "what was decrypted is not what was encrypted");
        assert!(is_right || is_changed, "{kind} {size}");
        let mut answer = Vec::new();
        service.flush(&mut answer).expect("a vector");
        if !is_right {
            return;
        }
        let mut left = &answer[..];
        while !left.is_empty() {
            client.read_tls(&mut left).expect("records");
            let came = client.process_new_packets();
            assert!(came.is_ok() || is_changed, "{came:?}");
            if came.is_err() {
                return;
            }
        }
    }
    if is_changed {
        return;
    }
    assert!(!client.is_handshaking() && !service.is_handshaking() && decrypted == rest);
    // And back.
    let (mut replied, mut back) = (0, Vec::new());
    while back.len() < rest.len() {
        let taken = service.encrypt(&rest[replied..]).expect("room");
        assert!(taken <= UNSENT);
        replied += taken;
        let mut answer = Vec::new();
        service.flush(&mut answer).expect("a vector");
        let mut left = &answer[..];
        while !left.is_empty() {
            client.read_tls(&mut left).expect("records");
            client.process_new_packets().expect("records of the service");
            let mut some = vec![0; 1 << 16];
            while let Ok(bytes @ 1..) = client.reader().read(&mut some) {
                back.extend_from_slice(&some[..bytes]);
            }
        }
    }
    assert_eq!(back, rest);
}

/// What is decrypted of some bytes in pieces, and whether nothing was wrong with them.
fn come(service: &mut Connection, bytes: &[u8], size: usize) -> (Vec<u8>, bool) {
    let (mut all, mut decrypted) = (Vec::new(), Vec::new());
    for piece in bytes.chunks(size) {
        let is_right = service.decrypt(piece, &mut decrypted).is_ok();
        all.extend_from_slice(&decrypted);
        if !is_right {
            return (all, false);
        }
    }
    (all, true)
}
