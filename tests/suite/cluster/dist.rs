//! The one file that a cluster needs: what `make dist` built runs where nothing else is.

use std::path::Path;
use std::process::Command;

use crate::common::cli::{Place, fixture};
use crate::common::cluster::{dist, hadoop_home, with_hadoop};
use crate::common::corpora::synthetic;
use crate::common::harness::{clean, twinsplit};
use crate::common::polled::{Polled, polled};
use crate::common::real::{self, read};

/// A little-endian number of `width` bytes.
fn number(bytes: &[u8], at: usize, width: usize) -> usize {
    bytes[at..at + width].iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte))
}

/// The program headers of a 64-bit ELF file: type, offset and length of each segment.
fn segments(elf: &[u8]) -> Vec<(usize, usize, usize)> {
    assert_eq!(elf[..6], [0x7f, b'E', b'L', b'F', 2, 1], "not a little-endian 64-bit ELF file");
    let (first, size, count) = (number(elf, 32, 8), number(elf, 54, 2), number(elf, 56, 2));
    let at = (0..count).map(|index| first + index * size);
    at.map(|at| (number(elf, at, 4), number(elf, at + 8, 8), number(elf, at + 32, 8))).collect()
}

/// No interpreter, and not one needed library: the kernel alone starts it.
#[test]
#[ignore = "reads what `make dist` built; run by `make cluster-test`"]
fn it_needs_no_shared_library() {
    const DYNAMIC: usize = 2;
    const INTERPRETER: usize = 3;
    const NEEDED: usize = 1;
    let needs = |elf: &[u8]| {
        let tags = segments(elf).into_iter().filter(|(kind, ..)| *kind == DYNAMIC);
        tags.flat_map(|(_, at, length)| (at..at + length).step_by(16))
            .filter(|at| number(elf, *at, 8) == NEEDED)
            .count()
    };
    let interpreted = |elf: &[u8]| segments(elf).iter().any(|(kind, ..)| *kind == INTERPRETER);
    // An ordinary program shows that the eye sees.
    let ordinary = std::fs::read("/bin/sh").unwrap();
    assert!(interpreted(&ordinary) && needs(&ordinary) > 0);
    let elf = std::fs::read(dist()).unwrap();
    assert!(!interpreted(&elf));
    assert_eq!(needs(&elf), 0);
}

/// The allocator that is linked into it gives back what is freed.
#[test]
#[ignore = "runs what `make dist` built; run by `make cluster-test`"]
fn it_stays_inside_its_memory() {
    let here = Place::new();
    let input = here.path("docs.jsonl");
    synthetic(&read(&real::fixture("en.jsonl.gz")), &input, 120 << 20, 7);
    let mut command = clean(Command::new(dist()));
    let options = "run doc-split --tau 0.5 --quiet --threads 2 --memory 80 --input";
    command.args(options.split(' ')).arg(&input).arg("--output").arg(here.path("out"));
    let Polled { status, stderr, peak } = polled(&mut command);
    assert!(status.success(), "{stderr}");
    println!("peak {} MB", peak >> 20);
    assert!((40 << 20..=80 << 20).contains(&peak), "{} MB of 80", peak >> 20);
}

/// A command in a root folder that holds the binary alone, and with an empty environment.
fn alone(root: &Path, line: &str) -> Command {
    let inside = format!("exec chroot {} {line}", root.display());
    let root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    let mut command = Command::new(if root { "bash" } else { "unshare" });
    command.args(if root { &["-c"][..] } else { &["--user", "--map-root-user", "bash", "-c"][..] });
    command.arg(inside).env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command
}

#[test]
#[ignore = "runs what `make dist` built; run by `make cluster-test`"]
fn it_runs_in_an_empty_root_as_driver_and_as_stage() {
    let here = Place::new();
    let root = here.path("root");
    std::fs::create_dir(&root).unwrap();
    std::fs::copy(dist(), root.join("twinsplit")).unwrap();
    std::os::unix::fs::symlink("twinsplit", root.join("tokenize")).unwrap();
    std::fs::copy(fixture("documents/zh.jsonl.gz"), root.join("docs.jsonl.gz")).unwrap();
    let text = Command::new("zcat").arg(root.join("docs.jsonl.gz")).output().unwrap().stdout;

    // The driver, on Chinese text, which needs a dictionary; and what it says of a missing file.
    let mut ordinary = twinsplit();
    ordinary.args(["run", "doc-split", "--input", "root/docs.jsonl.gz", "--output", "ordinary"]);
    here.run(ordinary, "").ok();
    here.run(alone(&root, "/twinsplit run doc-split --input /docs.jsonl.gz --output /out --threads 2"), "")
        .ok();
    for file in ["pairs.tsv", "clusters.tsv"] {
        assert!(here.read(&format!("root/out/{file}")).lines().count() > 10);
        assert_eq!(here.read(&format!("root/out/{file}")), here.read(&format!("ordinary/{file}")), "{file}");
    }
    let missing = alone(&root, "/twinsplit run doc-split --input /none --output /more");
    here.run(missing, "").fails(1, &["/none: there is no such file or folder"]);

    // A stage, by its link.
    let stage = here.run(alone(&root, "/tokenize"), &text).ok();
    let mut tokenize = clean(Command::new(env!("CARGO_BIN_EXE_tokenize")));
    tokenize.current_dir(here.path("."));
    assert_eq!(stage, here.run(tokenize, &text).ok());
    assert!(stage.lines().count() > 100);
}

/// The way that it travels to a cluster: `-files twinsplit#tokenize`, under the streaming jar.
#[test]
#[ignore = "runs what `make dist` built; run by `make cluster-test`"]
fn it_is_a_mapper_of_the_streaming_jar() {
    let (here, home) = (Place::new(), hadoop_home());
    for part in ["en", "zh"] {
        std::fs::create_dir_all(here.path("in")).unwrap();
        std::fs::copy(
            fixture(&format!("documents/{part}.jsonl.gz")),
            here.path(&format!("in/{part}.jsonl.gz")),
        )
        .unwrap();
    }
    let line = format!(
        "hadoop jar $STREAMING -D mapreduce.job.reduces=0 -files '{}#tokenize' -input in -output out -mapper tokenize \
            > job.log 2>&1 || {{ cat job.log >&2; exit 1; }}
        cat out/part-* | LC_ALL=C sort > hadoop; zcat in/* | {} | LC_ALL=C sort > pipe; wc -l < pipe; cmp hadoop pipe",
        dist().display(),
        env!("CARGO_BIN_EXE_tokenize"),
    );
    let lines = here.run(with_hadoop(&home, None, &line), "").ok();
    assert!(lines.trim().parse::<usize>().unwrap() > 500, "{lines}");
}
