//! The engines: ways to run the same chain with the same bytes as the answer.
//!
//! `local` is one process: [`columnar`] for Doc-Split and for Term-Split with the prefix filter, [`steps`] for all other chains,
//! whose stages run as they are and whose rows are shuffled in memory. `pipes` is a script over the stages as processes, `hadoop` one
//! of Hadoop Streaming jobs, `spark` a program for `spark-submit`.

#![deny(clippy::print_stderr)]

pub mod cluster_driver;
pub mod columnar;
pub mod hadoop;
pub mod library;
pub mod memory;
pub mod peak;
pub mod pipes;
pub mod progress;
pub mod script;
pub mod shuffle;
pub mod spark;
pub mod spill;
pub mod steps;
pub mod stores;

use library::Library;
use script::quote;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::plan::{Engine, Plan};

/// The script that runs a plan on its engine, with what scripts share beside it or inside.
///
/// # Errors
/// When a parameter cannot be had there, and for the engine `local`, which runs no script.
pub fn script_of(plan: &Plan, library: Library) -> Result<String> {
    let mut title = format!("twinsplit plan {}", plan.family.name);
    if plan.engine != Engine::Pipes {
        title.push_str(&format!(" --engine {}", plan.engine.name()));
    }
    for (name, value) in plan.params.iter() {
        title.push_str(&format!(" --{name} {}", quote(value)));
    }
    if plan.writes_lines() {
        title.push_str(" --write-kept");
    }
    if library == Library::Inside {
        title.push_str(" --inline");
    }
    let (parts, outputs, params) = (plan.chain.parts(), plan.chain.output.data(), &plan.params);
    match plan.engine {
        Engine::Local => Err(Error::Usage("the engine local runs no script".to_owned())),
        Engine::Pipes => pipes::script(&title, &parts, &outputs, params, library),
        Engine::Hadoop => hadoop::script(&title, &parts, &outputs, params, library),
        Engine::Spark => spark::script(&title, &parts, &outputs, params, library),
    }
}
