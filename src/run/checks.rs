//! What is refused before a run writes anything.

use super::super::options::RunOpts;
use super::super::output::{self, owned};
use super::super::store;
use super::super::{forecast, keep_field};
use super::and::And;
use super::cut::Cut;
use super::kept::KeptFiles;
use crate::convert::InFront;
use std::path::{Path, PathBuf};
use twinsplit_core::visible;
use twinsplit_engine::columnar::ColumnarJoin;
use twinsplit_engine::memory::Budget;
use twinsplit_engine::steps;
use twinsplit_engine::stores::StoreRun;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::chains::{Columnar, Family};
use twinsplit_rows::params::Params;
use twinsplit_rows::plan::{KeptForm, Plan};

/// What is known of a run that may begin. Of one on a cluster nothing is: its files are looked at there.
#[derive(Default)]
pub struct Checked<'a> {
    /// The store that it has.
    pub with_store: Option<StoreRun<'a>>,
    /// The files of the documents.
    pub inputs: Vec<PathBuf>,
    /// The files of the queries.
    pub queries: Vec<PathBuf>,
    /// Whether pairs of postings are foretold from the documents.
    pub forecasts: bool,
    /// Whether the field of the keep rule is looked for in them.
    pub checks_fields: bool,
    /// How the engine `local` works on columns, where it does.
    pub ways: Option<([Columnar; 4], ColumnarJoin)>,
    /// Which fields they have, where the keep rule asks for one.
    pub fields: String,
    /// The files of kept documents, where these are written in the form of the input.
    pub kept: Option<KeptFiles>,
    /// What is cut out of the documents, where their units are compared.
    pub cut: Option<Cut>,
    /// What is checked of pairs, where their documents are to be alike in another field, too.
    pub and: Option<And>,
}

impl<'a> Checked<'a> {
    /// That of a run.
    ///
    /// # Errors
    /// When it cannot be done as it is asked for.
    pub fn of(plan: &Plan, opts: &'a RunOpts, documents: &Documents, as_asked: &Params) -> Result<Self> {
        refuse_settings(opts)?;
        let in_front = documents.in_front.as_ref();
        if let (Some(in_front), Some(_)) = (in_front, plan.params.get("queries")) {
            return Err(Error::Usage(match opts.inputs.unit {
                Some(_) => in_front.refuse("does not go with --queries, which says of documents what stands in them").to_string(),
                None => {
                    "--queries goes with documents that are JSON lines in UTF-8; convert queries and documents with twinsplit convert first"
                        .to_owned()
                }
            }));
        }
        let has_store = opts.store.store.is_some() || opts.store.against.is_some();
        if let (Some(in_front), Some(_), true) = (in_front, opts.inputs.unit, has_store) {
            return Err(in_front.refuse(
                "does not go with a store, whose clusters have units of documents that are not read again",
            ));
        }
        let and = And::of(plan, opts)?;
        let with_store = store::of(opts, plan)?;
        if plan.engine.is_remote() {
            keep_field::check(&plan.params, &[])?;
            return Ok(Self::default());
        }
        output::check(opts)?;
        let inputs = documents.checked(opts, plan)?;
        if and.is_some() && in_front.is_none() {
            refuse_streams(&inputs, "--and reads the documents of pairs again")?;
        }
        let queries = checked_queries(plan)?;
        let side = plan.params.named_files();
        let side = side.iter().map(|(_, file)| Path::new(*file));
        let read = inputs.iter().chain(&queries).map(PathBuf::as_path).chain(side);
        owned::refuse_inputs(&opts.output, read)?;
        let forecasts = plan.chain.candidates.pairs_all_postings() && !opts.resume;
        if forecasts && in_front.is_none() {
            forecast::refuse_hopeless(&plan.params, opts, &inputs)?;
        }
        // A bound that is too small is named before anything is written.
        Budget::of_stages(opts.memory_bytes(), opts.threads())?;
        let ways = plan.columnar().filter(|_| with_store.is_none());
        let ways = ways.and_then(|ways| Some((ways, ColumnarJoin::of(ways)?)));
        // The columnar way looks at the first line when it reads it: that may be of a stream.
        let checks_fields = ways.is_none();
        let fields = match checks_fields && in_front.is_none() {
            true => keep_field::check(&plan.params, &inputs)?,
            false => String::new(),
        };
        let asked = (opts.write_kept, opts.cut_all);
        let cut = Cut::of(plan, (&inputs, in_front), as_asked, asked, opts.memory_bytes())?;
        let kept = match plan.write_kept {
            Some(KeptForm::Same) => {
                // A store's clusters have documents of other batches, too.
                let is_all = with_store.is_none();
                let params = (as_asked, &plan.params);
                let bounds = (opts.memory_bytes(), opts.threads());
                Some(KeptFiles::of(&inputs, in_front, params, bounds, is_all)?)
            }
            _ => None,
        };
        Ok(Self { with_store, inputs, queries, forecasts, checks_fields, ways, fields, kept, cut, and })
    }
}

