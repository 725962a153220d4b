//! A service by TLS, as programs of others meet it: redis-cli, curl, Python, openssl.

use super::Service;
use super::certificates::Certificates;
use super::client::Value;
use super::tls_client::Known;
use crate::common::cli::{Place, fixture};
use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

const OPTIONS: &str = "seen --http 127.0.0.1:0 --tls-cert service.pem --tls-key service.key";

/// A folder with certificates: of an authority `ca`, its `service`, an authority `clients`, its `client`, and an authority `strangers`.
fn place() -> (Place, Certificates) {
    let here = Place::new();
    let made = Certificates::in_folder(&here.path(""));
    made.authority("ca").authority("clients").authority("strangers");
    made.signed("service", "ca", 30).signed("client", "clients", 30);
    (here, made)
}

/// Runs a program with the words of a line, in a folder; whether it succeeded, and what it said.
fn run(here: &Place, line: &str) -> (bool, String) {
    let mut words = line.split(' ');
    let program = words.next().unwrap();
    let output = Command::new(program).args(words).current_dir(here.path("")).output();
    let Output { status, stdout, stderr } =
        output.unwrap_or_else(|error| panic!("{program}: {error}; apt-get install redis-tools curl openssl"));
    (status.success(), String::from_utf8(stdout).unwrap() + &String::from_utf8_lossy(&stderr))
}

/// What Python's `ssl` says: a pipeline of requests, their replies, and an end that both sides tell.
const PYTHON: &str = r#"
import socket, ssl, sys
port, version, authority, *shown = sys.argv[1:]
context = ssl.create_default_context(cafile=authority)
context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
if shown:
    context.load_cert_chain(*shown)
with socket.create_connection(("127.0.0.1", int(port))) as plain:
    with context.wrap_socket(plain, server_hostname="localhost") as tls:
        tls.sendall(b"".join(b"FP.CHECKADD python %d FP %016x\r\n" % (i, i * 0x9e3779b97f4a7c15 % 2**64) for i in range(20000)))
        said = b""
        while len(said) < 20000 * len(b"*1\r\n$3\r\nNEW\r\n"):
            some = tls.recv(1 << 16)
            assert some, said[-100:]
            said += some
        assert said.count(b"$") == 20000, said[-100:]
        tls.unwrap()
        print(tls.version() if hasattr(tls, "version") else "", "20000 replies")
"#;

/// redis-cli, curl and Python by both versions; who trusts another authority ends the handshake.
#[test]
fn programs_of_others_are_clients() {
    let (here, _) = place();
    let service = Service::start(&here, OPTIONS);
    let (port, http) = (service.address.port(), service.http().port());
    assert!(service.said.contains(&format!("curl https://127.0.0.1:{http}/ready")), "{}", service.said);
    let mut cases = 0;
    let mut says = |line: &str, succeeds: bool, expected: &str| {
        let (succeeded, said) = run(&here, line);
        assert!(succeeded == succeeds && said.contains(expected), "{line}: {said}");
        cases += 1;
    };
    says(&format!("redis-cli --tls --cacert ca.pem -p {port} FP.CHECKADD n a TEXT rain"), true, "NEW");
    says(&format!("redis-cli --tls --cacert ca.pem -p {port} FP.CHECKADD n b TEXT rain"), true, "DUPLICATE");
    says(
        &format!("redis-cli --tls --cacert strangers.pem -p {port} PING"),
        false,
        "certificate verify failed",
    );
    says(&format!("redis-cli -p {port} PING"), true, "this address speaks TLS");
    for version in ["1.2", "1.3"] {
        let curl = format!("curl --silent --show-error --noproxy * --tls-max {version} --tlsv{version}");
        says(
            &format!("{curl} --cacert ca.pem https://localhost:{http}/v1/n/count"),
            true,
            "{\"documents\":2,\"kept\":1}",
        );
        says(&format!("{curl} --cacert strangers.pem https://localhost:{http}/health"), false, "certificate");
        says(&format!("{curl} http://localhost:{http}/health"), true, "this address speaks TLS");
        let said = format!(
            "openssl s_client -connect 127.0.0.1:{port} -CAfile ca.pem -verify_return_error -tls{} -brief",
            version.replace('.', "_")
        );
        let (succeeded, said) = run(&here, &said);
        assert!(succeeded && said.contains("Verification: OK"), "{said}");
    }
    for version in ["TLSv1_2", "TLSv1_3"] {
        let output = Command::new("python3")
            .args(["-c", PYTHON, &port.to_string(), version, "ca.pem"])
            .current_dir(here.path(""))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // The second time all of them are retries.
        assert_eq!(String::from_utf8(output.stdout).unwrap().trim().rsplit(' ').next(), Some("replies"));
        cases += 1;
    }
    service.signal("TERM");
    let (code, said) = service.end();
    assert_eq!(code, Some(0), "{said}");
    // Each kind once, whoever else there was.
    for (words, count) in [("it did not begin TLS", 1), ("the client has ended the handshake", 1)] {
        assert_eq!(said.matches(words).count(), count, "{said}");
    }
    println!("{cases} clients");
}

