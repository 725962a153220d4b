//! Histograms: counts by similarity and by cluster size, in integers, and the bars that they are drawn as.

use std::collections::BTreeMap;
use twinsplit_core::similarity::Score;

/// Most bars of a histogram of similarities: more cannot be told apart on a small screen.
const MOST_BARS: usize = 40;
/// Up to this size of the largest cluster each size has a bar of its own.
const EACH_SIZE: u64 = 24;

/// A bar: its label and its count.
#[derive(Debug, PartialEq, Eq)]
pub struct Bar {
    /// What it counts.
    pub label: String,
    /// How many there are.
    pub count: u64,
}

/// Counts of similarities.
pub struct Similarities {
    /// Shares by hundredths; 1.000000 stands alone.
    shares: [u64; 101],
    /// Numbers of features.
    counts: BTreeMap<u64, u64>,
}

impl Default for Similarities {
    fn default() -> Self {
        Self { shares: [0; 101], counts: BTreeMap::new() }
    }
}

impl Similarities {
    /// Counts one.
    pub fn add(&mut self, score: Score) {
        match score {
            Score::Share(millionths) => self.shares[millionths as usize / 10_000] += 1,
            Score::Count(count) => *self.counts.entry(count).or_default() += 1,
        }
    }

    /// Bars of equal width from the one that holds `least`, or the smallest similarity counted if that is smaller.
    pub fn bars(&self, least: Score) -> Vec<Bar> {
        match least {
            Score::Share(millionths) => self.bars_of_shares(millionths),
            Score::Count(count) => self.bars_of_counts(count),
        }
    }

    /// Up to the largest number that was counted.
    fn bars_of_counts(&self, least: u64) -> Vec<Bar> {
        let ends = self.counts.first_key_value().zip(self.counts.last_key_value());
        let Some(((&smallest, _), (&largest, _))) = ends else { return Vec::new() };
        let from = smallest.min(least);
        let width = (largest - from) / MOST_BARS as u64 + 1;
        let bar = |nth: u64| {
            let start = from + nth * width;
            let end = start.saturating_add(width - 1);
            let label = if width == 1 { start.to_string() } else { format!("{start} to {end}") };
            Bar { label, count: self.counts.range(start..=end).map(|(_, count)| count).sum() }
        };
        (0..=(largest - from) / width).map(bar).collect()
    }

    /// Up to 1, which has a bar of its own.
    fn bars_of_shares(&self, least: u32) -> Vec<Bar> {
        let smallest = self.shares.iter().position(|count| *count > 0).unwrap_or(100);
        let from = smallest.min(least as usize / 10_000).min(99);
        let width =
            [1, 2, 5].into_iter().find(|width| (100 - from).div_ceil(*width) < MOST_BARS).unwrap_or(10);
        let mut bars = Vec::new();
        for start in (from / width * width..100).step_by(width) {
            let end = start + width;
            bars.push(Bar {
                label: format!("0.{start:02} to {}.{:02}", end / 100, end % 100),
                count: self.shares[start..end].iter().sum(),
            });
        }
        bars.push(Bar { label: "1".to_owned(), count: self.shares[100] });
        bars
    }
}

/// Counts of clusters by size.
#[derive(Default)]
pub struct Sizes(BTreeMap<u64, u64>);

impl Sizes {
    /// Counts a cluster.
    pub fn add(&mut self, size: u64) {
        *self.0.entry(size).or_default() += 1;
    }

