//! `index-term`: the Term-Split index (zhang2011, section 4, figure 5a): feature -> posting list with set sizes.
//!
//! With `--pcp prefix` a document is indexed under its *probe* prefix alone, each posting with its position and a
//! flag for the shorter *index* prefix: see [`crate::join::prefix`].
//!
//! The reducer cuts a list into runs of `--posting-block` postings and writes one line for each pair of runs, so
//! that no line outgrows a JVM and the quadratic part of a hot feature is spread over many mappers.

use super::options::{MinFeaturesOpts, OrderOpts, SimilarityOpts};
use super::side::load_order;
use crate::error::{Error, FieldError, Result};
use crate::index::order::Order;
use crate::record::posting::{BlockPair, Posting, PostingRow, PrefixMark};
use crate::record::set::{Doc, Member};
use crate::similarity::SetSimilarity;
use crate::stage::{Decl, Role, SideFile, Stage, Task};
use crate::terminal;
use clap::{Args, ValueEnum};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

/// Which postings are written and paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Pcp {
    /// All features, as in lin2009 and zhang2011.
    Plain,
    /// Those of prefixes; the candidates are verified.
    Prefix,
}

/// The mapper.
pub struct IndexTerm {
    opts: IndexTermOpts,
    order: Order,
    features: Vec<u64>,
}

/// Its options.
#[derive(Args, Clone, Debug)]
pub struct IndexTermOpts {
    /// Which features are indexed: all of a set, or those of its prefix, after which candidates are verified
    #[arg(long, env = "TWINSPLIT_PCP", value_enum, default_value = "plain")]
    pcp: Pcp,
    #[command(flatten)]
    similarity: SimilarityOpts,
    #[command(flatten)]
    least: MinFeaturesOpts,
    #[command(flatten)]
    order: OrderOpts,
}

impl IndexTerm {
    fn index(&mut self, doc: &Doc<'_>, task: &mut Task<'_>) -> Result<()> {
        doc.features.read(&mut self.features).map_err(|error| task.wrong(error))?;
        let size = self.features.len() as u64;
        let (probe, index) = match self.opts.pcp {
            Pcp::Plain => (size, 0),
            Pcp::Prefix => {
                self.order.sort(&mut self.features);
                {
                    let similarity = self.opts.similarity.0;
                    (similarity.probe_prefix(size), similarity.index_prefix(size))
                }
            }
        };
        for (position, feature) in (0..probe).zip(&self.features) {
            let mark = PrefixMark { position, indexed: position < index };
            let mark = (self.opts.pcp == Pcp::Prefix).then_some(mark);
            task.emit(&PostingRow { feature: *feature, posting: Posting { id: doc.id, size, mark } })?;
        }
        Ok(())
    }
}

impl Stage for IndexTerm {
    type In<'a> = Member<'a>;
    type Out<'a> = PostingRow<'a>;
    type Opts = IndexTermOpts;
    const DECL: Decl = Decl {
        name: "index-term",
        role: Role::Map,
        about: "Writes a posting for each feature of a set (Term-Split)",
        side: &[SideFile { option: "order", about: "the order of features, for --pcp prefix; optional" }],
    };

    fn open(opts: IndexTermOpts, _: &mut Task<'_>) -> Result<Self> {
        let order = match opts.pcp {
            Pcp::Plain => Order::default(),
            Pcp::Prefix => load_order(&opts.order)?,
        };
        Ok(Self { opts, order, features: Vec::new() })
    }

    fn push(&mut self, member: Member<'_>, task: &mut Task<'_>) -> Result<()> {
        match member {
            Member::Doc(doc) if self.opts.least.admits(doc.features.size()) => self.index(&doc, task),
            _ => Ok(()),
        }
    }
}

/// A block of at most this many bytes is cut whatever its number of postings.
const BLOCK_BYTES: usize = 4 << 20;

/// The blocks of a list that are complete: on disk, for a hot feature's list may be larger than memory.
struct Spilled {
    file: File,
    blocks: Vec<(u64, usize, u64)>,
    end: u64,
}

/// The reducer.
pub struct IndexTermReduce {
    opts: IndexTermReduceOpts,
    feature: u64,
    marked: bool,
    postings: u64,
    /// The block that is being filled: its encoded postings and their number.
    block: Vec<u8>,
    count: u64,
    spilled: Option<Spilled>,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    lists: u64,
    blocks: u64,
    /// The sum of df(df-1)/2 over the lists written: what plain PCP would write.
    pairs: u64,
    cut_features: u64,
    cut_postings: u64,
    cut_pairs: u64,
}

/// How lists are cut.
#[derive(Args, Clone, Debug)]
pub struct BlockOpts {
    /// Postings in a block of a posting list, of at most 4 MB
    #[arg(long, env = "TWINSPLIT_POSTING_BLOCK", default_value_t = 1024, value_name = "N")]
    posting_block: u64,
}

/// Its options.
#[derive(Args, Clone, Debug)]
pub struct IndexTermReduceOpts {
    #[command(flatten)]
    block: BlockOpts,
    /// APPROXIMATE (lin2009): leave out features of more than N documents, and report how many these are
    #[arg(long, env = "TWINSPLIT_DF_CUT", value_name = "N")]
    df_cut: Option<u64>,
}

impl IndexTermReduce {
    /// A reducer that leaves out no list.
    pub fn of_all(block: &BlockOpts) -> Self {
        Self::of(IndexTermReduceOpts { block: block.clone(), df_cut: None })
    }

