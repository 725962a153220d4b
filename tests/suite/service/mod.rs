//! `twinsplit serve`, as a process: how it starts and stops, and what is there after it was killed.

// What the crate's own tests have.
#[path = "../../../crates/serve/src/tests/certificates.rs"]
mod certificates;
#[path = "../../../crates/serve/src/tests/client.rs"]
mod client;
mod deploy;
mod golden;
mod http;
mod kafka;
mod kills;
mod program;
mod sets;
mod tls;
#[path = "../../../crates/serve/src/tests/tls_client.rs"]
mod tls_client;

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::common::cli::{Place, binaries};
use crate::common::harness::clean;

/// A service that runs; it is killed where it is not stopped before.
struct Service {
    child: Child,
    stderr: BufReader<ChildStderr>,
    address: SocketAddr,
    /// What it said before it listened.
    said: String,
}

impl Service {
    /// Starts one, and waits until it says that it listens.
    fn start(here: &Place, options: &str) -> Self {
        Self::start_with(here, options, &[])
    }

    /// The same with variables of the environment.
    fn start_with(here: &Place, options: &str, variables: &[(&str, &str)]) -> Self {
        let mut command = clean(Command::new(binaries().join("twinsplit")));
        let options: Vec<&str> = options.split(' ').collect();
        command.arg("serve").args(&options);
        if !options.contains(&"--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        command.envs(variables.iter().copied());
        command.current_dir(here.path("")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let (mut said, mut line) = (String::new(), String::new());
        let address = loop {
            line.clear();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "it has ended: {said}");
            if let Some(rest) = line.strip_prefix("listening at ") {
                break rest.split(';').next().unwrap().parse().unwrap();
            }
            said.push_str(&line);
        };
        Self { child, stderr, address, said }
    }

    fn client(&self) -> client::Client {
        client::Client::to(self.address)
    }

    /// Where it listens for HTTP.
    fn http(&self) -> SocketAddr {
        let line = self.said.lines().find_map(|line| line.strip_prefix("HTTP at "));
        line.unwrap_or_else(|| panic!("{}", self.said)).split(';').next().unwrap().parse().unwrap()
    }

    /// Sends it a signal.
    fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// The next line that it says.
    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.stderr.read_line(&mut line).unwrap() > 0, "it has ended");
        line
    }

    /// Waits for its end; the exit code, and what it said since it listened.
    fn end(mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // One that has ended cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
