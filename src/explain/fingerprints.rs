//! Why the fingerprints of two documents are a pair or not: the bits in which they differ, and the features that decide them.

use super::each_named;
use crate::documents::Inputs;
use crate::sketches;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use twinsplit_core::hash;
use twinsplit_core::similarity::text::TextComparer;
use twinsplit_core::sketch::content::Contents;
use twinsplit_core::sketch::simhash::Fingerprint;
use twinsplit_core::sketch::{Sketcher, Weighted};
use twinsplit_core::text::Extractor;
use twinsplit_core::visible;
use twinsplit_io::Stdout;
use twinsplit_io::error::Result;
use twinsplit_rows::params::Params;
use twinsplit_rows::record::document::DocumentOpts;
use twinsplit_rows::stages::options::EqualTextsOpts;
use twinsplit_rows::stages::signature_check::CheckOpts;
use twinsplit_rows::stages::simhash::{DistanceOpts, SketchOpts};

/// Features that are shown of each bit.
const FEATURES: usize = 3;

/// A document and what its fingerprint is made of.
struct Printed {
    characters: u64,
    /// The weighted features, by feature.
    features: BTreeMap<u64, Weighted>,
    sums: Vec<i64>,
    fingerprint: Option<Fingerprint>,
}

/// Shows the two documents and the decision. Gives whether they are a pair.
pub fn show(
    [inputs, queries]: [&Inputs; 2],
    names: [&str; 2],
    params: &Params,
    show: usize,
    out: &mut Stdout,
) -> Result<bool> {
    let (document, sketch): (DocumentOpts, SketchOpts) = (params.parse()?, params.parse()?);
    let distances = params.parse::<DistanceOpts>()?.distance;
    let mut found: [Option<String>; 2] = [None, None];
    let mut sketcher = sketches::sketcher(inputs, &document, &sketch, "explain")?;
    let mut extractor = Extractor::new(sketch.features.spec()?);
    each_named(inputs, queries, &document, names, |at, document| {
        found[at] = Some(document.text.to_string())
    })?;
    let texts = found.map(Option::unwrap_or_default);
    let mut of_feature: FxHashMap<u64, String> = FxHashMap::default();
    for text in &texts {
        extractor.texts(text, |text| {
            of_feature.entry(hash::feature(text.as_bytes())).or_insert_with(|| text.to_owned());
        });
    }
    let printed = [printed(&texts[0], &mut sketcher), printed(&texts[1], &mut sketcher)];
    for (at, name) in ["A", "B"].iter().enumerate() {
        let one = &printed[at];
        let shown =
            one.fingerprint.map_or("no fingerprint".to_owned(), |fingerprint| fingerprint.to_string());
        let id = visible::line(names[at]);
        let features = one.features.len();
        out.line(
            format!("{name}  {id}  {shown}  {features} features, {} characters", one.characters).as_bytes(),
        )?;
    }
    let [a, b] = &printed;
    let (Some(x), Some(y)) = (a.fingerprint, b.fingerprint) else {
        let least = sketch.least.min_features.max(1);
        let compared = params.parse::<EqualTextsOpts>()?.are_compared();
        let mut hash = |at: usize| {
            (compared && printed[at].fingerprint.is_none()).then(|| extractor.text_hash(&texts[at]))
        };
        let why = super::too_small([hash(0), hash(1)], least);
        out.line(format!("\n=> {why}").as_bytes())?;
        return Ok(false);
    };
    let differ: Vec<u32> = (0..x.bits.count()).filter(|bit| (x.value ^ y.value) >> bit & 1 == 1).collect();
    let shown = if show == 0 { differ.len() } else { show.min(differ.len()) };
    out.line(format!("\nBits that differ: {}", differ.len()).as_bytes())?;
    for bit in &differ[..shown] {
        let sums = [a, b].map(|one| one.sums[*bit as usize]);
        out.line(
            format!("  bit {bit}: the weights for 1 less those for 0 are {} in A, {} in B", sums[0], sums[1])
                .as_bytes(),
        )?;
        for line in deciding(a, b, *bit, &of_feature) {
            out.line(line.as_bytes())?;
        }
    }
    if shown < differ.len() {
        out.line(format!("  … {} more bits; --show 0 shows all", differ.len() - shown).as_bytes())?;
    }
    let most = distances.of(a.characters.max(b.characters));
    let distance = x.distance(y);
    let mut pair = distance <= most;
    let sign = if pair { "<=" } else { ">" };
    out.line(format!("\ndistance {distance} {sign} {most} (--distance {distances})").as_bytes())?;
    if let Some(check) = params.parse::<CheckOpts>()?.texts() {
        let mut contents = Contents::new(check.measure, sketch.features.spec()?);
        let [x, y] = [&texts[0], &texts[1]].map(|text| contents.content(text));
        let score = TextComparer::new(check).compare(&x, &y);
        let shown = score.map_or("below it".to_owned(), |score| score.to_string());
        out.line(format!("{} of the texts: {shown} (--check {check})", check.measure.name()).as_bytes())?;
        pair &= score.is_some();
    }
    out.line(if pair { "=> a pair" } else { "=> not a pair" }.as_bytes())?;
    Ok(pair)
}

fn printed(text: &str, sketcher: &mut Sketcher) -> Printed {
    let weighted = sketcher.weighted(text).to_vec();
    Printed {
        characters: text.chars().count() as u64,
        sums: sketcher.sums(&weighted),
        features: weighted.into_iter().map(|one| (one.feature, one)).collect(),
        fingerprint: sketcher.fingerprint(text),
    }
}

/// The features that move a bit's sum most from A to B, a line each: those whose weights differ.
fn deciding(a: &Printed, b: &Printed, bit: u32, texts: &FxHashMap<u64, String>) -> Vec<String> {
    let weight = |of: &Printed, feature: &u64| of.features.get(feature).map_or(0, |one| one.weight as i64);
    let all: BTreeMap<u64, &Weighted> =
        a.features.iter().chain(&b.features).map(|(feature, one)| (*feature, one)).collect();
    let mut moved: Vec<(i64, u64, i64, i64)> = all
        .iter()
        .map(|(feature, one)| {
            let sign = if one.hash >> bit & 1 == 1 { 1 } else { -1 };
            let (in_a, in_b) = (sign * weight(a, feature), sign * weight(b, feature));
            (in_b - in_a, *feature, in_a, in_b)
        })
        .collect();
    // In the direction in which the bit goes, the largest first.
    let up = b.sums[bit as usize] > a.sums[bit as usize];
    moved.retain(|one| if up { one.0 > 0 } else { one.0 < 0 });
    moved.sort_by_key(|one| (std::cmp::Reverse(one.0.abs()), one.1));
    let line = |(_, feature, in_a, in_b): &(i64, u64, i64, i64)| {
        let text = texts.get(feature).map_or("", String::as_str);
        format!("    {in_a:+} in A, {in_b:+} in B: {}", visible::line(text))
    };
    moved.iter().take(FEATURES).map(line).collect()
}
