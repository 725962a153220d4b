//! All pairs of fingerprints within a distance: the self-join.
//!
//! **Idea.** Two fingerprints that differ in at most K bits are equal in one of K + 1 blocks of bits at least (manku2007, section 3). So for
//! each block the fingerprints are brought into groups by their bits there, and what is compared is in one group. A group whose
//! members are all equal in a block has only the other bits left to differ in: these are cut into K + 1 blocks again, until a group is so
//! small that comparing all its pairs costs less, or so few bits are left that most pairs would be equal in one of the blocks.
//!
//! **Each pair once.** A pair may be equal in several blocks. It counts in the first one, at each level: where it is met, the
//! blocks before must differ and this one must not. Groups are made by a hash of the bits, so that other fingerprints may
//! come in between; that test leaves them out too. A group in which nothing differs in a block that must differ holds no pair, and
//! is left at once: so many fingerprints that are alike cost no more than the pairs among them.
//!
//! **Components** need not each pair: where these are asked for, what is connected already is passed over ([`connect`](mod@super::connect)).

use super::bits::{Fingerprint, blocks};
use super::collapse::Collapsed;
use super::connect::Forest;
use super::ordered::{Ordered, Task};
use super::parts::{Entry, Parts, part_bits};
use super::rows::Rows;
use super::temporary::Pages;
use super::values::Values;
use std::sync::atomic::{AtomicU64, Ordering};
use twinsplit_core::processor::{self, Instructions, Work};
use twinsplit_core::threads::each;
use twinsplit_io::error::{Error, Result};

/// How a join is done.
#[derive(Clone, Copy, Debug)]
pub struct JoinOptions {
    /// The most bits in which the fingerprints of a pair differ.
    pub distance: u32,
    /// Threads; the answer is the same for any number.
    pub threads: usize,
    /// Bytes for what is brought into groups at one time, besides 12 bytes for each fingerprint of 64 bits, 20 for one of 128.
    pub memory: usize,
}

/// A group of so many is compared pair by pair, for each block of a level.
pub(super) const SMALL: usize = 24;

/// Calls `visit` with each two rows whose fingerprints differ in at most `distance` bits, and with the distance: `visit(a, b, distance)`,
/// a < b. The order of the calls depends on the fingerprints alone; they come one at a time.
///
/// ```
/// use twinsplit_hamming::{JoinOptions, join};
/// let fingerprints: [u64; 4] = [0b0000, 0b0111, 0xff00, 0b0000];
/// let mut pairs = Vec::new();
/// let options = JoinOptions { distance: 3, threads: 1, memory: 1 << 20 };
/// join(&fingerprints, options, |a, b, distance| {
///     pairs.push((a, b, distance));
///     Ok(())
/// })?;
/// pairs.sort_unstable();
/// assert_eq!(pairs, [(0, 1, 3), (0, 3, 0), (1, 3, 3)]);
/// # Ok::<(), twinsplit_io::error::Error>(())
/// ```
///
/// # Errors
/// The first error of `visit`, after which nothing more is visited; a distance of half the bits or more; 2^31 - 1 fingerprints and more.
pub fn join<F: Fingerprint>(
    fingerprints: &[F],
    options: JoinOptions,
    visit: impl FnMut(u32, u32, u32) -> Result<()> + Send,
) -> Result<()> {
    compare(fingerprints, options, visit).map(drop)
}

/// As [`join()`]; gives how many fingerprints were compared.
pub fn compare<F: Fingerprint>(
    fingerprints: &[F],
    options: JoinOptions,
    visit: impl FnMut(u32, u32, u32) -> Result<()> + Send,
) -> Result<u64> {
    check_distance::<F>(options.distance)?;
    let Collapsed { values, rows } = Collapsed::of(fingerprints, options.threads, options.memory)?;
    join_collapsed(Values::Memory(&values), &rows, options, visit)
}

/// Refuses a distance of a join at which the blocks of a fingerprint tell it from nothing.
///
/// # Errors
/// A distance of half the bits or more.
pub fn check_distance<F: Fingerprint>(distance: u32) -> Result<()> {
    if distance < F::BITS / 2 {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "distance {distance}: it must be less than half of the {} bits of a fingerprint",
        F::BITS
    )))
}

