//! `simhash`: a document becomes its id and its fingerprint (charikar2002; yanlan; see [`crate::sketch::simhash`]). Where it has too
//! few features for one, the hash of its text takes the place, by which equal texts are found all the same.

use super::feature_order::read_reference;
use super::meta::{MetaOpts, MetaWriter, ScriptCounts, TextSeen};
use super::options::{EqualTextsOpts, FeatureOpts, IdfTableOpts, MinFeaturesOpts};
use super::signature_check::CheckOpts;
use super::text_check::ContentRows;
use crate::error::{Error, Result};
use crate::record::document::{DocumentOpts, Line, SURROGATES};
use crate::record::fingerprint::{FingerprintRow, Fingerprinted, ShortText};
use crate::sketch::distance::Distances;
use crate::sketch::simhash::{Bits, Tie};
use crate::sketch::{Frequencies, Hash, Idf, Sketcher, Weights};
use crate::stage::{Decl, Role, SideFile, Stage, Task};
use crate::text::{Extractor, dominant_script};
use clap::{Args, ValueEnum};
use std::sync::Arc;

/// The stage.
pub struct SimHash {
    opts: SimHashOpts,
    meta: Option<MetaWriter>,
    sketcher: Sketcher,
    /// What is compared of texts, where they are.
    contents: Option<ContentRows>,
    /// What takes the hash of a text without a fingerprint.
    extractor: Extractor,
    /// By script: documents, and those of them without a fingerprint.
    scripts: ScriptCounts,
    /// Documents without a fingerprint and without a text.
    without_text: u64,
}

/// Its options.
#[derive(Args, Clone, Debug)]
pub struct SimHashOpts {
    #[command(flatten)]
    document: DocumentOpts,
    #[command(flatten)]
    fingerprint: FingerprintOpts,
    #[command(flatten)]
    texts: EqualTextsOpts,
    #[command(flatten)]
    check: CheckOpts,
    #[command(flatten)]
    meta: MetaOpts,
}

/// Where inverse document frequencies come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum IdfSource {
    /// The corpus, or the table that --idf-table names.
    Corpus,
    /// jieba's dictionary; it knows words, as --features jieba and words:1 have them.
    Jieba,
}

/// How a text becomes a fingerprint.
#[derive(Args, Clone, Debug)]
pub struct SketchOpts {
    /// What the features are.
    #[command(flatten)]
    pub features: FeatureOpts,
    /// How many of them a document must have.
    #[command(flatten)]
    pub least: MinFeaturesOpts,
    /// What a feature weighs in a fingerprint: 1, how often it occurs (tf), that times its inverse document frequency
    /// (tf-idf), or 1 to 5 by the fifth of the document's features, by tf-idf, that it is in (levels)
    #[arg(long, env = "TWINSPLIT_WEIGHTS", value_enum, default_value = "tf")]
    pub weights: Weights,
    /// Where inverse document frequencies for --weights come from: the corpus (or --idf-table), or jieba's dictionary of
    /// Chinese words
    #[arg(long, env = "TWINSPLIT_WEIGHTS_IDF", value_enum, default_value = "corpus")]
    pub weights_idf: IdfSource,
    /// The table of document frequencies.
    #[command(flatten)]
    pub table: IdfTableOpts,
    /// Bits of a fingerprint
    #[arg(long, env = "TWINSPLIT_BITS", value_enum, default_value = "64")]
    pub bits: Bits,
    /// The bit of a fingerprint where features weigh as much for 1 as for 0
    #[arg(long, env = "TWINSPLIT_TIE", value_enum, default_value = "zero")]
    pub tie: Tie,
    /// The hash of a feature that a fingerprint is made of
    #[arg(long, env = "TWINSPLIT_HASH", value_enum, default_value = "xxh3")]
    pub hash: Hash,
}

/// How near the fingerprints of a pair are.
#[derive(Args, Clone, Debug)]
pub struct DistanceOpts {
    /// Most bits in which the fingerprints of a pair differ, 0 to 32; more for shorter texts with classes such as 3,140:8, each
    /// the most characters of its texts and its distance
    #[arg(long, env = "TWINSPLIT_DISTANCE", default_value_t, value_name = "K")]
    pub distance: Distances,
}

/// How documents become fingerprints, and how near those of a pair are.
#[derive(Args, Clone, Debug)]
pub struct FingerprintOpts {
    /// How a text becomes a fingerprint.
    #[command(flatten)]
    pub sketch: SketchOpts,
    /// How near those of a pair are.
    #[command(flatten)]
    pub distance: DistanceOpts,
}

