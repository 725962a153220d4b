//! Keywords of a thousand Chinese documents are those of Python's jieba.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

use crate::families::simhash::{as_python, golden, keywords};

use super::{corpus, path};

/// The texts of fudan-gbk that are UTF-8, by their names in the archive.
fn fudan() -> BTreeMap<String, String> {
    let archive = path("fudan-gbk").with_file_name("raw-gbk.tar.gz");
    let folder = tempfile::tempdir().unwrap();
    let status = Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(folder.path()).status().unwrap();
    assert!(status.success(), "{}", archive.display());
    let mut texts = BTreeMap::new();
    let mut folders = vec![folder.path().to_owned()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                let name = path.strip_prefix(folder.path()).unwrap().to_string_lossy().into_owned();
                texts.insert(format!("./{name}"), text);
            }
        }
    }
    texts
}

#[test]
#[ignore = "needs the corpora; run by `make test-corpora`"]
fn keywords_of_a_thousand_documents_are_those_of_python() {
    let mut texts: BTreeMap<(&str, String), String> =
        fudan().into_iter().map(|(name, text)| (("fudan-gbk", name), text)).collect();
    let revisions = corpus("zh-revisions-iotdb");
    texts.extend(revisions.into_iter().map(|doc| (("zh-revisions-iotdb", doc.id), doc.text)));
    let mut extractor = as_python();
    let (mut documents, mut words, mut differ) = (0, 0, Vec::new());
    for line in golden("keywords.tsv").lines() {
        let [corpus, name, number, digest] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let corpus = if corpus == "fudan-gbk" { "fudan-gbk" } else { "zh-revisions-iotdb" };
        let text = &texts[&(corpus, name.to_owned())];
        let found = keywords(&mut extractor, text);
        let lines = found.iter().fold(String::new(), |mut lines, (word, count, idf)| {
            writeln!(lines, "{word}\t{count}\t{idf}").unwrap();
            lines
        });
        let md5 = twinsplit_core::hash::md5(lines.as_bytes());
        if (found.len().to_string(), format!("{md5:032x}")) != (number.to_owned(), digest.to_owned()) {
            differ.push(format!("{corpus} {name}: {} keywords, Python has {number}", found.len()));
        }
        documents += 1;
        words += found.len();
    }
    assert!(differ.is_empty(), "{} of {documents}:\n{}", differ.len(), differ.join("\n"));
    assert_eq!(documents, 1000);
    assert!(words > 100_000, "{words}");
}
