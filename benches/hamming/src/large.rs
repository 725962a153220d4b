//! An index of as many random fingerprints as a machine holds, or its disk: what it takes to build, and whether it finds what is planted and what a scan
//! finds.

use super::fingerprints::Random;
use super::{Result, resident};
use std::path::Path;
use std::time::Instant;
use twinsplit::hamming::{IdWriter, Index, IndexOptions, Match, Scratch, Sorter, SorterOptions, Verify};

/// Queries that are asked, and those of them that a scan of all fingerprints is compared with.
const QUERIES: usize = 20_000;
const SCANNED: usize = 20;
const DISTANCE: u32 = 3;

/// The fingerprint of a row, by its number: none needs to be held.
fn value(row: usize) -> u64 {
    Random((row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)).next()
}

/// Builds an index, in memory or in a folder with so many megabytes, asks it on one thread, and says what was measured. Fails where the index
/// differs from a scan or misses what was planted.
pub fn run(count: usize, megabytes: u64, threads: usize, place: Option<(&Path, usize)>) -> Result<()> {
    let mut random = Random(2);
    // Every other query is a fingerprint of the collection with up to three bits changed.
    let planted: Vec<usize> = (0..QUERIES).map(|_| random.below(count as u64) as usize).collect();
    let query = |(number, row): (usize, &usize)| match number % 2 {
        0 => random.near(value(*row).into(), 64, number as u64 / 2 % 4) as u64,
        _ => random.next(),
    };
    let queries: Vec<u64> = planted.iter().enumerate().map(query).collect();

    let options = IndexOptions { distance: DISTANCE, layout: None, memory: megabytes * 1_000_000, threads };
    let (built, peak, index);
    if let Some((folder, build)) = place {
        let start = Instant::now();
        let memory = build << 20;
        let mut sorter = Sorter::new(SorterOptions { folder: folder.to_owned(), memory, threads });
        for row in 0..count {
            sorter.push(value(row))?;
        }
        let sorted = sorter.finish()?;
        println!("drawn and sorted in {:.1} s", start.elapsed().as_secs_f64());
        let path = folder.join("large.index");
        sorted.save_index(options, IdWriter::rows(), &path)?;
        drop(sorted);
        (built, peak) = (start.elapsed().as_secs_f64(), resident::peak()?);
        let start = Instant::now();
        index = Index::open(&path, Verify::All { threads })?;
        println!("read and verified in {:.1} s", start.elapsed().as_secs_f64());
        std::fs::remove_file(path)?;
    } else {
        let values: Vec<u64> = (0..count).map(value).collect();
        let start = Instant::now();
        index = Index::build(&values, options)?;
        (built, peak) = (start.elapsed().as_secs_f64(), resident::peak()?);
    }
    let directories: Vec<u32> = index.plan().tables.iter().map(|table| table.directory).collect();

    let mut scratch = Scratch::default();
    let mut found: Vec<Vec<Match>> = vec![Vec::new(); queries.len()];
    let start = Instant::now();
    index.search_all(&queries, &mut scratch, |query, one| found[query].push(one));
    let asked = start.elapsed().as_secs_f64();
    let one_by_one = Instant::now();
    let mut matches = 0;
    for query in &queries {
        index.search_all(&[*query], &mut scratch, |_, _| matches += 1);
    }
    let one_by_one = one_by_one.elapsed().as_secs_f64();

    let lost = planted.iter().enumerate().step_by(2).filter(|(query, row)| {
        let distance = (queries[*query] ^ value(**row)).count_ones();
        !found[*query].contains(&Match { row: **row as u32, distance })
    });
    let lost = lost.count();
    let mut expected: Vec<Vec<Match>> = vec![Vec::new(); SCANNED];
    for row in 0..count {
        let value = value(row);
        for (query, expected) in queries.iter().zip(&mut expected) {
            let distance = (query ^ value).count_ones();
            if distance <= DISTANCE {
                expected.push(Match { row: row as u32, distance });
            }
        }
    }
    found.iter_mut().for_each(|found| found.sort_unstable());
    println!(
        "{count} random, {threads} threads: {} {directories:?}, {} MB, built in {built:.1} s ({:.1} million/s) with at most {} MB",
        index.plan().layout,
        index.memory() / 1_000_000,
        count as f64 / built / 1e6,
        peak / 1_000_000
    );
    let each = |seconds: f64| seconds * 1e6 / QUERIES as f64;
    println!(
        "{QUERIES} queries on one thread: {:.2} us each in a batch, {:.2} one by one; {matches} matches, {lost} of {} planted are lost",
        each(asked),
        each(one_by_one),
        QUERIES / 2
    );
    if lost > 0 || expected != found[..SCANNED] {
        return Err(
            format!("the index differs from a scan of {SCANNED} queries, or lost what was planted").into()
        );
    }
    println!("{SCANNED} queries were compared with a scan: no difference");
    Ok(())
}
