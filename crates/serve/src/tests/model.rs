//! Random requests against an oracle: a list of documents that is searched from its beginning.

use super::oracle::Oracle;
use crate::content::Content;
use crate::document::{Document, Key, Measure, Refused, Verdict};
use crate::runs::{Mode, Settled};
use crate::settings::{Comparison, Retention, Settings};
use crate::state::{Answer, Operation, State};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::collections::BTreeMap;
use twinsplit_core::similarity::Measure as SetMeasure;
use twinsplit_core::similarity::text::Content as TextContent;
use twinsplit_core::sketch::simhash::Bits;

/// Documents of few kinds, so that many are alike.
pub(super) fn documents(comparison: Comparison) -> impl Strategy<Value = Document> {
    let (near, checked) = match comparison {
        Comparison::Fingerprints { bits, check, .. } => {
            (fingerprints(bits, check.is_some()).boxed(), check.is_some())
        }
        Comparison::Sets(_) => (sets().boxed(), false),
    };
    let content = move || checked.then(|| Box::new(Content::Checked(TextContent::Counts(Vec::new()))));
    let short = (0u64..4).prop_map(move |text| Document {
        key: Key::Text(text.into()),
        digest: text,
        content: content(),
    });
    let nothing = Just(Document { key: Key::Nothing, digest: 99, content: content() });
    prop_oneof![8 => near, 2 => short, 1 => nothing]
}

fn sets() -> impl Strategy<Value = Document> {
    let others = prop::collection::btree_set(0u64..30, 0..4);
    (0u64..8, 4u64..9, others).prop_map(|(seed, count, mut features)| {
        features.extend(3 * seed..3 * seed + count);
        let features: Vec<u64> = features.into_iter().collect();
        let digest = features.iter().fold(7, |digest, feature| twinsplit_core::hash::mix(digest ^ feature));
        Document { key: Key::Set, digest, content: Some(Box::new(Content::Set(features.into()))) }
    })
}

fn fingerprints(bits: Bits, checked: bool) -> impl Strategy<Value = Document> {
    let high = if bits == Bits::B128 { 0xabcdu128 << 100 } else { 0 };
    let flips = prop::collection::vec(0u32..bits.count(), 0..4);
    (0u64..8, flips, 1u32..=3, 0u64..3).prop_map(move |(seed, flips, most, words)| {
        let value = u128::from(twinsplit_core::hash::mix(seed)) | high;
        let value = flips.iter().fold(value, |value, bit| value ^ 1 << bit);
        let counts = (seed..seed + 4 + words).map(|word| (word, 1)).collect();
        let content = Content::Checked(TextContent::Counts(counts));
        let digest =
            twinsplit_core::hash::mix(value as u64 ^ (value >> 64) as u64 ^ words << 7 ^ u64::from(most));
        let content = checked.then(|| Box::new(content));
        Document { key: Key::Fingerprint { value, most }, digest, content }
    })
}

pub(super) fn requests(comparison: Comparison) -> impl Strategy<Value = Operation> {
    let id = || (0u32..60).prop_map(|id| id.to_string().into_bytes().into_boxed_slice());
    let document = move || documents(comparison);
    let run = || (0u8..2).prop_map(|run| vec![b'r', run].into_boxed_slice());
    let mode = any::<bool>().prop_map(|is| if is { Mode::Isolated } else { Mode::Shared });
    let of_documents = prop_oneof![
        8 => (id(), document()).prop_map(|(id, document)| Operation::CheckAdd(id, document)),
        1 => prop::collection::vec((id(), document()), 0..5).prop_map(Operation::CheckAddAll),
        2 => document().prop_map(Operation::Check),
        1 => (id(), document()).prop_map(|(id, document)| Operation::Add(id, document)),
        2 => id().prop_map(Operation::Delete),
        1 => (id(), id()).prop_map(|(one, other)| Operation::Why(one, other)),
    ];
    let of_documents = of_documents.boxed();
    prop_oneof![
        20 => of_documents.clone(),
        40 => (run(), of_documents).prop_map(|(run, operation)| Operation::InRun(run, Box::new(operation))),
        2 => Just(Operation::Count),
        8 => (run(), mode).prop_map(|(run, mode)| Operation::Begin(run, mode)),
        2 => run().prop_map(Operation::Commit),
        1 => run().prop_map(Operation::Cancel),
        1 => Just(Operation::Runs),
    ]
}

