//! A row of every record and of every variant that a record has, of arbitrary values.

use super::*;
use twinsplit_core::choice::Choice;

/// What records are made of.
#[derive(Clone, Debug)]
pub struct Values {
    pub ids: [Vec<u8>; 2],
    pub numbers: [u64; 4],
    /// An overlap, and two sizes that it fits.
    pub sizes: (u64, u64, u64),
    pub features: Vec<u64>,
    pub rank: String,
    pub date: Vec<u8>,
    pub flag: bool,
}

fn escaped(raw: &str) -> Vec<u8> {
    let mut out = Vec::new();
    id::escape(raw.as_bytes(), &mut out);
    out
}

/// Ids of any characters, and short ones that look like tags, numbers and each other's prefixes.
pub fn any_id() -> impl Strategy<Value = Vec<u8>> {
    let any = any::<String>().prop_filter("ids are not empty", |text| !text.is_empty());
    let like_a_tag = "[01=>ax \\-\t\n\r\\\\\u{7f}é京]{1,4}";
    prop_oneof![any, like_a_tag].prop_map(|raw| escaped(&raw))
}

/// Numbers of every width.
fn any_number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0u32..64).prop_map(|(number, shift)| number >> shift)
}

pub fn any_values() -> impl Strategy<Value = Values> {
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
pub struct Row {
    pub record: &'static str,
    pub keys: Option<Keys>,
    pub line: Vec<u8>,
    pub read_back: bool,
}

/// A line of every record and of every variant that a record has.
pub fn rows(values: &Values) -> Vec<Row> {
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
    let measure = Measure::values().nth(*n1 as usize % 6).unwrap();
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
    let signature = Signature { id: a, size: *n2, made: b"minhash=2 method=fast", values: of };
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
    let star_set =
        StarSet { component: b, rank, best: a, representative: b, compared: Compared::Set(doc.features) };
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
    let text = ShortText { id: a, text: u128::from(*n0) << 64 | u128::from(*n1) };
    row!(ShortText, text);
    row!(FingerprintRow, FingerprintRow::Text(text));
    row!(GroupedRow, GroupedRow::Text(text));
    row!(FingerprintRow, FingerprintRow::Meta(meta));
    row!(GroupedRow, GroupedRow::Meta(meta));
    for set in [Compared::Set(doc.features), Compared::Fingerprint(fingerprint, distance)] {
        row!(StarSetsRow, StarSetsRow::Set(a, set));
        row!(StarSet, StarSet { component: b, rank, best: a, representative: b, compared: set });
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
    row!(OfQuery, OfQuery { id: a, rest: b });
    row!(NearQuery, NearQuery { query: b, id: a, distance });
    row!(AnyPair, AnyPair::Fingerprints(near));
    row!(AnyPair, AnyPair::Sets(pair));
    row!(expand::LeftInput, expand::LeftInput::Pair(AnyPair::Fingerprints(near)));
    row!(ClusterInput, ClusterInput::Pair(AnyPair::Fingerprints(near)));
    row!(GraphRow, GraphRow::Alike(AnyPair::Fingerprints(near)));
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
    row!(BucketCount, BucketCount(FeatureCount { feature: flag.then_some(*n0), documents: *n1 }));
    let count = FeatureCount { feature: flag.then_some(*n0), documents: *n1 % 1_000_000_000_000_000 };
    let kept = KeptFeature { id: a, feature: *n0 };
    row!(lookup::LeftInput, lookup::LeftInput::Count(count));
    row!(lookup::LeftRow, lookup::LeftRow::Kept(*n0));
    row!(lookup::LeftRow, lookup::LeftRow::Posting { feature: *n0, id: a });
    row!(KeptFeature, kept);
    row!(Sampled, Sampled::of(*n0, a, br#"{"id": "a", "text": "b"}"#));
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
    row!(GraphRow, GraphRow::Alike(AnyPair::Sets(pair)));
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
    row!(StarSetsInput, StarSetsInput::Member(star_member));
    row!(StarSetsInput, StarSetsInput::Set(Member::Doc(doc)));
    row!(StarSetsInput, StarSetsInput::Set(Member::Copy(copy)));
    row!(StarSetsRow, StarSetsRow::Member(star_member));
    row!(StarSet, star_set);
    row!(StarCentresInput, StarCentresInput::Set(star_set));
    row!(StarCentresInput, StarCentresInput::Member(star_member));
    row!(StarCentresRow, StarCentresRow::Set(star_set));
    row!(StarCentresRow, StarCentresRow::Member { component: a, representative: b, id: a });
    row!(LabelOrMember, LabelOrMember::Label(label));
    row!(LabelOrMember, LabelOrMember::Member(Member::Meta(meta)));
    row!(LabelOrMember, LabelOrMember::Member(Member::Doc(doc)));
    row!(LabelOrMember, LabelOrMember::Member(Member::Copy(copy)));
    row!(KeepRow, KeepRow::Label(label));
    row!(KeepRow, KeepRow::Rank { id: a, rank });
    for verdict in [Verdict::Keep, Verdict::Drop(score), Verdict::Drop(None)] {
        row!(ClusterRow, ClusterRow { kept: a, id: b, verdict });
    }
    let [unit, start, end, kept_unit] = [*n0, *n1, *n2, *n3];
    for score in [score, None] {
        let (span, text) = (Span { start, end }, b);
        row!(CutRow, CutRow { document: a, unit, span, kept_document: b, kept_unit, score, text });
    }
    row!(
        CutDocument,
        CutDocument { document: a, units: unit, cut: start, characters: end, cut_characters: kept_unit }
    );
    rows
}
