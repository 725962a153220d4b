//! Groups that take long to decide, such as the commit of a large run, are decided by another thread. All that decides is lent to it meanwhile: there is
//! one of it, so no other request is decided, but clients are taken in, read and told that the service is there.

use crate::decider::Decides;
use crate::group::{Answered, Group};
use crate::recent::Recent;
use crate::threads;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use twinsplit_io::error::{Error, Result};

/// What decides, and what it decides.
pub(crate) struct Lent {
    pub decider: Box<dyn Decides>,
    pub group: Group,
    pub recent: Option<Recent>,
}

impl Lent {
    /// Decides the group.
    ///
    /// # Errors
    /// Those of the log's disk; the group is as it was.
    pub fn decide(&mut self) -> Result<Answered> {
        self.decider.decide(&mut self.group, self.recent.as_mut())
    }
}

/// The thread to which it is lent.
pub(crate) struct Lender {
    to: Sender<Lent>,
    from: Receiver<(Lent, Result<Answered>)>,
    is_away: bool,
}

impl Lender {
    /// Starts the thread. `wake` is called when something comes back.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(wake: impl Fn() + Send + 'static) -> Result<Self> {
        let ((to, lent), (back, from)) = (channel::<Lent>(), channel());
        // It ends when nothing can be lent to it any more.
        threads::start("decide", move || {
            while let Ok(mut lent) = lent.recv() {
                let decided = lent.decide();
                // Who has lent it waits for it.
                let _ = back.send((lent, decided));
                wake();
            }
            Ok(())
        })?;
        Ok(Self { to, from, is_away: false })
    }

    /// Whether something is lent.
    pub fn is_away(&self) -> bool {
        self.is_away
    }

    /// Lends it, and has the group decided.
    pub fn lend(&mut self, lent: Lent) {
        self.is_away = true;
        // Where the thread has ended, nothing comes back.
        let _ = self.to.send(lent);
    }

    /// What was lent, where it is back, with the answers.
    ///
    /// # Errors
    /// It never comes back, for the thread has panicked.
    pub fn back(&mut self) -> Result<Option<(Lent, Result<Answered>)>> {
        match self.from.try_recv() {
            Ok(back) => {
                self.is_away = false;
                Ok(Some(back))
            }
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => {
                self.is_away = false;
                Err(Error::Failed("the thread that decides panicked".to_owned()))
            }
        }
    }
}
