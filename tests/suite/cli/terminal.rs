//! What a run says at a real terminal, in a pipe, to nobody, and when Ctrl-C ends it.

use crate::common::cli::{Place, binaries, jsonl};
use crate::common::harness::clean;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

const RED: &str = "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m ";
const YELLOW: &str = "\u{1b}[1m\u{1b}[33mwarning:\u{1b}[0m ";
const BOLD: &str = "\u{1b}[1mnote:\u{1b}[0m ";

/// An error, a warning (there is no document) and a note (a bound of tasks, in one process): as typed, what it starts
/// with, and whether it is coloured by us or by clap.
const LINES: [(&str, &str); 4] = [
    ("twinsplit run doc-split --input nowhere --output out", RED),
    ("twinsplit run doc-split --input none --output out --overwrite", YELLOW),
    ("twinsplit run doc-split --input docs --output out --overwrite --graph 2", BOLD),
    ("twinsplit run doc-split --inptu docs", RED),
];

/// Whether there is a sequence that sets colours or bold; a bar moves the cursor, which is neither.
fn coloured(text: &str) -> bool {
    text.split("\u{1b}[").skip(1).any(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != ';');
        end.is_some_and(|end| rest[end..].starts_with('m'))
    })
}

#[test]
fn messages_have_colour_at_a_terminal_alone() {
    let here = Place::new();
    here.write("docs", jsonl(&[("a", "one"), ("b", "two")]));
    here.write("none", "");
    for (line, start) in LINES {
        let word = start.split(['m', '\u{1b}']).find(|part| part.ends_with(':')).unwrap();
        let shown = here.at_a_terminal(line, &[]).out;
        assert!(shown.contains(start), "{line}: {shown:?}");
        for variables in [&[("NO_COLOR", "1")][..], &[("TERM", "dumb")]] {
            let shown = here.at_a_terminal(line, variables).out;
            assert!(!coloured(&shown) && shown.contains(word), "{line} {variables:?}: {shown:?}");
        }
        let said = here.say(line);
        assert!(!said.err.contains('\u{1b}') && said.err.contains(word), "{line}: {said:?}");
        assert_eq!(said.out, "", "{line}: messages are on standard error");
    }
}

/// Tasks that run side by side share standard error: a message goes there in one piece. Each write to a socket of
/// datagrams is one.
#[test]
fn a_message_is_one_write() {
    let lines = [
        ("tokenize", "[1]\n", "error: tokenize: "),
        ("index-term-reduce --df-cut 4", "", "index-term-reduce: --df-cut 4 left out 0 features"),
        ("twinsplit run doc-split --input nowhere --output out", "", "error: "),
    ];
    for (line, input, start) in lines {
        let (ours, theirs) = UnixDatagram::pair().unwrap();
        let mut words = line.split(' ');
        let mut command = clean(Command::new(binaries().join(words.next().unwrap())));
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(OwnedFd::from(theirs));
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait().unwrap();
        ours.set_nonblocking(true).unwrap();
        let mut buffer = [0; 4096];
        let length = ours.recv(&mut buffer).unwrap();
        let said = String::from_utf8_lossy(&buffer[..length]).into_owned();
        assert!(said.starts_with(start) && said.ends_with('\n'), "{line}: {said:?}");
        assert!(ours.recv(&mut buffer).is_err(), "{line}: more than {said:?}");
    }
}

/// `2>&1 | head` and a closed standard error: what is said is lost, and the answer is as ever.
#[test]
fn a_run_that_nobody_listens_to_ends_as_ever() {
    let here = Place::new();
    here.write("docs", jsonl(&[("a", "one two"), ("b", "one two")]));
    let run = "twinsplit run doc-split --features words:1 --input docs --output out --overwrite --graph 2";
    for end in ["2>&-", "2> >(exec true)", "2> /dev/full"] {
        for _ in 0..5 {
            here.shell(&format!("{run} {end}")).ok();
            assert_eq!(here.read("out/pairs.tsv"), "a\tb\t2\t2\t2\t1.000000\n", "{end}");
        }
        let failed = here.shell(&format!("code=0; {run} --tau 0 {end} || code=$?; echo $code"));
        assert_eq!(failed.ok(), "2\n", "{end}");
    }
}

/// The manual says that a shell shows 130: the process is ended by the signal, and does not exit with a code.
#[test]
fn ctrl_c_ends_it_by_the_signal() {
    for (name, args) in
        [("tokenize", &[][..]), ("twinsplit", &["run", "doc-split", "--input", "-", "--output", "out"][..])]
    {
        let here = Place::new();
        // A shell has jobs in the background pass the signal by, and what these start with them.
        let mut command = clean(Command::new("env"));
        command.arg("--default-signal=INT").arg(binaries().join(name)).args(args);
        command.current_dir(here.path("")).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        // It has started when it has taken more than a pipe holds.
        let line = jsonl(&[("a", &"word ".repeat(100))]);
        input.write_all(line.repeat(1_000).as_bytes()).unwrap();
        Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(2), "{name}: {status}");
        drop(input);
        assert!(!here.path("out/pairs.tsv").exists());
    }
}
