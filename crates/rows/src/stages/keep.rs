//! `keep`: one document of each cluster is kept, and each other one's similarity to it is counted exactly, even below tau.
//! Copies have the set of their representative, which is compared once for all of them.
//!
//! Where one task has found the clusters, `keep` brings sets and documents under the kept one. Where no task may know
//! all of them, two joins do: `keep-rank` brings label, rank and set together by id, and `keep-best` sees a cluster best
//! document first. Either way `keep-choose` reads the kept one's set, and then one set after the other.
//!
//! `write-kept` passes the kept documents' lines on.

use super::cluster::{ClusteredOpts, Clusters, rank_of};
use super::options::{KeepOpts, SimilarityOpts};
use super::shared::Shared;
use super::{NoOpts, options};
use crate::record::Record;
use crate::record::cluster::{Chosen, ChosenRow, ClusterRow, KeepRow, LabelOrMember, Ranked, Verdict};
use crate::record::compared::Compared;
use crate::record::document::{DocumentOpts, Line};
use crate::record::set::Member;
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, SideFile, Stage, Task};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use twinsplit_core::cluster::dropped::Dropped;
use twinsplit_core::cluster::ids::Ids;
use twinsplit_core::cluster::keep::KeepRule;
use twinsplit_core::join::overlap;
use twinsplit_core::similarity::Score;
use twinsplit_core::sketch::simhash::Fingerprint;
use twinsplit_io as io;
use twinsplit_io::error::{FieldError, Result};

/// `keep`, the mapper that knows the clusters.
pub struct Keep {
    clusters: Arc<Clusters>,
}

impl Stage for Keep {
    type In<'a> = Member<'a>;
    type Out<'a> = ChosenRow<'a>;
    type Opts = ClusteredOpts;
    const GROWTH: Growth = Growth::Members;
    const DECL: Decl = Decl {
        name: "keep",
        role: Role::Map,
        about: "Brings the sets and the documents of each cluster under the document that is kept",
        side: &[Clusters::SIDE],
    };

    fn open(opts: ClusteredOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { clusters: Clusters::load(&opts.clustered)? })
    }

    fn push(&mut self, member: Member<'_>, task: &mut Task<'_>) -> Result<()> {
        // Each document has its properties in one row, whether it has a set of its own or not.
        let (id, what) = match (&member, Compared::of(&member)) {
            (Member::Meta(meta), _) => (meta.id, Chosen::Document(meta.id)),
            (_, Some((id, set))) => (id, Chosen::Set(set)),
            _ => return Ok(()),
        };
        let Some(document) = self.clusters.find(id) else { return Ok(()) };
        let kept = match what {
            Chosen::Set(_) => self.clusters.kept_for_set(document),
            Chosen::Document(_) => self.clusters.kept(document),
        };
        let representative = self.clusters.representative(document);
        task.emit(&ChosenRow {
            kept: self.clusters.id(kept),
            other: representative != self.clusters.representative(kept),
            representative: self.clusters.id(representative),
            what,
        })
    }
}

/// `keep-rank`, the mapper of the first join.
pub struct KeepRank {
    rule: KeepRule,
}

impl Stage for KeepRank {
    type In<'a> = LabelOrMember<'a>;
    type Out<'a> = KeepRow<'a>;
    type Opts = options::KeepOpts;
    const DECL: Decl = Decl {
        name: "keep-rank",
        role: Role::Map,
        about: "Brings each document's cluster, rank and set together",
        side: &[],
    };

    fn open(opts: KeepOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { rule: opts.keep })
    }

    fn push(&mut self, row: LabelOrMember<'_>, task: &mut Task<'_>) -> Result<()> {
        let member = match row {
            LabelOrMember::Label(label) => return task.emit(&KeepRow::Label(label)),
            LabelOrMember::Member(member) => member,
        };
        if let Member::Meta(meta) = member {
            let rank = rank_of(self.rule, &meta).map_err(|error| task.wrong(error))?;
            return task.emit(&KeepRow::Rank { id: meta.id, rank: &rank });
        }
        if let Some((id, representative)) = member.as_copy() {
            return task.emit(&KeepRow::Copy { id, representative });
        }
        match Compared::of(&member) {
            Some((id, set)) => task.emit(&KeepRow::Set { id, set }),
            None => Ok(()),
        }
    }
}

/// Its reducer: documents that are in no cluster end here.
#[derive(Default)]
pub struct KeepRankReduce {
    id: Vec<u8>,
    label: Vec<u8>,
    rank: Vec<u8>,
    representative: Vec<u8>,
    written: bool,
}

impl KeepRankReduce {
    fn write(&mut self, set: Option<Compared<'_>>, task: &mut Task<'_>) -> Result<()> {
        self.written = true;
        if self.label.is_empty() {
            return Ok(());
        }
        let representative = if self.representative.is_empty() { &self.id } else { &self.representative };
        task.emit(&Ranked { label: &self.label, rank: &self.rank, id: &self.id, representative, set })
    }
}

