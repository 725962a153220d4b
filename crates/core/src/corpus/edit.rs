//! What a copy does to the text it copies.

use super::model::Model;
use super::random::Random;
use super::words::Words;

/// A kind of edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edit {
    /// None: the same page at another address.
    Exact,
    /// New words between the words.
    Insert,
    /// Words left out.
    Delete,
    /// Words replaced by as many new ones.
    Replace,
    /// A passage moved to another place.
    Move,
    /// The whole text within a longer one.
    Contain,
    /// The same text in the template of another site.
    Boilerplate,
}

impl Edit {
    /// All of them.
    pub const ALL: [Edit; 7] = [
        Edit::Exact,
        Edit::Insert,
        Edit::Delete,
        Edit::Replace,
        Edit::Move,
        Edit::Contain,
        Edit::Boilerplate,
    ];

    /// As it stands in the truth.
    pub fn name(self) -> &'static str {
        match self {
            Edit::Exact => "exact",
            Edit::Insert => "insert",
            Edit::Delete => "delete",
            Edit::Replace => "replace",
            Edit::Move => "move",
            Edit::Contain => "contain",
            Edit::Boilerplate => "boilerplate",
        }
    }

    /// The edit of a copy, all but none alike often.
    pub fn draw(random: &mut Random, exact: f64) -> Self {
        if random.chance(exact) { Edit::Exact } else { Self::ALL[1 + random.below(6) as usize] }
    }

    /// Writes the copy of `from` to `to`, and gives the number of words that were inserted, left out, replaced or
    /// moved. `lexicon` is where new words come from.
    pub fn apply(
        self,
        from: &Words,
        to: &mut Words,
        model: &Model,
        random: &mut Random,
        lexicon: u64,
    ) -> usize {
        to.clear();
        let words = from.len();
        let edited = size(words, random);
        match self {
            Edit::Exact | Edit::Boilerplate => {
                to.extend(from, 0..words);
                0
            }
            Edit::Insert | Edit::Delete | Edit::Replace => {
                let mut places = Random::of(random.bits(), 0, 0);
                self.runs(from, to, edited, &mut places, |to, count| {
                    to.walk_words(model, random, lexicon, count);
                });
                edited
            }
            Edit::Move => {
                // A passage and the words that it passes: the fewer of the two have moved.
                let first = random.below((words - edited) as u32 + 1) as usize;
                let place = random.below((words - edited) as u32 + 1) as usize;
                let last = first + edited;
                let (low, high) = (first.min(place), last.max(place + edited));
                to.extend(from, 0..low);
                if place >= first {
                    to.extend(from, last..high);
                    to.extend(from, first..last);
                } else {
                    to.extend(from, first..last);
                    to.extend(from, low..first);
                }
                to.extend(from, high..words);
                edited.min(high - low - edited)
            }
            Edit::Contain => {
                let before = random.below(edited as u32 + 1) as usize;
                to.walk_words(model, random, lexicon, before);
                to.extend(from, 0..words);
                to.walk_words(model, random, lexicon, edited - before);
                edited
            }
        }
    }

    /// Edits so many words in runs of 1 to 16, spread evenly; at each, new words are put in, or old ones are passed
    /// over, or both.
    fn runs(
        self,
        from: &Words,
        to: &mut Words,
        edited: usize,
        random: &mut Random,
        mut put: impl FnMut(&mut Words, usize),
    ) {
        let run = 1 << random.below(5);
        let runs = edited.div_ceil(run);
        let consumes = self != Edit::Insert;
        let kept = from.len() - if consumes { edited } else { 0 };
        let (mut at, mut left) = (0, edited);
        for number in 0..runs {
            // The share of the kept words that stand before this run, somewhere within its part.
            let part = |number: usize| kept * number / runs;
            let room = (part(number + 1) - part(number)) as u32;
            let end = part(number) + random.below(room + 1) as usize;
            let done = if consumes { edited - left } else { 0 };
            to.extend(from, at..end + done);
            let count = run.min(left);
            if self != Edit::Delete {
                put(to, count);
            }
            at = end + done + if consumes { count } else { 0 };
            left -= count;
        }
        to.extend(from, at..from.len());
    }
}

