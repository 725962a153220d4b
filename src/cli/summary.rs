//! What a run says when it is over: `run.json`, the table, the warnings.

use super::options::Engine;
use crate::chains::Chain;
use crate::engine::dense::Done;
use crate::engine::dense::answer::{LARGE_SHARE, LargeCluster};
use crate::error::{Error, Result};
use crate::hash::Checksum;
use crate::io::{AtomicFile, each_row, expand_inputs};
use crate::record::Record;
use crate::record::cluster::{ClusterRow, Meta};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

fn sum(steps: &[Done], counter: &str) -> u64 {
    steps.iter().filter_map(|(_, _, counters)| counters.get(counter)).sum()
}

/// Warnings about features that are missing and clusters that are too large, by script.
pub fn warnings(steps: &[Done], clusters: Vec<LargeCluster>) -> Vec<String> {
    let documents = sum(steps, "documents");
    let without = sum(steps, "without_features");
    let mut warnings = Vec::new();
    if without * LARGE_SHARE > documents {
        let prefix = "without_features.";
        let scripts = steps.iter().flat_map(|(_, _, counters)| counters).filter_map(|(name, count)| {
            let script = name.strip_prefix(prefix)?;
            Some(format!("{count} of {} {script}", sum(steps, &format!("documents.{script}"))))
        });
        warnings.push(format!(
            "{without} of {documents} documents have no feature and pair with nothing ({}); \
             shorter features, such as a smaller K, or chars:K would reach them",
            scripts.collect::<Vec<_>>().join(", ")
        ));
    }
    if let Some(largest) = clusters.iter().max_by_key(|cluster| cluster.size) {
        let scripts: Vec<_> =
            largest.scripts.iter().map(|(script, count)| format!("{count} {script}")).collect();
        warnings.push(format!(
            "{} of over 1 % of the {documents} documents; the largest, kept {}, holds {} ({}). Look at it \
             with twinsplit explain; a higher tau, --min-features or --cluster star would split it",
            match clusters.len() {
                1 => "1 cluster".to_owned(),
                several => format!("{several} clusters"),
            },
            largest.kept,
            largest.size,
            scripts.join(", ")
        ));
    }
    warnings
}

/// The clusters of more than one in a hundred documents in `clusters.tsv`, their scripts from the meta data set.
pub fn cluster_scripts(clusters: &Path, meta: &Path, steps: &[Done]) -> Result<Vec<LargeCluster>> {
    let documents = sum(steps, "documents");
    let mut sizes: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
    each_row(clusters, |line| {
        *sizes.entry(ClusterRow::decode(line)?.kept.to_vec()).or_default() += 1;
        Ok(())
    })?;
    sizes.retain(|_, size| *size * LARGE_SHARE > documents);
    if sizes.is_empty() {
        return Ok(Vec::new());
    }
    let mut kept_of: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    each_row(clusters, |line| {
        let row = ClusterRow::decode(line)?;
        if sizes.contains_key(row.kept) {
            kept_of.insert(row.id.to_vec(), row.kept.to_vec());
        }
        Ok(())
    })?;
    let mut scripts: BTreeMap<Vec<u8>, BTreeMap<String, u64>> = BTreeMap::new();
    for part in expand_inputs(&[meta.to_owned()])? {
        each_row(&part, |line| {
            let row = Meta::decode(line)?;
            if let Some(kept) = kept_of.get(row.id) {
                let script = String::from_utf8_lossy(row.script).into_owned();
                *scripts.entry(kept.clone()).or_default().entry(script).or_default() += 1;
            }
            Ok(())
        })?;
    }
    let large = sizes.into_iter().map(|(kept, size)| {
        let scripts = scripts.remove(&kept).unwrap_or_default();
        LargeCluster { kept: String::from_utf8_lossy(&kept).into_owned(), size, scripts }
    });
    Ok(large.collect())
}

/// What a run reports.
pub struct Report<'a> {
    /// The chain.
    pub chain: Chain,
    /// Every option of the stages with its value.
    pub params: Vec<(String, String)>,
    /// The input documents.
    pub inputs: &'a [PathBuf],
    /// The folder of the answer.
    pub output: &'a Path,
    /// The engine.
    pub engine: Engine,
    /// Threads.
    pub threads: usize,
    /// Seconds from start to end.
    pub seconds: f64,
    /// The steps.
    pub steps: &'a [Done],
    /// The warnings.
    pub warnings: Vec<String>,
    /// Whether kept.jsonl was written.
    pub kept: bool,
}

impl Report<'_> {
    fn answers(&self) -> Vec<&'static str> {
        let mut files = vec!["pairs.tsv", "clusters.tsv"];
        if self.kept {
            files.push("kept.jsonl");
        }
        files
    }

    /// Writes `run.json`: parameters, digests of what was read and written, counters of each step.
    pub fn write(&self) -> Result<()> {
        let mut parameters = Map::new();
        for (name, value) in &self.params {
            parameters.insert(name.clone(), Value::from(value.as_str()));
        }
        parameters.insert("write-kept".to_owned(), Value::from(self.kept));
        let mut counters = Map::new();
        let mut seconds = Map::new();
        for (name, time, counts) in self.steps {
            counters.insert(name.clone(), json!(counts));
            seconds.insert(name.clone(), json!((time * 1000.0).round() / 1000.0));
        }
        let inputs = self.inputs.iter().map(|path| digest(path)).collect::<Result<Vec<_>>>()?;
        let outputs = self.answers().into_iter().map(|file| digest(&self.output.join(file)));
        let run = json!({
            "twinsplit": env!("CARGO_PKG_VERSION"),
            "chain": self.chain.name(),
            "engine": format!("{:?}", self.engine).to_lowercase(),
            "threads": self.threads,
            "parameters": parameters,
            "inputs": inputs,
            "outputs": outputs.collect::<Result<Vec<_>>>()?,
            "counters": counters,
            "seconds": { "total": (self.seconds * 1000.0).round() / 1000.0, "steps": seconds },
            "warnings": self.warnings,
        });
        let mut file = AtomicFile::create(&self.output.join("run.json"))?;
        file.line(format!("{run:#}").as_bytes())?;
        file.finish()
    }

    /// Prints the result and the warnings on standard error.
    pub fn print(&self, quiet: bool) -> Result<()> {
        for warning in &self.warnings {
            eprintln!("warning: {warning}");
        }
        if !quiet {
            let count = |name| sum(self.steps, name);
            eprintln!(
                "{} documents, {} clusters, {} documents to drop, in {:.2} s",
                count("documents"),
                count("clusters"),
                count("documents_dropped"),
                self.seconds
            );
            for file in self.answers() {
                eprintln!("  {}", self.output.join(file).display());
            }
        }
        Ok(())
    }
}

/// A file's name, size and checksum as it stands on disk; of a stream the name alone.
pub fn digest(path: &Path) -> Result<Value> {
    let name = path.to_string_lossy();
    if name == "-" || !path.is_file() {
        return Ok(json!({ "path": name }));
    }
    let mut file = std::fs::File::open(path).map_err(Error::io("open", path))?;
    let (mut checksum, mut bytes) = (Checksum::default(), 0);
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut buffer).map_err(Error::io("read", path))?;
        if read == 0 {
            return Ok(json!({ "path": name, "bytes": bytes, "xxh3": checksum.hex() }));
        }
        checksum.bytes(&buffer[..read]);
        bytes += read as u64;
    }
}
