//! An order-2 word model: which words follow two given ones in real text, and how often.
//!
//! A *state* is a pair of consecutive words of the real text; from it one goes on to the states that followed it there,
//! one entry for each time, so a draw with equal chances is a draw by frequency. A walk is two look-ups a word: the
//! state, and one of its followers.
//!
//! A word is what stands between white space, its punctuation with it; runs of Han characters are cut further, by the
//! same dictionary as features are. A word brings the space before it along (none inside a Han run, a line feed where a
//! paragraph begins: after an empty line, or in an indented one), and its bytes as JSON writes them: text is made by copying slices.
//!
//! Real corpora hold copies, whose words would be walked again and again; so a paragraph counts once, however often it
//! stands there. What copies there are in a generated corpus is the business of its plan.
//!
//! # New words
//! Real text never runs out of words: of any text, about as many words are new as occur once in a text before it (Good
//! and Turing). A closed vocabulary would make every feature more frequent as a corpus grows, and no real corpus is so.
//! So the words that the real text has once stand for new ones: a walk hands them to its caller with
//! `Model::coin`, which puts a word together of halves of two such words, or changes the digits of one that has
//! digits; the same one each time for the same lexicon (a site has one).

use super::random::Random;
use crate::hash::feature;
use crate::text::{Extractor, FeatureKind, FeatureSpec};
use rustc_hash::{FxHashMap, FxHashSet};

/// A state: a pair of words, of which the second is written when it is reached.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Where its followers begin.
    first: u32,
    /// How many there are; never 0.
    count: u32,
    /// Where the text of its second word begins.
    text: u32,
    /// How long that is.
    length: u16,
    /// Whether the word stands for new ones.
    rare: bool,
}

/// A model of one language.
#[derive(Debug, Default)]
pub struct Model {
    text: Vec<u8>,
    states: Vec<State>,
    followers: Vec<u32>,
    /// Words that occur once and have no digits, by place and length in the text.
    rare: Vec<(u32, u16)>,
}

/// The word that stands between documents: state 0 is after it, whatever was before it.
const BOUNDARY: u32 = 0;
/// The longest word, in bytes: longer ones are tables, keys and pictures in letters, and are left out.
const LONGEST: usize = 60;

/// A walk through a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Walk(u32);

impl Walk {
    /// A walk that begins where a document begins is the default one; this begins anywhere in the real text.
    pub fn anywhere(model: &Model, random: &mut Random) -> Self {
        Self(model.followers[random.below(model.followers.len() as u32) as usize])
    }
}

/// Takes texts of one language and makes their model.
#[derive(Debug)]
pub struct Builder {
    words: FxHashMap<Vec<u8>, u32>,
    /// By word: its bytes, and how often it occurs.
    texts: Vec<(Vec<u8>, u32)>,
    tokens: Vec<u32>,
    /// Hashes of the paragraphs taken.
    paragraphs: FxHashSet<u64>,
    cut: Extractor,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            words: FxHashMap::default(),
            texts: vec![(Vec::new(), 0)],
            tokens: vec![BOUNDARY],
            paragraphs: FxHashSet::default(),
            cut: Extractor::new(FeatureSpec::new(FeatureKind::Words(1))),
        }
    }
}

impl Builder {
    /// Takes the words of a text, of each paragraph that was not taken before.
    pub fn text(&mut self, text: &str) {
        let before = self.tokens.len();
        let (mut paragraph, mut end) = (Vec::new(), 0);
        for word in text.split_whitespace() {
            // The words are slices of the text, so their places are differences of addresses.
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            if is_break(&text[end..start]) {
                self.paragraph(&paragraph);
                paragraph.clear();
            }
            paragraph.push(word);
            end = start + word.len();
        }
        self.paragraph(&paragraph);
        if self.tokens.len() > before {
            self.tokens.push(BOUNDARY);
        }
    }

    fn paragraph(&mut self, words: &[&str]) {
        if !self.paragraphs.insert(feature(words.join(" ").as_bytes())) {
            return;
        }
        for (at, word) in words.iter().enumerate() {
            self.word(if at == 0 { "\\n" } else { " " }, word);
        }
    }

    fn word(&mut self, lead: &str, word: &str) {
        if word.is_ascii() {
            return self.push(lead, word);
        }
        let mut starts = Vec::new();
        self.cut.each(word, |_, span| {
            let before = word[..span.start].chars().next_back();
            if span.start > 0 && (word[span.start..].starts_with(is_han) || before.is_some_and(is_han)) {
                starts.push(span.start);
            }
        });
        let (mut from, mut lead) = (0, lead);
        for to in starts.into_iter().chain([word.len()]) {
            self.push(lead, &word[from..to]);
            (from, lead) = (to, "");
        }
    }

