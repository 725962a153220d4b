//! An index as a file, which is mapped and not read.
//!
//! It is a file of parts ([`parts_file`]), which are: tables (directory, entries), slots, starts and groups of rows, ids.

use super::bits::Fingerprint;
use super::index::{Index, ROWS};
use super::layout::{Layout, Plan};
use super::rows::{self, Ids, Rows};
use super::table::Table;
use std::path::Path;
use twinsplit_io::checked_file::{Head, broken};
use twinsplit_io::error::Result;
use twinsplit_io::mapped::Bytes;
use twinsplit_io::parts_file::{self, Verify};

/// The kind that the first line names.
const KIND: &str = "fingerprints";

/// How many bits the fingerprints of an index file have: 64 or 128.
///
/// # Errors
/// The file is no such file, or its head is damaged.
pub fn bits_of(path: &Path) -> Result<u32> {
    match parts_file::head_of(path, KIND)?.get("bits") {
        "64" => Ok(64),
        "128" => Ok(128),
        _ => Err(broken(path, "its first line gives no width of 64 or 128 bits")),
    }
}

impl<F: Fingerprint> Index<F> {
    /// Writes the index to a file, which appears under its name when it is complete.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let rows = (self.rows.count, self.distinct());
        let head = FileHead::of(self.distance, &self.plan, rows, self.rows.ids.kind());
        let parts: Vec<&[u8]> = self.parts().collect();
        parts_file::write(path, KIND, &head.parameters, &parts)
    }

    /// The parts, in the order of the file.
    fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let tables = self.tables.iter().flat_map(|table| [&table.directory, &table.entries]);
        let rows = [&self.rows.slots, &self.rows.starts, &self.rows.grouped];
        let ids = match &self.rows.ids {
            Ids::Rows => vec![],
            Ids::Numbers(numbers) => vec![numbers],
            Ids::Names(ends, bytes) => vec![ends, bytes],
        };
        tables.chain(rows).chain(ids).map(|bytes| &bytes[..])
    }

    /// Opens a file that [`save`](Self::save) wrote, and maps it: what queries need of it comes into memory when it is needed.
    ///
    /// # Errors
    /// The file is no index of such fingerprints, is of another version, truncated or, as far as it is verified, damaged.
    pub fn open(path: &Path, verify: Verify) -> Result<Self> {
        let (head, parts) = parts_file::open(path, KIND, verify)?;
        let bits = F::BITS.to_string();
        if head.get("bits") != bits {
            let problem = format!("it has fingerprints of {} bits where {bits} are needed", head.get("bits"));
            return Err(broken(path, &problem));
        }
        Self::of_parts(path, &head, parts)
    }

    /// The index of what a file has; parts of other sizes than the head asks for are refused.
    fn of_parts(path: &Path, head: &Head, parts: Vec<Bytes>) -> Result<Self> {
        let number = |name| head.number(name, path);
        let (count, distinct) = (number("rows")? as usize, number("distinct")? as usize);
        let distance = u32::try_from(number("distance")?).unwrap_or(u32::MAX);
        let no_index = |what: &str| broken(path, &format!("its first line describes no index: {what}"));
        let layout: Layout = head.get("layout").parse().map_err(|_| no_index("layout"))?;
        let directories: Option<Vec<u32>> =
            head.get("directories").split(',').map(|bits| bits.parse().ok()).collect();
        let directories = directories.ok_or_else(|| no_index("directories"))?;
        if count > ROWS || distinct > count {
            return Err(no_index("rows"));
        }
        let plan = Plan::<F>::with_directories(distinct, distance, layout, &directories);
        let plan = plan.ok_or_else(|| no_index("layout, distance and directories do not go together"))?;
        let mut parts = parts.into_iter();
        let mut take = |bytes: Option<usize>| {
            let next = parts.next().filter(|part| bytes.is_none_or(|bytes| part.len() == bytes));
            next.ok_or_else(|| {
                broken(path, "a part is missing, or has another size than its first line says")
            })
        };
        let mut tables = Vec::new();
        for shape in &plan.tables {
            let directory = take(Some(4 * ((1 << shape.directory) + 1)))?;
            let entries = take(Some(distinct * shape.width() + F::BITS as usize / 8))?;
            tables.push(Table::new(*shape, directory, entries));
        }
        let (slots, starts, grouped) = (take(Some(4 * distinct))?, take(None)?, take(None)?);
        let ids = match head.get("ids") {
            rows::ROWS => Ids::Rows,
            rows::NUMBERS => Ids::Numbers(take(Some(8 * count))?),
            rows::BYTES => Ids::Names(take(Some(8 * count))?, take(None)?),
            _ => return Err(no_index("ids")),
        };
        if parts.next().is_some() {
            return Err(broken(path, "it has more parts than its first line asks for"));
        }
        let rows = Rows { slots, starts, grouped, count, ids };
        Ok(Self { distance, plan, tables, rows })
    }
}

