//! The files of a log and its snapshots: lines that say what the file is, and records behind them.
//!
//! | bytes of a record | what |
//! |---|---|
//! | 4 | how many bytes its content has |
//! | 8 | XXH3 of all that follows |
//! | 8 | its number; each is one more than that of the record before |
//! | 8 | a number up to which records were on the disk when this one was written |
//! | | its content |
//!
//! All numbers are little endian. **A torn tail or damage?** When the power fails, what was not synced may be on the disk in part, and any part of it. That was never
//! acknowledged, so it is cut. A bad record is damage where a later record says that it was on the disk.

use std::path::Path;
use twinsplit_io::checked_file::{CheckedWriter, Head, read_prefix};
use twinsplit_io::error::{Error, Result};
use xxhash_rust::xxh3::xxh3_64;

/// The version of logs and snapshots that are written, which their first lines name. The first one knows no runs, and is read as well.
pub(crate) const FORMAT: &str = "2";
/// The version before runs.
pub(crate) const WITHOUT_RUNS: &str = "1";
/// What the first lines call it.
pub(crate) const FORMAT_NAME: &str = "service-format";
/// Bytes of a record before its content.
pub(crate) const HEAD: usize = 28;

/// The lines at the beginning of a file.
pub(crate) fn head(kind: &str, parameters: &[(&str, String)]) -> Vec<u8> {
    let mut all = vec![(FORMAT_NAME, FORMAT.to_owned())];
    all.extend_from_slice(parameters);
    let (mut text, lines) = CheckedWriter::start(kind, &all);
    text.push(b'\n');
    text.extend_from_slice(&lines.end());
    text.push(b'\n');
    text
}

/// Reads the lines at the beginning of a file; where they end.
///
/// # Errors
/// They are not there, damaged, of another kind or of a later version.
pub(crate) fn read_head(bytes: &[u8], path: &Path, kind: &str) -> Result<(Head, usize)> {
    let (head, end) = read_prefix(bytes, path, kind, |_| Ok(())).map_err(|error| match error {
        // It cannot be made again.
        Error::File { path, problem } => {
            let problem = problem.split("; make it again").next().unwrap_or_default().to_owned();
            Error::File { path, problem }
        }
        other => other,
    })?;
    match head.get(FORMAT_NAME) {
        FORMAT | WITHOUT_RUNS => Ok((head, end)),
        other => Err(Error::File {
            path: path.to_owned(),
            problem: format!(
                "it is of format {other} of services, and this version of twinsplit reads {WITHOUT_RUNS} and {FORMAT}; use the version that wrote it, or a later one"
            ),
        }),
    }
}

/// Appends a record.
pub(crate) fn push(number: u64, synced: u64, content: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&(content.len() as u32).to_le_bytes());
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(&number.to_le_bytes());
    out.extend_from_slice(&synced.to_le_bytes());
    out.extend_from_slice(content);
    let checksum = xxh3_64(&out[start + 12..]);
    out[start + 4..start + 12].copy_from_slice(&checksum.to_le_bytes());
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record<'b> {
    pub number: u64,
    pub synced: u64,
    pub content: &'b [u8],
    /// Where it ends.
    pub end: usize,
}

/// Where records begin, and the number and the bound of the content of the one at a place, whole or not.
fn numbers(bytes: &[u8], at: usize) -> Option<(usize, u64, u64)> {
    let head = bytes.get(at..at.checked_add(HEAD)?)?;
    let length = u32::from_le_bytes(*head.first_chunk()?);
    let number = u64::from_le_bytes(*head[12..].first_chunk()?);
    let synced = u64::from_le_bytes(*head[20..].first_chunk()?);
    Some(((at + HEAD).checked_add(length as usize)?, number, synced))
}

/// The record at a place; `None` where there is no whole one.
pub(crate) fn at(bytes: &[u8], at: usize) -> Option<Record<'_>> {
    let (end, number, synced) = numbers(bytes, at)?;
    let whole = bytes.get(at + 12..end)?;
    let checksum = u64::from_le_bytes(*bytes[at + 4..].first_chunk()?);
    (checksum == xxh3_64(whole)).then_some(Record { number, synced, content: &whole[16..], end })
}

/// Where a record lies, behind a place, that says that the one of this number was on the disk.
pub(crate) fn witness(bytes: &[u8], from: usize, number: u64) -> Option<usize> {
    (from + 1..bytes.len().saturating_sub(HEAD - 1)).find(|place| {
        // Most places are passed over by their number alone.
        let most = number.saturating_add((bytes.len() / HEAD) as u64 + 1);
        numbers(bytes, *place)
            .is_some_and(|(_, other, synced)| other > number && other <= most && synced >= number)
            && at(bytes, *place).is_some()
    })
}
