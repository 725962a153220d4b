//! What a service should answer: documents in the order in which they came, of which each question looks at all.

use crate::document::{Document, Key, Measure, Refused, Verdict};
use crate::runs::{Mode, RunFigures, Settled};
use crate::settings::{Comparison, Settings};
use crate::state::{Answer, Compared, Operation};
use twinsplit_core::similarity::text::TextComparer;
use twinsplit_core::similarity::{Measure as SetMeasure, Score, Similarity};

/// A document of the oracle.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub serial: u64,
    pub namespace: u8,
    pub id: Vec<u8>,
    pub document: Document,
    pub time: u64,
    pub run: Option<Vec<u8>>,
    pub forced: bool,
    /// What it was dropped for, and how far that is.
    pub dropped: Option<(u64, Option<u32>, Measure)>,
}

#[derive(Clone, Debug)]
enum Life {
    Open,
    Committed(Vec<(Box<[u8]>, Settled)>),
    Cancelled(Vec<Box<[u8]>>),
}

#[derive(Clone, Debug)]
struct Run {
    namespace: u8,
    name: Vec<u8>,
    mode: Mode,
    life: Life,
    ended: usize,
}

/// What the service should be: documents in the order in which they came.
pub(super) struct Oracle {
    settings: Settings,
    pub held: Vec<Held>,
    runs: Vec<Run>,
    now: u64,
    serial: u64,
    ended: usize,
    read_only: [bool; 2],
}

type Viewer<'v> = Option<&'v [u8]>;

