//! Threads read and tokenize blocks of the input, and put together what they keep.

use super::gathered::Gathered;
use super::long::{BlockRoom, LongSet, Sum};
use super::sites::{Sites, site_of};
use super::texts::TextRow;
use super::{Documents, FeatureRow, FieldCount};
use crate::columnar::ColumnarOpts;
use crate::columnar::fingerprints::Printer;
use crate::columnar::minhash::band_keys::BandKeys;
use crate::columnar::ragged::Ragged;
use crate::columnar::sorter::{SortWriter, Sorter};
use crate::memory::Budget;
use crate::progress::Progress;
use std::convert::Infallible;
use std::path::Path;
use std::sync::Mutex;
use twinsplit_core::cluster::keep::KeepRule;
use twinsplit_core::sketch::bands::BandHasher;
use twinsplit_core::text::{Extractor, LONG, Letters, Pieces, dominant_script};
use twinsplit_core::threads::{in_threads, lock};
use twinsplit_io::error::{Error, FieldError, Place, Result};
use twinsplit_io::{Block, Blocks, each_line};
use twinsplit_rows::bad_records::BadRecords;
use twinsplit_rows::record::document::Document;
use twinsplit_rows::record::meta::{InputPlace, Meta};
use twinsplit_rows::stage::Counters;
use twinsplit_rows::stages::cluster::rank_of;

/// The documents of one block.
pub(super) struct Batch {
    pub documents: Documents,
    /// Of each the keys of its bands, or its fingerprint, where they are asked for.
    pub numbers: Vec<u64>,
    pub scripts: Vec<&'static str>,
    pub bytes: u64,
    /// What is wrong with the last document's site.
    wrong_site: Option<FieldError>,
}

/// Where a thread's rows go.
struct Out<'s, 'b> {
    features: SortWriter<'s, 'b, FeatureRow>,
    texts: SortWriter<'s, 'b, TextRow>,
}

impl Documents {
    /// Reads and tokenizes all documents in `threads` threads. Gives them and their features, and counts.
    ///
    /// Lines that are no documents go to a quarantine in the folder, where the options let them pass.
    pub fn read<'b>(
        blocks: Blocks,
        opts: &ColumnarOpts,
        threads: usize,
        (features, texts): (&Sorter<'b, FeatureRow>, &Sorter<'b, TextRow>),
        (budget, work): (&'b Budget, &'b Path),
        progress: &'b Progress,
    ) -> Result<(Self, Counters)> {
        let blocks = Mutex::new(blocks);
        let spec = opts.features.spec()?;
        let idf = opts.weights_idf()?;
        let all = Documents { keys: BandKeys::new(opts.keys_of_a_document()?), ..Documents::none(opts) };
        let gathered = Mutex::new(Gathered::new(budget, work, progress, all));
        // The first error in the order of the input: all blocks before the one that failed are with some thread.
        let failed: Mutex<Option<(u64, Error)>> = Mutex::default();
        let fail = |number, error| {
            let mut failed = lock(&failed);
            if failed.as_ref().is_none_or(|(known, _)| number < *known) {
                *failed = Some((number, error));
            }
        };
        in_threads(threads, threads, |number| {
            let mut bad = BadRecords::kept("tokenize", opts.document.bad_records, work, number as u32)?;
            let mut extractor = Extractor::new(spec.clone());
            let mut keys = opts.band_keys()?;
            let printer = opts.fingerprints.as_ref().zip(idf.clone());
            let mut printer = printer.map(|(opts, idf)| Printer::new(opts, idf)).transpose()?;
            let mut out = Out { features: features.writer(), texts: texts.writer() };
            while lock(&failed).is_none() {
                let held = printer.as_ref().map(Printer::held_of_a_line);
                let mut room = BlockRoom::new(budget, features, (&spec, held));
                let (block, raw) = {
                    let mut blocks = lock(&blocks);
                    (room.next_block(&mut blocks), blocks.raw_bytes())
                };
                progress.set(raw);
                let block = match block {
                    Ok(Some(block)) => block,
                    Ok(None) => break,
                    Err(error) => {
                        fail(u64::MAX, error);
                        break;
                    }
                };
                let mut reader = LineReader {
                    opts,
                    extractor: &mut extractor,
                    keys: &mut keys,
                    printer: &mut printer,
                    out: &mut out,
                    place: (budget, work),
                };
                let batch = Batch::read(&block, &mut reader, &mut bad);
                let number = block.number;
                // In this order: who waits for the room finds the memory given back.
                drop(block);
                drop(room);
                if let Err(error) = batch.and_then(|batch| lock(&gathered).add(number, batch)) {
                    fail(number, error);
                }
            }
            bad.finish()?;
            out.features.finish()?;
            out.texts.finish()
        })?;
        if let Some((_, error)) = lock(&failed).take() {
            return Err(error);
        }
        let gathered = gathered.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (mut all, bytes) = gathered.finish();
        let blocks = blocks.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        all.read = blocks.contents().to_vec();
        all.field.check(opts)?;
        all.number()?;
        let mut counters = all.counters();
        counters.insert("map_records_in".to_owned(), all.places() as u64);
        counters.insert("map_bytes_in".to_owned(), bytes);
        let spilled = features.spilled() + texts.spilled() + all.keys.spilled();
        counters.insert("spilled_bytes".to_owned(), spilled);
        Ok((all, counters))
    }
}

