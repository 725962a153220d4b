//! A Hadoop for tests: its commands alone, for jobs in one process (`hadoop_home`), or a cluster of the
//! test's own, whose daemons can be killed and whose own word can be asked for (`Cluster`).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::cli::{Place, Said, fixture, search_path};
use super::command_server::CommandServer;
use super::harness::{bash, clean};

/// Hadoop's home folder. It is installed when it is missing, which takes minutes and the network once.
#[track_caller]
pub fn hadoop_home() -> PathBuf {
    let output = Command::new(fixture("cluster/install.sh")).output().expect("install.sh is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let path = String::from_utf8(output.stdout).expect("UTF-8");
    PathBuf::from(path.trim_end())
}

/// What `make dist` built.
#[track_caller]
pub fn dist() -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/dist/twinsplit");
    assert!(path.is_file(), "{} is missing: run `make dist` first", path.display());
    path
}

/// The jar of Hadoop's streaming.
fn streaming_jar(home: &Path) -> PathBuf {
    home.join("share/hadoop/tools/lib/hadoop-streaming-3.4.2.jar")
}

/// The home of the Java on `PATH`, if the environment names none.
#[track_caller]
pub fn java_home() -> PathBuf {
    let named = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    named.unwrap_or_else(|| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let java = std::env::split_paths(&path).find_map(|folder| folder.join("java").canonicalize().ok());
        let home = java.as_ref().and_then(|java| java.parent()?.parent());
        home.expect("java on PATH: install Java 17, or set JAVA_HOME").to_owned()
    })
}

/// A line of bash, Hadoop's commands and our binaries first on the path, and `STREAMING` its jar. Without
/// a configuration it is one process and local files.
pub fn with_hadoop(home: &Path, configuration: Option<&Path>, line: &str) -> Command {
    let mut command = bash();
    for name in ["HADOOP_HOME", "HADOOP_CONF_DIR", "HADOOP_OPTS", "HADOOP_CLIENT_OPTS", "HADOOP_CLASSPATH"] {
        command.env_remove(name);
    }
    command.args(["-c", &format!("set -euo pipefail; {line}")]);
    command.env("PATH", format!("{}:{}", home.join("bin").display(), search_path()));
    command.env("STREAMING", streaming_jar(home));
    command.envs(configuration.map(|folder| ("HADOOP_CONF_DIR", folder)));
    command
}

/// A machine that runs tests has room for one cluster at a time, however many tests a binary runs.
static ROOM: Mutex<()> = Mutex::new(());

/// HDFS and YARN on loopback in a folder of their own; all stops and goes with this value, and stays
/// for who repeats it, stopped, when the test fails.
pub struct Cluster {
    place: Option<Place>,
    home: PathBuf,
    server: OnceLock<CommandServer>,
    _room: Option<MutexGuard<'static, ()>>,
}

impl Cluster {
    /// Starts a cluster with two nodes, and waits until all of it is well.
    #[track_caller]
    pub fn up() -> Self {
        // A test that failed left no cluster behind: there is room.
        let room = ROOM.lock().unwrap_or_else(PoisonError::into_inner);
        Self::start(hadoop_home(), Some(room))
    }

    /// Starts another one beside this.
    #[track_caller]
    pub fn beside(&self) -> Self {
        Self::start(self.home.clone(), None)
    }

    #[track_caller]
    fn start(home: PathBuf, room: Option<MutexGuard<'static, ()>>) -> Self {
        let cluster = Self { place: Some(Place::new()), home, server: OnceLock::new(), _room: room };
        cluster.script("up").ok();
        cluster
    }

    /// A folder for the test's own files, in which its commands run; the cluster's is `run` in it.
    pub fn place(&self) -> &Place {
        self.place.as_ref().expect("taken when dropped only")
    }

    /// The cluster's run folder.
    pub fn folder(&self) -> PathBuf {
        self.place().path("run")
    }

    /// Its configuration, for clients.
    fn configuration(&self) -> PathBuf {
        self.folder().join("conf")
    }

    /// Runs `cluster.sh` on it: `up`, which also starts again what was killed, `status`, `down`.
    pub fn script(&self, arguments: &str) -> Said {
        script(self.place(), arguments, &[])
    }

    /// Runs a line of bash as a user of the cluster.
    pub fn shell(&self, line: &str) -> Said {
        self.place().run(with_hadoop(&self.home, Some(&self.configuration()), line), "")
    }

