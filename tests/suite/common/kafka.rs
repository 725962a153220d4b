//! A Kafka of a test's own: a node on loopback, and its console tools.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::cli::{Place, fixture};
use super::harness::clean;

/// How long a node may take to start.
const STARTS: Duration = Duration::from_secs(120);

/// A node; it is killed where the test ends.
pub struct Kafka {
    home: PathBuf,
    place: Place,
    port: u16,
    server: Option<Child>,
}

/// Kafka's home folder. It is installed where it is missing, which takes the network once.
#[track_caller]
fn kafka_home() -> PathBuf {
    let output = Command::new(fixture("kafka/install.sh")).output().expect("install.sh is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    PathBuf::from(String::from_utf8(output.stdout).expect("UTF-8").trim_end())
}

/// Two ports at which nothing listens.
fn free_ports() -> [u16; 2] {
    let sockets = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
    sockets.map(|socket| socket.local_addr().expect("an address").port())
}

impl Kafka {
    /// Starts a node that holds nothing.
    pub fn start() -> Self {
        let (home, place, [port, controller]) = (kafka_home(), Place::new(), free_ports());
        let template = fs::read_to_string(fixture("kafka/server.properties")).expect("the template");
        let folder = place.path("data");
        let properties = template
            .replace("@PORT@", &port.to_string())
            .replace("@CONTROLLER@", &controller.to_string())
            .replace("@FOLDER@", folder.to_str().expect("UTF-8"));
        place.write("server.properties", properties);
        let mut kafka = Self { home, place, port, server: None };
        kafka.tool("kafka-storage.sh", "format -t MkU3OEVBNTcwNTJENDM2Qg -c server.properties");
        kafka.run();
        kafka
    }

    /// Starts it again with what it holds.
    pub fn run(&mut self) {
        let log = fs::File::create(self.place.path("server.log")).expect("a log");
        let mut command = clean(Command::new(self.home.join("bin/kafka-server-start.sh")));
        command.arg("server.properties").current_dir(self.place.path("")).stdin(Stdio::null());
        command.stdout(log.try_clone().expect("a log")).stderr(log);
        self.server = Some(command.spawn().expect("Java"));
        let until = Instant::now() + STARTS;
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let ended =
                self.server.as_mut().is_none_or(|server| server.try_wait().expect("a process").is_some());
            assert!(!ended && Instant::now() < until, "{}", self.place.read("server.log"));
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Kills it, as a machine without power does.
    pub fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill().expect("it runs");
            server.wait().expect("it has ended");
        }
    }

    /// Where it is.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// What one of its tools says; it has to succeed.
    #[track_caller]
    pub fn tool(&self, name: &str, arguments: &str) -> String {
        let mut command = clean(Command::new(self.home.join("bin").join(name)));
        let arguments = arguments.replace("KAFKA", &self.address());
        command.args(arguments.split(' ')).current_dir(self.place.path("")).stdin(Stdio::null());
        let output = command.output().expect("Java");
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(
            output.status.success(),
            "{name} {arguments}: {}{}",
            said(&output.stdout),
            said(&output.stderr)
        );
        said(&output.stdout)
    }

    /// Makes a log and its answers.
    pub fn topics(&self, name: &str, shards: usize) {
        let log = "--partitions 1 --config message.timestamp.type=LogAppendTime";
        self.tool("kafka-topics.sh", &format!("--bootstrap-server KAFKA --create --topic {name} {log}"));
        let answers = format!("--create --topic {name}-answers --partitions {shards}");
        self.tool("kafka-topics.sh", &format!("--bootstrap-server KAFKA {answers}"));
    }
}

impl Drop for Kafka {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            // One that has ended cannot be killed.
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}
