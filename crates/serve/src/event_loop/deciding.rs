//! What a round comes to: its requests are decided, and what may be answered is answered.

use super::EventLoop;
use crate::group::{Answered, Group};
use crate::info::Phase;
use crate::lender::Lent;
use std::time::Instant;
use twinsplit_io::error::{Error, Result};

/// Documents that are looked at in one round, at most: some milliseconds.
const LONG: u64 = 4096;

impl EventLoop {
    /// Decides what has come, and replies to what may be answered.
    pub(super) fn decide(&mut self) {
        if self.lender.is_away() {
            match self.lender.back() {
                Ok(None) => return,
                Ok(Some((lent, decided))) => {
                    self.take_back(lent, decided);
                    self.reply_to_what_is_safe();
                }
                Err(error) => self.fail(error, Group::default()),
            }
        }
        let Some(decider) = self.backend.decider.take() else { return self.refuse(Group::default()) };
        let (group, recent) = (std::mem::take(&mut self.group), self.backend.recent.take());
        let mut lent = Lent { decider, group, recent };
        if lent.decider.work(&lent.group) > LONG {
            return self.lender.lend(lent);
        }
        let decided = lent.decide();
        self.take_back(lent, decided);
        self.reply_to_what_is_safe();
    }

    /// Goes on with what has decided.
    fn take_back(&mut self, lent: Lent, decided: Result<Answered>) {
        let Lent { decider, group, recent } = lent;
        self.backend.recent = recent;
        match decided {
            Ok(answered) => {
                if !answered.is_empty() {
                    self.held.push_back((decider.last(), answered));
                }
                self.backend.decider = Some(decider);
                if self.group.is_empty() {
                    // Its room is used again.
                    self.group = group;
                }
            }
            Err(error) => {
                // Where a thread that waits for the disk has ended, it says why.
                self.fail(decider.end().err().unwrap_or(error), group);
            }
        }
    }

    fn reply_to_what_is_safe(&mut self) {
        let Some(safe) = self.backend.decider.as_ref().map(|decider| decider.safe()) else { return };
        let safe = self.held.partition_point(|(upto, _)| *upto <= safe);
        if safe > 0 {
            self.now = Instant::now();
            let rest = self.held.split_off(safe);
            for (_, answered) in std::mem::replace(&mut self.held, rest) {
                answered.each().for_each(|(number, answers)| self.reply(number, answers));
            }
        }
    }

    /// Nothing is decided any more, this group and whatever comes.
    fn fail(&mut self, error: Error, group: Group) {
        self.failed = Some(error);
        self.backend.common.shared.is_now(Phase::Ended);
        self.stopper.stop();
        self.refuse(group);
    }

    /// Answers that nothing decides any more.
    fn refuse(&mut self, mut group: Group) {
        let held = std::mem::take(&mut self.held).into_iter().map(|(_, answered)| answered);
        let groups = [group.take(Vec::new()), self.group.take(Vec::new())];
        for answered in held.chain(groups) {
            answered.each().for_each(|(number, _)| self.reply(number, None));
        }
    }
}
