//! The committed scripts of jobs/hadoop, as they stand.

use super::{ODD_SETTINGS, documents, say};
use crate::common::chains::assert_same;
use crate::common::cli::{Place, fixture};
use crate::common::cluster::java_home;
use crate::common::command_server::CommandServer;
use std::os::unix::fs::symlink;
use std::process::Command;

/// A committed script as it stands equals a run, where there are the system, Java, Hadoop and one file of ours.
fn script_equals_local(here: &Place, name: &str) {
    let script = fixture("../jobs/hadoop").join(name);
    let text = std::fs::read_to_string(&script).unwrap();
    let plan = text.lines().nth(1).and_then(|line| line.strip_prefix("# twinsplit plan ")).unwrap();
    let options = plan.replace("--engine hadoop", "--quiet");
    say(here, &format!("twinsplit run {options} --overwrite --input docs --output local")).ok();
    let mut command = Command::new(script);
    command.env_clear().env("PATH", format!("{}:/usr/bin:/bin", here.path("alone").display()));
    let hadoop = CommandServer::local().home().to_owned();
    command.envs([("HADOOP_HOME", hadoop), ("JAVA_HOME", java_home()), ("TMPDIR", here.path(""))]);
    command.envs([
        ("REDUCERS", "3"),
        ("HADOOP_OPTIONS", &format!("-D fs.local.block.size=20000\n{ODD_SETTINGS}")),
    ]);
    command.args([name, "docs"]);
    let said = here.run(command, "");
    assert!(said.code == 0 && said.err.contains("write-kept: Passes on"), "{}", said.err);
    assert_same(here, "local", name);
    assert!(!here.path(&format!("{name}/_work")).exists());
}

/// A place for scripts: documents, and a folder with the program and nothing else.
fn alone() -> Place {
    let here = Place::new();
    documents(&here);
    std::fs::create_dir(here.path("alone")).unwrap();
    symlink(env!("CARGO_BIN_EXE_twinsplit"), here.path("alone/twinsplit")).unwrap();
    here
}

#[test]
#[ignore = "a minute; run by `make cluster-test`"]
fn a_committed_script_needs_nothing_of_ours_but_the_program() {
    script_equals_local(&alone(), "doc-split.sh");
}

#[test]
#[ignore = "minutes; run by `make cluster-test-full`"]
fn full_all_committed_scripts_need_nothing_of_ours_but_the_program() {
    let here = alone();
    let scripts: Vec<_> = std::fs::read_dir(fixture("../jobs/hadoop")).unwrap().collect();
    assert_eq!(scripts.len(), 2);
    for script in scripts {
        script_equals_local(&here, script.unwrap().file_name().to_str().unwrap());
    }
}
