//! `run --write-kept=same`: of each file of the input the documents that are kept, in its own form. What is expected is put together here,
//! from the records of the input and the ids that clusters.tsv drops.

pub mod forms;

use super::arrow;
use super::bad_input::with_mounts;
use crate::common::cli::{Place, binaries, fixture, jsonl};
use crate::common::harness::clean;
use forms::{
    Piece, as_arc, as_crawl, as_lines, as_table, as_trec, documents, dropped, gzip, members, nested, without,
};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Each form on each engine, packed and not: what is written is the pieces of the input that stay, byte for byte.
#[test]
fn every_form_keeps_its_bytes() {
    let documents = documents();
    let some = &documents[..300];
    let cases: Vec<(&str, &str, Vec<Piece>)> = vec![
        ("a.jsonl", "", as_lines(&documents)),
        ("a.csv", "", as_table(some, ';')),
        ("a.tsv", "", as_table(some, '\t')),
        ("a.trec", "", as_trec(some)),
        ("a.warc", "", as_crawl(some, false)),
        ("a.wet", "", as_crawl(some, true)),
        ("a.arc", "", as_arc(some)),
        ("b.jsonl", " --id text.id --text text.body", nested(some)),
    ];
    let mut ran = 0;
    for (name, options, pieces) in &cases {
        let here = Place::new();
        let whole: Vec<u8> = pieces.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
        let is_crawl = [".warc", ".wet", ".arc"].iter().any(|ending| name.ends_with(ending));
        let packed = match is_crawl {
            true => pieces.iter().flat_map(|(_, bytes)| gzip(bytes)).collect(),
            false => gzip(&whole),
        };
        let zstd = zstd::encode_all(&whole[..], 1).unwrap();
        for (ending, bytes) in [("", whole.clone()), (".gz", packed), (".zst", zstd)] {
            let file = format!("{name}{ending}");
            here.write(&file, &bytes);
            for engine in ["local", "pipes"] {
                if engine == "pipes" && !ending.is_empty() {
                    continue;
                }
                let run = format!(
                    "twinsplit run -i {file}{options} --engine {engine} --write-kept=same --overwrite -qo out"
                );
                here.say(&run).ok();
                let dropped = dropped(&here, "out");
                assert!(dropped.len() > 60, "{file}");
                let expected = without(pieces, &dropped);
                let found = fs::read(here.path(&format!("out/kept/{file}"))).unwrap();
                let unpacked = match ending {
                    ".gz" => members(&found).concat(),
                    ".zst" => zstd::decode_all(&found[..]).unwrap(),
                    _ => found.clone(),
                };
                assert!(unpacked == expected.concat(), "{file} {engine}");
                if is_crawl && ending == ".gz" {
                    assert!(members(&found) == expected, "{file}: each record is a member");
                }
                assert!(!here.path("out/kept.jsonl").exists());
                ran += 1;
            }
        }
    }
    println!("{} forms, {ran} runs", cases.len());
    assert_eq!(ran, 32);
}

/// A reader of CSV finds the rows that stay, with the ids that other files call kept.
#[test]
fn a_table_is_read_as_one() {
    let here = Place::new();
    let documents = documents();
    let bytes = as_table(&documents, ',').into_iter().flat_map(|(_, bytes)| bytes).collect::<Vec<_>>();
    here.write("table.csv", &bytes);
    here.say("twinsplit run -i table.csv --write-kept=same -qo out").ok();
    let rows = |bytes: &[u8]| {
        let mut reader = csv::Reader::from_reader(bytes);
        let header = reader.byte_headers().unwrap().clone();
        (header, reader.byte_records().map(|row| row.unwrap()).collect::<Vec<_>>())
    };
    let (header, all) = rows(&bytes);
    let (kept_header, kept) = rows(&fs::read(here.path("out/kept/table.csv")).unwrap());
    let dropped = dropped(&here, "out");
    assert_eq!(kept_header, header);
    let stays = |row: &&csv::ByteRecord| !dropped.contains(std::str::from_utf8(&row[2]).unwrap());
    assert_eq!(kept, all.iter().filter(stays).cloned().collect::<Vec<_>>());
    assert_eq!(kept.len(), 785 - dropped.len());
}

