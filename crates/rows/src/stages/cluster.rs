//! `cluster`: pairs of representatives, and copies, become clusters, and the best document of each is found; one task, which
//! holds the graph. Where no task may, [`super::components`] and [`super::star`] take its place.

mod reduced;

use super::options::{KeepOpts, SimilarityOpts};
use super::reduce::{Likeness, ReduceOpts};
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
use twinsplit_core::similarity::Similarity;
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

twinsplit_core::options! {
    /// Options of the mapper.
    pub struct ClusterMapOpts {}
    with {
        keep: KeepOpts,
        reduce: ReduceOpts,
    }
}

/// The mapper: of sets and of all that is in none of the rows nothing goes on.
pub struct ClusterMap {
    rule: KeepRule,
    /// Whether it is told how alike pairs are.
    alike: bool,
}

impl Stage for ClusterMap {
    type In<'a> = ClusterInput<'a>;
    type Out<'a> = GraphRow<'a>;
    type Opts = ClusterMapOpts;
    const DECL: Decl = Decl {
        name: "cluster",
        role: Role::Map,
        about: "Passes on pairs, copies and the ranks of documents",
        side: &[],
    };

    fn open(opts: ClusterMapOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { rule: opts.keep.keep, alike: opts.reduce.reduce_to.is_some() })
    }

    fn push(&mut self, row: ClusterInput<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            ClusterInput::Pair(pair) if self.alike => task.emit(&GraphRow::Alike(pair)),
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
        reduce: ReduceOpts,
        similarity: SimilarityOpts,
    }
}

/// The reducer. A document that is in no pair and no copy costs nothing; any other its id and its rank and about 50 bytes,
/// and for stars 8 bytes for each of its pairs, or 48 where as many are dropped as are too many.
pub struct ClusterReduce {
    kind: ClusterKind,
    /// How many documents are to stay, where that is asked for, and how many there are.
    reduce_to: Option<u64>,
    documents: u64,
    similarity: Similarity,
    /// Pairs of representatives with how alike they are, where as many documents are dropped as are too many.
    alike: Vec<(u32, u32, Likeness)>,
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
        if self.reduce_to.is_none() && self.kind == ClusterKind::Components {
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
            reduce_to: opts.reduce.reduce_to,
            documents: 0,
            similarity: opts.similarity.0,
            alike: Vec::new(),
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
            GraphRow::Alike(pair) => {
                let (a, b) = pair.ids();
                let (x, y) = self.edge(a, b);
                self.alike.push((x, y, Likeness::of(&pair)));
            }
            GraphRow::Copy(id, representative) => {
                let edge = self.edge(id, representative);
                self.copies.push(edge);
            }
            GraphRow::Rank(id, rank) => {
                self.documents += 1;
                if let Some(document) = self.graph.ids.find(id) {
                    self.ranks.insert(document, rank.into());
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        let labels = match (self.reduce_to, self.kind) {
            (Some(wanted), _) => self.reduced(wanted, task)?,
            (None, ClusterKind::Components) => self.graph.labels(),
            (None, ClusterKind::Star) => {
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

/// Which document every document of a cluster gives way to, as one task has found it: about 35 bytes for each, and its id.
#[derive(Default)]
pub struct Clusters {
    ids: Ids,
    kept: Vec<u32>,
    representatives: Vec<u32>,
    /// By representative the document that its dropped copies give way to: others of them may stay on their own.
    of_copies: Vec<u32>,
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
            let mut rows = vec![(&mut all.kept, id, kept), (&mut all.representatives, id, representative)];
            if id != kept {
                rows.push((&mut all.of_copies, representative, kept));
            }
            for (column, at, value) in rows {
                column.resize(all.ids.len(), u32::MAX);
                column[at as usize] = value;
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

    /// What documents of a cluster that have the set of this one are compared with: where some of them are dropped and others are not, what
    /// is kept for those.
    pub fn kept_for_set(&self, document: u32) -> u32 {
        let of_copies = self.of_copies.get(self.representative(document) as usize);
        of_copies.copied().filter(|kept| *kept != u32::MAX).unwrap_or_else(|| self.kept(document))
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
