//! The warnings of a run: what makes an answer another one than its reader takes it for, and what to do about it. Each is one
//! sentence that ends in what to do, and names nothing that the run has done already.

use super::inputs::nouns;
use super::summary::{EQUAL_TEXTS, most, reached, sum, with_readers_once};
use std::collections::BTreeMap;
use std::path::Path;
use twinsplit_core::cluster::ids::Ids;
use twinsplit_core::idf::IdfRange;
use twinsplit_core::text::units::Unit;
use twinsplit_engine::columnar::output::{CommonFeatures, FeatureCounts, LARGE_SHARE, LargeCluster};
use twinsplit_engine::progress::Done;
use twinsplit_io::error::Result;
use twinsplit_io::terminal::plural;
use twinsplit_io::{each_row, expand_inputs};
use twinsplit_rows::plan::Plan;
use twinsplit_rows::record::Record;
use twinsplit_rows::record::cluster::ClusterRow;
use twinsplit_rows::record::document::SURROGATES;
use twinsplit_rows::record::set::Member;
use twinsplit_rows::stages::options::FEATURES;
use twinsplit_rows::stages::reduce::REDUCE_TO;
use twinsplit_rows::stages::signature_check::{BELOW as ESTIMATED_BELOW, ESTIMATED, UNCHECKED};

/// Of fewer documents than this, neither one without features nor some that are alike are a sign that the features do not fit.
const FEW: u64 = 50;
/// A cluster of so many documents is a pair, whatever share of the collection it is.
const PAIR: u64 = 2;
/// The range that leaves out what most documents of a collection share, and nothing else.
const WITHOUT_TEMPLATES: &str = "0.1,1";

/// A share in whole percent, rounded down, so that 100 is all.
fn percent(part: u64, whole: u64) -> u128 {
    100 * u128::from(part) / u128::from(whole)
}

/// All of them. `unit` is what is compared, if not whole documents: to be short, and to stand in many of them, is no accident there.
pub fn warnings(plan: &Plan, unit: Option<Unit>, steps: &[Done], clusters: &[LargeCluster]) -> Vec<String> {
    let steps = with_readers_once(steps);
    let steps = &steps[..];
    let documents = sum(steps, "documents");
    if documents == 0 {
        return vec![
            "there were no documents in the input, so the output is empty; look at --input".to_owned(),
        ];
    }
    let mut warnings: Vec<String> = Vec::new();
    if documents >= FEW {
        warnings.extend(without_features(plan, unit, steps, documents));
        warnings.extend(too_few_features(plan, unit, steps, documents));
    }
    warnings.extend(nothing_to_reduce(plan, documents));
    warnings.extend(out_of_range(plan, steps));
    warnings.extend(surrogates(steps));
    warnings.extend(reached(steps).and_then(|audit| audit.warning(plan.recall)));
    warnings.extend(estimated(steps));
    if documents >= FEW && unit.is_none() {
        warnings.extend(large(plan, documents, clusters));
    }
    warnings
}

/// A share of which nobody would say that the answer is that of the collection.
fn loud(unit: Option<Unit>, part: u64, documents: u64) -> String {
    match 5 * part > documents && unit.is_none() {
        true => format!("{} % OF THE DOCUMENTS CANNOT BE COMPARED: ", percent(part, documents)),
        false => String::new(),
    }
}

/// Documents that nothing can be said of, by script.
fn without_features(plan: &Plan, unit: Option<Unit>, steps: &[&Done], documents: u64) -> Option<String> {
    let without = sum(steps, "without_features");
    if without * LARGE_SHARE <= documents {
        return None;
    }
    let prefix = "without_features.";
    // Queries and documents are read by two steps.
    let mut by_script: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, count) in steps.iter().flat_map(|step| &step.counters) {
        if let Some(script) = name.strip_prefix(prefix) {
            *by_script.entry(script).or_default() += count;
        }
    }
    let scripts = by_script
        .into_iter()
        .map(|(script, count)| format!("{count} of {} {script}", sum(steps, &format!("documents.{script}"))));
    let scripts = scripts.collect::<Vec<_>>().join(", ");
    let least = plan.params.number("min-features");
    let what = match by_fingerprints(plan) && least > 1 {
        true => format!("fewer features than --min-features {least}"),
        false => "no feature".to_owned(),
    };
    let copies = match sum(steps, EQUAL_TEXTS) {
        0 => String::new(),
        1 => format!("; a copy among such {} was found by its equal text", nouns(unit)[1]),
        copies => format!("; {copies} copies among such {} were found by their equal texts", nouns(unit)[1]),
    };
    let kind = plan.params.get("features").unwrap_or_default();
    let advice = if kind.starts_with("sentence-ends") {
        format!(
            "{kind} needs Chinese sentences that end in a full stop, so take --features {FEATURES} or chars:5 for other texts"
        )
    } else if kind.starts_with("spotsigs") {
        format!(
            "{kind} needs running text in the language of its words, so take --features {FEATURES} or chars:5 for other texts"
        )
    } else {
        "take shorter features, such as a smaller K, or chars:K, to reach them".to_owned()
    };
    let (loud, [one, several]) = (loud(unit, without, documents), nouns(unit));
    Some(format!(
        "{loud}{without} of {} have {what} and pair with nothing ({scripts}){copies}; {advice}",
        plural(documents, one, several)
    ))
}

