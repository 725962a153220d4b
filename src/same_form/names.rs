//! The names of files below the folder in which all of them are.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use twinsplit_core::visible;
use twinsplit_io::error::{Error, Result};

/// The paths of files below the innermost folder around all of them, links as they are named. So files of one name in different
/// folders have different paths, and a folder that is read is there again. `option` asks for them.
///
/// # Errors
/// When a file is named twice.
pub fn below_one_folder(files: &[PathBuf], option: &str) -> Result<Vec<PathBuf>> {
    let places = files.iter().map(|file| place(file)).collect::<Result<Vec<_>>>()?;
    let mut around: Option<&Path> = None;
    for place in &places {
        let folder = place.parent().unwrap_or(place);
        around = Some(around.map_or(folder, |around| common(around, folder)));
    }
    let mut seen: HashMap<&Path, &Path> = HashMap::new();
    for (place, file) in places.iter().zip(files) {
        if let Some(other) = seen.insert(place, file) {
            return Err(Error::Usage(format!(
                "{} and {} are one file, which {option} writes once; name it once",
                visible::path(other),
                visible::path(file)
            )));
        }
    }
    let below = |place: &PathBuf| {
        around.and_then(|around| place.strip_prefix(around).ok()).unwrap_or(place).to_owned()
    };
    Ok(places.iter().map(below).collect())
}

/// Where a file is, from the root on. A path that goes up has its folder looked up, for what is above a link is not what its name says.
fn place(file: &Path) -> Result<PathBuf> {
    let place = std::path::absolute(file).map_err(Error::io("find", file))?;
    let goes_up = place.components().any(|part| part == Component::ParentDir);
    match (goes_up, place.parent(), place.file_name()) {
        (true, Some(folder), Some(name)) => {
            Ok(folder.canonicalize().map_err(Error::io("find", file))?.join(name))
        }
        _ => Ok(place),
    }
}

/// What two paths begin with.
fn common<'p>(one: &'p Path, other: &Path) -> &'p Path {
    one.ancestors().find(|folder| other.starts_with(folder)).unwrap_or(one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn names_are_below_the_innermost_folder() {
        for (files, expected) in [
            (&["/x/a"][..], &["a"][..]),
            (&["a", "b"], &["a", "b"]),
            (&["./a", "x/./b"], &["a", "x/b"]),
            (&["/x/en/a", "/x/zh/a"], &["en/a", "zh/a"]),
            (&["/x/en/a", "/x/en/b", "/x/en/z/a"], &["a", "b", "z/a"]),
            (&["/x/y", "/xx/y"], &["x/y", "xx/y"]),
            (&["/x/a.gz", "/x/a"], &["a.gz", "a"]),
        ] {
            let files: Vec<_> = files.iter().map(PathBuf::from).collect();
            let names = below_one_folder(&files, "").unwrap();
            assert_eq!(names, expected.iter().map(PathBuf::from).collect::<Vec<_>>(), "{files:?}");
        }
        let odd = [&b"x/\xff"[..], b"y/\xff"].map(|name| PathBuf::from(OsStr::from_bytes(name)));
        assert_eq!(below_one_folder(&odd, "").unwrap(), odd);
        assert!(below_one_folder(&["a", "./a"].map(PathBuf::from), "").is_err());
    }

    #[test]
    fn a_path_that_goes_up_through_a_link_is_looked_up() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(at.join("x/y")).unwrap();
        std::fs::write(at.join("x/a"), "").unwrap();
        std::fs::write(at.join("b"), "").unwrap();
        std::os::unix::fs::symlink(at.join("x/y"), at.join("link")).unwrap();
        let files = [at.join("link/../a"), at.join("b")];
        assert_eq!(below_one_folder(&files, "").unwrap(), ["x/a", "b"].map(PathBuf::from));
    }
}
