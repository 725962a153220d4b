//! twinsplit: exact near-duplicate detection for web-scale text.

pub mod cluster;
pub mod hash;
pub mod index;
pub mod join;
pub mod text;
