//! What a client has sent and was not answered yet.

use std::io::{ErrorKind, Read, Result};

/// Bytes for which there is room when more is read.
const READ: usize = 64 << 10;

/// Bytes that have come. Room is made once and used again, for what is small and comes often.
#[derive(Debug, Default)]
pub(crate) struct Received {
    room: Vec<u8>,
    start: usize,
    end: usize,
}

impl Received {
    /// What is there.
    pub fn bytes(&self) -> &[u8] {
        &self.room[self.start..self.end]
    }

    /// The first of it is answered.
    pub fn take(&mut self, bytes: usize) {
        self.start = self.end.min(self.start + bytes);
    }

    /// Waits for more; how many bytes that are, none at the end.
    ///
    /// # Errors
    /// Those of the client's connection.
    pub fn read(&mut self, from: &mut impl Read) -> Result<usize> {
        self.room.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        // What large requests took is given back.
        if self.end < READ && self.room.len() > 16 * READ {
            self.room.truncate(2 * READ);
            self.room.shrink_to_fit();
        }
        if self.room.len() - self.end < READ {
            self.room.resize((self.end + READ).max(self.room.len() + self.room.len() / 2), 0);
        }
        loop {
            match from.read(&mut self.room[self.end..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => {
                    let read = read?;
                    self.end += read;
                    return Ok(read);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// What is there is what has come and was not taken, however much comes at one time.
        #[test]
        fn bytes_come_in_their_order(
            steps in prop::collection::vec((0usize..300_000, 0usize..300_000), 1..20),
        ) {
            let (mut received, mut expected, mut next) = (Received::default(), VecDeque::new(), 0u8);
            for (comes, takes) in steps {
                let sent: Vec<u8> = (0..comes).map(|_| { next = next.wrapping_mul(5).wrapping_add(1); next }).collect();
                let mut from = &sent[..];
                while received.read(&mut from).unwrap() > 0 {}
                expected.extend(sent);
                prop_assert!(received.bytes().iter().eq(&expected));
                received.take(takes);
                expected.drain(..takes.min(expected.len()));
            }
        }
    }
}
