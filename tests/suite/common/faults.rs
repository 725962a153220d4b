//! Faults for tasks of a cluster: a program in the place of ours, which is ours but for what a list asks for. Processes
//! die, hang and take memory as real ones do; our code knows nothing of it.

use std::os::unix::fs::PermissionsExt;

use super::cli::Place;

/// What may happen to a task.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// It kills itself when it has read a little.
    Dies,
    /// It waits for the file `go-STAGE`, before it reads.
    Waits,
    /// It sleeps for minutes, so that its twin is done first.
    Hangs,
    /// It takes 1.4 GB, and goes on when it is asked to end: of one that ends at once, Hadoop may have its exit code (143) before
    /// YARN says why.
    Greedy,
}

/// Which attempts of a task it happens to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Once,
    Always,
}

/// The program's stand-in: the list is read by each task, on this machine, when it starts.
const STAND_IN: &str = r#"#!/usr/bin/env bash
stage=${0##*/} attempt=${mapreduce_task_attempt_id##*_}
while read -r -u 3 name task when fault; do
  [[ $name == "$stage" && ($task == all || $task == "$mapreduce_task_partition") ]] || continue
  [[ $when == Always || $attempt == 0 ]] || continue
  echo "$fault: $stage $mapreduce_task_partition $attempt" >&2
  case $fault in
    Dies) head -c 100 > /dev/null; kill -KILL $$ ;;
    Waits) until [[ -e @HERE@/go-$stage ]]; do sleep 0.1; done ;;
    Hangs) sleep 600 ;;
    Greedy) trap '' TERM; head -c 1500m /dev/zero | tail -c 1400m | { sleep 60; cat > /dev/null; } ;;
  esac
done 3< @HERE@/faults
exec 3<&-
exec -a "$stage" @HERE@/program "$@"
"#;

/// Makes the stand-in: the file `faulty` in a place, for `BINARY=faulty`. `program` runs where no fault does.
pub fn stand_in(here: &Place, program: &std::path::Path) {
    std::fs::copy(program, here.path("program")).expect("a copy");
    let at = here.path("").display().to_string();
    here.write("faulty", STAND_IN.replace("@HERE@", at.trim_end_matches('/')));
    std::fs::set_permissions(here.path("faulty"), PermissionsExt::from_mode(0o755)).expect("a mode");
    faults(here, &[]);
}

/// Asks for faults from now on, and for none but these: the stage, the number of its task or `all`, the attempts, and
/// what.
pub fn faults(here: &Place, list: &[(&str, &str, When, Fault)]) {
    let lines = list.iter().map(|(stage, task, when, fault)| format!("{stage} {task} {when:?} {fault:?}\n"));
    here.write("faults", lines.collect::<String>());
}
