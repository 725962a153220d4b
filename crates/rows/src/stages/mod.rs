//! The stages, one file for each family, and the table of all of them.

pub mod band_filter;
pub mod blocks;
pub mod cluster;
pub mod components;
pub mod docsplit_query;
pub mod equal_fingerprints;
pub mod equal_sets;
pub mod expand;
pub mod feature_count;
pub mod feature_order;
pub mod feature_sample;
pub mod forest;
pub mod hamming;
pub mod hamming_queries;
pub mod i_match;
pub mod idf_filter;
pub mod idf_lookup;
pub mod index_doc;
pub mod index_term;
pub mod keep;
pub mod keep_field;
pub mod list_pairs;
pub mod meta;
pub mod minhash;
pub mod options;
pub mod order;
pub mod pcp;
pub mod queries;
pub mod reduce;
pub mod sample;
pub mod set_queries;
mod shared;
pub mod side;
pub mod signature_check;
pub mod simhash;
pub mod site;
pub mod slice_plan;
mod spool;
pub mod star;
pub mod star_fingerprints;
pub mod star_sets;
pub mod text_check;
pub mod tokenize;
pub mod verify;

use crate::stage::Entry;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use twinsplit_core::options::Field;
use twinsplit_io::error::{Error, Result};

twinsplit_core::options! {
    /// For stages without options.
    pub struct NoOpts {}
}

/// All stages, in the order in which data meets them.
pub static STAGES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    vec![
        Entry::of::<sample::SampleDocuments>(),
        Entry::of::<sample::SampleDocumentsReduce>(),
        Entry::of::<tokenize::Tokenize>(),
        Entry::of::<feature_count::FeatureCountMap>(),
        Entry::of::<feature_count::FeatureCountReduce>(),
        Entry::of::<feature_sample::FeatureSample>(),
        Entry::of::<feature_sample::FeatureSampleReduce>(),
        Entry::of::<feature_order::FeatureOrder>(),
        Entry::of::<feature_order::IdfTable>(),
        Entry::of::<idf_filter::IdfFilter>(),
        Entry::of::<idf_lookup::IdfLeft>(),
        Entry::of::<idf_lookup::IdfLeftReduce>(),
        Entry::of::<idf_lookup::IdfRight>(),
        Entry::of::<idf_lookup::IdfRightReduce>(),
        Entry::of::<site::SiteLeft>(),
        Entry::of::<site::SiteLeftReduce>(),
        Entry::of::<simhash::SimHash>(),
        Entry::of::<equal_fingerprints::EqualFingerprints>(),
        Entry::of::<equal_fingerprints::EqualFingerprintsReduce>(),
        Entry::of::<hamming::HammingCount>(),
        Entry::of::<hamming::HammingPlan>(),
        Entry::of::<hamming::HammingIndex>(),
        Entry::of::<hamming::HammingIndexReduce>(),
        Entry::of::<hamming::HammingPairs>(),
        Entry::of::<queries::QueryParts>(),
        Entry::of::<queries::GatherPairs>(),
        Entry::of::<hamming_queries::HammingQueries>(),
        Entry::of::<set_queries::SetQueries>(),
        Entry::of::<set_queries::LshQueries>(),
        Entry::of::<text_check::TextContent>(),
        Entry::of::<text_check::TextLeft>(),
        Entry::of::<text_check::TextRight>(),
        Entry::of::<equal_sets::EqualSets>(),
        Entry::of::<equal_sets::EqualSetsReduce>(),
        Entry::of::<index_term::IndexTerm>(),
        Entry::of::<index_term::IndexTermReduce>(),
        Entry::of::<pcp::PcpMap>(),
        Entry::of::<pcp::PcpReduce>(),
        Entry::of::<minhash::MinHash>(),
        Entry::of::<band_filter::BandFilter>(),
        Entry::of::<band_filter::BandFilterReduce>(),
        Entry::of::<i_match::IMatch>(),
        Entry::of::<minhash::LshBands>(),
        Entry::of::<minhash::LshBandsReduce>(),
        Entry::of::<minhash::LshCandidates>(),
        Entry::of::<signature_check::MatchLeft>(),
        Entry::of::<signature_check::MatchLeftReduce>(),
        Entry::of::<signature_check::MatchRight>(),
        Entry::of::<signature_check::MatchRightReduce>(),
        Entry::of::<verify::VerifyLeft>(),
        Entry::of::<verify::VerifyLeftReduce>(),
        Entry::of::<verify::VerifyRight>(),
        Entry::of::<verify::VerifyRightReduce>(),
        Entry::of::<slice_plan::SizeCountMap>(),
        Entry::of::<slice_plan::SlicePlan>(),
        Entry::of::<index_doc::IndexDoc>(),
        Entry::of::<index_doc::IndexDocReduce>(),
        Entry::of::<docsplit_query::DocsplitQuery>(),
        Entry::of::<cluster::ClusterMap>(),
        Entry::of::<cluster::ClusterReduce>(),
        Entry::of::<expand::Expand>(),
        Entry::of::<keep::Keep>(),
        Entry::of::<keep::KeepChoose>(),
        Entry::of::<expand::ExpandLeft>(),
        Entry::of::<expand::ExpandLeftReduce>(),
        Entry::of::<expand::ExpandRight>(),
        Entry::of::<expand::ExpandRightReduce>(),
        Entry::of::<components::LargeStar>(),
        Entry::of::<components::LargeStarReduce>(),
        Entry::of::<components::SmallStar>(),
        Entry::of::<components::SmallStarReduce>(),
        Entry::of::<star::StarRank>(),
        Entry::of::<star::StarRankReduce>(),
        Entry::of::<star::StarLinkMap>(),
        Entry::of::<star::StarLinkReduce>(),
        Entry::of::<star::StarMap>(),
        Entry::of::<star::StarReduce>(),
        Entry::of::<star_sets::StarSets>(),
        Entry::of::<star_sets::StarSetsReduce>(),
        Entry::of::<star_sets::StarCentres>(),
        Entry::of::<star_sets::StarCentresReduce>(),
        Entry::of::<star_sets::StarBandsReduce>(),
        Entry::of::<star_fingerprints::StarFingerprintsReduce>(),
        Entry::of::<keep::KeepRank>(),
        Entry::of::<keep::KeepRankReduce>(),
        Entry::of::<keep::KeepBest>(),
        Entry::of::<keep::WriteKept>(),
    ]
});

