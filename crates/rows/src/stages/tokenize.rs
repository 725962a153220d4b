//! `tokenize`: a document becomes its id and its set of features (zhang2011, section 4, first step). Where the set is too
//! small for a join, or may be so when features are left out, the hash of the text goes with it, by which equal texts are found
//! all the same.

use super::meta::{MetaOpts, MetaWriter, ScriptCounts, TextSeen};
use super::options::{FeatureOpts, MinFeaturesOpts, TextHashOpts};
use crate::record::document::{Document, DocumentOpts, Line, RawText, SURROGATES};
use crate::record::set::{Doc, Features};
use crate::record::tokenized::{SetRow, Tokenized};
use crate::stage::{Decl, Role, Stage, Task};
use twinsplit_core::text::{Extractor, LONG, Letters, Pieces, dominant_script};
use twinsplit_io::error::Result;

/// The stage.
pub struct Tokenize {
    opts: TokenizeOpts,
    meta: Option<MetaWriter>,
    extractor: Extractor,
    features: Vec<u64>,
    /// By script: documents, and those of them without a feature.
    scripts: ScriptCounts,
    /// Documents without enough features and without a text.
    without_text: u64,
}

twinsplit_core::options! {
    /// Its options.
    pub struct TokenizeOpts {}
    with {
        document: DocumentOpts,
        features: FeatureOpts,
        least: MinFeaturesOpts,
        texts: TextHashOpts,
        meta: MetaOpts,
    }
}

impl Stage for Tokenize {
    type In<'a> = Line<'a>;
    type Out<'a> = SetRow<'a>;
    type Opts = TokenizeOpts;
    const DECL: Decl = Decl {
        name: "tokenize",
        role: Role::Map,
        about: "Turns documents (JSON lines) into sets of features",
        side: &[],
    };

    const KEEPS_BAD_RECORDS: bool = true;

    fn open(opts: TokenizeOpts, _: &mut Task<'_>) -> Result<Self> {
        let extractor = Extractor::new(opts.features.spec()?);
        let meta = MetaWriter::of(&opts.meta);
        Ok(Self {
            opts,
            meta,
            extractor,
            features: Vec::new(),
            scripts: ScriptCounts::default(),
            without_text: 0,
        })
    }

    fn push(&mut self, line: Line<'_>, task: &mut Task<'_>) -> Result<()> {
        if let Some(meta) = &self.meta {
            meta.check(&self.opts.document, line, task)?;
        }
        let (document, raw, seen) = if line.0.len() > LONG {
            self.long(line, task)?
        } else {
            let document = self.opts.document.read(line.0, &task.place).map_err(|error| task.bad(error))?;
            self.extractor.set(&document.text, &mut self.features);
            let length = document.text.chars().count() as u64;
            let seen = TextSeen { script: dominant_script(&document.text), length };
            (document, None, seen)
        };
        self.scripts.take(seen.script, !self.features.is_empty());
        task.count_some(SURROGATES, document.surrogates);
        let mut text = None;
        if self.opts.texts.hashes(&self.opts.least, self.features.len() as u64) {
            text = match raw {
                None => self.extractor.text_hash(&document.text),
                Some(raw) => self.extractor.text_hash_of(|visit| raw.each_part(visit)),
            };
            self.without_text += u64::from(text.is_none());
        }
        if let Some(meta) = &mut self.meta {
            meta.write(&document, seen, task)?;
        }
        let doc = Doc { id: &document.id, features: Features::Values(&self.features) };
        task.emit(&Tokenized { doc, text })
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        if let Some(meta) = &self.meta {
            meta.finish(task);
        }
        self.scripts.count(task);
        task.count_some("documents_without_text", self.without_text);
        Ok(())
    }
}

impl Tokenize {
    /// Reads a long document, whose text is taken piece by piece and given as it stands, and what is seen of it. Its features are no
    /// more than go into a row.
    fn long<'a>(
        &mut self,
        line: Line<'a>,
        task: &Task<'_>,
    ) -> Result<(Document<'a>, Option<RawText<'a>>, TextSeen)> {
        let bad = |error| task.bad(error);
        let (mut document, text) = self.opts.document.read_but_text(line.0, &task.place).map_err(bad)?;
        let mut letters = Letters::default();
        let mut length = 0;
        let mut pieces = Pieces::new(&mut self.extractor);
        let features = &mut self.features;
        features.clear();
        // With so many they are looked through for those that are there already.
        let mut many = LONG;
        let mut visit = |feature| {
            features.push(feature);
            if features.len() < many {
                return Ok(());
            }
            features.sort_unstable();
            features.dedup();
            many = many.max(2 * features.len());
            task.admit_row(Doc::bytes(document.id.len(), features.len()))
        };
        let read = text.each_part(|part| {
            letters.add(part);
            length += part.chars().count() as u64;
            pieces.push(part, &mut visit)
        })?;
        document.surrogates = read.map_err(bad)?;
        pieces.finish(&mut visit)?;
        features.sort_unstable();
        features.dedup();
        task.admit_row(Doc::bytes(document.id.len(), features.len()))?;
        Ok((document, Some(text), TextSeen { script: letters.dominant(), length }))
    }
}