impl Stage for KeepRankReduce {
    type In<'a> = KeepRow<'a>;
    type Out<'a> = Ranked<'a>;
    type Opts = NoOpts;
    const GROWTH: Growth = Growth::Members;
    const DECL: Decl = Decl {
        name: "keep-rank-reduce",
        role: Role::Reduce,
        about: "Writes each clustered document under its cluster, by rank",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, row: KeepRow<'_>, task: &mut Task<'_>) -> Result<()> {
        let (id, field, value) = match row {
            KeepRow::Label(label) => (label.id, &mut self.label, label.label),
            KeepRow::Rank { id, rank } => (id, &mut self.rank, rank),
            KeepRow::Copy { id, representative } => (id, &mut self.representative, representative),
            KeepRow::Set { id, set } => {
                self.id = id.to_vec();
                return self.write(Some(set), task);
            }
        };
        for (field, value) in [(&mut self.id, id), (field, value)] {
            field.clear();
            field.extend_from_slice(value);
        }
        Ok(())
    }

    fn end_group(&mut self, task: &mut Task<'_>) -> Result<()> {
        if !self.written {
            self.write(None, task)?;
        }
        self.label.clear();
        self.rank.clear();
        self.representative.clear();
        self.written = false;
        Ok(())
    }
}

/// `keep-best`: the first document of a cluster is kept.
#[derive(Default)]
pub struct KeepBest {
    kept: Vec<u8>,
    representative: Vec<u8>,
    started: bool,
}

impl Stage for KeepBest {
    type In<'a> = Ranked<'a>;
    type Out<'a> = ChosenRow<'a>;
    type Opts = NoOpts;
    const GROWTH: Growth = Growth::Members;
    const DECL: Decl = Decl {
        name: "keep-best",
        role: Role::Reduce,
        about: "Brings the sets and the documents of each cluster under its best document",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, row: Ranked<'_>, task: &mut Task<'_>) -> Result<()> {
        let representative = row.representative;
        if !self.started {
            self.started = true;
            self.kept = row.id.to_vec();
            self.representative = representative.to_vec();
        }
        let other = representative != self.representative;
        let kept = &self.kept;
        if let Some(set) = row.set {
            task.emit(&ChosenRow { kept, other, representative, what: Chosen::Set(set) })?;
        }
        task.emit(&ChosenRow { kept, other, representative, what: Chosen::Document(row.id) })
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.started = false;
        Ok(())
    }
}

/// A set or a fingerprint that is held.
#[derive(Default)]
struct Held {
    /// Whose it is; nobody's before the first one.
    representative: Vec<u8>,
    set: Vec<u64>,
    fingerprint: Option<(Fingerprint, u32)>,
    /// Whether there is one: documents without, under one representative, have one text.
    here: bool,
}

impl Held {
    fn take(&mut self, representative: &[u8], set: Option<&Compared<'_>>) -> Result<(), FieldError> {
        self.representative.clear();
        self.representative.extend_from_slice(representative);
        (self.here, self.fingerprint) = (set.is_some(), None);
        match set {
            Some(Compared::Set(features)) => features.read(&mut self.set),
            Some(Compared::Fingerprint(fingerprint, distance)) => {
                self.fingerprint = Some((*fingerprint, *distance));
                Ok(())
            }
            None => Ok(()),
        }
    }
}

twinsplit_core::choice! {
    /// What documents of a cluster have in common with the kept one.
    enum ComparedBy {
        /// Features.
        Sets = "sets",
        /// Bits.
        Fingerprints = "fingerprints",
    }
}

/// The option and its value by which a chain of fingerprints says that equal texts are of distance 0.
pub const BY_FINGERPRINTS: (&str, &str) = ("compared-by", "fingerprints");

twinsplit_core::options! {
    /// The options of `keep-choose`.
    pub struct KeepChooseOpts {
        /// What stands beside documents whose texts are equal and too short for features: a similarity, or a distance of
        /// fingerprints; set by chains
        compared_by: ComparedBy = "sets";
    }
    with {
        similarity: SimilarityOpts,
    }
}

/// `keep-choose`.
pub struct KeepChoose {
    dropped: Dropped,
    by: ComparedBy,
    /// What documents of the kept one's set are compared with, and of other sets.
    kept: Held,
    other: Held,
    /// The document of the cluster that is kept was written.
    written: bool,
    clusters: u64,
}

