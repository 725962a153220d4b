//! Runs: what takes documents, one after the other or in files, and gives what was found.

use super::{Dedup, StoreFolder, read_file};
use crate::document::Document;
use crate::duplicates::Duplicates;
use crate::index::Index;
use crate::stream;
use std::path::{Path, PathBuf};
use twinsplit_engine::columnar::{ColumnarJoin, ColumnarOpts, ColumnarRun};
use twinsplit_engine::progress::{Progress, documents};
use twinsplit_engine::steps::LocalSteps;
use twinsplit_engine::stores::{BatchOf, StoreRun};
use twinsplit_io::error::{Error, Result};
use twinsplit_io::{AtomicFile, Blocks, document_files, each_line};
use twinsplit_rows::plan::{Asked, Engine, Given, Origin, Plan, refuse_unused};

impl Dedup {
    /// Finds the near-duplicates of these documents. They are taken one after the other, and are not held.
    pub fn run<D: Into<Document>>(&self, documents: impl IntoIterator<Item = D>) -> Result<Duplicates> {
        self.run_on(documents.into_iter().map(|document| Ok(document.into())))
    }

    /// The same of documents that may fail to come. The first failure is that of the run, as [`Error::Documents`].
    pub fn try_run<D: Into<Document>, E: Into<Box<dyn std::error::Error + Send + Sync>>>(
        &self,
        documents: impl IntoIterator<Item = std::result::Result<D, E>>,
    ) -> Result<Duplicates> {
        self.run_on(documents.into_iter().map(coming))
    }

    fn run_on(&self, documents: impl Iterator<Item = Result<Document>>) -> Result<Duplicates> {
        let names = self.clone().fields("id", "text").date_field("date").score_field("score");
        stream::hand_over(self.until_cancelled(documents), |blocks| names.find(&[], Some(blocks)))
    }

    /// The documents; those that come when the run shall stop are an error.
    fn until_cancelled(
        &self,
        documents: impl Iterator<Item = Result<Document>>,
    ) -> impl Iterator<Item = Result<Document>> {
        let watch = &self.watch;
        documents.map(|document| if watch.is_cancelled() { Err(Error::Cancelled) } else { document })
    }

    /// Finds the near-duplicates of the documents in files of JSON lines, plain or gzip: files, folders with all below them,
    /// and patterns such as `crawl/**/*.jsonl.gz`.
    pub fn run_files<P: AsRef<Path>>(&self, paths: impl IntoIterator<Item = P>) -> Result<Duplicates> {
        let paths: Vec<PathBuf> = paths.into_iter().map(|path| path.as_ref().to_owned()).collect();
        self.find(&document_files(&paths)?, None)
    }

    /// Makes an index of these documents, to be asked for those that are like a text.
    pub fn index<D: Into<Document>>(&self, documents: impl IntoIterator<Item = D>) -> Result<Index> {
        self.index_of(documents.into_iter().map(|document| Ok(document.into())))
    }

    /// The same of documents that may fail to come. The first failure is that of the index, as [`Error::Documents`].
    pub fn try_index<D: Into<Document>, E: Into<Box<dyn std::error::Error + Send + Sync>>>(
        &self,
        documents: impl IntoIterator<Item = std::result::Result<D, E>>,
    ) -> Result<Index> {
        self.index_of(documents.into_iter().map(coming))
    }

    fn index_of(&self, documents: impl Iterator<Item = Result<Document>>) -> Result<Index> {
        let plan = self.plan(&[])?;
        if !["doc-split", "term-split"].contains(&plan.family.name) {
            return Err(Error::Usage(format!(
                "an index compares sets exactly, which {} does not",
                plan.family.name
            )));
        }
        let opts: ColumnarOpts = plan.params.parse()?;
        Index::of(&opts, self.threads, self.until_cancelled(documents))
    }

