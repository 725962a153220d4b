//! From what a chain makes of a sample to what it makes of the collection.
//!
//! A stage declares what its rows grow with ([`Growth`]), and the sample says how many there are. In a uniform sample of `n` of `N`
//! documents, what belongs to single documents is `n/N` of the whole, and what belongs to pairs is `n(n-1)/N(N-1)` of it.
//! The four quarters of the sample tell the rest: of rows of both kinds, how many are of pairs, for what belongs to documents is divided
//! among the quarters without a rest, and they have a quarter of the pairs together; of different things, how fast they grow less
//! than documents (Heaps' law, heaps1978); and how much chance there is in a sample, by how unlike they are.

use std::ops::{Add, AddAssign};
pub use twinsplit_rows::stage::growth::Growth;

/// How many parts the sample is divided into, to see how what is counted grows.
pub const PARTS: usize = 4;

/// Student's t for 19 of 20 intervals by four samples.
const T: f64 = 3.18;

/// No sample knows pairs better than that, whatever its quarters say: a few large clusters hold many of them, and each quarter has its
/// share of these.
const OF_PAIRS: f64 = 0.3;

/// How much lower the power of different things may be than it was among a few documents: in more of them it falls.
const FLATTER: f64 = 0.25;

/// With which further power of documents pairs may grow beyond those that were read.
const MORE: f64 = 0.25;

/// A number that is not known, and between which two numbers it is expected.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range {
    /// The least.
    pub low: f64,
    /// The likely one.
    pub mid: f64,
    /// The most.
    pub high: f64,
}

impl Range {
    /// A number that is known.
    pub fn exactly(number: f64) -> Self {
        Self { low: number, mid: number, high: number }
    }

    /// A number within a factor of `1 + error`.
    fn within(number: f64, error: f64) -> Self {
        Self { low: number / (1.0 + error), mid: number, high: number * (1.0 + error) }
    }

    /// So many times the number.
    pub fn times(self, factor: f64) -> Self {
        Self { low: self.low * factor, mid: self.mid * factor, high: self.high * factor }
    }

    /// The product of two numbers that are not known.
    fn by(self, other: Self) -> Self {
        Self { low: self.low * other.low, mid: self.mid * other.mid, high: self.high * other.high }
    }

    /// The same, and what else it may be.
    pub fn or(self, other: f64) -> Self {
        Self { low: self.low.min(other), high: self.high.max(other), ..self }
    }

    /// The number where it is no more than another one, which it is not known to be.
    fn at_most(self, most: Self) -> Self {
        let [low, mid, high] =
            [(self.low, most.low), (self.mid, most.mid), (self.high, most.high)].map(|(x, y)| x.min(y));
        Self { low, mid, high }
    }

    /// Most times that the number is expected to be more or less than the likely one; nothing where it may be none at all.
    pub fn factor(self) -> Option<f64> {
        let factor = (self.high / self.mid).max(self.mid / self.low);
        (self.high == 0.0).then_some(1.0).or(factor.is_finite().then_some(factor))
    }
}

impl Add for Range {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { low: self.low + other.low, mid: self.mid + other.mid, high: self.high + other.high }
    }
}

impl AddAssign for Range {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl std::iter::Sum for Range {
    fn sum<I: Iterator<Item = Self>>(ranges: I) -> Self {
        ranges.fold(Self::default(), Add::add)
    }
}

/// A counter in the sample and in its quarters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counted {
    /// In the sample.
    pub whole: u64,
    /// In each quarter.
    pub parts: [u64; PARTS],
}

impl Counted {
    fn whole(self) -> f64 {
        self.whole as f64
    }

    fn of_parts(self) -> f64 {
        self.parts.iter().sum::<u64>() as f64
    }

    /// With which power of the number of documents it grows between a quarter and the sample: 1 of what belongs to documents, 2 of
    /// what belongs to pairs.
    fn power(self) -> f64 {
        match self.of_parts() {
            0.0 => 2.0,
            parts => 1.0 + (self.whole() / parts).log(PARTS as f64),
        }
    }

    /// What of it belongs to pairs, where the rest belongs to documents.
    fn of_pairs(self) -> f64 {
        let excess = (self.whole() - self.of_parts()) * PARTS as f64 / (PARTS - 1) as f64;
        excess.clamp(0.0, self.whole())
    }

