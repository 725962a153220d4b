//! `run --unit`: repeated paragraphs, lines and sentences of documents. The oracle is slow and obvious: it divides the documents, compares
//! every two units as it compares documents, and puts the documents together again without those that clusters drop.

use crate::common::cli::{Place, jsonl};
use crate::common::expected::{Expected, Keep, Kind, clusters};
use crate::common::features;
use crate::common::oracle::{
    Doc, Features, Overlaps, Similarity, at_least, escape_id, is_blank, short_texts,
};
use crate::common::real;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use twinsplit_rows::chains::FAMILIES;
use unicode_segmentation::UnicodeSegmentation;

/// A document as parts: what stands in front of its first unit, the units, each with what stands behind it.
struct Divided {
    front: String,
    units: Vec<(String, String)>,
}

/// Divides a text whose lines end in LF alone.
fn divide(text: &str, unit: &str) -> Divided {
    let mut parts = Divided { front: String::new(), units: Vec::new() };
    let behind = |parts: &mut Divided, text: &str| match parts.units.last_mut() {
        Some((_, behind)) => behind.push_str(text),
        None => parts.front.push_str(text),
    };
    if unit == "sentence" {
        for sentence in text.split_sentence_bounds() {
            let seen = if is_blank(sentence) { "" } else { sentence.trim_end() };
            if !seen.is_empty() {
                parts.units.push((seen.to_owned(), String::new()));
            }
            behind(&mut parts, &sentence[seen.len()..]);
        }
        return parts;
    }
    for line in text.split_inclusive('\n') {
        let (words, end) = line.strip_suffix('\n').map_or((line, ""), |words| (words, "\n"));
        if is_blank(words) {
            behind(&mut parts, line);
            continue;
        }
        match parts.units.last_mut() {
            // The line before is of the same paragraph, if nothing but its end stands between.
            Some((paragraph, between)) if unit == "paragraph" && between == "\n" => {
                *paragraph = format!("{paragraph}\n{words}");
                between.clear();
            }
            _ => parts.units.push((words.to_owned(), String::new())),
        }
        behind(&mut parts, end);
    }
    parts
}

impl Divided {
    /// The text without some units, by their numbers from 1: of what stood between two that stay the part with most line ends stays, the
    /// longest of these, the first of these.
    fn without(&self, cut: &BTreeSet<usize>) -> String {
        let mut text = String::new();
        let mut between: Vec<&str> = Vec::new();
        for (number, (unit, behind)) in (1..).zip(&self.units) {
            if !cut.contains(&number) {
                if text.is_empty() {
                    text += &self.front;
                } else {
                    let strength = |space: &&&str| (space.matches('\n').count(), space.len());
                    let most = between.iter().map(|space| strength(&space)).max().unwrap();
                    text += between.iter().find(|space| strength(space) == most).unwrap();
                }
                text += unit;
                between.clear();
            }
            between.push(behind);
        }
        match text.is_empty() {
            true => text,
            false => text + between.last().unwrap(),
        }
    }

    /// The first character of each unit, and the first one behind it.
    fn spans(&self) -> Vec<(usize, usize)> {
        let count = |text: &str| text.chars().count();
        let mut at = count(&self.front);
        let mut span = |(unit, behind): &(String, String)| {
            let (start, end) = (at, at + count(unit));
            at = end + count(behind);
            (start, end)
        };
        self.units.iter().map(&mut span).collect()
    }
}

/// What is cut: of each document its units by number, each with that for which it is cut and the similarity.
type Cut = BTreeMap<usize, BTreeMap<usize, (String, usize, String)>>;