/// The rows of files that pyarrow wrote, by their values; python/tests/test_forms.py reads such files by pyarrow.
#[test]
fn parquet_keeps_its_rows() {
    let golden = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/parquet").join(name);
    let expected = fs::read_to_string(golden("rows.jsonl")).unwrap();
    for name in ["snappy", "plain", "gzip", "zstd", "lz4", "delta"] {
        let here = Place::new();
        fs::copy(golden(&format!("{name}.parquet")), here.path("a.parquet")).unwrap();
        let run =
            "twinsplit run -i a.parquet --id row --features words:2 --tau 0.9 --write-kept=same -qo out";
        here.say(run).ok();
        let dropped = dropped(&here, "out");
        assert!(dropped.len() > 5 && dropped.len() < 50, "{dropped:?}");
        let lines = (1..).zip(expected.lines());
        let left = lines.filter(|(row, _)| !dropped.contains(&format!("a.parquet@{row}")));
        let left: String = left.map(|(_, line)| format!("{line}\n")).collect();
        let found = here.say("twinsplit convert out/kept/a.parquet --id auto -o - -q").ok();
        assert_eq!(found, left, "{name}");
    }
}

/// The same of Arrow's files and streams, packed or not.
#[test]
fn arrow_keeps_its_rows() {
    let mut ran = 0;
    for name in arrow::FILES {
        let here = Place::new();
        fs::copy(arrow::golden(&format!("arrow/{name}")), here.path("a.arrow")).unwrap();
        here.shell("gzip -k a.arrow").ok();
        for file in ["a.arrow", "a.arrow.gz"] {
            if (name, file) == ("polars.arrow", "a.arrow.gz") {
                continue;
            }
            here.say(&format!(
                "twinsplit run -i {file} --id row --features words:2 --tau 0.9 --write-kept=same --overwrite -qo out"
            ))
            .ok();
            let dropped = dropped(&here, "out");
            assert!(dropped.len() > 5 && dropped.len() < 50, "{dropped:?}");
            let rows = arrow::rows(name);
            let lines = (1..).zip(rows.lines());
            let left = lines.filter(|(row, _)| !dropped.contains(&format!("{file}@{row}")));
            let left: String = left.map(|(_, line)| format!("{line}\n")).collect();
            let found = here.say(&format!("twinsplit convert out/kept/{file} --id auto -o - -q")).ok();
            assert_eq!(found, left, "{name} {file}");
            ran += 1;
        }
    }
    println!("{ran} files");
    assert_eq!(ran, 17);
}