    /// A bar for each size from 2, or, where the largest is too large for that, for 2, 3, 4 and then up to each
    /// power of two.
    pub fn bars(&self) -> Vec<Bar> {
        let Some((&largest, _)) = self.0.last_key_value() else { return Vec::new() };
        let mut bars = Vec::new();
        let mut from = 2;
        while from <= largest {
            let to = if largest <= EACH_SIZE {
                from
            } else {
                from.checked_next_power_of_two().unwrap_or(u64::MAX)
            };
            // 3 is no power of two and has a bar of its own all the same.
            let to = if from == 3 { 3 } else { to };
            let label = if from == to { from.to_string() } else { format!("{from} to {to}") };
            bars.push(Bar { label, count: self.0.range(from..=to).map(|(_, count)| count).sum() });
            let Some(next) = to.checked_add(1) else { break };
            from = next;
        }
        bars
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similarities(millionths: &[u32]) -> Similarities {
        let mut all = Similarities::default();
        millionths.iter().for_each(|m| all.add(Score::share(*m).unwrap()));
        all
    }

    fn filled(bars: Vec<Bar>) -> Vec<(String, u64)> {
        bars.into_iter().filter(|bar| bar.count > 0).map(|bar| (bar.label, bar.count)).collect()
    }

    /// A bar holds its lower edge and not its upper one; what floats would put one bar too low stands right.
    #[test]
    fn edges_belong_to_the_bar_above() {
        let all = similarities(&[699_999, 700_000, 709_999, 710_000, 290_000, 570_000, 999_999, 1_000_000]);
        let expected = [
            ("0.28 to 0.30", 1),
            ("0.56 to 0.58", 1),
            ("0.68 to 0.70", 1),
            ("0.70 to 0.72", 3),
            ("0.98 to 1.00", 1),
            ("1", 1),
        ];
        assert_eq!(
            filled(all.bars(Score::Share(700_000))),
            expected.map(|(label, count)| (label.to_owned(), count))
        );
    }

    /// Every hundredth at every width is counted once, and a histogram starts at tau or below it.
    #[test]
    fn bars_are_a_partition_from_tau_to_one() {
        let every: Vec<u32> = (0..=100).map(|hundredth| hundredth * 10_000).collect();
        for from in 0..=100 {
            let all = similarities(&every[from..]);
            let bars = all.bars(Score::ONE);
            assert_eq!(bars.iter().map(|bar| bar.count).sum::<u64>(), 101 - from as u64, "from {from}");
            assert!(bars.len() <= MOST_BARS + 1, "{} bars from {from}", bars.len());
        }
        let bars = similarities(&[900_000]).bars(Score::Share(700_000));
        assert_eq!((bars.len(), bars[0].label.as_str()), (31, "0.70 to 0.71"));
        let empty = similarities(&[]).bars(Score::ONE);
        assert_eq!(empty.iter().map(|bar| bar.label.as_str()).collect::<Vec<_>>(), ["0.99 to 1.00", "1"]);
    }

    #[test]
    fn numbers_of_features_have_bars_from_the_threshold_on() {
        let counted = |all: &[u64]| {
            let mut counted = Similarities::default();
            all.iter().for_each(|count| counted.add(Score::Count(*count)));
            counted.bars(Score::Count(20))
        };
        let labels = |bars: &[Bar]| bars.iter().map(|bar| bar.label.clone()).collect::<Vec<_>>();
        assert_eq!(counted(&[]), []);
        assert_eq!(labels(&counted(&[22, 22])), ["20", "21", "22"]);
        assert_eq!(labels(&counted(&[18, 19])), ["18", "19"]);
        let wide = counted(&[20, 59, 60, 1_000, 1_000]);
        assert!(wide.len() <= MOST_BARS + 1 && wide[0].label == "20 to 44", "{wide:?}");
        assert_eq!(wide.iter().map(|bar| bar.count).sum::<u64>(), 5);
        assert_eq!(counted(&[u64::MAX]).iter().map(|bar| bar.count).sum::<u64>(), 1);
    }

    #[test]
    fn sizes_are_single_while_they_are_few() {
        let sizes = |all: &[u64]| {
            let mut sizes = Sizes::default();
            all.iter().for_each(|size| sizes.add(*size));
            sizes.bars()
        };
        let pair = |label: &str, count| (label.to_owned(), count);
        assert_eq!(sizes(&[]), []);
        assert_eq!(filled(sizes(&[2, 2, 5])), [pair("2", 2), pair("5", 1)]);
        assert_eq!(sizes(&[2, 24]).len(), 23);
        let labels: Vec<_> = sizes(&[100]).into_iter().map(|bar| bar.label).collect();
        assert_eq!(labels, ["2", "3", "4", "5 to 8", "9 to 16", "17 to 32", "33 to 64", "65 to 128"]);
        let wide = sizes(&[2, 3, 4, 5, 8, 9, 16, 17, u64::MAX]);
        assert_eq!(wide.iter().map(|bar| bar.count).sum::<u64>(), 9);
        assert_eq!(wide[3], Bar { label: "5 to 8".to_owned(), count: 2 });
    }
}
