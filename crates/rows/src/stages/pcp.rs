//! `pcp-map` and `pcp-reduce`: the postings Cartesian product (lin2009; zhang2011, section 4, figure 6).
//!
//! Plain: every two documents of a posting list share one more feature; the reducer adds up and knows |A∩B|, and
//! with both sizes the similarity. Prefix: postings that pass the prefix, length and positional filters become
//! candidates, which `verify-left` and `verify-right` count exactly.

use super::forest::{Forest, JoinedOpts};
use super::list_pairs::{ListPairs, ListPairsOpts};
use super::options::{MaxPairsOpts, SimilarityOpts};
use crate::record::pair::{Candidate, Joined, Pair, Part};
use crate::record::posting::{BlockPair, Posting};
use crate::record::tag;
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, Stage, Task};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use twinsplit_core::join::prefix::{self, may_pair};
use twinsplit_core::similarity::{SetSimilarity, Similarity};
use twinsplit_io::error::{Error, FieldError, Result};
use twinsplit_io::terminal;

/// The mapper.
pub struct PcpMap {
    opts: PcpMapOpts,
    written: u64,
    combiner: Combiner,
    without_accumulator: u64,
    pairs: ListPairs,
}

twinsplit_core::options! {
    /// Its options.
    pub struct PcpMapOpts {
        /// Pairs whose shared features a mapper adds up in memory (about 100 bytes each) before it writes the
        /// sums
        combine_pairs: usize = 1_000_000, "N";
        /// APPROXIMATE (lin2009): count at most N pairs in a task, ignore all further pairs, and report how often
        /// that happened
        accumulators: Option<usize>, "N";
    }
    with {
        similarity: SimilarityOpts,
        max_pairs: MaxPairsOpts,
        pairs: ListPairsOpts,
    }
}

/// Sums the parts of pairs within a bound: near-duplicates share most of their lists, so a sum stands for many rows.
#[derive(Default)]
struct Combiner {
    numbers: FxHashMap<Box<[u8]>, u32>,
    /// By number: id and size.
    documents: Vec<(Box<[u8]>, u64)>,
    /// By both numbers, the smaller id's first.
    counts: FxHashMap<(u32, u32), u64>,
}

impl Combiner {
    fn number(&mut self, posting: &Posting<'_>) -> u32 {
        if let Some(number) = self.numbers.get(posting.id) {
            return *number;
        }
        let number = self.documents.len() as u32;
        self.numbers.insert(posting.id.into(), number);
        self.documents.push((posting.id.into(), posting.size));
        number
    }

    /// Writes all sums, in an order that does not depend on the table's.
    fn flush(&mut self, task: &mut Task<'_>) -> Result<()> {
        let mut counts: Vec<_> = self.counts.drain().collect();
        counts.sort_unstable();
        for ((x, y), count) in counts {
            let ((a, size_a), (b, size_b)) = (&self.documents[x as usize], &self.documents[y as usize]);
            task.emit(&Joined::Part(Part { a, b, count, size_a: *size_a, size_b: *size_b }))?;
        }
        self.numbers.clear();
        self.documents.clear();
        Ok(())
    }
}

impl PcpMap {
    /// Pairs `left[at]` with each of `right`, where `numbers` are the combiner's numbers of the list's documents.
    fn pair(&mut self, x: (&Posting<'_>, u32), y: (&Posting<'_>, u32), task: &mut Task<'_>) -> Result<()> {
        if x.0.id == y.0.id {
            let id = String::from_utf8_lossy(x.0.id).into_owned();
            return Err(Error::DuplicateId { stage: task.stage.to_owned(), id, places: String::new() });
        }
        let (x, y) = if x.0.id < y.0.id { (x, y) } else { (y, x) };
        if x.0.mark.is_some() {
            if !candidate(self.opts.similarity.0, x.0, y.0) {
                return Ok(());
            }
            task.emit(&Joined::Candidate(Candidate { a: x.0.id, b: y.0.id }))?;
        } else if !self.accumulate((x.1, y.1)) {
            self.without_accumulator += 1;
            return Ok(());
        }
        self.written += 1;
        if self.written > self.opts.max_pairs.max_pairs {
            return Err(Error::Limit(format!(
                "pcp-map: more than {} pairs of postings in one task; doc-split has none, or raise --max-pairs",
                self.opts.max_pairs.max_pairs
            )));
        }
        Ok(())
    }

    /// Adds one to a pair's sum; false when there are as many sums as `--accumulators` allows.
    fn accumulate(&mut self, pair: (u32, u32)) -> bool {
        let full = self.opts.accumulators.is_some_and(|limit| self.combiner.counts.len() >= limit);
        match self.combiner.counts.entry(pair) {
            Entry::Occupied(mut count) => *count.get_mut() += 1,
            Entry::Vacant(_) if full => return false,
            Entry::Vacant(count) => {
                count.insert(1);
            }
        }
        true
    }
}

/// Whether two postings of one list make a candidate: the smaller document by (size, id) must be flagged.
fn candidate(similarity: Similarity, x: &Posting<'_>, y: &Posting<'_>) -> bool {
    let of = |posting: &Posting<'_>| {
        let mark = posting.mark?;
        Some(prefix::Posting { size: posting.size, position: mark.position, indexed: mark.indexed })
    };
    let (smaller, larger) = if (x.size, x.id) < (y.size, y.id) { (x, y) } else { (y, x) };
    match (of(smaller), of(larger)) {
        (Some(smaller), Some(larger)) => may_pair(similarity, &smaller, &larger),
        _ => false,
    }
}

