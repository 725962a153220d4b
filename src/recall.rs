//! `--recall`: bands and rows by the similarities in a sample of the documents.
//!
//! A pair with Jaccard similarity J is found with the probability 1 - (1 - J^rows)^bands. What share of all pairs at or above
//! tau that finds depends on how similar they are: where most are near 1, few bands do. What it costs depends on the pairs
//! below tau that meet as well. Both are counted here, for every number of rows with the fewest bands that find the share that
//! was asked for, and of those with about the fewest candidates ([`FEWEST`]) the cheapest are taken. Pairs exactly at tau, as
//! many as [`DOUBT`], are added to those of the sample, so that a sample of few pairs is not believed.

use super::options;
use super::sample::Sample;
use std::borrow::Cow;
use std::path::Path;
use twinsplit_core::similarity::Measure;
use twinsplit_core::similarity::tau::Tau;
use twinsplit_core::sketch::bands::Bands;
use twinsplit_core::sketch::minhash::{MOST_HASHES, signature_nanoseconds};
use twinsplit_core::text::Extractor;
use twinsplit_core::threads::in_threads;
use twinsplit_io::error::{Error, Place, Result};
use twinsplit_rows::params::Params;
use twinsplit_rows::plan::{Asked, Origin};
use twinsplit_rows::record::Record;
use twinsplit_rows::record::document::DocumentOpts;
use twinsplit_rows::record::sampled::Sampled;
use twinsplit_rows::stages::minhash::{BandOpts, SignerOpts};
use twinsplit_rows::stages::options::{FeatureOpts, MinFeaturesOpts, SimilarityOpts};
use twinsplit_rows::stages::sample::{self, Drawn};
use twinsplit_rows::stages::signature_check::{Check, CheckOpts};

/// Features that pairs of the sample may share, in all: where texts have much in common, fewer documents are taken.
const SHARED: u64 = 50_000_000;
/// Pairs at tau that are taken to be there beside those of the sample.
const DOUBT: f64 = 3.0;
/// Similarities are counted by thousandths.
const STEPS: usize = 1000;

/// What takes how long, in nanoseconds, besides signatures: a key that is sorted, a candidate that is compared.
const COSTS: [f64; 2] = [100.0, 300.0];
/// How many times the fewest candidates that any bands have those that are taken may have.
const FEWEST: f64 = 1.25;
/// Of the share that may be lost, how much is planned to be: similar documents come in groups, whose pairs are lost
/// together, so that what is lost in the end is spread more widely than by chance.
const AIM: f64 = 0.7;

twinsplit_core::options! {
    struct SampleOpts {}
    with {
        document: DocumentOpts,
        features: FeatureOpts,
        least: MinFeaturesOpts,
        similarity: SimilarityOpts,
    }
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
    /// Features of a document, on average.
    features: f64,
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

/// The documents by which bands are chosen, in the order of their hashes.
pub struct Chosen<'s> {
    lines: Vec<Cow<'s, (Place, Vec<u8>)>>,
    /// How many documents there were to choose from.
    documents: u64,
}

impl<'s> Chosen<'s> {
    /// Those of the rows of `sample-documents-reduce`.
    pub fn of_rows(rows: &[u8], documents: u64, from: &Path) -> Result<Self> {
        let mut lines = Vec::new();
        for (number, row) in (1..).zip(rows.split(|byte| *byte == b'\n').filter(|row| !row.is_empty())) {
            let place = Place { file: from.to_string_lossy().into(), line: number, ..Place::default() };
            let sampled = Sampled::decode(row).map_err(|error| Error::Record {
                stage: "recall",
                place: place.clone(),
                error,
            })?;
            lines.push(Cow::Owned((place, sampled.line.into_owned())));
        }
        Ok(Self { lines, documents })
    }

    /// Those of a sample with the smallest hashes.
    fn of(sample: &'s Sample, document: &DocumentOpts) -> Self {
        let hash = |(place, line): &(Place, Vec<u8>)| {
            document.read(line, place).map_or(u64::MAX, |document| sample::hash(&document.id))
        };
        let mut lines: Vec<_> = sample.lines.iter().map(|line| (hash(line), line)).collect();
        // Of equal hashes the smaller id comes first, as it does in the sample.
        lines.sort_by_key(|line| line.0);
        let mut drawn = Drawn::default();
        let lines = lines.into_iter().map(|(_, line)| Cow::Borrowed(line));
        Self { lines: lines.take_while(|line| drawn.takes(&line.1)).collect(), documents: sample.documents }
    }
}

/// Gives the rows of `sample-documents-reduce` of documents that lie in a cluster's file system.
pub type SampleThere<'r> = dyn Fn(&Asked) -> Result<Chosen<'static>> + 'r;

