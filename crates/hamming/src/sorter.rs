//! More fingerprints than memory holds: an external sort, and what is made of its result.
//!
//! What has come is sorted when it fills the memory that is allowed, and written to a file as a *run*, twelve bytes a fingerprint of 64 bits
//! with its row. In the end the runs are merged: into a file of distinct fingerprints, ascending, and files of their rows. Whatever a
//! join or an index reads after that it reads from the first to the last, so the system's cache and its reading ahead serve it well.

use super::bits::Fingerprint;
use super::build;
use super::collapse::sorted;
use super::connect::connect_collapsed;
use super::file_writer::write_index;
use super::id_files::IdWriter;
use super::index::IndexOptions;
use super::join::{JoinOptions, check_distance, join_collapsed};
use super::layout::Plan;
use super::parts::Entry;
use super::rows::{Ids, Rows, RowsWriter, must_be_few};
use super::temporary::{Sink, Temporary, TemporaryWriter};
use super::values::Values;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::path::{Path, PathBuf};
use twinsplit_core::join::memory;
use twinsplit_io::error::{Error, Result};

/// How fingerprints are sorted.
#[derive(Clone, Debug)]
pub struct SorterOptions {
    /// Where temporary files are: at most 12 bytes for each fingerprint of 64 bits twice, 20 for one of 128, and what is made of them.
    pub folder: PathBuf,
    /// Bytes that are held at one time; 1 MB at least is taken.
    pub memory: usize,
    /// Threads; the result is the same for any number.
    pub threads: usize,
}

/// The least memory: so that what is to be compared with each other fits.
const LEAST: usize = 1 << 20;

/// Takes fingerprints, one after the other, for a join or an index in bounded memory.
///
/// ```
/// use twinsplit_hamming::{Id, IdWriter, Index, IndexOptions, Match, Sorter, SorterOptions, Verify};
/// let folder = tempfile::tempdir().unwrap();
/// let options = SorterOptions { folder: folder.path().to_owned(), memory: 1 << 20, threads: 1 };
/// let (mut sorter, mut ids) = (Sorter::<u64>::new(options), IdWriter::numbers(folder.path())?);
/// for (fingerprint, id) in [(0b0000, 70), (0b0111, 71), (0xff00, 72)] {
///     sorter.push(fingerprint)?;
///     ids.push(Id::Number(id))?;
/// }
/// let sorted = sorter.finish()?;
/// let mut pairs = Vec::new();
/// sorted.join(3, |a, b, distance| {
///     pairs.push((a, b, distance));
///     Ok(())
/// })?;
/// assert_eq!(pairs, [(0, 1, 3)]);
/// let path = folder.path().join("some.index");
/// sorted.save_index(IndexOptions::default(), ids, &path)?;
/// let index = Index::<u64>::open(&path, Verify::All { threads: 1 })?;
/// assert_eq!(index.search(0xff01), [Match { row: 2, distance: 1 }]);
/// assert_eq!(index.id(2), Some(Id::Number(72)));
/// # Ok::<(), twinsplit_io::error::Error>(())
/// ```
#[derive(Debug)]
pub struct Sorter<F> {
    options: SorterOptions,
    /// The most fingerprints of a run.
    run: usize,
    values: Vec<F>,
    runs: Option<Runs>,
}

/// Sorted runs, one after the other in one file.
#[derive(Debug)]
struct Runs {
    file: TemporaryWriter,
    /// How many fingerprints each run has.
    sizes: Vec<usize>,
    /// How many all of them have.
    count: usize,
}

impl<F: Fingerprint> Sorter<F> {
    /// One that has taken nothing.
    pub fn new(options: SorterOptions) -> Self {
        let memory = options.memory.max(LEAST);
        let run = memory / (size_of::<F>() + size_of::<Entry<F>>());
        Self::with_runs(SorterOptions { memory, ..options }, run)
    }

    /// One with runs of so many fingerprints.
    pub(super) fn with_runs(options: SorterOptions, run: usize) -> Self {
        Self { options, run, values: Vec::new(), runs: None }
    }

    /// How many it has taken.
    pub fn len(&self) -> usize {
        self.runs.as_ref().map_or(0, |runs| runs.count) + self.values.len()
    }

    /// Whether it has taken none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes the fingerprint of the next row; rows are numbered from 0.
    ///
    /// # Errors
    /// It cannot be written; 2^31 - 1 fingerprints and more.
    pub fn push(&mut self, fingerprint: F) -> Result<()> {
        if self.values.len() == self.run {
            self.write_run()?;
        }
        if self.values.capacity() == 0 {
            // Pages that are not written to take no memory.
            self.values = memory::with_capacity(self.run);
        }
        self.values.push(fingerprint);
        Ok(())
    }

