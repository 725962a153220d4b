//! Files that must arrive whole: an order of features, a table of document frequencies, a plan, a slice.
//!
//! The first line names the kind, the version and the parameters, the last one counts the lines between and holds
//! their checksum, so that a truncated file, a damaged one and one of another kind are refused by name. Rows of a
//! stream carry no such lines, for a sort would move them.

use crate as io;
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;
use twinsplit_core::hash;

/// Version of the formats; raised when one of them changes.
pub const VERSION: u64 = 1;
/// The parameter that says by which version of the tokenizer the features were made; it is no option.
pub const TOKENIZER: &str = "tokenizer";
/// Parameters that stand in a first line where they have another value than this, for there were files before them.
const UNSAID: [(&str, &str); 2] = [("counts", "off"), ("chain", "simhash")];

/// Writes the first and the last line of a checked file and keeps the checksum of those between.
pub struct CheckedWriter {
    checksum: hash::Checksum,
    lines: u64,
}

impl CheckedWriter {
    /// Starts a file of a kind; the first of the returned values is its first line.
    pub fn start(kind: &str, parameters: &[(&str, String)]) -> (Vec<u8>, Self) {
        let mut head = format!("#twinsplit\t{kind}\t{VERSION}");
        for (name, value) in parameters {
            head.push_str(&format!("\t{name}={value}"));
        }
        let mut writer = Self { checksum: hash::Checksum::default(), lines: 0 };
        writer.checksum.line(head.as_bytes());
        (head.into_bytes(), writer)
    }

    /// Takes note of a line that is being written.
    pub fn line(&mut self, line: &[u8]) {
        self.checksum.line(line);
        self.lines += 1;
    }

    /// The last line.
    pub fn end(&self) -> Vec<u8> {
        let mut line = format!("#end\t{}\t", self.lines).into_bytes();
        line.extend_from_slice(self.checksum.hex().as_bytes());
        line
    }
}

/// The parameters in the first line of a checked file.
#[derive(Debug, Default)]
pub struct Head(BTreeMap<String, String>);

impl Head {
    /// A parameter's value, empty when there is none.
    pub fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// All parameters, in the order of their names.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// A parameter that is a number.
    pub fn number(&self, name: &str, path: &Path) -> Result<u64> {
        self.get(name)
            .parse()
            .map_err(|_| broken(path, &format!("its first line gives no number for {name:?}")))
    }

    /// Refuses a file that was made with other parameters than these, which are options.
    pub fn must_have(&self, parameters: &[(&str, String)], path: &Path) -> Result<()> {
        let unsaid = UNSAID.map(|(name, value)| (name, value.to_owned()));
        let not_given = unsaid.iter().filter(|(name, _)| parameters.iter().all(|(given, _)| given != name));
        let mut wanted = not_given.chain(parameters);
        let found = |name: &str| match self.get(name) {
            "" => UNSAID.iter().find(|(unsaid, _)| *unsaid == name).map_or("", |(_, value)| value),
            found => found,
        };
        match wanted.find(|(name, value)| found(name) != value) {
            None => Ok(()),
            Some((TOKENIZER, needed)) => {
                // Before there was a second version no file named the first.
                let found = Some(self.get(TOKENIZER)).filter(|found| !found.is_empty()).unwrap_or("1");
                Err(broken(
                    path,
                    &format!("it was made by version {found} of the tokenizer where {needed} is needed"),
                ))
            }
            Some((name, value)) => Err(Error::File {
                path: path.to_owned(),
                problem: format!(
                    "it was made with --{name} {} where --{name} {value} is asked for; \
                     give the same option, or make it again with the stage that wrote it",
                    found(name)
                ),
            }),
        }
    }
}

/// An error about a checked file, with the next step.
pub fn broken(path: &Path, problem: &str) -> Error {
    Error::File {
        path: path.to_owned(),
        problem: format!("{problem}; make it again with the stage that wrote it"),
    }
}

/// Reads a checked file of a kind: `visit` is called with each line between the first and the last. The checksum is
/// verified at the end, so what was made of the lines counts only when this returns `Ok`.
pub fn read(path: &Path, kind: &str, visit: impl FnMut(&Head, &[u8]) -> Result<()>) -> Result<Head> {
    read_to(path, kind, false, visit)
}

/// Reads one or several checked files of a kind that stand one after the other, as a task that made several leaves
/// them. Gives the head of the last; they have the same parameters but for what tells them apart.
pub fn read_all(path: &Path, kind: &str, visit: impl FnMut(&Head, &[u8]) -> Result<()>) -> Result<Head> {
    read_to(path, kind, true, visit)
}

