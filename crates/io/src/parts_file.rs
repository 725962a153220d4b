//! Files of parts, which are mapped and not read: the indexes of fingerprints, the segments of a store.
//!
//! Such a file begins with checked lines ([`checked_file`](super::checked_file)): what it is, and where each part of it lies, with the part's checksum. The parts
//! follow, each from a multiple of 4,096 bytes on, and nothing after the last.
//!
//! **What is verified when.** To open a file its lines are read, whose own checksum they hold, and the file's length: so a file that is truncated, of
//! another kind or version is refused at once, and a large one is open in milliseconds. The parts' checksums are compared with
//! [`Verify::All`], which reads all of it: about a tenth of a second for a gigabyte that is in the system's cache. No damage that is not looked
//! for leads outside of the file: each place is compared with the bounds.

use crate::AtomicFile;
use crate::checked_file::{CheckedWriter, Head, broken, read_prefix};
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
    if let Verify::All { threads } = verify {
        let damaged = in_threads(parts.len(), threads, |number| {
            let part = &parts[number];
            let bytes = map.get(data + part.range.start..data + part.range.end).unwrap_or_default();
            Ok::<_, Error>(checksum(bytes) != part.checksum)
        })?;
        if let Some(number) = damaged.iter().position(|is| *is) {
            let place = data + parts[number].range.start;
            return Err(broken(
                path,
                &format!("it is damaged: the part at byte {place} has another checksum"),
            ));
        }
    }
    let bytes =
        parts.iter().map(|part| Bytes::Mapped(map.clone(), data + part.range.start..data + part.range.end));
    Ok((head, bytes.collect()))
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