/// Sets bands, rows and the values that they need. `there` samples what a cluster's jobs read.
pub fn choose(recall: f64, asked: &mut Asked, there: Option<&SampleThere<'_>>) -> Result<()> {
    if let Some(chain) = asked.chain.as_deref().filter(|chain| *chain != "minhash") {
        return Err(Error::Usage(format!("--recall chooses the bands of minhash, and the chain is {chain}")));
    }
    let params = &asked.given.params;
    if let Some(name) = ["bands", "rows"].into_iter().find(|name| params.get(name).is_some()) {
        return Err(Error::Usage(format!(
            "--recall chooses --bands and --rows; it cannot be given with --{name}"
        )));
    }
    let opts: SampleOpts = params.parse()?;
    let similarity = opts.similarity.0;
    let tau = similarity.tau().filter(|_| similarity.measure() == Measure::Jaccard).ok_or_else(|| {
        Error::Usage("--recall is reckoned for --similarity jaccard, which signatures estimate; give --bands and --rows".to_owned())
    })?;
    let tau = share(tau);
    if asked.inputs.is_empty() {
        return Err(Error::Usage(
            "--recall chooses bands by a sample of the documents, and none are named: name them with --input, or give --bands and --rows"
                .to_owned(),
        ));
    }
    let sample;
    let chosen = match there {
        Some(there) => there(asked)?,
        None => {
            let inputs = twinsplit_io::document_files(&asked.inputs)?;
            super::run::refuse_streams(&inputs, "--recall takes a sample of it first")?;
            let threads = options::threads(None);
            sample = Sample::take("recall", &inputs, &opts.document, sample::DOCUMENTS, 0, threads)?;
            Chosen::of(&sample, &opts.document)
        }
    };
    let found = Similarities::of(&opts, &chosen, chosen.documents, tau)?;
    let given = &mut asked.given;
    let best = found.best(recall, given.params.get("hashes").and_then(|hashes| hashes.parse().ok()))?;
    asked.notes.push(format!(
        "--recall {recall}: {} bands of {} rows, by {} pairs at or above tau in a sample; expected are a recall of {:.4} and {:.0} \
         candidates",
        best.bands.bands, best.bands.rows, found.seen, best.recall, best.candidates
    ));
    for (name, value) in [("bands", best.bands.bands), ("rows", best.bands.rows)] {
        given.set(name, value.to_string(), Origin::Follows("recall"));
    }
    // Estimates of similarities rest on all values of a signature, and not on those of bands alone.
    let of_bands = (best.bands.bands * best.bands.rows) as u64;
    let hashes = match given.params.parse::<CheckOpts>()?.check {
        Check::Exact => of_bands,
        _ => of_bands.max(given.params.number("hashes")),
    };
    given.set_missing("hashes", hashes.to_string(), Origin::Follows("recall"));
    asked.recall = Some(recall);
    Ok(())
}

/// What the bands of a chain are expected to do with a collection.
#[derive(Clone, Copy, Debug)]
pub struct Forecast {
    /// The share of the pairs at or above tau that they find.
    pub recall: f64,
    /// The pairs that they look at, each once.
    pub candidates: f64,
    /// Pairs at or above tau that the sample has.
    pub seen: u64,
}

/// What bands are expected to do with a collection of so many documents, by a sample of it; nothing where signatures do not
/// estimate the similarity that is asked for.
pub fn forecast(params: &Params, sample: &Sample, documents: u64) -> Result<Option<Forecast>> {
    let (opts, bands, signer): (SampleOpts, BandOpts, SignerOpts) =
        (params.parse()?, params.parse()?, params.parse()?);
    let similarity = opts.similarity.0;
    let Some(tau) = similarity.tau().filter(|_| similarity.measure() == Measure::Jaccard) else {
        return Ok(None);
    };
    let found = Similarities::of(&opts, &Chosen::of(sample, &opts.document), documents, share(tau))?;
    // Of a sample without such pairs nothing is known but what they are at worst.
    let doubt = if found.seen == 0 { DOUBT } else { 0.0 };
    let Expected { recall, candidates, .. } = found.expect(bands.bands(signer.hashes)?, doubt);
    Ok(Some(Forecast { recall, candidates, seen: found.seen }))
}

fn share(tau: Tau) -> f64 {
    f64::from(tau.billionths()) / 1e9
}

