//! Counts: of documents by feature, of documents by size.

use super::{Fields, Keys, Record, push_number, push_padded, set};
use twinsplit_io::error::FieldError;

/// Digits of a size where it sorts.
pub const SIZE_WIDTH: usize = 10;

/// How many documents hold a feature; without a feature, how many documents there are (N), which sorts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureCount {
    /// The feature, or `None` for N, written `-`.
    pub feature: Option<u64>,
    /// Documents.
    pub documents: u64,
}

impl FeatureCount {
    /// An error about a sum that no collection can have.
    pub fn too_many(&self) -> FieldError {
        FieldError::new("documents", "counts whose sum fits 64 bits", self.documents.to_string().as_bytes())
    }
}

/// A count under the bucket of its feature, so that each bucket can bound what it passes on without knowing of the others: the
/// first digits of a feature, which is a hash, are a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketCount(pub FeatureCount);

impl BucketCount {
    /// How many buckets there are: as many tasks at most have something to do.
    pub const BUCKETS: usize = 1 << (4 * Self::DIGITS);
    const DIGITS: usize = 3;

    fn push_bucket(count: &FeatureCount, out: &mut Vec<u8>) {
        let start = out.len();
        match count.feature {
            None => out.push(b'-'),
            Some(feature) => {
                set::push_feature(out, feature);
                out.truncate(start + Self::DIGITS);
            }
        }
    }
}

impl<'a> Record<'a> for BucketCount {
    const FIELDS: &'static str = "bucket or -⇥feature or -⇥documents";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 2 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        const BUCKET: &str = "the first 3 digits of the feature, or - before -";
        let mut fields = Fields::of(line);
        let bucket = fields.next("bucket", BUCKET)?;
        let count = FeatureCount::decode(fields.rest())?;
        let mut expected = Vec::new();
        Self::push_bucket(&count, &mut expected);
        if bucket == expected { Ok(Self(count)) } else { Err(FieldError::new("bucket", BUCKET, bucket)) }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        Self::push_bucket(&self.0, out);
        out.push(b'\t');
        self.0.encode(out);
    }
}

/// Sorted counts of tasks, added up: those of a feature are neighbours.
#[derive(Debug, Default)]
pub struct CountSums {
    sum: Option<FeatureCount>,
}

impl CountSums {
    /// Takes a count, and gives the sum of those before it when they were of another feature.
    pub fn push(&mut self, count: FeatureCount) -> Result<Option<FeatureCount>, FieldError> {
        match &mut self.sum {
            Some(sum) if sum.feature == count.feature => {
                let documents = sum.documents.checked_add(count.documents);
                sum.documents = documents.ok_or_else(|| count.too_many())?;
                Ok(None)
            }
            _ => Ok(self.sum.replace(count)),
        }
    }

    /// The sum of the last counts.
    pub fn finish(&mut self) -> Option<FeatureCount> {
        self.sum.take()
    }
}

impl<'a> Record<'a> for FeatureCount {
    const FIELDS: &'static str = "feature or -⇥documents";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 1 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let feature = if line.starts_with(b"-\t") {
            fields.next("feature", "-")?;
            None
        } else {
            Some(fields.feature("feature")?)
        };
        let documents = fields.number("documents")?;
        fields.done()?;
        Ok(Self { feature, documents })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self.feature {
            None => out.push(b'-'),
            Some(feature) => set::push_feature(out, feature),
        }
        out.push(b'\t');
        push_number(out, self.documents);
    }
}

/// How many sets have a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeRow {
    /// Features of a set.
    pub size: u64,
    /// Sets of that size.
    pub sets: u64,
}

impl<'a> Record<'a> for SizeRow {
    const FIELDS: &'static str = "size⇥sets";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 1 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let size = fields.number("size")?;
        let sets = fields.number("sets")?;
        fields.done()?;
        Ok(Self { size, sets })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        push_padded(out, self.size, SIZE_WIDTH);
        out.push(b'\t');
        push_number(out, self.sets);
    }
}
