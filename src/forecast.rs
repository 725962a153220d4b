//! Whether plain Term-Split can work at all, found out before it starts.
//!
//! It writes a row for each pair of postings, which are the sum of df(df-1)/2 over all features. Its stages know that sum,
//! and stop above `--max-pairs`, when they have read and sorted all documents. Here the documents are read once and nothing
//! is written. Of a small input all sets are counted, so the sum is exact; of a large one those of a share of the texts,
//! chosen by a hash of the text, so that copies, which count once, are chosen together. The share is halved as often as its sets
//! take more memory than they may. From the share each document frequency is estimated from below, by three times its error of
//! chance, the square root.

use super::documents::PairOpts;
use super::options::RunOpts;
use super::same_form::size;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use twinsplit_core::hash;
use twinsplit_core::text::Extractor;
use twinsplit_core::threads::{in_threads, lock, unlocked};
use twinsplit_engine::memory::Budget;
use twinsplit_engine::script::quote;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::{Blocks, each_line};
use twinsplit_rows::chains::Family;
use twinsplit_rows::params::Params;
use twinsplit_rows::plan::options_beyond;

/// The sets of so much text as this part of `--memory` are counted.
const COUNTED: u64 = 32;
/// Bytes for a feature of a set that is counted: in its set, and among those of all sets; and features that a set itself takes the
/// memory of.
const FEATURE: usize = 2 * size_of::<u64>();
const SET: usize = 8;
/// How often a share may be halved: few texts are in it then.
const MOST_HALVED: u32 = 24;
/// How many times the limit an estimate has to be: texts that differ may have the same set, which counts once.
const CLEARLY: u128 = 2;
/// What a compressed file holds at most of text, in its own size; more only makes the share larger.
const UNPACKED: u64 = 5;
/// Bytes of input that a thread takes at a time.
const BLOCK: usize = 1 << 20;
/// The chain that is refused, and the one that gives the same answer.
const TERM_SPLIT: &str = "term-split";
const DOC_SPLIT: &str = "doc-split";
/// The seed of the share.
const SEED: u64 = 0x7465726d;

/// What plain Term-Split would write.
#[derive(Debug, PartialEq, Eq)]
struct Forecast {
    /// Pairs of postings, or fewer than there will be.
    pairs: u128,
    /// One in so many texts was counted.
    one_in: u64,
}

impl Forecast {
    /// Whether it is sure that there will be more than the limit.
    fn exceeds(&self, limit: u64) -> bool {
        let times = if self.one_in == 1 { 1 } else { CLEARLY };
        self.pairs > times * u128::from(limit)
    }
}

/// Refuses a run of plain Term-Split that would stop at `--max-pairs`, with a command that does the same.
pub fn refuse_hopeless(params: &Params, opts: &RunOpts, inputs: &[PathBuf]) -> Result<()> {
    let pair: PairOpts = params.parse()?;
    let limit = params.number("max-pairs");
    // What leaves out frequent features leaves this to the stages, which count what is left.
    if params.get("df-cut").is_some() || !pair.idf.idf.is_everything() {
        return Ok(());
    }
    // What cannot be read stops the run as well, which names the stage.
    let counted = opts.memory_bytes() as u64 / COUNTED;
    let budget = Budget::of_stages(opts.memory_bytes(), opts.threads())?;
    let Ok(forecast) = forecast(inputs, &pair, opts.threads(), counted, &budget) else { return Ok(()) };
    if !forecast.exceeds(limit) {
        return Ok(());
    }
    let (at_least, sample) = match forecast.one_in {
        1 => ("", String::new()),
        one_in => ("at least ", format!(", by a sample of one in {one_in} texts")),
    };
    let without = if params.get("accumulators").is_some() { " instead of --accumulators" } else { "" };
    Err(Error::Limit(format!(
        "plain Term-Split would write {at_least}{} pairs of postings, the sum of df(df-1)/2{sample} (the limit is {limit}), \
         so it was not started. The same pairs without them:\n\n  {}\n\n--pcp prefix{without} has fewer, and --max-pairs \
         raises the limit",
        forecast.pairs,
        with_doc_split(std::env::args_os().map(|word| word.to_string_lossy().into_owned()))
    )))
}

/// The sets of a share of the texts: those whose hash is a multiple of `first`, and of that as often a multiple of 2 as the share was
/// halved.
struct Share {
    first: u64,
    halved: u32,
    /// How often the share of a set's texts can be halved.
    sets: FxHashMap<Vec<u64>, u32>,
    features: usize,
    most: usize,
}

