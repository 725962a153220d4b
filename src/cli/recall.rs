//! `--recall`: bands and rows by the similarities in a sample of the documents.
//!
//! A pair with Jaccard similarity J is found with the probability 1 - (1 - J^rows)^bands. What share of all pairs at or above
//! tau that finds depends on how similar they are: where most are near 1, few bands do. What it costs depends on the pairs
//! below tau that meet as well. Both are counted here, for every number of rows with the fewest bands that find the share that
//! was asked for, and the cheapest is taken. Pairs exactly at tau, as many as [`DOUBT`], are added to those of the sample, so
//! that a sample of few pairs is not believed.

use super::options;
use super::sample::Sample;
use crate::error::{Error, Result};
use crate::join::overlap;
use crate::plan::{Asked, Origin};
use crate::record::document::DocumentOpts;
use crate::similarity::Measure;
use crate::sketch::bands::Bands;
use crate::sketch::minhash::MOST_HASHES;
use crate::stages::options::{FeatureOpts, MinFeaturesOpts, SimilarityOpts};
use crate::text::Extractor;
use clap::Args;
use std::path::Path;

/// Documents of the sample: half a million pairs.
const DOCUMENTS: usize = 1000;
/// Pairs at tau that are taken to be there beside those of the sample.
const DOUBT: f64 = 5.0;
/// Similarities are counted by thousandths.
const STEPS: usize = 1000;

/// What is asked of a time, in nanoseconds: a value of a signature, a key that is sorted, a candidate that is compared.
const COSTS: [f64; 3] = [2.0, 100.0, 300.0];

#[derive(Args, Clone, Debug)]
struct SampleOpts {
    #[command(flatten)]
    document: DocumentOpts,
    #[command(flatten)]
    features: FeatureOpts,
    #[command(flatten)]
    least: MinFeaturesOpts,
    #[command(flatten)]
    similarity: SimilarityOpts,
}

/// A share of the pairs.
pub fn parse(text: &str) -> std::result::Result<f64, String> {
    let share = text.parse().ok().filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| {
        "expected a decimal between 0 and 1, as 0.99; doc-split and term-split find all".to_owned()
    })
}

/// How many pairs of how many documents have which similarity.
struct Similarities {
    /// By thousandths of the similarity, rounded down; of the whole collection, by estimate.
    pairs: Vec<f64>,
    documents: f64,
    /// Pairs of the sample at or above tau.
    seen: u64,
    tau: f64,
}

/// What some bands are expected to do.
#[derive(Clone, Copy, Debug)]
struct Expected {
    bands: Bands,
    recall: f64,
    candidates: f64,
    cost: f64,
}

/// Sets bands, rows and the values that they need.
pub fn choose(recall: f64, asked: &mut Asked) -> Result<()> {
    if let Some(chain) = asked.chain.as_deref().filter(|chain| *chain != "minhash") {
        return Err(Error::Usage(format!("--recall chooses the bands of minhash, and the chain is {chain}")));
    }
    let given = &mut asked.given;
    if let Some(name) = ["bands", "rows"].into_iter().find(|name| given.params.get(name).is_some()) {
        return Err(Error::Usage(format!(
            "--recall chooses --bands and --rows; it cannot be given with --{name}"
        )));
    }
    let opts: SampleOpts = given.params.parse()?;
    let similarity = opts.similarity.0;
    let tau = similarity.tau().filter(|_| similarity.measure() == Measure::Jaccard).ok_or_else(|| {
        Error::Usage("--recall is reckoned for --similarity jaccard, which signatures estimate; give --bands and --rows".to_owned())
    })?;
    let tau = f64::from(tau.billionths()) / 1e9;
    let readable = !asked.engine.is_remote() && asked.inputs.iter().all(|path| path != Path::new("-"));
    let found = if readable && !asked.inputs.is_empty() {
        Similarities::of_sample(&opts, &crate::io::document_files(&asked.inputs)?, tau)?
    } else {
        // Nothing is known: all pairs may lie at tau.
        Similarities { pairs: vec![0.0; STEPS + 1], documents: 1.0, seen: 0, tau }
    };
    let best = found.best(recall, given.params.get("hashes").and_then(|hashes| hashes.parse().ok()))?;
    asked.notes.push(format!(
        "--recall {recall}: {} bands of {} rows, by {} pairs at or above tau in a sample; expected are a recall of {:.4} and {:.0} \
         candidates",
        best.bands.bands, best.bands.rows, found.seen, best.recall, best.candidates
    ));
    for (name, value) in [("bands", best.bands.bands), ("rows", best.bands.rows)] {
        given.set(name, value.to_string(), Origin::Follows("recall"));
    }
    given.set_missing("hashes", (best.bands.bands * best.bands.rows).to_string(), Origin::Follows("recall"));
    asked.recall = Some(recall);
    Ok(())
}

