//! Pairs: partial counts, candidates, and the answer.

use super::{Fields, Keys, Record, push_number, push_tagged, second_field, tag};
use twinsplit_core::similarity::containment::{Relation, size_ratio};
use twinsplit_core::similarity::{Measure, Score};
use twinsplit_io::error::FieldError;

/// What stands behind a containment.
const CLR: &str = "the share that the smaller size is of the larger one, in six decimals";

/// A part of a pair's overlap: what one posting list contributes (the partial contributions of lin2009).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// The smaller id in byte order.
    pub a: &'a [u8],
    /// The larger id.
    pub b: &'a [u8],
    /// Shared features counted here.
    pub count: u64,
    /// Size of a's set.
    pub size_a: u64,
    /// Size of b's set.
    pub size_b: u64,
}

/// A pair that passed the prefix filter and has yet to be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// The smaller id in byte order.
    pub a: &'a [u8],
    /// The larger id.
    pub b: &'a [u8],
}

impl<'a> Record<'a> for Candidate<'a> {
    const FIELDS: &'static str = r"a⇥\c⇥b";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let a = fields.id("a")?;
        fields.exactly("tag", tag::CANDIDATE, r"\c")?;
        let b = fields.id("b")?;
        fields.done()?;
        Ok(Self { a, b })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        push_tagged(out, self.a, tag::CANDIDATE);
        out.extend_from_slice(self.b);
    }
}

impl<'a> Record<'a> for Part<'a> {
    const FIELDS: &'static str = "a⇥b⇥count⇥size_a⇥size_b";
    const KEYS: Option<Keys> = Some(Keys { partition: 2, sort: 2 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let part = Self {
            a: fields.id("a")?,
            b: fields.id("b")?,
            count: fields.number("count")?,
            size_a: fields.number("size_a")?,
            size_b: fields.number("size_b")?,
        };
        fields.done()?;
        Ok(part)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.a);
        out.push(b'\t');
        out.extend_from_slice(self.b);
        for number in [self.count, self.size_a, self.size_b] {
            out.push(b'\t');
            push_number(out, number);
        }
    }
}

/// What `pcp-map` writes: parts of overlaps, or candidates with `--pcp prefix`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joined<'a> {
    /// Plain: to be summed by `pcp-reduce`.
    Part(Part<'a>),
    /// Prefix: to be verified.
    Candidate(Candidate<'a>),
}

impl<'a> Record<'a> for Joined<'a> {
    const FIELDS: &'static str = r"a⇥b⇥count⇥size_a⇥size_b, with --pcp prefix a⇥\c⇥b";
    const KEYS: Option<Keys> = Part::KEYS;

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        if second_field(line) == Some(tag::CANDIDATE) {
            Candidate::decode(line).map(Joined::Candidate)
        } else {
            Part::decode(line).map(Joined::Part)
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Joined::Part(part) => part.encode(out),
            Joined::Candidate(candidate) => candidate.encode(out),
        }
    }
}

/// A pair of the answer: the document whose id is smaller in byte order comes first, or a query before a document. Its similarity follows from the counts and is written for people. The name of the measure
/// follows it where that is not Jaccard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair<'a> {
    /// The smaller id in byte order, or the query.
    pub a: &'a [u8],
    /// The larger id, or the document.
    pub b: &'a [u8],
    /// Shared features.
    pub overlap: u64,
    /// Size of a's set.
    pub size_a: u64,
    /// Size of b's set.
    pub size_b: u64,
    /// What its similarity is.
    pub measure: Measure,
}

impl<'a> Pair<'a> {
    /// The pair of two documents in either order.
    pub fn of(measure: Measure, x: (&'a [u8], u64), y: (&'a [u8], u64), overlap: u64) -> Self {
        let ((a, size_a), (b, size_b)) = if x.0 < y.0 { (x, y) } else { (y, x) };
        Self { a, b, overlap, size_a, size_b, measure }
    }

    /// The measure, by what follows the similarity.
    fn measure_of(&self, fields: &mut Fields<'a>) -> Result<Measure, FieldError> {
        let mut after = fields.clone();
        if after.is_done() || super::parse_score(after.next("clr", CLR)?).is_none() {
            return match fields.measure()? {
                Measure::Containment => Err(FieldError::new("clr", CLR, b"containment")),
                measure => Ok(measure),
            };
        }
        let found = fields.next("clr", CLR)?;
        if super::parse_score(found) != Some(size_ratio(self.size_a, self.size_b)) {
            return Err(FieldError::new("clr", "what follows from the sizes", found));
        }
        let relation = Relation::of(self.size_a, self.size_b).name();
        fields.exactly("relation", relation.as_bytes(), "what follows from the sizes")?;
        Ok(Measure::Containment)
    }

    /// Its similarity. Of two sets without features, that of equal texts: no others are a pair.
    pub fn score(&self) -> Score {
        let of_equals =
            if self.size_a == 0 && self.size_b == 0 { self.measure.score_of_equals() } else { None };
        if let Some(score) = of_equals {
            return score;
        }
        self.measure.score(self.overlap, self.size_a, self.size_b)
    }
}

impl<'a> Record<'a> for Pair<'a> {
    const FIELDS: &'static str = "id_a⇥id_b⇥overlap⇥size_a⇥size_b⇥jaccard, with --similarity containment …⇥ccs⇥clr⇥\
                                  duplicate, contains or contained, with another one …⇥similarity⇥its name";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let mut pair = Self {
            a: fields.id("id_a")?,
            b: fields.id("id_b")?,
            overlap: fields.number("overlap")?,
            size_a: fields.number("size_a")?,
            size_b: fields.number("size_b")?,
            measure: Measure::Jaccard,
        };
        if pair.overlap > pair.size_a.min(pair.size_b) {
            let found = pair.overlap.to_string();
            return Err(FieldError::new("overlap", "at most size_a and size_b", found.as_bytes()));
        }
        let found = fields.next("similarity", super::SCORE)?;
        let score =
            super::parse_score(found).ok_or_else(|| FieldError::new("similarity", super::SCORE, found))?;
        pair.measure = pair.measure_of(&mut fields)?;
        if score != pair.score() {
            return Err(FieldError::new("similarity", "what follows from overlap and sizes", found));
        }
        fields.done()?;
        Ok(pair)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.a);
        out.push(b'\t');
        out.extend_from_slice(self.b);
        for number in [self.overlap, self.size_a, self.size_b] {
            out.push(b'\t');
            push_number(out, number);
        }
        out.push(b'\t');
        super::push_score(out, self.score());
        match self.measure {
            Measure::Containment => {
                out.push(b'\t');
                super::push_score(out, size_ratio(self.size_a, self.size_b));
                out.push(b'\t');
                out.extend_from_slice(Relation::of(self.size_a, self.size_b).name().as_bytes());
            }
            measure => super::push_measure(out, measure),
        }
    }
}
