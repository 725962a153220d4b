//! The local engine's SimHash: fingerprints are made while documents are read, and joined in memory ([`twinsplit_hamming::join`]), or in
//! temporary files where memory is too little ([`twinsplit_hamming::Sorter`]).
//!
//! Of a document its fingerprint and its distance stay. Documents with both equal are
//! a group, as those of equal sets are; the different fingerprints are joined once, at the greatest distance of all, and a pair
//! is one where it is within the distances of both. Where clusters alone are asked for, most pairs are left out: of components what is
//! connected already ([`hamming::connect`]), and stars are made inside of components, each document held against the centres before it.

use super::documents::Documents;
use super::groups::Groups;
use super::join::{Found, Pairs};
use super::named;
use super::sorter::{pack, unpack};
use crate::memory::Budget;
use crate::progress::{Progress, Unit};
use std::convert::Infallible;
use std::path::Path;
use twinsplit_core::cluster::union_find::UnionFind;
use twinsplit_core::join::kernel::JoinPair;
use twinsplit_core::sketch::simhash::{Bits, Fingerprint};
use twinsplit_core::sketch::{Idf, Sketcher};
use twinsplit_core::text::Pieces;
use twinsplit_hamming::{
    self as hamming, DynamicIndex, IndexOptions, JoinOptions, Sorter, SorterOptions, plan,
};
use twinsplit_io::error::{Error, FieldError, Result};
use twinsplit_rows::stage::Counters;
use twinsplit_rows::stages::hamming::{FINGERPRINTS, FINGERPRINTS_COMPARED};
use twinsplit_rows::stages::simhash::{DistanceOpts, FingerprintOpts};

/// Numbers of a document's column: whether it has a fingerprint, with its distance, and the two halves of that.
const WIDTH: usize = 3;

/// Pairs that are handed over at a time.
const BATCH: usize = 4096;

/// Makes the fingerprints of a thread's documents.
pub struct Printer {
    sketcher: Sketcher,
    distances: DistanceOpts,
}

impl Printer {
    /// One with these options and frequencies.
    pub fn new(opts: &FingerprintOpts, idf: Idf) -> Result<Self> {
        Ok(Self { sketcher: opts.sketch.sketcher(idf)?, distances: opts.distance.clone() })
    }

    /// Appends what is kept of a document, and says whether it has a fingerprint.
    pub fn of(&mut self, text: &str, out: &mut Vec<u64>) -> bool {
        let fingerprint = self.sketcher.fingerprint(text);
        let distance = fingerprint.map_or(0, |_| self.distances.distance.of_text(text));
        keep(fingerprint, distance, out)
    }

    /// The same of a long text that is taken piece by piece: `parts` hands its parts over, and gives how many characters it has.
    pub fn of_parts(
        &mut self,
        parts: impl FnOnce(&mut dyn FnMut(&str)) -> Result<u64, FieldError>,
        out: &mut Vec<u64>,
    ) -> Result<bool, FieldError> {
        let (fingerprint, characters) = self.sketcher.fingerprint_of_pieces(|extractor, visit| {
            let mut pieces = Pieces::new(extractor);
            let mut visit = |feature| {
                visit(feature);
                Ok::<(), Infallible>(())
            };
            let characters = parts(&mut |part| {
                let Ok(()) = pieces.push(part, &mut visit);
            });
            let Ok(()) = pieces.finish(&mut visit);
            characters
        });
        Ok(keep(fingerprint, self.distances.distance.of(characters?), out))
    }

    /// Whether a long text is taken piece by piece; else bytes for a byte of its line that are held while its fingerprint is made.
    pub fn held_of_a_line(&self) -> Option<usize> {
        (!self.sketcher.adds_up()).then(|| self.sketcher.bytes_for_a_byte())
    }

    /// Appends what stands for a document without a fingerprint.
    pub fn none(out: &mut Vec<u64>) {
        out.extend([0; WIDTH]);
    }
}

/// Appends a fingerprint and its distance, where there is one.
fn keep(fingerprint: Option<Fingerprint>, distance: u32, out: &mut Vec<u64>) -> bool {
    match fingerprint {
        Some(Fingerprint { value, .. }) => {
            out.extend([1 + u64::from(distance), (value >> 64) as u64, value as u64])
        }
        None => Printer::none(out),
    }
    fingerprint.is_some()
}

/// The fingerprints of all documents.
pub struct Fingerprints<'a> {
    documents: &'a Documents,
    bits: Bits,
    /// The greatest distance of a pair.
    most: u32,
}

impl<'a> Fingerprints<'a> {
    /// Those that were made while documents were read.
    pub fn of(documents: &'a Documents, opts: &FingerprintOpts) -> Self {
        Self { documents, bits: opts.sketch.bits, most: opts.distance.distance.most() }
    }

