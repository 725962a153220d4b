//! The chain on a sample and on its quarters, by the engine whose steps are those of a cluster.

use super::growth::{Counted, PARTS};
use crate::sample::Sample;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use twinsplit_core::hash;
use twinsplit_core::join::slices::{SizeCount, plan_slices};
use twinsplit_core::similarity::Similarity;
use twinsplit_engine::library::Library;
use twinsplit_engine::pipes::PipesRun;
use twinsplit_engine::progress::{Done, Progress};
use twinsplit_engine::script_of;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::{AtomicFile, each_row, expand_inputs};
use twinsplit_rows::params::Params;
use twinsplit_rows::plan::{Engine, Plan};
use twinsplit_rows::record::Record;
use twinsplit_rows::record::set::Member;
use twinsplit_rows::stages::options::MinFeaturesOpts;
use twinsplit_rows::stages::slice_plan::SlicesOpts;

/// The seed of the quarters, other than the sample's own.
const QUARTERS: u64 = 0x71756172;

/// What the chain made of the sample and of its quarters.
pub struct Measured {
    /// The sample's steps in their order.
    pub steps: Vec<String>,
    /// Bytes of the sample's documents.
    pub document_bytes: u64,
    /// The sets of each size in the sample that enter a join.
    sizes: Vec<SizeCount>,
    whole: BTreeMap<String, Done>,
    parts: Vec<BTreeMap<String, Done>>,
    empty: BTreeMap<String, Done>,
}

impl Measured {
    /// Runs the chain in a folder: on the sample, its quarters, and no document.
    pub fn of(plan: &Plan, mut params: Params, sample: &Sample, folder: &Path) -> Result<Self> {
        // The collection's counts are compared with the limits, not the sample's.
        params.set("max-pairs", i64::MAX.to_string());
        let least: MinFeaturesOpts = params.parse()?;
        let script = script_of(&plan.on(Engine::Pipes, params), Library::Inside)?;
        let run = |name: &str, lines: &mut dyn Iterator<Item = &[u8]>| {
            let place = folder.join(name);
            fs::create_dir_all(&place).map_err(Error::io("create", &place))?;
            run(&script, &place, lines)
        };
        // By a hash, so that whether two documents are in one quarter does not depend on how alike they are.
        let lines = |part: usize| {
            let lines = sample.lines.iter().map(|(_, line)| line.as_slice());
            lines.filter(move |line| hash::sample(QUARTERS, line) % PARTS as u64 == part as u64)
        };
        let all = sample.lines.iter().map(|(_, line)| line.as_slice());
        let whole = run("whole", &mut all.clone())?;
        let parts = (0..PARTS).map(|part| run(&format!("part-{part}"), &mut lines(part)));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let empty = run("empty", &mut std::iter::empty())?;
        let by_name = |steps: Vec<Done>| steps.into_iter().map(|step| (step.name.clone(), step)).collect();
        Ok(Self {
            steps: whole.iter().map(|step| step.name.clone()).collect(),
            document_bytes: all.map(|line| line.len() as u64 + 1).sum(),
            sizes: sizes(&folder.join("whole/work/members"), &least)?,
            whole: by_name(whole),
            parts: parts.into_iter().map(by_name).collect(),
            empty: by_name(empty),
        })
    }

    /// A counter of a step.
    pub fn counted(&self, step: &str, counter: &str) -> Counted {
        let of = |steps: &BTreeMap<String, Done>| {
            steps.get(step).and_then(|done| done.counters.get(counter).copied()).unwrap_or(0)
        };
        Counted { whole: of(&self.whole), parts: std::array::from_fn(|part| of(&self.parts[part])) }
    }

    /// Seconds that a step took, without those that it takes for no document.
    pub fn seconds(&self, step: &str) -> f64 {
        let of = |steps: &BTreeMap<String, Done>| steps.get(step).map_or(0.0, |done| done.seconds);
        (of(&self.whole) - of(&self.empty)).max(0.0)
    }

    /// The slices by size of a collection that has `times` as many sets of each size.
    pub fn slices(&self, similarity: Similarity, slices: &SlicesOpts, times: f64) -> u64 {
        let scaled = self
            .sizes
            .iter()
            .map(|count| SizeCount { docs: (count.docs as f64 * times).ceil() as u64, ..*count });
        let plan = plan_slices(&scaled.collect::<Vec<_>>(), similarity, slices.wanted());
        (plan.len() as u64).max(1)
    }
}

/// One run, one task at a time, so that a step's seconds are those of one core.
fn run(script: &str, folder: &Path, lines: &mut dyn Iterator<Item = &[u8]>) -> Result<Vec<Done>> {
    let (input, output, work) = (folder.join("documents.jsonl"), folder.join("answer"), folder.join("work"));
    let mut file = AtomicFile::create(&input)?;
    for line in lines {
        file.line(line)?;
    }
    file.finish()?;
    let lock = fs::File::open(&input).map_err(Error::io("open", &input))?;
    let run = PipesRun {
        script,
        inputs: &[input],
        output: &output,
        work: &work,
        threads: 1,
        memory: 1 << 30,
        lock: &lock,
        fields: "",
        progress: &Progress::default(),
    };
    run.run()
}

/// How many different sets have which size.
fn sizes(folder: &Path, least: &MinFeaturesOpts) -> Result<Vec<SizeCount>> {
    let mut sizes = BTreeMap::new();
    if folder.exists() {
        for part in expand_inputs(&[folder.to_owned()])? {
            each_row(&part, |row| {
                if let Member::Doc(doc) = Member::decode(row)? {
                    let size = doc.features.size();
                    *sizes.entry(size).or_insert(0) += u64::from(least.admits(size));
                }
                Ok(())
            })?;
        }
    }
    Ok(sizes.into_iter().map(|(size, docs)| SizeCount { size, docs }).collect())
}
