//! Names of documents on clusters: which a pattern matches, as on one machine, and whether they come in order.

use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use twinsplit_io::error::{Error, Result};
use twinsplit_io::{Stdout, matches_name};

/// A command that takes names.
pub fn command(name: &'static str, about: &'static str) -> Command {
    Command::new(name).about(about).arg(Arg::new("names").num_args(1..))
}

/// The names given.
pub fn given(matches: &ArgMatches) -> Vec<String> {
    matches.get_many::<String>("names").into_iter().flatten().cloned().collect()
}

/// The option that names the command `hadoop`.
pub fn hadoop() -> Arg {
    Arg::new("hadoop").long("hadoop").default_value("hadoop").value_parser(value_parser!(PathBuf))
}

/// Prints names with the file system that Hadoop takes when none is said, and with the user's folder there.
pub fn addresses(matches: &ArgMatches) -> Result<()> {
    let names = given(matches);
    let mut base = (String::new(), String::new());
    if names.iter().any(|name| !name.contains(":/")) {
        let hadoop = matches.get_one::<PathBuf>("hadoop").map_or(Path::new("hadoop"), PathBuf::as_path);
        base = default_folder(&hadoop.with_file_name("hdfs"))?;
    }
    let mut out = Stdout::new();
    for name in &names {
        if name.contains(',') {
            return Err(Error::Failed(format!(
                "{name}: Hadoop takes a comma for the end of a path; rename it, or give a pattern with ? for it"
            )));
        }
        out.line(address(name, &base).as_bytes())?;
    }
    out.flush()
}

/// A name with its file system; one that does not begin with / is in the user's folder.
fn address(name: &str, (system, home): &(String, String)) -> String {
    match name {
        whole if whole.contains(":/") => whole.to_owned(),
        rooted if rooted.starts_with('/') => format!("{system}{rooted}"),
        other => format!("{system}{home}/{other}"),
    }
}

/// The file system that is meant when none is named, and the user's folder in it.
fn default_folder(hdfs: &Path) -> Result<(String, String)> {
    let mut command = Process::new(hdfs);
    command.args(["getconf", "-confKey", "fs.defaultFS"]).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().map_err(Error::io("start", hdfs))?;
    let system = String::from_utf8_lossy(&output.stdout).trim().trim_end_matches('/').to_owned();
    if !output.status.success() || system.is_empty() {
        return Err(Error::Failed("hdfs getconf does not tell fs.defaultFS".to_owned()));
    }
    if system.starts_with("file:") {
        let here = std::env::current_dir().map_err(Error::io("find", "this folder"))?;
        return Ok(("file://".to_owned(), here.to_string_lossy().into_owned()));
    }
    let user = std::env::var("HADOOP_USER_NAME").ok().filter(|user| !user.is_empty());
    let user = match user {
        Some(user) => user,
        None => {
            let output = Process::new("id").arg("-un").output().map_err(Error::io("start", "id"))?;
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        }
    };
    Ok((system, format!("/user/{user}")))
}

/// Prints the places, from 0, of the names on standard input that a pattern matches: a list of JSON, as they are.
pub fn print_matching(pattern: &[String]) -> Result<()> {
    let text = std::io::read_to_string(std::io::stdin().lock()).map_err(Error::io("read", ""))?;
    let names: Vec<String> = serde_json::from_str(&text).map_err(|error| Error::Failed(error.to_string()))?;
    let pattern = pattern.first().map_or("", String::as_str);
    let mut found = Vec::new();
    for (number, name) in names.iter().enumerate() {
        if matches_name(pattern, name)? {
            found.push(Value::from(number));
        }
    }
    let mut out = Stdout::new();
    out.line(Value::from(found).to_string().as_bytes())?;
    out.flush()
}

/// Stops unless the inputs come in byte order of their names, none of which begins with another: then the order of files, as
/// the inputs are given and by name in each, is that of their names.
pub fn by_name(inputs: &[String]) -> Result<()> {
    let plain = |name: &String| name.split(['*', '?', '[', '\\', '{']).next().unwrap_or_default().to_owned();
    for two in inputs.windows(2) {
        let (last, next) = (plain(&two[0]), plain(&two[1]));
        if last >= next || next.starts_with(&last) {
            return Err(Error::Failed(format!(
                "--keep first: on Hadoop files come in byte order of their names, so give {} before {}, or both as one folder \
                 or pattern; or take another --keep",
                two[1], two[0]
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_get_their_file_system_and_folder() {
        let base = ("hdfs://h:9000".to_owned(), "/user/me".to_owned());
        let found = ["a/b", "/a", "s3a://x/a", "file:/a"].map(|name| address(name, &base));
        assert_eq!(found, ["hdfs://h:9000/user/me/a/b", "hdfs://h:9000/a", "s3a://x/a", "file:/a"]);
    }

    #[test]
    fn inputs_in_another_order_are_refused() {
        let by_name = |names: &[&str]| {
            by_name(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).is_ok()
        };
        assert!(by_name(&["a", "b"]) && by_name(&["a/*.gz", "b"]) && by_name(&["a"]));
        assert!(!by_name(&["b", "a"]) && !by_name(&["a", "a/b"]) && !by_name(&["*", "b"]));
    }
}
