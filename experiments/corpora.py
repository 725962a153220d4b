"""The documents of an experiment: those of a corpus below CORPORA_DIR, or a user's own.

A corpus is told by its name, a user's documents by the path of their JSON lines, which are made of them where they are in
another format. Of texts that are equal the first alone is taken.
"""

import csv
import gzip
import json
import re
import shutil
import sys
import tarfile
from functools import cache
from pathlib import Path

from result import CORPORA, WORK, progress, twinsplit

HAN = r"\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003134f"
# What stands between white space, and each Chinese character.
WORD = re.compile(rf"[{HAN}]|[^\s{HAN}]+")
# A page of documentation that only leads to another one says so in its first lines.
REDIRECT = re.compile(r"\s*---\s+redirectTo:")
# Corpora that are a part of another one.
PART_OF = {"iotdb-docs-en-pages": "iotdb-docs-en"}
# Short documents: the paragraphs of a corpus that have so few words, between blank lines.
PARAGRAPHS_OF = {"peps-paragraphs": "peps-revisions", "licence-paragraphs": "licence-texts-a", "zh-paragraphs": "zh-revisions-iotdb"}
PARAGRAPH = range(8, 35)
BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


def name(corpus):
    """What plots and tables call it."""
    return corpus.name.removesuffix(".gz").removesuffix(".jsonl") if isinstance(corpus, Path) else corpus


def folder(corpus):
    return CORPORA / PART_OF.get(corpus, corpus)


def rows(corpus):
    """The fields of labels.tsv."""
    with open(folder(corpus) / "labels.tsv", encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t") for line in lines]


@cache
def whole_licences():
    return {row[0] for row in rows("licence-texts-a") if row[2] in ("license_full", "license_text")}


CHOSEN = {
    "licence-texts-a": lambda document: document["id"] in whole_licences(),
    "iotdb-docs-en-pages": lambda document: not REDIRECT.match(document["text"]),
    # Pages that only lead to others, or that a server puts together of others.
    "kafka-site-html": lambda document: document["text"],
}
# Of a user's documents so many may be unreadable.
MOST_BAD = 1000


def add_own(parser, group):
    """The options that name a user's own documents, of which `group` has the one that others stand beside."""
    group.add_argument("--corpus", type=Path, metavar="PATH",
                       help="your own documents in their place: JSON lines with id and text, or what --format says")
    parser.add_argument("--format", default="jsonl", choices=["jsonl", "trec", "html"],
                        help="the format of --corpus, a file or a folder, as twinsplit convert reads it")


def own(options):
    """The JSON lines of a user's own documents, or nothing where none are named."""
    corpus = options.corpus
    if not corpus or options.format == "jsonl" and not corpus.is_dir():
        return corpus
    return converted(corpus, options.format, WORK / "own" / f"{corpus.resolve().name.split('.')[0]}.jsonl")


def converted(source, form, made, *options):
    """The documents of a file or folder in this format, as JSON lines."""
    twinsplit("convert", source, "--format", form, *options, "--output", made, "--bad-records", MOST_BAD, "--quiet")
    bad = made.with_name(f"{made.name}.quarantine.tsv")
    if bad.is_file():
        progress(f"{made.stem}: {len(bad.read_bytes().splitlines())} documents cannot be read and are left out: {bad}")
    return made


def pages(corpus):
    """The pages of a corpus of HTML, with their paths as ids."""
    unpacked = WORK / corpus / "pages"
    shutil.rmtree(unpacked, ignore_errors=True)
    with tarfile.open(folder(corpus) / "pages.tar.gz") as archive:
        archive.extractall(unpacked, filter="data")
    # Pages of Kafka's manual have their text in templates.
    for _, document in lines(converted(unpacked, "html", unpacked.with_suffix(".jsonl"), "--script-templates")):
        yield {**document, "id": str(Path(document["id"]).relative_to(unpacked))}


def decoded(path):
    """Some answers of clough-stevenson are UTF-8, the others Windows-1252."""
    found = path.read_bytes()
    try:
        return found.decode("utf-8")
    except UnicodeDecodeError:
        return found.decode("cp1252", "replace")


def categories():
    """{answer: (task, category)} of clough-stevenson; the source of a task is orig_taskTASK.txt."""
    with open(CORPORA / "clough-stevenson" / "file_information.csv", newline="", encoding="utf-8") as lines:
        return {row["File"]: (row["Task"], row["Category"]) for row in csv.DictReader(lines)}


def lines(path):
    """(number of the line, document) of JSON lines, gzipped or not."""
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as found:
            for number, line in enumerate(found, 1):
                try:
                    yield number, json.loads(line)
                except json.JSONDecodeError as error:
                    sys.exit(f"{path}: line {number}: expected a JSON object: {error.msg}")
    except OSError as error:
        sys.exit(f"{path}: {error.strerror or error}")
    except UnicodeDecodeError as error:
        sys.exit(f"{path}: expected UTF-8: {error.reason}")


def checked(path):
    """The documents of a user's file, each with an id and a text."""
    known = set()
    for number, document in lines(path):
        if not isinstance(document, dict):
            sys.exit(f"{path}: line {number}: expected a JSON object with the fields id and text")
        if not isinstance(document.get("id"), (str, int)):
            sys.exit(f'{path}: line {number}: field "id": expected a text or a whole number')
        if not isinstance(document.get("text"), str):
            sys.exit(f'{path}: line {number}: field "text": expected a text')
        if document["id"] in known:
            sys.exit(f'{path}: line {number}: field "id": {document["id"]!r} stands on an earlier line, too')
        known.add(document["id"])
        yield document


def paragraphs(corpus):
    """Those of PARAGRAPH words, with the id of their document and their number in it."""
    for document in every(corpus):
        for number, text in enumerate(BLANK_LINE.split(document["text"])):
            if len(WORD.findall(text)) in PARAGRAPH:
                yield {"id": f"{document['id']} {number}", "text": text}


def every(corpus):
    if isinstance(corpus, Path):
        yield from checked(corpus)
    elif corpus in PARAGRAPHS_OF:
        yield from paragraphs(PARAGRAPHS_OF[corpus])
    elif corpus == "clough-stevenson":
        for file in sorted(folder(corpus).glob("*_task?.txt")):
            yield {"id": file.name, "text": decoded(file)}
    else:
        is_html = (folder(corpus) / "pages.tar.gz").is_file()
        found = pages(corpus) if is_html else (document for _, document in lines(folder(corpus) / "docs.jsonl.gz"))
        yield from filter(CHOSEN.get(corpus), found)


def documents(corpus):
    """(id, text) of a corpus in which equal texts stand once, the first of them; and how many were left out."""
    known, left, copies = set(), [], 0
    for document in every(corpus):
        if document["text"] in known:
            copies += 1
            continue
        known.add(document["text"])
        left.append((str(document["id"]), document["text"]))
    if not left:
        sys.exit(f"{name(corpus)}: no document")
    return left, copies


def labels(corpus):
    """id -> what it is a version of; nothing where that is not known."""
    if isinstance(corpus, Path):
        return {}
    if corpus == "clough-stevenson":
        return {answer: task for answer, (task, _) in categories().items()}
    return {row[0]: row[1] for row in rows(corpus)}


def is_chinese(found):
    """Whether most words of the documents are Chinese characters."""
    han = re.compile(f"[{HAN}]")
    words = [word for _, text in found for word in WORD.findall(text)]
    return 2 * sum(1 for word in words if han.match(word)) > len(words)
