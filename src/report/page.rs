//! The page: a frame of HTML, CSS and scripts, and data as JSON that no text of a document can break out of.
//!
//! Everything that comes from the input reaches the page as JSON in elements that browsers do not interpret, and is
//! shown as text nodes alone. A Content Security Policy forbids requests, and any script and style but the page's own,
//! which it knows by their hashes, so that a slip in one of the two does not become a hole.

use super::bins::Bar;
use super::output::{Answer, Bounds, Cluster};
use super::printed::Printed;
use super::risk::{Order, Part, Scripts};
use super::texts::Texts;
use crate::documents::{PairOpts, RunFile};
use crate::output::owned::REPORT_MARK;
use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;
use twinsplit_core::cluster::dropped::{BELOW, BEYOND};
use twinsplit_core::similarity::overlap::Overlap;
use twinsplit_core::similarity::{Score, Similarity};
use twinsplit_io::error::Result;
use twinsplit_rows::record::cluster::Verdict;
use twinsplit_rows::stages::simhash::FingerprintOpts;

/// The frame; lines `{{name}}` stand for the parts that follow.
const FRAME: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(
    include_str!("data.js"),
    include_str!("helpers.js"),
    include_str!("charts.js"),
    include_str!("compare.js"),
    include_str!("list.js"),
    include_str!("page.js")
);

/// What is written.
pub struct Page<'a> {
    /// The folder of the answer.
    pub folder: &'a Path,
    /// Its `run.json`.
    pub run: &'a RunFile,
    /// The options that decide on a pair.
    pub pair: &'a PairOpts,
    /// The same of fingerprints, where the run compared these.
    pub fingerprints: Option<&'a FingerprintOpts>,
    /// The fingerprints of the documents that are shown, where their texts are.
    pub printed: Option<&'a Printed>,
    /// What it holds.
    pub answer: &'a Answer,
    /// How much is shown.
    pub bounds: Bounds,
    /// Which clusters come first.
    pub order: Order,
    /// The scripts of the clusters.
    pub scripts: &'a Scripts,
}

impl Page<'_> {
    /// Writes the page line by line and gives its size in bytes.
    pub fn write(
        &self,
        mut texts: Option<Texts>,
        most: usize,
        mut line: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<u64> {
        let mut bytes = 0;
        let mut write = |text: &str| {
            bytes += text.len() as u64 + 1;
            line(text.as_bytes())
        };
        for row in FRAME.lines() {
            match row.trim() {
                "{{generator}}" => write(&format!("{REPORT_MARK}{}\">", env!("CARGO_PKG_VERSION")))?,
                "{{policy}}" => write(&policy(STYLE, SCRIPT, ""))?,
                "{{style}}" => write(&format!("<style>{STYLE}</style>"))?,
                "{{script}}" => write(&format!("<script>{SCRIPT}</script>"))?,
                "{{data}}" => {
                    write(&data("report", &self.head(texts.as_ref(), most)))?;
                    let mut document = 0;
                    for (number, cluster) in self.answer.shown.iter().enumerate() {
                        let Some(texts) = &mut texts else { break };
                        let documents = cluster.members.iter().zip(document..).map(|(_, at)| {
                            let mut value = texts.value(at);
                            if let Some(printed) = self.printed {
                                value["print"] = printed.value(at);
                            }
                            value
                        });
                        write(&data(&format!("texts-{number}"), &Value::Array(documents.collect())))?;
                        document += cluster.members.len();
                    }
                }
                _ => write(row)?,
            }
        }
        Ok(bytes)
    }

    /// Everything but the texts.
    fn head(&self, texts: Option<&Texts>, most: usize) -> Value {
        let Self { run, answer, .. } = self;
        let run = &run.value;
        let measure = self.pair.similarity.0.measure();
        let distance = self.fingerprints.map(|opts| &opts.distance.distance);
        let (name, title, formula, words, limit) = match distance {
            None => (
                measure.name(),
                measure.title(),
                measure.formula(),
                measure.words(),
                format!("tau {}", self.pair.similarity.0.threshold()),
            ),
            Some(distance) => (
                "distance",
                "Hamming distance",
                "popcount(A xor B)",
                "the bits in which two fingerprints differ",
                format!("--distance {distance}"),
            ),
        };
        let part = |part: Option<Part>| part.map(Part::written);
        let least = |least: Option<Score>| least.map(|least| least.to_string());
        let others = answer.others.iter().map(|other| {
            let script = self.scripts.get(&other.kept);
            json!([other.kept, other.size, other.ids, least(other.least), part(other.part), script])
        });
        json!({
            "folder": self.folder.to_string_lossy(),
            "program": run["twinsplit"],
            "chain": run["chain"],
            "engine": run["engine"],
            "threads": run["threads"],
            "parameters": run["parameters"],
            "inputs": run["inputs"],
            "warnings": run["warnings"],
            "audit": run["audit"],
            "seconds": run["seconds"]["total"],
            "documents": self.counter("documents"),
            "without": self.counter("without_features"),
            "clusters": answer.clusters,
            "members": answer.members,
            "below": self.counter(if distance.is_some() { BEYOND } else { BELOW }),
            "leastKept": answer.least.map(|least| least.to_string()),
            "pairs": answer.pairs,
            "measure": name,
            "title": title,
            "formula": formula,
            "words": words,
            "limit": limit,
            "tau": self.pair.similarity.0.threshold(),
            "least": self.pair.least.min_features,
            "similarities": bars(answer.similarities.bars(self.least())),
            "sizes": bars(answer.sizes.bars()),
            "bounds": { "clusters": self.bounds.clusters, "members": self.bounds.members, "text": most },
            "cut": texts.map(Texts::cut),
            "texts": texts.is_some(),
            "order": self.order.name(),
            "shown": answer.shown.iter().map(|one| self.cluster(one)).collect::<Vec<_>>(),
            "others": others.collect::<Vec<_>>(),
            "unlisted": answer.unlisted,
        })
    }

    fn cluster(&self, cluster: &Cluster) -> Value {
        let members = cluster.members.iter();
        let members =
            members.map(|member| json!([member.id, written(member.verdict), member.part.map(Part::written)]));
        let kept = cluster.members.first();
        json!({
            "size": cluster.size,
            "least": cluster.least.map(|least| least.to_string()),
            "part": cluster.part.map(Part::written),
            "script": kept.and_then(|kept| self.scripts.get(&kept.id)),
            "members": members.collect::<Vec<_>>(),
            "others": cluster.others,
        })
    }

    /// Where a histogram of similarities begins at the latest: with pairs at tau, for none lies below it, rounded down.
    fn least(&self) -> Score {
        if self.fingerprints.is_some() {
            return Score::Count(0);
        }
        let least = match self.pair.similarity.0 {
            Similarity::Overlap(Overlap(least)) => return Score::Count(least),
            similarity => similarity.tau().map(|tau| tau.billionths() / 1_000).and_then(Score::share),
        };
        least.filter(|_| self.answer.pairs.is_some()).unwrap_or(Score::ONE)
    }

    /// The sum of a counter over all steps.
    fn counter(&self, name: &str) -> u64 {
        let steps = self.run.value["counters"].as_object().into_iter().flatten();
        steps.filter_map(|(_, counters)| counters[name].as_u64()).sum()
    }
}

