//! `jieba`: the words of a text that jieba's `extract_tags` takes for keywords, repeats included.
//!
//! The whole text is cut by jieba's dictionary and hidden Markov model, Latin words and numbers with it, and words of fewer
//! than two characters and the stop words of its keyword extraction are left out. This is what yanlan means by splitting a
//! text into words without noise; with `--normalise none --case-fold off --marks keep` the words are those of the Python package, one by one.
//!
//! A keyword's inverse document frequency comes with jieba too, from the dictionary of its makers ([`idf`]): decimals that
//! become whole numbers here, so that every machine adds up the same.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{LazyLock, PoisonError, RwLock};

use jieba_rs::{DEFAULT_STOP_WORDS, Jieba, KeywordExtract, KeywordExtractConfig, TfIdf};
use rustc_hash::{FxHashMap, FxHashSet};

use super::han;
use super::normalised::NormalisedText;

/// The least characters of a keyword.
const LEAST: usize = 2;
/// What an inverse document frequency of 1 is as a whole number.
pub const IDF_ONE: u64 = 1 << 20;

static STOP_WORDS: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| DEFAULT_STOP_WORDS.iter().map(String::as_str).collect());

/// Every keyword in text order, with the bytes of the original; the text was filled with spans.
pub(crate) fn each(normalised: &mut NormalisedText, visit: &mut impl FnMut(&str, Range<usize>)) {
    let (text, offsets, spans) = normalised.offsets();
    let mut at = 0;
    each_word(text, |word, range| {
        while offsets[at] < range.start {
            at += 1;
        }
        let last = at + word.chars().count() - 1;
        visit(word, spans[at].start..spans[last].end);
    });
}

/// Every keyword in text order, with its bytes in the text.
pub(crate) fn each_word(text: &str, mut visit: impl FnMut(&str, Range<usize>)) {
    let mut take = |range: Range<usize>| {
        let word = &text[range.clone()];
        if is_keyword(word) {
            visit(word, range);
        }
    };
    let jieba = han::jieba();
    // Signs one behind the other, which the edition in Python takes as one word.
    let mut signs = 0..0;
    for token in jieba.cut(text, true) {
        let (word, start) = (token.word, token.byte_start);
        let end = start + word.len();
        if word.bytes().all(is_sign) {
            if signs.end == start {
                signs.end = end;
            } else {
                take(std::mem::replace(&mut signs, start..end));
            }
            continue;
        }
        take(std::mem::replace(&mut signs, end..end));
        if word.is_ascii() && word.bytes().any(is_sign) && !jieba.has_word(word) {
            each_part(word, |part| take(start + part.start..start + part.end));
        } else {
            take(start..end);
        }
    }
    take(signs);
}

/// The signs that are part of words.
fn is_sign(byte: u8) -> bool {
    matches!(byte, b'+' | b'#' | b'&' | b'.' | b'_' | b'%' | b'-')
}

/// The words of letters and digits that points, hyphens and underscores join. The edition in Rust takes them as one word where
/// the one in Python has several: letters and digits, then a point with digits, then a percent sign, the last two where they
/// are there.
fn each_part(word: &str, mut visit: impl FnMut(Range<usize>)) {
    let bytes = word.as_bytes();
    let run = |from: usize, is: fn(&u8) -> bool| bytes[from..].iter().take_while(|byte| is(byte)).count();
    let mut at = 0;
    while at < bytes.len() {
        let mut end = at + run(at, u8::is_ascii_alphanumeric);
        if end > at {
            let digits = if bytes.get(end) == Some(&b'.') { run(end + 1, u8::is_ascii_digit) } else { 0 };
            end += if digits > 0 { 1 + digits } else { 0 };
            end += usize::from(bytes.get(end) == Some(&b'%'));
            visit(at..end);
            at = end;
        } else {
            at += 1;
        }
    }
}

fn is_keyword(word: &str) -> bool {
    if word.trim().chars().take(LEAST).count() < LEAST {
        return false;
    }
    // Stop words are ASCII.
    let lower = if word.is_ascii() { Cow::Owned(word.to_ascii_lowercase()) } else { Cow::Borrowed(word) };
    !STOP_WORDS.contains(&*lower)
}

/// Looks up inverse document frequencies in jieba's dictionary. Words that were asked for are remembered by all threads.
struct Dictionary {
    source: TfIdf,
    known: RwLock<FxHashMap<Box<str>, u64>>,
}

static DICTIONARY: LazyLock<Dictionary> = LazyLock::new(|| {
    let mut source = TfIdf::default();
    *source.config_mut() = KeywordExtractConfig::builder().min_keyword_length(0).build();
    Dictionary { source, known: RwLock::default() }
});

/// The inverse document frequency of a keyword in jieba's dictionary, times [`IDF_ONE`], rounded; that of a word that is not
/// there is the dictionary's median.
pub fn idf(word: &str) -> u64 {
    let known = DICTIONARY.known.read().unwrap_or_else(PoisonError::into_inner).get(word).copied();
    known.unwrap_or_else(|| {
        let idf = look_up(&DICTIONARY.source, word);
        DICTIONARY.known.write().unwrap_or_else(PoisonError::into_inner).insert(word.into(), idf);
        idf
    })
}

/// The dictionary gives no word's value but as the weight of a text's keyword: that of a text which is the word alone, and cut
/// into that word because no other is known.
fn look_up(source: &TfIdf, word: &str) -> u64 {
    let mut alone = Jieba::empty();
    alone.add_word(word, Some(1), None);
    let found = source.extract_keywords(&alone, word, 1, Vec::new());
    let weight = found.first().filter(|found| found.keyword == word).map_or(0.0, |found| found.weight);
    // Decimals of at most 14 digits: none lies between two whole numbers.
    (weight * IDF_ONE as f64).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keywords(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_word(text, |word, range| {
            assert_eq!(&text[range], word);
            found.push(word.to_owned());
        });
        found
    }

    #[test]
    fn short_words_and_stop_words_are_no_keywords() {
        assert_eq!(
            keywords("我来到北京清华大学，The iPhone 在 The Hague 5 元"),
            ["来到", "北京", "清华大学", "iPhone", "Hague"]
        );
        assert_eq!(keywords("的 。\r\n 了"), Vec::<String>::new());
        assert_eq!(keywords("<!-- 的 -->"), ["--", "--"]);
        assert_eq!(
            keywords("www.apache.org 的 127.0.0.1 和 LICENSE-2.0a、max_of 5.5%"),
            ["www", "apache", "org", "127.0", "0.1", "LICENSE", "2.0", "max", "of", "5.5%"]
                .into_iter()
                .filter(|word| *word != "of")
                .collect::<Vec<_>>()
        );
    }

    /// The first lines of the dictionary, and its median for what it does not have.
    #[test]
    fn frequencies_are_those_of_the_dictionary() {
        let of = |decimal: f64| (decimal * IDF_ONE as f64).round() as u64;
        for (word, decimal) in [("劳动防护", 13.900677652), ("编译", 9.21854642485), ("蝶泳", 11.1926274509)]
        {
            assert_eq!(idf(word), of(decimal), "{word}");
            assert_eq!(idf(word), of(decimal), "{word} again");
        }
        let median = idf("无此词语者也");
        assert_eq!((median, idf("iPhone"), idf("x+y")), (of(11.9547675029), median, median));
    }
}
