//! Edit distance: the fewest characters that have to be inserted, removed or replaced to make one text of another.
//!
//! Column by column, the distances of all prefixes change by -1, 0 or 1 from row to row, so 64 rows are two words of bits, and
//! a column of them is a dozen operations (myers1999). Only what lies within the greatest distance that is asked for of the
//! diagonal is computed (ukkonen1985): a path that leaves this band costs more. Where the band begins and ends the computation
//! goes on as if the next step were an insertion or a removal, which is some path's cost, and never less than the least.
//!
//! The rows are taken 64 at a time, all their columns at once. What goes from one strip to the next is by how much its last
//! row changes from column to column: a byte for each, so that texts of any length need memory in proportion to it.

use rustc_hash::FxHashMap;

/// Rows of a strip.
const ROWS: usize = 64;

/// Finds edit distances. It holds buffers that are reused from pair to pair.
#[derive(Debug, Default)]
pub struct EditDistance {
    a: Vec<u32>,
    b: Vec<u32>,
    /// By number of a character of the strip's text: where the strip has it.
    places: Vec<u64>,
    numbers: FxHashMap<char, u32>,
    /// By column: how the last row of the strip above changes there.
    steps: Vec<i8>,
}

/// A strip of rows, and the last row's distances where the band of the next strip begins.
struct Strip {
    /// The column before its first one.
    start: usize,
    /// The distance of its first row's upper neighbour there.
    top: usize,
}

impl EditDistance {
    /// The edit distance of two texts in characters; `None` where it is above `most`.
    pub fn within(&mut self, x: &str, y: &str, most: usize) -> Option<usize> {
        self.read(x, y);
        // What both begin and end with needs no change.
        let same = |a: &[u32], b: &[u32]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let head = same(&self.a, &self.b);
        let (a, b) = (&self.a[head..], &self.b[head..]);
        let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
        let (rows, columns) = (head..self.a.len() - tail, head..self.b.len() - tail);
        if columns.len() - rows.len() > most {
            return None;
        }
        if rows.is_empty() {
            return Some(columns.len());
        }
        self.steps.clear();
        self.steps.resize(columns.len() + 1, 1);
        let mut strip = Strip { start: 0, top: 0 };
        let mut first = rows.start;
        loop {
            let last = rows.end.min(first + ROWS);
            let below = first - rows.start..last - rows.start;
            let bottom = self.strip((first..last, columns.clone()), below, &mut strip, most)?;
            if last == rows.end {
                return (bottom <= most).then_some(bottom);
            }
            first = last;
        }
    }

    /// Numbers the characters of both texts, the shorter one's in `a`.
    fn read(&mut self, x: &str, y: &str) {
        self.numbers.clear();
        let numbers = &mut self.numbers;
        let mut number = |text: &str, out: &mut Vec<u32>| {
            out.clear();
            out.extend(text.chars().map(|character| {
                let next = numbers.len() as u32;
                *numbers.entry(character).or_insert(next)
            }));
        };
        number(x, &mut self.a);
        number(y, &mut self.b);
        if self.a.len() > self.b.len() {
            std::mem::swap(&mut self.a, &mut self.b);
        }
        self.places.clear();
        self.places.resize(self.numbers.len(), 0);
    }

