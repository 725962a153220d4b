#!/usr/bin/env python3
"""Writes example.tsv: what warcio finds in the crawl warc-samples/aut, which is there as ARC and as WARC.

    pip install warcio==1.8.1 && ./make.py ../../../../shared/corpora/warc-samples

Of each page with status 200 that is HTML or plain text a row: its address, its date, and of its characters the number and the first half of the
SHA-256. A page that is not UTF-8 is windows-1252, for which no page of this crawl says anything else.
"""

import hashlib
import pathlib
import sys

from warcio.archiveiterator import ArchiveIterator


def rows(path):
    with open(path, "rb") as source:
        for record in ArchiveIterator(source, arc2warc=True):
            if record.rec_type not in ("response", "resource") or not record.http_headers:
                continue
            kind = (record.http_headers.get_header("Content-Type") or "").split(";")[0].strip().lower()
            if record.http_headers.get_statuscode() != "200" or kind not in ("text/html", "text/plain", "application/xhtml+xml"):
                continue
            body = record.content_stream().read()
            try:
                text = body.decode("utf-8-sig")
            except UnicodeDecodeError:
                text = body.decode("cp1252")
            address, date = record.rec_headers.get_header("WARC-Target-URI"), record.rec_headers.get_header("WARC-Date")
            yield f"{address}\t{date}\t{len(text)}\t{hashlib.sha256(text.encode()).hexdigest()[:16]}\n"


aut = pathlib.Path(sys.argv[1]) / "aut"
arc, warc = list(rows(aut / "arc" / "example.arc.gz")), list(rows(aut / "warc" / "example.warc.gz"))
assert sorted(row.split("\t")[2:] for row in arc) == sorted(row.split("\t")[2:] for row in warc)
(pathlib.Path(__file__).parent / "example.tsv").write_text("".join(arc))
