//! Every record: `decode(encode(x)) == x`, rows sort as their keys do, and a malformed line is an error
//! that names a field, whatever its bytes.

mod rows;

use proptest::prelude::*;
use rows::{Row, Values, any_id, any_values};
use std::collections::BTreeSet;
use std::sync::LazyLock;
use twinsplit_core::similarity::text::TEXT_MEASURES;
use twinsplit_core::similarity::{Measure, Score};
use twinsplit_core::sketch::simhash::{Bits, Fingerprint};
use twinsplit_core::sketch::tables::Tables;
use twinsplit_io::error::FieldError;
use twinsplit_rows::record::bad::BadLine;
use twinsplit_rows::record::band_filter::FilterChunk;
use twinsplit_rows::record::checked::CheckedLine;
use twinsplit_rows::record::cluster::{
    Chosen, ChosenRow, ClusterInput, ClusterRow, Clustered, GraphRow, KeepRow, Label, LabelOrMember, Ranked,
    Verdict,
};
use twinsplit_rows::record::compared::Compared;
use twinsplit_rows::record::content;
use twinsplit_rows::record::count::{BucketCount, FeatureCount, SizeRow};
use twinsplit_rows::record::cut::{CutDocument, CutRow};
use twinsplit_rows::record::document::Line;
use twinsplit_rows::record::expand::{self, ExpandRow};
use twinsplit_rows::record::fingerprint::{
    FingerprintRow, Fingerprinted, GroupedFingerprint, GroupedRow, MemberFingerprint, ShortText,
};
use twinsplit_rows::record::hamming::{FingerprintBlocks, FingerprintCount, Table, TableRow};
use twinsplit_rows::record::lookup::{self, KeptFeature};
use twinsplit_rows::record::meta::{InputPlace, Meta};
use twinsplit_rows::record::near::{AnswerPair, AnyPair, Checked, Near, NearQuery};
use twinsplit_rows::record::pair::{Candidate, Joined, Pair, Part};
use twinsplit_rows::record::posting::{BlockPair, Posting, PostingRow, PrefixMark};
use twinsplit_rows::record::query::OfQuery;
use twinsplit_rows::record::round::{GraphInput, Neighbour};
use twinsplit_rows::record::sampled::Sampled;
use twinsplit_rows::record::set::{Copy, Doc, Features, HashedDoc, HashedRow, Member};
use twinsplit_rows::record::signature::{self, HalfSigned, Signature, Signed};
use twinsplit_rows::record::site::SiteRow;
use twinsplit_rows::record::slice::{SliceRow, SlicedDoc};
use twinsplit_rows::record::star::{self, StarLink, StarMember, StarRow};
use twinsplit_rows::record::star_sets::{
    StarCentresInput, StarCentresRow, StarSet, StarSetsInput, StarSetsRow,
};
use twinsplit_rows::record::tokenized::{SetRow, Tokenized};
use twinsplit_rows::record::unit::Span;
use twinsplit_rows::record::verify::{self, Half, LeftRow, RightRow};
use twinsplit_rows::record::{Keys, Record, id, key_end};
use twinsplit_rows::stage::{Entry, RecordInfo};
use twinsplit_rows::stages::STAGES;

/// The decoders of all stages.
static DECODERS: LazyLock<Vec<(String, RecordInfo)>> = LazyLock::new(|| {
    let sides = |entry: &Entry| {
        let name = entry.decl.name;
        [(format!("the input of {name}"), entry.input), (format!("the output of {name}"), entry.output)]
    };
    // Records of the same fields are one record.
    let mut known = BTreeSet::new();
    STAGES.iter().flat_map(sides).filter(|(_, info)| known.insert(info.fields)).collect()
});

/// Reads a line as every record; an error must say which field, and what was expected there.
fn read_as_everything(line: &[u8]) -> Result<(), TestCaseError> {
    for (record, info) in DECODERS.iter() {
        if let Err(FieldError { field, expected, found, .. }) = (info.decodes)(line) {
            prop_assert!(
                !field.is_empty() && !expected.is_empty() && !found.is_empty(),
                "{record}: field {field:?}, expected {expected:?}, found {found:?}"
            );
        }
        // What is read in a form of its own, such as a number with zeros in front, is written in the usual one.
        if let Ok(written) = (info.rewrites)(line) {
            prop_assert_eq!((info.rewrites)(&written), Ok(written), "{}", record);
        }
    }
    // What a decoder leaves to its reader.
    if let Ok(doc) = Doc::decode(line) {
        let mut features = Vec::new();
        if doc.features.read(&mut features).is_ok() {
            prop_assert!(features.is_sorted_by(|x, y| x < y));
            prop_assert_eq!(features.len() as u64, doc.features.size());
        }
    }
    if let Ok(lists) = BlockPair::decode(line) {
        let mut postings = Vec::new();
        if lists.read(&mut postings).is_ok() {
            prop_assert!(!postings.is_empty() && lists.left_count <= postings.len() as u64);
        }
    }
    Ok(())
}

