//! `index-doc`: the Doc-Split index (zhang2011, section 4, figure 5b): each slice holds all of some documents.
//!
//! By size, documents travel to the slice of their size, and a query meets only the slices whose sizes it could pair
//! with. By task is the form of zhang2011: each mapper's share of the documents is a slice. A slice is a checked file
//! of document lines; its index is built when it is loaded, which costs less than reading a stored one would.

use super::options::{FeatureOpts, MinFeaturesOpts};
use super::slice_plan::load_plan;
use crate::record::Record;
use crate::record::checked::CheckedLine;
use crate::record::set::{Doc, Features, Member};
use crate::record::slice::{SliceRow, SlicedDoc};
use crate::stage::{Decl, Role, SideFile, Stage, Task};
use std::path::PathBuf;
use twinsplit_core::hash;
use twinsplit_core::join::slices::SliceRange;
use twinsplit_io::checked_file::CheckedWriter;
use twinsplit_io::error::{FieldError, Result};

/// Kind of a slice file.
pub const SLICE: &str = "slice";

/// Counts slices, so that one that gets lost later is missed: nobody would miss its pairs.
pub const SLICES_MADE: &str = "slices_made";

twinsplit_core::choice! {
    /// What a slice is.
    pub enum Partition {
        /// The documents of a range of sizes.
        BySize = "by-size",
        /// The documents that one mapper was given.
        ByTask = "by-task",
    }
}

twinsplit_core::options! {
    /// Which form of slices.
    pub struct PartitionOpts {
        /// What a slice of Doc-Split holds: sets of similar sizes, or what one mapper has read (as in zhang2011)
        pub partition: Partition = "by-size";
    }
}

/// Writes a slice, a checked file's lines.
struct SliceWriter {
    writer: CheckedWriter,
    row: Vec<u8>,
}

impl SliceWriter {
    fn start(number: &str, features: &FeatureOpts, task: &mut Task<'_>) -> Result<Self> {
        let mut parameters = features.parameters()?;
        parameters.push(("slice", number.to_owned()));
        let (head, writer) = CheckedWriter::start(SLICE, &parameters);
        task.emit_row(&head)?;
        Ok(Self { writer, row: Vec::new() })
    }

    fn push(&mut self, doc: &Doc<'_>, task: &mut Task<'_>) -> Result<()> {
        self.row.clear();
        doc.encode(&mut self.row);
        self.writer.line(&self.row);
        task.emit_row(&self.row)
    }

    fn finish(self, task: &mut Task<'_>) -> Result<()> {
        task.count(SLICES_MADE, 1);
        task.emit_row(&self.writer.end())
    }
}

/// The mapper.
pub struct IndexDoc {
    least: MinFeaturesOpts,
    form: Form,
}

enum Form {
    /// The slices and their keys.
    BySize(Vec<(SliceRange, String)>),
    ByTask(Option<Box<SliceWriter>>),
}

twinsplit_core::options! {
    /// Its options.
    pub struct IndexDocOpts {
        /// The plan that slice-plan wrote, for --partition by-size
        plan: PathBuf = "plan", "FILE";
    }
    with {
        partition: PartitionOpts,
        least: MinFeaturesOpts,
        features: FeatureOpts,
    }
}

impl Stage for IndexDoc {
    type In<'a> = Member<'a>;
    type Out<'a> = SliceRow<'a>;
    type Opts = IndexDocOpts;
    const DECL: Decl = Decl {
        name: "index-doc",
        role: Role::Map,
        about: "Sends each set to its slice by size, or writes a slice of its own with --partition by-task (Doc-Split)",
        side: &[SideFile {
            option: "plan",
            about: "the plan that slice-plan wrote; required unless --partition by-task",
        }],
    };

    fn open(opts: IndexDocOpts, task: &mut Task<'_>) -> Result<Self> {
        let form = match opts.partition.partition {
            Partition::BySize => {
                let plan = load_plan(&opts.plan, &opts.features)?;
                let slices = plan.len();
                let key = |(number, slice)| (slice, hash::slice_key(number, slices));
                Form::BySize((0..).zip(plan).map(key).collect())
            }
            Partition::ByTask => {
                let writer = SliceWriter::start(&task.number.to_string(), &opts.features, task)?;
                Form::ByTask(Some(Box::new(writer)))
            }
        };
        Ok(Self { least: opts.least, form })
    }

    fn push(&mut self, member: Member<'_>, task: &mut Task<'_>) -> Result<()> {
        let Member::Doc(doc) = member else { return Ok(()) };
        let size = doc.features.size();
        if !self.least.admits(size) {
            return Ok(());
        }
        match &mut self.form {
            Form::ByTask(Some(writer)) => writer.push(&doc, task),
            Form::ByTask(None) => Ok(()),
            Form::BySize(plan) => {
                let slice = plan.iter().find(|(slice, _)| {
                    (slice.first..=slice.last).contains(&size)
                        && hash::slice_part(doc.id, slice.parts) == slice.part
                });
                let Some((_, key)) = slice else {
                    let found = size.to_string();
                    return Err(task.wrong(FieldError::new(
                        "features",
                        "a size that the plan knows (another corpus's plan? make it of these sets)",
                        found.as_bytes(),
                    )));
                };
                task.emit(&SlicedDoc { slice: key.as_bytes(), size, doc })
            }
        }
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        match &mut self.form {
            Form::ByTask(writer) => writer.take().map_or(Ok(()), |writer| writer.finish(task)),
            Form::BySize(_) => Ok(()),
        }
    }
}

/// The reducer. Each slice is one task's, where there are as many tasks as slices ([`hash::slice_key`]); with fewer, a
/// task writes several slices one after the other.
pub struct IndexDocReduce {
    made_of: FeatureOpts,
    writer: Option<SliceWriter>,
    features: Vec<u64>,
}

impl Stage for IndexDocReduce {
    type In<'a> = SlicedDoc<'a>;
    type Out<'a> = CheckedLine<'a>;
    type Opts = FeatureOpts;
    const DECL: Decl = Decl {
        name: "index-doc-reduce",
        role: Role::Reduce,
        about: "Writes slices; with as many tasks as the plan has slices, each task writes one",
        side: &[],
    };

    fn open(made_of: FeatureOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { made_of, writer: None, features: Vec::new() })
    }

    fn push(&mut self, row: SlicedDoc<'_>, task: &mut Task<'_>) -> Result<()> {
        row.doc.features.read(&mut self.features).map_err(|error| task.wrong(error))?;
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => {
                let number = row.number().trim_start_matches('0');
                let number = if number.is_empty() { "0" } else { number };
                self.writer.insert(SliceWriter::start(number, &self.made_of, task)?)
            }
        };
        writer.push(&Doc { id: row.doc.id, features: Features::Values(&self.features) }, task)
    }

    fn end_group(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.writer.take().map_or(Ok(()), |writer| writer.finish(task))
    }
}