/// The same for distinct fingerprints and their rows. Gives how many fingerprints were compared.
pub(super) fn join_collapsed<F: Fingerprint>(
    values: Values<'_, F>,
    rows: &Rows,
    options: JoinOptions,
    mut visit: impl FnMut(u32, u32, u32) -> Result<()> + Send,
) -> Result<u64> {
    let mut pages = Pages::within(options.memory);
    for equal in rows.groups() {
        pages.looked_at(2, || rows.forget());
        let mut rest = equal;
        while let Some(a) = rest.next() {
            rest.clone().try_for_each(|b| visit(a, b, 0))?;
        }
    }
    join_distinct(values, options, None, |x, y, distance| {
        pages.looked_at(6, || rows.forget());
        rows.of(x).try_for_each(|a| rows.of(y).try_for_each(|b| visit(a.min(b), a.max(b), distance)))
    })
}

/// The same for fingerprints that are all different, by their numbers. With the greatest distance of a pair that each is in, pairs are
/// enough that connect all of those which are within the distances of both.
pub(super) fn join_distinct<F: Fingerprint>(
    values: Values<'_, F>,
    options: JoinOptions,
    connected_within: Option<&(dyn Fn(u32) -> u32 + Sync)>,
    mut visit: impl FnMut(u32, u32, u32) -> Result<()> + Send,
) -> Result<u64> {
    if options.distance == 0 {
        return Ok(0);
    }
    let compared = AtomicU64::new(0);
    let bits = part_bits(values.len());
    let masks = blocks(!F::default(), options.distance + 1);
    let mut room = Vec::new();
    for block in 0..masks.len() {
        let ordered = Ordered::new(options.memory, |(x, y, distance)| visit(x, y, distance));
        let part = |value: F| ((value & masks[block]).mixed() >> 1 >> (63 - bits)) as usize;
        let place = |value: F, at| (part(value), Entry { value, at });
        let JoinOptions { threads, memory, .. } = options;
        let parts = Parts { values, parts: 1 << bits, place, threads, memory, times: 1 };
        let joined = parts.each(&parts.sizes()?, &mut room, |first, parts| {
            let numbered: Vec<_> = (first..).zip(parts).collect();
            each(numbered, options.threads, |(number, entries)| {
                let forest = connected_within.map(|most| Forest::of(entries, most));
                let mut groups = Groups {
                    distance: options.distance,
                    forest,
                    compared: 0,
                    differ: masks[..block].to_vec(),
                    equal: vec![masks[block]],
                    levels: Vec::new(),
                    task: ordered.task(number),
                };
                if !ordered.is_over() {
                    processor::run(
                        Instructions::Popcnt,
                        Part { groups: &mut groups, entries, mask: masks[block], bits },
                    );
                }
                compared.fetch_add(groups.compared, Ordering::Relaxed);
                groups.task.finish();
            });
            Ok(())
        });
        // What `visit` refused comes before what could not be read.
        ordered.end().and(joined)?;
    }
    Ok(compared.into_inner())
}

pub(super) type Found = (u32, u32, u32);

struct Part<'p, 'o, F, V: FnMut(Found) -> Result<()>> {
    groups: &'p mut Groups<'o, F, V>,
    entries: &'p mut [Entry<F>],
    mask: F,
    bits: u32,
}

impl<F: Fingerprint, V: FnMut(Found) -> Result<()>> Work for Part<'_, '_, F, V> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        self.groups.group(self.entries, self.mask, self.bits, 0);
    }
}

/// The search for pairs in a part.
struct Groups<'o, F, V: FnMut(Found) -> Result<()>> {
    distance: u32,
    /// What is connected, where components are asked for.
    forest: Option<Forest<'o>>,
    /// How many fingerprints were compared.
    compared: u64,
    /// In each of these a pair must differ, or it is one of another group.
    differ: Vec<F>,
    /// In each of these it must not.
    equal: Vec<F>,
    /// Room for the groups of each level.
    levels: Vec<Level<F>>,
    task: Task<'o, Found, V>,
}

#[derive(Default)]
struct Level<F> {
    entries: Vec<Entry<F>>,
    ends: Vec<u32>,
}

