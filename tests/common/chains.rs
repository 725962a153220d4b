//! Documents that try a chain on every engine, and the comparison of a cluster's answer with a local one.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::cli::Place;

/// Families of five variants of a text, with the small words that SpotSigs looks for, and pages that are equal.
pub fn families() -> String {
    let mut lines = String::new();
    for family in 0..8 {
        for variant in 0..5 {
            let words = (0..30).map(|n| match n * 5 < variant * family {
                true => format!("the w{family}v{variant}n{n} is "),
                false => format!("the w{family}n{n} is "),
            });
            let text = words.collect::<String>();
            let line = serde_json::json!({ "id": format!("f{family}-{variant}"), "text": text });
            let _ = writeln!(lines, "{line}");
        }
    }
    lines
}

/// Ids and texts that readers of lines and keys stumble over: TAB, CR, line separators, astral characters, a byte
/// order mark, numbers, blanks, CRLF and an empty line; no line end at the end.
pub fn odd() -> String {
    let ids = [
        "tab\there",
        "cr\rhere",
        "nl\nhere",
        "ls\u{2028}here",
        "\u{1f600}",
        "\u{feff}mark",
        " blank ",
        "back\\slash",
        "#end",
        "日本",
    ];
    let mut lines = String::from("\u{feff}");
    for (at, id) in ids.iter().enumerate() {
        let text = format!(
            "one two\u{2028}three four\tfive six\rseven \u{1f600}\u{1f600} eight nine ten {}",
            at / 4
        );
        let end = if at % 3 == 0 { "\r\n" } else { "\n" };
        let _ = write!(lines, "{}{end}", serde_json::json!({ "id": id, "text": text }));
    }
    // A CR between tokens is white space of JSON, and no end of a line.
    lines.push_str("\n{\"id\":\r7,\"text\":\r\"one two three four five six seven eight nine ten\"}\n");
    lines.push_str("{\"id\":\"empty\",\"text\":\"\"}\n{\"id\":\"last\",\"text\":\"one two three four five six seven eight nine\"}");
    lines
}

/// The answer of a cluster, its parts put together and sorted, is that of a local run, byte for byte.
#[track_caller]
pub fn assert_same(here: &Place, local: &str, cluster: &str) {
    for (folder, file) in [("pairs", "pairs.tsv"), ("clusters", "clusters.tsv")] {
        if !here.path(&format!("{local}/{file}")).exists() {
            assert!(!here.path(&format!("{cluster}/{folder}")).exists());
            continue;
        }
        let expected = here.read(&format!("{local}/{file}"));
        assert!(expected.lines().count() > 20, "{file}: {} lines", expected.lines().count());
        let parts = here.shell(&format!("cat {cluster}/{folder}/part-* | LC_ALL=C sort")).ok();
        assert_eq!(parts, expected, "{folder} of {cluster}");
        assert!(here.path(&format!("{cluster}/{folder}/_SUCCESS")).exists());
    }
    // Kept lines come in parts, and their line ends are LF.
    let lines = |text: String| -> BTreeSet<String> { text.lines().map(str::to_owned).collect() };
    let kept = here.shell(&format!("cat {cluster}/kept/part-*")).ok();
    let kept = kept.replace(" ", "");
    let expected = here.read(&format!("{local}/kept.jsonl")).replace(['\r', ' '], "");
    assert_eq!(lines(kept), lines(expected));
}