/// Documents that have features, but fewer than are asked for, where these are most.
fn too_few_features(plan: &Plan, unit: Option<Unit>, steps: &[&Done], documents: u64) -> Option<String> {
    let below = most(steps, "sets_below_min_features");
    let without = sum(steps, "without_features");
    if 2 * below <= documents || below - without.min(below) <= without {
        return None;
    }
    let params = &plan.params;
    let given = |name: &str| params.get(name).filter(|value| *value != "0,1");
    let (cause, advice) = match (given("site"), given("idf")) {
        (Some(site), _) => (format!(" after --site {site}"), "leave --site out"),
        (None, Some(range)) => (format!(" after --idf {range}"), "give a wider --idf"),
        (None, None) => (String::new(), "give a smaller --min-features, or shorter features"),
    };
    let (loud, least) = (loud(unit, below, documents), params.number("min-features").max(1));
    let several = nouns(unit)[1];
    Some(format!(
        "{loud}{below} of {documents} {several} have fewer features than --min-features {least}{cause} and pair with nothing; {advice}"
    ))
}

/// More documents that are to stay than there are.
fn nothing_to_reduce(plan: &Plan, documents: u64) -> Option<String> {
    let wanted = plan.params.get(REDUCE_TO)?.parse().ok().filter(|wanted: &u64| *wanted > documents)?;
    Some(format!(
        "--reduce-to {wanted} is more than the {} of the input, so all are kept; give a smaller number",
        plural(documents, "document", "documents")
    ))
}

/// An IDF range that leaves out most of what is compared. A family that has one by default is made of it.
fn out_of_range(plan: &Plan, steps: &[&Done]) -> Option<String> {
    let (kept, out) = (most(steps, "postings_in_idf_range"), most(steps, "postings_out_of_idf_range"));
    let range = plan.params.get("idf").filter(|_| plan.is_given("idf") && kept < out)?;
    let (low, high) = range.split_once(',')?;
    let is_one = high.parse().is_ok_and(|high: f64| high >= 1.0);
    let advice = match (is_one, low.parse().is_ok_and(|low: f64| low > 0.1)) {
        (false, _) => format!(
            "an upper bound below 1 leaves out what one document or few have, so give --idf {WITHOUT_TEMPLATES} to leave out \
             only what most share"
        ),
        (true, true) => format!("give a lower bound below {low}"),
        (true, false) => "look with twinsplit explain whether what is left tells documents apart".to_owned(),
    };
    Some(format!(
        "documents keep {} % of their features in --idf {range}; {advice}",
        percent(kept, kept + out)
    ))
}

/// Texts of which a character is lost.
fn surrogates(steps: &[&Done]) -> Option<String> {
    let surrogates = sum(steps, SURROGATES);
    let what = plural(surrogates, "escape in the texts is", "escapes in the texts are");
    (surrogates > 0).then(|| {
        format!(
            "{what} half of a surrogate pair, such as \\ud800, and read as U+FFFD; make the documents again where that matters"
        )
    })
}

/// Answers that are estimates.
fn estimated(steps: &[&Done]) -> Option<String> {
    let (estimated, below) = (sum(steps, ESTIMATED), sum(steps, ESTIMATED_BELOW));
    // Estimates below tau are in the answer where nothing is checked alone.
    let unchecked = steps.iter().any(|step| step.counters.contains_key(UNCHECKED));
    (estimated > 0).then(|| match unchecked {
        true => format!(
            "APPROXIMATE: --check none takes candidates for pairs: by the estimates of their signatures {below} of \
             {estimated} pairs ({} %) are below tau; --check exact leaves these out",
            percent(below, estimated)
        ),
        false => format!(
            "APPROXIMATE: overlaps and similarities of {estimated} pairs are estimates of --check signature, and pairs \
             near tau may be on its wrong side; --check exact counts what they share"
        ),
    })
}

fn by_fingerprints(plan: &Plan) -> bool {
    plan.family.name == "simhash"
}

