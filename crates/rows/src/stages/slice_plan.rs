//! `size-count` and `slice-plan`: the collection is cut into slices by set size, balanced by estimated cost.

use super::options::{FeatureOpts, MinFeaturesOpts, SimilarityOpts};
use crate::record::checked::CheckedLine;
use crate::record::count::SizeRow;
use crate::record::set::Member;
use crate::record::{Fields, push_number};
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, Stage, Task};
use std::collections::BTreeMap;
use std::path::Path;
use twinsplit_core::join::slices::{SizeCount, SliceRange, Wanted, plan_slices};
use twinsplit_core::similarity::Measure;
use twinsplit_io::Megabytes;
use twinsplit_io::checked_file::{self, CheckedWriter, broken};
use twinsplit_io::error::{Error, FieldError, Result};

/// Kind of the file that `slice-plan` writes.
const PLAN: &str = "plan";

/// `size-count`, combined in the mapper.
pub struct SizeCountMap {
    least: MinFeaturesOpts,
    sizes: BTreeMap<u64, u64>,
}

impl Stage for SizeCountMap {
    type In<'a> = Member<'a>;
    type Out<'a> = SizeRow;
    type Opts = MinFeaturesOpts;
    const GROWTH: Growth = Growth::Combined;
    const DECL: Decl =
        Decl { name: "size-count", role: Role::Map, about: "Counts the sets of each size", side: &[] };

    fn open(least: MinFeaturesOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { least, sizes: BTreeMap::new() })
    }

    fn push(&mut self, member: Member<'_>, _: &mut Task<'_>) -> Result<()> {
        if let Member::Doc(doc) = member {
            let size = doc.features.size();
            if self.least.admits(size) {
                *self.sizes.entry(size).or_default() += 1;
            }
        }
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.sizes.iter().try_for_each(|(&size, &sets)| task.emit(&SizeRow { size, sets }))
    }
}

/// `slice-plan`, one task over all sizes; what several mappers counted of a size is added up.
pub struct SlicePlan {
    opts: SlicePlanOpts,
    counts: Vec<SizeCount>,
    sets: u64,
    tokens: u128,
}

/// More sets than this, or features in a set, are no real collection's.
const MOST: u64 = 1 << 40;

/// More slices than this are no plan: each is a job.
const MOST_SLICES: u64 = 1_000_000;

fn wrong_sets(row: SizeRow) -> FieldError {
    FieldError::new("sets", "at least 1, and at most 2^40 in all", row.sets.to_string().as_bytes())
}

twinsplit_core::options! {
    /// How Doc-Split cuts the collection by size.
    pub struct SlicePlanOpts {}
    with {
        similarity: SimilarityOpts,
        features: FeatureOpts,
        slices: SlicesOpts,
    }
}

twinsplit_core::options! {
    /// How many slices, or how large a slice may be.
    pub struct SlicesOpts {
        /// Number of slices of Doc-Split; by default as many as --slice-memory requires
        pub slices: Option<u64>, "S", in 0..=MOST_SLICES;
        /// Megabytes of memory for the index of one slice in a task
        pub slice_memory: Megabytes = 512, "MB";
    }
}

/// Bytes of a task's memory for each feature of a slice: its number in the set, its posting, its place in the table.
const BYTES_PER_TOKEN: u64 = 32;

impl SlicesOpts {
    /// What the plan is asked for.
    pub fn wanted(&self) -> Wanted {
        match self.slices {
            Some(slices) => Wanted::Slices(slices.max(1)),
            None => Wanted::Tokens(self.slice_memory.bytes() as u64 / BYTES_PER_TOKEN),
        }
    }
}

impl Stage for SlicePlan {
    type In<'a> = SizeRow;
    type Out<'a> = CheckedLine<'a>;
    type Opts = SlicePlanOpts;
    const ONE_TASK: bool = true;
    const GROWTH: Growth = Growth::Constant;
    const DECL: Decl = Decl {
        name: "slice-plan",
        role: Role::Reduce,
        about: "Cuts the sizes into slices of about equal cost; one task",
        side: &[],
    };

    fn open(opts: SlicePlanOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { opts, counts: Vec::new(), sets: 0, tokens: 0 })
    }

    fn push(&mut self, row: SizeRow, task: &mut Task<'_>) -> Result<()> {
        if row.size == 0 || row.size > MOST {
            let expected = "a size from 1 to 2^40";
            return Err(task.wrong(FieldError::new("size", expected, row.size.to_string().as_bytes())));
        }
        self.sets = self.sets.saturating_add(row.sets);
        if row.sets == 0 || self.sets > MOST {
            return Err(task.wrong(wrong_sets(row)));
        }
        self.tokens += u128::from(row.size) * u128::from(row.sets);
        match self.counts.last_mut() {
            Some(last) if last.size == row.size => last.docs += row.sets,
            _ => self.counts.push(SizeCount { size: row.size, docs: row.sets }),
        }
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        if let Wanted::Tokens(most) = self.opts.slices.wanted()
            && self.tokens / u128::from(most) > MOST_SLICES.into()
        {
            return Err(Error::Limit(format!(
                "slice-plan: the plan would have over {MOST_SLICES} slices; raise --slice-memory"
            )));
        }
        let plan = plan_slices(&self.counts, self.opts.similarity.0, self.opts.slices.wanted());
        task.count("slices", plan.len() as u64);
        let mut parameters = self.opts.features.parameters()?;
        let similarity = self.opts.similarity.0;
        if similarity.measure() != Measure::Jaccard {
            parameters.push(("similarity", similarity.measure().to_string()));
        }
        parameters.push(("tau", similarity.threshold()));
        let (head, mut writer) = CheckedWriter::start(PLAN, &parameters);
        task.emit_row(&head)?;
        for slice in &plan {
            let numbers = [
                slice.first,
                slice.last,
                u64::from(slice.part),
                u64::from(slice.parts),
                slice.docs,
                slice.tokens,
            ];
            let mut row = Vec::new();
            for number in numbers {
                push_number(&mut row, number);
                row.push(b'\t');
            }
            row.pop();
            writer.line(&row);
            task.emit_row(&row)?;
        }
        task.emit_row(&writer.end())
    }
}

/// Loads a plan: the slices in their order; a slice's number is its place.
pub fn load_plan(path: &Path, features: &FeatureOpts) -> Result<Vec<SliceRange>> {
    let mut plan = Vec::new();
    let head = checked_file::read(path, PLAN, |_, line| {
        let mut fields = Fields::of(line);
        let mut number =
            |name| fields.number(name).map_err(|e| broken(path, &format!("{}: {}", e.field, e.found)));
        let (first, last) = (number("first")?, number("last")?);
        let (part, parts) = (number("part")? as u32, number("parts")? as u32);
        plan.push(SliceRange { first, last, part, parts, docs: number("docs")?, tokens: number("tokens")? });
        Ok(())
    })?;
    head.must_have(&features.parameters()?, path)?;
    Ok(plan)
}