impl Similarities {
    /// Those of a collection of so many documents, by a sample of it.
    fn of(opts: &SampleOpts, chosen: &Chosen<'_>, documents: u64, tau: f64) -> Result<Self> {
        let lines = &chosen.lines;
        let (threads, spec) = (options::threads(None), opts.features.spec()?);
        let sets = in_threads(threads, threads, |thread| {
            let (mut extractor, mut sets) = (Extractor::new(spec.clone()), Vec::new());
            for (at, line) in lines.iter().enumerate().skip(thread).step_by(threads) {
                let (place, line) = line.as_ref();
                let Ok(document) = opts.document.read(line, place) else { continue };
                let mut set = Vec::new();
                extractor.set(&document.text, &mut set);
                if opts.least.admits(set.len() as u64) {
                    sets.push((at, set));
                }
            }
            Ok::<_, Error>(sets)
        })?;
        let mut sets: Vec<(usize, Vec<u64>)> = sets.into_iter().flatten().collect();
        // Equal sets need no key.
        sets.sort_unstable_by(|x, y| x.1.cmp(&y.1));
        sets.dedup_by(|x, y| x.1 == y.1);
        sets.sort_unstable();
        let sets: Vec<_> = sets.into_iter().map(|(_, set)| set).collect();
        let found = counted(&sets, SHARED);
        let two_of = |n: u64| n as f64 * n.saturating_sub(1) as f64;
        // Of all lines as many are in it as there are in the sample for each set of it.
        let lines = lines.len() as u64 * found.sets as u64 / sets.len().max(1) as u64;
        let scale = if lines < 2 { 1.0 } else { two_of(documents) / two_of(lines) };
        let (mut pairs, mut seen) = (vec![0.0; STEPS + 1], 0);
        for (shared, both) in found.pairs {
            pairs[STEPS * shared as usize / both as usize] += scale;
            seen += u64::from(f64::from(shared) >= tau * f64::from(both));
        }
        let features = sets.iter().map(Vec::len).sum::<usize>() as f64 / sets.len().max(1) as f64;
        Ok(Self { pairs, documents: documents as f64, features, seen, tau })
    }

    /// What bands are expected to do, with so many pairs at tau beside those of the sample.
    fn expect(&self, bands: Bands, doubt: f64) -> Expected {
        let scale = if self.seen == 0 {
            1.0
        } else {
            self.similar().map(|(_, pairs)| pairs).sum::<f64>() / self.seen as f64
        };
        let doubt = doubt * scale;
        let (mut similar, mut found, mut candidates) = (doubt, doubt * bands.probability(self.tau), 0.0);
        for (jaccard, pairs) in self.all() {
            let met = pairs * bands.probability(jaccard);
            candidates += met;
            if jaccard >= self.tau {
                similar += pairs;
                found += met;
            }
        }
        let (keys, values) = (self.documents * bands.bands as f64, (bands.bands * bands.rows) as f64);
        let signatures = self.documents * signature_nanoseconds(values, self.features);
        let cost = signatures + keys * COSTS[0] + candidates * COSTS[1];
        Expected { bands, recall: found / similar, candidates, cost }
    }

    fn all(&self) -> impl Iterator<Item = (f64, f64)> {
        let of = |(step, pairs): (usize, &f64)| (step as f64 / STEPS as f64, *pairs);
        self.pairs.iter().enumerate().filter(|(_, pairs)| **pairs > 0.0).map(of)
    }

    fn similar(&self) -> impl Iterator<Item = (f64, f64)> {
        self.all().filter(|(jaccard, _)| *jaccard >= self.tau)
    }

