//! Index files of fingerprints: any bytes, and files that were saved and then changed at some places. What opens is asked, with and
//! without a look at the checksums; what was not changed gives the answer of a scan.

use std::path::Path;
use twinsplit::hamming::{Fingerprint, Index, IndexOptions, Layout, Scratch, Verify, bits_of};

const LAYOUTS: [Layout; 4] = [Layout::Scan, Layout::MultiIndex(2), Layout::MultiIndex(4), Layout::BlockPairs];

/// One input: the layout, how many changes, the changes of three bytes each, fingerprints of eight bytes.
pub fn run(data: &[u8]) {
    let file = tempfile::NamedTempFile::new_in("/dev/shm").expect("a file");
    std::fs::write(file.path(), data).expect("a file");
    let _ = bits_of(file.path());
    ask::<u64>(file.path(), Verify::Head, &[0, 1]);
    ask::<u128>(file.path(), Verify::All { threads: 1 }, &[0, 1]);

    let [layout, changes, rest @ ..] = data else { return };
    let (changes, rest) = rest.split_at(rest.len().min(3 * usize::from(changes % 8)));
    let values: Vec<u64> = rest.chunks_exact(8).filter_map(u64::load).collect();
    let layout = LAYOUTS[usize::from(*layout) % LAYOUTS.len()];
    let options = IndexOptions { layout: Some(layout), memory: 1 << 16, ..IndexOptions::default() };
    let Ok(index) = Index::build(&values, options) else { return };
    let names = (0..values.len()).map(|row| &data[row % data.len()..]);
    let index = if layout == Layout::BlockPairs {
        index
    } else {
        index.with_names(names).expect("as many ids as rows")
    };
    index.save(file.path()).expect("a saved index");
    let found = ask(file.path(), Verify::All { threads: 1 }, &values).expect("an index that was saved opens");
    let near = |query: &u64| values.iter().filter(|value| value.distance(*query) <= 3).count();
    assert_eq!(found, values.iter().map(near).sum::<usize>());

    let mut bytes = std::fs::read(file.path()).expect("the index");
    for change in changes.chunks_exact(3) {
        let at = usize::from(change[0]) << 8 | usize::from(change[1]);
        let length = bytes.len();
        bytes[at % length] ^= change[2];
    }
    std::fs::write(file.path(), bytes).expect("a file");
    ask::<u64>(file.path(), Verify::Head, &values);
    if let Some(after) = ask::<u64>(file.path(), Verify::All { threads: 1 }, &values) {
        assert_eq!(after, found, "damage that checksums do not show");
    }
}

/// How much an index finds, if it opens.
fn ask<F: Fingerprint>(path: &Path, verify: Verify, queries: &[F]) -> Option<usize> {
    let index = Index::<F>::open(path, verify).ok()?;
    let mut found = 0;
    index.search_all(queries, &mut Scratch::default(), |_, one| {
        let _ = index.id(one.row);
        found += 1;
    });
    let _ = index.fullest().count();
    Some(found)
}