    /// Computes the rows of characters `rows` of the shorter text, `below` in the table, and moves `strip` to those that follow.
    /// Gives the last distance of the last row; `None` where no distance in it is `most` or less.
    fn strip(
        &mut self,
        (rows, columns): (std::ops::Range<usize>, std::ops::Range<usize>),
        below: std::ops::Range<usize>,
        strip: &mut Strip,
        most: usize,
    ) -> Option<usize> {
        for (row, character) in self.a[rows.clone()].iter().enumerate() {
            self.places[*character as usize] |= 1 << row;
        }
        let last_bit = 1u64 << (below.len() - 1);
        // Row i and column j are in the band where they differ by `most` or less.
        let end = columns.len().min(below.end + most);
        let next_start = (below.end + 1).saturating_sub(most + 1).min(end);
        // Every row is one more than the one above it, before the first column.
        let (mut up, mut down) = (u64::MAX, 0u64);
        let mut bottom = strip.top + below.len();
        let (mut least, mut next) = (bottom, Strip { start: strip.start, top: bottom });
        for column in strip.start + 1..=end {
            let equal = self.places[self.b[columns.start + column - 1] as usize];
            let above = std::mem::replace(&mut self.steps[column], 1);
            let negative = u64::from(above < 0);
            let vertical = equal | down;
            let equal = equal | negative;
            let horizontal = (((equal & up).wrapping_add(up)) ^ up) | equal;
            let rises = down | !(horizontal | up);
            let falls = up & horizontal;
            let step = i8::from(rises & last_bit != 0) - i8::from(falls & last_bit != 0);
            let rises = rises << 1 | u64::from(above > 0);
            let falls = falls << 1 | negative;
            up = falls | !(vertical | rises);
            down = rises & vertical;
            bottom = bottom.wrapping_add_signed(step.into());
            self.steps[column] = step;
            least = least.min(bottom);
            if column <= next_start {
                next = Strip { start: column, top: bottom };
            }
        }
        for character in &self.a[rows] {
            self.places[*character as usize] = 0;
        }
        *strip = next;
        (least <= most).then_some(bottom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The table of the definition, row by row.
    fn by_definition(x: &str, y: &str) -> usize {
        let y: Vec<char> = y.chars().collect();
        let mut row: Vec<usize> = (0..=y.len()).collect();
        for (at, character) in x.chars().enumerate() {
            let mut corner = std::mem::replace(&mut row[0], at + 1);
            for (column, other) in (1..).zip(&y) {
                let replaced = corner + usize::from(character != *other);
                corner = row[column];
                row[column] = replaced.min(row[column] + 1).min(row[column - 1] + 1);
            }
        }
        row[y.len()]
    }

    fn agrees(x: &str, y: &str) {
        let distance = by_definition(x, y);
        let mut edit = EditDistance::default();
        for most in [0, distance.saturating_sub(1), distance, distance + 1, distance + 70, 10_000] {
            let expected = (distance <= most).then_some(distance);
            assert_eq!(edit.within(x, y, most), expected, "{x:?} {y:?} within {most}");
        }
    }

    #[test]
    fn known_distances() {
        let mut edit = EditDistance::default();
        for (x, y, distance) in [
            ("", "", 0),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("intention", "execution", 5),
            ("你妈妈喊你回家吃饭哦", "你妈妈叫你回家吃饭啦", 2),
            ("aaaa", "aa", 2),
        ] {
            assert_eq!(edit.within(x, y, 99), Some(distance), "{x} {y}");
            assert_eq!(edit.within(y, x, distance), Some(distance), "{y} {x}");
            assert_eq!(distance.checked_sub(1).and_then(|less| edit.within(x, y, less)), None);
        }
    }

    #[test]
    fn strips_of_64_rows_meet() {
        for length in [63, 64, 65, 127, 128, 129, 200] {
            let text: String = ('a'..='z').cycle().take(length).collect();
            agrees(&text, &text[1..]);
            agrees(&format!("x{text}y"), &format!("{}{}", &text[..length / 2], &text[length / 2 + 3..]));
            agrees(&text, &"zyx".repeat(length / 2));
        }
    }

    proptest! {
        #[test]
        fn distances_are_those_of_the_definition(x in "[ab]{0,150}", y in "[abc汉]{0,150}") {
            agrees(&x, &y);
        }

        #[test]
        fn so_are_those_of_texts_that_are_alike(
            text in "[a-d]{100,300}",
            changes in prop::collection::vec((0usize..300, 0u8..3), 0..40),
        ) {
            let mut other: Vec<char> = text.chars().collect();
            for (at, change) in changes {
                let at = at % other.len();
                match change {
                    0 => other.insert(at, 'x'),
                    1 => { other.remove(at); }
                    _ => other[at] = 'y',
                }
            }
            agrees(&text, &other.into_iter().collect::<String>());
        }
    }
}