impl Oracle {
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            held: Vec::new(),
            runs: Vec::new(),
            now: 0,
            serial: 0,
            ended: 0,
            read_only: [false; 2],
        }
    }

    fn expire(&mut self, namespace: u8) {
        let Some(keep) = self.settings.retention.keep else { return };
        let now = self.now;
        let is_old = |held: &Held| held.namespace == namespace && held.time + keep <= now;
        while let Some(at) = self.held.iter().position(is_old) {
            self.forget(at);
        }
    }

    fn forget(&mut self, at: usize) -> Vec<Held> {
        let gone = self.held.remove(at);
        let rests = |held: &Held| held.dropped.is_some_and(|(of, ..)| of == gone.serial);
        self.held.extract_if(.., |held| rests(held)).collect()
    }

    fn run(&self, namespace: u8, name: &[u8]) -> Option<usize> {
        self.runs.iter().position(|run| run.namespace == namespace && run.name == name)
    }

    pub fn open(&self, namespace: u8, name: &[u8]) -> Option<Mode> {
        let run = &self.runs[self.run(namespace, name)?];
        matches!(run.life, Life::Open).then_some(run.mode)
    }

    pub fn sees(&self, viewer: Viewer<'_>, held: &Held) -> bool {
        match &held.run {
            Some(run) if viewer != Some(run) => self.open(held.namespace, run) != Some(Mode::Isolated),
            _ => true,
        }
    }

    fn at(&self, namespace: u8, id: &[u8], viewer: Viewer<'_>) -> Option<usize> {
        let is_it = |held: &Held| held.namespace == namespace && held.id == id && self.sees(viewer, held);
        let own = |held: &Held| is_it(held) && viewer.is_some() && held.run.as_deref() == viewer;
        self.held.iter().position(own).or_else(|| self.held.iter().position(is_it))
    }

    /// How a document that comes is like one that is kept.
    fn compare(&self, one: &Document, other: &Document) -> Option<(Option<u32>, Measure)> {
        match (one.key, other.key) {
            (Key::Text(x), Key::Text(y)) => (x == y).then_some((Some(0), Measure::EqualText)),
            (Key::Set, Key::Set) => {
                let Comparison::Sets(similarity) = self.settings.comparison else { panic!("sets") };
                let (counts, alike, number) = compared_sets(similarity, [one, other]);
                assert!(counts[2] <= counts[0].min(counts[1]));
                alike.then_some((None, Measure::Set(similarity.measure(), number)))
            }
            (Key::Fingerprint { value: x, most: a }, Key::Fingerprint { value: y, most: b }) => {
                let distance = (x ^ y).count_ones();
                if distance > a || distance > b {
                    return None;
                }
                let distance = Some(distance);
                let Some(check) = self.settings.comparison.check() else {
                    return Some((distance, Measure::Hamming));
                };
                let [one, other] = [one, other].map(|held| held.content.as_ref()?.checked());
                let score = TextComparer::new(check).compare(one?, other?)?;
                let Score::Share(share) = score else { panic!("a count") };
                Some((distance, Measure::Text(check.measure, share)))
            }
            _ => None,
        }
    }

    /// By what a document is like one of the same content.
    pub fn of_itself(&self, document: &Document) -> Measure {
        match document.key {
            Key::Fingerprint { .. } => {
                self.compare(document, document).map_or(Measure::Hamming, |(_, measure)| measure)
            }
            Key::Set => {
                let Comparison::Sets(similarity) = self.settings.comparison else { panic!("sets") };
                Measure::Set(similarity.measure(), compared_sets(similarity, [document, document]).2)
            }
            _ => Measure::EqualText,
        }
    }

    /// The first kept document that is like one, of those that count.
    pub fn find(
        &self,
        namespace: u8,
        document: &Document,
        counts: impl Fn(&Held) -> bool,
    ) -> Option<(u64, Option<u32>, Measure)> {
        let mut kept = self.held.iter().filter(|held| held.namespace == namespace && held.dropped.is_none());
        kept.find_map(|held| {
            let (distance, measure) = self.compare(document, &held.document).filter(|_| counts(held))?;
            Some((held.serial, distance, measure))
        })
    }

    pub fn said(&self, dropped: Option<(u64, Option<u32>, Measure)>, viewer: Viewer<'_>) -> Verdict {
        let Some((of, distance, measure)) = dropped else { return Verdict::New };
        let kept = self.held.iter().find(|held| held.serial == of).unwrap();
        let run = kept.run.as_deref().filter(|run| viewer != Some(run));
        let pending = run.filter(|run| self.open(kept.namespace, run).is_some()).map(Into::into);
        Verdict::Duplicate { id: kept.id.clone().into(), distance, measure, pending }
    }

    pub fn seen_now(&mut self, serial: u64) {
        if self.settings.retention.from_last_seen {
            let now = self.now;
            self.held.iter_mut().filter(|held| held.serial == serial).for_each(|held| held.time = now);
        }
    }

    fn add(
        &mut self,
        namespace: u8,
        viewer: Viewer<'_>,
        id: &[u8],
        document: Document,
        search: bool,
    ) -> Result<Verdict, Refused> {
        if let Some(at) = self.at(namespace, id, viewer) {
            let held = &self.held[at];
            if held.document.digest != document.digest {
                return Err(Refused::Conflict);
            }
            return Ok(self.said(held.dropped, viewer));
        }
        if self.read_only[usize::from(namespace)] {
            return Err(Refused::ReadOnly);
        }
        while let Some(most) = self.settings.retention.most
            && self.held.iter().filter(|held| held.namespace == namespace).count() as u64 >= most
        {
            let mine = self.held.iter().enumerate().filter(|(_, held)| held.namespace == namespace);
            let at = mine.min_by_key(|(at, held)| (held.time, *at)).unwrap().0;
            self.forget(at);
        }
        let dropped =
            search.then(|| self.find(namespace, &document, |held| self.sees(viewer, held))).flatten();
        let verdict = self.said(dropped, viewer);
        dropped.into_iter().for_each(|(of, ..)| self.seen_now(of));
        self.serial += 1;
        self.held.push(Held {
            serial: self.serial,
            namespace,
            id: id.to_vec(),
            document,
            time: self.now,
            run: viewer.map(<[u8]>::to_vec),
            forced: !search,
            dropped,
        });
        Ok(verdict)
    }

    fn end(&mut self, namespace: u8, name: &[u8], life: Life) {
        let at = self.run(namespace, name).unwrap();
        self.ended += 1;
        (self.runs[at].life, self.runs[at].ended) = (life, self.ended);
    }

    fn must_be_open(&self, namespace: u8, name: &[u8]) -> Result<(), Refused> {
        let Some(at) = self.run(namespace, name) else { return Err(Refused::NoRun(name.into())) };
        match self.runs[at].life {
            Life::Open => Ok(()),
            Life::Committed(_) => Err(Refused::RunEnded(name.into(), "committed")),
            Life::Cancelled(_) => Err(Refused::RunEnded(name.into(), "cancelled")),
        }
    }

    pub fn ask(&mut self, now: u64, namespace: u8, operation: Operation) -> Answer {
        self.now = self.now.max(now);
        // A refused request looks at nothing.
        if let Operation::InRun(run, operation) = operation {
            if let Err(refused) = self.must_be_open(namespace, &run) {
                return Answer::Refused(refused);
            }
            self.expire(namespace);
            return self.of(namespace, Some(&run), *operation);
        }
        self.expire(namespace);
        self.of(namespace, None, operation)
    }

    fn of(&mut self, namespace: u8, viewer: Viewer<'_>, operation: Operation) -> Answer {
        let answer = |verdict: Result<Verdict, Refused>| match verdict {
            Ok(verdict) => Answer::Verdict(verdict),
            Err(refused) => Answer::Refused(refused),
        };
        match operation {
            Operation::CheckAdd(id, document) => answer(self.add(namespace, viewer, &id, document, true)),
            Operation::Add(id, document) => answer(self.add(namespace, viewer, &id, document, false)),
            Operation::CheckAddAll(all) => {
                let add =
                    |(id, document): (Box<[u8]>, Document)| self.add(namespace, viewer, &id, document, true);
                Answer::Verdicts(all.into_iter().map(add).collect())
            }
            Operation::Check(document) => {
                let found = self.find(namespace, &document, |held| self.sees(viewer, held));
                Answer::Verdict(self.said(found, viewer))
            }
            Operation::Delete(_) | Operation::Begin(..) | Operation::Commit(_) | Operation::Cancel(_)
                if self.read_only[usize::from(namespace)] =>
            {
                Answer::Refused(Refused::ReadOnly)
            }
            Operation::ReadOnly(is) => {
                self.read_only[usize::from(namespace)] = is;
                Answer::ReadOnly(is)
            }
            Operation::Delete(id) => {
                let at = self.at(namespace, &id, viewer);
                let is_isolated = viewer.is_some_and(|run| self.open(namespace, run) == Some(Mode::Isolated));
                if is_isolated && at.is_some_and(|at| self.held[at].run.as_deref() != viewer) {
                    return Answer::Refused(Refused::NotOfRun);
                }
                let ids = |orphans: Vec<Held>| orphans.into_iter().map(|held| held.id.into()).collect();
                Answer::Orphans(at.map(|at| ids(self.forget(at))))
            }
            Operation::Why(one, other) => self.why(namespace, viewer, [&one, &other]),
            Operation::Count => {
                let mine = self.held.iter().filter(|held| held.namespace == namespace);
                Answer::Count(
                    mine.clone().count() as u64,
                    mine.filter(|held| held.dropped.is_none()).count() as u64,
                )
            }
            Operation::Begin(name, mode) => {
                if self.run(namespace, &name).is_some() {
                    if let Err(refused) = self.must_be_open(namespace, &name) {
                        return Answer::Refused(refused);
                    }
                    let open = self.open(namespace, &name).unwrap();
                    let other = Refused::RunMode(name, open.name());
                    return if open == mode { Answer::Begun } else { Answer::Refused(other) };
                }
                self.runs.push(Run { namespace, name: name.to_vec(), mode, life: Life::Open, ended: 0 });
                Answer::Begun
            }
            Operation::Commit(name) => {
                if let Err(refused) = self.must_be_open(namespace, &name) {
                    let run = self.run(namespace, &name).map(|at| self.runs[at].life.clone());
                    return match run {
                        Some(Life::Committed(all)) => Answer::Committed(all),
                        _ => Answer::Refused(refused),
                    };
                }
                let settled = self.commit(namespace, &name);
                self.end(namespace, &name, Life::Committed(settled.clone()));
                Answer::Committed(settled)
            }
            Operation::Cancel(name) => {
                if let Err(refused) = self.must_be_open(namespace, &name) {
                    let run = self.run(namespace, &name).map(|at| self.runs[at].life.clone());
                    return match run {
                        Some(Life::Cancelled(all)) => Answer::Orphans(Some(all)),
                        _ => Answer::Refused(refused),
                    };
                }
                let orphans = self.cancel(namespace, &name);
                self.end(namespace, &name, Life::Cancelled(orphans.clone()));
                Answer::Orphans(Some(orphans))
            }
            Operation::Runs => {
                let mut runs: Vec<&Run> = self.runs.iter().filter(|run| run.namespace == namespace).collect();
                runs.sort_by_key(|run| run.ended);
                let documents = |run: &Run| {
                    let of_run =
                        |held: &&Held| held.namespace == namespace && held.run.as_ref() == Some(&run.name);
                    self.held.iter().filter(of_run).count() as u64
                };
                let figures = |run: &Run| {
                    let (state, documents) = match run.life {
                        Life::Open => ("open", documents(run)),
                        Life::Committed(_) => ("committed", 0),
                        Life::Cancelled(_) => ("cancelled", 0),
                    };
                    RunFigures { name: run.name.clone().into(), mode: run.mode, state, documents }
                };
                Answer::Runs(runs.into_iter().map(figures).collect())
            }
            Operation::InRun(..) => panic!("a run in a run"),
        }
    }

    fn why(&self, namespace: u8, viewer: Viewer<'_>, ids: [&[u8]; 2]) -> Answer {
        let [Some(one), Some(other)] = ids.map(|id| self.at(namespace, id, viewer)) else {
            return Answer::Why(None);
        };
        let [one, other] = [one, other].map(|at| &self.held[at]);
        let alike = self.compare(&one.document, &other.document).is_some();
        let (mut distance, mut similarity, mut equal_texts, mut features) = (None, None, None, None);
        match (one.document.key, other.document.key) {
            (Key::Fingerprint { value: x, most: a }, Key::Fingerprint { value: y, most: b }) => {
                distance = Some(((x ^ y).count_ones(), a.min(b)));
                if let Some(check) = self.settings.comparison.check() {
                    let contents = [one, other].map(|held| held.document.content.as_ref().unwrap());
                    let [a, b] = contents.map(|content| content.checked().unwrap());
                    similarity = TextComparer::new(check).compare(a, b);
                }
            }
            (Key::Set, Key::Set) => {
                let Comparison::Sets(by) = self.settings.comparison else { panic!("sets") };
                let (counts, _, number) = compared_sets(by, [&one.document, &other.document]);
                features = Some(counts);
                similarity = Some(match by.measure() {
                    SetMeasure::Overlap => Score::Count(number.into()),
                    _ => Score::share(number).unwrap(),
                });
            }
            (Key::Text(x), Key::Text(y)) => equal_texts = Some(x == y),
            _ => {}
        }
        let verdicts = [one, other].map(|held| self.said(held.dropped, viewer));
        Answer::Why(Some(Box::new(Compared { verdicts, distance, features, similarity, equal_texts, alike })))
    }
}

/// The features of two documents and of both, whether the first is like the second, and the number that is said of them, by the definitions.
fn compared_sets(similarity: Similarity, two: [&Document; 2]) -> ([u64; 3], bool, u32) {
    let [x, y] = two.map(|document| document.content.as_ref().unwrap().set().unwrap());
    let shared = x.iter().filter(|feature| y.contains(feature)).count() as u64;
    let (a, b) = (x.len() as u64, y.len() as u64);
    let whole = match similarity.measure() {
        SetMeasure::Jaccard => a + b - shared,
        SetMeasure::Containment => a.min(b),
        SetMeasure::QueryContainment => a,
        SetMeasure::Overlap => {
            let Similarity::Overlap(least) = similarity else { panic!("another one") };
            return ([a, b, shared], shared >= least.0, shared as u32);
        }
        other => panic!("{other:?} is not asked for"),
    };
    let (p, q) = similarity.tau().unwrap().fraction();
    let (p, q) = (u64::from(p), u64::from(q));
    let millionths = (2_000_000 * shared + whole) / (2 * whole);
    ([a, b, shared], shared > 0 && shared * q >= p * whole, millionths as u32)
}
