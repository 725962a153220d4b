//! What was found, as one JSON object.

use super::Report;
use super::measure::{Example, Measured, Row};
use serde_json::{Map, Value, json};

/// The object. Similarities and thresholds are strings, so that no reader rounds them.
pub fn object(report: &Report<'_>) -> Value {
    let sample = report.sample;
    let options: Map<String, Value> =
        report.params.iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect();
    json!({
        "twinsplit": env!("CARGO_PKG_VERSION"),
        "sample": {
            "documents": sample.lines.len(),
            "of": sample.documents,
            "seed": report.seed,
            "share": sample.lines.len() as f64 / sample.documents as f64,
            "pair_probability": sample.pairs_for_one().map(|(all, ours)| ours as f64 / all as f64),
        },
        "similarity": {
            "name": report.measure.name(),
            "formula": report.measure.formula(),
            "words": report.measure.words(),
        },
        "options": options,
        "kinds": report.kinds.iter().map(|kind| of_kind(report, kind)).collect::<Vec<_>>(),
    })
}

fn of_kind(report: &Report<'_>, kind: &Measured) -> Value {
    json!({
        "features": kind.kind,
        "min_features": kind.least,
        "without_features": kind.without,
        "below_min_features": kind.left_out,
        "equal_texts": kind.equal_texts,
        "joined_from": kind.floor.threshold(),
        "rows": kind.rows.iter().map(|row| of_row(report, kind, row)).collect::<Vec<_>>(),
    })
}

fn of_row(report: &Report<'_>, kind: &Measured, row: &Row) -> Value {
    json!({
        "tau": row.similarity.threshold(),
        "pairs": row.pairs,
        "estimated_pairs": report.sample.estimate(row.pairs).map(|pairs| pairs as u64),
        "clusters": row.clusters,
        "documents_dropped": row.dropped,
        "largest_cluster": row.largest,
        "at_or_above": row.above.iter().map(|pair| example(report, pair)).collect::<Vec<_>>(),
        "below": row.below.iter().map(|pair| example(report, pair)).collect::<Vec<_>>(),
        "run": report.command(&kind.kind, row.similarity),
    })
}

fn example(report: &Report<'_>, pair: &Example) -> Value {
    json!({
        "a": pair.a,
        "b": pair.b,
        "overlap": pair.overlap,
        "union": pair.size_a + pair.size_b - pair.overlap,
        "size_a": pair.size_a,
        "size_b": pair.size_b,
        report.measure.name(): report.measure.score(pair.overlap, pair.size_a, pair.size_b).to_string(),
        "excerpt_a": pair.difference.a,
        "excerpt_b": pair.difference.b,
        "differ_at_column": pair.difference.column,
    })
}