impl Share {
    /// How often the share can be halved before a text is in it no more; nothing where it is not in it.
    fn level(&self, sample: u64) -> Option<u32> {
        let level = sample.is_multiple_of(self.first).then(|| (sample / self.first).trailing_zeros());
        level.filter(|level| *level >= self.halved)
    }

    /// Takes a set. Which sets are left in the end does not depend on the order in which they come.
    fn take(&mut self, set: &[u64], sample: u64) {
        let Some(level) = self.level(sample) else { return };
        if let Some(known) = self.sets.get_mut(set) {
            *known = level.max(*known);
            return;
        }
        self.sets.insert(set.to_vec(), level);
        self.features += set.len() + SET;
        while self.features > self.most && self.halved < MOST_HALVED {
            self.halved += 1;
            self.sets.retain(|_, level| *level >= self.halved);
            self.features = self.sets.keys().map(|set| set.len() + SET).sum();
        }
    }
}

fn forecast(
    inputs: &[PathBuf],
    pair: &PairOpts,
    threads: usize,
    counted: u64,
    budget: &Budget,
) -> Result<Forecast> {
    let spec = pair.features.spec()?;
    let first = inputs.iter().map(|path| bytes(path)).sum::<u64>().div_ceil(counted.max(1)).max(1);
    let blocks = Mutex::new(Blocks::new(inputs.to_vec(), BLOCK).of_documents(pair.document.max_line));
    let most = budget.by_name() / FEATURE;
    let share = Mutex::new(Share { first, halved: 0, sets: FxHashMap::default(), features: 0, most });
    in_threads(threads, threads, |_| {
        let (mut extractor, mut set) = (Extractor::new(spec.clone()), Vec::new());
        loop {
            // A line for which the run has no room has none here.
            let Some(block) = lock(&blocks).next_within(&mut budget.task_room())? else {
                return Ok::<_, Error>(());
            };
            each_line(&block, |line, place| {
                // A line that is no document is the run's to refuse or to let pass.
                let Ok(document) = pair.document.read(line, place) else { return Ok(()) };
                let sample = hash::sample(SEED, document.text.as_bytes());
                if lock(&share).level(sample).is_some() {
                    extractor.set(&document.text, &mut set);
                    if pair.least.admits(set.len() as u64) {
                        lock(&share).take(&set, sample);
                    }
                }
                Ok(())
            })?;
        }
    })?;
    let Share { halved, sets, features, .. } = unlocked(share);
    let one_in = first << halved;
    let mut all = Vec::with_capacity(features);
    sets.into_keys().for_each(|set| all.extend(set));
    all.sort_unstable();
    let pairs = all.chunk_by(|x, y| x == y).map(|same| {
        let frequency = same.len() as u64;
        let chance = if one_in == 1 { 0 } else { 3 * (frequency.isqrt() + 1) };
        let df = u128::from(frequency.saturating_sub(chance)) * u128::from(one_in);
        df * df.saturating_sub(1) / 2
    });
    Ok(Forecast { pairs: pairs.sum(), one_in })
}

/// About how much text a file holds.
fn bytes(path: &Path) -> u64 {
    let bytes = size(path);
    if path.extension().is_some_and(|end| end == "gz") { bytes.saturating_mul(UNPACKED) } else { bytes }
}

