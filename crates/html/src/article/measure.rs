//! What the text of a block is like, and what the elements around it hold.

use super::outline::{Block, Outline};
use super::start_tag::number;
use super::tag::{Tag, said};

/// What the text of a block is like.
#[derive(Clone, Copy, Debug, Default)]
pub struct Text {
    pub bytes: usize,
    /// Bytes of links.
    pub links: usize,
    /// Commas and ends of sentences.
    pub marks: usize,
    /// Capitals and digits of ASCII.
    pub capitals: usize,
    pub digits: usize,
    /// 2 where it ends with the end of a sentence, 1 with another mark, 0 otherwise.
    pub end: i32,
    /// Whether it is running text: of some length, with marks, and no more than a third of links.
    pub is_prose: bool,
    /// Its text as a number.
    number: u64,
}

/// Commas and ends of sentences beyond ASCII: of Chinese and Japanese, Devanagari and Arabic.
const MARKS: [&str; 9] = ["，", "。", "、", "；", "！", "？", "।", "،", "؟"];

/// The first bytes of these.
const FIRST: [u8; 4] = [0xd8, 0xe0, 0xe3, 0xef];

/// What ends a sentence beyond ASCII, a closing quotation mark too.
const ENDS: [&str; 8] = ["。", "！", "？", "…", "।", "؟", "”", "」"];

/// Running text has so many bytes.
const PROSE: usize = 80;

impl Text {
    /// That of a block.
    pub fn of(block: &Block, page: &[u8]) -> Self {
        let text = page.get(block.start..block.end).unwrap_or_default();
        let mut found =
            Self { bytes: text.len(), links: block.links, number: number(text), ..Self::default() };
        let mut has_others = false;
        for (at, byte) in text.iter().enumerate() {
            match byte {
                b'0'..=b'9' => found.digits += 1,
                b'A'..=b'Z' => found.capitals += 1,
                b',' | b'.' | b';' | b'!' | b'?' => {
                    let is_mark = text.get(at + 1).is_none_or(|next| !next.is_ascii_alphanumeric());
                    found.marks += usize::from(is_mark);
                }
                byte if byte >= &0x80 => has_others |= FIRST.contains(byte),
                _ => {}
            }
        }
        if has_others {
            let count = |mark: &&str| memchr::memmem::find_iter(text, mark.as_bytes()).count();
            found.marks += MARKS.iter().map(count).sum::<usize>();
        }
        let closed = text.iter().rposition(|byte| !b"\"')".contains(byte)).map_or(0, |last| last + 1);
        let closed = &text[..closed];
        found.end = match closed.last() {
            Some(b'.' | b'!' | b'?') => 2,
            Some(b':' | b',' | b';') => 1,
            _ => 2 * i32::from(ENDS.iter().any(|end| closed.ends_with(end.as_bytes()))),
        };
        found.is_prose = found.bytes >= PROSE && found.marks > 0 && found.links * 3 < found.bytes;
        found
    }
}

/// Sums over the blocks in an element.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    pub bytes: usize,
    pub links: usize,
    pub marks: usize,
    pub blocks: usize,
    pub headings: usize,
    /// Bytes of running text.
    pub prose: usize,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.links += other.links;
        self.marks += other.marks;
        self.blocks += other.blocks;
        self.headings += other.headings;
        self.prose += other.prose;
    }
}

/// The sizes of elements around a block that are looked at, in bytes: a paragraph, a few, a section, an article.
pub const SIZES: [usize; 4] = [150, 600, 2500, 8000];

/// How many blocks there are like one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alike {
    /// Blocks in elements of the same names and classes, and their bytes.
    pub blocks: usize,
    pub bytes: usize,
    /// Blocks with the same text.
    pub same: usize,
}

/// The distance to a block of running text where there is none.
pub const FAR: i32 = 1000;

