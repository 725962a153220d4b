//! `hamming-plan`, `hamming-index`, `hamming-pairs`: fingerprints within a Hamming distance of each other, by tables
//! ([`twinsplit_core::sketch::tables`]).
//!
//! The plan chooses tables by the number of fingerprints. Each fingerprint is a row in every table, under its bits there. The
//! reducer cuts those that meet under one key into blocks and writes a line for each two blocks, as
//! [posting lists](super::index_term) are, so that a key that many have is spread over many mappers; these compare.

use super::NoOpts;
use super::blocks::{BlockOpts, Blocks};
use super::forest::{Forest, ForestOpts};
use super::signature_check::CheckOpts;
use crate::record::checked::CheckedLine;
use crate::record::fingerprint::{MemberFingerprint, PrintedFingerprint};
use crate::record::hamming::{FingerprintBlocks, FingerprintCount, Table, TableRow};
use crate::record::near::{AnyPair, Near};
use crate::record::set::Member;
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, SideFile, Stage, Task};
use std::path::{Path, PathBuf};
use twinsplit_core::cluster::bucket;
use twinsplit_core::sketch::simhash::Bits;
use twinsplit_core::sketch::tables::Tables;
use twinsplit_io::checked_file::{self, CheckedWriter};
use twinsplit_io::error::{Error, FieldError, Result};

/// Kind of the file that `hamming-plan` writes.
const PLAN: &str = "hamming-plan";

/// The counter of different fingerprints.
pub const FINGERPRINTS: &str = "fingerprints";

/// The counter of comparisons.
pub const FINGERPRINTS_COMPARED: &str = "fingerprints_compared";

/// The plan's mapper.
#[derive(Default)]
pub struct HammingCount {
    count: Option<FingerprintCount>,
}

const NOTHING: FingerprintCount = FingerprintCount { fingerprints: 0, distance: 0, bits: None };

/// The sum of two counts; an error where their fingerprints have not as many bits.
fn add(a: FingerprintCount, b: FingerprintCount, task: &Task<'_>) -> Result<FingerprintCount> {
    if let (Some(x), Some(y)) = (a.bits, b.bits)
        && x != y
    {
        let expected = "fingerprints of one length";
        return Err(task.wrong(FieldError::new("bits", expected, y.count().to_string().as_bytes())));
    }
    let fingerprints = a.fingerprints.saturating_add(b.fingerprints);
    Ok(FingerprintCount { fingerprints, distance: a.distance.max(b.distance), bits: a.bits.or(b.bits) })
}

impl Stage for HammingCount {
    type In<'a> = Member<'a>;
    type Out<'a> = FingerprintCount;
    type Opts = NoOpts;
    const GROWTH: Growth = Growth::Constant;
    const DECL: Decl =
        Decl { name: "hamming-count", role: Role::Map, about: "Counts different fingerprints", side: &[] };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, row: Member<'_>, task: &mut Task<'_>) -> Result<()> {
        let Member::Fingerprint(row) = row else { return Ok(()) };
        if row.representative.is_none() {
            let bits = Some(row.fingerprint.bits);
            let one = FingerprintCount { fingerprints: 1, distance: row.distance, bits };
            self.count = Some(add(self.count.unwrap_or(NOTHING), one, task)?);
        }
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.emit(&self.count.unwrap_or(NOTHING))
    }
}

/// `hamming-plan`, one task.
pub struct HammingPlan {
    count: FingerprintCount,
}

impl Stage for HammingPlan {
    type In<'a> = FingerprintCount;
    type Out<'a> = CheckedLine<'a>;
    type Opts = NoOpts;
    const ONE_TASK: bool = true;
    const GROWTH: Growth = Growth::Constant;
    const DECL: Decl = Decl {
        name: "hamming-plan",
        role: Role::Reduce,
        about: "Chooses the tables in which fingerprints meet; one task",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { count: NOTHING })
    }

    fn push(&mut self, row: FingerprintCount, task: &mut Task<'_>) -> Result<()> {
        self.count = add(self.count, row, task)?;
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        let FingerprintCount { fingerprints, distance, bits } = self.count;
        let tables = Tables::choose(bits.unwrap_or(Bits::B64), fingerprints, distance);
        task.count(FINGERPRINTS, fingerprints);
        task.count("tables", tables.count().into());
        let parameters = [
            ("fingerprints", fingerprints.to_string()),
            ("distance", distance.to_string()),
            ("blocks", tables.blocks().to_string()),
            ("chosen", tables.chosen().to_string()),
        ];
        let (head, writer) = CheckedWriter::start(PLAN, &parameters);
        task.emit_row(&head)?;
        task.emit_row(&writer.end())
    }
}

