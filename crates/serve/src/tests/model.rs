//! Random requests against an oracle: a list of documents that is searched from its beginning.

use crate::document::{Document, Key, Measure, Refused, Verdict};
use crate::settings::{Retention, Settings};
use crate::state::{Answer, Operation, State};
use proptest::prelude::*;
use twinsplit_core::similarity::Score;
use twinsplit_core::similarity::text::{Content, TextComparer};
use twinsplit_core::sketch::simhash::Bits;

/// A document of the oracle.
#[derive(Clone, Debug)]
struct Held {
    namespace: u8,
    id: Vec<u8>,
    document: Document,
    time: u64,
    /// The id of the kept one, and what was said of that.
    dropped: Option<(Vec<u8>, Verdict)>,
}

/// What the service should be: documents in the order in which they came.
struct Oracle {
    settings: Settings,
    held: Vec<Held>,
    now: u64,
}

impl Oracle {
    fn expire(&mut self, namespace: u8) {
        let Some(keep) = self.settings.retention.keep else { return };
        let now = self.now;
        let is_old = |held: &Held| held.namespace == namespace && held.time + keep <= now;
        while let Some(at) = self.held.iter().position(is_old) {
            self.forget(at);
        }
    }

    fn forget(&mut self, at: usize) -> Vec<Box<[u8]>> {
        let gone = self.held.remove(at);
        let rests = |held: &Held| {
            held.namespace == gone.namespace && held.dropped.as_ref().is_some_and(|(of, _)| *of == gone.id)
        };
        let orphans =
            self.held.iter().filter(|held| rests(held)).map(|held| held.id.clone().into()).collect();
        self.held.retain(|held| !rests(held));
        orphans
    }

    fn at(&self, namespace: u8, id: &[u8]) -> Option<usize> {
        self.held.iter().position(|held| held.namespace == namespace && held.id == id)
    }

    fn compare(&self, one: &Document, other: &Document) -> Option<(u32, Measure)> {
        match (one.key, other.key) {
            (Key::Text(x), Key::Text(y)) => (x == y).then_some((0, Measure::EqualText)),
            (Key::Fingerprint { value: x, most: a }, Key::Fingerprint { value: y, most: b }) => {
                let distance = (x ^ y).count_ones();
                if distance > a || distance > b {
                    return None;
                }
                let Some(check) = self.settings.check else { return Some((distance, Measure::Hamming)) };
                let score =
                    TextComparer::new(check).compare(one.content.as_ref()?, other.content.as_ref()?)?;
                let Score::Share(share) = score else { panic!("a count") };
                Some((distance, Measure::Text(check.measure, share)))
            }
            _ => None,
        }
    }

    fn find(&self, namespace: u8, document: &Document) -> Verdict {
        let kept = self.held.iter().filter(|held| held.namespace == namespace && held.dropped.is_none());
        let found = kept.filter_map(|held| Some((held, self.compare(&held.document, document)?))).next();
        found.map_or(Verdict::New, |(held, (distance, measure))| Verdict::Duplicate {
            id: held.id.clone().into(),
            distance,
            measure,
        })
    }

    fn add(
        &mut self,
        namespace: u8,
        id: &[u8],
        document: Document,
        search: bool,
    ) -> Result<Verdict, Refused> {
        if let Some(at) = self.at(namespace, id) {
            let held = &self.held[at];
            if held.document.digest != document.digest {
                return Err(Refused::Conflict);
            }
            return Ok(held.dropped.as_ref().map_or(Verdict::New, |(_, verdict)| verdict.clone()));
        }
        while let Some(most) = self.settings.retention.most
            && self.held.iter().filter(|held| held.namespace == namespace).count() as u64 >= most
        {
            let mine = self.held.iter().enumerate().filter(|(_, held)| held.namespace == namespace);
            let at = mine.min_by_key(|(at, held)| (held.time, *at)).unwrap().0;
            self.forget(at);
        }
        let verdict = if search { self.find(namespace, &document) } else { Verdict::New };
        let mut dropped = None;
        if let Verdict::Duplicate { id, .. } = &verdict {
            let at = self.at(namespace, id).unwrap();
            if self.settings.retention.from_last_seen {
                self.held[at].time = self.now;
            }
            dropped = Some((id.to_vec(), verdict.clone()));
        }
        self.held.push(Held { namespace, id: id.to_vec(), document, time: self.now, dropped });
        Ok(verdict)
    }

