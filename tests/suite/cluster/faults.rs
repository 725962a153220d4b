//! What happens on clusters, on a real one: nodes and drivers that are killed, tasks that die, hang or take too much
//! memory, damaged input and lost files. A chain ends in the bytes of a local run, or in an error that says why, with
//! nothing that looks finished; and YARN's or HDFS's own records show that it happened.
//!
//! They take minutes each and run by `make cluster-test-full`. `chains.rs` has a task that dies in its quick test.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::chains::families;
use crate::common::cluster::{Attempt, Cluster, dist, wait_for};
use crate::common::faults::Fault::{Dies, Greedy, Hangs, Waits};
use crate::common::faults::When::{Always, Once};
use crate::common::faults::{faults, stand_in};

/// Four maps, which do not fit on one node beside the application master.
const TASKS: &str = "--reducers 2 -D mapreduce.job.maps=4";

/// A cluster with documents, their answer by one process, and the stand-in for our program.
struct Bed {
    cluster: Cluster,
    options: &'static str,
    began: Instant,
}

impl Bed {
    fn up(options: &'static str) -> Self {
        let began = Instant::now();
        let cluster = Cluster::up();
        stand_in(cluster.place(), &dist());
        cluster.place().write("documents", families());
        cluster.shell("hadoop fs -put documents /documents").ok();
        let line = format!("twinsplit run {options} --quiet --input documents --output local --write-kept");
        cluster.shell(&line).ok();
        let bed = Self { cluster, options, began };
        bed.done("the cluster is up");
        bed
    }

    /// Prints what took how long.
    fn done(&self, what: &str) {
        println!("{:4} s: {what}", self.began.elapsed().as_secs());
    }

    fn line(&self, more: &str) -> Command {
        let mut command = self.cluster.command(&format!(
            "exec twinsplit run {} --engine hadoop --quiet --write-kept --output /out {TASKS} --input /documents {more}",
            self.options
        ));
        command.env("BINARY", self.cluster.place().path("faulty"));
        command
    }

    /// Starts the chain; what it says is in the file `said`.
    fn start(&self, more: &str) -> Child {
        let said = std::fs::File::create(self.cluster.place().path("said")).unwrap();
        self.line(more).stdin(Stdio::null()).stderr(said).spawn().unwrap()
    }

    /// Waits until a task of this stage waits on a node without the job's application master, and gives the node.
    fn waiting(&self, stage: &str) -> u8 {
        let word = format!("Waits: {stage} ");
        wait_for(&word, Duration::from_secs(1800), || {
            let said = self.cluster.place().read("said");
            assert!(!said.contains("error: "), "{said}");
            let logs = (1..=2).flat_map(|node| {
                let files = self.cluster.containers(node, "stderr");
                files.into_iter().map(move |(path, text)| (node, path, text))
            });
            let logs: Vec<_> = logs.collect();
            let waiting: Vec<_> = logs.iter().filter(|(_, _, text)| text.contains(&word)).collect();
            let job = waiting.first()?.1.parent()?.parent()?.file_name()?;
            let master = logs.iter().find(|(_, path, _)| {
                let container = path.parent().and_then(|path| path.file_name()).unwrap_or_default();
                path.parent().and_then(|path| path.parent()?.file_name()) == Some(job)
                    && container.to_string_lossy().ends_with("_000001")
            })?;
            waiting.iter().map(|(node, ..)| *node).find(|node| *node != master.0)
        })
    }

    /// Gives the tasks of a stage leave to go on, and those of it that start later.
    fn go(&self, stage: &str) {
        self.cluster.place().write(&format!("go-{stage}"), "");
    }

    fn ends_well(&self, mut child: Child) {
        let code = child.wait().unwrap().code();
        assert_eq!(code, Some(0), "{}", self.cluster.place().read("said"));
    }

