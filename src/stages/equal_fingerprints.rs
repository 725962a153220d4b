//! `equal-fingerprints`: documents with the same fingerprint are joined once. The smallest id of each group stands for it, as
//! with [equal sets](super::equal_sets), so that a million equal pages are a million rows in every table less.

use super::NoOpts;
use super::meta::SingleIds;
use super::simhash::DistanceOpts;
use crate::error::Result;
use crate::record::fingerprint::{FingerprintRow, GroupedFingerprint, GroupedRow, MemberFingerprint};
use crate::record::set::Member;
use crate::stage::{Decl, Role, Stage, Task};

/// The mapper.
pub struct EqualFingerprints {
    distance: u32,
}

impl Stage for EqualFingerprints {
    type In<'a> = FingerprintRow<'a>;
    type Out<'a> = GroupedRow<'a>;
    type Opts = DistanceOpts;
    const DECL: Decl = Decl {
        name: "equal-fingerprints",
        role: Role::Map,
        about: "Brings equal fingerprints together",
        side: &[],
    };

    fn open(opts: DistanceOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { distance: opts.distance.all() })
    }

    fn push(&mut self, row: FingerprintRow<'_>, task: &mut Task<'_>) -> Result<()> {
        let row = match row {
            FingerprintRow::Fingerprint(row) => row,
            FingerprintRow::Meta(meta) => return task.emit(&GroupedRow::Meta(meta)),
        };
        let distance = row.distance.unwrap_or(self.distance);
        task.emit(&GroupedFingerprint { fingerprint: row.fingerprint, distance, id: row.id })
    }
}

/// The reducer.
#[derive(Default)]
pub struct EqualFingerprintsReduce {
    /// The smallest id of the group; none before its first row.
    representative: Vec<u8>,
    ids: SingleIds,
    copies: u64,
}

impl Stage for EqualFingerprintsReduce {
    type In<'a> = GroupedRow<'a>;
    type Out<'a> = Member<'a>;
    type Opts = NoOpts;
    const DECL: Decl = Decl {
        name: "equal-fingerprints-reduce",
        role: Role::Reduce,
        about: "Passes one of several equal fingerprints on, turns the others into copies, and stops at an id that two documents have",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, row: GroupedRow<'_>, task: &mut Task<'_>) -> Result<()> {
        let GroupedFingerprint { fingerprint, distance, id } = match row {
            GroupedRow::Fingerprint(row) => row,
            GroupedRow::Meta(meta) => {
                self.ids.take(&meta, task)?;
                return task.emit(&meta);
            }
        };
        let representative = (!self.representative.is_empty()).then_some(self.representative.as_slice());
        self.copies += u64::from(representative.is_some());
        task.emit(&MemberFingerprint { id, representative, fingerprint, distance })?;
        if self.representative.is_empty() {
            self.representative.extend_from_slice(id);
        }
        Ok(())
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.representative.clear();
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count("copies", self.copies);
        Ok(())
    }
}
