//! The committed scripts, run as they stand with nothing but the library beside them and the program on `PATH`.

use crate::common::chains::families;
use crate::common::cli::{Place, binaries, fixture};
use crate::common::harness::{bash, clean};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

const FILES: [&str; 3] = ["pairs.tsv", "clusters.tsv", "kept.jsonl"];

/// The scripts and what their second line says made them.
fn scripts() -> Vec<(PathBuf, String)> {
    let folder = fixture("../jobs/pipes");
    let mut scripts: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let text = std::fs::read_to_string(&path).ok()?;
            let title = text.lines().nth(1)?.strip_prefix("# ")?.to_owned();
            Some((path, title))
        })
        .collect();
    scripts.sort();
    scripts
}

/// Whoever reads the second line of a script can make the script, and no other.
#[test]
fn plan_prints_the_committed_scripts() {
    let here = Place::new();
    let scripts = scripts();
    assert_eq!(scripts.len(), 1);
    for (path, title) in scripts {
        assert!(title.starts_with("twinsplit plan ") && title.ends_with(" --write-kept"), "{title}");
        assert_eq!(here.say(&title).ok(), std::fs::read_to_string(&path).unwrap(), "{}", path.display());
    }
    // An option that is given reaches the stages that know it, and the second line.
    let other = here.say("twinsplit plan doc-split --write-kept --tau 0.6").ok();
    assert!(
        other.contains("\n# twinsplit plan doc-split --cluster star --tau 0.6 --write-kept\n"),
        "{other}"
    );
    assert!(other.contains(" -- slice-plan --tau 0.6\n"), "{other}");
}

/// The other methods as `plan` prints them.
const PLANNED: [&str; 8] = [
    "doc-split",
    "term-split --pcp prefix",
    "ccdet --site url",
    "minhash --bands 32 --rows 4 --hashes 128",
    "i-match --lexicons 40 --idf 0,1 --tau 0.5",
    "simhash --distance 12 --features words:1 --weights tf-idf",
    "doc-split --partition by-task --slices 3",
    "doc-split --features spotsigs --idf 0.3,0.85 --min-features 4 --tau 0.3",
];

/// Any number of mappers and reducers gives the files of `twinsplit run`, from two files with odd names.
#[test]
fn scripts_give_the_answer_of_a_run() {
    let here = Place::new();
    std::fs::copy(fixture("documents/tiny.jsonl"), here.path("tiny docs.jsonl")).unwrap();
    here.write("families", families());
    let inputs = ["tiny docs.jsonl", "families"];
    let planned = PLANNED.iter().enumerate().map(|(number, options)| {
        let title = format!("twinsplit plan {options} --write-kept");
        here.write(&format!("page{number}"), here.say(&title).ok());
        (here.path(&format!("page{number}")), title)
    });
    std::fs::create_dir(here.path("alone")).unwrap();
    symlink(env!("CARGO_BIN_EXE_twinsplit"), here.path("alone/twinsplit")).unwrap();
    for (path, title) in scripts().into_iter().chain(planned) {
        let options = title.strip_prefix("twinsplit plan ").unwrap();
        let mut run = clean(Command::new(binaries().join("twinsplit")));
        run.arg("run").args(options.split(' ')).arg("--input").args(inputs);
        here.run(
            {
                run.args(["--output", "run", "--overwrite", "--quiet"]);
                run
            },
            "",
        )
        .ok();
        let expected = FILES.map(|file| here.read(&format!("run/{file}")));
        // Few of these texts have sentences that end.
        let (least, pair) =
            if title.contains("ccdet") { (8, "en-05\ten-07\t") } else { (40, "f3-0\tf3-1\t") };
        assert!(expected[0].lines().count() > least, "{title}: {} pairs", expected[0].lines().count());
        assert!(expected[0].contains(pair), "{title}");
        for (mappers, reducers) in [("1", "5"), ("2", "2"), ("5", "1")] {
            let output = format!("{}-{mappers}-{reducers}", path.file_stem().unwrap().to_string_lossy());
            let mut script = bash();
            script.arg(&path).env("JOBS_LIB", fixture("../jobs/lib"));
            script.env("PATH", format!("{}:/usr/bin:/bin", here.path("alone").display()));
            script.envs([("MAPPERS", mappers), ("REDUCERS", reducers), ("SORT_MEMORY", "16M")]);
            here.run(
                {
                    script.arg(&output).args(inputs);
                    script
                },
                "",
            )
            .ok();
            let written = FILES.map(|file| here.read(&format!("{output}/{file}")));
            assert_eq!(written, expected, "{title}, {mappers} mappers, {reducers} reducers");
        }
    }
}

