//! `cluster`: pairs of representatives, and copies, become clusters; one task, with 4 bytes for each link.

use super::options::KeepOpts;
use crate::cluster::groups::star_of_groups;
use crate::cluster::ids::Ids;
use crate::cluster::keep::{self, KeepRule, Score};
use crate::cluster::union_find::UnionFind;
use crate::error::{FieldError, Result};
use crate::record::cluster::{ClusterInput, Label, Meta};
use crate::record::set::Member;
use crate::stage::{Decl, Role, Stage, Task};
use clap::{Args, ValueEnum};
use rustc_hash::FxHashMap;

/// What a cluster is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ClusterKind {
    /// Connected components: documents that a chain of pairs joins.
    Components,
    /// Stars: every document of a cluster pairs with its centre.
    Star,
}

/// Which clusters.
#[derive(Args, Clone, Debug)]
pub struct ClusterKindOpts {
    /// Clusters are connected components, or stars around a document that all others of the cluster pair with
    #[arg(long, env = "TWINSPLIT_CLUSTER", value_enum, default_value = "components")]
    pub cluster: ClusterKind,
}

/// Its options.
#[derive(Args, Clone, Debug)]
pub struct ClusterOpts {
    #[command(flatten)]
    kind: ClusterKindOpts,
    #[command(flatten)]
    keep: KeepOpts,
}

/// The stage. A document that is in no pair and no copy costs nothing; any other its id and about 30 bytes, and for
/// stars 8 bytes for each of its pairs and its rank.
pub struct Cluster {
    kind: ClusterKind,
    rule: KeepRule,
    ids: Ids,
    /// Components so far, for [`ClusterKind::Components`].
    components: UnionFind,
    /// Pairs of representatives, for [`ClusterKind::Star`].
    pairs: Vec<(u32, u32)>,
    /// (copy, representative), for [`ClusterKind::Star`].
    copies: Vec<(u32, u32)>,
    /// Ranks of documents whose rank is more than their id.
    ranks: FxHashMap<Vec<u8>, Vec<u8>>,
}

impl Cluster {
    fn edge(&mut self, a: &[u8], b: &[u8]) -> (u32, u32) {
        (self.ids.number(a), self.ids.number(b))
    }

    fn union(&mut self, (x, y): (u32, u32)) {
        while self.components.len() < self.ids.len() {
            self.components.push();
        }
        self.components.union(x, y);
    }

    /// The label of each document: the smallest id of its component. `order` is by id.
    fn components(&mut self, order: &[u32]) -> Vec<u32> {
        let mut label_of_root = vec![u32::MAX; self.ids.len()];
        let mut labels = vec![0; self.ids.len()];
        for &document in order {
            let label = &mut label_of_root[self.components.find(document) as usize];
            if *label == u32::MAX {
                // The first document of a component in order of ids is the smallest.
                *label = document;
            }
            labels[document as usize] = *label;
        }
        labels
    }

    /// The label of each document: its centre's representative.
    fn stars(&self) -> Vec<u32> {
        let rank_of = |x: u32| {
            let id = self.ids.get(x);
            (self.ranks.get(id).map_or(&[][..], Vec::as_slice), id)
        };
        star_of_groups(self.ids.len(), &self.copies, &self.pairs, rank_of)
    }
}

impl Stage for Cluster {
    type In<'a> = ClusterInput<'a>;
    type Out<'a> = Label<'a>;
    type Opts = ClusterOpts;
    const DECL: Decl = Decl {
        name: "cluster",
        role: Role::Reduce,
        about: "Groups documents into connected components or stars; one task",
        side: &[],
    };

    fn open(opts: ClusterOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self {
            kind: opts.kind.cluster,
            rule: opts.keep.keep,
            ids: Ids::default(),
            components: UnionFind::new(0),
            pairs: Vec::new(),
            copies: Vec::new(),
            ranks: FxHashMap::default(),
        })
    }

    fn push(&mut self, row: ClusterInput<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            ClusterInput::Pair(pair) => {
                let edge = self.edge(pair.a, pair.b);
                match self.kind {
                    ClusterKind::Components => self.union(edge),
                    ClusterKind::Star => self.pairs.push(edge),
                }
            }
            ClusterInput::Member(Member::Copy(copy)) => {
                let edge = self.edge(copy.id, copy.representative);
                match self.kind {
                    ClusterKind::Components => self.union(edge),
                    ClusterKind::Star => self.copies.push(edge),
                }
            }
            ClusterInput::Member(Member::Doc(_)) => {}
            ClusterInput::Meta(meta) if self.kind == ClusterKind::Star => {
                let rank = rank_of(self.rule, &meta).map_err(|error| task.wrong(error))?;
                if !rank.is_empty() {
                    self.ranks.insert(meta.id.to_vec(), rank);
                }
            }
            ClusterInput::Meta(_) => {}
        }
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        let order = self.ids.sorted();
        let labels = match self.kind {
            ClusterKind::Components => self.components(&order),
            ClusterKind::Star => self.stars(),
        };
        for document in order {
            let label = labels[document as usize];
            task.emit(&Label { id: self.ids.get(document), label: self.ids.get(label) })?;
        }
        Ok(())
    }
}

/// A document's rank by a keep rule, from its properties.
pub fn rank_of(rule: KeepRule, meta: &Meta<'_>) -> Result<Vec<u8>, FieldError> {
    let text = |field, bytes| std::str::from_utf8(bytes).map_err(|_| FieldError::new(field, "UTF-8", bytes));
    let date = text("date", meta.date)?;
    let score = text("score", meta.score)?;
    let score = match score {
        "" => None,
        literal => {
            let expected = "a JSON number with an exponent of at most 18 digits";
            Some(literal.parse::<Score>().map_err(|_| FieldError::new("score", expected, meta.score))?)
        }
    };
    let known = keep::Meta { length: meta.length, date, score: score.as_ref() };
    Ok(keep::key(rule, &known).into_bytes())
}