    fn ask(&mut self, now: u64, namespace: u8, operation: Operation) -> Answer {
        self.now = self.now.max(now);
        self.expire(namespace);
        let answer = |verdict: Result<Verdict, Refused>| match verdict {
            Ok(verdict) => Answer::Verdict(verdict),
            Err(refused) => Answer::Refused(refused),
        };
        match operation {
            Operation::CheckAdd(id, document) => answer(self.add(namespace, &id, document, true)),
            Operation::Add(id, document) => answer(self.add(namespace, &id, document, false)),
            Operation::CheckAddAll(all) => Answer::Verdicts(
                all.into_iter().map(|(id, document)| self.add(namespace, &id, document, true)).collect(),
            ),
            Operation::Check(document) => Answer::Verdict(self.find(namespace, &document)),
            Operation::Delete(id) => {
                let at = self.at(namespace, &id);
                Answer::Orphans(at.map(|at| self.forget(at)))
            }
            Operation::Why(one, other) => {
                let found = (self.at(namespace, &one), self.at(namespace, &other));
                let (Some(one), Some(other)) = found else { return Answer::Why(None) };
                let [one, other] = [one, other].map(|at| &self.held[at]);
                let said =
                    |held: &Held| held.dropped.as_ref().map_or(Verdict::New, |(_, verdict)| verdict.clone());
                let found = self.compare(&one.document, &other.document);
                let (mut distance, mut share, mut equal_texts) = (None, None, None);
                match (one.document.key, other.document.key) {
                    (Key::Fingerprint { value: x, most: a }, Key::Fingerprint { value: y, most: b }) => {
                        distance = Some(((x ^ y).count_ones(), a.min(b)));
                        if let Some(check) = self.settings.check {
                            let contents = [one, other].map(|held| held.document.content.as_ref().unwrap());
                            let score = TextComparer::new(check).compare(contents[0], contents[1]);
                            share = score.map(|score| match score {
                                Score::Share(share) => share,
                                Score::Count(_) => panic!("a count"),
                            });
                        }
                    }
                    (Key::Text(x), Key::Text(y)) => equal_texts = Some(x == y),
                    _ => {}
                }
                let verdicts = [said(one), said(other)];
                Answer::Why(Some(Box::new(crate::state::Compared {
                    verdicts,
                    distance,
                    share,
                    equal_texts,
                    alike: found.is_some(),
                })))
            }
            Operation::Count => {
                let mine = self.held.iter().filter(|held| held.namespace == namespace);
                Answer::Count(
                    mine.clone().count() as u64,
                    mine.filter(|held| held.dropped.is_none()).count() as u64,
                )
            }
        }
    }
}

/// Documents of few kinds, so that many are alike.
pub(super) fn documents(bits: Bits, checked: bool) -> impl Strategy<Value = Document> {
    let high = if bits == Bits::B128 { 0xabcdu128 << 100 } else { 0 };
    let flips = prop::collection::vec(0u32..bits.count(), 0..4);
    let near = (0u64..12, flips, 1u32..=3, 0u64..3).prop_map(move |(seed, flips, most, words)| {
        let value = u128::from(twinsplit_core::hash::mix(seed)) | high;
        let value = flips.iter().fold(value, |value, bit| value ^ 1 << bit);
        let content = Content::Counts((seed..seed + 4 + words).map(|word| (word, 1)).collect());
        let digest =
            twinsplit_core::hash::mix(value as u64 ^ (value >> 64) as u64 ^ words << 7 ^ u64::from(most));
        let content = checked.then(|| Box::new(content));
        Document { key: Key::Fingerprint { value, most }, digest, content }
    });
    let content = move || checked.then(|| Box::new(Content::Counts(Vec::new())));
    let short = (0u64..4).prop_map(move |text| Document {
        key: Key::Text(text.into()),
        digest: text,
        content: content(),
    });
    let nothing = Just(Document { key: Key::Nothing, digest: 99, content: content() });
    prop_oneof![8 => near, 2 => short, 1 => nothing]
}

pub(super) fn requests(bits: Bits, checked: bool) -> impl Strategy<Value = Operation> {
    let id = || (0u32..40).prop_map(|id| id.to_string().into_bytes().into_boxed_slice());
    let document = move || documents(bits, checked);
    prop_oneof![
        8 => (id(), document()).prop_map(|(id, document)| Operation::CheckAdd(id, document)),
        1 => prop::collection::vec((id(), document()), 0..5).prop_map(Operation::CheckAddAll),
        2 => document().prop_map(Operation::Check),
        1 => (id(), document()).prop_map(|(id, document)| Operation::Add(id, document)),
        2 => id().prop_map(Operation::Delete),
        1 => (id(), id()).prop_map(|(one, other)| Operation::Why(one, other)),
        1 => Just(Operation::Count),
    ]
}