/// Reads a plan: its tables, and the greatest distance of a pair.
fn load_plan(path: &Path) -> Result<(Tables, u32)> {
    let head = checked_file::read(path, PLAN, |_, _| Err(checked_file::broken(path, "a line too many")))?;
    let number = |name| head.number(name, path).map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    let (blocks, chosen, distance) = (number("blocks")?, number("chosen")?, number("distance")?);
    let tables = Tables::of(blocks, chosen).filter(|tables| tables.blocks() - tables.chosen() >= distance);
    let tables =
        tables.ok_or_else(|| checked_file::broken(path, "blocks that are no tables of its distance"))?;
    Ok((tables, distance))
}

/// The tables' mapper.
pub struct HammingIndex {
    tables: Tables,
    /// The bits of each table: of 64, and of 128.
    masks: [Vec<u128>; 2],
    distance: u32,
}

twinsplit_core::options! {
    /// Its options.
    pub struct HammingIndexOpts {
        /// The plan that hamming-plan wrote
        tables: PathBuf = "tables", "FILE";
    }
}

impl Stage for HammingIndex {
    type In<'a> = Member<'a>;
    type Out<'a> = TableRow<'a>;
    type Opts = HammingIndexOpts;
    const DECL: Decl = Decl {
        name: "hamming-index",
        role: Role::Map,
        about: "Writes each fingerprint into every table",
        side: &[SideFile { option: "tables", about: "the tables that hamming-plan chose; required" }],
    };

    fn open(opts: HammingIndexOpts, _: &mut Task<'_>) -> Result<Self> {
        let (tables, distance) = load_plan(&opts.tables)?;
        let choices = tables.choices();
        let masks = [Bits::B64, Bits::B128]
            .map(|bits| choices.iter().map(|choice| tables.mask(bits, *choice)).collect());
        Ok(Self { tables, masks, distance })
    }

    fn push(&mut self, row: Member<'_>, task: &mut Task<'_>) -> Result<()> {
        let Member::Fingerprint(MemberFingerprint {
            id, representative: None, fingerprint, distance, ..
        }) = row
        else {
            return Ok(());
        };
        if distance > self.distance {
            let expected = "a distance that the tables are made for";
            return Err(task.wrong(FieldError::new("distance", expected, distance.to_string().as_bytes())));
        }
        let masks = &self.masks[usize::from(fingerprint.bits == Bits::B128)];
        for (number, mask) in (0..).zip(masks) {
            let table = Table { tables: self.tables, number };
            task.emit(&TableRow { table, key: fingerprint.value & mask, id, fingerprint, distance })?;
        }
        Ok(())
    }
}

/// The tables' reducer.
pub struct HammingIndexReduce {
    table: Option<Table>,
    blocks: Blocks,
    keys: u64,
}

impl Stage for HammingIndexReduce {
    type In<'a> = TableRow<'a>;
    type Out<'a> = FingerprintBlocks<'a>;
    type Opts = BlockOpts;
    const GROWTH: Growth = Growth::Repeated;
    const DECL: Decl = Decl {
        name: "hamming-index-reduce",
        role: Role::Reduce,
        about: "Gathers the fingerprints under a key and writes them as pairs of blocks",
        side: &[],
    };

