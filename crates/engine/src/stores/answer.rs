//! What a batch leaves beside its store: pairs, the clusters that it has touched, what has changed of earlier decisions, and which batch old documents
//! came in.

use crate::progress::Done;
use crate::steps::LocalSteps;
use rustc_hash::FxHashSet;
use std::fs;
use std::path::{Path, PathBuf};
use twinsplit_core::similarity::Measure;
use twinsplit_io::AtomicFile;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::mapped::{Bytes, Map};
use twinsplit_rows::chains::{CLUSTERS, DOCUMENTS, KEPT, PAIRS, Part, Step};
use twinsplit_rows::record::Record;
use twinsplit_rows::record::cluster::{ClusterRow, Verdict};
use twinsplit_rows::record::pair;
use twinsplit_store::{Added, Change, Member, Pair, Settings, Store};

/// Documents of earlier batches for which another one is kept than before.
pub const CHANGES: &str = "changes.tsv";
/// The batches of the documents of earlier ones.
pub const BATCHES: &str = "batches.tsv";
/// The files, in the order in which the store keeps them.
const FILES: [&str; 4] = ["pairs.tsv", "clusters.tsv", CHANGES, BATCHES];

/// See the module.
pub struct Answer {
    work: PathBuf,
    folder: PathBuf,
    measure: Measure,
    pairs: Option<AtomicFile>,
    found: u64,
    /// How many documents of the batch are dropped.
    dropped: u64,
    max_pairs: u64,
    row: Vec<u8>,
}

impl Answer {
    /// Begins one: `work` is for what is sorted, `folder` for the files.
    pub fn start(work: &Path, folder: &Path, settings: &Settings, max_pairs: u64) -> Result<Self> {
        for data in [PAIRS, CLUSTERS] {
            let folder = work.join(data);
            fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
        }
        let pairs = AtomicFile::create(&work.join(PAIRS).join("part-00000"))?;
        Ok(Self {
            work: work.to_owned(),
            folder: folder.to_owned(),
            measure: settings.similarity.measure(),
            pairs: Some(pairs),
            found: 0,
            dropped: 0,
            max_pairs,
            row: Vec::new(),
        })
    }

    /// Takes a pair.
    pub fn pair(&mut self, Pair { a, b, overlap }: Pair<'_>) -> Result<()> {
        self.found += 1;
        if self.found > self.max_pairs {
            return Err(Error::Limit(format!(
                "store: more than {} pairs of documents; a higher tau has fewer, or raise --max-pairs",
                self.max_pairs
            )));
        }
        self.row.clear();
        let (size_a, size_b, measure) = (a.size, b.size, self.measure);
        pair::Pair { a: a.id, b: b.id, overlap, size_a, size_b, measure }.encode(&mut self.row);
        match &mut self.pairs {
            Some(file) => file.line(&self.row),
            None => Ok(()),
        }
    }

    /// Writes the files, and gives their bytes.
    pub fn write(&mut self, engine: &LocalSteps<'_>, added: &Added, store: &Store) -> Result<Vec<Bytes>> {
        self.pairs.take().map_or(Ok(()), AtomicFile::finish)?;
        engine.sort(PAIRS, &self.folder.join(FILES[0]))?;
        let number = store.manifest().batches.iter().map(|batch| batch.number).max().unwrap_or(0) + 1;
        let changes = added.changes.iter().map(change).collect();
        let (mut clusters, mut batches) = (Vec::new(), Vec::new());
        for (kept, members) in &added.clusters {
            for member in members {
                clusters.push(row_of(kept, member));
                self.dropped += u64::from(member.batch == number && member.id != *kept);
                let batch = store.batch_of(member.batch).filter(|_| member.batch != number);
                batches.extend(batch.map(|batch| [&member.id[..], b"\t", batch.id.as_bytes()].concat()));
            }
        }
        for (name, mut rows) in FILES[1..].iter().zip([clusters, changes, batches]) {
            rows.sort_unstable();
            write(&self.folder.join(name), &rows)?;
        }
        let bytes = |name: &&str| {
            let map = Map::of(&self.folder.join(name))?;
            let all = 0..map.len();
            Ok(Bytes::Mapped(map.into(), all))
        };
        FILES.iter().map(bytes).collect()
    }

    /// How many documents of the batch are dropped, when the files are written.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Writes the files of a batch that was committed before; how many pairs and clusters these have, and how many documents of the batch are dropped.
    pub fn write_again(&self, parts: &[Bytes]) -> Result<[u64; 3]> {
        for (name, part) in FILES.iter().zip(parts) {
            let mut file = AtomicFile::create(&self.folder.join(name))?;
            file.bytes(part)?;
            file.finish()?;
        }
        let lines = |part: usize| {
            parts.get(part).into_iter().flat_map(|part| part.split_inclusive(|byte| *byte == b'\n'))
        };
        let is_kept = |line: &[u8]| {
            ClusterRow::decode(line.trim_ascii_end()).is_ok_and(|row| row.verdict == Verdict::Keep)
        };
        let clusters = lines(1).filter(|line| is_kept(line)).count() as u64;
        let earlier: FxHashSet<&[u8]> =
            lines(3).filter_map(|line| line.split(|byte| *byte == b'\t').next()).collect();
        let is_of_batch = |line: &[u8]| {
            ClusterRow::decode(line.trim_ascii_end()).is_ok_and(|row| !earlier.contains(row.id))
        };
        let dropped = lines(1).filter(|line| !is_kept(line) && is_of_batch(line)).count() as u64;
        Ok([lines(0).count() as u64, clusters, dropped])
    }

    /// Writes the lines of the documents of the batch that no cluster drops.
    pub fn kept(&self, engine: &mut LocalSteps<'_>) -> Result<Vec<Done>> {
        let clusters = self.work.join(CLUSTERS).join("part-00000");
        fs::copy(self.folder.join(FILES[1]), &clusters).map_err(Error::io("write", &clusters))?;
        let why = "Passes on the lines of documents that no cluster drops.";
        let step = Step::map("write-kept", why, &[DOCUMENTS], KEPT).beside("clusters", CLUSTERS).one_task();
        let done = engine.run_parts(&[Part::Step(step)], "")?;
        let kept = self.work.join(KEPT).join("part-00000");
        fs::rename(&kept, self.folder.join("kept.jsonl")).map_err(Error::io("rename", &kept))?;
        Ok(done)
    }
}

fn row_of(kept: &[u8], member: &Member) -> Vec<u8> {
    let verdict = if *kept == *member.id { Verdict::Keep } else { Verdict::Drop(member.score) };
    let mut row = Vec::new();
    ClusterRow { kept, id: &member.id, verdict }.encode(&mut row);
    row
}

/// The row of a document for which another one is kept than before.
pub fn change(change: &Change) -> Vec<u8> {
    [&*change.id, &*change.before, &*change.now].join(&b'\t')
}

fn write(path: &Path, rows: &[Vec<u8>]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    rows.iter().try_for_each(|row| file.line(row))?;
    file.finish()
}
