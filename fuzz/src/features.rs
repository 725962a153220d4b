//! Any text as features of every kind: `each` and `set` agree, and every feature stands where it is said to stand.
//! The first byte takes the kind and the form of the text.

use std::cell::RefCell;
use std::collections::BTreeSet;
use twinsplit_core::hash;
use twinsplit_core::text::{Extractor, FeatureKind, FeatureSpec, Marks, NormalForm, dominant_script};

const KINDS: [&str; 11] = [
    "words:1",
    "words:2",
    "words:5",
    "chars:1",
    "chars:3",
    "chars:9",
    "sentence-ends:3",
    "lines",
    "spotsigs",
    "spotsigs:zh",
    "sentences:3",
];

const FORMS: [(NormalForm, bool, Marks); 5] = [
    (NormalForm::Nfkc, true, Marks::Drop),
    (NormalForm::Nfc, true, Marks::Keep),
    (NormalForm::Nfc, false, Marks::Drop),
    (NormalForm::None, true, Marks::Drop),
    (NormalForm::None, false, Marks::Keep),
];

thread_local! {
    static EXTRACTORS: RefCell<Vec<Extractor>> = RefCell::new(
        KINDS
            .iter()
            .flat_map(|kind| FORMS.map(|form| (kind, form)))
            .map(|(kind, (form, case_fold, marks))| {
                let kind = FeatureKind::parse(kind, &|_| Err(String::new())).expect("a kind");
                Extractor::new(FeatureSpec { kind, form, case_fold, marks, counts: false })
            })
            .collect(),
    );
}

/// One input.
pub fn run(data: &[u8]) {
    let Some((&first, data)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(data) else { return };
    EXTRACTORS.with_borrow_mut(|extractors| {
        let at = usize::from(first) % extractors.len();
        let extractor = &mut extractors[at];
        let mut hashes = BTreeSet::new();
        extractor.each(text, |feature, span| {
            assert!(text.get(span.clone()).is_some(), "{span:?} is not in the text");
            hashes.insert(hash::feature(feature.as_bytes()));
        });
        let mut set = Vec::new();
        extractor.set(text, &mut set);
        assert!(set.iter().eq(&hashes), "each and set differ");
        // An extractor keeps nothing of a text.
        let before = set.clone();
        extractor.set("x", &mut set);
        extractor.set(text, &mut set);
        assert_eq!(set, before);
    });
    assert!(!dominant_script(text).is_empty());
}
