//! The one place where the oracle asks the product: which feature texts does a text have?
//! (Goldens checked by hand cover that answer elsewhere.)

use super::oracle::{Doc, Features};

/// The feature texts of each document, for a value of `--features` such as `words:5`.
pub fn of(docs: &[Doc], features: &str) -> Vec<Features> {
    let mut extractor = Extractor::new(features);
    docs.iter()
        .map(|doc| {
            let mut set = Features::new();
            extractor.each(&doc.text, |feature| {
                set.insert(feature.to_owned());
            });
            set
        })
        .collect()
}

/// Stands in for `twinsplit::text::Extractor` until that is merged: `lines` and ASCII `words:K`.
struct Extractor(Option<usize>);

impl Extractor {
    fn new(features: &str) -> Self {
        Self(
            features
                .strip_prefix("words:")
                .map(|k| k.parse().expect("words:K")),
        )
    }

    fn each(&mut self, text: &str, mut see: impl FnMut(&str)) {
        let text = text.to_lowercase();
        match self.0 {
            None => text
                .lines()
                .filter(|line| !line.trim().is_empty())
                .for_each(&mut see),
            Some(k) => {
                let word = |w: &&str| !w.is_empty();
                let words: Vec<&str> = text
                    .split(|c: char| !c.is_alphanumeric())
                    .filter(word)
                    .collect();
                words.windows(k).for_each(|window| see(&window.join(" ")));
            }
        }
    }
}