/// Files of one name in several folders, one whose name is no UTF-8, one without documents, one of which nothing is kept, and texts that are files: the
/// folder has the names of the input.
#[test]
fn files_keep_their_names() {
    let here = Place::new();
    let documents = documents();
    for folder in ["in/x", "in/y/z", "in/texts"] {
        fs::create_dir_all(here.path(folder)).unwrap();
    }
    let odd = PathBuf::from(OsStr::from_bytes(b"in/y/\xff\\.jsonl"));
    let bytes = |pieces: Vec<Piece>| pieces.into_iter().flat_map(|(_, bytes)| bytes).collect::<Vec<_>>();
    here.write("in/x/a.jsonl", bytes(as_lines(&documents[..200])));
    here.write("in/y/z/a.jsonl", gzip(&bytes(as_lines(&documents[200..400]))));
    fs::write(here.path(".").join(&odd), bytes(as_lines(&documents[400..]))).unwrap();
    here.write("in/y/empty.jsonl", "");
    here.write("in/y/empty.jsonl.gz", gzip(b""));
    here.write("in/y/header.csv", "id,text\n");
    // The first document once more, under a name that is dropped for it.
    let again = jsonl(&[("~again", documents[0].1.as_str())]);
    here.write("in/y/again.jsonl", &again);
    let letter = "Dear reader, this letter is long enough to be compared by the words that it has.";
    here.write("in/texts/one.txt", letter);
    here.write("in/texts/two.txt", format!("{letter}\n"));
    here.say("twinsplit run -i in --write-kept=same -qo out").ok();
    let kept = |name: &Path| fs::read(here.path("out/kept").join(name)).unwrap();
    let dropped = dropped(&here, "out");
    let expected = |from: usize, to: usize| without(&as_lines(&documents[from..to]), &dropped).concat();
    assert!(dropped.contains("~again") && dropped.contains("in/texts/two.txt"));
    assert!(kept(Path::new("x/a.jsonl")) == expected(0, 200));
    assert!(members(&kept(Path::new("y/z/a.jsonl"))).concat() == expected(200, 400));
    assert!(kept(odd.strip_prefix("in").unwrap()) == expected(400, 785));
    assert_eq!(kept(Path::new("y/again.jsonl")), b"");
    assert_eq!(kept(Path::new("y/empty.jsonl")), b"");
    assert_eq!(members(&kept(Path::new("y/empty.jsonl.gz"))), [b""]);
    assert_eq!(kept(Path::new("y/header.csv")), b"id,text\n");
    assert_eq!(here.names("out/kept/texts"), ["one.txt".to_owned()].into());
    assert_eq!(kept(Path::new("texts/one.txt")), letter.as_bytes());
    // run.json knows each of them, and the folder can be read as the input was.
    let run: Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
    assert_eq!(run["parameters"]["write-kept"], "same");
    let folder =
        run["outputs"].as_array().unwrap().iter().find(|output| output["path"] == "out/kept").unwrap();
    let listed: Vec<_> =
        folder["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    let names = [
        "texts/one.txt",
        "x/a.jsonl",
        "y/again.jsonl",
        "y/empty.jsonl",
        "y/empty.jsonl.gz",
        "y/header.csv",
        "y/z/a.jsonl",
    ];
    assert_eq!(listed, names.into_iter().chain(["y/\\xff\\x5c.jsonl"]).collect::<Vec<_>>());
    here.say("twinsplit run -i out/kept --write-kept=same -qo again").ok();
    here.shell("diff -r out/kept again/kept && test ! -s again/clusters.tsv").ok();
}

/// However the documents are dealt out to files, and in whatever order these are named, the same ones are kept.
#[test]
fn boundaries_and_order_of_files_change_nothing() {
    let documents = documents();
    let mut all = Vec::new();
    for deal in [vec![785], vec![1, 300, 484], vec![400, 385]] {
        for is_reversed in [false, true] {
            let here = Place::new();
            let (mut at, mut names, mut packed) = (0, Vec::new(), Vec::new());
            for (number, count) in deal.iter().enumerate() {
                let lines = as_lines(&documents[at..at + count]);
                let bytes = lines.into_iter().flat_map(|(_, bytes)| bytes).collect::<Vec<_>>();
                let is_packed = number % 2 == 1;
                let name = format!("{}.{number}", if is_packed { "p" } else { "q" });
                here.write(&name, if is_packed { gzip(&bytes) } else { bytes });
                names.push(name);
                packed.push(is_packed);
                at += count;
            }
            let mut order = names.clone();
            if is_reversed {
                order.reverse();
            }
            here.say(&format!("twinsplit run -i {} --write-kept=same -qo out", order.join(" "))).ok();
            let mut kept = BTreeSet::new();
            for (name, is_packed) in names.iter().zip(packed) {
                let bytes = fs::read(here.path(&format!("out/kept/{name}"))).unwrap();
                let text = if is_packed { members(&bytes).concat() } else { bytes };
                let text = String::from_utf8(text).unwrap();
                let lines = text.trim_start_matches('\u{feff}').lines();
                kept.extend(lines.map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].to_string()));
            }
            all.push((here.read("out/clusters.tsv"), kept));
        }
    }
    assert_eq!(all.len(), 6);
    assert!(all.windows(2).all(|two| two[0] == two[1]));
    assert!(all[0].1.len() > 300);
}

fn place() -> Place {
    let here = Place::new();
    here.write("a", jsonl(&[("a", "x y z"), ("b", "x y z"), ("c", "u v w")]));
    here.write("b", jsonl(&[("d", "x y z w"), ("e", "p q r")]));
    here
}

