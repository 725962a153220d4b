//! At home in a shell: completions that real shells load and use, and manual pages whose examples are run.

use crate::common::cli::{Place, Said, fixture, search_path};
use crate::common::harness::clean;
use clap::Command as Declared;
use flate2::{Compression, write::GzEncoder};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use twinsplit_cli::examples::{self, EXAMPLES};
use twinsplit_rows::stages::STAGES;

/// A command of another program, here; a machine that lacks it is told how to get it.
fn tool(here: &Place, name: &str, args: &[&str], input: &str) -> Said {
    let found = Command::new("sh").args(["-c", &format!("command -v {name}")]).output().unwrap();
    assert!(found.status.success(), "{name} is missing: make test-tools installs it");
    let path = String::from_utf8(found.stdout).unwrap();
    let mut command = clean(Command::new(path.trim()));
    command.args(args).env("PATH", search_path()).env("HOME", here.path("")).env("TERM", "dumb");
    command.env("XDG_DATA_HOME", here.path("share"));
    here.run(command, input)
}

/// A folder with completions and manual pages as an installation has them.
fn written() -> Place {
    let here = Place::new();
    assert_eq!(here.say("twinsplit completions --completions share --man share/man").ok(), "");
    here
}

/// The driver, its commands, theirs, and the stages: the name of the manual page, and the declaration.
fn programs() -> Vec<(String, Declared)> {
    let driver = twinsplit_cli::command();
    let under = |name: &str, program: &Declared| {
        program
            .get_subcommands()
            .map(|sub| (format!("{name}-{}", sub.get_name()), sub.clone()))
            .collect::<Vec<_>>()
    };
    let mut commands = under("twinsplit", &driver);
    let nested: Vec<_> = commands.iter().flat_map(|(name, command)| under(name, command)).collect();
    commands.extend(nested);
    let stages =
        STAGES.iter().map(|entry| (entry.decl.name.to_owned(), twinsplit_cli::stage::command(entry)));
    [("twinsplit".to_owned(), driver.clone())].into_iter().chain(commands).chain(stages).collect()
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Every program has a page, which names each of its options, variables and commands, and both formatters of manual
/// pages take all of it without a warning.
#[test]
fn every_program_has_a_manual_page_that_says_all() {
    let here = written();
    let folder = here.path("share/man/man1");
    let programs = programs();
    let expected: BTreeSet<_> = programs.iter().map(|(name, _)| format!("{name}.1")).collect();
    assert_eq!(names_in(&folder), expected);
    let paths: Vec<_> = expected.iter().map(|file| format!("share/man/man1/{file}")).collect();
    let paths: Vec<_> = paths.iter().map(String::as_str).collect();
    let linted = tool(&here, "mandoc", &[&["-T", "lint", "-W", "warning"], &paths[..]].concat(), "");
    assert_eq!((linted.code, &*linted.out), (0, ""));
    for (name, declared) in programs {
        let path = format!("share/man/man1/{name}.1");
        let text = tool(&here, "mandoc", &["-T", "utf8", "-O", "width=200", &path], "").ok();
        // Bold and italic letters come as X, backspace, X.
        let page = text.chars().collect::<Vec<_>>();
        let page: String = page
            .iter()
            .enumerate()
            .filter(|(at, c)| **c != '\u{8}' && page.get(at + 1) != Some(&'\u{8}'))
            .map(|(_, c)| *c)
            .collect();
        for section in [
            "NAME",
            "SYNOPSIS",
            "DESCRIPTION",
            "OPTIONS",
            "EXIT STATUS",
            "ENVIRONMENT",
            "EXAMPLES",
            "SEE ALSO",
        ] {
            assert!(page.lines().any(|line| line == section), "{name} has no {section}");
        }
        for word in ["NO_COLOR", "130", "docs/operating.md"] {
            assert!(page.contains(word), "{name} has no {word}");
        }
        for arg in declared.get_arguments() {
            let long = arg.get_long().map_or_else(
                || {
                    let name = &arg.get_value_names().unwrap_or_default()[0];
                    if arg.is_required_set() { format!("<{name}>") } else { format!("[{name}]") }
                },
                |long| format!("--{long}"),
            );
            let found = page.lines().any(|line| {
                // A value that may be left out stands in brackets.
                let is_it =
                    |word: &str| word == long || word.split_once("[=").is_some_and(|(name, _)| name == long);
                line.strip_prefix("       ").is_some_and(|line| line.split([' ', ',']).take(3).any(is_it))
            });
            assert!(found, "{name} says nothing of {long}: {page}");
            if let Some(variable) = arg.get_env() {
                let variable = variable.to_string_lossy();
                assert!(page.contains(&*variable), "{name} says nothing of {variable}");
            }
        }
        for sub in declared.get_subcommands() {
            assert!(page.contains(&format!("{name}-{}(1)", sub.get_name())), "{name}: {}", sub.get_name());
        }
        let called = name
            .replace("twinsplit-", "twinsplit ")
            .replace("twinsplit fingerprints-", "twinsplit fingerprints ")
            .replace("twinsplit store-", "twinsplit store ");
        let shown = examples::of(&called).next();
        let shown = shown.unwrap_or_else(|| panic!("{name} has no example"));
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&page).contains(&words(&shown.line.replace("; ", " "))), "{name}: {}", shown.line);
    }
    let answer = tool(&here, "mandoc", &["-T", "ascii", "share/man/man1/pcp-reduce.1"], "").ok();
    assert!(answer.contains(r"LC_ALL=C sort -t$'\t' -k1,2 -s"), "{answer}");
}

