//! Text to words: UAX 29 outside Han, jieba inside.
//!
//! How the two compose: the text is first cut at the edges of its runs of Han characters (see
//! [`super::han`]). Each run goes to jieba; each stretch between two runs is cut by UAX 29 as if it were
//! a text of its own, and segments with a letter or a number are kept. So in `用iPhone拍照` the words are
//! 用, iPhone, 拍照; in Japanese a katakana word is one word, a kanji run is cut by jieba, and each
//! hiragana letter stands alone, as it does in UAX 29 without a dictionary.
//!
//! Nearly all bytes of web text take a shorter way: a white space byte followed by an ASCII byte is a
//! boundary that no rule crosses, so everything up to the last such place before a non-ASCII byte is cut
//! by the byte-level splitter in [`super::ascii`], and only the stretch around that byte is not.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::ascii::each_word;
use super::han;
use super::normalise::Normaliser;
use super::run_cache::RunCache;

/// The normalised words of one text, in one buffer, joined by one space: K consecutive words are a
/// slice of it. Reused from text to text.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// UTF-8; behind the last word there may be bytes that mean nothing.
    buf: Vec<u8>,
    ends: Vec<usize>,
    spans: Vec<Range<usize>>,
    /// A word while it is normalised.
    word: String,
    runs: RunCache,
}

/// Words up to this length are written all alike, 16 bytes at a time.
const SHORT: usize = 16;
/// From this size on a buffer grows by an eighth.
const LARGE: usize = 1 << 20;

impl Words {
    /// Cuts `text` into words. Spans are kept only when `SPANS`. `wants` is asked before each run of Han characters,
    /// with the words so far, whether its words are needed; else they are left out.
    pub fn fill<const SPANS: bool>(
        &mut self,
        text: &str,
        normaliser: Normaliser,
        wants: &dyn Fn(&Words) -> bool,
    ) {
        self.ends.clear();
        self.spans.clear();
        self.more::<SPANS>(text, normaliser, wants);
    }

