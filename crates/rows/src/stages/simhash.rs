//! `simhash`: a document becomes its id and its fingerprint (charikar2002; yanlan; see [`twinsplit_core::sketch::simhash`]). Where it has too
//! few features for one, the hash of its text takes the place, by which equal texts are found all the same.

use super::feature_order::read_reference;
use super::meta::{MetaOpts, MetaWriter, ScriptCounts, TextSeen};
use super::options::{EqualTextsOpts, FeatureOpts, IdfTableOpts, MinFeaturesOpts};
use super::signature_check::CheckOpts;
use super::text_check::ContentRows;
use crate::record::document::{DocumentOpts, Line, SURROGATES};
use crate::record::fingerprint::{FingerprintRow, Fingerprinted, ShortText};
use crate::stage::{Decl, Role, SideFile, Stage, Task};
use std::sync::Arc;
use twinsplit_core::sketch::distance::Distances;
use twinsplit_core::sketch::simhash::{Bits, Tie};
use twinsplit_core::sketch::{Frequencies, Hash, Idf, Sketcher, Weights};
use twinsplit_core::text::{Extractor, dominant_script};
use twinsplit_io::error::{Error, Result};

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

twinsplit_core::options! {
    /// Its options.
    pub struct SimHashOpts {}
    with {
        document: DocumentOpts,
        fingerprint: FingerprintOpts,
        texts: EqualTextsOpts,
        check: CheckOpts,
        meta: MetaOpts,
    }
}

twinsplit_core::choice! {
    /// Where inverse document frequencies come from.
    pub enum IdfSource {
        /// The corpus, or the table that --idf-table names.
        Corpus = "corpus",
        /// jieba's dictionary; it knows words, as --features jieba and words:1 have them.
        Jieba = "jieba",
    }
}

twinsplit_core::options! {
    /// How a text becomes a fingerprint.
    pub struct SketchOpts {
        /// What a feature weighs in a fingerprint: 1, how often it occurs (tf), that times its inverse document frequency
        /// (tf-idf), or 1 to 5 by the fifth of the document's features, by tf-idf, that it is in (levels)
        pub weights: Weights = "tf";
        /// Where inverse document frequencies for --weights come from: the corpus (or --idf-table), or jieba's dictionary of
        /// Chinese words
        pub weights_idf: IdfSource = "corpus";
        /// Bits of a fingerprint
        pub bits: Bits = "64";
        /// The bit of a fingerprint where features weigh as much for 1 as for 0
        pub tie: Tie = "zero";
        /// The hash of a feature that a fingerprint is made of
        pub hash: Hash = "xxh3";
    }
    with {
        /// What the features are.
        pub features: FeatureOpts,
        /// How many of them a document must have.
        pub least: MinFeaturesOpts,
        /// The table of document frequencies.
        pub table: IdfTableOpts,
    }
}

twinsplit_core::options! {
    /// How near the fingerprints of a pair are.
    pub struct DistanceOpts {
        /// Most bits in which the fingerprints of a pair differ, 0 to 32; more for shorter texts with classes such as 3,140:8, each
        /// the most characters of its texts and its distance
        pub distance: Distances = Distances::default(), "K";
    }
}

twinsplit_core::options! {
    /// How documents become fingerprints, and how near those of a pair are.
    pub struct FingerprintOpts {}
    with {
        /// How a text becomes a fingerprint.
        pub sketch: SketchOpts,
        /// How near those of a pair are.
        pub distance: DistanceOpts,
    }
}

impl FingerprintOpts {
    /// Whether document frequencies of the corpus have to be counted first.
    pub fn counts(&self) -> bool {
        let SketchOpts { weights, weights_idf, table, .. } = &self.sketch;
        weights.need_idf() && *weights_idf == IdfSource::Corpus && table.idf_table.is_none()
    }

    /// Whether [`twinsplit_hamming::join`] has pairs of this distance.
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
        if spec.counts {
            let advice =
                "--counts is for sets; fingerprints count features by --weights tf; leave --counts out";
            return Err(Error::Usage(advice.to_owned()));
        }
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
