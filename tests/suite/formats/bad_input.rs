//! Input that is wrong in every way we know, given to every part that reads it: the error names the stage, the
//! file, the line and the field, and says what to do; nothing panics, and nothing that looks finished is left.

use crate::common::cli::{Place, Said, fixture, jsonl};
use crate::common::odd::{gzip, refused};
use std::fs;

/// The engines, and the chains of the local one.
const RUNS: [&str; 4] =
    ["doc-split", "term-split", "doc-split --engine pipes", "term-split --pcp prefix --engine pipes"];

/// The stages that read documents.
const STAGES: [&str; 2] = ["tokenize", "write-kept"];

/// What stands in the file `docs`, the options, and what the error must say after the stage's name.
struct Case {
    bytes: Vec<u8>,
    options: &'static str,
    words: Vec<&'static str>,
}

/// Line 3 is wrong; the empty line before it counts.
fn third(line: &[u8], options: &'static str, words: &[&'static str]) -> Case {
    let good = jsonl(&[("a", "x y")]);
    let bytes = [good.as_bytes(), b"\n", line, b"\n", jsonl(&[("z", "x y")]).as_bytes()].concat();
    Case { bytes, options, words: [&["{stage}: docs, line 3, ", "--bad-records"][..], words].concat() }
}

fn cases() -> Vec<Case> {
    let score = "--score s";
    let date = "--date d";
    let text = fs::read(fixture("documents/tiny.jsonl")).unwrap_or_default();
    let whole = gzip(&text);
    let mut damaged = whole.clone();
    damaged[200..203].fill(0x55);
    let damaged_gzip = |bytes: Vec<u8>, word| Case {
        bytes,
        options: "",
        words: vec!["cannot read docs", word, "`gzip -t`"],
    };
    let mut cases = vec![
        third(b"not json", "", &["field document: expected a JSON object in UTF-8", "found \"not json\""]),
        third(b"[1]", "", &["field document: expected a JSON object"]),
        third(br#"{"id":"b","text":"x""#, "", &["field document: expected a JSON object"]),
        third(br#"{"id":"b","text":"x"} {}"#, "", &["field document: expected a JSON object"]),
        third(br#"{"id":"b","text":"x","text":"y"}"#, "", &["field document: ", "\"text\" stands twice"]),
        third(
            br#"{"text":"x"}"#,
            "",
            &["field id: expected a string that is not empty, or a number, found nothing"],
        ),
        third(br#"{"id":"","text":"x"}"#, "", &["field id: ", "found \"\\\"\\\"\""]),
        third(br#"{"id":null,"text":"x"}"#, "", &["field id: ", "found \"null\""]),
        third(br#"{"id":["b"],"text":"x"}"#, "", &["field id: "]),
        third(br#"{"id":"b"}"#, "", &["field text: expected a string, found nothing"]),
        third(br#"{"id":"b","text":7}"#, "", &["field text: expected a string, found \"7\""]),
        third(br#"{"id":"b","text":null}"#, "", &["field text: expected a string, found \"null\""]),
        third(br#"{"id":"b","text":"\ud800\u"}"#, "", &["field document: expected a JSON object"]),
        third(br#"{"id":"\ud800","text":""}"#, "", &["field id: expected a string", "surrogate"]),
        third(
            br#"{"doc_id":"b","content":"x"}"#,
            "",
            &["found nothing by the name \"id\"", "\"doc_id\", \"content\"", "--id NAME and --text NAME"],
        ),
        third(br#"{"id":"b","body":"x"}"#, "", &["field text: ", "\"id\", \"body\"", "with --text NAME"]),
        third(
            b"[{\"id\":1}]",
            "",
            &["a JSON array, `twinsplit convert docs --format json --output documents.jsonl`"],
        ),
        third(b"<html>", "", &["HTML, `twinsplit convert docs --format html --output documents.jsonl`"]),
        third(b"<DOC>", "", &["TREC, `twinsplit convert docs --format trec --output documents.jsonl`"]),
        third(b"{", "", &["several lines, `twinsplit convert docs --format json --output documents.jsonl`"]),
        third(b"caf\xe9", "", &["`twinsplit convert` reads it with --encoding NAME"]),
        third(br#"{"id":"\udc00x","text":""}"#, "", &["field id: expected a string", "surrogate"]),
        third(b"{\"id\":\"b\",\"text\":\"\xff\"}", "", &["field document: ", "UTF-8"]),
        third(b"{\"id\":\"b\",\"text\":\"a\x00b\"}", "", &["field document: ", "control character"]),
        third(br#"{"id":"b","text":"x","s":"3"}"#, score, &["field score: expected a number"]),
        third(br#"{"id":"b","text":"x","s":1e1234567890123456789}"#, score, &["field score: ", "18 digits"]),
        third(
            br#"{"id":"b","text":"x","d":"20200101"}"#,
            date,
            &["field date: expected an ISO 8601 date such as"],
        ),
        third(
            &[b"{\"id\":".as_slice(), b"[".repeat(100_000).as_slice()].concat(),
            "",
            &["field document: ", "bytes)"],
        ),
        damaged_gzip(whole[..300].to_vec(), "truncated"),
        damaged_gzip(whole[..whole.len() - 1].to_vec(), "truncated"),
        damaged_gzip(whole[..5].to_vec(), "truncated"),
        damaged_gzip(damaged, "damaged"),
        damaged_gzip([&whole[..], &whole[..100]].concat(), "truncated"),
    ];
    cases.push(Case {
        bytes: [&whole[..], b"\n"].concat(),
        options: "",
        words: vec!["cannot read docs", "trailing bytes stand behind the gzip data", "`head -c"],
    });
    // What is in another container is refused before a line of it is read.
    for (bytes, words) in others() {
        cases.push(Case { bytes, options: "", words });
    }
    let long = format!("{}{}", jsonl(&[("a", "x")]), jsonl(&[("b", &"y ".repeat(700))]));
    let options = "--max-line 1K";
    cases.push(Case {
        bytes: long.into(),
        options,
        words: vec!["docs, line 2: ", "longer than 1K", "--max-line"],
    });
    let no_end = "no line end ".repeat(300_000).into_bytes();
    cases.push(Case {
        bytes: no_end,
        options: "--max-line 1",
        words: vec!["docs, line 1: ", "longer than 1M"],
    });
    cases
}

/// Files that hold no lines, or lines of something else, as they are, and inside gzip.
fn others() -> Vec<(Vec<u8>, Vec<&'static str>)> {
    let utf_16 = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let line = "{\"id\":\"a\",\"text\":\"b\"}\n";
    let marked = [&b"\xff\xfe"[..], &utf_16(line)].concat();
    let other = |bytes: &[u8], is, command| (bytes.to_vec(), vec!["docs: this is ", is, command]);
    let packed = |bytes: &[u8], is, command| {
        (gzip(bytes), vec!["docs: this is ", is, " inside gzip, not JSON lines", command])
    };
    vec![
        other(b"\x04\x22\x4d\x18\x64\x40", "packed by lz4", "`lz4 -dc < docs > documents.jsonl`"),
        other(b"PK\x03\x04\x14\0", "a zip archive", "`unzip -p docs > documents.jsonl`"),
        other(b"ORC\x0a\x06\x12", "ORC", "format=\"orc\").to_batches()"),
        other(b"FEA1\0\0", "Feather of version 1", "pyarrow.feather.read_table(sys.argv[1]).to_batches()"),
        other(b"%PDF-1.7\n%\xe2\xe3", "PDF", "`pdftotext docs - |"),
        other(&marked, "UTF-16, not JSON lines", "`iconv -f UTF-16 -t UTF-8 < docs > documents.jsonl`"),
        other(
            &utf_16(line),
            "UTF-16 without a byte order mark",
            "`iconv -f UTF-16LE -t UTF-8 < docs > documents.jsonl`",
        ),
        packed(&gzip(line), "gzip", "`gzip -dc < docs | gzip -dc > documents.jsonl`"),
        packed(b"\x28\xb5\x2f\xfd\x04", "packed by zstd", "`gzip -dc < docs | zstd -dc > documents.jsonl`"),
        packed(
            b"PK\x03\x04\x14\0",
            "a zip archive",
            "`gzip -dc < docs > unpacked && unzip -p unpacked > documents.jsonl`",
        ),
        (
            b"id,text\na,b\n".to_vec(),
            vec![
                "docs, line 1, field document",
                "CSV, `twinsplit convert docs --format csv --output documents.jsonl`",
            ],
        ),
        (
            b"id\ttext\na\tb\n".to_vec(),
            vec!["docs, line 1, field document", "TSV, `twinsplit convert docs --format tsv "],
        ),
    ]
}

#[track_caller]
fn check(said: Said, stage: &str, case: &Case) {
    let words: Vec<_> = case.words.iter().map(|word| word.replace("{stage}", stage)).collect();
    said.fails(1, &words.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn what_is_wrong_is_named_by_everything_that_reads_it() {
    let (cases, here) = (cases(), Place::new());
    here.write("clusters", "");
    for case in &cases {
        here.write("docs", &case.bytes);
        for stage in STAGES {
            check(here.say(format!("{stage} --input docs {}", case.options).trim_end()), stage, case);
        }
        for way in RUNS {
            let run = format!("twinsplit run {way} --features words:1 --input docs --output out --quiet");
            check(here.say(format!("{run} {}", case.options).trim_end()), "tokenize", case);
            assert!(!here.path("out").exists(), "{way}");
        }
        check(
            here.say(format!("twinsplit explain a z --input docs {}", case.options).trim_end()),
            "explain",
            case,
        );
    }
    let ways = STAGES.len() + RUNS.len() + 1;
    println!("{} inputs × {ways} readers = {} errors", cases.len(), cases.len() * ways);
}

/// A run converts what a stage refuses; as JSON lines it refuses it, too.
#[test]
fn crawls_are_no_json_lines() {
    let here = Place::new();
    let warc = b"WARC/1.0\r\nWARC-Type: warcinfo\r\n";
    for (bytes, is) in
        [(warc.to_vec(), "docs: this is WARC, not"), (gzip(warc), "docs: this is WARC inside gzip, not")]
    {
        here.write("docs", bytes);
        let words = [is, "`twinsplit convert docs --format warc --output documents.jsonl`"];
        for command in ["tokenize --input docs", "twinsplit run --format jsonl --input docs --output out"] {
            here.say(command).fails(1, &words);
        }
        here.say("twinsplit run --input docs --output out")
            .fails(1, &["docs: the record that begins at byte 0", "cut off"]);
    }
}

/// What Hadoop's and Spark's tests refuse too.
#[test]
fn what_no_engine_takes_is_refused_with_its_line() {
    let here = Place::new();
    for refused in refused() {
        here.write(refused.name, refused.bytes);
        for way in RUNS {
            let run =
                format!("twinsplit run {way} --input {} --output out --overwrite --quiet", refused.name);
            let place = format!("{}, line {}", refused.name, refused.line);
            here.say(&run).fails(1, &[refused.stage, refused.words, &place]);
            assert!(!here.path("out/clusters.tsv").exists(), "{way}");
        }
    }
}

/// Other rows name their field too, and standard input is a file like another.
#[test]
fn rows_and_standard_input_are_named() {
    let here = Place::new();
    here.with("tokenize", "\n{}\n", &[])
        .fails(1, &["tokenize: standard input, line 2, field id: expected ", "--bad-records"]);
    here.with("pcp-reduce", "a\tb\t-1\t2\t2\n", &[]).fails(
        1,
        &[
            "pcp-reduce: standard input, line 1, field count: expected a number",
            "\"-1\"",
            "pcp-reduce --help",
        ],
    );
    let endless = "yes | tr -d '\\n' | (ulimit -v 400000; tokenize --max-line 1)";
    here.shell(endless).fails(1, &["standard input, line 1: ", "longer than 1M"]);
    here.with("tokenize", jsonl(&[("a", &"x".repeat(2000))]), &[("TWINSPLIT_MAX_LINE", "1K")])
        .fails(1, &["standard input, line 1: ", "longer than 1K"]);
    for bound in ["0", "x", "4G", "-1"] {
        here.say(&format!("tokenize --max-line={bound}")).fails(2, &["--max-line", "suffix"]);
    }
}

/// No documents at all are a small collection, and most often a wrong path.
#[test]
fn an_empty_corpus_is_an_empty_answer_and_a_warning() {
    let here = Place::new();
    here.write("empty", "");
    here.write("blank", "\u{feff}\n\r\n\n");
    here.write("empty.gz", gzip(b""));
    for way in RUNS.into_iter().chain(["doc-split --engine pipes --partition by-task --slices 2"]) {
        for input in ["empty", "blank", "empty.gz", "empty blank"] {
            for idf in ["", " --idf 0.2,0.9"] {
                let run = format!(
                    "twinsplit run {way} --input {input} --output out --overwrite --write-kept --quiet"
                );
                let said = here.say(&format!("{run}{idf}"));
                assert!(
                    said.err.starts_with("warning: there were no documents in the input"),
                    "{way}: {}",
                    said.err
                );
                said.ok();
                for file in ["pairs.tsv", "clusters.tsv", "kept.jsonl"] {
                    assert_eq!(here.read(&format!("out/{file}")), "", "{way} of {input}");
                }
            }
        }
    }
}

/// Fifty lines of 2 MB, and the same with one more: 50 of 51 features are shared.
#[test]
fn a_document_of_100_megabytes_is_a_document() {
    let here = Place::new();
    let lines: Vec<_> = (10..61).map(|n| format!("{n} ").repeat(700_000)).collect();
    let docs = jsonl(&[("long", &lines[..50].join("\n")), ("longer", &lines.join("\n")), ("other", "x")]);
    assert!(docs.lines().take(2).all(|line| line.len() > 100 << 20));
    here.write("docs", &docs);
    for way in &RUNS[..3] {
        let run = format!(
            "twinsplit run {way} --features lines --input docs --output out --overwrite --quiet --threads 2"
        );
        here.say(&run).ok();
        assert_eq!(here.read("out/pairs.tsv"), "long\tlonger\t50\t50\t51\t0.980392\n", "{way}");
        here.say(&format!("{run} --max-line 99M")).fails(1, &["docs, line 1: ", "99M", "--max-line"]);
    }
}

/// Runs a script as root of a namespace of our own, where a file system can be mounted that goes with it.
pub(super) fn with_mounts(here: &Place, script: &str) -> Said {
    let works = here.shell("unshare -rm true");
    assert_eq!(
        works.code, 0,
        "this test mounts a small file system of its own: it needs unshare (util-linux) and either root or \
         user namespaces (sysctl -w kernel.unprivileged_userns_clone=1, and \
         kernel.apparmor_restrict_unprivileged_userns=0 where that exists): {}",
        works.err
    );
    here.write("script", script);
    here.shell("unshare -rm bash script")
}

/// A full disk is met while a file is written; what was begun goes.
#[test]
fn a_full_disk_is_named_and_leaves_nothing_that_looks_finished() {
    let here = Place::new();
    let docs = fixture("documents/en.jsonl.gz").display().to_string();
    for way in RUNS {
        for size in ["16k", "256k", "4m"] {
            let script = format!(
                "mkdir -p full && mount -t tmpfs -o size={size} tmpfs full && cd full && code=0; \
                 twinsplit run {way} --features words:1 --tau 0.05 --input {docs} --output out --quiet || code=$?; \
                 find . -path ./out/_work -prune -o -type f -print; find . -name '*.partial'; \
                 exit $code"
            );
            let said = with_mounts(&here, &script);
            assert_eq!(said.out, "", "{way} on {size} left files beside finished steps");
            said.fails(1, &["No space left on device", "out/"]);
        }
    }
    let script = format!(
        "mkdir -p full && mount -t tmpfs -o size=64k tmpfs full; \
         tokenize --input {docs} --features words:1 > full/sets"
    );
    with_mounts(&here, &script).fails(1, &["cannot write ", "/full/sets: No space left", "make room there"]);
    // An index appears under its name when it is whole, and one of that name stays.
    here.write("few", "a\t00000000000000ff\n");
    here.write("rows", (0..2500_u64).map(|n| format!("row {n}\t{:016x}\n", n * n * n)).collect::<String>());
    let few = "twinsplit fingerprints build few --output full/index 2> /dev/null; ";
    // Names of rows fill the disk while they are read; rows without names do when their tables are to be written.
    for (ids, message) in
        [("bytes", "cannot write a temporary file in full"), ("rows", "cannot reserve room in full/index")]
    {
        for (before, left) in [("", ""), (few, "full/index\n")] {
            let script = format!(
                "mkdir -p full && mount -t tmpfs -o size=64k tmpfs full; {before} code=0; \
                 twinsplit fingerprints build rows --output full/index --overwrite --layout scan --ids {ids} || code=$?; \
                 find full -type f; \
                 [[ ! -e full/index ]] || twinsplit fingerprints query full/index few >&2 || code=9; exit $code"
            );
            let said = with_mounts(&here, &script);
            assert_eq!(said.out, left);
            said.fails(1, &[message, "No space left on device"]);
        }
    }
    here.shell(&format!("tokenize --input {docs} > /dev/full"))
        .fails(1, &["cannot write", "No space left", "make room"]);
}

/// Whoever makes room goes on after the last finished step.
#[test]
fn a_run_goes_on_when_there_is_room_again() {
    let here = Place::new();
    let docs = fixture("documents/en.jsonl.gz").display().to_string();
    for (way, size) in [("term-split", "3m"), ("doc-split --engine pipes", "3m"), ("doc-split", "48k")] {
        let script = format!(
            "mkdir -p full && mount -t tmpfs -o size={size} tmpfs full && cd full; \
             run='twinsplit run {way} --tau 0.5 --input {docs} --output out --quiet --keep-work'; \
             code=0; $run || code=$?; [[ $code == 1 ]] || exit 8; \
             mount -o remount,size=1g . && $run --resume || exit 9; cat out/pairs.tsv; rm -r out; \
             $run || exit 7; cat out/pairs.tsv"
        );
        let answers = with_mounts(&here, &script).ok();
        let (resumed, whole) = answers.split_at(answers.len() / 2);
        assert!(whole.lines().count() > 1000, "{way}");
        assert_eq!(resumed, whole, "{way}");
    }
}

/// Root may write where rights forbid it, so the folder is read-only to everyone.
#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let here = Place::new();
    here.write("docs", jsonl(&[("a", "x y"), ("b", "x y")]));
    here.write("bad", "bad\n");
    let runs = RUNS.map(|way| {
        ["new", "old"]
            .map(|out| format!("twinsplit run {way} --input ../docs --output {out} --quiet && exit 9\n"))
    });
    let script = format!(
        "mkdir closed && mount -t tmpfs tmpfs closed && cd closed && mkdir old && mount -o remount,ro .\n\
         touch probe 2> ../probe && exit 9\n{}\
         tokenize --bad-records 1 --input ../bad && exit 9\n\
         twinsplit idf --from ../docs --output table && exit 9\n\
         TWINSPLIT_COUNTERS=counters tokenize --input ../docs > /dev/null && exit 9\nexit 1",
        runs.concat().concat()
    );
    let said = with_mounts(&here, &script);
    assert!(here.read("probe").contains("Read-only"), "the folder was to be read-only");
    let lines: Vec<_> = said.err.lines().collect();
    assert_eq!(lines.len(), 2 * RUNS.len() + 3, "{}", said.err);
    for line in &lines {
        assert!(line.contains("Read-only file system") && line.contains("name another place"), "{line}");
    }
    for name in ["create new", "create old", "_bad", "counters"] {
        assert!(said.err.contains(name), "{name} is not named: {}", said.err);
    }
    said.fails(1, &[]);
}

/// A file of another kind among good ones is named, and what stands before lines of documents without being any is no line.
#[test]
fn containers_blanks_marks_padding_and_halves_are_told_apart() {
    let here = Place::new();
    fs::create_dir(here.path("folder")).unwrap();
    here.write("folder/a.jsonl", jsonl(&[("a", "one two three")]));
    here.write("folder/b.jsonl", b"\x04\x22\x4d\x18\x64\x40");
    for command in [
        "run --output out --input folder",
        "idf --output table --from folder",
        "tune --input folder",
        "plan --estimate --input folder",
        "convert folder --format jsonl --output made",
    ] {
        here.say(&format!("twinsplit {command}"))
            .fails(1, &["folder/b.jsonl: this is packed by lz4", "`lz4 -dc < folder/b.jsonl > documents."]);
    }
    here.with("tokenize", &b"PAR1\x15\x04"[..], &[])
        .fails(1, &["standard input: this is Parquet", " FILE ", "--format parquet"]);
    // A task of Hadoop is given what Hadoop has unpacked, by the name of the file.
    let share = [("mapreduce_map_input_file", "hdfs:///a/docs"), ("mapreduce_map_input_start", "0")];
    here.with("tokenize", gzip("{}"), &share)
        .fails(1, &["hdfs:///a/docs: this is gzip", "end in .gz", "rename the file"]);
    for (bytes, words) in [
        (&b"\x28\xb5\x2f\xfd\x04"[..], "this is zstd, and its name does not end in .zst"),
        (b"BZh91AY&SY", "this is bzip2, and its name does not end in .bz2"),
        (b"\xfd7zXZ\0\0", "this is xz, for which Hadoop has no codec"),
    ] {
        here.with("tokenize", bytes, &share).fails(1, &["hdfs:///a/docs: ", words]);
    }
    let keyed = [share[0], share[1], ("stream_map_input_ignoreKey", "false")];
    here.with("tokenize", [b"0\t", &gzip("{}")[..]].concat(), &keyed)
        .fails(1, &["hdfs:///a/docs: this is gzip"]);

    let half = r#"{"id":"b","text":"one two three \ud83d and \ude00"}"#;
    let same = r#"{"id":"c","text":"one two three \ufffd and \ufffd"}"#;
    let padded = |text: &str| [&gzip(text)[..], &[0; 700]].concat();
    let first = format!("\u{feff} \t\r\n{half}\n");
    let second = format!("\u{feff}{same}\n   \n");
    here.write("docs.gz", [padded(&first), padded(&second)].concat());
    for way in RUNS {
        let run = "--features words:1 --tau 0.7 --input docs.gz --output out --write-kept --overwrite";
        let said = here.say(&format!("twinsplit run {way} {run}"));
        let halves = "2 escapes in the texts are half of a surrogate pair";
        assert!(said.err.contains(halves), "{way}: {}", said.err);
        said.ok();
        assert!(here.read("out/pairs.tsv").ends_with("\t1.000000\n"), "{way}");
        assert_eq!(here.read("out/kept.jsonl"), format!("{half}\n"), "{way}");
        let run = here.read("out/run.json");
        assert!(run.contains("\"lone_surrogates\": 2") && run.contains(halves), "{way}: {run}");
    }
}
