//! Posting lists of the prefixes of sets in one order.

use crate::join::order::Order;
use rustc_hash::FxHashMap;

/// A set in the list of a feature: its slot, its size and the place of the feature among those of the set, in the order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting(u64);

/// What sixteen bits hold at most.
const MOST: u64 = 0xffff;

impl Posting {
    fn new(slot: u32, size: usize, place: usize) -> Self {
        let short = |number: usize| (number as u64).min(MOST);
        Self(u64::from(slot) << 32 | short(size) << 16 | short(place))
    }

    pub fn of(bits: u64) -> Self {
        Self(bits)
    }

    pub fn slot(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// `None` where it is a large one.
    pub fn size(self) -> Option<u64> {
        Some(self.0 >> 16 & MOST).filter(|size| *size < MOST)
    }

    /// That, or a smaller one where it is a large one.
    pub fn place(self) -> u64 {
        self.0 & MOST
    }
}

/// The bit of a value that is no posting, but the place of a list with several.
const SEVERAL: u64 = 1 << 63;

/// Postings of one part of the features.
#[derive(Debug, Default)]
struct Shard {
    /// By feature its one posting, or the place of its list.
    heads: FxHashMap<u64, u64>,
    lists: Vec<Vec<u64>>,
    free: Vec<u32>,
}

/// Features of a shard, about: what grows at once is small, so that nobody waits for it long.
const IN_SHARD: usize = 1 << 14;

/// Posting lists.
#[derive(Debug)]
pub(super) struct Lists {
    order: Order,
    /// By the middle bits of features; as many as a power of two.
    shards: Vec<Shard>,
    keys: Vec<(u32, u64)>,
    memory: u64,
}

impl Lists {
    /// Empty ones, for so many sets.
    pub fn new(order: Order, sets: usize) -> Self {
        // A prefix has some tens of features.
        let shards = (32 * sets).div_ceil(IN_SHARD).next_power_of_two();
        let memory = (order.memory() + size_of::<Shard>() * shards) as u64;
        Self { order, shards: (0..shards).map(|_| Shard::default()).collect(), keys: Vec::new(), memory }
    }

    pub fn order(&self) -> &Order {
        &self.order
    }

    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// The postings of a feature, by slot.
    pub fn get(&self, feature: u64) -> &[u64] {
        let shard = &self.shards[shard(feature, self.shards.len())];
        match shard.heads.get(&feature) {
            None => &[],
            Some(head) if head & SEVERAL > 0 => &shard.lists[(head ^ SEVERAL) as usize],
            Some(head) => std::slice::from_ref(head),
        }
    }

    /// The slot in the list of the first feature of a set that is it.
    pub fn find(&mut self, set: &[u64], length: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        self.order.prefix(set, length, &mut self.keys);
        let (_, feature) = *self.keys.first()?;
        self.get(feature).iter().map(|posting| Posting(*posting).slot()).find(|slot| is_it(*slot))
    }

    /// Puts a set into the lists of its first features, so many.
    pub fn insert(&mut self, slot: u32, set: &[u64], length: u64) {
        self.order.prefix(set, length, &mut self.keys);
        for (place, (_, feature)) in self.keys.iter().enumerate() {
            let count = self.shards.len();
            let shard = &mut self.shards[shard(*feature, count)];
            let before = shard.memory();
            self.memory += shard.insert(*feature, Posting::new(slot, set.len(), place).0);
            self.memory = self.memory + shard.memory() - before;
        }
    }

    /// Takes a set out of the lists of its first features, so many.
    pub fn remove(&mut self, slot: u32, set: &[u64], length: u64) {
        self.order.prefix(set, length, &mut self.keys);
        for (_, feature) in &self.keys {
            let count = self.shards.len();
            self.memory -= self.shards[shard(*feature, count)].remove(*feature, slot);
        }
    }
}

/// The shard of a feature: by bits that its table does not look at.
fn shard(feature: u64, shards: usize) -> usize {
    (feature >> 20) as usize & (shards - 1)
}

impl Shard {
    /// Bytes of all but what is in the lists of several.
    fn memory(&self) -> u64 {
        let of_heads = size_of::<(u64, u64)>() + 1;
        let of_lists = size_of::<Vec<u64>>();
        (of_heads * self.heads.capacity() + of_lists * self.lists.capacity() + 4 * self.free.capacity())
            as u64
    }

    /// Puts a posting in; the bytes that lists of several have grown by.
    fn insert(&mut self, feature: u64, posting: u64) -> u64 {
        let Some(head) = self.heads.get_mut(&feature) else {
            self.heads.insert(feature, posting);
            return 0;
        };
        if *head & SEVERAL == 0 {
            let mut list = vec![*head, posting];
            list.sort_unstable();
            *head = match self.free.pop() {
                Some(place) => {
                    self.lists[place as usize] = list;
                    SEVERAL | u64::from(place)
                }
                None => {
                    self.lists.push(list);
                    SEVERAL | (self.lists.len() - 1) as u64
                }
            };
            return 16;
        }
        let list = &mut self.lists[(*head ^ SEVERAL) as usize];
        let before = list.capacity();
        let place = list.partition_point(|other| *other < posting);
        list.insert(place, posting);
        8 * (list.capacity() - before) as u64
    }

    /// Takes the posting of a slot out; the bytes that lists of several have shrunk by.
    fn remove(&mut self, feature: u64, slot: u32) -> u64 {
        let Some(head) = self.heads.get_mut(&feature) else { return 0 };
        if *head & SEVERAL == 0 {
            if Posting(*head).slot() == slot {
                self.heads.remove(&feature);
            }
            return 0;
        }
        let place = (*head ^ SEVERAL) as usize;
        let list = &mut self.lists[place];
        let before = list.capacity();
        let at = list.partition_point(|other| Posting(*other).slot() < slot);
        if list.get(at).is_some_and(|other| Posting(*other).slot() == slot) {
            list.remove(at);
        }
        if let [only] = list[..] {
            *head = only;
            *list = Vec::new();
            self.free.push(place as u32);
        } else if 4 * list.len() < list.capacity() {
            list.shrink_to(2 * list.len());
        }
        8 * (before - self.lists[place].capacity()) as u64
    }
}