/// What a run writes beside pairs and clusters.
fn written(docs: &[Doc], divided: &[Divided], cut: &Cut) -> [String; 3] {
    let (mut rows, mut of_documents, mut kept) = (String::new(), String::new(), String::new());
    for (at, (doc, parts)) in docs.iter().zip(divided).enumerate() {
        let Some(cut) = cut.get(&at) else {
            kept += &format!("{}\n", doc.line);
            continue;
        };
        let spans = parts.spans();
        for (number, (kept_document, kept_unit, similarity)) in cut {
            let (start, end) = spans[number - 1];
            let unit = &parts.units[number - 1].0;
            let words = unit.split_whitespace().collect::<Vec<_>>().join(" ");
            let text: String = words.chars().take(80).collect();
            let text = text.trim_end();
            writeln!(
                rows,
                "{}\t{number}\t{start}\t{end}\t{kept_document}\t{kept_unit}\t{similarity}\t{text}",
                doc.id
            )
            .unwrap();
        }
        let characters = |of: &dyn Fn(usize) -> bool| -> usize {
            spans.iter().enumerate().filter(|(at, _)| of(at + 1)).map(|(_, (start, end))| end - start).sum()
        };
        let (all, gone) = (characters(&|_| true), characters(&|number| cut.contains_key(&number)));
        writeln!(of_documents, "{}\t{}\t{}\t{all}\t{gone}", doc.id, parts.units.len(), cut.len()).unwrap();
        let rest = parts.without(&cut.keys().copied().collect());
        if cut.len() < parts.units.len() {
            // The field of the text alone is another one.
            let (before, _) = doc.line.split_once("\"text\": ").unwrap();
            kept += &format!("{before}\"text\": {}}}\n", serde_json::to_string(&rest).unwrap());
        }
    }
    [rows, of_documents, kept]
}

/// Documents in English and Chinese with paragraphs, lines and sentences that stand in several of them, and in one twice: some are copies, and in some a few words
/// are others.
fn planted() -> Vec<Doc> {
    let notice = "This page is offered as it is, without warranty of any kind.\nNobody who wrote it answers for what comes of its use.";
    let near = notice.replace("any kind", "some kind");
    let menu = "Home\nNews\nContact us";
    let chinese = "本网站的全部内容均由作者提供，未经许可不得转载！如需转载请注明出处。";
    let mut docs = Vec::new();
    for (language, name) in ["en.jsonl.gz", "zh.jsonl.gz"].into_iter().enumerate() {
        let all = real::every(9, real::read(&real::fixture(name)));
        let usual =
            |doc: &&Doc| !doc.text.contains(['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']);
        for (at, doc) in all.iter().filter(usual).take(40).enumerate() {
            let mut paragraphs: Vec<String> =
                doc.text.chars().take(1500).collect::<String>().split("\n\n").map(str::to_owned).collect();
            let (middle, end) = (paragraphs.len() / 2, paragraphs.len());
            match at % 5 {
                0 => paragraphs.insert(middle, notice.to_owned()),
                1 => paragraphs.insert(end, if language == 0 { near.clone() } else { chinese.to_owned() }),
                2 => paragraphs.insert(0, menu.to_owned()),
                3 => paragraphs.extend([notice.to_owned(), "——".to_owned(), notice.to_owned()]),
                _ => {}
            }
            let text = paragraphs.join(if at % 3 == 0 { "\n \n" } else { "\n\n" });
            docs.push((format!("{language}-{at:02}#{}", at % 4), text));
        }
    }
    // One of which nothing is left, one of nothing but white space, one that has one unit.
    docs.push(("gone".to_owned(), format!("\n{menu}\n\n{notice}\n")));
    docs.push(("blank".to_owned(), "\n \n".to_owned()));
    docs.push(("tab\t1".to_owned(), "Home".to_owned()));
    let doc = |(number, (id, text)): (usize, (String, String))| {
        let field = |text: &str| serde_json::to_string(text).unwrap();
        let line = format!("{{\"more\": [{number}], \"id\": {}, \"text\": {}}}", field(&id), field(&text));
        Doc { id: escape_id(&id), line, text, date: None, score: None }
    };
    docs.into_iter().enumerate().map(doc).collect()
}

fn lines(docs: &[Doc]) -> String {
    docs.iter().map(|doc| format!("{}\n", doc.line)).collect()
}

/// The units as documents, and of each which one of which document it is.
fn as_documents(docs: &[Doc], divided: &[Divided]) -> (Vec<Doc>, Vec<(usize, usize)>) {
    let (mut units, mut places) = (Vec::new(), Vec::new());
    for (at, (doc, parts)) in docs.iter().zip(divided).enumerate() {
        for (number, (text, _)) in (1..).zip(&parts.units) {
            let (id, text) = (format!("{}#{number}", doc.id), text.clone());
            units.push(Doc { id, line: String::new(), text, date: None, score: None });
            places.push((at, number));
        }
    }
    (units, places)
}

