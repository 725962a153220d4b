//! `star-fingerprints`: star clusters of fingerprints, component by component, without the pairs of documents that are no centres.
//!
//! What comes before is that of [stars of sets](super::star_sets). A fingerprint is held against the centres before it, of which a component
//! of documents that are alike has few: comparisons are the fingerprints of a component times its centres.
//!
//! Memory: the ids of the representatives of one component with about 25 bytes each, and 48 bytes a centre.

use super::NoOpts;
use super::star_sets::Representatives;
use crate::record::cluster::Label;
use crate::record::fingerprint::are_near;
use crate::record::star_sets::StarCentresRow;
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, Stage, Task};
use twinsplit_core::sketch::simhash::Fingerprint;
use twinsplit_io::error::Result;

/// The reducer; its mapper is `star-centres`.
#[derive(Default)]
pub struct StarFingerprintsReduce {
    representatives: Representatives,
    /// Its centres in keep order, each with its place among the representatives.
    centres: Vec<(u32, (Fingerprint, u32))>,
    compared: u64,
}

impl StarFingerprintsReduce {
    /// The place of the centre of a fingerprint at a place: the first that it is a pair with, or itself.
    fn centre(&mut self, place: u32, one: (Fingerprint, u32)) -> u32 {
        let found = self.centres.iter().position(|(_, centre)| are_near(*centre, one).0);
        self.compared += found.map_or(self.centres.len(), |at| at + 1) as u64;
        if let Some(at) = found {
            return self.centres[at].0;
        }
        self.centres.push((place, one));
        place
    }
}

impl Stage for StarFingerprintsReduce {
    type In<'a> = StarCentresRow<'a>;
    type Out<'a> = Label<'a>;
    type Opts = NoOpts;
    const GROWTH: Growth = Growth::Members;
    const DECL: Decl = Decl {
        name: "star-fingerprints-reduce",
        role: Role::Reduce,
        about: "Holds the fingerprints of each component against its centres, and labels its documents with them",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, row: StarCentresRow<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            StarCentresRow::Set(set) => {
                let place = self.representatives.add(set.representative, task)?;
                let one = set.compared.fingerprint().map_err(|error| task.wrong(error))?;
                let centre = self.centre(place, one);
                self.representatives.set_centre(centre);
                Ok(())
            }
            StarCentresRow::Member { representative, id, .. } => {
                self.representatives.label(representative, id, task)
            }
        }
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.representatives.clear();
        self.centres.clear();
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count("compared_with_centres", self.compared);
        Ok(())
    }
}
