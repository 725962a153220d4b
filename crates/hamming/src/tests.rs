//! The join and each layout of an index against brute force.

use super::*;
use proptest::prelude::*;

/// Fingerprints that are random, alike, alike in a block, or equal.
fn fingerprints<F: Fingerprint>(most: usize) -> impl Strategy<Value = Vec<F>> {
    let drawn =
        (0u8..5, any::<u128>(), any::<prop::sample::Index>(), prop::collection::vec(0u32..128, 0..10));
    prop::collection::vec(drawn, 0..most).prop_map(|all| {
        let mut made: Vec<F> = Vec::new();
        for (kind, random, of, flips) in all {
            let bytes = random.to_le_bytes();
            let random = F::load(&bytes).unwrap();
            let other = if made.is_empty() { F::default() } else { made[of.index(made.len())] };
            let few = flips.iter().fold(other, |value, bit| value ^ F::low_ones(1).rotated(bit % F::BITS));
            made.push(match kind {
                0 => random,
                1 => other,
                2 => (other & F::low_ones(F::BITS / 2)) | (random & !F::low_ones(F::BITS / 2)),
                _ => few,
            });
        }
        made
    })
}

fn brute<F: Fingerprint>(all: &[F], most: u32) -> Vec<(u32, u32, u32)> {
    let mut pairs = Vec::new();
    for (a, x) in all.iter().enumerate() {
        for (b, y) in all.iter().enumerate().skip(a + 1) {
            let distance = x.distance(*y);
            if distance <= most {
                pairs.push((a as u32, b as u32, distance));
            }
        }
    }
    pairs
}

fn joined<F: Fingerprint>(all: &[F], distance: u32, threads: usize, memory: usize) -> Vec<(u32, u32, u32)> {
    let mut pairs = Vec::new();
    join(all, JoinOptions { distance, threads, memory }, |a, b, distance| {
        pairs.push((a, b, distance));
        Ok(())
    })
    .unwrap();
    pairs
}

fn check_join<F: Fingerprint>(all: &[F], distance: u32) {
    let pairs = joined(all, distance, 1, usize::MAX);
    let mut sorted = pairs.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, brute(all, distance));
    // The order too is the same.
    assert_eq!(joined(all, distance, 3, 1), pairs);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_join_finds_what_brute_force_finds_64(all in fingerprints::<u64>(200), distance in 0u32..9) {
        check_join(&all, distance);
    }

    #[test]
    fn the_join_finds_what_brute_force_finds_128(all in fingerprints::<u128>(120), distance in 0u32..9) {
        check_join(&all, distance);
    }
}

/// Blocks of four bits tell fingerprints that are alike too little apart to go on cutting: with 14 of them for each block of every level, a few
/// thousand would take minutes.
#[test]
fn the_join_of_many_that_are_alike_at_a_large_distance() {
    let all: Vec<u64> = (0..3_000_u64)
        .map(|n| (0..9).fold(0x1234_5678_9abc_def0, |value, bit| value ^ 1 << ((n * 9 + bit).mixed() % 64)))
        .collect();
    let mut pairs = joined(&all, 13, 2, 1 << 20);
    pairs.sort_unstable();
    let mut expected = Vec::new();
    for (x, one) in all.iter().enumerate() {
        for (y, other) in all.iter().enumerate().skip(x + 1) {
            let distance = one.distance(*other);
            expected.extend((distance <= 13).then_some((x as u32, y as u32, distance)));
        }
    }
    assert!(expected.len() > 500_000, "{}", expected.len());
    assert_eq!(pairs, expected);
}

/// Enough for several parts and levels: neighbours of a few, all of them alike in most blocks.
#[test]
fn the_join_of_many_that_are_alike() {
    let all: Vec<u64> = (0..70_000_u64)
        .map(|n| if n % 7 == 0 { n << 20 } else { (n.mixed() & !0xff_ffff) | (n % 300) })
        .collect();
    let pairs = joined(&all, 2, 2, 1 << 20);
    assert_eq!(joined(&all, 2, 1, usize::MAX), pairs);
    let mut sorted = pairs;
    sorted.sort_unstable();
    // By another way: each fingerprint's neighbours, looked up.
    let rows: std::collections::HashMap<u64, u32> = all.iter().copied().zip(0..).collect();
    assert_eq!(rows.len(), all.len());
    let mut expected = Vec::new();
    for (value, row) in &rows {
        for x in 0..64 {
            for y in x..64 {
                let other = if x == y { value ^ 1 << x } else { value ^ 1 << x ^ 1 << y };
                expected.extend(
                    rows.get(&other)
                        .filter(|other| *other > row)
                        .map(|other| (*row, *other, 1 + u32::from(x != y))),
                );
            }
        }
    }
    expected.sort_unstable();
    assert!(expected.len() > 50_000);
    assert!(sorted == expected);
}

/// Every layout that a distance has.
fn layouts(distance: u32) -> Vec<Layout> {
    let blocks = (2..=distance + 1).map(Layout::MultiIndex);
    [Layout::Scan, Layout::BlockPairs].into_iter().chain(blocks).collect()
}

