//! `keep`: one document of each cluster is kept. `keep` joins labels, properties and sets by id; `keep-choose` sees
//! a cluster best document first, and counts each member's similarity to it exactly, even below tau.
//! `write-kept` passes the kept documents' lines on.

use super::cluster::rank_of;
use super::options::{KeepOpts, SimilarityOpts};
use super::{NoOpts, options};
use crate::cluster::dropped::Dropped;
use crate::cluster::keep::KeepRule;
use crate::error::{FieldError, Result};
use crate::io;
use crate::join::overlap;
use crate::record::Record;
use crate::record::cluster::{ClusterRow, Compared, KeepInput, KeepRow, Ranked, Verdict};
use crate::record::document::{DocumentOpts, Line};
use crate::record::fingerprint::{MemberFingerprint, PrintedFingerprint};
use crate::record::tokenized::Tokenized;
use crate::similarity::Score;
use crate::sketch::simhash::Fingerprint;
use crate::stage::{Decl, Role, SideFile, Stage, Task};
use clap::Args;
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};

/// The mapper.
pub struct Keep {
    rule: KeepRule,
}

impl Stage for Keep {
    type In<'a> = KeepInput<'a>;
    type Out<'a> = KeepRow<'a>;
    type Opts = options::KeepOpts;
    const DECL: Decl = Decl {
        name: "keep",
        role: Role::Map,
        about: "Brings each document's cluster, rank and set together",
        side: &[],
    };

    fn open(opts: KeepOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { rule: opts.keep })
    }

    fn push(&mut self, row: KeepInput<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            KeepInput::Label(label) => task.emit(&KeepRow::Label(label)),
            KeepInput::Doc(doc) => task.emit(&KeepRow::Doc(doc)),
            KeepInput::Fingerprint(one) => {
                let MemberFingerprint { id, fingerprint, distance, .. } = one;
                task.emit(&KeepRow::Fingerprint(PrintedFingerprint { id, fingerprint, distance }))
            }
            KeepInput::Meta(meta) => {
                let rank = rank_of(self.rule, &meta).map_err(|error| task.wrong(error))?;
                task.emit(&KeepRow::Rank { id: meta.id, rank: &rank })
            }
        }
    }
}

/// The reducer: documents that are in no cluster end here.
#[derive(Default)]
pub struct KeepReduce {
    label: Vec<u8>,
    rank: Vec<u8>,
}

impl KeepReduce {
    fn member(&self, doc: Compared<'_>, task: &mut Task<'_>) -> Result<()> {
        if self.label.is_empty() {
            return Ok(());
        }
        task.emit(&Ranked { label: &self.label, rank: &self.rank, doc })
    }
}

impl Stage for KeepReduce {
    type In<'a> = KeepRow<'a>;
    type Out<'a> = Ranked<'a>;
    type Opts = NoOpts;
    const DECL: Decl = Decl {
        name: "keep-reduce",
        role: Role::Reduce,
        about: "Writes each clustered document under its cluster, by rank",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, row: KeepRow<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            KeepRow::Label(label) => self.label = label.label.to_vec(),
            KeepRow::Rank { rank, .. } => self.rank = rank.to_vec(),
            KeepRow::Doc(doc) => self.member(Compared::Set(doc), task)?,
            KeepRow::Fingerprint(one) => self.member(Compared::Fingerprint(one), task)?,
        }
        Ok(())
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.label.clear();
        self.rank.clear();
        Ok(())
    }
}

/// `keep-choose`: the first document of a cluster is kept.
pub struct KeepChoose {
    dropped: Dropped,
    kept: Vec<u8>,
    kept_set: Vec<u64>,
    kept_text: Option<u128>,
    kept_fingerprint: Option<(Fingerprint, u32)>,
    members: u64,
    set: Vec<u64>,
    clusters: u64,
}

