//! A run removes and replaces only what a run recorded as its own, never through a link, and an old answer stays until
//! the new one is complete.

use crate::common::cli::{Place, binaries, jsonl, search_path};
use crate::common::harness::{bash, clean};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const WAYS: [&str; 4] = ["doc-split", "term-split --pcp prefix", "term-split", "doc-split --engine pipes"];
const FILES: [&str; 4] = ["clusters.tsv", "kept.jsonl", "pairs.tsv", "run.json"];

fn place() -> Place {
    let here = Place::new();
    here.write("docs", jsonl(&[("a", "x y z"), ("b", "x y z"), ("c", "u v w"), ("e", "x y z w")]));
    here
}

fn line(way: &str, more: &str) -> String {
    format!("twinsplit run {way} --features words:1 --quiet --write-kept --input docs --output out{more}")
}

fn files(here: &Place, folder: &str) -> [String; 4] {
    FILES.map(|file| here.read(&format!("{folder}/{file}")))
}

/// What a user keeps in the folder under a name of ours: nothing of it is touched, and all of it is named.
#[test]
fn what_no_run_recorded_stands_in_the_way() {
    let here = place();
    for (name, is_folder) in [
        ("pairs.tsv", false),
        ("clusters.tsv", false),
        ("kept.jsonl", false),
        ("quarantine.tsv", false),
        ("report.html", false),
        ("run.json", false),
        ("counters.json", false),
        ("pairs", true),
        ("clusters", true),
        ("kept", true),
        ("_work", true),
    ] {
        for (at, way) in WAYS.iter().enumerate() {
            fs::create_dir(here.path("out")).unwrap();
            // Beside nothing of ours, and beside an answer.
            if at % 2 == 1 {
                here.say(&line("doc-split --write clusters", "")).ok();
                fs::remove_file(here.path("out/kept.jsonl")).unwrap();
                if FILES.contains(&name) && name != "pairs.tsv" {
                    fs::remove_file(here.path("out/run.json")).unwrap();
                    let _ = fs::remove_file(here.path("out").join(name));
                }
            }
            let file = if is_folder {
                fs::create_dir(here.path("out").join(name)).unwrap();
                here.write(&format!("out/{name}/_SUCCESS"), "");
                format!("out/{name}/part-00000")
            } else {
                format!("out/{name}")
            };
            here.write(&file, "{\"mine\": 1}\n");
            if at < 3 {
                here.say(&line(way, "")).fails(2, &["out"]);
                here.say(&line(way, " --overwrite")).fails(2, &[&format!("out/{name}")]);
            }
            assert_ne!(here.say(&line(way, " --resume")).code, 0, "{way}: {name}");
            assert_eq!(here.read(&file), "{\"mine\": 1}\n", "{way}");
            assert!(name == "_work" || !here.path("out/_work").exists(), "{way}: {name}");
            fs::remove_dir_all(here.path("out")).unwrap();
        }
    }
}

/// Neither what a link leads to nor the link is a run's.
#[test]
fn links_are_not_followed() {
    let here = place();
    for name in ["_work", "pairs.tsv", "run.json"] {
        for more in [" --overwrite", "", " --resume"] {
            here.say(&line("doc-split", "")).ok();
            let _ = fs::remove_file(here.path("out").join(name));
            fs::create_dir(here.path("theirs")).unwrap();
            here.write("theirs/file", "theirs\n");
            here.write("theirs/_lock", "");
            here.write("theirs/_run.json", "{\"twinsplit\":\"0.1.0\",\"chain\":\"doc-split\"}\n");
            let target = if name == "_work" { "../theirs" } else { "../theirs/file" };
            symlink(target, here.path("out").join(name)).unwrap();
            let said = here.say(&line("doc-split", more));
            if name != "pairs.tsv" || more != " --resume" {
                said.fails(2, &["out"]);
            }
            assert_eq!(here.names("theirs"), ["_lock", "_run.json", "file"].map(str::to_owned).into());
            assert_eq!(here.read("theirs/file"), "theirs\n");
            for folder in ["out", "theirs"] {
                fs::remove_dir_all(here.path(folder)).unwrap();
            }
        }
    }
}

