//! `equal-fingerprints`: documents with the same fingerprint are joined once. The smallest id of each group stands for it, as
//! with [equal sets](super::equal_sets), so that a million equal pages are a million rows in every table less. Where texts are
//! compared as well, documents of a group have the same of that too.
//!
//! Documents without a fingerprint meet by the hashes of their texts, and become copies of the smallest id among them, as those
//! without a set do. That one is no fingerprint, and is not passed on.

use super::meta::SingleIds;
use super::signature_check::CheckOpts;
use super::simhash::DistanceOpts;
use crate::record::fingerprint::{
    FingerprintRow, GroupedFingerprint, GroupedRow, MemberFingerprint, ShortText,
};
use crate::record::set::{Copy, Member};
use crate::stage::{Decl, Role, Stage, Task};
use twinsplit_core::similarity::text::TextCheck;
use twinsplit_io::error::{FieldError, Result};

twinsplit_core::options! {
    /// The reducer's options.
    pub struct EqualFingerprintsReduceOpts {}
    with {
        check: CheckOpts,
    }
}

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
            FingerprintRow::Text(text) => return task.emit(&GroupedRow::Text(text)),
            FingerprintRow::Meta(meta) => return task.emit(&GroupedRow::Meta(meta)),
        };
        let distance = row.distance.unwrap_or(self.distance);
        task.emit(&GroupedFingerprint {
            fingerprint: row.fingerprint,
            distance,
            content: row.content,
            id: row.id,
        })
    }
}

/// The reducer.
pub struct EqualFingerprintsReduce {
    check: Option<TextCheck>,
    /// The smallest id of the group; none before its first row.
    representative: Vec<u8>,
    ids: SingleIds,
    copies: u64,
    equal_texts: u64,
}

impl Stage for EqualFingerprintsReduce {
    type In<'a> = GroupedRow<'a>;
    type Out<'a> = Member<'a>;
    type Opts = EqualFingerprintsReduceOpts;
    const DECL: Decl = Decl {
        name: "equal-fingerprints-reduce",
        role: Role::Reduce,
        about: "Passes one of several equal fingerprints on, turns the others into copies, and stops at an id that two documents have",
        side: &[],
    };

    fn open(opts: EqualFingerprintsReduceOpts, _: &mut Task<'_>) -> Result<Self> {
        let ids = SingleIds::default();
        Ok(Self { check: opts.check.texts(), representative: Vec::new(), ids, copies: 0, equal_texts: 0 })
    }

    fn push(&mut self, row: GroupedRow<'_>, task: &mut Task<'_>) -> Result<()> {
        let GroupedFingerprint { fingerprint, distance, content, id } = match row {
            GroupedRow::Fingerprint(row) => row,
            GroupedRow::Text(ShortText { id, .. }) => {
                if self.representative.is_empty() {
                    self.representative.extend_from_slice(id);
                    return Ok(());
                }
                self.equal_texts += 1;
                return task.emit(&Member::Copy(Copy { id, representative: &self.representative, size: 0 }));
            }
            GroupedRow::Meta(meta) => {
                self.ids.take(&meta, task)?;
                return task.emit(&meta);
            }
        };
        if content.is_some() != self.check.is_some() {
            let expected = "rows that simhash has made with the same --check";
            return Err(task.wrong(FieldError::new("content", expected, id)));
        }
        let representative = (!self.representative.is_empty()).then_some(self.representative.as_slice());
        self.copies += u64::from(representative.is_some());
        let measure = representative.and(self.check).map(|check| check.measure);
        task.emit(&MemberFingerprint { id, representative, fingerprint, distance, measure })?;
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
        task.count("equal_texts", self.equal_texts);
        Ok(())
    }
}
