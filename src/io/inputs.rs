//! What `--input` names: files, standard input, folders with all that lies below them, and patterns.
//!
//! Files that a folder or a pattern stands for come in byte order of their whole paths, so that the same collection
//! is the same list on every machine. A pattern is expanded here and not by a shell, whose argument lists have an
//! end that large crawls reach.

use crate::error::{Error, Result};
use glob::{MatchOptions, Pattern, PatternError};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// The files that `inputs` name, in their order: `-` and files as they are; folders as the files anywhere below them,
/// names that begin with `_` or `.` left out; names that no file has as the patterns that they are.
pub fn expand_inputs(inputs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let stream = |path: &&PathBuf| path.as_path() == Path::new("-");
    if inputs.iter().filter(stream).count() > 1 {
        return Err(Error::Usage(
            "standard input is named twice; it can be read once, so give - once".to_owned(),
        ));
    }
    let mut files = Vec::new();
    for input in inputs {
        // A file that really has a name with * in it is meant by it, even when it is a link that leads nowhere.
        let is_there = stream(&input) || input.symlink_metadata().is_ok();
        match input.to_str().filter(|text| !is_there && text.contains(['*', '?', '['])) {
            Some(pattern) => files.append(&mut matching(input, pattern)?),
            None if input.is_dir() && !stream(&input) => files.append(&mut below(input)?),
            None => files.push(input.clone()),
        }
    }
    Ok(files)
}

/// The files of documents that a command line names; that there are none at all is a slip.
pub fn document_files(inputs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let files = expand_inputs(inputs)?;
    match (files.is_empty(), inputs.first()) {
        (true, Some(folder)) => Err(Error::File {
            path: folder.clone(),
            problem: "no file lies in this folder or below it; names that begin with _ or . are left out"
                .to_owned(),
        }),
        _ => Ok(files),
    }
}

/// The files below a folder. Links are followed, for collections are often folders of links; a link to a folder
/// around itself has no end and is an error.
fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut walk = WalkDir::new(folder).follow_links(true).min_depth(1).into_iter();
    while let Some(entry) = walk.next() {
        match entry {
            Ok(entry) if is_hidden(entry.file_name()) => {
                if entry.file_type().is_dir() {
                    walk.skip_current_dir();
                }
            }
            Ok(entry) if entry.file_type().is_file() => files.push(entry.into_path()),
            Ok(_) => {}
            // Editors leave hidden links that lead nowhere.
            Err(error) if error.path().and_then(Path::file_name).is_some_and(is_hidden) => {}
            Err(error) => return Err(not_walked(folder, error)),
        }
    }
    in_byte_order(&mut files);
    Ok(files)
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b"_") || name.as_encoded_bytes().starts_with(b".")
}

fn not_walked(folder: &Path, error: walkdir::Error) -> Error {
    let path = error.path().unwrap_or(folder).to_owned();
    if let Some(ancestor) = error.loop_ancestor() {
        let problem = format!(
            "this link leads back to {}, the folder that it lies in, so there is no end to the files; \
             remove the link, or name the files by a pattern",
            ancestor.display()
        );
        return Error::File { path, problem };
    }
    let source =
        error.into_io_error().unwrap_or_else(|| std::io::Error::other("the folder cannot be listed"));
    Error::Io { action: "read", path, source }
}

/// What a pattern means: the same as in a shell.
const AS_IN_A_SHELL: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// The files that a pattern matches, as a shell's: `*` and `?` do not cross `/` nor match a dot at the start of a
/// name, `[a-z]` is one of a range, `**` is folders at any depth. Folders that match are taken whole.
fn matching(input: &Path, pattern: &str) -> Result<Vec<PathBuf>> {
    let wrong = |problem: String| Error::File { path: input.to_owned(), problem };
    let no_pattern =
        |error: PatternError| wrong(format!("no file has this name, and it is not a pattern: {error}"));
    let whole = Pattern::new(pattern).map_err(no_pattern)?;
    // Folders at any depth are walked here: glob would follow a link in a circle.
    let (head, deep) = match whole.as_str().find("**") {
        Some(0) => (".", Some(pattern)),
        Some(at) => (&pattern[..at], Some(&pattern[at..])),
        None => (pattern, None),
    };
    let deep = deep.map(Pattern::new).transpose().map_err(no_pattern)?;
    let mut files = Vec::new();
    for path in glob::glob_with(head, AS_IN_A_SHELL).map_err(no_pattern)? {
        let path = path.map_err(|error| Error::Io {
            action: "read",
            path: error.path().to_owned(),
            source: error.into(),
        })?;
        match &deep {
            Some(deep) => files.extend(below(&path)?.into_iter().filter(|file| {
                let inside = file.strip_prefix(&path).unwrap_or(file);
                inside.ancestors().any(|part| deep.matches_path_with(part, AS_IN_A_SHELL))
            })),
            None if path.is_dir() => files.append(&mut below(&path)?),
            None => files.push(path),
        }
    }
    if files.is_empty() {
        return Err(wrong(
            "this pattern matches no file; * and ? do not match /, and ** stands for folders at any depth"
                .to_owned(),
        ));
    }
    in_byte_order(&mut files);
    // Folders that overlap.
    files.dedup();
    Ok(files)
}

/// Paths compare by their parts, in which `a/b` comes before `a-b`; `sort` and other tools compare bytes.
fn in_byte_order(files: &mut [PathBuf]) {
    files.sort_unstable_by(|a, b| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()));
}