    /// Appends the words of `text`; those that are there stay.
    pub fn more<const SPANS: bool>(
        &mut self,
        text: &str,
        normaliser: Normaliser,
        wants: &dyn Fn(&Words) -> bool,
    ) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(odd) = first_non_ascii(bytes, at) {
            // The white space byte itself must be followed by ASCII: a mark would attach to it.
            let plain = bytes[at..odd].windows(2).rposition(|pair| is_space(pair[0])).map_or(at, |p| at + p);
            let mut end = first_space(bytes, odd);
            while bytes.get(end + 1).is_some_and(|next| !next.is_ascii()) {
                end = first_space(bytes, end + 1);
            }
            self.ascii::<SPANS>(&bytes[at..plain], at, normaliser);
            self.mixed::<SPANS>(&text[plain..end], plain, normaliser, wants);
            at = end;
        }
        self.ascii::<SPANS>(&bytes[at..], at, normaliser);
    }

    /// Drops the first `words` words. Spans are not kept then.
    pub fn drop_first(&mut self, words: usize) {
        if words == 0 {
            return;
        }
        let (from, end) = (self.start(words), self.start(self.ends.len()));
        self.buf.copy_within(from..end.max(from), 0);
        self.ends.drain(..words);
        self.ends.iter_mut().for_each(|end| *end -= from);
        self.spans.clear();
    }

    /// The number of words.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The words from `first` to `last`, both included, joined by one space: UTF-8.
    #[inline]
    pub fn text(&self, first: usize, last: usize) -> &[u8] {
        &self.buf[self.start(first)..self.ends[last]]
    }

    /// A word of up to eight bytes as a number, which no other word has.
    #[inline]
    pub fn number(&self, word: usize) -> Option<u64> {
        let (start, end) = (self.start(word), self.ends[word]);
        let unused = 64_u32.checked_sub(8 * u32::try_from(end - start).ok()?)?;
        let head = u64::from_le_bytes(*self.buf[start..].first_chunk()?);
        // A word is not empty.
        Some(head << unused >> unused)
    }

    /// The bytes of the original text from the first word to the last.
    pub fn span(&self, first: usize, last: usize) -> Range<usize> {
        self.spans[first].start..self.spans[last].end
    }

    #[inline]
    fn start(&self, word: usize) -> usize {
        if word == 0 { 0 } else { self.ends[word - 1] + 1 }
    }

    /// ASCII alone; `base` is where it starts in the whole text.
    #[inline]
    fn ascii<const SPANS: bool>(&mut self, bytes: &[u8], base: usize, normaliser: Normaliser) {
        self.make_room(bytes.len());
        let from = self.start(self.ends.len());
        let Words { buf, ends, spans, .. } = self;
        let mut next = from;
        each_word(bytes, |start, end| {
            next = put(buf, ends, next, &bytes[start..], end - start);
            if SPANS {
                spans.push(base + start..base + end);
            }
        });
        if normaliser.case_fold {
            buf[from..next].make_ascii_lowercase();
        }
    }

    /// Makes room for words that have so many bytes, the spaces between them included, and for what [`put`] writes behind.
    #[inline]
    fn make_room(&mut self, bytes: usize) {
        let most = self.start(self.ends.len()) + bytes + 1 + SHORT;
        if self.buf.len() < most {
            // What is added is written, and takes memory: not much more than is needed where that is much.
            let room = if most < LARGE { most.next_power_of_two() } else { most + most / 8 };
            self.buf.resize(room, 0);
        }
    }

    /// Text with non-ASCII characters; `base` is where it starts in the whole text.
    fn mixed<const SPANS: bool>(
        &mut self,
        text: &str,
        base: usize,
        normaliser: Normaliser,
        wants: &dyn Fn(&Words) -> bool,
    ) {
        let mut rest = 0;
        while let Some(run) = text[rest..].find(han::is_han).map(|p| rest + p) {
            self.uax29::<SPANS>(&text[rest..run], base + rest, normaliser);
            rest = run + han::run_length(&text[run..]);
            if !wants(self) {
                continue;
            }
            let mut runs = std::mem::take(&mut self.runs);
            runs.each_word(&text[run..rest], normaliser.composes(), |word, range| {
                // Han characters have no case and are in NFC already.
                self.word::<SPANS>(base + run + range.start..base + run + range.end, word);
            });
            self.runs = runs;
        }
        self.uax29::<SPANS>(&text[rest..], base + rest, normaliser);
    }

    fn uax29<const SPANS: bool>(&mut self, text: &str, base: usize, normaliser: Normaliser) {
        match alphabet(text) {
            Alphabet::Punctuation => return,
            Alphabet::Ascii => {
                let bytes = text.as_bytes();
                let mut at = 0;
                while let Some(odd) = first_non_ascii(bytes, at) {
                    self.ascii::<SPANS>(&bytes[at..odd], base + at, normaliser);
                    at = odd + bytes[odd..].iter().take_while(|b| !b.is_ascii()).count();
                }
                return self.ascii::<SPANS>(&bytes[at..], base + at, normaliser);
            }
            Alphabet::Any => (),
        }
        for (at, segment) in text.unicode_word_indices() {
            // A letter-like mark after white space forms a segment with it (WB4); the space is not the word's.
            let word = segment.trim_start();
            let start = base + at + segment.len() - word.len();
            let mut normalised = std::mem::take(&mut self.word);
            normalised.clear();
            normaliser.push(word, &mut normalised);
            self.word::<SPANS>(start..start + word.len(), &normalised);
            self.word = normalised;
        }
    }

    #[inline]
    fn word<const SPANS: bool>(&mut self, span: Range<usize>, word: &str) {
        self.make_room(word.len());
        let at = self.start(self.ends.len());
        put(&mut self.buf, &mut self.ends, at, word.as_bytes(), word.len());
        if SPANS {
            self.spans.push(span);
        }
    }
}

/// Writes the word that is the first `length` of these bytes at `at`, and the space that joins it to the next one, for
/// which it gives the place.
#[inline]
fn put(buf: &mut [u8], ends: &mut Vec<usize>, at: usize, bytes: &[u8], length: usize) -> usize {
    match bytes.first_chunk::<SHORT>() {
        Some(chunk) if length <= SHORT => buf[at..at + SHORT].copy_from_slice(chunk),
        _ => buf[at..at + length].copy_from_slice(&bytes[..length]),
    }
    let end = at + length;
    buf[end] = b' ';
    ends.push(end);
    end + 1
}

#[inline]
fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t'..=b'\r')
}

/// The first white space byte at or after `from`, or the end; many bytes are looked at at once.
fn first_space(bytes: &[u8], from: usize) -> usize {
    const BLOCK: usize = 32;
    let mut at = from;
    while let Some(block) = bytes.get(at..at + BLOCK) {
        // White space and what else is below it.
        if block.iter().any(|b| *b <= b' ')
            && let Some(found) = block.iter().position(|b| is_space(*b))
        {
            return at + found;
        }
        at += BLOCK;
    }
    bytes[at..].iter().position(|b| is_space(*b)).map_or(bytes.len(), |found| at + found)
}

