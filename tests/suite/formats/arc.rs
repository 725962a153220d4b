//! ARC: crawls that Python writes in each version, packed and not, read again by a reader of a page beside ours.

use crate::common::cli::Place;
use serde_json::Value;

/// Writes the documents of `docs.jsonl` in each version, as Heritrix and its forerunners did: a record of the file, names of hosts, pages, an
/// image, a redirect, and a page without a header of HTTP.
const WRITE: &str = r#"
import gzip, json
docs = [json.loads(line) for line in open("docs.jsonl", encoding="utf-8")]
NAMES = {1: "URL IP-address Archive-date Content-type Archive-length",
         2: "URL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length"}
def record(version, url, kind, content, status="200"):
    more = f"{status} 0123abcd - 77 a.arc " if version == 2 else ""
    return f"{url} 192.0.2.1 20080430204825 {kind} {more}{len(content)}\n".encode() + content + b"\n"
def http(kind, body, status="200 OK", more=""):
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{more}\r\n".encode() + body
def records(version):
    block = f"{version} 1 InternetArchive\n{NAMES[version]}\n<arcmetadata/>\n".encode()
    yield record(version, "filedesc://a.arc", "text/plain", block)
    yield record(version, "dns:x.example", "text/dns", b"20080430204825\nx.example. 1 IN A 192.0.2.1")
    for n, doc in enumerate(docs):
        url, text = f"http://x.example/{doc['id']}", doc["text"]
        body = text.encode("latin-1", "xmlcharrefreplace") if n % 3 == 0 else text.encode()
        if n % 3 == 0:
            page = "<html><pre>".encode() + body.replace(b"<", b"&lt;") + b"</pre>"
            yield record(version, url + "?a b", "text/html", http("text/html; charset=iso-8859-1", page))
        elif n % 3 == 1:
            yield record(version, url, "text/plain", http("text/plain", body))
        else:
            yield record(version, url, "text/plain", body)
        if n % 10 == 0:
            yield record(version, url, "image/png", http("image/png", b"\x89PNG\n\nhttp://x 1 2 text/html 3\n"))
            yield record(version, url, "text/html", http("text/html", b"gone", "302 Found"))
for version in 1, 2:
    with open(f"v{version}.arc", "wb") as plain, open(f"v{version}.arc.gz", "wb") as packed:
        for one in records(version):
            plain.write(one)
            packed.write(gzip.compress(one))
"#;

/// Reads a file, and writes of each record with status 200 that is a text its address, its date, and the characters of its text.
const READ: &str = r#"
import gzip, html, json, sys
data = open(sys.argv[1], "rb").read()
data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
at = others = 0
while at < len(data):
    end = data.index(b"\n", at)
    fields = data[at:end].decode().split(" ")
    length = int(fields[-1])
    content = data[end + 1 : end + 1 + length]
    at = end + 1 + length + 1
    head, gap, body = content.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/"):
        head, body = b"", content
    is_page = fields[0].startswith("http") and (not head or b" 200 " in head) and b"image" not in head
    if not is_page:
        others += 1
        continue
    date = next(field for field in fields if len(field) == 14 and field.isdigit())
    url = " ".join(fields[: fields.index(date) - 1])
    text = body.decode("latin-1" if b"8859" in head else "utf-8")
    if b"html" in head:
        text = html.unescape(text.removeprefix("<html><pre>").removesuffix("</pre>"))
    print(json.dumps([url, date, text.split()], ensure_ascii=False))
print(others, file=sys.stderr)
"#;

fn place() -> Place {
    let here = Place::new();
    let english = crate::common::real::fixture("en.jsonl.gz");
    let script = "import gzip, json, sys\nfor i, line in enumerate(gzip.open(sys.argv[1], 'rt', encoding='utf-8')):\n    if i < 90:\n        doc = json.loads(line)\n        print(json.dumps({'id': doc['id'], 'text': doc['text'].strip() + ' caf\\u00e9'}))";
    here.write("make.py", script);
    let docs = here.shell(&format!("python3 make.py {}", english.display())).ok();
    here.write("docs.jsonl", docs);
    here.write("write.py", WRITE);
    here.write("read.py", READ);
    here.shell("python3 write.py").ok();
    here
}

