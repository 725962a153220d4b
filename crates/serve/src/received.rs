//! What a client has sent and was not read as a request yet.

/// Bytes for which room is kept while nothing is there.
const KEPT: usize = 4 << 10;

/// The beginning of a request that is not all there, or requests that were too many to be answered together. An idle client has nothing here.
#[derive(Debug, Default)]
pub(crate) struct Received {
    bytes: Vec<u8>,
    start: usize,
}

impl Received {
    /// Whether nothing is there.
    pub fn is_empty(&self) -> bool {
        self.start == self.bytes.len()
    }

    /// Shows all that is there, and what has come behind it; what is not taken of it is kept. Bytes that are taken at once are never copied.
    pub fn feed<T>(&mut self, new: &[u8], read: impl FnOnce(&[u8]) -> (usize, T)) -> T {
        if self.is_empty() {
            let (used, out) = read(new);
            self.push(new.get(used..).unwrap_or_default());
            return out;
        }
        self.push(new);
        let (used, out) = read(&self.bytes[self.start..]);
        self.start = self.bytes.len().min(self.start + used);
        if self.is_empty() {
            self.bytes.clear();
            self.start = 0;
            if self.bytes.capacity() > KEPT {
                self.bytes = Vec::new();
            }
        }
        out
    }

    fn push(&mut self, new: &[u8]) {
        if !new.is_empty() {
            self.bytes.drain(..self.start);
            self.start = 0;
            self.bytes.extend_from_slice(new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// What is shown is what has come and was not taken, however much comes at one time.
        #[test]
        fn bytes_come_in_their_order(
            steps in prop::collection::vec((0usize..30_000, 0usize..30_000), 1..20),
        ) {
            let (mut received, mut expected, mut next) = (Received::default(), VecDeque::<u8>::new(), 0u8);
            for (comes, takes) in steps {
                let sent: Vec<u8> = (0..comes).map(|_| { next = next.wrapping_mul(5).wrapping_add(1); next }).collect();
                expected.extend(&sent);
                let takes = takes.min(expected.len());
                let is_right = received.feed(&sent, |bytes| (takes, bytes.iter().eq(&expected)));
                prop_assert!(is_right);
                expected.drain(..takes);
                prop_assert_eq!(received.is_empty(), expected.is_empty());
            }
        }
    }
}
