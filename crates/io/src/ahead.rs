//! Looking at the first bytes of a file before it is read.
//!
//! A file on disk is opened again when it is read. Standard input cannot be, so what was looked at is kept, and stands before what follows
//! when it is opened.

use crate::error::{Error, Result};
use crate::kind::HEAD;
use crate::{BUFFER, Opened, Packed};
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// What was looked at of standard input, and not read yet.
static AHEAD: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// How much is looked at in turn until the first bytes can be unpacked: a block of bzip2 may have 900 KB, and all of it is needed.
const STEPS: [usize; 3] = [64 << 10, 1 << 20, 8 << 20];

/// All of standard input.
pub(super) fn standard_input() -> impl Read + Send {
    let ahead = std::mem::take(&mut *AHEAD.lock().unwrap_or_else(PoisonError::into_inner));
    Cursor::new(ahead).chain(io::stdin())
}

/// The first bytes of what a file holds, unpacked: [`HEAD`] of them, or all. Standard input can be read afterwards as if nobody had looked.
/// Of another stream there are none, for it could not be read again; and of damaged data those before the damage.
pub(super) fn peek(path: &Path) -> Result<Vec<u8>> {
    if path != Path::new("-") {
        // A pipe that has a name ends for its writer when a reader closes it.
        let is_file = path.metadata().map_err(Error::io("open", path))?.is_file();
        return match is_file {
            true => File::open(path).map(first_bytes).map_err(Error::io("open", path)),
            false => Ok(Vec::new()),
        };
    }
    let mut ahead = AHEAD.lock().unwrap_or_else(PoisonError::into_inner);
    for step in STEPS {
        let missing = step.saturating_sub(ahead.len()) as u64;
        io::stdin().take(missing).read_to_end(&mut ahead).map_err(Error::io("read", path))?;
        let head = first_bytes(Cursor::new(ahead.clone()));
        if head.len() == HEAD || ahead.len() < step {
            return Ok(head);
        }
    }
    Ok(Vec::new())
}

/// The first bytes of what is unpacked, up to an error.
fn first_bytes(raw: impl Read + Send + 'static) -> Vec<u8> {
    let mut head = Vec::new();
    let raw = BufReader::with_capacity(BUFFER, raw);
    if let Ok(opened) = Opened::unpacking(raw, Packed::Taken) {
        // What is wrong with the file is said when it is read.
        let _ = opened.reader.take(HEAD as u64).read_to_end(&mut head);
    }
    head
}
