//! What people are shown steers no terminal, turns no text and hides nothing, whatever documents, ids, options and
//! names of files hold; what programs read holds it as it is.

use crate::common::cli::{Place, Said, binaries, jsonl};
use crate::common::harness::clean;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::Command;

/// Clears the screen, sets the title, turns the direction, is a control of eight bits, a line end, a tag.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;t\u{7}\u{202e}\u{9b}31m\u{2028}\u{200f}\u{61c}\u{e0041}\u{feff}";
const SHOWN: &str = r"\x1b[2J\x1b]0;t\x07\u{202e}\u{9b}31m\u{2028}\u{200f}\u{61c}\u{e0041}\u{feff}";

/// A name that is no UTF-8 besides, and would begin a line of its own.
fn file_name() -> OsString {
    let mut name = format!("docs{HOSTILE}\nerror: ").into_bytes();
    name.push(0xff);
    OsString::from_vec(name)
}

/// 97 documents that share nothing, and three near-duplicates whose ids and texts are hostile.
fn place() -> Place {
    let here = Place::new();
    let mut docs: Vec<_> = (0..97).map(|n| (format!("d{n}"), format!("u{n}a u{n}b"))).collect();
    for end in ["1", "2", "3"] {
        docs.push((format!("id{HOSTILE}{end}"), format!("one {HOSTILE} two\u{1b}[31m three four {end}")));
    }
    let docs: Vec<_> = docs.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    std::fs::write(here.path("").join(file_name()), jsonl(&docs)).unwrap();
    here
}

/// Runs `twinsplit`; all that it says must be harmless.
#[track_caller]
fn say(here: &Place, args: &[&OsStr]) -> Said {
    let mut command = clean(Command::new(binaries().join("twinsplit")));
    command.args(args);
    let said = here.run(command, "");
    for text in [&said.out, &said.err] {
        let bad = text.chars().find(|c| match c {
            '\n' | '\t' => false,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
            '\u{feff}' | '\u{e0000}'..='\u{e007f}' => true,
            c => c.is_control(),
        });
        assert_eq!(bad, None, "{args:?}: {text:?}");
        assert!(
            !text.lines().any(|line| line.starts_with("error: \u{fffd}") || line.starts_with(r"error: \x"))
        );
    }
    said
}

/// The words of a line, with `FILE` for the hostile name.
#[track_caller]
fn line(here: &Place, line: &str) -> Said {
    let file = file_name();
    let words: Vec<&OsStr> =
        line.split(' ').map(|word| if word == "FILE" { &file } else { OsStr::new(word) }).collect();
    say(here, &words)
}

#[test]
fn messages_show_ids_and_names_of_files_written_out() {
    let here = place();
    let shown_file = format!(r"docs{SHOWN}\x0aerror: \xff");
    // The warning of a large cluster quotes an id, and run.json, which repeats it, is as JSON has it.
    let run = "run doc-split --features words:1 --output out --overwrite --input";
    let said = line(&here, &format!("{run} FILE"));
    let id = format!("id{SHOWN}1");
    assert!(said.err.contains(&format!("kept {id}, holds 3")), "{}", said.err);
    said.ok();
    let run_json: serde_json::Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
    assert!(run_json["warnings"][0].as_str().unwrap().contains("\u{202e}\u{9b}31m"), "{run_json}");
    assert!(here.read("out/pairs.tsv").contains("\u{202e}"), "rows are not for people");
    // A file that is not there, one with a bad line, an id that stands twice, an output folder, a bad option.
    let other = here.path("").join(OsStr::from_bytes(b"bad\x1b[2J\nx"));
    std::fs::write(&other, "{\"id\":\"a\",\"text\":\u{1b}\n").unwrap();
    let twice = jsonl(&[("a\u{202e}", "x"), ("a\u{202e}", "y")]);
    here.write("twice", twice);
    for (args, words) in [
        (
            &["run", "doc-split", "--output", "o", "--input", "no\u{1b}[2J\nerror: x"][..],
            r"no\x1b[2J\x0aerror: x",
        ),
        (&["run", "doc-split", "--output", "o", "--input", "bad\u{1b}[2J\nx"], r"bad\x1b[2J\x0ax, line 1"),
        (&["run", "doc-split", "--output", "o", "--input", "twice"], r"a\u{202e}"),
        (&["run", "doc-split", "--output", "o", "--inptu\u{1b}[2J\u{202e}"], r"--inptu\x1b[2J\u{202e}"),
        (&["explain", "no\u{202e}body", "d1", "--input", "twice"], r"no\u{202e}body"),
        (&["report", "no\u{1b}where"], r"no\x1bwhere/run.json"),
    ] {
        let args: Vec<_> = args.iter().map(OsStr::new).collect();
        let said = say(&here, &args);
        assert!(said.code > 0 && said.err.contains(words), "{args:?}: {}", said.err);
    }
    let said = say(&here, &[OsStr::new("run"), OsStr::new("doc-split"), &file_name()]);
    assert!(said.code == 2 && said.err.contains("unexpected argument"), "{}", said.err);
    let said = line(&here, "explain d0 d1 --run FILE");
    assert!(said.err.contains(&format!("{shown_file}/run.json")), "{}", said.err);
}

