//! Documents whose verdicts others have come to, under numbers that others have given.

use super::State;
use crate::document::Document;
use crate::entries::Grounds;
use crate::namespace::{Namespace, Taken};

impl State {
    /// Takes a document in of which it is known what it is, under a number that is larger than all before.
    ///
    /// # Errors
    /// It does not follow what is there.
    pub(crate) fn place(
        &mut self,
        (now, name, id): (u64, &[u8], &[u8]),
        number: u64,
        grounds: Option<Grounds>,
        document: Document,
    ) -> Result<(), &'static str> {
        self.at(now);
        if !self.namespaces.contains_key(name) {
            self.namespaces.insert(name.into(), Namespace::new(&self.settings));
        }
        let placed = self.with(name, |namespace| {
            namespace.expire(now);
            if !namespace.entries.skip_to(number) {
                return Err("a namespace holds documents whose numbers are too far apart");
            }
            namespace.replay(now, Taken { number, grounds, run: 0, forced: false }, id, document)
        });
        placed.unwrap_or(Ok(()))
    }
}