impl FingerprintOpts {
    /// Whether document frequencies of the corpus have to be counted first.
    pub fn counts(&self) -> bool {
        let SketchOpts { weights, weights_idf, table, .. } = &self.sketch;
        weights.need_idf() && *weights_idf == IdfSource::Corpus && table.idf_table.is_none()
    }

    /// Whether [`crate::hamming::join`] has pairs of this distance.
    pub fn join_in_memory(&self) -> bool {
        self.distance.distance.most() < self.sketch.bits.count() / 2
    }

    /// Where the weights' inverse document frequencies come from; a table is read here.
    pub fn idf(&self) -> Result<Idf> {
        let missing = || {
            Error::Usage(
                "simhash: these --weights need document frequencies: give --idf-table FILE, which twinsplit idf makes, or \
                 --weights-idf jieba; a chain counts them itself"
                    .to_owned(),
            )
        };
        self.sketch.idf()?.ok_or_else(missing)
    }
}

impl SketchOpts {
    /// Where the weights' inverse document frequencies come from; a table is read here. `None` where they are those of the
    /// corpus and have to be counted.
    pub fn idf(&self) -> Result<Option<Idf>> {
        Ok(match (self.weights.need_idf(), self.weights_idf, &self.table.idf_table) {
            (false, ..) => Some(Idf::None),
            (true, IdfSource::Jieba, _) => Some(Idf::Jieba),
            (true, IdfSource::Corpus, Some(path)) => {
                let table = read_reference(path, &self.features)?;
                let of = table.rows.into_iter().collect();
                Some(Idf::Of(Arc::new(Frequencies { documents: table.documents, of })))
            }
            (true, IdfSource::Corpus, None) => None,
        })
    }

    /// What turns texts into fingerprints, with these frequencies.
    pub fn sketcher(&self, idf: Idf) -> Result<Sketcher> {
        let spec = self.features.spec()?;
        let least = self.least.min_features;
        Ok(Sketcher::new(spec, least, self.weights, idf, self.hash, self.bits, self.tie))
    }
}

impl Stage for SimHash {
    type In<'a> = Line<'a>;
    type Out<'a> = FingerprintRow<'a>;
    type Opts = SimHashOpts;
    const DECL: Decl = Decl {
        name: "simhash",
        role: Role::Map,
        about: "Turns documents (JSON lines) into SimHash fingerprints",
        side: &[SideFile {
            option: "idf-table",
            about: "the document frequencies that weights are made of; for --weights tf-idf and levels",
        }],
    };

    const KEEPS_BAD_RECORDS: bool = true;

    fn open(opts: SimHashOpts, _: &mut Task<'_>) -> Result<Self> {
        let sketch = &opts.fingerprint.sketch;
        let (sketcher, spec) = (sketch.sketcher(opts.fingerprint.idf()?)?, sketch.features.spec()?);
        let contents = opts.check.texts().map(|check| ContentRows::new(check, spec.clone()));
        let (meta, extractor) = (MetaWriter::of(&opts.meta), Extractor::new(spec));
        let scripts = ScriptCounts::default();
        Ok(Self { opts, meta, sketcher, contents, extractor, scripts, without_text: 0 })
    }

    fn push(&mut self, line: Line<'_>, task: &mut Task<'_>) -> Result<()> {
        if let Some(meta) = &self.meta {
            meta.check(&self.opts.document, line, task)?;
        }
        let document = self.opts.document.read(line.0, &task.place).map_err(|error| task.bad(error))?;
        let fingerprint = self.sketcher.fingerprint(&document.text);
        let length = document.text.chars().count() as u64;
        let seen = TextSeen { script: dominant_script(&document.text), length };
        self.scripts.take(seen.script, fingerprint.is_some());
        task.count_some(SURROGATES, document.surrogates);
        if let Some(meta) = &mut self.meta {
            meta.write(&document, seen, task)?;
        }
        let Some(fingerprint) = fingerprint else {
            if !self.opts.texts.are_compared() {
                return Ok(());
            }
            let Some(text) = self.extractor.text_hash(&document.text) else {
                self.without_text += 1;
                return Ok(());
            };
            return task.emit(&ShortText { id: &document.id, text });
        };
        let distances = &self.opts.fingerprint.distance.distance;
        let content = self.contents.as_mut().map(|contents| contents.hash(&document.text));
        let distance = (!distances.is_one() || content.is_some()).then(|| distances.of(length));
        task.emit(&Fingerprinted { id: &document.id, fingerprint, distance, content })
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
