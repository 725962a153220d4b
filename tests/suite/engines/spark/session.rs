//! The one Spark session of all tests: its jobs and their inputs, and what they left.

use super::{COMMITTED, PLANNED, QUERIES, VARIANTS, plan_words};
use crate::common::ccdet;
use crate::common::cli::{Place, Said, binaries, fixture, search_path};
use crate::common::harness::clean;
use crate::common::odd::{self, gzip};
use crate::common::spark::{confs, spark_home};
use flate2::read::MultiGzDecoder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// spark-submit with two cores.
pub fn spark_submit() -> Command {
    let home = spark_home();
    let mut command = clean(Command::new(home.join("bin/spark-submit")));
    command.env("SPARK_HOME", home).env("SPARK_LOCAL_IP", "127.0.0.1").env("PATH", search_path());
    command.args(["--master", "local[2]"]);
    for conf in confs() {
        command.args(["--conf", conf]);
    }
    command
}

/// The folder of all jobs and their inputs, begun anew.
fn place() -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("spark session [1] 100%");
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(place.join("odd/below/_hidden")).unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(place.join(name), bytes).unwrap();
    let mut licences = String::new();
    let file = fs::File::open(fixture("documents/en.jsonl.gz")).unwrap();
    MultiGzDecoder::new(file).read_to_string(&mut licences).unwrap();
    let lines: Vec<&str> = licences.lines().collect();
    write("plain.jsonl", lines[..60].join("\n").as_bytes());
    // Members that end in the middle of a line.
    let (one, other) = (lines[60..90].join("\n"), lines[90..120].join("\n"));
    write("members.jsonl.gz", &[gzip(one), gzip(b"\n"), gzip(other)].concat());
    fs::copy(fixture("documents/tiny.jsonl"), place.join("tiny.jsonl")).unwrap();

    odd::accepted().iter().for_each(|(name, bytes)| write(&format!("odd/{name}"), bytes));
    write("odd/below/gzip of no name", &gzip(format!("\u{feff}{}", odd::lines("3"))));
    write("odd/below/no gzip.gz", odd::lines("4").as_bytes());
    write("odd/below/a,b{c}[d].jsonl", odd::lines("5").as_bytes());
    write("odd/below/empty.gz", b"");
    write("odd/below/_hidden/docs.jsonl", b"not read");
    write("odd/.hidden", b"not read");

    ccdet::write(&place.join("pages"));
    for (name, options) in PLANNED {
        let line = format!("twinsplit plan {}", plan_words(options));
        write(&format!("{name}.py"), Place::new().say(&line).ok().as_bytes());
    }
    let page = fs::read_to_string(place.join("term-split.py")).unwrap();
    let (now, then) = (format!("\"{}\"", env!("CARGO_PKG_VERSION")), "\"0.0.9\"");
    assert!(page.contains(&now));
    write("other-version.py", page.replace(&now, then).as_bytes());

    odd::refused().iter().for_each(|refused| write(refused.name, &refused.bytes));
    let whole = gzip(lines[..60].join("\n"));
    write("cut.jsonl.gz", &whole[..whole.len() - 100]);
    let mut damaged = whole;
    let at = damaged.len() - 6;
    damaged[at] ^= 1;
    write("damaged.jsonl.gz", &damaged);
    // It dies as a stage, and decides as the program.
    let ours = env!("CARGO_BIN_EXE_twinsplit");
    let killed = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] || [ \"$1\" = job ] && exec '{ours}' \"$@\"\nkill -9 $$\n"
    );
    write("killed", killed.as_bytes());
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(place.join("killed"), mode).unwrap();
    // What the engine local left in the folder of an answer that is replaced.
    fs::create_dir(place.join("doc-split")).unwrap();
    fs::create_dir(place.join("slip")).unwrap();
    for folder in ["doc-split", "slip"] {
        let record = json!({
            "twinsplit": "0",
            "chain": "doc-split",
            "outputs": [{ "path": "out/pairs.tsv" }, { "path": "out/clusters.tsv" }],
        });
        ["pairs.tsv", "clusters.tsv"].iter().for_each(|name| write(&format!("{folder}/{name}"), b"old"));
        write(&format!("{folder}/run.json"), record.to_string().as_bytes());
    }
    // What is a user's own.
    fs::create_dir_all(place.join("foreign/pairs")).unwrap();
    write("foreign/pairs/part-00000", b"mine");
    fs::create_dir_all(place.join("theirs/_work")).unwrap();
    write("theirs/_work/file", b"mine");
    place
}

