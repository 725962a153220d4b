//! What `--input` names: files, standard input, folders with all that lies below them, and patterns.
//!
//! Files that a folder or a pattern stands for come in byte order of their whole paths, so that the same collection
//! is the same list on every machine. A pattern is expanded here and not by a shell, whose argument lists have an
//! end that large crawls reach.

use crate::error::{Error, Result};
use glob::{MatchOptions, Pattern, PatternError};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use twinsplit_core::visible;
use walkdir::WalkDir;

/// The files that `inputs` name, in their order: `-` and files as they are; folders as the files anywhere below them,
/// names that begin with `_` or `.` left out; names that no file has as the patterns that they are.
pub fn expand_inputs(inputs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    expand(inputs, &Selection::default())
}

/// Which files of a folder or a pattern are taken.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
}

impl Selection {
    /// Those that one of the patterns matches, or all where there is none, but for those that one of the second patterns matches. A
    /// pattern without `/` is matched with the name of a file, any other with its whole path as it is named.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self> {
        let patterns = |option: &str, texts: &[String]| {
            let parse = |text: &String| {
                Pattern::new(text)
                    .map_err(|error| Error::Usage(format!("--{option} {text}: it is not a pattern: {error}")))
            };
            texts.iter().map(parse).collect::<Result<Vec<_>>>()
        };
        Ok(Self { include: patterns("include", include)?, exclude: patterns("exclude", exclude)? })
    }

    /// Whether it leaves nothing out.
    pub fn is_everything(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty()
    }

    fn takes(&self, file: &Path) -> bool {
        let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
        let matches = |pattern: &Pattern| {
            let text = match pattern.as_str().contains('/') {
                true => file.as_os_str(),
                false => file.file_name().unwrap_or_default(),
            };
            pattern.matches_with(&text.to_string_lossy(), options)
        };
        (self.include.is_empty() || self.include.iter().any(matches)) && !self.exclude.iter().any(matches)
    }
}

fn expand(inputs: &[PathBuf], selection: &Selection) -> Result<Vec<PathBuf>> {
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
        let found = match input.to_str().filter(|text| !is_there && text.contains(SPECIAL)) {
            Some(pattern) => matching(input, pattern)?,
            None if input.is_dir() && !stream(&input) => below(input)?,
            None => {
                // What is named by itself is meant.
                files.push(input.clone());
                continue;
            }
        };
        files.extend(found.into_iter().filter(|file| selection.takes(file)));
    }
    Ok(files)
}

/// The files of documents that a command line names; that there are none at all is a slip.
pub fn document_files(inputs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    selected_files(inputs, &Selection::default())
}

/// Those of them that a selection takes.
pub fn selected_files(inputs: &[PathBuf], selection: &Selection) -> Result<Vec<PathBuf>> {
    let files = expand(inputs, selection)?;
    match (files.is_empty(), inputs.first()) {
        (true, Some(folder)) => Err(Error::File {
            path: folder.clone(),
            problem: match selection.is_everything() {
                true => "no file lies in this folder or below it; names that begin with _ or . are left out",
                false => "of the files that it stands for --include and --exclude leave none",
            }
            .to_owned(),
        }),
        _ => Ok(files),
    }
}

/// The files below a folder. Links are followed, for collections are often folders of links; a link to a folder
/// around itself has no end and is an error.
fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut walk = WalkDir::new(here(folder)).follow_links(true).min_depth(1).into_iter();
    while let Some(entry) = walk.next() {
        match entry {
            Ok(entry) if is_hidden(entry.file_name()) => {
                if entry.file_type().is_dir() {
                    walk.skip_current_dir();
                }
            }
            Ok(entry) if entry.file_type().is_file() => files.push(as_named(folder, entry.into_path())),
            Ok(entry) if entry.file_type().is_dir() => {}
            Ok(entry) => return Err(no_file(as_named(folder, entry.into_path()))),
            // Editors leave hidden links that lead nowhere.
            Err(error) if error.path().and_then(Path::file_name).is_some_and(is_hidden) => {}
            Err(error) => return Err(not_walked(folder, error)),
        }
    }
    in_byte_order(&mut files);
    Ok(files)
}

/// A named pipe, a socket or a device: to read it may take for ever, and to pass over it would lose documents in silence.
fn no_file(path: PathBuf) -> Error {
    let problem = "this is a named pipe, a socket or a device, and a folder stands for files alone; move it out of the \
                   folder, or name it as an input of its own"
        .to_owned();
    Error::File { path, problem }
}

