//! A Hadoop whose commands are done by one process, which is started once: `tests/hadoop`. Its jobs are Hadoop's own, with
//! the words that scripts give them; that scripts start the command as users do is for other tests to show.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::LazyLock;

use super::cluster::{hadoop_home, with_hadoop};

/// The process, and its Hadoop home for [`with_hadoop`], whose `hadoop jar` and `hadoop fs` wait for one another.
pub struct CommandServer {
    home: PathBuf,
    /// Where nobody can write requests any more, the process ends and its home goes; if it ends otherwise, the home stays, with its log.
    _requests: fs::File,
}

impl CommandServer {
    /// That of all tests, for jobs on local files. It ends with the tests.
    pub fn local() -> &'static Self {
        static SERVER: LazyLock<CommandServer> = LazyLock::new(|| CommandServer::start(None));
        &SERVER
    }

    /// Starts one with this configuration, else for jobs on local files.
    #[track_caller]
    pub fn start(configuration: Option<&Path>) -> Self {
        let hadoop = hadoop_home();
        let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hadoop");
        // Jars of tests are passed over when the streaming jar is looked for, by their own names alone.
        let home = tempfile::Builder::new().prefix("hadoop-tests.").tempdir().expect("a folder").keep();
        fs::create_dir(home.join("bin")).expect("a folder");
        fs::copy(ours.join("hadoop"), home.join("bin/hadoop")).expect("tests/hadoop is there");
        for name in ["bin/hdfs", "bin/yarn", "share"] {
            symlink(hadoop.join(name), home.join(name)).expect("a link");
        }
        let line = format!(
            "mkfifo requests answer
            javac=${{JAVA_HOME:+$JAVA_HOME/bin/}}javac
            command -v \"$javac\" > /dev/null || {{ echo 'javac is missing: apt-get install openjdk-17-jdk-headless (or: make test-tools)' >&2; exit 1; }}
            \"$javac\" -d classes -cp \"$(hadoop classpath)\" '{}/twinsplit/CommandServer.java'
            {{ HADOOP_CLASSPATH=$PWD/classes hadoop twinsplit.CommandServer < requests && rm -r \"$PWD\"; }} > log 2>&1 &
            echo $! > server.pid",
            ours.display()
        );
        let mut command = with_hadoop(&hadoop, configuration, &line);
        let output = command.current_dir(&home).stdin(Stdio::null()).output().expect("bash is there");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let requests =
            fs::File::options().read(true).write(true).open(home.join("requests")).expect("a pipe");
        Self { home, _requests: requests }
    }

    /// The Hadoop home.
    pub fn home(&self) -> &Path {
        &self.home
    }
}
