//! How the documents of a batch are compared: with those of all segments, and with one another.

use super::{Batch, Pair, Side, Sink};
use crate::disk::Disk;
use crate::segment::{Document, Scratch, Segment, SegmentBuilder};
use crate::store::Settings;
use rustc_hash::FxHashMap;
use twinsplit_core::cluster::components::Components;
use twinsplit_core::join::doc_split::SliceBuilder;
use twinsplit_core::join::queries::{Probe, QueryIndex};
use twinsplit_core::threads::in_threads;
use twinsplit_io::error::{Error, Result};

/// What a thread seeks with, and what it has found: two documents, and what they share.
#[derive(Default)]
struct Seek<'f> {
    scratch: Scratch,
    probe: Probe,
    features: Vec<u64>,
    found: Vec<(Side<'f>, Side<'f>, u64)>,
}

/// Documents are dealt out to threads in shares of so many.
const SHARE: usize = 256;
/// A segment of so many times the documents at hand is asked for each of these by its own index; the documents of smaller ones pass by an
/// index of those at hand, which is in memory.
const LARGE: usize = 16;

/// What has been found.
struct Tally<'t> {
    graph: &'t mut Components,
    added: &'t mut super::Added,
    threads: usize,
}

impl Tally<'_> {
    /// Lets threads find pairs, a share of the work each, and hands on what some shares have found before the next ones are begun.
    fn each_share<'f>(
        &mut self,
        shares: usize,
        sink: &mut Sink<'_>,
        find: impl Fn(usize, &mut Seek<'f>) + Sync,
    ) -> Result<()> {
        let together = 4 * self.threads;
        for first in (0..shares).step_by(together) {
            let sought = in_threads((shares - first).min(together), self.threads, |at| {
                let mut seek = Seek::default();
                find(first + at, &mut seek);
                Ok::<_, Error>(seek)
            })?;
            for Seek { found, scratch, probe, .. } in sought {
                self.added.verified += scratch.verified + probe.verified();
                self.added.pairs += found.len() as u64;
                for (x, y, overlap) in found {
                    self.graph.union(x.id, y.id);
                    let (a, b) = if x.id < y.id { (x, y) } else { (y, x) };
                    sink(Pair { a, b, overlap })?;
                }
            }
        }
        Ok(())
    }
}

impl<D: Disk> Batch<'_, D> {
    /// Finds the pairs of the documents at hand.
    pub(super) fn compare(&mut self, builder: &SegmentBuilder, sink: &mut Sink<'_>) -> Result<()> {
        let Self { store, without, fresh, graph, added, number, .. } = self;
        let Settings { similarity, least, threads, equal_texts, .. } = store.settings;
        let mut tally = Tally { graph, added, threads: threads.max(1) };
        let documents = builder.documents();
        let is_compared = |document: &Document| document.features.len() as u64 >= least.max(1);
        let mut own = SliceBuilder::default();
        documents.iter().filter(|document| is_compared(document)).for_each(|document| {
            own.push(&document.id, &document.features);
        });
        let own = QueryIndex::build(own, similarity);
        let fresh = fresh.iter().map(|(_, segment)| segment);
        let segments: Vec<&Segment> = without.segments.iter().chain(fresh).map(|one| &**one).collect();
        let (large, small): (Vec<&Segment>, Vec<&Segment>) =
            segments.iter().partition(|segment| segment.count_living() > LARGE * documents.len());
        let batch = *number;
        let share = |at: usize| at * SHARE..;
        // The documents at hand, with one another and with what large segments hold.
        let shares = documents.len().div_ceil(SHARE);
        tally.each_share(shares, sink, |at, seek| {
            for document in documents[share(at)].iter().take(SHARE).filter(|document| is_compared(document)) {
                let new = Side { id: &document.id, size: document.features.len() as u64, batch };
                for segment in &large {
                    segment.query(similarity, &document.features, &mut seek.scratch, |number, overlap| {
                        seek.found.push((new, segment.side(number), overlap));
                    });
                }
                own.find(&document.features, &mut seek.probe, |id, size, overlap| {
                    // Each pair of the batch is found from both sides.
                    if *id < *document.id {
                        seek.found.push((new, Side { id, size, batch }, overlap));
                    }
                });
            }
        })?;
        for segment in small {
            tally.each_share(segment.len().div_ceil(SHARE), sink, |at, seek| {
                for number in share(at).take(SHARE).take_while(|number| *number < segment.len()) {
                    if segment.size(number) >= least.max(1) && !segment.forgotten().has(number) {
                        segment.features(number, &mut seek.features);
                        own.find(&seek.features, &mut seek.probe, |id, size, overlap| {
                            seek.found.push((Side { id, size, batch }, segment.side(number), overlap));
                        });
                    }
                }
            })?;
        }
        if !equal_texts {
            return Ok(());
        }
        // What has too few features is a copy of what has its text; one of each text is enough.
        let mut first: FxHashMap<u128, &[u8]> = FxHashMap::default();
        for document in documents.iter().filter(|document| !is_compared(document) && document.text != 0) {
            let of_text = |segment: &&Segment| {
                segment.of_text(document.text).next().map(|number| Box::from(segment.id(number)))
            };
            let other: Option<Box<[u8]>> = segments.iter().find_map(of_text);
            match (other, first.get(&document.text)) {
                (Some(other), _) => drop(tally.graph.union(&document.id, &other)),
                (None, Some(other)) => drop(tally.graph.union(&document.id, other)),
                (None, None) => drop(first.insert(document.text, &document.id)),
            }
        }
        Ok(())
    }
}
