#!/usr/bin/env python3
"""Choose the documents of documents/en.jsonl.gz and documents/zh.jsonl.gz from the corpora.

The choice is a function of the corpora alone: families of documents (one page across versions, the
variants of one licence) are taken in the order of the SHA-256 of their names until a budget of bytes
is spent. The files are written without a time stamp, so that a second run gives the same bytes.

    CORPORA_DIR=../shared/corpora python3 hdfs-fixtures/select_documents.py
"""

import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import re

CORPORA = pathlib.Path(os.environ.get("CORPORA_DIR", "../shared/corpora"))
TARGET = pathlib.Path(__file__).resolve().parent / "documents"
MAX_BYTES = 24_000  # longer pages are left out, to keep the demo quick
MIN_HAN = 200  # a Chinese page has at least so many Han characters
MAX_STUBS = 12  # pages that hold the licence header and hardly more
STUB_BYTES = 1_500
MAX_VARIANTS = 36  # documents of one licence

# Licences of open-source software and Creative Commons; nothing that is joined with terms of a product.
LICENCES = re.compile(
    r"(0bsd|afl|agpl|apache|artistic|boost|bsd|bzip2|cc-by|cc0|cddl|cecill|curl|epl|eupl|flex|"
    r"freetype|gfdl|gpl|hpnd|ijg|isc|lgpl|libpng|mit|mpl|ncsa|ofl|openldap|openssl|osl|php|"
    r"postgresql|psf|python|ruby|tcl|unicode|unlicense|uoi-ncsa|w3c|x11|zlib|zpl)\b"
)
OTHER_TERMS = re.compile(r"proprietary|commercial|elastic|unknown|-cla\b")


def read(corpus):
    with gzip.open(CORPORA / corpus / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def labels(corpus):
    rows = (CORPORA / corpus / "labels.tsv").read_text(encoding="utf-8").splitlines()
    return {row.split("\t")[0]: row.split("\t")[1] for row in rows}


def size(document):
    return len(document["text"].encode())


def rank(name):
    return hashlib.sha256(name.encode()).digest()


def families(documents, family_of):
    """Lists of documents of one family, families and documents in the order of their SHA-256."""
    groups = {}
    for document in documents:
        groups.setdefault(family_of(document), []).append(document)
    for family in sorted(groups, key=rank):
        yield sorted(groups[family], key=lambda d: rank(d["id"]))


def take(groups, budget, at_most=None):
    chosen, spent = [], 0
    for group in groups:
        if spent >= budget:
            break
        chosen += group[:at_most]
        spent += sum(size(d) for d in group[:at_most])
    return chosen


def page_name(path):
    """`tree|CLI` of `iotdb-docs:src/zh/UserGuide/V1.3.x/Tools-System/CLI_apache.md@4d8e783a6e`."""
    stem = path.rsplit("@", 1)[0].rsplit("/", 1)[-1].removesuffix(".md")
    stem = re.sub(r"_(apache|timecho)$", "", stem)
    return ("table|" if "Table/" in path else "tree|") + stem


def english():
    label = labels("iotdb-docs-en")
    pages = [d for d in read("iotdb-docs-en") if size(d) <= MAX_BYTES]
    stubs = sorted((d for d in pages if size(d) < STUB_BYTES), key=lambda d: rank(d["id"]))
    pages = [d for d in pages if size(d) >= STUB_BYTES]
    licences = [
        d for d in read("licence-texts-a")
        if LICENCES.match(d["label"])
        and not OTHER_TERMS.search(d["label"])
        and size(d) <= MAX_BYTES
    ]
    return (
        stubs[:MAX_STUBS]
        + take(families(pages, lambda d: label[d["id"]]), 2_600_000)
        + take(families(licences, lambda d: d["label"]), 1_300_000, MAX_VARIANTS)
    )


def chinese():
    def fits(document):
        han = len(re.findall("[\u4e00-\u9fff]", document["text"]))
        return size(document) <= MAX_BYTES and han >= MIN_HAN

    label = labels("iotdb-docs-zh")
    pages = [d for d in read("iotdb-docs-zh") if fits(d)]
    chosen = take(families(pages, lambda d: label[d["id"]]), 2_600_000)
    texts = {d["text"] for d in chosen}
    revisions = [
        d for d in read("zh-revisions-iotdb")
        if d["id"].startswith("iotdb-docs:") and d["text"] not in texts and fits(d)
    ]
    return chosen + take(families(revisions, lambda d: page_name(d["id"])), 2_300_000)


def write(name, documents):
    """JSON lines in the order of the ids, gzip without a name and a time stamp."""
    text = io.StringIO()
    for document in sorted(documents, key=lambda d: d["id"].encode()):
        row = {"id": document["id"]}
        if document.get("version"):
            row["version"] = document["version"]
        if "time" in document:
            day = datetime.datetime.fromtimestamp(document["time"], datetime.timezone.utc)
            row["date"] = day.strftime("%Y-%m-%d")
        row["text"] = document["text"]
        text.write(json.dumps(row, ensure_ascii=False) + "\n")
    with open(TARGET / name, "wb") as file:
        with gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
            packed.write(text.getvalue().encode())


def main():
    chosen = {"en.jsonl.gz": english(), "zh.jsonl.gz": chinese()}
    ids = [d["id"] for documents in chosen.values() for d in documents]
    assert len(ids) == len(set(ids)), "ids are unique across both files"
    for name, documents in chosen.items():
        write(name, documents)
        packed = (TARGET / name).stat().st_size
        print(f"{name}: {len(documents)} documents, {sum(map(size, documents))} bytes of text, {packed} packed")


if __name__ == "__main__":
    main()
