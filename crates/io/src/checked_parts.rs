//! Parts of a mapped file whose pages are compared with their checksums when they are first looked at.
//!
//! To compare all of a large file before it is asked for a few documents would read all of it. So its last part holds a checksum of every page
//! of the others, and is compared as a whole when the file is opened: two bytes in a thousand. Whoever reads a number or a range has its pages compared, once each.
//! Of a damaged page nothing is read, as if the part ended before it. Those who read are many, and each would have to expect an error; so [`Pages::check`]
//! says that one was damaged, and has to be asked before anything is made of what was read.

use crate::checked_file::broken;
use crate::error::Result;
use crate::mapped::{Access, Bytes, Map};
use crate::parts_file::PAGE;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use twinsplit_core::hash;
use twinsplit_core::threads::in_threads;

const BYTES: usize = PAGE as usize;

/// The checksums of the pages of parts, one behind the other: the part that stands behind them.
pub fn sums(parts: &[&[u8]]) -> Vec<u8> {
    parts.iter().flat_map(|part| part.chunks(BYTES)).flat_map(|page| sum(page).to_le_bytes()).collect()
}

fn sum(page: &[u8]) -> u64 {
    hash::page(page)
}

/// The pages of a file's parts.
#[derive(Debug)]
pub struct Pages {
    path: PathBuf,
    map: Arc<Map>,
    /// Where the first part begins.
    data: usize,
    sums: Bytes,
    /// Of each part the number of its first page, and where it lies in the file.
    parts: Vec<(usize, Range<usize>)>,
    /// A bit for each page that has been compared.
    compared: Box<[AtomicU64]>,
    /// The number of a damaged page, counted from 1, or 0.
    damaged: AtomicU64,
}

impl Pages {
    /// Those of a file whose parts lie here, of which the last one has their checksums, and the others by which they are looked at. Nothing where
    /// it has not as many checksums as they have pages.
    pub(crate) fn of(
        path: &Path,
        map: Arc<Map>,
        data: usize,
        parts: &[Range<usize>],
    ) -> Option<(Arc<Self>, Vec<CheckedBytes>)> {
        let (last, parts) = parts.split_last()?;
        let count: usize = parts.iter().map(|part| part.len().div_ceil(BYTES)).sum();
        if last.len() != 8 * count {
            return None;
        }
        let place = |part: &Range<usize>| data + part.start..data + part.end;
        let firsts = parts.iter().scan(0, |pages, part| {
            let first = *pages;
            *pages += part.len().div_ceil(BYTES);
            Some(first)
        });
        let places: Vec<_> = firsts.zip(parts.iter().map(place)).collect();
        let pages = Arc::new(Self {
            path: path.to_owned(),
            data,
            sums: Bytes::Mapped(map.clone(), place(last)),
            parts: places.clone(),
            compared: (0..count.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            damaged: AtomicU64::new(0),
            map: map.clone(),
        });
        let checked = |(first, place)| {
            let bytes = Bytes::Mapped(map.clone(), place);
            CheckedBytes { bytes, pages: Some(pages.clone()), first }
        };
        let checked = places.into_iter().map(checked).collect();
        Some((pages, checked))
    }

    /// Whether a page is as it was written, of which `bytes` are the place.
    #[inline]
    fn is_whole(&self, page: usize, bytes: impl FnOnce() -> Range<usize>) -> bool {
        let (word, bit) = (page / 64, 1 << (page % 64));
        let is_known = self.compared.get(word).is_some_and(|word| word.load(Ordering::Relaxed) & bit != 0);
        is_known || self.compare(page, bytes())
    }

    #[cold]
    fn compare(&self, page: usize, bytes: Range<usize>) -> bool {
        let found = sum(self.map.get(bytes).unwrap_or_default());
        let is_whole = self.sums.long(page) == Some(found);
        match self.compared.get(page / 64) {
            Some(word) if is_whole => drop(word.fetch_or(1 << (page % 64), Ordering::Relaxed)),
            _ => self.damaged.store(page as u64 + 1, Ordering::Relaxed),
        }
        is_whole
    }

    /// Tells the system how pages are going to be asked for.
    pub fn expect(&self, access: Access) {
        self.map.expect(access);
    }

    /// Compares all pages, by so many threads.
    ///
    /// # Errors
    /// A page is damaged.
    pub fn check_all(&self, threads: usize) -> Result<()> {
        in_threads(self.parts.len(), threads, |part| {
            let (first, own) = &self.parts[part];
            for (page, start) in own.clone().step_by(BYTES).enumerate() {
                self.compare(first + page, start..own.end.min(start + BYTES));
            }
            self.check()
        })
        .map(drop)
    }

    /// Whether all that was looked at is as it was written.
    ///
    /// # Errors
    /// A page is damaged.
    pub fn check(&self) -> Result<()> {
        match self.damaged.load(Ordering::Relaxed) {
            0 => Ok(()),
            page => Err(broken(
                &self.path,
                &format!(
                    "it is damaged: page {page} of {BYTES} bytes behind byte {} has another checksum",
                    self.data
                ),
            )),
        }
    }
}

/// A part whose pages are compared when they are looked at.
#[derive(Clone, Debug)]
pub struct CheckedBytes {
    bytes: Bytes,
    /// Nothing where all of the file was compared when it was opened.
    pages: Option<Arc<Pages>>,
    /// The number of its first page.
    first: usize,
}

impl From<Bytes> for CheckedBytes {
    /// What needs no more comparison.
    fn from(bytes: Bytes) -> Self {
        Self { bytes, pages: None, first: 0 }
    }
}

impl CheckedBytes {
    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether the pages in which a range lies are as they were written.
    #[inline]
    fn are_whole(&self, range: &Range<usize>) -> bool {
        let Some(pages) = &self.pages else { return true };
        let place = |page: usize| match &self.bytes {
            Bytes::Owned(_) => 0..0,
            Bytes::Mapped(_, own) => own.start + page * BYTES..own.end.min(own.start + (page + 1) * BYTES),
        };
        let mut within = range.start / BYTES..range.end.min(self.len()).div_ceil(BYTES);
        within.all(|page| pages.is_whole(self.first + page, || place(page)))
    }

