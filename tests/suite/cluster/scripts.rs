//! `make cluster-up` and its like: a cluster that works, that knows what is wrong with it, and that leaves
//! nothing behind. Minutes, so these run by `make cluster-test-full`, and one by `make cluster-test`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::common::cli::{Place, fixture};
use crate::common::cluster::{Cluster, script, wait_for};
use crate::common::harness::bash;

/// The processes that know of this folder.
fn processes(folder: &Path) -> Vec<String> {
    let name = folder.to_str().unwrap();
    let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    all.filter_map(|entry| {
        let read = |file: &str| std::fs::read(entry.path().join(file)).unwrap_or_default();
        let (line, environment) = (read("cmdline"), read("environ"));
        let text = String::from_utf8_lossy(&line).replace('\0', " ");
        (text.contains(name) || String::from_utf8_lossy(&environment).contains(name)).then_some(text)
    })
    .collect()
}

/// The daemons' process ids, by name.
fn daemons(folder: &Path) -> BTreeSet<(String, String)> {
    let files = std::fs::read_dir(folder.join("pids")).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    files.map(|path| (name(&path), std::fs::read_to_string(&path).unwrap())).collect()
}

/// A job with a failing task, whose standard error `yarn logs` shows afterwards.
const FAILING: &str = "hadoop jar $STREAMING -D mapreduce.job.reduces=0 -D mapreduce.map.maxattempts=1 \
    -input data -output failed -mapper 'bash -c \"cat > /dev/null; echo it went wrong here >&2; exit 3\"' > job.log 2>&1";

#[test]
#[ignore = "starts clusters; run by `make cluster-test-full`"]
fn full_a_cluster_works_beside_another_and_leaves_nothing_running() {
    let cluster = Cluster::up();
    let folder = cluster.folder();
    let first = daemons(&folder);
    assert_eq!(first.len(), 7);

    // A second call finds all well, starts nothing, and tells the same.
    let told = cluster.script("up").ok();
    assert!(told.contains(&format!("export HADOOP_CONF_DIR={}/conf\n", folder.display())), "{told}");
    assert_eq!(daemons(&folder), first);
    let status = cluster.script("status").ok();
    assert_eq!(status.lines().filter(|line| line.ends_with(" well")).count(), 7, "{status}");

    // A job of three maps and two reducers, with the two lines that `up` printed and its example.
    for name in ["a", "b", "c"] {
        cluster.place().write(name, format!("{name} x\n{name} y\n"));
    }
    let exports: String =
        told.lines().filter(|line| line.starts_with("  export ")).collect::<Vec<_>>().join(";");
    let job = "hadoop fs -mkdir -p data && hadoop fs -put a b c data
        hadoop jar $STREAMING -D mapreduce.job.reduces=2 -input data -output out -mapper 'cut -c1' -reducer 'uniq -c' > job.log 2>&1
        grep -o 'Launched .*' job.log; hadoop fs -cat 'out/part-*' | sort -k2; hdfs getconf -confKey dfs.replication";
    let said = cluster.shell(&format!("unset HADOOP_CONF_DIR; {exports}; {job}")).ok();
    let lines: Vec<&str> = said.lines().map(str::trim).collect();
    let expected = ["Launched map tasks=3", "Launched reduce tasks=2", "2 a", "2 b", "2 c", "2"];
    assert_eq!(lines, expected, "{said}");

    // The failed task's own words.
    assert_eq!(cluster.shell(FAILING).code, 1);
    let apps = cluster.resource_manager("/ws/v1/cluster/apps?finalStatus=FAILED");
    let id = apps["apps"]["app"][0]["id"].as_str().unwrap().to_owned();
    let attempts = cluster.attempts(&id.replace("application", "job"));
    assert!(attempts.iter().any(|attempt| attempt.state == "FAILED"), "{attempts:?}");
    wait_for("aggregated log", Duration::from_secs(30), || {
        let logs = cluster.shell(&format!("yarn logs -applicationId {id} 2> /dev/null"));
        logs.out.contains("it went wrong here").then_some(())
    });

    // Another cluster has its own ports and files, and its end is not this one's.
    let other = cluster.beside();
    assert_eq!(other.shell("hadoop fs -ls -C /user").code, 1);
    let there = other.folder();
    drop(other);
    assert_eq!(processes(&there), Vec::<String>::new());
    assert_eq!(daemons(&folder), first);

    // Down, twice; then up again with the same files.
    cluster.script("down").ok();
    assert_eq!(processes(&folder), Vec::<String>::new());
    cluster.script("down").ok();
    let status = cluster.script("status");
    assert_eq!(status.code, 3);
    assert_eq!(status.out.lines().filter(|line| line.ends_with(" not running")).count(), 7, "{}", status.out);
    cluster.script("up").ok();
    assert_eq!(cluster.shell("hadoop fs -ls -C data | sort").ok(), "data/a\ndata/b\ndata/c\n");
}

