//! Twenty documents for each kind of feature; their README says where the expected features come from.

use std::path::Path;

use serde::Deserialize;
use twinsplit_core::text::{Extractor, FeatureKind, FeatureSpec, Marks, NormalForm};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    name: String,
    spec: String,
    #[serde(default)]
    settings: String,
    text: String,
    features: Vec<String>,
}

#[test]
fn features_are_those_of_other_implementations() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/features");
    let mut total = 0;
    let mut failures = Vec::new();
    for kind in ["words", "chars", "spotsigs", "sentence-ends", "lines", "folding"] {
        let json = std::fs::read_to_string(folder.join(format!("{kind}.json"))).unwrap();
        let documents: Vec<Document> = serde_json::from_str(&json).unwrap();
        assert_eq!(documents.len(), 20, "{kind}");
        for document in documents {
            total += 1;
            assert!(document.spec.starts_with(kind) || kind == "folding");
            let parsed = FeatureKind::parse(&document.spec, &|_| Ok(document.settings.clone())).unwrap();
            let folded = FeatureSpec::new(parsed);
            let composed = FeatureSpec { form: NormalForm::Nfc, marks: Marks::Keep, ..folded.clone() };
            let mut extractor = Extractor::new(if kind == "folding" { folded } else { composed });
            let mut found = Vec::new();
            extractor.each(&document.text, |feature, _| found.push(feature.to_string()));
            if found != document.features {
                failures.push(format!(
                    "{kind}, {}: expected {:?}, found {found:?}",
                    document.name, document.features
                ));
            }
            let mut expected: Vec<u64> =
                document.features.iter().map(|f| twinsplit_core::hash::feature(f.as_bytes())).collect();
            expected.sort_unstable();
            expected.dedup();
            let mut set = Vec::new();
            extractor.set(&document.text, &mut set);
            if found == document.features {
                assert_eq!(set, expected, "{kind}, {}: the set", document.name);
            }
        }
    }
    println!("{total} documents of 6 files, {} differ", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(total, 6 * 20);
}
