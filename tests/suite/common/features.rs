//! The one place where the oracle asks the product: which feature texts does a text have?
//! (Goldens checked by hand cover that answer elsewhere.)

use twinsplit_core::text::{Extractor, FeatureKind, FeatureSpec};

use super::oracle::{Doc, Features};

/// The feature texts of each document, for a value of `--features` such as `words:5`.
pub fn of(docs: &[Doc], features: &str) -> Vec<Features> {
    let read = |path: &str| std::fs::read_to_string(path).map_err(|error| error.to_string());
    let kind = FeatureKind::parse(features, &read).expect("a kind of features");
    let mut extractor = Extractor::new(FeatureSpec::new(kind));
    let mut set_of = |doc: &Doc| {
        let mut set = Features::new();
        extractor.each(&doc.text, |feature, _| {
            set.insert(feature.to_owned());
        });
        set
    };
    docs.iter().map(&mut set_of).collect()
}
