//! Files of parts, which are mapped and not read: the indexes of fingerprints, the segments of a store.
//!
//! Such a file begins with checked lines ([`checked_file`](super::checked_file)): what it is, and where each part of it lies, with the part's checksum. The parts
//! follow, each from a multiple of 4,096 bytes on, and nothing after the last.
//!
//! **What is verified when.** To open a file its lines are read, whose own checksum they hold, and the file's length: so a file that is truncated, of
//! another kind or version is refused at once, and a large one is open in milliseconds. The parts' checksums are compared with
//! [`Verify::All`], which reads all of it: about a tenth of a second for a gigabyte that is in the system's cache; or, where a part behind the others has checksums of
//! their pages, of each page when it is looked at ([`checked_parts`](super::checked_parts)). No damage that is not looked
//! for leads outside of the file: each place is compared with the bounds.

use crate::AtomicFile;
use crate::checked_file::{CheckedWriter, Head, broken, read_prefix};
use crate::checked_parts::{CheckedBytes, Pages};
use crate::error::{Error, Result};
use crate::mapped::{Bytes, Map};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use twinsplit_core::hash::Checksum;
use twinsplit_core::threads::in_threads;

/// What a part's place is a multiple of: the size of a page.
pub const PAGE: u64 = 4096;

/// How much of a file is compared with its checksums when it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    /// The lines at its head, and its length.
    Head,
    /// All of it, by so many threads.
    All {
        /// Threads.
        threads: usize,
    },
}

/// The lines at the head of a file: the first one with its parameters, and one for the bytes and the checksum of each part. They are as long
/// whatever the checksums are.
pub fn head_text(
    kind: &str,
    parameters: &[(&str, String)],
    parts: impl Iterator<Item = (u64, String)>,
) -> Vec<u8> {
    let (mut text, mut lines) = CheckedWriter::start(kind, parameters);
    text.push(b'\n');
    let mut offset = 0;
    for (bytes, checksum) in parts {
        let line = format!("part\t{offset}\t{bytes}\t{checksum}");
        lines.line(line.as_bytes());
        text.extend_from_slice(line.as_bytes());
        text.push(b'\n');
        offset = (offset + bytes).next_multiple_of(PAGE);
    }
    text.extend_from_slice(&lines.end());
    text.push(b'\n');
    text
}

/// The lines at the head of a file of these parts.
pub fn head_of_parts(kind: &str, parameters: &[(&str, String)], parts: &[&[u8]]) -> Vec<u8> {
    head_text(kind, parameters, parts.iter().map(|part| (part.len() as u64, checksum(part))))
}

/// All bytes of a file, in their order: its head, and its parts with what lies between them.
pub fn pieces<'p>(head: &'p [u8], parts: &[&'p [u8]]) -> Vec<&'p [u8]> {
    static ZEROS: [u8; PAGE as usize] = [0; PAGE as usize];
    let mut all = vec![head];
    for part in parts {
        let bytes = all.last().map_or(0, |last| last.len());
        all.push(&ZEROS[..bytes.next_multiple_of(PAGE as usize) - bytes]);
        all.push(part);
    }
    all
}

/// Writes a file of these parts, which appears under its name when it is complete.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, kind: &str, parameters: &[(&str, String)], parts: &[&[u8]]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    let head = head_of_parts(kind, parameters, parts);
    pieces(&head, parts).into_iter().try_for_each(|piece| file.bytes(piece))?;
    file.finish()
}

/// The first line of a file, and nothing of its parts.
///
/// # Errors
/// It is no such file, or its head is damaged.
pub fn head_of(path: &Path, kind: &str) -> Result<Head> {
    Ok(read_prefix(&Map::of(path)?, path, kind, |_| Ok(()))?.0)
}

/// Opens a file, and maps it: what is asked for of it comes into memory then. Gives its first line and its parts.
///
/// # Errors
/// The file is no such file, is of another version, truncated or, as far as it is verified, damaged.
pub fn open(path: &Path, kind: &str, verify: Verify) -> Result<(Head, Vec<Bytes>)> {
    let opened = Opened::of(path, kind)?;
    if let Verify::All { threads } = verify {
        opened.compare(path, 0, threads)?;
    }
    let parts = (0..opened.parts.len()).map(|part| opened.bytes(part)).collect();
    Ok((opened.head, parts))
}

