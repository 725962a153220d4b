//! `expand-left`, `expand-right`: pairs of representatives become pairs of all documents with those sets, one side
//! after the other; the second adds the pairs inside each group of equal sets.

use super::NoOpts;
use super::options::{MaxPairsOpts, SimilarityOpts};
use crate::error::{Error, FieldError, Result};
use crate::record::expand::{ExpandRow, LeftInput, RightInput};
use crate::record::near::{AnswerPair, AnyPair, Checked, Near};
use crate::record::pair::Pair;
use crate::record::set::Member;
use crate::similarity::text::TextMeasure;
use crate::similarity::{Score, SetSimilarity};
use crate::stage::{Decl, Role, Stage, Task};
use clap::Args;

/// Writes a copy under its representative. Equal texts are no pair of sets, and are of size 0.
fn emit_copy(member: &Member<'_>, task: &mut Task<'_>) -> Result<()> {
    match *member {
        Member::Copy(copy) if copy.size > 0 => {
            task.emit(&ExpandRow::Copy { representative: copy.representative, id: copy.id, size: copy.size })
        }
        Member::Fingerprint(one) => match one.representative {
            Some(representative) => {
                task.emit(&ExpandRow::EqualFingerprint { representative, id: one.id, measure: one.measure })
            }
            None => Ok(()),
        },
        Member::Copy(_) | Member::Doc(_) => Ok(()),
    }
}

/// The first mapper: pairs under their smaller id.
pub struct ExpandLeft;

impl Stage for ExpandLeft {
    type In<'a> = LeftInput<'a>;
    type Out<'a> = ExpandRow<'a>;
    type Opts = NoOpts;
    const DECL: Decl = Decl {
        name: "expand-left",
        role: Role::Map,
        about: "Brings each pair to the copies of its smaller id",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self)
    }

    fn push(&mut self, row: LeftInput<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            LeftInput::Pair(AnyPair::Fingerprints(near)) => {
                let Near { a, b, distance, checked } = near;
                task.emit(&ExpandRow::Near { key: a, other: b, distance, checked })
            }
            LeftInput::Pair(AnyPair::Sets(pair)) => task.emit(&ExpandRow::Pair {
                key: pair.a,
                other: pair.b,
                overlap: pair.overlap,
                size_key: pair.size_a,
                size_other: pair.size_b,
                measure: pair.measure,
            }),
            LeftInput::Member(member) => emit_copy(&member, task),
        }
    }
}

/// In what the documents of a group are equal.
#[derive(Clone, Copy)]
enum Equal {
    /// In their sets, of this size.
    Set(u64),
    /// In their fingerprints, and in what is compared of their texts.
    Fingerprint(Option<TextMeasure>),
}

impl Default for Equal {
    fn default() -> Self {
        Equal::Fingerprint(None)
    }
}

/// The copies of the representative whose group is being read, itself first.
#[derive(Default)]
struct Group {
    ids: Vec<Vec<u8>>,
    equal: Equal,
    pairs_seen: bool,
}

impl Group {
    fn start(&mut self, representative: &[u8]) {
        if self.ids.is_empty() {
            self.ids.push(representative.to_vec());
        }
    }

    fn push(&mut self, id: &[u8], equal: Equal, task: &Task<'_>) -> Result<()> {
        if self.pairs_seen {
            return Err(task.wrong(FieldError::new("tag", "copies before pairs", id)));
        }
        self.equal = equal;
        self.ids.push(id.to_vec());
        Ok(())
    }
}

/// The first reducer.
#[derive(Default)]
pub struct ExpandLeftReduce {
    group: Group,
}

impl Stage for ExpandLeftReduce {
    type In<'a> = ExpandRow<'a>;
    type Out<'a> = ExpandRow<'a>;
    type Opts = NoOpts;
    const DECL: Decl = Decl {
        name: "expand-left-reduce",
        role: Role::Reduce,
        about: "Repeats each pair for every copy of its smaller id, under its larger id",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, row: ExpandRow<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            ExpandRow::Copy { representative, id, size } => {
                self.group.start(representative);
                self.group.push(id, Equal::Set(size), task)
            }
            ExpandRow::EqualFingerprint { representative, id, measure } => {
                self.group.start(representative);
                self.group.push(id, Equal::Fingerprint(measure), task)
            }
            ExpandRow::Pair { key, other, overlap, size_key, size_other, measure } => {
                self.group.start(key);
                self.group.pairs_seen = true;
                self.group.ids.iter().try_for_each(|id| {
                    task.emit(&ExpandRow::Pair {
                        key: other,
                        other: id,
                        overlap,
                        size_key: size_other,
                        size_other: size_key,
                        measure,
                    })
                })
            }
            ExpandRow::Near { key, other, distance, checked } => {
                self.group.start(key);
                self.group.pairs_seen = true;
                let mut ids = self.group.ids.iter();
                let near = |id| ExpandRow::Near { key: other, other: id, distance, checked };
                ids.try_for_each(|id| task.emit(&near(id)))
            }
        }
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.group = Group::default();
        Ok(())
    }
}

/// The second mapper: half-expanded pairs and, again, the copies.
pub struct ExpandRight;

