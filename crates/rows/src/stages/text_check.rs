//! `text-content`, `text-left`, `text-right`: the second stage for fingerprints that are near (yanlan): pairs meet what is compared
//! of their two texts, one after the other, and are decided by it exactly.
//!
//! Under the smaller id of a pair its content is put beside it, and that row goes on to the larger id. It is for short texts,
//! whose fingerprints differ in more bits than those of long ones: a wide distance finds them, and their texts tell which are
//! alike.

use super::NoOpts;
use super::forest::{Forest, ForestOpts};
use super::options::FeatureOpts;
use super::signature_check::CheckOpts;
use crate::record::content::{ContentRow, HalfNear, LeftRow, RightRow, push_content, read_content};
use crate::record::document::{DocumentOpts, Line};
use crate::record::near::{AnyPair, Checked, Near};
use crate::stage::growth::Growth;
use crate::stage::{Decl, Role, Stage, Task};
use twinsplit_core::hash;
use twinsplit_core::similarity::text::{Content, TextCheck, TextComparer};
use twinsplit_core::sketch::content::Contents;
use twinsplit_core::text::FeatureSpec;
use twinsplit_io::error::{Error, FieldError, Result};

/// The counter of pairs whose texts are not alike enough.
pub const UNLIKE: &str = "candidates_below_check";

/// What is compared of texts, in the form in which rows have it.
pub struct ContentRows {
    contents: Contents,
    row: Vec<u8>,
}

impl ContentRows {
    /// Of this check, with features as a specification says.
    pub fn new(check: TextCheck, spec: FeatureSpec) -> Self {
        Self { contents: Contents::new(check.measure, spec), row: Vec::new() }
    }

    /// That of a text.
    pub fn of(&mut self, text: &str) -> &[u8] {
        self.row.clear();
        push_content(&self.contents.content(text), &mut self.row);
        &self.row
    }

    /// The hash of it, which equal contents have in common.
    pub fn hash(&mut self, text: &str) -> u128 {
        hash::text(self.of(text))
    }
}

fn check_of(opts: &CheckOpts, stage: &str) -> Result<TextCheck> {
    opts.texts().ok_or_else(|| {
        Error::Usage(format!(
            "{stage}: --check names what is compared of texts: jaccard:T, cosine:T or edit:T"
        ))
    })
}

/// The stage that reads documents.
pub struct TextContent {
    document: DocumentOpts,
    rows: ContentRows,
}

twinsplit_core::options! {
    /// Its options.
    pub struct TextContentOpts {}
    with {
        document: DocumentOpts,
        features: FeatureOpts,
        check: CheckOpts,
    }
}

impl Stage for TextContent {
    type In<'a> = Line<'a>;
    type Out<'a> = ContentRow<'a>;
    type Opts = TextContentOpts;
    const DECL: Decl = Decl {
        name: "text-content",
        role: Role::Map,
        about: "Turns documents (JSON lines) into what --check compares of their texts",
        side: &[],
    };

    fn open(opts: TextContentOpts, task: &mut Task<'_>) -> Result<Self> {
        let check = check_of(&opts.check, task.stage)?;
        Ok(Self { document: opts.document, rows: ContentRows::new(check, opts.features.spec()?) })
    }

    fn push(&mut self, line: Line<'_>, task: &mut Task<'_>) -> Result<()> {
        let document = self.document.read(line.0, &task.place).map_err(|error| task.bad(error))?;
        let content = self.rows.of(&document.text);
        // Where there is nothing to compare there is no fingerprint either.
        if content.is_empty() { Ok(()) } else { task.emit(&ContentRow { id: &document.id, content }) }
    }
}

/// The content of the group that is being read, if it came.
#[derive(Default)]
struct Held<T> {
    content: T,
    here: bool,
}

fn missing(field: &'static str, id: &[u8]) -> FieldError {
    FieldError::new(field, "an id whose content is among the input", id)
}

/// The first join.
#[derive(Default)]
pub struct TextLeft {
    held: Held<Vec<u8>>,
}

impl Stage for TextLeft {
    type In<'a> = LeftRow<'a>;
    type Out<'a> = HalfNear<'a>;
    type Opts = NoOpts;
    const GROWTH: Growth = Growth::Pairs;
    const DECL: Decl = Decl {
        name: "text-left",
        role: Role::Reduce,
        about: "Sends each pair, with the content of its smaller id, to its larger id",
        side: &[],
    };

    fn open(_: NoOpts, _: &mut Task<'_>) -> Result<Self> {
        Ok(Self::default())
    }

    fn push(&mut self, row: LeftRow<'_>, task: &mut Task<'_>) -> Result<()> {
        match row {
            LeftRow::Content(row) => {
                self.held.content.clear();
                self.held.content.extend_from_slice(row.content);
                self.held.here = true;
                Ok(())
            }
            LeftRow::Near(near) if !self.held.here => Err(task.wrong(missing("a", near.a))),
            LeftRow::Near(Near { a, b, distance, .. }) => {
                task.emit(&HalfNear { b, a, distance, content: &self.held.content })
            }
        }
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.held.here = false;
        Ok(())
    }
}

/// The second join, and the decision.
pub struct TextRight {
    check: TextCheck,
    comparer: TextComparer,
    forest: Forest,
    held: Held<Content>,
    pairs: u64,
    unlike: u64,
}

twinsplit_core::options! {
    /// Its options.
    pub struct TextRightOpts {}
    with {
        check: CheckOpts,
        forest: ForestOpts,
    }
}

impl Stage for TextRight {
    type In<'a> = RightRow<'a>;
    type Out<'a> = AnyPair<'a>;
    type Opts = TextRightOpts;
    const GROWTH: Growth = Growth::Pairs;
    const DECL: Decl = Decl {
        name: "text-right",
        role: Role::Reduce,
        about: "Compares the two texts of each pair and keeps those that are alike as --check asks",
        side: &[],
    };

    fn open(opts: TextRightOpts, task: &mut Task<'_>) -> Result<Self> {
        let check = check_of(&opts.check, task.stage)?;
        let (comparer, forest) = (TextComparer::new(check), Forest::new(&opts.forest));
        Ok(Self { check, comparer, forest, held: Held::default(), pairs: 0, unlike: 0 })
    }

    fn push(&mut self, row: RightRow<'_>, task: &mut Task<'_>) -> Result<()> {
        let measure = self.check.measure;
        match row {
            RightRow::Content(row) => {
                self.held.content = read_content(measure, row.content).map_err(|error| task.wrong(error))?;
                self.held.here = true;
                Ok(())
            }
            RightRow::Half(half) if !self.held.here => Err(task.wrong(missing("b", half.b))),
            RightRow::Half(HalfNear { b, a, distance, content }) => {
                self.pairs += 1;
                let other = read_content(measure, content).map_err(|error| task.wrong(error))?;
                let Some(score) = self.comparer.compare(&other, &self.held.content) else {
                    self.unlike += 1;
                    return Ok(());
                };
                if !self.forest.needs(a, b) {
                    return Ok(());
                }
                let checked = Some(Checked { score, measure });
                task.emit(&AnyPair::Fingerprints(Near { a, b, distance, checked }))
            }
        }
    }

    fn end_group(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.held.here = false;
        Ok(())
    }

    fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        self.forest.finish(task);
        task.count("candidates", self.pairs);
        task.count(UNLIKE, self.unlike);
        Ok(())
    }
}
