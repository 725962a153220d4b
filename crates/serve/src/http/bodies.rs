//! What requests and answers hold, as JSON. Each is declared once: how it is read and written, and its schema in the OpenAPI document, follow from that.

use super::described::{Described, Object, described, objects};
use super::id::Id;
use crate::document::Verdict as Decided;
use crate::runs::{Mode, RunFigures, Settled};
use crate::state::Compared as HowAlike;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use twinsplit_core::similarity::Score;

// What is asked.
objects! { (Clone, Debug, PartialEq, Deserialize)
    /// A document, as it is compared: a text or a fingerprint.
    Content {
        /// The text.
        text: Option<String>,
        /// The fingerprint: 16 hex digits, 32 with --bits 128.
        fingerprint: Option<String>,
        /// The run of a crawler with which it comes.
        run: Option<Id>,
    }

    /// A document with its id: a text or a fingerprint.
    Document {
        /// The id; 4,096 bytes at most.
        id: Id,
        /// The text.
        text: Option<String>,
        /// The fingerprint: 16 hex digits, 32 with --bits 128.
        fingerprint: Option<String>,
        /// The run of a crawler with which it comes.
        run: Option<Id>,
    }

    /// One of several documents: a text or a fingerprint.
    BatchDocument {
        /// The id; 4,096 bytes at most.
        id: Id,
        /// The text.
        text: Option<String>,
        /// The fingerprint: 16 hex digits, 32 with --bits 128.
        fingerprint: Option<String>,
    }

    /// Several documents.
    Documents {
        /// They are decided one after the other.
        documents: Vec<Object<BatchDocument>>,
        /// The run of a crawler with which they come.
        run: Option<Id>,
    }

    /// Which document.
    DocumentId {
        /// Its id.
        id: Id,
        /// The run of a crawler with which it comes.
        run: Option<Id>,
    }

    /// A run that begins.
    BeginRun {
        /// Its name.
        run: Id,
        /// When what it brings counts for others.
        mode: Mode,
    }

    /// Which run.
    RunName {
        /// Its name.
        run: Id,
    }

    /// Which two documents.
    DocumentPair {
        /// The id of one.
        first: Id,
        /// The id of the other.
        second: Id,
        /// The run of a crawler that sees them.
        run: Option<Id>,
    }
}

// What is asked, and answered in the same form.
objects! { (Clone, Debug, PartialEq, Deserialize, Serialize)
    /// Whether a namespace can be changed.
    ReadOnly {
        /// Requests that would change it are refused.
        read_only: bool,
    }
}

// What is answered.
objects! { (Clone, Debug, PartialEq, Serialize)
    /// What was said of a document.
    Verdict {
        /// Whether it is kept or like one that is.
        verdict: VerdictKind,
        /// The id of the first kept document that is near enough.
        of: Option<Id>,
        /// In how many bits the fingerprints differ, where these are compared.
        distance: Option<u32>,
        /// By what: hamming, equal-text, or the measure of --check or --similarity and its value.
        measure: Option<String>,
        /// The run that has brought the kept document, where it is another one and still open.
        pending: Option<Id>,
    }

    /// The documents of a run whose verdicts have changed when it was committed.
    Committed {
        /// In the order in which they came.
        changed: Vec<Changed>,
    }

    /// What has become of a document of a run that was committed.
    Changed {
        /// Its id.
        id: Id,
        /// What it is by now.
        outcome: ChangeKind,
        /// What it is a duplicate of.
        verdict: Option<Verdict>,
    }

    /// The runs of a namespace.
    Runs {
        /// Those that are open, and the last that have ended.
        runs: Vec<Run>,
    }

    /// A run.
    Run {
        /// Its name.
        name: Id,
        /// When what it brings counts for others.
        mode: Mode,
        /// open, committed or cancelled.
        state: String,
        /// Its documents, where it is open.
        documents: u64,
    }

    /// Why a request is refused.
    Problem {
        /// A word in capitals, by which programs know it.
        error: String,
        /// A sentence.
        message: String,
    }

    /// What was said of several documents.
    Outcomes {
        /// In the order of the documents; what is refused has an error in its place.
        results: Vec<Outcome>,
    }

    /// Documents whose verdicts are forgotten with one that was deleted.
    Orphans {
        /// Their ids.
        orphans: Vec<Id>,
    }

    /// How two documents compare.
    Compared {
        /// What was said of one.
        first: Verdict,
        /// What was said of the other.
        second: Verdict,
        /// In how many bits their fingerprints differ.
        distance: Option<u32>,
        /// In how many bits they may.
        distance_allowed: Option<u32>,
        /// How many features the first one has, where sets are compared.
        features_first: Option<u64>,
        /// How many features the second one has.
        features_second: Option<u64>,
        /// How many features both have.
        features_shared: Option<u64>,
        /// How alike they are by --similarity; or by the measure of --check, where they are alike enough.
        similarity: Option<f64>,
        /// Whether the texts are equal, where both are too short for anything else.
        equal_texts: Option<bool>,
        /// Whether one would be a duplicate of the other.
        alike: bool,
    }

    /// How much a namespace holds.
    Count {
        /// Documents.
        documents: u64,
        /// Those of them that are kept.
        kept: u64,
    }

    /// How the service is.
    Status {
        /// ok, ready.
        status: String,
    }

    /// The last duplicates.
    Recent {
        /// The newest first.
        recent: Vec<RecentDuplicate>,
    }

    /// A duplicate, and what it is a duplicate of.
    RecentDuplicate {
        /// The namespace; what is no UTF-8 of it is written out.
        namespace: String,
        /// The id of the duplicate.
        id: Id,
        /// When it was found, milliseconds since 1970.
        time: u64,
        /// What was said of it.
        verdict: Verdict,
        /// How both compare; nothing where one has been forgotten.
        compared: Option<Compared>,
        /// The text of the duplicate, where it is kept (--check edit:T), as it is compared; its beginning where it is long.
        text: Option<String>,
        /// The text of what it is a duplicate of, likewise.
        text_of: Option<String>,
    }
}