fn check_index<F: Fingerprint>(all: &[F], queries: &[F], distance: u32) {
    let queries: Vec<F> = queries.iter().chain(all).copied().collect();
    let expected: Vec<Vec<Match>> = queries
        .iter()
        .map(|query| {
            let matches =
                all.iter().zip(0..).map(|(value, row)| Match { row, distance: value.distance(*query) });
            matches.filter(|found| found.distance <= distance).collect()
        })
        .collect();
    for layout in layouts(distance) {
        // Directories of 2^27 places are for more fingerprints than a test has.
        let options = IndexOptions { distance, layout: Some(layout), memory: 1 << 24, threads: 2 };
        let index = Index::build(all, options).unwrap();
        let mut found = vec![Vec::new(); queries.len()];
        index.search_all(&queries, &mut Scratch::default(), |query, one| found[query].push(one));
        found.iter_mut().for_each(|found| found.sort_unstable());
        assert_eq!(found, expected, "{layout}");
        for (query, expected) in queries.iter().zip(&expected).take(3) {
            assert_eq!(&index.search(*query), expected, "{layout}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_layout_finds_what_a_scan_finds_64(
        all in fingerprints::<u64>(120), queries in fingerprints::<u64>(9), distance in 0u32..9,
    ) {
        check_index(&all, &queries, distance);
    }

    #[test]
    fn every_layout_finds_what_a_scan_finds_128(
        all in fingerprints::<u128>(80), queries in fingerprints::<u128>(9), distance in 0u32..9,
    ) {
        check_index(&all, &queries, distance);
    }
}

/// Enough for several parts of a table, with directories that need them.
#[test]
fn every_layout_of_many() {
    let all: Vec<u64> = (0..150_000_u64).map(|n| (n / 3).mixed() ^ ((n % 3 / 2) << (n % 61))).collect();
    let queries: Vec<u64> = all.iter().step_by(1_000).map(|value| value ^ 0x0100_0000_0001).collect();
    let expected: Vec<Vec<Match>> = queries
        .iter()
        .map(|query| {
            let matches =
                all.iter().zip(0..).map(|(value, row)| Match { row, distance: value.distance(*query) });
            matches.filter(|found| found.distance <= 3).collect()
        })
        .collect();
    assert!(expected.iter().flatten().count() > 200);
    for layout in layouts(3) {
        let options = IndexOptions { layout: Some(layout), threads: 2, ..IndexOptions::default() };
        let index = Index::build(&all, options).unwrap();
        assert_eq!(index.len(), all.len());
        assert!(index.distinct() < all.len());
        let found: Vec<Vec<Match>> = queries.iter().map(|query| index.search(*query)).collect();
        assert!(found == expected, "{layout}");
    }
}

/// An index of none, of one, and of the same one many times.
#[test]
fn small_and_equal() {
    for layout in layouts(3) {
        let options = IndexOptions { layout: Some(layout), ..IndexOptions::default() };
        assert!(Index::<u64>::build(&[], options).unwrap().search(0).is_empty());
        let one = Index::<u128>::build(&[7], options).unwrap();
        assert_eq!(one.search(0), [Match { row: 0, distance: 3 }]);
        assert!(one.search(8).is_empty());
        let many = Index::<u64>::build(&vec![5; 1000], options).unwrap();
        assert_eq!((many.len(), many.distinct()), (1000, 1));
        assert!(many.search(4).iter().zip(0..).all(|(found, row)| *found == Match { row, distance: 1 }));
        assert_eq!(many.search(4).len(), 1000);
    }
}

#[test]
fn ids_are_numbers_or_bytes() {
    let index = Index::<u64>::build(&[1, 2], IndexOptions::default()).unwrap();
    assert_eq!([index.id(0), index.id(1), index.id(2)], [Some(Id::Number(0)), Some(Id::Number(1)), None]);
    let index = index.with_numbers(&[1 << 40, 3]).unwrap();
    assert_eq!(
        [index.id(0), index.id(1), index.id(2)],
        [Some(Id::Number(1 << 40)), Some(Id::Number(3)), None]
    );
    let index = index.with_names([&b""[..], b"\xff\t"]).unwrap();
    assert_eq!(
        [index.id(0), index.id(1), index.id(2)],
        [Some(Id::Name(b"")), Some(Id::Name(b"\xff\t")), None]
    );
    assert!(index.with_numbers(&[1]).unwrap_err().to_string().contains("1 ids for an index of 2"));
}

/// Through files, with runs of so many.
fn sorted<F: Fingerprint>(all: &[F], run: usize, memory: usize) -> (tempfile::TempDir, Sorted<F>) {
    let folder = tempfile::tempdir().unwrap();
    let options = SorterOptions { folder: folder.path().to_owned(), memory, threads: 2 };
    let mut sorter = Sorter::with_runs(options, run);
    all.iter().for_each(|value| sorter.push(*value).unwrap());
    assert_eq!(sorter.len(), all.len());
    let sorted = sorter.finish().unwrap();
    assert_eq!(sorted.len(), all.len());
    // Temporary files have no names.
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    (folder, sorted)
}

fn check_files<F: Fingerprint>(all: &[F], run: usize, distance: u32) {
    let (folder, sorted) = sorted(all, run, 1 << 20);
    let mut pairs = Vec::new();
    let taken = sorted.join(distance, |a, b, distance| {
        pairs.push((a, b, distance));
        Ok(())
    });
    taken.unwrap();
    assert_eq!(pairs, joined(all, distance, 1, usize::MAX));
    let [expected, found] = ["expected", "found"].map(|name| folder.path().join(name));
    for (at, layout) in layouts(distance).into_iter().enumerate() {
        let options = IndexOptions { distance, layout: Some(layout), memory: 1 << 24, threads: 1 + at % 3 };
        let index = Index::build(all, options).unwrap();
        let mut ids = match at % 3 {
            0 => IdWriter::rows(),
            1 => IdWriter::numbers(folder.path()).unwrap(),
            _ => IdWriter::names(folder.path()).unwrap(),
        };
        let names: Vec<String> = (0..all.len()).map(|row| format!("document {row}")).collect();
        let numbers: Vec<u64> = (0..all.len() as u64).map(|row| row * row).collect();
        for (name, number) in names.iter().zip(&numbers) {
            let id = if at % 3 == 1 { Id::Number(*number) } else { Id::Name(name.as_bytes()) };
            ids.push(id).unwrap();
        }
        let index = match at % 3 {
            0 => index,
            1 => index.with_numbers(&numbers).unwrap(),
            _ => index.with_names(names.iter().map(String::as_bytes)).unwrap(),
        };
        index.save(&expected).unwrap();
        assert_eq!(&sorted.save_index(options, ids, &found).unwrap(), index.plan());
        assert!(std::fs::read(&found).unwrap() == std::fs::read(&expected).unwrap(), "{layout}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_is_made_in_files_is_what_is_made_in_memory_64(
        all in fingerprints::<u64>(200), run in 2usize..70, distance in 0u32..6,
    ) {
        check_files(&all, run, distance);
    }

    #[test]
    fn what_is_made_in_files_is_what_is_made_in_memory_128(
        all in fingerprints::<u128>(90), run in 1usize..40, distance in 0u32..9,
    ) {
        check_files(&all, run, distance);
    }
}

/// Enough for several parts, and for several rounds of them.
#[test]
fn many_are_sorted_in_files() {
    let all: Vec<u64> = (0..300_000_u64).map(|n| (n / 3).mixed() ^ ((n % 3 / 2) << (n % 61))).collect();
    check_files(&all, 70_000, 3);
}

#[test]
fn what_files_cannot_do_is_said() {
    // All are equal in two of four blocks, and stand together.
    let all: Vec<u64> = (0..100_000).collect();
    let (folder, sorted) = sorted(&all, 40_000, 1 << 20);
    let error = sorted.join(3, |_, _, _| Ok(())).unwrap_err().to_string();
    assert_eq!(
        error,
        "many fingerprints are equal in some of their bits: 100000 of 100000 stand together and take 2 MB, where 1 MB are left for them; \
         give at least 2 MB of memory"
    );
    assert!(
        sorted.join(32, |_, _, _| Ok(())).unwrap_err().to_string().contains("less than half of the 64 bits")
    );
    let path = folder.path().join("some.index");
    let save = |options, ids| sorted.save_index(options, ids, &path).map(|_| ()).unwrap_err().to_string();
    let options = IndexOptions { memory: 1 << 16, ..IndexOptions::default() };
    assert!(
        save(options, IdWriter::rows())
            .contains("100000 fingerprints of 64 bits do not fit into 65536 bytes")
    );
    let ids = IdWriter::numbers(folder.path()).unwrap();
    assert_eq!(save(IndexOptions::default(), ids), "0 ids for an index of 100000 fingerprints");
    let mut ids = IdWriter::numbers(folder.path()).unwrap();
    assert!(ids.push(Id::Name(b"x")).unwrap_err().to_string().contains("of row 0 is of another kind"));
    assert!(!path.exists());
    // Runs are as long as the memory; these are shorter.
    let options = SorterOptions { folder: folder.path().to_owned(), memory: 1 << 20, threads: 1 };
    let mut sorter = Sorter::with_runs(options, 1);
    all[..200].iter().for_each(|value| sorter.push(*value).unwrap());
    assert_eq!(
        sorter.finish().unwrap_err().to_string(),
        "200 fingerprints are sorted in 200 runs, which cannot be merged in 1 MB: give at least 1 MB of memory"
    );
    let nowhere = SorterOptions { folder: "/nowhere".into(), memory: 0, threads: 1 };
    let error = Sorter::<u64>::new(nowhere).finish().unwrap_err().to_string();
    assert!(error.contains("cannot create a temporary file in /nowhere"), "{error}");
}