    /// The cheapest bands that find such a share with about the fewest candidates; those of a signature of so many values, where that is given.
    fn best(&self, wanted: f64, hashes: Option<usize>) -> Result<Expected> {
        let recall = 1.0 - AIM * (1.0 - wanted);
        let hashes = hashes.unwrap_or(MOST_HASHES).min(MOST_HASHES);
        let fewest = |rows: usize| {
            let expect = |bands| self.expect(Bands { bands, rows }, DOUBT);
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
        let all: Vec<_> = (1..=64).filter_map(fewest).collect();
        let fewest = all.iter().map(|expected| expected.candidates).fold(f64::INFINITY, f64::min);
        let few = all.into_iter().filter(|expected| expected.candidates <= FEWEST * fewest);
        few.min_by(|x, y| x.cost.total_cmp(&y.cost)).ok_or_else(|| {
            Error::Usage(format!("--recall {wanted} is not reached with {hashes} --hashes; take doc-split, which finds all pairs"))
        })
    }
}

/// What pairs of sets share.
struct Counted {
    /// The first so many sets.
    sets: usize,
    /// Of those that share anything, how much, and how much both have together.
    pairs: Vec<(u32, u32)>,
}

/// Counts what each two of the first sets share, by the sets that have a feature, until that is as much in all as `most`.
fn counted(sets: &[Vec<u64>], most: u64) -> Counted {
    let mut postings: Vec<(u64, u32)> =
        (0..).zip(sets).flat_map(|(at, set)| set.iter().map(move |feature| (*feature, at))).collect();
    postings.sort_unstable();
    // A feature of one set is shared by nobody.
    let mut work = vec![0u64; sets.len()];
    let mut lists: Vec<&[(u64, u32)]> = Vec::new();
    let mut features_of: Vec<Vec<u32>> = vec![Vec::new(); sets.len()];
    for list in postings.chunk_by(|x, y| x.0 == y.0).filter(|list| list.len() > 1) {
        for (earlier, (_, at)) in (0..).zip(list) {
            work[*at as usize] += earlier;
            features_of[*at as usize].push(lists.len() as u32);
        }
        lists.push(list);
    }
    let all = work.iter().scan(0u64, |sum, work| {
        *sum += work;
        Some(*sum)
    });
    let enough = all.take_while(|sum| *sum <= most).count();
    let (mut shared, mut met, mut pairs) = (vec![0u32; sets.len()], Vec::new(), Vec::new());
    for (at, features) in features_of[..enough].iter().enumerate() {
        for list in features {
            for (_, other) in lists[*list as usize].iter().take_while(|(_, other)| (*other as usize) < at) {
                let count = &mut shared[*other as usize];
                if *count == 0 {
                    met.push(*other as usize);
                }
                *count += 1;
            }
        }
        for other in met.drain(..) {
            let overlap = std::mem::take(&mut shared[other]);
            pairs.push((overlap, (sets[at].len() + sets[other].len()) as u32 - overlap));
        }
    }
    Counted { sets: enough, pairs }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twinsplit_core::hash;

    fn similarities(pairs: &[(usize, f64)], tau: f64) -> Similarities {
        let mut all = vec![0.0; STEPS + 1];
        pairs.iter().for_each(|(step, count)| all[*step] = *count);
        let seen = pairs
            .iter()
            .filter(|(step, _)| *step as f64 >= tau * STEPS as f64)
            .map(|(_, count)| *count as u64)
            .sum();
        Similarities { pairs: all, documents: 1000.0, features: 150.0, seen, tau }
    }

    /// Every other choice is tried.
    #[test]
    fn no_choice_is_cheaper() {
        for (recall, tau) in [(0.9, 0.5), (0.95, 0.7), (0.99, 0.8)] {
            let found =
                similarities(&[(10, 400_000.0), (300, 5_000.0), (600, 50.0), (850, 80.0), (990, 300.0)], tau);
            let best = found.best(recall, Some(256)).unwrap();
            let others = (1..=64).flat_map(|rows| (1..=256 / rows).map(move |bands| Bands { bands, rows }));
            let aim = 1.0 - AIM * (1.0 - recall);
            let reach = others.map(|bands| found.expect(bands, DOUBT)).filter(|other| other.recall >= aim);
            let reach: Vec<Expected> = reach.collect();
            let fewest = reach.iter().map(|other| other.candidates).fold(f64::INFINITY, f64::min);
            assert!(best.recall >= recall && best.candidates <= FEWEST * fewest, "{best:?}, fewest {fewest}");
            for other in reach.iter().filter(|other| other.candidates <= FEWEST * fewest) {
                assert!(other.cost >= best.cost, "{other:?} is better than {best:?}");
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
    fn what_sets_share_is_counted() {
        let mut state = 7u64;
        let mut draw = |most: u64| {
            state = hash::mix(state);
            state % most
        };
        let sets: Vec<Vec<u64>> = (0..60)
            .map(|_| {
                let mut set: Vec<u64> = (0..1 + draw(20)).map(|_| draw(50)).collect();
                set.sort_unstable();
                set.dedup();
                set
            })
            .collect();
        for most in [u64::MAX, 1000] {
            let mut found = counted(&sets, most);
            let (mut expected, mut work) = (Vec::new(), 0);
            for (at, x) in sets.iter().enumerate().take(found.sets) {
                for y in &sets[..at] {
                    let shared = twinsplit_core::join::overlap(x, y) as u32;
                    work += u64::from(shared);
                    expected.extend((shared > 0).then(|| (shared, (x.len() + y.len()) as u32 - shared)));
                }
            }
            found.pairs.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found.pairs, expected);
            assert!(work <= most && (found.sets == sets.len()) == (most == u64::MAX), "{work}");
        }
    }

    #[test]
    fn a_share_is_between_none_and_all() {
        assert_eq!(parse("0.99"), Ok(0.99));
        for text in ["0", "1", "-0.5", "all", "NaN"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