/// What a text consists of.
enum Alphabet {
    /// Characters that are in no word.
    Punctuation,
    /// ASCII, and other punctuation that joins none of its letters and digits: each stretch of ASCII is cut as if it were a text of its own.
    Ascii,
    /// Whatever else.
    Any,
}

/// What a text without Han characters consists of.
fn alphabet(text: &str) -> Alphabet {
    let mut found = Alphabet::Punctuation;
    let mut chars = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        if c.is_ascii_alphanumeric() {
            found = Alphabet::Ascii;
        } else if !c.is_ascii() {
            // An apostrophe or a colon joins letters, a comma digits.
            let joins =
                before.is_ascii_alphanumeric() && chars.peek().is_some_and(char::is_ascii_alphanumeric);
            if joins || !is_punctuation(c) {
                return Alphabet::Any;
            }
        }
        before = c;
    }
    found
}

/// Whether `c` is one of the characters beyond ASCII that most often stand between runs of Han characters, and in no word.
#[inline]
fn is_punctuation(c: char) -> bool {
    matches!(c, '\u{2010}'..='\u{2027}' | '\u{3000}'..='\u{3004}' | '\u{3008}'..='\u{3020}')
        || matches!(c, '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}')
}

/// The first byte at or after `from` that is not ASCII; whole blocks are tested at once.
pub(crate) fn first_non_ascii(bytes: &[u8], from: usize) -> Option<usize> {
    const BLOCK: usize = 64;
    let mut at = from;
    while at < bytes.len() {
        let block = &bytes[at..bytes.len().min(at + BLOCK)];
        if !block.is_ascii() {
            return block.iter().position(|b| !b.is_ascii()).map(|p| at + p);
        }
        at += block.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Marks, NormalForm};
    use proptest::prelude::*;

    const RAW: Normaliser = Normaliser { form: NormalForm::None, case_fold: false, marks: Marks::Keep };

    fn spans(text: &str) -> Vec<Range<usize>> {
        let mut words = Words::default();
        words.fill::<true>(text, RAW, &|_| true);
        words.spans
    }

    fn cut(text: &str) -> Vec<&str> {
        spans(text).into_iter().map(|r| &text[r]).collect()
    }

    #[test]
    fn scripts_meet() {
        assert_eq!(cut("用iPhone拍照"), ["用", "iPhone", "拍照"]);
        assert_eq!(cut("東京のカメラはよい"), ["東京", "の", "カメラ", "は", "よ", "い"]);
        assert_eq!(cut("caf\u{e9}s don\u{2019}t 3,000.5"), ["caf\u{e9}s", "don\u{2019}t", "3,000.5"]);
        assert_eq!(cut("\t\u{bc1} a"), ["\u{bc1}", "a"]);
        assert_eq!(cut(""), Vec::<&str>::new());
    }

    #[test]
    fn punctuation_is_in_no_word() {
        let found: Vec<char> = ('\0'..=char::MAX).filter(|c| is_punctuation(*c)).collect();
        assert!(found.len() > 50 && found.contains(&'，') && found.contains(&'。'));
        for c in found {
            assert_eq!(format!("{c}").unicode_words().next(), None, "{c:?}");
            assert!(!c.is_alphanumeric(), "{c:?}");
        }
    }

    proptest! {
        /// Without Han, the short ways and the white space cut change nothing.
        #[test]
        fn equals_uax29(text in "([ a-c1'.,\\n\t]|[，。：；’‧．“）0_\u{3000}]|[\\PC--\\p{Han}]|[\u{300}-\u{302}\u{bc1}\u{200d}\u{ad}é’]){0,60}") {
            let text: String = text.chars().filter(|&c| !han::is_han(c)).collect();
            let expected: Vec<_> = text.unicode_words().map(str::trim_start).collect();
            prop_assert_eq!(cut(&text), expected);
        }

        #[test]
        fn finds_the_first_space(text in "[a-zé文]{0,70}[ \t\r\u{1}]?[a文 ]{0,40}", from in 0usize..100) {
            let from = from.min(text.len());
            let found = text.bytes().enumerate().skip(from).find(|(_, b)| b" \t\n\x0b\x0c\r".contains(b));
            prop_assert_eq!(first_space(text.as_bytes(), from), found.map_or(text.len(), |x| x.0));
        }

        #[test]
        fn finds_the_first_non_ascii(text in "[a-z]{0,150}[é]?[aé]{0,5}", from in 0usize..150) {
            let from = from.min(text.len());
            let expected = text.bytes().enumerate().skip(from).find(|(_, b)| !b.is_ascii()).map(|x| x.0);
            prop_assert_eq!(first_non_ascii(text.as_bytes(), from), expected);
        }
    }
}