    /// The error of chance in the sample's number when it grows with such a power of documents, by the spread of its quarters: a
    /// sample of four times the documents has a relative error that is smaller by half that power of four.
    fn chance(self, power: f64) -> f64 {
        let mean = self.of_parts() / PARTS as f64;
        if mean == 0.0 {
            return 0.0;
        }
        let squares = self.parts.iter().map(|part| (*part as f64 - mean).powi(2)).sum::<f64>();
        let spread = (squares / (PARTS - 1) as f64).sqrt() / mean;
        T * spread / (PARTS as f64).powf(power / 2.0)
    }
}

/// Bytes of a data set or a shuffle by what they grow with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bytes {
    /// What grows with documents, in the sample and in the collection.
    documents: (f64, Range),
    /// What grows with pairs.
    pairs: (f64, Range),
}

impl Bytes {
    /// Those of the documents themselves.
    pub fn of_documents(sample: f64, all: Range) -> Self {
        Self { documents: (sample, all), ..Self::default() }
    }

    /// Those of the collection.
    pub fn all(self) -> Range {
        self.total().1
    }

    /// Those of the sample and of the collection.
    fn total(self) -> (f64, Range) {
        (self.documents.0 + self.pairs.0, self.documents.1 + self.pairs.1)
    }
}

impl Add for Bytes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let add = |one: (f64, Range), other: (f64, Range)| (one.0 + other.0, one.1 + other.1);
        Self { documents: add(self.documents, other.documents), pairs: add(self.pairs, other.pairs) }
    }
}

impl std::iter::Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

/// The collection beside the sample.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Documents for each of the sample.
    pub times: f64,
    /// The same of those that were read, which may be some files of the collection.
    pub read: f64,
    /// Documents of the sample.
    pub sampled: u64,
    /// Documents by which the collection's features are ordered (`--order-sample`) for each of those by which the sample's are.
    pub drawn: f64,
}

/// What a stage writes in the sample.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// What its rows grow with.
    pub growth: Growth,
    /// Whether rows of other kinds pass by it.
    pub passing: bool,
    /// Bytes of the rows.
    pub bytes: Counted,
    /// Their number.
    pub rows: Counted,
    /// Bytes of the rows that it reads.
    pub read: Counted,
    /// Tasks of the sample, and of the collection.
    pub tasks: (f64, f64),
}

impl Scale {
    /// Whether the sample is one of the whole collection.
    pub fn is_uniform(self) -> bool {
        self.times <= self.read
    }

    /// The collection's number of what belongs to pairs of documents, by what the sample and its quarters have. Beyond the documents that
    /// were read, copies are taken to be as many for a document as among these, or somewhat more.
    pub fn pairs(self, counted: Counted, rows: u64) -> Range {
        let beyond = self.times / self.read;
        let found = if rows == 0 {
            // Of four that are expected, none comes in one of fifty samples.
            Range { low: 0.0, mid: 0.0, high: 4.0 * self.read * self.read }
        } else {
            let error = counted.chance(2.0).hypot(2.0 / (rows as f64).sqrt()).max(OF_PAIRS);
            Range::within(counted.whole() * self.read * self.read, error)
                .or(counted.whole() * self.read.powf(counted.power().max(1.0)))
        };
        Range { high: found.high * beyond.powf(MORE), ..found }.times(beyond)
    }

    /// The collection's number of pairs of those documents that have something in common, such as a frequent word: the square.
    pub fn contacts(self, counted: Counted) -> Range {
        let all = counted.whole() * self.times * self.times;
        Range::within(all, counted.chance(2.0).max(OF_PAIRS))
    }

    /// What a stage writes of what it reads.
    pub fn written(self, stage: Written, from: Bytes) -> Bytes {
        let (bytes, whole) = (stage.bytes, stage.bytes.whole());
        let documents = |all| Bytes { documents: (whole, all), ..Bytes::default() };
        let pairs = |all| Bytes { pairs: (whole, all), ..Bytes::default() };
        match stage.growth {
            Growth::Pairs if !stage.passing => {
                let bytes_of_row = if stage.rows.whole == 0 { 40.0 } else { 1.0 };
                pairs(self.pairs(bytes, stage.rows.whole).times(bytes_of_row))
            }
            Growth::Pairs | Growth::Input => self.passed(stage, from),
            Growth::Members => documents(self.members(stage)),
            Growth::Distinct => {
                let power = bytes.power().clamp(0.0, 1.0);
                let at = |power: f64| whole * self.times.powf(power.clamp(0.0, 1.0));
                let grown = Range { low: at(power - FLATTER), mid: at(power), high: at(power + 0.1) };
                documents(grown.at_most(ratio(from.total()).times(whole)))
            }
            Growth::Combined => documents(self.combined(stage, self.times)),
            Growth::Drawn => documents(self.combined(stage, self.drawn)),
            Growth::Repeated => documents(self.repeated(stage, from)),
            Growth::Constant => documents(Range { high: whole * 2.0, ..Range::exactly(whole) }),
        }
    }

