//! What is said to people, on standard error: `error:`, `warning:` and `note:` stand out in colour where standard
//! error is a terminal and `NO_COLOR` is not set, as the messages of clap do. Nothing that a message quotes steers the
//! terminal: see [`visible`].

use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use std::borrow::Cow;
use std::fmt::Display;
use std::io::Write;
use twinsplit_core::visible;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = Style::new().bold();

/// Why the program stops, and what to do.
pub fn error(text: impl Display) {
    say(&format!("{ERROR}error:{ERROR:#} "), text);
}

/// What is likely not meant, or makes the answer worse.
pub fn warning(text: impl Display) {
    say(&format!("{WARNING}warning:{WARNING:#} "), text);
}

/// What is good to know.
pub fn note(text: impl Display) {
    say(&format!("{NOTE}note:{NOTE:#} "), text);
}

/// A line as it is: what a run has done, and where its answer lies.
pub fn line(text: impl Display) {
    say("", text);
}

/// A number and what it counts: one, or many.
pub fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn say(start: &str, text: impl Display) {
    write(&format!("{start}{}\n", visible::lines(&text.to_string())));
}

/// One write for each message, so that those of several processes do not mix: a stream that takes the colours out writes
/// what is between them piece by piece, and `eprintln!` each argument. Nobody may be there to read it, which is no reason to
/// stop.
fn write(text: &str) {
    let mut stderr = std::io::stderr();
    let plain = AutoStream::choice(&stderr) == ColorChoice::Never;
    let text = if plain { Cow::Owned(strip_str(text).to_string()) } else { Cow::Borrowed(text) };
    let _ = stderr.write_all(text.as_bytes());
}
