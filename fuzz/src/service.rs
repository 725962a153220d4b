//! A service: requests of the protocol, changes of a log, and its files, of any bytes. What is read as a request is read again when more follows it; a folder that
//! opens is whole, and opens again.

use std::path::Path;
use twinsplit_core::hash;
use twinsplit_core::similarity::Measure;
use twinsplit_core::sketch::simhash::Bits;
use twinsplit_io::checked_file::CheckedWriter;
use twinsplit_serve::disk::LogFolder;
use twinsplit_serve::resp::{Limits, request};
use twinsplit_serve::{Comparison, Engine, Operation, Retention, Settings, State};

/// One input: what it is, and its bytes; those of files are cut into records by line ends.
pub fn run(data: &[u8]) {
    let Some((kind, rest)) = data.split_first() else { return };
    match kind % 4 {
        0 => requests(rest),
        1 => changes(rest, *kind),
        2 => files("service-log", "log-00000000000000000001", rest, *kind),
        _ => files("service-snapshot", "snapshot-00000000000000000007", rest, *kind),
    }
}

fn requests(bytes: &[u8]) {
    let limits = Limits { request: 1 << 10, arguments: 20 };
    let mut rest = bytes;
    while let Ok(Some((words, end))) = request(rest, limits) {
        assert!(end > 0 && end <= rest.len());
        assert!(words.len() <= limits.arguments && words.iter().all(|word| word.len() <= limits.request));
        // It does not depend on what follows, and is not there before its end.
        assert_eq!(request(&rest[..end], limits), Ok(Some((words, end))));
        assert!(!matches!(request(&rest[..end - 1], limits), Ok(Some((_, other))) if other >= end));
        rest = &rest[end..];
    }
}

/// Of fingerprints, or where a bit is set of sets.
fn settings(bits: u8) -> Settings {
    let retention = Retention { keep: Some(1000), from_last_seen: true, most: Some(20) };
    let comparison = match bits & 16 {
        0 => Comparison::Fingerprints { bits: Bits::B64, distance: 3, check: None },
        _ => Comparison::Sets(Measure::Jaccard.reaching("0.6").expect("a threshold")),
    };
    Settings { comparison, retention, memory: 1 << 20, namespaces: 4 }
}

fn changes(bytes: &[u8], bits: u8) {
    let mut state = State::new(settings(bits));
    for change in bytes.split(|byte| *byte == b'\n') {
        let _ = state.replay(change);
    }
    for (name, namespace) in state.namespaces() {
        let (documents, kept) = namespace.held();
        assert!(kept <= documents, "{name:?}");
    }
}

/// Writes a file with a head that is whole, of each format that is read. Where a bit is set its records have the right numbers and checksums.
fn files(kind: &str, name: &str, bytes: &[u8], bits: u8) {
    let (framed, format) = (bits & 4 > 0, if bits & 8 > 0 { "1" } else { "2" });
    let folder = tempfile::tempdir_in("/dev/shm").expect("a folder");
    let parameters =
        [("service-format", format), ("retain-ms", "1000"), ("retain-from", "last-seen"), ("max", "20")];
    let parameters = parameters.map(|(name, value)| (name, value.to_owned()));
    let (mut text, lines) = CheckedWriter::start(kind, &parameters);
    text.push(b'\n');
    text.extend(lines.end());
    text.push(b'\n');
    if framed {
        for (number, content) in (1u64..).zip(bytes.split(|byte| *byte == b'\n')) {
            let mut record = [number.to_le_bytes(), [0; 8]].concat();
            record.extend_from_slice(content);
            text.extend((content.len() as u32).to_le_bytes());
            text.extend(hash::feature(&record).to_le_bytes());
            text.extend(record);
        }
    } else {
        text.extend_from_slice(bytes);
    }
    std::fs::write(folder.path().join(name), text).expect("a file");
    let Some(count) = open(folder.path(), bits) else { return };
    assert_eq!(open(folder.path(), bits), Some(count), "what opens once opens again");
}

/// How many documents there are, if the folder opens.
fn open(folder: &Path, bits: u8) -> Option<Vec<(Box<[u8]>, u64)>> {
    let (mut engine, _) = Engine::open(LogFolder(folder.to_owned()), settings(bits), Vec::new()).ok()?;
    let count = engine.state().namespaces().map(|(name, held)| (name.into(), held.held().0)).collect();
    engine.ask(0, b"more", &mut Operation::Count);
    engine.sync().expect("a disk");
    Some(count)
}