impl<F: Fingerprint, V: FnMut(Found) -> Result<()>> Groups<'_, F, V> {
    /// Brings entries into groups by their bits of `mask`, and finds the pairs of each group. `skip` bits of the hash are the same
    /// in all.
    fn group(&mut self, entries: &mut [Entry<F>], mask: F, skip: u32, depth: usize) {
        if entries.len() <= SMALL {
            return self.compare(entries);
        }
        // About as many groups as entries, and not more than the block can tell apart by much.
        let bits = entries.len().ilog2().min(mask.ones()).clamp(1, 12);
        let key = |entry: &Entry<F>| ((entry.value & mask).mixed() << skip >> (64 - bits)) as usize;
        if self.levels.len() == depth {
            self.levels.push(Level { entries: Vec::new(), ends: Vec::new() });
        }
        let mut level =
            std::mem::replace(&mut self.levels[depth], Level { entries: Vec::new(), ends: Vec::new() });
        level.ends.clear();
        level.ends.resize((1 << bits) + 1, 0);
        if level.entries.len() < entries.len() {
            level.entries.resize(entries.len(), Entry::default());
        }
        for entry in entries.iter() {
            level.ends[key(entry) + 1] += 1;
        }
        let mut sum = 0;
        for end in &mut level.ends {
            sum += *end;
            *end = sum;
        }
        for entry in entries.iter() {
            let place = &mut level.ends[key(entry)];
            level.entries[*place as usize] = *entry;
            *place += 1;
        }
        let mut start = 0;
        for &end in &level.ends[..1 << bits] {
            let end = end as usize;
            if end - start > 1 {
                self.pairs(&mut level.entries[start..end], depth + 1);
            }
            start = end;
        }
        self.levels[depth] = level;
    }

    /// Finds the pairs of a group.
    fn pairs(&mut self, entries: &mut [Entry<F>], depth: usize) {
        if entries.len() <= SMALL {
            return self.compare(entries);
        }
        let first = entries[0].value;
        let varied = entries.iter().fold(F::default(), |bits, entry| bits | (entry.value ^ first));
        if self.differ.iter().any(|mask| *mask & varied == F::default()) {
            return;
        }
        if self.is_connected(entries) {
            return;
        }
        let known = self.equal.iter().fold(F::default(), |bits, mask| bits | *mask);
        // Blocks of so few bits leave two fingerprints equal in one of them with a chance of a half and more.
        let count = self.distance + 1;
        if 1_u64 << ((!known).ones() / count).min(63) <= u64::from(2 * count) {
            return self.compare(entries);
        }
        let masks = blocks(!known, self.distance + 1);
        let outer = self.differ.len();
        for mask in masks {
            self.equal.push(mask);
            self.group(entries, mask, 0, depth);
            self.equal.pop();
            self.differ.push(mask);
        }
        self.differ.truncate(outer);
    }

    /// Whether all of a group are in one component already, or are now that each was held against the first one and the one before it.
    fn is_connected(&mut self, entries: &[Entry<F>]) -> bool {
        let Some(forest) = &mut self.forest else { return false };
        if forest.is_one(entries) {
            return true;
        }
        for (at, y) in entries.iter().enumerate().skip(1) {
            for x in [&entries[0], &entries[at - 1]] {
                if forest.are_apart(x, y) {
                    self.compared += 1;
                    let distance = x.value.distance(y.value);
                    let link = forest.link(x, y, distance, self.distance);
                    link.into_iter().for_each(|link| self.task.push(link));
                }
            }
        }
        forest.is_one(entries)
    }

    /// Compares each two; where components are asked for, as many as it takes.
    fn compare(&mut self, entries: &[Entry<F>]) {
        if let Some(forest) = &mut self.forest {
            self.compared += forest.connect(entries, self.distance, |link| self.task.push(link));
            return;
        }
        self.compared += (entries.len() * entries.len().saturating_sub(1) / 2) as u64;
        for (at, x) in entries.iter().enumerate() {
            for y in &entries[at + 1..] {
                let distance = x.value.distance(y.value);
                if distance <= self.distance {
                    self.found(x, y, distance);
                }
            }
        }
    }

    #[cold]
    fn found(&mut self, x: &Entry<F>, y: &Entry<F>, distance: u32) {
        let bits = x.value ^ y.value;
        let nothing = F::default();
        let is_first = self.differ.iter().all(|mask| *mask & bits != nothing);
        if is_first && self.equal.iter().all(|mask| *mask & bits == nothing) {
            self.task.push((x.at, y.at, distance));
        }
    }
}
