//! What a run let pass: the quarantines of its tasks become one file, `quarantine.tsv`, sorted by file and line.

use std::fs;
use std::path::{Path, PathBuf};
use twinsplit_core::visible;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::{Target, expand_inputs, open, read_row};
use twinsplit_rows::bad_records::{FOLDER, MostBad};
use twinsplit_rows::params::Params;
use twinsplit_rows::record::Record;
use twinsplit_rows::record::bad::BadLine;
use twinsplit_rows::record::document::DocumentOpts;

/// The name of the file in a run's output folder.
pub const QUARANTINE: &str = "quarantine.tsv";

/// A line of a task's quarantine: where its document stands, and where it stands itself.
type Found = (Vec<u8>, u64, usize, u64);

/// Where a quarantine comes to lie.
pub struct Places<'a> {
    /// Where it is written.
    pub made: &'a Target,
    /// The name that it gets in the end.
    pub shown: &'a Path,
    /// Where it is written when it holds too much.
    pub failed: &'a Target,
}

/// The quarantine beside what a command writes; nothing where no line may pass.
pub fn beside<'p>(
    output: &Target,
    bad_records: MostBad,
    reads: impl IntoIterator<Item = &'p Path>,
) -> Result<Option<Target>> {
    if bad_records.0 == 0 {
        return Ok(None);
    }
    if !output.is_file() {
        return Err(Error::Usage(
            "--bad-records puts bad documents beside the output, so --output must be a file".to_owned(),
        ));
    }
    let mut path = output.path().as_os_str().to_owned();
    path.push(format!(".{QUARANTINE}"));
    let path = PathBuf::from(path);
    if path.symlink_metadata().is_ok() && !is_quarantine(&path) {
        return Err(Error::Usage(format!(
            "{} was not written by twinsplit, so bad documents cannot go there; move it, or choose another --output",
            visible::path(&path)
        )));
    }
    // What an earlier call let pass.
    Target::of(&path, true, reads).map(Some)
}

/// Gathers what the tasks of a run let pass from the folder of its data sets into one file, and warns. With more of it
/// than `--bad-records` allows the run has failed, whatever else became of it.
pub fn settle<T>(
    result: Result<T>,
    work: &Path,
    places: &Places<'_>,
    params: &Params,
    warnings: impl FnOnce(&mut T) -> &mut Vec<String>,
) -> Result<T> {
    let allowed = params.parse::<DocumentOpts>()?.bad_records.0;
    let (found, first, parts);
    if allowed == 0 {
        (found, first, parts) = Default::default();
    } else {
        parts = task_files(work)?;
        (found, first) = read(&parts)?;
    }
    let met = found.len() as u64;
    if met > allowed {
        write(&parts, &found, places.failed)?;
        let (stage, quarantine) = ("tokenize".to_owned(), Some(places.failed.path().to_owned()));
        return Err(Error::BadRecords { stage, met, allowed, first, quarantine });
    }
    let mut done = result?;
    if met == 0 {
        // What an earlier run let pass is no part of this one's answer.
        remove_old(places.made)?;
        return Ok(done);
    }
    write(&parts, &found, places.made)?;
    let lines =
        if met == 1 { "1 line is no document".to_owned() } else { format!("{met} lines are no documents") };
    warnings(&mut done).push(format!("{lines} and took no part; see {}", visible::path(places.shown)));
    Ok(done)
}

/// Removes the quarantine of an earlier call, which may be replaced.
pub fn remove_old(quarantine: &Target) -> Result<()> {
    let path = quarantine.path();
    if is_quarantine(path) { fs::remove_file(path).map_err(Error::io("remove", path)) } else { Ok(()) }
}

/// Whether a file is one that a quarantine was written to.
fn is_quarantine(path: &Path) -> bool {
    let mut row = Vec::new();
    path.symlink_metadata().is_ok_and(|meta| meta.is_file())
        && open(path).and_then(|mut reader| read_row(&mut *reader, &mut row, path, 0)).unwrap_or(false)
        && BadLine::decode(&row).is_ok()
}

/// The quarantines of all tasks: below the folder of the data sets, or below the data set's.
fn task_files(work: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = vec![work.join(FOLDER)];
    for entry in fs::read_dir(work).map_err(Error::io("read", work))? {
        folders.push(entry.map_err(Error::io("read", work))?.path().join(FOLDER));
    }
    folders.retain(|folder| folder.is_dir());
    folders.sort();
    let mut files = expand_inputs(&folders)?;
    // What a task that was ended did not complete.
    files.retain(|file| file.extension().is_none());
    Ok(files)
}

/// All lines in the order of `quarantine.tsv`, and what is wrong with the first one.
fn read(parts: &[PathBuf]) -> Result<(Vec<Found>, String)> {
    let (mut found, mut first): (Vec<Found>, _) = (Vec::new(), (Vec::new(), 0, String::new()));
    let mut row = Vec::new();
    for (part, path) in parts.iter().enumerate() {
        let (mut reader, mut offset) = (open(path)?, 0);
        while read_row(&mut *reader, &mut row, path, 0)? {
            let bad = BadLine::decode(&row)
                .map_err(|error| Error::File { path: path.clone(), problem: error.to_string() })?;
            if found.is_empty() || (&*bad.file, bad.line) < (&first.0, first.1) {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                let what = [&bad.file, bad.field, &bad.expected].map(text);
                first = (
                    bad.file.to_vec(),
                    bad.line,
                    format!("{}, line {}, field {}: {}", what[0], bad.line, what[1], what[2]),
                );
            }
            found.push((bad.file.to_vec(), bad.line, part, offset));
            offset += row.len() as u64 + 1;
        }
    }
    found.sort();
    // Two steps of a chain may read the documents.
    found.dedup_by(|a, b| (&a.0, a.1) == (&b.0, b.1));
    Ok((found, first.2))
}

/// Copies the lines in their order; only one of them is held at a time.
fn write(parts: &[PathBuf], found: &[Found], to: &Target) -> Result<()> {
    use std::io::{BufReader, Seek, SeekFrom};
    let mut files = Vec::new();
    for path in parts {
        files.push(BufReader::new(fs::File::open(path).map_err(Error::io("open", path))?));
    }
    let mut out = to.start()?;
    let mut row = Vec::new();
    for (_, _, part, offset) in found {
        files[*part].seek(SeekFrom::Start(*offset)).map_err(Error::io("read", &parts[*part]))?;
        read_row(&mut files[*part], &mut row, &parts[*part], 0)?;
        out.line(&row)?;
    }
    out.finish()
}