/// A script that cannot work says why before it makes anything.
#[test]
fn scripts_say_what_they_lack() {
    let here = Place::new();
    here.write("docs", families());
    for (path, _) in scripts() {
        let mut alone = clean(Command::new(&path));
        let said = here.run(
            {
                alone.env("PATH", "/usr/bin:/bin").args(["out", "docs"]);
                alone
            },
            "",
        );
        said.fails(1, &["twinsplit is not on PATH"]);
        let said = here.run(clean(Command::new(&path)), "");
        assert_eq!(said.code, 2);
        assert!(said.err.starts_with("twinsplit plan ") && said.err.contains("usage: SCRIPT OUTPUT INPUT"));
    }
}

/// A page, its library and the program are of one version, or it is said which is of which.
#[test]
fn a_page_of_another_version_is_refused() {
    let here = Place::new();
    here.write("docs", families());
    let now = env!("CARGO_PKG_VERSION");
    std::fs::create_dir(here.path("other")).unwrap();
    here.write("other/twinsplit", "#!/bin/sh\necho twinsplit 0.0.9\n");
    std::fs::set_permissions(here.path("other/twinsplit"), PermissionsExt::from_mode(0o755)).unwrap();
    let run = |page: &str, path: &str| {
        here.write("page", page);
        let mut command = bash();
        command.args(["page", "out", "docs"]).env("JOBS_LIB", fixture("../jobs/lib")).env("PATH", path);
        here.run(command, "")
    };
    let ours = format!("{}:/usr/bin:/bin", binaries().display());
    let theirs = format!("{}:/usr/bin:/bin", here.path("other").display());
    for engine in ["pipes", "hadoop"] {
        let title = format!("twinsplit plan doc-split --engine {engine}");
        let page = here.say(&title).ok();
        let old = page.replace(&format!("VERSION={now}"), "VERSION=0.0.9");
        let title = page.lines().nth(1).unwrap().trim_start_matches("# ");
        run(&old, &ours).fails(1, &["made by twinsplit 0.0.9", &format!("is of {now}"), title]);
        let none = page.replace(&format!("VERSION={now}"), "");
        run(&none, &ours).fails(1, &["made by twinsplit without a version", title]);
    }
    let page = here.say("twinsplit plan doc-split").ok();
    run(&page, &theirs).fails(1, &["twinsplit is twinsplit 0.0.9", &format!("is of {now}")]);
    assert!(!here.path("out/clusters.tsv").exists());
}

/// Away from its library a page says how to come by it; one that `JOBS_LIB` names is taken and no other; and a script that
/// has the library inside needs none.
#[test]
fn a_page_finds_its_library_or_says_how() {
    let here = Place::new();
    here.write("docs", families());
    let run = |script: &str, library: Option<&str>| {
        let mut command = bash();
        command.args([script, &format!("{script}-out"), "docs"]);
        command.env("PATH", format!("{}:/usr/bin:/bin", binaries().display())).env_remove("JOBS_LIB");
        command.envs(library.map(|library| ("JOBS_LIB", library)));
        here.run(command, "")
    };
    let lib = fixture("../jobs/lib");
    for engine in ["pipes", "hadoop"] {
        here.write("page", here.say(&format!("twinsplit plan doc-split --engine {engine}")).ok());
        let advice = [&*format!("{engine}.sh is not found"), "JOBS_LIB", "--inline"];
        run("page", None).fails(1, &advice);
        run("page", Some("/nowhere")).fails(1, &advice);
    }
    here.write("page", here.say("twinsplit plan doc-split").ok());
    run("page", Some(&lib.to_string_lossy())).ok();
    let inline = here.say("twinsplit plan doc-split --inline").ok();
    assert!(inline.starts_with("#!/usr/bin/env bash\n# twinsplit plan doc-split --inline\n"), "{inline}");
    here.write("inline", inline);
    run("inline", None).ok();
    for file in ["pairs.tsv", "clusters.tsv"] {
        assert_eq!(here.read(&format!("inline-out/{file}")), here.read(&format!("page-out/{file}")));
    }
}
