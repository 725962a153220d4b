//! Answers of the writer as replies of RESP.

use crate::document::{Measure, Verdict};
use crate::resp::Replies;
use crate::runs::{RunFigures, Settled};
use crate::state::{Answer, Compared};

/// Replies with an answer of the writer.
pub(crate) fn reply(answer: &Answer, out: &mut Replies) {
    match answer {
        Answer::Refused(refused) => out.error(&refused.to_string()),
        Answer::Verdict(verdict) => reply_verdict(verdict, out),
        Answer::Verdicts(all) => {
            out.array(all.len());
            for one in all {
                match one {
                    Ok(verdict) => reply_verdict(verdict, out),
                    Err(refused) => out.error(&refused.to_string()),
                }
            }
        }
        Answer::Orphans(None) | Answer::Why(None) => out.null(),
        Answer::ReadOnly(_) => out.simple("OK"),
        Answer::Orphans(Some(ids)) => {
            out.array(ids.len());
            ids.iter().for_each(|id| out.bulk(id));
        }
        Answer::Count(documents, kept) => {
            out.map(2);
            for (name, count) in [("documents", documents), ("kept", kept)] {
                out.bulk(name.as_bytes());
                out.number(*count);
            }
        }
        Answer::Why(Some(compared)) => reply_why(compared, out),
        Answer::Begun => out.simple("OK"),
        Answer::Committed(settled) => {
            out.array(settled.len());
            for (id, settled) in settled {
                match settled {
                    Settled::Duplicate(verdict) => put_verdict(Some(id), verdict, out),
                    Settled::Orphan => out.bulks(&[id, b"ORPHAN"]),
                    Settled::Conflict => out.bulks(&[id, b"IDCONFLICT"]),
                }
            }
        }
        Answer::Runs(runs) => {
            out.array(runs.len());
            for RunFigures { name, mode, state, documents } in runs {
                out.map(4);
                let texts =
                    [("name", &**name), ("mode", mode.name().as_bytes()), ("state", state.as_bytes())];
                for (name, text) in texts {
                    out.bulk(name.as_bytes());
                    out.bulk(text);
                }
                out.bulk(b"documents");
                out.number(*documents);
            }
        }
    }
}

fn reply_verdict(verdict: &Verdict, out: &mut Replies) {
    put_verdict(None, verdict, out);
}

/// Replies with a verdict, behind an id where it is not known of which document it is.
fn put_verdict(of: Option<&[u8]>, verdict: &Verdict, out: &mut Replies) {
    let count = match verdict {
        Verdict::New => 1,
        Verdict::Duplicate { pending: None, .. } => 4,
        Verdict::Duplicate { pending: Some(_), .. } => 6,
    };
    out.array(count + usize::from(of.is_some()));
    of.into_iter().for_each(|id| out.bulk(id));
    let Verdict::Duplicate { id, distance, measure, pending } = verdict else { return out.bulk(b"NEW") };
    out.bulk(b"DUPLICATE");
    out.bulk(id);
    match distance {
        Some(distance) => out.number((*distance).into()),
        None => out.null(),
    }
    match measure {
        Measure::Hamming => out.bulk(b"hamming"),
        other => out.bulk(other.to_string().as_bytes()),
    }
    if let Some(run) = pending {
        out.bulk(b"PENDING");
        out.bulk(run);
    }
}

/// How many features the first and the second have, and both.
const FEATURES: [&str; 3] = ["features_first", "features_second", "features_shared"];

fn reply_why(compared: &Compared, out: &mut Replies) {
    let Compared { verdicts, distance, features, similarity, equal_texts, alike } = compared;
    let yes = |is: bool| if is { &b"yes"[..] } else { b"no" };
    let count = 3
        + 2 * usize::from(distance.is_some())
        + FEATURES.len() * usize::from(features.is_some())
        + usize::from(similarity.is_some())
        + usize::from(equal_texts.is_some());
    out.map(count);
    for (name, verdict) in [("first", &verdicts[0]), ("second", &verdicts[1])] {
        out.bulk(name.as_bytes());
        reply_verdict(verdict, out);
    }
    if let Some((distance, most)) = distance {
        for (name, number) in [("distance", distance), ("distance_allowed", most)] {
            out.bulk(name.as_bytes());
            out.number((*number).into());
        }
    }
    for (name, count) in FEATURES.iter().zip(features.iter().flatten()) {
        out.bulk(name.as_bytes());
        out.number(*count);
    }
    if let Some(similarity) = similarity {
        out.bulk(b"similarity");
        out.bulk(similarity.to_string().as_bytes());
    }
    if let Some(equal) = equal_texts {
        out.bulk(b"equal_texts");
        out.bulk(yes(*equal));
    }
    out.bulk(b"alike");
    out.bulk(yes(*alike));
}