fn bars(bars: Vec<Bar>) -> Value {
    bars.into_iter().map(|bar| json!([bar.label, bar.count])).collect()
}

/// The similarity to the kept document; nothing for the kept one itself.
fn written(verdict: Verdict) -> Option<String> {
    match verdict {
        Verdict::Keep => None,
        Verdict::Drop(Some(score)) => Some(score.to_string()),
        Verdict::Drop(None) => Some("equal texts".to_owned()),
    }
}

/// What a page may do: nothing but run its script, apply its style, and what is given.
pub(crate) fn policy(style: &str, script: &str, more: &str) -> String {
    format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; script-src {}; \
         base-uri 'none'; form-action 'none'{more}\">",
        source(style),
        source(script)
    )
}

/// The name that a policy has for an element of this text.
fn source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// An element that holds JSON.
fn data(id: &str, value: &Value) -> String {
    format!("<script type=\"application/json\" id=\"{id}\">{}</script>", safe(&value.to_string()))
}

/// JSON that is the same to a JSON parser and holds nothing that ends its element, opens a comment in it, or is a
/// line end to old scripts.
fn safe(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_its_element() {
        for text in [
            "</script><img src=x onerror=alert(1)>",
            "<!--<script>",
            "\u{2028}\u{2029}",
            "\\u003c\\",
            "\"\0\r\n]]>",
            "😀中",
        ] {
            let element = data("x", &json!({ text: [text] }));
            let inside = element.strip_prefix("<script type=\"application/json\" id=\"x\">").unwrap();
            let inside = inside.strip_suffix("</script>").unwrap();
            assert!(!inside.contains(['<', '\u{2028}', '\u{2029}', '\r', '\n', '\0']), "{inside}");
            assert_eq!(serde_json::from_str::<Value>(inside).unwrap(), json!({ text: [text] }));
        }
    }

    /// The frame, the style and the scripts must not end each other's elements either.
    #[test]
    fn the_frame_has_its_parts_once() {
        for part in ["{{policy}}", "{{style}}", "{{script}}", "{{data}}"] {
            assert_eq!(FRAME.lines().filter(|line| line.trim() == part).count(), 1, "{part}");
        }
        assert!(!STYLE.contains('<') && !SCRIPT.contains("</") && !SCRIPT.contains("<!--"));
    }

    /// The example of the standard, Content Security Policy Level 3, section 8.4.
    #[test]
    fn a_policy_names_an_element_by_its_hash() {
        let expected = "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='";
        assert_eq!(source("alert('Hello, world.');"), expected);
        let policy = policy(STYLE, SCRIPT, "");
        assert!(!policy.contains("nonce") && !policy.contains("unsafe"), "{policy}");
    }
}
