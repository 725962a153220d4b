//! A run that was stopped, anyhow and at any moment, goes on to the same bytes; another run does not go on with it.

use crate::common::cli::{Place, binaries, fixture, jsonl, search_path};
use crate::common::harness::{bash, clean};
use crate::common::real;
use crate::common::rng::Rng;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const FILES: [&str; 3] = ["pairs.tsv", "clusters.tsv", "kept.jsonl"];
/// Kills of each way, and of each in `make test-long`.
const MOMENTS: usize = 8;
const MANY: usize = 100;
const SEED: u64 = 97;
/// By then a run has ended, on any machine.
const ENDS: Duration = Duration::from_secs(300);

fn run(here: &Place, way: &str, output: &str) -> Command {
    run_on(&fixture("documents/en.jsonl.gz"), here, way, output)
}

fn run_on(input: &Path, here: &Place, way: &str, output: &str) -> Command {
    let mut command = clean(Command::new(binaries().join("twinsplit")));
    command.arg("run").args(way.split(' ')).args([
        "--write-kept",
        "--keep-work",
        "--quiet",
        "--threads",
        "2",
    ]);
    command.arg("--input").arg(input);
    command.args(["--output", output]).current_dir(here.path("")).stdin(Stdio::null());
    command
}

fn answer(here: &Place, output: &str) -> [String; 3] {
    FILES.map(|file| here.read(&format!("{output}/{file}")))
}

/// Files below a folder whose names match.
fn below(folder: &Path, which: &dyn Fn(&str) -> bool, found: &mut Vec<PathBuf>) {
    // The run that is being watched makes and removes files meanwhile.
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            below(&path, which, found);
        } else if which(&entry.file_name().to_string_lossy()) {
            found.push(path);
        }
    }
}

/// Whether a file of a step is being written: it is there, begun, and has not its name yet.
fn inside_a_write(work: &Path) -> bool {
    let mut growing = Vec::new();
    below(work, &|name| name.ends_with(".partial"), &mut growing);
    growing.iter().any(|path| path.metadata().is_ok_and(|meta| meta.len() > 0))
}

/// The part files of finished steps, each with its inode and time of writing.
fn finished(work: &Path) -> BTreeMap<PathBuf, (u64, i64, i64)> {
    let mut parts = Vec::new();
    for entry in std::fs::read_dir(work).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() && !name.starts_with('_') && !name.ends_with(".partial") {
            below(&entry.path(), &|name| name.starts_with("part-") || name.starts_with("slice-"), &mut parts);
        }
    }
    parts
        .into_iter()
        // The kept lines move to their place in the answer.
        .filter(|path| !path.ends_with("kept/part-00000"))
        .filter_map(|path| path.metadata().ok().map(|m| (path.clone(), (m.ino(), m.mtime(), m.mtime_nsec()))))
        .collect()
}