/// How many of so many words an edit touches: one at least, half at most, each order of magnitude between 1/256 and
/// 1/2 alike often.
fn size(words: usize, random: &mut Random) -> usize {
    let halvings = 1 + random.below(7);
    let most = words >> halvings;
    let least = words >> (halvings + 1);
    (least + random.below((most - least) as u32 + 1) as usize).max(1).min(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::model::Builder;
    use proptest::prelude::*;

    /// New words are x, y and z.
    fn model() -> Model {
        let mut builder = Builder::default();
        builder.text("x y z y x z y z x x z z y y x x y");
        builder.model().unwrap()
    }

    /// Words that are all different, none of them the model's, and too short to stand for new ones.
    fn text(words: usize) -> Words {
        let mut builder = Builder::default();
        builder.text(&(0..words).map(|n| format!("w{n:02x} ")).collect::<String>());
        let mut text = Words::default();
        text.walk_words(&builder.model().unwrap(), &mut Random::of(0, 0, 0), 0, words);
        text
    }

    fn words(text: &Words) -> Vec<String> {
        (0..text.len()).map(|at| String::from_utf8_lossy(text.word(at)).trim().replace("\\n", "")).collect()
    }

    fn old(words: &[String]) -> Vec<String> {
        words.iter().filter(|word| word.starts_with('w')).cloned().collect()
    }

    /// The fewest words that must move to make one order of them into another: all but the longest ascending sequence.
    fn moved(from: &[String], to: &[String]) -> usize {
        let places: Vec<usize> = to.iter().map(|word| from.iter().position(|w| w == word).unwrap()).collect();
        let mut ends: Vec<usize> = Vec::new();
        for place in places {
            let at = ends.partition_point(|end| *end < place);
            ends.truncate(ends.len().max(at));
            if at == ends.len() { ends.push(place) } else { ends[at] = place }
        }
        from.len() - ends.len()
    }

    proptest! {
        #[test]
        fn every_edit_does_what_it_says(count in 1..=256_usize, seed in any::<u64>()) {
            let (model, from) = (model(), text(count));
            let before = words(&from);
            let sorted = |words: &[String]| { let mut words = words.to_vec(); words.sort(); words };
            for edit in Edit::ALL {
                let mut to = Words::default();
                let edited = edit.apply(&from, &mut to, &model, &mut Random::of(seed, 0, 0), 0);
                let after = words(&to);
                let kept = old(&after);
                match edit {
                    Edit::Exact | Edit::Boilerplate => prop_assert_eq!((edited, &after), (0, &before)),
                    Edit::Insert | Edit::Contain => {
                        prop_assert_eq!(&kept, &before);
                        prop_assert_eq!(after.len(), before.len() + edited);
                        let first = after.iter().position(|word| *word == before[0]).unwrap();
                        let whole = after[first..].starts_with(&before);
                        prop_assert!(edit == Edit::Insert || whole, "{:?}", after);
                    }
                    Edit::Delete => {
                        prop_assert_eq!(after.len() + edited, before.len());
                        prop_assert_eq!(moved(&kept, &kept), 0);
                        prop_assert!(kept.iter().all(|word| before.contains(word)));
                        prop_assert!(sorted(&kept).windows(2).all(|two| two[0] != two[1]));
                    }
                    Edit::Replace => {
                        prop_assert_eq!(after.len(), before.len());
                        let other = before.iter().zip(&after).filter(|(x, y)| x != y).count();
                        prop_assert_eq!(other, edited);
                    }
                    Edit::Move => {
                        prop_assert_eq!(sorted(&after), sorted(&before));
                        prop_assert_eq!(moved(&before, &after), edited);
                    }
                }
                if !matches!(edit, Edit::Exact | Edit::Boilerplate | Edit::Move) {
                    prop_assert!(edited >= 1 && edited <= (count / 2).max(1), "{} of {}", edited, count);
                }
            }
        }
    }

    #[test]
    fn edits_are_of_all_sizes() {
        let sizes: Vec<usize> = (0..10_000).map(|n| size(1000, &mut Random::of(n, 0, 0))).collect();
        for (least, most) in [(3, 7), (8, 15), (16, 31), (32, 62), (63, 125), (126, 250), (251, 500)] {
            let share = sizes.iter().filter(|size| (least..=most).contains(*size)).count();
            assert!((1200..1700).contains(&share), "{least} to {most}: {share} of 10000");
        }
    }
}
