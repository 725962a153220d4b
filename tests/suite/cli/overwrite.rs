//! What every command that writes a file does with what is there already.

use crate::common::cli::Place;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Two documents with the same words, and what else a command may read.
fn place() -> Place {
    let here = Place::new();
    let line = |id: &str| format!("{{\"id\":\"{id}\",\"text\":\"one two three four five six seven\"}}\n");
    here.write("documents", line("a") + &line("b"));
    here.write("trec", "<DOC>\n<DOCNO>a</DOCNO>\n<TEXT>one two three</TEXT>\n</DOC>\n");
    here.write("sets", "1 2 3\n1 2 3 4\n");
    here.write("rows", "a\t8f3a00c1d2e4b596\nb\t8f3a00c1d2e4b597\n");
    here.write("spots", "antecedent\tone\t1\n");
    here.say("twinsplit run doc-split --input documents --output run --features words:2 --tau 0.5 --quiet")
        .ok();
    here
}

/// A command with `OUT` for the file that it writes, and the files that it reads.
const COMMANDS: [(&str, &[&str]); 7] = [
    ("twinsplit idf --from documents --features words:2 --output OUT", &["documents"]),
    ("twinsplit convert trec --format trec --output OUT", &["trec"]),
    ("twinsplit join sets --tau 0.5 --output OUT", &["sets"]),
    ("twinsplit fingerprints build rows --output OUT", &["rows"]),
    ("twinsplit tune --input documents --kinds words:2 --write-sample OUT", &["documents"]),
    ("twinsplit annotate run --output OUT", &["documents", "run/run.json", "run/clusters.tsv"]),
    ("twinsplit report run --to OUT", &["documents", "run/run.json", "run/pairs.tsv", "run/clusters.tsv"]),
];

fn all_names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn no_command_writes_onto_what_it_reads() {
    let here = place();
    for (command, inputs) in COMMANDS {
        for input in inputs {
            let before = here.read(input);
            let [link, hard] = ["link", "hard"].map(|name| here.path(name));
            symlink(here.path(input), &link).unwrap();
            fs::hard_link(here.path(input), &hard).unwrap();
            for output in [*input, "link", "hard", format!("run/../{input}").as_str()] {
                for option in ["", " --overwrite"] {
                    let line = format!("{}{option}", command.replace("OUT", output));
                    here.say(&line).fails(2, &[output, "which this command reads"]);
                    assert_eq!(here.read(input), before, "{line}");
                }
            }
            assert!(link.is_symlink());
            [link, hard].iter().for_each(|path| fs::remove_file(path).unwrap());
        }
    }
}

/// Side files are read, too.
#[test]
fn no_command_writes_onto_a_side_file() {
    let here = place();
    here.say("twinsplit idf --from documents --features words:2 --output table").ok();
    let tune = "twinsplit tune --input documents --overwrite --write-sample";
    here.say(&format!("{tune} table --kinds words:2 --idf 0.1,0.99 --idf-table table"))
        .fails(2, &["table", "reads"]);
    here.say(&format!("{tune} spots --kinds spotsigs:spots")).fails(2, &["spots", "reads"]);
    let idf = "twinsplit idf --from documents --overwrite";
    here.say(&format!("{idf} --features spotsigs:spots --output spots")).fails(2, &["spots", "reads"]);
    here.shell("twinsplit join sets --tau 0.5 >> sets").fails(2, &["standard output", "sets"]);
    assert_eq!(here.read("sets"), "1 2 3\n1 2 3 4\n");
    here.shell("twinsplit fingerprints pairs rows >> rows").fails(2, &["standard output", "rows"]);
    here.shell("twinsplit fingerprints build rows --output index; cp index one").ok();
    here.shell("twinsplit fingerprints query index rows >> index").fails(2, &["standard output", "index"]);
    here.shell("cmp index one").ok();
}

#[test]
fn a_file_is_replaced_where_the_user_says_so() {
    let here = place();
    for (command, _) in COMMANDS {
        here.write("out", "mine");
        let line = command.replace("OUT", "out");
        here.say(&line).fails(2, &["out is there already; --overwrite replaces it"]);
        assert_eq!(here.read("out"), "mine", "{line}");
        here.say(&format!("{line} --overwrite")).ok();
        let written = fs::read(here.path("out")).unwrap();
        assert!(written.len() > 6, "{line}");
        fs::remove_file(here.path("out")).unwrap();
        here.say(&line).ok();
        // A page says when it was made.
        assert!(line.contains("report") || fs::read(here.path("out")).unwrap() == written, "{line}");
        fs::remove_file(here.path("out")).unwrap();
        // A command that fails leaves the old file.
        here.write("out", "mine");
        let damaged =
            line.replace(" documents", " run/run.json").replace(" trec ", " sets ").replace(" rows", " sets");
        let damaged = damaged
            .replace("join sets", "join documents")
            .replace("report run", "report none")
            .replace("annotate run", "annotate none");
        let said = here.say(&format!("{damaged} --overwrite"));
        assert!(said.code == 0 && damaged.contains("convert") || said.code > 0, "{damaged}: {said:?}");
        assert!(said.code == 0 || here.read("out") == "mine", "{damaged}");
        fs::remove_file(here.path("out")).unwrap();
    }
    assert_eq!(all_names(&here.path("")), ["documents", "rows", "run", "sets", "spots", "trec"]);
}

