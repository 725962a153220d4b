//! Exact set-similarity joins: every pair of sets whose Jaccard similarity reaches a threshold, and
//! no other pair.
//!
//! | module | what it answers |
//! |---|---|
//! | [`tau`] | is this pair in the answer, and what must two sets share at least? In integers |
//! | [`sets`] | a collection of sets as flat arrays: rare tokens first, small sets first |
//! | [`kernel`] | in one process (Doc-Split): which sets match this one? |
//! | [`prefix`] | in many processes (Term-Split): may these two postings of one feature pair? |
//!
//! Nothing here knows of files, records or processes.

pub mod kernel;
pub mod prefix;
pub mod sets;
pub mod tau;
