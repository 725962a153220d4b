//! The lines of the documents that are kept, as they stand in the input.
//!
//! The input is read a second time. A line is copied part by part, so that a long one needs no memory.

use super::output::Written;
use crate::progress::Progress;
use std::path::Path;
use twinsplit_io::error::Result;
use twinsplit_io::{AtomicFile, Blocks, document_line};

/// Writes the input's lines but those at the `dropped` places (ascending) to a file; the blocks are [of documents](Blocks::of_documents).
pub fn write_kept(
    blocks: Blocks,
    dropped: &[u32],
    path: &Path,
    progress: &Progress,
) -> Result<(Written, Blocks)> {
    let mut blocks = blocks.of_parts();
    let mut file = AtomicFile::create(path)?;
    let mut written = Written::default();
    let (mut at, mut dropped) = (0, dropped.iter().peekable());
    // Of the line before, which may go on in this block: whether it is kept, and whether its end is still to come.
    let (mut keep, mut open) = (false, false);
    while let Some(block) = blocks.next_block()? {
        if open && !block.continues {
            file.bytes(b"\n")?;
            open = false;
        }
        for (nth, line) in block.bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let mut line = line;
            if nth > 0 || !block.continues {
                let Some(text) = document_line(line) else { continue };
                line = text;
                keep = dropped.next_if(|place| **place == at).is_none();
                at += 1;
                // A line without an end gets one.
                written.lines += u64::from(keep);
                written.bytes += u64::from(keep);
            }
            if keep {
                let text = line.strip_suffix(b"\n").unwrap_or(line);
                file.bytes(line)?;
                written.bytes += text.len() as u64;
                open = text.len() == line.len();
            }
        }
        progress.set(blocks.raw_bytes());
    }
    if open {
        file.bytes(b"\n")?;
    }
    file.finish()?;
    Ok((written, blocks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use twinsplit_io::MaxLine;

    #[test]
    fn lines_are_kept_whatever_blocks_they_come_in() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a", "b"].map(|name| folder.path().join(name));
        fs::write(
            &paths[0],
            "\u{feff}zero\r\n\r\n \t\n\n  the first line\n\u{feff}\u{feff}2\nthe third line is long",
        )
        .unwrap();
        fs::write(&paths[1], "the fourth\n\r\n5").unwrap();
        let lines = ["zero\r", "  the first line", "2", "the third line is long", "the fourth", "5"];
        let kept = folder.path().join("kept");
        for dropped in [vec![], vec![0, 3], vec![1, 2, 5], vec![4], vec![0, 1, 2, 3, 4, 5]] {
            let left = (0..).zip(lines).filter(|(at, _)| !dropped.contains(at));
            let expected: String = left.map(|(_, line)| format!("{line}\n")).collect();
            for size in 2..40 {
                let blocks = Blocks::new(paths.to_vec(), size).of_documents(MaxLine::ROW);
                let (written, _) = write_kept(blocks, &dropped, &kept, &Progress::default()).unwrap();
                assert_eq!(fs::read_to_string(&kept).unwrap(), expected, "{size} {dropped:?}");
                assert_eq!(written.bytes, expected.len() as u64);
                assert_eq!(written.lines, expected.lines().count() as u64);
            }
        }
    }
}