/// Clusters that are so large that they may be an accident of the features.
fn large(plan: &Plan, documents: u64, clusters: &[LargeCluster]) -> Option<String> {
    let clusters: Vec<_> = clusters.iter().filter(|cluster| cluster.size > PAIR).collect();
    let largest = clusters.iter().max_by_key(|cluster| cluster.size)?;
    let scripts: Vec<_> = largest.scripts.iter().map(|(script, count)| format!("{count} {script}")).collect();
    let CommonFeatures { common, features } = largest.sets;
    let range = WITHOUT_TEMPLATES.parse().ok().map(|range: IdfRange| range.df_range(documents));
    // What this cluster has in common is out of the range.
    let template =
        2 * common >= features && features > 0 && range.is_some_and(|(_, most)| largest.size > most);
    let advice = if template {
        format!(
            "most of its documents share {} % of their features, so look at it with twinsplit explain, and where that is a \
             template leave it out with --idf {WITHOUT_TEMPLATES}",
            percent(common, features).min(100)
        )
    } else if features == 0 && !by_fingerprints(plan) {
        "its documents are copies by equal texts, so look at it with twinsplit explain, and keep such texts apart by \
         --equal-texts off"
            .to_owned()
    } else {
        let nearer = if by_fingerprints(plan) { "a smaller --distance" } else { "a higher --tau" };
        let has_stars = plan.params.is("cluster", "star") || plan.params.get(REDUCE_TO).is_some();
        let star = if has_stars { "" } else { ", --cluster star" };
        // Sentences of a menu are few beside those of the pages, and make copies of pages by containment all the same.
        let common = match plan.family.name == "ccdet" && !plan.is_given("idf") {
            true => format!("leave out what most pages share with --idf {WITHOUT_TEMPLATES}, or "),
            false => String::new(),
        };
        let how = match plan.params.get(REDUCE_TO) {
            Some(_) => "--min-features".to_owned(),
            None => format!("{nearer}{star} or --min-features"),
        };
        format!("look at it with twinsplit explain, and {common}split it by {how}")
    };
    Some(format!(
        "{} of over 1 % of the {documents} documents; the largest, kept {}, holds {} ({}): {advice}",
        plural(clusters.len() as u64, "cluster", "clusters"),
        largest.kept,
        largest.size,
        scripts.join(", "),
    ))
}

/// The clusters of more than one in a hundred documents in `clusters.tsv`, where those of one cluster stand together,
/// with their scripts, and what most sets of the largest have in common, from the data
/// set of members.
pub fn large_clusters(clusters: &Path, of_members: &Path, steps: &[Done]) -> Result<Vec<LargeCluster>> {
    let documents = sum(&with_readers_once(steps), "documents");
    let mut large: Vec<LargeCluster> = Vec::new();
    let mut current = (Vec::new(), 0);
    let mut end = |(kept, size): (Vec<u8>, u64)| {
        if size * LARGE_SHARE > documents {
            let kept = String::from_utf8_lossy(&kept).into_owned();
            large.push(LargeCluster {
                kept,
                size,
                scripts: BTreeMap::new(),
                sets: CommonFeatures::default(),
            });
        }
    };
    each_row(clusters, |line| {
        let row = ClusterRow::decode(line)?;
        if row.kept != current.0 {
            end(std::mem::replace(&mut current, (row.kept.to_vec(), 0)));
        }
        current.1 += 1;
        Ok(())
    })?;
    end(current);
    if large.is_empty() {
        return Ok(large);
    }
    // Their members, with the number of their cluster: there are a hundred of these at most.
    let number: BTreeMap<String, usize> =
        (0..).zip(&large).map(|(at, cluster)| (cluster.kept.clone(), at)).collect();
    let (mut members, mut cluster_of) = (Ids::default(), Vec::new());
    each_row(clusters, |line| {
        let row = ClusterRow::decode(line)?;
        if let Some(&cluster) = number.get(&*String::from_utf8_lossy(row.kept)) {
            members.number(row.id);
            cluster_of.push(cluster);
        }
        Ok(())
    })?;
    let largest = (0..).zip(&large).max_by_key(|(_, cluster)| cluster.size).map(|(at, _)| at);
    // Of the sets in the largest one the first by their ids.
    let (mut sets, mut features) = (BTreeMap::new(), Vec::new());
    for part in expand_inputs(&[of_members.to_owned()])? {
        each_row(&part, |line| {
            match Member::decode(line)? {
                Member::Meta(row) => {
                    if let Some(member) = members.find(row.id) {
                        let script = String::from_utf8_lossy(row.script).into_owned();
                        *large[cluster_of[member as usize]].scripts.entry(script).or_default() += 1;
                    }
                }
                Member::Doc(doc) => {
                    let cluster = members.find(doc.id).map(|member| cluster_of[member as usize]);
                    if cluster.is_some() && cluster == largest && CommonFeatures::takes(doc.features.size()) {
                        doc.features.read(&mut features)?;
                        sets.insert(doc.id.to_vec(), features.clone());
                        if sets.len() > CommonFeatures::SETS {
                            sets.pop_last();
                        }
                    }
                }
                Member::Copy(_) | Member::Fingerprint(_) => {}
            }
            Ok(())
        })?;
    }
    if let Some(largest) = largest {
        let mut counted = FeatureCounts::default();
        sets.values().for_each(|set| counted.add(set, set.len() as u64));
        large[largest].sets = counted.common();
    }
    Ok(large)
}
