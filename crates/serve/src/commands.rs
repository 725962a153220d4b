//! What clients ask for: words as commands.

use crate::document::shown;
use crate::resp::{Replies, Version};
use crate::runs::Mode;
use crate::sketch::{Sent, Sketching};
use crate::state::Operation;
use std::borrow::Cow;

/// A command as it is declared.
struct Declared {
    name: &'static str,
    /// Words with the name; at least so many where it is negative, as Redis tells it.
    arity: i64,
    /// What it does, for `COMMAND DOCS`.
    about: &'static str,
    /// Whether its first argument is a namespace.
    keyed: bool,
    writes: bool,
}

const fn of_namespace(name: &'static str, arity: i64, writes: bool, about: &'static str) -> Declared {
    Declared { name, arity, about, keyed: true, writes }
}

const fn of_server(name: &'static str, arity: i64, about: &'static str) -> Declared {
    Declared { name, arity, about, keyed: false, writes: false }
}

const COMMANDS: [Declared; 21] = [
    of_namespace("fp.checkadd", -5, true, "Says whether a document is new, and takes it in"),
    of_namespace("fp.mcheckadd", -5, true, "Does that with several documents, one after the other"),
    of_namespace("fp.check", -4, false, "Says whether a document would be new"),
    of_namespace("fp.add", -5, true, "Takes a document in and keeps it, whatever it is like"),
    of_namespace("fp.del", -3, true, "Forgets a document, and lists what was dropped in its favour"),
    of_namespace("fp.why", -4, false, "Says how two documents compare"),
    of_namespace("fp.count", 2, false, "Counts documents, and those that are kept"),
    of_namespace("fp.begin", 4, true, "Begins a run of a crawler"),
    of_namespace("fp.commit", 3, true, "Commits a run, and lists its documents whose verdicts have changed"),
    of_namespace("fp.cancel", 3, true, "Takes a run back, and lists what was dropped in its favour"),
    of_namespace("fp.runs", 2, false, "Lists the runs"),
    of_namespace("fp.readonly", 3, true, "Has requests that would change a namespace refused, or not"),
    of_server("ping", -1, "Answers"),
    of_server("echo", 2, "Says it again"),
    of_server("hello", -1, "Chooses the version of the protocol"),
    of_server("auth", -2, "Gives the password"),
    of_server("info", -1, "Shows figures of the service"),
    of_server("command", -1, "Lists the commands"),
    of_server("client", -2, "Takes the name of a client, and does nothing with it"),
    of_server("select", 2, "Takes database 0, which is the only one"),
    of_server("quit", 1, "Ends the connection"),
];

/// What a client asks for.
#[derive(Debug)]
pub(crate) enum Request {
    /// Something of a namespace.
    OfNamespace(Box<[u8]>, Operation<Sent>),
    /// Something of the service.
    OfServer(Command),
}

/// What a client asks the service for.
#[derive(Debug)]
pub(crate) enum Command {
    Ping(Option<Box<[u8]>>),
    Echo(Box<[u8]>),
    Hello {
        version: Option<Version>,
        password: Option<Box<[u8]>>,
    },
    Auth(Box<[u8]>),
    Info,
    List,
    HowMany,
    Docs,
    Ok,
    Quit,
    /// It is refused with this error.
    Wrong(String),
}

/// Bytes of the longest id.
pub(crate) const ID: usize = 4096;
/// Bytes of the longest name of a namespace.
pub(crate) const NAME: usize = 256;

type Word<'b> = Cow<'b, [u8]>;