    /// The attempts of the last job of a step, in each of which something ended as it says.
    #[track_caller]
    fn attempts(&self, step: &str, state: &str, words: &[&str]) -> Vec<Attempt> {
        let job = self.cluster.jobs_of(step).pop().unwrap();
        let attempts = self.cluster.attempts(&job);
        let these = attempts.iter().filter(|attempt| {
            attempt.state == state && words.iter().all(|word| attempt.diagnostics.contains(word))
        });
        let these: Vec<Attempt> = these.cloned().collect();
        assert!(!these.is_empty(), "no attempt of {step} is {state} with {words:?}: {attempts:#?}");
        these
    }

    /// The answer is that of one process, in all its parts.
    #[track_caller]
    fn has_the_local_answer(&self) {
        self.cluster.shell("rm -rf out; hadoop fs -get /out out").ok();
        crate::common::chains::assert_same(self.cluster.place(), "local", "out");
        assert!(!self.cluster.place().path("out/_work").exists());
    }
}

/// Term-Split through a task that dies, one over its memory, a lost node, a lost DataNode and a task that hangs.
#[test]
#[ignore = "minutes; run by `make cluster-test-full`"]
fn full_a_chain_outlives_tasks_and_nodes() {
    let bed = Bed::up("term-split --features words:2 --tau 0.5");
    let (cluster, here) = (&bed.cluster, bed.cluster.place());
    faults(
        here,
        &[
            ("tokenize", "0", Once, Dies),
            ("tokenize", "1", Once, Greedy),
            ("equal-sets-reduce", "all", Once, Waits),
            ("index-term-reduce", "all", Once, Waits),
            ("pcp-map", "0", Once, Hangs),
        ],
    );
    let chain = bed.start(SPECULATE);

    let node = bed.waiting("equal-sets-reduce");
    cluster.kill(&format!("nodemanager-{node}"));
    wait_for("word of the lost node", Duration::from_secs(90), || {
        let nodes = cluster.resource_manager("/ws/v1/cluster/nodes?states=LOST");
        nodes["nodes"]["node"].as_array().is_some_and(|nodes| nodes.len() == 1).then_some(())
    });
    // The task itself outlives its NodeManager: with leave to go on, it could end well before the job knows of the node.
    wait_for("word of the lost node in the job's log", Duration::from_secs(90), || {
        let logs = (1..=2).flat_map(|node| cluster.containers(node, "syslog"));
        logs.into_iter().any(|(_, text)| text.contains("Container released on a *lost* node")).then_some(())
    });
    bed.go("equal-sets-reduce");
    bed.done("a NodeManager was killed and missed");
    cluster.script("up").ok();

    bed.waiting("index-term-reduce");
    cluster.kill("datanode-1");
    bed.go("index-term-reduce");
    wait_for("word of the lost DataNode", Duration::from_secs(90), || {
        cluster.log("namenode").contains("removeDeadDatanode: lost heartbeat").then_some(())
    });
    bed.done("a DataNode was killed and missed");
    cluster.script("up").ok();

    bed.ends_well(chain);
    bed.done("the chain ended");
    bed.has_the_local_answer();
    bed.attempts("tokenize", "FAILED", &["code 137"]);
    bed.attempts("tokenize", "FAILED", &["beyond the 'PHYSICAL' memory limit"]);
    // The job of this name groups equal sets as well.
    bed.attempts("tokenize", "KILLED", &["Container released on a *lost* node"]);
    bed.attempts("pcp-map", "KILLED", &["Speculation"]);
    bed.done("YARN confirms each");
}

/// The estimator that looks at what is, and not at minutes that a task has stood still.
const SPECULATE: &str = "-D yarn.app.mapreduce.am.job.task.estimator.class=org.apache.hadoop.mapreduce.v2.app.speculate.LegacyTaskRuntimeEstimator";