/// A path below the folder that has no name is shown without the `.` that stands for it.
fn as_named(folder: &Path, path: PathBuf) -> PathBuf {
    match path.strip_prefix(".") {
        Ok(inside) if folder.as_os_str().is_empty() => inside.to_owned(),
        _ => path,
    }
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
            visible::path(ancestor)
        );
        return Error::File { path, problem };
    }
    if path.is_symlink() && !path.exists() {
        let problem = "this link leads nowhere; remove it, or name the files by a pattern".to_owned();
        return Error::File { path, problem };
    }
    let source =
        error.into_io_error().unwrap_or_else(|| std::io::Error::other("the folder cannot be listed"));
    Error::Io { action: "read", path, source }
}

/// The files that a pattern matches, as a shell's: `*`, `?` and `[a-z]` stand for characters of one name, `**` for
/// folders at any depth. They match no `.` or `_` at the start of a name, so that `crawl/*` are the files of `crawl`.
/// Folders that match are taken whole.
fn matching(input: &Path, pattern: &str) -> Result<Vec<PathBuf>> {
    let wrong = |problem: String| Error::File { path: input.to_owned(), problem };
    let no_pattern =
        |error: PatternError| wrong(format!("no file has this name, and it is not a pattern: {error}"));
    let mut found = vec![PathBuf::from(if pattern.starts_with('/') { "/" } else { "" })];
    let mut files = Vec::new();
    let mut parts = pattern.split('/').filter(|part| !part.is_empty());
    while let Some(part) = parts.next() {
        if part == "**" {
            let rest = parts.by_ref().fold(part.to_owned(), |rest, part| rest + "/" + part);
            let rest = Pattern::new(&rest).map_err(no_pattern)?;
            for folder in std::mem::take(&mut found).into_iter().filter(|path| here(path).is_dir()) {
                files.extend(below(&folder)?.into_iter().filter(|file| is_inside(file, &folder, &rest)));
            }
        } else if part.contains(SPECIAL) {
            let part = Pattern::new(part).map_err(no_pattern)?;
            let mut next = Vec::new();
            for folder in found.iter().filter(|path| here(path).is_dir()) {
                next.append(&mut names_that_match(folder, &part)?);
            }
            found = next;
        } else {
            found.iter_mut().for_each(|path| path.push(part));
            found.retain(|path| path.symlink_metadata().is_ok());
        }
    }
    for path in found {
        if path.is_dir() { files.append(&mut below(&path)?) } else { files.push(path) }
    }
    if files.is_empty() {
        return Err(wrong(
            "this pattern matches no file; * and ? match no / and no . or _ at the start of a name, \
             and ** stands for folders at any depth"
                .to_owned(),
        ));
    }
    in_byte_order(&mut files);
    // Folders that overlap.
    files.dedup();
    Ok(files)
}

/// Whether a pattern takes a file, by its name below the folder where the pattern begins: as [`expand_inputs`] does where it sees
/// the folders.
pub fn matches_name(pattern: &str, name: &str) -> Result<bool> {
    fn takes(parts: &[&str], names: &[&str]) -> Result<bool, PatternError> {
        let Some((name, inside)) = names.split_first() else { return Ok(parts.is_empty()) };
        let is_shown = !is_hidden(OsStr::new(name));
        let Some((part, rest)) = parts.split_first() else { return Ok(is_shown && takes(parts, inside)?) };
        if *part == "**" {
            return Ok(is_shown && takes(parts, inside)? || takes(rest, names)?);
        }
        let is_spelled = is_shown || part.as_bytes().first() == name.as_bytes().first();
        Ok(is_spelled && Pattern::new(part)?.matches(name) && takes(rest, inside)?)
    }
    let parts: Vec<_> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    let names: Vec<_> = name.split('/').collect();
    takes(&parts, &names).map_err(|error| Error::File {
        path: PathBuf::from(pattern),
        problem: format!("no file has this name, and it is not a pattern: {error}"),
    })
}

/// The characters that make a name a pattern.
const SPECIAL: [char; 3] = ['*', '?', '['];

/// The folder of a path that has no part yet.
fn here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

