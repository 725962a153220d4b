//! How a service starts, what it refuses, and how it stops.

use super::Service;
use super::client::{Value, duplicate, new};
use crate::common::cli::Place;

/// A signal has it answer, write a snapshot and end; what was there is there, and nothing has to be made again.
#[test]
fn a_signal_ends_it_with_a_snapshot() {
    let here = Place::new();
    for (number, signal) in ["TERM", "INT", "HUP"].into_iter().enumerate() {
        let service = Service::start(&here, "kept --features words:2 --min-features 2");
        assert!(service.said.contains(&format!("kept: {number} document")), "{}", service.said);
        assert!(number == 0 || service.said.contains("of a snapshot and 0 changes"), "{}", service.said);
        let mut client = service.client();
        let text = ["It rained all day", "Nothing else was heard of", "Somebody sang in the street"][number];
        let ask = |client: &mut super::client::Client, id: &str| {
            let request = ["FP.CHECKADD", "news", id, "TEXT", text].map(str::to_owned).to_vec();
            client.ask_all(&[request]).unwrap().remove(0)
        };
        assert_eq!(ask(&mut client, signal), new());
        service.signal(signal);
        let (code, said) = service.end();
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("stopped; kept holds a snapshot of all there was"), "{said}");
        let names = here.names("kept");
        assert_eq!(names.iter().filter(|name| name.starts_with("snapshot-")).count(), 1, "{names:?}");
        assert_eq!(names.len(), 3, "{names:?}");
    }
    let service = Service::start(&here, "kept --features words:2 --min-features 2");
    let mut client = service.client();
    let request = ["FP.CHECKADD", "news", "again", "TEXT", "it rained ALL day"].map(str::to_owned).to_vec();
    assert_eq!(client.ask_all(&[request]).unwrap(), [duplicate("TERM", 0, "hamming")]);
}

/// Options that do not fit are refused before anything is made, and other options than those of a folder by name.
#[test]
fn what_does_not_fit_is_refused_at_the_start() {
    let here = Place::new();
    let refused = |line: &str, code: i32, words: &[&str]| {
        here.say(&format!("twinsplit serve {line}")).fails(code, words);
    };
    refused("new --listen 0.0.0.0:0", 2, &["others reach 0.0.0.0:0", "--password-file"]);
    refused("new --listen [::]:0", 2, &["others reach [::]:0"]);
    refused("new --distance 9", 2, &["--distance 9", "up to 8"]);
    refused("new --weights tf-idf", 2, &["--idf-table", "--weights-idf jieba"]);
    refused("new --check signature", 2, &["jaccard:T, cosine:T or edit:T"]);
    refused("new --counts on", 2, &["--counts is for sets"]);
    refused("new --retain 2", 2, &["--retain", "48h"]);
    refused("new --retain 0h", 2, &["--retain", "for ever"]);
    refused("new --retain-from last-seen", 2, &["--retain <TIME>"]);
    refused("new --connections 0", 2, &["--connections", "from 1 on"]);
    refused("new --pipeline 0", 2, &["--pipeline", "from 1 on"]);
    refused("new --fsync never", 2, &["--fsync", "100ms"]);
    here.write("empty", "\n");
    refused("new --listen 0.0.0.0:0 --password-file empty", 1, &["empty", "its first line is empty"]);
    assert!(!here.path("new").exists());
    std::fs::create_dir(here.path("mine")).unwrap();
    here.write("mine/notes", "mine");
    refused("mine", 1, &["holds notes", "a folder of its own"]);
    assert_eq!(here.read("mine/notes"), "mine");
    let service = Service::start(&here, "made --distance 2");
    refused("made --distance 2", 1, &["another service has this folder"]);
    service.signal("TERM");
    assert_eq!(service.end().0, Some(0));
    refused("made", 1, &["made with --distance 2 where --distance 3 is asked for"]);
    refused("made --distance 2 --features words:4", 1, &["--features"]);
    // A tail that a power failure has torn is cut and told.
    let log = here.names("made").into_iter().find(|name| name.starts_with("log-")).unwrap();
    let mut bytes = std::fs::read(here.path(&format!("made/{log}"))).unwrap();
    bytes.extend([7; 40]);
    here.write(&format!("made/{log}"), bytes);
    let service = Service::start(&here, "made --distance 2");
    assert!(
        service.said.contains("warning: ") && service.said.contains("40 bytes behind byte"),
        "{}",
        service.said
    );
}

/// With a password others may reach it.
#[test]
fn a_password_opens_other_addresses() {
    let here = Place::new();
    here.write("password", "secret\n");
    let service = Service::start(&here, "kept --password-file password --listen 0.0.0.0:0");
    let port = service.address.port();
    let mut client = super::client::Client::to(format!("127.0.0.1:{port}").parse().unwrap());
    assert!(matches!(client.ask("FP.COUNT a"), Value::Error(error) if error.starts_with("NOAUTH")));
    assert_eq!(client.ask("AUTH secret"), Value::Simple("OK".to_owned()));
    assert_eq!(client.ask("FP.CHECKADD a b TEXT x"), new());
    // One that has nothing more to ask is done with.
    client.no_more();
    assert!(client.reply().is_err());
}

/// Where the system allows fewer clients than the service is to take in, it says so at its start.
#[test]
fn too_few_open_files_are_told() {
    let here = Place::new();
    // What an earlier start has said must be gone, or this one would be stopped before it waits for signals.
    let said = |limit: &str| {
        here.shell(&format!("rm -f said; ulimit {limit}; twinsplit serve new --listen 127.0.0.1:0 --connections 200 2> said & pid=$!; until grep -q listening said; do kill -0 $pid || break; sleep .05; done; kill $pid; wait $pid; cat said")).ok()
    };
    let text = said("-n 100");
    assert!(
        text.contains("allows this process 100 open files") && text.contains("--connections 200 needs 264"),
        "{text}"
    );
    // What is allowed beyond that is taken.
    let text = said("-Sn 100");
    assert!(!text.contains("open files"), "{text}");
}
