//! The fields that a line gets.

use super::clusters::Shown;
use super::shares::Share;
use memchr::memmem::Finder;
use serde_json::Value;
use std::io::Write as _;
use twinsplit_core::similarity::Measure;
use twinsplit_io::error::{Error, Result};

/// Their names.
pub struct Names {
    kept: String,
    size: String,
    rank: String,
    drop: String,
    score: String,
    share: String,
    /// What finds how they begin.
    beginning: Finder<'static>,
}

impl Names {
    /// Names that begin like this; those of fingerprints have a distance.
    pub fn new(prefix: &str, fingerprints: bool) -> Result<Self> {
        if prefix.chars().any(|c| c == '"' || c == '\\' || c.is_control()) {
            return Err(Error::Usage(format!(
                "--prefix {prefix:?}: expected no quotation marks, backslashes or control characters"
            )));
        }
        let name = |name: &str| format!("{prefix}{name}");
        Ok(Self {
            kept: name("kept"),
            size: name("size"),
            rank: name("rank"),
            drop: name("drop"),
            score: name(if fingerprints { "distance" } else { "similarity" }),
            share: name("share"),
            beginning: Finder::new(&format!("\"{prefix}")).into_owned(),
        })
    }

    fn all(&self) -> [&str; 6] {
        [&self.kept, &self.size, &self.rank, &self.drop, &self.score, &self.share]
    }

    /// A name that a document has already. Few have the beginning of one anywhere, and only these are looked at closely.
    fn taken(&self, line: &[u8]) -> Option<&str> {
        self.beginning.find(line)?;
        let document: Value = serde_json::from_slice(line).ok()?;
        self.all().into_iter().find(|name| document.get(name).is_some())
    }

    /// Writes the line of a document with its fields behind those it has, which stay as they are. An error is the name of one that it has
    /// already.
    pub fn add(
        &self,
        line: &[u8],
        shown: &Shown,
        drops: bool,
        share: Option<Share>,
        out: &mut Vec<u8>,
    ) -> std::result::Result<(), &str> {
        let line = line.trim_ascii_end();
        // A document has been read as an object, and has at least a text.
        let body = line.strip_suffix(b"}").unwrap_or(line);
        if let Some(taken) = self.taken(line) {
            return Err(taken);
        }
        out.clear();
        out.extend_from_slice(body.trim_ascii_end());
        let kept = Value::from(shown.kept.as_str());
        let (size, rank) = (shown.size, shown.rank);
        let score = shown.score.map_or_else(|| "null".to_owned(), |score| score.to_string());
        let of_query = |share: Share| {
            Measure::QueryContainment.score(share.overlap.into(), share.size.into(), u64::MAX).to_string()
        };
        let share = share.filter(|share| share.size > 0).map_or_else(|| "null".to_owned(), of_query);
        let [kept_name, size_name, rank_name, drop_name, score_name, share_name] = self.all();
        // Memory takes everything.
        let _ = write!(
            out,
            r#","{kept_name}":{kept},"{size_name}":{size},"{rank_name}":{rank},"{drop_name}":{drops},"{score_name}":{score},"{share_name}":{share}}}"#
        );
        Ok(())
    }
}
