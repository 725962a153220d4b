//! What twinsplit computes with numbers and texts in memory: features of texts, sketches, similarities, exact joins and clusters.
//!
//! | module | what it is | zhang2011 |
//! |---|---|---|
//! | [`text`] | bytes -> features: words, characters, SpotSigs, sentence ends, lines | 2.2, 4 (Tokenize) |
//! | [`idf`] | which document frequencies lie in a range of normalised IDF, in integers | 2.3 |
//! | [`sketch`] | MinHash signatures, SimHash fingerprints, and the keys under which they meet | |
//! | [`similarity`] | what makes two documents similar, and what they must share at least, in integers | 2.2 |
//! | [`join`] | the join kernel: every pair of sets that reach a similarity | 2.2, 2.3 |
//! | [`cluster`] | pairs -> clusters -> the document to keep | |
//! | [`corpus`] | corpora of any size to measure with, shaped like a crawl | |
//! | [`options`](mod@options), [`choice`](mod@choice) | options and values that have names, each declared once | |
//! | [`hash`], [`decimal`], [`mask`], [`nearest`](mod@nearest), [`processor`], [`threads`], [`visible`] | every hash, numbers as they are typed, bits of a word, what was meant by a mistyped name, what the processor can do, work shared out, text that is safe to look at | |
//!
//! Nothing here knows of files, records, processes or command lines.

#![deny(clippy::print_stderr)]

pub mod choice;
pub mod cluster;
pub mod corpus;
pub mod decimal;
pub mod hash;
pub mod idf;
pub mod join;
pub mod mask;
pub mod nearest;
pub mod options;
pub mod processor;
pub mod similarity;
pub mod sketch;
pub mod text;
pub mod threads;
pub mod visible;
