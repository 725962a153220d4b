//! Bodies of HTTP, of any bytes: what an endpoint takes it takes again when it is written otherwise, and no other field is passed over.

use serde_json::Value;
use twinsplit_core::sketch::simhash::{Bits, Tie};
use twinsplit_core::sketch::{Hash, Idf, Weights};
use twinsplit_core::text::{FeatureKind, FeatureSpec};
use twinsplit_serve::http::body;
use twinsplit_serve::{Fingerprinting, Sketched, Sketching};

/// One input: the endpoint, and a body.
pub fn run(data: &[u8]) {
    let Some((endpoint, rest)) = data.split_first() else { return };
    let endpoint = usize::from(*endpoint);
    let sketching = sketching();
    let Ok(documents) = body(endpoint, rest, &sketching) else { return };
    let mut value: Value = serde_json::from_slice(rest).expect("what was taken is JSON");
    for text in [value.to_string(), serde_json::to_string_pretty(&value).expect("a text")] {
        assert_eq!(body(endpoint, text.as_bytes(), &sketching), Ok(documents), "{text}");
    }
    let object = value.as_object_mut().expect("what was taken is an object");
    object.insert("another field".to_owned(), Value::Null);
    assert!(body(endpoint, value.to_string().as_bytes(), &sketching).is_err());
}

fn sketching() -> Sketching {
    let kind = FeatureKind::parse("words:1", &|_| unreachable!("no file is read")).expect("a kind");
    let fingerprinting = Fingerprinting {
        weights: Weights::Tf,
        idf: Idf::None,
        hash: Hash::Xxh3,
        bits: Bits::B64,
        tie: Tie::Zero,
        distances: "3".parse().expect("a distance"),
        check: None,
    };
    Sketching { features: FeatureSpec::new(kind), least: 1, sketched: Sketched::Fingerprints(fingerprinting) }
}
