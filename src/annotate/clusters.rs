//! The clusters of an answer, by the ids of their documents.

use crate::documents::RunFile;
use twinsplit_core::similarity::Score;
use twinsplit_core::visible;
use twinsplit_io::Megabytes;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::record::cluster::{ClusterRow, Verdict};
use twinsplit_rows::record::{Record, id};

/// A document of a cluster: its line in `clusters.tsv`, counted from 0.
pub type Member = u32;

/// All clusters.
#[derive(Default)]
pub struct Clusters {
    /// The ids, one behind the other, and where each ends.
    ids: Vec<u8>,
    ends: Vec<u64>,
    rows: Vec<Row>,
    /// The members in the order of their ids.
    by_id: Vec<Member>,
}

struct Row {
    kept: Member,
    size: u32,
    rank: u32,
    verdict: Verdict,
}

/// What the fields of a document say of its cluster.
pub struct Shown {
    /// The id of the kept document, as its file has it.
    pub kept: String,
    /// How many documents the cluster has.
    pub size: u32,
    /// Its place in the cluster: 1 for the kept one, then the most similar first, equals by id.
    pub rank: u32,
    /// Its similarity to the kept document, if it has one.
    pub score: Option<Score>,
}

/// Bytes for a member beside its id.
const MEMBER: usize = size_of::<Row>() + size_of::<u64>() + size_of::<Member>() + super::shares::MEMBER;

impl Clusters {
    /// Reads `clusters.tsv`. An error where it is not the file that `run.json` describes, or has more than there is room for.
    pub fn read(run: &RunFile, memory: Megabytes) -> Result<Self> {
        let mut all = Self::default();
        let (mut bytes, mut first, mut kept) = (0, 0, Vec::new());
        let fingerprints = run.compares_fingerprints();
        run.each_row("clusters.tsv", |line| {
            let row = ClusterRow::decode(line)?;
            bytes += row.id.len() + MEMBER;
            // Of more than there is room for, only how much it is.
            if bytes > memory.bytes() {
                return Ok(());
            }
            if kept != row.kept {
                all.end_cluster(first, fingerprints);
                first = all.rows.len();
                kept = row.kept.to_vec();
            }
            all.ids.extend_from_slice(row.id);
            all.ends.push(all.ids.len() as u64);
            all.rows.push(Row { kept: 0, size: 0, rank: 0, verdict: row.verdict });
            Ok(())
        })?;
        if bytes > memory.bytes() || u32::try_from(all.rows.len()).is_err() {
            return Err(Error::Limit(format!(
                "the documents of clusters take {} MB, which must stay in memory; --memory {memory} is too small: give at least {} MB",
                bytes.div_ceil(1 << 20),
                bytes.div_ceil(1 << 20) + 1
            )));
        }
        all.end_cluster(first, fingerprints);
        let mut by_id: Vec<Member> = (0..all.rows.len() as u32).collect();
        by_id.sort_unstable_by(|x, y| all.id(*x).cmp(all.id(*y)));
        if let Some(two) = by_id.windows(2).find(|two| all.id(two[0]) == all.id(two[1])) {
            let id = String::from_utf8_lossy(all.id(two[0])).into_owned();
            return Err(Error::File {
                path: run.folder().join("clusters.tsv"),
                problem: format!("has the id {} twice; run again", visible::line(&id)),
            });
        }
        all.by_id = by_id;
        Ok(all)
    }

    /// Ranks the documents of the cluster that begins with this row and ends with the last one.
    fn end_cluster(&mut self, first: usize, fingerprints: bool) {
        // Rows of a cluster stand in the order of their ids.
        let mut order: Vec<usize> = (first..self.rows.len()).collect();
        order.sort_by_key(|row| self.rows[*row].verdict.rank(fingerprints));
        let kept = order.first().copied().unwrap_or(first) as Member;
        let size = order.len() as u32;
        for (at, row) in (1..).zip(order) {
            self.rows[row] = Row { kept, size, rank: at, ..std::mem::replace(&mut self.rows[row], NONE) };
        }
    }

    /// How much is held.
    pub fn bytes(&self) -> usize {
        self.ids.len() + self.rows.len() * MEMBER
    }

    /// How many documents there are.
    pub fn members(&self) -> usize {
        self.rows.len()
    }

    fn id(&self, member: Member) -> &[u8] {
        let at = member as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.ids[start..self.ends[at] as usize]
    }

    /// The document of this id, if it is in a cluster.
    pub fn member(&self, id: &[u8]) -> Option<Member> {
        let at = self.by_id.binary_search_by(|member| self.id(*member).cmp(id)).ok()?;
        self.by_id.get(at).copied()
    }

    /// Whether the run drops a document.
    pub fn is_dropped(&self, member: Member) -> bool {
        self.rows[member as usize].verdict != Verdict::Keep
    }

    /// The document that the cluster of a document keeps.
    pub fn kept(&self, member: Member) -> Member {
        self.rows[member as usize].kept
    }

    /// What is said of a document with this id; one that is in no cluster is a cluster of its own.
    pub fn show(&self, member: Option<Member>, own: &[u8]) -> Shown {
        let Some(member) = member else {
            return Shown { kept: id::unescape(own), size: 1, rank: 1, score: None };
        };
        let Row { kept, size, rank, verdict } = self.rows[member as usize];
        let score = match verdict {
            Verdict::Keep => None,
            Verdict::Drop(score) => score,
        };
        Shown { kept: id::unescape(self.id(kept)), size, rank, score }
    }
}

/// What stands in the place of a row while it is changed.
const NONE: Row = Row { kept: 0, size: 0, rank: 0, verdict: Verdict::Keep };