/// The lines at the head of a file, but for those of its parts.
pub(super) struct FileHead {
    parameters: [(&'static str, String); 7],
}

impl FileHead {
    /// That of an index with these tables, so many rows and distinct fingerprints, and this kind of ids.
    pub(super) fn of<F: Fingerprint>(
        distance: u32,
        plan: &Plan<F>,
        (rows, distinct): (usize, usize),
        ids: &str,
    ) -> Self {
        let directories: Vec<String> = plan.tables.iter().map(|table| table.directory.to_string()).collect();
        let parameters = [
            ("bits", F::BITS.to_string()),
            ("distance", distance.to_string()),
            ("layout", plan.layout.to_string()),
            ("directories", directories.join(",")),
            ("rows", rows.to_string()),
            ("distinct", distinct.to_string()),
            ("ids", ids.to_owned()),
        ];
        Self { parameters }
    }

    /// All lines, with one for the bytes and the checksum of each part. They are as long whatever the checksums are.
    pub(super) fn text(&self, parts: impl Iterator<Item = (u64, String)>) -> Vec<u8> {
        parts_file::head_text(KIND, &self.parameters, parts)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{IndexOptions, Match, Scratch};
    use super::*;

    fn saved(path: &Path) -> Index<u64> {
        let all: Vec<u64> = (0..300_u64).map(|n| (n / 2).mixed() ^ (n % 5)).collect();
        let options =
            IndexOptions { layout: Some(Layout::MultiIndex(2)), memory: 1 << 14, ..IndexOptions::default() };
        let names: Vec<String> = (0..300).map(|row| format!("document {row}")).collect();
        let index = Index::build(&all, options).unwrap().with_names(names.iter().map(|name| name.as_bytes()));
        let index = index.unwrap();
        index.save(path).unwrap();
        index
    }

    fn answers(index: &Index<u64>) -> Vec<(usize, Match)> {
        let queries: Vec<u64> = (0..40_u64).map(|n| n.mixed() ^ 3).collect();
        let mut found = Vec::new();
        index.search_all(&queries, &mut Scratch::default(), |query, one| found.push((query, one)));
        found
    }

    #[test]
    fn what_was_saved_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.index");
        let index = saved(&path);
        for verify in [Verify::Head, Verify::All { threads: 2 }] {
            let opened = Index::<u64>::open(&path, verify).unwrap();
            assert_eq!(answers(&opened), answers(&index));
            assert!(answers(&opened).len() > 20);
            assert_eq!(
                (opened.len(), opened.distinct(), opened.plan()),
                (300, index.distinct(), index.plan())
            );
            assert_eq!(opened.id(299), index.id(299));
            assert_eq!(opened.memory(), index.memory());
        }
        assert_eq!(bits_of(&path).unwrap(), 64);
        let error = Index::<u128>::open(&path, Verify::Head).unwrap_err().to_string();
        assert!(error.contains("fingerprints of 64 bits where 128 are needed"), "{error}");
        for kind in [
            Index::<u64>::build(&[], IndexOptions::default()).unwrap(),
            Index::build(&[1, 1], IndexOptions::default()).unwrap().with_numbers(&[7, 8]).unwrap(),
        ] {
            kind.save(&path).unwrap();
            let opened = Index::<u64>::open(&path, Verify::All { threads: 1 }).unwrap();
            assert_eq!((opened.search(1), opened.id(1)), (kind.search(1), kind.id(1)));
        }
    }

    #[test]
    fn damage_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.index");
        saved(&path);
        let good = std::fs::read(&path).unwrap();
        let end = good.windows(5).position(|five| five == b"#end\t").unwrap();
        let parts = end + good[end..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let open = |bytes: &[u8], verify| {
            std::fs::write(&path, bytes).unwrap();
            Index::<u64>::open(&path, verify).map(|index| answers(&index)).map_err(|error| error.to_string())
        };
        let all = Verify::All { threads: 1 };
        for end in (0..good.len()).step_by(97).chain([good.len() - 1]) {
            assert!(open(&good[..end], Verify::Head).is_err(), "truncated to {end} bytes");
        }
        assert!(open(&[&good[..], b"x"].concat(), Verify::Head).is_err());
        let (mut refused, mut other) = (0, 0);
        for at in (0..good.len()).step_by(53) {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            let found = open(&bad, all);
            // What lies between the parts is nothing.
            if let Err(error) = found {
                assert!(error.contains("make it again"), "{error}");
                refused += 1;
            } else {
                other += 1;
            }
            // It may give a wrong answer then, and does not panic.
            assert_eq!(open(&bad, Verify::Head).is_err(), at < parts, "byte {at}");
        }
        assert!(refused > 100 && other > 10, "{refused} {other}");
        let version = String::from_utf8_lossy(&good[..40]).replacen("\t1\t", "\t2\t", 1);
        let other = [version.as_bytes(), &good[40..]].concat();
        assert!(open(&other, Verify::Head).unwrap_err().contains("it has version 2 where 1 is needed"));
        assert!(open(b"#twinsplit\torder\t1\n", Verify::Head).unwrap_err().contains("it is a order file"));
        assert!(open(b"", Verify::Head).unwrap_err().contains("it is not a twinsplit fingerprints file"));
    }
}
