//! A corpus of any size that is shaped like a crawl, made from a little real text, with the truth about its copies.
//!
//! Measurements at the size of a crawl need a crawl, and crawls cannot be redistributed. This makes one: any number of
//! documents, the same bytes everywhere for the same options, no easier to join than real text (`docs/corpus.md` shows
//! by what measure).
//!
//! | module | what |
//! |---|---|
//! | [`random`] | random numbers that are the same everywhere |
//! | [`model`] | words that follow words as in real text, and new ones |
//! | [`words`] | a text as words |
//! | [`edit`] | what a copy does to its source |
//! | [`crawl`] | which document stands on which site, and which is a copy of which |
//!
//! # A document is a function of its number
//! Document 5 is the same whether five documents are made or a million, whichever thread makes it: the first documents
//! of a larger corpus are the smaller corpus (of the same seed, model and mean length). A copy's source has a smaller
//! number, and its text is made anew, by the same function, and edited: a copy costs what an original costs, and nothing
//! but the model is kept in memory.
//!
//! Nothing here knows of files.

pub mod crawl;
pub mod edit;
pub mod model;
pub mod random;
pub mod words;

use crawl::{Crawl, Lineage, Page};
use model::{Builder, Model};
use random::Random;
use words::Words;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Shape {
    /// From which everything random follows.
    pub seed: u64,
    /// Mean bytes of a document's line.
    pub mean: f64,
    /// The share of documents that are copies of earlier ones.
    pub copies: f64,
    /// The share of documents in Chinese.
    pub chinese: f64,
}

/// The models of both languages.
#[derive(Debug)]
pub struct Models {
    english: Model,
    chinese: Option<Model>,
}

/// Takes real documents and makes the models of both languages from them.
#[derive(Debug, Default)]
pub struct ModelsBuilder {
    english: Builder,
    chinese: Builder,
}

impl ModelsBuilder {
    /// Takes a document: for the Chinese model when a fifth of its bytes and more are Han characters, of three bytes each. (Pages about programs have more Latin letters than that, in any language.)
    pub fn text(&mut self, text: &str) {
        let han = text.chars().filter(|c| model::is_han(*c)).count() * 3;
        let model = if han * 5 >= text.len().max(1) { &mut self.chinese } else { &mut self.english };
        model.text(text);
    }

    /// The models, when there is text for each language that is needed; otherwise the name of the one that has none.
    pub fn models(self, needs_chinese: bool) -> Result<Models, &'static str> {
        let english = self.english.model().ok_or("English")?;
        let chinese = self.chinese.model();
        if needs_chinese && chinese.is_none() {
            return Err("Chinese");
        }
        Ok(Models { english, chinese })
    }
}

/// A corpus: every document of it can be made, in any order.
#[derive(Debug)]
pub struct Corpus<'m> {
    shape: Shape,
    models: &'m Models,
    crawl: Crawl,
}

/// Buffers that are used again from document to document.
#[derive(Debug, Default)]
pub struct Scratch {
    lineage: Vec<Lineage>,
    body: Words,
    other: Words,
    frame: Words,
}

/// Where the streams of a seed are used.
mod purpose {
    pub const BODY: u64 = 1;
    pub const EDIT: u64 = 2;
    pub const TEMPLATE: u64 = 3;
    pub const LEXICON: u64 = 4;
}

/// The deviation of the logarithm of a page's length.
const SIGMA: f64 = 1.0;
/// The same of a template.
const SIGMA_TEMPLATE: f64 = 0.8;
/// Of the mean length of a page: what the mean template has.
const TEMPLATE: f64 = 1.0 / 24.0;
/// The same of a catalogue's template, and of the text that stands in it on the mean page.
const CATALOGUE: f64 = 1.0 / 4.0;
const ENTRY: f64 = 1.0 / 8.0;
/// The shortest body, in bytes.
const SHORTEST: f64 = 80.0;
/// The longest body, as a multiple of the mean.
const LONGEST: f64 = 40.0;
/// Bytes of a line around its text: names of fields, id, address, host, language.
const AROUND: f64 = 150.0;

impl<'m> Corpus<'m> {
    /// The corpus of a shape.
    pub fn new(shape: Shape, models: &'m Models) -> Self {
        let crawl = Crawl::new(shape.seed, shape.copies, shape.chinese);
        Self { shape, models, crawl }
    }

