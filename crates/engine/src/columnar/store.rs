//! The sets of a run: in memory when they fit, else in a file that is read where it is needed.

use crate::memory::Budget;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use twinsplit_core::join::kernel::{Source, WORD_BYTES, classes_pay, words_of};
use twinsplit_core::join::sets::Sets;
use twinsplit_core::similarity::Similarity;
use twinsplit_io::error::{Error, Result};

/// Bytes that are read at a time, where more follows.
const PIECE: usize = 256 << 10;

/// Bytes of sets that a thread of a join reads and holds at once, but for a set that is larger.
const AT_ONCE: usize = 1 << 20;

/// Sets in the order of a join, numbered from 0.
pub struct Store {
    form: Form,
    /// One more than the largest token.
    tokens: u32,
    /// Stored tokens of all sets, and the words that they take.
    stored: u64,
    words: u64,
}

enum Form {
    Memory(Sets),
    Disk(Disk),
}

struct Disk {
    file: File,
    folder: PathBuf,
    /// Where each set starts in the file, in tokens, and at the end where the last one ends.
    offsets: Vec<u64>,
    /// With singleton tokens.
    sizes: Vec<u32>,
}

/// Some sets on their way to a store, which may be made while others are.
#[derive(Default)]
pub struct StorePart {
    sets: Sets,
    tokens: u32,
    words: u64,
}

impl StorePart {
    /// Appends a set of these tokens and so many singleton ones.
    pub fn push(&mut self, tokens: &[u32], singleton: usize) {
        self.tokens = self.tokens.max(tokens.last().map_or(0, |last| last + 1));
        self.words += words_of(tokens) as u64;
        self.sets.push_with_singletons(tokens, singleton);
    }

    /// Makes room for so many tokens.
    pub fn reserve(&mut self, tokens: usize) {
        self.sets.reserve(0, tokens);
    }

    /// Takes all sets out; the room for them stays.
    pub fn clear(&mut self) {
        self.sets.clear();
        (self.tokens, self.words) = (0, 0);
    }
}

/// Takes the sets part by part.
pub struct StoreWriter {
    store: Store,
    buffer: Option<BufWriter<File>>,
}

impl StoreWriter {
    /// Room for so many sets and tokens at most: in memory if that takes no more than half of what is to spare.
    pub fn new(budget: &Budget, folder: &Path, sets: usize, tokens: u64) -> Result<Self> {
        let bytes = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(4);
        // What each set takes besides is part of what is kept for each document.
        if bytes <= budget.spare() / 2 {
            budget.hold(bytes);
            let sets = Sets::with_capacity(sets, tokens as usize);
            return Ok(Self { store: Store::of(Form::Memory(sets)), buffer: None });
        }
        let file = tempfile::tempfile_in(folder).map_err(Error::io("make a file in", folder))?;
        let writer = file.try_clone().map_err(Error::io("open again a file in", folder))?;
        let mut offsets = Vec::with_capacity(sets + 1);
        offsets.push(0);
        let disk = Disk { file, folder: folder.to_owned(), offsets, sizes: Vec::with_capacity(sets) };
        let store = Store::of(Form::Disk(disk));
        Ok(Self { store, buffer: Some(BufWriter::with_capacity(PIECE, writer)) })
    }

    /// Appends the sets of a part.
    pub fn append(&mut self, part: &StorePart) -> Result<()> {
        let sets = &part.sets;
        self.store.tokens = self.store.tokens.max(part.tokens);
        self.store.stored += sets.tokens().len() as u64;
        self.store.words += part.words;
        match (&mut self.store.form, &mut self.buffer) {
            (Form::Disk(disk), Some(buffer)) => {
                let mut bytes = [0; 1 << 10];
                for tokens in sets.tokens().chunks(bytes.len() / 4) {
                    let bytes = &mut bytes[..tokens.len() * 4];
                    let places = bytes.chunks_exact_mut(4);
                    places.zip(tokens).for_each(|(place, token)| place.copy_from_slice(&token.to_le_bytes()));
                    buffer.write_all(bytes).map_err(Error::io("write to a file in", &disk.folder))?;
                }
                for set in 0..sets.len() {
                    let start = disk.offsets.last().copied().unwrap_or(0);
                    disk.offsets.push(start + sets.stored(set) as u64);
                    disk.sizes.push(sets.size(set) as u32);
                }
            }
            (Form::Memory(all), _) => all.append(sets),
            (Form::Disk(_), None) => {}
        }
        Ok(())
    }

    /// The store, complete.
    pub fn finish(self) -> Result<Store> {
        if let (Form::Disk(disk), Some(mut buffer)) = (&self.store.form, self.buffer) {
            buffer.flush().map_err(Error::io("write to a file in", &disk.folder))?;
        }
        Ok(self.store)
    }
}

