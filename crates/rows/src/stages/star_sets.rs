//! `star-sets`, `star-centres`, `star-bands`, `star-fingerprints`: star clusters, component by component, without the pairs of documents that are no centres.
//!
//! A star and all that decides on it lie in one component. Where no pairs are written, the join passes on those alone that connect components,
//! and what pairs with what inside of them is found here:
//!
//! - `star-sets` brings each set its place in the keep order, that of the best document which has it, and its component.
//! - `star-centres` sees the sets of a component in keep order. It counts their features first, because a few rare ones of a set tell which centres
//!   it is held against, then each set is held against the centres before it ([`twinsplit_core::join::centres`]). Then the
//!   component's documents come and are written with the centre of their set.
//! - `star-bands` does the same for documents that are a pair only where their signatures agree in a band: it signs each set once more.
//! - [`star-fingerprints`](super::star_fingerprints) does it for fingerprints.
//!
//! Memory: `star-centres`' reducer holds the ids of the representatives of one component with about 25 bytes each, the different features of these, and the
//! sets of its centres; all sets of a component are in a file where they are many.

use super::NoOpts;
use super::minhash::{BandOpts, SignerOpts};
use super::options::SimilarityOpts;
use super::spool::Spool;
use crate::record::cluster::Label;
use crate::record::compared::Compared;
use crate::record::star::StarMember;
use crate::record::star_sets::{StarCentresInput, StarCentresRow, StarSet, StarSetsInput, StarSetsRow};
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, Stage, Task};
use twinsplit_core::cluster::ids::Ids;
use twinsplit_core::join::centres::{Centres, Frequencies, Meets};
use twinsplit_core::similarity::Similarity;
use twinsplit_core::sketch::bands::BandHasher;
use twinsplit_io::error::{FieldError, Result};

/// The first mapper.
pub struct StarSets;

impl Stage for StarSets {
    type In<'a> = StarSetsInput<'a>;
    type Out<'a> = StarSetsRow<'a>;
    type Opts = NoOpts;
    const DECL: Decl = Decl {
        name: "star-sets",
        role: Role::Map,
        about: "Brings each set, or each fingerprint, to the documents that have it",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self)
    }

    fn push(&mut self, row: StarSetsInput<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            StarSetsInput::Member(member) => task.emit(&StarSetsRow::Member(member)),
            StarSetsInput::Set(member) => match Compared::of(&member) {
                Some((id, compared)) => task.emit(&StarSetsRow::Set(id, compared)),
                None => Ok(()),
            },
        }
    }
}

/// The first reducer: sets of no component end here.
#[derive(Default)]
pub struct StarSetsReduce {
    /// Rank and id of the best document so far, and its component; no id before the first one.
    rank: Vec<u8>,
    best: Vec<u8>,
    component: Vec<u8>,
}

impl Stage for StarSetsReduce {
    type In<'a> = StarSetsRow<'a>;
    type Out<'a> = StarSet<'a>;
    type Opts = NoOpts;
    const GROWTH: Growth = Growth::Members;
    const DECL: Decl = Decl {
        name: "star-sets-reduce",
        role: Role::Reduce,
        about: "Writes each set or fingerprint of a component by the rank of the best document that has it",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, row: StarSetsRow<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            StarSetsRow::Member(StarMember { rank, id, component, .. }) => {
                if self.best.is_empty() || (rank, id) < (&self.rank[..], &self.best[..]) {
                    let held =
                        [(&mut self.rank, rank), (&mut self.best, id), (&mut self.component, component)];
                    for (held, value) in held {
                        held.clear();
                        held.extend_from_slice(value);
                    }
                }
                Ok(())
            }
            StarSetsRow::Set(..) if self.best.is_empty() => Ok(()),
            StarSetsRow::Set(representative, compared) => task.emit(&StarSet {
                component: &self.component,
                rank: &self.rank,
                best: &self.best,
                representative,
                compared,
            }),
        }
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.best.clear();
        Ok(())
    }
}

/// The second mapper.
pub struct StarCentres;

impl Stage for StarCentres {
    type In<'a> = StarCentresInput<'a>;
    type Out<'a> = StarCentresRow<'a>;
    type Opts = NoOpts;
    const DECL: Decl = Decl {
        name: "star-centres",
        role: Role::Map,
        about: "Brings the sets or fingerprints and the documents of each component together",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self)
    }

    fn push(&mut self, row: StarCentresInput<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            StarCentresInput::Set(set) => task.emit(&StarCentresRow::Set(set)),
            StarCentresInput::Member(StarMember { component, representative, id, .. }) => {
                task.emit(&StarCentresRow::Member { component, representative, id })
            }
        }
    }
}

/// The representatives of a component in keep order, and the centre of each.
#[derive(Default)]
pub(super) struct Representatives {
    ids: Ids,
    /// By representative, the place of its centre, as far as they have been found.
    centres: Vec<u32>,
}

