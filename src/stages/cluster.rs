//! `cluster`: pairs of representatives, and copies, become clusters; one task, with 4 bytes for each link.
//! Where no task may hold the graph, [`super::components`] and [`super::star`] take its place.

use super::options::KeepOpts;
use crate::cluster::components::Components;
use crate::cluster::groups::star_of_groups;
use crate::cluster::keep::{self, Date, KeepRule, Score};
use crate::error::{FieldError, Result};
use crate::record::cluster::{ClusterInput, Label};
use crate::record::meta::Meta;
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
    /// What a cluster is: a connected component, or a star around a document that all others pair with; stars
    /// are the default with --write-kept
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
    /// The ids, and, for [`ClusterKind::Components`], the components so far.
    graph: Components,
    /// Pairs of representatives, for [`ClusterKind::Star`].
    pairs: Vec<(u32, u32)>,
    /// (copy, representative), for [`ClusterKind::Star`].
    copies: Vec<(u32, u32)>,
    /// Ranks of documents whose rank is more than their id.
    ranks: FxHashMap<Vec<u8>, Vec<u8>>,
}

impl Cluster {
    fn edge(&mut self, a: &[u8], b: &[u8]) -> (u32, u32) {
        (self.graph.ids.number(a), self.graph.ids.number(b))
    }

    /// The label of each document: its centre's representative.
    fn stars(&self) -> Vec<u32> {
        let rank_of = |x: u32| {
            let id = self.graph.ids.get(x);
            (self.ranks.get(id).map_or(&[][..], Vec::as_slice), id)
        };
        star_of_groups(self.graph.ids.len(), &self.copies, &self.pairs, rank_of)
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
            graph: Components::default(),
            pairs: Vec::new(),
            copies: Vec::new(),
            ranks: FxHashMap::default(),
        })
    }

    fn push(&mut self, row: ClusterInput<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            ClusterInput::Pair(pair) if self.kind == ClusterKind::Star => {
                let (a, b) = pair.ids();
                let edge = self.edge(a, b);
                self.pairs.push(edge);
            }
            ClusterInput::Pair(pair) => {
                let (a, b) = pair.ids();
                self.graph.union(a, b);
            }
            ClusterInput::Member(member) => match (member.as_copy(), self.kind) {
                (Some((id, representative)), ClusterKind::Star) => {
                    let edge = self.edge(id, representative);
                    self.copies.push(edge);
                }
                (Some((id, representative)), ClusterKind::Components) => {
                    self.graph.union(id, representative);
                }
                (None, _) => {}
            },
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
        let labels = match self.kind {
            ClusterKind::Components => self.graph.labels(),
            ClusterKind::Star => self.stars(),
        };
        let ids = &self.graph.ids;
        for document in ids.sorted() {
            task.emit(&Label { id: ids.get(document), label: ids.get(labels[document as usize]) })?;
        }
        Ok(())
    }
}

/// A document's rank by a keep rule, from its properties.
pub fn rank_of(rule: KeepRule, meta: &Meta<'_>) -> Result<Vec<u8>, FieldError> {
    let text = |field, bytes| std::str::from_utf8(bytes).map_err(|_| FieldError::new(field, "UTF-8", bytes));
    let date = match text("date", meta.date)? {
        "" => None,
        nanoseconds => {
            let date = Date::of_nanoseconds(nanoseconds);
            Some(date.map_err(|_| FieldError::new("date", "nanoseconds since 1970", meta.date))?)
        }
    };
    let score = match text("score", meta.score)? {
        "" => None,
        literal => {
            let expected = "a JSON number with an exponent of at most 18 digits";
            Some(literal.parse::<Score>().map_err(|_| FieldError::new("score", expected, meta.score))?)
        }
    };
    if rule == KeepRule::First && meta.place.input.is_empty() {
        return Err(FieldError::missing("input", "hex digits, as doc-meta --keep first writes them"));
    }
    let [input, offset] = [("input", meta.place.input), ("offset", meta.place.offset)]
        .map(|(field, digits)| text(field, digits));
    let place = format!("{}-{}", input?, offset?);
    let known = keep::Meta { length: meta.length, date, score: score.as_ref(), place: &place };
    Ok(keep::key(rule, &known).into_bytes())
}
