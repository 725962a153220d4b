//! Which site a document stands on, and which document it copies.
//!
//! A crawl comes in *segments* of [`SEGMENT`] documents. Each brings [`SITES`] sites of its own, whose shares of the
//! segment's documents follow the law of Zipf and Mandelbrot (mandelbrot1953); so the largest site has a few thousand pages however large
//! the crawl is, as in real crawls, which bound what they take of a site.
//!
//! Every seventh site is a catalogue: product lists, archives of mail, forums, whose pages are more template than text and
//! so alike that a low threshold joins them.
//!
//! The first [`POPULAR`] documents of a segment are originals, and the ones that are copied again and again: licences,
//! error pages, news of an agency. Some copies take one of these, by a law of the same kind; the others any earlier
//! document of the crawl, be it an original or a copy, and so come to be chains and families whose sizes follow a power
//! law (Yule 1925, Simon 1955).
//!
//! All of it is a function of the document's number.

use super::edit::Edit;
use super::random::{Random, Ranks};

/// Documents of a segment.
pub const SEGMENT: u64 = 1 << 16;
/// Sites that a segment brings.
pub const SITES: u32 = 450;
/// Documents of a segment that are copied again and again.
pub const POPULAR: u32 = 128;

/// How often a site is drawn until it suits; there may be one site only in a language.
const MOST_DRAWS: u32 = 1000;
/// The share of copies that take a popular document.
const OF_POPULAR: f64 = 0.4;
/// The shares of copies without an edit: of popular documents, and of others.
const EXACT_POPULAR: f64 = 0.6;
const EXACT: f64 = 0.25;

/// Where a document stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The site.
    pub site: u64,
    /// Whether it is a Chinese one.
    pub chinese: bool,
    /// Whether its pages are entries of a catalogue: much template, little text.
    pub catalogue: bool,
}

impl Page {
    /// The segment that brought the site, and its rank there.
    pub fn address(self) -> (u64, u64) {
        (self.site / u64::from(SITES), self.site % u64::from(SITES))
    }
}

/// A document and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Lineage {
    /// Its number.
    pub number: u64,
    /// Where it stands.
    pub page: Page,
    /// What it does to its source; [`Edit::Exact`] of an original.
    pub edit: Edit,
}

/// The plan of a crawl.
#[derive(Debug)]
pub struct Crawl {
    seed: u64,
    copies: f64,
    chinese: f64,
    sites: Ranks,
    popular: Ranks,
}

/// Where the streams of a seed are used; apart from those of texts.
mod purpose {
    pub const SITE: u64 = 101;
    pub const SOURCE: u64 = 102;
}

impl Crawl {
    /// The plan for a seed and the shares of copies and of Chinese documents.
    pub fn new(seed: u64, copies: f64, chinese: f64) -> Self {
        Self { seed, copies, chinese, sites: Ranks::new(SITES, 5), popular: Ranks::new(POPULAR, 2) }
    }

    /// Fills in the document, its source, the source of that, and so on to the original.
    pub fn lineage(&self, number: u64, out: &mut Vec<Lineage>) {
        out.clear();
        let mut at = number;
        loop {
            let source = self.source(at);
            let edit = source.map_or(Edit::Exact, |(_, edit)| edit);
            out.push(Lineage { number: at, page: Page::default(), edit });
            match source {
                Some((source, _)) => at = source,
                None => break,
            }
        }
        // The original's site decides the language; copies stay on their source's site unless they change template.
        let mut page = self.page(at, None);
        for copy in out.iter_mut().rev() {
            if copy.edit == Edit::Boilerplate {
                page = self.page(copy.number, Some(page));
            }
            copy.page = page;
        }
    }

    /// The source of a copy and what is done to it; `None` for an original.
    fn source(&self, number: u64) -> Option<(u64, Edit)> {
        let mut random = Random::of(self.seed, purpose::SOURCE, number);
        let place = number % SEGMENT;
        // The originals at the head of a segment are made up for by the rest of it.
        let head = u64::from(POPULAR);
        if place < head || !random.chance(self.copies) {
            return None;
        }
        if random.chance(OF_POPULAR) {
            let source = number - place + u64::from(self.popular.draw(&mut random));
            return Some((source, Edit::draw(&mut random, EXACT_POPULAR)));
        }
        Some((random.below_u64(number), Edit::draw(&mut random, EXACT)))
    }

