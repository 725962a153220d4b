//! Values of different lengths, one after the other.

/// Values of different lengths, one after the other.
#[derive(Debug)]
pub struct Ragged<T> {
    items: Vec<T>,
    ends: Vec<usize>,
}

impl<T> Default for Ragged<T> {
    fn default() -> Self {
        Self { items: Vec::new(), ends: Vec::new() }
    }
}

impl<T: Copy> Ragged<T> {
    /// Values of these items, by where each ends among them.
    pub fn of(items: Vec<T>, ends: Vec<usize>) -> Self {
        Self { items, ends }
    }

    /// Room for so many values with so many items in all.
    pub fn with_room(values: usize, items: usize) -> Self {
        Self { items: Vec::with_capacity(items), ends: Vec::with_capacity(values) }
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The value of a number.
    pub fn get(&self, at: usize) -> &[T] {
        &self.items[at.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[at]]
    }

    /// All values' items, one after the other.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Adds a value.
    pub fn push(&mut self, value: &[T]) {
        self.items.extend_from_slice(value);
        self.ends.push(self.items.len());
    }

    /// Adds all values of another.
    pub fn append(&mut self, other: &Self) {
        let base = self.items.len();
        self.items.extend_from_slice(&other.items);
        self.ends.extend(other.ends.iter().map(|end| base + end));
    }

    /// Takes all values out; the room for them stays.
    pub fn clear(&mut self) {
        self.items.clear();
        self.ends.clear();
    }
}
