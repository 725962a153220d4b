//! Snapshots: what there was at one moment, so that the log before it can go.
//!
//! A snapshot has the records of a log ([`crate::record`]): the first one has the moment and the namespaces, the others documents, and the last one how many
//! these are. It has its name when all of it is on the disk.

use crate::codec::{self, Reader, put_bytes, put_ended, put_mode, put_number};
use crate::disk::{LogDisk, LogFile};
use crate::log;
use crate::namespace::Counts;
use crate::pass::{self, SnapshotPass};
use crate::record::{self, FORMAT_NAME, WITHOUT_RUNS};
use crate::runs::Runs;
use crate::state::State;
use std::path::Path;
use twinsplit_io::checked_file::Head;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::mapped::Map;

/// The kind of its files.
pub(crate) const KIND: &str = "service-snapshot";
/// How their names begin.
pub(crate) const SNAPSHOT: &str = "snapshot-";
/// A file that has no name yet.
pub(crate) const UNNAMED: &str = "snapshot.partial";

/// Begins a snapshot of all namespaces as they are now: what its first record says.
pub(crate) fn begin(state: &mut State) -> Vec<u8> {
    let mut head = Vec::new();
    put_number(state.now(), &mut head);
    put_number(state.namespaces().count() as u64, &mut head);
    for (name, namespace) in state.namespaces_mut() {
        put_bytes(name, &mut head);
        put_number(namespace.next(), &mut head);
        let Counts { new, duplicates, retries, deleted, expired, orphans } = namespace.counts();
        for count in [new, duplicates, retries, deleted, expired, orphans] {
            put_number(count, &mut head);
        }
        put_runs(&namespace.runs, &mut head);
        put_number(namespace.read_only.into(), &mut head);
        SnapshotPass::begin(namespace);
    }
    head
}

/// Appends the runs of a namespace: those that are open, and those that have ended and are remembered.
fn put_runs(runs: &Runs, out: &mut Vec<u8>) {
    put_number(runs.last().into(), out);
    let open = runs.all_open();
    put_number(open.len() as u64, out);
    for (number, name, mode) in open {
        put_number(number.into(), out);
        put_bytes(name, out);
        put_mode(mode, out);
    }
    let ended = runs.all_ended();
    put_number(ended.len() as u64, out);
    for (name, mode, how) in ended {
        put_bytes(name, out);
        put_mode(mode, out);
        put_ended(how, out);
    }
}

fn read_runs(from: &mut Reader<'_>) -> Option<Runs> {
    let mut runs = Runs::default();
    let last = u32::try_from(from.number()?).ok()?;
    let mut before = 0;
    for _ in 0..from.number()? {
        let number =
            u32::try_from(from.number()?).ok().filter(|number| (before + 1..=last).contains(number))?;
        let name = from.bytes()?;
        if runs.find(name).is_some() {
            return None;
        }
        runs.put(number, name, codec::mode(from)?);
        before = number;
    }
    for _ in 0..from.number()? {
        let name: Box<[u8]> = from.bytes()?.into();
        runs.remember(name, codec::mode(from)?, codec::ended(from)?);
    }
    runs.go_on(last);
    Some(runs)
}

/// The content of the next record, with about so many documents; `None` at the end. The namespace is called by its place among those of
/// the first record: new ones may have come between them since.
pub(crate) fn step(state: &mut State, most: u64) -> Option<(u64, Vec<u8>)> {
    for (name, namespace) in state.namespaces_mut() {
        let mut out = Vec::new();
        put_bytes(name, &mut out);
        if let Some(count) = pass::step(namespace, most, &mut out) {
            return Some((count, out));
        }
    }
    None
}

/// Gives a snapshot up.
pub(crate) fn give_up(state: &mut State) {
    state.namespaces_mut().for_each(|(_, namespace)| namespace.pass = None);
}

/// Writes a snapshot.
pub(crate) struct SnapshotWriter<D: LogDisk> {
    disk: D,
    file: D::File,
    /// The number of the last change that is in it.
    upto: u64,
    records: u64,
    documents: u64,
    bytes: u64,
    buffer: Vec<u8>,
}

impl<D: LogDisk> SnapshotWriter<D> {
    /// Begins a file.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn begin(
        (mut disk, kind): (D, &str),
        parameters: &[(&str, String)],
        upto: u64,
        first: &[u8],
    ) -> Result<Self> {
        let mut file = disk.create(UNNAMED)?;
        file.append(&record::head(kind, parameters))?;
        let mut writer = Self { disk, file, upto, records: 0, documents: 0, bytes: 0, buffer: Vec::new() };
        writer.record(first)?;
        Ok(writer)
    }

    fn record(&mut self, content: &[u8]) -> Result<()> {
        self.records += 1;
        self.buffer.clear();
        record::push(self.records, 0, content, &mut self.buffer);
        self.bytes += self.buffer.len() as u64;
        self.file.append(&self.buffer)
    }

    /// Adds some documents.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn add(&mut self, documents: u64, content: &[u8]) -> Result<()> {
        self.documents += documents;
        self.record(content)
    }

    /// Gives the file its name, and removes the logs and snapshots whose place it takes. Gives its bytes.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn finish(mut self) -> Result<u64> {
        let mut end = Vec::new();
        put_number(self.documents, &mut end);
        self.record(&end)?;
        self.file.sync()?;
        self.disk.rename(UNNAMED, &log::name(SNAPSHOT, self.upto))?;
        self.disk.sync()?;
        remove_superseded(&mut self.disk, self.upto)?;
        Ok(self.bytes)
    }
}

