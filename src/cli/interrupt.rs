//! What happens to a run that is interrupted (Ctrl-C), terminated or hung up on.

use super::output::Output;
use super::terminal;
use crate::engine::pipes::quote;
use crate::error::{Error, Result};
use std::sync::Arc;

/// The exit code of an interrupted command, as shells have it.
const INTERRUPTED: i32 = 130;

/// From now on an interrupted run removes what it was writing, says how to go on, and ends.
pub fn clean_up(output: &Arc<Output>) -> Result<()> {
    let output = Arc::clone(output);
    let handler = move || {
        // Threads may still write for a moment: what they leave is removed when the run goes on.
        let _ = output.remove_partial();
        terminal::line(format_args!("\ninterrupted; to go on: {}", again(std::env::args())));
        std::process::exit(INTERRUPTED);
    };
    ctrlc::set_handler(handler).map_err(|error| Error::Failed(format!("cannot wait for signals: {error}")))
}

/// The command line that goes on with a run, to be pasted into a shell.
fn again(args: impl Iterator<Item = String>) -> String {
    let mut words: Vec<String> =
        args.filter(|word| word != "--overwrite" && word != "--resume").map(|word| quote(&word)).collect();
    words.push("--resume".to_owned());
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_can_be_pasted() {
        let args =
            ["twinsplit", "run", "doc-split", "--input", "a b.jsonl", "--overwrite", "--output", "it's"];
        let expected = r"twinsplit run doc-split --input 'a b.jsonl' --output 'it'\''s' --resume";
        assert_eq!(again(args.into_iter().map(str::to_owned)), expected);
    }
}
