//! From pairs to clusters, and to the documents that are kept.

use super::compared::Compared;
use super::near::AnyPair;
use super::set::Member;
use super::{Fields, Keys, Record, is_member, push_tagged, second_field, tag};
use std::cmp::Reverse;
use twinsplit_core::similarity::Score;
use twinsplit_io::error::FieldError;

/// What `cluster` reads, in any order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClusterInput<'a> {
    /// An edge of the graph of representatives.
    Pair(AnyPair<'a>),
    /// A copy, which joins its representative, or what ranks a document; sets are passed over.
    Member(Member<'a>),
}

impl<'a> Record<'a> for ClusterInput<'a> {
    const FIELDS: &'static str = "pairs; copies; sets; what the keep rule needs";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match is_member(line) {
            true => Member::decode(line).map(ClusterInput::Member),
            false => AnyPair::decode(line).map(ClusterInput::Pair),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            ClusterInput::Pair(pair) => pair.encode(out),
            ClusterInput::Member(member) => member.encode(out),
        }
    }
}

/// The cluster a document is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label<'a> {
    /// The document.
    pub id: &'a [u8],
    /// The cluster's name: an id of one of its documents.
    pub label: &'a [u8],
}

impl<'a> Record<'a> for Label<'a> {
    const FIELDS: &'static str = r"id⇥\>⇥label";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let id = fields.id("id")?;
        fields.exactly("tag", tag::LABEL, r"\>")?;
        let label = fields.id("label")?;
        fields.done()?;
        Ok(Self { id, label })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        push_tagged(out, self.id, tag::LABEL);
        out.extend_from_slice(self.label);
    }
}

/// A document of a cluster that one task has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clustered<'a> {
    /// The document.
    pub id: &'a [u8],
    /// The document that its cluster keeps.
    pub kept: &'a [u8],
    /// The document that has its set and stands for it in joins: itself, if it is no copy.
    pub representative: &'a [u8],
}

impl<'a> Record<'a> for Clustered<'a> {
    const FIELDS: &'static str = r"id⇥\k⇥kept⇥representative";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let id = fields.id("id")?;
        fields.exactly("tag", tag::CLUSTERED, r"\k")?;
        let (kept, representative) = (fields.id("kept")?, fields.id("representative")?);
        fields.done()?;
        Ok(Self { id, kept, representative })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        push_tagged(out, self.id, tag::CLUSTERED);
        out.extend_from_slice(self.kept);
        out.push(b'\t');
        out.extend_from_slice(self.representative);
    }
}

/// What one task makes clusters of: the graph first, then ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphRow<'a> {
    /// Two representatives that pair.
    Pair(&'a [u8], &'a [u8]),
    /// The same with how alike they are.
    Alike(AnyPair<'a>),
    /// A copy and its representative.
    Copy(&'a [u8], &'a [u8]),
    /// A document and its rank by the keep rule: bytes that sort the best document first.
    Rank(&'a [u8], &'a [u8]),
}

impl<'a> Record<'a> for GraphRow<'a> {
    const FIELDS: &'static str = "0⇥a⇥b, or with --reduce-to 0⇥ the pair; 1⇥id⇥representative; 2⇥id⇥rank";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 1 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let row = match fields.next("tag", "0, 1 or 2")? {
            // Two ids and no more, or the row of a pair.
            b"0" => {
                let (a, b) = (fields.id("a")?, fields.id("b")?);
                if !fields.is_done() {
                    return AnyPair::decode(&line[2..]).map(GraphRow::Alike);
                }
                GraphRow::Pair(a, b)
            }
            b"1" => GraphRow::Copy(fields.id("id")?, fields.id("representative")?),
            b"2" => GraphRow::Rank(fields.id("id")?, fields.next("rank", "a rank")?),
            tag => return Err(FieldError::new("tag", "0, 1 or 2", tag)),
        };
        fields.done()?;
        Ok(row)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let (tag, first, second) = match self {
            GraphRow::Alike(pair) => {
                out.extend_from_slice(b"0\t");
                return pair.encode(out);
            }
            GraphRow::Pair(a, b) => (b'0', a, b),
            GraphRow::Copy(id, representative) => (b'1', id, representative),
            GraphRow::Rank(id, rank) => (b'2', id, rank),
        };
        out.extend_from_slice(&[tag, b'\t']);
        out.extend_from_slice(first);
        out.push(b'\t');
        out.extend_from_slice(second);
    }
}

