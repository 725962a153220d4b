//! What a run found, by row numbers. A document of a store that is no row has a number below 0: -1 is the first of `others`.

use crate::raised;
use pyo3::prelude::*;
use std::collections::HashMap;
use std::sync::Mutex;
use twinsplit::{Duplicates, Result};

/// The ids of rows, as a run knows them.
pub enum Ids {
    /// By row its rank, which as a number of ten digits is its id; and the other way round.
    Ranks(Vec<u32>, Vec<u32>),
    /// Names, and their rows.
    Names(Vec<String>, HashMap<String, u32>),
}

impl Ids {
    /// Those of so many rows: of these ranks or names, or by their numbers.
    pub fn new(ranks: Option<Vec<u32>>, names: Option<Vec<String>>, rows: usize) -> Self {
        if let Some(names) = names {
            let rows = names.iter().cloned().zip(0..).collect();
            return Self::Names(names, rows);
        }
        let ranks = ranks.unwrap_or_else(|| (0..rows as u32).collect());
        let mut of_rank = vec![0; ranks.len()];
        (0..).zip(&ranks).for_each(|(row, rank)| of_rank[*rank as usize] = row);
        Self::Ranks(ranks, of_rank)
    }

    /// How many rows there are.
    pub fn count(&self) -> usize {
        match self {
            Self::Ranks(ranks, _) => ranks.len(),
            Self::Names(names, _) => names.len(),
        }
    }

    /// The id of a row.
    pub fn name(&self, row: usize) -> String {
        match self {
            Self::Ranks(ranks, _) => format!("{:010}", ranks[row]),
            Self::Names(names, _) => names[row].clone(),
        }
    }

    fn row(&self, name: &str) -> Option<u32> {
        match self {
            Self::Ranks(_, of_rank) => of_rank.get(name.parse::<usize>().ok()?).copied(),
            Self::Names(_, rows) => rows.get(name).copied(),
        }
    }
}

/// What a run found.
#[pyclass(frozen, module = "twinsplit._twinsplit")]
pub struct Found {
    duplicates: Duplicates,
    ids: Ids,
    others: Mutex<Others>,
}

/// Documents that are no rows.
#[derive(Default)]
struct Others {
    names: Vec<String>,
    numbers: HashMap<String, i64>,
}

impl Others {
    fn number(&mut self, name: &str) -> i64 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        self.names.push(name.to_owned());
        let number = -(self.names.len() as i64);
        self.numbers.insert(name.to_owned(), number);
        number
    }
}

/// Pairs as columns: the two rows, shared features, those of the first and of the second, and the similarity.
type Pairs = (Vec<i64>, Vec<i64>, Vec<u64>, Vec<u64>, Vec<u64>, Vec<f64>);

impl Found {
    /// What was found of rows with these ids.
    pub fn new(duplicates: Duplicates, ids: Ids) -> Self {
        Self { duplicates, ids, others: Mutex::default() }
    }

    fn number(&self, name: &str) -> i64 {
        let other = || match self.others.lock() {
            Ok(mut others) => others.number(name),
            Err(poisoned) => poisoned.into_inner().number(name),
        };
        self.ids.row(name).map_or_else(other, i64::from)
    }

    fn all_pairs(&self, queries: Option<&Ids>) -> Result<Pairs> {
        let mut all = Pairs::default();
        for pair in self.duplicates.pairs()? {
            let pair = pair?;
            all.5.push(pair.similarity());
            let a = queries.map(|queries| queries.row(&pair.a).map_or(-1, i64::from));
            all.0.push(a.unwrap_or_else(|| self.number(&pair.a)));
            all.1.push(self.number(&pair.b));
            all.2.push(pair.overlap);
            all.3.push(pair.size_a);
            all.4.push(pair.size_b);
        }
        Ok(all)
    }
}

#[pymethods]
impl Found {
    /// Whether its pairs are of fingerprints.
    #[getter]
    fn compares_fingerprints(&self) -> bool {
        self.duplicates.compares_fingerprints()
    }

    /// The ids of the documents that are no rows.
    #[getter]
    fn others(&self) -> Vec<String> {
        match self.others.lock() {
            Ok(others) => others.names.clone(),
            Err(poisoned) => poisoned.into_inner().names.clone(),
        }
    }

    /// All pairs of sets as columns. With queries, of which there are so many, the first of a pair is the number of a query.
    #[pyo3(signature = (queries=None))]
    fn pairs(&self, py: Python<'_>, queries: Option<usize>) -> PyResult<Pairs> {
        let queries = queries.map(|count| Ids::new(None, None, count));
        py.detach(|| self.all_pairs(queries.as_ref())).map_err(raised)
    }

    /// All pairs of fingerprints as columns: the two rows, the distance, and the similarity of the texts where these were compared.
    #[expect(clippy::type_complexity, reason = "Python gives it names")]
    fn near_pairs(&self, py: Python<'_>) -> PyResult<(Vec<i64>, Vec<i64>, Vec<u32>, Vec<Option<f64>>)> {
        let all = || -> Result<_> {
            let (mut a, mut b, mut distance, mut similarity) = (vec![], vec![], vec![], vec![]);
            for pair in self.duplicates.near_pairs()? {
                let pair = pair?;
                a.push(self.number(&pair.a));
                b.push(self.number(&pair.b));
                distance.push(pair.distance);
                similarity.push(pair.similarity);
            }
            Ok((a, b, distance, similarity))
        };
        py.detach(all).map_err(raised)
    }

    /// All clusters: the row of the kept document, and of each other one its row and its similarity to that.
    #[expect(clippy::type_complexity, reason = "Python gives it names")]
    fn clusters(&self, py: Python<'_>) -> PyResult<Vec<(i64, Vec<(i64, Option<f64>)>)>> {
        let all = || -> Result<_> {
            let named = |cluster: twinsplit::Cluster| {
                let dropped = cluster.dropped.iter().map(|one| (self.number(&one.id), one.similarity));
                (self.number(&cluster.kept), dropped.collect())
            };
            self.duplicates.clusters()?.map(|cluster| cluster.map(named)).collect()
        };
        py.detach(all).map_err(raised)
    }

    /// After a run with a store: documents for which another one is kept now, that one before, and the one now.
    fn changes(&self, py: Python<'_>) -> PyResult<Vec<(i64, i64, i64)>> {
        let all = || -> Result<_> {
            let numbers = |change: twinsplit::Change| {
                (self.number(&change.id), self.number(&change.before), self.number(&change.now))
            };
            self.duplicates.changes()?.map(|change| change.map(numbers)).collect()
        };
        py.detach(all).map_err(raised)
    }
}
