//! Documents that try a chain on every engine, and the comparison of a cluster's answer with a local one.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

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

/// What [`stress`] made.
pub struct Stress {
    /// The sum of df(df-1)/2 over all features, where equal pages count once.
    pub pairs_of_postings: u64,
    /// Bytes of the hot feature's posting list: an id, a size and two TABs for each posting.
    pub hot_bytes: usize,
}

/// Writes three files of documents whose features are lines: `equal` equal pages, and `hot` pages with one line in all
/// of them, in twos that share two lines more (similarity 3/5) or, each fifth two, one (2/6). Ids of hot pages are padded
/// to `id_bytes`.
pub fn stress(folder: &Path, equal: usize, hot: usize, id_bytes: usize) -> Stress {
    let mut files: Vec<_> = (0..3)
        .map(|n| std::fs::File::create(folder.join(format!("stress-{n}.jsonl"))).expect("a file"))
        .map(std::io::BufWriter::new)
        .collect();
    let mut write = |at: usize, id: &str, text: String| {
        let line = serde_json::json!({ "id": id, "text": text });
        writeln!(files[at % 3], "{line}").expect("a file");
    };
    for n in 0..equal {
        write(n, &format!("equal-{n}"), "one page\nof many\nthat are equal".to_owned());
    }
    let (mut documents, mut hot_bytes) = (HashMap::<String, u64>::new(), 0);
    for n in 0..hot {
        let two = n / 2;
        let third = if two % 5 == 0 { n } else { two };
        let lines = ["hot".to_owned(), format!("two {two}"), format!("third {third}"), format!("own {n}")];
        let id = format!("hot-{n:x<id_bytes$}");
        hot_bytes += id.len() + 3;
        write(n, &id, lines.join("\n"));
        lines.into_iter().for_each(|line| *documents.entry(line).or_default() += 1);
    }
    files.iter_mut().for_each(|file| file.flush().expect("a file"));
    Stress { pairs_of_postings: documents.values().map(|df| df * (df - 1) / 2).sum(), hot_bytes }
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
    // Hadoop takes a CR for the end of a line: that at a line's end goes, and one within, white space of JSON, is a blank.
    let expected = here.read(&format!("{local}/kept.jsonl"));
    let expected = expected.split_terminator('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let mut expected: Vec<String> = expected.map(|line| line.replace('\r', " ")).collect();
    expected.sort();
    let kept = here.shell(&format!("cat {cluster}/kept/part-*")).ok();
    let mut kept: Vec<&str> = kept.split_terminator('\n').collect();
    kept.sort();
    assert!(!kept.is_empty());
    assert_eq!(kept, expected, "kept of {cluster}");
}