impl KeepChoose {
    /// How like the kept document another one is, which has the set that is held.
    fn compare(&mut self, other: bool) -> Result<Option<Score>, &'static str> {
        let (kept, own) = (&self.kept, if other { &self.other } else { &self.kept });
        match (kept.fingerprint, own.fingerprint, kept.here && own.here) {
            (Some((x, of_x)), Some((y, of_y)), _) => {
                let distance = x.distance(y);
                Ok(Some(self.dropped.add_distance(distance, distance <= of_x.min(of_y))))
            }
            (None, None, true) => {
                let shared = overlap(&kept.set, &own.set);
                Ok(self.dropped.add(Some((shared, own.set.len() as u64, kept.set.len() as u64))))
            }
            // Equal texts have no sets and no fingerprints.
            (None, None, false) if !other && !kept.here => Ok(match self.by {
                ComparedBy::Sets => self.dropped.add(None),
                ComparedBy::Fingerprints => Some(self.dropped.add_distance(0, true)),
            }),
            _ => Err("sets or fingerprints alone in a cluster, each before its documents"),
        }
    }
}

impl Stage for KeepChoose {
    type In<'a> = ChosenRow<'a>;
    type Out<'a> = ClusterRow<'a>;
    type Opts = KeepChooseOpts;
    const GROWTH: Growth = Growth::Members;
    const DECL: Decl = Decl {
        name: "keep-choose",
        role: Role::Reduce,
        about: "Compares the documents of each cluster with the one that is kept",
        side: &[],
    };

    fn open(opts: KeepChooseOpts, _: &mut Task<'_>) -> Result<Self> {
        let (dropped, by) = (Dropped::below(opts.similarity.0), opts.compared_by);
        Ok(Self { dropped, by, kept: Held::default(), other: Held::default(), written: false, clusters: 0 })
    }

    fn push(&mut self, row: ChosenRow<'_>, task: &mut Task<'_>) -> Result<()> {
        let ChosenRow { kept, other, representative, what } = row;
        let held = if other { &mut self.other } else { &mut self.kept };
        let id = match what {
            Chosen::Set(set) => {
                return held.take(representative, Some(&set)).map_err(|error| task.wrong(error));
            }
            Chosen::Document(id) => id,
        };
        if held.representative != representative {
            held.take(representative, None).map_err(|error| task.wrong(error))?;
        }
        if id == kept {
            return Ok(());
        }
        if !std::mem::replace(&mut self.written, true) {
            // A cluster is two documents and more: the kept one is written when a second one is seen.
            self.clusters += 1;
            task.emit(&ClusterRow { kept, id: kept, verdict: Verdict::Keep })?;
        }
        let score = self.compare(other);
        let score = score.map_err(|expected| task.wrong(FieldError::new("id", expected, id)))?;
        task.emit(&ClusterRow { kept, id, verdict: Verdict::Drop(score) })
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.written = false;
        self.kept.representative.clear();
        self.other.representative.clear();
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count("clusters", self.clusters);
        self.dropped.counters().into_iter().for_each(|(name, count)| task.count(name, count));
        Ok(())
    }
}

/// `write-kept`: the lines of the documents that are not dropped, unchanged.
pub struct WriteKept {
    document: DocumentOpts,
    dropped: Arc<Ids>,
    kept: u64,
}

twinsplit_core::options! {
    /// Its options.
    pub struct WriteKeptOpts {
        /// The clusters that keep-choose wrote: a file, or a folder of part files
        clusters: PathBuf = "clusters", "FILE";
    }
    with {
        document: DocumentOpts,
    }
}

/// The ids that clusters drop.
fn dropped_ids(clusters: &Path) -> Result<Ids> {
    let mut dropped = Ids::default();
    for path in io::expand_inputs(&[clusters.to_owned()])? {
        io::each_row(&path, |line| {
            let row = ClusterRow::decode(line)?;
            if row.verdict != Verdict::Keep {
                dropped.number(row.id);
            }
            Ok(())
        })?;
    }
    Ok(dropped)
}

impl Stage for WriteKept {
    type In<'a> = Line<'a>;
    type Out<'a> = Line<'a>;
    type Opts = WriteKeptOpts;
    const DECL: Decl = Decl {
        name: "write-kept",
        role: Role::Map,
        about: "Passes on, unchanged, the lines of documents that no cluster drops",
        side: &[SideFile { option: "clusters", about: "the clusters that keep-choose wrote; required" }],
    };

    fn open(opts: WriteKeptOpts, _: &mut Task<'_>) -> Result<Self> {
        static DROPPED: Shared<Ids> = Shared::new();
        let dropped = DROPPED.load(&opts.clusters, || dropped_ids(&opts.clusters))?;
        Ok(Self { dropped, document: opts.document, kept: 0 })
    }

    fn push(&mut self, line: Line<'_>, task: &mut Task<'_>) -> Result<()> {
        let document = self.document.read(line.0, &task.place).map_err(|error| task.bad(error))?;
        if self.dropped.find(&document.id).is_some() {
            return Ok(());
        }
        self.kept += 1;
        task.emit_row(line.0)
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count("documents_kept", self.kept);
        Ok(())
    }
}
