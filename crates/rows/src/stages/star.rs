//! `star-rank`, `star-link`, `star`: star clusters, component by component.
//!
//! A star and all that decides on it lie in one component, so that components can be made into stars by tasks that
//! know nothing of each other. What [`twinsplit_core::cluster::groups`] does in one process takes two joins and a pass here:
//!
//! - `star-rank` brings each document's component, rank and representative together, by id.
//! - `star-link` finds the best document of each group of copies, by representative, and writes the group's pairs with
//!   that document's place in the keep order. A pair is written in both directions, because the rank of its other end
//!   is not known there: twice the rows, and one join less.
//! - `star` sees a component's pairs in the order of their first group. A partner that has come before is better and is
//!   settled; one that has not yet come is worse, and the pair comes again in its other direction. Then the
//!   component's documents come and are written with the centre of their group.
//!
//! Memory: `star`'s reducer holds the representatives of one component that are in pairs, each with its id and about 20
//! bytes; neither pairs nor copies.

use super::NoOpts;
use super::cluster::rank_of;
use super::options::KeepOpts;
use crate::record::cluster::{Label, LabelOrMember};
use crate::record::set::Member;
use crate::record::star::{LinkInput, LinkRow, RankRow, StarInput, StarLink, StarMember, StarRow};
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, Stage, Task};
use twinsplit_core::cluster::ids::Ids;
use twinsplit_core::cluster::keep::KeepRule;
use twinsplit_core::cluster::star::Stars;
use twinsplit_io::error::{FieldError, Result};

/// The first mapper.
pub struct StarRank {
    rule: KeepRule,
}

impl Stage for StarRank {
    type In<'a> = LabelOrMember<'a>;
    type Out<'a> = RankRow<'a>;
    type Opts = KeepOpts;
    const GROWTH: Growth = Growth::Members;
    const DECL: Decl = Decl {
        name: "star-rank",
        role: Role::Map,
        about: "Brings each document's component, rank and representative together",
        side: &[],
    };

    fn open(opts: KeepOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { rule: opts.keep })
    }

    fn push(&mut self, row: LabelOrMember<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            LabelOrMember::Label(label) => task.emit(&RankRow::Component(label)),
            LabelOrMember::Member(Member::Meta(meta)) => {
                let rank = rank_of(self.rule, &meta).map_err(|error| task.wrong(error))?;
                task.emit(&RankRow::Rank { id: meta.id, rank: &rank })
            }
            LabelOrMember::Member(member) => match member.as_copy() {
                Some((id, representative)) => task.emit(&RankRow::Copy { id, representative }),
                None => Ok(()),
            },
        }
    }
}

/// The first reducer: documents that are in no component end here.
#[derive(Default)]
pub struct StarRankReduce {
    id: Vec<u8>,
    component: Vec<u8>,
    rank: Vec<u8>,
    representative: Vec<u8>,
}

impl Stage for StarRankReduce {
    type In<'a> = RankRow<'a>;
    type Out<'a> = StarMember<'a>;
    type Opts = NoOpts;
    const GROWTH: Growth = Growth::Members;
    const DECL: Decl = Decl {
        name: "star-rank-reduce",
        role: Role::Reduce,
        about: "Writes each document of a component under its representative",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, row: RankRow<'_>, _: &mut Task<'_>) -> Result<()> {
        let (id, field, value) = match row {
            RankRow::Component(label) => (label.id, &mut self.component, label.label),
            RankRow::Rank { id, rank } => (id, &mut self.rank, rank),
            RankRow::Copy { id, representative } => (id, &mut self.representative, representative),
        };
        for (field, value) in [(&mut self.id, id), (field, value)] {
            field.clear();
            field.extend_from_slice(value);
        }
        Ok(())
    }

    fn end_group(&mut self, task: &mut Task<'_>) -> Result<()> {
        if !self.component.is_empty() {
            let alone = self.representative.is_empty();
            task.emit(&StarMember {
                representative: if alone { &self.id } else { &self.representative },
                rank: &self.rank,
                id: &self.id,
                component: &self.component,
            })?;
        }
        self.component.clear();
        self.rank.clear();
        self.representative.clear();
        Ok(())
    }
}

/// The second mapper.
pub struct StarLinkMap;

