//! `--tables`: the pairs and clusters of an answer, and what `--unit` cuts, as tables with named columns, beside the files of fields.
//!
//! pairs.tsv and clusters.tsv are what every engine writes and every command reads. A table is made of them when they are complete: a row for
//! each line, in its order, with the same numbers. Ids are as the documents have them, without the escapes that lines need.

mod columns;
mod lines;
mod parquet;

use self::parquet::Parquet;
use crate::output::owned::{CUT, CUT_DOCUMENTS};
use crate::same_form::size;
use columns::Field;
use lines::Lines;
use std::borrow::Cow;
use std::path::Path;
use std::time::Instant;
use twinsplit_core::choice::Choice as _;
use twinsplit_engine::progress::{Done, Progress, Unit};
use twinsplit_engine::steps::answer_file;
use twinsplit_io::each_row;
use twinsplit_io::error::Result;
use twinsplit_rows::chains::{CLUSTERS, PAIRS};
use twinsplit_rows::plan::Plan;
use twinsplit_sources::cells::{Cell, Column};

twinsplit_core::choice! {
    /// The forms of tables.
    pub enum TableForm {
        /// JSON lines: an object a row
        Jsonl = "jsonl",
        /// Parquet
        Parquet = "parquet",
    }
}

impl TableForm {
    /// The name of the file of a table that is made of a file of fields.
    fn file(self, fields: &str) -> String {
        format!("{}.{}", name(fields), self.name())
    }
}

/// What the table is called that is made of a file of fields.
fn name(fields: &str) -> &str {
    fields.strip_suffix(".tsv").unwrap_or(fields)
}

/// The tables of a run.
pub struct Tables<'p> {
    plan: &'p Plan,
    forms: Vec<TableForm>,
    /// Whether the run lists what it cuts.
    cuts: bool,
}

/// A table that is written.
trait Table {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()>;
    fn finish(self: Box<Self>) -> Result<()>;
}

impl<'p> Tables<'p> {
    /// Those of a plan in these forms, of a run that lists what it cuts or not.
    pub fn of(plan: &'p Plan, forms: &[TableForm], cuts: bool) -> Self {
        let forms = TableForm::values().filter(|form| forms.contains(form)).collect();
        Self { plan, forms, cuts }
    }

    /// The files of fields that become tables.
    fn data(&self) -> impl Iterator<Item = Cow<'static, str>> {
        let data = self.plan.chain.output.data().into_iter();
        let data = data.filter(|data| [PAIRS, CLUSTERS].contains(data));
        let cut = [CUT, CUT_DOCUMENTS].into_iter().filter(|_| self.cuts);
        data.map(|data| answer_file(data).into()).chain(cut.map(Into::into))
    }

    /// The names of the forms, as the manifest of a run has them; nothing where there are none.
    pub fn parameter(&self) -> Option<String> {
        let names: Vec<_> = self.forms.iter().map(|form| form.name()).collect();
        (!names.is_empty()).then(|| names.join(","))
    }

    /// The names of the files.
    pub fn files(&self) -> Vec<String> {
        self.data().flat_map(|data| self.forms.iter().map(move |form| form.file(&data))).collect()
    }

    /// Writes them into the folder of an answer, beside the files that they are made of.
    pub fn write(&self, answer: &Path, progress: &Progress) -> Result<Option<Done>> {
        if self.forms.is_empty() {
            return Ok(None);
        }
        let start = Instant::now();
        let mut rows = 0;
        for data in self.data() {
            let fields = match name(&data) {
                PAIRS => columns::of_pairs(self.plan)?,
                CLUSTERS => columns::of_clusters(self.plan)?,
                _ if data == CUT => columns::of_cut(self.plan)?,
                _ => columns::of_cut_documents(),
            };
            let columns: Vec<Column> = fields.iter().map(Field::column).collect();
            let mut tables = Vec::new();
            for form in &self.forms {
                let file = answer.join(form.file(&data));
                tables.push(match form {
                    TableForm::Jsonl => Box::new(Lines::create(&file, &columns)?) as Box<dyn Table>,
                    TableForm::Parquet => Box::new(Parquet::create(&file, name(&data), &columns)?),
                });
            }
            rows += write(&answer.join(&*data), &fields, &mut tables, progress)?;
            tables.into_iter().try_for_each(Table::finish)?;
        }
        let counters = [("rows".to_owned(), rows)].into();
        Ok(Some(Done { name: "tables".to_owned(), seconds: start.elapsed().as_secs_f64(), counters }))
    }
}

/// Writes each line of a file into tables, and gives how many there are.
fn write(from: &Path, fields: &[Field], tables: &mut [Box<dyn Table>], progress: &Progress) -> Result<u64> {
    progress.start("tables", "writing", Unit::Bytes, size(from));
    let (mut rows, mut written) = (0, Ok(()));
    each_row(from, |line| {
        let cells = columns::cells(line, fields)?;
        if written.is_ok() {
            written = tables.iter_mut().try_for_each(|table| table.row(&cells));
        }
        rows += 1;
        progress.add(line.len() as u64 + 1);
        Ok(())
    })?;
    written.map(|()| rows)
}
