//! How what a stage writes grows with a collection: what `plan --estimate` may conclude from a sample.

/// What decides how many bytes a stage writes when the collection is larger than a uniform sample of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Its input: each row becomes a row, or as many as it has features.
    Input,
    /// Pairs of documents, of which a sample of a hundredth has a ten-thousandth.
    Pairs,
    /// Documents that are in some pair: more than the sample's share of them, and no more than there are documents.
    Members,
    /// Different things in all documents, such as features, of which larger collections have fewer new ones.
    Distinct,
    /// The same of what each map task reads.
    Combined,
    /// The same of no more documents than an option says (`--order-sample`).
    Drawn,
    /// The postings, or the counts, of things that more than one document has, which a sample shows too few of.
    Repeated,
    /// Nothing: options bound it.
    Constant,
}
