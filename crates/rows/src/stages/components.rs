//! `large-star` and `small-star`: connected components in rounds, after
//! kiveris2014.
//!
//! No task holds the graph. Documents are in byte order of their ids, an edge is a row, and a round rewrites all edges
//! in two steps. Let m(u) be the smallest of a document u and its neighbours.
//!
//! - **large-star**: each document u links its larger neighbours to m(u).
//! - **small-star**: each document u links itself and its smaller neighbours to the smallest of these.
//!
//! A reducer sees a document's neighbours in order: the first one is the minimum, repeats stand together, and nothing
//! else is held, however many neighbours there are. large-star's *mapper* puts the edges that it reads through a
//! union-find of bounded size and passes on, in their place, stars around the smallest id of each component that it
//! found; when it is full it does so and starts another. That makes the rounds few.
//!
//! # Every round keeps the components
//! No step links documents of two components, for the ends of a new edge were connected by old ones. And none comes
//! apart:
//! - A mapper's stars have the components of the edges that they replace.
//! - large-star: every u stays connected to m(u). By induction in the order of u: where m(u) = u there is nothing to
//!   show. Else w = m(u) is smaller than u, so that u is a larger neighbour of w and is linked to m(w), to which w stays
//!   connected. Hence the ends of an old edge, u and a larger v, stay connected: v is linked to m(u).
//! - small-star: u and its smaller neighbours are all linked to one of them.
//!
//! # No change means done
//! large-star's reducer counts, for each document u, the changes that this round has to make: one for each larger
//! neighbour where u has a smaller one too (large-star links it elsewhere), and one for each smaller neighbour beyond
//! the first (large-star or small-star links it elsewhere). Where it counts none, each edge joins a document without
//! smaller neighbours, its centre, and one without larger neighbours, whose only neighbour the centre is: the graph is
//! a set of stars around smallest documents, and by the section above these stars are the components. Conversely, stars
//! have no changes to count.
//!
//! Then large-star's rows are the labels, and small-star has nothing to do: `v⇥\>⇥c` once for each document v of a star
//! around c, and `c⇥\>⇥c`, which large-star writes for each document without a smaller neighbour (and small-star drops
//! where the document has got one).
//!
//! # The rounds end
//! Number the documents by their order and give an edge the sum of its ends. The sum over all edges is never raised: the
//! star around the smallest is the least tree on a component; large-star puts m(u) in the place of u; and small-star,
//! for u with k smaller neighbours, puts k-1 times the smallest in the place of u. A round with a change to make lowers
//! it: where u has a smaller and a larger neighbour, large-star does; where u has two smaller ones, w and x, either
//! large-star links it to something below one of them, or to both still, and small-star does.

use super::NoOpts;
use crate::record::cluster::Label;
use crate::record::round::{GraphInput, Neighbour};
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, Stage, Task};
use twinsplit_core::cluster::components::Components;
use twinsplit_io::error::Result;

/// large-star's counter, which is 0 when the rounds are over.
pub const CHANGES: &str = "changes";

twinsplit_core::options! {
    /// How much of a graph one task holds.
    pub struct ForestSize {
        /// Documents whose spanning forest a task holds (about 60 bytes each) before it starts another: in joins
        /// with --write clusters, and in the rounds that find components
        pub forest: usize = 1_000_000, "N";
    }
}

impl ForestSize {
    /// Whether two more ids are too many.
    pub fn is_full(&self, graph: &Components) -> bool {
        graph.ids.len() + 2 > self.forest.max(2)
    }
}

/// large-star's mapper.
pub struct LargeStar {
    size: ForestSize,
    graph: Components,
}

impl LargeStar {
    fn edge(&mut self, a: &[u8], b: &[u8], task: &mut Task<'_>) -> Result<()> {
        if self.size.is_full(&self.graph) {
            self.flush(task)?;
        }
        self.graph.union(a, b);
        Ok(())
    }

    /// Writes each star that was found, each of its edges under both ends.
    fn flush(&mut self, task: &mut Task<'_>) -> Result<()> {
        for (document, label) in (0..).zip(self.graph.labels()) {
            if document != label {
                let (id, neighbour) = (self.graph.ids.get(document), self.graph.ids.get(label));
                task.emit(&Neighbour { id, neighbour })?;
                task.emit(&Neighbour { id: neighbour, neighbour: id })?;
            }
        }
        self.graph.clear();
        Ok(())
    }
}

