//! Every record: `decode(encode(x)) == x`, rows sort as their keys do, and a malformed line is an error
//! that names a field, whatever its bytes.

use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use twinsplit::internal::checked_file::CheckedLine;
use twinsplit::internal::error::FieldError;
use twinsplit::internal::record::bad::BadLine;
use twinsplit::internal::record::band_filter::FilterChunk;
use twinsplit::internal::record::cluster::{
    Chosen, ChosenRow, ClusterInput, ClusterRow, Clustered, Compared, GraphRow, KeepRow, Label,
    LabelOrMember, Ranked, Verdict,
};
use twinsplit::internal::record::content;
use twinsplit::internal::record::count::{FeatureCount, SizeRow};
use twinsplit::internal::record::document::Line;
use twinsplit::internal::record::expand::{self, ExpandRow};
use twinsplit::internal::record::fingerprint::{
    FingerprintBlocks, FingerprintCount, FingerprintRow, Fingerprinted, GroupedFingerprint, GroupedRow,
    MemberFingerprint, Table, TableRow,
};
use twinsplit::internal::record::lookup::{self, KeptFeature};
use twinsplit::internal::record::meta::{InputPlace, Meta};
use twinsplit::internal::record::near::{AnswerPair, AnyPair, Checked, Near};
use twinsplit::internal::record::pair::{Candidate, Joined, Pair, Part};
use twinsplit::internal::record::posting::{BlockPair, Posting, PostingRow, PrefixMark};
use twinsplit::internal::record::round::{GraphInput, Neighbour};
use twinsplit::internal::record::set::{Copy, Doc, Features, HashedDoc, HashedRow, Member};
use twinsplit::internal::record::signature::{self, HalfSigned, Signature, Signed};
use twinsplit::internal::record::site::SiteRow;
use twinsplit::internal::record::slice::{SliceRow, SlicedDoc};
use twinsplit::internal::record::star::{self, StarLink, StarMember, StarRow};
use twinsplit::internal::record::tokenized::{SetRow, Tokenized};
use twinsplit::internal::record::verify::{self, Half, LeftRow, RightRow};
use twinsplit::internal::record::{Keys, Record, id, key_end};
use twinsplit::internal::similarity::text::TEXT_MEASURES;
use twinsplit::internal::similarity::{Measure, Score};
use twinsplit::internal::sketch::simhash::{Bits, Fingerprint};
use twinsplit::internal::sketch::tables::Tables;
use twinsplit::internal::stage::{Entry, RecordInfo};
use twinsplit::internal::stages::STAGES;

/// What records are made of.
#[derive(Clone, Debug)]
struct Values {
    ids: [Vec<u8>; 2],
    numbers: [u64; 4],
    /// An overlap, and two sizes that it fits.
    sizes: (u64, u64, u64),
    features: Vec<u64>,
    rank: String,
    date: Vec<u8>,
    flag: bool,
}

fn escaped(raw: &str) -> Vec<u8> {
    let mut out = Vec::new();
    id::escape(raw.as_bytes(), &mut out);
    out
}

/// Ids of any characters, and short ones that look like tags, numbers and each other's prefixes.
fn any_id() -> impl Strategy<Value = Vec<u8>> {
    let any = any::<String>().prop_filter("ids are not empty", |text| !text.is_empty());
    let like_a_tag = "[01=>ax \\-\t\n\r\\\\\u{7f}é京]{1,4}";
    prop_oneof![any, like_a_tag].prop_map(|raw| escaped(&raw))
}

/// Numbers of every width.
fn any_number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0u32..64).prop_map(|(number, shift)| number >> shift)
}

fn any_values() -> impl Strategy<Value = Values> {
    let sizes = [any_number(), any_number(), any_number()].prop_map(|[overlap, more_a, more_b]| {
        (overlap, overlap.saturating_add(more_a), overlap.saturating_add(more_b))
    });
    let features = prop::collection::btree_set(any_number(), 0..5);
    let numbers = std::array::from_fn(|_| any_number());
    (([any_id(), any_id()], numbers, sizes, features), ("[0-9a-f~!-]{1,20}", any::<String>(), any::<bool>()))
        .prop_map(|((ids, numbers, sizes, features), (rank, date, flag))| Values {
            ids,
            numbers,
            sizes,
            features: features.into_iter().collect(),
            rank,
            date: escaped(&date),
            flag,
        })
}

