//! Compressed input: every command that reads documents reads each compression, by its first bytes, and no file that is cut or damaged
//! gives fewer documents without a word.

use crate::common::cli::{Place, fixture};
use std::fs;
use std::io::Write as _;

/// Writes `docs` in each compression with Python's own modules: in one part, and in two with zero bytes behind them. No name says what a
/// file is.
const PACK: &str = r#"
import bz2, gzip, lzma
docs = open("docs", "rb").read()
middle = docs.index(b"\n", len(docs) // 2) + 1
for name, pack in ("gzip", gzip.compress), ("bzip2", bz2.compress), ("xz", lzma.compress):
    open(name + "-one", "wb").write(pack(docs))
    open(name + "-two", "wb").write(pack(docs[:middle]) + bytes(8) + pack(docs[middle:]) + bytes(4))
"#;

const PACKINGS: [&str; 4] = ["gzip", "zstd", "bzip2", "xz"];

/// A frame of zstd.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap()
}

/// Real documents in every compression.
fn place() -> Place {
    let here = Place::new();
    let lines = "import gzip, sys\nsys.stdout.write(''.join(gzip.open(sys.argv[1], 'rt', encoding='utf-8').readlines()[:80]))";
    here.write("make.py", lines);
    here.shell(&format!("python3 make.py {} > docs", fixture("documents/en.jsonl.gz").display())).ok();
    here.write("pack.py", PACK);
    here.shell("python3 pack.py").ok();
    let docs = here.read("docs");
    let middle = docs[docs.len() / 2..].find('\n').unwrap() + docs.len() / 2 + 1;
    let (front, back) = docs.as_bytes().split_at(middle);
    let skippable = b"\x5d\x2a\x4d\x18\x03\0\0\0abc".to_vec();
    here.write("zstd-one", zstd(docs.as_bytes()));
    here.write("zstd-two", [skippable.clone(), zstd(front), skippable, zstd(back)].concat());
    here
}

/// What is run on the file `FILE`; what it prints, and what it writes, is compared.
const READERS: [&str; 9] = [
    "twinsplit run --tau 0.5 --input FILE --output out --overwrite --quiet --write-kept && cat out/pairs.tsv out/kept.jsonl",
    "twinsplit run --tau 0.5 --engine pipes --input FILE --output out --overwrite --quiet && cat out/pairs.tsv",
    "twinsplit run minhash --input - --output out --overwrite --quiet < FILE && cat out/pairs.tsv",
    "twinsplit tune --kinds words:3 --taus 0.5 --quiet --json --input FILE | grep -v input | grep -v FILE",
    "twinsplit idf --features words:1 --from FILE --output - 2> /dev/null",
    "twinsplit convert FILE --format jsonl --output -",
    "twinsplit plan --engine hadoop --estimate --input FILE | head -1",
    "tokenize --input FILE",
    "twinsplit explain $(head -2 docs | python3 -c 'import json, sys; print(*[json.loads(line)[\"id\"] for line in sys.stdin])') --input FILE",
];

#[test]
fn every_reader_reads_every_compression() {
    let here = place();
    let mut reads = 0;
    for reader in READERS {
        let expected = here.shell(&reader.replace("FILE", "docs")).ok();
        assert!(expected.len() > 20, "{reader}: {expected}");
        for packing in PACKINGS {
            for form in ["one", "two"] {
                let file = format!("{packing}-{form}");
                let read = here.shell(&reader.replace("FILE", &file)).ok().replace(&file, "docs");
                assert_eq!(read, expected, "{reader} of {file}");
                reads += 1;
            }
        }
    }
    println!("{reads} reads");
    assert_eq!(reads, READERS.len() * PACKINGS.len() * 2);
    // A run's answer is looked at with the file that it has read.
    here.shell("twinsplit run --tau 0.5 --input zstd-two --output out --overwrite --quiet").ok();
    here.say("twinsplit report out --to report.html").ok();
    let first = here.read("out/pairs.tsv");
    let ids: Vec<_> = first.lines().next().unwrap().split('\t').take(2).collect();
    assert!(here.say(&format!("twinsplit explain {} --run out", ids.join(" "))).ok().contains("=> a pair"));
}

/// Wherever a file of one part is cut there is an error; and where one of two parts is, unless it is between them.
#[test]
fn no_cut_is_silent() {
    let here = place();
    let docs = here.read("docs");
    let mut cuts = 0;
    for packing in PACKINGS {
        for form in ["one", "two"] {
            let whole = fs::read(here.path(&format!("{packing}-{form}"))).unwrap();
            for at in (1..60).map(|part| whole.len() * part / 60).chain([
                1,
                7,
                12,
                whole.len() - 1,
                whole.len() - 13,
            ]) {
                here.write("cut", &whole[..at]);
                let said = here.say("twinsplit convert cut --format jsonl --output -");
                if said.code == 0 {
                    assert_eq!(said.out, docs, "{packing}-{form} cut at {at}");
                    assert_eq!(form, "two", "{packing} cut at {at}");
                } else {
                    assert!(docs.starts_with(&said.out), "{packing} cut at {at}: other documents");
                    assert!(said.err.contains("cut"), "{}", said.err);
                    // Less than what tells the compression is a line that is none.
                    if at > 10 {
                        let place = format!(
                            "cannot read cut: its {packing} data ends in the middle, after byte {at}: it is truncated"
                        );
                        assert!(said.err.contains(&place), "{}", said.err);
                    }
                }
                cuts += 1;
            }
        }
    }
    println!("{cuts} cuts");
    assert_eq!(cuts, PACKINGS.len() * 2 * 64);
}

#[test]
fn damage_and_trailing_bytes_are_named() {
    let here = place();
    for packing in PACKINGS {
        let whole = fs::read(here.path(&format!("{packing}-one"))).unwrap();
        // The sum at the end does not fit.
        let mut damaged = whole.clone();
        let sum = damaged.len() - 3;
        damaged[sum] ^= 0x55;
        here.write("bad", damaged);
        // The lines of a frame of zstd may be wrong before its sum is.
        let mut damaged = whole.clone();
        let middle = damaged.len() / 2;
        damaged[middle..middle + 4].iter_mut().for_each(|byte| *byte ^= 0x55);
        here.write("middle", damaged);
        here.write("more", [&whole[..], b"\n"].concat());
        let test = format!("`{packing} -t`");
        for command in [
            "twinsplit run --output out --input",
            "tokenize --input",
            "twinsplit explain a b --input",
            "twinsplit tune --input",
        ] {
            here.say(&format!("{command} bad")).fails(
                1,
                &[
                    "cannot read bad: its ",
                    packing,
                    if packing == "zstd" { "damaged behind byte" } else { "damaged before byte" },
                    &test,
                ],
            );
            here.say(&format!("{command} middle")).fails(1, &["middle"]);
            let place =
                format!("from its byte {} on trailing bytes stand behind the {packing} data", whole.len());
            here.say(&format!("{command} more")).fails(1, &["cannot read more: ", &place, "`head -c"]);
        }
    }
}