    /// A range, if it is there.
    pub fn get(&self, range: Range<usize>) -> Option<&[u8]> {
        self.bytes.get(range.clone()).filter(|_| self.are_whole(&range))
    }

    /// A number of four bytes, 0 where there is none.
    #[inline]
    pub fn number(&self, at: usize) -> u32 {
        if self.are_whole(&(4 * at..4 * at + 4)) { self.bytes.number(at) } else { 0 }
    }

    /// A number of eight bytes.
    #[inline]
    pub fn long(&self, at: usize) -> Option<u64> {
        self.bytes.long(at).filter(|_| self.are_whole(&(8 * at..8 * at + 8)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts_file::{head_of_parts, open_checked, pieces};
    use std::fs;

    const KIND: &str = "test";

    /// A file of parts with their checksums, and where its parts begin.
    fn file(parts: &[&[u8]]) -> (Vec<u8>, usize) {
        let sums = sums(parts);
        let all = [parts, &[&sums]].concat();
        let head = head_of_parts(KIND, &[], &all);
        let data = head.len().next_multiple_of(BYTES);
        (pieces(&head, &all).concat(), data)
    }

    /// Numbers, ranges and their ends are read as they are; of each damaged byte the page is named when it is read, and no sooner.
    #[test]
    fn each_page_is_compared_when_it_is_read() {
        let long: Vec<u8> =
            (0..3 * BYTES as u32 / 4 + 5).flat_map(|at| (at ^ 0x5a5a).to_le_bytes()).collect();
        let parts: [&[u8]; 4] = [b"abc", b"", &long, &[7; BYTES]];
        let (good, data) = file(&parts);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let pages = [
            (0, 0..3),
            (2, 0..BYTES),
            (2, BYTES..2 * BYTES),
            (2, 2 * BYTES..3 * BYTES),
            (2, 3 * BYTES..long.len()),
            (3, 0..BYTES),
        ];
        let places = [0, BYTES, 2 * BYTES, 3 * BYTES, 4 * BYTES, 5 * BYTES];
        for damaged in [None, Some(0), Some(1), Some(2), Some(3), Some(4), Some(5)] {
            let mut bytes = good.clone();
            if let Some(page) = damaged {
                bytes[data + places[page] + 2] ^= 16;
            }
            fs::write(&path, &bytes).unwrap();
            let (_, read, checks) = open_checked(&path, KIND, parts.len(), 1).unwrap();
            let checks = checks.unwrap();
            assert_eq!(read.iter().map(CheckedBytes::len).collect::<Vec<_>>(), parts.map(<[u8]>::len));
            for (page, (part, range)) in pages.iter().enumerate().rev() {
                let is_whole = damaged != Some(page);
                let expected = is_whole.then(|| &parts[*part][range.clone()]);
                assert_eq!(read[*part].get(range.clone()), expected, "{damaged:?} {page}");
                let number = u32::from_le_bytes(
                    [
                        &parts[*part][range.start..range.start + 3],
                        &[parts[*part].get(range.start + 3).copied().unwrap_or(0)],
                    ]
                    .concat()
                    .try_into()
                    .unwrap(),
                );
                if range.len() > 3 {
                    assert_eq!(read[*part].number(range.start / 4), if is_whole { number } else { 0 });
                }
                let is_read = damaged.is_some_and(|damaged| damaged >= page);
                assert_eq!(checks.check().is_err(), is_read, "{damaged:?} {page}");
            }
            assert_eq!(checks.check_all(2).is_err(), damaged.is_some());
            let (_, _, fresh) = open_checked(&path, KIND, parts.len(), 1).unwrap();
            assert_eq!(fresh.unwrap().check_all(2).is_err(), damaged.is_some());
            assert_eq!(read[2].get(0..long.len()).is_some(), !matches!(damaged, Some(1..=4)));
            assert!(read[2].get(0..long.len() + 1).is_none() && read[1].get(0..0).is_some());
        }
    }

    /// What says how pages are checked is checked at once; a file without that is compared as a whole.
    #[test]
    fn the_checksums_are_compared_first() {
        let parts: [&[u8]; 2] = [&[1; 5000], &[2; 10]];
        let (mut bytes, data) = file(&parts);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        fs::write(&path, &bytes).unwrap();
        assert!(open_checked(&path, KIND, 2, 1).unwrap_err().to_string().contains("another checksum"));
        let head = head_of_parts(KIND, &[], &parts);
        let mut old = pieces(&head, &parts).concat();
        fs::write(&path, &old).unwrap();
        let (_, read, checks) = open_checked(&path, KIND, 2, 1).unwrap();
        assert!(checks.is_none());
        assert_eq!(read[1].get(0..10), Some(&[2_u8; 10][..]));
        old[data] ^= 1;
        fs::write(&path, &old).unwrap();
        assert!(open_checked(&path, KIND, 2, 1).is_err());
        // Checksums of fewer pages than there are.
        let sums = sums(&parts);
        let few = [&parts[..], &[&sums[8..]]].concat();
        fs::write(&path, pieces(&head_of_parts(KIND, &[], &few), &few).concat()).unwrap();
        assert!(open_checked(&path, KIND, 2, 1).unwrap_err().to_string().contains("as many checksums"));
    }
}
