//! What answers are made of, whatever a client speaks.

use crate::decider::Decides;
use crate::http::date::Date;
use crate::info::Shared;
use crate::recent::Recent;
use crate::server::ServerOptions;
use crate::sketch::Sketching;
use std::sync::Arc;
use twinsplit_core::hash;

/// What does not change while a service runs, and the figures of all its threads.
pub(crate) struct Common {
    pub options: ServerOptions,
    pub sketching: Sketching,
    pub shared: Arc<Shared>,
    /// What it was made with.
    pub about: Vec<(&'static str, String)>,
}

impl Common {
    /// Whether that is the password, where there is one.
    pub fn is_password(&self, given: &[u8]) -> Option<bool> {
        let password = self.options.password.as_deref()?;
        // How long it takes to compare hashes says nothing of the password.
        Some(hash::text(password) == hash::text(given) && password == given)
    }
}

/// What the one thread has that decides and replies.
pub(crate) struct Backend {
    pub common: Arc<Common>,
    /// What decides; nothing before the folder has been read, and where its disk has failed.
    pub decider: Option<Box<dyn Decides>>,
    /// The last duplicates, where there is a page that shows them.
    pub recent: Option<Recent>,
    pub date: Date,
}
