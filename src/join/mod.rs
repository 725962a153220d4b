//! Exact set-similarity joins: every pair of sets whose Jaccard similarity reaches a threshold, and
//! no other pair.
//!
//! The parts, in the order in which they build on each other:
//!
//! | module | what it answers |
//! |---|---|
//! | [`tau`] | is this pair in the answer, and what must two sets share at least? Integers only |
//! | [`sets`] | a collection of sets as two flat arrays, rare tokens first, small sets first |
//! | [`kernel`] | one process: which indexed sets match this query? (Doc-Split) |
//! | [`parallel`] | the kernel over a whole collection, in slices and on several threads |
//! | [`prefix`] | many processes: do these two postings of one feature pair? (Term-Split) |
//!
//! Nothing here knows of files, records or processes.

pub mod tau;
