//! The end of a script whose driver is gone: it may have been killed, and could not end what it had started.

use clap::Args;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use twinsplit_io::error::{Error, Result};

/// What is watched.
#[derive(Args, Clone, Debug)]
pub struct WatchOpts {
    /// The group of processes that ends when standard input does, without a word on it
    #[arg(long, value_name = "PID")]
    group: i32,
    /// A folder that nobody needs then
    #[arg(long, value_name = "FOLDER")]
    remove: Option<PathBuf>,
}

/// How long a script may take to stop its jobs.
const PATIENCE: Duration = Duration::from_secs(60);

/// The watching process: waits for the end of its standard input.
pub fn wait(opts: &WatchOpts) -> Result<()> {
    let mut said = Vec::new();
    std::io::stdin().read_to_end(&mut said).map_err(Error::io("read", ""))?;
    let (true, Some(group)) = (said.is_empty(), Pid::from_raw(opts.group)) else { return Ok(()) };
    // A script stops its jobs when it is asked to end.
    let _ = kill_process_group(group, Signal::TERM);
    let start = Instant::now();
    while test_kill_process_group(group).is_ok() && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(50));
    }
    let _ = kill_process_group(group, Signal::KILL);
    match &opts.remove {
        Some(folder) => fs::remove_dir_all(folder).map_err(Error::io("remove", folder)),
        None => Ok(()),
    }
}