    fn open(opts: BlockOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { table: None, blocks: Blocks::new(&opts), keys: 0 })
    }

    fn push(&mut self, row: TableRow<'_>, task: &mut Task<'_>) -> Result<()> {
        self.table = Some(row.table);
        self.blocks.push(task, |out| FingerprintBlocks::push(&row, out))
    }

    fn end_group(&mut self, task: &mut Task<'_>) -> Result<()> {
        let Some(table) = self.table.take() else { return Ok(()) };
        // A fingerprint that is alone under its key is in no pair.
        self.keys += u64::from(self.blocks.items() > 1);
        self.blocks.each_pair(task, |(left, right), left_count, fingerprints, task| {
            task.emit(&FingerprintBlocks { table, left, right, left_count, fingerprints })
        })?;
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count("keys_of_several_fingerprints", self.keys);
        Ok(())
    }
}

/// `hamming-pairs`.
pub struct HammingPairs {
    forest: Forest,
    /// The choices of the tables of the last line.
    choices: Option<(Tables, Vec<u64>)>,
    compared: u64,
}

twinsplit_core::options! {
    /// Its options.
    pub struct HammingPairsOpts {}
    with {
        forest: ForestOpts,
        check: CheckOpts,
    }
}

impl HammingPairs {
    /// Writes pairs of two blocks, or of one, that connect what all their pairs connect. Which table they meet in does not matter then.
    fn connect(
        &mut self,
        rows: &[PrintedFingerprint<'_>],
        (left, is_one): (usize, bool),
        task: &mut Task<'_>,
    ) -> Result<()> {
        let components = self.forest.components(rows.iter().map(|row| row.id));
        let mut all: Vec<(u32, u32)> = components.into_iter().zip(0..).collect();
        bucket::connect(&mut all, |x, y| {
            // Two of one block are looked at where that is held against itself.
            if !is_one && ((x as usize) < left) == ((y as usize) < left) {
                return Ok(false);
            }
            self.compared += 1;
            let (x, y) = (&rows[x as usize], &rows[y as usize]);
            let (pair, distance) = x.pairs_with(y);
            if pair && self.forest.needs(x.id.min(y.id), x.id.max(y.id)) {
                task.emit(&AnyPair::Fingerprints(Near::of(x.id, y.id, distance, None)))?;
            }
            Ok::<bool, Error>(pair)
        })?;
        Ok(())
    }
}

impl Stage for HammingPairs {
    type In<'a> = FingerprintBlocks<'a>;
    type Out<'a> = AnyPair<'a>;
    type Opts = HammingPairsOpts;
    const GROWTH: Growth = Growth::Pairs;
    const DECL: Decl = Decl {
        name: "hamming-pairs",
        role: Role::Map,
        about: "Compares the fingerprints that meet in a table, and writes those that are near",
        side: &[],
    };

    fn open(opts: HammingPairsOpts, _: &mut Task<'_>) -> Result<Self> {
        // A pair whose texts are still to be compared connects nothing yet.
        let forest = if opts.check.texts().is_some() { Forest::of_all() } else { Forest::new(&opts.forest) };
        Ok(Self { forest, choices: None, compared: 0 })
    }

    fn push(&mut self, blocks: FingerprintBlocks<'_>, task: &mut Task<'_>) -> Result<()> {
        let mut rows = Vec::new();
        blocks.read(&mut rows).map_err(|error| task.wrong(error))?;
        let Table { tables, number } = blocks.table;
        if self.choices.as_ref().is_none_or(|known| known.0 != tables) {
            self.choices = Some((tables, tables.choices()));
        }
        let choice = self.choices.as_ref().and_then(|known| known.1.get(number as usize)).copied();
        let left = blocks.left_count as usize;
        if self.forest.connects() {
            return self.connect(&rows, (left, blocks.left == blocks.right), task);
        }
        for (at, x) in rows[..left].iter().enumerate() {
            let partners = if blocks.left == blocks.right { &rows[at + 1..left] } else { &rows[left..] };
            self.compared += partners.len() as u64;
            for y in partners {
                let (pair, distance) = x.pairs_with(y);
                if pair && tables.first(x.fingerprint, y.fingerprint) == choice {
                    task.emit(&AnyPair::Fingerprints(Near::of(x.id, y.id, distance, None)))?;
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.forest.finish(task);
        task.count(FINGERPRINTS_COMPARED, self.compared);
        Ok(())
    }
}
