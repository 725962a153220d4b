//! The clusters that a batch has touched, for its answer.

use super::{Batch, Member};
use crate::clusters::{Changed, Clusters};
use crate::disk::Disk;
use crate::regroup::{Change, find, regroup};
use crate::store::Settings;
use std::collections::BTreeSet;
use twinsplit_core::cluster::components::Components;
use twinsplit_core::join::overlap;
use twinsplit_io::error::{Error, Result};

impl<D: Disk> Batch<'_, D> {
    /// The clusters that pairs are put into, where these are not those of the store: earlier versions have gone, or some batches are all that counts.
    pub(super) fn base(&self, graph: &Components, known: &[Box<[u8]>]) -> Result<Option<Clusters>> {
        let clusters = &self.store.clusters;
        if !self.store.is_restricted {
            return Ok((!self.without.changed.is_empty()).then(|| clusters.with(&self.without.changed)));
        }
        let ends = (0..graph.ids.len() as u32).map(|number| graph.ids.get(number));
        let touched = ends.chain(known.iter().map(|id| &**id)).filter_map(|id| clusters.find(id)).collect();
        let (changed, _) = regroup(&self.store.settings, &self.store.segments, &clusters.keeping(&touched))?;
        Ok(Some(clusters.with(&changed)))
    }

    /// What is new for documents of earlier batches, by what was kept before and by what is changed of that.
    pub(super) fn changes(&self, before: &Clusters, changed: &Changed) -> Vec<Change> {
        let segments = &self.without.segments;
        let mut changes = Vec::new();
        for (id, now) in changed {
            let (before, now) = (before.kept(id), now.as_deref().unwrap_or(id));
            if before != now && find(segments, id).is_some() {
                let is_orphan = find(segments, before).is_none();
                changes.push(Change { id: id.clone(), before: before.into(), now: now.into(), is_orphan });
            }
        }
        changes
    }

    /// The documents of a cluster, compared with the one that is kept.
    pub(super) fn members(&self, kept: &[u8], ids: BTreeSet<Box<[u8]>>) -> Result<Vec<Member>> {
        let find = |id: &[u8]| {
            let fresh = || self.fresh.iter().find_map(|(_, segment)| Some((&**segment, segment.find(id)?)));
            let missing = || Error::File {
                path: self.store.disk.path().to_owned(),
                problem: format!("its clusters name {}, which no segment has", String::from_utf8_lossy(id)),
            };
            find(&self.without.segments, id).or_else(fresh).ok_or_else(missing)
        };
        let Settings { similarity, least, .. } = self.store.settings;
        let measure = similarity.measure();
        let (mut set, mut other) = (Vec::new(), Vec::new());
        let (segment, number) = find(kept)?;
        segment.features(number, &mut set);
        let member = |id: Box<[u8]>| {
            let (segment, number) = find(&id)?;
            segment.features(number, &mut other);
            let score = match (*id == *kept, (other.len() as u64) < least.max(1)) {
                (true, _) => None,
                (false, true) => measure.score_of_equals(),
                (false, false) => {
                    let overlap = overlap(&set, &other);
                    Some(measure.score(overlap, set.len() as u64, other.len() as u64))
                }
            };
            Ok(Member { batch: segment.batch(number), score, id })
        };
        ids.into_iter().map(member).collect()
    }
}
