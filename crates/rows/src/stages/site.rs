//! `site-left`: features that stand in several pages of one site and nowhere else are that site's template, and are left
//! out (wei2013, index pruning; our reading of the site marks, for the figure that shows them is lost).
//!
//! Under each feature come the sites that have it, each with the number of its documents, and say whether the documents
//! after them keep it; the reducer reads in order and holds one row. What it keeps meets under the documents' ids again
//! (`idf-right`). A document without a site is of no site that another one is of, so that what it has is no template.

use super::NoOpts;
use super::options::FeatureOpts;
use crate::record::document::{DocumentOpts, FieldPath, Line, SURROGATES, string_field};
use crate::record::id;
use crate::record::lookup::KeptFeature;
use crate::record::site::SiteRow;
use crate::stage::{Decl, Role, Stage, Task};
use rustc_hash::FxHashMap;
use twinsplit_core::text::Extractor;
use twinsplit_io::error::{FieldError, Result};

twinsplit_core::options! {
    /// Options of the mapper.
    pub struct SiteOpts {
        /// Features by site that a mapper counts in memory (about 60 bytes each) before it writes the counts
        combine_sites: usize = 500_000, "N";
    }
    with {
        document: DocumentOpts,
        features: FeatureOpts,
        site: SiteFieldOpts,
    }
}

twinsplit_core::options! {
    /// Where a document says its site.
    pub struct SiteFieldOpts {
        /// Leave out features that several pages of one site have and no other page: the field with a page's URL,
        /// whose host is the site, or with the site's name
        pub site: Option<FieldPath>, "FIELD";
    }
}

impl SiteFieldOpts {
    /// The site of the document of a line; an empty one where none is known.
    pub fn of(&self, line: &[u8]) -> Result<String, FieldError> {
        let Some(field) = &self.site else { return Ok(String::new()) };
        Ok(site_of(string_field(line, field)?.as_deref().unwrap_or_default()))
    }
}

/// The mapper: sites and documents by feature.
pub struct SiteLeft {
    opts: SiteOpts,
    extractor: Extractor,
    features: Vec<u64>,
    /// The sites met since rows were written, and by feature and site the documents.
    sites: FxHashMap<Vec<u8>, u32>,
    counts: FxHashMap<(u64, u32), u64>,
    without: u64,
}

impl SiteLeft {
    /// Writes what is counted so far; the order of a hash table must not show, so it is sorted.
    fn flush(&mut self, task: &mut Task<'_>) -> Result<()> {
        let sites: FxHashMap<u32, Vec<u8>> =
            self.sites.drain().map(|(site, number)| (number, site)).collect();
        let mut counts: Vec<_> = self
            .counts
            .drain()
            .filter_map(|((feature, site), documents)| Some((feature, sites.get(&site)?, documents)))
            .collect();
        counts.sort_unstable();
        for (feature, site, documents) in counts {
            task.emit(&SiteRow::Site { feature, documents, site: site.as_slice().into() })?;
        }
        Ok(())
    }
}

impl Stage for SiteLeft {
    type In<'a> = Line<'a>;
    type Out<'a> = SiteRow<'a>;
    type Opts = SiteOpts;
    const DECL: Decl = Decl {
        name: "site-left",
        role: Role::Map,
        about: "Brings each feature of each page to the word whether it is the template of one site",
        side: &[],
    };

    fn open(opts: SiteOpts, _: &mut Task<'_>) -> Result<Self> {
        let extractor = Extractor::new(opts.features.spec()?);
        Ok(Self {
            opts,
            extractor,
            features: Vec::new(),
            sites: FxHashMap::default(),
            counts: FxHashMap::default(),
            without: 0,
        })
    }

    fn push(&mut self, line: Line<'_>, task: &mut Task<'_>) -> Result<()> {
        let document = self.opts.document.read(line.0, &task.place).map_err(|error| task.bad(error))?;
        let name = self.opts.site.of(line.0).map_err(|error| task.bad(error))?;
        task.count_some(SURROGATES, document.surrogates);
        let mut site = Vec::new();
        id::escape(name.as_bytes(), &mut site);
        self.without += u64::from(site.is_empty());
        let next = self.sites.len() as u32;
        let site = *self.sites.entry(site).or_insert(next);
        self.extractor.set(&document.text, &mut self.features);
        for &feature in &self.features {
            *self.counts.entry((feature, site)).or_default() += 1;
            task.emit(&SiteRow::Posting { feature, id: &document.id })?;
        }
        if self.counts.len() > self.opts.combine_sites { self.flush(task) } else { Ok(()) }
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count("documents_without_site", self.without);
        self.flush(task)
    }
}

/// The host of a URL in lower case; all of what is no URL.
fn site_of(url: &str) -> String {
    let url = url.trim();
    let Some((_, rest)) = url.split_once("://") else { return url.to_owned() };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let host = host.rsplit_once(':').filter(|(_, end)| port(end)).map_or(host, |(host, _)| host);
    host.trim_end_matches('.').to_lowercase()
}

/// The reducer.
#[derive(Default)]
pub struct SiteLeftReduce {
    /// The first site under the feature, the documents of all, and whether there is another site or none is known.
    site: Option<Vec<u8>>,
    documents: u64,
    elsewhere: bool,
    /// Features that are left out, and postings of theirs.
    features: u64,
    postings: u64,
}

impl SiteLeftReduce {
    fn is_template(&self) -> bool {
        !self.elsewhere && self.documents > 1
    }
}

impl Stage for SiteLeftReduce {
    type In<'a> = SiteRow<'a>;
    type Out<'a> = KeptFeature<'a>;
    type Opts = NoOpts;
    const DECL: Decl = Decl {
        name: "site-left-reduce",
        role: Role::Reduce,
        about: "Sends the features that are no site's template back to their documents",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, row: SiteRow<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            SiteRow::Site { documents, site, .. } => {
                let wrong =
                    || FieldError::new("documents", "a sum below 2^64", documents.to_string().as_bytes());
                self.documents = self.documents.checked_add(documents).ok_or_else(|| task.wrong(wrong()))?;
                let first = self.site.get_or_insert_with(|| site.to_vec());
                self.elsewhere |= site.is_empty() || *first != *site;
                Ok(())
            }
            SiteRow::Posting { .. } if self.is_template() => {
                self.postings += 1;
                Ok(())
            }
            SiteRow::Posting { feature, id } => task.emit(&KeptFeature { id, feature }),
        }
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.features += u64::from(self.is_template());
        (self.site, self.documents, self.elsewhere) = (None, 0, false);
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        task.count("features_of_one_site", self.features);
        task.count("postings_of_one_site", self.postings);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::site_of;

    #[test]
    fn the_site_of_a_url_is_its_host() {
        for (url, site) in [
            ("http://News.Example.com/a?b#c", "news.example.com"),
            ("https://user:word@example.com:8080", "example.com"),
            ("http://例子.测试./路", "例子.测试"),
            ("http://[::1]:80/", "[::1]"),
            ("ftp://example.com?x=a@b", "example.com"),
            (" The Times ", "The Times"),
            ("", ""),
        ] {
            assert_eq!(site_of(url), site, "{url}");
        }
    }
}