    fn write_run(&mut self) -> Result<()> {
        let runs = match &mut self.runs {
            Some(runs) => runs,
            none => {
                let file = TemporaryWriter::create(&self.options.folder)?;
                none.insert(Runs { file, sizes: Vec::new(), count: 0 })
            }
        };
        must_be_few(runs.count + self.values.len())?;
        let SorterOptions { memory, threads, .. } = self.options;
        let first = runs.count as u32;
        let mut row = [0; MOST_WIDTH];
        let row = &mut row[..width::<F>()];
        sorted(Values::Memory(&self.values), threads, memory, |entries| {
            entries.iter().try_for_each(|&Entry { value, at }| {
                let (bytes, place) = row.split_at_mut(size_of::<F>());
                value.store(size_of::<F>(), bytes);
                place.copy_from_slice(&(first + at).to_le_bytes());
                runs.file.put(row)
            })
        })?;
        runs.count += self.values.len();
        runs.sizes.push(self.values.len());
        self.values.clear();
        Ok(())
    }

    /// Sorts what it has taken.
    ///
    /// # Errors
    /// Temporary files cannot be written or read; 2^31 - 1 fingerprints and more.
    pub fn finish(mut self) -> Result<Sorted<F>> {
        must_be_few(self.len())?;
        let mut out = Collapsing::create(&self.options.folder)?;
        if self.runs.is_some() && !self.values.is_empty() {
            self.write_run()?;
        }
        let Self { options, values, runs, .. } = self;
        let in_runs = runs.as_ref().map_or(0, |runs| runs.count * width::<F>()) as u64;
        match runs {
            None => sorted(Values::Memory(&values), options.threads, options.memory, |entries| {
                entries.iter().try_for_each(|&Entry { value, at }| out.push(value, at))
            })?,
            Some(Runs { file, sizes, .. }) => {
                drop(values);
                merge(&file.finish()?, &sizes, options.memory, |value, row| out.push(value, row))?;
            }
        }
        out.finish(options, in_runs)
    }
}

/// The widest fingerprint, and a row.
const MOST_WIDTH: usize = 20;

/// Bytes of a fingerprint and its row in a run.
const fn width<F>() -> usize {
    size_of::<F>() + size_of::<u32>()
}

/// Bytes of each run that are in memory while runs are merged, at least.
const LEAST_BLOCK: usize = 1 << 12;

/// Hands all fingerprints of sorted runs with their rows to `visit`, ascending, equal ones in the order of the runs.
fn merge<F: Fingerprint>(
    file: &Temporary,
    sizes: &[usize],
    memory: usize,
    mut visit: impl FnMut(F, u32) -> Result<()>,
) -> Result<()> {
    if sizes.len() * LEAST_BLOCK > memory / 2 {
        let count: usize = sizes.iter().sum();
        // Runs are as long as the memory, and of each a block is in half of it.
        let enough =
            (count * (size_of::<F>() + size_of::<Entry<F>>())).saturating_mul(2 * LEAST_BLOCK).isqrt();
        return Err(Error::Limit(format!(
            "{count} fingerprints are sorted in {} runs, which cannot be merged in {} MB: give at least {} MB of memory",
            sizes.len(),
            memory >> 20,
            (enough >> 20) + 1
        )));
    }
    // Of reading a few hundred kilobytes at a time the system takes no longer than of reading more.
    let block = (memory / 2 / sizes.len().max(1)).clamp(LEAST_BLOCK, 1 << 19) / width::<F>();
    let mut starts = 0;
    let mut runs: Vec<Run<'_>> = Vec::with_capacity(sizes.len());
    for size in sizes {
        runs.push(Run { file, next: starts, end: starts + size, block, bytes: Vec::new(), at: 0 });
        starts += size;
    }
    let mut heap = BinaryHeap::with_capacity(runs.len());
    for (number, run) in runs.iter_mut().enumerate() {
        if let Some((value, row)) = run.next::<F>()? {
            heap.push(Reverse((value, number, row)));
        }
    }
    while let Some(mut least) = heap.peek_mut() {
        let Reverse((value, number, row)) = *least;
        visit(value, row)?;
        match runs[number].next()? {
            Some((value, row)) => *least = Reverse((value, number, row)),
            None => drop(PeekMut::pop(least)),
        }
    }
    Ok(())
}

/// What is left of a run.
struct Run<'f> {
    file: &'f Temporary,
    /// The next that is read, and the end.
    next: usize,
    end: usize,
    /// How many are read at a time.
    block: usize,
    bytes: Vec<u8>,
    at: usize,
}

impl Run<'_> {
    #[inline]
    fn next<F: Fingerprint>(&mut self) -> Result<Option<(F, u32)>> {
        let width = width::<F>();
        if self.at == self.bytes.len() {
            let count = self.block.min(self.end - self.next);
            self.bytes.resize(count * width, 0);
            self.file.read((self.next * width) as u64, &mut self.bytes)?;
            self.next += count;
            self.at = 0;
        }
        let (value, row) = self.bytes[self.at..].split_at((self.bytes.len() - self.at).min(size_of::<F>()));
        self.at = self.bytes.len().min(self.at + width);
        Ok(F::load(value).zip(row.first_chunk().map(|row| u32::from_le_bytes(*row))))
    }
}

/// Writes fingerprints that ascend to the files of distinct ones and of their rows.
struct Collapsing<F> {
    values: TemporaryWriter,
    rows: RowsWriter<TemporaryWriter>,
    last: Option<F>,
    count: usize,
}