#[test]
fn streams_devices_and_pipes_are_written_as_they_come() {
    let here = place();
    for (command, _) in COMMANDS {
        let to = |output: &str| command.replace("OUT", output);
        here.shell(&to("file")).ok();
        let expected = fs::read(here.path("file")).unwrap();
        let is_page = command.contains("report");
        let same = |name: &str| is_page || fs::read(here.path(name)).unwrap() == expected;
        here.shell(&to("/dev/null")).ok();
        here.shell(&format!("mkfifo pipe; cat pipe > read & {}; wait", to("pipe"))).ok();
        assert!(same("read"), "{command}");
        if !command.contains("--write-sample") {
            here.shell(&format!("{} > redirected", to("/dev/stdout"))).ok();
            here.shell(&format!("{} | cat > piped", to("/dev/stdout"))).ok();
            here.shell(&format!("(echo before; {}; echo behind) > among", to("/dev/stdout"))).ok();
            assert!(same("redirected") && same("piped"), "{command}");
            let among = fs::read(here.path("among")).unwrap();
            assert!(among.starts_with(b"before\n") && among.ends_with(b"behind\n"), "{command}");
        }
        here.shell(&format!("{} 3> opened", to("/dev/fd/3"))).ok();
        assert!(same("opened"), "{command}");
        here.shell("rm -f file pipe read redirected piped among opened").ok();
    }
    assert!(Path::new("/dev/stdout").is_symlink());
    assert_eq!(all_names(&here.path("")), ["documents", "rows", "run", "sets", "spots", "trec"]);
}

/// What a command left that was killed goes with the next one that writes there; what one at work holds stays.
#[test]
fn what_a_killed_command_left_goes() {
    let here = place();
    let kill = "(cat trec; sleep 20) | twinsplit convert - --format trec --output out --quiet & \
                until [ -n \"$(ls -d .twinsplit-* 2> /dev/null)\" ]; do sleep .02; done;";
    let left = here.shell(&format!("{kill} kill -9 $!; ls -A")).ok();
    assert!(left.contains(".partial"), "{left}");
    here.shell("exec 9< .twinsplit-*/_lock; flock -n 9; twinsplit join sets --tau 0.5 --output pairs; ls -A | grep partial").ok();
    here.say("twinsplit join sets --tau 0.5 --output pairs --overwrite").ok();
    assert_eq!(all_names(&here.path("")), ["documents", "pairs", "rows", "run", "sets", "spots", "trec"]);
}

#[test]
fn commands_that_write_several_files_follow_the_same_rule() {
    let here = place();
    let corpus = "twinsplit generate-corpus --documents 20 --bytes 20K --quiet --output";
    here.say(&format!("{corpus} a/b")).ok();
    let first = here.read("a/b/documents.jsonl");
    here.say(&format!("{corpus} a/b --seed 2"))
        .fails(2, &["a/b/documents.jsonl is there already", "--overwrite"]);
    here.say(&format!("{corpus} a/b --seed 2 --model a/b --overwrite"))
        .fails(2, &["which this command reads"]);
    assert_eq!(here.read("a/b/documents.jsonl"), first);
    here.say(&format!("{corpus} a/b --seed 2 --overwrite")).ok();
    assert_ne!(here.read("a/b/documents.jsonl"), first);
    here.say(&format!("{corpus} a/b --gzip --overwrite")).fails(2, &["a/b/documents.jsonl is there"]);

    let shell = "twinsplit completions --completions share";
    here.say(shell).ok();
    here.say(shell).fails(2, &["is there already; --overwrite replaces it"]);
    here.say(&format!("{shell} --overwrite")).ok();
    here.write("share/bash-completion/completions/keep", "mine");
    here.say(&format!("{shell} --overwrite")).fails(2, &["keep was not made by twinsplit completions"]);

    here.write("part.1", "mine");
    here.with("twinsplit partition --fields 1 --parts 2 --to part", "a\n", &[]).fails(1, &["part.1"]);
    assert_eq!(here.read("part.1"), "mine");
}

/// Folders that a command made for its output go when it fails.
#[test]
fn a_command_that_fails_leaves_no_folder() {
    let here = place();
    here.say("twinsplit convert none --format trec --output a/b/c").fails(1, &["none"]);
    here.write("bad", "{\"id\":1}\n");
    here.say("twinsplit convert bad --format jsonl --output a/b/c").fails(1, &["bad, line 1"]);
    here.say("twinsplit generate-corpus --documents 20 --bytes 20K --model bad --output a/b/c")
        .fails(1, &["bad"]);
    assert!(!here.path("a").exists());
}

/// An answer of which a file is missing is not complete, wherever the file was: `--resume` does not say so, and `--overwrite` makes it again.
#[test]
fn an_answer_without_one_of_its_files_is_not_complete() {
    let here = place();
    let line = "twinsplit run doc-split -i documents --write-kept=same --resume -o out";
    here.say(line).ok();
    for gone in ["clusters.tsv", "kept/documents"] {
        let file = here.path("out").join(gone);
        let bytes = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        here.say(line).fails(2, &[gone, "is missing", "--overwrite"]);
        fs::write(&file, bytes).unwrap();
    }
    here.say(line).ok();
}