/// What `star-rank` and `keep-rank` read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LabelOrMember<'a> {
    /// The document's component or cluster, as a label of it or as what it keeps.
    Label(Label<'a>),
    /// Its set or fingerprint, whose copy it is, or what the keep rule needs of it.
    Member(Member<'a>),
}

impl<'a> Record<'a> for LabelOrMember<'a> {
    const FIELDS: &'static str =
        r"id⇥\>⇥label; id⇥\k⇥kept⇥representative; sets; copies; what the keep rule needs";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match second_field(line) {
            Some(tag::LABEL) => Label::decode(line).map(LabelOrMember::Label),
            Some(tag::CLUSTERED) => {
                let Clustered { id, kept, .. } = Clustered::decode(line)?;
                Ok(LabelOrMember::Label(Label { id, label: kept }))
            }
            _ => Member::decode(line).map(LabelOrMember::Member),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            LabelOrMember::Label(label) => label.encode(out),
            LabelOrMember::Member(member) => member.encode(out),
        }
    }
}

/// Under each id its label (if it is in a cluster at all), its rank by the keep rule, and its representative or its set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeepRow<'a> {
    /// The document's cluster.
    Label(Label<'a>),
    /// The document's rank: bytes that sort the best document first.
    Rank {
        /// The document.
        id: &'a [u8],
        /// The rank.
        rank: &'a [u8],
    },
    /// The document is a copy.
    Copy {
        /// The copy.
        id: &'a [u8],
        /// Its representative.
        representative: &'a [u8],
    },
    /// The document's set or fingerprint.
    Set {
        /// The document.
        id: &'a [u8],
        /// What it is compared by.
        set: Compared<'a>,
    },
}

impl<'a> Record<'a> for KeepRow<'a> {
    const FIELDS: &'static str =
        r"id⇥0⇥label; id⇥1⇥rank; id⇥2⇥representative; id⇥3⇥features, or id⇥3⇥\#⇥fingerprint⇥distance";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 2 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let id = fields.id("id")?;
        let row = match fields.next("tag", "0, 1, 2 or 3")? {
            b"0" => KeepRow::Label(Label { id, label: fields.id("label")? }),
            b"1" => KeepRow::Rank { id, rank: fields.next("rank", "a rank")? },
            b"2" => KeepRow::Copy { id, representative: fields.id("representative")? },
            b"3" => return Ok(KeepRow::Set { id, set: Compared::decode(fields.rest())? }),
            tag => return Err(FieldError::new("tag", "0, 1, 2 or 3", tag)),
        };
        fields.done()?;
        Ok(row)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let mut row = |id: &[u8], tag: &[u8], rest: &[u8]| {
            out.extend_from_slice(id);
            out.extend_from_slice(tag);
            out.extend_from_slice(rest);
        };
        match self {
            KeepRow::Label(label) => row(label.id, b"\t0\t", label.label),
            KeepRow::Rank { id, rank } => row(id, b"\t1\t", rank),
            KeepRow::Copy { id, representative } => row(id, b"\t2\t", representative),
            KeepRow::Set { id, set } => {
                row(id, b"\t3\t", b"");
                set.encode(out);
            }
        }
    }
}

/// A member of a cluster, best first within its cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked<'a> {
    /// The cluster.
    pub label: &'a [u8],
    /// The document's rank by the keep rule.
    pub rank: &'a [u8],
    /// The document.
    pub id: &'a [u8],
    /// Its representative: itself, if it is no copy.
    pub representative: &'a [u8],
    /// What it is compared by; a copy, or a text without a set, has nothing of its own.
    pub set: Option<Compared<'a>>,
}

impl<'a> Record<'a> for Ranked<'a> {
    const FIELDS: &'static str = r"label⇥rank⇥id⇥representative, of those with a set of their own ⇥features, or ⇥\#⇥fingerprint⇥distance";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 3 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let label = fields.id("label")?;
        let rank = fields.next("rank", "a rank")?;
        let (id, representative) = (fields.id("id")?, fields.id("representative")?);
        let set = if fields.is_done() { None } else { Some(Compared::decode(fields.rest())?) };
        Ok(Self { label, rank, id, representative, set })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.label);
        for field in [self.rank, self.id, self.representative] {
            out.push(b'\t');
            out.extend_from_slice(field);
        }
        if let Some(set) = self.set {
            out.push(b'\t');
            set.encode(out);
        }
    }
}