    fn push(&mut self, lead: &str, word: &str) {
        if word.len() > LONGEST {
            return;
        }
        let mut text = lead.as_bytes().to_vec();
        escape(word, &mut text);
        let known = self.texts.len() as u32;
        let token = *self.words.entry(text).or_insert_with_key(|text| {
            self.texts.push((text.clone(), 0));
            known
        });
        self.texts[token as usize].1 += 1;
        self.tokens.push(token);
    }

    /// The model of the texts taken; `None` when they have no words.
    pub fn model(self) -> Option<Model> {
        let Self { texts, tokens, .. } = self;
        if tokens.len() < 2 {
            return None;
        }
        let mut model = Model::default();
        let mut places = Vec::with_capacity(texts.len());
        for (text, count) in &texts {
            let place = (model.text.len() as u32, text.len() as u16);
            let letters = text.strip_prefix(b"\\n").unwrap_or(text);
            let letters = letters.iter().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
            // Short words that are rare are mostly symbols and abbreviations.
            let rare = *count == 1 && letters.count() > 3;
            if rare && !text.iter().any(u8::is_ascii_digit) {
                model.rare.push(place);
            }
            places.push((place, rare));
            model.text.extend_from_slice(text);
        }
        // State of each place in the sequence of words: the pair that ends there. After a boundary the word before it is
        // forgotten, so all documents begin alike.
        let mut numbers: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut ends = Vec::new();
        let mut before = BOUNDARY;
        let mut path = Vec::with_capacity(tokens.len());
        for &token in &tokens {
            let pair = if token == BOUNDARY { (BOUNDARY, BOUNDARY) } else { (before, token) };
            let known = ends.len() as u32;
            path.push(*numbers.entry(pair).or_insert_with(|| {
                ends.push(token);
                known
            }));
            before = token;
        }
        drop(numbers);
        let mut counts = vec![0_u32; ends.len()];
        path[..path.len() - 1].iter().for_each(|state| counts[*state as usize] += 1);
        let mut first = 0;
        for (token, count) in ends.into_iter().zip(&counts) {
            let ((text, length), rare) = places[token as usize];
            model.states.push(State { first, count: *count, text, length, rare });
            first += count;
        }
        model.followers = vec![0; first as usize];
        let mut next: Vec<u32> = model.states.iter().map(|state| state.first).collect();
        for pair in path.windows(2) {
            let slot = &mut next[pair[0] as usize];
            model.followers[*slot as usize] = pair[1];
            *slot += 1;
        }
        Some(model)
    }
}

impl Model {
    /// Goes on by one word, which is appended to `out`; a word that stands for new ones is coined in `lexicon`. A
    /// document of the real text that ends is followed by another one.
    #[inline]
    pub fn step(&self, walk: &mut Walk, random: &mut Random, lexicon: u64, out: &mut Vec<u8>) {
        let state = self.states[walk.0 as usize];
        let choice = if state.count > 1 { random.below(state.count) } else { 0 };
        walk.0 = self.followers[(state.first + choice) as usize];
        if walk.0 == 0 {
            let start = self.states[0];
            walk.0 = self.followers[(start.first + random.below(start.count)) as usize];
        }
        let state = self.states[walk.0 as usize];
        if state.rare {
            self.coin((state.text, state.length), lexicon, out);
        } else {
            out.extend_from_slice(
                &self.text[state.text as usize..state.text as usize + usize::from(state.length)],
            );
        }
    }

    /// A new word for a rare one, always the same in a lexicon: its first half and the second half of another, or
    /// itself with other digits.
    fn coin(&self, rare: (u32, u16), lexicon: u64, out: &mut Vec<u8>) {
        let mut random = Random::of(lexicon, rare.0.into(), 0);
        let word = self.slice(rare);
        if word.iter().any(u8::is_ascii_digit) {
            let digit = |byte: &u8| if byte.is_ascii_digit() { b'0' + random.below(10) as u8 } else { *byte };
            out.extend(word.iter().map(digit));
        } else {
            // The word itself is one of them.
            let other = self.rare[random.below(self.rare.len() as u32) as usize];
            out.extend_from_slice(halves(word).0);
            out.extend_from_slice(halves(self.slice(other)).1);
        }
    }

    fn slice(&self, (start, length): (u32, u16)) -> &[u8] {
        &self.text[start as usize..start as usize + usize::from(length)]
    }
}

/// A word cut in two at a character near its middle; escapes of JSON and the space before it are not cut.
fn halves(word: &[u8]) -> (&[u8], &[u8]) {
    let whole = |at: &usize| word[..*at].iter().all(|byte| *byte != b'\\') && is_start(word[*at]);
    let middle = (1 + word.len() / 2..word.len()).find(whole);
    word.split_at(middle.unwrap_or(word.len()))
}

