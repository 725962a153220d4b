//! The answer's files, read as streams: what is counted over all of it, and the largest clusters.

use super::bins::{Similarities, Sizes};
use super::risk::{Order, Part, Risks};
use crate::documents::RunFile;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use twinsplit_core::similarity::Score;
use twinsplit_io::error::{FieldError, Result};
use twinsplit_rows::record::Record;
use twinsplit_rows::record::cluster::{ClusterRow, Verdict};
use twinsplit_rows::record::near::AnswerPair;

/// How much is shown.
#[derive(Clone, Copy)]
pub struct Bounds {
    /// Clusters with their documents.
    pub clusters: usize,
    /// Documents of a cluster.
    pub members: usize,
    /// Ids of documents that are not shown.
    pub ids: usize,
}

/// A document of a cluster.
pub struct Member {
    /// Its id.
    pub id: String,
    /// Whether it is kept, or else its similarity to the kept document.
    pub verdict: Verdict,
    /// How much of it stands in the kept document, where that is counted.
    pub part: Option<Part>,
}

/// A cluster that is shown.
pub struct Cluster {
    /// How many documents it has.
    pub size: u64,
    /// The smallest similarity to the kept document.
    pub least: Option<Score>,
    /// The least part of a dropped document that stands in the kept one.
    pub part: Option<Part>,
    /// The documents that are shown: the kept one, then the most similar first.
    pub members: Vec<Member>,
    /// Ids of the others, as far as they are listed.
    pub others: Vec<String>,
}

/// A cluster that is not shown.
pub struct Other {
    /// The kept document.
    pub kept: String,
    /// How many documents it has.
    pub size: u64,
    /// As of [`Cluster`].
    pub least: Option<Score>,
    /// As of [`Cluster`].
    pub part: Option<Part>,
    /// Their ids, as far as they are listed.
    pub ids: Vec<String>,
}

/// What an answer holds.
#[derive(Default)]
pub struct Answer {
    /// Documents were compared by their fingerprints: what is called their similarity is a distance, and the least one the
    /// greatest of these.
    pub fingerprints: bool,
    /// Pairs; `None` when the run wrote none.
    pub pairs: Option<u64>,
    /// Clusters.
    pub clusters: u64,
    /// Documents in clusters.
    pub members: u64,
    /// The least similarity of a member to its kept document.
    pub least: Option<Score>,
    /// Similarities of the pairs, or else of all members to their kept documents.
    pub similarities: Similarities,
    /// Sizes of the clusters.
    pub sizes: Sizes,
    /// The clusters that come first, in their order: equals by their sizes, the largest first, then by the kept document's id.
    pub shown: Vec<Cluster>,
    /// Clusters that are not shown, in the order of the file, as far as they are listed.
    pub others: Vec<Other>,
    /// Documents that are neither shown nor listed.
    pub unlisted: u64,
}

/// What a cluster is ranked by, the largest first: the least part that is kept, where that decides, its size, and its kept document; and
/// behind these the smallest similarity in it, and that part.
type Rank = (Option<Reverse<Part>>, u64, Reverse<Vec<u8>>, Option<Score>, Option<Part>);

impl Answer {
    /// Reads the answer of a run.
    pub fn read(
        run: &RunFile,
        fingerprints: bool,
        bounds: Bounds,
        (order, risks): (Order, Option<&Risks>),
    ) -> Result<Self> {
        let mut answer = Self { fingerprints, ..Self::default() };
        if run.checksum("pairs.tsv").is_some() {
            let mut pairs = 0;
            run.each_row("pairs.tsv", |line| {
                pairs += 1;
                answer.similarities.add(AnswerPair::of_run(line, fingerprints)?.score());
                Ok(())
            })?;
            answer.pairs = Some(pairs);
        }
        let first = answer.count(run, bounds.clusters, (order, risks))?;
        answer.gather(run, first, bounds, risks)?;
        Ok(answer)
    }