/// A job survives the loss of a node that runs its tasks, and YARN and HDFS say that they lost it.
#[test]
#[ignore = "starts clusters; run by `make cluster-test-full`"]
fn full_a_killed_node_is_noticed_and_its_tasks_run_elsewhere() {
    let cluster = Cluster::up();
    for name in ["a", "b", "c"] {
        cluster.place().write(name, format!("{name} x\n{name} y\n"));
    }
    cluster.place().write("slow", "echo started >&2; [[ -e $1 ]] || sleep 10; cut -c1\n");
    let go = cluster.place().path("go");
    let job = format!(
        "hadoop fs -mkdir -p data; hadoop fs -put a b c data
        exec hadoop jar $STREAMING -D mapreduce.job.reduces=2 -files slow -input data -output out \
            -mapper 'bash slow {}' -reducer 'uniq -c' > job.log 2>&1",
        go.display()
    );
    let mut job = cluster.command(&job).stdin(Stdio::null()).spawn().unwrap();
    // The node to die runs a mapper, and not the application master, whose container is the first.
    let node = wait_for("mapper away from the application master", Duration::from_secs(120), || {
        let of_master =
            |path: &Path| path.parent().is_some_and(|path| path.to_string_lossy().ends_with("_000001"));
        (1..=2).find(|node| {
            let files = cluster.containers(*node, "stderr");
            !files.iter().any(|(path, _)| of_master(path))
                && files.iter().any(|(_, text)| text.contains("started"))
        })
    });
    cluster.kill(&format!("nodemanager-{node}"));
    cluster.kill(&format!("datanode-{node}"));
    std::fs::write(go, "").unwrap();
    assert!(job.wait().unwrap().success(), "{}", cluster.place().read("job.log"));
    wait_for("word of the lost node", Duration::from_secs(60), || {
        let nodes = cluster.resource_manager("/ws/v1/cluster/nodes?states=LOST");
        let lost = nodes["nodes"]["node"].as_array().is_some_and(|nodes| nodes.len() == 1);
        (lost && cluster.log("namenode").contains("removeDeadDatanode: lost heartbeat")).then_some(())
    });
    let said = cluster.shell("hadoop fs -cat 'out/part-*' 2> /dev/null | sort -k2").ok();
    assert_eq!(said.lines().map(str::trim).collect::<Vec<_>>(), ["2 a", "2 b", "2 c"]);
    let job = cluster.history("/ws/v1/history/mapreduce/jobs");
    let attempts = cluster.attempts(job["jobs"]["job"][0]["id"].as_str().unwrap());
    assert!(attempts.iter().any(|attempt| attempt.diagnostics.contains("lost")), "{attempts:?}");

    // Status names what is missing, and `up` brings back that alone.
    let status = cluster.script("status");
    assert_eq!(status.code, 3);
    assert!(status.out.contains("fewer than two running NodeManagers"), "{}", status.out);
    let before = daemons(&cluster.folder());
    cluster.script("up").ok();
    assert_eq!(before.difference(&daemons(&cluster.folder())).count(), 0);
    assert_eq!(cluster.script("status").code, 0);
}