    /// Appends a document's line, with its end, to `out`; to `truth`, when it is a copy, a row that says of what.
    pub fn document(&self, number: u64, scratch: &mut Scratch, out: &mut Vec<u8>, truth: &mut Vec<u8>) {
        let Scratch { lineage, body, other, frame } = scratch;
        self.crawl.lineage(number, lineage);
        // A lineage begins at the document and ends at the original.
        let Some(root) = lineage.last().copied() else { return };
        let model = self.model(root.page);
        self.original(root, model, body);
        let mut edited = 0;
        for copy in lineage.iter().rev().skip(1) {
            let mut random = Random::of(self.shape.seed, purpose::EDIT, copy.number);
            edited = copy.edit.apply(body, other, model, &mut random, self.lexicon(copy.page));
            std::mem::swap(body, other);
        }
        let page = lineage[0].page;
        self.line(number, page, model, body, frame, out);
        if let Some(source) = lineage.get(1) {
            let row = format!(
                "{number:09}\t{:09}\t{}\t{edited}\t{}\t{:09}\n",
                source.number,
                lineage[0].edit.name(),
                body.len(),
                root.number
            );
            truth.extend_from_slice(row.as_bytes());
        }
    }

    fn model(&self, page: Page) -> &'m Model {
        self.models.chinese.as_ref().filter(|_| page.chinese).unwrap_or(&self.models.english)
    }

    fn lexicon(&self, page: Page) -> u64 {
        Random::of(self.shape.seed, purpose::LEXICON, page.site).bits()
    }

    /// The text of an original, without its site's template.
    fn original(&self, root: Lineage, model: &Model, body: &mut Words) {
        body.clear();
        let mut random = Random::of(self.shape.seed, purpose::BODY, root.number);
        let mean = self.shape.mean - AROUND;
        let length = if root.page.catalogue {
            random.log_normal(SIGMA) * mean * ENTRY
        } else {
            // What the pages of catalogues lack, the others have.
            let share = self.crawl.catalogues();
            let mean = mean * (1.0 - share * (ENTRY + CATALOGUE)) / (1.0 - share);
            random.log_normal(SIGMA) * mean - self.template(root.page).bytes
        };
        let length = length.clamp(SHORTEST, LONGEST * self.shape.mean.max(SHORTEST));
        body.walk_bytes(model, &mut random, self.lexicon(root.page), length as usize);
    }

    /// A site's template: how long it is, and the stream that its words come from.
    fn template(&self, page: Page) -> Template {
        let mut random = Random::of(self.shape.seed, purpose::TEMPLATE, page.site);
        let long = random.log_normal(SIGMA_TEMPLATE);
        let mean = self.shape.mean - AROUND;
        let bytes = if page.catalogue { mean * CATALOGUE } else { long * mean * TEMPLATE };
        Template { bytes, random }
    }

    fn line(
        &self,
        number: u64,
        page: Page,
        model: &Model,
        body: &Words,
        frame: &mut Words,
        out: &mut Vec<u8>,
    ) {
        let (segment, rank) = page.address();
        let language = if page.chinese { "zh" } else { "en" };
        let head = format!(
            "{{\"id\":\"{number:09}\",\"url\":\"http://site{rank}.crawl{segment}.example/{number}.html\",\
             \"host\":\"site{rank}.crawl{segment}.example\",\"language\":\"{language}\",\"text\":\""
        );
        out.extend_from_slice(head.as_bytes());
        let Template { bytes, mut random } = self.template(page);
        frame.clear();
        frame.walk_bytes(model, &mut random, self.lexicon(page), bytes as usize);
        // Two thirds stand above the text, the navigation among them, the rest below.
        let above = frame.len() * 2 / 3;
        let shown: usize = (0..above).map(|at| frame.word(at).len()).sum();
        let header = &frame.bytes()[..shown];
        out.extend_from_slice(header.strip_prefix(b"\\n").unwrap_or(header));
        out.extend_from_slice(b"\\n");
        out.extend_from_slice(body.bytes());
        out.extend_from_slice(b"\\n");
        out.extend_from_slice(&frame.bytes()[shown..]);
        out.extend_from_slice(b"\"}\n");
    }
}

struct Template {
    bytes: f64,
    random: Random,
}