pub(super) fn settings() -> impl Strategy<Value = Settings> {
    let keep = prop::option::of(1u64..60);
    let most = prop::option::of(1u64..25);
    (comparisons(), keep, any::<bool>(), most).prop_map(|(comparison, keep, from_last_seen, most)| Settings {
        comparison,
        retention: Retention { keep, from_last_seen, most },
        memory: 1 << 30,
        namespaces: 2,
    })
}

fn comparisons() -> impl Strategy<Value = Comparison> {
    let fingerprints = (any::<bool>(), any::<bool>()).prop_map(|(wide, checked)| Comparison::Fingerprints {
        bits: if wide { Bits::B128 } else { Bits::B64 },
        distance: 3,
        check: checked.then(|| "jaccard:0.6".parse().unwrap()),
    });
    let sets = prop_oneof![
        Just((SetMeasure::Jaccard, "0.6")),
        Just((SetMeasure::Containment, "0.8")),
        Just((SetMeasure::QueryContainment, "0.8")),
        Just((SetMeasure::Overlap, "5")),
    ];
    let sets = sets.prop_map(|(measure, tau)| Comparison::Sets(measure.reaching(tau).unwrap()));
    prop_oneof![fingerprints, sets]
}

/// Some requests, each with its namespace, whether it is the one before again, and how many milliseconds pass before it.
pub(super) type Asking = (Operation, u8, bool, u64);

pub(super) fn asked(settings: &Settings, most: usize) -> impl Strategy<Value = Vec<Asking>> + use<> {
    prop::collection::vec(
        (requests(settings.comparison), 0u8..2, prop::bool::weighted(0.15), 0u64..6),
        1..most,
    )
}

/// All that can be asked of a state without changing it: what there is, as it is seen by all and by each run that is open.
pub(super) fn seen(state: &mut State, now: u64) -> Vec<Answer> {
    let mut all = Vec::new();
    for namespace in 0..2u8 {
        all.push(Answer::ReadOnly(state.get(&[namespace]).is_some_and(|held| held.read_only)));
        let mut ask =
            |mut asked| all.push(state.ask(now, &[namespace], &mut asked, &mut |_| panic!("a change")));
        ask(Operation::Count);
        ask(Operation::Runs);
        let Some(Answer::Runs(runs)) = all.last().cloned() else { panic!("runs") };
        for run in runs.iter().filter(|run| run.state != "open") {
            let mut end = match run.state {
                "committed" => Operation::Commit(run.name.clone()),
                _ => Operation::Cancel(run.name.clone()),
            };
            all.push(state.ask(now, &[namespace], &mut end, &mut |_| panic!("a change")));
        }
        let mut ask =
            |mut asked| all.push(state.ask(now, &[namespace], &mut asked, &mut |_| panic!("a change")));
        for id in 0..60 {
            let id: Box<[u8]> = id.to_string().into_bytes().into();
            let why = Operation::Why(id.clone(), id);
            for run in runs.iter().filter(|run| run.state == "open") {
                ask(Operation::InRun(run.name.clone(), Box::new(why.clone())));
            }
            ask(why);
        }
    }
    all
}

/// The names of runs: that of each is used until the run has ended, and now and then once more.
#[derive(Default)]
pub(super) struct Names {
    /// By namespace and run, how many times it was ended.
    ended: BTreeMap<(u8, u8), u8>,
}