/// Whether a document is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum VerdictKind {
    /// It is.
    New,
    /// It is like one that is.
    Duplicate,
}

/// What has become of a document of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum ChangeKind {
    /// It is like one that is kept.
    Duplicate,
    /// Nothing is like it any more, and it is forgotten.
    Orphan,
    /// Its id stands for other content.
    IdConflict,
}

described! {
    VerdictKind => json!({ "type": "string", "enum": [VerdictKind::New, VerdictKind::Duplicate] });
    Mode => json!({ "type": "string", "enum": [Mode::Isolated, Mode::Shared] });
    ChangeKind => json!({
        "type": "string",
        "enum": [ChangeKind::Duplicate, ChangeKind::Orphan, ChangeKind::IdConflict],
    });
}

/// What became of one of several documents.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Outcome {
    /// It was decided.
    Said(Verdict),
    /// It is refused.
    Refused(Problem),
}

impl Described for Outcome {
    fn schema(all: &mut Map<String, Value>) -> Value {
        json!({ "oneOf": [Verdict::schema(all), Problem::schema(all)] })
    }
}

impl From<&Decided> for Verdict {
    fn from(decided: &Decided) -> Self {
        match decided {
            Decided::New => {
                Self { verdict: VerdictKind::New, of: None, distance: None, measure: None, pending: None }
            }
            Decided::Duplicate { id, distance, measure, pending } => Self {
                verdict: VerdictKind::Duplicate,
                of: Some(Id(id.clone())),
                distance: *distance,
                measure: Some(measure.to_string()),
                pending: pending.clone().map(Id),
            },
        }
    }
}

impl From<&HowAlike> for Compared {
    fn from(compared: &HowAlike) -> Self {
        let HowAlike { verdicts: [first, second], distance, features, similarity, equal_texts, alike } =
            compared;
        Self {
            first: first.into(),
            second: second.into(),
            distance: distance.map(|(distance, _)| distance),
            distance_allowed: distance.map(|(_, most)| most),
            features_first: features.map(|[first, ..]| first),
            features_second: features.map(|[_, second, _]| second),
            features_shared: features.map(|[.., shared]| shared),
            // Six decimals are written as they are.
            similarity: similarity.map(|similarity| match similarity {
                Score::Share(millionths) => f64::from(millionths) / 1e6,
                Score::Count(count) => count as f64,
            }),
            equal_texts: *equal_texts,
            alike: *alike,
        }
    }
}

impl Changed {
    /// Of what was settled when a run was committed.
    pub fn of((id, settled): &(Box<[u8]>, Settled)) -> Self {
        let (outcome, verdict) = match settled {
            Settled::Duplicate(verdict) => (ChangeKind::Duplicate, Some(verdict.into())),
            Settled::Orphan => (ChangeKind::Orphan, None),
            Settled::Conflict => (ChangeKind::IdConflict, None),
        };
        Self { id: Id(id.clone()), outcome, verdict }
    }
}

impl From<&RunFigures> for Run {
    fn from(run: &RunFigures) -> Self {
        let RunFigures { name, mode, state, documents } = run;
        Self { name: Id(name.clone()), mode: *mode, state: (*state).to_owned(), documents: *documents }
    }
}

impl Problem {
    /// Of an error as RESP has it: a word and a sentence.
    pub fn of(problem: &str) -> Self {
        let (error, message) = problem.split_once(' ').unwrap_or((problem, ""));
        Self { error: error.to_owned(), message: message.to_owned() }
    }
}