fn cut_of(
    docs: &[Doc],
    places: &[(usize, usize)],
    found: &BTreeMap<usize, Vec<usize>>,
    rows: &str,
    everywhere: usize,
) -> Cut {
    // The similarities are those of the file of clusters, which is compared by itself.
    let similarity: BTreeMap<&str, &str> =
        rows.lines().map(|row| row.split('\t').collect::<Vec<_>>()).map(|row| (row[1], row[3])).collect();
    let mut cut = Cut::new();
    for (kept, members) in found {
        let documents: BTreeSet<usize> = members.iter().map(|member| places[*member].0).collect();
        for member in members.iter().filter(|member| *member != kept || documents.len() >= everywhere) {
            let ((document, unit), (kept_document, kept_unit)) = (places[*member], places[*kept]);
            let id = format!("{}#{unit}", docs[document].id);
            let row = (docs[kept_document].id.clone(), kept_unit, similarity[id.as_str()].to_owned());
            cut.entry(document).or_default().insert(unit, row);
        }
    }
    cut
}

/// All units, ways to find pairs, similarities and rules; engines that share no code.
#[test]
fn units_are_cut_as_brute_force_cuts_them() {
    let docs = planted();
    let here = Place::new();
    here.write("docs.jsonl", lines(&docs));
    let emptied = docs.iter().position(|doc| doc.id == "gone").unwrap();
    let (mut ran, mut gone, mut again_cut) = (0, 0, 0);
    for unit in ["paragraph", "line", "sentence"] {
        let divided: Vec<_> = docs.iter().map(|doc| divide(&doc.text, unit)).collect();
        let (units, places) = as_documents(&docs, &divided);
        assert!(units.len() > 300, "{unit}: {}", units.len());
        let sets: Vec<Features> = features::of(&units, "words:2");
        let texts = short_texts(&units, &sets, 1);
        let compared = at_least(&sets, 1);
        let overlaps = Overlaps::of_any_similarity(&compared, "0.6");
        for (chain, similarity, tau, kind, keep, everywhere) in [
            ("doc-split", Similarity::Jaccard, "0.8", Kind::Star, Keep::First, usize::MAX),
            ("term-split --pcp prefix", Similarity::Jaccard, "0.6", Kind::Star, Keep::First, 5),
            ("term-split --engine pipes", Similarity::Jaccard, "0.8", Kind::Star, Keep::Longest, 2),
            (
                "doc-split --engine pipes",
                Similarity::Cosine,
                "0.9",
                Kind::Components,
                Keep::First,
                usize::MAX,
            ),
            ("doc-split", Similarity::Containment, "1.0", Kind::Components, Keep::SmallestId, 3),
        ] {
            let pairs = overlaps.pairs_by(similarity, tau, &compared);
            let expected = Expected::by(similarity, (&units, &compared, &texts), &pairs, kind, keep);
            let found = clusters(&units, &texts, &pairs, kind, keep);
            let cut = cut_of(&docs, &places, &found, &expected.clusters, everywhere);
            gone +=
                usize::from(cut.get(&emptied).is_some_and(|cut| cut.len() == divided[emptied].units.len()));
            let all =
                if everywhere < usize::MAX { format!(" --cut-all {everywhere}") } else { String::new() };
            let run = format!(
                "twinsplit run {chain} --unit {unit} --features words:2 --similarity {} --tau {tau} --cluster {} {}{all} -i docs.jsonl \
                 --write-kept --overwrite -qo out",
                similarity.name(),
                kind.name(),
                keep.args().join(" ")
            );
            here.say(&run).ok();
            let file = |name: &str| here.read(&format!("out/{name}"));
            assert_eq!(file("pairs.tsv"), expected.pairs, "{run}");
            assert_eq!(file("clusters.tsv"), expected.clusters, "{run}");
            assert!(cut.values().map(BTreeMap::len).sum::<usize>() > 20, "{run}");
            let found = ["cut.tsv", "cut-documents.tsv", "kept.jsonl"].map(file);
            for (found, expected) in found.iter().zip(written(&docs, &divided, &cut)) {
                assert_eq!(*found, expected, "{run}");
            }
            if kind == Kind::Star && unit != "sentence" {
                // Of what stays no two units are alike; what ends a sentence may depend on the one behind.
                let again = run.replace("docs.jsonl", "out/kept.jsonl").replace("-qo out", "-qo again");
                here.say(&again).ok();
                assert_eq!(here.read("again/cut.tsv"), "", "{again}");
                again_cut += 1;
            }
            ran += 1;
        }
    }
    assert_eq!(again_cut, 6);
    println!("{ran} runs, {gone} of them with nothing left of a document");
    assert_eq!(ran, 15);
    assert!(gone > 5, "{gone}");
}

