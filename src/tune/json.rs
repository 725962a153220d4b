//! What was found, as one JSON object.

use super::Report;
use super::measure::{Example, Measured, Row};
use super::threshold::{Kind, Numbers};
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
        "similarity": match report.compared {
            Kind::Sets(measure) => {
                json!({ "name": measure.name(), "formula": measure.formula(), "words": measure.words() })
            }
            Kind::Fingerprints => json!({ "name": "distance", "words": report.compared.sentence() }),
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
        "joined_from": kind.floor.shown(),
        "rows": kind.rows.iter().map(|row| of_row(report, kind, row)).collect::<Vec<_>>(),
    })
}

fn of_row(report: &Report<'_>, kind: &Measured, row: &Row) -> Value {
    json!({
        report.compared.option(): row.at.shown(),
        "pairs": row.pairs,
        "estimated_pairs": report.sample.estimate(row.pairs).map(|pairs| pairs as u64),
        "clusters": row.clusters,
        "documents_dropped": row.dropped,
        "largest_cluster": row.largest,
        if report.compared == Kind::Fingerprints { "within" } else { "at_or_above" }: row.above.iter().map(|pair| example(report, pair)).collect::<Vec<_>>(),
        report.compared.sides()[1]: row.below.iter().map(|pair| example(report, pair)).collect::<Vec<_>>(),
        "run": report.command(&kind.kind, row.at),
    })
}

fn example(report: &Report<'_>, pair: &Example) -> Value {
    let mut shown = json!({
        "a": pair.a,
        "b": pair.b,
        "excerpt_a": pair.difference.a,
        "excerpt_b": pair.difference.b,
        "differ_at_column": pair.difference.column,
    });
    match (report.compared, pair.numbers) {
        (Kind::Sets(measure), Numbers::Sets(overlap, size_a, size_b)) => {
            shown["overlap"] = overlap.into();
            shown["union"] = (size_a + size_b - overlap).into();
            shown["size_a"] = size_a.into();
            shown["size_b"] = size_b.into();
            shown[measure.name()] = measure.score(overlap, size_a, size_b).to_string().into();
        }
        (_, Numbers::Bits(bits)) => shown["distance"] = bits.into(),
        (Kind::Fingerprints, Numbers::Sets(..)) => {}
    }
    shown
}
