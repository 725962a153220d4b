//! What a stage is: one declaration, from which its program, its help, its sort line, its place in a pipe, its job
//! on a cluster and its documentation follow.
//!
//! A stage reads records one by one and emits records. A *map* stage sees them in any order and split over any
//! number of tasks. A *reduce* stage sees all records of a key in one task, one after the other: the shuffle's
//! contract stands with the record ([`Record::KEYS`]), and [`Runner`] finds the groups and checks the order.
//! There is no combiner role: a mapper that can combine does so in its own state.

pub mod chained;
pub mod growth;
pub mod partition;
mod runner;

use crate::record::{Keys, Record};
use growth::Growth;
use partition::Partition;
pub use runner::Runner;
use std::collections::BTreeMap;
use std::path::PathBuf;
use twinsplit_core::options::{Field, Options, Values};
use twinsplit_io::error::{Error, FieldError, Place, Result};

/// Whether a stage maps or reduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Any order, any number of tasks.
    Map,
    /// Rows grouped and sorted by the keys of the record it reads.
    Reduce,
}

/// A file that a stage reads beside its rows.
#[derive(Clone, Copy, Debug)]
pub struct SideFile {
    /// The option that names it, and its default name.
    pub option: &'static str,
    /// What it is and when it is needed.
    pub about: &'static str,
}

/// The declaration of a stage.
#[derive(Clone, Copy, Debug)]
pub struct Decl {
    /// Its name, by which twinsplit is called as this stage.
    pub name: &'static str,
    /// Map or reduce.
    pub role: Role,
    /// One sentence for help and documentation.
    pub about: &'static str,
    /// The files it reads beside its rows.
    pub side: &'static [SideFile],
}

/// A stage. The state of one of its tasks is `Self`.
pub trait Stage: Sized + Send + 'static {
    /// The record it reads.
    type In<'a>: Record<'a>;
    /// The record it emits.
    type Out<'a>: Record<'a>;
    /// Its options; those that two stages share are one struct.
    type Opts: Options;
    /// Its declaration.
    const DECL: Decl;
    /// Whether the lines of documents that its tasks pass over are kept: those that turn documents into something do so.
    const KEEPS_BAD_RECORDS: bool = false;
    /// The tag in the second field of the rows that it reads, by which they are known among rows that go on to the stage
    /// after it as they are; nothing where it cannot stand before a stage that reads others.
    const TAG: Option<&'static [u8]> = None;
    /// Whether one task must see all rows, whatever their keys. Reduce stages only.
    const ONE_TASK: bool = false;
    /// How what it writes grows with the collection.
    const GROWTH: Growth = Growth::Input;

    /// Starts a task.
    fn open(opts: Self::Opts, task: &mut Task<'_>) -> Result<Self>;

    /// Takes one record.
    fn push(&mut self, record: Self::In<'_>, task: &mut Task<'_>) -> Result<()>;

    /// The group of equal keys that the records since the last call formed is complete. Reduce stages only.
    fn end_group(&mut self, task: &mut Task<'_>) -> Result<()> {
        let _ = task;
        Ok(())
    }

    /// All records have been seen.
    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        let _ = task;
        Ok(())
    }
}

/// Where a task's rows go.
pub trait Sink {
    /// Takes one row, without line end.
    fn row(&mut self, row: &[u8]) -> Result<()>;
}

impl Sink for Vec<Vec<u8>> {
    fn row(&mut self, row: &[u8]) -> Result<()> {
        self.push(row.to_vec());
        Ok(())
    }
}

/// Sums by name.
pub type Counters = BTreeMap<String, u64>;

/// The longest row that a task may make of one that it reads, where the memory of its process is bounded.
#[derive(Clone, Copy, Debug)]
pub struct RowLimit {
    /// Bytes of a row.
    pub bytes: usize,
    /// Megabytes that the process may hold.
    pub memory: usize,
    /// Bytes of memory that a byte of row asks for.
    pub factor: usize,
}