/// What some words ask for; there is at least one.
pub(crate) fn request(words: &[Word<'_>], sketching: &Sketching) -> Request {
    read(words, sketching).unwrap_or_else(|problem| Request::OfServer(Command::Wrong(problem)))
}

fn read(words: &[Word<'_>], sketching: &Sketching) -> Result<Request, String> {
    let name = words.first().map_or(&b""[..], |word| word);
    let Some(declared) = COMMANDS.iter().find(|known| is_word(name, known.name)) else {
        let name = shown(&name.to_ascii_lowercase());
        return Err(format!("ERR unknown command '{name}'; COMMAND lists those that there are"));
    };
    let count = words.len() as i64;
    if (declared.arity >= 0 && count != declared.arity) || count < -declared.arity {
        return Err(format!("ERR wrong number of arguments for '{}' command", declared.name));
    }
    let arguments = &words[1..];
    if declared.keyed {
        let (namespace, arguments) = arguments.split_first().ok_or("ERR no namespace is given")?;
        let namespace = bounded("namespace", namespace, NAME)?;
        return Ok(Request::OfNamespace(namespace, asked(declared.name, arguments, sketching)?));
    }
    Ok(Request::OfServer(match (declared.name, arguments) {
        ("ping", []) => Command::Ping(None),
        ("ping", [text]) => Command::Ping(Some((**text).into())),
        ("echo", [text]) => Command::Echo((**text).into()),
        ("hello", arguments) => hello(arguments)?,
        ("auth", [password]) => Command::Auth((**password).into()),
        ("auth", [user, password]) => Command::Auth(of_user(user, password)?),
        ("info", _) => Command::Info,
        ("command", []) => Command::List,
        ("command", [what, ..]) => match &what.to_ascii_lowercase()[..] {
            b"count" => Command::HowMany,
            b"docs" => Command::Docs,
            other => return Err(format!("ERR unknown subcommand '{}'", shown(other))),
        },
        ("client", [what, ..]) => match &what.to_ascii_lowercase()[..] {
            b"setname" | b"setinfo" => Command::Ok,
            other => return Err(format!("ERR unknown subcommand '{}'", shown(other))),
        },
        ("select", [number]) if **number == *b"0" => Command::Ok,
        ("select", _) => {
            return Err("ERR there is one database, 0; a namespace is the first argument".to_owned());
        }
        ("quit", _) => Command::Quit,
        _ => return Err(format!("ERR wrong number of arguments for '{}' command", declared.name)),
    }))
}

fn asked(name: &str, arguments: &[Word<'_>], sketching: &Sketching) -> Result<Operation<Sent>, String> {
    let (run, arguments) = of_run(name, arguments)?;
    let id = |id: &Word<'_>| bounded("id", id, ID);
    let of = |run: &Word<'_>| bounded("name of the run", run, NAME);
    let operation = match (name, arguments) {
        ("fp.checkadd", [of, kind, content]) => {
            Operation::CheckAdd(id(of)?, document(kind, content, sketching)?)
        }
        ("fp.add", [of, kind, content]) => Operation::Add(id(of)?, document(kind, content, sketching)?),
        ("fp.check", [kind, content]) => Operation::Check(document(kind, content, sketching)?),
        ("fp.del", [of]) => Operation::Delete(id(of)?),
        ("fp.why", [one, other]) => Operation::Why(id(one)?, id(other)?),
        ("fp.count", []) => Operation::Count,
        ("fp.readonly", [word]) if word.eq_ignore_ascii_case(b"on") => Operation::ReadOnly(true),
        ("fp.readonly", [word]) if word.eq_ignore_ascii_case(b"off") => Operation::ReadOnly(false),
        ("fp.readonly", [other]) => return Err(format!("ERR expected ON or OFF, found '{}'", shown(other))),
        ("fp.mcheckadd", [kind, rest @ ..]) if rest.len() % 2 == 0 => {
            let read = |two: &[Word<'_>]| Ok((id(&two[0])?, document(kind, &two[1], sketching)?));
            let named = |(at, two): (usize, &[Word<'_>])| {
                read(two).map_err(|problem: String| {
                    format!(
                        "{problem} (document {} of the request, whose id is '{}')",
                        at + 1,
                        shown(&two[0])
                    )
                })
            };
            let all = rest.chunks_exact(2).enumerate().map(named);
            Operation::CheckAddAll(all.collect::<Result<_, String>>()?)
        }
        ("fp.begin", [run, mode]) => Operation::Begin(of(run)?, mode_of(mode)?),
        ("fp.commit", [run]) => Operation::Commit(of(run)?),
        ("fp.cancel", [run]) => Operation::Cancel(of(run)?),
        ("fp.runs", []) => Operation::Runs,
        _ => return Err(format!("ERR wrong number of arguments for '{name}' command")),
    };
    Ok(match run {
        Some(run) => Operation::InRun(run, Box::new(operation)),
        None => operation,
    })
}

/// The run with which a request comes, and the other arguments.
type RunAndRest<'w, 'b> = (Option<Box<[u8]>>, &'w [Word<'b>]);

/// Takes the run off the arguments of a request. It stands at the end; where documents follow one another it stands before them, for
/// `RUN` may be an id.
fn of_run<'w, 'b>(name: &str, arguments: &'w [Word<'b>]) -> Result<RunAndRest<'w, 'b>, String> {
    let without = match name {
        "fp.checkadd" | "fp.add" => 3,
        "fp.check" | "fp.why" => 2,
        "fp.del" => 1,
        "fp.mcheckadd" => 0,
        _ => return Ok((None, arguments)),
    };
    let (run, rest) = match arguments {
        [word, run, rest @ ..] if without == 0 && is_word(word, "run") => (run, rest),
        [rest @ .., word, run] if without > 0 && rest.len() == without => {
            if !is_word(word, "run") {
                return Err(format!("ERR expected RUN, found '{}'", shown(word)));
            }
            (run, rest)
        }
        _ => return Ok((None, arguments)),
    };
    Ok((Some(bounded("name of the run", run, NAME)?), rest))
}

fn mode_of(word: &[u8]) -> Result<Mode, String> {
    let known = [Mode::Isolated, Mode::Shared].into_iter().find(|mode| is_word(word, mode.name()));
    known.ok_or_else(|| format!("ERR expected ISOLATED or SHARED, found '{}'", shown(word)))
}

/// Whether that is a word, in capitals or not.
fn is_word(given: &[u8], word: &str) -> bool {
    given.eq_ignore_ascii_case(word.as_bytes())
}

/// A name that is not empty, and not too long.
pub(crate) fn bounded(what: &str, word: &[u8], most: usize) -> Result<Box<[u8]>, String> {
    match word.len() {
        0 => Err(format!("ERR the {what} is empty")),
        length if length > most => Err(format!("ERR the {what} has {length} bytes, and {most} is the most")),
        _ => Ok(word.into()),
    }
}

fn document(kind: &[u8], content: &[u8], sketching: &Sketching) -> Result<Sent, String> {
    if is_word(kind, "text") {
        let text = std::str::from_utf8(content).map_err(|error| {
            format!("ERR the text is not UTF-8: byte {} begins no character", error.valid_up_to())
        })?;
        return Ok(Sent::Text(text.into()));
    }
    if is_word(kind, "fp") {
        let document = sketching.of_fingerprint(content);
        return document.map(Sent::Fingerprint).map_err(|problem| format!("ERR {problem}"));
    }
    Err(format!("ERR expected TEXT or FP, found '{}'", shown(&kind.to_ascii_lowercase())))
}

fn hello(arguments: &[Word<'_>]) -> Result<Command, String> {
    let version = match arguments.first().map(|word| &**word) {
        None => None,
        Some(b"2") => Some(Version::Two),
        Some(b"3") => Some(Version::Three),
        Some(_) => return Err("NOPROTO unsupported protocol version: 2 and 3 are spoken".to_owned()),
    };
    let mut rest = arguments.get(1..).unwrap_or_default();
    let mut password = None;
    while let Some(option) = rest.first() {
        (password, rest) = match (&option.to_ascii_lowercase()[..], rest) {
            (b"auth", [_, user, given, rest @ ..]) => (Some(of_user(user, given)?), rest),
            (b"setname", [_, _, rest @ ..]) => (password, rest),
            _ => return Err(format!("ERR syntax error in HELLO option '{}'", shown(option))),
        };
    }
    Ok(Command::Hello { version, password })
}

/// There is one user, `default`.
fn of_user(user: &[u8], password: &[u8]) -> Result<Box<[u8]>, String> {
    if user == b"default" { Ok(password.into()) } else { Err(WRONG_PASSWORD.to_owned()) }
}

/// What a wrong password is answered with.
pub(crate) const WRONG_PASSWORD: &str = "WRONGPASS invalid username-password pair; the user is 'default'";

/// Replies with the list of commands, as `COMMAND` has it.
pub(crate) fn reply_commands(out: &mut Replies) {
    out.array(COMMANDS.len());
    for command in &COMMANDS {
        out.array(6);
        out.bulk(command.name.as_bytes());
        match u64::try_from(command.arity) {
            Ok(arity) => out.number(arity),
            Err(_) => out.bytes.extend_from_slice(format!(":{}\r\n", command.arity).as_bytes()),
        }
        out.array(1);
        out.simple(if command.writes { "write" } else { "readonly" });
        let keys = u64::from(command.keyed);
        [keys, keys, keys].into_iter().for_each(|key| out.number(key));
    }
}

/// Replies with how many commands there are.
pub(crate) fn reply_count(out: &mut Replies) {
    out.number(COMMANDS.len() as u64);
}

/// Replies with what the commands do.
pub(crate) fn reply_docs(out: &mut Replies) {
    out.map(COMMANDS.len());
    for command in &COMMANDS {
        out.bulk(command.name.as_bytes());
        out.map(1);
        out.bulk(b"summary");
        out.bulk(command.about.as_bytes());
    }
}
