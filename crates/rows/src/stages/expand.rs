//! `expand-pairs`: pairs of representatives become pairs of all documents with those sets, and those inside each group of equal sets
//! are added, where one task has found the clusters, so that every task may know the copies. Where none may, two joins do it:
//! `expand-left` and `expand-right`, one side of the pairs after the other.

use super::NoOpts;
use super::cluster::{ClusteredOpts, Clusters};
use super::options::{MaxPairsOpts, SimilarityOpts};
use super::shared::Shared;
use crate::record::expand::{ExpandRow, LeftInput, RightInput};
use crate::record::near::{AnswerPair, AnyPair, Checked, Near};
use crate::record::pair::Pair;
use crate::record::set::{Copy, Member};
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, Stage, Task};
use rustc_hash::FxHashMap;
use std::path::Path;
use std::sync::Arc;
use twinsplit_core::similarity::text::TextMeasure;
use twinsplit_core::similarity::{Measure, Score, SetSimilarity, Similarity};
use twinsplit_io::error::{Error, FieldError, Result};

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
        Member::Copy(_) | Member::Doc(_) | Member::Meta(_) => Ok(()),
    }
}

/// Pairs that are written, within a bound.
struct Bounded {
    most: u64,
    pairs: u64,
    /// The last pair was one of fingerprints.
    fingerprints: bool,
}

impl Bounded {
    fn new(opts: &MaxPairsOpts) -> Self {
        Self { most: opts.max_pairs, pairs: 0, fingerprints: false }
    }

    /// Counts so many pairs more, and says whether they may still be written: beyond the limit nothing is, but all
    /// are counted, so that the message can say how many there are.
    fn admits(&mut self, pairs: u64) -> bool {
        self.pairs += pairs;
        self.pairs <= self.most
    }

    fn finish(&self, task: &mut Task<'_>) -> Result<()> {
        task.count("pairs", self.pairs);
        if self.pairs > self.most {
            return Err(Error::Limit(format!(
                "{}: {} pairs in one task (the limit is {}); {} has fewer, --write clusters needs none, or raise --max-pairs",
                task.stage,
                self.pairs,
                self.most,
                if self.fingerprints { "a smaller --distance" } else { "a higher tau" }
            )));
        }
        Ok(())
    }
}

/// An error about a pair of another measure than the one that is asked for.
fn other_measure(measure: Measure, task: &Task<'_>) -> Error {
    let expected = "pairs of the measure that --similarity names";
    task.wrong(FieldError::new("similarity", expected, measure.name().as_bytes()))
}

/// `expand-pairs`. Of the documents in clusters, which it holds, it looks at those that are copies.
pub struct Expand {
    copies: Arc<Copies>,
    similarity: Similarity,
    pairs: Bounded,
}

/// Documents of clusters, and which of them are copies.
struct Copies {
    clusters: Arc<Clusters>,
    /// By representative: itself, and its copies, in byte order of their ids.
    groups: FxHashMap<u32, Vec<u32>>,
}

impl Copies {
    fn load(clustered: &Path) -> Result<Self> {
        let clusters = Clusters::load(clustered)?;
        let mut groups: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for document in clusters.sorted() {
            let representative = clusters.representative(document);
            if representative != document {
                groups.entry(representative).or_insert_with(|| vec![representative]).push(document);
            }
        }
        Ok(Self { clusters, groups })
    }

    /// The documents that a representative stands for, where it has copies.
    fn group(&self, representative: &[u8]) -> Option<&[u32]> {
        let document = self.clusters.find(representative)?;
        self.groups.get(&document).map(Vec::as_slice)
    }
}

twinsplit_core::options! {
    /// Its options.
    pub struct ExpandOpts {}
    with {
        clustered: ClusteredOpts,
        /// What the pairs of copies are written with.
        similarity: SimilarityOpts,
        max_pairs: MaxPairsOpts,
    }
}

