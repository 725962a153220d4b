//! `index-term`: the Term-Split index (zhang2011, section 4, figure 5a): feature -> posting list with set sizes.
//!
//! With `--pcp prefix` a document is indexed under its *probe* prefix alone, each posting with its position and a
//! flag for the shorter *index* prefix: see [`twinsplit_core::join::prefix`].
//!
//! The reducer cuts a list into runs of `--posting-block` postings and writes one line for each pair of runs, so
//! that no line outgrows a JVM and the quadratic part of a hot feature is spread over many mappers.

use super::blocks::{BlockOpts, Blocks};
use super::options::{MinFeaturesOpts, OrderOpts, SimilarityOpts};
use super::side::load_order;
use crate::record::posting::{BlockPair, Posting, PostingRow, PrefixMark};
use crate::record::set::{Doc, Member};
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, SideFile, Stage, Task};
use twinsplit_core::join::order::Order;
use twinsplit_core::similarity::SetSimilarity;
use twinsplit_io::error::{FieldError, Result};
use twinsplit_io::terminal;

twinsplit_core::choice! {
    /// Which postings are written and paired.
    pub enum Pcp {
        /// All of them, as in lin2009 and zhang2011.
        Plain = "plain",
        /// Those of the probe prefixes; the candidates are verified.
        Prefix = "prefix",
    }
}

/// The mapper.
pub struct IndexTerm {
    opts: IndexTermOpts,
    order: Order,
    features: Vec<u64>,
}

twinsplit_core::options! {
    /// Its options.
    pub struct IndexTermOpts {
        /// Index whole sets (plain), or prefixes whose candidates are verified (prefix)
        pcp: Pcp = "plain";
    }
    with {
        similarity: SimilarityOpts,
        least: MinFeaturesOpts,
        order: OrderOpts,
    }
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

/// The reducer.
pub struct IndexTermReduce {
    opts: IndexTermReduceOpts,
    feature: u64,
    marked: bool,
    postings: u64,
    blocks: Blocks,
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

twinsplit_core::options! {
    /// Its options.
    pub struct IndexTermReduceOpts {
        /// APPROXIMATE (lin2009): leave out features of more than N documents, and report how many these are
        df_cut: Option<u64>, "N";
    }
    with {
        block: BlockOpts,
    }
}

impl IndexTermReduce {
    /// A reducer that leaves out no list.
    pub fn of_all(block: &BlockOpts) -> Self {
        Self::of(IndexTermReduceOpts { block: block.clone(), df_cut: None })
    }

    fn of(opts: IndexTermReduceOpts) -> Self {
        let (blocks, counts) = (Blocks::new(&opts.block), Counts::default());
        Self { opts, feature: 0, marked: false, postings: 0, blocks, counts }
    }
}

impl Stage for IndexTermReduce {
    type In<'a> = PostingRow<'a>;
    type Out<'a> = BlockPair<'a>;
    type Opts = IndexTermReduceOpts;
    const GROWTH: Growth = Growth::Repeated;
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
        self.blocks.push(task, |out| BlockPair::push_posting(&row.posting, out))
    }

    fn end_group(&mut self, task: &mut Task<'_>) -> Result<()> {
        let postings = std::mem::take(&mut self.postings);
        let pairs = postings * postings.saturating_sub(1) / 2;
        if self.opts.df_cut.is_some_and(|cut| postings > cut) {
            self.counts.cut_features += 1;
            self.counts.cut_postings += postings;
            self.counts.cut_pairs += pairs;
            self.blocks.clear();
            return Ok(());
        }
        if postings > 1 {
            // A feature of one document makes no pair and needs no list.
            self.counts.lists += 1;
            self.counts.pairs += pairs;
        }
        let (feature, marked) = (self.feature, self.marked);
        let blocks = self.blocks.each_pair(task, |(left, right), left_count, postings, task| {
            task.emit(&BlockPair { feature, left, right, marked, left_count, postings })
        })?;
        self.counts.blocks += blocks;
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
