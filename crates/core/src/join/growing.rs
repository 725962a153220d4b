//! Sets that come and go one by one, each of which finds those that it is in the answer with.
//!
//! **Prefixes.** Each set stands in the posting lists of its probe prefix, the first of its features in a total order
//! (bayardo2007). Two sets in the answer share a feature of both prefixes, whatever the order is; the order decides how long the lists are. A
//! posting has the place of the feature and the size of its set, so that most contacts are passed over without a look at the sets
//! (xiao2008: the position filter).
//!
//! **The order.** Features that a sample of the sets holds twice and more come last, by how often it holds them; all others come before, by
//! their hash. When there are [`GROWS`] times as many sets as the order was made for, another sample is counted, and the sets move
//! from the lists of one order to those of the next. Each insertion does its share of that ([`SHARE`]), so no insertion waits for all of it;
//! a search looks into both meanwhile. Answers do not depend on where that stands.
//!
//! The features themselves stay with the caller, who hands out those of a number.

mod lists;

use self::lists::{Lists, Posting};
use super::order::Order;
use super::overlap_reaching;
use crate::similarity::containment::Containment;
use crate::similarity::{SetSimilarity, Similarity};
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;

/// How many times as many sets there are when the order is made anew.
const GROWS: usize = 4;
/// Sets for which it is made first; fewer are in the order of hashes.
const FIRST: usize = 512;
/// Sets that an insertion counts or moves, while the order changes.
const SHARE: usize = 8;
/// Sets of a sample.
const SAMPLE: usize = 8192;

/// Sets by number, each found by the sets that it is in the answer with.
///
/// ```
/// use std::ops::ControlFlow;
/// use twinsplit_core::join::growing::{GrowingIndex, Room};
/// use twinsplit_core::similarity::Measure;
///
/// let sets = [vec![1, 2, 3, 4], vec![2, 3, 4, 5], vec![9]];
/// let set = |number: u64| sets.get(number as usize).map(|set| &set[..]);
/// let mut index = GrowingIndex::new(Measure::Jaccard.reaching("0.6")?);
/// for (number, features) in (0..).zip(&sets) {
///     index.insert(number, features, set);
/// }
/// let (mut room, mut found) = (Room::default(), Vec::new());
/// index.search(&[2, 3, 4], set, &mut room, |number, overlap| {
///     found.push((number, overlap));
///     ControlFlow::Continue(())
/// });
/// assert_eq!(found, [(0, 3), (1, 3)]);
/// # Ok::<(), twinsplit_core::similarity::ThresholdError>(())
/// ```
#[derive(Debug)]
pub struct GrowingIndex {
    similarity: Similarity,
    /// By slot the sets that are there; those of a free slot are nothing.
    slots: Vec<Option<Slot>>,
    free: Vec<u32>,
    lists: Lists,
    /// The number of their order.
    order: u32,
    change: Change,
    /// Sets for which the order of `lists` was made.
    ordered: usize,
    first: usize,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    number: u64,
    size: u32,
    /// The order whose lists it stands in, by number.
    order: u32,
}

/// What an order that grows old is replaced by, some sets at a time.
#[derive(Debug)]
enum Change {
    None,
    /// Every so many slots the features of one are counted.
    Count {
        at: usize,
        stride: usize,
        counts: FxHashMap<u64, u32>,
    },
    /// Sets move from these lists.
    Move {
        at: usize,
        old: Lists,
    },
}

/// Room that searches share.
#[derive(Debug, Default)]
pub struct Room {
    keys: Vec<(u32, u64)>,
    candidates: Vec<u32>,
    numbers: Vec<(u64, u32)>,
    contacts: u64,
}

impl Room {
    /// How many postings of searches so far had a size that a pair can have.
    pub fn contacts(&self) -> u64 {
        self.contacts
    }
}

impl GrowingIndex {
    /// No sets.
    pub fn new(similarity: Similarity) -> Self {
        Self::ordered_from(similarity, FIRST)
    }

    fn ordered_from(similarity: Similarity, first: usize) -> Self {
        let lists = Lists::new(Order::default(), first);
        Self {
            similarity,
            slots: Vec::new(),
            free: Vec::new(),
            lists,
            order: 0,
            change: Change::None,
            ordered: first / GROWS,
            first,
        }
    }

