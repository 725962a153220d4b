//! What the integration tests share: a slow and obvious oracle, corpora, and a harness that runs the
//! real binary and compares bytes.

pub mod bounds;
pub mod browser;
pub mod ccdet;
pub mod chains;
pub mod cli;
pub mod cluster;
pub mod command_server;
pub mod corpora;
pub mod cover;
pub mod expected;
pub mod faults;
pub mod features;
pub mod harness;
pub mod kafka;
pub mod matrix;
pub mod odd;
pub mod oracle;
pub mod polled;
pub mod real;
pub mod rng;
pub mod shapes;
pub mod spark;
pub mod stages;
pub mod tutorial;
