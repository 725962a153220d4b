"""Crawls that others write and read: ARC and WARC by warcio."""

import gzip
import json
import subprocess

from warcio.archiveiterator import ArchiveIterator


def as_arc(english, path):
    """A crawl of which each record is a member of gzip."""

    def record(url, kind, content):
        return f"{url} 192.0.2.1 20080430204825 {kind} {len(content)}\n".encode() + content + b"\n"

    block = b"1 1 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n"
    with open(path, "wb") as out:
        out.write(gzip.compress(record("filedesc://a.arc", "text/plain", block)))
        for n, document in enumerate(english):
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"
            out.write(gzip.compress(record(f"http://x.example/{document['id']}", "text/plain", head + document["text"].encode())))
            if n % 9 == 0:
                out.write(gzip.compress(record(f"http://x.example/{n}.png", "image/png", b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x00")))


def by_warcio(path):
    """Address, date, type and content of each record."""
    with open(path, "rb") as source:
        for record in ArchiveIterator(source, arc2warc=True):
            headers = record.rec_headers
            kind = record.http_headers.get_header("Content-Type") if record.http_headers else None
            yield headers.get_header("WARC-Target-URI"), headers.get_header("WARC-Date"), kind, record.content_stream().read()


def pages(path):
    return [record for record in by_warcio(path) if record[2] and record[2].startswith("text/plain")]


def test_warcio_reads_the_same_pages(program, run, english, tmp_path):
    source, lines = tmp_path / "crawl.arc.gz", tmp_path / "lines.jsonl"
    as_arc(english, source)
    subprocess.run([program, "convert", source, "--output", lines, "--quiet"], check=True)
    documents = [json.loads(line) for line in lines.read_text().splitlines()]
    found = [(document["url"], document["date"], document["text"]) for document in documents]
    assert found == [(url, date, body.decode("utf-8-sig")) for url, date, _, body in pages(source)]
    assert len(found) == len(english)
    # What is kept is what warcio reads without the pages that are dropped; images stay.
    out = run("doc-split", source, "--write-kept=same")
    rows = [row.split("\t") for row in (out / "clusters.tsv").read_text().splitlines()]
    gone = {row[1].split("/", 1)[1] for row in rows if row[2] == "drop"}
    assert 300 < len(gone) < len(english)
    left = [record for record in by_warcio(source) if record[0] not in gone]
    assert list(by_warcio(out / "kept" / "crawl.arc.gz")) == left
