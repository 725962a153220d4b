//! `cluster`: pairs of representatives, and copies, become clusters, and the best document of each is found; one task, which
//! holds the graph. Where no task may, [`super::components`] and [`super::star`] take its place.

use super::options::KeepOpts;
use super::shared::Shared;
use crate::record::Record;
use crate::record::cluster::{ClusterInput, Clustered, GraphRow};
use crate::record::meta::Meta;
use crate::record::set::Member;
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, SideFile, Stage, Task};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use twinsplit_core::cluster::components::Components;
use twinsplit_core::cluster::groups::star_of_groups;
use twinsplit_core::cluster::ids::Ids;
use twinsplit_core::cluster::keep::{self, Date, KeepRule, Score};
use twinsplit_io as io;
use twinsplit_io::error::{FieldError, Result};

twinsplit_core::choice! {
    /// What a cluster is.
    pub enum ClusterKind {
        /// Connected components: documents that a chain of pairs joins.
        Components = "components",
        /// Stars: every document of a cluster pairs with its centre.
        Star = "star",
    }
}

twinsplit_core::options! {
    /// Which clusters.
    pub struct ClusterKindOpts {
        /// What a cluster is: a connected component, or a star around a document that all others pair with; stars
        /// are the default with --write-kept
        pub cluster: ClusterKind = "components";
    }
}

twinsplit_core::options! {
    /// How much of a graph one task may hold.
    pub struct GraphOpts {
        /// Pairs of different sets and copies, in all, that one task makes clusters of (about 250 bytes each); where there are
        /// more, clusters are made in rounds of many tasks
        pub graph: u64 = 2_000_000, "N";
    }
}

/// The mapper: of sets and of all that is in none of the rows nothing goes on.
pub struct ClusterMap {
    rule: KeepRule,
}

impl Stage for ClusterMap {
    type In<'a> = ClusterInput<'a>;
    type Out<'a> = GraphRow<'a>;
    type Opts = KeepOpts;
    const DECL: Decl = Decl {
        name: "cluster",
        role: Role::Map,
        about: "Passes on pairs, copies and the ranks of documents",
        side: &[],
    };

    fn open(opts: KeepOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { rule: opts.keep })
    }

    fn push(&mut self, row: ClusterInput<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            ClusterInput::Pair(pair) => {
                let (a, b) = pair.ids();
                task.emit(&GraphRow::Pair(a, b))
            }
            ClusterInput::Member(Member::Meta(meta)) => {
                let rank = rank_of(self.rule, &meta).map_err(|error| task.wrong(error))?;
                if rank.is_empty() { Ok(()) } else { task.emit(&GraphRow::Rank(meta.id, &rank)) }
            }
            ClusterInput::Member(member) => match member.as_copy() {
                Some((id, representative)) => task.emit(&GraphRow::Copy(id, representative)),
                None => Ok(()),
            },
        }
    }
}

twinsplit_core::options! {
    /// Options of the reducer.
    pub struct ClusterOpts {}
    with {
        kind: ClusterKindOpts,
        graph: GraphOpts,
    }
}

/// The reducer. A document that is in no pair and no copy costs nothing; any other its id and its rank and about 50 bytes,
/// and for stars 8 bytes for each of its pairs.
pub struct ClusterReduce {
    kind: ClusterKind,
    /// The ids, and, for [`ClusterKind::Components`], the components so far.
    graph: Components,
    /// Pairs of representatives, for [`ClusterKind::Star`].
    pairs: Vec<(u32, u32)>,
    /// (copy, representative).
    copies: Vec<(u32, u32)>,
    /// Ranks of documents, by number; those that are not here have an empty one.
    ranks: FxHashMap<u32, Box<[u8]>>,
}

impl ClusterReduce {
    fn edge(&mut self, a: &[u8], b: &[u8]) -> (u32, u32) {
        if self.kind == ClusterKind::Components {
            self.graph.union(a, b);
        }
        (self.graph.ids.number(a), self.graph.ids.number(b))
    }

    /// What documents are in order of, best first.
    fn key(&self, document: u32) -> (&[u8], &[u8]) {
        (self.ranks.get(&document).map_or(&[][..], |rank| rank), self.graph.ids.get(document))
    }
}

impl Stage for ClusterReduce {
    type In<'a> = GraphRow<'a>;
    type Out<'a> = Clustered<'a>;
    type Opts = ClusterOpts;
    const ONE_TASK: bool = true;
    const GROWTH: Growth = Growth::Members;
    const DECL: Decl = Decl {
        name: "cluster-reduce",
        role: Role::Reduce,
        about: "Groups documents into connected components or stars, and finds the best of each; one task",
        side: &[],
    };

