//! Pairs: partial counts, candidates, and the answer.

use super::{Fields, Keys, Record, push_number};
use crate::error::FieldError;
use crate::join::tau::{Jaccard6, jaccard6};

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

impl<'a> Candidate<'a> {
    /// Reads `a⇥1⇥b`.
    pub fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let a = fields.id("a")?;
        if fields.next("tag", "1")? != b"1" {
            return Err(FieldError::new("tag", "1", line));
        }
        let b = fields.id("b")?;
        fields.done()?;
        Ok(Self { a, b })
    }

    /// Appends `a⇥1⇥b`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.a);
        out.extend_from_slice(b"\t1\t");
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
    const FIELDS: &'static str = "a⇥b⇥count⇥size_a⇥size_b, with --pcp prefix a⇥1⇥b";
    const KEYS: Option<Keys> = Part::KEYS;

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        if memchr::memchr_iter(b'\t', line).count() == 2 {
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

/// A pair of the answer. Its Jaccard similarity follows from the counts and is written for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair<'a> {
    /// The smaller id in byte order.
    pub a: &'a [u8],
    /// The larger id.
    pub b: &'a [u8],
    /// Shared features.
    pub overlap: u64,
    /// Size of a's set.
    pub size_a: u64,
    /// Size of b's set.
    pub size_b: u64,
}

impl<'a> Pair<'a> {
    /// The pair of two documents in either order.
    pub fn of(x: (&'a [u8], u64), y: (&'a [u8], u64), overlap: u64) -> Self {
        let ((a, size_a), (b, size_b)) = if x.0 < y.0 { (x, y) } else { (y, x) };
        Self { a, b, overlap, size_a, size_b }
    }

    /// Its similarity.
    pub fn jaccard(&self) -> Jaccard6 {
        jaccard6(self.overlap, self.size_a, self.size_b)
    }
}

impl<'a> Record<'a> for Pair<'a> {
    const FIELDS: &'static str = "id_a⇥id_b⇥overlap⇥size_a⇥size_b⇥jaccard";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let pair = Self {
            a: fields.id("id_a")?,
            b: fields.id("id_b")?,
            overlap: fields.number("overlap")?,
            size_a: fields.number("size_a")?,
            size_b: fields.number("size_b")?,
        };
        if pair.overlap > pair.size_a.min(pair.size_b) {
            let found = pair.overlap.to_string();
            return Err(FieldError::new("overlap", "at most size_a and size_b", found.as_bytes()));
        }
        let found = fields.next("jaccard", "six decimals")?;
        if super::parse_jaccard(found) != Some(pair.jaccard()) {
            return Err(FieldError::new("jaccard", "overlap/(size_a+size_b-overlap) in six decimals", found));
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
        super::push_jaccard(out, self.jaccard());
    }
}
