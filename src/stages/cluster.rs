//! `cluster`: pairs of representatives, and copies, become clusters; one task, with 4 bytes for each link.

use super::options::KeepOpts;
use crate::cluster::groups::star_of_groups;
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

/// The stage.
pub struct Cluster {
    kind: ClusterKind,
    rule: KeepRule,
    numbers: FxHashMap<Vec<u8>, u32>,
    ids: Vec<Vec<u8>>,
    pairs: Vec<(u32, u32)>,
    /// (copy, representative)
    copies: Vec<(u32, u32)>,
    ranks: FxHashMap<Vec<u8>, Vec<u8>>,
}

impl Cluster {
    fn number(&mut self, id: &[u8]) -> u32 {
        if let Some(number) = self.numbers.get(id) {
            return *number;
        }
        let number = self.ids.len() as u32;
        self.numbers.insert(id.to_vec(), number);
        self.ids.push(id.to_vec());
        number
    }

    /// Numbers documents in byte order of their ids, so that smaller numbers are smaller ids.
    fn renumber(&mut self) {
        let mut order: Vec<u32> = (0..self.ids.len() as u32).collect();
        order.sort_unstable_by_key(|&old| &self.ids[old as usize]);
        let mut new = vec![0; order.len()];
        for (number, &old) in (0..).zip(&order) {
            new[old as usize] = number;
        }
        self.ids = order.iter().map(|&old| std::mem::take(&mut self.ids[old as usize])).collect();
        for (x, y) in self.pairs.iter_mut().chain(&mut self.copies) {
            (*x, *y) = (new[*x as usize], new[*y as usize]);
        }
    }

    /// The label of each document: the smallest number of its component.
    fn components(&self) -> Vec<u32> {
        let mut forest = UnionFind::new(self.ids.len() as u32);
        for &(x, y) in self.pairs.iter().chain(&self.copies) {
            forest.union(x, y);
        }
        forest.into_labels()
    }

    /// The label of each document: its centre's representative.
    fn stars(&self) -> Vec<u32> {
        let rank_of = |x: u32| {
            let id = &self.ids[x as usize];
            (self.ranks.get(id).map_or(&[][..], Vec::as_slice), id.as_slice())
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
            numbers: FxHashMap::default(),
            ids: Vec::new(),
            pairs: Vec::new(),
            copies: Vec::new(),
            ranks: FxHashMap::default(),
        })
    }

    fn push(&mut self, row: ClusterInput<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            ClusterInput::Pair(pair) => {
                let edge = (self.number(pair.a), self.number(pair.b));
                self.pairs.push(edge);
            }
            ClusterInput::Member(Member::Copy(copy)) => {
                let edge = (self.number(copy.id), self.number(copy.representative));
                self.copies.push(edge);
            }
            ClusterInput::Member(Member::Doc(_)) => {}
            ClusterInput::Meta(meta) if self.kind == ClusterKind::Star => {
                let rank = rank_of(self.rule, &meta).map_err(|error| task.wrong(error))?;
                self.ranks.insert(meta.id.to_vec(), rank);
            }
            ClusterInput::Meta(_) => {}
        }
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.numbers = FxHashMap::default();
        self.renumber();
        let labels = match self.kind {
            ClusterKind::Components => self.components(),
            ClusterKind::Star => self.stars(),
        };
        for (id, label) in self.ids.iter().zip(labels) {
            task.emit(&Label { id, label: &self.ids[label as usize] })?;
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