/// What is known of a page once it has been read.
pub struct Measures {
    /// Of each block.
    pub texts: Vec<Text>,
    pub alike: Vec<Alike>,
    /// How many blocks ago the last one of running text was, and after how many the next one is.
    pub since: Vec<i32>,
    pub until: Vec<i32>,
    /// Of each element.
    pub sums: Vec<Sums>,
    /// Where what is in it ends.
    ends: Vec<u32>,
    /// The nearest element around it, or itself, that has as many bytes as each of the [`SIZES`].
    pub near: [Vec<u32>; SIZES.len()],
    /// The element that is nearest around most of the running text.
    pub best: usize,
    /// The block that is the first heading of the first level.
    pub heading: Option<usize>,
}

/// Where an element is, of another one: before it, in it or behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Before,
    In,
    Behind,
}

impl Measures {
    /// Those of a page.
    pub fn of(outline: &Outline) -> Self {
        let elements = &outline.elements;
        let up = |at: usize| elements[at].parent as usize;
        let texts: Vec<Text> =
            outline.blocks.iter().map(|block| Text::of(block, &outline.page.text)).collect();
        let mut sums = vec![Sums::default(); elements.len()];
        let mut nearest = vec![0usize; elements.len()];
        for (block, text) in outline.blocks.iter().zip(&texts) {
            let at = block.element as usize;
            let prose = if text.is_prose { text.bytes } else { 0 };
            sums[at].add(&Sums {
                bytes: text.bytes,
                links: text.links,
                marks: text.marks,
                blocks: 1,
                headings: usize::from(elements[at].tag == Tag::Heading),
                prose,
            });
            if elements[at].around & (Tag::Nav.bit() | Tag::Footer.bit() | said::HIDDEN) == 0 {
                for (element, part) in [(at, 2), (up(at), 2), (up(up(at)), 1)] {
                    nearest[element] += prose * part;
                }
            }
        }
        // An element stands behind the one around it.
        let mut ends: Vec<u32> = (1..).take(elements.len()).collect();
        for at in (1..elements.len()).rev() {
            let one = sums[at];
            sums[up(at)].add(&one);
            ends[up(at)] = ends[up(at)].max(ends[at]);
        }
        let near = SIZES.map(|size| {
            let mut near = vec![0u32; elements.len()];
            for at in 1..elements.len() {
                near[at] = if sums[at].bytes >= size { at as u32 } else { near[up(at)] };
            }
            near
        });
        let is_first = |block: &Block| elements[block.element as usize].level == 1;
        let distances = |order: &mut dyn Iterator<Item = usize>| {
            let (mut found, mut distance) = (vec![0; texts.len()], FAR);
            for at in order {
                found[at] = distance;
                distance = if texts[at].is_prose { 1 } else { FAR.min(distance + 1) };
            }
            found
        };
        Self {
            alike: alike(outline, &texts),
            since: distances(&mut (0..texts.len())),
            until: distances(&mut (0..texts.len()).rev()),
            best: (1..elements.len()).rev().max_by_key(|at| nearest[*at]).unwrap_or(0),
            heading: outline.blocks.iter().position(is_first),
            texts,
            sums,
            ends,
            near,
        }
    }

    /// Where an element is, of another one.
    pub fn side(&self, element: usize, of: usize) -> Side {
        match element {
            _ if element < of => Side::Before,
            _ if element < self.ends[of] as usize => Side::In,
            _ => Side::Behind,
        }
    }
}

