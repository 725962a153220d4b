//! What a run says when it is over: `run.json`, the warnings, and in four lines what was found and where it lies.

use super::audit::Audit;
use super::manifest::{self, RunManifest, digest_of_output};
use super::options::RunOpts;
use super::output::owned::RUN;
use super::run::cut;
use super::table::{table, wrapped};
use indicatif::HumanCount;
use serde_json::{Map, Value, json};
use std::borrow::{Borrow, Cow};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use twinsplit_core::cluster::dropped::{BELOW, BEYOND, DISTANCE, DROPPED, least};
use twinsplit_core::similarity::Score;
use twinsplit_core::visible;
use twinsplit_engine::columnar::minhash::audit;
use twinsplit_engine::progress::{Done, documents};
use twinsplit_engine::steps::answer_file;
use twinsplit_engine::stores::{ADDED, REPLACED};
use twinsplit_io::error::Result;
use twinsplit_io::terminal::{self, plural};
use twinsplit_io::{AtomicFile, Stdout};
use twinsplit_rows::chains::{CLUSTERS, OF_QUERIES};
use twinsplit_rows::stages::queries::{NEAR, PAIRS, PARTS};
use twinsplit_rows::stages::reduce::{AT_DISTANCE, AT_FEATURES, AT_MILLIONTHS, LEFT};

/// The sum of a counter over steps.
pub(super) fn sum(steps: &[impl Borrow<Done>], counter: &str) -> u64 {
    steps.iter().filter_map(|step| step.borrow().counters.get(counter)).sum()
}

/// The counter of copies among documents whose sets are too small to be compared.
pub(super) const EQUAL_TEXTS: &str = "equal_texts";
/// The steps without all but the first of those that turn documents into something and count them: a chain of fingerprints has
/// two where it counts document frequencies. Queries are other documents.
pub(super) fn with_readers_once(steps: &[Done]) -> Vec<&Done> {
    let reads = |step: &&Done| step.counters.contains_key("documents") && step.name != OF_QUERIES;
    let first = steps.iter().position(|step| reads(&step));
    steps
        .iter()
        .enumerate()
        .filter(|(at, step)| Some(*at) == first || !reads(step))
        .map(|(_, step)| step)
        .collect()
}

