//! The records of a crawl: those that are no documents stay, and each is packed by itself, as readers of crawls that are packed expect.

use super::Takes;
use crate::Source;
use crate::input::Input;
use crate::warc::{Form, Records};
use std::path::Path;
use twinsplit_io::PackedFile;
use twinsplit_io::error::Result;

/// Writes the file of a source without the documents that `takes` does not take.
pub fn write(
    source: &mut dyn Source,
    input: Input,
    form: Form,
    to: &Path,
    takes: &mut Takes<'_>,
) -> Result<()> {
    let mut out = PackedFile::create(to, input.opened.packing)?;
    let mut records = Records::of(input, form);
    // Where the next document begins, and whether it is written.
    let mut next = place_of(source, takes)?;
    while let Some(length) = records.head()? {
        let document = next.filter(|(place, _)| *place == records.place.offset);
        let is_written = document.is_none_or(|(_, is_taken)| is_taken);
        if document.is_some() {
            next = place_of(source, takes)?;
        }
        if is_written {
            out.bytes(&records.raw)?;
        }
        let mut copy = |bytes: &[u8]| if is_written { out.bytes(bytes) } else { Ok(()) };
        records.pass(length, &mut copy)?;
        records.pass_ends(&mut copy)?;
        out.end_part()?;
    }
    out.finish()
}

fn place_of(source: &mut dyn Source, takes: &mut Takes<'_>) -> Result<Option<(u64, bool)>> {
    let Some(found) = source.next_document()? else { return Ok(None) };
    Ok(Some((found.place.offset, takes(&found, &mut Vec::new())?)))
}