pub const DOCUMENTS: [&str; 3] = ["plain.jsonl", "members.jsonl.gz", "tiny.jsonl"];

/// What goes before the job that misses a slice: the slice, and the mark that the step that reads slices is over.
pub const LOST: [&str; 2] = ["lost/_work/slices/part-00000*", "lost/_work/joined-pairs/_SUCCESS"];

/// Each job: its name, the program, its arguments after OUTPUT, which is the job's name, and variables.
fn jobs() -> Vec<Value> {
    let mut jobs = Vec::new();
    let lib = fixture("../jobs/lib").to_string_lossy().into_owned();
    let mut job = |name: &str, output: &str, program: &str, args: &[&str], variables: &[(&str, &str)]| {
        let mut variables: BTreeMap<_, _> = variables.iter().copied().collect();
        let (committed, file) = (COMMITTED.contains(&program), format!("{program}.py"));
        variables.extend((!committed).then_some(("JOBS_LIB", &*lib)));
        let folder = if committed { fixture("../jobs/spark") } else { PathBuf::new() };
        let program = folder.join(file).to_string_lossy().into_owned();
        let mut words = vec![program, output.to_owned()];
        words.extend(args.iter().map(|word| (*word).to_owned()));
        let remove: &[&str] = if name == "lost" { &LOST } else { &[] };
        jobs.push(json!({ "name": name, "args": words, "variables": variables, "remove": remove }));
    };
    for variant in VARIANTS {
        let mut args = [&DOCUMENTS[..], &["--reducers", "3", "--shuffled"]].concat();
        args.extend((variant == "doc-split").then_some("--overwrite"));
        job(variant, variant, variant, &args, &[]);
    }
    for name in ["simhash", "fingerprints", "minhash", "signatures", "cosine", "stars", "overlap", "i-match"]
    {
        job(name, name, name, &[&DOCUMENTS[..], &["--reducers", "3", "--shuffled"]].concat(), &[]);
    }
    for (name, _) in QUERIES {
        job(name, name, name, &["odd", "plain.jsonl", "--reducers", "3"], &[]);
    }
    job("ccdet", "ccdet", "ccdet", &["pages", "--reducers", "3", "--shuffled"], &[]);
    job("other-version", "out-other-version", "other-version", &["tiny.jsonl"], &[]);
    job("slip", "slip", "term-split", &["cut.jsonl.gz", "--overwrite"], &[]);
    job("foreign", "foreign", "term-split", &["tiny.jsonl", "--overwrite"], &[]);
    job("theirs", "theirs", "term-split", &["tiny.jsonl", "--overwrite"], &[]);
    job("odd", "odd-out", "doc-split", &["odd", "odd/below/*{c}[[]d].jsonl"], &[]);
    job("odd-again", "odd-out", "doc-split", &["odd", "--reducers", "2"], &[]);
    let refused = odd::refused().map(|refused| refused.name);
    for bad in refused.into_iter().chain(["cut.jsonl.gz", "damaged.jsonl.gz"]) {
        job(bad, &format!("out-{bad}"), "term-split", &[bad], &[]);
    }
    job("absent", "out-absent", "term-split", &["absent.jsonl"], &[]);
    job("killed", "out-killed", "term-split", &["plain.jsonl", "--twinsplit", "killed"], &[]);
    job("unknown", "out-unknown", "term-split", &["plain.jsonl"], &[("TWINSPLIT_TUA", "0.4")]);
    let stopped = ["tiny.jsonl", "--reducers", "2"];
    job("guarded", "resumed", "term-split", &stopped, &[("TWINSPLIT_MAX_PAIRS", "3")]);
    job("begun", "resumed", "term-split", &stopped, &[]);
    let again = [&stopped[..], &["--resume"]].concat();
    job("other-tau", "resumed", "term-split", &again, &[("TWINSPLIT_TAU", "0.4")]);
    job("other-script", "resumed", "doc-split", &again, &[]);
    job("other-input", "resumed", "term-split", &["plain.jsonl", "--resume"], &[]);
    job("resumed", "resumed", "term-split", &again, &[]);
    job("complete", "resumed", "term-split", &again, &[]);
    job("slices", "lost", "doc-split", &stopped, &[("TWINSPLIT_MAX_PAIRS", "0")]);
    job("lost", "lost", "doc-split", &again, &[]);
    jobs
}

