//! `feature-order`: document frequencies become an order of features and, where an IDF range is asked for, the list
//! of features in it. `idf-table`: document frequencies become a reference for other corpora, as zhang2011 takes
//! its IDF values from all of WT10G while it works on parts of it (zhang2011, section 5.1).

use super::options::{FeatureOpts, IdfOpts};
use crate::record::Record;
use crate::record::checked::CheckedLine;
use crate::record::count::{CountSums, FeatureCount};
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, SideFile, Stage, Task};
use crate::stages::order::{Listed, MostFrequent, OrderLine, RankedOpts};
use std::path::Path;
use twinsplit_core::idf::IdfRange;
use twinsplit_io::checked_file::{self, CheckedWriter};
use twinsplit_io::error::{Error, FieldError, Result};

/// Kind of the file that `idf-table` writes.
pub const IDF_TABLE: &str = "idf-table";
/// Kind of the file that `feature-order` writes.
pub const ORDER: &str = "order";

/// N comes first in sorted counts, for `-` is below every digit; without it the input is not what it should be.
fn no_count(found: &[u8]) -> FieldError {
    FieldError::new("feature", "- with the number of documents before every feature", found)
}

/// A table of document frequencies of another corpus.
pub struct Reference {
    /// Documents of that corpus.
    pub documents: u64,
    /// Feature and document frequency, ascending by feature.
    pub rows: Vec<(u64, u64)>,
}

/// Reads a table that `idf-table` wrote of such features.
pub fn read_reference(path: &Path, features: &FeatureOpts) -> Result<Reference> {
    let mut rows = Vec::new();
    let head = checked_file::read(path, IDF_TABLE, |_, line| {
        let row = FeatureCount::decode(line)
            .map_err(|e| checked_file::broken(path, &format!("field {}", e.field)))?;
        rows.extend(row.feature.map(|feature| (feature, row.documents)));
        Ok(())
    })?;
    head.must_have(&features.parameters()?, path)?;
    Ok(Reference { documents: head.number("documents", path)?, rows })
}

/// `feature-order`, one task over all counts.
pub struct FeatureOrder {
    sums: CountSums,
    made_of: Vec<(&'static str, String)>,
    range: IdfRange,
    reference: Option<Reference>,
    reference_at: usize,
    /// Known when N was read.
    documents: Option<u64>,
    kept_frequencies: (u64, u64),
    ranked: MostFrequent,
    shuffled: bool,
    kept: List,
    dropped: List,
    features: u64,
}

/// Features for a list that `idf-filter` can hold: their number, and themselves up to a bound.
struct List {
    count: u64,
    features: Vec<u64>,
    most: usize,
}

impl List {
    fn of_at_most(most: usize) -> Self {
        Self { count: 0, features: Vec::new(), most }
    }

    fn push(&mut self, feature: u64) {
        self.count += 1;
        if self.features.len() < self.most {
            self.features.push(feature);
        }
    }

    fn is_whole(&self) -> bool {
        self.features.len() as u64 == self.count
    }
}

twinsplit_core::choice! {
    /// Where tasks look up whether a feature is in the IDF range.
    pub enum Lookup {
        /// By a list that each task holds: the features in the range or those outside, whichever are fewer.
        List = "list",
        /// By a shuffle, for lists that no task can hold.
        Shuffle = "shuffle",
    }
}

twinsplit_core::options! {
    /// Its options.
    pub struct FeatureOrderOpts {
        /// How tasks find out whether a feature is in the IDF range
        idf_lookup: Lookup = "list";
        /// Features of the longest list that a task may hold for --idf-lookup list (about 16 bytes each)
        idf_list: usize = 50_000_000, "N";
    }
    with {
        ranked: RankedOpts,
        idf: IdfOpts,
        features: FeatureOpts,
    }
}

impl Stage for FeatureOrder {
    type In<'a> = FeatureCount;
    type Out<'a> = CheckedLine<'a>;
    type Opts = FeatureOrderOpts;
    const ONE_TASK: bool = true;
    const GROWTH: Growth = Growth::Distinct;
    const DECL: Decl = Decl {
        name: "feature-order",
        role: Role::Reduce,
        about: "Writes the order of features, and which of them lie in the IDF range; one task",
        side: &[SideFile {
            option: "idf-table",
            about: "the table that twinsplit idf made of a reference corpus; optional",
        }],
    };

    fn open(opts: FeatureOrderOpts, _: &mut Task<'_>) -> Result<Self> {
        let shuffled = opts.idf_lookup == Lookup::Shuffle;
        let table = opts.idf.table.idf_table.as_deref();
        if shuffled && table.is_some() {
            return Err(Error::Usage(
                "feature-order: --idf-lookup shuffle takes frequencies from the corpus itself, not from --idf-table"
                    .to_owned(),
            ));
        }
        let list = || List::of_at_most(if shuffled { 0 } else { opts.idf_list });
        let reference = table.map(|path| read_reference(path, &opts.features)).transpose()?;
        Ok(Self {
            sums: CountSums::default(),
            made_of: opts.features.parameters()?,
            range: opts.idf.idf,
            reference,
            reference_at: 0,
            documents: None,
            kept_frequencies: (1, u64::MAX),
            ranked: MostFrequent::new(opts.ranked.ranked),
            kept: list(),
            dropped: list(),
            shuffled,
            features: 0,
        })
    }

