//! Lines of plain text, of which the white space around a document is a part.

use super::Takes;
use crate::Source;
use crate::input::Input;
use std::path::Path;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::{MaxLine, PackedFile, read_rest};

/// Writes the file of a source without the lines of documents that `takes` does not take. Lines are no longer than `bound`: the source
/// refuses others.
pub fn write(
    source: &mut dyn Source,
    mut input: Input,
    bound: MaxLine,
    to: &Path,
    takes: &mut Takes<'_>,
) -> Result<()> {
    let mut out = PackedFile::create(to, input.opened.packing)?;
    let (mut line, mut end) = (Vec::new(), 0);
    while let Some(found) = source.next_document()? {
        let (document, is_taken) = (found.place.offset, takes(&found, &mut Vec::new())?);
        // Lines of nothing come before it.
        while end <= document {
            line.clear();
            read_rest(&mut *input.opened.reader, &mut line, 0, bound)
                .map_err(Error::io("read", &input.path))?;
            if line.is_empty() {
                break;
            }
            end += line.len() as u64;
            if is_taken || end <= document {
                out.bytes(&line)?;
            }
        }
    }
    loop {
        line.clear();
        read_rest(&mut *input.opened.reader, &mut line, 0, bound).map_err(Error::io("read", &input.path))?;
        if line.is_empty() {
            return out.finish();
        }
        out.bytes(&line)?;
    }
}