/// What all jobs left, run once.
pub static PLACE: LazyLock<PathBuf> = LazyLock::new(|| {
    let place = place();
    fs::write(place.join("jobs.json"), serde_json::to_string(&jobs()).unwrap()).unwrap();
    let mut command = spark_submit();
    let session = fixture("../tests/spark/session.py");
    let output = command.arg(session).arg("jobs.json").current_dir(&place).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
    place
});

/// What a job said; programs say it on standard error, and spark-submit passes that on as standard output.
pub fn said(name: &str) -> Said {
    let text = fs::read_to_string(PLACE.join(format!("{name}.said"))).unwrap();
    let (err, code) = text.trim_end().rsplit_once("exit ").unwrap();
    Said { code: code.parse().unwrap(), out: String::new(), err: err.to_owned() }
}

/// What the steps of a job counted, by their names.
pub fn counters(name: &str) -> BTreeMap<String, Value> {
    let text = fs::read_to_string(PLACE.join(name).join("counters.json")).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let steps = value["steps"].as_array().unwrap().iter();
    steps.map(|step| (step["step"].as_str().unwrap().to_owned(), step["counters"].clone())).collect()
}

pub fn local(chain: &str, inputs: &[&str], output: &str) -> Said {
    let mut command = clean(Command::new(binaries().join("twinsplit")));
    command.arg("run").args(chain.split(' ')).arg("--input").args(inputs);
    command.args(["--output", output, "--overwrite", "--quiet"]).current_dir(&*PLACE);
    let said = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said { code: said.status.code().unwrap_or(-1), out: text(said.stdout), err: text(said.stderr) }
}

/// The lines of a file or of the parts of a data set, sorted by their bytes.
pub fn sorted(path: &Path) -> Vec<Vec<u8>> {
    let parts: Vec<PathBuf> = match path.is_dir() {
        true => fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect(),
        false => vec![path.to_owned()],
    };
    let is_part = |path: &&PathBuf| !path.file_name().unwrap().to_string_lossy().starts_with(['_', '.']);
    let mut lines = Vec::new();
    for part in parts.iter().filter(is_part) {
        let bytes = fs::read(part).unwrap();
        assert!(bytes.is_empty() || bytes.ends_with(b"\n"), "{}", part.display());
        lines.extend(bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec));
    }
    lines.sort();
    lines
}

#[track_caller]
pub fn assert_same(output: &str, expected: &str, least: usize) {
    for (data, file) in [("pairs", "pairs.tsv"), ("clusters", "clusters.tsv"), ("kept", "kept.jsonl")] {
        let expected_file = PLACE.join(expected).join(file);
        if !expected_file.exists() {
            assert!(data == "pairs" && !PLACE.join(output).join(data).exists(), "{output}: {data}");
            continue;
        }
        let lines = sorted(&expected_file);
        assert!(lines.len() >= least, "{file}: {} lines", lines.len());
        assert!(sorted(&PLACE.join(output).join(data)) == lines, "{output}: {data} differ");
    }
    assert!(!PLACE.join(output).join("_work").exists());
}
