//! Finding the spots of a text.

use rustc_hash::FxHashMap;

use super::SpotSigs;
use crate::text::folding::fold;
use crate::text::han::is_han;
use crate::text::normalise::Normaliser;
use crate::text::segment::Words;

/// What the settings say of a word.
#[derive(Debug, Default)]
struct Role {
    distances: Vec<usize>,
    stop: bool,
}

/// How many words are looked back at for an open chain: with more stop words than that there may be one.
const FAR: usize = 256;

/// SpotSigs settings made ready for look-up.
#[derive(Debug)]
pub(crate) struct Spotter {
    roles: Roles,
    chain: usize,
    /// So many words that are no stop words complete every chain that begins before them.
    reach: usize,
    /// Whether a word of Han characters is an antecedent.
    han: bool,
    spot: Vec<u8>,
}

/// By word. Most words that ask are short, and are numbers then.
#[derive(Debug, Default)]
struct Roles {
    short: FxHashMap<u64, Role>,
    long: FxHashMap<Vec<u8>, Role>,
    /// For each first byte, a bit for each length in bytes that an antecedent has (63 for 63 and more). Most
    /// words are neither antecedents nor like one, and are dismissed without hashing.
    antecedents: Box<Likely>,
    /// The same of stop words.
    stops: Box<Likely>,
}

#[derive(Debug)]
struct Likely([u64; 256]);

impl Default for Likely {
    fn default() -> Self {
        Likely([0; 256])
    }
}

impl Likely {
    fn add(&mut self, word: &[u8]) {
        if let Some(&first) = word.first() {
            self.0[usize::from(first)] |= 1 << word.len().min(63);
        }
    }

    #[inline]
    fn has(&self, word: &[u8]) -> bool {
        word.first().is_some_and(|&first| self.0[usize::from(first)] >> word.len().min(63) & 1 == 1)
    }
}

impl Roles {
    fn entry(&mut self, word: &str) -> &mut Role {
        let mut number = [0; 8];
        match number.get_mut(..word.len()) {
            Some(bytes) => {
                bytes.copy_from_slice(word.as_bytes());
                self.short.entry(u64::from_le_bytes(number)).or_default()
            }
            None => self.long.entry(word.into()).or_default(),
        }
    }

    #[inline]
    fn get(&self, words: &Words, word: usize) -> Option<&Role> {
        match words.number(word) {
            Some(number) => self.short.get(&number),
            None => self.long.get(words.text(word, word)),
        }
    }

    /// How far from a word its chain's words are; nothing when it is no antecedent.
    #[inline]
    fn distances(&self, words: &Words, word: usize) -> &[usize] {
        if !self.antecedents.has(words.text(word, word)) {
            return &[];
        }
        self.get(words, word).map_or(&[], |role| &role.distances)
    }

    #[inline]
    fn is_stop(&self, words: &Words, word: usize) -> bool {
        self.stops.has(words.text(word, word)) && self.get(words, word).is_some_and(|role| role.stop)
    }
}

impl Spotter {
    /// Antecedents and stop words are brought to the canonical form in which words will come.
    pub fn new(settings: &SpotSigs, normaliser: Normaliser) -> Self {
        let normalised = |word: &str| {
            let mut out = String::new();
            normaliser.push(&fold(word, normaliser), &mut out);
            out
        };
        let mut roles = Roles::default();
        let (mut farthest, mut han) = (1, false);
        for antecedent in &settings.antecedents {
            let word = normalised(&antecedent.word);
            roles.antecedents.add(word.as_bytes());
            let distances = &mut roles.entry(&word).distances;
            let distance = antecedent.distance.max(1) as usize;
            if !distances.contains(&distance) {
                distances.push(distance);
            }
            farthest = farthest.max(distance);
            han |= word.chars().any(is_han);
        }
        for word in &settings.stop_words {
            let word = normalised(word);
            roles.stops.add(word.as_bytes());
            roles.entry(&word).stop = true;
        }
        let chain = settings.chain.max(1) as usize;
        Spotter { roles, chain, reach: chain * farthest, han, spot: Vec::new() }
    }

    /// Whether words of Han characters that follow the words so far may be in a spot. If not, there is no need to
    /// look them up in a dictionary: in Chinese texts that is nearly all of them, for English antecedents.
    ///
    /// Each link of a chain passes over less than its distance of words that are no stop words, and takes the next.
    pub fn is_open(&self, words: &Words) -> bool {
        if self.han {
            return true;
        }
        let mut content = 0;
        for word in (0..words.len()).rev().take(FAR) {
            if !self.roles.distances(words, word).is_empty() {
                return true;
            }
            content += usize::from(!self.roles.is_stop(words, word));
            if content == self.reach {
                return false;
            }
        }
        words.len() > FAR
    }

    /// Shows every spot in text order: its text, and its first and last word's numbers.
    pub fn each(&mut self, words: &Words, visit: impl FnMut(&[u8], usize, usize)) {
        self.each_from(words, 0, true, visit);
    }

    /// The same of spots that begin at word `from` and behind it. When more words are to follow (`!complete`), it ends
    /// before the first word that has a spot which may need them, and gives that word; spots of it may be shown again.
    pub fn each_from(
        &mut self,
        words: &Words,
        from: usize,
        complete: bool,
        mut visit: impl FnMut(&[u8], usize, usize),
    ) -> usize {
        let Self { roles, chain, spot, .. } = self;
        for first in from..words.len() {
            for &distance in roles.distances(words, first) {
                spot.clear();
                spot.extend_from_slice(words.text(first, first));
                let mut last = first;
                for _ in 0..*chain {
                    let Some(next) = (last + distance..words.len()).find(|&i| !roles.is_stop(words, i))
                    else {
                        if !complete {
                            return first;
                        }
                        break;
                    };
                    spot.push(b':');
                    spot.extend_from_slice(words.text(next, next));
                    last = next;
                }
                if last > first {
                    visit(spot, first, last);
                }
            }
        }
        words.len()
    }

    /// Of so many words, of which those before `done` have been seen, how many are not needed for what follows.
    pub fn needless(words: usize, done: usize) -> usize {
        // One more than is looked back at says that there were so many.
        done.min(words.saturating_sub(FAR + 1))
    }
}
