//! How two documents that are no pair came into one cluster: the pairs that join them.
//!
//! The chain is the shortest one within the cluster, and of several the one whose ids, from the first document on,
//! are smallest. It is found from its far end, in one pass over `pairs.tsv` for each pair of the chain: memory is that
//! of the cluster's ids, however many pairs there are.

use std::path::Path;
use twinsplit_core::similarity::Score;
use twinsplit_core::visible;
use twinsplit_io::error::{FieldError, Result};
use twinsplit_io::terminal::plural;
use twinsplit_io::{Stdout, each_row};
use twinsplit_rows::record::Record;
use twinsplit_rows::record::cluster::ClusterRow;
use twinsplit_rows::record::near::AnswerPair;

/// A document of the cluster that the search has reached.
#[derive(Clone, Copy)]
struct Reached {
    /// Pairs from here to the far end.
    distance: u32,
    /// The next document on the way, and the similarity to it.
    next: usize,
    score: Score,
}

/// Says how two documents came into one cluster of the answer in `folder`, if they did; `is_named` says whether an id is
/// that of the first or the second, and `fingerprints` whether the run has compared these.
pub fn show(
    folder: &Path,
    fingerprints: bool,
    is_named: impl Fn(&[u8], usize) -> bool,
    out: &mut Stdout,
) -> Result<()> {
    let (clusters, pairs) = (folder.join("clusters.tsv"), folder.join("pairs.tsv"));
    if !clusters.exists() {
        return Ok(());
    }
    let Some(kept) = common_cluster(&clusters, &is_named)? else { return Ok(()) };
    let (members, ends) = members(&clusters, &kept, is_named)?;
    let [from, to] = ends;
    let name = |id: &[u8]| visible::line(&String::from_utf8_lossy(id)).into_owned();
    let both = format!("\nBoth are in the cluster of {}", name(&kept));
    if !pairs.exists() {
        let why = "the run wrote no pairs (--write clusters), which would show how";
        return out.line(format!("{both}; {why}").as_bytes());
    }
    let Some(reached) = search(&pairs, fingerprints, &members, from, to)? else {
        return out.line(format!("{both}, and no chain of pairs in pairs.tsv joins them").as_bytes());
    };
    let mut links = Vec::new();
    let mut at = from;
    while let Some(step) = reached[at].filter(|_| at != to) {
        links.push(format!("  {}  {}  {}", step.score, name(&members[at]), name(&members[step.next])));
        at = step.next;
    }
    let pairs = plural(links.len() as u64, "pair", "pairs");
    out.line(format!("{both}, joined by a chain of {pairs}; no shorter one does:").as_bytes())?;
    links.iter().try_for_each(|link| out.line(link.as_bytes()))
}

/// The kept document of the cluster that both documents are in.
fn common_cluster(clusters: &Path, is_named: &impl Fn(&[u8], usize) -> bool) -> Result<Option<Vec<u8>>> {
    let mut kept: [Option<Vec<u8>>; 2] = [None, None];
    each_row(clusters, |line| {
        let row = ClusterRow::decode(line)?;
        for (at, kept) in kept.iter_mut().enumerate() {
            if is_named(row.id, at) {
                *kept = Some(row.kept.to_vec());
            }
        }
        Ok(())
    })?;
    let [a, b] = kept;
    Ok(a.filter(|a| b.as_ref() == Some(a)))
}

/// The ids of a cluster, sorted, and the places of the two documents among them.
fn members(
    clusters: &Path,
    kept: &[u8],
    is_named: impl Fn(&[u8], usize) -> bool,
) -> Result<(Vec<Vec<u8>>, [usize; 2])> {
    let mut members = Vec::new();
    each_row(clusters, |line| {
        let row = ClusterRow::decode(line)?;
        if row.kept == kept {
            members.push(row.id.to_vec());
        }
        Ok(())
    })?;
    members.sort_unstable();
    let place = |at| members.iter().position(|id| is_named(id, at)).unwrap_or_default();
    let ends = [place(0), place(1)];
    Ok((members, ends))
}

/// The way from each document that was reached to `to`, as soon as `from` is reached; nothing when it never is.
fn search(
    pairs: &Path,
    fingerprints: bool,
    members: &[Vec<u8>],
    from: usize,
    to: usize,
) -> Result<Option<Vec<Option<Reached>>>> {
    let place = |id: &[u8]| members.binary_search_by(|member| member.as_slice().cmp(id)).ok();
    let mut reached: Vec<Option<Reached>> = vec![None; members.len()];
    reached[to] = Some(Reached { distance: 0, next: to, score: Score::ONE });
    for distance in 1.. {
        let mut found = false;
        let mut step = |at: usize, next: usize, score: Score| {
            let is_next = reached[next].is_some_and(|next| next.distance + 1 == distance);
            let is_nearer = reached[at].is_none_or(|at| at.distance == distance && next < at.next);
            if is_next && is_nearer {
                reached[at] = Some(Reached { distance, next, score });
                found = true;
            }
        };
        each_row(pairs, |line| -> Result<(), FieldError> {
            let pair = AnswerPair::of_run(line, fingerprints)?;
            let (a, b) = pair.ids();
            if let (Some(a), Some(b)) = (place(a), place(b)) {
                step(a, b, pair.score());
                step(b, a, pair.score());
            }
            Ok(())
        })?;
        if reached[from].is_some() {
            return Ok(Some(reached));
        }
        if !found {
            break;
        }
    }
    Ok(None)
}