    /// The same, to be spawned.
    pub fn command(&self, line: &str) -> Command {
        self.with_home(&self.home, line)
    }

    /// The same, all commands of Hadoop done by one process.
    pub fn by_server(&self, line: &str) -> Command {
        let server = self.server.get_or_init(|| CommandServer::start(Some(&self.configuration())));
        self.with_home(server.home(), line)
    }

    fn with_home(&self, home: &Path, line: &str) -> Command {
        let mut command = with_hadoop(home, Some(&self.configuration()), line);
        command.current_dir(self.place().path("."));
        command
    }

    /// An output folder in HDFS holds nothing of an answer, nor what this step makes.
    #[track_caller]
    pub fn nothing_is_finished(&self, output: &str, data: &str) {
        let there = self.shell(&format!("hadoop fs -ls -C {output}; hadoop fs -ls -C {output}/_work")).ok();
        for data in ["pairs", "clusters", "kept", "run.json", data] {
            assert!(!there.lines().any(|path| path.ends_with(&format!("/{data}"))), "{data} in {there}");
        }
        assert!(there.contains("/_work/_run.json"), "{there}");
    }

    /// Kills a daemon at once: `namenode`, `datanode-1`, `nodemanager-2` and so on.
    #[track_caller]
    pub fn kill(&self, daemon: &str) {
        self.script(&format!("kill {daemon}")).ok();
    }

    /// What a daemon has logged.
    pub fn log(&self, daemon: &str) -> String {
        self.place().read(&format!("run/logs/{daemon}.log"))
    }

    /// The text that this file of running containers' logs (`stderr`, `syslog`) has on a node.
    pub fn containers(&self, node: u8, file: &str) -> Vec<(PathBuf, String)> {
        let all = walkdir::WalkDir::new(self.folder().join(format!("logs/containers-{node}")));
        // Folders come and go while one looks.
        let files = all.into_iter().filter_map(Result::ok).filter(|entry| entry.file_name() == file);
        files
            .filter_map(|entry| {
                let text = std::fs::read(entry.path()).ok()?;
                Some((entry.into_path(), String::from_utf8_lossy(&text).into_owned()))
            })
            .collect()
    }

    /// What the ResourceManager (`/ws/v1/cluster/apps`, `…/nodes`) answers.
    #[track_caller]
    pub fn resource_manager(&self, path: &str) -> Value {
        self.ask("yarn-site.xml", "yarn.resourcemanager.webapp.address", path)
    }

    /// What the job history server (`/ws/v1/history/mapreduce/jobs/…`) answers.
    #[track_caller]
    pub fn history(&self, path: &str) -> Value {
        self.ask("mapred-site.xml", "mapreduce.jobhistory.webapp.address", path)
    }

    #[track_caller]
    fn ask(&self, file: &str, property: &str, path: &str) -> Value {
        let text = self.place().read(&format!("run/conf/{file}"));
        let (_, after) = text.split_once(&format!("<name>{property}</name><value>")).expect(property);
        let (address, _) = after.split_once('<').expect("a value");
        let agent: ureq::Agent =
            ureq::Agent::config_builder().proxy(None).timeout_global(Some(PATIENCE)).build().into();
        let answer = agent.get(format!("http://{address}{path}")).header("Accept", "application/json").call();
        let text = answer.and_then(|mut answer| answer.body_mut().read_to_string());
        let text = text.unwrap_or_else(|error| panic!("{address}{path}: {error}"));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{address}{path}: {error}: {text}"))
    }

    /// The ids of the jobs of a step that YARN knows of, in the order in which they were submitted. A step with a job for
    /// each slice has their numbers in its jobs' names.
    #[track_caller]
    pub fn jobs_of(&self, step: &str) -> Vec<String> {
        let apps = self.resource_manager("/ws/v1/cluster/apps");
        let apps = apps["apps"]["app"].as_array().cloned().unwrap_or_default();
        let of_step = apps.iter().filter(|app| {
            let rest =
                app["name"].as_str().and_then(|name| name.strip_prefix("twinsplit ")?.strip_prefix(step));
            let slice = |rest: &str| rest.strip_prefix('-').is_some_and(|number| number.len() == 5);
            rest.is_some_and(|rest| rest.is_empty() || slice(rest))
        });
        let mut ids: Vec<String> =
            of_step.filter_map(|app| Some(app["id"].as_str()?.replace("application", "job"))).collect();
        ids.sort();
        ids
    }

