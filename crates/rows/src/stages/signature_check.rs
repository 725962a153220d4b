//! `match-left`, `match-right`: candidates meet their two signatures, one after the other, and are judged by them. It is
//! `verify-left` and `verify-right` with signatures in the place of sets, and APPROXIMATE: what it writes as overlap and
//! similarity are estimates.

use super::forest::{Forest, JoinedOpts};
use super::minhash::{Made, SignatureOpts};
use super::verify::DistinctCandidates;
use crate::record::pair::Pair;
use crate::record::signature::{
    HalfSigned, LeftInput, LeftRow, RightInput, RightRow, Signature, Signed, Values, push_values,
};
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, Stage, Task};
use std::str::FromStr;
use twinsplit_core::similarity::text::TextCheck;
use twinsplit_core::similarity::{Measure, SetSimilarity, Similarity};
use twinsplit_core::sketch::minhash::{Estimate, VALUE_BITS, estimated_overlap, matches};
use twinsplit_io::error::{Error, FieldError, Result};

/// How candidates are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// By their sets: no pair below tau is in the answer.
    Exact,
    /// APPROXIMATE: by the estimate of their signatures, which is what the answer shows.
    Signature,
    /// APPROXIMATE: not at all, every candidate is a pair; similarities are estimates.
    None,
    /// Of near fingerprints: by the texts themselves.
    Texts(TextCheck),
}

twinsplit_core::read_from_text!(Check);

impl FromStr for Check {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        Ok(match text {
            "exact" => Check::Exact,
            "signature" => Check::Signature,
            "none" => Check::None,
            other => Check::Texts(other.parse().map_err(|error| {
                format!("{error}; the candidates of minhash have exact, signature or none")
            })?),
        })
    }
}

/// Counters: candidates whose estimate is below tau, and pairs of the answer that were estimated.
pub const BELOW: &str = "candidates_estimated_below_tau";
/// See [`BELOW`].
pub const ESTIMATED: &str = "estimated_pairs";
/// Of these, those that are there whatever the estimate is.
pub const UNCHECKED: &str = "unchecked_pairs";

twinsplit_core::options! {
    /// Whether the candidates of bands are checked.
    pub struct CheckOpts {
        /// How candidates are checked. Those of MinHash bands: exact, by their sets; APPROXIMATE: signature, by the estimate of
        /// their signatures, or none, every one is a pair. Near fingerprints: jaccard:T of their features, cosine:T of these as often
        /// as they occur, or edit:T, 1 less the share of characters that the edit distance is of the longer text; at least T each,
        /// exactly. By default fingerprints decide alone
        pub check: Check = "exact", "CHECK";
    }
}

impl CheckOpts {
    /// What is compared of the texts of near fingerprints, if they are.
    pub fn texts(&self) -> Option<TextCheck> {
        match self.check {
            Check::Texts(check) => Some(check),
            _ => None,
        }
    }

    /// How the candidates of MinHash bands are checked.
    pub fn candidates(&self) -> Result<Check> {
        match self.check {
            Check::Texts(check) => Err(Error::Usage(format!(
                "--check {check} compares the texts of near fingerprints (simhash); the candidates of minhash have exact, \
                 signature or none"
            ))),
            check => Ok(check),
        }
    }
}

twinsplit_core::choice! {
    /// How many bits of each value of a signature travel.
    pub enum SignatureBits {
        /// The lowest
        One = "1",
        /// The lowest two
        Two = "2",
        /// The lowest four
        Four = "4",
        /// The lowest eight
        Eight = "8",
        /// The whole value
        All = "32",
    }
}

twinsplit_core::options! {
    /// How signatures travel to the candidates that they judge.
    pub struct MatchOpts {
        /// With --check signature: bits of each value that travel to a candidate, 1, 2, 4, 8 or all 32; estimates of few bits vary
        /// more
        signature_bits: SignatureBits = "32", "BITS";
    }
    with {
        signature: SignatureOpts,
    }
}

impl MatchOpts {
    /// How many bits of each value are compared.
    pub fn signature_bits(&self) -> u32 {
        match self.signature_bits {
            SignatureBits::One => 1,
            SignatureBits::Two => 2,
            SignatureBits::Four => 4,
            SignatureBits::Eight => 8,
            SignatureBits::All => VALUE_BITS,
        }
    }
}

/// Signatures on their way to candidates: of the expected kind, and cut to the bits that are compared.
struct Travelling {
    made: Made,
    bits: u32,
    values: Vec<u32>,
    text: Vec<u8>,
}

impl Travelling {
    fn of(opts: &MatchOpts) -> Result<Self> {
        let made = Made::of(&opts.signature)?;
        Ok(Self { made, bits: opts.signature_bits(), values: Vec::new(), text: Vec::new() })
    }