impl KeepChoose {
    /// Takes what the others are compared with.
    fn keep(&mut self, doc: &Compared<'_>) -> Result<(), FieldError> {
        match doc {
            Compared::Set(Tokenized { doc, text }) => {
                (self.kept_text, self.kept_fingerprint) = (*text, None);
                doc.features.read(&mut self.kept_set)
            }
            Compared::Fingerprint(one) => {
                self.kept_fingerprint = Some((one.fingerprint, one.distance));
                Ok(())
            }
        }
    }

    /// How like the kept document another one is.
    fn compare(&mut self, doc: &Compared<'_>) -> Result<Option<Score>, FieldError> {
        let Tokenized { doc, text } = match (doc, self.kept_fingerprint) {
            (Compared::Set(row), None) => row,
            (Compared::Fingerprint(one), Some((fingerprint, distance))) => {
                let kept = PrintedFingerprint { id: &self.kept, fingerprint, distance };
                let (pair, distance) = one.pairs_with(&kept);
                return Ok(Some(self.dropped.add_distance(distance, pair)));
            }
            _ => {
                let expected = "sets or fingerprints alone in a cluster";
                return Err(FieldError::new("id", expected, doc.id()));
            }
        };
        if text.is_some() && *text == self.kept_text {
            return Ok(self.dropped.add(None));
        }
        doc.features.read(&mut self.set)?;
        let shared = overlap(&self.kept_set, &self.set);
        Ok(self.dropped.add(Some((shared, self.set.len() as u64, self.kept_set.len() as u64))))
    }
}

impl Stage for KeepChoose {
    type In<'a> = Ranked<'a>;
    type Out<'a> = ClusterRow<'a>;
    type Opts = SimilarityOpts;
    const DECL: Decl = Decl {
        name: "keep-choose",
        role: Role::Reduce,
        about: "Keeps the best document of each cluster and compares the others with it",
        side: &[],
    };

    fn open(opts: SimilarityOpts, _: &mut Task<'_>) -> Result<Self> {
        let dropped = Dropped::below(opts.0);
        let (kept, kept_set, set) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self {
            dropped,
            kept,
            kept_set,
            kept_text: None,
            kept_fingerprint: None,
            members: 0,
            set,
            clusters: 0,
        })
    }

    fn push(&mut self, row: Ranked<'_>, task: &mut Task<'_>) -> Result<()> {
        self.members += 1;
        if self.members == 1 {
            self.kept = row.doc.id().to_vec();
            return self.keep(&row.doc).map_err(|error| task.wrong(error));
        }
        if self.members == 2 {
            // A cluster is two documents and more: the kept one is written when a second one is seen.
            self.clusters += 1;
            task.emit(&ClusterRow { kept: &self.kept, id: &self.kept, verdict: Verdict::Keep })?;
        }
        let score = self.compare(&row.doc).map_err(|error| task.wrong(error))?;
        task.emit(&ClusterRow { kept: &self.kept, id: row.doc.id(), verdict: Verdict::Drop(score) })
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.members = 0;
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
    dropped: FxHashSet<Vec<u8>>,
    kept: u64,
}

/// Its options.
#[derive(Args, Clone, Debug)]
pub struct WriteKeptOpts {
    #[command(flatten)]
    document: DocumentOpts,
    /// The clusters that keep-choose wrote: a file, or a folder of part files
    #[arg(long, env = "TWINSPLIT_CLUSTERS", default_value = "clusters", value_name = "FILE")]
    clusters: PathBuf,
}

/// The ids that clusters drop.
fn dropped_ids(clusters: &Path) -> Result<FxHashSet<Vec<u8>>> {
    let mut dropped = FxHashSet::default();
    for path in io::expand_inputs(&[clusters.to_owned()])? {
        io::each_row(&path, |line| {
            let row = ClusterRow::decode(line)?;
            if row.verdict != Verdict::Keep {
                dropped.insert(row.id.to_vec());
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
        Ok(Self { dropped: dropped_ids(&opts.clusters)?, document: opts.document, kept: 0 })
    }

    fn push(&mut self, line: Line<'_>, task: &mut Task<'_>) -> Result<()> {
        let document = self.document.read(line.0, &task.place).map_err(|error| task.bad(error))?;
        if self.dropped.contains(&document.id) {
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