/// With an authority of clients these have to show a certificate, and others reach the service without a password.
#[test]
fn clients_show_certificates() {
    let (here, _) = place();
    let service = Service::start(&here, &format!("{OPTIONS} --tls-client-ca clients.pem --listen 0.0.0.0:0"));
    let (port, http) = (service.address.port(), service.http().port());
    let redis = format!("redis-cli --tls --cacert ca.pem -p {port}");
    let (succeeded, said) = run(&here, &format!("{redis} --cert client.pem --key client.key PING"));
    assert!(succeeded && said.contains("PONG"), "{said}");
    let (_, said) = run(&here, &format!("{redis} PING"));
    assert!(!said.contains("PONG"), "{said}");
    let curl =
        format!("curl --silent --show-error --noproxy * --cacert ca.pem https://localhost:{http}/health");
    let (succeeded, said) = run(&here, &format!("{curl} --cert client.pem --key client.key"));
    assert!(succeeded && said.contains("ok"), "{said}");
    assert!(!run(&here, &curl).0);
    // Who asks whether it is ready shows one, too.
    let ready = format!("twinsplit serve seen --http 127.0.0.1:{http} --is-ready");
    here.say(&format!("{ready} --tls-cert client.pem --tls-key client.key")).ok();
    here.say(&format!("{ready} --tls-cert service.pem --tls-key service.key"))
        .fails(1, &["cannot ask 127.0.0.1"]);
    here.say(&ready).fails(1, &["is not ready"]);
}

/// SIGUSR1 has the files read again: what fits is taken, what does not is told and changes nothing; without TLS it changes nothing either.
#[test]
fn a_signal_renews_the_certificate() {
    let (here, made) = place();
    let mut service = Service::start(&here, OPTIONS);
    let known = |name: &str| Known::new(&made.path(&format!("{name}.pem")), None, rustls::ALL_VERSIONS);
    let asks = |known: &Known, address: SocketAddr| {
        known.try_to(address).is_ok_and(|mut client| client.ask("PING") == Value::Simple("PONG".into()))
    };
    let mut old = known("ca").to(service.address);
    let replace = |name: &str| {
        for end in ["pem", "key"] {
            std::fs::copy(here.path(&format!("{name}.{end}")), here.path(&format!("service.{end}"))).unwrap();
        }
    };
    let mut renew = |expected: &str| {
        service.signal("USR1");
        let line = service.line();
        assert!(line.contains("SIGUSR1") && line.contains(expected), "{line}");
        service.address
    };
    made.signed("old", "ca", -1).signed("next", "strangers", 9);
    replace("old");
    let address = renew("expired");
    assert!(asks(&known("ca"), address));
    replace("next");
    renew("new clients get the certificate in service.pem, which is valid until 20");
    assert!(asks(&known("strangers"), address) && !asks(&known("ca"), address));
    assert_eq!(old.ask("PING"), Value::Simple("PONG".into()));
    here.say(&format!(
        "twinsplit serve seen --http {} --is-ready --tls-cert service.pem --tls-key service.key",
        service.http()
    ))
    .ok();
    drop(service);
    let mut service = Service::start(&here, "seen");
    service.signal("USR1");
    assert!(service.line().contains("there is no TLS"));
    assert_eq!(service.client().ask("PING"), Value::Simple("PONG".into()));
    service.signal("TERM");
    assert_eq!(service.end().0, Some(0));
}

