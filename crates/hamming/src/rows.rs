//! The rows of each distinct fingerprint of an index, and the rows' ids.

use super::temporary::Sink;
use std::ops::Range;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::mapped::Bytes;

/// The most rows: the highest bit of a slot tells a row from a group of rows.
pub const MOST: usize = GROUP as usize - 1;

/// The bit of a slot that holds the number of a group.
const GROUP: u32 = 1 << 31;

/// Refuses more rows than there may be.
pub fn must_be_few(count: usize) -> Result<()> {
    if count <= MOST {
        return Ok(());
    }
    Err(Error::Limit(format!("{count} fingerprints; an index has at most {MOST}: make several")))
}

/// Rows by place, and ids by row. A row takes four bytes where no other has its fingerprint; those that share one are a group.
#[derive(Debug, Default)]
pub struct Rows {
    /// By place: a row, or the number of a group; four bytes each.
    pub slots: Bytes,
    /// Where each group begins in `grouped`, and the end of the last, four bytes each; nothing where there is no group.
    pub starts: Bytes,
    /// Rows of groups, ascending in each; four bytes each.
    pub grouped: Bytes,
    /// How many rows there are.
    pub count: usize,
    /// The ids.
    pub ids: Ids,
}

/// Writes rows, those of the same fingerprint one after the other, to what takes slots, starts and groups.
#[derive(Debug, Default)]
pub struct RowsWriter<S> {
    slots: S,
    starts: S,
    grouped: S,
    last: Last,
    groups: u32,
    in_groups: u32,
}

/// What the last row was.
#[derive(Debug, Default)]
enum Last {
    #[default]
    None,
    /// The first of its fingerprint, not written yet.
    First(u32),
    /// One of a group.
    Grouped,
}

impl<S: Sink> RowsWriter<S> {
    /// Writes to these; see [`Rows`].
    pub fn new(slots: S, starts: S, grouped: S) -> Self {
        Self { slots, starts, grouped, last: Last::None, groups: 0, in_groups: 0 }
    }

    /// Takes the next row, and whether its fingerprint is another than that of the row before.
    ///
    /// # Errors
    /// It cannot be written.
    #[inline]
    pub fn push(&mut self, row: u32, is_new: bool) -> Result<()> {
        if is_new {
            self.end_fingerprint()?;
            self.last = Last::First(row);
            return Ok(());
        }
        if let Last::First(first) = self.last {
            if self.groups == 0 {
                self.starts.put(&0_u32.to_le_bytes())?;
            }
            self.slots.put(&(GROUP | self.groups).to_le_bytes())?;
            self.groups += 1;
            self.put_grouped(first)?;
            self.last = Last::Grouped;
        }
        self.put_grouped(row)
    }

    fn put_grouped(&mut self, row: u32) -> Result<()> {
        self.in_groups += 1;
        self.grouped.put(&row.to_le_bytes())
    }

    fn end_fingerprint(&mut self) -> Result<()> {
        match self.last {
            Last::None => Ok(()),
            Last::First(row) => self.slots.put(&row.to_le_bytes()),
            Last::Grouped => self.starts.put(&self.in_groups.to_le_bytes()),
        }
    }

    /// Slots, starts and groups, after the last row.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn finish(mut self) -> Result<[S; 3]> {
        self.end_fingerprint()?;
        Ok([self.slots, self.starts, self.grouped])
    }
}

/// What the rows of an index are called.
#[derive(Debug, Default)]
pub enum Ids {
    /// Their numbers are all that there is.
    #[default]
    Rows,
    /// Numbers of eight bytes.
    Numbers(Bytes),
    /// Any bytes: where they end, eight bytes a row, and the bytes.
    Names(Bytes, Bytes),
}

/// The id of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id<'i> {
    /// A number; the row's own where the index has no ids.
    Number(u64),
    /// Bytes.
    Name(&'i [u8]),
}

/// See [`Ids::kind`].
pub const ROWS: &str = "rows";
/// As above.
pub const NUMBERS: &str = "numbers";
/// As above.
pub const BYTES: &str = "bytes";

impl Ids {
    /// See [`Bytes::forget`].
    pub fn forget(&self) {
        match self {
            Ids::Rows => {}
            Ids::Numbers(numbers) => numbers.forget(),
            Ids::Names(ends, bytes) => [ends, bytes].into_iter().for_each(Bytes::forget),
        }
    }

    /// What the head of a file calls them.
    pub fn kind(&self) -> &'static str {
        match self {
            Ids::Rows => ROWS,
            Ids::Numbers(_) => NUMBERS,
            Ids::Names(..) => BYTES,
        }
    }

    /// The id of a row; its number, where rows have no ids.
    pub fn of(&self, row: u32) -> Option<Id<'_>> {
        let at = row as usize;
        match self {
            Ids::Rows => Some(Id::Number(row.into())),
            Ids::Numbers(numbers) => numbers.long(at).map(Id::Number),
            Ids::Names(ends, bytes) => {
                let start = if at == 0 { 0 } else { ends.long(at - 1)? };
                bytes.get(usize::try_from(start).ok()?..usize::try_from(ends.long(at)?).ok()?).map(Id::Name)
            }
        }
    }
}

impl Rows {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// How many places there are.
    pub fn distinct(&self) -> usize {
        self.slots.len() / 4
    }

    /// The rows of a place, ascending.
    #[inline]
    pub fn of(&self, place: u32) -> impl Iterator<Item = u32> {
        let slot = self.slots.number(place as usize);
        let (one, group) =
            if slot & GROUP == 0 { (Some(slot), 0..0) } else { (None, self.group((slot ^ GROUP) as usize)) };
        one.into_iter().chain(self.grouped(group))
    }

    /// The groups: of each the rows that share a fingerprint, in the order of the fingerprints.
    pub fn groups(&self) -> impl Iterator<Item = impl Iterator<Item = u32> + Clone> {
        (0..(self.starts.len() / 4).saturating_sub(1)).map(|group| self.grouped(self.group(group)))
    }

    /// No group of a damaged file ends behind what there is.
    fn group(&self, number: usize) -> Range<u32> {
        let end = self.starts.number(number + 1).min(self.grouped.len() as u32 / 4);
        self.starts.number(number)..end
    }

    fn grouped(&self, range: Range<u32>) -> impl Iterator<Item = u32> + Clone {
        range.map(|at| self.grouped.number(at as usize))
    }

    /// The id of a row; `None` if there is no such row.
    pub fn id(&self, row: u32) -> Option<Id<'_>> {
        self.ids.of(row).filter(|_| (row as usize) < self.count)
    }

    /// See [`Bytes::forget`].
    pub fn forget(&self) {
        [&self.slots, &self.starts, &self.grouped].into_iter().for_each(Bytes::forget);
    }

    /// Bytes of all of it.
    pub fn memory(&self) -> u64 {
        let ids = match &self.ids {
            Ids::Rows => 0,
            Ids::Numbers(numbers) => numbers.len(),
            Ids::Names(ends, bytes) => ends.len() + bytes.len(),
        };
        (self.slots.len() + self.starts.len() + self.grouped.len() + ids) as u64
    }
}
