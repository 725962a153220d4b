//! `twinsplit run`: a chain from documents to pairs and clusters.

mod and;
mod checks;
pub mod cut;
mod dry;
mod kept;
mod tables;

pub use and::{AND, AndField};
pub use checks::refuse_streams;
pub use cut::settle as settle_units;
pub use tables::TableForm;

use super::convert::{InFront, UNREAD};
use super::manifest::{Known, RunManifest};
use super::options::{self, RunOpts};
use super::output::owned::{self, DOCUMENTS, UNITS};
use super::output::{Output, Start};
use super::progress::Display;
use super::quarantine::{self, Places, QUARANTINE};
use super::recall::SampleThere;
use super::store;
use super::{cluster_driver, cluster_sample, forecast, interrupt, keep_field, summary, warnings};
use crate::args;
use and::And;
use checks::{Checked, Documents};
use clap::{ArgMatches, Args, Command};
use cut::Cut;
use kept::KeptFiles;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use tables::Tables;
use twinsplit_core::visible;
use twinsplit_engine::columnar::{ColumnarJoin, ColumnarOpts, ColumnarRun, Ran};
use twinsplit_engine::library::Library;
use twinsplit_engine::pipes::PipesRun;
use twinsplit_engine::progress::{Done, Progress};
use twinsplit_engine::script_of;
use twinsplit_engine::steps::{LocalSteps, answer_file};
use twinsplit_engine::stores::{BATCHES, CHANGES, StoreRan, StoreRun};
use twinsplit_io::error::{Error, Result};
use twinsplit_io::terminal;
use twinsplit_io::{Contents, Stdout, Target};
use twinsplit_rows::chains::{CLUSTERS, Columnar};
use twinsplit_rows::plan::{Asked, Engine, KeptForm, Origin, Plan};
use twinsplit_rows::stages::reduce::REDUCE_TO;

/// The command line of `run`.
pub fn command() -> Command {
    options::with_stage_options(RunOpts::augment_args(
        Command::new("run").arg(options::chain()).arg(options::recall()),
    ))
    .about("Finds pairs and clusters of near-duplicate documents")
    .long_about(None)
}

