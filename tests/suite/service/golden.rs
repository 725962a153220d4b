//! Folders that earlier versions have written, with a snapshot and a log behind it: they open, and say what they said.

use std::fs;
use std::path::Path;

use super::Service;
use super::client::{Client, Value, duplicate, new};
use crate::common::cli::Place;

/// Copies a folder, and starts a service of it.
fn start(here: &Place, name: &str, options: &str) -> Service {
    fs::create_dir(here.path(name)).unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/service").join(name);
    for entry in fs::read_dir(golden).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), here.path(name).join(entry.file_name())).unwrap();
    }
    Service::start(here, &format!("{name} {options}"))
}

fn says(client: &mut Client, namespace: &str, id: &str, (kind, content): (&str, &str), expected: Value) {
    let request = ["FP.CHECKADD", namespace, id, kind, content].map(str::to_owned).to_vec();
    assert_eq!(client.ask_all(&[request]).unwrap(), [expected], "{namespace} {id}");
}

/// Format 1, which knows no runs.
#[test]
fn folders_of_format_1_open() {
    let here = Place::new();
    for again in [false, true] {
        let options = "--features words:2 --min-features 2";
        let service = match again {
            false => start(&here, "plain-1", options),
            true => Service::start(&here, &format!("plain-1 {options}")),
        };
        if !again {
            assert!(service.said.contains("of a snapshot and 3 changes after it"), "{}", service.said);
        }
        let mut client = service.client();
        let text = |text: &'static str| ("TEXT", text);
        says(&mut client, "news", "a", text("It rained in the north all day, and rivers rose."), new());
        says(
            &mut client,
            "news",
            "b",
            text("It rained in the north all day and rivers rose!"),
            duplicate("a", 0, "hamming"),
        );
        says(&mut client, "news", "c", text("Rain fell."), new());
        says(&mut client, "news", "d", text("RAIN fell."), duplicate("c", 0, "equal-text"));
        says(&mut client, "news", "e", text(""), new());
        says(&mut client, "news", "f", text("Somebody sang in the street, and nobody heard of it."), new());
        for (id, value, expected) in [
            ("x", "00000000000000ff", new()),
            ("y", "00000000000000fe", duplicate("x", 1, "hamming")),
            ("z", "00000000000000fe", new()),
            ("w", "00000000000000f0", duplicate("z", 3, "hamming")),
        ] {
            says(&mut client, "sent", id, ("FP", value), expected);
        }
        let count = |client: &mut Client, name: &str| match client.ask(&format!("FP.COUNT {name}")) {
            Value::Array(parts) => [parts[1].clone(), parts[3].clone()],
            other => panic!("{other:?}"),
        };
        assert_eq!(count(&mut client, "sent"), [Value::Number(4), Value::Number(2)]);
        assert_eq!(count(&mut client, "news"), [Value::Number(6), Value::Number(4)]);
        // From here on it has runs, and is of format 2.
        let begun = Value::Simple("OK".to_owned());
        assert_eq!(client.ask("FP.BEGIN sent r ISOLATED"), begun);
        service.signal("TERM");
        assert_eq!(service.end().0, Some(0));
    }
    let service = start(
        &here,
        "checked-1",
        "--features words:1 --min-features 2 --check jaccard:0.5 --distance 3,60:8",
    );
    let mut client = service.client();
    let first = "one two three four five six seven eight nine ten eleven";
    says(&mut client, "news", "a", ("TEXT", first), new());
    let same = "One two three four five six seven eight nine ten eleven!";
    says(&mut client, "news", "b", ("TEXT", same), duplicate("a", 0, "jaccard:1.000000"));
    says(&mut client, "news", "c", ("TEXT", "something else altogether stands in this text of words"), new());
    let other = "Something else altogether stands in this text of Words";
    says(&mut client, "news", "d", ("TEXT", other), duplicate("c", 0, "jaccard:1.000000"));
}

/// Format 2, with runs: one that was committed, one that was cancelled, and a namespace that is read-only. What was said of fingerprints and of sets was checked
/// by hand.
#[test]
fn folders_of_format_2_open() {
    let options = "--features words:2 --min-features 2";
    let bulk = |text: &str| Value::Bulk(text.to_owned());
    let alike = |of: &str, said: [&str; 2]| {
        let [distance, measure] = said;
        let distance = distance.parse().map_or(Value::Null, Value::Number);
        Value::Array(vec![bulk("DUPLICATE"), bulk(of), distance, bulk(measure)])
    };
    for (name, options, [b, f, g]) in [
        ("runs-2", format!("{options} --distance 8"), [["6", "hamming"], ["6", "hamming"], ["0", "hamming"]]),
        (
            "sets-2",
            format!("{options} --chain doc-split --tau 0.5"),
            // 8 of 10, 7 of 9.
            [["", "jaccard:0.800000"], ["", "jaccard:0.777778"], ["", "jaccard:1.000000"]],
        ),
    ] {
        let here = Place::new();
        for again in [false, true] {
            let service = match again {
                false => start(&here, name, &options),
                true => Service::start(&here, &format!("{name} {options}")),
            };
            if !again {
                assert!(service.said.contains("of a snapshot and 7 changes after it"), "{}", service.said);
            }
            let mut client = service.client();
            for (namespace, id, text, expected) in [
                ("news", "a", "It rained in the north all day, and rivers rose.", new()),
                ("news", "b", "It rained in the north all day and rivers fell!", alike("a", b)),
                ("news", "c", "Rain fell.", new()),
                ("news", "d", "RAIN fell.", duplicate("c", 0, "equal-text")),
                ("news", "e", "Somebody sang in the street, and nobody heard of it.", new()),
                ("news", "f", "Somebody sang in the street and nobody heard.", alike("e", f)),
                ("news", "g", "The ferry left the harbour at six in the morning.", alike("h", g)),
                ("news", "h", "The ferry left the harbour at six in the morning!", new()),
                ("more", "i", "The ferry left the harbour at six in the morning!", new()),
            ] {
                says(&mut client, namespace, id, ("TEXT", text), expected);
            }
            let committed = Value::Array(vec![Value::Array(vec![
                bulk("g"),
                bulk("DUPLICATE"),
                bulk("h"),
                g[0].parse().map_or(Value::Null, Value::Number),
                bulk(g[1]),
            ])]);
            assert_eq!(client.ask("FP.COMMIT news monday"), committed);
            for asked in ["FP.CHECKADD more j TEXT x", "FP.CANCEL more tuesday"] {
                let Value::Error(error) = client.ask(asked) else { panic!("{asked}") };
                assert!(error.starts_with("READONLY"), "{error}");
            }
            service.signal("TERM");
            assert_eq!(service.end().0, Some(0));
        }
    }
}
