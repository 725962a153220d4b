//! What `make install` leaves, that it works from there alone, and that `make uninstall` leaves nothing.

use crate::common::cli::{Place, Said, fixture};
use crate::common::harness::{bash, clean};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use twinsplit_cli::manual::driver_pages;
use twinsplit_rows::stages::STAGES;

fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn make(here: &Place, target: &str) -> Said {
    let mut command = clean(Command::new("make"));
    command.args(["-s", "-C", env!("CARGO_MANIFEST_DIR"), target, "PREFIX=/usr/local"]);
    command.arg(format!("DESTDIR={}", here.path("root").display()));
    command.arg(format!("BINARY={}", env!("CARGO_BIN_EXE_twinsplit")));
    here.run(command, "")
}

/// All files below a folder, folders that are empty included.
fn leaves(folder: &Path) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(folder).min_depth(1).into_iter().map(Result::unwrap);
    let leaf = |entry: &walkdir::DirEntry| !entry.file_type().is_dir() || names_in(entry.path()).is_empty();
    all.filter(leaf).map(walkdir::DirEntry::into_path).collect()
}

/// What `make install` leaves, by folder, and that it works from there alone.
#[test]
fn an_installation_is_whole_and_goes_without_a_trace() {
    let here = Place::new();
    std::fs::create_dir_all(here.path("root/usr/local/etc")).unwrap();
    make(&here, "install").ok();
    let below = here.path("root/usr/local");
    let bin = names_in(&below.join("bin"));
    let mut programs: BTreeSet<_> = STAGES.iter().map(|entry| entry.decl.name.to_owned()).collect();
    programs.insert("twinsplit".to_owned());
    assert_eq!(bin, programs);
    let of = |form: &dyn Fn(&String) -> String| programs.iter().map(form).collect::<BTreeSet<_>>();
    assert_eq!(names_in(&below.join("share/bash-completion/completions")), programs);
    assert_eq!(names_in(&below.join("share/zsh/site-functions")), of(&|name| format!("_{name}")));
    assert_eq!(names_in(&below.join("share/fish/vendor_completions.d")), of(&|name| format!("{name}.fish")));
    let mut pages = of(&|name| format!("{name}.1"));
    pages.extend(driver_pages().unwrap().into_iter().map(|page| format!("{}.1", page.name)));
    assert_eq!(names_in(&below.join("share/man/man1")), pages);
    let docs = names_in(&below.join("share/doc/twinsplit"));
    for file in ["README.md", "CHANGELOG.md", "LICENSE", "NOTICE", "docs", "installed"] {
        assert!(docs.contains(file), "{file} is not in share/doc/twinsplit");
    }
    assert!(below.join("share/doc/twinsplit/docs/operating.md").exists());
    assert_eq!(
        names_in(&below.join("share/twinsplit")),
        ["lib", "pipes", "hadoop", "spark"].map(str::to_owned).into()
    );
    let list = std::fs::read_to_string(below.join("share/doc/twinsplit/installed")).unwrap();
    let listed: BTreeSet<_> = list.lines().filter(|name| !name.ends_with('/')).map(str::to_owned).collect();
    let root = here.path("root");
    let found: BTreeSet<_> = leaves(&root)
        .iter()
        .filter(|path| !path.ends_with("etc"))
        .map(|path| format!("/{}", path.strip_prefix(&root).unwrap().display()))
        .collect();
    assert_eq!(listed, found);

    // The two lines of the README, with nothing but the installation and the system on the path.
    std::fs::copy(fixture("documents/en.jsonl.gz"), here.path("docs.jsonl.gz")).unwrap();
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let alone = |line: &str| {
        let path = format!("{}:/usr/bin:/bin", below.join("bin").display());
        let mut command = bash();
        command.args(["-c", &format!("set -euo pipefail; {line}")]).env("PATH", path);
        here.run(command, "").ok()
    };
    for start in
        ["zcat docs.jsonl.gz | tokenize |", "twinsplit run doc-split --input docs.jsonl.gz --output out"]
    {
        alone(readme.lines().find(|line| line.starts_with(start)).unwrap());
    }
    // A page finds the library that was installed, and so do the pages installed beside it.
    alone("twinsplit plan doc-split > page; bash page by-page docs.jsonl.gz");
    alone("root/usr/local/share/twinsplit/pipes/term-split.sh installed docs.jsonl.gz");
    assert!(here.read("pairs.tsv").lines().count() > 1_000);
    for output in ["out", "by-page", "installed"] {
        assert_eq!(here.read("pairs.tsv"), here.read(&format!("{output}/pairs.tsv")), "{output}");
    }

    // Once more over itself, and away. What others put there stays.
    make(&here, "install").ok();
    make(&here, "uninstall").ok();
    assert_eq!(leaves(&root), [below.join("etc")]);
    make(&here, "uninstall").fails_make("nothing of twinsplit is installed");
    std::fs::create_dir(below.join("bin")).unwrap();
    here.write("root/usr/local/bin/keep", "another program\n");
    make(&here, "install").fails_make("bin/keep is there and is not ours");
    assert_eq!(leaves(&root).len(), 2, "{:?}", leaves(&root));
    std::fs::rename(below.join("bin/keep"), below.join("bin/other")).unwrap();
    make(&here, "install").ok();
    make(&here, "uninstall").ok();
    assert_eq!(names_in(&below.join("bin")), ["other".to_owned()].into());
    assert_eq!(leaves(&root).len(), 2, "{:?}", leaves(&root));
}

trait FailsMake {
    fn fails_make(self, words: &str);
}

impl FailsMake for Said {
    /// Make's own exit code is 2 whatever failed.
    fn fails_make(self, words: &str) {
        self.fails(2, &["error: ", words]);
    }
}