    /// Counts clusters and finds those that come first.
    fn count(
        &mut self,
        run: &RunFile,
        most: usize,
        (order, risks): (Order, Option<&Risks>),
    ) -> Result<Vec<Rank>> {
        let mut first: BinaryHeap<Reverse<Rank>> = BinaryHeap::new();
        let mut current: Rank = (None, 0, Reverse(Vec::new()), None, None);
        let mut line_number = 0;
        let mut finish = |cluster: Rank, answer: &mut Self| {
            if cluster.1 > 0 {
                answer.clusters += 1;
                answer.members += cluster.1;
                answer.sizes.add(cluster.1);
                // Where nothing is known of what is lost, nothing comes first.
                let by = if order == Order::Risk { cluster.4.map(Reverse) } else { None };
                first.push(Reverse((by, cluster.1, cluster.2, cluster.3, cluster.4)));
                if first.len() > most {
                    first.pop();
                }
            }
        };
        let fingerprints = self.fingerprints;
        let less_alike = |x: Score, y: Score| if fingerprints { x.max(y) } else { x.min(y) };
        run.each_row("clusters.tsv", |line| {
            let row = ClusterRow::decode(line)?;
            if current.2.0 != row.kept {
                let next = (None, 0, Reverse(row.kept.to_vec()), None, None);
                finish(std::mem::replace(&mut current, next), self);
            }
            current.1 += 1;
            let part = risks.and_then(|risks| risks.part(line_number));
            current.4 = current.4.into_iter().chain(part).min();
            line_number += 1;
            if let Verdict::Drop(Some(score)) = row.verdict {
                current.3 = Some(current.3.map_or(score, |least| less_alike(least, score)));
                self.least = Some(self.least.map_or(score, |least| less_alike(least, score)));
                if self.pairs.is_none() {
                    self.similarities.add(score);
                }
            }
            Ok(())
        })?;
        finish(current, self);
        Ok(first.into_sorted_vec().into_iter().map(|Reverse(cluster)| cluster).collect())
    }

    /// Gathers the documents of the clusters that come first, and ids of others.
    fn gather(
        &mut self,
        run: &RunFile,
        first: Vec<Rank>,
        bounds: Bounds,
        risks: Option<&Risks>,
    ) -> Result<()> {
        let mut places: FxHashMap<Vec<u8>, usize> = FxHashMap::default();
        for (at, (_, size, Reverse(kept), least, part)) in first.into_iter().enumerate() {
            self.shown.push(Cluster { size, least, part, members: Vec::new(), others: Vec::new() });
            places.insert(kept, at);
        }
        let (mut left, mut line_number, fingerprints) = (bounds.ids, 0, self.fingerprints);
        run.each_row("clusters.tsv", |line| {
            let row = ClusterRow::decode(line)?;
            let part = risks.and_then(|risks| risks.part(line_number));
            line_number += 1;
            let id = utf8("id", row.id)?;
            if let Some(&at) = places.get(row.kept) {
                let cluster = &mut self.shown[at];
                let has_kept = cluster.members.iter().any(|member| member.verdict == Verdict::Keep);
                let room = bounds.members - usize::from(!has_kept && row.verdict != Verdict::Keep);
                if cluster.members.len() < room {
                    cluster.members.push(Member { id, verdict: row.verdict, part });
                    return Ok(());
                }
                if left > 0 {
                    left -= 1;
                    cluster.others.push(id);
                } else {
                    self.unlisted += 1;
                }
                return Ok(());
            }
            if left > 0 && self.others.last().is_none_or(|other| other.kept.as_bytes() != row.kept) {
                let kept = utf8("kept_id", row.kept)?;
                self.others.push(Other { kept, size: 0, least: None, part: None, ids: Vec::new() });
            }
            if let Some(other) = self.others.last_mut().filter(|other| other.kept.as_bytes() == row.kept) {
                other.part = other.part.into_iter().chain(part).min();
                if let Verdict::Drop(Some(score)) = row.verdict {
                    let less_alike =
                        |least: Score| if fingerprints { least.max(score) } else { least.min(score) };
                    other.least = Some(other.least.map_or(score, less_alike));
                }
            }
            match self.others.last_mut().filter(|other| other.kept.as_bytes() == row.kept) {
                Some(other) if left > 0 => {
                    left -= 1;
                    other.size += 1;
                    other.ids.push(id);
                }
                Some(other) => {
                    other.size += 1;
                    self.unlisted += 1;
                }
                None => self.unlisted += 1,
            }
            Ok(())
        })?;
        for cluster in &mut self.shown {
            // The kept document has no similarity, and stands first; then the most similar one, equals by id.
            cluster.members.sort_by(|x, y| {
                let rank = |member: &Member| member.verdict.rank(fingerprints);
                (rank(x), &x.id).cmp(&(rank(y), &y.id))
            });
        }
        Ok(())
    }
}

fn utf8(field: &'static str, bytes: &[u8]) -> Result<String, FieldError> {
    String::from_utf8(bytes.to_vec()).map_err(|_| FieldError::new(field, "an id in UTF-8", bytes))
}
