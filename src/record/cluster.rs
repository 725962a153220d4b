//! From pairs to clusters, and to the documents that are kept.

use super::fingerprint::{MemberFingerprint, PrintedFingerprint};
use super::meta::Meta;
use super::near::AnyPair;
use super::set::Member;
use super::tokenized::Tokenized;
use super::{Fields, Keys, Record, is_member, push_tagged, second_field, tag};
use crate::error::FieldError;
use crate::similarity::Score;

/// What `cluster` reads, in any order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClusterInput<'a> {
    /// An edge of the graph of representatives.
    Pair(AnyPair<'a>),
    /// A copy, which joins its representative; sets are passed over.
    Member(Member<'a>),
    /// What ranks a document, for star clusters.
    Meta(Meta<'a>),
}

impl<'a> Record<'a> for ClusterInput<'a> {
    const FIELDS: &'static str =
        r"pairs; copies; sets; with --cluster star id⇥\m⇥length⇥date⇥score⇥script⇥input⇥offset";
    const KEYS: Option<Keys> = Some(Keys { partition: 0, sort: 0 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match second_field(line) {
            Some(tag::META) => Meta::decode(line).map(ClusterInput::Meta),
            _ if is_member(line) => Member::decode(line).map(ClusterInput::Member),
            _ => AnyPair::decode(line).map(ClusterInput::Pair),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            ClusterInput::Pair(pair) => pair.encode(out),
            ClusterInput::Member(member) => member.encode(out),
            ClusterInput::Meta(meta) => meta.encode(out),
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

/// What `keep` reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeepInput<'a> {
    /// The document's cluster.
    Label(Label<'a>),
    /// What the keep rule needs.
    Meta(Meta<'a>),
    /// The document's set.
    Doc(Tokenized<'a>),
    /// The document's fingerprint.
    Fingerprint(MemberFingerprint<'a>),
}

impl<'a> Record<'a> for KeepInput<'a> {
    const FIELDS: &'static str = "id⇥\\>⇥label; id⇥\\m⇥length⇥date⇥score⇥script⇥input⇥offset; id⇥features, or \
                                  id⇥\\~⇥hash of the text⇥features; or the stream of fingerprints";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match second_field(line) {
            Some(tag::LABEL) => Label::decode(line).map(KeepInput::Label),
            Some(tag::META) => Meta::decode(line).map(KeepInput::Meta),
            Some(tag::FINGERPRINT | tag::EQUAL_FINGERPRINT) => {
                MemberFingerprint::decode(line).map(KeepInput::Fingerprint)
            }
            _ => Tokenized::decode(line).map(KeepInput::Doc),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            KeepInput::Label(label) => label.encode(out),
            KeepInput::Meta(meta) => meta.encode(out),
            KeepInput::Doc(doc) => doc.encode(out),
            KeepInput::Fingerprint(one) => one.encode(out),
        }
    }
}

/// Under each id its label (if it is in a cluster at all), its rank by the keep rule, and its set.
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
    /// The document's set.
    Doc(Tokenized<'a>),
    /// The document's fingerprint.
    Fingerprint(PrintedFingerprint<'a>),
}

impl<'a> Record<'a> for KeepRow<'a> {
    const FIELDS: &'static str = r"id⇥0⇥label; id⇥1⇥rank; id⇥2⇥features, or id⇥2⇥\~⇥hash of the text⇥features, or id⇥3⇥fingerprint⇥distance";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 2 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let id = fields.id("id")?;
        let row = match fields.next("tag", "0, 1, 2 or 3")? {
            b"0" => KeepRow::Label(Label { id, label: fields.id("label")? }),
            b"1" => KeepRow::Rank { id, rank: fields.next("rank", "a rank")? },
            b"2" => return Tokenized::after_id(id, fields).map(KeepRow::Doc),
            b"3" => return PrintedFingerprint::after_id(id, fields).map(KeepRow::Fingerprint),
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
            KeepRow::Doc(row) => {
                out.extend_from_slice(row.doc.id);
                out.extend_from_slice(b"\t2\t");
                row.push_after_id(out);
            }
            KeepRow::Fingerprint(one) => {
                out.extend_from_slice(one.id);
                out.extend_from_slice(b"\t3\t");
                one.push_after_id(out);
            }
        }
    }
}

/// What members of a cluster are compared by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compared<'a> {
    /// A document and its set.
    Set(Tokenized<'a>),
    /// A document and its fingerprint.
    Fingerprint(PrintedFingerprint<'a>),
}

impl<'a> Compared<'a> {
    /// The document.
    pub fn id(&self) -> &'a [u8] {
        match self {
            Compared::Set(row) => row.doc.id,
            Compared::Fingerprint(one) => one.id,
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
    /// The document with its set or its fingerprint.
    pub doc: Compared<'a>,
}

impl<'a> Record<'a> for Ranked<'a> {
    const FIELDS: &'static str = r"label⇥rank⇥id⇥features, or label⇥rank⇥id⇥\~⇥hash of the text⇥features, or label⇥rank⇥id⇥\#⇥fingerprint⇥distance";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 3 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let label = fields.id("label")?;
        let rank = fields.next("rank", "a rank")?;
        let rest = fields.rest();
        let doc = match second_field(rest) {
            Some(tag::FINGERPRINT) => {
                let mut fields = Fields::of(rest);
                let id = fields.id("id")?;
                fields.next("tag", r"\#")?;
                PrintedFingerprint::after_id(id, fields).map(Compared::Fingerprint)?
            }
            _ => Tokenized::decode(rest).map(Compared::Set)?,
        };
        Ok(Self { label, rank, doc })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.label);
        out.push(b'\t');
        out.extend_from_slice(self.rank);
        out.push(b'\t');
        match &self.doc {
            Compared::Set(row) => row.encode(out),
            Compared::Fingerprint(one) => {
                push_tagged(out, one.id, tag::FINGERPRINT);
                one.push_after_id(out);
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
