//! What follows from the declarations of the stages is committed as it is, and every program that is linked has its stage.

use crate::common::cli::Place;
use crate::common::harness::clean;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use twinsplit_cli::stages::derived;
use twinsplit_rows::stages::STAGES;

#[test]
fn committed_files_equal_a_fresh_derivation() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = derived().unwrap();
    assert_eq!(
        files.len(),
        1 + 2 + 1 + 1,
        "docs/stages.md, two scripts for Hadoop and one for each other engine"
    );
    for (name, text) in files {
        let committed = std::fs::read_to_string(root.join(&name)).unwrap_or_default();
        assert_eq!(committed, text, "{name} differs from the declarations; make derived renews it");
    }
}

/// The stages that are programs of their own: those of the papers' figures. Each program takes half a second to link and 10 MB.
const PROGRAMS: [(&str, &str); 6] = [
    ("docsplit-query", env!("CARGO_BIN_EXE_docsplit-query")),
    ("index-doc", env!("CARGO_BIN_EXE_index-doc")),
    ("index-term", env!("CARGO_BIN_EXE_index-term")),
    ("pcp-map", env!("CARGO_BIN_EXE_pcp-map")),
    ("pcp-reduce", env!("CARGO_BIN_EXE_pcp-reduce")),
    ("tokenize", env!("CARGO_BIN_EXE_tokenize")),
];

#[test]
fn few_programs_are_linked_and_each_is_its_stage() {
    let files = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin")).unwrap();
    let files: BTreeSet<_> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let names = PROGRAMS.iter().map(|(name, _)| *name).chain(["twinsplit"]);
    assert_eq!(files, names.map(|name| format!("{name}.rs")).collect());
    let here = Place::new();
    for (name, program) in PROGRAMS {
        let mut help = clean(Command::new(program));
        help.arg("--help");
        let help = here.run(help, "").ok();
        assert!(help.contains(&format!("Usage: {name} ")), "{help}");
        assert_eq!(help, here.say(&format!("{name} --help")).ok());
    }
}

/// What makes the links of an installation, and of the tests.
#[test]
fn the_names_are_those_of_all_stages() {
    let names: Vec<_> = STAGES.iter().map(|entry| entry.decl.name).collect();
    assert!(names.len() > 50 && names.contains(&"tokenize"), "{names:?}");
    let here = Place::new();
    assert_eq!(here.say("twinsplit stages --names").ok().lines().collect::<Vec<_>>(), names);
    here.say("twinsplit stages --names --write .").fails(2, &["--names", "--write"]);
}

/// A script that runs no chain of stages: each of its batches is a run of the program. And its library, which no other script needs.
const STREAM: [&str; 2] = ["jobs/spark/stream.py", "jobs/lib/twinsplit_spark/stream.py"];

#[test]
fn there_is_no_script_but_those_derived() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut expected: BTreeSet<String> = derived().unwrap().into_iter().map(|(name, _)| name).collect();
    expected.insert(STREAM[0].to_owned());
    let stream = std::fs::read_to_string(root.join(STREAM[0])).unwrap();
    assert!(stream.lines().count() <= 100 && !stream.contains("def "), "{} is no page", STREAM[0]);
    assert!(stream.contains("from twinsplit_spark.stream import "), "{} has another library", STREAM[0]);
    for folder in ["jobs/pipes", "jobs/hadoop", "jobs/spark"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let name = format!("{folder}/{}", entry.unwrap().file_name().to_string_lossy());
            assert!(expected.contains(&name), "{name} follows from no declaration");
        }
    }
}