/// Removes snapshots of earlier moments, and files of the log that hold nothing that came later.
///
/// # Errors
/// Those of the disk.
pub(crate) fn remove_superseded<D: LogDisk>(disk: &mut D, upto: u64) -> Result<()> {
    let folder = disk.path().to_owned();
    for number in log::numbers(&folder, SNAPSHOT)?.into_iter().filter(|number| *number < upto) {
        disk.remove(&log::name(SNAPSHOT, number))?;
    }
    for two in log::numbers(&folder, log::LOG)?.windows(2).filter(|two| two[1] <= upto + 1) {
        disk.remove(&log::name(log::LOG, two[0]))?;
    }
    Ok(())
}

/// Reads a snapshot into an empty state.
///
/// # Errors
/// The file is no snapshot of this version, or damaged.
pub(crate) fn read(
    folder: &Path,
    (kind, number): (&str, u64),
    state: &mut State,
    start: impl FnOnce(&Head, &Path) -> Result<()>,
) -> Result<()> {
    let path = folder.join(log::name(SNAPSHOT, number));
    let bytes = Map::of(&path)?;
    let (head, mut at) = record::read_head(&bytes, &path, kind)?;
    start(&head, &path)?;
    let with_runs = head.get(FORMAT_NAME) != WITHOUT_RUNS;
    let wrong = |at: usize, problem: &str| Error::File {
        path: path.clone(),
        problem: format!("at byte {at}: {problem}; restore the folder from a backup"),
    };
    let mut contents = Vec::new();
    while at < bytes.len() {
        let found = record::at(&bytes, at).filter(|found| found.number == contents.len() as u64 + 1);
        let found = found.ok_or_else(|| wrong(at, "a record is damaged"))?;
        contents.push((at, found.content));
        at = found.end;
    }
    let [(first, head), documents @ .., (last, end)] = &contents[..] else {
        return Err(wrong(at, "it ends before its last record"));
    };
    let count = Some(Reader(end)).and_then(|mut end| Some((end.number()?, end.end()?)));
    let (count, ()) = count.ok_or_else(|| wrong(*last, "it ends before its last record"))?;
    let (now, namespaces) =
        read_first(head, with_runs).ok_or_else(|| wrong(*first, "the first record is none"))?;
    // Of each namespace the numbers of its documents and where these are: they are not in order, and to read them twice takes less than to hold them.
    let mut rows: Vec<Vec<(u64, usize)>> = namespaces.iter().map(|_| Vec::new()).collect();
    for (at, content) in documents {
        let mut from = Reader(content);
        let name = from.bytes().ok_or_else(|| wrong(*at, "a record names no namespace"))?;
        let place = namespaces.binary_search_by(|(known, ..)| (**known).cmp(name));
        let place =
            place.map_err(|_| wrong(*at, "a record names a namespace that the first one does not"))?;
        let end = at + record::HEAD + content.len();
        while from.end().is_none() {
            let start = end - from.0.len();
            let row = pass::saved(&mut from).ok_or_else(|| wrong(*at, "a record holds no documents"))?;
            rows[place].push((row.number, start));
        }
    }
    if rows.iter().map(Vec::len).sum::<usize>() as u64 != count {
        return Err(wrong(*last, "it holds another number of documents than its last record says"));
    }
    for ((name, next, counts, (runs, read_only)), mut rows) in namespaces.into_iter().zip(rows) {
        rows.sort_unstable();
        let rows = rows.into_iter().map(|(_, start)| pass::saved(&mut Reader(bytes.get(start..)?)));
        let namespace = state.restored(name, now);
        namespace.read_only = read_only;
        if !namespace.restore(rows, next, counts, runs) {
            return Err(wrong(*first, "its documents contradict one another"));
        }
    }
    Ok(())
}

/// A namespace: its name, the next number, counts, its runs, and whether it is read-only.
type OfNamespace<'b> = (&'b [u8], u64, Counts, (Runs, bool));

type First<'b> = (u64, Vec<OfNamespace<'b>>);

fn read_first(content: &[u8], with_runs: bool) -> Option<First<'_>> {
    let mut from = Reader(content);
    let (now, count) = (from.number()?, from.number()?);
    let mut namespaces: Vec<OfNamespace<'_>> = Vec::new();
    for _ in 0..count {
        let (name, next) = (from.bytes()?, from.number()?);
        let mut count = || from.number();
        let counts = Counts {
            new: count()?,
            duplicates: count()?,
            retries: count()?,
            deleted: count()?,
            expired: count()?,
            orphans: count()?,
        };
        if namespaces.last().is_some_and(|(last, ..)| *last >= name) {
            return None;
        }
        let runs = if with_runs { read_runs(&mut from)? } else { Runs::default() };
        let read_only = with_runs && from.number()? != 0;
        namespaces.push((name, next, counts, (runs, read_only)));
    }
    from.end()?;
    Some((now, namespaces))
}
