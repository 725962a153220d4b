//! What a run would lose: how much of each dropped document stands in the one that is kept, as `annotate` counts it, and in which order clusters
//! come. A cluster is as risky as the dropped document of which the least part is kept.

use super::output::Answer;
use crate::annotate::{Clusters, Documents, Shares};
use crate::documents::{Inputs, PairOpts, RunFile};
use crate::run::refuse_streams;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use twinsplit_core::similarity::Measure;
use twinsplit_core::text::dominant_script;
use twinsplit_engine::progress::Progress;
use twinsplit_io::Megabytes;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::record::document::Document;

twinsplit_core::choice! {
    /// Which clusters come first.
    pub enum Order {
        /// Those with the dropped document of which the least part stands in the kept one
        Risk = "risk",
        /// The largest
        Size = "size",
    }
}

impl Order {
    /// The one that is asked for, or the default, where risks are counted or not.
    pub fn of(asked: Option<Self>, counted: bool) -> Result<Self> {
        match (asked, counted) {
            (Some(Self::Risk), false) => Err(Error::Usage(
                "--order risk counts what of each dropped document stands in the kept one, for which texts are read: leave --text 0 out, or take \
                 --order size"
                    .to_owned(),
            )),
            (Some(order), _) => Ok(order),
            (None, true) => Ok(Self::Risk),
            (None, false) => Ok(Self::Size),
        }
    }
}

/// The part of a document's features that stands in another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    overlap: u32,
    size: u32,
}

impl Part {
    /// In six decimals.
    pub fn written(self) -> String {
        Measure::QueryContainment.score(self.overlap.into(), self.size.into(), u64::MAX).to_string()
    }
}

impl Ord for Part {
    fn cmp(&self, other: &Self) -> Ordering {
        let [x, y] = [(self, other), (other, self)].map(|(x, y)| u64::from(x.overlap) * u64::from(y.size));
        x.cmp(&y)
    }
}

impl PartialOrd for Part {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The parts of all dropped documents.
pub struct Risks(Shares);

impl Risks {
    /// Counts them; nothing where a document comes from a stream, which is read once.
    pub fn count(
        run: &RunFile,
        inputs: &Inputs,
        pair: &PairOpts,
        order: Option<Order>,
        memory: Megabytes,
    ) -> Result<Option<Self>> {
        match refuse_streams(inputs, "what would be lost is counted first; --order size reads it once") {
            Err(error) if order == Some(Order::Risk) => return Err(error),
            Err(_) => return Ok(None),
            Ok(()) => {}
        }
        let clusters = Clusters::read(run, memory)?;
        let progress = Progress::default();
        let documents = Documents { inputs, opts: &pair.document, progress: &progress };
        let room = memory.bytes().saturating_sub(clusters.bytes());
        Shares::count(&documents, pair, &clusters, room, None).map(|shares| Some(Self(shares)))
    }

    /// That of the document in this line of clusters.tsv, counted from 0; nothing of one that is kept, or without features.
    pub fn part(&self, line: u32) -> Option<Part> {
        let share = self.0.of(line).filter(|share| share.size > 0)?;
        Some(Part { overlap: share.overlap, size: share.size })
    }
}

/// The scripts of kept documents, by their ids: those of the clusters that the page lists.
#[derive(Default)]
pub struct Scripts(FxHashMap<Vec<u8>, &'static str>);

impl Scripts {
    /// For the clusters of an answer, none of them known yet.
    pub fn of(answer: &Answer) -> Self {
        let shown = answer.shown.iter().filter_map(|cluster| cluster.members.first()).map(|kept| &kept.id);
        let ids = shown.chain(answer.others.iter().map(|other| &other.kept));
        Self(ids.map(|id| (id.clone().into_bytes(), "")).collect())
    }

    /// Takes in a document, of whatever cluster.
    pub fn read(&mut self, document: &Document<'_>) {
        if let Some(script) = self.0.get_mut(&*document.id) {
            *script = dominant_script(&document.text);
        }
    }

    /// That of a kept document, if its text was read.
    pub fn get(&self, kept: &str) -> Option<&'static str> {
        self.0.get(kept.as_bytes()).copied().filter(|script| !script.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_compared_exactly() {
        let part = |overlap, size| Part { overlap, size };
        assert_eq!(part(1, 3).cmp(&part(2, 6)), Ordering::Equal);
        assert!(
            part(1_431_655_765, u32::MAX) < part(1_431_655_766, u32::MAX) && part(0, 9) < part(1, u32::MAX)
        );
        assert_eq!(part(2, 3).written(), "0.666667");
    }

    #[test]
    fn risk_is_the_default_where_it_is_counted() {
        assert_eq!(
            [true, false].map(|counted| Order::of(None, counted).unwrap()),
            [Order::Risk, Order::Size]
        );
        assert_eq!(Order::of(Some(Order::Size), true).unwrap(), Order::Size);
        assert!(Order::of(Some(Order::Risk), false).is_err());
    }
}
