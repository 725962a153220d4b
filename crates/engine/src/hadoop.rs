//! The engine `hadoop`: a chain as a bash script of Hadoop Streaming jobs over data in HDFS or any file system that
//! Hadoop knows. `twinsplit plan --inline` prints the very script that `twinsplit run --engine hadoop` runs.

use super::library::{Library, VERSION};
use super::memory::tasks::{PROGRAM, stage_megabytes};
use super::script::{self, quote};
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::chains::{Data, Part, QUERIES, Step, Tasks};
use twinsplit_rows::params::Params;
use twinsplit_rows::stage::Entry;

/// A chain's script. `INPUT` (paths) and `OUTPUT` (a folder) come from its arguments.
pub fn script(
    title: &str,
    parts: &[Part],
    outputs: &[Data],
    params: &Params,
    library: Library,
) -> Result<String> {
    if params.get("bad-records").is_some_and(|number| number != "0") {
        return Err(Error::Usage(
            "--bad-records: tasks of Hadoop Streaming have no place for the lines that they pass over; \
             run tokenize --bad-records N over the files first, or use --engine spark, where ids are not --id auto"
                .to_owned(),
        ));
    }
    if params.get("id") == Some("row") {
        return Err(Error::Usage(
            "--id row counts the lines of a file, of which a task of Hadoop sees a share; --id auto makes ids of their offsets"
                .to_owned(),
        ));
    }
    let ship: Vec<_> = params.named_files().iter().map(|(_, file)| quote(file)).collect();
    let ship = ship.join(" ");
    let params = &params.beside_files()?;
    let mut text = format!(
        "#!/usr/bin/env bash\n\
         # {title}\n\
         # usage: SCRIPT OUTPUT INPUT…   (documents as JSON lines, plain or .gz; all in HDFS or wherever Hadoop reads; OUTPUT is a folder)\n\
         # The environment may set HADOOP_HOME, HADOOP_OPTIONS (-D …), REDUCERS, HEAP (MB of a task's JVM), JOBS (at once), BINARY, STREAMING_JAR, WORK, LOGS, KEEP_WORK, QUIET, RESUME.\n\
         set -euo pipefail\n\
         VERSION={VERSION} CHAIN={} QUERIES={} SHIP=({ship}) MB={} # of a container beside HEAP, where a step says no other number\n\
         {}",
        title.split(' ').nth(2).unwrap_or_default(),
        params.get(QUERIES).map(quote).unwrap_or_default(),
        usual_megabytes(),
        library.bash("hadoop.sh"),
    );
    if params.get("keep") == Some("first") {
        text.push_str("# A task knows the name of its file and not which input that is of.\nby_name\n");
    }
    if params.get("id") == Some("auto") || params.get("keep") == Some("first") {
        text.push_str("# The stages that read documents ask where in its file a line begins.\n");
        text.push_str("OF_DOCUMENTS+=(-D stream.map.input.ignoreKey=false)\n");
    }
    text.push_str(&script::calls(
        parts,
        params,
        |step| settings(step, params),
        |option| script::limit(option, params).to_string(),
    )?);
    text.push_str(&format!("publish {}\n", outputs.join(" ")));
    Ok(text)
}

/// A step's settings: its number of tasks, the bytes that one reads, and the megabytes of their containers.
fn settings(step: &Step, params: &Params) -> Result<Vec<(&'static str, String)>> {
    let (map, reduce) = step.stages()?;
    let mut all: Vec<_> = script::tasks(step, params).into_iter().collect();
    if matches!(step.tasks, Tasks::EachFile(..)) {
        all.push(("split", QUERY_SPLIT.to_string()));
    }
    let mut roles = vec![("map_mb", map)];
    roles.extend(reduce.map(|entry| ("reduce_mb", vec![entry])));
    for (role, stages) in roles {
        let megabytes = megabytes_beside_heap(&stages, params);
        all.extend((megabytes != usual_megabytes()).then(|| (role, megabytes.to_string())));
    }
    Ok(all)
}

/// Megabytes beside the heap of a stage without tables.
fn usual_megabytes() -> usize {
    SPARE + (PROGRAM >> 20)
}

/// Megabytes of a container beside the JVM's heap and the stage: the JVM itself.
const SPARE: usize = 150;
/// Megabytes of a task's JVM when nothing else is said.
pub const HEAP: usize = 400;
/// Bytes that a map task of Doc-Split's queries takes at least: whoever loads a slice should meet many documents.
pub const QUERY_SPLIT: u64 = 1 << 30;

/// Megabytes that the container of a task is asked for beside the JVM's heap; without a stage rows pass as they are.
pub fn megabytes_beside_heap(stages: &[&Entry], params: &Params) -> usize {
    SPARE + stage_megabytes(stages, params)
}