/// The command that was typed, with doc-split instead of term-split, and without the options of that chain alone.
fn with_doc_split(args: impl Iterator<Item = String>) -> String {
    let families = Family::named(TERM_SPLIT).zip(Family::named(DOC_SPLIT));
    let own = families.map(|(family, other)| options_beyond(family, other)).unwrap_or_default();
    let (mut words, mut named, mut skip) = (Vec::new(), false, false);
    for word in args {
        let option = word.strip_prefix("--").map(|option| option.split_once('=').unwrap_or((option, "")).0);
        if std::mem::take(&mut skip) {
            continue;
        }
        if option.is_some_and(|option| own.contains(option)) {
            skip = !word.contains('=');
            continue;
        }
        let chain = !named && words.len() > 1 && word == TERM_SPLIT;
        named |= chain;
        words.push(if chain { DOC_SPLIT.to_owned() } else { quote(&word) });
    }
    if !named {
        words.insert(2.min(words.len()), DOC_SPLIT.to_owned());
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use twinsplit_core::corpus::random::Random;

    /// Documents of 20 words out of 60, the first ones the most frequent, with one of their own; and the sum by hand.
    fn corpus(documents: u64, copies: usize, folder: &Path) -> (PathBuf, u128) {
        let (mut lines, mut all) = (String::new(), Vec::new());
        for number in 0..documents {
            let mut random = Random::of(7, 1, number);
            let words = (0..20).map(|_| random.below(1 + random.clone().below(60)));
            let mut words: BTreeSet<String> = words.map(|word| format!("w{word}")).collect();
            words.insert(format!("own{number}"));
            let text = words.iter().cloned().collect::<Vec<_>>().join(" ");
            for copy in 0..copies {
                lines.push_str(&format!("{{\"id\":\"{number}-{copy}\",\"text\":\"{text}\"}}\n"));
            }
            all.push(words);
        }
        let path = folder.join(format!("docs-{copies}"));
        std::fs::write(&path, lines).unwrap();
        let mut frequencies: FxHashMap<&String, u128> = FxHashMap::default();
        all.iter().flatten().for_each(|word| *frequencies.entry(word).or_default() += 1);
        (path, frequencies.values().map(|df| df * (df - 1) / 2).sum())
    }

    fn pairs(path: &Path, threads: usize, counted: u64) -> Forecast {
        let mut params = Params::default();
        params.set("features", "words:1");
        let budget = Budget::of_stages(2048 << 20, threads).unwrap();
        forecast(&[path.to_owned()], &params.parse().unwrap(), threads, counted, &budget).unwrap()
    }

    #[test]
    fn a_small_input_is_counted_and_a_large_one_estimated_from_below() {
        let folder = tempfile::tempdir().unwrap();
        let (once, sum) = corpus(3_000, 1, folder.path());
        assert_eq!(pairs(&once, 3, 1 << 30), Forecast { pairs: sum, one_in: 1 });
        let bytes = once.metadata().unwrap().len();
        for one_in in [2, 4, 10] {
            let found = pairs(&once, 1, bytes / one_in + 1);
            assert_eq!(found.one_in, one_in);
            assert!(found.pairs <= sum && 3 * found.pairs > sum, "one in {one_in}: {} of {sum}", found.pairs);
            assert_eq!(pairs(&once, 3, bytes / one_in + 1), found, "however many threads");
            // Copies are one set, and are chosen together: they change nothing but the number of bytes.
            let (copied, _) = corpus(3_000, 5, folder.path());
            let all = copied.metadata().unwrap().len();
            assert_eq!(pairs(&copied, 2, all / one_in + 1), found, "copies");
        }
    }

    /// The sets that are left are those of one order of the texts as of another, and take no more memory than they may.
    #[test]
    fn a_share_is_halved_until_its_sets_fit() {
        let texts: Vec<(Vec<u64>, u64)> = (0..4000_u64)
            .map(|n: u64| ((n / 3..n / 3 + 20).collect(), hash::sample(SEED, &n.to_le_bytes())))
            .collect();
        let share = |first, texts: &mut dyn Iterator<Item = &(Vec<u64>, u64)>| {
            let mut share = Share { first, halved: 0, sets: FxHashMap::default(), features: 0, most: 3_000 };
            texts.for_each(|(set, sample)| share.take(set, *sample));
            assert!(share.features <= 3_000);
            (share.halved, share.sets)
        };
        for first in [1, 3] {
            let (halved, sets) = share(first, &mut texts.iter());
            assert!(halved > 0 && sets.len() > 50);
            assert_eq!(share(first, &mut texts.iter().rev()), (halved, sets.clone()));
            let left = |set: &[u64]| {
                let of = texts.iter().filter(|text| text.0 == set);
                of.into_iter().any(|text| text.1.is_multiple_of(first << halved))
            };
            assert!(texts.iter().all(|(set, _)| left(set) == sets.contains_key(set)));
        }
    }

    #[test]
    fn an_estimate_has_to_be_clear() {
        let exceeds = |pairs, one_in| Forecast { pairs, one_in }.exceeds(100);
        assert_eq!([exceeds(100, 1), exceeds(101, 1)], [false, true]);
        assert_eq!([exceeds(200, 2), exceeds(201, 2)], [false, true]);
    }

    #[test]
    fn the_command_is_the_same_but_for_the_chain() {
        let with = |line: &str| with_doc_split(line.split(' ').map(str::to_owned));
        assert_eq!(
            with("twinsplit run term-split --input a --pcp lists --tau 0.5 --posting-block=9 --output o"),
            "twinsplit run doc-split --input a --tau 0.5 --output o"
        );
        assert_eq!(with("t run --accumulators 5 --input x*"), "t run doc-split --input 'x*'");
    }
}
