//! What a run says when it is over: `run.json`, the table, the warnings.

use super::audit::Audit;
use super::manifest::{RunManifest, digest};
use super::output::owned::RUN;
use super::table::table;
use crate::chains::OF_QUERIES;
use crate::cluster::dropped::{BELOW, BEYOND, DISTANCE, DROPPED, least};
use crate::cluster::ids::Ids;
use crate::engine::columnar::minhash::{AUDIT_FOUND, AUDITED};
use crate::engine::columnar::output::{LARGE_SHARE, LargeCluster};
use crate::engine::progress::Done;
use crate::error::Result;
use crate::io::{AtomicFile, Stdout, each_row, expand_inputs};
use crate::record::cluster::ClusterRow;
use crate::record::document::SURROGATES;
use crate::record::meta::Meta;
use crate::record::{Record, second_field, tag};
use crate::stages::hamming::FINGERPRINTS;
use crate::stages::hamming_batch::{NEAR, PAIRS};
use crate::stages::signature_check::{BELOW as ESTIMATED_BELOW, ESTIMATED, UNCHECKED};
use crate::terminal::{self, plural};
use indicatif::HumanCount;
use serde_json::{Map, Value, json};
use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::path::Path;

fn sum(steps: &[impl Borrow<Done>], counter: &str) -> u64 {
    steps.iter().filter_map(|step| step.borrow().counters.get(counter)).sum()
}

/// The counter of copies among documents whose sets are too small to be compared.
const EQUAL_TEXTS: &str = "equal_texts";
/// Of fewer documents than this, neither one without features nor two that are alike are a sign that the features do not fit.
const FEW: u64 = 50;

/// A share in whole percent, rounded down, so that 100 is all.
fn percent(part: u64, whole: u64) -> u128 {
    100 * u128::from(part) / u128::from(whole)
}

/// The steps without all but the first of those that turn documents into something and count them: a chain of fingerprints has
/// two where it counts document frequencies. A batch of queries is of other documents.
fn with_readers_once(steps: &[Done]) -> Vec<&Done> {
    let reads = |step: &&Done| step.counters.contains_key("documents") && step.name != OF_QUERIES;
    let first = steps.iter().position(|step| reads(&step));
    steps
        .iter()
        .enumerate()
        .filter(|(at, step)| Some(*at) == first || !reads(step))
        .map(|(_, step)| step)
        .collect()
}

/// Warnings about features that are missing and clusters that are too large, by script.
pub fn warnings(steps: &[Done], clusters: Vec<LargeCluster>, promised: Option<f64>) -> Vec<String> {
    let steps = with_readers_once(steps);
    let steps = &steps[..];
    let documents = sum(steps, "documents");
    let without = sum(steps, "without_features");
    let mut warnings = Vec::new();
    if documents == 0 {
        warnings.push(
            "there were no documents in the input, so the output is empty; is --input right?".to_owned(),
        );
    }
    if documents >= FEW && without * LARGE_SHARE > documents {
        let prefix = "without_features.";
        let scripts = steps.iter().flat_map(|step| &step.counters).filter_map(|(name, count)| {
            let script = name.strip_prefix(prefix)?;
            Some(format!("{count} of {} {script}", sum(steps, &format!("documents.{script}"))))
        });
        let scripts = scripts.collect::<Vec<_>>().join(", ");
        // A share of which nobody would say that the answer is that of the collection.
        let loud = match 5 * without > documents {
            true => format!("{} % OF THE DOCUMENTS CANNOT BE COMPARED: ", percent(without, documents)),
            false => String::new(),
        };
        warnings.push(format!(
            "{loud}{without} of {documents} documents have no feature and pair with nothing ({scripts}); \
             shorter features, such as a smaller K, or chars:K would reach them{}",
            match sum(steps, EQUAL_TEXTS) {
                0 => String::new(),
                copies => format!("; {copies} copies among such documents were found by their equal texts"),
            }
        ));
    }
    let surrogates = sum(steps, SURROGATES);
    if surrogates > 0 {
        let what = plural(surrogates, "escape in the texts is", "escapes in the texts are");
        warnings.push(format!(
            "{what} half of a surrogate pair, such as \\ud800, and read as U+FFFD; make the documents again where that matters"
        ));
    }
    warnings.extend(audit(steps).and_then(|audit| audit.warning(promised)));
    let (estimated, below) = (sum(steps, ESTIMATED), sum(steps, ESTIMATED_BELOW));
    if estimated > 0 {
        // Estimates below tau are in the answer where nothing is checked alone.
        let unchecked = steps.iter().any(|step| step.counters.contains_key(UNCHECKED));
        warnings.push(match unchecked {
            true => format!(
                "APPROXIMATE: --check none takes candidates for pairs: by the estimates of their signatures {below} of \
                 {estimated} pairs ({} %) are below tau; --check exact leaves these out",
                percent(below, estimated)
            ),
            false => format!(
                "APPROXIMATE: overlaps and similarities of {estimated} pairs are estimates of --check signature, and pairs \
                 near tau may be on its wrong side; --check exact counts what they share"
            ),
        });
    }
    let by_fingerprints = steps.iter().any(|step| step.counters.contains_key(FINGERPRINTS));
    if let Some(largest) = clusters.iter().filter(|_| documents >= FEW).max_by_key(|cluster| cluster.size) {
        let scripts: Vec<_> =
            largest.scripts.iter().map(|(script, count)| format!("{count} {script}")).collect();
        warnings.push(format!(
            "{} of over 1 % of the {documents} documents; the largest, kept {}, holds {} ({}). Look at it \
             with twinsplit explain; {}, --min-features or --cluster star would split it",
            plural(clusters.len() as u64, "cluster", "clusters"),
            largest.kept,
            largest.size,
            scripts.join(", "),
            if by_fingerprints { "a smaller --distance" } else { "a higher tau" }
        ));
    }
    warnings
}