/// What takes a field's place in a malformed line.
const INTRUDERS: [&[u8]; 9] = [
    b"",
    b"-",
    b"=",
    b"=>",
    b"18446744073709551616",
    b"0.123456x",
    b"\xff\xfe",
    b"0123456789abcdeF",
    b"ffffffffffffffff ",
];

/// Empty ids are refused now and then, in a million cases often.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, max_local_rejects: u32::MAX, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn what_is_encoded_is_decoded(values in any_values()) {
        for Row { record, line, read_back, .. } in rows::rows(&values) {
            prop_assert!(read_back, "{record}: {:?}", String::from_utf8_lossy(&line));
            prop_assert!(!line.contains(&b'\n'), "{record} breaks its line");
        }
    }

    /// A sort of whole lines is a sort by key, for TAB is below every byte of a field.
    #[test]
    fn lines_sort_as_their_keys(x in any_values(), y in any_values(), same in any::<bool>()) {
        // Equal ids now and then, so that later fields decide too.
        let y = if same { Values { ids: x.ids.clone(), ..y } } else { y };
        for (x, y) in rows::rows(&x).iter().zip(rows::rows(&y)) {
            let Some(keys) = x.keys else { continue };
            let fields = |line: &[u8]| -> Vec<Vec<u8>> {
                line.split(|byte| *byte == b'\t').take(keys.sort).map(<[u8]>::to_vec).collect()
            };
            let by_key = fields(&x.line).cmp(&fields(&y.line));
            prop_assert!(by_key.is_eq() || by_key == x.line.cmp(&y.line), "{}", x.record);
            let bytes = x.line[..key_end(&x.line, keys.sort)].cmp(&y.line[..key_end(&y.line, keys.sort)]);
            prop_assert_eq!(by_key, bytes, "{}", x.record);
        }
    }

    #[test]
    fn any_bytes_are_a_record_or_an_error(line in prop::collection::vec(any::<u8>(), 0..60)) {
        read_as_everything(&line)?;
    }

    #[test]
    fn any_fields_are_a_record_or_an_error(
        fields in prop::collection::vec(prop::sample::select(&INTRUDERS[..]), 0..9), first in any_id(),
    ) {
        let mut line = first;
        for field in fields {
            line.push(b'\t');
            line.extend_from_slice(field);
        }
        read_as_everything(&line)?;
    }

}

proptest! {
    // A case is some 180 lines, each read as every record.
    #![proptest_config(config(100))]

    /// Lines of each record with a field taken out, doubled or replaced, or cut off anywhere.
    #[test]
    fn damaged_rows_are_a_record_or_an_error(
        values in any_values(),
        at in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        intruder in prop::sample::select(&INTRUDERS[..]),
    ) {
        for Row { line, .. } in rows::rows(&values) {
            read_as_everything(&line[..cut.index(line.len() + 1)])?;
            let fields: Vec<&[u8]> = line.split(|byte| *byte == b'\t').collect();
            let at = at.index(fields.len());
            for instead in [&[][..], &[fields[at], fields[at]], &[intruder]] {
                let fields = [&fields[..at], instead, &fields[at + 1..]].concat();
                read_as_everything(&fields.join(&b'\t'))?;
            }
        }
    }
}

