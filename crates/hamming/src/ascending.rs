//! Numbers that ascend, in little room.

/// Numbers that ascend, without equal ones.
#[derive(Debug)]
pub enum Ascending {
    /// The first one, and how much larger each is.
    Near(u64, Vec<u32>),
    /// Those that are too far from one another for that.
    Far(Vec<u64>),
}

impl Ascending {
    /// These numbers, which ascend.
    pub fn of(numbers: &[u64]) -> Self {
        let first = numbers.first().copied().unwrap_or(0);
        let near = |number: &u64| u32::try_from(number - first).ok();
        if numbers.last().is_some_and(|last| near(last).is_none()) {
            return Ascending::Far(numbers.to_vec());
        }
        Ascending::Near(first, numbers.iter().filter_map(near).collect())
    }

    fn len(&self) -> usize {
        match self {
            Ascending::Near(_, after) => after.len(),
            Ascending::Far(numbers) => numbers.len(),
        }
    }

    /// The number of a place.
    #[inline(always)]
    pub fn get(&self, place: usize) -> Option<u64> {
        match self {
            Ascending::Near(first, after) => after.get(place).map(|after| first + u64::from(*after)),
            Ascending::Far(numbers) => numbers.get(place).copied(),
        }
    }

    /// The largest one.
    pub fn last(&self) -> Option<u64> {
        self.get(self.len().checked_sub(1)?)
    }

    /// Whether a number is one of them.
    pub fn holds(&self, number: u64) -> bool {
        match self {
            Ascending::Near(first, after) => {
                let after_first = number.checked_sub(*first).and_then(|after| u32::try_from(after).ok());
                after_first.is_some_and(|number| after.binary_search(&number).is_ok())
            }
            Ascending::Far(numbers) => numbers.binary_search(&number).is_ok(),
        }
    }

    /// Bytes that they take.
    pub fn memory(&self) -> u64 {
        match self {
            Ascending::Near(_, after) => 4 * after.len() as u64,
            Ascending::Far(numbers) => 8 * numbers.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_they_were_near_and_far() {
        let far = 1 << 40;
        let near = u64::from(u32::MAX);
        for (numbers, each) in [
            (vec![], 4),
            (vec![0], 4),
            (vec![far, far + 1, far + near], 4),
            (vec![far, far + 1, far + near + 1], 8),
            (vec![0, 7, u64::MAX], 8),
        ] {
            let ascending = Ascending::of(&numbers);
            let read: Vec<u64> = (0..).map_while(|place| ascending.get(place)).collect();
            assert_eq!(read, numbers);
            assert_eq!(ascending.last(), numbers.last().copied());
            assert_eq!(ascending.memory(), each * numbers.len() as u64);
            for number in
                [0, 1, 6, 7, 8, far - 1, far, far + 1, far + 2, far + near, far + near + 1, u64::MAX]
            {
                assert_eq!(ascending.holds(number), numbers.contains(&number), "{number} of {numbers:?}");
            }
        }
    }
}
