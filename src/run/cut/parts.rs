//! Which units are cut, and for which others: as much of the clusters as fits in memory.

use std::collections::HashSet;
use std::path::Path;
use twinsplit_core::cluster::ids::Ids;
use twinsplit_core::similarity::Score;
use twinsplit_io::each_row;
use twinsplit_io::error::{FieldError, Result};
use twinsplit_rows::record::Record;
use twinsplit_rows::record::cluster::{ClusterRow, Verdict};
use twinsplit_rows::record::unit;

/// Bytes that a unit takes beside its id.
const EACH: usize = 40;

/// Which units of the clusters are cut.
#[derive(Default)]
pub struct Cut {
    /// Of each cluster in its order, whether the unit that it keeps is cut, too; nothing where that of none is.
    all: Vec<bool>,
    /// How many units are cut.
    pub count: u64,
    /// How many of these are cut with all that are like them.
    pub everywhere: u64,
}

impl Cut {
    /// Those of a file of clusters. With `everywhere`, all units of a cluster that stands in so many documents.
    pub fn read(clusters: &Path, everywhere: Option<usize>) -> Result<Self> {
        let mut cut = Self::default();
        // Of the cluster that is being read, its units, and its documents, as many as are asked for.
        let (mut units, mut documents) = (0, HashSet::new());
        let end = |units: &mut u64, documents: &mut HashSet<Vec<u8>>, cut: &mut Self| {
            let least = everywhere.unwrap_or(usize::MAX);
            let is_all = *units > 0 && documents.len() >= least;
            cut.count += if is_all { *units } else { units.saturating_sub(1) };
            cut.everywhere += if is_all { *units } else { 0 };
            if everywhere.is_some() && *units > 0 {
                cut.all.push(is_all);
            }
            *units = 0;
            documents.clear();
        };
        let mut kept = Vec::new();
        each_row(clusters, |line| {
            let row = ClusterRow::decode(line)?;
            if row.kept != kept {
                end(&mut units, &mut documents, &mut cut);
                kept = row.kept.to_vec();
            }
            units += 1;
            let (document, _) = unit::parts(row.id)?;
            if everywhere.is_some_and(|least| documents.len() < least) && !documents.contains(document) {
                documents.insert(document.to_vec());
            }
            Ok(())
        })?;
        end(&mut units, &mut documents, &mut cut);
        Ok(cut)
    }

    /// Calls `visit` with each unit that is cut.
    fn each(
        &self,
        clusters: &Path,
        mut visit: impl FnMut(&ClusterRow<'_>) -> Result<(), FieldError>,
    ) -> Result<()> {
        let (mut cluster, mut kept) = (0_usize, Vec::new());
        each_row(clusters, |line| {
            let row = ClusterRow::decode(line)?;
            if row.kept != kept {
                kept = row.kept.to_vec();
                cluster += 1;
            }
            let is_all = self.all.get(cluster - 1) == Some(&true);
            if is_all || row.verdict != Verdict::Keep { visit(&row) } else { Ok(()) }
        })
    }
}

/// Some of the units that are cut, by their ids.
#[derive(Default)]
pub struct Part {
    ids: Ids,
    /// The units for which they are cut.
    kept: Ids,
    /// Of each, which one that is, and how similar the two are.
    rows: Vec<(u32, Option<Score>)>,
}

impl Part {
    /// Those behind the first `skip`, as many as fit, but one at least.
    pub fn read(clusters: &Path, cut: &Cut, skip: u64, room: usize) -> Result<Self> {
        let (mut part, mut at, mut bytes) = (Self::default(), 0, 0);
        cut.each(clusters, |row| {
            at += 1;
            if at <= skip || bytes > room {
                return Ok(());
            }
            // The unit that is kept counts once, for rows of a cluster stand together.
            let is_new = part.rows.last().is_none_or(|(kept, _)| part.kept.get(*kept) != row.kept);
            bytes += row.id.len() + EACH + if is_new { row.kept.len() + EACH } else { 0 };
            if bytes <= room && part.rows.len() < u32::MAX as usize || part.rows.is_empty() {
                let score = match row.verdict {
                    Verdict::Keep => None,
                    Verdict::Drop(score) => score,
                };
                part.ids.number(row.id);
                part.rows.push((part.kept.number(row.kept), score));
            }
            Ok(())
        })?;
        Ok(part)
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    /// For which unit the one of this id is cut, and how similar the two are; nothing where it is none of these.
    pub fn find(&self, id: &[u8]) -> Option<(&[u8], Option<Score>)> {
        let (kept, score) = self.rows[self.ids.find(id)? as usize];
        Some((self.kept.get(kept), score))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_many_documents_is_cut_everywhere() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("clusters.tsv");
        let clusters = "a#1\ta#1\tkeep\t-\na#1\tb#1\tdrop\t1.000000\na#1\tc#1\tdrop\t1.000000\na#2\ta#2\tkeep\t-\na#2\ta#3\tdrop\t1.000000\n\
                        a#2\ta#4\tdrop\t1.000000\nd#1\td#1\tkeep\t-\nd#1\te#1\tdrop\t1.000000\n";
        std::fs::write(&file, clusters).unwrap();
        for (everywhere, expected, count) in [
            (None, "b#1 c#1 a#3 a#4 e#1", 0),
            (Some(4), "b#1 c#1 a#3 a#4 e#1", 0),
            (Some(3), "a#1 b#1 c#1 a#3 a#4 e#1", 3),
            (Some(2), "a#1 b#1 c#1 a#3 a#4 d#1 e#1", 5),
        ] {
            let cut = Cut::read(&file, everywhere).unwrap();
            let mut found = Vec::new();
            let visit = |row: &ClusterRow<'_>| {
                found.push(String::from_utf8_lossy(row.id).into_owned());
                Ok(())
            };
            cut.each(&file, visit).unwrap();
            assert_eq!(found.join(" "), expected);
            assert_eq!((cut.count, cut.everywhere), (found.len() as u64, count));
        }
    }
}