/// A script is a page; what scripts share is in `jobs/lib`, all of it, and in each that has the library inside.
#[test]
fn scripts_are_pages_over_one_library() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, text) in derived().unwrap().iter().filter(|(name, _)| name.starts_with("jobs/")) {
        assert!(text.lines().count() <= 100, "{name} has {} lines", text.lines().count());
        assert!(!text.contains("() {") && !text.contains("def "), "{name} defines what a library should");
    }
    let here = Place::new();
    let plan = |engine: &str| here.say(&format!("twinsplit plan doc-split --engine {engine} --inline")).ok();
    let inline = ["pipes", "hadoop", "spark"].map(plan).concat();
    let files = walkdir::WalkDir::new(root.join("jobs/lib")).into_iter().map(Result::unwrap);
    let mut found = 0;
    for file in files.filter(|file| file.file_type().is_file() && file.path() != root.join(STREAM[1])) {
        let text = std::fs::read_to_string(file.path()).unwrap();
        assert!(text.lines().count() <= 600, "{}", file.path().display());
        let imports = ["source \"$JOBS_LIB/", "from ."];
        let mut body = text.lines().filter(|line| !imports.iter().any(|import| line.starts_with(import)));
        let last = body.next_back().unwrap();
        assert!(
            inline.contains(text.lines().next().unwrap()) && inline.contains(last),
            "{}",
            file.path().display()
        );
        found += 1;
    }
    assert!(found >= 4, "{found} files");
    for (file, line) in [("twinsplit.sh", "LIBRARY="), ("twinsplit_spark/chain.py", "VERSION = \"")] {
        let text = std::fs::read_to_string(root.join("jobs/lib").join(file)).unwrap();
        let version = format!("\n{line}{}", env!("CARGO_PKG_VERSION"));
        assert!(text.contains(&version), "{file} is of another version");
    }
    for line in inline.lines() {
        assert!(!line.starts_with("source ") && !line.starts_with("from ."), "{line}");
    }
}

/// The Python package has the library for Spark as links, which are its files in the wheel.
#[test]
fn the_package_has_the_whole_library_for_spark() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names = |folder: &str| -> BTreeSet<_> {
        std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    let library = names("jobs/lib/twinsplit_spark");
    assert_eq!(library, names("python/twinsplit_spark"));
    for name in library {
        let link = std::fs::read_link(root.join("python/twinsplit_spark").join(&name)).unwrap();
        assert_eq!(link, Path::new("../../jobs/lib/twinsplit_spark").join(name));
    }
}

/// All of jobs can be read in a sitting or two.
#[test]
fn jobs_are_small() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = walkdir::WalkDir::new(root.join("jobs")).into_iter().map(Result::unwrap);
    let files = files.filter(|file| file.file_type().is_file());
    let lines: usize = files.map(|file| std::fs::read_to_string(file.path()).unwrap().lines().count()).sum();
    assert!(lines < 1800, "{lines}");
}

/// An option that two stages share must mean the same in both: the driver gives it to both.
#[test]
fn options_of_one_name_are_declared_alike() {
    let mut seen = std::collections::BTreeMap::new();
    for entry in STAGES.iter() {
        let command = twinsplit_cli::stage::command(entry);
        for field in (entry.fields)() {
            let arg = command.get_arguments().find(|arg| arg.get_long() == Some(&field.name));
            let env = arg.and_then(|arg| arg.get_env()).map(|env| env.to_string_lossy().into_owned());
            let expected = format!("TWINSPLIT_{}", field.name.to_uppercase().replace('-', "_"));
            assert_eq!(env.as_deref(), Some(&*expected), "{} --{}", entry.decl.name, field.name);
            let declared =
                format!("{:?} {:?} {:?} {:?}", field.default, field.about, field.shown, field.kind);
            let first = seen.entry(field.name.clone()).or_insert_with(|| declared.clone());
            assert_eq!(*first, declared, "--{} of {}", field.name, entry.decl.name);
        }
        for side in entry.decl.side.iter().map(|side| side.option) {
            assert!(entry.knows(side), "{} has no option for its side file {side}", entry.decl.name);
        }
    }
    assert!(seen.len() > 20, "{} options", seen.len());
}
