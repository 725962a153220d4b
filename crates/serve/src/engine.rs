//! All namespaces with their log: what a restart brings back is what was there.
//!
//! A request is decided in memory, and what it changed is added to the log. [`Engine::write`] and [`Engine::sync`] bring that to the disk; an
//! answer may be given when they have. After an error of the disk nothing is known of what is there, so the engine is at its end: who starts it again
//! has all that was acknowledged.

use crate::disk::LogDisk;
use crate::log::{self, Log, LogFileRead, Syncer, Torn};
use crate::settings::{Retention, Settings};
use crate::snapshot::{self, SNAPSHOT, SnapshotWriter};
use crate::state::{Answer, Operation, State};
use std::fs::{self, File};
use std::path::Path;
use twinsplit_io::checked_file::Head;
use twinsplit_io::error::{Error, Result};
use twinsplit_store::disk::locked;

/// The file that one process has locked.
pub(crate) const LOCK: &str = "lock";

/// Namespaces with their log.
pub struct Engine<D: LogDisk> {
    disk: D,
    state: State,
    log: Log<D>,
    /// What the files were made with.
    made_with: Vec<(&'static str, String)>,
    _lock: File,
}

/// What a restart found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// The number of the last change of the snapshot, where there was one.
    pub snapshot: Option<u64>,
    /// Changes that were made again.
    pub replayed: u64,
    /// A tail of the log that was never acknowledged, and was cut off.
    pub torn: Option<Torn>,
}

impl<D: LogDisk> Engine<D> {
    /// Opens a folder, which is there: the last snapshot, and what the log has behind it. `made_with` is what the folder is made with, and
    /// has to have been made with.
    ///
    /// # Errors
    /// Another process has the folder; it holds other files; a file is damaged, of a later version, or was made with other options.
    pub fn open(
        mut disk: D,
        settings: Settings,
        made_with: Vec<(&'static str, String)>,
    ) -> Result<(Self, Recovered)> {
        let folder = disk.path().to_owned();
        refuse_others(&folder)?;
        let busy = "another service has this folder; stop it, or give another folder";
        let lock = locked(&folder, LOCK, busy)?;
        let retention = settings.retention;
        let mut state = State::new(settings);
        let mut recovered = Recovered::default();
        let must_have = |head: &Head, path: &Path| {
            head.must_have(&made_with, path).map_err(|error| match error {
                Error::File { path, problem } => Error::File {
                    path,
                    problem: problem
                        .replace("or make it again with the stage that wrote it", "or another folder"),
                },
                other => other,
            })
        };
        let mut after = 0;
        recovered.snapshot = log::numbers(&folder, SNAPSHOT)?.last().copied();
        if let Some(number) = recovered.snapshot {
            snapshot::read(&folder, (snapshot::KIND, number), &mut state, must_have)?;
            after = number;
            // A stop may have come before these were removed.
            snapshot::remove_superseded(&mut disk, number)?;
        }
        let files = log::numbers(&folder, log::LOG)?;
        for (place, first) in files.iter().enumerate() {
            let file = LogFileRead::open(&folder, *first)?;
            must_have(&file.head, file.path())?;
            // What was kept then is what is made again.
            state.keep(Retention::of_head(&file.head, file.path())?);
            let before = after;
            let torn = file.read(place + 1 == files.len(), &mut after, |change| state.replay(change))?;
            recovered.replayed += after - before;
            if let Some(torn) = torn {
                disk.truncate(&torn.file, torn.kept)?;
                recovered.torn = Some(torn);
            }
        }
        state.keep(retention);
        state.fill()?;
        let mut made_with = made_with;
        made_with.extend(retention.parameters());
        let log = Log::begin(disk.clone(), &made_with, after)?;
        Ok((Self { disk, state, log, made_with, _lock: lock }, recovered))
    }

    /// What there is.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The same, to be changed without its log.
    pub(crate) fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// Does what is asked of a namespace, and takes the documents out of it. What it changes is on the disk after [`Engine::sync`], and not before.
    pub fn ask(&mut self, now: u64, namespace: &[u8], operation: &mut Operation) -> Answer {
        let Self { state, log, .. } = self;
        state.ask(now, namespace, operation, &mut |change| log.push(change))
    }

    /// Searches ahead for what is asked next, in this order.
    pub(crate) fn prefetch<'a>(&mut self, asked: impl Iterator<Item = (&'a [u8], &'a Operation)> + Clone) {
        self.state.prefetch(asked);
    }