/// A slip in an option or in the data, and a bound that is met at the end: the answer is the old one, and whole.
#[test]
fn an_old_answer_stays_until_the_new_one_is_complete() {
    let here = place();
    here.write("bad", "{\"id\":\"a\",\"text\":\"x y z\"}\nno document\n");
    here.write("twice", jsonl(&[("a", "x"), ("a", "y")]));
    for way in WAYS {
        here.say(&line(way, " --tau 0.6")).ok();
        let old = files(&here, "out");
        for (more, code, words) in [
            (" --idf-table tabel --idf 0.1,1", 1, "tabel"),
            (" --max-pairs 0", 1, "max-pairs"),
            (" --tau 7", 2, "tau"),
        ] {
            here.say(&line(way, &format!(" --overwrite{more}"))).fails(code, &[words]);
            assert_eq!(files(&here, "out"), old, "{way}{more}");
        }
        for input in ["bad", "twice", "nowhere"] {
            let line = line(way, " --overwrite").replace("docs", input);
            here.say(&line).fails(1, &[]);
            assert_eq!(files(&here, "out"), old, "{way}: {input}");
        }
        // What the failed ones left is named by their own manifest.
        here.say(&line(way, " --overwrite --tau 0.9 --write clusters")).ok();
        assert_eq!(here.names("out"), ["clusters.tsv", "kept.jsonl", "run.json"].map(str::to_owned).into());
        fs::remove_dir_all(here.path("out")).unwrap();
    }
}

/// A run that was stopped beside an old answer goes on, and replaces it then.
#[test]
fn a_stopped_run_beside_an_old_answer_goes_on() {
    // With a cut, plain Term-Split begins and is stopped by its postings; without, it would be refused at once.
    for way in ["term-split --df-cut 1000000000", "doc-split --engine pipes"] {
        let here = place();
        here.say(&line(way, " --tau 0.9")).ok();
        let old = files(&here, "out");
        here.say(&line(way, " --overwrite --max-pairs 0")).fails(1, &["max-pairs"]);
        assert!(here.path("out/_work/members").exists());
        here.say(&line(way, "")).fails(2, &["holds a run that was stopped"]);
        here.say(&line(way, " --resume --tau 0.9")).fails(2, &["--tau was 0.65 and is 0.9"]);
        assert_eq!(files(&here, "out"), old);
        here.say(&line(way, " --resume")).ok();
        assert!(here.names("out").into_iter().eq(FILES));
        here.say(&line(way, " --overwrite").replace("--output out", "--output new")).ok();
        assert_eq!(files(&here, "out")[..3], files(&here, "new")[..3]);
        assert_ne!(files(&here, "out")[..3], old[..3]);
    }
}

/// The moves that publish an answer, stopped after each of them.
#[test]
fn a_swap_that_was_stopped_is_ended() {
    let here = place();
    here.say(&line("doc-split", " --tau 0.6").replace("--output out", "--output old")).ok();
    here.shell("twinsplit report old").ok();
    here.say(&line("doc-split", " --keep-work").replace("--output out", "--output new")).ok();
    let new = files(&here, "new");
    let moves = ["run.json", "clusters.tsv", "kept.jsonl", "pairs.tsv", "report.html"]
        .map(|name| format!("out/{name} out/_work/_replaced"));
    let moves: Vec<_> =
        moves.into_iter().chain(FILES.map(|name| format!("out/_work/_answer/{name} out"))).collect();
    for done in 0..=moves.len() {
        for more in [" --resume", " --overwrite", ""] {
            here.shell(
                "cp -r old out; cp -r new/_work out; mkdir out/_work/_answer; rmdir out/_work/_replaced",
            )
            .ok();
            here.shell(
                "cp new/*.* out/_work/_answer; sed -i 's/\"keep_work\":true/\"keep_work\":false/; \
                 s/\"overwrite\":false/\"overwrite\":true/' out/_work/_run.json; grep -q 'keep_work\":false' out/_work/_run.json",
            )
            .ok();
            if done > 0 {
                let moves: Vec<_> = moves[..done].iter().map(|words| format!("mv {words}")).collect();
                here.shell(&format!("mkdir out/_work/_replaced; {}", moves.join("; "))).ok();
            }
            let said = here.say(&line("doc-split", more));
            let what = format!("{done} moves, then{more}");
            match more {
                "" if done == moves.len() => said.fails(2, &["exists and is not empty"]),
                "" => said.fails(2, &["holds a run that was stopped"]),
                _ => said.ok(),
            };
            if !more.is_empty() || done == moves.len() {
                assert!(here.names("out").into_iter().eq(FILES), "{what}: {:?}", here.names("out"));
                assert_eq!(files(&here, "out")[..3], new[..3], "{what}");
            }
            fs::remove_dir_all(here.path("out")).unwrap();
        }
    }
}