pub(super) fn settings() -> impl Strategy<Value = Settings> {
    let keep = prop::option::of(1u64..60);
    let most = prop::option::of(1u64..25);
    (any::<bool>(), keep, any::<bool>(), most, any::<bool>()).prop_map(
        |(wide, keep, from_last_seen, most, checked)| Settings {
            bits: if wide { Bits::B128 } else { Bits::B64 },
            distance: 3,
            check: checked.then(|| "jaccard:0.6".parse().unwrap()),
            retention: Retention { keep, from_last_seen, most },
            memory: 1 << 30,
            namespaces: 2,
        },
    )
}

/// Some requests, each with its namespace, whether it is the one before again, and how many milliseconds pass before it.
pub(super) type Asking = (Operation, u8, bool, u64);

pub(super) fn asked(settings: &Settings, most: usize) -> impl Strategy<Value = Vec<Asking>> + use<> {
    let (bits, checked) = (settings.bits, settings.check.is_some());
    prop::collection::vec((requests(bits, checked), 0u8..2, prop::bool::weighted(0.15), 0u64..6), 1..most)
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
        let mut oracle = Oracle { settings, held: Vec::new(), now: 0 };
        let (mut now, mut last) = (1000, None);
        for (place, (asked, namespace, repeats, passes)) in all.iter().cloned().enumerate() {
            // Some are searched for ahead, and not all of these are asked for.
            if place.is_multiple_of(9) {
                let next = all[place..].iter().take(7);
                let names = [[0u8], [1]];
                state.look_ahead(next.map(|(asked, name, ..)| (&names[usize::from(*name)][..], asked)));
            }
            if place % 9 == 8 {
                state.look_no_further();
            }
            // A clock that goes back now and then.
            now = if passes == 5 { now - 3 } else { now + passes };
            let (asked, namespace) = if repeats { last.unwrap_or((asked, namespace)) } else { (asked, namespace) };
            last = Some((asked.clone(), namespace));
            let mut changes = Vec::new();
            let answer = state.ask(now, &[namespace], asked.clone(), &mut |change| changes.push(change.to_vec()));
            prop_assert_eq!(&answer, &oracle.ask(now, namespace, asked.clone()), "{:?}", asked);
            for change in changes {
                prop_assert_eq!(again.replay(&change), Ok(()));
            }
        }
        let now = state.now();
        for name in 0..2u8 {
            let ask = |state: &mut State, asked| state.ask(now, &[name], asked, &mut |_| panic!("a change"));
            prop_assert_eq!(ask(&mut state, Operation::Count), ask(&mut again, Operation::Count));
            for id in 0..40 {
                let id: Box<[u8]> = id.to_string().into_bytes().into();
                let why = Operation::Why(id.clone(), id);
                prop_assert_eq!(ask(&mut state, why.clone()), ask(&mut again, why));
            }
        }
    }
}

/// A bound of memory refuses what is new, and nothing else.
#[test]
fn without_memory_what_is_new_is_refused() {
    let settings = Settings {
        bits: Bits::B64,
        distance: 3,
        check: None,
        retention: Retention::default(),
        memory: 20_000,
        namespaces: 1,
    };
    let mut state = State::new(settings);
    let document = |number: u64| {
        let value = twinsplit_core::hash::mix(number).into();
        Document { key: Key::Fingerprint { value, most: 3 }, digest: number, content: None }
    };
    let mut add = |number: u64| {
        let id = number.to_string().into_bytes().into();
        state.ask(1, b"a", Operation::CheckAdd(id, document(number)), &mut |_| {})
    };
    let taken = (0..1000).take_while(|number| add(*number) == Answer::Verdict(Verdict::New)).count() as u64;
    assert!((50..600).contains(&taken), "{taken}");
    assert_eq!(add(taken), Answer::Refused(Refused::Memory(20_000)));
    assert_eq!(add(3), Answer::Verdict(Verdict::New));
    assert_eq!(state.ask(1, b"a", Operation::Count, &mut |_| {}), Answer::Count(taken, taken));
    let deleted = state.ask(1, b"a", Operation::Delete(b"3"[..].into()), &mut |_| {});
    assert_eq!(deleted, Answer::Orphans(Some(Vec::new())));
    let other = state.ask(1, b"b", Operation::CheckAdd(b"x"[..].into(), document(7)), &mut |_| {});
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
        let settings = Settings { bits: Bits::B64, distance: 3, check: None, retention, memory, namespaces };
        let mut state = State::new(settings);
        let document = |number: u64, flip: u32| {
            let value = u128::from(twinsplit_core::hash::mix(number) ^ 1 << flip);
            Document { key: Key::Fingerprint { value, most: 3 }, digest: number, content: None }
        };
        let mut ask = |now: u64, operation: Operation| state.ask(now, b"a", operation, &mut |_| {});
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
                    distance: 2,
                    measure: Measure::Hamming,
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
