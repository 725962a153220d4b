//! What deploy/ has: the unit of systemd, and the image.

use super::Service;
use super::certificates::Certificates;
use crate::common::cli::{Place, binaries, fixture};
use std::collections::BTreeMap;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixDatagram};
use std::process::Command;
use std::time::Duration;

fn read(name: &str) -> String {
    let path = fixture("../deploy").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The unit as systemd reads it, with the program that was built.
#[test]
fn systemd_takes_the_unit() {
    let here = Place::new();
    let program = "/usr/local/bin/twinsplit";
    let verify = |text: String| {
        here.write("twinsplit.service", text);
        let output =
            Command::new("systemd-analyze").arg("verify").arg(here.path("twinsplit.service")).output();
        let output =
            output.unwrap_or_else(|error| panic!("systemd-analyze: {error}; apt-get install systemd"));
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let unit = read("twinsplit.service");
    assert_eq!(unit.matches(program).count(), 1);
    let ours = unit.replace(program, &binaries().join("twinsplit").display().to_string());
    let (succeeded, said) = verify(ours.clone());
    assert!(succeeded && !said.contains("twinsplit.service:"), "{said}");
    // Options come by a variable that the program does not take for one of its own.
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let variable = start.rsplit_once(" $").unwrap().1;
    assert!(unit.contains(&format!("{variable}=\"…\"")), "{variable}");
    here.with("twinsplit serve seen --is-ready --http 127.0.0.1:1", "", &[(variable, "--fsync off")])
        .fails(1, &["cannot ask 127.0.0.1:1"]);
    let (_, said) = verify(ours.replace("ProtectSystem=strict", "ProtectSystem=strictly"));
    assert!(said.contains("strictly"), "{said}");
}

/// systemd is told when the service is ready, and when it stops, at a socket of the file system or of none.
#[test]
fn systemd_is_told_what_is_so() {
    let here = Place::new();
    let name = here.path("notify").display().to_string();
    let abstract_name = UnixAddress::from_abstract_name(&name).unwrap();
    told(&here, &name, UnixDatagram::bind(&name).unwrap());
    told(&here, &format!("@{name}"), UnixDatagram::bind_addr(&abstract_name).unwrap());
}

fn told(here: &Place, name: &str, socket: UnixDatagram) {
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let told = || {
        let mut bytes = [0; 100];
        let length = socket.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    };
    let service = Service::start_with(here, "seen", &[("NOTIFY_SOCKET", name)]);
    assert_eq!(told(), "READY=1");
    service.signal("TERM");
    assert_eq!(service.end().0, Some(0));
    assert_eq!(told(), "STOPPING=1");
}

/// The instructions of the Dockerfile: what is copied is made by `make dist` or is here, nobody is root, and the command and the health check do what they are for
/// with another folder and other ports.
#[test]
fn the_image_serves_and_says_whether_it_is_ready() {
    let text = read("Dockerfile");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let mut all: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    lines
        .map(|line| line.split_once(' ').unwrap())
        .for_each(|(word, rest)| all.entry(word).or_default().push(rest));
    let words: Vec<&str> = all.keys().copied().collect();
    assert_eq!(
        words,
        ["COPY", "ENTRYPOINT", "EXPOSE", "FROM", "HEALTHCHECK", "STOPSIGNAL", "USER", "VOLUME"]
    );
    assert_eq!((&all["FROM"][..], &all["USER"][..]), (&["scratch"][..], &["65532:65532"][..]));
    let makefile = std::fs::read_to_string(fixture("../Makefile")).unwrap();
    assert!(makefile.contains("cp -f $(DIST)/twinsplit target/dist/"), "what COPY takes");
    assert_eq!(all["COPY"][0], "target/dist/twinsplit /twinsplit");
    assert_eq!(all["COPY"][1], "--chown=65532:65532 deploy/data /data");
    assert!(fixture("../deploy/data").is_dir());
    let kept: Vec<String> = read("Dockerfile.dockerignore").lines().map(str::to_owned).collect();
    assert_eq!(kept, ["*", "!target/dist/twinsplit", "!deploy/data"]);

    let here = Place::new();
    here.write("password", "secret\n");
    let array =
        |text: &str| -> Vec<String> { serde_json::from_str(&text[text.find('[').unwrap()..]).unwrap() };
    let [program, serve, options @ ..] = &array(all["ENTRYPOINT"][0])[..] else { panic!("{all:?}") };
    assert_eq!((program.as_str(), serve.as_str()), ("/twinsplit", "serve"));
    let options =
        options.join(" ").replace("/data/seen", "seen").replace("/run/secrets/password", "password");
    assert_eq!(all["EXPOSE"], ["6380 8380"]);
    let options = options.replace(":6380", ":0").replace(":8380", ":0");
    let health = array(all["HEALTHCHECK"][0])[1..].join(" ").replace("/data/seen", "seen");
    let service = Service::start(&here, &options);
    let health = health.replace(":8380", &format!(":{}", service.http().port()));
    here.say(&format!("twinsplit {health}")).ok();
    service.signal("TERM");
    assert_eq!(service.end().0, Some(0));
    here.say(&format!("twinsplit {health}")).fails(1, &["127.0.0.1:"]);
    here.say("twinsplit serve seen --is-ready").fails(2, &["--http"]);
    // With TLS the same two have what they need by variables, as the comment has them.
    let made = Certificates::in_folder(&here.path(""));
    made.authority("ca").signed("service", "ca", 30);
    let variables: Vec<(&str, String)> = text
        .split_whitespace()
        .filter_map(|word| word.trim_end_matches(';').split_once("=/run/tls/"))
        .map(|(variable, file)| (variable, here.path(file).display().to_string()))
        .collect();
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, &**value)).collect();
    assert_eq!(variables.len(), 2);
    let service = Service::start_with(&here, &options, &variables);
    let health = array(all["HEALTHCHECK"][0])[1..].join(" ").replace("/data/seen", "seen");
    let health = health.replace(":8380", &format!(":{}", service.http().port()));
    here.with(&format!("twinsplit {health}"), "", &variables).ok();
    here.say(&format!("twinsplit {health}")).fails(1, &["is not ready"]);
}