/// `twinsplit run`.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let start = Instant::now();
    let opts: RunOpts = args::read(matches)?;
    let takes_sample = matches.contains_id("recall");
    if opts.dry_run && takes_sample && opts.engine.is_remote() {
        return Err(Error::Usage(
            "--dry-run starts no job on a cluster, and --recall draws its sample by one; leave one of them out".to_owned(),
        ));
    }
    let documents = Documents::of(&opts, takes_sample)?;
    let in_front = documents.in_front.as_ref();
    let there = |asked: &Asked| cluster_sample::draw(asked, &opts);
    let there: Option<&SampleThere<'_>> = opts.engine.is_remote().then_some(&there);
    // Of units, and of pairs that are checked in another field, no chain writes what is kept.
    let by_chain =
        |form: &KeptForm| opts.inputs.unit.is_none() && (opts.and.is_none() || *form == KeptForm::Same);
    let write_kept = opts.write_kept.filter(by_chain);
    let mut asked = options::asked(matches, opts.engine, &documents.given, write_kept, there)?;
    let as_asked = asked.given.params.clone();
    if let Some(unit) = opts.inputs.unit {
        if as_asked.get(REDUCE_TO).is_some() {
            return Err(Error::Usage(
                "--reduce-to counts documents, and --unit cuts repeated units out of all of them; leave one of the two out".to_owned(),
            ));
        }
        cut::settle(&mut asked.given);
        asked.notes.push(cut::note(unit, &as_asked));
    }
    if opts.and.is_some() && as_asked.get(REDUCE_TO).is_none() {
        asked.given.set_missing("cluster", "star", Origin::Follows(and::AND));
    }
    if let (Some(_), Some(field)) = (in_front, InFront::id_field(&as_asked)) {
        asked.given.set("id", field, Origin::Follows("format"));
    }
    let plan = options::plan(asked, opts.quiet)?;
    if opts.dry_run {
        return dry::show(&plan, &opts, &documents, &as_asked);
    }
    let checked = Checked::of(&plan, &opts, &documents, &as_asked)?;
    if plan.engine.is_remote() {
        return cluster_driver::run(&plan, &opts);
    }
    let Checked { with_store, inputs, queries, forecasts, checks_fields, ways, mut fields, kept, cut, and } =
        checked;
    // The columnar way leaves no steps to go on with, so its input is compared only with that of an answer.
    let is_read_once = ways.is_some() && in_front.is_none();
    let known = if is_read_once && !opts.resume { Known::Sizes } else { Known::Digests };
    let mut manifest = RunManifest::of(&plan, [&inputs, &queries], known)?;
    let as_given = in_front.into_iter().flat_map(InFront::parameters);
    let tables = Tables::of(&plan, &opts.tables, cut.is_some());
    let as_given = as_given.chain(tables.parameter().map(|forms| ("tables", forms)));
    let as_given = as_given.chain(cut.iter().flat_map(|_| cut::parameters(&opts)));
    let as_given = as_given.chain(and::parameters(&opts));
    as_given.chain(store::parameters(&opts)).for_each(|(name, value)| manifest.add_parameter(name, value));
    let output = match Output::open(&opts, &manifest)? {
        Start::Run(output) => Arc::new(output),
        Start::Complete => {
            return say_complete(&opts, || Stdout::new().file(&opts.output.join(owned::RUN)));
        }
    };
    // A store takes a batch whole or not at all.
    let resumes = with_store.is_none();
    interrupt::clean_up(&output, move |output| drop(leave(output, resumes, Error::Limit(String::new()))))
        .map_err(|error| leave(&output, resumes, error))?;
    // As they were given: a process's argument list is too short for the files of a large folder.
    let (mut inputs, mut given, mut unread) = (inputs, plan.inputs.clone(), Vec::new());
    if let Some(in_front) = in_front {
        let converted =
            in_front.convert(&inputs, &output, &as_asked, opts.quiet).and_then(|(file, warning)| {
                let file = vec![file];
                if forecasts {
                    forecast::refuse_hopeless(&plan.params, &opts, &file)?;
                }
                let fields =
                    if checks_fields { keep_field::check(&plan.params, &file)? } else { String::new() };
                Ok((file, warning, fields))
            });
        (given, unread, fields) = converted.map_err(|error| leave(&output, resumes, error))?;
        inputs.clone_from(&given);
    }
    let progress = Arc::new(Progress::default());
    let run = Run {
        plan: &plan,
        opts: &opts,
        inputs: &inputs,
        given: &given,
        fields: &fields,
        output: &output,
        progress: &progress,
    };
    let more = [kept.is_some(), cut.is_some(), and.is_some(), !opts.tables.is_empty()];
    let steps = plan.chain.steps().len() + more.into_iter().filter(|is_there| *is_there).count();
    let display = Display::start(&progress, steps, opts.quiet);
    let result = match &with_store {
        Some(store) => run.with_store(store),
        None => run.execute(ways),
    };
    let result = result
        .and_then(|done| done.with_and(and.as_ref(), &inputs, &output, &progress))
        .and_then(|done| done.with_files((kept.as_ref(), cut.as_ref()), &tables, &output, &progress));
    drop(display);
    let [made, failed] = [&output.answer, &output.work].map(|at| Target::of(&at.join(QUARANTINE), true, []));
    let (made, failed, shown) = (made?, failed?, output.folder.join(QUARANTINE));
    let places = Places { made: &made, shown: &shown, failed: &failed };
    let result = result.map_err(|error| match in_front {
        Some(in_front) => in_front.with_places(error, &documents.files, &as_asked),
        None => error,
    });
    let result = quarantine::settle(result, &output.work, &places, &plan.params, |done| &mut done.warnings);
    let mut done = match result {
        Ok(done) => done,
        Err(error) => return Err(leave(&output, resumes, error)),
    };
    done.warnings.extend(unread);
    if is_read_once {
        manifest.add_digests(&done.read);
    }
    let answers = plan.chain.output.data().into_iter().map(answer_file);
    let more = [owned::KEPT_FILES, CHANGES, BATCHES, QUARANTINE, DOCUMENTS, UNITS, UNREAD]
        .into_iter()
        .filter(|name| output.answer.join(name).exists());
    let answers = answers
        .chain(cut.iter().flat_map(Cut::files))
        .chain(and.iter().flat_map(And::files))
        .chain(more)
        .map(str::to_owned)
        .chain(tables.files());
    let report = summary::Report {
        manifest: &manifest,
        threads: opts.threads(),
        seconds: start.elapsed().as_secs_f64(),
        steps: &done.steps,
        warnings: done.warnings,
        answers: answers.map(|name| opts.output.join(name)).collect(),
    };
    let published = report.write(&output.answer).and_then(|text| output.publish().map(|()| text));
    let text = published.map_err(|error| leave(&output, resumes, error))?;
    output.finish(opts.keep_work)?;
    report.print(&opts, &text)
}

/// What `--resume` says of a run that has ended before; for programs its `run.json` is printed, as it was then.
pub(super) fn say_complete(opts: &RunOpts, print: impl FnOnce() -> Result<()>) -> Result<()> {
    if opts.json {
        return print();
    }
    if !opts.quiet {
        terminal::line(format_args!("{} holds the complete answer of this run", visible::path(&opts.output)));
    }
    Ok(())
}

/// Leaves the folder after an error: what a later run can go on with, where it resumes and there is such a thing, and nothing that
/// looks finished otherwise.
fn leave(output: &Output, resumes: bool, error: Error) -> Error {
    // The same command may succeed later: when there is room on the disk, or with another bound.
    let may_succeed = matches!(error, Error::Io { .. } | Error::Limit(_) | Error::Failed(_));
    // An error in removing files hides nothing: the run's own error says more.
    if matches!(error, Error::BadRecords { .. }) {
        let _ = output.clear(&|name| name != QUARANTINE && name != "_run.json");
    } else if resumes && may_succeed && output.has_steps() {
        let _ = output.remove_partial();
        terminal::note(format_args!(
            "finished steps are in {}; --resume goes on with them",
            visible::path(&output.work)
        ));
    } else {
        let _ = output.remove_work();
    }
    error
}