/// A cluster under the document that it keeps: the documents with the set of that one first; before the documents of each
/// set comes the set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChosenRow<'a> {
    /// The document of the cluster that is kept.
    pub kept: &'a [u8],
    /// Whether the set is not that of the kept document.
    pub other: bool,
    /// The representative of the documents with the set.
    pub representative: &'a [u8],
    /// The set, or one of the documents.
    pub what: Chosen<'a>,
}

/// See [`ChosenRow`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Chosen<'a> {
    /// What the documents are compared by.
    Set(Compared<'a>),
    /// A document.
    Document(&'a [u8]),
}

impl<'a> Record<'a> for ChosenRow<'a> {
    const FIELDS: &'static str =
        r"kept⇥0|1⇥representative⇥0⇥features, or \#⇥fingerprint⇥distance; kept⇥0|1⇥representative⇥1⇥id";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 4 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let kept = fields.id("kept_id")?;
        let bit = |fields: &mut Fields<'a>, name| match fields.next(name, "0 or 1")? {
            b"0" => Ok(false),
            b"1" => Ok(true),
            found => Err(FieldError::new(name, "0 or 1", found)),
        };
        let other = bit(&mut fields, "other")?;
        let representative = fields.id("representative")?;
        let what = if bit(&mut fields, "tag")? {
            let id = fields.id("id")?;
            fields.done()?;
            Chosen::Document(id)
        } else {
            Chosen::Set(Compared::decode(fields.rest())?)
        };
        Ok(Self { kept, other, representative, what })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.kept);
        out.extend_from_slice(if self.other { b"\t1\t" } else { b"\t0\t" });
        out.extend_from_slice(self.representative);
        match self.what {
            Chosen::Set(set) => {
                out.extend_from_slice(b"\t0\t");
                set.encode(out);
            }
            Chosen::Document(id) => {
                out.extend_from_slice(b"\t1\t");
                out.extend_from_slice(id);
            }
        }
    }
}

/// What becomes of a document of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is kept.
    Keep,
    /// It is dropped: its similarity to the kept document, even below tau. `None` where their texts are equal and too
    /// short for sets, and the measure is no share.
    Drop(Option<Score>),
}

impl Verdict {
    /// The place of a document in its cluster: the kept one first, then the most similar to it. Of fingerprints the score is a distance.
    pub fn rank(self, fingerprints: bool) -> impl Ord {
        match self {
            Verdict::Keep => (0, None, Reverse(None)),
            Verdict::Drop(distance) if fingerprints => (1, distance, Reverse(None)),
            Verdict::Drop(score) => (1, None, Reverse(score)),
        }
    }
}

/// A line of `clusters.tsv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterRow<'a> {
    /// The document of the cluster that is kept.
    pub kept: &'a [u8],
    /// A document of the cluster.
    pub id: &'a [u8],
    /// What becomes of it.
    pub verdict: Verdict,
}

impl<'a> Record<'a> for ClusterRow<'a> {
    const FIELDS: &'static str = "kept_id⇥id⇥keep|drop⇥similarity or -";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let kept = fields.id("kept_id")?;
        let id = fields.id("id")?;
        let verdict = fields.next("verdict", "keep or drop")?;
        let score = fields.next("similarity", "a number or -")?;
        fields.done()?;
        let verdict = match verdict {
            b"keep" if score == b"-" => Verdict::Keep,
            b"drop" if score == b"-" => Verdict::Drop(None),
            b"drop" => {
                let number = super::parse_score(score);
                Verdict::Drop(Some(number.ok_or_else(|| FieldError::new("similarity", super::SCORE, score))?))
            }
            _ => return Err(FieldError::new("verdict", "keep with -, or drop with a number", verdict)),
        };
        Ok(Self { kept, id, verdict })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.kept);
        out.push(b'\t');
        out.extend_from_slice(self.id);
        match self.verdict {
            Verdict::Keep => out.extend_from_slice(b"\tkeep\t-"),
            Verdict::Drop(None) => out.extend_from_slice(b"\tdrop\t-"),
            Verdict::Drop(Some(score)) => {
                out.extend_from_slice(b"\tdrop\t");
                super::push_score(out, score);
            }
        }
    }
}