/// What surrounds a running task: where its rows come from and go to, its counters and its folder.
pub struct Task<'s> {
    /// The stage's name, for messages.
    pub stage: &'static str,
    /// Number of the task among its step's tasks, from 0.
    pub number: u32,
    /// The task's own folder, for files that are not rows and for spilling.
    pub folder: PathBuf,
    /// Where the current row stands.
    pub place: Place,
    /// The task's counters.
    pub counters: Counters,
    /// Nothing for a task that is a process of its own.
    pub row_limit: Option<RowLimit>,
    /// Which keys are this task's, where that is the job's own business.
    pub partition: Option<Partition>,
    sink: &'s mut dyn Sink,
    row: Vec<u8>,
    role: Role,
    rows_in: u64,
    bytes_in: u64,
    rows_out: u64,
    bytes_out: u64,
    declared: fn(&[u8]) -> Result<(), FieldError>,
}

impl<'s> Task<'s> {
    /// A task that writes to `sink`.
    pub fn new(entry: &Entry, number: u32, folder: PathBuf, sink: &'s mut dyn Sink) -> Self {
        Self {
            stage: entry.decl.name,
            number,
            folder,
            place: Place::default(),
            counters: Counters::new(),
            row_limit: None,
            partition: None,
            sink,
            row: Vec::new(),
            role: entry.decl.role,
            rows_in: 0,
            bytes_in: 0,
            rows_out: 0,
            bytes_out: 0,
            declared: entry.output.decodes,
        }
    }

    /// Writes a record.
    pub fn emit<'a>(&mut self, record: &impl Record<'a>) -> Result<()> {
        self.row.clear();
        record.encode(&mut self.row);
        self.write()
    }

    /// Writes a row as it is.
    pub fn emit_row(&mut self, row: &[u8]) -> Result<()> {
        self.row.clear();
        self.row.extend_from_slice(row);
        self.write()
    }

    /// An error when a row of so many bytes is longer than a row may be.
    pub fn admit_row(&self, bytes: usize) -> Result<()> {
        let Some(limit) = self.row_limit.filter(|limit| bytes > limit.bytes) else { return Ok(()) };
        let more = (bytes - limit.bytes).saturating_mul(limit.factor);
        Err(Error::Limit(format!(
            "{}: {}: a row of {} MB or more is made of it; --memory {} is too small for stages: give at least {} MB, or \
             take doc-split or term-split --pcp prefix, which put long sets on disk",
            self.stage,
            self.place,
            bytes >> 20,
            limit.memory,
            limit.memory + (more >> 20) + 1
        )))
    }

    fn write(&mut self) -> Result<()> {
        self.admit_row(self.row.len())?;
        debug_assert_eq!((self.declared)(&self.row), Ok(()), "{} emits what it does not declare", self.stage);
        self.rows_out += 1;
        self.bytes_out += self.row.len() as u64 + 1;
        self.sink.row(&self.row)
    }

    /// Adds to a counter.
    pub fn count(&mut self, name: &str, number: u64) {
        match self.counters.get_mut(name) {
            Some(sum) => *sum += number,
            None => {
                self.counters.insert(name.to_owned(), number);
            }
        }
    }

    /// The same of a number that is not shown where it is 0.
    pub fn count_some(&mut self, name: &str, number: u64) {
        if number > 0 {
            self.count(name, number);
        }
    }

    /// An error about a field of the current row.
    pub fn wrong(&self, error: FieldError) -> Error {
        Error::Record { stage: self.stage, place: self.place.clone(), error }
    }

    /// An error about the document in the current row, which may be passed over.
    pub fn bad(&self, error: FieldError) -> Error {
        Error::Document { stage: self.stage, place: self.place.clone(), error }
    }

    /// Adds the volumes under names that tell a step's mapper from its reducer; line ends count.
    fn close(&mut self) {
        let names = match self.role {
            Role::Map => ["map_records_in", "map_bytes_in", "map_records_out", "map_bytes_out"],
            Role::Reduce => {
                ["reduce_records_in", "reduce_bytes_in", "reduce_records_out", "reduce_bytes_out"]
            }
        };
        let numbers = [self.rows_in, self.bytes_in, self.rows_out, self.bytes_out];
        names.into_iter().zip(numbers).for_each(|(name, number)| self.count(name, number));
    }
}