impl Documents {
    /// No documents yet.
    fn none(opts: &ColumnarOpts) -> Self {
        let rule = opts.keep.keep;
        Self {
            ranks: (!matches!(rule, KeepRule::SmallestId | KeepRule::First)).then(Ragged::default),
            by_place: rule == KeepRule::First,
            field: FieldCount::of(opts),
            sites: Sites::wanted(opts),
            ..Self::default()
        }
    }
}

/// What documents are read by, and where their features go.
struct LineReader<'w, 's, 'b> {
    opts: &'w ColumnarOpts,
    extractor: &'w mut Extractor,
    /// What makes the keys of bands, where they are asked for.
    keys: &'w mut Option<BandHasher>,
    /// What makes fingerprints, where documents are compared by these.
    printer: &'w mut Option<Printer>,
    out: &'w mut Out<'s, 'b>,
    place: (&'b Budget, &'w Path),
}

impl Batch {
    fn read(block: &Block, reader: &mut LineReader<'_, '_, '_>, bad: &mut BadRecords) -> Result<Self> {
        let first = u32::try_from(block.first + block.lines).ok().filter(|last| *last < u32::MAX);
        if first.is_none() {
            return Err(Error::Limit(format!(
                "tokenize: {}: more than {} documents; split the collection, or take doc-split --engine pipes",
                block.place,
                u32::MAX - 1
            )));
        }
        let mut batch = Batch {
            documents: Documents::none(reader.opts),
            numbers: Vec::new(),
            scripts: Vec::new(),
            bytes: block.bytes.len() as u64,
            wrong_site: None,
        };
        let mut set = Vec::new();
        each_line(block, |line, place| {
            batch.documents.field.look(reader.opts, place, line)?;
            let number = block.first as u32 + batch.documents.places() as u32;
            let read = if let Some(printer) = reader.printer {
                if line.len() > LONG && printer.held_of_a_line().is_none() {
                    batch.long_fingerprinted(line, place, reader)
                } else {
                    batch.fingerprinted(line, place, reader)
                }
            } else if line.len() > LONG {
                batch.long_document(line, place, number, reader, &mut set)?
            } else {
                batch.document(line, place, reader, &mut set)
            };
            match read {
                Ok(hash) => {
                    hash.map_or(Ok(()), |hash| reader.out.texts.push(TextRow::new(hash, number)))?;
                    // A site that cannot be read: the document stays, but its features are those of no page.
                    if let Some(error) = batch.wrong_site.take() {
                        set.clear();
                        bad.pass(line, place, error)?;
                    }
                    let features = &mut reader.out.features;
                    set.drain(..)
                        .try_for_each(|feature| features.push(FeatureRow { feature, document: number }))
                }
                Err(error) => {
                    batch.pass(place);
                    reader.keys.iter().for_each(|keys| keys.none(&mut batch.numbers));
                    reader.printer.iter().for_each(|_| Printer::none(&mut batch.numbers));
                    bad.pass(line, place, error)
                }
            }
        })?;
        Ok(batch)
    }