/// Killed between `run.json` and the cleanup: whoever comes next removes what its manifest names.
#[test]
fn what_a_run_that_is_over_left_is_removed() {
    let here = place();
    here.say(&line("doc-split", " --keep-work")).ok();
    let kept = here.names("out/_work");
    let lines = ["twinsplit report out --overwrite", "twinsplit explain a b --run out"];
    for reader in lines {
        here.say(reader).ok();
        assert_eq!(here.names("out/_work"), kept, "{reader}: it was asked to stay");
    }
    here.say(&line("doc-split", "")).fails(2, &["exists and is not empty"]);
    for next in lines.map(str::to_owned).into_iter().chain([line("doc-split", " --resume")]) {
        here.shell(
            "cp -r out/_work saved; sed -i s/keep_work.:true/keep_work\\\":false/ out/_work/_run.json",
        )
        .ok();
        here.say(&next).ok();
        assert!(!here.path("out/_work").exists(), "{next}");
        fs::rename(here.path("saved"), here.path("out/_work")).unwrap();
    }
}

/// A run that waits for its documents is at work, whatever the second one is asked for.
#[test]
fn a_second_run_is_told_of_the_first() {
    let here = place();
    here.shell("mkfifo pipe").ok();
    let line = "twinsplit run doc-split --features words:1 --quiet --input pipe --output out";
    let mut first = clean(Command::new(binaries().join("twinsplit")));
    first.args(line.split(' ').skip(1)).current_dir(here.path("")).stdin(Stdio::null());
    let mut first = first.spawn().unwrap();
    while !here.path("out/_work/_run.json").exists() {
        assert!(first.try_wait().unwrap().is_none(), "the first run ended early");
        std::thread::sleep(Duration::from_millis(5));
    }
    for more in ["", " --overwrite"] {
        here.say(&format!("{line}{more}")).fails(2, &["a run is in progress in out"]);
    }
    here.shell("cat docs > pipe").ok();
    assert!(first.wait().unwrap().success());
    assert!(here.path("out/run.json").exists() && !here.path("out/_work").exists());
}

/// Of two runs that begin at once in a folder that is not there yet, one makes the answer; the other ends and touches nothing
/// of it, whether it comes while the first is at work or after.
#[test]
fn of_two_new_runs_the_second_ends() {
    for way in ["doc-split", "term-split", "doc-split --engine pipes"] {
        let here = place();
        here.say(&line(way, "").replace("--output out", "--output alone")).ok();
        let runs = [(), ()].map(|()| {
            let mut run = clean(Command::new(binaries().join("twinsplit")));
            run.args(line(way, "").split(' ').skip(1)).env("PATH", search_path());
            start(&here, run)
        });
        let refused = one_ends(runs, 2, way);
        let told = ["a run is in progress in out", "out exists and is not empty"];
        assert!(told.iter().any(|told| refused.contains(told)), "{way}: {refused}");
        for file in &FILES[..3] {
            assert_eq!(
                here.read(&format!("out/{file}")),
                here.read(&format!("alone/{file}")),
                "{way}: {file}"
            );
        }
        assert_eq!(here.names("out"), here.names("alone"), "{way}");
    }
}

/// The same for a script that a user starts. Both runs have seen that the folder is empty before either goes on: the `ls` that
/// they look with waits for both.
#[test]
fn of_two_new_runs_of_a_script_the_second_ends() {
    let here = place();
    let script = here.say("twinsplit plan doc-split --features words:1 --write-kept --inline").ok();
    here.write("script.sh", script);
    here.shell("bash script.sh alone docs").ok();
    fs::create_dir_all(here.path("bin")).unwrap();
    fs::create_dir(here.path("met")).unwrap();
    let ls = here.shell("command -v ls").ok();
    let ls = format!(
        "#!/bin/bash\nseen=$({} \"$@\")\ntouch met/$$\nuntil met=(met/*) && ((${{#met[@]}} > 1)); do sleep .01; done\necho \"$seen\"\n",
        ls.trim()
    );
    // Written by a process of its own: nothing that another test starts may have it open when it is run.
    here.write("ls", ls);
    here.shell("cp ls bin/ls; chmod 755 bin/ls").ok();
    let runs = [(), ()].map(|()| {
        let mut run = bash();
        run.args(["script.sh", "out", "docs"]);
        run.env("PATH", format!("{}:{}", here.path("bin").display(), search_path()));
        start(&here, run)
    });
    let refused = one_ends(runs, 1, "a script");
    assert!(refused.contains("error: out/_work/_same could not be made: another run has begun"), "{refused}");
    assert!(!refused.contains("tokenize:"), "no step of it ran: {refused}");
    for file in &FILES[..3] {
        assert_eq!(here.read(&format!("out/{file}")), here.read(&format!("alone/{file}")), "{file}");
    }
    // One that comes later is told, too.
    here.shell("bash script.sh out docs").fails(1, &["out holds an answer; remove it first"]);
}