#[test]
fn texts_and_ids_are_shown_written_out() {
    let here = place();
    line(&here, "run doc-split --features words:1 --output out --quiet --input FILE").ok();
    let ids = ["1", "2"].map(|end| format!("id{HOSTILE}{end}"));
    let shown_ids = ["1", "2"].map(|end| format!("id{SHOWN}{end}"));
    let explain = |a: &str, b: &str| {
        let args = ["explain", a, b, "--features", "words:1", "--input"].map(OsStr::new);
        say(&here, &[&args[..], &[&file_name()]].concat())
    };
    let explained = explain(&ids[0], &ids[1]).ok();
    assert!(explained.contains(r"two\x1b[31m three"), "{explained}");
    assert!(explained.contains(&format!("A  {}  ", shown_ids[0])), "{explained}");
    // What was shown can be typed.
    assert_eq!(explain(&shown_ids[0], &shown_ids[1]).ok(), explained);
    explain(&shown_ids[0], r"id\u{202e}").fails(2, &[r"id\\u{202e}"]);
    let tuned = line(&here, "tune --kinds words:1 --taus 0.5 --quiet --input FILE").ok();
    assert!(tuned.contains(&shown_ids[0]) && tuned.contains(r"\u{202e}"), "{tuned}");
    // Its last line can be pasted: the name of the file as bytes of a shell's word. One that is no UTF-8 cannot be.
    std::fs::rename(here.path("").join(file_name()), here.path(&format!("docs{HOSTILE}\n'"))).unwrap();
    let name = format!("docs{HOSTILE}\n'");
    let args = ["tune", "--kinds", "words:1", "--taus", "0.5", "--quiet", "--input", &name].map(OsStr::new);
    let tuned = say(&here, &args).ok();
    let command = tuned.trim_end().lines().last().unwrap().trim();
    here.shell(&format!(
        "rm -r out; {command} --quiet 2> /dev/null; LC_ALL=C {command} --quiet --overwrite 2> /dev/null"
    ))
    .ok();
    // Each two of the three share 8 of 10 words: one, 2j, 0, t, 31m, two, three, four.
    assert_eq!(here.read("out/pairs.tsv").lines().count(), 3);
}

/// A value with a line end in it would begin a line of a script: in the comment that heads it, and in a command.
#[test]
fn a_script_runs_nothing_that_a_value_holds() {
    let here = Place::new();
    here.write("docs", jsonl(&[("a", "one two"), ("b", "one two")]));
    let value = "x\ntouch pwned\n'; touch pwned; \u{1b}[2J";
    for engine in ["pipes", "hadoop", "spark"] {
        let args =
            ["plan", "doc-split", "--engine", engine, "--features", "words:1", "--date", value, "--inline"];
        let script = say(&here, &args.map(OsStr::new)).ok();
        assert!(!script.lines().any(|line| line.starts_with("touch")), "{engine}: {script}");
        here.write("script", &script);
        if engine != "spark" {
            here.shell("bash -n script").ok();
        }
    }
    let args =
        ["plan", "doc-split", "--engine", "pipes", "--features", "words:1", "--date", value, "--inline"];
    here.write("script", say(&here, &args.map(OsStr::new)).ok());
    here.shell("bash script out docs").ok();
    assert_eq!(here.read("out/pairs.tsv").lines().count(), 1);
    assert!(!here.path("pwned").exists());
}