    /// Reads a document; its features are in `set` then. Gives the hash of its text where the set is too small.
    fn document(
        &mut self,
        line: &[u8],
        place: &Place,
        reader: &mut LineReader<'_, '_, '_>,
        set: &mut Vec<u64>,
    ) -> Result<Option<u128>, FieldError> {
        let document = reader.opts.document.read(line, place)?;
        let script = dominant_script(&document.text);
        let ranked = self.documents.ranks.is_some();
        let length = if ranked { document.text.chars().count() } else { 0 };
        let rank = ranked.then(|| rank(reader.opts, &document, length, script)).transpose()?;
        reader.extractor.distinct(&document.text, set);
        let hash =
            reader.opts.hashes_text(set.len() as u64).then(|| reader.extractor.text_hash(&document.text));
        self.sign(reader, set);
        let sum = if self.take_site(line, reader.opts) { Sum::of(set) } else { Sum::default() };
        Ok(self.keep((place, &document), (rank, script), &sum, hash))
    }

    /// Reads a document whose fingerprint is kept, and nothing of its features: a set of size 1 stands for that.
    fn fingerprinted(
        &mut self,
        line: &[u8],
        place: &Place,
        reader: &mut LineReader<'_, '_, '_>,
    ) -> Result<Option<u128>, FieldError> {
        let document = reader.opts.document.read(line, place)?;
        let script = dominant_script(&document.text);
        let ranked = self.documents.ranks.is_some();
        let length = if ranked { document.text.chars().count() } else { 0 };
        let rank = ranked.then(|| rank(reader.opts, &document, length, script)).transpose()?;
        let numbers = &mut self.numbers;
        let has = reader.printer.as_mut().is_some_and(|printer| printer.of(&document.text, numbers));
        let sum = Sum { size: has.into(), ..Sum::default() };
        let compares = !has && reader.opts.texts.are_compared();
        let hash = compares.then(|| reader.extractor.text_hash(&document.text));
        Ok(self.keep((place, &document), (rank, script), &sum, hash))
    }

    /// The same of a long line, whose text is taken piece by piece.
    fn long_fingerprinted(
        &mut self,
        line: &[u8],
        place: &Place,
        reader: &mut LineReader<'_, '_, '_>,
    ) -> Result<Option<u128>, FieldError> {
        let (mut document, text) = reader.opts.document.read_but_text(line, place)?;
        let (mut letters, mut length, mut surrogates) = (Letters::default(), 0, 0);
        let before = self.numbers.len();
        let parts = |visit: &mut dyn FnMut(&str)| {
            let part = |part: &str| {
                letters.add(part);
                length += part.chars().count();
                visit(part);
                Ok::<(), Infallible>(())
            };
            let Ok(read) = text.each_part(part);
            surrogates = read?;
            Ok(length as u64)
        };
        let numbers = &mut self.numbers;
        let has = reader.printer.as_mut().map_or(Ok(false), |printer| printer.of_parts(parts, numbers));
        let script = letters.dominant();
        let ranked = self.documents.ranks.is_some();
        let rank = || ranked.then(|| rank(reader.opts, &document, length, script)).transpose();
        let (has, rank) = has.and_then(|has| Ok((has, rank()?))).inspect_err(|_| {
            // A line that is no document has none.
            self.numbers.truncate(before);
        })?;
        document.surrogates = surrogates;
        let sum = Sum { size: has.into(), ..Sum::default() };
        let compares = !has && reader.opts.texts.are_compared();
        let hash = compares.then(|| reader.extractor.text_hash_of(|visit| text.each_part(visit)));
        Ok(self.keep((place, &document), (rank, script), &sum, hash))
    }

    /// Takes the site of a document that is going to be kept; says whether it could be read.
    fn take_site(&mut self, line: &[u8], opts: &ColumnarOpts) -> bool {
        let Some(sites) = &mut self.documents.sites else { return true };
        let site = site_of(opts, line);
        sites.push(site.as_ref().ok().and_then(|site| site.as_deref()));
        self.wrong_site = site.err();
        self.wrong_site.is_none()
    }