    fn of(mut opts: IndexTermReduceOpts) -> Self {
        opts.block.posting_block = opts.block.posting_block.max(1);
        Self {
            opts,
            feature: 0,
            marked: false,
            postings: 0,
            block: Vec::new(),
            count: 0,
            spilled: None,
            counts: Counts::default(),
        }
    }

    fn spill(&mut self, task: &Task<'_>) -> Result<()> {
        let failed = || Error::io("spill postings in", &task.folder);
        let spilled = match &mut self.spilled {
            Some(spilled) => spilled,
            None => {
                let file = tempfile::tempfile_in(&task.folder).map_err(failed())?;
                self.spilled.insert(Spilled { file, blocks: Vec::new(), end: 0 })
            }
        };
        spilled.file.write_all(&self.block).map_err(failed())?;
        spilled.blocks.push((spilled.end, self.block.len(), self.count));
        spilled.end += self.block.len() as u64;
        self.block.clear();
        self.count = 0;
        Ok(())
    }

    fn emit(&self, numbers: (u64, u64), left_count: u64, postings: &[u8], task: &mut Task<'_>) -> Result<()> {
        let (left, right) = numbers;
        task.emit(&BlockPair {
            feature: self.feature,
            left,
            right,
            marked: self.marked,
            left_count,
            postings,
        })
    }

    /// Writes the pairs of spilled blocks.
    fn emit_spilled(&mut self, mut spilled: Spilled, task: &mut Task<'_>) -> Result<()> {
        let folder = task.folder.clone();
        let mut read = |block: usize, out: &mut Vec<u8>| -> Result<()> {
            let (start, length, _) = spilled.blocks[block];
            let at = out.len();
            out.resize(at + length, 0);
            let file = &mut spilled.file;
            file.seek(SeekFrom::Start(start))
                .and_then(|_| file.read_exact(&mut out[at..]))
                .map_err(Error::io("read spilled postings in", &folder))
        };
        let mut postings = Vec::new();
        for left in 0..spilled.blocks.len() {
            let count = spilled.blocks[left].2;
            postings.clear();
            read(left, &mut postings)?;
            self.emit((left as u64, left as u64), count, &postings, task)?;
            postings.push(b'\t');
            let end = postings.len();
            for right in left + 1..spilled.blocks.len() {
                postings.truncate(end);
                read(right, &mut postings)?;
                self.emit((left as u64, right as u64), count, &postings, task)?;
            }
        }
        Ok(())
    }
}

impl Stage for IndexTermReduce {
    type In<'a> = PostingRow<'a>;
    type Out<'a> = BlockPair<'a>;
    type Opts = IndexTermReduceOpts;
    const DECL: Decl = Decl {
        name: "index-term-reduce",
        role: Role::Reduce,
        about: "Gathers the postings of a feature and writes its list as pairs of blocks",
        side: &[],
    };

    fn open(opts: IndexTermReduceOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::of(opts))
    }

    fn push(&mut self, row: PostingRow<'_>, task: &mut Task<'_>) -> Result<()> {
        let marked = row.posting.mark.is_some();
        if self.postings > 0 && marked != self.marked {
            let expected = "postings all with or all without a position (are both kinds of --pcp mixed?)";
            return Err(task.wrong(FieldError::new("position", expected, row.posting.id)));
        }
        self.feature = row.feature;
        self.marked = marked;
        self.postings += 1;
        if self.opts.df_cut.is_some_and(|cut| self.postings > cut) {
            return Ok(());
        }
        if self.count == self.opts.block.posting_block || self.block.len() >= BLOCK_BYTES {
            self.spill(task)?;
        }
        BlockPair::push_posting(&row.posting, &mut self.block);
        self.count += 1;
        Ok(())
    }

    fn end_group(&mut self, task: &mut Task<'_>) -> Result<()> {
        let postings = std::mem::take(&mut self.postings);
        let pairs = postings * postings.saturating_sub(1) / 2;
        let spilled = self.spilled.take();
        if self.opts.df_cut.is_some_and(|cut| postings > cut) {
            self.counts.cut_features += 1;
            self.counts.cut_postings += postings;
            self.counts.cut_pairs += pairs;
        } else if let Some(spilled) = spilled {
            self.spilled = Some(spilled);
            self.spill(task)?;
            if let Some(spilled) = self.spilled.take() {
                self.counts.lists += 1;
                self.counts.pairs += pairs;
                self.counts.blocks += spilled.blocks.len() as u64 - 1;
                self.emit_spilled(spilled, task)?;
            }
        } else if postings > 1 {
            // A feature of one document makes no pair and needs no list.
            self.counts.lists += 1;
            self.counts.pairs += pairs;
            let block = std::mem::take(&mut self.block);
            self.emit((0, 0), self.count, &block, task)?;
            self.block = block;
        }
        self.block.clear();
        self.count = 0;
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count("posting_lists", self.counts.lists);
        task.count("posting_blocks", self.counts.blocks);
        task.count("pairs_of_postings", self.counts.pairs);
        if let Some(cut) = self.opts.df_cut {
            task.count("df_cut_features", self.counts.cut_features);
            task.count("df_cut_postings", self.counts.cut_postings);
            task.count("df_cut_pairs", self.counts.cut_pairs);
            terminal::line(format_args!(
                "index-term-reduce: --df-cut {cut} left out {} features with {} postings, {} pairs of postings; \
                 similarities below are lower bounds",
                self.counts.cut_features, self.counts.cut_postings, self.counts.cut_pairs
            ));
        }
        Ok(())
    }
}