/// The examples of the manual, in their order; those of the stages make the driver's answer.
#[test]
fn the_examples_are_true() {
    let here = Place::new();
    let tiny = std::fs::read_to_string(fixture("documents/tiny.jsonl")).unwrap();
    let packed = |text: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish()).unwrap()
    };
    here.write("docs.jsonl.gz", packed(&tiny));
    std::fs::create_dir(here.path("crawl")).unwrap();
    let lines: Vec<_> = tiny.split_inclusive('\n').collect();
    for (name, lines) in [("crawl/a.jsonl.gz", &lines[..15]), ("crawl/b.jsonl.gz", &lines[15..])] {
        here.write(name, packed(&lines.concat()));
    }
    let home = here.path("").display().to_string();
    for example in EXAMPLES {
        let said = here.shell(&format!("export HOME={home}; {}", example.line));
        assert_eq!(said.code, 0, "{}: {}", example.line, said.err);
        for file in example.line.split("> ").skip(1).map(|rest| rest.split(';').next().unwrap()) {
            assert!(
                std::fs::metadata(here.path(file)).unwrap().len() > 0,
                "{}: {file} is empty",
                example.line
            );
        }
    }
    let pairs = here.read("out/pairs.tsv");
    assert_eq!(pairs.lines().count(), 17);
    for file in ["pairs.tsv", "out3/pairs.tsv", "out4/pairs.tsv"] {
        assert_eq!(here.read(file), pairs, "{file}");
    }
    assert_eq!(here.read("clusters.tsv"), here.read("out/clusters.tsv"));
    // A slice's pairs stand in the order of its sets.
    here.shell("cmp <(sort queried-pairs) <(sort joined-pairs)").ok();
    assert_eq!(here.read("verified-pairs"), here.read("joined-pairs"), "prefixes and whole sets");
    // One task has found the components whole, so that the first round was the last.
    here.shell("cmp <(cut -f 1,3 clustered | sort) <(cut -f 1,3 components | sort)").ok();
    let stars = "cat joined-pairs members | cluster | LC_ALL=C sort | cluster-reduce --cluster star";
    here.shell(&format!("{stars} | cut -f 1,3 | sort | cmp - <(cut -f 1,3 star-labels | sort)")).ok();
    here.shell("cmp pairs.tsv <(LC_ALL=C sort expanded-pairs)").ok();
    here.say("twinsplit run doc-split --input docs.jsonl.gz --write-kept --keep-work --output all").ok();
    assert_eq!(here.read("kept.jsonl"), here.read("all/kept.jsonl"));
    // FILES of twinsplit-run are the files of a run.
    let page = written().read("share/man/man1/twinsplit-run.1");
    for name in names_in(&here.path("all")) {
        assert!(page.contains(&format!("OUTPUT/{name}\\fR")), "twinsplit-run says nothing of {name}");
    }
    assert!(here.path(".local/share/man/man1/keep.1").exists());
}

