//! Hadoop's commands without a cluster: what every quick test of the engine rests on.

use crate::common::cli::Place;
use crate::common::cluster::{hadoop_home, with_hadoop};

#[test]
fn a_streaming_job_runs_in_one_process_on_local_files() {
    let (here, home) = (Place::new(), hadoop_home());
    for name in ["a", "b", "c"] {
        std::fs::create_dir_all(here.path("in")).unwrap();
        here.write(&format!("in/{name}"), format!("{name} x\n{name} y\n"));
    }
    let line = "hadoop version | grep -x 'Hadoop 3.4.2'
        hadoop jar $STREAMING -D mapreduce.job.reduces=2 -input in -output out -mapper 'cut -c1' -reducer 'uniq -c' 2>&1 |
            grep 'Launched\\|Output directory: out'
        hadoop fs -cat 'out/part-*' | sort -k2";
    let said = here.run(with_hadoop(&home, None, line), "").ok();
    let lines: Vec<&str> = said.lines().map(str::trim_end).collect();
    assert_eq!(lines[0], "Hadoop 3.4.2");
    assert!(lines[1].ends_with("Output directory: out"), "{said}");
    assert_eq!(lines[2..], ["      2 a", "      2 b", "      2 c"]);
    assert!(here.path("out/_SUCCESS").exists());
    assert!(here.path("out/part-00001").exists());
}

/// What a user meets who mistypes, or has no Java.
#[test]
fn the_commands_say_what_is_wrong() {
    let (here, home) = (Place::new(), hadoop_home());
    let said = here.run(with_hadoop(&home, None, "hdfs nonsense"), "");
    said.fails(2, &["hdfs: no command 'nonsense'", "usage: hdfs COMMAND", "dfsadmin"]);
    let said = here.run(with_hadoop(&home, None, "JAVA_HOME=/nowhere hadoop version"), "");
    said.fails(127, &["/nowhere/bin/java", "openjdk-17"]);
    let said = here.run(with_hadoop(&home, None, "hadoop fs -ls nothing"), "");
    assert_eq!(said.code, 1);
    assert_eq!(said.err, "ls: `nothing': No such file or directory\n");
}
