//! What happens to a run that is interrupted (Ctrl-C), terminated, ended by a quit signal, or hung up on.

use super::output::Output;
use crate::allocator;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Barrier};
use twinsplit_engine::script::{self, quote_name};
use twinsplit_io::error::{Error, Result};
use twinsplit_io::terminal;

/// Why a run ends before it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// A signal came.
    Interrupted,
    /// The system gives no more memory.
    Exhausted,
}

/// From now on a file that becomes longer than the system lets this process write (`ulimit -f`) is an error, as a full disk is, and no end.
pub fn long_files_are_errors() {
    // Where it cannot be, the system ends the process, as it would have done.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// From now on an interrupted run ends its tasks, removes what it was writing, says how to go on, and ends by the
/// signal, as shells and schedulers expect. Without memory it does what `leave` does after an error, and ends as after one.
pub fn clean_up(output: &Arc<Output>, leave: impl FnOnce(&Output) + Send + 'static) -> Result<()> {
    let held = Arc::clone(output);
    on_signal(&output.folder, move |why| {
        script::kill();
        match why {
            // Threads may still write for a moment: what they leave is removed when the run goes on.
            Why::Interrupted => drop(held.remove_partial()),
            Why::Exhausted => leave(&held),
        }
    })
}

/// From now on an interrupted run does this, says how to go on, and ends by the signal; and so, with an error, does one without memory.
pub fn on_signal(folder: &Path, stop: impl FnOnce(Why) + Send + 'static) -> Result<()> {
    let failed = Error::io("wait for signals in", folder);
    let mut signals =
        Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, allocator::EXHAUSTED]).map_err(failed)?;
    // From the first byte on somebody tidies up: a busy machine may start a thread late.
    let ready = Arc::new(Barrier::new(2));
    let started = Arc::clone(&ready);
    let wait = move || {
        allocator::tidies_here();
        started.wait();
        let all = &mut signals.forever();
        let Some(signal) = all.find(|signal| *signal != allocator::EXHAUSTED || allocator::is_exhausted())
        else {
            return;
        };
        if signal == allocator::EXHAUSTED {
            allocator::make_room();
            stop(Why::Exhausted);
            allocator::end();
        }
        stop(Why::Interrupted);
        terminal::line(format_args!("\ninterrupted; to go on: {}", again(std::env::args_os())));
        // What it does when it cannot end the process in the signal's own way is end it.
        let _ = emulate_default_handler(signal);
    };
    let failed = Error::io("wait for signals in", folder);
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait).map_err(failed)?;
    ready.wait();
    Ok(())
}

/// The command line that goes on with a run, to be pasted into a shell.
fn again(args: impl Iterator<Item = OsString>) -> String {
    let mut words: Vec<String> = args
        .filter(|word| word != "--overwrite" && word != "--resume")
        .map(|word| quote_name(&word))
        .collect();
    words.push("--resume".to_owned());
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn the_command_can_be_pasted() {
        let args =
            ["twinsplit", "run", "doc-split", "--input", "a b.jsonl", "--overwrite", "--output", "it's"];
        let expected = r"twinsplit run doc-split --input 'a b.jsonl' --output 'it'\''s' --resume";
        assert_eq!(again(args.into_iter().map(OsString::from)), expected);
        let name = OsString::from_vec(b"caf\xe9's".to_vec());
        assert_eq!(again([name].into_iter()), r"$'caf\xe9\'s' --resume");
    }
}