    /// The sets of these numbers, of which `sets` has the features, as [`GrowingIndex::insert`] takes them.
    pub fn over<'s>(
        similarity: Similarity,
        numbers: Vec<u64>,
        sets: impl Fn(u64) -> Option<&'s [u64]>,
    ) -> Self {
        let mut index = Self::new(similarity);
        if numbers.len() >= GROWS * index.ordered {
            let mut counts = FxHashMap::default();
            for number in numbers.iter().step_by(numbers.len().div_ceil(SAMPLE)) {
                count(sets(*number).unwrap_or_default(), &mut counts);
            }
            index.ordered = numbers.len();
            index.lists = Lists::new(order_of(counts), GROWS * numbers.len());
        }
        for number in numbers {
            index.insert(number, sets(number).unwrap_or_default(), &sets);
        }
        index
    }

    /// How many sets there are that can be found.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that it takes, about, without the sets.
    pub fn memory(&self) -> u64 {
        let change = match &self.change {
            Change::None => 0,
            Change::Count { counts, .. } => 13 * counts.capacity() as u64,
            Change::Move { old, .. } => old.memory(),
        };
        (size_of::<Option<Slot>>() * self.slots.capacity() + 4 * self.free.capacity()) as u64
            + self.lists.memory()
            + change
    }

    /// Puts a set in, whose number is not there; 2^31 sets may be there. Its features are different from one another, and so many that an `u32`
    /// counts them. `sets` has those of all numbers that are there, and is asked for a few of them.
    pub fn insert<'s>(&mut self, number: u64, set: &[u64], sets: impl Fn(u64) -> Option<&'s [u64]>) {
        let length = self.indexed(set);
        if length == 0 {
            // It is too small for any pair.
            return;
        }
        let slot = Slot { number, size: set.len() as u32, order: self.order };
        let place = match self.free.pop() {
            Some(place) => {
                self.slots[place as usize] = Some(slot);
                place
            }
            None => {
                self.slots.push(Some(slot));
                (self.slots.len() - 1) as u32
            }
        };
        self.lists.insert(place, set, length);
        self.go_on(sets);
    }

    /// Takes the set of a number out; these are its features. Whether it could be found.
    pub fn remove(&mut self, number: u64, set: &[u64]) -> bool {
        let length = self.indexed(set);
        let is_it = |place: u32| self.slots[place as usize].is_some_and(|slot| slot.number == number);
        let mut lists = &mut self.lists;
        let mut place = lists.find(set, length, is_it);
        if let (None, Change::Move { old, .. }) = (place, &mut self.change) {
            lists = old;
            place = lists.find(set, length, is_it);
        }
        let Some(place) = place else { return false };
        lists.remove(place, set, length);
        self.slots[place as usize] = None;
        self.free.push(place);
        true
    }

    /// Calls `visit` with the number of each set that is in the answer together with this one, which is the query of a similarity that has
    /// one, and with what both share: by ascending number, until it breaks. `sets` has the sets of all numbers that are there; their
    /// features ascend, and so do those of `set`.
    pub fn search<'s>(
        &self,
        set: &[u64],
        sets: impl Fn(u64) -> Option<&'s [u64]>,
        room: &mut Room,
        mut visit: impl FnMut(u64, u64) -> ControlFlow<()>,
    ) {
        if set.is_empty() {
            return;
        }
        room.candidates.clear();
        self.collect(&self.lists, set, room);
        if let Change::Move { old, .. } = &self.change {
            self.collect(old, set, room);
        }
        let Room { candidates, numbers, .. } = room;
        candidates.sort_unstable();
        candidates.dedup();
        numbers.clear();
        let slots = candidates.iter().filter_map(|place| self.slots[*place as usize]);
        numbers.extend(slots.map(|slot| (slot.number, slot.size)));
        numbers.sort_unstable();
        for (number, size) in &*numbers {
            let Some(other) = sets(*number) else { continue };
            let needed = self.similarity.overlap_needed(set.len() as u64, (*size).into());
            if let Some(overlap) = overlap_reaching(set, other, needed)
                && visit(*number, overlap).is_break()
            {
                return;
            }
        }
    }

    /// Slots of sets that may be in the answer, some of them more than once.
    fn collect(&self, lists: &Lists, set: &[u64], room: &mut Room) {
        let Self { similarity, slots, .. } = self;
        let Room { keys, candidates, contacts, .. } = room;
        let size = set.len() as u64;
        let (least, most) = (similarity.min_partner(size), similarity.max_partner(size));
        lists.order().prefix(set, similarity.probe_prefix(size), keys);
        for (place, (_, feature)) in keys.iter().enumerate() {
            // How many features can be shared from here on.
            let left = size - place as u64;
            for posting in lists.get(*feature) {
                let posting = Posting::of(*posting);
                let other = match posting.size() {
                    Some(size) => size,
                    None => slots[posting.slot() as usize].map_or(0, |slot| slot.size.into()),
                };
                if other < least || other > most {
                    continue;
                }
                *contacts += 1;
                // A pair whose first common feature leaves too few is no candidate by any of the others.
                if left.min(other - posting.place()) >= similarity.overlap_needed(size, other) {
                    candidates.push(posting.slot());
                }
            }
        }
    }

    /// How many features of a set stand in lists.
    fn indexed(&self, set: &[u64]) -> u64 {
        // What is searched for may share its first feature with any of a document when all that counts is the query's size.
        let either = match self.similarity {
            Similarity::QueryContainment(of) => Similarity::Containment(Containment(of.0)),
            other => other,
        };
        either.probe_prefix(set.len() as u64)
    }

    /// Does the share of an insertion in a change of the order.
    fn go_on<'s>(&mut self, sets: impl Fn(u64) -> Option<&'s [u64]>) {
        if matches!(self.change, Change::None) && self.len() >= GROWS * self.ordered {
            let stride = self.slots.len().div_ceil(SAMPLE).max(1);
            self.change = Change::Count { at: 0, stride, counts: FxHashMap::default() };
        }
        for _ in 0..SHARE {
            self.step(&sets);
        }
    }

    fn step<'s>(&mut self, sets: &impl Fn(u64) -> Option<&'s [u64]>) {
        match &mut self.change {
            Change::None => {}
            Change::Count { at, stride, counts } => {
                let slot = self.slots.get(*at).copied();
                *at += *stride;
                match slot {
                    Some(slot) => {
                        let set = slot.and_then(|slot| sets(slot.number)).unwrap_or_default();
                        count(set, counts);
                    }
                    None => {
                        let order = order_of(std::mem::take(counts));
                        self.begin_move(order);
                    }
                }
            }
            Change::Move { at, .. } => {
                let place = *at;
                *at += 1;
                match self.slots.get(place).copied() {
                    Some(slot) => self.move_on(place as u32, slot, sets),
                    None => {
                        self.change = Change::None;
                        self.ordered = self.len().max(self.first / GROWS);
                    }
                }
            }
        }
    }

    fn begin_move(&mut self, order: Order) {
        // As many as there will be when the next order is made.
        let lists = Lists::new(order, GROWS * self.len());
        let old = std::mem::replace(&mut self.lists, lists);
        self.order = self.order.wrapping_add(1);
        self.change = Change::Move { at: 0, old };
    }

    fn move_on<'s>(&mut self, place: u32, slot: Option<Slot>, sets: &impl Fn(u64) -> Option<&'s [u64]>) {
        let Some(slot) = slot.filter(|slot| slot.order != self.order) else { return };
        let Some(set) = sets(slot.number) else { return };
        let length = self.indexed(set);
        if let Change::Move { old, .. } = &mut self.change {
            old.remove(place, set, length);
        }
        self.lists.insert(place, set, length);
        self.slots[place as usize] = Some(Slot { order: self.order, ..slot });
    }
}

fn count(set: &[u64], counts: &mut FxHashMap<u64, u32>) {
    set.iter().for_each(|feature| *counts.entry(*feature).or_default() += 1);
}

/// The order of a sample, in which features stand so often.
fn order_of(counts: FxHashMap<u64, u32>) -> Order {
    let mut frequent: Vec<(u32, u64)> =
        counts.into_iter().filter(|(_, count)| *count > 1).map(|(feature, count)| (count, feature)).collect();
    frequent.sort_unstable();
    let mut order = Order::default();
    frequent.into_iter().for_each(|(_, feature)| order.push(feature));
    order
}

#[cfg(test)]
mod tests;
