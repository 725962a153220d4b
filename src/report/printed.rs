//! The fingerprints of the documents that are shown, made once more as the run made them.

use super::output::Cluster;
use crate::documents::{Inputs, each_document};
use crate::sketches;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use std::path::Path;
use twinsplit_core::similarity::Score;
use twinsplit_core::sketch::simhash::Fingerprint;
use twinsplit_core::visible;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::record::cluster::Verdict;
use twinsplit_rows::record::document::DocumentOpts;
use twinsplit_rows::stages::simhash::FingerprintOpts;

/// A document's fingerprint, and the greatest distance of a pair that it is in.
type Print = (Fingerprint, u32);

/// Fingerprints, in the order in which the page has its documents.
pub struct Printed(Vec<Option<Print>>);

impl Printed {
    /// Makes those of the documents of the clusters.
    pub fn read(
        inputs: &Inputs,
        document: &DocumentOpts,
        opts: &FingerprintOpts,
        clusters: &[Cluster],
    ) -> Result<Self> {
        let ids = clusters.iter().flat_map(|cluster| &cluster.members).map(|member| member.id.as_bytes());
        let places: FxHashMap<&[u8], usize> = ids.zip(0..).collect();
        let mut found = vec![None; places.len()];
        let mut sketcher = sketches::sketcher(inputs, document, &opts.sketch, "report")?;
        each_document(inputs, document, "report", |document| {
            if let Some(&place) = places.get(document.id.as_slice()) {
                let distance = opts.distance.distance.of_text(&document.text);
                found[place] = sketcher.fingerprint(&document.text).map(|print| (print, distance));
            }
            Ok(())
        })?;
        Ok(Self(found))
    }

    /// Compares every member with the kept document. Their distance must be the one that the run found; otherwise a file that
    /// its options name is another one by now.
    pub fn check(&self, clusters: &[Cluster], folder: &Path) -> Result<()> {
        let mut place = 0;
        for cluster in clusters {
            let kept = self.0[place];
            for (member, print) in cluster.members.iter().zip(&self.0[place..]) {
                let distance = match (kept, print) {
                    (Some(kept), Some(print)) => Some(kept.0.distance(print.0)),
                    // Texts are in one cluster without fingerprints where they are equal.
                    (None, None) => Some(0),
                    _ => None,
                };
                let found = Verdict::Drop(distance.map(|distance| Score::Count(distance.into())));
                if member.verdict != Verdict::Keep && member.verdict != found {
                    return Err(Error::File {
                        path: folder.join("clusters.tsv"),
                        problem: format!(
                            "has another distance for {} than its text now gives ({}); a file that --features or --idf-table \
                             names has changed since; restore it, or run again",
                            visible::line(&member.id),
                            distance.map_or_else(|| "-".to_owned(), |distance| distance.to_string())
                        ),
                    });
                }
            }
            place += cluster.members.len();
        }
        Ok(())
    }

    /// What the page holds of a document.
    pub fn value(&self, document: usize) -> Value {
        match self.0.get(document).copied().flatten() {
            Some((fingerprint, most)) => json!({ "fingerprint": fingerprint.to_string(), "most": most }),
            None => Value::Null,
        }
    }
}