impl Stage for ExpandRight {
    type In<'a> = RightInput<'a>;
    type Out<'a> = ExpandRow<'a>;
    type Opts = NoOpts;
    const DECL: Decl = Decl {
        name: "expand-right",
        role: Role::Map,
        about: "Brings each pair to the copies of its larger id",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self)
    }

    fn push(&mut self, row: RightInput<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            RightInput::Row(row) => task.emit(&row),
            RightInput::Member(member) => emit_copy(&member, task),
        }
    }
}

/// The second reducer.
pub struct ExpandRightReduce {
    group: Group,
    opts: ExpandRightOpts,
    pairs: u64,
    /// The last row was one of fingerprints.
    fingerprints: bool,
}

/// Its options.
#[derive(Args, Clone, Debug)]
pub struct ExpandRightOpts {
    /// What the pairs of copies are written with.
    #[command(flatten)]
    similarity: SimilarityOpts,
    #[command(flatten)]
    max_pairs: MaxPairsOpts,
}

impl ExpandRightReduce {
    /// Counts so many pairs more, and says whether they may still be written: beyond the limit nothing is, but all
    /// are counted, so that the message can say how many there are.
    fn admits(&mut self, pairs: u64) -> bool {
        self.pairs += pairs;
        self.pairs <= self.opts.max_pairs.max_pairs
    }
}

impl Stage for ExpandRightReduce {
    type In<'a> = ExpandRow<'a>;
    type Out<'a> = AnswerPair<'a>;
    type Opts = ExpandRightOpts;
    const DECL: Decl = Decl {
        name: "expand-right-reduce",
        role: Role::Reduce,
        about: "Repeats each pair for every copy of its larger id, and pairs the copies with one another",
        side: &[],
    };

    fn open(opts: ExpandRightOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { group: Group::default(), opts, pairs: 0, fingerprints: false })
    }

    fn push(&mut self, row: ExpandRow<'_>, task: &mut Task<'_>) -> Result<()> {
        self.fingerprints = matches!(row, ExpandRow::EqualFingerprint { .. } | ExpandRow::Near { .. });
        match row {
            ExpandRow::Copy { representative, id, size } => {
                self.group.start(representative);
                self.group.push(id, Equal::Set(size), task)
            }
            ExpandRow::EqualFingerprint { representative, id, measure } => {
                self.group.start(representative);
                self.group.push(id, Equal::Fingerprint(measure), task)
            }
            ExpandRow::Pair { key, other, overlap, size_key, size_other, measure } => {
                let asked = self.opts.similarity.0.measure();
                if measure != asked {
                    let expected = "pairs of the measure that --similarity names";
                    return Err(task.wrong(FieldError::new(
                        "similarity",
                        expected,
                        measure.name().as_bytes(),
                    )));
                }
                self.group.start(key);
                self.group.pairs_seen = true;
                if !self.admits(self.group.ids.len() as u64) {
                    return Ok(());
                }
                let mut ids = self.group.ids.iter();
                ids.try_for_each(|id| {
                    let pair = Pair::of(measure, (id, size_key), (other, size_other), overlap);
                    task.emit(&AnswerPair::Sets(pair))
                })
            }
            ExpandRow::Near { key, other, distance, checked } => {
                self.group.start(key);
                self.group.pairs_seen = true;
                if !self.admits(self.group.ids.len() as u64) {
                    return Ok(());
                }
                let near = |id| AnswerPair::Fingerprints(Near::of(id, other, distance, checked));
                self.group.ids.iter().try_for_each(|id| task.emit(&near(id)))
            }
        }
    }

    fn end_group(&mut self, task: &mut Task<'_>) -> Result<()> {
        let group = std::mem::take(&mut self.group);
        let (copies, similarity) = (group.ids.len() as u64, self.opts.similarity.0);
        // Sets that are too small for an overlap are no pairs, not even with their equals.
        let pairs = match group.equal {
            Equal::Set(size) => similarity.accepts(size, size, size),
            Equal::Fingerprint(_) => true,
        };
        if !pairs || !self.admits(copies * copies.saturating_sub(1) / 2) {
            return Ok(());
        }
        for (at, x) in group.ids.iter().enumerate() {
            for y in &group.ids[at + 1..] {
                task.emit(&match group.equal {
                    Equal::Set(size) => {
                        AnswerPair::Sets(Pair::of(similarity.measure(), (x, size), (y, size), size))
                    }
                    Equal::Fingerprint(measure) => {
                        let checked = measure.map(|measure| Checked { score: Score::ONE, measure });
                        AnswerPair::Fingerprints(Near::of(x, y, 0, checked))
                    }
                })?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count("pairs", self.pairs);
        if self.pairs > self.opts.max_pairs.max_pairs {
            return Err(Error::Limit(format!(
                "expand-right-reduce: {} pairs in one task (the limit is {}); {} has fewer, --write clusters needs none, or \
                 raise --max-pairs",
                self.pairs,
                self.opts.max_pairs.max_pairs,
                if self.fingerprints { "a smaller --distance" } else { "a higher tau" }
            )));
        }
        Ok(())
    }
}