    fn open(opts: ClusterOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self {
            kind: opts.kind.cluster,
            graph: Components::default(),
            pairs: Vec::new(),
            copies: Vec::new(),
            ranks: FxHashMap::default(),
        })
    }

    fn push(&mut self, row: GraphRow<'_>, _: &mut Task<'_>) -> Result<()> {
        match row {
            GraphRow::Pair(a, b) => {
                let edge = self.edge(a, b);
                if self.kind == ClusterKind::Star {
                    self.pairs.push(edge);
                }
            }
            GraphRow::Copy(id, representative) => {
                let edge = self.edge(id, representative);
                self.copies.push(edge);
            }
            GraphRow::Rank(id, rank) => {
                if let Some(document) = self.graph.ids.find(id) {
                    self.ranks.insert(document, rank.into());
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        let labels = match self.kind {
            ClusterKind::Components => self.graph.labels(),
            ClusterKind::Star => {
                let documents = self.graph.ids.len();
                star_of_groups(documents, &self.copies, &self.pairs, |document| self.key(document))
            }
        };
        let mut kept: Vec<u32> = vec![u32::MAX; labels.len()];
        for (document, &label) in (0..).zip(&labels) {
            let best = &mut kept[label as usize];
            if *best == u32::MAX || self.key(document) < self.key(*best) {
                *best = document;
            }
        }
        let mut representatives: Vec<u32> = (0..labels.len() as u32).collect();
        for &(copy, of) in &self.copies {
            representatives[copy as usize] = of;
        }
        let ids = &self.graph.ids;
        for document in ids.sorted() {
            let [kept, representative] =
                [kept[labels[document as usize] as usize], representatives[document as usize]];
            task.emit(&Clustered {
                id: ids.get(document),
                kept: ids.get(kept),
                representative: ids.get(representative),
            })?;
        }
        Ok(())
    }
}

/// Which document every document of a cluster gives way to, as one task has found it: about 30 bytes for each, and its id.
#[derive(Default)]
pub struct Clusters {
    ids: Ids,
    kept: Vec<u32>,
    representatives: Vec<u32>,
}

twinsplit_core::options! {
    /// Where they are.
    pub struct ClusteredOpts {
        /// What cluster-reduce wrote
        pub clustered: PathBuf = "clustered", "FILE";
    }
    with {
        /// How many there may be.
        pub graph: GraphOpts,
    }
}

impl Clusters {
    /// The side file that they come from.
    pub const SIDE: SideFile = SideFile {
        option: "clustered",
        about: "the documents of clusters that cluster-reduce wrote; required",
    };

    /// Those of a file, which all tasks of a process share.
    pub fn load(path: &Path) -> Result<Arc<Self>> {
        static CLUSTERS: Shared<Clusters> = Shared::new();
        CLUSTERS.load(path, || Self::read(path))
    }

    fn read(path: &Path) -> Result<Self> {
        let mut all = Self::default();
        io::each_row(path, |line| {
            let row = Clustered::decode(line)?;
            let [id, kept, representative] =
                [row.id, row.kept, row.representative].map(|id| all.ids.number(id));
            for (column, value) in [(&mut all.kept, kept), (&mut all.representatives, representative)] {
                column.resize(all.ids.len(), u32::MAX);
                column[id as usize] = value;
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// The number of a document that is in a cluster.
    pub fn find(&self, id: &[u8]) -> Option<u32> {
        self.ids.find(id)
    }

    /// The id of a number.
    pub fn id(&self, document: u32) -> &[u8] {
        self.ids.get(document)
    }

    /// What a document's cluster keeps.
    pub fn kept(&self, document: u32) -> u32 {
        in_column(&self.kept, document)
    }

    /// The document that has its set and stands for it in joins.
    pub fn representative(&self, document: u32) -> u32 {
        in_column(&self.representatives, document)
    }

    /// All documents, in byte order of their ids.
    pub fn sorted(&self) -> Vec<u32> {
        self.ids.sorted()
    }
}

/// What a column has for a document; a document without a row of its own stands for itself.
fn in_column(column: &[u32], document: u32) -> u32 {
    column.get(document as usize).copied().filter(|value| *value != u32::MAX).unwrap_or(document)
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
        return Err(FieldError::missing(
            "input",
            "hex digits, as tokenize --meta on --keep first writes them",
        ));
    }
    let [input, offset] = [("input", meta.place.input), ("offset", meta.place.offset)]
        .map(|(field, digits)| text(field, digits));
    let place = format!("{}-{}", input?, offset?);
    let known = keep::Meta { length: meta.length, date, score: score.as_ref(), place: &place };
    Ok(keep::key(rule, &known).into_bytes())
}
