//! Options that do not go together: a plan is refused before anything is read.

use super::options_of;
use crate::chains::{Chain, FAMILIES, Family};
use crate::params::Params;
use crate::stages::hamming_queries::too_far;
use crate::stages::queries::QUERIES;
use crate::stages::reduce::REDUCE_TO;
use crate::stages::signature_check::{Check, CheckOpts};
use crate::stages::simhash::DistanceOpts;
use twinsplit_hamming::MOST_DISTANCE;
use twinsplit_io::error::{Error, Result};

/// Refuses a check that is another family's: the answer would not be what its name says.
pub(super) fn refuse_check(family: &Family, chain: &Chain, params: &Params) -> Result<()> {
    let Some(asked) = params.get("check") else { return Ok(()) };
    let check: CheckOpts = params.parse()?;
    let has = |stage: &str| chain.steps().iter().any(|step| step.map.contains(&stage));
    if has("i-match") && check.check != Check::Exact {
        return Err(Error::Usage(format!(
            "--check {asked}: {} counts what two documents share, exactly; give a --tau to have the counts decide as well",
            family.name
        )));
    }
    match (has("hamming-pairs"), &check.check) {
        (true, Check::Exact | Check::Signature) => Err(Error::Usage(format!(
            "--check {asked} is for the candidates of minhash; {} compares fingerprints, and with jaccard:T, cosine:T or \
             edit:T the texts of near ones",
            family.name
        ))),
        (false, Check::Texts(_)) => check.candidates().map(drop),
        _ => Ok(()),
    }
}

/// Refuses what takes the place of the clusters that `--reduce-to` makes, and pairs that are not all there.
pub(super) fn refuse_with_reduction(params: &Params) -> Result<()> {
    if params.get(REDUCE_TO).is_none() {
        return Ok(());
    }
    let refused = |what: &str| Err(Error::Usage(format!("--reduce-to {what}")));
    if params.get("cluster").is_some() {
        return refused(
            "drops documents pair by pair, and each cluster is what one document stands for; leave --cluster out",
        );
    }
    if params.is("write", "clusters") {
        return refused("goes through all pairs by their similarity; leave --write clusters out");
    }
    Ok(())
}

/// Refuses what queries have not: a family without them, clusters, a check that is none of sets, distances that no index has.
pub(super) fn refuse_with_queries(family: &Family, params: &Params, write_kept: bool) -> Result<()> {
    if params.get(QUERIES).is_none() {
        return Ok(());
    }
    let refused = |what: &str| Err(Error::Usage(format!("--queries {what}")));
    if !options_of(family).contains(QUERIES) {
        let users = FAMILIES.into_iter().filter(|other| options_of(other).contains(QUERIES));
        let users: Vec<_> = users.map(|other| other.name).collect();
        return refused(&format!("is not for {}; take one of {}", family.name, users.join(", ")));
    }
    if params.is("write", "clusters") {
        return refused(
            "compares no documents of the input with one another, so there are no clusters to write; leave --write out",
        );
    }
    if write_kept {
        return refused(
            "compares no documents of the input with one another, so none is kept or dropped; leave --write-kept out",
        );
    }
    if params.get("check").is_some_and(|check| check != "exact") {
        return refused(
            "finds pairs by an index of the queries, which counts exactly and compares no texts; leave --check out, or run \
             queries and documents together without --queries, with ids that tell them apart",
        );
    }
    let most = params.parse::<DistanceOpts>()?.distance.most();
    let far = family.compares_fingerprints() && most > MOST_DISTANCE;
    if far { Err(Error::Usage(too_far(most))) } else { Ok(()) }
}

/// Refuses frequencies of a table where they are looked up by counting.
pub(super) fn refuse_lookup(params: &Params) -> Result<()> {
    if params.is("idf-lookup", "shuffle") && params.get("idf-table").is_some() {
        return Err(Error::Usage(
            "--idf-lookup shuffle takes frequencies from the documents themselves, not from --idf-table; leave one of them out".to_owned(),
        ));
    }
    Ok(())
}