    /// That of a document by its number, and the greatest distance of a pair that it is in.
    fn get(&self, number: u32) -> Option<(u128, u32)> {
        let place = self.documents.order[number as usize] as usize;
        let [distance, high, low] = *self.documents.fingerprints.get(place * WIDTH..)?.first_chunk()?;
        let value = u128::from(high) << 64 | u128::from(low);
        Some((value, distance.checked_sub(1)? as u32))
    }

    /// In how many bits two documents differ, and whether a pair may.
    pub fn distance(&self, x: u32, y: u32) -> (u32, bool) {
        let ((a, most_a), (b, most_b)) = self.get(x).zip(self.get(y)).unwrap_or(((0, 0), (u128::MAX, 0)));
        let distance = (a ^ b).count_ones();
        (distance, distance <= most_a.min(most_b))
    }

    /// The documents with a fingerprint, in groups of those with the same one and the same distance.
    pub fn groups(&self, (budget, work): (&Budget, &Path), progress: &Progress) -> Result<Groups> {
        let documents = self.documents.count() as u32;
        progress.start("equal-fingerprints", "grouping", Unit::Sets, documents.into());
        let mut numbers: Vec<u32> = (0..documents).filter(|number| self.get(*number).is_some()).collect();
        numbers.sort_unstable_by_key(|number| (self.get(*number), *number));
        Groups::of_equal(numbers, |x, y| self.get(x) == self.get(y), (budget, work))
    }

    /// Joins the groups, hands their pairs to `pairs`, and gives counters.
    pub fn join(&self, groups: &Groups, place: Joining<'_>, pairs: &mut Pairs<'_, '_>) -> Result<Counters> {
        let connects = pairs.found() == Found::Components;
        let counts = self.joined(groups, place, connects, |found| pairs.take(found))?;
        Ok(named(&counts))
    }

    /// By group the label of its star; `ranks` are by group, the lowest the first in keep order. Gives besides what was counted. `None` where
    /// an index of centres is not possible in memory, or at this distance.
    pub fn stars(
        &self,
        groups: &Groups,
        ranks: &[u32],
        place: Joining<'_>,
    ) -> Result<Option<(Vec<u32>, Counters)>> {
        let memory = (place.budget.spare() / 2) as u64;
        let options = IndexOptions { distance: self.most, memory, ..IndexOptions::default() };
        let has_plan = match self.bits {
            Bits::B64 => plan::<u64>(ranks.len(), self.most, None, memory).is_ok(),
            Bits::B128 => plan::<u128>(ranks.len(), self.most, None, memory).is_ok(),
        };
        if !has_plan {
            return Ok(None);
        }
        let mut forest = UnionFind::new(groups.count());
        let counts = self.joined(groups, place, true, |found| {
            found.iter().for_each(|pair| {
                forest.union(pair.a, pair.b);
            });
            Ok(())
        })?;
        // In keep order, component by component.
        let labels = forest.into_labels().into_iter();
        let mut order: Vec<u64> = labels.zip(ranks).map(|(label, rank)| pack(label, *rank)).collect();
        order.sort_unstable();
        let mut of_rank = vec![0; ranks.len()];
        (0..).zip(ranks).for_each(|(group, rank)| of_rank[*rank as usize] = group);
        let fingerprint = |rank: u32| self.get(groups.members(of_rank[rank as usize])[0]).unwrap_or_default();
        let mut centres = ranks.to_vec();
        let mut joined = 0;
        for component in order.chunk_by(|x, y| unpack(*x).0 == unpack(*y).0).filter(|all| all.len() > 1) {
            let component: Vec<u32> = component.iter().map(|row| unpack(*row).1).collect();
            let mut join = |rank: u32, centre| {
                centres[of_rank[rank as usize] as usize] = centre;
                joined += 1;
            };
            match self.bits {
                Bits::B64 => stars_of(
                    &component,
                    options,
                    |rank| {
                        let (value, most) = fingerprint(rank);
                        (value as u64, most)
                    },
                    &mut join,
                )?,
                Bits::B128 => stars_of(&component, options, fingerprint, &mut join)?,
            }
        }
        let mut counters = named(&counts);
        counters.insert("joined_pairs".to_owned(), joined);
        Ok(Some((centres, counters)))
    }

