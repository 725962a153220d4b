//! What TLS is made of: files that fit, files that do not, and files that change while a service runs.

use super::certificates::Certificates;
use super::client::Value;
use super::serving::{Serving, options};
use super::tls::{BOTH, Place};
use super::tls_client::Known;
use crate::decider::Fsync;
use crate::server::ServerOptions;
use crate::tls::certificate::Validity;
use crate::tls::{Tls, TlsOptions};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::fs;
use std::time::Duration;

/// Reads a certificate and a key, or says what is wrong.
fn read(made: &Certificates, certificate: &str, key: &str, client_ca: Option<&str>) -> Result<Tls, String> {
    let client_ca = client_ca.map(|name| made.path(name));
    let (certificate, key) = (made.path(certificate), made.path(key));
    let options = TlsOptions { certificate, key, client_ca, patience: Duration::from_secs(1) };
    Tls::read(options).map_err(|error| error.to_string())
}

/// Keys may be written in each of the ways that openssl has; what does not fit is refused with its file and the reason.
#[test]
fn files_fit_or_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let made = Certificates::in_folder(folder.path());
    made.authority("ca").signed("a", "ca", 30).signed("b", "ca", 30).signed("old", "ca", -1);
    made.run("ec -in a.key -out a.sec1")
        .run("genrsa -traditional -out rsa.pkcs1 2048")
        .run("pkey -in rsa.pkcs1 -out rsa.pkcs8");
    made.run("req -x509 -key rsa.pkcs8 -out rsa.pem -days 30 -subj /CN=rsa")
        .run("genpkey -algorithm ed25519 -out ed.key");
    made.run("req -x509 -key ed.key -out ed.pem -days 30 -subj /CN=ed");
    made.run("pkey -in a.key -aes256 -passout pass:secret -out a.locked");
    let write = |name: &str, text: &str| fs::write(made.path(name), text).unwrap();
    let text = |name: &str| fs::read_to_string(made.path(name)).unwrap();
    write("chain", &(text("a.pem") + &text("ca.pem")));
    write("notes", "no certificate is here\n");
    write("cut", text("a.pem").rsplit_once("-----END").unwrap().0);
    write("broken", &text("a.pem").replacen("\nMII", "\n!II", 1));
    write("other", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    write("no-key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    let good = [
        ("a.pem", "a.key"),
        ("a.pem", "a.sec1"),
        ("chain", "a.key"),
        ("rsa.pem", "rsa.pkcs1"),
        ("rsa.pem", "rsa.pkcs8"),
        ("ed.pem", "ed.key"),
    ];
    for (certificate, key) in good {
        read(&made, certificate, key, None).unwrap_or_else(|error| panic!("{certificate} {key}: {error}"));
        read(&made, certificate, key, Some("ca.pem")).unwrap();
    }
    let bad: [(&str, &str, Option<&str>, &[&str]); 15] = [
        ("none", "a.key", None, &["none"]),
        ("a.pem", "none", None, &["none"]),
        ("a.pem", "a.key", Some("none"), &["none"]),
        ("a.pem", "b.key", None, &["b.key: ", "not the key of the first certificate in ", "a.pem"]),
        ("a.pem", "rsa.pkcs1", None, &["rsa.pkcs1: ", "not the key"]),
        ("old.pem", "old.key", None, &["old.pem: ", "expired at 20", "a new one"]),
        ("notes", "a.key", None, &["notes: it holds no certificate in PEM"]),
        ("a.key", "a.key", None, &["a.key: it holds no certificate"]),
        ("a.pem", "a.pem", None, &["a.pem: it holds no private key in PEM (PKCS #8, SEC 1 or RSA)"]),
        ("a.pem", "a.locked", None, &["a.locked: ", "encrypted", "openssl pkey"]),
        ("cut", "a.key", None, &["cut: ", "no line -----END CERTIFICATE-----"]),
        ("broken", "a.key", None, &["broken: ", "Base64"]),
        ("other", "a.key", None, &["other: ", "none of X.509"]),
        ("a.pem", "no-key", None, &["no-key: ", "private key"]),
        ("a.pem", "a.key", Some("notes"), &["notes: it holds no certificate"]),
    ];
    for (certificate, key, client_ca, words) in &bad {
        let error = read(&made, certificate, key, *client_ca).unwrap_err();
        words.iter().for_each(|word| assert!(error.contains(word), "{word}: {error}"));
    }
    println!("{} pairs fit, {} do not", good.len(), bad.len());
}

/// From when until when a certificate is valid is what openssl says of it, before 2050 and after it.
#[test]
fn times_are_those_that_openssl_prints() {
    let folder = tempfile::tempdir().unwrap();
    let made = Certificates::in_folder(folder.path());
    made.authority("ca");
    let mut after = 0;
    for (number, days) in [1, 30, 365, 3650, 9000, 20_000, 100_000].into_iter().enumerate() {
        let name = format!("c{number}");
        made.signed(&name, "ca", days);
        let der = CertificateDer::from_pem_file(made.path(&format!("{name}.pem"))).unwrap();
        let validity = Validity::of(&der).unwrap();
        // Such as notBefore=2026-11-30 13:11:59Z.
        let said = made.said(&format!("x509 -in {name}.pem -noout -dates -dateopt iso_8601"));
        let ours = |time: jiff::Timestamp| time.to_string().replace('T', " ");
        assert_eq!(said, format!("notBefore={}\nnotAfter={}\n", ours(validity.from), ours(validity.until)));
        assert!(read(&made, &format!("{name}.pem"), &format!("{name}.key"), None).is_ok());
        after += usize::from(validity.until.to_string().as_str() > "2050");
    }
    assert_eq!(after, 3);
}

/// After files were replaced new clients get what is in them, who is there keeps what it has; files that do not fit change nothing.
#[test]
fn certificates_are_replaced_while_it_runs() {
    let place = Place::new();
    place.made.authority("next").signed("other", "next", 30);
    let serving =
        Serving::start(ServerOptions { tls: Some(place.tls(false)), ..options() }, None, Fsync::Off);
    // `Serving` has a copy, and copies are one.
    let tls = serving.tls.clone().unwrap();
    let (before, after) =
        (place.known("ca", None, BOTH), Known::new(&place.made.path("next.pem"), None, BOTH));
    let mut old = before.to(serving.address);
    let asks = |known: &Known| known.try_to(serving.address).map(|mut client| client.ask("PING"));
    let pong = Value::Simple("PONG".into());
    assert_eq!(asks(&before).unwrap(), pong);
    assert!(asks(&after).is_err());
    let put = |from: &str, to: &str| fs::copy(place.made.path(from), place.made.path(to)).map(drop).unwrap();
    // One of the two is there: nothing changes.
    put("other.pem", "service.pem");
    let error = tls.renew().unwrap_err().to_string();
    assert!(error.contains("service.key") && error.contains("not the key"), "{error}");
    assert_eq!(asks(&before).unwrap(), pong);
    put("other.key", "service.key");
    tls.renew().unwrap();
    assert_eq!(asks(&after).unwrap(), pong);
    assert!(asks(&before).is_err());
    assert_eq!(old.ask("PING"), pong);
    let Value::Bulk(info) = old.ask("INFO") else { panic!("a text") };
    let ends = tls.validity().until.as_second();
    for line in [
        format!("tls_certificate_ends:{ends}\r\n"),
        "tls_handshakes:4\r\n".into(),
        "tls_handshake_failures:2\r\n".into(),
    ] {
        assert!(info.contains(&line), "{line}: {info}");
    }
}