/// The same of a file of so many parts and one behind them, which has the [checksums](crate::checked_parts::sums) of their pages: these are compared when they are
/// looked at. A file without that part is compared as a whole, by so many threads.
///
/// # Errors
/// As above.
pub fn open_checked(
    path: &Path,
    kind: &str,
    parts: usize,
    threads: usize,
) -> Result<(Head, Vec<CheckedBytes>, Option<Arc<Pages>>)> {
    let opened = Opened::of(path, kind)?;
    if opened.parts.len() != parts + 1 {
        opened.compare(path, 0, threads)?;
        let parts = (0..opened.parts.len()).map(|part| opened.bytes(part).into()).collect();
        return Ok((opened.head, parts, None));
    }
    opened.compare(path, parts, threads)?;
    let ranges: Vec<_> = opened.parts.iter().map(|part| part.range.clone()).collect();
    let (pages, parts) = Pages::of(path, opened.map, opened.data, &ranges)
        .ok_or_else(|| broken(path, "it has not as many checksums as pages"))?;
    Ok((opened.head, parts, Some(pages)))
}

/// A file that is mapped.
struct Opened {
    head: Head,
    map: Arc<Map>,
    /// Where the first part begins.
    data: usize,
    parts: Vec<Part>,
}

impl Opened {
    /// Reads the lines at its head, and looks at its length.
    fn of(path: &Path, kind: &str) -> Result<Self> {
        let map = Arc::new(Map::of(path)?);
        let mut parts = Vec::new();
        let (head, end) = read_prefix(&map, path, kind, |line| {
            parts.push(Part::of(line).ok_or_else(|| broken(path, "a line of its head names no part"))?);
            Ok(())
        })?;
        let data = end.next_multiple_of(PAGE as usize);
        let mut expected = 0;
        for part in &parts {
            if part.range.start != expected {
                return Err(broken(path, "its parts do not follow one another"));
            }
            expected = part.range.end.next_multiple_of(PAGE as usize);
        }
        if parts.last().is_none_or(|last| data.checked_add(last.range.end) != Some(map.len())) {
            return Err(broken(path, "it is truncated, or something follows its end"));
        }
        Ok(Self { head, map, data, parts })
    }

    fn bytes(&self, part: usize) -> Bytes {
        let range = &self.parts[part].range;
        Bytes::Mapped(self.map.clone(), self.data + range.start..self.data + range.end)
    }

    /// Compares the parts from this one on with their checksums.
    fn compare(&self, path: &Path, first: usize, threads: usize) -> Result<()> {
        let damaged = in_threads(self.parts.len() - first, threads, |number| {
            Ok::<_, Error>(checksum(&self.bytes(first + number)) != self.parts[first + number].checksum)
        })?;
        match damaged.iter().position(|is| *is) {
            None => Ok(()),
            Some(number) => {
                let place = self.data + self.parts[first + number].range.start;
                Err(broken(path, &format!("it is damaged: the part at byte {place} has another checksum")))
            }
        }
    }
}

/// Where a part lies, from the first one on, and its checksum.
struct Part {
    range: Range<usize>,
    checksum: String,
}

impl Part {
    fn of(line: &[u8]) -> Option<Self> {
        let mut fields = std::str::from_utf8(line).ok()?.split('\t');
        let mut next = || fields.next();
        if next()? != "part" {
            return None;
        }
        let (start, bytes): (usize, usize) = (next()?.parse().ok()?, next()?.parse().ok()?);
        let checksum = next()?.to_owned();
        // So that a page more is a number too.
        let end = start.checked_add(bytes).filter(|end| *end < usize::MAX / 2)?;
        fields.next().is_none().then_some(Self { range: start..end, checksum })
    }
}

fn checksum(bytes: &[u8]) -> String {
    let mut checksum = Checksum::default();
    checksum.bytes(bytes);
    checksum.hex()
}