    /// The same of a long line, whose text is taken piece by piece. Features of which there are many have been put down
    /// then, and are not in `set`.
    fn long_document(
        &mut self,
        line: &[u8],
        place: &Place,
        number: u32,
        reader: &mut LineReader<'_, '_, '_>,
        set: &mut Vec<u64>,
    ) -> Result<Result<Option<u128>, FieldError>> {
        let (mut document, text) = match reader.opts.document.read_but_text(line, place) {
            Ok(read) => read,
            Err(error) => return Ok(Err(error)),
        };
        let (mut letters, mut length) = (Letters::default(), 0);
        let (budget, work) = reader.place;
        let many = Sorter::new(budget, work, 0, u64::MAX);
        let mut features = LongSet::new(set, &many);
        let mut pieces = Pieces::new(reader.extractor);
        let read = text.each_part(|part| {
            letters.add(part);
            length += part.chars().count();
            pieces.push(part, &mut |feature| features.push(feature))
        })?;
        pieces.finish(&mut |feature| features.push(feature))?;
        let script = letters.dominant();
        let ranked = self.documents.ranks.is_some();
        let rank = || ranked.then(|| rank(reader.opts, &document, length, script)).transpose();
        let (rank, surrogates) = match read.and_then(|surrogates| Ok((rank()?, surrogates))) {
            Ok(read) => read,
            Err(error) => return Ok(Err(error)),
        };
        document.surrogates = surrogates;
        let out = &mut reader.out.features;
        let of_site = self.take_site(line, reader.opts);
        reader.keys.iter_mut().for_each(BandHasher::start);
        let sum = features.finish(&mut |feature| {
            reader.keys.iter_mut().for_each(|keys| keys.add(feature));
            match of_site {
                true => out.push(FeatureRow { feature, document: number }),
                false => Ok(()),
            }
        })?;
        match reader.keys {
            // More than a document has whose features are held.
            Some(keys) if set.is_empty() && sum.size > 0 => {
                if !keys.finish(&mut self.numbers) {
                    return Err(Error::Limit(
                        "minhash: a signature has more values than its many features fill; give fewer --hashes"
                            .to_owned(),
                    ));
                }
            }
            _ => self.sign(reader, set),
        }
        let hashes = reader.opts.hashes_text(sum.size.into());
        let sum = if of_site { sum } else { Sum::default() };
        let hash = hashes.then(|| reader.extractor.text_hash_of(|visit| text.each_part(visit)));
        Ok(Ok(self.keep((place, &document), (rank, script), &sum, hash)))
    }

    /// Keeps the keys of a document with this set.
    fn sign(&mut self, reader: &mut LineReader<'_, '_, '_>, set: &[u64]) {
        let out = &mut self.numbers;
        match reader.keys {
            Some(keys) if reader.opts.least.admits(set.len() as u64) => keys.of(set, out),
            Some(keys) => keys.none(out),
            None => {}
        }
    }

    /// Keeps what stays of a document. Gives the hash of its text, where it was asked for and there is one.
    fn keep(
        &mut self,
        (place, document): (&Place, &Document<'_>),
        (rank, script): (Option<Vec<u8>>, &'static str),
        set: &Sum,
        hash: Option<Option<u128>>,
    ) -> Option<u128> {
        let own = &mut self.documents;
        own.field.add(document);
        if let (Some(ranks), Some(rank)) = (&mut own.ranks, rank) {
            ranks.push(&rank);
        }
        own.without_text += u64::from(hash == Some(None));
        own.surrogates += document.surrogates;
        own.stands(place);
        own.ids.push(&document.id);
        own.sizes.push(set.size);
        own.hashes.push(set.hash);
        self.scripts.push(script);
        hash.flatten()
    }
}

/// What the keep rule sorts a document by, where it looks at more than ids and places.
fn rank(
    opts: &ColumnarOpts,
    document: &Document<'_>,
    length: usize,
    script: &'static str,
) -> Result<Vec<u8>, FieldError> {
    let date = document.date.map(|date| date.to_string()).unwrap_or_default();
    let meta = Meta {
        id: &document.id,
        length: length as u64,
        date: date.as_bytes(),
        score: document.score.as_bytes(),
        script: script.as_bytes(),
        place: InputPlace::default(),
        file: b"",
        line: 0,
    };
    rank_of(opts.keep.keep, &meta)
}

impl Batch {
    /// Leaves the place of a line that is no document empty.
    fn pass(&mut self, place: &Place) {
        let own = &mut self.documents;
        own.stands(place);
        own.bad.push(own.places() as u32);
        own.ids.push(&[]);
        if let Some(sites) = &mut own.sites {
            sites.push(None);
        }
        if let Some(ranks) = &mut own.ranks {
            ranks.push(&[]);
        }
        own.sizes.push(0);
        own.hashes.push(0);
        self.scripts.push(dominant_script(""));
    }
}