fn wait(child: &mut Child, until: Instant, stop: &dyn Fn() -> bool) -> bool {
    while Instant::now() < until {
        if child.try_wait().unwrap().is_some() || stop() {
            return child.try_wait().unwrap().is_none();
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    child.try_wait().unwrap().is_none()
}

/// Kills a way of running: half of the moments are while a step's file grows, a quarter when a step is finished, and the others uniform over
/// its time.
fn survives_kills(way: &str, moments: usize) {
    let mut rng = Rng::new(SEED);
    let here = Place::new();
    // What is alike is mostly short, and to write it many times over takes as long as it is.
    let pages =
        real::read(&fixture("documents/en.jsonl.gz")).into_iter().filter(|page| page.line.len() < 6000);
    let input = here.path("pages");
    here.write("pages", pages.map(|page| page.line + "\n").collect::<String>());
    let start = Instant::now();
    here.run(run_on(&input, &here, way, "whole"), "").ok();
    let time = start.elapsed();
    let expected = answer(&here, "whole");
    assert!(expected[0].lines().count() > 1000);

    let (mut tries, mut with_steps) = (0, 0);
    for moment in 0..moments {
        // The machine may be faster than it was: a run that ended by itself, or wrote nothing just then, is tried anew.
        let (output, before) = loop {
            tries += 1;
            assert!(tries < 20 * moments, "{way}: too few runs can be killed");
            let output = format!("out{tries}");
            let work = here.path(&output).join("_work");
            let delay = time.mul_f64(rng.below(1000) as f64 / 1000.0);
            let inside = moment % 2 == 1;
            let after_a_step = moment % 4 == 0 && way != WITHOUT_STEPS;
            let mut child = run_on(&input, &here, way, &output).spawn().unwrap();
            // The first run may have been much faster than this one, so no time says when a step is finished.
            let mut living = match after_a_step {
                true => wait(&mut child, Instant::now() + ENDS, &|| !finished(&work).is_empty()),
                false => wait(&mut child, Instant::now() + delay, &|| false),
            };
            if inside {
                living = wait(&mut child, Instant::now() + ENDS, &|| inside_a_write(&work));
            }
            child.kill().unwrap();
            child.wait().unwrap();
            if here.path(&output).join("run.json").exists() {
                // Only its memory was still to be given back: what looks finished has to be whole.
                assert_eq!(answer(&here, &output), expected, "{way}: a finished run");
                continue;
            }
            let before = finished(&work);
            if living && (!inside || inside_a_write(&work)) && (!after_a_step || !before.is_empty()) {
                break (output, before);
            }
        };
        let work = here.path(&output).join("_work");
        with_steps += usize::from(!before.is_empty());

        let mut again = run_on(&input, &here, way, &output);
        again.arg("--resume");
        here.run(again, "").ok();
        assert_eq!(answer(&here, &output), expected, "{way}, moment {moment}");
        let after = finished(&work);
        for (part, stamp) in &before {
            // What the last round made has got another name.
            assert!(after.values().any(|known| known == stamp), "{} was written twice", part.display());
        }
    }
    println!(
        "{way}: {moments} kills, half of them inside a write, {with_steps} of them with finished steps, {tries} tries"
    );
    if way != WITHOUT_STEPS {
        assert!(with_steps >= moments / 4, "{with_steps} kills came after a step");
    }
}

const IN_ONE_PROCESS: &str = "term-split --pcp prefix --df-cut 1000000000 --tau 0.6 --memory 80";
const BY_PIPES: &str = "doc-split --engine pipes --tau 0.6";
/// What is one process on numbers has no finished steps to go on with: it begins anew, and ends the same.
const WITHOUT_STEPS: &str = "doc-split --engine local --tau 0.6 --memory 80";

#[test]
fn killed_steps_in_one_process_go_on() {
    survives_kills(IN_ONE_PROCESS, MOMENTS);
}

#[test]
fn killed_pipes_go_on() {
    survives_kills(BY_PIPES, MOMENTS);
}

#[test]
fn a_killed_doc_split_goes_on() {
    survives_kills(WITHOUT_STEPS, MOMENTS);
}

#[test]
#[ignore = "minutes; run by `make test-long`"]
fn runs_go_on_wherever_they_are_killed() {
    for way in [IN_ONE_PROCESS, BY_PIPES, WITHOUT_STEPS] {
        survives_kills(way, MANY);
    }
}

const CLUSTERS: &str = "a\ta\tkeep\t-\na\tb\tdrop\t1.000000\na\te\tdrop\t0.750000\n\
                        c\tc\tkeep\t-\nc\td\tdrop\t1.000000\n";

fn small(here: &Place) {
    here.write("docs", jsonl(&[("a", "x y z"), ("b", "x y z"), ("c", "u v w"), ("e", "x y z w")]));
    here.write("more", jsonl(&[("d", "u v w")]));
}

/// With this plain Term-Split begins, and its postings are counted by a step: without, a run that its limit will stop is
/// refused before it begins.
const COUNTED: &str = "--df-cut 1000000000";

/// Stops a run at its last step: more pairs than it may write.
fn stopped(here: &Place, engine: &str) {
    let line = format!(
        "twinsplit run term-split --engine {engine} {COUNTED} --features words:1 --input docs more --output out --max-pairs 0"
    );
    let said = here.say(&format!("{line} --write clusters"));
    // No pair is one too many: the bound is met by pairs of postings.
    said.fails(1, &["max-pairs"]);
}

/// What differs is named, and nothing of the stopped run is touched.
#[test]
fn another_run_is_refused_by_name() {
    let here = Place::new();
    let base =
        format!("twinsplit run term-split {COUNTED} --features words:1 --input docs more --output out");
    let cases: [(&str, &str, &[&str]); 9] = [
        ("--tau 0.6", "", &["--tau was 0.65 and is 0.6"]),
        ("--features words:1 --features words:1", "", &["cannot be used multiple times"]),
        ("--case-fold off", "", &["--case-fold was on and is off"]),
        ("--write-kept", "", &["--write-kept was false and is true"]),
        ("--engine pipes", "", &["engine was local and is pipes"]),
        ("", "printf changed > more", &["the input more has changed"]),
        ("", "mv more less", &["more: there is no such file"]),
        ("", "mv more docs2; cp docs2 more; printf ' ' >> docs", &["the input docs has changed"]),
        ("--idf 0,0.9", "", &["--idf was 0,1 and is 0,0.9"]),
    ];
    for (options, change, words) in cases {
        small(&here);
        here.say(&format!("{base} --max-pairs 0")).fails(1, &["--max-pairs"]);
        assert!(here.path("out/_work/members").exists(), "finished steps stay");
        let kept = finished(&here.path("out/_work"));
        if !change.is_empty() {
            here.shell(change).ok();
        }
        let line = format!("{base} {options} --resume");
        here.say(line.replace("  ", " ").trim())
            .fails(if words[0].contains("no such") { 1 } else { 2 }, words);
        assert_eq!(finished(&here.path("out/_work")), kept, "{options}{change}");
        std::fs::remove_dir_all(here.path("out")).unwrap();
    }
    println!("{} differences named", cases.len());
    let other = here.say(&base.replace(&format!("term-split {COUNTED}"), "doc-split"));
    other.ok();
    let line = format!("{base} --pcp prefix --resume");
    here.say(&line).fails(2, &["chain was doc-split and is term-split", "--pcp was plain and is prefix"]);
}

/// Bounds may differ: a run that met one goes on with another.
#[test]
fn a_run_that_met_a_bound_goes_on_with_another() {
    for engine in ["local", "pipes"] {
        let here = Place::new();
        small(&here);
        stopped(&here, engine);
        let line = format!(
            "twinsplit run term-split --engine {engine} {COUNTED} --features words:1 --write clusters --input docs more --output out"
        );
        here.say(&line).fails(2, &["holds a run that was stopped", "--resume"]);
        here.say(&format!("{line} --resume --max-pairs 9 --threads 1 --memory 80")).ok();
        assert_eq!(here.read("out/clusters.tsv"), CLUSTERS);
        assert!(!here.path("out/pairs.tsv").exists() && !here.path("out/_work").exists());
        let said = here.say(&format!("{line} --resume"));
        assert!(said.err.contains("complete answer"), "{}", said.err);
        said.ok();
    }
}

/// What was counted before a run was stopped decides which of two ways it goes on.
#[test]
fn a_run_goes_on_by_the_way_that_it_had_chosen() {
    let here = Place::new();
    for (way, lists, candidates) in [
        ("minhash --rows 1 --bands 8", "band-lists", "hub-candidates"),
        ("term-split --pcp prefix", "posting-lists", "hub-candidates"),
    ] {
        small(&here);
        let line = format!(
            "twinsplit run {way} --engine pipes --graph 0 --cluster components --features words:1 --write clusters --input docs more --output out"
        );
        here.say(&format!("{line} --max-pairs 0")).fails(1, &["max-pairs"]);
        let work = here.path("out/_work");
        let stamp = |data: &str| work.join(data).join("part-00000").metadata().unwrap().modified().unwrap();
        assert!(work.join(lists).exists() && !work.join(candidates).exists(), "{way}");
        let before = stamp(lists);
        here.say(&format!("{line} --resume --max-pairs 9 --keep-work")).ok();
        assert_eq!((stamp(lists), here.read("out/clusters.tsv")), (before, CLUSTERS.to_owned()), "{way}");
        let run: serde_json::Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
        let steps = run["steps"].as_array().unwrap();
        assert!(steps.iter().any(|step| step == candidates), "{steps:?}");
        std::fs::remove_dir_all(here.path("out")).unwrap();
    }
}

/// `--resume` in a script that is started for the first time begins.
#[test]
fn there_may_be_nothing_to_go_on_with() {
    let here = Place::new();
    small(&here);
    let line = "twinsplit run doc-split --features words:1 --input docs --output out --resume";
    here.say(line).ok();
    assert!(here.path("out/run.json").exists());
    // Programs that go on with a run that has ended get what it printed then.
    assert_eq!(here.say(&format!("{line} --json")).ok(), here.read("out/run.json"));
    // Killed before it had written anything but its lock.
    std::fs::create_dir_all(here.path("early/_work")).unwrap();
    here.write("early/_work/_lock", "");
    here.say(&line.replace("--output out", "--output early")).ok();
    assert_eq!(here.read("early/pairs.tsv"), here.read("out/pairs.tsv"));
    // Somebody else's folder is neither written into nor gone on with.
    std::fs::create_dir(here.path("other")).unwrap();
    here.write("other/file", "mine");
    here.say(&line.replace("--output out", "--output other")).fails(2, &["exists and is not empty"]);
    assert!(!here.path("other/_work").exists());
}

#[test]
fn two_runs_do_not_share_a_folder() {
    let here = Place::new();
    let mut first = run(&here, "term-split --pcp prefix", "out").spawn().unwrap();
    while !here.path("out/_work/_run.json").exists() {
        assert!(first.try_wait().unwrap().is_none(), "the first run ended early");
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut second = run(&here, "term-split --pcp prefix", "out");
    second.arg("--resume");
    // It waits some seconds for the first one, which may end meanwhile: then the answer is complete.
    let said = here.run(second, "");
    assert!(first.wait().unwrap().success());
    if said.code != 0 {
        said.fails(2, &["a run is in progress in out"]);
    }
    assert!(here.path("out/run.json").exists());
}

/// Ctrl-C: the exit code of shells, nothing half written, and a line that goes on.
#[test]
fn an_interrupted_run_says_how_to_go_on() {
    for way in ["term-split", "doc-split --engine pipes"] {
        let here = Place::new();
        here.run(run(&here, way, "whole"), "").ok();
        let mut child = run(&here, way, "out").stderr(Stdio::piped()).spawn().unwrap();
        let started = here.path("out/_work/members");
        while !started.exists() {
            assert!(child.try_wait().unwrap().is_none(), "{way}: the run ended early");
            std::thread::sleep(Duration::from_millis(1));
        }
        let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        let ended = child.wait_with_output().unwrap();
        let err = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.signal(), Some(2), "{err}");
        let line = err.lines().find_map(|line| line.strip_prefix("interrupted; to go on: ")).expect(&err);
        assert!(line.ends_with("--resume") && !here.path("out/run.json").exists(), "{line}");
        let mut again = bash();
        again.args(["-c", line]).env("PATH", search_path());
        here.run(again, "").ok();
        assert_eq!(answer(&here, "out"), answer(&here, "whole"), "{way}");
    }
}

/// Scripts go on too, by themselves.
#[test]
fn a_script_goes_on() {
    let here = Place::new();
    small(&here);
    here.write("script", here.say("twinsplit plan doc-split --write-kept --inline").ok());
    let script = here.path("script");
    let mut line = bash();
    line.arg(&script).args(["out", "docs"]).env("PATH", search_path());
    here.run(line, "").ok();
    let whole = ["pairs.tsv", "clusters.tsv"].map(|file| here.read(&format!("out/{file}")));
    let again = |resume: &str, input: &str| {
        let mut line = bash();
        line.arg(&script).args(["out", input]).env("PATH", search_path()).env("RESUME", resume);
        here.run(line, "")
    };
    again("", "docs").fails(1, &["out holds an answer"]);
    // As if it had been stopped inside a step in the middle.
    for gone in ["clusters.tsv", "pairs.tsv"] {
        std::fs::remove_file(here.path("out").join(gone)).unwrap();
    }
    for gone in ["slices", "joined-pairs", "clustered", "pairs", "clusters", "kept"] {
        std::fs::remove_dir_all(here.path("out/_work").join(gone)).unwrap();
    }
    std::fs::create_dir_all(here.path("out/_work/slices.partial/rest")).unwrap();
    again("", "docs").fails(1, &["is not empty", "RESUME=1"]);
    again("1", "more").fails(1, &["has changed"]);
    let before = finished(&here.path("out/_work"));
    assert!(before.len() >= 2, "{before:?}");
    let said = again("1", "docs");
    assert!(
        said.err.contains("tokenize: finished before") && said.err.contains("index-doc: Sends"),
        "{}",
        said.err
    );
    said.ok();
    let after = finished(&here.path("out/_work"));
    assert!(before.values().all(|stamp| after.values().any(|known| known == stamp)));
    assert_eq!(["pairs.tsv", "clusters.tsv"].map(|file| here.read(&format!("out/{file}"))), whole);
}