/// What a run leaves.
struct Finished {
    steps: Vec<Done>,
    warnings: Vec<String>,
    /// What was read of each input, where its digests were taken while reading.
    read: Vec<Contents>,
}

impl Finished {
    /// The same with the pairs that are alike in another field alone, where that is asked for.
    fn with_and(
        mut self,
        and: Option<&And>,
        inputs: &[PathBuf],
        output: &Output,
        progress: &Progress,
    ) -> Result<Self> {
        if let Some(and) = and {
            let done = and.write(&output.answer, inputs, &mut self.steps, progress)?;
            self.warnings.extend(and.warning(&done));
            self.steps.push(done);
        }
        Ok(self)
    }

    /// The same with what is made of the answer of the chain, where that is asked for: files of kept documents, and tables.
    fn with_files(
        mut self,
        (kept, cut): (Option<&KeptFiles>, Option<&Cut>),
        tables: &Tables<'_>,
        output: &Output,
        progress: &Progress,
    ) -> Result<Self> {
        if let Some(kept) = kept {
            self.steps.push(kept.write(&output.answer, progress)?);
        }
        if let Some(cut) = cut {
            self.steps.push(cut.write(&output.answer, progress)?);
        }
        // What is cut becomes tables, too.
        self.steps.extend(tables.write(&output.answer, progress)?);
        Ok(self)
    }
}

struct Run<'a> {
    plan: &'a Plan,
    opts: &'a RunOpts,
    inputs: &'a [PathBuf],
    /// The same as they were given.
    given: &'a [PathBuf],
    /// Which fields the input has, where the keep rule asks for one.
    fields: &'a str,
    output: &'a Output,
    progress: &'a Progress,
}

impl Run<'_> {
    fn execute(&self, ways: Option<([Columnar; 4], ColumnarJoin)>) -> Result<Finished> {
        match (self.plan.engine, ways) {
            (Engine::Local, Some((ways, join))) => self.columnar(ways, join),
            (Engine::Local, None) => self.steps(),
            _ => self.pipes(),
        }
    }

    fn columnar(&self, ways: [Columnar; 4], join: ColumnarJoin) -> Result<Finished> {
        let opts = ColumnarOpts::of(&self.plan.params, ways)?;
        let work = self.output.work.join("_columnar");
        fs::create_dir_all(&work).map_err(Error::io("create", &work))?;
        let run = ColumnarRun {
            inputs: self.inputs,
            output: &self.output.answer,
            opts,
            work: &work,
            threads: self.opts.threads(),
            memory: self.opts.memory_bytes(),
            progress: self.progress,
            write_kept: self.plan.writes_lines(),
            join,
        };
        let Ran { steps, large, read } = run.run(|_| {})?;
        Ok(Finished {
            warnings: warnings::warnings(self.plan, self.opts.inputs.unit, &steps, &large),
            steps,
            read,
        })
    }

    fn steps(&self) -> Result<Finished> {
        let (inputs, work, params) = (self.inputs, &self.output.work, &self.plan.params);
        let (threads, memory) = (self.opts.threads(), self.opts.memory_bytes());
        let mut engine = LocalSteps::new(inputs, work, params, threads, memory, self.progress)?;
        let done = engine.run_plan(self.plan, self.fields, &self.output.answer)?;
        self.finish(done)
    }

    fn pipes(&self) -> Result<Finished> {
        let script = script_of(self.plan, Library::Inside)?;
        let run = PipesRun {
            script: &script,
            inputs: self.given,
            output: &self.output.answer,
            work: &self.output.work,
            threads: self.opts.threads(),
            memory: self.opts.memory_bytes(),
            lock: &self.output.lock.tasks,
            fields: self.fields,
            progress: self.progress,
        };
        self.finish(run.run()?)
    }

    fn with_store(&self, store: &StoreRun<'_>) -> Result<Finished> {
        let folders = (&*self.output.work, &*self.output.answer);
        let asked = (self.inputs, &self.plan.params);
        let StoreRan { steps, again } =
            store.execute(asked, folders, self.plan.writes_lines(), self.progress)?;
        if let Some(id) = again.filter(|_| !self.opts.quiet) {
            let id = visible::line(&id).into_owned();
            terminal::note(format_args!("the store has the batch {id} already: this is the answer of then"));
        }
        Ok(Finished {
            warnings: warnings::warnings(self.plan, self.opts.inputs.unit, &steps, &[]),
            steps,
            read: Vec::new(),
        })
    }

    fn finish(&self, steps: Vec<Done>) -> Result<Finished> {
        let (clusters, members) = (self.output.answer.join("clusters.tsv"), self.output.work.join("members"));
        let large = match self.plan.chain.output.data().contains(&CLUSTERS) {
            true => warnings::large_clusters(&clusters, &members, &steps)?,
            false => Vec::new(),
        };
        Ok(Finished {
            warnings: warnings::warnings(self.plan, self.opts.inputs.unit, &steps, &large),
            steps,
            read: Vec::new(),
        })
    }
}