impl Store {
    fn of(form: Form) -> Self {
        Store { form, tokens: 0, stored: 0, words: 0 }
    }

    /// Numbers tokens that stand in the same sets [one after the other](Sets::group_tokens), where a self-join with this similarity gains from it, the sets
    /// are in memory, and there is room to find such tokens.
    pub fn group_tokens(&mut self, similarity: Similarity, threads: usize, budget: &Budget) {
        let Form::Memory(sets) = &mut self.form else { return };
        let (needs, stays) = Sets::bytes_to_group(threads);
        let (needs, stays) = (needs * self.tokens as usize, stays * self.tokens as usize);
        if !classes_pay(sets, similarity) || !budget.try_hold(needs + stays) {
            return;
        }
        if !sets.group_tokens(threads) {
            return budget.release(needs + stays);
        }
        self.words = (0..sets.len()).map(|set| words_of(sets.get(set)) as u64).sum();
        budget.release(needs);
    }

    /// Bytes of the sets as words for each stored token, rounded up.
    pub fn word_bytes(&self) -> usize {
        (self.words * WORD_BYTES).div_ceil(self.stored.max(1)) as usize
    }

    /// The sets, if they are in memory.
    pub fn in_memory(&self) -> Option<&Sets> {
        match &self.form {
            Form::Memory(sets) => Some(sets),
            Form::Disk(_) => None,
        }
    }

    /// The number of different tokens, at most.
    pub fn tokens(&self) -> usize {
        self.tokens as usize
    }

    /// How many of so many threads may each hold so many sets beside what is held.
    pub fn readers(&self, sets: usize, held: usize, threads: usize, budget: &Budget) -> usize {
        match &self.form {
            Form::Memory(_) => threads,
            Form::Disk(disk) => {
                let largest =
                    disk.offsets.windows(2).map(|two| two[1] - two[0]).max().unwrap_or(0) as usize * 4;
                let room = budget.spare().saturating_sub(held);
                // What a thread reads at once is part of what it has for itself.
                if largest <= AT_ONCE { threads } else { (room / (sets * largest)).clamp(1, threads) }
            }
        }
    }

    /// The number of stored tokens of a set: those that are no singletons.
    pub fn stored(&self, set: usize) -> usize {
        match &self.form {
            Form::Memory(sets) => sets.get(set).len(),
            Form::Disk(disk) => (disk.offsets[set + 1] - disk.offsets[set]) as usize,
        }
    }

    /// Bytes of its file.
    pub fn spilled(&self) -> u64 {
        match &self.form {
            Form::Memory(_) => 0,
            Form::Disk(disk) => 4 * disk.offsets.last().copied().unwrap_or(0),
        }
    }

    /// The tokens of a set, perhaps read into `buffer`.
    pub fn get<'s>(&'s self, set: usize, buffer: &'s mut Sets) -> Result<&'s [u32]> {
        let (sets, base) = self.load(set..set + 1, buffer)?;
        Ok(sets.get(set - base))
    }
}

impl Disk {
    fn read(&self, range: Range<usize>, buffer: &mut Sets) -> Result<()> {
        buffer.clear();
        buffer.reserve(range.len(), (self.offsets[range.end] - self.offsets[range.start]) as usize);
        let (mut set, mut next, end) = (range.start, self.offsets[range.start], self.offsets[range.end]);
        let mut bytes = Vec::new();
        while set < range.end {
            bytes.resize((end - next).min((PIECE / 4) as u64) as usize * 4, 0);
            let failed = || Error::io("read the sets in a file in", &self.folder);
            self.file.read_exact_at(&mut bytes, next * 4).map_err(failed())?;
            let mut rest = bytes.as_slice();
            // A set may begin in the piece before and end in one that follows.
            while set < range.end {
                let own = (self.offsets[set + 1] - next).min(rest.len() as u64 / 4);
                let (tokens, others) = rest.split_at(own as usize * 4);
                buffer.extend(
                    tokens.chunks_exact(4).map(|token| token.try_into().map_or(0, u32::from_le_bytes)),
                );
                (rest, next) = (others, next + own);
                if next < self.offsets[set + 1] {
                    break;
                }
                let stored = (self.offsets[set + 1] - self.offsets[set]) as usize;
                buffer.end_set(self.sizes[set] as usize - stored);
                set += 1;
            }
        }
        Ok(())
    }
}

impl Source for Store {
    type Error = Error;

    fn at_once(&self, range: Range<usize>) -> usize {
        match &self.form {
            Form::Memory(_) => range.end,
            Form::Disk(disk) => {
                let most = disk.offsets[range.start] + (AT_ONCE / 4) as u64;
                let fit = disk.offsets[range.start + 1..=range.end].partition_point(|end| *end <= most);
                range.start + fit.max(1)
            }
        }
    }

