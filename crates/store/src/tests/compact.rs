//! What compaction gives back.

use super::*;

/// Texts of many families, with features of their own.
fn texts(count: u64) -> Vec<Text> {
    let one = |at: u64| {
        let features =
            (0..40).map(|feature| twinsplit_core::hash::mix(100 * (at / 2) + feature + at % 2)).collect();
        (format!("d{at:04}"), u128::from(at) + 1, features)
    };
    (0..count).map(one).collect()
}

fn bytes_of(folder: &Path) -> usize {
    files_of(folder).values().map(Vec::len).sum()
}

/// After three quarters of the documents have gone, the store takes about as much as one that is made of what is left, whatever the memory.
#[test]
fn space_comes_back() {
    let place = tempfile::tempdir().unwrap();
    let all = texts(400);
    let left: Vec<Text> = all.iter().filter(|text| text.1 % 4 == 1).cloned().collect();
    let gone: Vec<&[u8]> = all.iter().filter(|text| text.1 % 4 != 1).map(|text| text.0.as_bytes()).collect();
    for (number, memory) in [1 << 24, 100_000].into_iter().enumerate() {
        let path = place.path().join(format!("store {number}"));
        let fresh = place.path().join(format!("fresh {number}"));
        let mut of_left = Store::writable(&fresh, settings(jaccard(), memory)).unwrap();
        add(&mut of_left, "left", &left, place.path()).unwrap();
        let mut store = Store::writable(&path, settings(jaccard(), memory)).unwrap();
        for (at, batch) in all.chunks(150).enumerate() {
            add(&mut store, &at.to_string(), batch, place.path()).unwrap();
        }
        let full = bytes_of(&path);
        store.forget(gone.iter().copied()).unwrap().commit().unwrap();
        let forgotten = bytes_of(&path);
        assert!(10 * forgotten > 9 * full, "{forgotten} of {full}");
        let mut reader = Store::open(&path, settings(jaccard(), memory)).unwrap();
        let segments = store.manifest().segments.len();
        assert!(store.compact(Some(0)).unwrap());
        let compact = bytes_of(&path);
        println!(
            "{full} bytes, {compact} when compact, {} when made anew; {segments} segments before",
            bytes_of(&fresh)
        );
        assert!(2 * compact < full && 10 * compact < 11 * bytes_of(&fresh), "{compact} of {full}");
        assert!(super::left(&store, &path).is_empty());
        assert_eq!(held(&store), clusters(&left, jaccard()));
        // With more memory fewer segments.
        assert_eq!(store.manifest().segments.len() == 1, number == 0);
        drop(store);
        let mut store = Store::writable(&path, settings(jaccard(), 1 << 24)).unwrap();
        assert_eq!(store.compact(None).unwrap(), number > 0);
        assert_eq!(store.manifest().segments.len(), 1);
        store.verify().unwrap();
        // A reader keeps what it has opened, though its files are gone.
        let (found, _) =
            add(&mut reader, "q", &[("q".to_owned(), 1, all[1].2.clone())], place.path()).unwrap();
        assert!(!found.is_empty());
    }
}

/// Answers go by number, and whoever asks for one of those is told.
#[test]
fn answers_of_old_batches_go() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("store");
    let mut store = Store::writable(&path, settings(jaccard(), 1 << 20)).unwrap();
    let batches: Vec<Vec<Text>> = ["a", "b", "c"].map(|prefix| family(prefix, 5)).into();
    for (id, batch) in ["one", "two", "three"].iter().zip(&batches) {
        add(&mut store, id, batch, place.path()).unwrap();
    }
    // All into one.
    store.compact(None).unwrap();
    let answers = |store: &Store| {
        store.manifest().batches.iter().map(|batch| batch.answer.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(answers(&store), [true; 3]);
    assert!(store.compact(Some(1)).unwrap() && !store.compact(Some(2)).unwrap());
    assert_eq!(answers(&store), [false, false, true]);
    assert!(left(&store, &path).is_empty());
    let before = store.manifest().clone();
    let refused = add(&mut store, "two", &batches[1], place.path()).unwrap_err().to_string();
    assert!(refused.contains("has the batch two and keeps its answer no more"), "{refused}");
    assert!(matches!(add(&mut store, "three", &batches[2], place.path()).unwrap().1, Finished::Before(..)));
    assert_eq!(*store.manifest(), before);
    let refused = Store::open(&path, settings(jaccard(), 1 << 20)).unwrap().compact(Some(0)).unwrap_err();
    assert!(refused.to_string().contains("open to be read"), "{refused}");
}
