//! From pairs to clusters, and to the document that each cluster keeps.
//!
//! | module | what it answers |
//! |---|---|
//! | [`union_find`], [`components`] | which documents are connected by pairs? |
//! | [`bucket`] | which pairs of a bucket connect it, where each two may be one? |
//! | [`star`] | which documents resemble one and the same centre? |
//! | [`groups`] | how do documents with equal sets take part in that? |
//! | [`reduce`] | which N documents are least alike? |
//! | [`ids`] | which numbers stand for the ids? |
//! | [`keep`] | which document of a cluster is the best one? |
//! | [`dropped`] | how like it are the others? |
//!
//! Connected components chain: a resembles b, b resembles c, and a and c end in one cluster however
//! unlike they are. Star clusters do not, for each member resembles the centre itself.
//!
//! Nothing here knows of files, records or processes.

pub mod bucket;
pub mod components;
pub mod dropped;
pub mod groups;
pub mod ids;
pub mod keep;
pub mod reduce;
pub mod star;
pub mod union_find;
