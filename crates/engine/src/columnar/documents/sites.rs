//! The site of each document, and which features are the template of one.
//!
//! A feature that several documents of one site have, and no others, says nothing about who copied whom (wei2013, index
//! pruning). In a sorted bucket the documents that have a feature stand together, so one look at their sites decides.

use super::FeatureRow;
use crate::columnar::ColumnarOpts;
use rustc_hash::FxHashMap;
use twinsplit_io::error::FieldError;

/// Sites, numbered as they are met; 0 stands for none.
#[derive(Debug, Default)]
pub struct Sites {
    numbers: FxHashMap<Box<str>, u32>,
    /// By place of a document.
    of: Vec<u32>,
    /// Bytes of all names.
    names: usize,
}

/// Bytes of a name's entry in the table of numbers, which may be half empty.
const ENTRY: usize = 64;

impl Sites {
    /// None yet, where the options ask for sites.
    pub fn wanted(opts: &ColumnarOpts) -> Option<Self> {
        opts.site.site.is_some().then(Self::default)
    }

    /// The number of a site.
    fn number(&mut self, site: &str) -> u32 {
        if site.is_empty() {
            return 0;
        }
        if let Some(number) = self.numbers.get(site) {
            return *number;
        }
        let number = self.numbers.len() as u32 + 1;
        self.names += site.len() + ENTRY;
        self.numbers.insert(site.into(), number);
        number
    }

    /// Adds the next document: the site that its line names, or why there is none.
    pub fn push(&mut self, site: Option<&str>) {
        let number = self.number(site.unwrap_or_default());
        self.of.push(number);
    }

    /// Adds those of later documents.
    pub fn append(&mut self, later: &Self) {
        let mut numbers = vec![0; later.numbers.len() + 1];
        later.numbers.iter().for_each(|(site, number)| numbers[*number as usize] = self.number(site));
        self.of.extend(later.of.iter().map(|number| numbers[*number as usize]));
    }

    /// Bytes that they take in memory.
    pub fn bytes(&self) -> usize {
        self.of.len() * size_of::<u32>() + self.names
    }

    /// How many documents are of no site; `bad` places are of no document.
    pub fn without(&self, bad: usize) -> u64 {
        (self.of.iter().filter(|site| **site == 0).count() - bad) as u64
    }

    /// Whether the documents that have a feature are several of one site.
    #[inline]
    pub fn is_template(&self, having: &[FeatureRow]) -> bool {
        let of = |row: &FeatureRow| self.of[row.document as usize];
        having.len() > 1 && of(&having[0]) != 0 && having.iter().all(|row| of(row) == of(&having[0]))
    }
}

/// The site of the document of a line, where the options ask for it.
pub fn site_of(opts: &ColumnarOpts, line: &[u8]) -> Result<Option<String>, FieldError> {
    opts.site.site.as_ref().map_or(Ok(None), |_| opts.site.of(line).map(Some))
}