const RUN: &str = "twinsplit run --features words:1 --quiet --write-kept=same --output out --input a b";

/// The folder is replaced while it is what the run has written, and refused with what somebody has changed in it.
#[test]
fn the_folder_is_the_runs_own() {
    let here = place();
    here.say(RUN).ok();
    let kept = |name: &str| here.read(&format!("out/kept/{name}"));
    assert_eq!((kept("a"), kept("b")), (jsonl(&[("a", "x y z"), ("c", "u v w")]), jsonl(&[("e", "p q r")])));
    here.say(&format!("{RUN} --resume")).ok();
    here.say(&format!("{RUN} --overwrite --tau 0.9")).ok();
    assert_eq!(kept("b"), jsonl(&[("d", "x y z w"), ("e", "p q r")]));
    here.say(&format!("{RUN} --resume")).fails(2, &["--tau was 0.9"]);
    // In place of a file, beside it, and in a folder of its own.
    for (name, why) in [("a", "was changed"), ("c", "was put there"), ("more/c", "was put there")] {
        here.shell("cp -r out saved; mkdir -p out/kept/more").ok();
        here.write(&format!("out/kept/{name}"), "mine\n");
        for more in ["--overwrite", "--resume --tau 0.9"] {
            here.say(&format!("{RUN} {more}")).fails(2, &[&format!("out/kept/{name} {why}")]);
        }
        assert_eq!(kept(name), "mine\n");
        here.shell("rm -r out; mv saved out").ok();
    }
    // A file that is gone is no loss.
    fs::remove_file(here.path("out/kept/a")).unwrap();
    here.say(&format!("{RUN} --overwrite")).ok();
    assert_eq!(kept("a"), jsonl(&[("a", "x y z"), ("c", "u v w")]));
    // Lines in place of files.
    here.say(&format!("{} --overwrite", RUN.replace("=same", ""))).ok();
    assert!(!here.path("out/kept").exists() && here.path("out/kept.jsonl").exists());
    here.say(&format!("{RUN} --overwrite")).ok();
    here.say("twinsplit run --features words:1 -i out/kept/a -qo out --overwrite").fails(2, &["out/kept/a"]);
    here.say(&format!("{RUN} --resume").replace("=same", ""))
        .fails(2, &["--write-kept was same and is true"]);
}

#[test]
fn what_cannot_be_done_is_refused_before_anything_is_read() {
    let here = place();
    for engine in ["hadoop", "spark"] {
        let said = here.say(&format!("{RUN} --engine {engine}"));
        said.fails(2, &["--write-kept=same is for --engine local and pipes", "leave =same out"]);
    }
    let run = "twinsplit run --features words:1 -qo out --write-kept=same";
    here.with(&format!("{run} -i -"), "", &[]).fails(2, &["standard input", "write it to a file first"]);
    here.say(&format!("{run} -i a ./a")).fails(2, &["a and ./a are one file", "name it once"]);
    here.write("c.json", "[{\"id\":\"c\",\"text\":\"x\"}]");
    here.say(&format!("{run} -i c.json a")).fails(1, &["c.json", "twinsplit convert", "kept.jsonl"]);
    here.say(&format!("{run} -i a --queries b")).fails(2, &["leave --write-kept out"]);
    here.say("twinsplit run -i a -qo out --write-kept same").fails(2, &["--write-kept=same"]);
    here.say("twinsplit run -i a -qo out --write-kept=other").fails(2, &["[possible values: jsonl, same]"]);
    assert!(!here.path("out").exists());
    // A damaged file stops the run as it does without the option.
    let packed = gzip(jsonl(&[("a", "x y z")]).as_bytes());
    here.write("cut.gz", &packed[..packed.len() - 6]);
    here.say(&format!("{run} -i cut.gz")).fails(1, &["cut.gz", "gzip"]);
    assert!(!here.path("out").exists());
    let said = here.say(&format!("{run} -i a --dry-run")).ok();
    assert!(said.contains("pairs.tsv, clusters.tsv, kept/, run.json"), "{said}");
    // The name of a chain behind the option is one, as it was.
    here.say("twinsplit run --write-kept minhash -i a -qo out").ok();
    assert!(here.path("out/kept.jsonl").exists());
}