    /// Different things of each map task, where the collection has so many times the documents that they are of. A task without room for
    /// more writes what it has, so there may be as many as there are documents.
    fn combined(self, stage: Written, times: f64) -> Range {
        let (whole, power) = (stage.bytes.whole(), stage.bytes.power().clamp(0.0, 1.0));
        // A task reads so many times what one of the sample reads.
        let larger = times * stage.tasks.0 / stage.tasks.1;
        let at = |power: f64| whole * larger.powf(power.clamp(0.0, 1.0)) * stage.tasks.1 / stage.tasks.0;
        let [one, other] = [at(power), at(1.0)];
        let low = at(power - FLATTER).min(other);
        Range { low, mid: (one * other).sqrt(), high: one.max(other) }
    }

    /// Rows for rows. Of those that two documents with one set share one is left, so there may be fewer than rows are read.
    fn passed(self, stage: Written, from: Bytes) -> Bytes {
        let of_pairs = match from.pairs.0 > 0.0 || stage.growth == Growth::Pairs {
            true if from.documents.0 > 0.0 => stage.bytes.of_pairs(),
            true => stage.bytes.whole(),
            false => 0.0,
        };
        let of_documents = stage.bytes.whole() - of_pairs;
        let fewer = (stage.bytes.power() - stage.read.power()).clamp(-0.5, 0.0);
        let fewer = if of_pairs > 0.0 { 0.0 } else { fewer };
        let left = Range { low: self.times.powf(2.0 * fewer), mid: self.read.powf(fewer), high: 1.0 };
        let error = Range::within(1.0, stage.bytes.chance(1.0).min(1.0));
        let square = self.pairs(stage.bytes, stage.rows.whole).times(1.0 / stage.bytes.whole().max(1.0));
        let by_pairs = if stage.growth == Growth::Pairs { square } else { ratio(from.pairs) };
        Bytes {
            documents: (of_documents, ratio(from.documents).by(left).by(error).times(of_documents)),
            pairs: (of_pairs, by_pairs.times(of_pairs)),
        }
    }

    /// Documents that are in pairs: at least the sample's share of them, and at most all documents.
    fn members(self, stage: Written) -> Range {
        let whole = stage.bytes.whole();
        let (low, square) = (whole * self.times, whole * self.read * self.times);
        let share = (stage.rows.whole() / self.sampled as f64).clamp(f64::MIN_POSITIVE, 1.0);
        let high = square.min(low / share).max(low);
        let mid = low * self.read.powf(stage.bytes.power().clamp(1.0, 2.0) - 1.0);
        let none = if stage.rows.whole == 0 { self.times * self.sampled as f64 * 40.0 } else { 0.0 };
        Range { low, mid: mid.min(high), high: high.max(none) }
    }

    /// Lists of what comes more than once: of the postings that are read, those of features that no other document has are missing,
    /// and their number grows as that of different features does.
    fn repeated(self, stage: Written, from: Bytes) -> Range {
        let (read, all) = (stage.read.whole(), from.all());
        let missing = Counted {
            whole: stage.read.whole.saturating_sub(stage.bytes.whole),
            parts: std::array::from_fn(|at| stage.read.parts[at].saturating_sub(stage.bytes.parts[at])),
        };
        if read == 0.0 {
            return Range::default();
        }
        let share = missing.whole() / read * self.times.powf(missing.power().clamp(0.0, 1.0) - 1.0);
        // At least as many are left as in the sample. A list is shorter than its postings, by what they have in common.
        let of_sample = all.times(stage.bytes.whole() / read);
        let left = (all.mid * (1.0 - share)).max(of_sample.mid);
        Range { low: of_sample.low, mid: (of_sample.mid * left).sqrt(), high: all.high.max(of_sample.high) }
    }
}

/// How many times the sample's bytes the collection has.
fn ratio((sample, all): (f64, Range)) -> Range {
    if sample > 0.0 { all.times(1.0 / sample) } else { Range::default() }
}

#[cfg(test)]
mod tests;