/// How many blocks there are like each.
fn alike(outline: &Outline, texts: &[Text]) -> Vec<Alike> {
    let mut found = vec![Alike::default(); texts.len()];
    // The element, and the two around it.
    let kind = |block: &Block| {
        let mut at = block.element as usize;
        let mut kind = [0; 6];
        for pair in kind.chunks_mut(2) {
            let element = &outline.elements[at];
            pair.copy_from_slice(&[element.tag as u64, element.class]);
            at = element.parent as usize;
        }
        kind
    };
    let mut kinds: Vec<_> = outline.blocks.iter().map(kind).zip(0..).collect();
    kinds.sort_unstable();
    for group in kinds.chunk_by(|one, other| one.0 == other.0) {
        let bytes = group.iter().map(|(_, at): &(_, usize)| texts[*at].bytes).sum();
        for (_, at) in group {
            found[*at] = Alike { blocks: group.len(), bytes, same: 0 };
        }
    }
    let mut numbers: Vec<_> = texts.iter().map(|text| text.number).zip(0..).collect();
    numbers.sort_unstable();
    for group in numbers.chunk_by(|one, other| one.0 == other.0) {
        for (_, at) in group {
            let at: usize = *at;
            found[at].same = group.len();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Wanted;

    fn of(page: &str) -> (Outline, Measures) {
        let outline = Outline::of(page, Wanted::default());
        let measures = Measures::of(&outline);
        (outline, measures)
    }

    #[test]
    fn marks_and_ends_are_those_of_several_scripts() {
        for (text, marks, end, others) in [
            ("a, b. 3.14 x.y", 2, 0, (0, 3)),
            ("Is it so? (Yes!)", 2, 2, (2, 0)),
            ("“说：好，来。”", 2, 2, (0, 0)),
            ("来、去；是！否？", 4, 2, (0, 0)),
            ("نعم، لا؟", 2, 2, (0, 0)),
            ("यह है।", 1, 2, (0, 0)),
            ("see:", 0, 1, (0, 0)),
            ("\"\"", 0, 0, (0, 0)),
        ] {
            let (_, measures) = of(text);
            let found = &measures.texts[0];
            assert_eq!(
                (found.marks, found.end, (found.capitals, found.digits)),
                (marks, end, others),
                "{text}"
            );
        }
    }

    #[test]
    fn running_text_is_long_has_marks_and_few_links() {
        let long = "word ".repeat(20);
        let is_prose = |page: &str| of(page).1.texts[0].is_prose;
        assert!(is_prose(&format!("{long}, and more")));
        assert!(!is_prose(&long) && !is_prose("A word, and more."));
        assert!(!is_prose(&format!("<a href=x>{long},</a> and more")));
    }

    #[test]
    fn elements_know_what_is_in_them() {
        let text = format!("{}, of some words.", "word ".repeat(20).trim_end());
        let page = format!(
            "<nav><a href=x>one</a></nav><div><h1>two</h1><section><p>{text}<p>{text}</section></div><footer><p>{text}<p>{text}<p>{text}</footer>"
        );
        let (outline, measures) = of(&page);
        let size = text.len();
        let tags: Vec<_> = outline.elements.iter().map(|element| element.tag).collect();
        let section = tags.iter().position(|tag| *tag == Tag::Section).unwrap();
        let sums = &measures.sums[section];
        assert_eq!((sums.bytes, sums.blocks, sums.prose, sums.links), (2 * size, 2, 2 * size, 0));
        let all = &measures.sums[0];
        assert_eq!((all.bytes, all.blocks, all.links, all.headings), (6 + 5 * size, 7, 3, 1));
        // What is in a footer does not count.
        assert_eq!(measures.best, section);
        let sides = outline.blocks.iter().map(|block| measures.side(block.element as usize, section));
        use Side::{Before, Behind, In};
        assert_eq!(sides.collect::<Vec<_>>(), [Before, Before, In, In, Behind, Behind, Behind]);
        assert_eq!(measures.heading, Some(1));
        assert_eq!(measures.since, [FAR, FAR, FAR, 1, 1, 1, 1]);
        assert_eq!(measures.until, [2, 1, 1, 1, 1, 1, FAR]);
        let alike = &measures.alike[3];
        assert_eq!((alike.blocks, alike.bytes, alike.same), (2, 2 * size, 5));
        let near = measures.near.each_ref().map(|near| near[outline.blocks[3].element as usize]);
        assert_eq!(near, [section as u32, 0, 0, 0]);
    }
}
