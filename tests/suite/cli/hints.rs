//! What a message tells to do instead is accepted, and does it: every hint here is followed.

use crate::common::cli::{Place, jsonl};
use twinsplit_rows::chains::FAMILIES;

/// Document frequencies: x 4, y 3, all others 1. Sum of df(df-1)/2: 6 + 3 = 9; all 6 pairs reach tau.
const DOCS: [(&str, &str); 4] = [("a", "x y"), ("b", "x y z"), ("c", "x y w"), ("d", "x v")];

fn place() -> Place {
    let here = Place::new();
    here.write("docs", jsonl(&DOCS));
    here.write("twice", jsonl(&[("a", "x y"), ("a", "x y"), ("b", "x y")]));
    here.write("bad", format!("{}[1]\n", jsonl(&DOCS)));
    here
}

const COMMON: &str = "--features words:1 --tau 0.25 --output out --overwrite";

/// The command that a message shows on a line of its own.
fn shown(err: &str) -> &str {
    err.lines().find_map(|line| line.strip_prefix("  ")).unwrap_or_else(|| panic!("no command: {err}"))
}

/// Plain Term-Split that cannot work: the command named is the user's own, and it works.
#[test]
fn the_command_instead_of_plain_term_split_works() {
    let here = place();
    here.say(&format!("twinsplit run doc-split {COMMON} --input docs --quiet")).ok();
    let pairs = here.read("out/pairs.tsv");
    for options in [
        "term-split",
        "term-split --engine pipes",
        "term-split --accumulators 6",
        "term-split --posting-block 2 --write-kept --cluster star",
        "--combine-pairs 10 --threads 1",
        "--accumulators=6 --engine pipes --keep longest",
    ] {
        let said = here.say(&format!("twinsplit run {options} --max-pairs 8 {COMMON} --input docs"));
        let err = said.fails(1, &["would write 9 pairs of postings", "(the limit is 8)"]);
        let command = shown(&err);
        assert!(command.contains(" run doc-split "), "{command}");
        here.shell(command).ok();
        assert_eq!(here.read("out/pairs.tsv"), pairs, "{command}");
        let instead = err.contains("--pcp prefix instead of --accumulators");
        assert_eq!(instead, options.contains("accumulators"), "{err}");
    }
}

/// A command that is refused, what its message names, and commands that follow it.
#[test]
fn hints_can_be_followed() {
    let here = place();
    here.say("twinsplit idf --from docs --features words:1 --output table").ok();
    let cases: &[(&str, i32, &[&str], &[&str])] = &[
        (
            "run term-split --df-cut 4 --max-pairs 8 --input docs",
            1,
            &["use doc-split, or --pcp prefix without --accumulators, or raise --max-pairs"],
            &[
                "run doc-split --max-pairs 8 --input docs",
                "run term-split --df-cut 4 --pcp prefix --max-pairs 9 --input docs",
                "run term-split --df-cut 4 --max-pairs 9 --input docs",
            ],
        ),
        (
            "run term-split --pcp prefix --max-pairs 5 --engine pipes --input docs",
            1,
            &["doc-split has none", "raise --max-pairs"],
            &[
                "run doc-split --max-pairs 6 --engine pipes --input docs",
                "run term-split --pcp prefix --max-pairs 9 --engine pipes --input docs",
            ],
        ),
        (
            "run doc-split --max-pairs 5 --engine pipes --input docs",
            1,
            &["--write clusters"],
            &["run doc-split --max-pairs 5 --engine pipes --write clusters --input docs"],
        ),
        (
            "run doc-split --max-pairs 5 --input docs",
            1,
            &["--write clusters"],
            &["run doc-split --max-pairs 5 --write clusters --input docs"],
        ),
        (
            "run doc-split --input bad",
            1,
            &["--bad-records N (all engines but hadoop)"],
            &[
                "run doc-split --bad-records 1 --input bad",
                "run doc-split --bad-records 1 --engine pipes --input bad",
                "plan doc-split --bad-records 1 --engine spark",
            ],
        ),
        (
            "plan doc-split --engine hadoop --bad-records 1",
            2,
            &["tokenize --bad-records N", "--engine spark, where ids are not --id auto"],
            &["plan doc-split --engine spark --bad-records 1"],
        ),
        (
            "run doc-split --input twice",
            1,
            &["--id auto, with all engines but spark"],
            &[
                "run doc-split --id auto --input twice",
                "run doc-split --id auto --engine pipes --input twice",
                "plan doc-split --id auto --engine hadoop",
            ],
        ),
        (
            "run doc-split --engine pipes --idf 0.3,1 --idf-list 1 --input docs",
            1,
            &["with --idf-lookup shuffle"],
            &["run doc-split --engine pipes --idf 0.3,1 --idf-list 1 --idf-lookup shuffle --input docs"],
        ),
        (
            "run doc-split --engine pipes --idf 0.3,1 --idf-list 1 --idf-table table --input docs",
            1,
            &["--idf-list 1; raise it"],
            &["run doc-split --engine pipes --idf 0.3,1 --idf-list 2 --idf-table table --input docs"],
        ),
        (
            "run doc-split --max-line 10B --input docs",
            1,
            &["let it in with --max-line"],
            &["run doc-split --max-line 1M --input docs"],
        ),
        (
            "run term-split --input -",
            2,
            &[
                "only doc-split, term-split --pcp prefix without --df-cut and --accumulators, minhash with --check exact",
                "without --write-kept",
            ],
            &["run doc-split --input -", "run term-split --pcp prefix --input -", "run minhash --input -"],
        ),
    ];
    for (line, code, words, next) in cases {
        let args = |line: &str| match line.starts_with("run") {
            true => format!("twinsplit {line} {COMMON}"),
            false => format!("twinsplit {line} --features words:1"),
        };
        let docs = here.read("docs");
        let err = here.with(&args(line), &docs, &[]).fails(*code, words);
        for line in *next {
            let said = here.with(&args(line), &docs, &[]);
            assert_eq!(said.code, 0, "{line}, after: {err}\n{}", said.err);
        }
    }
}

/// What the guards of all chains name, whatever the engine, is an option of a run.
#[test]
fn guards_name_options_that_there_are() {
    let help = Place::new().say("twinsplit run --help").ok();
    let mut named = 0;
    for family in FAMILIES {
        for step in family.every_chain().iter().flat_map(|(_, chain)| chain.steps()) {
            for guard in step.guards {
                for word in guard.advice.split([' ', ',', ';']).filter(|word| word.starts_with("--")) {
                    assert!(help.contains(&format!("{word} <")), "{word}: {}", guard.advice);
                    named += 1;
                }
            }
        }
    }
    assert!(named > 0);
}