fn start(here: &Place, mut run: Command) -> Child {
    run.current_dir(here.path("")).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// What the one that failed with this code said; the other one ended well.
fn one_ends(runs: [Child; 2], code: i32, way: &str) -> String {
    let [first, second] = runs.map(|run| run.wait_with_output().unwrap());
    let (good, bad) = if first.status.success() { (first, second) } else { (second, first) };
    let said = String::from_utf8(bad.stderr).unwrap();
    assert!(good.status.success(), "{way}: both ended: {said}{}", String::from_utf8_lossy(&good.stderr));
    assert_eq!(bad.status.code(), Some(code), "{way}: {said}");
    said
}

/// What is in a folder and is no file is named, and its documents are not missed in silence.
#[test]
fn a_pipe_in_a_folder_of_documents_is_refused() {
    let here = place();
    here.shell("mkdir -p in/below; cp docs in; mkfifo in/below/pipe").ok();
    for way in WAYS {
        let said = here.say(&line(way, "").replace("docs", "in"));
        said.fails(1, &["in/below/pipe: this is a named pipe"]);
        assert!(!here.path("out").exists(), "{way}");
    }
}

/// Tasks that would never end are gone soon after their run was stopped, even when nobody asks for its exit code.
#[test]
fn tasks_end_with_a_run_that_is_stopped() {
    for signal in ["TERM", "QUIT", "INT", "KILL"] {
        let here = place();
        fs::create_dir(here.path("bin")).unwrap();
        // By a process of its own: nothing that another test starts may have it open when it is run.
        here.shell("printf '#!/bin/sh\\ntouch started\\nsleep 600\\n' > bin/sort; chmod 755 bin/sort").ok();
        let mut run = clean(Command::new(binaries().join("twinsplit")));
        run.args(line("doc-split --engine pipes", "").split(' ').skip(1)).current_dir(here.path(""));
        run.env("PATH", format!("{}:{}", here.path("bin").display(), search_path()));
        let mut run = run.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        while !here.path("started").exists() {
            assert!(run.try_wait().unwrap().is_none(), "the run ended early");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(
            Command::new("kill")
                .args([&format!("-{signal}"), &run.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        // All tasks hold the lock until they are gone. The run itself stays a zombie meanwhile.
        let lock = fs::File::open(here.path("out/_work/_lock")).unwrap();
        let start = Instant::now();
        while lock.try_lock().is_err() {
            assert!(start.elapsed() < Duration::from_secs(60), "tasks outlive {signal}");
            std::thread::sleep(Duration::from_millis(5));
        }
        let ended = run.wait_with_output().unwrap();
        assert!(ended.status.signal().is_some(), "{signal}: {}", ended.status);
        let err = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(err.contains("interrupted; to go on: "), signal != "KILL", "{signal}: {err}");
    }
}

/// The quarantine is a part of the answer, in `run.json` as the rest of it.
#[test]
fn a_quarantine_is_recorded() {
    let here = place();
    here.shell("echo bad >> docs").ok();
    here.say(&line("doc-split", " --bad-records 1")).ok();
    let run: Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
    let paths: Vec<_> =
        run["outputs"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert!(paths.contains(&"out/quarantine.tsv"), "{paths:?}");
}

/// Files that other commands write: what they did not make is not replaced unless it is named.
#[test]
fn other_commands_replace_only_what_is_theirs() {
    let here = place();
    here.say(&line("doc-split", "")).ok();
    here.write("out/report.html", "mine");
    here.say("twinsplit report out").fails(2, &["out/report.html was not written by twinsplit report"]);
    assert_eq!(here.read("out/report.html"), "mine");
    here.say("twinsplit report out --to page").ok();
    here.shell("rm out/report.html; twinsplit report out; twinsplit report out --overwrite").ok();
    here.say("twinsplit report out").fails(2, &["out/report.html is there already; --overwrite"]);

    for (name, content) in
        [("documents.jsonl", "mine"), ("_truth.tsv", "mine"), ("documents.jsonl.gz", "mine")]
    {
        fs::create_dir(here.path("made")).unwrap();
        here.write(&format!("made/{name}"), content);
        let said = here.say("twinsplit generate-corpus --documents 10 --bytes 10K --output made --quiet");
        said.fails(2, &[&format!("made/{name}")]);
        assert!(here.names("made").into_iter().eq([name]) && here.read(&format!("made/{name}")) == content);
        fs::remove_dir_all(here.path("made")).unwrap();
    }

    here.write("table.quarantine.tsv", "mine");
    here.write("table.partial", "mine");
    here.say("twinsplit idf --from docs --output table --features words:1").ok();
    here.say("twinsplit idf --from docs --output table --overwrite --features words:1 --bad-records 1")
        .fails(2, &["table.quarantine.tsv"]);
    here.write("sets", "1 2\n1 2\n");
    here.write("out.tsv.partial", "mine");
    here.say("twinsplit join sets --tau 1 --output out.tsv").ok();
    for name in ["table.quarantine.tsv", "table.partial", "out.tsv.partial"] {
        assert_eq!(here.read(name), "mine", "{name}");
    }

    fs::create_dir_all(here.path("share/man/man1")).unwrap();
    here.write("share/man/man1/keep.1", "another keep");
    let shell = "twinsplit completions --completions share --man share/man";
    here.say(shell).fails(2, &["share/man/man1/keep.1"]);
    assert_eq!(here.read("share/man/man1/keep.1"), "another keep");
    assert!(
        !here.path("share/man/man1/tokenize.1").exists(),
        "nothing is written when something is in the way"
    );
    fs::remove_file(here.path("share/man/man1/keep.1")).unwrap();
    here.shell(&format!("{shell}; {shell} --overwrite")).ok();

    here.say("twinsplit stages --write share").fails(2, &["share"]);
    assert!(!here.path("share/docs").exists());
}

/// What a run would replace is no input of any kind, by whatever name.
#[test]
fn no_run_replaces_what_it_reads() {
    let here = place();
    here.say(&line("doc-split", "")).ok();
    let kept = here.read("out/kept.jsonl");
    fs::hard_link(here.path("out/kept.jsonl"), here.path("hard")).unwrap();
    symlink("out/kept.jsonl", here.path("link")).unwrap();
    let simhash = "twinsplit run simhash --quiet --input docs --output out --overwrite --queries";
    for queries in ["out/kept.jsonl", "hard", "link", "out/../out/kept.jsonl"] {
        here.say(&format!("{simhash} {queries}")).fails(2, &[queries, "which this run reads"]);
    }
    for table in ["--idf-table out/pairs.tsv --idf 0,0.9", "--features spotsigs:out/clusters.tsv"] {
        let run = format!("twinsplit run doc-split --quiet --input docs --output out --overwrite {table}");
        let said = here.say(&run);
        assert!(said.code > 0 && here.path("out/run.json").exists(), "{}", said.err);
    }
    here.say("twinsplit run doc-split --quiet --input hard --output out/ --overwrite")
        .fails(2, &["hard", "which this run reads"]);
    here.say("twinsplit run doc-split --quiet --input docs --output . --overwrite").fails(2, &["docs"]);
    assert_eq!(here.read("out/kept.jsonl"), kept);
}

/// What was changed by hand after the run is named, and stays.
#[test]
fn what_was_changed_after_the_run_stands_in_the_way() {
    let here = place();
    for name in ["pairs.tsv", "clusters.tsv", "kept.jsonl"] {
        here.say(&line("doc-split", "")).ok();
        let file = format!("out/{name}");
        let whole = here.read(&file);
        // Of another length, and of the same.
        for changed in [format!("{whole}mine\n"), whole.replacen('a', "A", 1)] {
            here.write(&file, &changed);
            for more in [" --overwrite", " --resume"] {
                here.say(&line("doc-split", more)).fails(2, &[&format!("{file} was changed after the run")]);
            }
            assert_eq!(here.read(&file), changed);
        }
        fs::rename(here.path(&file), here.path("moved")).unwrap();
        here.say(&line("doc-split", " --overwrite")).ok();
        assert_eq!(here.read(&file), whole);
        fs::remove_dir_all(here.path("out")).unwrap();
    }
}

/// Folders that a run made go when it fails, and those that were there stay.
#[test]
fn a_run_that_fails_leaves_no_folder() {
    let here = place();
    here.write("docs", "bad\n");
    fs::create_dir(here.path("old")).unwrap();
    for way in WAYS {
        for output in ["a/b/c", "old/a/b"] {
            here.say(&line(way, "").replace("--output out", &format!("--output {output}")))
                .fails(1, &["docs, line 1"]);
        }
        assert!(!here.path("a").exists() && here.names("old").is_empty(), "{way}");
    }
}