    fn sets(&self) -> usize {
        match &self.form {
            Form::Memory(sets) => sets.len(),
            Form::Disk(disk) => disk.sizes.len(),
        }
    }

    fn size_of(&self, set: usize) -> usize {
        match &self.form {
            Form::Memory(sets) => sets.size(set),
            Form::Disk(disk) => disk.sizes[set] as usize,
        }
    }

    fn load<'s>(&'s self, range: Range<usize>, buffer: &'s mut Sets) -> Result<(&'s Sets, usize)> {
        match &self.form {
            Form::Memory(sets) => Ok((sets, 0)),
            Form::Disk(disk) => {
                disk.read(range.clone(), buffer)?;
                Ok((buffer, range.start))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{PROGRAM, THREAD};
    use proptest::prelude::*;
    use twinsplit_core::similarity::Measure;

    proptest! {
        /// A file gives back the sets that memory does.
        #[test]
        fn a_file_holds_what_memory_holds(
            mut sets in prop::collection::vec((prop::collection::btree_set(0..u32::MAX, 0..60), 0usize..5), 1..60),
            from in 0usize..60, more in 0usize..60, at_once in 1usize..9,
        ) {
            sets.sort_by_key(|(set, singleton)| set.len() + singleton);
            let tokens = sets.iter().map(|(set, _)| set.len() as u64).sum();
            let folder = tempfile::tempdir().unwrap();
            let store = |budget: Budget| {
                let mut writer = StoreWriter::new(&budget, folder.path(), sets.len(), tokens).unwrap();
                let mut part = StorePart::default();
                for sets in sets.chunks(at_once) {
                    for (set, singleton) in sets {
                        part.push(&set.iter().copied().collect::<Vec<_>>(), *singleton);
                    }
                    writer.append(&part).unwrap();
                    part.clear();
                }
                writer.finish().unwrap()
            };
            let memory = store(Budget::new(1 << 30, 1).unwrap());
            let disk = store(Budget::new(PROGRAM + THREAD + 1, 1).unwrap());
            prop_assert!(memory.in_memory().is_some());
            prop_assert_eq!(disk.in_memory().is_none(), tokens > 0);
            prop_assert_eq!(memory.sets(), disk.sets());
            let range = from % sets.len()..(from % sets.len() + 1 + more).min(sets.len());
            let (mut buffer, mut one) = (Sets::default(), Sets::default());
            let (read, base) = disk.load(range.clone(), &mut buffer).unwrap();
            for set in range {
                let expected: Vec<u32> = sets[set].0.iter().copied().collect();
                prop_assert_eq!(read.get(set - base), &expected[..]);
                prop_assert_eq!(read.singleton(set - base), sets[set].1);
                prop_assert_eq!(disk.get(set, &mut one).unwrap(), &expected[..]);
                prop_assert!(sets[set].0.iter().all(|token| (*token as usize) < disk.tokens()));
                prop_assert_eq!((disk.size_of(set), disk.stored(set)), (memory.size_of(set), memory.stored(set)));
            }
        }
    }

    /// Tokens of the same sets are grouped in memory, where they are many, a join gains from it and there is room; the budget keeps what stays.
    #[test]
    fn tokens_are_grouped_where_that_pays() {
        let folder = tempfile::tempdir().unwrap();
        let store = |budget: &Budget, tau: &str| {
            let mut writer = StoreWriter::new(budget, folder.path(), 20, 20 * 80).unwrap();
            let mut part = StorePart::default();
            // Five kinds of sets, whose tokens are dealt out: those of a kind take two words once they are grouped.
            (0..20).for_each(|set| {
                let tokens: Vec<u32> = (0..80).map(|token| token * 5 + set % 5).collect();
                part.push(&tokens, 0);
            });
            writer.append(&part).unwrap();
            let mut store = writer.finish().unwrap();
            let held = budget.spare();
            store.group_tokens(Measure::Jaccard.reaching(tau).unwrap(), 2, budget);
            (store, held - budget.spare())
        };
        let words = |store: &Store| store.words;
        let roomy = || Budget::new(1 << 30, 1).unwrap();
        let (grouped, held) = store(&roomy(), "0.5");
        assert!(!grouped.in_memory().unwrap().classes().is_empty());
        assert_eq!(
            (held, grouped.word_bytes()),
            (400, (words(&grouped) * WORD_BYTES).div_ceil(1600) as usize)
        );
        let (high, held) = store(&roomy(), "0.95");
        assert!(high.in_memory().unwrap().classes().is_empty() && held == 0);
        assert!(words(&high) > 3 * words(&grouped), "{} and {} words", words(&high), words(&grouped));
        // Room for the sets, and not for finding their classes.
        let (tight, held) = store(&Budget::new(PROGRAM + THREAD + 20_000, 1).unwrap(), "0.5");
        assert!(tight.in_memory().unwrap().classes().is_empty() && held == 0);
    }
}