/// Whether a byte begins a character.
fn is_start(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

/// Whether a character is one of the common Han characters.
pub fn is_han(c: char) -> bool {
    ('\u{3400}'..='\u{9fff}').contains(&c)
}

/// Whether white space between two words is a new line to the eye: an empty line, or one that is indented.
fn is_break(gap: &str) -> bool {
    let mut parts = gap.split('\n').skip(1);
    parts.next().is_some_and(|first| first.len() > 1 || parts.next().is_some())
}

/// Writes a word as it stands within a JSON string.
fn escape(word: &str, out: &mut Vec<u8>) {
    for byte in word.bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            // Control characters that are no white space: nothing a page shows.
            0..=0x1f => {}
            _ => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn model(texts: &[&str]) -> Model {
        let mut builder = Builder::default();
        texts.iter().for_each(|text| builder.text(text));
        builder.model().unwrap()
    }

    fn walk(model: &Model, seed: u64, lexicon: u64, words: usize) -> String {
        let (mut walk, mut random, mut out) = (Walk::default(), Random::of(seed, 0, 0), Vec::new());
        (0..words).for_each(|_| model.step(&mut walk, &mut random, lexicon, &mut out));
        String::from_utf8(out).unwrap()
    }

    /// Every three words that follow one another in what is made follow one another in the real text, alike often.
    #[test]
    fn words_follow_two_words_as_in_the_real_text() {
        let real = "a b c a b d a b c a c b a b d d a b c c a b ".repeat(3);
        let made = walk(&model(&[&real]), 5, 0, 60_000);
        let followers = |text: &str| {
            let words: Vec<&str> = text.split_whitespace().collect();
            let mut counts: BTreeMap<(String, String), BTreeMap<String, f64>> = BTreeMap::new();
            for three in words.windows(3) {
                let pair = (three[0].to_owned(), three[1].to_owned());
                *counts.entry(pair).or_default().entry(three[2].to_owned()).or_default() += 1.0;
            }
            counts
        };
        let real = followers(&real);
        // Documents follow one another in lines of their own.
        for (pair, made) in made.split("\\n").map(followers).fold(BTreeMap::new(), |mut all, one| {
            for (pair, counts) in one {
                let sums: &mut BTreeMap<String, f64> = all.entry(pair).or_default();
                counts.into_iter().for_each(|(word, count)| *sums.entry(word).or_default() += count);
            }
            all
        }) {
            let (all, of): (f64, f64) = (made.values().sum(), real[&pair].values().sum());
            for (word, count) in made {
                let (found, expected) = (count / all, real[&pair][&word] / of);
                assert!((found - expected).abs() < 0.05, "{pair:?} {word}: {found}, not {expected}");
            }
        }
    }

    #[test]
    fn han_runs_are_cut_into_words_and_punctuation_stays() {
        let text = "使用“数据库”连接数据库，数据库 (DB) 连接 数据库。";
        let model = model(&[text]);
        let words: BTreeSet<String> = model
            .states
            .iter()
            .map(|state| String::from_utf8_lossy(model.slice((state.text, state.length))).into_owned())
            .collect();
        let expected =
            ["", "\\n使用“", "数据库”", "连接", "数据库，", "数据库", " (DB)", " 连接", " 数据库。"];
        assert_eq!(words, expected.map(str::to_owned).into());
    }

    #[test]
    fn what_is_made_is_the_inside_of_a_json_string() {
        let text = "say \"yes\" C:\\temp\\new\n\n    now \u{1} tab\u{7}bed\n";
        let model = model(&[text, &text.replace("\n\n", " ")]);
        let words = ["say", "\"yes\"", "C:\\temp\\new", "now", "tabbed"];
        for seed in 0..50 {
            let made = walk(&model, seed, 9, 40);
            let read: String = serde_json::from_str(&format!("\"{made}\"")).unwrap();
            assert!(read.split_whitespace().all(|word| words.contains(&word)), "{read}");
            assert!(words.iter().all(|word| read.contains(word)) && read.contains('\n'), "{read}");
        }
    }

    #[test]
    fn a_lexicon_has_new_words_of_its_own() {
        let once = "Alexander Bartholomew Catherine Dorothea Emmanuel number12345 Grönland 数据库 ";
        let text = format!("{once} and and so so");
        let model = model(&[&text]);
        let words = |lexicon| -> BTreeSet<String> {
            let made = walk(&model, 1, lexicon, 3000).replace("\\n", " ");
            made.split_whitespace().map(str::to_owned).collect()
        };
        assert_eq!(words(1), words(1));
        // Seven names and a number at most, "and", "so"; the same letters as in the real words.
        assert!(words(1).len() <= 10 && words(1).contains("and"), "{:?}", words(1));
        let all: BTreeSet<String> = (0..200).flat_map(words).collect();
        assert!(all.len() > 50 && all.contains("so"), "{all:?}");
        assert!(all.iter().filter(|word| word.starts_with("number")).count() > 50);
        assert!(all.iter().all(|word| word.chars().all(|c| text.contains(c) || c.is_ascii_digit())));
    }

    #[test]
    fn there_is_no_model_of_nothing() {
        assert!(Builder::default().model().is_none());
        let mut builder = Builder::default();
        builder.text(" \n ");
        assert!(builder.model().is_none());
    }
}