impl Representatives {
    /// The next one, and its place; an error where it has come before.
    pub fn add(&mut self, representative: &[u8], task: &Task<'_>) -> Result<u32> {
        let (next, place) = (self.ids.len(), self.ids.number(representative));
        if place as usize != next {
            let expected = "a representative that comes once";
            return Err(task.wrong(FieldError::new("representative", expected, representative)));
        }
        Ok(place)
    }

    /// The centre of the next one that has none yet.
    pub fn set_centre(&mut self, centre: u32) {
        self.centres.push(centre);
    }

    /// Whether each has its centre.
    fn is_settled(&self) -> bool {
        self.centres.len() == self.ids.len()
    }

    /// Writes a document with the centre of its representative.
    pub fn label(&self, representative: &[u8], id: &[u8], task: &mut Task<'_>) -> Result<()> {
        // Documents whose equal texts alone make them copies have nothing that is compared.
        let centre = self.ids.find(representative).map(|one| self.centres[one as usize]);
        let label = centre.map_or(representative, |centre| self.ids.get(centre));
        task.emit(&Label { id, label })
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.centres.clear();
    }
}

/// The second reducer.
pub struct StarCentresReduce {
    similarity: Similarity,
    /// Where sets are a pair only under a common key.
    hasher: Option<BandHasher>,
    representatives: Representatives,
    frequencies: Frequencies,
    sets: Spool,
    features: Vec<u64>,
    compared: u64,
}

impl StarCentresReduce {
    fn of(similarity: Similarity, hasher: Option<BandHasher>, task: &Task<'_>) -> Self {
        Self {
            similarity,
            hasher,
            representatives: Representatives::default(),
            frequencies: Frequencies::default(),
            sets: Spool::new(task.folder.clone()),
            features: Vec::new(),
            compared: 0,
        }
    }

    /// Finds the centres of the sets that have come.
    fn settle(&mut self) -> Result<()> {
        let frequencies = std::mem::take(&mut self.frequencies);
        let mut centres = Centres::new(self.similarity, frequencies);
        let (representatives, hasher, mut keys) = (&mut self.representatives, &mut self.hasher, Vec::new());
        self.sets.each(&mut self.features, |features| {
            let meets = match hasher {
                Some(hasher) => {
                    keys.clear();
                    hasher.of(features, &mut keys);
                    Meets::Keys(&keys)
                }
                None => Meets::Prefix,
            };
            representatives.set_centre(centres.next(features, meets));
        })?;
        self.compared += centres.compared;
        Ok(())
    }
}

impl Stage for StarCentresReduce {
    type In<'a> = StarCentresRow<'a>;
    type Out<'a> = Label<'a>;
    type Opts = SimilarityOpts;
    const GROWTH: Growth = Growth::Members;
    const DECL: Decl = Decl {
        name: "star-centres-reduce",
        role: Role::Reduce,
        about: "Holds the sets of each component against its centres, and labels its documents with them",
        side: &[],
    };

    fn open(opts: SimilarityOpts, task: &mut Task<'_>) -> Result<Self> {
        Ok(Self::of(opts.0, None, task))
    }

    fn push(&mut self, row: StarCentresRow<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            StarCentresRow::Set(set) => {
                self.representatives.add(set.representative, task)?;
                let features = set.compared.set();
                let read = features.and_then(|features| features.read(&mut self.features));
                read.map_err(|error| task.wrong(error))?;
                self.frequencies.count(&self.features);
                self.sets.push(&self.features)
            }
            StarCentresRow::Member { representative, id, .. } => {
                if !self.representatives.is_settled() {
                    self.settle()?;
                }
                self.representatives.label(representative, id, task)
            }
        }
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.representatives.clear();
        self.frequencies = Frequencies::default();
        self.sets.clear();
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count("compared_with_centres", self.compared);
        Ok(())
    }
}

/// The second reducer where sets are a pair only under a common key.
pub struct StarBandsReduce(StarCentresReduce);

twinsplit_core::options! {
    /// Its options.
    pub struct StarBandsOpts {}
    with {
        similarity: SimilarityOpts,
        signer: SignerOpts,
        bands: BandOpts,
    }
}

impl Stage for StarBandsReduce {
    type In<'a> = StarCentresRow<'a>;
    type Out<'a> = Label<'a>;
    type Opts = StarBandsOpts;
    const GROWTH: Growth = Growth::Members;
    const DECL: Decl = Decl {
        name: "star-bands-reduce",
        role: Role::Reduce,
        about: "Holds the sets of each component against its centres with a common key, and labels its documents with them",
        side: &[],
    };

    fn open(opts: StarBandsOpts, task: &mut Task<'_>) -> Result<Self> {
        let bands = opts.bands.bands(opts.signer.hashes)?;
        let hasher = BandHasher::new(bands, opts.signer.signer());
        Ok(Self(StarCentresReduce::of(opts.similarity.0, Some(hasher), task)))
    }

    fn push(&mut self, row: StarCentresRow<'_>, task: &mut Task<'_>) -> Result<()> {
        self.0.push(row, task)
    }

    fn end_group(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.0.end_group(task)
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.0.finish(task)
    }
}