/// What the audit of a run says, where there was one.
fn audit(steps: &[impl Borrow<Done>]) -> Option<Audit> {
    let audited = steps.iter().any(|step| step.borrow().counters.contains_key(AUDITED));
    audited.then(|| Audit { pairs: sum(steps, AUDITED), found: sum(steps, AUDIT_FOUND) })
}

/// A sentence on the dropped documents that are no pair with the kept one; nothing where there are none.
fn unlike_kept(steps: &[Done]) -> Option<String> {
    let beyond = sum(steps, BEYOND);
    if beyond > 0 {
        return Some(format!(
            "{beyond} of {} dropped documents are farther than --distance from the document that is kept, which a chain of \
             pairs joins to them; --cluster star drops none of these",
            sum(steps, DROPPED)
        ));
    }
    let below = sum(steps, BELOW);
    let distance = steps.iter().filter_map(|step| step.counters.get(DISTANCE)).max();
    // Jobs of Hadoop add counters up, so they tell no least similarity.
    let least = distance.and_then(|distance| least(*distance));
    let least = least.map(|least| format!(", the least similarity is {least}")).unwrap_or_default();
    (below > 0).then(|| {
        format!(
            "{below} of {} dropped documents are below tau to the document that is kept, which a chain of pairs joins \
             to them{least}; --cluster star drops none of these",
            sum(steps, DROPPED)
        )
    })
}

/// Lines on the features and sets that options have left out of the comparison; none where nothing was.
fn left_out(steps: &[Done]) -> Vec<String> {
    // Several steps may count the same sets.
    let most =
        |name| steps.iter().filter_map(|step: &Done| step.counters.get(name)).max().copied().unwrap_or(0);
    let counted = |name| (most(name) > 0).then(|| HumanCount(most(name)));
    let sites = counted("features_of_one_site").map(|features| {
        let postings = HumanCount(most("postings_of_one_site"));
        format!("left out: {features} features that only pages of one site have, {postings} times")
    });
    let range = counted("features_out_of_idf_range")
        .map(|features| format!("left out: {features} features outside the IDF range"));
    // Without an option these are the documents without features, which are warned of.
    let small = counted("sets_below_min_features")
        .filter(|_| most("sets_below_min_features") > most("sets_without_features"))
        .map(|sets| format!("left out: {sets} documents with fewer features than --min-features"));
    [sites, range, small].into_iter().flatten().collect()
}

/// The clusters of more than one in a hundred documents in `clusters.tsv`, where those of one cluster stand together,
/// with their scripts from the data set of members.
pub fn cluster_scripts(clusters: &Path, of_members: &Path, steps: &[Done]) -> Result<Vec<LargeCluster>> {
    let documents = sum(&with_readers_once(steps), "documents");
    let mut large: Vec<LargeCluster> = Vec::new();
    let mut current = (Vec::new(), 0);
    let mut end = |(kept, size): (Vec<u8>, u64)| {
        if size * LARGE_SHARE > documents {
            let kept = String::from_utf8_lossy(&kept).into_owned();
            large.push(LargeCluster { kept, size, scripts: BTreeMap::new() });
        }
    };
    each_row(clusters, |line| {
        let row = ClusterRow::decode(line)?;
        if row.kept != current.0 {
            end(std::mem::replace(&mut current, (row.kept.to_vec(), 0)));
        }
        current.1 += 1;
        Ok(())
    })?;
    end(current);
    if large.is_empty() {
        return Ok(large);
    }
    // Their members, with the number of their cluster: there are a hundred of these at most.
    let number: BTreeMap<String, usize> =
        (0..).zip(&large).map(|(at, cluster)| (cluster.kept.clone(), at)).collect();
    let (mut members, mut cluster_of) = (Ids::default(), Vec::new());
    each_row(clusters, |line| {
        let row = ClusterRow::decode(line)?;
        if let Some(&cluster) = number.get(&*String::from_utf8_lossy(row.kept)) {
            members.number(row.id);
            cluster_of.push(cluster);
        }
        Ok(())
    })?;
    for part in expand_inputs(&[of_members.to_owned()])? {
        each_row(&part, |line| {
            if second_field(line) != Some(tag::META) {
                return Ok(());
            }
            let row = Meta::decode(line)?;
            if let Some(member) = members.find(row.id) {
                let script = String::from_utf8_lossy(row.script).into_owned();
                *large[cluster_of[member as usize]].scripts.entry(script).or_default() += 1;
            }
            Ok(())
        })?;
    }
    Ok(large)
}