    /// Hands the pairs of groups to `take`, or as many as connect all that are connected; gives what that took.
    fn joined(
        &self,
        groups: &Groups,
        place: Joining<'_>,
        connects: bool,
        take: impl FnMut(&[JoinPair]) -> Result<()> + Send,
    ) -> Result<[(&'static str, u64); 3]> {
        place.progress.start("hamming-pairs", "joining", Unit::Sets, groups.count().into());
        let all = || (0..groups.count()).filter_map(|group| self.get(groups.members(group)[0]));
        let distances: Vec<u32> = all().map(|(_, distance)| distance).collect();
        let join = Join { distances, most: self.most, connects, place };
        let (compared, spilled) = match self.bits {
            Bits::B64 => join.run(all().map(|(value, _)| value as u64), take)?,
            Bits::B128 => join.run(all().map(|(value, _)| value), take)?,
        };
        Ok([
            (FINGERPRINTS, groups.count().into()),
            (FINGERPRINTS_COMPARED, compared),
            ("spilled_bytes", spilled),
        ])
    }
}

/// Hands those of a component, by rank in keep order, to `join` that join a centre, and the centre.
fn stars_of<F: hamming::Fingerprint>(
    component: &[u32],
    options: IndexOptions,
    fingerprint: impl Fn(u32) -> (F, u32),
    join: &mut impl FnMut(u32, u32),
) -> Result<()> {
    let mut centres = DynamicIndex::new(options);
    for rank in component {
        let (value, most) = fingerprint(*rank);
        let within = |(id, distance): (u64, u32)| {
            let centre = id as u32;
            (distance <= most.min(fingerprint(centre).1)).then_some(centre)
        };
        match centres.search(value).into_iter().find_map(within) {
            Some(centre) => join(*rank, centre),
            None => centres.insert((*rank).into(), value)?,
        }
    }
    Ok(())
}

/// What a join may use.
#[derive(Clone, Copy)]
pub struct Joining<'p> {
    /// Threads.
    pub threads: usize,
    /// What may be held in memory.
    pub budget: &'p Budget,
    /// The folder of temporary files.
    pub work: &'p Path,
    /// Where it says how far it is.
    pub progress: &'p Progress,
}

struct Join<'p> {
    /// By group.
    distances: Vec<u32>,
    most: u32,
    /// Pairs are enough that connect all.
    connects: bool,
    place: Joining<'p>,
}

/// The least memory of a join, beside the fingerprints where these are in it.
const LEAST: usize = 1 << 20;

impl Join<'_> {
    /// Joins fingerprints, one for each distance; gives how many were compared, and how many bytes went to temporary files.
    fn run<F: hamming::Fingerprint>(
        &self,
        mut values: impl Iterator<Item = F>,
        mut take: impl FnMut(&[JoinPair]) -> Result<()> + Send,
    ) -> Result<(u64, u64)> {
        let Joining { threads, budget, work, .. } = self.place;
        let count = self.distances.len();
        let distances = 4 * count;
        // The fingerprints, and the same collapsed with their rows; what connects them, with a number and a parent of each.
        let connects = if self.connects { count * 8 } else { 0 };
        let all = distances + count * (3 * size_of::<F>() + 12) + connects;
        let spills = budget.enough_for(all + LEAST).is_some();
        let held = if spills { distances } else { all };
        if let Some(enough) = budget.enough_for(held + LEAST) {
            return Err(Error::Limit(format!(
                "hamming-pairs: the distances of {count} fingerprints take {} MB beside their documents while they are joined; give \
                 at least --memory {}, or take --engine pipes",
                held.div_ceil(1 << 20),
                enough.div_ceil(1 << 20)
            )));
        }
        budget.hold(held);
        let memory = (budget.spare() / 2).max(LEAST);
        let distance = self.most;
        let most = |row: u32| self.distances[row as usize];
        let mut found = Vec::with_capacity(BATCH);
        let visit = |a, b, distance| {
            if distance <= most(a).min(most(b)) {
                found.push(JoinPair { a, b, overlap: distance });
            }
            if found.len() == BATCH {
                take(&found)?;
                found.clear();
            }
            Ok(())
        };
        let done = if spills {
            let mut sorter = Sorter::new(SorterOptions { folder: work.to_owned(), memory, threads });
            let pushed = values.try_for_each(|value| sorter.push(value));
            pushed.and_then(|()| sorter.finish()).and_then(|sorted| {
                let compared = if self.connects {
                    sorted.connect(distance, most, visit)?
                } else {
                    sorted.compare(distance, visit)?
                };
                Ok((compared, sorted.spilled()))
            })
        } else {
            let values: Vec<F> = values.collect();
            let options = JoinOptions { distance, threads, memory };
            let compared = if self.connects {
                hamming::connect(&values, options, most, visit)
            } else {
                hamming::compare(&values, options, visit)
            };
            compared.map(|compared| (compared, 0))
        };
        budget.release(held);
        let counts = done?;
        take(&found)?;
        Ok(counts)
    }
}