/// What does not fit is refused at the start, before anything is made; secrets that all may read are told.
#[test]
fn files_are_looked_at_before_anything_is_made() {
    let (here, made) = place();
    made.signed("old", "ca", -1);
    let refused = |options: &str, code: i32, words: &[&str]| {
        here.say(&format!("twinsplit serve new {options}")).fails(code, words);
    };
    refused("--tls-cert service.pem", 2, &["--tls-key"]);
    refused("--tls-key service.key", 2, &["--tls-cert"]);
    refused("--tls-client-ca ca.pem", 2, &["--tls-cert"]);
    refused("--tls-cert none --tls-key service.key", 1, &["none"]);
    refused(
        "--tls-cert service.pem --tls-key ca.key",
        1,
        &["ca.key: it is not the key of the first certificate in service.pem"],
    );
    refused("--tls-cert old.pem --tls-key old.key", 1, &["old.pem: the certificate has expired at 20"]);
    refused(
        "--tls-cert service.pem --tls-key service.key --listen 0.0.0.0:0",
        2,
        &["others reach 0.0.0.0:0", "--password-file", "--tls-client-ca"],
    );
    assert!(!here.path("new").exists());
    let mode = |name: &str, mode: u32| {
        std::fs::set_permissions(here.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    here.write("password", "secret\n");
    let mut warnings = 0;
    for (key, password) in [(0o600, 0o640), (0o640, 0o600), (0o644, 0o600), (0o600, 0o604)] {
        mode("service.key", key);
        mode("password", password);
        let service = Service::start(&here, &format!("{OPTIONS} --password-file password"));
        for (name, mode) in [("service.key", key), ("password", password)] {
            let is_told =
                service.said.contains(&format!("warning: {name}: every user of this machine may read"));
            assert_eq!(is_told, mode & 0o004 != 0, "{name} {mode:o}: {}", service.said);
            warnings += usize::from(is_told);
        }
    }
    assert_eq!(warnings, 2);
}

/// Who begins TLS where there is none is told in what its user can read, and so is who looks at the service's output.
#[test]
fn tls_without_tls_is_told() {
    let here = Place::new();
    let service = Service::start(&here, "seen --http 127.0.0.1:0");
    let failures = || {
        let Value::Bulk(info) = service.client().ask("INFO") else { panic!("a text") };
        let count = info.lines().find_map(|line| line.strip_prefix("tls_handshake_failures:"));
        count.unwrap_or_else(|| panic!("{info}")).parse::<u64>().unwrap()
    };
    let mut counts = vec![failures()];
    for line in [
        format!("redis-cli --tls --insecure -p {} PING", service.address.port()),
        format!("curl --silent --show-error --noproxy * https://{}/health", service.http()),
        format!("curl --silent --show-error --noproxy * https://{}/health", service.http()),
    ] {
        let (succeeded, said) = run(&here, &line);
        assert!(!succeeded && said.contains("wrong version number"), "{line}: {said}");
        counts.push(failures());
    }
    // One that only looks whether somebody listens is none.
    drop(TcpStream::connect(service.address).unwrap());
    counts.push(failures());
    // redis-cli may try again.
    let [none, first, second, third, last] = counts[..] else { panic!("{counts:?}") };
    assert!(none == 0 && first > 0, "{counts:?}");
    assert_eq!([second, third, last], [first + 1, first + 2, first + 2]);
    service.signal("TERM");
    let (_, said) = service.end();
    assert_eq!(said.matches("it began TLS, and the service has none").count(), 1, "{said}");
}

/// The commands of docs/service.md that make certificates, as they stand, and the service with them.
#[test]
fn the_page_makes_certificates() {
    let page = std::fs::read_to_string(fixture("../docs/service.md")).unwrap();
    let (_, section) = page.split_once("\n## TLS\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let lines: Vec<&str> = section.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    let (make, serve): (Vec<&str>, Vec<&str>) = lines.iter().partition(|line| line.starts_with("openssl "));
    assert_eq!(make.len(), 5);
    let here = Place::new();
    for line in make {
        let output = Command::new("sh").args(["-c", line]).current_dir(here.path("")).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let serve = serve.iter().find_map(|line| line.strip_prefix("twinsplit serve ")).unwrap();
    let options = serve.trim_end_matches(" &").replace("0.0.0.0:6380", "127.0.0.1:0").replace(":8380", ":0");
    let service = Service::start(&here, &options);
    assert!(!service.said.contains("warning"), "{}", service.said);
    let (port, http) = (service.address.port().to_string(), service.http().port().to_string());
    let mut asked = 0;
    for line in lines.iter().filter(|line| line.starts_with("redis-cli ") || line.starts_with("curl ")) {
        let line = line.replace("6380", &port).replace("8380", &http).replace("seen.example", "localhost");
        let (succeeded, said) =
            run(&here, &line.replacen("curl ", "curl --silent --show-error --noproxy * ", 1));
        assert!(succeeded && (said.contains("PONG") || said.contains("ready")), "{line}: {said}");
        asked += 1;
    }
    assert_eq!(asked, 2);
    check_files(&here.path(""));
}

/// Keys are the owner's alone.
fn check_files(folder: &Path) {
    let mut text = String::new();
    for name in ["ca.key", "service.key", "client.key"] {
        let mut file = std::fs::File::open(folder.join(name)).unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o077, 0, "{name}");
        file.read_to_string(&mut text).unwrap();
    }
    assert_eq!(text.matches("-----BEGIN PRIVATE KEY-----").count(), 3);
}