/// What a run reports.
pub struct Report<'a> {
    /// What was run on what.
    pub manifest: &'a RunManifest,
    /// Threads, or jobs at once.
    pub threads: usize,
    /// Seconds from start to end.
    pub seconds: f64,
    /// The steps.
    pub steps: &'a [Done],
    /// The warnings.
    pub warnings: Vec<String>,
    /// The files of the answer, or on a cluster its folders, as the user has to name them.
    pub answers: Vec<String>,
}

impl Report<'_> {
    /// The text of `run.json`: parameters, what was read and written, counters of each step.
    pub fn json(&self, outputs: Vec<Value>) -> String {
        let mut counters = Map::new();
        let mut seconds = Map::new();
        for step in self.steps {
            counters.insert(step.name.clone(), json!(step.counters));
            seconds.insert(step.name.clone(), json!(milliseconds(step.seconds)));
        }
        let mut run = self.manifest.fields().clone();
        let fields = json!({
            "threads": self.threads,
            "outputs": outputs,
            "steps": self.steps.iter().map(|step| step.name.as_str()).collect::<Vec<_>>(),
            "counters": counters,
            "seconds": { "total": milliseconds(self.seconds), "steps": seconds },
            "warnings": self.warnings,
        });
        run.extend(audit(self.steps).map(|audit| ("audit".to_owned(), audit.json())));
        run.extend(fields.as_object().cloned().unwrap_or_default());
        format!("{:#}", Value::from(run))
    }

    /// Writes `run.json` into the folder where the answer is made, with what is written there under the names that it
    /// gets, and gives its text.
    pub fn write(&self, made: &Path) -> Result<String> {
        let outputs = self.answers.iter().map(|file| {
            let file = Path::new(file);
            let mut output = digest(&made.join(file.file_name().unwrap_or_default()))?;
            output["path"] = file.to_string_lossy().into();
            Ok(output)
        });
        let text = self.json(outputs.collect::<Result<_>>()?);
        let mut file = AtomicFile::create(&made.join(RUN))?;
        file.line(text.as_bytes())?;
        file.finish()?;
        Ok(text)
    }

    /// Prints the table, the result and the warnings on standard error, or `json` on standard output instead.
    pub fn print(&self, quiet: bool, json: Option<&str>) -> Result<()> {
        for warning in &self.warnings {
            terminal::warning(warning);
        }
        if let Some(json) = json {
            let mut out = Stdout::new();
            out.line(json.as_bytes())?;
            return out.flush();
        }
        if !quiet {
            let once = with_readers_once(self.steps);
            let count = |name| sum(&once, name);
            terminal::line(table(self.steps).trim_end());
            if let Some(queries) = self.steps.iter().find(|step| step.name == OF_QUERIES) {
                let queries = sum(&[queries], "documents");
                terminal::line(format_args!(
                    "{}, {} of them near one of {}, {}, in {:.2} s",
                    plural(count("documents") - queries, "document", "documents"),
                    count(NEAR),
                    plural(queries, "query", "queries"),
                    plural(count(PAIRS), "pair", "pairs"),
                    self.seconds
                ));
                self.answers.iter().for_each(|file| terminal::line(format_args!("  {file}")));
                return Ok(());
            }
            terminal::line(format_args!(
                "{}, {}, {} to drop{}, in {:.2} s",
                plural(count("documents"), "document", "documents"),
                plural(count("clusters"), "cluster", "clusters"),
                plural(count(DROPPED), "document", "documents"),
                match count(EQUAL_TEXTS) {
                    0 => String::new(),
                    copies => format!(" ({copies} by equal texts)"),
                },
                self.seconds
            ));
            audit(self.steps).iter().for_each(terminal::line);
            left_out(self.steps).into_iter().chain(unlike_kept(self.steps)).for_each(terminal::line);
            for file in &self.answers {
                terminal::line(format_args!("  {file}"));
            }
        }
        Ok(())
    }
}

fn milliseconds(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}
