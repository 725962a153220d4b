//! When two documents are alike: the options of fingerprints, and those of sets.

use crate::args::{self, OptionsArgs};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args};
use std::collections::BTreeSet;
use twinsplit_core::options::{Field, Options};
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::stages::options::{FeatureOpts, MinFeaturesOpts, QuerySimilarityOpts};
use twinsplit_rows::stages::signature_check::{Check, CheckOpts};
use twinsplit_rows::stages::simhash::FingerprintOpts;
use twinsplit_serve::{Fingerprinting, Sketched, Sketching};

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Opts {
    /// What documents are compared by
    #[arg(long, value_parser = args::choice::<Chain>(), default_value = "simhash", value_name = "CHAIN")]
    pub(super) chain: Chain,
    #[command(flatten)]
    fingerprint: OptionsArgs<FingerprintOpts>,
    #[command(flatten)]
    check: OptionsArgs<CheckOpts>,
    #[command(flatten)]
    similarity: OptionsArgs<QuerySimilarityOpts>,
}

twinsplit_core::choice! {
    /// What documents are compared by.
    pub(super) enum Chain {
        /// SimHash fingerprints, with a second stage where --check names one
        SimHash = "simhash",
        /// Sets of features: exact by --similarity and --tau; all features are kept in memory
        DocSplit = "doc-split",
    }
}

/// What a folder is made with.
type MadeWith = Vec<(&'static str, String)>;

impl Opts {
    /// How texts become documents.
    ///
    /// # Errors
    /// An option that the chain does not use, or that has no meaning for a service.
    pub fn sketching(&self, matches: &ArgMatches) -> Result<Sketching> {
        self.refuse_unused(matches)?;
        let sketch = &self.fingerprint.0.sketch;
        let sketched = match self.chain {
            Chain::SimHash => Sketched::Fingerprints(self.fingerprinting()?),
            Chain::DocSplit => Sketched::Sets(self.similarity.0.0),
        };
        Ok(Sketching { features: sketch.features.spec()?, least: sketch.least.min_features, sketched })
    }

    /// Refuses options of the command line that say nothing of what the chain does.
    fn refuse_unused(&self, matches: &ArgMatches) -> Result<()> {
        let names =
            |all: Vec<Field>| -> BTreeSet<String> { all.into_iter().map(|field| field.name).collect() };
        let shared = names(FeatureOpts::fields().into_iter().chain(MinFeaturesOpts::fields()).collect());
        let (unused, other) = match self.chain {
            Chain::SimHash => (QuerySimilarityOpts::fields(), Chain::DocSplit),
            Chain::DocSplit => {
                (FingerprintOpts::fields().into_iter().chain(CheckOpts::fields()).collect(), Chain::SimHash)
            }
        };
        let unused = names(unused);
        let is_given = |name: &&String| matches.value_source(name) == Some(ValueSource::CommandLine);
        let Some(name) = unused.difference(&shared).find(is_given) else { return Ok(()) };
        Err(Error::Usage(format!(
            "--chain {} does not use --{name}, and {} does; take that chain, or leave it out",
            self.chain.name(),
            other.name()
        )))
    }

    fn fingerprinting(&self) -> Result<Fingerprinting> {
        let FingerprintOpts { sketch, distance } = &self.fingerprint.0;
        let check = match self.check.0.check {
            Check::Exact => None,
            Check::Texts(check) => Some(check),
            Check::Signature | Check::None => {
                return Err(Error::Usage(
                    "serve compares fingerprints: --check names what is compared of near texts, jaccard:T, cosine:T or edit:T".to_owned(),
                ));
            }
        };
        let distances = distance.distance.clone();
        if distances.most() > twinsplit_hamming::MOST_DISTANCE {
            return Err(Error::Usage(format!(
                "--distance {distances}: serve has an index, of distances up to {}",
                twinsplit_hamming::MOST_DISTANCE
            )));
        }
        let idf = sketch.idf()?.ok_or_else(|| {
            Error::Usage(
                "serve: these --weights need document frequencies: give --idf-table FILE, which twinsplit idf makes, or --weights-idf jieba"
                    .to_owned(),
            )
        })?;
        // What sets alone have is refused here.
        sketch.sketcher(idf.clone())?;
        Ok(Fingerprinting {
            weights: sketch.weights,
            idf,
            hash: sketch.hash,
            bits: sketch.bits,
            tie: sketch.tie,
            distances,
            check,
        })
    }

    /// What verdicts depend on: a folder that was made with other values is refused.
    ///
    /// # Errors
    /// A file that is named cannot be read.
    pub fn made_with(&self) -> Result<MadeWith> {
        let FingerprintOpts { sketch, distance } = &self.fingerprint.0;
        let mut made_with = Vec::new();
        if self.chain != Chain::SimHash {
            made_with.push(("chain", self.chain.name().to_owned()));
        }
        made_with.extend(sketch.features.parameters()?);
        made_with.push(("min-features", sketch.least.min_features.to_string()));
        if self.chain == Chain::DocSplit {
            let similarity = self.similarity.0.0;
            made_with.extend([
                ("similarity", similarity.measure().name().to_owned()),
                ("tau", similarity.threshold()),
            ]);
            return Ok(made_with);
        }
        made_with.extend([
            ("weights", sketch.weights.name().to_owned()),
            ("weights-idf", sketch.weights_idf.name().to_owned()),
            ("bits", sketch.bits.name().to_owned()),
            ("tie", sketch.tie.name().to_owned()),
            ("hash", sketch.hash.name().to_owned()),
            ("distance", distance.distance.to_string()),
            ("check", self.check.0.texts().map_or("exact".to_owned(), |check| check.to_string())),
        ]);
        if let Some(path) = sketch.table.idf_table.as_deref().filter(|_| sketch.weights.need_idf()) {
            made_with.push(("idf-table", twinsplit_io::contents(path)?.xxh3));
        }
        Ok(made_with)
    }
}