/// The stage of a name that a chain has.
pub fn get(name: &'static str) -> Result<&'static Entry> {
    find(name).ok_or_else(|| Error::Usage(format!("{name} is not a stage")))
}

/// The stage of a name.
pub fn find(name: &str) -> Option<&'static Entry> {
    STAGES.iter().find(|entry| entry.decl.name == name)
}

/// Options that steps of chains set, and no user.
const SET_BY_CHAINS: [&str; 6] = [
    meta::META.0,
    options::HASHED_TEXTS.0,
    keep::BY_FINGERPRINTS.0,
    list_pairs::HUBS.0,
    list_pairs::CONNECTED,
    feature_sample::SETS,
];

/// All options of all stages but side files that the chain itself makes, and what its steps set, each once.
pub fn all_options() -> Vec<Field> {
    let mut seen = BTreeSet::new();
    let mut options = Vec::new();
    for entry in STAGES.iter() {
        for field in (entry.fields)() {
            // A side file with a default name comes from an earlier step; one without is the user's.
            let made = entry.has_side(&field.name) && field.default.is_some();
            if !made && !SET_BY_CHAINS.contains(&&*field.name) && seen.insert(field.name.clone()) {
                options.push(field);
            }
        }
    }
    options
}

/// What an option of some stage is when it is not given; an option has one default in all stages.
fn default_of(option: &str) -> Option<String> {
    let fields = STAGES.iter().flat_map(|entry| (entry.fields)());
    fields.into_iter().find(|field| field.name == option)?.default
}

/// The same as a number; an option that has none is bound to nothing.
pub fn number_by_default(option: &str) -> u64 {
    default_of(option).and_then(|value| value.parse().ok()).unwrap_or(u64::MAX)
}