/// What a shell says when someone presses the tab key at the end of these words.
fn bash(here: &Place, words: &str) -> Vec<String> {
    let script = r#"
        set -u
        source "share/bash-completion/completions/$1"
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE=$* COMP_POINT=${#COMP_LINE}
        function=$(complete -p "$1" | sed 's/.*-F \([^ ]*\) .*/\1/')
        "$function" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2> /dev/null
        printf '%s\n' "${COMPREPLY[@]}""#;
    let mut args = vec!["-c", script, "bash"];
    args.extend(words.split(' '));
    tool(here, "bash", &args, "").ok().lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes() {
    let here = written();
    let folder = here.path("share/bash-completion/completions");
    let mut expected: BTreeSet<_> = STAGES.iter().map(|entry| entry.decl.name.to_owned()).collect();
    expected.insert("twinsplit".to_owned());
    assert_eq!(names_in(&folder), expected);
    for name in &expected {
        tool(&here, "bash", &["-n", &format!("share/bash-completion/completions/{name}")], "").ok();
        assert!(bash(&here, &format!("{name} --he")).contains(&"--help".to_owned()), "{name}");
    }
    for (words, completed) in [
        ("twinsplit ex", &["explain"][..]),
        ("twinsplit run --eng", &["--engine"]),
        ("twinsplit run --engine ", &["local", "pipes", "hadoop", "spark"]),
        ("twinsplit run t", &["term-split"]),
        ("pcp-map --com", &["--combine-pairs"]),
        ("tokenize --case-fold o", &["on", "off"]),
    ] {
        assert_eq!(bash(&here, words), completed, "{words}");
    }
    // Folders are left to readline, so they need a terminal and a tab key.
    std::fs::create_dir(here.path("share/a-folder")).unwrap();
    here.write("share/a-file", "");
    let keys = "source share/bash-completion/completions/twinsplit\n\
        twinsplit() { echo \"GOT $*.\"; }\n\
        twinsplit run --output share/a-\t\n\
        twinsplit run --input share/a-fi\t\n\
        exit\n";
    let shown = tool(&here, "script", &["-qec", "bash --norc --noprofile -i", "/dev/null"], keys).ok();
    assert_eq!(got(&shown), ["run --output share/a-folder/.", "run --input share/a-file."], "{shown}");
}

/// What a shell function that stands for the program was called with.
fn got(shown: &str) -> Vec<&str> {
    shown.lines().filter_map(|line| line.trim_end().strip_prefix("GOT ")).collect()
}

/// A real zsh at a real terminal, with tab keys.
#[test]
fn zsh_completes() {
    let here = written();
    let folder = here.path("share/zsh/site-functions");
    let files = names_in(&folder);
    assert_eq!(files.len(), STAGES.len() + 1);
    for file in files {
        tool(&here, "zsh", &["-f", "-n", &format!("share/zsh/site-functions/{file}")], "").ok();
    }
    let keys = "fpath=($PWD/share/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D\n\
        twinsplit() { print -r -- \"GOT $*.\" }; tokenize() { print -r -- \"GOT $*.\" }\n\
        twinsplit expl\t\n\
        twinsplit run --engine pi\t\n\
        twinsplit run --quie\t\n\
        tokenize --case-f\tof\t\n\
        exit\n";
    let shown = tool(&here, "script", &["-qec", "zsh -f -i", "/dev/null"], keys).ok();
    let expected = ["explain.", "run --engine pipes.", "run --quiet.", "--case-fold=off."];
    assert_eq!(got(&shown), expected, "{shown}");
}

#[test]
fn fish_completes() {
    let here = written();
    let folder = here.path("share/fish/vendor_completions.d");
    let files = names_in(&folder);
    assert_eq!(files.len(), STAGES.len() + 1);
    for file in files {
        tool(&here, "fish", &["-n", &format!("share/fish/vendor_completions.d/{file}")], "").ok();
    }
    for (words, completed) in [
        ("twinsplit ex", &["explain"][..]),
        ("twinsplit run --engine ", &["hadoop", "local", "pipes", "spark"]),
        ("twinsplit run --keep-", &["--keep-work"]),
        ("tokenize --case-fold o", &["off", "on"]),
    ] {
        let shown = tool(&here, "fish", &["-c", &format!("complete -C '{words}'")], "").ok();
        let got: Vec<_> = shown.lines().map(|line| line.split('\t').next().unwrap()).collect();
        assert_eq!(got, completed, "{words}");
    }
}

#[test]
fn the_command_says_what_it_needs() {
    let here = Place::new();
    here.say("twinsplit completions").fails(2, &["--completions", "--man", "--help"]);
    here.write("file", "");
    here.say("twinsplit completions --man file").fails(1, &["cannot create file/man1"]);
    // A slip is answered by what was likely meant.
    here.say("twinsplit exlpain").fails(2, &["'explain'", "--help"]);
    here.say("twinsplit run --ouptut out").fails(2, &["'--output'", "--help"]);
    here.say("tokenize --feature lines").fails(2, &["'--features'", "--help"]);
    let help = here.say("twinsplit --help").ok();
    for words in ["Examples:", "twinsplit run doc-split --input", "man twinsplit", "docs/"] {
        assert!(help.contains(words), "{words}: {help}");
    }
}
