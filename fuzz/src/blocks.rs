//! Files as blocks of lines, plain and gzip: any bytes end in lines or in an error, the lines are the same for every
//! size of a block, and a bound refuses exactly the lines that exceed it. The first byte is the size.

use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use std::path::Path;
use twinsplit_io::error::Error;
use twinsplit_io::{Blocks, MaxLine, document_line, each_line};

type Line = (Vec<u8>, u64, u64);

fn lines(path: &Path, size: usize, bound: MaxLine) -> Result<Vec<Line>, Error> {
    let mut blocks = Blocks::new(vec![path.to_owned()], size).of_documents(bound);
    let mut lines = Vec::new();
    while let Some(block) = blocks.next_block()? {
        each_line(&block, |line, place| {
            lines.push((line.to_vec(), place.line, place.offset));
            Ok(())
        })?;
    }
    Ok(lines)
}

/// One input.
pub fn run(data: &[u8]) {
    let Some((&first, data)) = data.split_first() else { return };
    let file = tempfile::NamedTempFile::new_in("/dev/shm").expect("a file");
    let size = 1 + usize::from(first);
    std::fs::write(file.path(), data).expect("a file");
    let large = lines(file.path(), 1 << 20, MaxLine::ROW);
    let small = lines(file.path(), size, MaxLine::ROW);
    let Ok(large) = large else {
        // Gzip is damaged, or the file is of another kind, for every size.
        assert!(small.is_err());
        return;
    };
    assert_eq!(small.expect("a size changes nothing"), large);
    if data.starts_with(&[0x1f, 0x8b]) {
        return;
    }
    let split = data.split(|byte| *byte == b'\n').filter_map(document_line);
    assert!(split.eq(large.iter().map(|line| line.0.as_slice())));
    let bound: MaxLine = format!("{}B", 1 + data.len() / 2).parse().expect("a bound");
    let long = data.split(|byte| *byte == b'\n').position(|line| line.len() as u64 > bound.bytes());
    match (lines(file.path(), size, bound), long) {
        (Ok(found), None) => assert_eq!(found, large),
        (Err(Error::LongLine { place, .. }), Some(before)) => assert_eq!(place.line, before as u64 + 1),
        (found, long) => panic!("{found:?} where line {long:?} is too long"),
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    let at = data.len() / 3;
    gzip.write_all(&data[..at]).expect("memory");
    let mut packed = gzip.finish().expect("memory");
    let mut gzip = GzEncoder::new(&mut packed, Compression::fast());
    gzip.write_all(&data[at..]).expect("memory");
    gzip.finish().expect("memory");
    std::fs::write(file.path(), packed).expect("a file");
    assert_eq!(lines(file.path(), size, MaxLine::ROW).expect("members that were written"), large);
}