#[test]
fn pages_are_those_of_another_reader() {
    let here = place();
    here.say("twinsplit run -i docs.jsonl --tau 0.5 -qo json").ok();
    let expected = here.read("json/pairs.tsv");
    assert!(expected.lines().count() > 5, "{expected}");
    let mut ran = 0;
    for file in ["v1.arc", "v1.arc.gz", "v2.arc", "v2.arc.gz"] {
        let said = here.say(&format!("twinsplit convert {file} -o -"));
        let other = here.shell(&format!("python3 read.py {file}"));
        let passed = format!("note: {} records are no page", other.err.trim());
        assert!(said.err.contains(&passed) && other.err.trim() == "20", "{} {}", said.err, other.err);
        let (lines, others) = (said.ok(), other.ok());
        assert_eq!((lines.lines().count(), others.lines().count()), (90, 90));
        for (line, other) in lines.lines().zip(others.lines()) {
            let line: Value = serde_json::from_str(line).unwrap();
            let other: (String, String, Vec<String>) = serde_json::from_str(other).unwrap();
            assert_eq!(line["url"], other.0, "{file}");
            assert_eq!(line["id"], format!("{}/{}", other.1, other.0));
            assert_eq!(line["date"], "2008-04-30T20:48:25Z");
            let words: Vec<&str> = line["text"].as_str().unwrap().split_whitespace().collect();
            assert_eq!(words, other.2, "{file} {}", other.0);
        }
        // The answer is that of the documents, by other ids.
        here.say(&format!("twinsplit run -i {file} --tau 0.5 --overwrite -qo out")).ok();
        let sizes = |pairs: &str| {
            let mut rows: Vec<_> =
                pairs.lines().map(|row| row.split('\t').skip(5).collect::<String>()).collect();
            rows.sort();
            rows
        };
        assert_eq!(sizes(&here.read("out/pairs.tsv")), sizes(&expected), "{file}");
        ran += 1;
    }
    println!("{ran} files");
    assert_eq!(ran, 4);
    // Fields have their names in WARC, beside files of WARC, too.
    here.say("twinsplit run -i v1.arc --id WARC-Target-URI --tau 0.5 --overwrite -qo out").ok();
    assert!(here.read("out/pairs.tsv").starts_with("http://x.example/"));
}

/// A file that is cut off is an error that says where, behind the documents that came before.
#[test]
fn no_end_is_taken_for_the_end_of_the_file() {
    let here = place();
    let whole = std::fs::read(here.path("v1.arc")).unwrap();
    let (mut cut, mut most) = (0, 0);
    for end in (100..whole.len() - 2).step_by(whole.len() / 23) {
        here.write("cut.arc", &whole[..end]);
        let said = here.say("twinsplit convert cut.arc -o -");
        assert!(
            said.code == 1 && said.err.contains("cut.arc") && said.err.contains("the file is cut off"),
            "{end}: {said:?}"
        );
        let at: usize =
            said.err.split("begins at byte ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        let before =
            here.shell(&format!("head -c {at} cut.arc | twinsplit convert - --format arc -o - -q")).ok();
        assert_eq!(said.out, before, "{end}");
        most = most.max(before.lines().count());
        cut += 1;
    }
    println!("{cut} cuts");
    assert!(cut > 20 && most > 60, "{cut} {most}");
    let packed = std::fs::read(here.path("v1.arc.gz")).unwrap();
    here.write("cut.arc.gz", &packed[..packed.len() / 2]);
    here.say("twinsplit convert cut.arc.gz -o out").fails(1, &["cut.arc.gz", "gzip"]);
    here.write("bad.arc", "filedesc://a 0.0.0.0 2008 text/plain 9\n1 0 x\nURL\nhello\n");
    here.say("twinsplit convert bad.arc -o -")
        .fails(1, &["bad.arc", "an address, the server's, a date, a type and a length"]);
    here.say("twinsplit convert v1.arc --format warc -o -")
        .fails(1, &["this is ARC, not WARC", "--format arc"]);
}