impl Similarities {
    fn of_sample(opts: &SampleOpts, inputs: &[std::path::PathBuf], tau: f64) -> Result<Self> {
        super::run::refuse_streams(inputs, "--recall takes a sample of it first")?;
        let sample = Sample::take("recall", inputs, &opts.document, DOCUMENTS, 0, options::threads(None))?;
        let mut extractor = Extractor::new(opts.features.spec()?);
        let mut sets = Vec::new();
        for (place, line) in &sample.lines {
            let mut set = Vec::new();
            let Ok(document) = opts.document.read(line, place) else { continue };
            extractor.set(&document.text, &mut set);
            if opts.least.admits(set.len() as u64) {
                sets.push(set);
            }
        }
        // Equal sets need no key.
        sets.sort_unstable();
        sets.dedup();
        let scale = sample.pairs_for_one().map_or(1.0, |(all, ours)| all as f64 / ours as f64);
        let (mut pairs, mut seen) = (vec![0.0; STEPS + 1], 0);
        for (at, x) in sets.iter().enumerate() {
            for y in &sets[..at] {
                let shared = overlap(x, y) as usize;
                let both = x.len() + y.len() - shared;
                pairs[STEPS * shared / both] += scale;
                seen += u64::from(shared as f64 >= tau * both as f64);
            }
        }
        Ok(Self { pairs, documents: sample.documents as f64, seen, tau })
    }

    /// What bands are expected to do.
    fn expect(&self, bands: Bands) -> Expected {
        let scale = if self.seen == 0 {
            1.0
        } else {
            self.similar().map(|(_, pairs)| pairs).sum::<f64>() / self.seen as f64
        };
        let doubt = DOUBT * scale;
        let (mut similar, mut found, mut candidates) = (doubt, doubt * bands.probability(self.tau), 0.0);
        for (jaccard, pairs) in self.all() {
            let met = pairs * bands.probability(jaccard);
            candidates += met;
            if jaccard >= self.tau {
                similar += pairs;
                found += met;
            }
        }
        let keys = self.documents * bands.bands as f64;
        let cost = keys * bands.rows as f64 * COSTS[0] + keys * COSTS[1] + candidates * COSTS[2];
        Expected { bands, recall: found / similar, candidates, cost }
    }

    fn all(&self) -> impl Iterator<Item = (f64, f64)> {
        let of = |(step, pairs): (usize, &f64)| (step as f64 / STEPS as f64, *pairs);
        self.pairs.iter().enumerate().filter(|(_, pairs)| **pairs > 0.0).map(of)
    }

    fn similar(&self) -> impl Iterator<Item = (f64, f64)> {
        self.all().filter(|(jaccard, _)| *jaccard >= self.tau)
    }

    /// The cheapest bands that find such a share; those of a signature of so many values, where that is given.
    fn best(&self, recall: f64, hashes: Option<usize>) -> Result<Expected> {
        let hashes = hashes.unwrap_or(MOST_HASHES).min(MOST_HASHES);
        let fewest = |rows: usize| {
            let expect = |bands| self.expect(Bands { bands, rows });
            let (mut few, mut enough) = (0, hashes / rows);
            if enough == 0 || expect(enough).recall < recall {
                return None;
            }
            while enough - few > 1 {
                let middle = few + (enough - few) / 2;
                if expect(middle).recall < recall { few = middle } else { enough = middle }
            }
            Some(expect(enough))
        };
        let all = (1..=64).filter_map(fewest);
        all.min_by(|x, y| x.cost.total_cmp(&y.cost)).ok_or_else(|| {
            Error::Usage(format!("--recall {recall} is not reached with {hashes} --hashes; take doc-split, which finds all pairs"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similarities(pairs: &[(usize, f64)], tau: f64) -> Similarities {
        let mut all = vec![0.0; STEPS + 1];
        pairs.iter().for_each(|(step, count)| all[*step] = *count);
        let seen = pairs
            .iter()
            .filter(|(step, _)| *step as f64 >= tau * STEPS as f64)
            .map(|(_, count)| *count as u64)
            .sum();
        Similarities { pairs: all, documents: 1000.0, seen, tau }
    }

    /// Every other choice is tried.
    #[test]
    fn no_choice_is_cheaper() {
        for (recall, tau) in [(0.9, 0.5), (0.95, 0.7), (0.99, 0.8)] {
            let found =
                similarities(&[(10, 400_000.0), (300, 5_000.0), (600, 50.0), (850, 80.0), (990, 300.0)], tau);
            let best = found.best(recall, Some(256)).unwrap();
            assert!(best.recall >= recall, "{best:?}");
            for rows in 1..=64 {
                for bands in 1..=256 / rows {
                    let other = found.expect(Bands { bands, rows });
                    assert!(
                        other.recall < recall || other.cost >= best.cost,
                        "{other:?} is better than {best:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn pairs_that_nobody_has_seen_lie_at_tau() {
        let best = similarities(&[], 0.8).best(0.99, None).unwrap();
        assert!(best.bands.probability(0.8) >= 0.99);
        // Very similar pairs need fewer bands.
        let easy = similarities(&[(990, 10_000.0)], 0.8).best(0.99, None).unwrap();
        assert!(easy.bands.bands < best.bands.bands, "{easy:?} {best:?}");
        assert!(similarities(&[], 0.1).best(0.99, Some(16)).is_err());
    }

    #[test]
    fn a_share_is_between_none_and_all() {
        assert_eq!(parse("0.99"), Ok(0.99));
        for text in ["0", "1", "-0.5", "all", "NaN"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