    /// The tasks of a finished job, of which the history tells some moments after its end.
    #[track_caller]
    fn tasks(&self, job: &str) -> Vec<Value> {
        let known = || {
            let jobs = self.history("/ws/v1/history/mapreduce/jobs");
            jobs["jobs"]["job"].as_array()?.iter().any(|known| known["id"] == job).then_some(())
        };
        wait_for(&format!("history of {job}"), PATIENCE, known);
        let tasks = self.history(&format!("/ws/v1/history/mapreduce/jobs/{job}/tasks"));
        tasks["tasks"]["task"].as_array().cloned().unwrap_or_default()
    }

    /// How many map tasks and reduce tasks a finished job had.
    #[track_caller]
    pub fn maps_and_reducers(&self, job: &str) -> (usize, usize) {
        let tasks = self.tasks(job);
        let maps = tasks.iter().filter(|task| task["type"] == "MAP").count();
        (maps, tasks.len() - maps)
    }

    /// The processor seconds of all containers that have ended: JVMs of tasks and application masters, and what they started.
    /// A node is the parent of its containers, and the system adds their time to its own account of children.
    #[track_caller]
    pub fn container_seconds(&self) -> f64 {
        let ticks = ["nodemanager-1", "nodemanager-2"].map(|daemon| {
            let known = self.place().read(&format!("run/pids/{daemon}"));
            let pid = known.split_whitespace().next().expect("a process id");
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect(daemon);
            // Behind the name, which may hold blanks: field 16 is user time of children, 17 system time.
            let (_, fields) = stat.rsplit_once(')').expect("the name is in parentheses");
            let fields: Vec<&str> = fields.split_whitespace().collect();
            fields[13..15].iter().map(|ticks| ticks.parse::<u64>().expect("a number")).sum::<u64>()
        });
        // Linux has a hundred of them in a second, on all machines that Hadoop runs on.
        ticks.iter().sum::<u64>() as f64 / 100.0
    }

    /// Every attempt of a finished job: its id, state and diagnostics, in the order of ids.
    #[track_caller]
    pub fn attempts(&self, job: &str) -> Vec<Attempt> {
        let base = format!("/ws/v1/history/mapreduce/jobs/{job}/tasks");
        let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let mut attempts: Vec<Attempt> = Vec::new();
        for task in self.tasks(job) {
            let of_task = self.history(&format!("{base}/{}/attempts", text(&task, "id")));
            for attempt in of_task["taskAttempts"]["taskAttempt"].as_array().into_iter().flatten() {
                attempts.push(Attempt {
                    id: text(attempt, "id"),
                    state: text(attempt, "state"),
                    diagnostics: text(attempt, "diagnostics"),
                });
            }
        }
        attempts.sort_by(|left, right| left.id.cmp(&right.id));
        attempts
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let said = self.script("down");
        let place = self.place.take().expect("taken here only");
        if std::thread::panicking() {
            eprintln!("the cluster's logs are in {}", place.keep().join("run/logs").display());
        } else {
            said.ok();
        }
    }
}

/// One try of a task, as the job history server tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// `attempt_…_m_000000_0`.
    pub id: String,
    /// `SUCCEEDED`, `FAILED` or `KILLED`.
    pub state: String,
    /// Why it ended, in YARN's words.
    pub diagnostics: String,
}

/// Runs `cluster.sh` on the run folder `run` of a place.
pub fn script(here: &Place, arguments: &str, variables: &[(&str, &str)]) -> Said {
    let mut command = clean(Command::new(fixture("cluster/cluster.sh")));
    for name in ["CLUSTER_PORT", "CLUSTER_NODE_MB", "CLUSTER_EXPIRY_S", "CLUSTER_WAIT_S"] {
        command.env_remove(name);
    }
    command.args(arguments.split(' ')).env("CLUSTER_DIR", here.path("run")).envs(variables.iter().copied());
    here.run(command, "")
}

/// How long a web service may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Looks five times a second until it sees something.
#[track_caller]
pub fn wait_for<T>(what: &str, limit: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + limit;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < end, "after {} seconds still no {what}", limit.as_secs());
        std::thread::sleep(Duration::from_millis(200));
    }
}
