//! `verify-left`, `verify-right`: candidates meet their two sets, one after the other, and are counted exactly.
//!
//! Two joins by id: under the smaller id of a candidate its set is put beside it, and that row goes on to the larger
//! id. Repeated candidates merge in the first shuffle, before any set is copied.

use super::NoOpts;
use super::forest::{Forest, JoinedOpts};
use crate::record::pair::Pair;
use crate::record::set::{Features, Member};
use crate::record::verify::{Half, LeftInput, LeftRow, RightInput, RightRow};
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, Stage, Task};
use twinsplit_core::join::overlap;
use twinsplit_core::similarity::{SetSimilarity, Similarity};
use twinsplit_io::error::{FieldError, Result};

/// The first mapper: sets and candidates by the candidates' smaller id.
pub struct VerifyLeft;

impl Stage for VerifyLeft {
    type In<'a> = LeftInput<'a>;
    type Out<'a> = LeftRow<'a>;
    type Opts = NoOpts;
    const DECL: Decl = Decl {
        name: "verify-left",
        role: Role::Map,
        about: "Brings each candidate to the set of its smaller id",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self)
    }

    fn push(&mut self, row: LeftInput<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            LeftInput::Candidate(candidate) => task.emit(&LeftRow::Candidate(candidate)),
            LeftInput::Member(Member::Doc(doc)) => task.emit(&LeftRow::Set(doc)),
            LeftInput::Member(Member::Copy(_) | Member::Fingerprint(_) | Member::Meta(_)) => Ok(()),
        }
    }
}

/// The set of the group that is being read, if it came.
#[derive(Default)]
struct Held {
    here: bool,
    text: Vec<u8>,
}

impl Held {
    fn take(&mut self, features: Features<'_>) {
        self.here = true;
        self.text.clear();
        features.encode(&mut self.text);
    }

    fn features(&self, id: &[u8]) -> Result<Features<'_>, FieldError> {
        if self.here {
            Ok(Features::Text(&self.text))
        } else {
            Err(FieldError::new("id", "an id whose set is among the input", id))
        }
    }
}

/// The candidates of a group, which are those of one smaller id, sorted: each is told from its repetitions, and all are counted.
#[derive(Default)]
pub(super) struct DistinctCandidates {
    last: Vec<u8>,
    different: u64,
    repeated: u64,
}

impl DistinctCandidates {
    /// Whether the candidate with this larger id comes for the first time.
    pub(super) fn is_new(&mut self, b: &[u8]) -> bool {
        if b == self.last {
            self.repeated += 1;
            return false;
        }
        self.different += 1;
        self.last.clear();
        self.last.extend_from_slice(b);
        true
    }

    pub(super) fn end_group(&mut self) {
        self.last.clear();
    }

    pub(super) fn count(&self, task: &mut Task<'_>) {
        task.count("candidates", self.different);
        task.count("candidates_repeated", self.repeated);
    }
}

/// The first reducer.
#[derive(Default)]
pub struct VerifyLeftReduce {
    set: Held,
    candidates: DistinctCandidates,
}

impl Stage for VerifyLeftReduce {
    type In<'a> = LeftRow<'a>;
    type Out<'a> = Half<'a>;
    type Opts = NoOpts;
    const GROWTH: Growth = Growth::Pairs;
    const DECL: Decl = Decl {
        name: "verify-left-reduce",
        role: Role::Reduce,
        about: "Merges repeated candidates and sends each, with the set of its smaller id, to its larger id",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, row: LeftRow<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            LeftRow::Set(doc) => self.set.take(doc.features),
            LeftRow::Candidate(candidate) if !self.candidates.is_new(candidate.b) => {}
            LeftRow::Candidate(candidate) => {
                let features = self.set.features(candidate.a).map_err(|error| task.wrong(error))?;
                task.emit(&Half { b: candidate.b, a: candidate.a, features })?;
            }
        }
        Ok(())
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.set.here = false;
        self.candidates.end_group();
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.candidates.count(task);
        Ok(())
    }
}

/// The second mapper: sets and halves by the candidates' larger id.
pub struct VerifyRight;

impl Stage for VerifyRight {
    type In<'a> = RightInput<'a>;
    type Out<'a> = RightRow<'a>;
    type Opts = NoOpts;
    const DECL: Decl = Decl {
        name: "verify-right",
        role: Role::Map,
        about: "Brings each candidate, which carries one set, to the set of its larger id",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self)
    }

    fn push(&mut self, row: RightInput<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            RightInput::Half(half) => task.emit(&RightRow::Half(half)),
            RightInput::Member(Member::Doc(doc)) => task.emit(&RightRow::Set(doc)),
            RightInput::Member(Member::Copy(_) | Member::Fingerprint(_) | Member::Meta(_)) => Ok(()),
        }
    }
}

/// The second reducer.
pub struct VerifyRightReduce {
    similarity: Similarity,
    forest: Forest,
    here: bool,
    set: Vec<u64>,
    other: Vec<u64>,
    below: u64,
}

impl Stage for VerifyRightReduce {
    type In<'a> = RightRow<'a>;
    type Out<'a> = Pair<'a>;
    type Opts = JoinedOpts;
    const GROWTH: Growth = Growth::Pairs;
    const DECL: Decl = Decl {
        name: "verify-right-reduce",
        role: Role::Reduce,
        about: "Counts the shared features of each candidate and keeps those that reach tau",
        side: &[],
    };

    fn open(opts: JoinedOpts, _: &mut Task<'_>) -> Result<Self> {
        let forest = Forest::new(&opts.forest);
        Ok(Self {
            similarity: opts.similarity.0,
            forest,
            here: false,
            set: Vec::new(),
            other: Vec::new(),
            below: 0,
        })
    }

    fn push(&mut self, row: RightRow<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            RightRow::Set(doc) => {
                self.here = true;
                doc.features.read(&mut self.set).map_err(|error| task.wrong(error))
            }
            RightRow::Half(half) => {
                if !self.here {
                    let error = FieldError::new("b", "an id whose set is among the input", half.b);
                    return Err(task.wrong(error));
                }
                half.features.read(&mut self.other).map_err(|error| task.wrong(error))?;
                let (size_a, size_b) = (self.other.len() as u64, self.set.len() as u64);
                let overlap = overlap(&self.other, &self.set);
                if !self.similarity.accepts(overlap, size_a, size_b) {
                    self.below += 1;
                    return Ok(());
                }
                if !self.forest.needs(half.a, half.b) {
                    return Ok(());
                }
                let measure = self.similarity.measure();
                task.emit(&Pair { a: half.a, b: half.b, overlap, size_a, size_b, measure })
            }
        }
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.here = false;
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.forest.finish(task);
        task.count("candidates_below_tau", self.below);
        Ok(())
    }
}
