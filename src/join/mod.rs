//! Exact set-similarity joins: every pair of sets whose similarity reaches a threshold, and no other
//! pair.
//!
//! | module | what it answers |
//! |---|---|
//! | [`tau`] | is this pair in the answer, and what must two sets share at least? In integers |
//! | [`similarity`] | the same for other similarities than Jaccard's |
//! | [`sets`] | a collection of sets as flat arrays: rare tokens first, small sets first |
//! | [`integers`] | how do sets of any integers become such a collection? |
//! | [`kernel`] | in one process (Doc-Split): which sets match this one? |
//! | [`doc_split`] | in many processes (Doc-Split): which documents of this slice match that one? |
//! | `memory` | what the processor is told of memory: large pages, and lines that are read soon |
//! | [`prefix`] | in many processes (Term-Split): may these two postings of one feature pair? |
//!
//! Nothing here knows of files, records or processes.

pub mod doc_split;
pub mod integers;
pub mod kernel;
mod memory;
pub mod prefix;
pub mod sets;
pub mod similarity;
pub mod tau;

/// How many elements two ascending sequences without repeats share.
pub fn overlap<T: Ord>(x: &[T], y: &[T]) -> u64 {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while let (Some(u), Some(v)) = (x.get(i), y.get(j)) {
        match u.cmp(v) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                shared += 1;
                i += 1;
                j += 1;
            }
        }
    }
    shared
}
