//! The tables of an index, built of its fingerprints.
//!
//! Fingerprints are brought into parts by the first bits of a key, and each part is sorted into its buckets in the second of the caches. Tables
//! whose keys begin alike, as those of block-pairs do, share their parts: ten tables are made of four sets of parts. Where the key
//! begins with the topmost bits the parts are there already, for the fingerprints ascend.

use super::bits::Fingerprint;
use super::layout::TableShape;
use super::parts::{Parts, part_bits, total};
use super::table::{Place, Room, Table};
use super::values::Values;
use std::borrow::Cow;
use std::ops::Range;
use twinsplit_core::join::memory;
use twinsplit_core::threads::each;
use twinsplit_io::error::Result;
use twinsplit_io::mapped::Bytes;

/// Where the bytes of a table go, some parts after the other.
pub trait TableSink: Send {
    /// Whether there is room for some parts only, which counts as memory for building.
    const PASSES_ON: bool;

    /// Room for the next so many bytes of the directory, and of the entries.
    fn room(&mut self, directory: usize, entries: usize) -> (&mut [u8], &mut [u8]);

    /// The room has been filled in.
    ///
    /// # Errors
    /// What it holds cannot be written.
    fn filled(&mut self) -> Result<()>;

    /// The table is complete: what was room for it is not needed any more.
    fn complete(&mut self);
}

/// A table in memory.
pub struct InMemory {
    directory: Vec<u8>,
    entries: Vec<u8>,
    /// Bytes of both that are filled in, and those for which room was given last.
    at: (usize, usize),
    next: (usize, usize),
}

impl InMemory {
    /// Room for all of a table of so many distinct fingerprints.
    pub fn of<F: Fingerprint>(shape: &TableShape<F>, distinct: usize) -> Self {
        // Pages come from the system when they are written to, by the thread that does.
        let (directory, entries) = shape.parts(distinct);
        Self {
            directory: memory::zeros(directory),
            entries: memory::zeros(entries),
            at: (0, 0),
            next: (0, 0),
        }
    }

    /// The table, when all is filled in.
    pub fn table<F: Fingerprint>(self, shape: TableShape<F>) -> Table<F> {
        Table::new(shape, Bytes::from(self.directory), Bytes::from(self.entries))
    }
}

impl TableSink for InMemory {
    const PASSES_ON: bool = false;

    fn room(&mut self, directory: usize, entries: usize) -> (&mut [u8], &mut [u8]) {
        self.next = (self.at.0 + directory, self.at.1 + entries);
        (&mut self.directory[self.at.0..self.next.0], &mut self.entries[self.at.1..self.next.1])
    }

    fn filled(&mut self) -> Result<()> {
        self.at = self.next;
        Ok(())
    }

    fn complete(&mut self) {}
}

/// Builds tables of fingerprints that ascend, without equal ones; each goes to the sink of its number. With the topmost bits for a key
/// entries stand in their order. `memory` is bytes for what is in parts at one time.
///
/// # Errors
/// Those of the sinks; the fingerprints cannot be read, or many of them stand together and take more than the memory.
pub fn tables<F: Fingerprint, S: TableSink>(
    shapes: &[TableShape<F>],
    values: Values<'_, F>,
    threads: usize,
    memory: usize,
    sinks: &mut [S],
) -> Result<()> {
    let mut room = Vec::new();
    let empty: Vec<_> =
        shapes.iter().map(|shape| Table::new(*shape, Bytes::default(), Bytes::default())).collect();
    let bits = |table: &Table<F>| part_bits(values.len()).min(table.shape.directory);
    let lead = |table: &Table<F>| table.lead(bits(table));
    let mut rest = sinks;
    for tables in empty.chunk_by(|one, next| lead(one) == lead(next)) {
        let (sinks, others) = rest.split_at_mut(tables.len());
        rest = others;
        let mut group = Group { bits: bits(&tables[0]), tables, sinks, threads, entries: 0 };
        group.build(values, memory, &mut room)?;
    }
    Ok(())
}

/// Tables whose keys begin with the same bits, and are built together.
struct Group<'t, F, S> {
    tables: &'t [Table<F>],
    sinks: &'t mut [S],
    /// How many bits number a part.
    bits: u32,
    threads: usize,
    /// How many entries each table has so far.
    entries: usize,
}