    /// Refuses options that were set and that the chain does not use, as the command line does; a run ignores them.
    ///
    /// ```
    /// use twinsplit::Dedup;
    /// let bands = Dedup::new().option("bands", "20")?;
    /// assert!(bands.clone().chain("minhash")?.refuse_unused().is_ok());
    /// let error = bands.chain("doc-split")?.refuse_unused().unwrap_err();
    /// assert!(error.to_string().starts_with("doc-split does not use --bands here, and minhash does"));
    /// # Ok::<(), twinsplit::Error>(())
    /// ```
    pub fn refuse_unused(&self) -> Result<()> {
        let plan = self.plan(&[])?;
        let mut given = Given::default();
        for (name, value) in self.given.params.iter() {
            given.set(name, value, Origin::CommandLine);
        }
        refuse_unused(plan.family, &plan.params, &given, false).map(drop)
    }

    pub(crate) fn plan(&self, inputs: &[PathBuf]) -> Result<Plan> {
        let (given, inputs) = (self.given.clone(), inputs.to_vec());
        Plan::of(
            Asked {
                chain: self.chain.clone(),
                engine: Engine::Local,
                given,
                inputs,
                write_kept: None,
                recall: None,
                notes: Vec::new(),
            },
            &read_file,
        )
    }

    fn find(&self, inputs: &[PathBuf], blocks: Option<Blocks>) -> Result<Duplicates> {
        self.watch.over(|| self.find_watched(inputs, blocks))
    }

    fn find_watched(&self, inputs: &[PathBuf], blocks: Option<Blocks>) -> Result<Duplicates> {
        let folder = |what| {
            tempfile::Builder::new()
                .prefix(what)
                .tempdir_in(&self.folder)
                .map_err(Error::io("make a folder in", &self.folder))
        };
        let plan = self.plan(inputs)?;
        let (output, work) = (folder("twinsplit-found-")?, folder("twinsplit-work-")?);
        let progress = Progress::watched(&self.watch);
        let near = plan.family.compares_fingerprints();
        if let Some(StoreFolder { path, adds, batch_id }) = &self.store {
            let inputs = blocks.map_or_else(|| Ok(inputs.to_vec()), |blocks| spooled(blocks, work.path()))?;
            let bounds = (self.threads, self.memory);
            let batch = BatchOf { id: batch_id.as_deref(), ..BatchOf::default() };
            let run = StoreRun::of(&plan, (path, *adds), batch, bounds)?;
            let steps = work.path().join("steps");
            std::fs::create_dir(&steps).map_err(Error::io("create", &steps))?;
            let ran = run.execute((&inputs, &plan.params), (&steps, output.path()), false, &progress)?;
            return Ok(Duplicates::new(output, documents(&ran.steps), near));
        }
        let ways = plan.columnar().and_then(|ways| Some((ways, ColumnarJoin::of(ways)?)));
        let Some((ways, join)) = ways else {
            let inputs = blocks.map_or_else(|| Ok(inputs.to_vec()), |blocks| spooled(blocks, work.path()))?;
            let (folder, params) = (work.path().join("steps"), &plan.params);
            std::fs::create_dir(&folder).map_err(Error::io("create", &folder))?;
            let mut steps = LocalSteps::new(&inputs, &folder, params, self.threads, self.memory, &progress)?;
            let done = steps.run_plan(&plan, "no document has it", output.path())?;
            return Ok(Duplicates::new(output, documents(&done), near));
        };
        let run = ColumnarRun {
            inputs,
            output: output.path(),
            opts: ColumnarOpts::of(&plan.params, ways)?,
            work: work.path(),
            threads: self.threads,
            memory: self.memory,
            progress: &progress,
            write_kept: false,
            join,
        };
        let ran = match blocks {
            Some(blocks) => run.run_on(blocks, |_| {}),
            None => run.run(|_| {}),
        }?;
        Ok(Duplicates::new(output, documents(&ran.steps), near))
    }
}

/// Puts documents down in a file, for a chain that reads them more than once.
fn spooled(mut blocks: Blocks, folder: &Path) -> Result<Vec<PathBuf>> {
    let path = folder.join("documents.jsonl");
    let mut file = AtomicFile::create(&path)?;
    while let Some(block) = blocks.next_block()? {
        each_line(&block, |line, _| file.line(line))?;
    }
    file.finish()?;
    Ok(vec![path])
}

/// A document that may have failed to come.
fn coming<D: Into<Document>, E: Into<Box<dyn std::error::Error + Send + Sync>>>(
    document: std::result::Result<D, E>,
) -> Result<Document> {
    document.map(Into::into).map_err(|error| Error::Documents(error.into()))
}
