//! Files of antecedents: read or refused by line and field; what is read is written and read back, and makes features.

use twinsplit_core::text::spotsigs::SpotSigs;
use twinsplit_core::text::{Extractor, FeatureKind, FeatureSpec};

/// One input.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let settings = match SpotSigs::parse("file", text) {
        Ok(settings) => settings,
        Err(error) => return assert!(error.to_string().contains("file")),
    };
    let again = SpotSigs::parse("file", &settings.to_file_text()).expect("what was written is read");
    assert_eq!(again, settings);
    let mut extractor = Extractor::new(FeatureSpec::new(FeatureKind::SpotSigs(settings)));
    let mut set = Vec::new();
    extractor.set(text, &mut set);
    assert!(set.is_sorted_by(|x, y| x < y));
}
