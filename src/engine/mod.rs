//! The engines: ways to run the same chain with the same bytes as the answer.
//!
//! `local` is one process: [`columnar`] for Doc-Split, [`steps`] for chains of stages. `pipes` is a script over the stage
//! binaries, `hadoop` one of Hadoop Streaming jobs, `spark` a program for `spark-submit`.

pub mod cluster_driver;
pub mod columnar;
pub mod hadoop;
pub mod memory;
pub mod params;
pub mod peak;
pub mod pipes;
pub mod progress;
pub mod script;
pub mod shuffle;
pub mod spark;
pub mod steps;