/// What is no document is in the quarantine, and in no file of kept documents.
#[test]
fn bad_documents_are_left_out() {
    let here = Place::new();
    here.write("a.csv", "id,text\na,x y z\nb\nc,u v w\n");
    here.write("b.jsonl", "{\"id\":\"d\",\"text\":\"p q r\"}\nno document\n");
    here.say("twinsplit run --features words:1 -i a.csv b.jsonl --bad-records all --write-kept=same -qo out")
        .ok();
    assert_eq!(here.read("out/kept/a.csv"), "id,text\na,x y z\nc,u v w\n");
    assert_eq!(here.read("out/kept/b.jsonl"), "{\"id\":\"d\",\"text\":\"p q r\"}\n");
    assert_eq!(here.read("out/documents.jsonl.quarantine.tsv").lines().count(), 2);
}

/// A run that is killed while it writes the files leaves none under their names, and goes on to the same ones.
#[test]
fn a_kill_leaves_no_half_of_the_folder() {
    let here = Place::new();
    let lines: Vec<u8> = as_lines(&documents()).into_iter().flat_map(|(_, bytes)| bytes).collect();
    // To pack takes long enough to be met.
    let again = |number: usize| {
        let text = String::from_utf8(lines.clone()).unwrap();
        text.replace("\"id\": \"", &format!("\"id\": \"{number}-"))
            .replace("\"id\":\"", &format!("\"id\":\"{number}-"))
    };
    let many: String = (0..12).map(|number| again(number) + "\n").collect();
    here.write("many.jsonl", many);
    here.shell("xz -1 many.jsonl").ok();
    let run = "twinsplit run --write clusters --write-kept=same --quiet -i many.jsonl.xz -o";
    here.say(&format!("{run} whole")).ok();
    for engine in ["local", "pipes"] {
        let line = format!("{run} {engine} --engine {engine}");
        let mut command = clean(Command::new(binaries().join("twinsplit")));
        command.args(line.split(' ').skip(1)).current_dir(here.path("")).stdin(Stdio::null());
        let mut child = command.spawn().unwrap();
        let partial = here.path(engine).join("_work/_answer/kept.partial");
        while !partial.exists() {
            assert!(child.try_wait().unwrap().is_none(), "{engine}: the run ended before it wrote the files");
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(
            partial.exists() && !here.path(engine).join("kept").exists(),
            "{engine}: it was killed in time"
        );
        here.say(&line).fails(2, &["--resume continues it"]);
        here.say(&format!("{line} --resume")).ok();
        here.shell(&format!(
            "cmp whole/clusters.tsv {engine}/clusters.tsv && diff -r whole/kept {engine}/kept"
        ))
        .ok();
        assert!(!here.path(engine).join("_work").exists());
    }
}

/// A disk that is full while the files of kept documents, or tables, are written: what was begun goes.
#[test]
fn a_full_disk_leaves_no_half_of_an_answer() {
    let here = Place::new();
    let docs = fixture("documents/en.jsonl.gz").display().to_string();
    here.shell(&format!("zcat {docs} > docs.jsonl; cp {docs} docs.jsonl.gz")).ok();
    for (file, options, size, what) in [
        ("docs.jsonl", "--write clusters --write-kept=same", "1m", "kept.partial/part-0"),
        ("docs.jsonl.gz", "--write clusters --write-kept=same", "200k", "kept.partial/part-0"),
        ("docs.jsonl", "--tables jsonl", "300k", "pairs.jsonl"),
    ] {
        let script = format!(
            "mkdir -p full && mount -t tmpfs -o size={size} tmpfs full && cd full; code=0; \
             twinsplit run {options} --input ../{file} --output out --quiet || code=$?; \
             find . -type f; exit $code"
        );
        let said = with_mounts(&here, &script);
        assert_eq!(said.out, "", "{file} {options}");
        let cannot = format!("cannot write out/_work/_answer/{what}");
        said.fails(1, &[&cannot, "No space left on device", "make room there"]);
    }
}
