//! Why a job of Hadoop failed, by what its tasks said: a stage that gives up says why and ends with 1 or 2. Of a task that ended
//! otherwise YARN has a word, and the input is known. A job that ends at once may end without a word.

use clap::Args;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::terminal;

/// The job.
#[derive(Args, Clone, Debug)]
pub struct ExplainOpts {
    /// Its name
    name: String,
    /// What its client printed
    log: PathBuf,
    /// The command `yarn`
    #[arg(long, default_value = "yarn")]
    yarn: PathBuf,
}

/// Words of exceptions of Java about gzip that ends too early, or is damaged.
const OF_GZIP: [&str; 5] =
    ["EOFException", "ZipException", "incorrect data check", "incorrect header check", "invalid "];

/// Words in a log that may say what is wrong.
const SIGNS: [&str; 7] = ["Error", "ERROR", "Exception", "Container", "memory", "denied", "refused"];

/// How often the gathered log of the tasks is asked for: it comes some seconds after the job has ended.
const TRIES: usize = 10;

/// Says what is known on standard error, and fails.
pub fn explain(opts: &ExplainOpts) -> Result<()> {
    let log = fs::read(&opts.log).map_err(Error::io("read", &opts.log))?;
    let log = String::from_utf8_lossy(&log);
    let application = application(&log);
    let why = diagnostics(&log);
    let of_stage = why.is_empty()
        || why
            .iter()
            .any(|line| line.ends_with("failed with code 1") || line.ends_with("failed with code 2"));
    let mut said = errors(&log);
    if said.is_empty() && application.is_none() {
        // Without a cluster, its tasks' logs are the client's.
        said = inputs(&log);
    }
    let tries = if application.is_some() { TRIES } else { 0 };
    for again in 0..tries {
        if !why.is_empty() && !why.iter().any(|line| line.starts_with("Error")) {
            break;
        }
        if again > 0 {
            std::thread::sleep(Duration::from_secs(2));
        }
        let mut command = Command::new(&opts.yarn);
        command.args(["logs", "-applicationId", application.unwrap_or_default(), "-log_files"]);
        command.arg(if of_stage { "stderr" } else { "syslog" }).stdin(Stdio::null());
        let output = command.output().map_err(Error::io("start", &opts.yarn))?;
        let text = String::from_utf8_lossy(&output.stdout);
        said = if of_stage { errors(&text) } else { inputs(&text) };
        if !said.is_empty() {
            break;
        }
    }
    said.iter().take(5).for_each(terminal::line);
    if !of_stage || said.is_empty() {
        why.iter().take(3).for_each(terminal::line);
    }
    if why.is_empty() && said.is_empty() {
        let is_sign =
            |line: &&str| SIGNS.iter().any(|sign| line.contains(sign)) && !line.starts_with("\tat ");
        let lines: Vec<_> = log.lines().collect();
        let signs: Vec<_> = lines.iter().copied().filter(|line| is_sign(line)).collect();
        let (shown, most) = if signs.is_empty() { (lines, 5) } else { (signs, 8) };
        shown[shown.len().saturating_sub(most)..].iter().for_each(terminal::line);
    }
    let more = application.map(|id| format!(", and: yarn logs -applicationId {id}")).unwrap_or_default();
    Err(Error::Failed(format!("the job {} failed; more is in {}{more}", opts.name, opts.log.display())))
}

/// The last application that a log names: `application_TIME_NUMBER`.
fn application(log: &str) -> Option<&str> {
    let at = log.match_indices("application_").filter_map(|(at, word)| {
        let rest = &log[at + word.len()..];
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '_')).unwrap_or(rest.len());
        rest[..end].contains('_').then(|| &log[at..at + word.len() + end])
    });
    at.last()
}

/// The line behind each `Status : FAILED`, without the time that it may begin with.
fn diagnostics(log: &str) -> BTreeSet<String> {
    let mut lines = log.lines();
    let mut found = BTreeSet::new();
    while let Some(line) = lines.next() {
        if line.ends_with("Status : FAILED") {
            let next = lines.next().unwrap_or_default();
            let rest = next.strip_prefix('[').and_then(|rest| Some(rest.split_once(']')?.1));
            found.insert(rest.unwrap_or(next).to_owned());
        }
    }
    found
}

/// What stages said.
fn errors(text: &str) -> BTreeSet<String> {
    text.lines().filter(|line| line.starts_with("error:")).map(str::to_owned).collect()
}

/// What the tasks read that ended in an exception. A task in the process of the client has no word of its own for it: it is one that does
/// not finish.
fn inputs(text: &str) -> BTreeSet<String> {
    let (mut input, mut found, mut open) = ("", BTreeSet::new(), Vec::new());
    for line in text.lines() {
        let cause = line.split_once(" running child : ").or_else(|| line.split_once("java.lang.Exception: "));
        if let Some((_, split)) = line.split_once("Processing split: ") {
            input = split.trim_end();
        } else if line.contains("Starting task: ") {
            open.extend(Some(std::mem::take(&mut input)).filter(|input| !input.is_empty()));
        } else if line.contains("Finishing task: ") {
            input = "";
        } else if let Some((_, cause)) = cause {
            open.extend(Some(std::mem::take(&mut input)).filter(|input| !input.is_empty()));
            found.extend(open.drain(..).map(|input| of_input(input, cause)));
        }
    }
    found
}

/// What is wrong with a task's input, as far as an exception tells.
fn of_input(input: &str, cause: &str) -> String {
    // Behind the name are the bytes that the task was to read.
    let file = input.rsplit_once(':').map_or(input, |(file, _)| file);
    match file.ends_with(".gz") && OF_GZIP.iter().any(|word| cause.contains(word)) {
        true => format!(
            "error: {file}: its gzip data end in the middle or are damaged ({cause}); `gzip -t` tests the file; fetch or make it again"
        ),
        false => format!("in a task that read {input}: {cause}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_tells_who_failed_and_why() {
        let log = "INFO impl.YarnClientImpl: Submitted application application_17_0003\nTask Id : attempt_1, Status : FAILED\n\
                   [2026-01-01 10:00]Container killed on request. Exit code is 137\nerror: tokenize: no\nerror: tokenize: no\n";
        assert_eq!(application(log), Some("application_17_0003"));
        assert_eq!(application("application_x application_1"), None);
        let one = |text: &str| BTreeSet::from([text.to_owned()]);
        assert_eq!(diagnostics(log), one("Container killed on request. Exit code is 137"));
        assert_eq!(errors(log), one("error: tokenize: no"));
        let syslog =
            "x Processing split: hdfs://h/a.gz:0+10\nException running child : java.io.IOException\n";
        assert_eq!(inputs(syslog), one("in a task that read hdfs://h/a.gz:0+10: java.io.IOException"));
        let of_client = "Starting task: 1\nProcessing split: file:/a b.gz:0+10\nStarting task: 2\nProcessing split: file:/b.gz:0+9\n\
                         Finishing task: 2\njava.lang.Exception: java.io.EOFException: Unexpected end of input stream\n";
        let said = inputs(of_client).into_iter().collect::<Vec<_>>().join("|");
        assert!(said.starts_with("error: file:/a b.gz: its gzip data end") && !said.contains('|'), "{said}");
    }
}
