//! The rows of each distinct fingerprint of an index, and the rows' ids.

use super::collapse;
use super::storage::Bytes;

/// Rows by place, and ids by row.
#[derive(Debug, Default)]
pub struct Rows {
    /// See [`collapse::Rows`]; four bytes each.
    pub slots: Bytes,
    /// As above.
    pub starts: Bytes,
    /// As above.
    pub grouped: Bytes,
    /// How many rows there are.
    pub count: usize,
    /// The ids.
    pub ids: Ids,
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

impl Rows {
    /// The rows of what was collapsed.
    pub fn of(rows: collapse::Rows, count: usize) -> Self {
        Self {
            slots: Bytes::of_numbers(&rows.slots),
            starts: Bytes::of_numbers(&rows.starts),
            grouped: Bytes::of_numbers(&rows.grouped),
            count,
            ids: Ids::Rows,
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// How many places there are.
    pub fn distinct(&self) -> usize {
        self.slots.len() / 4
    }

    /// Calls `visit` with each row of a place, ascending.
    #[inline]
    pub fn each(&self, place: u32, mut visit: impl FnMut(u32)) {
        match collapse::group(self.slots.number(place as usize)) {
            Err(row) => visit(row),
            Ok(group) => {
                // No group of a damaged file ends behind what there is.
                let end = self.starts.number(group + 1).min(self.grouped.len() as u32 / 4);
                (self.starts.number(group)..end).for_each(|at| visit(self.grouped.number(at as usize)));
            }
        }
    }

    /// The id of a row; `None` if there is no such row.
    pub fn id(&self, row: u32) -> Option<Id<'_>> {
        let at = row as usize;
        match &self.ids {
            Ids::Rows => (at < self.count).then_some(Id::Number(row.into())),
            Ids::Numbers(numbers) => numbers.long(at).map(Id::Number),
            Ids::Names(ends, bytes) => {
                let start = if at == 0 { 0 } else { ends.long(at - 1)? };
                bytes.get(usize::try_from(start).ok()?..usize::try_from(ends.long(at)?).ok()?).map(Id::Name)
            }
        }
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