    /// The row of a signature under its id.
    fn row<'s>(&'s mut self, signature: Signature<'s>, task: &Task<'_>) -> Result<Signed<'s>> {
        self.made.check(&signature, task)?;
        let Signature { id, size, values, .. } = signature;
        if self.bits == VALUE_BITS {
            return Ok(Signed { id, size, values });
        }
        values.read(&mut self.values).map_err(|error| task.wrong(error))?;
        self.text.clear();
        push_values(&mut self.text, &self.values, self.bits);
        let values = Values::of(&self.text).map_err(|error| task.wrong(error))?;
        Ok(Signed { id, size, values })
    }
}

/// The first mapper: signatures and candidates by the candidates' smaller id.
pub struct MatchLeft(Travelling);

impl Stage for MatchLeft {
    type In<'a> = LeftInput<'a>;
    type Out<'a> = LeftRow<'a>;
    type Opts = MatchOpts;
    const DECL: Decl = Decl {
        name: "match-left",
        role: Role::Map,
        about: "Brings each candidate to the signature of its smaller id",
        side: &[],
    };

    fn open(opts: MatchOpts, _: &mut Task<'_>) -> Result<Self> {
        Travelling::of(&opts).map(Self)
    }

    fn push(&mut self, row: LeftInput<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            LeftInput::Candidate(candidate) => task.emit(&LeftRow::Candidate(candidate)),
            LeftInput::Signature(signature) => {
                let signed = self.0.row(signature, task)?;
                task.emit(&LeftRow::Signed(signed))
            }
        }
    }
}

/// The first reducer.
#[derive(Default)]
pub struct MatchLeftReduce {
    size: Option<u64>,
    values: Vec<u8>,
    candidates: DistinctCandidates,
}

impl Stage for MatchLeftReduce {
    type In<'a> = LeftRow<'a>;
    type Out<'a> = HalfSigned<'a>;
    type Opts = super::NoOpts;
    const GROWTH: Growth = Growth::Pairs;
    const DECL: Decl = Decl {
        name: "match-left-reduce",
        role: Role::Reduce,
        about: "Merges repeated candidates and sends each, with the signature of its smaller id, to its larger id",
        side: &[],
    };

    fn open(_: super::NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, row: LeftRow<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            LeftRow::Signed(signed) => {
                self.size = Some(signed.size);
                self.values.clear();
                self.values.extend_from_slice(signed.values.text());
                Ok(())
            }
            LeftRow::Candidate(candidate) if !self.candidates.is_new(candidate.b) => Ok(()),
            LeftRow::Candidate(candidate) => {
                let size = self.size.ok_or_else(|| task.wrong(missing("a", candidate.a)))?;
                let values = Values::of(&self.values).map_err(|error| task.wrong(error))?;
                task.emit(&HalfSigned { b: candidate.b, a: candidate.a, size, values })
            }
        }
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.size = None;
        self.candidates.end_group();
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.candidates.count(task);
        Ok(())
    }
}

fn missing(field: &'static str, id: &[u8]) -> FieldError {
    FieldError::new(field, "an id whose signature is among the input", id)
}

/// The second mapper: signatures and halves by the candidates' larger id.
pub struct MatchRight(Travelling);

impl Stage for MatchRight {
    type In<'a> = RightInput<'a>;
    type Out<'a> = RightRow<'a>;
    type Opts = MatchOpts;
    const DECL: Decl = Decl {
        name: "match-right",
        role: Role::Map,
        about: "Brings each candidate, which carries one signature, to the signature of its larger id",
        side: &[],
    };

    fn open(opts: MatchOpts, _: &mut Task<'_>) -> Result<Self> {
        Travelling::of(&opts).map(Self)
    }

    fn push(&mut self, row: RightInput<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            RightInput::Half(half) => task.emit(&RightRow::Half(half)),
            RightInput::Signature(signature) => {
                let signed = self.0.row(signature, task)?;
                task.emit(&RightRow::Signed(signed))
            }
        }
    }
}

/// The second reducer.
pub struct MatchRightReduce {
    judge: Judge,
    forest: Forest,
    size: Option<u64>,
    bits: u32,
    values: Vec<u32>,
    other: Vec<u32>,
    below: u64,
    /// Pairs that are in the answer.
    pairs: u64,
}

twinsplit_core::options! {
    /// Its options.
    pub struct MatchRightOpts {}
    with {
        check: CheckOpts,
        joined: JoinedOpts,
    }
}

/// Decides by signatures.
#[derive(Clone, Copy, Debug)]
pub struct Judge {
    /// The similarity that an estimate must reach.
    pub similarity: Similarity,
    /// How it is checked.
    pub check: Check,
}

