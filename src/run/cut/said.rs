//! What a run says of what it cut.

use super::{
    CHARACTERS, CHARACTERS_CUT, CUT_EVERYWHERE, DOCUMENTS_CUT, EMPTIED, STEP, UNITS_CUT, WITH_UNITS,
};
use crate::convert::UNIT;
use crate::inputs;
use crate::manifest::RunManifest;
use crate::summary::sum;
use twinsplit_core::choice;
use twinsplit_core::text::units::Unit;
use twinsplit_engine::progress::Done;
use twinsplit_io::terminal::plural;

/// What a run compares: one of them, and several.
pub fn nouns(manifest: &RunManifest) -> [&'static str; 2] {
    let unit = manifest.fields()["parameters"][UNIT].as_str();
    inputs::nouns(unit.and_then(|unit| choice::parse::<Unit>(unit).ok()))
}

/// Of how many documents the units are, behind their number; nothing of a run that compares documents.
pub fn of_documents(steps: &[Done]) -> Option<String> {
    let is_cut = steps.iter().any(|step| step.name == STEP);
    is_cut.then(|| format!(" of {}", plural(sum(steps, WITH_UNITS), "document", "documents")))
}

/// The line on what was cut; nothing of a run that compares documents.
pub fn said(steps: &[Done], [one, several]: [&str; 2]) -> Option<String> {
    let count = |name| sum(steps, name);
    of_documents(steps)?;
    // In tenths of a percent, rounded down.
    let share = 1000 * u128::from(count(CHARACTERS_CUT)) / u128::from(count(CHARACTERS).max(1));
    let everywhere = match count(CUT_EVERYWHERE) {
        0 => String::new(),
        all => format!(" ({all} of them with all that are alike)"),
    };
    let empty = match count(EMPTIED) {
        0 => String::new(),
        empty => format!(", {empty} of which have nothing left"),
    };
    Some(format!(
        "{} cut{everywhere}, {}.{} % of the characters, out of {}{empty}",
        plural(count(UNITS_CUT), one, several),
        share / 10,
        share % 10,
        plural(count(DOCUMENTS_CUT), "document", "documents")
    ))
}