impl Stage for PcpMap {
    type In<'a> = BlockPair<'a>;
    type Out<'a> = Joined<'a>;
    type Opts = PcpMapOpts;
    const GROWTH: Growth = Growth::Pairs;
    const DECL: Decl = Decl {
        name: "pcp-map",
        role: Role::Map,
        about: "Pairs the postings of each list: parts of overlaps, or candidates with --pcp prefix lists",
        side: &[ListPairs::SIDE],
    };

    const TAG: Option<&'static [u8]> = Some(tag::LIST);

    fn open(opts: PcpMapOpts, _: &mut Task<'_>) -> Result<Self> {
        let pairs = ListPairs::open(&opts.pairs)?;
        Ok(Self { opts, written: 0, combiner: Combiner::default(), without_accumulator: 0, pairs })
    }

    fn push(&mut self, list: BlockPair<'_>, task: &mut Task<'_>) -> Result<()> {
        let mut postings = Vec::new();
        list.read(&mut postings).map_err(|error| task.wrong(error))?;
        if list.marked && self.opts.accumulators.is_some() {
            return Err(Error::Usage(
                "pcp-map: --accumulators counts nothing with --pcp prefix lists".to_owned(),
            ));
        }
        if !list.marked && self.pairs.leaves_out() {
            return Err(Error::Usage(
                "pcp-map: --hubs and --connected leave out pairs, and plain lists need them all; take --pcp prefix lists"
                    .to_owned(),
            ));
        }
        let numbers: Vec<u32> = match list.marked {
            true => vec![0; postings.len()],
            false => postings.iter().map(|posting| self.combiner.number(posting)).collect(),
        };
        let pairs = self.pairs.of(&list, &postings);
        pairs.each(|x, y| self.pair((&postings[x], numbers[x]), (&postings[y], numbers[y]), task))?;
        let full = self.combiner.counts.len().max(self.combiner.documents.len()) > self.opts.combine_pairs;
        if full && self.opts.accumulators.is_none() { self.combiner.flush(task) } else { Ok(()) }
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count("pairs_of_postings", self.written);
        self.combiner.flush(task)?;
        if let Some(limit) = self.opts.accumulators {
            task.count("pairs_without_accumulator", self.without_accumulator);
            terminal::line(format_args!(
                "pcp-map: --accumulators {limit} left out {} shared features of pairs met too late; \
                 similarities below are lower bounds",
                self.without_accumulator
            ));
        }
        Ok(())
    }
}

/// The reducer.
pub struct PcpReduce {
    similarity: Similarity,
    forest: Forest,
    a: Vec<u8>,
    b: Vec<u8>,
    overlap: u64,
    sizes: (u64, u64),
    below: u64,
}

impl Stage for PcpReduce {
    type In<'a> = Part<'a>;
    type Out<'a> = Pair<'a>;
    type Opts = JoinedOpts;
    const GROWTH: Growth = Growth::Pairs;
    const DECL: Decl = Decl {
        name: "pcp-reduce",
        role: Role::Reduce,
        about: "Adds up the shared features of each pair and keeps the pairs that reach tau",
        side: &[],
    };

    fn open(opts: JoinedOpts, _: &mut Task<'_>) -> Result<Self> {
        let forest = Forest::new(&opts.forest);
        Ok(Self {
            similarity: opts.similarity.0,
            forest,
            a: Vec::new(),
            b: Vec::new(),
            overlap: 0,
            sizes: (0, 0),
            below: 0,
        })
    }

    fn push(&mut self, part: Part<'_>, task: &mut Task<'_>) -> Result<()> {
        if part.count == 0 {
            return Err(task.wrong(FieldError::new("count", "at least 1", b"0")));
        }
        if self.overlap == 0 {
            self.a = part.a.to_vec();
            self.b = part.b.to_vec();
            self.sizes = (part.size_a, part.size_b);
        } else if self.sizes != (part.size_a, part.size_b) {
            // One id with two sizes is two documents.
            let id = if self.sizes.0 == part.size_a { part.b } else { part.a };
            let id = String::from_utf8_lossy(id).into_owned();
            return Err(Error::DuplicateId { stage: task.stage.to_owned(), id, places: String::new() });
        }
        let sum = self.overlap.checked_add(part.count).filter(|sum| *sum <= part.size_a.min(part.size_b));
        self.overlap = sum.ok_or_else(|| {
            let expected =
                "counts of a pair that are at most its smaller size together (are rows read twice?)";
            task.wrong(FieldError::new("count", expected, part.count.to_string().as_bytes()))
        })?;
        Ok(())
    }

    fn end_group(&mut self, task: &mut Task<'_>) -> Result<()> {
        let overlap = std::mem::take(&mut self.overlap);
        let (size_a, size_b) = self.sizes;
        if !self.similarity.accepts(overlap, size_a, size_b) {
            self.below += 1;
            return Ok(());
        }
        if !self.forest.needs(&self.a, &self.b) {
            return Ok(());
        }
        let measure = self.similarity.measure();
        task.emit(&Pair { a: &self.a, b: &self.b, overlap, size_a, size_b, measure })
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.forest.finish(task);
        task.count("pairs_below_tau", self.below);
        Ok(())
    }
}