/// The paths in a folder whose last name matches. A name that is not UTF-8 is matched as it is shown.
fn names_that_match(folder: &Path, part: &Pattern) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in here(folder).read_dir().map_err(Error::io("read", here(folder)))? {
        let name = entry.map_err(Error::io("read", here(folder)))?.file_name();
        let is_spelled = name.as_encoded_bytes().first() == part.as_str().as_bytes().first();
        if (is_spelled || !is_hidden(&name)) && part.matches(&name.to_string_lossy()) {
            paths.push(folder.join(name));
        }
    }
    Ok(paths)
}

/// Whether a file below `folder`, or a folder around it, matches there.
fn is_inside(file: &Path, folder: &Path, pattern: &Pattern) -> bool {
    let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
    let inside = file.strip_prefix(folder).unwrap_or(file);
    inside.ancestors().any(|path| pattern.matches_with(&path.to_string_lossy(), options))
}

/// Paths compare by their parts, in which `a/b` comes before `a-b`; `sort` and other tools compare bytes.
fn in_byte_order(files: &mut [PathBuf]) {
    files.sort_unstable_by(|a, b| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name is taken, whoever looks: where the folders are seen, and where names are all that is known.
    #[test]
    fn a_selection_takes_names_and_paths() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        for name in ["x.html", "y.png", "a/z.html", "a/b/w.HTML", "a/b/x.html"] {
            std::fs::write(root.join(name), "").unwrap();
        }
        let taken = |include: &[&str], exclude: &[&str], inputs: &[PathBuf]| {
            let texts = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
            let selection = Selection::new(&texts(include), &texts(exclude)).unwrap();
            let files = selected_files(inputs, &selection)?;
            let name = |file: &PathBuf| file.strip_prefix(root).unwrap().display().to_string();
            Ok::<_, Error>(files.iter().map(name).collect::<Vec<_>>().join(" "))
        };
        let all = [root.to_owned()];
        for (include, exclude, files) in [
            (&[][..], &[][..], "a/b/w.HTML a/b/x.html a/z.html x.html y.png"),
            (&["*.html"], &[], "a/b/x.html a/z.html x.html"),
            (&["*.html", "*.png"], &["x.*"], "a/z.html y.png"),
            (&["**/a/*"], &[], "a/z.html"),
            (&["**/a/**/*"], &["**/b/*.html"], "a/b/w.HTML a/z.html"),
            (&[], &["*.[pP][nN][gG]", "**/a/**"], "x.html"),
        ] {
            assert_eq!(taken(include, exclude, &all).unwrap(), files, "{include:?} {exclude:?}");
        }
        let named = [root.join("y.png"), root.join("a")];
        assert_eq!(taken(&["*.html"], &[], &named).unwrap(), "y.png a/b/x.html a/z.html");
        let none = taken(&["*.txt"], &[], &all).unwrap_err().to_string();
        assert!(none.contains("--include and --exclude leave none"), "{none}");
        let wrong = Selection::new(&["[".to_owned()], &[]).unwrap_err().to_string();
        assert!(wrong.contains("--include [: it is not a pattern"), "{wrong}");
    }

    #[test]
    fn names_match_as_files_do() {
        let root = tempfile::tempdir().unwrap();
        let names =
            ["a.gz", "b/a.gz", "b/c/a.gz", "b/_c/a.gz", "_d/a.gz", ".e", "b/.e/x", "f[1].gz", "b/c/d/x"];
        for name in names {
            std::fs::create_dir_all(root.path().join(name).parent().unwrap()).unwrap();
            std::fs::write(root.path().join(name), "").unwrap();
        }
        let mut found = 0;
        for pattern in [
            "*",
            "**",
            "**/*.gz",
            "b/*",
            "*/a.gz",
            "_*/*",
            ".?",
            "*/_c/*",
            "b/**/a.gz",
            "f[[]1].gz",
            "?/c",
            "b/**/c",
            "x*",
        ] {
            let expected = expand_inputs(&[root.path().join(pattern)]).unwrap_or_default();
            let taken = |name: &&str| matches_name(pattern, name).unwrap();
            let mut taken: Vec<_> =
                names.iter().copied().filter(taken).map(|name| root.path().join(name)).collect();
            in_byte_order(&mut taken);
            assert_eq!(taken, expected, "{pattern}");
            found += taken.len();
        }
        assert!(found > 20, "{found}");
        assert!(matches_name("a[", "a[").is_err());
    }
}