/// A daemon that stops while starting: the end of its log, and nothing else left running.
#[test]
#[ignore = "starts clusters; run by `make cluster-test`"]
fn a_daemon_that_cannot_start_shows_its_log_and_stops_the_others() {
    let here = Place::new();
    std::fs::create_dir_all(here.path("run/data")).unwrap();
    here.write("run/data/blocks-2", "a file where the DataNode's folder should be");
    let said = script(&here, "up", &[]);
    let log = here.path("run/logs/datanode-2.log");
    said.fails(1, &["datanode-2: stopped while starting", &log.display().to_string(), "blocks-2"]);
    assert_eq!(processes(&here.path("run")), Vec::<String>::new());
    script(&here, "up", &[("CLUSTER_EXPIRY_S", "5")]).fails(1, &["CLUSTER_EXPIRY_S=5", "12 seconds"]);
    script(&here, "kill datanode-3", &[]).fails(1, &["datanode-3", "namenode datanode-1"]);
    script(&here, "kill datanode-1", &[]).fails(1, &["datanode-1 is not running"]);
}

/// Two installs at once into an empty cache; and one without Maven, which leaves nothing half-made.
#[test]
#[ignore = "fetches Hadoop anew; run by `make cluster-test-full`"]
fn full_an_install_is_whole_or_not_there() {
    let here = Place::new();
    let install = |path: &str| {
        let mut command = bash();
        command
            .arg(fixture("cluster/install.sh"))
            .env("XDG_CACHE_HOME", here.path("cache"))
            .env("PATH", path);
        command
    };
    let names = || -> Vec<PathBuf> {
        let entries = std::fs::read_dir(here.path("cache/twinsplit")).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let path = std::env::var("PATH").unwrap();
    // Everything of the system but Maven.
    std::fs::create_dir(here.path("bin")).unwrap();
    for tool in ["bash", "cat", "dirname", "readlink", "sed", "sha256sum"] {
        let found = std::env::split_paths(&path).map(|folder| folder.join(tool)).find(|file| file.is_file());
        std::os::unix::fs::symlink(found.unwrap(), here.path("bin").join(tool)).unwrap();
    }
    let bash = here.run(install(here.path("bin").to_str().unwrap()), "");
    bash.fails(1, &["mvn is missing", "apt-get install maven"]);
    assert!(!here.path("cache/twinsplit").exists());

    // Maven that fails half-way.
    here.write("bin/mvn", "#!/bin/bash\necho no route to the repository\nexit 1\n");
    here.write("bin/java", "");
    for tool in ["bin/mvn", "bin/java"] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(here.path(tool), mode).unwrap();
    }
    let failing = format!("{}:{path}", here.path("bin").display());
    here.run(install(&failing), "")
        .fails(1, &["no route to the repository", "Maven could not fetch Hadoop 3.4.2"]);
    assert_eq!(names(), Vec::<PathBuf>::new());

    let spawn = || install(&path).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let both = [spawn(), spawn()].map(|child| child.wait_with_output().unwrap());
    for output in &both {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.stderr, b"");
    }
    assert_eq!(both[0].stdout, both[1].stdout);
    let home = PathBuf::from(String::from_utf8(both[0].stdout.clone()).unwrap().trim_end());
    let mut expected = [here.path("cache/twinsplit/hadoop-3.4.2"), home.clone()];
    expected.sort();
    let mut found = names();
    found.sort();
    assert_eq!(found, expected);
    assert_eq!(expected[0].canonicalize().unwrap(), home);
    assert!(home.join("share/hadoop/tools/lib/hadoop-streaming-3.4.2.jar").is_file());
}
