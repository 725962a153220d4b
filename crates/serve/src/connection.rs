//! One client: its requests are read, as many as are there at once, and answered in their order.

use crate::commands::{self, Command};
use crate::info;
use crate::received::Received;
use crate::replies;
use crate::resp::{self, Limits, Malformed, Replies};
use crate::server::{Common, Protocol};
use crate::sketch::Sketch;
use crate::state::Answer;
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Bytes for which there is room for answers.
const ANSWERS: usize = 64 << 10;

/// How long a client may take to receive an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The word and the sentence of an answer that there is not.
pub(crate) const STOPPED: &str = "IOERR the service has stopped: whether the request was done is not known; send it again when the service is there";

/// Reads what comes, and has it answered, until the client goes or is sent away. `answer` has what is there and says whether the client stays, and how many
/// bytes it has taken.
pub(crate) fn serve(
    mut stream: &TcpStream,
    idle: Option<Duration>,
    mut answer: impl FnMut(&[u8]) -> std::io::Result<(bool, usize)>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(idle)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut received = Received::default();
    loop {
        let (goes_on, used) = answer(received.bytes())?;
        received.take(used);
        if !goes_on {
            return Ok(());
        }
        if (used == 0 || received.bytes().is_empty()) && received.read(&mut stream)? == 0 {
            return Ok(());
        }
    }
}

/// What is known of a client.
pub(crate) struct Connection<'c> {
    stream: TcpStream,
    common: &'c Common,
    sketch: Sketch,
    replies: Replies,
    is_known: bool,
}

impl<'c> Connection<'c> {
    pub fn new(stream: TcpStream, common: &'c Common) -> Self {
        let is_known = common.options.password.is_none();
        Self { stream, common, sketch: common.sketching.sketch(), replies: Replies::default(), is_known }
    }

    /// Answers until the client goes, or is sent away.
    pub fn run(mut self) -> std::io::Result<()> {
        let stream = self.stream.try_clone()?;
        serve(&stream, self.common.options.idle, |bytes| self.answer(bytes))
    }

    fn limits(&self) -> Limits {
        if self.is_known { self.common.options.limits } else { Limits::UNKNOWN }
    }

    /// Answers the requests at the beginning of some bytes; whether the client stays, and how many bytes that were.
    fn answer(&mut self, bytes: &[u8]) -> std::io::Result<(bool, usize)> {
        let began = Instant::now();
        let mut commands = Vec::new();
        let (mut used, mut goes_on) = (0, true);
        // Before the password is given, each request may change what the next one may be.
        let most = if self.is_known { self.common.options.pipeline } else { 1 };
        while goes_on && commands.len() < most {
            match resp::request(&bytes[used..], self.limits()) {
                Ok(None) => break,
                Ok(Some((words, end))) => {
                    used += end;
                    if words.is_empty() {
                        continue;
                    }
                    let command = commands::command(&words, &mut self.sketch);
                    goes_on = !matches!(command, Command::Quit);
                    commands.push(command);
                }
                Err(Malformed(problem)) => {
                    commands.push(Command::Wrong(format!("ERR Protocol error: {problem}")));
                    goes_on = false;
                }
            }
        }
        if commands.is_empty() {
            return Ok((goes_on, used));
        }
        let count = commands.len() as u64;
        if !self.is_known {
            commands.iter_mut().for_each(refuse_unknown);
        }
        let answers = self.ask(&mut commands);
        let mut answers = answers.iter().flatten();
        for command in commands {
            self.reply(command, &mut answers);
        }
        self.common.shared.answered(Protocol::Resp, count, began.elapsed());
        self.stream.write_all(&self.replies.bytes)?;
        self.replies.bytes.clear();
        self.replies.bytes.shrink_to(ANSWERS);
        Ok((goes_on, used))
    }

    /// Has the writer answer what is for it; nothing where it has stopped.
    fn ask(&self, commands: &mut [Command]) -> Option<Vec<Answer>> {
        let take = |command: &mut Command| match command {
            Command::Ask(namespace, asked) => {
                let asked = std::mem::replace(asked, crate::state::Operation::Count);
                Some((std::mem::take(namespace), asked))
            }
            _ => None,
        };
        let asked: Vec<_> = commands.iter_mut().filter_map(take).collect();
        if asked.is_empty() { None } else { self.common.ask(asked) }
    }

    fn reply<'a>(&mut self, command: Command, answers: &mut impl Iterator<Item = &'a Answer>) {
        let out = &mut self.replies;
        let before = out.bytes.len();
        match command {
            Command::Ask(..) => match answers.next() {
                Some(answer) => replies::reply(answer, out),
                None => out.error(STOPPED),
            },
            Command::Ping(None) => out.simple("PONG"),
            Command::Ping(Some(text)) | Command::Echo(text) => out.bulk(&text),
            Command::Ok | Command::Quit => out.simple("OK"),
            Command::List => commands::reply_commands(out),
            Command::HowMany => commands::reply_count(out),
            Command::Docs => commands::reply_docs(out),
            Command::Wrong(problem) => out.error(&problem),
            Command::Auth(password) => match self.common.is_password(&password) {
                None => out.error("ERR AUTH: this service has no password"),
                Some(false) => out.error(commands::WRONG_PASSWORD),
                Some(true) => {
                    self.is_known = true;
                    out.simple("OK");
                }
            },
            Command::Hello { version, password } => {
                match password.map(|password| self.common.is_password(&password)) {
                    Some(Some(false)) => out.error(commands::WRONG_PASSWORD),
                    Some(None) => out.error("ERR AUTH: this service has no password"),
                    given => {
                        self.is_known |= given.is_some();
                        if self.is_known { hello(version, out) } else { out.error(NOAUTH) }
                    }
                }
            }
            Command::Info => match self.common.figures() {
                Some(figures) => {
                    let text = info::text(&figures, &self.common.shared, &self.common.about);
                    out.bulk(text.as_bytes());
                }
                None => out.error(STOPPED),
            },
        }
        if out.bytes.get(before) == Some(&b'-') {
            self.common.shared.errors.fetch_add(1, Ordering::Relaxed);
        }
    }
}

const NOAUTH: &str = "NOAUTH Authentication required.";

/// Nobody who has not given the password has more than the commands for that.
fn refuse_unknown(command: &mut Command) {
    if !matches!(command, Command::Auth(_) | Command::Hello { .. } | Command::Quit | Command::Wrong(_)) {
        *command = Command::Wrong(NOAUTH.to_owned());
    }
}

/// Says what is spoken from here on.
fn hello(version: Option<resp::Version>, out: &mut Replies) {
    out.version = version.unwrap_or(out.version);
    let proto = match out.version {
        resp::Version::Two => 2,
        resp::Version::Three => 3,
    };
    out.map(4);
    for (name, value) in [("server", "twinsplit"), ("version", env!("CARGO_PKG_VERSION")), ("role", "master")]
    {
        out.bulk(name.as_bytes());
        out.bulk(value.as_bytes());
    }
    out.bulk(b"proto");
    out.number(proto);
}