    /// The page of a document; when it is to be another one in the same language, not that, if there is such a site.
    fn page(&self, number: u64, not: Option<Page>) -> Page {
        let mut random = Random::of(self.seed, purpose::SITE, number);
        for _ in 0..MOST_DRAWS {
            let page = self.site(number / SEGMENT, self.sites.draw(&mut random));
            if not.is_none_or(|not| not.chinese == page.chinese && not.site != page.site) {
                return page;
            }
        }
        not.unwrap_or(self.site(number / SEGMENT, 0))
    }

    /// The pages of a site.
    fn site(&self, segment: u64, rank: u32) -> Page {
        Page {
            site: segment * u64::from(SITES) + u64::from(rank),
            chinese: self.is_chinese(rank),
            catalogue: is_catalogue(rank),
        }
    }

    /// The share of documents that stand in catalogues.
    pub fn catalogues(&self) -> f64 {
        (0..SITES).filter(|rank| is_catalogue(*rank)).map(|rank| self.sites.share(rank)).sum()
    }

    /// Sites of both languages alternate from large to small, so that the share holds among documents too.
    fn is_chinese(&self, rank: u32) -> bool {
        let before = |rank: u32| (f64::from(rank) * self.chinese + 0.5) as u32;
        before(rank + 1) > before(rank)
    }
}

/// Every seventh site is a catalogue, the largest among them.
fn is_catalogue(rank: u32) -> bool {
    rank.is_multiple_of(7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn all(count: u64, copies: f64, chinese: f64) -> Vec<Vec<Lineage>> {
        let crawl = Crawl::new(3, copies, chinese);
        let lineage = |number| {
            let mut out = Vec::new();
            crawl.lineage(number, &mut out);
            out
        };
        (0..count).map(lineage).collect()
    }

    #[test]
    fn lineages_are_consistent() {
        let all = all(100_000, 0.3, 0.25);
        for (number, lineage) in (0..).zip(&all) {
            assert_eq!(lineage[0].number, number);
            if let Some(source) = lineage.get(1) {
                assert!(source.number < number);
                let of_source = &all[source.number as usize];
                assert_eq!(of_source.len() + 1, lineage.len());
                assert_eq!(of_source[0].page, source.page);
                let stays = lineage[0].edit != Edit::Boilerplate;
                assert_eq!(stays, lineage[0].page.site == source.page.site, "{lineage:?}");
                assert_eq!(lineage[0].page.chinese, source.page.chinese);
            }
        }
    }

    #[test]
    fn shares_and_sizes_are_those_of_a_crawl() {
        let count = 300_000;
        let all = all(count, 0.3, 0.25);
        let share = |which: fn(&[Lineage]) -> bool| {
            all.iter().filter(|lineage| which(lineage)).count() as f64 / count as f64
        };
        assert!((0.29..0.31).contains(&share(|lineage| lineage.len() > 1)));
        assert!((0.22..0.28).contains(&share(|lineage| lineage[0].page.chinese)));
        // Chains of copies of copies.
        assert!(share(|lineage| lineage.len() > 2) > 0.03 && share(|lineage| lineage.len() > 4) > 0.0005);
        let mut sites: BTreeMap<u64, u64> = BTreeMap::new();
        let mut families: BTreeMap<u64, u64> = BTreeMap::new();
        for lineage in &all {
            *sites.entry(lineage[0].page.site).or_default() += 1;
            *families.entry(lineage[lineage.len() - 1].number).or_default() += 1;
        }
        let mut sizes: Vec<u64> = sites.into_values().collect();
        sizes.sort_unstable();
        let (median, largest) = (sizes[sizes.len() / 2], sizes[sizes.len() - 1]);
        assert!((30..100).contains(&median) && (1500..6000).contains(&largest), "{median} {largest}");
        let of_size = |least: u64| families.values().filter(|size| **size >= least).count();
        assert!(of_size(2) > 30_000 && of_size(5) > 500 && of_size(300) > 10 && of_size(5000) == 0);
    }

    /// Shares that leave no second site in a language, or no site in one, and all and nothing.
    #[test]
    fn odd_shares_are_met() {
        assert!(all(2000, 1.0, 0.0).iter().all(|lineage| !lineage[0].page.chinese));
        assert!(all(2000, 0.5, 1.0).iter().all(|lineage| lineage[0].page.chinese));
        assert!(all(2000, 0.0, 0.5).iter().all(|lineage| lineage.len() == 1));
        assert_eq!(
            all(2000, 1.0, 0.003).iter().filter(|lineage| lineage.len() == 1).count(),
            POPULAR as usize
        );
    }
}
