//! What a collection is reduced to before it is joined: which features count, and how the collection
//! is cut into slices.
//!
//! | module | what it answers |
//! |---|---|
//! | [`idf`] | which document frequencies lie in a range of normalised IDF? In integers |
//! | [`order`] | which features stand first in every document, and which are left out? |
//! | [`slices`] | which sizes go into which slice of Doc-Split, so that the slices cost the same? |
//!
//! Stages use all three. The [columnar engine](crate::engine::columnar) takes `idf` and `slices`, and numbers features itself, in
//! ascending document frequency over the whole collection.
//!
//! Nothing here knows of files, records or processes.

pub mod idf;
pub mod order;
pub mod slices;
