//! The face of the crate: what a program that uses it sees.
//!
//! | | |
//! |---|---|
//! | [`Dedup`] | which features, which threshold, how much memory; takes documents |
//! | [`Document`] | a document: an id, a text, and what a keep rule may ask for |
//! | [`Duplicates`] | what was found: [pairs](Duplicates::pairs) and [clusters](Duplicates::clusters) |
//! | [`Index`] | a collection that is asked for the documents that are like a text |
//!
//! | [`Measure`], [`Relation`](crate::similarity::containment::Relation) | what documents are compared by; which of two contains the other |
//!
//! Both ways lead through the parts that the command line runs: documents go through the local engine
//! ([`crate::engine::columnar`]), queries through the join [kernel](crate::join::kernel).

mod dedup;
mod document;
mod duplicates;
mod index;
mod stream;
#[cfg(test)]
mod tests;

pub use dedup::Dedup;
pub use document::Document;
pub use duplicates::{Cluster, Clusters, Dropped, Duplicates, Pair, Pairs};
pub use index::{Index, Match};

use crate::error::Error;
use crate::similarity::Measure;
use crate::{ClusterKind, KeepRule, Marks, NormalForm};
use clap::ValueEnum;
use std::str::FromStr;

/// The similarity of sets of these sizes that share so many features, which are at least one: for reading, as nothing is decided
/// from it.
fn share(measure: Measure, overlap: u64, a: u64, b: u64) -> f64 {
    let (o, a, b) = (overlap as f64, a as f64, b as f64);
    match measure {
        Measure::Jaccard => o / (a + b - o),
        Measure::Containment => o / a.min(b),
        Measure::Cosine => o / (a * b).sqrt(),
        Measure::Dice => 2.0 * o / (a + b),
        Measure::Overlap => o,
    }
}

/// Choices by the names that they have on the command line, for programs that read them from a file.
macro_rules! named {
    ($($choice:ty, $what:literal;)*) => {$(
        impl FromStr for $choice {
            type Err = Error;

            fn from_str(name: &str) -> Result<Self, Error> {
                let names = || Self::value_variants().iter().filter_map(Self::to_possible_value);
                let known = || names().map(|value| value.get_name().to_owned()).collect::<Vec<_>>().join(", ");
                <Self as ValueEnum>::from_str(name, false).map_err(|_| Error::Value {
                    name: $what,
                    value: name.to_owned(),
                    problem: format!("expected one of {}", known()),
                })
            }
        }
    )*};
}

named! {
    Measure, "similarity";
    ClusterKind, "cluster";
    KeepRule, "keep";
    Marks, "marks";
    NormalForm, "normalise";
}