impl Expand {
    /// Gives `visit` the pairs of the documents that two representatives stand for.
    fn each(
        &mut self,
        (a, b): (&[u8], &[u8]),
        task: &mut Task<'_>,
        visit: impl Fn(&[u8], &[u8], &mut Task<'_>) -> Result<()>,
    ) -> Result<()> {
        let size = |group: Option<&[u32]>| group.map_or(1, |group| group.len() as u64);
        if !self.pairs.admits(size(self.copies.group(a)) * size(self.copies.group(b))) {
            return Ok(());
        }
        let ids = |representative, group: Option<&[u32]>| match group {
            None => vec![representative],
            Some(_) => Vec::new(),
        };
        let (of_a, of_b) = (self.copies.group(a), self.copies.group(b));
        let (alone_a, alone_b) = (ids(a, of_a), ids(b, of_b));
        let all_b = || {
            let group = of_b.unwrap_or_default().iter().map(|document| self.copies.clusters.id(*document));
            group.chain(alone_b.iter().copied())
        };
        for x in
            of_a.unwrap_or_default().iter().map(|document| self.copies.clusters.id(*document)).chain(alone_a)
        {
            for y in all_b() {
                visit(x, y, task)?;
            }
        }
        Ok(())
    }

    /// Gives `visit` the documents that a copy is paired with in its row: its representative, and the copies before it.
    fn each_before(
        &mut self,
        (id, representative): (&[u8], &[u8]),
        task: &mut Task<'_>,
        visit: impl Fn(&[u8], &mut Task<'_>) -> Result<()>,
    ) -> Result<()> {
        let Some(group) = self.copies.group(representative) else {
            let expected = "a copy that is in the file of --clustered";
            return Err(task.wrong(FieldError::new("id", expected, id)));
        };
        let before = |document: &&u32| {
            let other = self.copies.clusters.id(**document);
            other != id && (other == representative || other < id)
        };
        let others: Vec<u32> = group.iter().filter(before).copied().collect();
        if !self.pairs.admits(others.len() as u64) {
            return Ok(());
        }
        others.iter().try_for_each(|other| visit(self.copies.clusters.id(*other), task))
    }
}

impl Stage for Expand {
    type In<'a> = LeftInput<'a>;
    type Out<'a> = AnswerPair<'a>;
    type Opts = ExpandOpts;
    const GROWTH: Growth = Growth::Pairs;
    const DECL: Decl = Decl {
        name: "expand-pairs",
        role: Role::Map,
        about: "Repeats each pair for the copies of both its documents, and pairs the copies with one another",
        side: &[Clusters::SIDE],
    };

    fn open(opts: ExpandOpts, _: &mut Task<'_>) -> Result<Self> {
        static COPIES: Shared<Copies> = Shared::new();
        let clustered = &opts.clustered.clustered;
        let copies = COPIES.load(clustered, || Copies::load(clustered))?;
        Ok(Self { copies, similarity: opts.similarity.0, pairs: Bounded::new(&opts.max_pairs) })
    }

    fn push(&mut self, row: LeftInput<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            LeftInput::Pair(AnyPair::Sets(pair)) => {
                let Pair { measure, size_a, size_b, overlap, .. } = pair;
                if measure != self.similarity.measure() {
                    return Err(other_measure(measure, task));
                }
                self.each((pair.a, pair.b), task, |x, y, task| {
                    task.emit(&AnswerPair::Sets(Pair::of(measure, (x, size_a), (y, size_b), overlap)))
                })
            }
            LeftInput::Pair(AnyPair::Fingerprints(near)) => {
                self.pairs.fingerprints = true;
                self.each((near.a, near.b), task, |x, y, task| {
                    task.emit(&AnswerPair::Fingerprints(Near::of(x, y, near.distance, near.checked)))
                })
            }
            LeftInput::Member(Member::Copy(Copy { id, representative, size })) => {
                // Equal texts are of size 0, and sets that are too small for an overlap are no pairs, not even with their equals.
                if size == 0 || !self.similarity.accepts(size, size, size) {
                    return Ok(());
                }
                let measure = self.similarity.measure();
                self.each_before((id, representative), task, |other, task| {
                    task.emit(&AnswerPair::Sets(Pair::of(measure, (id, size), (other, size), size)))
                })
            }
            LeftInput::Member(Member::Fingerprint(one)) => match one.representative {
                Some(representative) => {
                    self.pairs.fingerprints = true;
                    let checked = one.measure.map(|measure| Checked { score: Score::ONE, measure });
                    self.each_before((one.id, representative), task, |other, task| {
                        task.emit(&AnswerPair::Fingerprints(Near::of(one.id, other, 0, checked)))
                    })
                }
                None => Ok(()),
            },
            LeftInput::Member(Member::Doc(_) | Member::Meta(_)) => Ok(()),
        }
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.pairs.finish(task)
    }
}

/// The first mapper: pairs under their smaller id.
pub struct ExpandLeft;

impl Stage for ExpandLeft {
    type In<'a> = LeftInput<'a>;
    type Out<'a> = ExpandRow<'a>;
    type Opts = NoOpts;
    const GROWTH: Growth = Growth::Pairs;
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
    const GROWTH: Growth = Growth::Pairs;
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
    const GROWTH: Growth = Growth::Pairs;
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
    similarity: Similarity,
    pairs: Bounded,
}

twinsplit_core::options! {
    /// Its options.
    pub struct ExpandRightOpts {}
    with {
        /// What the pairs of copies are written with.
        similarity: SimilarityOpts,
        max_pairs: MaxPairsOpts,
    }
}

impl Stage for ExpandRightReduce {
    type In<'a> = ExpandRow<'a>;
    type Out<'a> = AnswerPair<'a>;
    type Opts = ExpandRightOpts;
    const GROWTH: Growth = Growth::Pairs;
    const DECL: Decl = Decl {
        name: "expand-right-reduce",
        role: Role::Reduce,
        about: "Repeats each pair for every copy of its larger id, and pairs the copies with one another",
        side: &[],
    };

    fn open(opts: ExpandRightOpts, _: &mut Task<'_>) -> Result<Self> {
        let pairs = Bounded::new(&opts.max_pairs);
        Ok(Self { group: Group::default(), similarity: opts.similarity.0, pairs })
    }

    fn push(&mut self, row: ExpandRow<'_>, task: &mut Task<'_>) -> Result<()> {
        self.pairs.fingerprints = matches!(row, ExpandRow::EqualFingerprint { .. } | ExpandRow::Near { .. });
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
                if measure != self.similarity.measure() {
                    return Err(other_measure(measure, task));
                }
                self.group.start(key);
                self.group.pairs_seen = true;
                if !self.pairs.admits(self.group.ids.len() as u64) {
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
                if !self.pairs.admits(self.group.ids.len() as u64) {
                    return Ok(());
                }
                let near = |id| AnswerPair::Fingerprints(Near::of(id, other, distance, checked));
                self.group.ids.iter().try_for_each(|id| task.emit(&near(id)))
            }
        }
    }

    fn end_group(&mut self, task: &mut Task<'_>) -> Result<()> {
        let group = std::mem::take(&mut self.group);
        let (copies, similarity) = (group.ids.len() as u64, self.similarity);
        // Sets that are too small for an overlap are no pairs, not even with their equals.
        let pairs = match group.equal {
            Equal::Set(size) => similarity.accepts(size, size, size),
            Equal::Fingerprint(_) => true,
        };
        if !pairs || !self.pairs.admits(copies * copies.saturating_sub(1) / 2) {
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
        self.pairs.finish(task)
    }
}