/// Doc-Split whose driver is killed, and which then misses a slice; one of its partitions is empty.
#[test]
#[ignore = "minutes; run by `make cluster-test-full`"]
fn full_a_killed_driver_goes_on_and_misses_a_slice() {
    let bed =
        Bed::up("doc-split --features words:2 --slices 2 --slice-memory 100 --tau 0.5 --write clusters");
    let (cluster, here) = (&bed.cluster, bed.cluster.place());
    faults(here, &[("docsplit-query", "all", Once, Waits)]);
    let mut chain = bed.start("");
    bed.waiting("docsplit-query");
    chain.kill().unwrap();
    assert_eq!(chain.wait().unwrap().code(), None);
    // Its jobs do not outlive it.
    wait_for("end of its jobs", Duration::from_secs(90), || {
        let running = cluster.resource_manager("/ws/v1/cluster/apps?states=NEW,SUBMITTED,ACCEPTED,RUNNING");
        running["apps"]["app"].as_array().is_none_or(|apps| apps.is_empty()).then_some(())
    });
    let killed = cluster.resource_manager("/ws/v1/cluster/apps?states=KILLED");
    let names: Vec<&str> =
        killed["apps"]["app"].as_array().unwrap().iter().filter_map(|app| app["name"].as_str()).collect();
    assert!(names.iter().any(|name| name.starts_with("twinsplit docsplit-query")), "{names:?}");
    cluster.nothing_is_finished("/out", "joined-pairs");
    bed.done("the driver was killed, and YARN says that its jobs were");

    faults(here, &[]);
    let slice = "/out/_work/slices/part-00001";
    cluster.shell(&format!("hadoop fs -mv {slice} /slice")).ok();
    let run = |more| here.run(bed.line(more), "");
    run("").fails(1, &["holds a run that was stopped"]);
    run("--resume").fails(1, &["slices", "1 of 2"]);
    cluster.nothing_is_finished("/out", "joined-pairs");
    bed.done("a missing slice was missed");
    cluster.shell(&format!("hadoop fs -mv /slice {slice}")).ok();
    let before = cluster.jobs_of("tokenize");
    run("--resume").ok();
    bed.has_the_local_answer();
    assert_eq!(cluster.jobs_of("tokenize"), before);
    bed.done("the chain went on to its end");
}

/// What does not pass is an error: a task that dies each time, one that is over its memory each time, a damaged input.
#[test]
#[ignore = "minutes; run by `make cluster-test-full`"]
fn full_what_happens_each_time_is_an_error() {
    let bed = Bed::up("doc-split --features words:2");
    let (cluster, here) = (&bed.cluster, bed.cluster.place());
    let run = |more| here.run(bed.line(more), "");
    faults(here, &[("tokenize", "2", Always, Dies)]);
    run("").fails(1, &["the job tokenize failed", "137", "yarn logs -applicationId"]);
    cluster.nothing_is_finished("/out", "members");
    assert_eq!(bed.attempts("tokenize", "FAILED", &["code 137"]).len(), 4);
    bed.done("a task died each time");

    faults(here, &[("tokenize", "2", Always, Greedy)]);
    run("--resume -D mapreduce.map.maxattempts=2")
        .fails(1, &["the job tokenize failed", "'PHYSICAL' memory limit", "yarn logs -applicationId"]);
    cluster.nothing_is_finished("/out", "members");
    assert_eq!(bed.attempts("tokenize", "FAILED", &["'PHYSICAL' memory limit"]).len(), 2);
    bed.done("a task took too much memory each time");

    faults(here, &[]);
    // Only the checksum and the length at the end: all documents are read before Hadoop finds out.
    here.shell("{ gzip -c documents | head -c -8; printf damaged!; } > damaged.gz").ok();
    cluster.shell("hadoop fs -put damaged.gz /damaged.gz").ok();
    run("--overwrite --input /damaged.gz -D mapreduce.map.maxattempts=2")
        .fails(1, &["the job tokenize failed", "damaged.gz", "yarn logs -applicationId"]);
    cluster.nothing_is_finished("/out", "members");
    // Hadoop's own word: a task that failed by another cause is none.
    assert_eq!(
        bed.attempts("tokenize", "FAILED", &["java.io.IOException: gzip stream CRC failure"]).len(),
        2
    );
    bed.done("an input was damaged");
}
