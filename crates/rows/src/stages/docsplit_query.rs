//! `docsplit-query`: documents stream past one slice that is held in memory (zhang2011, section 4, figure 7). Map only:
//! whoever holds a slice whole needs nobody else's counts to decide a pair.

use super::forest::PairsOpts;
use super::index_doc::SLICE;
use super::options::{FeatureOpts, MinFeaturesOpts, SimilarityOpts};
use crate::record::Record;
use crate::record::pair::Pair;
use crate::record::set::{Doc, Member};
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, SideFile, Stage, Task};
use std::path::{Path, PathBuf};
use twinsplit_core::join::doc_split::{Slice, SliceBuilder};
use twinsplit_io::checked_file::{self, broken};
use twinsplit_io::error::Result;

/// The stage.
pub struct DocsplitQuery {
    opts: DocsplitQueryOpts,
    slice: Slice,
    features: Vec<u64>,
    queries: u64,
}

twinsplit_core::options! {
    /// Its options.
    pub struct DocsplitQueryOpts {
        /// The slice that is held in memory
        index: PathBuf = "index", "FILE";
    }
    with {
        similarity: SimilarityOpts,
        least: MinFeaturesOpts,
        pairs: PairsOpts,
        features: FeatureOpts,
    }
}

/// A slice, and the pairs that were found on the way where components are asked for.
fn load_slice(path: &Path, opts: &DocsplitQueryOpts, task: &mut Task<'_>) -> Result<Slice> {
    let mut builder = SliceBuilder::default();
    let mut features = Vec::new();
    let head = checked_file::read_all(path, SLICE, |_, line| {
        let wrong = |e: twinsplit_io::error::FieldError| broken(path, &format!("{}: {}", e.field, e.found));
        let doc = Doc::decode(line).map_err(wrong)?;
        doc.features.read(&mut features).map_err(wrong)?;
        builder.push(doc.id, &features);
        Ok(())
    })?;
    head.must_have(&opts.features.parameters()?, path)?;
    let similarity = opts.similarity.0;
    if !opts.pairs.is_of_components() {
        return Ok(builder.build(similarity));
    }
    let mut written = Ok(());
    let slice = builder.build_connected(similarity, |x, y, overlap| {
        if written.is_ok() {
            written = task.emit(&Pair::of(similarity.measure(), x, y, overlap));
        }
    });
    written.map(|()| slice)
}

impl Stage for DocsplitQuery {
    type In<'a> = Member<'a>;
    type Out<'a> = Pair<'a>;
    type Opts = DocsplitQueryOpts;
    const GROWTH: Growth = Growth::Pairs;
    const DECL: Decl = Decl {
        name: "docsplit-query",
        role: Role::Map,
        about: "Streams sets past one slice in memory and writes the pairs that reach tau (Doc-Split)",
        side: &[SideFile { option: "index", about: "a slice that index-doc wrote; required" }],
    };

    fn open(opts: DocsplitQueryOpts, task: &mut Task<'_>) -> Result<Self> {
        let slice = load_slice(&opts.index, &opts, task)?;
        task.count("slice_documents", slice.len() as u64);
        Ok(Self { opts, slice, features: Vec::new(), queries: 0 })
    }

    fn push(&mut self, member: Member<'_>, task: &mut Task<'_>) -> Result<()> {
        let Member::Doc(doc) = member else { return Ok(()) };
        let size = doc.features.size();
        if !self.opts.least.admits(size) || !self.slice.may_pair(size) {
            return Ok(());
        }
        self.queries += 1;
        doc.features.read(&mut self.features).map_err(|error| task.wrong(error))?;
        let (mut written, measure) = (Ok(()), self.opts.similarity.0.measure());
        self.slice.query(doc.id, &self.features, |id, other, overlap| {
            if written.is_ok() {
                written = task.emit(&Pair::of(measure, (doc.id, size), (id, other), overlap));
            }
        });
        written
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count("queries", self.queries);
        task.count("candidate_pairs", self.slice.verified());
        Ok(())
    }
}