/// The field that the error of a malformed line names.
#[test]
fn errors_name_the_field() {
    let set = "00000000000000aa";
    let named = |stage: &str, line: &str| {
        let entry = twinsplit_rows::stages::find(stage).unwrap();
        (entry.input.decodes)(line.as_bytes()).unwrap_err().field
    };
    for (stage, line, field) in [
        ("equal-sets", "", "id"),
        ("equal-sets", &format!("\t{set}"), "id"),
        ("equal-sets", &format!("a\t{set}\tb"), "end of line"),
        ("equal-sets-reduce", "a", "hash"),
        ("equal-sets-reduce", set, "id"),
        ("index-term", "a\t\\=\tb", "size"),
        ("index-term", "a\t\\=\t\t1", "representative"),
        ("index-term-reduce", "00000000000000AA\ta\t1", "feature"),
        ("index-term-reduce", &format!("{set}\ta\t-1"), "size"),
        ("index-term-reduce", &format!("{set}\ta\t1\tx"), "position"),
        ("index-term-reduce", &format!("{set}\ta\t1\t0\t2"), "indexed"),
        ("pcp-map", &format!("{set}\t\\l\t0\t0\tsome\t1\t1\ta"), "kind"),
        ("pcp-map", &format!("{set}\t\\l\t0\tx\tplain\t1\t1\ta"), "j"),
        ("pcp-reduce", "a\tb\t1\t1", "size_b"),
        ("pcp-reduce", "a\tb\t1\t1\t1\t1", "end of line"),
        ("verify-left-reduce", "a\t2\tb", "tag"),
        ("verify-right-reduce", "a\t1\t", "a"),
        ("feature-order", "-\t", "documents"),
        ("feature-order", &format!("{set}\t1\t1"), "end of line"),
        ("feature-sample-reduce", &format!("001\t{set}\t1"), "bucket"),
        ("feature-sample-reduce", "000\t-\t1", "bucket"),
        ("feature-sample-reduce", &format!("000\t{set}"), "documents"),
        ("idf-left", "a\t1x", "feature"),
        ("idf-left-reduce", &format!("{set}\t2\ta"), "tag"),
        ("idf-left-reduce", &format!("{set}\t1\t"), "id"),
        ("idf-right-reduce", "a\t0\tx", "text"),
        ("equal-sets", "a\t\\~\tx\t", "text"),
        ("equal-sets", &format!("a\t\\~\t{set}{set}\tx"), "features"),
        ("keep-rank-reduce", "a\t3\tx", "features"),
        ("idf-right-reduce", "a\t1\tx", "feature"),
        ("slice-plan", "0000000001", "sets"),
        ("index-doc-reduce", "00000\t1", "id"),
        ("expand-left-reduce", "a\t2\tb\t1", "tag"),
        ("expand-left-reduce", "a\t1\tb\t1\t1", "size_other"),
        ("cluster", "a\tb\t1\t2\t2\t0.333334", "similarity"),
        ("cluster", "a\tb\t5\t1\t1\t1.000000", "overlap"),
        ("cluster", "a\tb\t1\t2\t2\t0.33333", "similarity"),
        ("equal-sets", "a\t\\m\t5\t2020\t\tLatin\t\t\tx\t1\t2", "end of line"),
        ("equal-sets", "a\t\\m\t5\t2020\t\tLatin\t\t\tx", "line"),
        ("equal-sets", "a\t\\m\tfive\t\t\tLatin", "length"),
        ("cluster-reduce", "3\ta\tb", "tag"),
        ("keep-choose", "a\t2\tb\t0\t", "other"),
        ("keep-choose", "a\t1\tb\t0\tx", "features"),
        ("large-star", "a\t->\tb", "overlap"),
        ("large-star", "a\t->\tb\tc", "overlap"),
        ("hamming-count", "a\t\\#\t0123456789abcdef\t129", "distance"),
        ("hamming-count", "a\t\\#=\t\t0123456789abcdef\t3", "representative"),
        // A pair of sets that is cut is no pair of fingerprints.
        ("expand-left", "a\tb\t3", "size_a"),
        ("cluster", "a\tb\t3", "size_a"),
        ("expand-left", "a\t\\d\tb", "distance"),
        ("expand-left", "a\t\\d\tb\t3\t0.5", "similarity"),
        ("expand-left", "a\t\\d\tb\t3\t0.500000\tdice", "similarity's name"),
        ("equal-fingerprints", "a\t0123456789abcdef\t3\t0123", "content"),
        ("equal-fingerprints-reduce", "0123456789abcdef\t3\tx\ta", "content"),
        ("text-left", "a\tb\t3", "tag"),
        ("text-right", "a\t1\tb\tx\ttext", "distance"),
        ("hamming-index-reduce", "4.0.0000\tx", "table"),
        ("hamming-pairs", "4.1.0000\t0\t0\t1", "fingerprints"),
        ("large-star-reduce", "a", "neighbour"),
        ("small-star-reduce", "a\tb\tc", "end of line"),
        ("star-rank-reduce", "a\t3\tb", "tag"),
        ("star-link", "a\t\\s\t-\tb\t", "component"),
        ("star-link-reduce", "a\t2\tb", "tag"),
        ("star", "a\t1\t-\tb\tc\td", "tag"),
        ("star-reduce", "a\t0\t-\tb\tc", "other"),
        ("star-rank", "a\t\\k\tb", "representative"),
        ("star-sets", "a\t\\s\t-\tb\t", "component"),
        ("star-sets-reduce", "a\t2\tb", "tag"),
        ("star-centres", "a\t1\t-\tb\tc\td", "tag"),
        ("star-centres-reduce", "a\t0\t-\tb", "representative"),
        ("star-centres-reduce", "a\t0\t-\tb\tc\tx", "features"),
        ("keep-rank", "a\t\\>\t", "label"),
        ("keep-rank-reduce", "a\t4\tb", "tag"),
        ("keep-rank-reduce", "a\t3\t\\#\tb", "fingerprint"),
        ("keep-best", "a", "rank"),
    ] {
        assert_eq!(named(stage, line), field, "{stage}: {line:?}");
    }
    for (line, field) in [
        ("a\tb\tkeep\t0.500000", "verdict"),
        ("a\tb\tdrop\t0.5", "similarity"),
        ("a\tb\tdrop\t1.000001", "similarity"),
        ("a\tb\tdrop", "similarity"),
    ] {
        assert_eq!(ClusterRow::decode(line.as_bytes()).unwrap_err().field, field, "{line:?}");
    }
}