impl Judge {
    /// The estimated overlap of two sets of these sizes whose signatures say this of their similarity, and whether the
    /// estimate reaches the similarity that is asked for.
    ///
    /// With o = m(a+b)/(K+m) a share is the same when overlap and both sizes are multiplied by K+m: all stays whole.
    pub fn overlap(self, jaccard: Estimate, (a, b): (u64, u64)) -> (u64, bool) {
        let whole = jaccard.whole + jaccard.part;
        let shared = jaccard.part.saturating_mul(a.saturating_add(b));
        let estimate = estimated_overlap(jaccard, (a, b));
        let scaled = |size: u64| size.saturating_mul(whole);
        let accepted = match self.similarity.measure() {
            Measure::Overlap => self.similarity.accepts(estimate, a, b),
            _ => self.similarity.accepts(shared, scaled(a), scaled(b)),
        };
        (estimate, accepted)
    }
}

impl Stage for MatchRightReduce {
    type In<'a> = RightRow<'a>;
    type Out<'a> = Pair<'a>;
    type Opts = MatchRightOpts;
    const GROWTH: Growth = Growth::Pairs;
    const DECL: Decl = Decl {
        name: "match-right-reduce",
        role: Role::Reduce,
        about: "APPROXIMATE: estimates the similarity of each candidate and keeps those that reach tau",
        side: &[],
    };

    fn open(opts: MatchRightOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self {
            judge: Judge { similarity: opts.joined.similarity.0, check: opts.check.candidates()? },
            forest: Forest::new(&opts.joined.forest),
            size: None,
            bits: VALUE_BITS,
            values: Vec::new(),
            other: Vec::new(),
            below: 0,
            pairs: 0,
        })
    }

    fn push(&mut self, row: RightRow<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            RightRow::Signed(signed) => {
                self.size = Some(signed.size);
                self.bits = signed.values.bits();
                signed.values.read(&mut self.values).map_err(|error| task.wrong(error))
            }
            RightRow::Half(half) => {
                let size_b = self.size.ok_or_else(|| task.wrong(missing("b", half.b)))?;
                half.values.read(&mut self.other).map_err(|error| task.wrong(error))?;
                if half.values.bits() != self.bits || self.other.len() != self.values.len() {
                    let expected = "as many values, of as many bits, as the signature of b has";
                    return Err(task.wrong(FieldError::new("values of a", expected, half.values.text())));
                }
                let sizes = (half.size, size_b);
                let jaccard = Estimate::of(matches(&self.other, &self.values), self.values.len(), self.bits);
                let (overlap, reaches) = self.judge.overlap(jaccard, sizes);
                self.below += u64::from(!reaches);
                if !reaches && self.judge.check != Check::None {
                    return Ok(());
                }
                self.pairs += 1;
                if !self.forest.needs(half.a, half.b) {
                    return Ok(());
                }
                let measure = self.judge.similarity.measure();
                task.emit(&Pair { a: half.a, b: half.b, overlap, size_a: half.size, size_b, measure })
            }
        }
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.size = None;
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.forest.finish(task);
        task.count(BELOW, self.below);
        task.count(ESTIMATED, self.pairs);
        if self.judge.check == Check::None {
            task.count(UNCHECKED, self.pairs);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An estimate is compared with tau as a fraction, and not as the whole features that the row shows.
    #[test]
    fn an_estimate_is_held_against_tau_as_it_is() {
        let overlap = |measure: Measure, tau: &str, matches, hashes, sizes| {
            let similarity = measure.reaching(tau).unwrap();
            let jaccard = Estimate::of(matches, hashes, VALUE_BITS);
            Judge { similarity, check: Check::Signature }.overlap(jaccard, sizes)
        };
        assert_eq!(overlap(Measure::Jaccard, "0.8", 102, 128, (10, 10)), (9, false));
        assert_eq!(overlap(Measure::Jaccard, "0.8", 103, 128, (10, 10)), (9, true));
        assert_eq!(overlap(Measure::Jaccard, "0.8", 4, 5, (1000, 1000)), (889, true));
        assert_eq!(overlap(Measure::Jaccard, "0.8", 1, 128, (10, 10)), (0, false));
        // J = 1/2 of sizes 10 and 20: 10 shared, all of the smaller one.
        assert_eq!(overlap(Measure::Containment, "1", 64, 128, (10, 20)), (10, true));
        assert_eq!(overlap(Measure::Containment, "1", 63, 128, (10, 20)), (10, false));
        assert_eq!(overlap(Measure::Overlap, "10", 64, 128, (10, 20)), (10, true));
        assert_eq!(overlap(Measure::Overlap, "11", 64, 128, (10, 20)), (10, false));
    }
}
