//! `sample-documents`: the documents by which `--recall` chooses bands, drawn where they lie. They are those with the smallest
//! hashes of their ids (bottom-k, cohen1997), so that they are the same for any split of the input into tasks, and those that a
//! run on one machine draws.

use super::NoOpts;
use crate::record::document::{DocumentOpts, Line};
use crate::record::sampled::Sampled;
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, Stage, Task};
use std::collections::BTreeMap;
use twinsplit_core::hash;
use twinsplit_io::error::Result;

/// Documents of the sample, at most: eight million pairs.
pub const DOCUMENTS: usize = 4000;
/// Documents that it has however long they are.
const LEAST: usize = 500;
/// Bytes of the lines of more documents than that.
const TEXT: usize = 4 << 20;

/// Counts the documents that the sample is drawn from.
pub const DRAWN_FROM: &str = "documents";

/// How many documents and bytes there are so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drawn {
    documents: usize,
    bytes: usize,
}

impl Drawn {
    /// Takes the next document in the order of hashes: whether it is one of the sample.
    pub fn takes(&mut self, line: &[u8]) -> bool {
        self.documents += 1;
        self.bytes += line.trim_ascii().len();
        self.fits()
    }

    /// Takes a document out again.
    fn leave(&mut self, line: &[u8]) {
        self.documents -= 1;
        self.bytes -= line.trim_ascii().len();
    }

    fn fits(self) -> bool {
        self.documents <= LEAST || self.documents <= DOCUMENTS && self.bytes <= TEXT
    }
}

/// The hash by which a document is drawn.
pub fn hash(id: &[u8]) -> u64 {
    hash::sample(0, id)
}

/// The mapper.
pub struct SampleDocuments {
    opts: DocumentOpts,
    /// By hash and id the lines of the documents that may be in the sample.
    held: BTreeMap<(u64, Vec<u8>), Vec<u8>>,
    drawn: Drawn,
    documents: u64,
}

twinsplit_core::options! {
    /// Its options.
    pub struct SampleDocumentsOpts {}
    with {
        document: DocumentOpts,
    }
}

impl Stage for SampleDocuments {
    type In<'a> = Line<'a>;
    type Out<'a> = Sampled<'a>;
    type Opts = SampleDocumentsOpts;
    const GROWTH: Growth = Growth::Constant;
    const DECL: Decl = Decl {
        name: "sample-documents",
        role: Role::Map,
        about: "Draws the documents with the smallest hashes of their ids",
        side: &[],
    };

    fn open(opts: SampleDocumentsOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { opts: opts.document, held: BTreeMap::new(), drawn: Drawn::default(), documents: 0 })
    }

    fn push(&mut self, line: Line<'_>, task: &mut Task<'_>) -> Result<()> {
        let document = self.opts.read(line.0, &task.place).map_err(|error| task.bad(error))?;
        self.documents += 1;
        let key = (hash(&document.id), document.id);
        let is_beyond = self.held.last_key_value().is_some_and(|(last, _)| *last < key);
        if !self.drawn.takes(line.0) && is_beyond {
            // All that are held come before it.
            self.drawn.leave(line.0);
            return Ok(());
        }
        if let Some(again) = self.held.insert(key, line.0.to_vec()) {
            self.drawn.leave(&again);
        }
        while !self.drawn.fits()
            && let Some((_, line)) = self.held.pop_last()
        {
            self.drawn.leave(&line);
        }
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count(DRAWN_FROM, self.documents);
        for ((hash, id), line) in &self.held {
            task.emit(&Sampled::of(*hash, id, line))?;
        }
        Ok(())
    }
}

/// The reducer.
#[derive(Default)]
pub struct SampleDocumentsReduce {
    drawn: Drawn,
}

impl Stage for SampleDocumentsReduce {
    type In<'a> = Sampled<'a>;
    type Out<'a> = Sampled<'a>;
    type Opts = NoOpts;
    const GROWTH: Growth = Growth::Constant;
    const DECL: Decl = Decl {
        name: "sample-documents-reduce",
        role: Role::Reduce,
        about: "Draws the documents with the smallest hashes of those of all tasks; one task",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, document: Sampled<'_>, task: &mut Task<'_>) -> Result<()> {
        // The rest is read to its end, which Hadoop asks for.
        if self.drawn.takes(&document.line) { task.emit(&document) } else { Ok(()) }
    }
}