impl Stage for StarLinkMap {
    type In<'a> = LinkInput<'a>;
    type Out<'a> = LinkRow<'a>;
    type Opts = NoOpts;
    const GROWTH: Growth = Growth::Pairs;
    const DECL: Decl = Decl {
        name: "star-link",
        role: Role::Map,
        about: "Brings both ends of each pair to the documents with their sets",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self)
    }

    fn push(&mut self, row: LinkInput<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            LinkInput::Member(member) => task.emit(&LinkRow::Member(member)),
            // No document is its own neighbour.
            LinkInput::Pair(pair) if pair.ids().0 == pair.ids().1 => Ok(()),
            LinkInput::Pair(pair) => {
                let (a, b) = pair.ids();
                task.emit(&LinkRow::Pair { representative: a, other: b })?;
                task.emit(&LinkRow::Pair { representative: b, other: a })
            }
        }
    }
}

/// The second reducer.
#[derive(Default)]
pub struct StarLinkReduce {
    /// Rank and id of the best document so far, and its component; no id before the first one.
    rank: Vec<u8>,
    best: Vec<u8>,
    component: Vec<u8>,
}

impl Stage for StarLinkReduce {
    type In<'a> = LinkRow<'a>;
    type Out<'a> = StarLink<'a>;
    type Opts = NoOpts;
    const GROWTH: Growth = Growth::Pairs;
    const DECL: Decl = Decl {
        name: "star-link-reduce",
        role: Role::Reduce,
        about: "Writes each pair in both directions under its component, by the best document's rank",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, row: LinkRow<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            LinkRow::Member(member) => {
                let held = (self.rank.as_slice(), self.best.as_slice());
                if self.best.is_empty() || (member.rank, member.id) < held {
                    self.rank = member.rank.to_vec();
                    self.best = member.id.to_vec();
                    self.component = member.component.to_vec();
                }
                Ok(())
            }
            LinkRow::Pair { representative, .. } if self.best.is_empty() => {
                let expected = "a document that star-rank-reduce wrote";
                Err(task.wrong(FieldError::new("representative", expected, representative)))
            }
            LinkRow::Pair { representative, other } => task.emit(&StarLink {
                component: &self.component,
                rank: &self.rank,
                best: &self.best,
                representative,
                other,
            }),
        }
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.best.clear();
        Ok(())
    }
}

/// The third mapper.
pub struct StarMap;

impl Stage for StarMap {
    type In<'a> = StarInput<'a>;
    type Out<'a> = StarRow<'a>;
    type Opts = NoOpts;
    const GROWTH: Growth = Growth::Pairs;
    const DECL: Decl = Decl {
        name: "star",
        role: Role::Map,
        about: "Brings the pairs and the documents of each component together",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self)
    }

    fn push(&mut self, row: StarInput<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            StarInput::Link(link) => task.emit(&StarRow::Link(link)),
            StarInput::Member(StarMember { component, representative, id, .. }) => {
                task.emit(&StarRow::Member { component, representative, id })
            }
        }
    }
}

/// The third reducer.
pub struct StarReduce {
    /// Representatives of the component in keep order.
    ids: Ids,
    stars: Stars,
}

impl Stage for StarReduce {
    type In<'a> = StarRow<'a>;
    type Out<'a> = Label<'a>;
    type Opts = NoOpts;
    const GROWTH: Growth = Growth::Members;
    const DECL: Decl = Decl {
        name: "star-reduce",
        role: Role::Reduce,
        about: "Finds the centres of each component and labels its documents with them",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { ids: Ids::default(), stars: Stars::new(0) })
    }

    fn push(&mut self, row: StarRow<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            StarRow::Link(link) => {
                let document = self.ids.number(link.representative);
                if document as usize == self.stars.len() {
                    self.stars.push();
                }
                if let Some(other) = self.ids.find(link.other).filter(|other| *other < document) {
                    self.stars.edge(document, other);
                }
                Ok(())
            }
            StarRow::Member { representative, id, .. } => {
                let centre = self.ids.find(representative).map(|document| self.stars.centre(document));
                let label = centre.map_or(representative, |centre| self.ids.get(centre));
                task.emit(&Label { id, label })
            }
        }
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.ids.clear();
        self.stars = Stars::new(0);
        Ok(())
    }
}