impl<F: Fingerprint> Collapsing<F> {
    fn create(folder: &Path) -> Result<Self> {
        let create = || TemporaryWriter::create(folder);
        let rows = RowsWriter::new(create()?, create()?, create()?);
        Ok(Self { values: create()?, rows, last: None, count: 0 })
    }

    #[inline]
    fn push(&mut self, value: F, row: u32) -> Result<()> {
        let is_new = self.last != Some(value);
        if is_new {
            let mut bytes = [0; MOST_WIDTH];
            value.store(size_of::<F>(), &mut bytes);
            self.values.put(&bytes[..size_of::<F>()])?;
            self.last = Some(value);
        }
        self.count += 1;
        self.rows.push(row, is_new)
    }

    fn finish(self, options: SorterOptions, in_runs: u64) -> Result<Sorted<F>> {
        let [slots, starts, grouped] = self.rows.finish()?;
        Ok(Sorted {
            values: self.values.finish()?,
            slots: slots.finish()?,
            starts: starts.finish()?,
            grouped: grouped.finish()?,
            count: self.count,
            in_runs,
            options,
            width: std::marker::PhantomData,
        })
    }
}

/// Distinct fingerprints, ascending, and the rows of each, in temporary files.
#[derive(Debug)]
pub struct Sorted<F> {
    values: Temporary,
    /// See [`Rows`].
    slots: Temporary,
    starts: Temporary,
    grouped: Temporary,
    count: usize,
    /// Bytes of the runs that were merged.
    in_runs: u64,
    options: SorterOptions,
    width: std::marker::PhantomData<F>,
}

impl<F: Fingerprint> Sorted<F> {
    /// How many fingerprints there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many of them are different.
    pub fn distinct(&self) -> usize {
        self.values().len()
    }

    /// Bytes that were written to temporary files until now.
    pub fn spilled(&self) -> u64 {
        let files = [&self.values, &self.slots, &self.starts, &self.grouped];
        self.in_runs + files.map(Temporary::len).iter().sum::<u64>()
    }

    fn values(&self) -> Values<'_, F> {
        Values::File(&self.values)
    }

    /// Calls `visit` as [`join`](super::join()) does, with the same calls in the same order.
    ///
    /// # Errors
    /// The first error of `visit`; a distance of half the bits or more; temporary files cannot be read; so many fingerprints are equal in a
    /// block of bits that the memory does not suffice to compare them.
    pub fn join(&self, distance: u32, visit: impl FnMut(u32, u32, u32) -> Result<()> + Send) -> Result<()> {
        self.compare(distance, visit).map(drop)
    }

    /// As [`join`](Self::join); gives how many fingerprints were compared.
    pub fn compare(
        &self,
        distance: u32,
        visit: impl FnMut(u32, u32, u32) -> Result<()> + Send,
    ) -> Result<u64> {
        check_distance::<F>(distance)?;
        join_collapsed(self.values(), &self.rows()?, self.joining(distance), visit)
    }

    /// As [`super::connect()`], with the errors of [`join`](Self::join).
    pub fn connect(
        &self,
        distance: u32,
        most: impl Fn(u32) -> u32 + Sync,
        visit: impl FnMut(u32, u32, u32) -> Result<()> + Send,
    ) -> Result<u64> {
        check_distance::<F>(distance)?;
        connect_collapsed(self.values(), &self.rows()?, self.joining(distance), most, visit)
    }

    fn rows(&self) -> Result<Rows> {
        Ok(Rows {
            slots: self.slots.map()?,
            starts: self.starts.map()?,
            grouped: self.grouped.map()?,
            count: self.count,
            ids: Ids::Rows,
        })
    }

    fn joining(&self, distance: u32) -> JoinOptions {
        let SorterOptions { memory, threads, .. } = self.options;
        JoinOptions { distance, threads, memory }
    }

    /// The tables that an index has, and what they take.
    ///
    /// # Errors
    /// Options for which there is no plan.
    pub fn plan(&self, options: IndexOptions) -> Result<Plan<F>> {
        options.plan(self.distinct(), self.starts.len() + self.grouped.len())
    }

    /// Writes an index file, the same as that of [`Index::build`](super::Index::build) with these ids. It appears under its name when it is
    /// complete.
    ///
    /// # Errors
    /// Options for which there is no plan; not as many ids as fingerprints; the files cannot be written or read; so many fingerprints are
    /// equal in the first bits of a key that the memory does not suffice to sort them.
    pub fn save_index(&self, options: IndexOptions, ids: IdWriter, path: &Path) -> Result<Plan<F>> {
        let plan = self.plan(options)?;
        let ids = ids.finish(self.count)?;
        let rows = [&self.slots, &self.starts, &self.grouped];
        let rest: Vec<&Temporary> = rows.into_iter().chain(&ids.files).collect();
        let counts = (self.count, self.distinct());
        write_index(path, (options.distance, &plan), counts, (ids.kind, &rest), |tables| {
            build::tables(&plan.tables, self.values(), options.threads, self.options.memory, tables)
        })?;
        Ok(plan)
    }
}