/// A stage without its types: what the generic code that runs stages holds.
pub trait DynStage: Send {
    /// Takes one row.
    fn row(&mut self, row: &[u8], task: &mut Task<'_>) -> Result<()>;
    /// See [`Stage::end_group`].
    fn end_group(&mut self, task: &mut Task<'_>) -> Result<()>;
    /// See [`Stage::finish`].
    fn finish(&mut self, task: &mut Task<'_>) -> Result<()>;
}

struct Erased<S: Stage>(S);

impl<S: Stage> DynStage for Erased<S> {
    fn row(&mut self, row: &[u8], task: &mut Task<'_>) -> Result<()> {
        let record = S::In::decode(row).map_err(|error| task.wrong(error))?;
        self.0.push(record, task)
    }

    fn end_group(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.0.end_group(task)
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.0.finish(task)
    }
}

/// What the generic code knows of a record.
#[derive(Clone, Copy)]
pub struct RecordInfo {
    /// Its fields, for documentation.
    pub fields: &'static str,
    /// How it is shuffled.
    pub keys: Option<Keys>,
    /// Whether a row is such a record.
    pub decodes: fn(&[u8]) -> Result<(), FieldError>,
    /// A row read as such a record and written again.
    pub rewrites: fn(&[u8]) -> Result<Vec<u8>, FieldError>,
}

fn encoded<'a>(record: &impl Record<'a>) -> Vec<u8> {
    let mut row = Vec::new();
    record.encode(&mut row);
    row
}

/// A declared stage in the table of all stages.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its declaration.
    pub decl: Decl,
    /// The record it reads; a reduce stage's keys stand here.
    pub input: RecordInfo,
    /// The record it emits; where it goes through a shuffle its keys stand here.
    pub output: RecordInfo,
    /// See [`Stage::KEEPS_BAD_RECORDS`].
    pub keeps_bad_records: bool,
    /// See [`Stage::TAG`].
    pub tag: Option<&'static [u8]>,
    /// See [`Stage::ONE_TASK`].
    pub one_task: bool,
    /// See [`Stage::GROWTH`].
    pub growth: Growth,
    /// The stage's own options, without those that every stage has.
    pub fields: fn() -> Vec<Field>,
    /// Starts a task with the values of options.
    pub open: fn(&Values, &mut Task<'_>) -> Result<Box<dyn DynStage>>,
}

impl Entry {
    /// The table's entry for a stage.
    pub fn of<S: Stage>() -> Self {
        Self {
            decl: S::DECL,
            input: RecordInfo {
                fields: <S::In<'static> as Record>::FIELDS,
                keys: <S::In<'static> as Record>::KEYS,
                decodes: |row| S::In::decode(row).map(drop),
                rewrites: |row| S::In::decode(row).map(|record| encoded(&record)),
            },
            output: RecordInfo {
                fields: <S::Out<'static> as Record>::FIELDS,
                keys: <S::Out<'static> as Record>::KEYS,
                decodes: |row| S::Out::decode(row).map(drop),
                rewrites: |row| S::Out::decode(row).map(|record| encoded(&record)),
            },
            keeps_bad_records: S::KEEPS_BAD_RECORDS,
            tag: S::TAG,
            one_task: S::ONE_TASK,
            growth: S::GROWTH,
            fields: S::Opts::fields,
            open: |values, task| {
                let opts = S::Opts::read(values)?;
                Ok(Box::new(Erased(S::open(opts, task)?)))
            },
        }
    }

    /// Whether the stage has an option of this name, those that name side files among them.
    pub fn knows(&self, option: &str) -> bool {
        self.options().iter().any(|own| own == option)
    }

    /// The names of the stage's options, in the order of its help.
    pub fn options(&self) -> Vec<String> {
        (self.fields)().into_iter().map(|field| field.name).collect()
    }

    /// Whether an option names a file that the stage reads beside its rows.
    pub fn has_side(&self, option: &str) -> bool {
        self.decl.side.iter().any(|side| side.option == option)
    }

    /// The line that sorts rows as this reduce stage needs them, or the rows of this map stage for their reducer.
    pub fn sort_line(&self) -> Option<String> {
        let keys = match self.decl.role {
            Role::Map => self.output.keys,
            Role::Reduce => self.input.keys,
        }?;
        Some(sort_line(keys))
    }
}

/// The shell command that sorts rows by `keys`: TAB is below every byte of an id, so whole lines may be compared
/// too, and `-s` keeps equal keys as they came.
pub fn sort_line(keys: Keys) -> String {
    match keys.sort {
        0 => "cat".to_owned(),
        sort => format!("LC_ALL=C sort -t$'\\t' -k1,{sort} -s"),
    }
}
