//! How many files and sockets the system lets the service have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use twinsplit_io::terminal;

/// Files and sockets beside those of clients: the log, snapshots, what listens and wakes.
const OTHERS: u64 = 64;

/// Has the system allow so many clients, as far as it does, and warns where that is not enough: clients beyond it would be turned away without a word.
pub fn allow(connections: usize) {
    let needed = (connections as u64).saturating_add(OTHERS);
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= needed) {
        return;
    }
    let wanted = Rlimit { current: Some(maximum.map_or(needed, |maximum| needed.min(maximum))), maximum };
    // Where it is refused, what there is counts.
    let _ = setrlimit(Resource::Nofile, wanted);
    if let Some(allowed) = getrlimit(Resource::Nofile).current.filter(|allowed| *allowed < needed) {
        terminal::warning(format_args!(
            "the system allows this process {allowed} open files, and --connections {connections} needs {needed}: raise the limit (ulimit -Hn, or LimitNOFILE of systemd), or give a smaller --connections"
        ));
    }
}