/// Whatever a family calls alike: what is cut is what its clusters drop, and engines write the same bytes.
#[test]
fn every_family_cuts_what_its_clusters_drop() {
    let docs = planted();
    let here = Place::new();
    here.write("docs.jsonl", lines(&docs));
    let mut ran = 0;
    for family in FAMILIES {
        for unit in ["paragraph", "line", "sentence"] {
            let divided: Vec<_> = docs.iter().map(|doc| divide(&doc.text, unit)).collect();
            let (units, places) = as_documents(&docs, &divided);
            let number: BTreeMap<&str, usize> =
                (0..).zip(&units).map(|(at, unit)| (unit.id.as_str(), at)).collect();
            let mut bytes = Vec::new();
            for engine in ["local", "pipes"] {
                let run = format!(
                    "twinsplit run {} --unit {unit} --engine {engine} -i docs.jsonl --write-kept --overwrite -qo out",
                    family.name
                );
                here.say(&run).ok();
                bytes.push(
                    [
                        "pairs.tsv",
                        "clusters.tsv",
                        "cut.tsv",
                        "cut-documents.tsv",
                        "kept.jsonl",
                        "units.jsonl",
                    ]
                    .map(|name| here.read(&format!("out/{name}"))),
                );
            }
            let [_, rows, cut, of_documents, kept, _] = &bytes[0];
            let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for row in rows.lines() {
                let fields: Vec<_> = row.split('\t').collect();
                found.entry(number[fields[0]]).or_default().push(number[fields[1]]);
            }
            assert!(found.len() > 4, "{} {unit}: {}", family.name, found.len());
            let expected = written(&docs, &divided, &cut_of(&docs, &places, &found, rows, usize::MAX));
            assert_eq!([cut, of_documents, kept], expected.each_ref(), "{} {unit}", family.name);
            assert!(bytes[0] == bytes[1], "{} {unit}", family.name);
            ran += 1;
        }
    }
    println!("{ran} answers");
    assert_eq!(ran, 3 * FAMILIES.len());
}

/// The answer of a run of units is read as any other one.
#[test]
fn answers_of_units_are_explained_shown_and_annotated() {
    let here = Place::new();
    let notice = "All rights of this text are reserved by those who wrote it in the first place.";
    here.write(
        "docs.jsonl",
        jsonl(&[
            ("a", &format!("Of cats.\n\n{notice}") as &str),
            ("b", &format!("{}\n\nOf dogs.", notice.replace("place", "time"))),
            ("c", "Of birds."),
        ]),
    );
    let said = here.say("twinsplit run --unit paragraph --tau 0.6 --write-kept -i docs.jsonl -o out").err;
    for words in [
        "5 paragraphs of 3 documents, in ",
        "1 cluster, 1 paragraph to drop",
        "1 paragraph cut, 42.7 % of the characters, out of 1 document\n",
        "each paragraph is compared as a document of its own",
        "cut.tsv, cut-documents.tsv, kept.jsonl, units.jsonl, run.json",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let expected = "b\t1\t0\t77\ta\t2\t0.866667\tAll rights of this text are reserved by those who wrote it in the first time.\n";
    assert_eq!(here.read("out/cut.tsv"), expected);
    assert_eq!(here.read("out/cut-documents.tsv"), "b\t2\t1\t85\t77\n");
    let shown = here.say("twinsplit explain a#2 b#1 --run out").ok();
    assert!(shown.contains("=> a pair") && shown.contains("0.866667"), "{shown}");
    here.say("twinsplit explain a b --run out").fails(2, &["no document has the id \"a\""]);
    here.say("twinsplit report out").ok();
    assert!(here.read("out/report.html").contains("All rights of this text"));
    here.say("twinsplit annotate out -o annotated.jsonl -q").ok();
    let annotated = here.read("annotated.jsonl");
    let rows: Vec<Value> = annotated.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let dropped: Vec<_> =
        rows.iter().filter(|row| row["dup_drop"] == true).map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!((rows.len(), dropped), (5, vec!["b#1"]));
    let run: Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
    let parameter = |name: &str| run["parameters"][name].as_str().unwrap_or_default();
    assert_eq!([parameter("unit"), parameter("keep"), parameter("cluster")], ["paragraph", "first", "star"]);
    assert_eq!((run["documents"].as_u64(), run["counters"]["cut"]["units_cut"].as_u64()), (Some(5), Some(1)));
}
