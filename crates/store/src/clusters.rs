//! The clusters of a store: the documents that are in one with others, each with the one that is kept, the smallest id. They are lines in the order of ids,
//! which are searched as they are: a batch reads and writes what it changes, and copies the rest.

use std::collections::{BTreeMap, BTreeSet};
use twinsplit_core::cluster::components::Components;
use twinsplit_io::mapped::Bytes;

/// The documents of clusters, each with the one that is kept.
#[derive(Debug, Default)]
pub struct Clusters(Bytes);

/// What is changed of clusters: the document that is kept of the cluster of each, or that it is in none any more.
pub type Changed = BTreeMap<Box<[u8]>, Option<Box<[u8]>>>;

/// Clusters by the document that is kept: all of each, that itself among them.
pub type Members = BTreeMap<Box<[u8]>, BTreeSet<Box<[u8]>>>;

/// The two fields of a line.
fn fields(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    Some((&line[..tab], &line[tab + 1..]))
}

/// A line of a document.
fn push_line(out: &mut Vec<u8>, id: &[u8], kept: &[u8]) {
    out.extend_from_slice(id);
    out.push(b'\t');
    out.extend_from_slice(kept);
    out.push(b'\n');
}

impl Clusters {
    /// Takes what [`bytes`](Self::bytes) gave; `None` where it is something else.
    pub fn read(bytes: Bytes) -> Option<Self> {
        let mut last: &[u8] = b"";
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (id, _) = fields(line.strip_suffix(b"\n")?)?;
            if id <= last {
                return None;
            }
            last = id;
        }
        Some(Self(bytes))
    }

    /// As bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Each document with the one that is kept, in the order of ids.
    pub fn rows(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let lines = self.0.split(|byte| *byte == b'\n');
        lines.filter_map(fields)
    }

    /// The document that is kept of the cluster of one, if it is in one.
    pub fn find(&self, id: &[u8]) -> Option<&[u8]> {
        let rows = &self.0[..];
        let (mut start, mut end) = (0, rows.len());
        while start < end {
            let middle = start + (end - start) / 2;
            let line = rows[start..middle]
                .iter()
                .rposition(|byte| *byte == b'\n')
                .map_or(start, |at| start + at + 1);
            let length = rows[line..].iter().position(|byte| *byte == b'\n').unwrap_or(rows.len() - line);
            let (found, kept) = fields(&rows[line..line + length])?;
            match found.cmp(id) {
                std::cmp::Ordering::Equal => return Some(kept),
                std::cmp::Ordering::Less => start = (line + length + 1).min(end),
                std::cmp::Ordering::Greater => end = line,
            }
        }
        None
    }

    /// The same, and itself where it is in none.
    pub fn kept<'c>(&'c self, id: &'c [u8]) -> &'c [u8] {
        self.find(id).unwrap_or(id)
    }

    /// How many documents are in clusters.
    pub fn len(&self) -> usize {
        self.0.iter().filter(|byte| **byte == b'\n').count()
    }

    /// Whether there are no clusters.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The clusters that keep one of these documents.
    pub fn keeping(&self, kept: &BTreeSet<&[u8]>) -> Members {
        let mut members = Members::new();
        for (id, of) in self.rows().filter(|(_, of)| kept.contains(of)) {
            members.entry(of.into()).or_default().insert(id.into());
        }
        members
    }

    /// What the edges of a graph change, and the clusters that hold an edge or one of the other documents, as they are with them.
    pub fn merge(
        &self,
        mut graph: Components,
        others: impl Iterator<Item = Box<[u8]>>,
    ) -> (Changed, Members) {
        let others: Vec<Box<[u8]>> = others.collect();
        let ends = graph.ids.len() as u32;
        let of_ends = (0..ends).filter_map(|number| self.find(graph.ids.get(number)));
        let touched: BTreeSet<&[u8]> = of_ends.chain(others.iter().filter_map(|id| self.find(id))).collect();
        for (id, kept) in self.rows().filter(|(_, kept)| touched.contains(kept)) {
            graph.union(id, kept);
        }
        let labels = graph.labels();
        let (mut changed, mut members) = (Changed::new(), Members::new());
        for (number, label) in (0..).zip(&labels) {
            let (id, kept) = (graph.ids.get(number), graph.ids.get(*label));
            if self.find(id) != Some(kept) {
                changed.insert(id.into(), Some(kept.into()));
            }
            members.entry(kept.into()).or_default().insert(id.into());
        }
        (changed, members)
    }

    /// The clusters with these changes.
    #[must_use]
    pub fn with(&self, changed: &Changed) -> Self {
        let mut out = Vec::with_capacity(self.0.len());
        let mut changed = changed.iter().peekable();
        let put = |out: &mut Vec<u8>, id: &[u8], kept: Option<&[u8]>| {
            if let Some(kept) = kept {
                push_line(out, id, kept);
            }
        };
        for (id, kept) in self.rows() {
            while let Some((new, kept)) = changed.next_if(|(new, _)| ***new < *id) {
                put(&mut out, new, kept.as_deref());
            }
            match changed.next_if(|(new, _)| ***new == *id) {
                Some((_, kept)) => put(&mut out, id, kept.as_deref()),
                None => push_line(&mut out, id, kept),
            }
        }
        changed.for_each(|(new, kept)| put(&mut out, new, kept.as_deref()));
        Self(out.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn boxed(id: u8) -> Box<[u8]> {
        format!("{}{id}", "x".repeat(id as usize % 7)).into_bytes().into()
    }

    proptest! {
        /// Lines are found, changed and read again as a map's entries are.
        #[test]
        fn clusters_are_a_map(
            first in prop::collection::btree_map(0u8..60, 0u8..60, 0..40),
            second in prop::collection::btree_map(0u8..60, prop::option::of(0u8..60), 0..40),
        ) {
            let changed = |map: BTreeMap<u8, Option<u8>>| -> Changed {
                map.into_iter().map(|(id, kept)| (boxed(id), kept.map(boxed))).collect()
            };
            let some = first.into_iter().map(|(id, kept)| (id, Some(kept))).collect();
            let [first, second] = [some, second].map(changed);
            let clusters = Clusters::default().with(&first).with(&second);
            let mut map = first;
            map.extend(second);
            map.retain(|_, kept| kept.is_some());
            prop_assert_eq!(clusters.len(), map.len());
            for id in (0..60).map(boxed) {
                prop_assert_eq!(clusters.find(&id), map.get(&id).and_then(|kept| kept.as_deref()));
            }
            let rows: Vec<_> = map.iter().map(|(id, kept)| (&**id, kept.as_deref().unwrap_or_default())).collect();
            let again = Clusters::read(clusters.bytes().to_vec().into());
            prop_assert_eq!(again.as_ref().map(|again| again.rows().collect()), Some(rows));
        }
    }

    #[test]
    fn other_bytes_are_no_clusters() {
        for bytes in ["a\ta", "a\n", "b\tb\na\ta\n", "a\ta\na\ta\n", "\ta\n"] {
            assert!(Clusters::read(bytes.as_bytes().to_vec().into()).is_none(), "{bytes:?}");
        }
        assert!(Clusters::read(Bytes::default()).is_some_and(|clusters| clusters.is_empty()));
    }
}