/// What the audit of a run says, where there was one.
pub(super) fn reached(steps: &[impl Borrow<Done>]) -> Option<Audit> {
    let is_audited = steps.iter().any(|step| step.borrow().counters.contains_key(audit::PAIRS));
    let squares = [audit::PAIRS_SQUARED, audit::PAIRS_TIMES_FOUND, audit::FOUND_SQUARED];
    let is_sample = sum(steps, audit::DRAWN) < sum(steps, audit::OF_SETS);
    is_audited.then(|| Audit {
        pairs: sum(steps, audit::PAIRS),
        found: sum(steps, audit::FOUND),
        squares: is_sample.then(|| squares.map(|name| sum(steps, name))),
    })
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

/// A sentence on the documents that are in no pair with the one that stands for them; nothing where there are none.
fn below_kept(steps: &[Done]) -> Option<String> {
    let unlike = sum(steps, BELOW) + sum(steps, BEYOND);
    (unlike > 0).then(|| {
        format!(
            "{unlike} of {} dropped documents are in no pair with one that is kept: those for which they were dropped went later",
            sum(steps, DROPPED)
        )
    })
}

/// Where the documents end that `--reduce-to` has dropped; nothing of a run without it.
fn reduced(steps: &[Done]) -> Option<String> {
    let known = |name| steps.iter().find_map(|step| step.counters.get(name)).copied();
    known(LEFT)?;
    let share = known(AT_MILLIONTHS).and_then(|at| Score::share(u32::try_from(at).ok()?));
    Some(match (share, known(AT_FEATURES), known(AT_DISTANCE)) {
        (Some(share), ..) => format!("dropped at {share} and above"),
        (_, Some(features), _) => {
            format!("dropped at {} and more", plural(features, "shared feature", "shared features"))
        }
        (_, _, Some(distance)) => format!("dropped at a distance of {distance} and less"),
        _ if sum(steps, DROPPED) > 0 => "dropped: copies alone".to_owned(),
        _ => "nothing had to be dropped".to_owned(),
    })
}

/// The most that a step has counted: several may count the same sets.
pub(super) fn most(steps: &[impl Borrow<Done>], counter: &str) -> u64 {
    steps.iter().filter_map(|step| step.borrow().counters.get(counter)).max().copied().unwrap_or(0)
}

/// Lines on the features and sets that options have left out of the comparison; none where nothing was.
fn left_out(steps: &[Done]) -> Vec<String> {
    let most = |name| most(steps, name);
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
    pub answers: Vec<PathBuf>,
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
            "documents": documents(self.steps),
            "outputs": outputs,
            "steps": self.steps.iter().map(|step| step.name.as_str()).collect::<Vec<_>>(),
            "counters": counters,
            "seconds": { "total": milliseconds(self.seconds), "steps": seconds },
            "warnings": self.warnings,
        });
        run.extend(reached(self.steps).map(|audit| ("audit".to_owned(), audit.json())));
        run.extend(fields.as_object().cloned().unwrap_or_default());
        format!("{:#}", Value::from(run))
    }

    /// Writes `run.json` into the folder where the answer is made, with what is written there under the names that it
    /// gets, and gives its text.
    pub fn write(&self, made: &Path) -> Result<String> {
        let outputs = self.answers.iter().map(|file| {
            let mut output = digest_of_output(&made.join(file.file_name().unwrap_or_default()))?;
            if let (Some(output), Value::Object(named)) = (output.as_object_mut(), manifest::file(file)) {
                output.extend(named);
            }
            Ok(output)
        });
        let text = self.json(outputs.collect::<Result<_>>()?);
        let mut file = AtomicFile::create(&made.join(RUN))?;
        file.line(text.as_bytes())?;
        file.finish()?;
        Ok(text)
    }

    /// Prints the warnings and what was found on standard error, with the table of steps when that is asked for; or `json`, the text of
    /// `run.json`, on standard output instead.
    pub fn print(&self, opts: &RunOpts, json: &str) -> Result<()> {
        for warning in &self.warnings {
            terminal::warning(warning);
        }
        if opts.json {
            let mut out = Stdout::new();
            out.line(json.as_bytes())?;
            return out.flush();
        }
        if opts.quiet {
            return Ok(());
        }
        if opts.verbose {
            terminal::line(table(self.steps).trim_end());
        }
        let found = match self.steps.iter().find(|step| step.name == OF_QUERIES) {
            Some(queries) => self.near_queries(queries),
            None => self.found(),
        };
        found.iter().for_each(|line| terminal::line(at_terminal(line)));
        let name = |file: &PathBuf| {
            let name = file.file_name()?.to_string_lossy().into_owned();
            Some(if file.is_dir() { name + "/" } else { name })
        };
        let names: Vec<_> = self.answers.iter().filter_map(name).chain([RUN.to_owned()]).collect();
        let answer = format!("answer in {}: {}", visible::path(&opts.output), names.join(", "));
        terminal::line(at_terminal(&answer));
        // A page is made of files of this machine, and shows clusters.
        let is_here = self.answers.iter().any(|file| file.is_file() && file.ends_with(answer_file(CLUSTERS)));
        if is_here {
            let folder = visible::quote_name(opts.output.as_os_str());
            // A store has no texts that a page could show.
            match opts.store.store.is_some() || opts.store.against.is_some() {
                true => terminal::line(format_args!("next: twinsplit annotate {folder} -o annotated.jsonl")),
                false => terminal::line(format_args!("next: twinsplit report {folder}")),
            }
        }
        Ok(())
    }

    /// Lines on documents near queries.
    fn near_queries(&self, queries: &Done) -> Vec<String> {
        let once = with_readers_once(self.steps);
        let count = |name| sum(&once, name);
        let queries = sum(&[queries], "documents");
        // What passes by several parts of the queries is counted by each.
        let near = match self.manifest.fields()["parameters"][PARTS] == "1" {
            true => format!("{} of them in a pair with one of ", count(NEAR)),
            false => String::new(),
        };
        vec![format!(
            "{}, {near}{}, {}, in {:.2} s",
            plural(count("documents") - queries, "document", "documents"),
            plural(queries, "query", "queries"),
            plural(count(PAIRS), "pair", "pairs"),
            self.seconds
        )]
    }

    /// Lines on documents, clusters and what is kept, and before these what else is to be known of them.
    fn found(&self) -> Vec<String> {
        let once = with_readers_once(self.steps);
        let count = |name| sum(&once, name);
        let (documents, dropped) = (count("documents"), count(DROPPED));
        let [one, several] = cut::nouns(self.manifest);
        let of_documents = cut::of_documents(self.steps);
        let mut lines: Vec<String> = reached(self.steps).iter().map(ToString::to_string).collect();
        lines.extend(left_out(self.steps));
        let reduced = reduced(self.steps);
        // Below tau the document that is kept is not the one for which another was dropped, and stars are no way out.
        lines.extend(match &reduced {
            None => unlike_kept(self.steps),
            Some(_) => below_kept(self.steps),
        });
        lines.push(format!(
            "{}{}, in {:.2} s",
            plural(documents, one, several),
            of_documents.as_deref().unwrap_or_default(),
            self.seconds
        ));
        if count(REPLACED) > 0 {
            lines.push(format!(
                "{} in place of earlier versions",
                plural(count(REPLACED), "document", "documents")
            ));
        }
        let copies = match count(EQUAL_TEXTS) {
            0 => String::new(),
            copies => format!(" ({copies} by equal texts)"),
        };
        lines.push(format!(
            "{}, {} to drop{copies}",
            plural(count("clusters"), "cluster", "clusters"),
            plural(dropped, one, several)
        ));
        if let Some(cut) = cut::said(self.steps, [one, several]) {
            lines.push(cut);
            return lines;
        }
        // The clusters of a store have documents of other batches, too.
        lines.extend(match once.iter().any(|step| step.counters.contains_key(ADDED)) {
            true => None,
            false => {
                let reduced = reduced.map(|reduced| format!(", {reduced}")).unwrap_or_default();
                let kept = plural(documents - dropped.min(documents), "document", "documents");
                Some(format!("{kept} kept{reduced}"))
            }
        });
        lines
    }
}

/// A line as a terminal shows it whole; a file or a pipe has it in one piece.
fn at_terminal(line: &str) -> Cow<'_, str> {
    match std::io::stderr().is_terminal() {
        true => wrapped(line, 0).into(),
        false => line.into(),
    }
}

fn milliseconds(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}