impl<F: Fingerprint, S: TableSink> Group<'_, F, S> {
    fn build(&mut self, values: Values<'_, F>, memory: usize, room: &mut Vec<F>) -> Result<()> {
        let (bits, threads) = (self.bits, self.threads);
        let first = &self.tables[0];
        let part = first.part(bits);
        let place = |value: F, _| (part(value), value);
        let times = self.times_its_size(values.len());
        let memory = memory / times;
        if self.tables.iter().all(|table| table.shape.directory == 0) {
            return self.scan(values, memory);
        }
        let parts = Parts { values, parts: 1 << bits, place, threads, memory, times };
        if first.lead(bits) == !F::low_ones(F::BITS - bits) {
            // They are in parts as they stand.
            let ends = (0..1 << bits).map(|part| values.up_to(part, bits)).collect::<Result<Vec<usize>>>()?;
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let sizes: Vec<usize> = ends.iter().zip(starts).map(|(end, start)| end - start).collect();
            for round in parts.rounds(&sizes)? {
                let range = |part: usize| ends[part] - sizes[part]..ends[part];
                let ranges: Vec<Range<usize>> = round.clone().map(range).collect();
                self.fill(ranges, &sizes[round], |range| values.range(range))?;
            }
        } else {
            let by_share = parts.sizes()?;
            let sizes = total(&by_share, 1 << bits);
            parts.each(&by_share, room, |first, parts| {
                let sizes = &sizes[first..first + parts.len()];
                self.fill(parts, sizes, |part| Ok(Cow::Borrowed(part)))
            })?;
        }
        self.end()
    }

    /// Tables of one bucket are the fingerprints as they stand, and need no parts.
    fn scan(&mut self, values: Values<'_, F>, memory: usize) -> Result<()> {
        let (mut room, some) = (Room::default(), (memory / size_of::<F>()).max(1));
        for (table, sink) in self.tables.iter().zip(&mut *self.sinks) {
            sink.room(4, 0).0.fill(0);
            sink.filled()?;
            for first in (0..values.len()).step_by(some) {
                let some = values.range(first..values.len().min(first + some))?;
                let entries = sink.room(0, some.len() * table.shape.width()).1;
                table.fill(Place { starts: &mut [0; 4], entries, first: 0 }, 0, &some, &mut room);
                sink.filled()?;
            }
        }
        self.entries = values.len();
        self.end()
    }

    /// Writes what follows the last entry of each table.
    fn end(&mut self) -> Result<()> {
        let end = (self.entries as u32).to_le_bytes();
        self.sinks.iter_mut().try_for_each(|sink| {
            let (directory, entries) = sink.room(end.len(), F::BITS as usize / 8);
            directory.copy_from_slice(&end);
            entries.fill(0);
            sink.filled()?;
            sink.complete();
            Ok(())
        })
    }

    /// How many times the bytes of fingerprints in parts are held at one time: where tables are passed on, with what is made of them.
    fn times_its_size(&self, distinct: usize) -> usize {
        if !S::PASSES_ON {
            return 1;
        }
        let tables: u64 = self.tables.iter().map(|table| table.shape.bytes(distinct)).sum();
        1 + tables.div_ceil((distinct * size_of::<F>()).max(1) as u64) as usize
    }

    /// Fills in the next parts of all tables. `load` gives the fingerprints of a part.
    fn fill<'p, P: Send>(
        &mut self,
        parts: Vec<P>,
        sizes: &[usize],
        load: impl Fn(P) -> Result<Cow<'p, [F]>> + Sync,
    ) -> Result<()> {
        let held: usize = sizes.iter().sum();
        let mut places: Vec<Vec<(&Table<F>, Place<'_>)>> = parts.iter().map(|_| Vec::new()).collect();
        for (table, sink) in self.tables.iter().zip(&mut *self.sinks) {
            let starts = 4 << (table.shape.directory - self.bits);
            let (directory, mut rest) = sink.room(parts.len() * starts, held * table.shape.width());
            let mut first = self.entries;
            for ((starts, size), places) in directory.chunks_exact_mut(starts).zip(sizes).zip(&mut places) {
                let (entries, others) = rest.split_at_mut(size * table.shape.width());
                places.push((table, Place { starts, entries, first: first as u32 }));
                (rest, first) = (others, first + size);
            }
        }
        let parts: Vec<_> = parts.into_iter().zip(places).collect();
        let filled = each(parts, self.threads, |(part, places)| {
            let part = load(part)?;
            let mut room = Room::default();
            places.into_iter().for_each(|(table, place)| table.fill(place, self.bits, &part, &mut room));
            Ok(())
        });
        filled.into_iter().collect::<Result<()>>()?;
        self.entries += held;
        self.sinks.iter_mut().try_for_each(S::filled)
    }
}