impl Names {
    /// Gives a request's run the name that it has by now.
    pub fn put(&mut self, namespace: u8, operation: Operation) -> Operation {
        let name = |names: &Self, run: &[u8]| -> Box<[u8]> {
            let ended = names.ended.get(&(namespace, run[1])).copied().unwrap_or(0);
            [b'r', run[1], ended / 2].into()
        };
        match operation {
            Operation::InRun(run, operation) => Operation::InRun(name(self, &run), operation),
            Operation::Begin(run, mode) => Operation::Begin(name(self, &run), mode),
            Operation::Commit(run) => {
                let named = Operation::Commit(name(self, &run));
                *self.ended.entry((namespace, run[1])).or_default() += 1;
                named
            }
            Operation::Cancel(run) => {
                let named = Operation::Cancel(name(self, &run));
                *self.ended.entry((namespace, run[1])).or_default() += 1;
                named
            }
            other => other,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Every answer is that of the oracle, in a state that is made again from its changes as well.
    #[test]
    fn all_answers_are_those_of_a_list(
        (settings, all) in settings().prop_flat_map(|settings| { let all = asked(&settings, 300); (Just(settings), all) }),
    ) {
        let mut state = State::new(settings.clone());
        let mut again = State::new(settings.clone());
        let mut oracle = Oracle::new(settings);
        let (mut now, mut last) = (1000, None);
        let mut names = Names::default();
        for (place, (asked, namespace, repeats, passes)) in all.iter().cloned().enumerate() {
            // Some are searched for ahead, and not all of these are asked for.
            if place.is_multiple_of(9) {
                let next = all[place..].iter().take(7);
                let namespaces = [[0u8], [1]];
                state.prefetch(next.map(|(asked, name, ..)| (&namespaces[usize::from(*name)][..], asked)));
            }
            if place % 9 == 8 {
                state.end_prefetch();
            }
            // A clock that goes back now and then.
            now = if passes == 5 { now - 3 } else { now + passes };
            let (asked, namespace) = if repeats { last.unwrap_or((asked, namespace)) } else { (names.put(namespace, asked), namespace) };
            last = Some((asked.clone(), namespace));
            let mut changes = Vec::new();
            // Read-only now and then, and not for long.
            let read_only = (passes == 4 && place.is_multiple_of(3)).then_some(Operation::ReadOnly(place.is_multiple_of(9)));
            for asked in read_only.into_iter().chain([asked]) {
                let answer = state.ask(now, &[namespace], &mut asked.clone(), &mut |change| changes.push(change.to_vec()));
                prop_assert_eq!(&answer, &oracle.ask(now, namespace, asked.clone()), "{:?}", asked);
            }
            for change in changes {
                prop_assert_eq!(again.replay(&change), Ok(()));
            }
        }
        again.fill().unwrap();
        let now = state.now();
        prop_assert_eq!(seen(&mut state, now), seen(&mut again, now));
    }
}

/// The requests of the model are such that commits and cancels have something to decide, of each kind.
#[test]
fn runs_end_with_all_that_can_become_of_their_documents() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut told = BTreeMap::new();
    for _ in 0..300 {
        let settings = settings().new_tree(&mut runner).unwrap().current();
        let all = asked(&settings, 300).new_tree(&mut runner).unwrap().current();
        let (mut state, mut names) = (State::new(settings), Names::default());
        for (operation, namespace, _, passes) in all {
            let mut operation = names.put(namespace, operation);
            let now = state.now() + passes;
            let mut note = |what: &'static str| *told.entry(what).or_insert(0) += 1;
            match state.ask(now, &[namespace], &mut operation, &mut |_| {}) {
                Answer::Committed(all) => all.iter().for_each(|(_, settled)| {
                    note(match settled {
                        Settled::Duplicate(Verdict::Duplicate { pending: None, .. }) => "duplicate",
                        Settled::Duplicate(_) => "pending",
                        Settled::Orphan => "orphan",
                        Settled::Conflict => "conflict",
                    })
                }),
                Answer::Verdict(Verdict::Duplicate { pending: Some(_), .. }) => note("verdict"),
                _ => {}
            }
        }
    }
    assert!(told.len() == 5 && told.values().all(|count| *count >= 2), "{told:?}");
}

const FINGERPRINTS: Comparison = Comparison::Fingerprints { bits: Bits::B64, distance: 3, check: None };

/// A bound of memory refuses what is new, and nothing else.
#[test]
fn without_memory_what_is_new_is_refused() {
    let settings =
        Settings { comparison: FINGERPRINTS, retention: Retention::default(), memory: 20_000, namespaces: 1 };
    let mut state = State::new(settings);
    let document = |number: u64| {
        let value = twinsplit_core::hash::mix(number).into();
        Document { key: Key::Fingerprint { value, most: 3 }, digest: number, content: None }
    };
    let mut add = |number: u64| {
        let id = number.to_string().into_bytes().into();
        state.ask(1, b"a", &mut Operation::CheckAdd(id, document(number)), &mut |_| {})
    };
    let taken = (0..1000).take_while(|number| add(*number) == Answer::Verdict(Verdict::New)).count() as u64;
    assert!((50..600).contains(&taken), "{taken}");
    assert_eq!(add(taken), Answer::Refused(Refused::Memory(20_000)));
    assert_eq!(add(3), Answer::Verdict(Verdict::New));
    assert_eq!(state.ask(1, b"a", &mut Operation::Count, &mut |_| {}), Answer::Count(taken, taken));
    let deleted = state.ask(1, b"a", &mut Operation::Delete(b"3"[..].into()), &mut |_| {});
    assert_eq!(deleted, Answer::Orphans(Some(Vec::new())));
    let other = state.ask(1, b"b", &mut Operation::CheckAdd(b"x"[..].into(), document(7)), &mut |_| {});
    assert!(matches!(other, Answer::Refused(_)), "{other:?}");
}

/// Enough documents for indexes that are merged in the background, and for many that are forgotten together: what is kept is found, and nothing else.
#[test]
fn of_many_documents_those_that_are_kept_are_found() {
    const MANY: u64 = 120_000;
    const KEPT: u64 = 40_000;
    for from_last_seen in [false, true] {
        let retention = Retention { keep: Some(KEPT), from_last_seen, most: None };
        let (memory, namespaces) = (1 << 30, 1);
        let settings = Settings { comparison: FINGERPRINTS, retention, memory, namespaces };
        let mut state = State::new(settings);
        let document = |number: u64, flip: u32| {
            let value = u128::from(twinsplit_core::hash::mix(number) ^ 1 << flip);
            Document { key: Key::Fingerprint { value, most: 3 }, digest: number, content: None }
        };
        let mut ask = |now: u64, mut operation: Operation| state.ask(now, b"a", &mut operation, &mut |_| {});
        // A document a millisecond.
        for number in 0..MANY {
            let added =
                ask(number, Operation::CheckAdd(number.to_string().into_bytes().into(), document(number, 0)));
            assert_eq!(added, Answer::Verdict(Verdict::New), "{number}");
        }
        let now = MANY - 1;
        assert_eq!(ask(now, Operation::Count), Answer::Count(KEPT, KEPT));
        for number in (0..MANY).step_by(7) {
            let is_kept = number + KEPT > now;
            let expected = match is_kept {
                false => Verdict::New,
                true => Verdict::Duplicate {
                    id: number.to_string().into_bytes().into(),
                    distance: Some(2),
                    measure: Measure::Hamming,
                    pending: None,
                },
            };
            let query = Document { digest: 0, ..document(number, 0) };
            let Key::Fingerprint { value, most } = query.key else { panic!("a fingerprint") };
            let key = Key::Fingerprint { value: value ^ 0b11 << 40, most };
            assert_eq!(
                ask(now, Operation::Check(Document { key, ..query })),
                Answer::Verdict(expected),
                "{number}"
            );
        }
    }
}

/// Enough sets for orders that change while they come and go: what is kept is found, at once and after a restart, and nothing else.
#[test]
fn of_many_sets_those_that_are_kept_are_found() {
    const MANY: u64 = 12_000;
    const KEPT: u64 = 5000;
    let settings = Settings {
        comparison: Comparison::Sets(SetMeasure::Jaccard.reaching("0.7").unwrap()),
        retention: Retention { most: Some(KEPT), ..Retention::default() },
        memory: 1 << 30,
        namespaces: 1,
    };
    // Each has twenty features of its own, and three that all have.
    let document = |number: u64, left_out: usize| {
        let own = (0..20).map(|nth| twinsplit_core::hash::mix(20 * number + nth));
        let mut features: Vec<u64> = own.skip(left_out).chain([1, 2, 3]).collect();
        features.sort_unstable();
        Document { key: Key::Set, digest: number, content: Some(Box::new(Content::Set(features.into()))) }
    };
    let (mut state, mut again) = (State::new(settings.clone()), State::new(settings));
    for number in 0..MANY {
        let id = number.to_string().into_bytes().into();
        let mut changes = Vec::new();
        let added =
            state.ask(number, b"a", &mut Operation::CheckAdd(id, document(number, 0)), &mut |change| {
                changes.push(change.to_vec())
            });
        assert_eq!(added, Answer::Verdict(Verdict::New), "{number}");
        changes.iter().for_each(|change| assert_eq!(again.replay(change), Ok(())));
    }
    again.fill().unwrap();
    for state in [&mut state, &mut again] {
        for number in (0..MANY).step_by(7) {
            // 21 of 23 features; 17 of 23 are .739, and 16 are .696.
            for (left_out, similarity) in [(2, Some(913_043)), (6, Some(739_130)), (7, None)] {
                let duplicate = |share: u32| Verdict::Duplicate {
                    id: number.to_string().into_bytes().into(),
                    distance: None,
                    measure: Measure::Set(SetMeasure::Jaccard, share),
                    pending: None,
                };
                let expected = similarity.filter(|_| number >= MANY - KEPT).map_or(Verdict::New, duplicate);
                let mut asked = Operation::Check(document(number, left_out));
                assert_eq!(
                    state.ask(MANY, b"a", &mut asked, &mut |_| {}),
                    Answer::Verdict(expected),
                    "{number}"
                );
            }
        }
    }
}