/// No two features of one set are equal, and they ascend.
#[test]
fn features_are_checked_when_they_are_read() {
    let [low, high] = ["00000000000000aa", "00000000000000ab"];
    let read = |text: String| {
        let mut features = Vec::new();
        Features::Text(text.as_bytes()).read(&mut features).map(|()| features)
    };
    assert!(read(String::new()).unwrap().is_empty());
    assert_eq!(read(format!("{low} {high}")).unwrap(), [0xaa, 0xab]);
    for wrong in [
        format!("{high} {low}"),
        format!("{low} {low}"),
        format!("{low}  {high}"),
        format!("{low} "),
        format!(" {low}"),
        format!("{low},{high}"),
        low[1..].to_owned(),
        low.to_uppercase(),
        format!("{low}é"),
    ] {
        assert_eq!(read(wrong.clone()).unwrap_err().field, "features", "{wrong:?}");
    }
}

/// The test above leaves no record out: each one that a stage reads or writes is among its rows.
#[test]
fn every_stages_records_are_among_the_rows() {
    let values = Values {
        ids: [b"a".to_vec(), b"b".to_vec()],
        numbers: [1, 2, 3, 4],
        sizes: (1, 2, 3),
        features: vec![5, 6],
        rank: "-".into(),
        date: Vec::new(),
        flag: true,
    };
    let rows = rows::rows(&values);
    let mut known = BTreeSet::new();
    macro_rules! fields_of {
        ($($record:path),* $(,)?) => { $( known.insert((stringify!($record), <$record>::FIELDS)); )* };
    }
    fields_of!(
        Line,
        AnyPair,
        AnswerPair,
        Near,
        content::ContentRow,
        content::HalfNear,
        content::LeftRow,
        content::RightRow,
        Fingerprinted,
        GroupedFingerprint,
        MemberFingerprint,
        FingerprintCount,
        TableRow,
        FingerprintBlocks,
        CheckedLine,
        Doc,
        Member,
        HashedDoc,
        SlicedDoc,
        SliceRow,
        FeatureCount,
        BucketCount,
        SizeRow,
        PostingRow,
        BlockPair,
        Part,
        Candidate,
        FilterChunk,
        Signature,
        signature::LeftInput,
        signature::LeftRow,
        HalfSigned,
        signature::RightInput,
        signature::RightRow,
        Joined,
        Pair,
        verify::LeftInput,
        LeftRow,
        Half,
        verify::RightInput,
        RightRow,
        expand::LeftInput,
        ExpandRow,
        expand::RightInput,
        Meta,
        SetRow,
        HashedRow,
        FingerprintRow,
        GroupedRow,
        Clustered,
        GraphRow,
        ChosenRow,
        ClusterInput,
        Label,
        GraphInput,
        lookup::LeftInput,
        lookup::LeftRow,
        KeptFeature,
        Sampled,
        SiteRow,
        lookup::RightInput,
        lookup::RightRow,
        Tokenized,
        Neighbour,
        star::RankRow,
        StarMember,
        star::LinkInput,
        star::LinkRow,
        StarLink,
        star::StarInput,
        StarRow,
        StarSetsInput,
        StarSetsRow,
        StarSet,
        StarCentresInput,
        StarCentresRow,
        LabelOrMember,
        NearQuery,
        OfQuery,
        KeepRow,
        Ranked,
        ClusterRow,
        CutRow,
        CutDocument,
    );
    for (stage, info) in DECODERS.iter() {
        let records: Vec<_> = known.iter().filter(|(_, fields)| *fields == info.fields).collect();
        assert!(!records.is_empty(), "{stage} has a record that is not tested: {}", info.fields);
        let tested = rows.iter().any(|row| records.iter().any(|(name, _)| *name == row.record));
        assert!(tested, "{stage}: no row of {}", info.fields);
    }
}
