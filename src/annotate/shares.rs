//! How much of a dropped document stands in the one that is kept: |A∩K| / |A| of their sets of features, exact.
//!
//! The sets of kept documents are held, and those of dropped ones pass by. Where the sets do not fit beside one another, the
//! documents are read again for the rest.

use super::Documents;
use super::clusters::{Clusters, Member};
use crate::documents::PairOpts;
use rustc_hash::FxHashMap;
use twinsplit_core::join::overlap;
use twinsplit_core::similarity::{SetSimilarity, Similarity};
use twinsplit_core::text::{Extractor, FeatureSpec};
use twinsplit_io::error::Result;

/// How much of a document stands in another one.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// Features of both.
    pub overlap: u32,
    /// Its own features.
    pub size: u32,
    /// Whether it may be dropped for the other one.
    pub lets_drop: bool,
}

/// A document of fewer different features is held by another one only if their texts are equal: so few may stand in any text.
const FEW: usize = 8;

/// The shares of dropped documents.
pub struct Shares(Vec<Option<Share>>);

/// Bytes for a member.
pub const MEMBER: usize = size_of::<Option<Share>>() + size_of::<bool>();

/// A kept document.
struct Kept {
    set: Vec<u64>,
    /// The hash of its text.
    text: Option<u128>,
}

impl Kept {
    fn bytes(&self) -> usize {
        self.set.capacity() * size_of::<u64>() + 2 * size_of::<(Member, Self)>()
    }
}

impl Shares {
    /// Counts them, with so many bytes for the sets of kept documents. Features are those of the run, without an IDF range: what would be lost may
    /// be of any frequency.
    pub fn count(
        documents: &Documents<'_>,
        pair: &PairOpts,
        clusters: &Clusters,
        room: usize,
        least: Option<Similarity>,
    ) -> Result<Self> {
        let spec = pair.features.spec()?;
        // With counts a set has the repeats of its features, which are none of their own.
        let mut distinct = spec.counts.then(|| Extractor::new(FeatureSpec { counts: false, ..spec.clone() }));
        let mut extractor = Extractor::new(spec);
        let (mut set, mut different) = (Vec::new(), Vec::new());
        let mut shares = vec![None; clusters.members()];
        let mut is_done = vec![false; clusters.members()];
        loop {
            let mut held: FxHashMap<Member, Kept> = FxHashMap::default();
            let (mut bytes, mut is_full) = (0, false);
            documents.each("reading kept documents", |document, _, _| {
                let kept = clusters.member(&document.id).filter(|member| !clusters.is_dropped(*member));
                let Some(member) = kept.filter(|member| !is_done[*member as usize]) else { return Ok(()) };
                if is_full {
                    return Ok(());
                }
                extractor.set(&document.text, &mut set);
                let kept = Kept { set: set.as_slice().to_vec(), text: extractor.text_hash(&document.text) };
                bytes += kept.bytes();
                // At least one, however large it is.
                is_full = bytes > room && !held.is_empty();
                if !is_full {
                    is_done[member as usize] = true;
                    held.insert(member, kept);
                }
                Ok(())
            })?;
            if held.is_empty() {
                return Ok(Self(shares));
            }
            documents.each("reading dropped documents", |document, _, _| {
                let member = clusters.member(&document.id).filter(|member| clusters.is_dropped(*member));
                let Some(member) = member else { return Ok(()) };
                let Some(kept) = held.get(&clusters.kept(member)) else { return Ok(()) };
                extractor.set(&document.text, &mut set);
                let shared = overlap(&set, &kept.set);
                let few = match &mut distinct {
                    Some(extractor) if least.is_some() => {
                        extractor.set(&document.text, &mut different);
                        different.len() < FEW
                    }
                    _ => set.len() < FEW,
                };
                let is_held = |least: Similarity| match few {
                    true => extractor.text_hash(&document.text) == kept.text,
                    false => least.accepts(shared, set.len() as u64, kept.set.len() as u64),
                };
                let lets_drop = least.is_none_or(is_held);
                shares[member as usize] =
                    Some(Share { overlap: shared as u32, size: set.len() as u32, lets_drop });
                Ok(())
            })?;
            if !is_full {
                return Ok(Self(shares));
            }
        }
    }

    /// That of a document, if it is dropped and the kept one is among the documents.
    pub fn of(&self, member: Member) -> Option<Share> {
        self.0[member as usize]
    }
}