/// Refuses what only a cluster's jobs have.
fn refuse_settings(opts: &RunOpts) -> Result<()> {
    let given = [("--reducers", opts.reducers.is_some()), ("--define", !opts.settings.is_empty())];
    if let (Some(KeptForm::Same), true) = (opts.write_kept, opts.engine.is_remote()) {
        return Err(Error::Usage(format!(
            "--write-kept=same is for --engine local and pipes; with --engine {} kept documents are lines: leave =same out",
            opts.engine.name()
        )));
    }
    if !opts.tables.is_empty() && opts.engine.is_remote() {
        return Err(Error::Usage(format!(
            "--tables is for --engine local and pipes; the pairs and clusters of --engine {} lie in folders of TSV, which DuckDB and Spark read: leave \
             --tables out",
            opts.engine.name()
        )));
    }
    match given.into_iter().find(|(_, given)| *given && !opts.engine.is_remote()) {
        Some((option, _)) => {
            Err(Error::Usage(format!("{option} is for the jobs of --engine hadoop and spark")))
        }
        None => Ok(()),
    }
}

/// The documents of a run.
pub struct Documents {
    /// As they were given, or the files that are chosen among them.
    pub given: Vec<PathBuf>,
    /// All files; none where they lie in a cluster.
    pub files: Vec<PathBuf>,
    /// What is done before they are read.
    pub in_front: Option<InFront>,
}

impl Documents {
    /// Those that options name.
    pub fn of(opts: &RunOpts, takes_sample: bool) -> Result<Self> {
        let is_remote = opts.engine.is_remote();
        if is_remote && opts.inputs.selects() {
            return Err(Error::Usage(
                "--include and --exclude look at folders of this machine; a pattern such as 'crawl/*.gz' as --input does what they do there"
                    .to_owned(),
            ));
        }
        let files = if is_remote { Vec::new() } else { opts.inputs.files(&opts.input)? };
        let in_front = InFront::of(&opts.inputs, &files);
        if takes_sample && !is_remote {
            InFront::refuse_sample(&opts.inputs, &files)?;
        }
        if let (Some(in_front), true) = (&in_front, is_remote) {
            return Err(
                in_front.refuse("is for --engine local and pipes; a cluster's jobs read JSON lines in UTF-8")
            );
        }
        if is_remote && opts.inputs.html.is_some() {
            return Err(Error::Usage(
                "--html is for --engine local and pipes; a cluster's jobs read JSON lines, which `twinsplit convert --html article` makes of web pages"
                    .to_owned(),
            ));
        }
        let given = if opts.inputs.selects() { files.clone() } else { opts.input.clone() };
        Ok(Self { given, files, in_front })
    }

    /// The files; what is missing, and a stream that would have to be read twice, is named.
    fn checked(&self, opts: &RunOpts, plan: &Plan) -> Result<Vec<PathBuf>> {
        if opts.output == Path::new("-") {
            return Err(Error::Usage(
                "a run writes several files, so --output is a folder and not -; \
                 twinsplit plan shows the pipe that writes pairs to standard output"
                    .to_owned(),
            ));
        }
        let inputs = &self.files;
        refuse_own_answer(inputs, &opts.output)?;
        if let Some(missing) = inputs.iter().find(|path| *path != Path::new("-") && !path.exists()) {
            return Err(Error::File {
                path: missing.clone(),
                problem: match missing.to_str().is_some_and(|name| Family::named(name).is_some()) {
                    true => {
                        "there is no such file or folder; the name of a chain comes before --input".to_owned()
                    }
                    false => "there is no such file or folder".to_owned(),
                },
            });
        }
        if !plan.reads_once() && self.in_front.is_none() {
            let of_queries = "with --queries each task reads its part of the files";
            let of_chains = "only doc-split, term-split --pcp prefix without --df-cut and --accumulators, minhash with --check exact and \
                 without --idf, and simhash without --check and without --weights of counted frequencies read it once, with the \
                 engine local and without --write-kept";
            refuse_streams(
                inputs,
                if plan.params.get("queries").is_some() { of_queries } else { of_chains },
            )?;
        }
        Ok(inputs.clone())
    }
}

/// The files of the queries, if there are some.
fn checked_queries(plan: &Plan) -> Result<Vec<PathBuf>> {
    let queries = steps::queries(&plan.params)?;
    if let Some(missing) = queries.iter().find(|path| *path != Path::new("-") && !path.exists()) {
        let problem = "there is no such file or folder; --queries names the queries".to_owned();
        return Err(Error::File { path: missing.clone(), problem });
    }
    refuse_streams(&queries, "--queries names documents as files")?;
    Ok(queries)
}

/// Refuses standard input, and pipes that have a name, where the input is read more than once.
pub fn refuse_streams(inputs: &[PathBuf], why: &str) -> Result<()> {
    let stream = |path: &&PathBuf| *path == Path::new("-") || (path.exists() && !path.is_file());
    match inputs.iter().find(stream) {
        Some(path) => Err(Error::Usage(format!(
            "the input is read more than once, so {} cannot be it: {why}; write it to a file first",
            if *path == Path::new("-") { "standard input".to_owned() } else { visible::path(path) }
        ))),
        None => Ok(()),
    }
}

/// Refuses input in the output folder, which `--overwrite` would remove before it is read.
fn refuse_own_answer(inputs: &[PathBuf], output: &Path) -> Result<()> {
    let Some(output) = output.canonicalize().ok().filter(|output| output.is_dir()) else { return Ok(()) };
    match inputs.iter().find(|path| path.canonicalize().is_ok_and(|path| path.starts_with(&output))) {
        Some(path) => Err(Error::Usage(format!(
            "the input {} lies in the output folder, where a run replaces files; choose another --output",
            visible::path(path)
        ))),
        None => Ok(()),
    }
}
