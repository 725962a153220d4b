use super::*;

const SCALE: Scale = Scale { times: 100.0, read: 100.0, sampled: 1000, drawn: 1.0 };

fn counted(whole: u64, part: u64) -> Counted {
    Counted { whole, parts: [part; PARTS] }
}

fn stage(growth: Growth, bytes: Counted) -> Written {
    let (rows, read) = (bytes, counted(4000, 1000));
    Written { growth, passing: false, bytes, rows, read, tasks: (2.0, 2.0) }
}

fn documents() -> Bytes {
    Bytes::of_documents(4000.0, Range::exactly(400_000.0))
}

/// What a stage declares decides, and no excess of a sample over its quarters makes a square of what belongs to documents.
#[test]
fn each_growth_is_what_it_says() {
    let mid = |growth, whole, part| SCALE.written(stage(growth, counted(whole, part)), documents()).all().mid;
    assert_eq!(mid(Growth::Input, 4000, 1000), 400_000.0);
    assert_eq!(mid(Growth::Input, 4004, 1000), 400_400.0);
    assert_eq!(mid(Growth::Constant, 77, 70), 77.0);
    // A quarter has a sixteenth of the pairs.
    assert_eq!(mid(Growth::Pairs, 1600, 100), 16_000_000.0);
    // Twice as many different things in four times the documents: ten times as many in a hundred times as many.
    assert!((mid(Growth::Distinct, 2000, 1000) - 20_000.0).abs() < 1e-6);
    // A task may have no room to find out what it has met before.
    assert!((mid(Growth::Combined, 2000, 1000) - (20_000.0 * 200_000.0f64).sqrt()).abs() < 1e-6);
    // An option bounds the documents that are counted: of twice as many in as many tasks there are half as much again or twice as much.
    let scale = Scale { drawn: 2.0, ..SCALE };
    let drawn = scale.written(stage(Growth::Drawn, counted(2000, 1000)), documents()).all();
    assert!(
        (drawn.mid - (2000.0 * 2f64.sqrt() * 4000.0).sqrt()).abs() < 1e-6 && drawn.high == 4000.0,
        "{drawn:?}"
    );
    // Of what does not grow there are no more different things.
    let bounded = Bytes::of_documents(4000.0, Range::exactly(5000.0));
    let distinct = SCALE.written(stage(Growth::Distinct, counted(2000, 1000)), bounded).all();
    assert_eq!((distinct.mid, distinct.high), (2500.0, 2500.0));
    // Members grow by 4^1.5 from a quarter to the sample, and there are no more than documents.
    let few = Written { rows: counted(10, 2), ..stage(Growth::Members, counted(800, 100)) };
    let members = SCALE.written(few, documents()).all();
    assert_eq!((members.low, members.high), (80_000.0, 8_000_000.0));
    assert!((members.mid - 800_000.0).abs() < 1e-3);
    // Of 4,000 bytes of postings 2,000 are of features that no other document has, and twice as many come with four times as many
    // documents; lists are shorter than postings.
    let repeated = SCALE.written(stage(Growth::Repeated, counted(2000, 0)), documents()).all();
    assert_eq!((repeated.low, repeated.high), (200_000.0, 400_000.0));
    assert!((repeated.mid - (200_000.0 * (400_000.0 - 2000.0 * 10.0f64)).sqrt()).abs() < 1e-6);
}

/// Rows of documents and of pairs in one stream are told apart.
#[test]
fn what_passes_by_is_not_of_pairs() {
    let written = Written { passing: true, ..stage(Growth::Pairs, counted(4000 + 1600, 1000 + 100)) };
    let bytes = SCALE.written(written, documents());
    assert!((bytes.all().mid - 16_400_000.0).abs() < 1.0, "{bytes:?}");
    // What reads both knows how each grows.
    let read = SCALE.written(stage(Growth::Input, counted(4000 + 1600, 1000 + 100)), bytes);
    assert!((read.all().mid - 16_400_000.0).abs() < 1.0, "{read:?}");
}

/// Of equal sets one is left, and more are equal in more documents.
#[test]
fn rows_that_are_left_out_become_no_square() {
    let written = SCALE.written(stage(Growth::Input, counted(3900, 1000)), documents()).all();
    assert!(written.low < written.mid && written.mid < 390_000.0 && written.high >= 390_000.0, "{written:?}");
    assert!(written.low > 300_000.0, "{written:?}");
}

#[test]
fn no_pair_in_a_sample_is_not_known_to_be_none() {
    let pairs = SCALE.pairs(counted(0, 0), 0);
    assert_eq!((pairs.low, pairs.mid, pairs.high), (0.0, 0.0, 40_000.0));
    assert_eq!(pairs.factor(), None);
    let few = SCALE.pairs(counted(4, 0), 4);
    let many = SCALE.pairs(counted(1600, 100), 1600);
    assert!(few.factor().unwrap() >= 2.0 && many.factor() == Some(1.3));
    // A collection of ten thousand times what was read has as many pairs for a document, or up to ten times as many.
    let some_files = Scale { times: 1e6, ..SCALE }.pairs(counted(1600, 100), 1600);
    assert_eq!(some_files.mid, 1e4 * many.mid);
    assert!((some_files.high / (1e5 * many.high) - 1.0).abs() < 1e-9);
    assert_eq!(SCALE.contacts(counted(1600, 100)).mid, many.mid);
    assert_eq!(Scale { times: 1e6, ..SCALE }.contacts(counted(1600, 100)).mid, 1600.0 * 1e12);
}

/// Where quarters differ, chance decides more of what the sample has.
#[test]
fn the_spread_of_quarters_is_the_error() {
    let even = Counted { whole: 4000, parts: [1000; 4] };
    let uneven = Counted { whole: 4000, parts: [400, 1600, 700, 1300] };
    assert_eq!(even.chance(1.0), 0.0);
    // Standard deviation 547.7 of 1000, halved, and t.
    assert!((uneven.chance(1.0) - 3.18 * 0.5477 / 2.0).abs() < 1e-3);
    let all = |bytes| SCALE.written(stage(Growth::Input, bytes), documents()).all();
    assert_eq!(all(even).factor(), Some(1.0));
    assert!(all(uneven).factor().unwrap() > 1.8);
}