/// A record's line, and whether it is read back as it was written.
struct Row {
    record: &'static str,
    keys: Option<Keys>,
    line: Vec<u8>,
    read_back: bool,
}

/// A line of every record and of every variant that a record has.
fn rows(values: &Values) -> Vec<Row> {
    let mut rows = Vec::new();
    macro_rules! row {
        ($record:path, $value:expr) => {{
            let value = $value;
            let mut line = Vec::new();
            value.encode(&mut line);
            let read_back = <$record>::decode(&line) == Ok(value);
            rows.push(Row { record: stringify!($record), keys: <$record>::KEYS, read_back, line });
        }};
    }
    let Values { ids: [a, b], numbers: [n0, n1, n2, n3], sizes, features, rank, date, flag } = values;
    let (a, b, rank, date) = (a.as_slice(), b.as_slice(), rank.as_bytes(), date.as_slice());
    let (overlap, size_a, size_b) = *sizes;
    let doc = Doc { id: a, features: Features::Values(features) };
    let text = Tokenized { doc, text: Some(u128::from(*n0) << 64 | u128::from(*n1)) };
    let tokenized = Tokenized::of_set(doc);
    let copy = Copy { id: a, representative: b, size: *n0 };
    let measure = Measure::ALL[*n1 as usize % 5];
    let pair = Pair { a, b, overlap, size_a, size_b, measure };
    let part = Part { a, b, count: *n0, size_a: *n1, size_b: *n2 };
    let candidate = Candidate { a, b };
    let half = Half { b, a, features: doc.features };
    let mut signature_text = Vec::new();
    let three = [*n0 as u32, *n1 as u32, 0];
    signature::push_values(&mut signature_text, &three, 32);
    let of = signature::Values::of(&signature_text).unwrap();
    let mut read = Vec::new();
    assert!(of.read(&mut read).is_ok() && read == three && (of.count(), of.bits()) == (3, 32));
    let bits = [1, 2, 4, 8][*n2 as usize % 4];
    let mut low_text = Vec::new();
    signature::push_values(&mut low_text, &three, bits);
    let low = signature::Values::of(&low_text).unwrap();
    assert!(low.read(&mut read).is_ok() && read == three.map(|value| value & ((1 << bits) - 1)));
    assert_eq!((low.count(), low.bits()), (3, bits));
    let signature = Signature { id: a, size: *n2, made: b"minhash=1 method=fast", values: of };
    let signed = Signed { id: a, size: *n2, values: of };
    let half_signed = HalfSigned { b, a, size: *n2, values: of };
    let signed_low = Signed { id: a, size: *n2, values: low };
    let half_signed_low = HalfSigned { b, a, size: *n2, values: low };
    let label = Label { id: a, label: b };
    let bad = BadLine { file: a.into(), line: *n0, field: b"text", expected: date.into(), text: b };
    let place = if *flag { InputPlace { input: b"0000002a", offset: rank } } else { InputPlace::default() };
    let meta =
        Meta { id: a, length: *n0, date, score: b"-1.50e3", script: b"Han", place, file: date, line: *n1 };
    let copied = ExpandRow::Copy { representative: b, id: a, size: *n0 };
    let expanded =
        ExpandRow::Pair { key: a, other: b, overlap, size_key: size_a, size_other: size_b, measure };
    let mark = flag.then_some(PrefixMark { position: *n1, indexed: n2 % 2 == 0 });
    let posting = Posting { id: a, size: *n0, mark };
    let mut postings = Vec::new();
    BlockPair::push_posting(&posting, &mut postings);
    BlockPair::push_posting(&Posting { id: b, size: *n3, mark }, &mut postings);
    let star_member = StarMember { representative: a, rank, id: b, component: a };
    let link = StarLink { component: b, rank, best: a, representative: b, other: a };
    let copied_from = star::RankRow::Copy { id: b, representative: a };
    let star_pair = star::LinkRow::Pair { representative: b, other: a };
    let score = Some(measure.score(overlap, size_a, size_b));

    row!(Line, Line(a));
    row!(CheckedLine, CheckedLine(a));
    row!(Doc, doc);
    row!(Member, Member::Doc(doc));
    row!(Member, Member::Copy(copy));
    for doc in [tokenized, text] {
        row!(Tokenized, doc);
        row!(SetRow, SetRow::Set(doc));
        row!(HashedDoc, HashedDoc { hash: *n0, doc });
        row!(HashedRow, HashedRow::Doc(HashedDoc { hash: *n0, doc }));
        row!(lookup::LeftInput, lookup::LeftInput::Row(SetRow::Set(doc)));
        row!(lookup::RightInput, lookup::RightInput::Row(SetRow::Set(doc)));
        row!(lookup::RightRow, lookup::RightRow::Document { id: a, text: doc.text });
    }
    row!(SetRow, SetRow::Meta(meta));
    row!(HashedRow, HashedRow::Meta(meta));
    row!(lookup::LeftInput, lookup::LeftInput::Row(SetRow::Meta(meta)));
    row!(lookup::RightInput, lookup::RightInput::Row(SetRow::Meta(meta)));
    row!(lookup::RightRow, lookup::RightRow::Meta(meta));
    let bits = if *flag { Bits::B128 } else { Bits::B64 };
    let wide = if *flag { u128::from(*n0) << 64 } else { 0 };
    let fingerprint = Fingerprint { bits, value: wide | u128::from(*n1) };
    let distance = (*n2 % 129) as u32;
    let contents = [None, Some(u128::from(*n3) << 64 | u128::from(*n0))];
    row!(
        Fingerprinted,
        Fingerprinted { id: a, fingerprint, distance: flag.then_some(distance), content: None }
    );
    for content in contents {
        let fingerprinted = Fingerprinted { id: a, fingerprint, distance: Some(distance), content };
        let grouped = GroupedFingerprint { fingerprint, distance, content, id: a };
        row!(Fingerprinted, fingerprinted);
        row!(FingerprintRow, FingerprintRow::Fingerprint(fingerprinted));
        row!(GroupedFingerprint, grouped);
        row!(GroupedRow, GroupedRow::Fingerprint(grouped));
    }
    let text_measure = TEXT_MEASURES[*n3 as usize % 3];
    let text_measure = flag.then_some(text_measure);
    for (representative, measure) in [(None, None), (Some(b), text_measure)] {
        let one = MemberFingerprint { id: a, representative, fingerprint, distance, measure };
        row!(MemberFingerprint, one);
        row!(Member, Member::Fingerprint(one));
        row!(LabelOrMember, LabelOrMember::Member(Member::Fingerprint(one)));
        row!(ClusterInput, ClusterInput::Member(Member::Fingerprint(one)));
        row!(GraphInput, GraphInput::Member(Member::Fingerprint(one)));
        row!(expand::LeftInput, expand::LeftInput::Member(Member::Fingerprint(one)));
        row!(expand::RightInput, expand::RightInput::Member(Member::Fingerprint(one)));
    }
    row!(FingerprintRow, FingerprintRow::Meta(meta));
    row!(GroupedRow, GroupedRow::Meta(meta));
    for set in [Compared::Set(doc.features), Compared::Fingerprint(fingerprint, distance)] {
        row!(KeepRow, KeepRow::Set { id: a, set });
        row!(Ranked, Ranked { label: b, rank, id: a, representative: a, set: Some(set) });
        row!(ChosenRow, ChosenRow { kept: a, other: *flag, representative: b, what: Chosen::Set(set) });
    }
    row!(KeepRow, KeepRow::Copy { id: a, representative: b });
    row!(Ranked, Ranked { label: b, rank, id: a, representative: b, set: None });
    row!(ChosenRow, ChosenRow { kept: a, other: *flag, representative: b, what: Chosen::Document(a) });
    row!(Clustered, Clustered { id: a, kept: b, representative: a });
    row!(GraphRow, GraphRow::Pair(a, b));
    row!(GraphRow, GraphRow::Copy(a, b));
    row!(GraphRow, GraphRow::Rank(a, rank));
    row!(FingerprintCount, FingerprintCount { fingerprints: *n0, distance, bits: flag.then_some(bits) });
    let tables = Tables::of(6, 1 + *n3 as u32 % 3).unwrap();
    let table = Table { tables, number: *n0 as u32 % tables.count() };
    let table_row = TableRow { table, key: wide, id: a, fingerprint, distance };
    row!(TableRow, table_row);
    let mut fingerprints = Vec::new();
    FingerprintBlocks::push(&table_row, &mut fingerprints);
    FingerprintBlocks::push(&table_row, &mut fingerprints);
    let (left, right, left_count, fingerprints) = (*n0, *n1, 1, fingerprints.as_slice());
    row!(FingerprintBlocks, FingerprintBlocks { table, left, right, left_count, fingerprints });
    let checked = text_measure.zip(Score::share(*n2 as u32 % 1_000_001));
    let checked = checked.map(|(measure, score)| Checked { score, measure });
    let near = Near { a, b, distance, checked };
    row!(Near, near);
    row!(AnswerPair, AnswerPair::Fingerprints(near));
    row!(AnswerPair, AnswerPair::Sets(pair));
    for text in [b"", date] {
        let content_row = content::ContentRow { id: a, content: text };
        let half = content::HalfNear { b, a, distance, content: text };
        row!(content::ContentRow, content_row);
        row!(content::HalfNear, half);
        row!(content::LeftRow, content::LeftRow::Content(content_row));
        row!(content::LeftRow, content::LeftRow::Near(near));
        row!(content::RightRow, content::RightRow::Content(content_row));
        row!(content::RightRow, content::RightRow::Half(half));
    }
    row!(AnyPair, AnyPair::Fingerprints(near));
    row!(AnyPair, AnyPair::Sets(pair));
    row!(expand::LeftInput, expand::LeftInput::Pair(AnyPair::Fingerprints(near)));
    row!(ClusterInput, ClusterInput::Pair(AnyPair::Fingerprints(near)));
    row!(GraphInput, GraphInput::Pair(AnyPair::Fingerprints(near)));
    row!(star::LinkInput, star::LinkInput::Pair(AnyPair::Fingerprints(near)));
    for row in [
        ExpandRow::EqualFingerprint { representative: a, id: b, measure: text_measure },
        ExpandRow::Near { key: a, other: b, distance, checked },
    ] {
        row!(ExpandRow, row);
        row!(expand::RightInput, expand::RightInput::Row(row));
    }
    let key = format!("{:05}.{}", n0, n1 % 31);
    row!(SlicedDoc, SlicedDoc { slice: key.as_bytes(), size: *n1, doc });
    row!(SliceRow, SliceRow::Doc(SlicedDoc { slice: key.as_bytes(), size: *n1, doc }));
    row!(FeatureCount, FeatureCount { feature: flag.then_some(*n0), documents: *n1 });
    let count = FeatureCount { feature: flag.then_some(*n0), documents: *n1 % 1_000_000_000_000_000 };
    let kept = KeptFeature { id: a, feature: *n0 };
    row!(lookup::LeftInput, lookup::LeftInput::Count(count));
    row!(lookup::LeftRow, lookup::LeftRow::Kept(*n0));
    row!(lookup::LeftRow, lookup::LeftRow::Posting { feature: *n0, id: a });
    row!(KeptFeature, kept);
    row!(SiteRow, SiteRow::Site { feature: *n0, documents: *n1, site: b.into() });
    row!(SiteRow, SiteRow::Site { feature: *n0, documents: *n1, site: b"".into() });
    row!(SiteRow, SiteRow::Posting { feature: *n0, id: a });
    row!(lookup::RightInput, lookup::RightInput::Feature(kept));
    row!(lookup::RightRow, lookup::RightRow::Feature(kept));
    row!(SizeRow, SizeRow { size: *n0, sets: *n1 });
    row!(PostingRow, PostingRow { feature: *n3, posting });
    let (left, right, left_count) = (*n0, *n1, 1);
    row!(BlockPair, BlockPair { feature: *n3, left, right, marked: *flag, left_count, postings: &postings });
    row!(Part, part);
    row!(Candidate, candidate);
    row!(Signature, signature);
    row!(signature::LeftInput, signature::LeftInput::Candidate(candidate));
    row!(signature::LeftInput, signature::LeftInput::Signature(signature));
    row!(signature::LeftRow, signature::LeftRow::Candidate(candidate));
    row!(signature::LeftRow, signature::LeftRow::Signed(signed));
    row!(signature::LeftRow, signature::LeftRow::Signed(signed_low));
    row!(FilterChunk, FilterChunk { number: *n0, bytes: vec![*n1 as u8, *n2 as u8] });
    row!(HalfSigned, half_signed);
    row!(signature::RightInput, signature::RightInput::Half(half_signed));
    row!(signature::RightInput, signature::RightInput::Signature(signature));
    row!(signature::RightRow, signature::RightRow::Half(half_signed));
    row!(signature::RightRow, signature::RightRow::Half(half_signed_low));
    row!(signature::RightRow, signature::RightRow::Signed(signed));
    row!(Joined, Joined::Part(part));
    row!(Joined, Joined::Candidate(candidate));
    row!(Pair, pair);
    row!(verify::LeftInput, verify::LeftInput::Candidate(candidate));
    row!(verify::LeftInput, verify::LeftInput::Member(Member::Doc(doc)));
    row!(verify::LeftInput, verify::LeftInput::Member(Member::Copy(copy)));
    row!(LeftRow, LeftRow::Set(doc));
    row!(LeftRow, LeftRow::Candidate(candidate));
    row!(Half, half);
    row!(verify::RightInput, verify::RightInput::Half(half));
    row!(verify::RightInput, verify::RightInput::Member(Member::Doc(doc)));
    row!(verify::RightInput, verify::RightInput::Member(Member::Copy(copy)));
    row!(RightRow, RightRow::Set(doc));
    row!(RightRow, RightRow::Half(half));
    row!(expand::LeftInput, expand::LeftInput::Pair(AnyPair::Sets(pair)));
    row!(expand::LeftInput, expand::LeftInput::Member(Member::Doc(doc)));
    row!(expand::LeftInput, expand::LeftInput::Member(Member::Copy(copy)));
    row!(ExpandRow, copied);
    row!(ExpandRow, expanded);
    row!(expand::RightInput, expand::RightInput::Row(expanded));
    row!(expand::RightInput, expand::RightInput::Member(Member::Doc(doc)));
    row!(expand::RightInput, expand::RightInput::Member(Member::Copy(copy)));
    row!(Meta, meta);
    row!(Member, Member::Meta(meta));
    row!(BadLine, bad);
    row!(ClusterInput, ClusterInput::Pair(AnyPair::Sets(pair)));
    row!(ClusterInput, ClusterInput::Member(Member::Doc(doc)));
    row!(ClusterInput, ClusterInput::Member(Member::Copy(copy)));
    row!(ClusterInput, ClusterInput::Member(Member::Meta(meta)));
    row!(GraphInput, GraphInput::Member(Member::Meta(meta)));
    row!(expand::LeftInput, expand::LeftInput::Member(Member::Meta(meta)));
    row!(expand::RightInput, expand::RightInput::Member(Member::Meta(meta)));
    row!(verify::LeftInput, verify::LeftInput::Member(Member::Meta(meta)));
    row!(Label, label);
    row!(GraphInput, GraphInput::Pair(AnyPair::Sets(pair)));
    row!(GraphInput, GraphInput::Member(Member::Doc(doc)));
    row!(GraphInput, GraphInput::Member(Member::Copy(copy)));
    row!(GraphInput, GraphInput::Label(label));
    row!(Neighbour, Neighbour { id: a, neighbour: b });
    row!(star::RankRow, star::RankRow::Component(label));
    row!(star::RankRow, star::RankRow::Rank { id: a, rank });
    row!(star::RankRow, copied_from);
    row!(StarMember, star_member);
    row!(star::LinkInput, star::LinkInput::Member(star_member));
    row!(star::LinkInput, star::LinkInput::Pair(AnyPair::Sets(pair)));
    row!(star::LinkRow, star::LinkRow::Member(star_member));
    row!(star::LinkRow, star_pair);
    row!(StarLink, link);
    row!(star::StarInput, star::StarInput::Link(link));
    row!(star::StarInput, star::StarInput::Member(star_member));
    row!(StarRow, StarRow::Link(link));
    row!(StarRow, StarRow::Member { component: a, representative: b, id: a });
    row!(LabelOrMember, LabelOrMember::Label(label));
    row!(LabelOrMember, LabelOrMember::Member(Member::Meta(meta)));
    row!(LabelOrMember, LabelOrMember::Member(Member::Doc(doc)));
    row!(LabelOrMember, LabelOrMember::Member(Member::Copy(copy)));
    row!(KeepRow, KeepRow::Label(label));
    row!(KeepRow, KeepRow::Rank { id: a, rank });
    for verdict in [Verdict::Keep, Verdict::Drop(score), Verdict::Drop(None)] {
        row!(ClusterRow, ClusterRow { kept: a, id: b, verdict });
    }
    rows
}

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
        if let Err(FieldError { field, expected, found }) = (info.decodes)(line) {
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

/// 500 cases, or what `PROPTEST_CASES` says; empty ids are refused now and then, in a million cases often.
fn config() -> ProptestConfig {
    let config = ProptestConfig { max_local_rejects: u32::MAX, ..ProptestConfig::default() };
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => config,
        None => ProptestConfig { cases: 500, ..config },
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_is_encoded_is_decoded(values in any_values()) {
        for Row { record, line, read_back, .. } in rows(&values) {
            prop_assert!(read_back, "{record}: {:?}", String::from_utf8_lossy(&line));
            prop_assert!(!line.contains(&b'\n'), "{record} breaks its line");
        }
    }

    /// A sort of whole lines is a sort by key, for TAB is below every byte of a field.
    #[test]
    fn lines_sort_as_their_keys(x in any_values(), y in any_values(), same in any::<bool>()) {
        // Equal ids now and then, so that later fields decide too.
        let y = if same { Values { ids: x.ids.clone(), ..y } } else { y };
        for (x, y) in rows(&x).iter().zip(rows(&y)) {
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
    #![proptest_config(ProptestConfig { cases: config().cases.div_ceil(50).max(100), ..config() })]

    /// Lines of each record with a field taken out, doubled or replaced, or cut off anywhere.
    #[test]
    fn damaged_rows_are_a_record_or_an_error(
        values in any_values(),
        at in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        intruder in prop::sample::select(&INTRUDERS[..]),
    ) {
        for Row { line, .. } in rows(&values) {
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
        let entry = twinsplit::internal::stages::find(stage).unwrap();
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
        ("idf-left", "a\t1x", "feature"),
        ("idf-left-reduce", &format!("{set}\t2\ta"), "tag"),
        ("idf-left-reduce", &format!("{set}\t1\t"), "id"),
        ("idf-right-reduce", "a\t0\tx", "text"),
        ("equal-sets", "a\t\\~\tx\t", "text"),
        ("equal-sets", &format!("a\t\\~\t{set}{set}"), "features"),
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
    let rows = rows(&values);
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
        LabelOrMember,
        KeepRow,
        Ranked,
        ClusterRow,
    );
    for (stage, info) in DECODERS.iter() {
        let records: Vec<_> = known.iter().filter(|(_, fields)| *fields == info.fields).collect();
        assert!(!records.is_empty(), "{stage} has a record that is not tested: {}", info.fields);
        let tested = rows.iter().any(|row| records.iter().any(|(name, _)| *name == row.record));
        assert!(tested, "{stage}: no row of {}", info.fields);
    }
}
