//! Postings, and posting lists cut into blocks.

use super::{Fields, Keys, Record, push_number, push_padded, set, tag};
use twinsplit_io::error::FieldError;

/// What the prefix filter adds to a posting: where the feature stands in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrefixMark {
    /// Position of the feature in the document's order of features, from 0.
    pub position: u64,
    /// Whether the position lies in the *index* prefix too (and not in the longer probe prefix alone).
    pub indexed: bool,
}

/// One document of a posting list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posting<'a> {
    /// The document.
    pub id: &'a [u8],
    /// How many features its set has.
    pub size: u64,
    /// Set by `--pcp prefix` alone.
    pub mark: Option<PrefixMark>,
}

/// A posting under its feature, on its way to the feature's posting list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostingRow<'a> {
    /// The feature.
    pub feature: u64,
    /// The posting.
    pub posting: Posting<'a>,
}

impl<'a> Record<'a> for PostingRow<'a> {
    const FIELDS: &'static str = "feature⇥id⇥size, with --pcp prefix ⇥position⇥indexed";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 2 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let feature = fields.feature("feature")?;
        let id = fields.id("id")?;
        let size = fields.number("size")?;
        let mark = if fields.is_done() { None } else { Some(decode_mark(&mut fields)?) };
        fields.done()?;
        Ok(Self { feature, posting: Posting { id, size, mark } })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        set::push_feature(out, self.feature);
        out.push(b'\t');
        out.extend_from_slice(self.posting.id);
        out.push(b'\t');
        push_number(out, self.posting.size);
        encode_mark(self.posting.mark, out);
    }
}

fn decode_mark(fields: &mut Fields<'_>) -> Result<PrefixMark, FieldError> {
    let position = fields.number("position")?;
    let indexed = match fields.next("indexed", "0 or 1")? {
        b"0" => false,
        b"1" => true,
        found => return Err(FieldError::new("indexed", "0 or 1", found)),
    };
    Ok(PrefixMark { position, indexed })
}

fn encode_mark(mark: Option<PrefixMark>, out: &mut Vec<u8>) {
    if let Some(mark) = mark {
        out.push(b'\t');
        push_number(out, mark.position);
        out.extend_from_slice(if mark.indexed { b"\t1" } else { b"\t0" });
    }
}

/// Two blocks of one posting list, or one block with itself: all pairs of the list are the pairs across the two
/// blocks of its lines. A list shorter than a block is one line with `left == right == 0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockPair<'a> {
    /// The feature.
    pub feature: u64,
    /// Number of the left block in its list.
    pub left: u64,
    /// Number of the right block, at least `left`; only one of the two is written when they are equal.
    pub right: u64,
    /// Whether the postings carry a [`PrefixMark`].
    pub marked: bool,
    /// How many postings the left block holds.
    pub left_count: u64,
    /// The encoded postings of the left block, then those of the right one.
    pub postings: &'a [u8],
}

impl<'a> BlockPair<'a> {
    /// Replaces `out` by the postings in their order.
    pub fn read(&self, out: &mut Vec<Posting<'a>>) -> Result<(), FieldError> {
        out.clear();
        if self.postings.is_empty() {
            return Err(FieldError::missing("postings", "at least one posting"));
        }
        let mut fields = Fields::of(self.postings);
        while !fields.is_done() {
            let size = fields.number("posting's size")?;
            let id = fields.id("posting's id")?;
            let mark = if self.marked { Some(decode_mark(&mut fields)?) } else { None };
            out.push(Posting { id, size, mark });
        }
        if self.left_count > out.len() as u64 {
            let found = self.left_count.to_string();
            return Err(FieldError::new("left_count", "at most the number of postings", found.as_bytes()));
        }
        Ok(())
    }

    /// Appends one posting in the form that [`BlockPair::postings`] holds, a TAB before all but the first.
    pub fn push_posting(posting: &Posting<'_>, out: &mut Vec<u8>) {
        if !out.is_empty() {
            out.push(b'\t');
        }
        push_number(out, posting.size);
        out.push(b'\t');
        out.extend_from_slice(posting.id);
        encode_mark(posting.mark, out);
    }
}

impl<'a> Record<'a> for BlockPair<'a> {
    const FIELDS: &'static str =
        r"feature⇥\l⇥i⇥j⇥plain|prefix⇥n_i⇥(size⇥id, with prefix ⇥position⇥indexed) for each posting";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let feature = fields.feature("feature")?;
        fields.exactly("tag", tag::LIST, r"\l")?;
        let left = fields.number("i")?;
        let right = fields.number("j")?;
        let marked = match fields.next("kind", "plain or prefix")? {
            b"plain" => false,
            b"prefix" => true,
            found => return Err(FieldError::new("kind", "plain or prefix", found)),
        };
        let left_count = fields.number("n_i")?;
        Ok(Self { feature, left, right, marked, left_count, postings: fields.rest() })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        set::push_feature(out, self.feature);
        out.push(b'\t');
        out.extend_from_slice(tag::LIST);
        out.push(b'\t');
        push_padded(out, self.left, 6);
        out.push(b'\t');
        push_padded(out, self.right, 6);
        out.extend_from_slice(if self.marked { b"\tprefix\t" } else { b"\tplain\t" });
        push_number(out, self.left_count);
        out.push(b'\t');
        out.extend_from_slice(self.postings);
    }
}