    /// What was searched for has been asked for.
    pub(crate) fn end_prefetch(&mut self) {
        self.state.end_prefetch();
    }

    /// Forgets what is too old.
    pub fn expire(&mut self, now: u64) {
        self.state.expire(now);
    }

    /// The number of the last change.
    pub fn last(&self) -> u64 {
        self.log.last()
    }

    /// The number of the last change that is known to be on the disk.
    pub(crate) fn synced(&self) -> u64 {
        self.log.synced()
    }

    /// Bytes of the log that no snapshot holds.
    pub fn log_bytes(&self) -> u64 {
        self.log.bytes()
    }

    /// Hands all changes to the system: they outlive this process.
    ///
    /// # Errors
    /// Those of the disk; the engine is at its end then.
    pub fn write(&mut self) -> Result<()> {
        self.log.write()
    }

    /// Waits until all changes are on the disk: they outlive the power.
    ///
    /// # Errors
    /// Those of the disk; the engine is at its end then.
    pub fn sync(&mut self) -> Result<()> {
        self.log.sync()
    }

    /// What syncs the log from another thread; a new one is needed after [`Engine::begin_snapshot`].
    ///
    /// # Errors
    /// Those of the disk.
    pub(crate) fn syncer(&self) -> Result<Syncer<D::File>> {
        self.log.syncer()
    }

    /// Begins a snapshot of what there is now, and a new file of the log. [`Engine::step`] has its documents. Where that fails for the
    /// snapshot alone, `None` is given with the error, and the engine goes on.
    ///
    /// # Errors
    /// Those of the log's disk; the engine is at its end then.
    pub(crate) fn begin_snapshot(&mut self) -> Result<Result<SnapshotWriter<D>>> {
        self.log.rotate(&self.made_with)?;
        let first = snapshot::begin(&mut self.state);
        let writer = SnapshotWriter::begin(
            (self.disk.clone(), snapshot::KIND),
            &self.made_with,
            self.log.last(),
            &first,
        );
        if writer.is_err() {
            self.give_up();
        }
        Ok(writer)
    }

    /// The next documents of a snapshot, about so many; `None` at the end.
    pub(crate) fn step(&mut self, most: u64) -> Option<(u64, Vec<u8>)> {
        snapshot::step(&mut self.state, most)
    }

    /// Gives a snapshot up.
    pub(crate) fn give_up(&mut self) {
        snapshot::give_up(&mut self.state);
    }

    /// Writes a snapshot to its end; its bytes.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn snapshot(&mut self) -> Result<u64> {
        let mut writer = self.begin_snapshot()??;
        while let Some((count, content)) = self.step(STEP) {
            if let Err(error) = writer.add(count, &content) {
                self.give_up();
                return Err(error);
            }
        }
        writer.finish()
    }
}

/// Files that have no name yet.
const UNNAMED: [&str; 2] = [snapshot::UNNAMED, log::UNNAMED];

/// Documents of a snapshot that are taken at one time: a tenth of a millisecond.
pub(crate) const STEP: u64 = 1000;

/// Refuses a folder that holds what no service has put there.
pub(crate) fn refuse_others(folder: &Path) -> Result<()> {
    let failed = || Error::io("read", folder);
    for entry in fs::read_dir(folder).map_err(failed())? {
        let name = entry.map_err(failed())?.file_name();
        let name = name.to_string_lossy();
        let is_ours = name == LOCK
            || [log::LOG, SNAPSHOT].iter().any(|kind| name.starts_with(kind))
            || UNNAMED.contains(&&*name);
        if !is_ours {
            return Err(Error::File {
                path: folder.to_owned(),
                problem: format!("is no folder of a service, and holds {name}; give a folder of its own"),
            });
        }
    }
    Ok(())
}