impl Stage for LargeStar {
    type In<'a> = GraphInput<'a>;
    type Out<'a> = Neighbour<'a>;
    type Opts = ForestSize;
    const GROWTH: Growth = Growth::Members;
    const DECL: Decl = Decl {
        name: "large-star",
        role: Role::Map,
        about: "Writes a forest of the edges that it reads, each edge under both ends",
        side: &[],
    };

    fn open(size: ForestSize, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { size, graph: Components::default() })
    }

    fn push(&mut self, row: GraphInput<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            GraphInput::Pair(pair) => self.edge(pair.ids().0, pair.ids().1, task),
            GraphInput::Member(member) => match member.as_copy() {
                Some((id, representative)) => self.edge(id, representative, task),
                None => Ok(()),
            },
            GraphInput::Label(label) => self.edge(label.id, label.label, task),
        }
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.flush(task)
    }
}

/// large-star's reducer.
#[derive(Default)]
pub struct LargeStarReduce {
    smallest: Vec<u8>,
    last: Vec<u8>,
    changes: u64,
}

impl Stage for LargeStarReduce {
    type In<'a> = Neighbour<'a>;
    type Out<'a> = Label<'a>;
    type Opts = NoOpts;
    const GROWTH: Growth = Growth::Members;
    const DECL: Decl = Decl {
        name: "large-star-reduce",
        role: Role::Reduce,
        about: "Links a document's larger neighbours to the smallest of it and its neighbours",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, row: Neighbour<'_>, task: &mut Task<'_>) -> Result<()> {
        let Neighbour { id, neighbour } = row;
        if neighbour == self.last {
            return Ok(());
        }
        if self.smallest.is_empty() {
            self.smallest.extend_from_slice(id.min(neighbour));
            if self.smallest == id {
                task.emit(&Label { id, label: id })?;
            }
        } else {
            // Beyond the first, any other neighbour of a document that is not the smallest of its own.
            self.changes += u64::from(self.smallest != id);
        }
        self.last.clear();
        self.last.extend_from_slice(neighbour);
        if neighbour > id { task.emit(&Label { id: neighbour, label: &self.smallest }) } else { Ok(()) }
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.smallest.clear();
        self.last.clear();
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count(CHANGES, self.changes);
        Ok(())
    }
}

/// small-star's mapper.
pub struct SmallStar;

impl Stage for SmallStar {
    type In<'a> = Label<'a>;
    type Out<'a> = Neighbour<'a>;
    type Opts = NoOpts;
    const GROWTH: Growth = Growth::Members;
    const DECL: Decl = Decl {
        name: "small-star",
        role: Role::Map,
        about: "Writes each edge under its larger end",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self)
    }

    fn push(&mut self, row: Label<'_>, task: &mut Task<'_>) -> Result<()> {
        let (id, neighbour) = (row.id.max(row.label), row.id.min(row.label));
        task.emit(&Neighbour { id, neighbour })
    }
}

/// small-star's reducer.
#[derive(Default)]
pub struct SmallStarReduce {
    smallest: Vec<u8>,
    last: Vec<u8>,
}

impl Stage for SmallStarReduce {
    type In<'a> = Neighbour<'a>;
    type Out<'a> = Label<'a>;
    type Opts = NoOpts;
    const GROWTH: Growth = Growth::Members;
    const DECL: Decl = Decl {
        name: "small-star-reduce",
        role: Role::Reduce,
        about: "Links a document and its smaller neighbours to the smallest of them",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, row: Neighbour<'_>, task: &mut Task<'_>) -> Result<()> {
        let Neighbour { id, neighbour } = row;
        if self.smallest.is_empty() {
            self.smallest.extend_from_slice(neighbour);
            self.last.extend_from_slice(neighbour);
            return task.emit(&Label { id, label: neighbour });
        }
        if neighbour >= id || neighbour == self.last {
            return Ok(());
        }
        self.last.clear();
        self.last.extend_from_slice(neighbour);
        task.emit(&Label { id: neighbour, label: &self.smallest })
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.smallest.clear();
        self.last.clear();
        Ok(())
    }
}