    fn push(&mut self, count: FeatureCount, task: &mut Task<'_>) -> Result<()> {
        match self.sums.push(count).map_err(|error| task.wrong(error))? {
            Some(count) => self.take(count, task),
            None => Ok(()),
        }
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        if let Some(count) = self.sums.finish() {
            self.take(count, task)?;
        }
        self.write(task)
    }
}

impl FeatureOrder {
    /// Takes how many documents have a feature.
    fn take(&mut self, count: FeatureCount, task: &mut Task<'_>) -> Result<()> {
        let Some(feature) = count.feature else {
            self.documents = Some(count.documents);
            let documents = self.reference.as_ref().map_or(count.documents, |table| table.documents);
            self.kept_frequencies = self.range.df_range(documents);
            return Ok(());
        };
        if self.documents.is_none() {
            let mut row = Vec::new();
            count.encode(&mut row);
            return Err(task.wrong(no_count(&row)));
        }
        self.features += 1;
        self.ranked.visit(feature, count.documents);
        if !self.range.is_everything() {
            let frequency = match &self.reference {
                Some(table) => {
                    // Both are sorted by feature, so the place in the table only moves on.
                    let rows = &table.rows[self.reference_at..];
                    self.reference_at += rows.partition_point(|row| row.0 < feature);
                    let row = table.rows.get(self.reference_at).filter(|row| row.0 == feature);
                    row.map_or(1, |row| row.1)
                }
                None => count.documents,
            };
            let (least, most) = self.kept_frequencies;
            let list = if (least..=most).contains(&frequency) { &mut self.kept } else { &mut self.dropped };
            list.push(feature);
        }
        Ok(())
    }

    /// Writes the order, when all features are known.
    fn write(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count("features", self.features);
        task.count("features_out_of_idf_range", self.dropped.count);
        let (listed, list) = match (self.range.is_everything(), self.shuffled) {
            (true, _) => (Listed::Nothing, &self.kept),
            (false, true) => (Listed::Elsewhere, &self.kept),
            (false, false) if self.kept.count < self.dropped.count => (Listed::Kept, &self.kept),
            (false, false) => (Listed::Dropped, &self.dropped),
        };
        if !self.shuffled && !list.is_whole() {
            return Err(Error::Limit(format!(
                "feature-order: {} features are {} the IDF range, more than --idf-list {}; {}",
                list.count,
                if listed == Listed::Kept { "in" } else { "out of" },
                list.most,
                match self.reference {
                    Some(_) => "raise it, for with --idf-table every task has a list",
                    None => "tasks look them up without a list with --idf-lookup shuffle",
                }
            )));
        }
        let documents = self.documents.unwrap_or(0);
        let mut parameters = std::mem::take(&mut self.made_of);
        parameters.extend([
            ("documents", documents.to_string()),
            ("idf", self.range.to_string()),
            ("df_min", self.kept_frequencies.0.to_string()),
            ("df_max", self.kept_frequencies.1.to_string()),
            ("listed", listed.name().to_owned()),
        ]);
        let (head, mut writer) = CheckedWriter::start(ORDER, &parameters);
        task.emit_row(&head)?;
        let mut row = Vec::new();
        let ranked = self.ranked.take();
        let listed = list.features.iter().map(|f| OrderLine::Listed(*f));
        let lines = ranked.into_iter().map(|(_, feature)| OrderLine::Ranked(feature)).chain(listed);
        for line in lines {
            row.clear();
            line.encode(&mut row);
            writer.line(&row);
            task.emit_row(&row)?;
        }
        task.emit_row(&writer.end())
    }
}

/// `idf-table`, one task over all counts.
pub struct IdfTable {
    made_of: Vec<(&'static str, String)>,
    writer: Option<CheckedWriter>,
}

impl Stage for IdfTable {
    type In<'a> = FeatureCount;
    type Out<'a> = CheckedLine<'a>;
    type Opts = FeatureOpts;
    const ONE_TASK: bool = true;
    const GROWTH: Growth = Growth::Distinct;
    const DECL: Decl = Decl {
        name: "idf-table",
        role: Role::Reduce,
        about: "Writes document frequencies as a reference table for --idf-table; one task",
        side: &[],
    };

    fn open(opts: FeatureOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self { made_of: opts.parameters()?, writer: None })
    }

    fn push(&mut self, count: FeatureCount, task: &mut Task<'_>) -> Result<()> {
        let mut row = Vec::new();
        count.encode(&mut row);
        match (&mut self.writer, count.feature) {
            (None, None) => {
                let mut parameters = std::mem::take(&mut self.made_of);
                parameters.push(("documents", count.documents.to_string()));
                let (head, writer) = CheckedWriter::start(IDF_TABLE, &parameters);
                self.writer = Some(writer);
                task.emit_row(&head)
            }
            (Some(writer), Some(_)) => {
                writer.line(&row);
                task.emit_row(&row)
            }
            _ => Err(task.wrong(no_count(&row))),
        }
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        match &self.writer {
            Some(writer) => task.emit_row(&writer.end()),
            None => Ok(()),
        }
    }
}