fn read_to(
    path: &Path,
    kind: &str,
    several: bool,
    mut visit: impl FnMut(&Head, &[u8]) -> Result<()>,
) -> Result<Head> {
    let mut reader = io::open(path)?;
    let mut number = 0;
    let mut next = |line: &mut Vec<u8>| -> Result<bool> {
        number += 1;
        io::read_row(&mut *reader, line, path, number)
    };
    let mut line = Vec::new();
    next(&mut line)?;
    let mut head = head_of(path, kind, &line)?;
    let mut writer = CheckedWriter { checksum: hash::Checksum::default(), lines: 0 };
    writer.checksum.line(&line);
    let mut ahead = Vec::new();
    if !next(&mut line)? {
        return Err(broken(path, "it ends after its first line"));
    }
    // The last line is known as such only by what follows it: nothing, or the first line of the next.
    while next(&mut ahead)? {
        if several && ahead.starts_with(b"#twinsplit\t") && line == writer.end() {
            head = head_of(path, kind, &ahead)?;
            writer = CheckedWriter { checksum: hash::Checksum::default(), lines: 0 };
            writer.checksum.line(&ahead);
            if !next(&mut line)? {
                return Err(broken(path, "it ends after a first line"));
            }
            continue;
        }
        visit(&head, &line)?;
        writer.line(&line);
        std::mem::swap(&mut line, &mut ahead);
    }
    if line == writer.end() { Ok(head) } else { Err(broken(path, "it is truncated or damaged")) }
}

/// Reads the checked lines at the beginning of bytes that go on with something else. Gives the head, and where the lines end.
pub fn read_prefix(
    bytes: &[u8],
    path: &Path,
    kind: &str,
    mut visit: impl FnMut(&[u8]) -> Result<()>,
) -> Result<(Head, usize)> {
    let mut end = 0;
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').map_while(|line| {
        end += line.len();
        line.strip_suffix(b"\n").map(|line| (line, end))
    });
    let (first, _) = lines.next().unwrap_or_default();
    let head = head_of(path, kind, first)?;
    let mut writer = CheckedWriter { checksum: hash::Checksum::default(), lines: 0 };
    writer.checksum.line(first);
    for (line, end) in lines {
        if line.starts_with(b"#end\t") {
            return if line == writer.end() { Ok((head, end)) } else { break };
        }
        visit(line)?;
        writer.line(line);
    }
    Err(broken(path, "it is truncated or damaged"))
}

fn head_of(path: &Path, kind: &str, line: &[u8]) -> Result<Head> {
    let text = String::from_utf8_lossy(line);
    let mut fields = text.split('\t');
    if fields.next() != Some("#twinsplit") {
        return Err(broken(path, &format!("it is not a twinsplit {kind} file")));
    }
    let found = fields.next().unwrap_or_default();
    if found != kind {
        return Err(broken(path, &format!("it is a {found} file where a {kind} file is needed")));
    }
    let version = fields.next().unwrap_or_default();
    if version != VERSION.to_string() {
        return Err(broken(path, &format!("it has version {version} where {VERSION} is needed")));
    }
    let pairs = fields.filter_map(|field| field.split_once('='));
    Ok(Head(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(lines: &[&[u8]]) -> tempfile::NamedTempFile {
        let (head, mut writer) = CheckedWriter::start("order", &[("n", "3".to_owned())]);
        let mut text = head;
        for line in lines {
            writer.line(line);
            text.push(b'\n');
            text.extend_from_slice(line);
        }
        text.push(b'\n');
        text.extend_from_slice(&writer.end());
        text.push(b'\n');
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    fn lines(path: &Path) -> Result<Vec<Vec<u8>>> {
        let mut lines = Vec::new();
        let head = read(path, "order", |_, line| {
            lines.push(line.to_vec());
            Ok(())
        })?;
        assert_eq!(head.number("n", path).unwrap(), 3);
        Ok(lines)
    }

    #[test]
    fn what_was_written_is_read() {
        let bodies: [&[&[u8]]; 3] = [&[], &[b"a\tb"], &[b"a\tb", b"#end\t0\t0"]];
        for body in bodies {
            assert_eq!(lines(file(body).path()).unwrap(), body);
        }
    }

    #[test]
    fn damage_is_found() {
        let good = std::fs::read(file(&[b"a\tb", b"c\td"]).path()).unwrap();
        let bad = tempfile::NamedTempFile::new().unwrap();
        for end in 0..good.len() - 1 {
            std::fs::write(bad.path(), &good[..end]).unwrap();
            assert!(lines(bad.path()).is_err(), "truncated to {end} bytes");
        }
        for at in 0..good.len() - 1 {
            let mut other = good.clone();
            other[at] ^= 1;
            std::fs::write(bad.path(), &other).unwrap();
            assert!(lines(bad.path()).is_err(), "byte {at} changed");
        }
    }
}
