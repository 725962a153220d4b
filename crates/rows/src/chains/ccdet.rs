//! CCDet: pages share the ends of their sentences, and one may contain the other (wei2013).
//!
//! A feature is the few characters before each 。; two pages pair when the smaller one's features are, to a share, those of
//! the larger one: CCS = |A∩B| / min(|A|, |B|). Their sizes then tell a duplicate from a page that contains the other: CLR =
//! min / max below one half. What a site puts on all its pages is left out of the index, where documents say their site.

use super::doc_split::{SliceQueries, Slices};
use super::front::{self, SETS, SetFront};
use super::output::Output;
use super::step::{Data, Part, Step};
use super::{Chain, Columnar, Component, DOCUMENTS, Family, Wanted, queries};
use crate::params::Params;

/// See the module.
pub const FAMILY: Family = Family {
    name: "ccdet",
    about: "Chinese pages by their sentences' ends: duplicates, and pages that contain others",
    defaults: &[
        ("features", "sentence-ends:10"),
        ("similarity", "containment"),
        ("tau", "0.7"),
        ("keep", "longest"),
    ],
    ignored: &[],
    front: front::CHOICES,
    choices: &[("site", &["", "url"]), queries::CHOICE],
    compose,
};

const PRUNED: Data = "pruned-sets";

fn compose(params: &Params, wanted: Wanted) -> Chain {
    if queries::are_asked(params) {
        return queries::of_sets(params, wanted, "set-queries");
    }
    let front = SetFront::of(params);
    let by_site = params.get("site").is_some();
    let front = if by_site { front.reading(PRUNED) } else { front };
    let output = Output::of(params, wanted).of_similar_sets();
    Chain {
        front: Box::new(PrunedFront { sets: front, by_site }),
        candidates: Box::new(Slices::of(params)),
        check: Box::new(SliceQueries { output }),
        output,
    }
}

/// Sets of features without those of one site alone.
#[derive(Debug)]
struct PrunedFront {
    sets: SetFront,
    by_site: bool,
}

impl Component for PrunedFront {
    fn parts(&self) -> Vec<Part> {
        let mut steps = vec![self.sets.documents()];
        if self.by_site {
            steps.extend(prune());
        }
        steps.extend(self.sets.groups());
        steps.into_iter().map(Part::Step).collect()
    }

    fn columnar(&self) -> Option<Columnar> {
        if self.by_site { Some(Columnar::SitePrunedSets) } else { self.sets.columnar() }
    }
}

fn prune() -> [Step; 2] {
    [
        Step::map_reduce(
            "site-left",
            "site-left-reduce",
            "Finds the features that several pages of one site have and no others; sorted by feature, its sites come before its documents.",
            &[DOCUMENTS],
            "features-of-more-sites",
        ),
        // An IDF range may bring features together in the same way.
        Step {
            name: "site-right",
            ..Step::map_reduce(
                "idf-right",
                "idf-right-reduce",
                "Brings the other features together by document; sorted by id, then feature.",
                &["features-of-more-sites", SETS],
                PRUNED,
            )
        },
    ]
}
