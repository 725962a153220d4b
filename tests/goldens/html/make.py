#!/usr/bin/env python3
"""Prints articles.tsv for the pages of html-articles-en: id, words, digest of the words in order of their bytes.

    make.py html.tar.gz > articles.tsv

The pages are parsed by html5lib (PyPI, 1.1), which finds their encoding and builds the tree of the HTML Standard by itself; where a page
says no encoding it is told UTF-8 if the page can be, for it would take windows-1252. A word is what
stands between white space; blocks, cells and line breaks are white space. Characters that say where a line may break, and nothing else, are left out. Words
are sorted, for the tree moves text that stands in a table
outside of its cells.
"""
import hashlib
import sys
import tarfile

import html5lib

LEFT_OUT = set("script style title textarea iframe noembed template".split())
BREAKS = set("""
    address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer form
    h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav noframes ol optgroup option search section summary table tbody tfoot
    thead tr ul p br td th pre listing xmp plaintext
""".split())


# The soft hyphen, the zero-width space, the word joiner and the byte order mark.
HINTS = [0xAD, 0x200B, 0x2060, 0xFEFF]


def is_utf_8(raw):
    try:
        raw.decode("utf-8")
        return True
    except UnicodeDecodeError:
        return False


def text(element):
    name = element.tag.split("}")[-1] if isinstance(element.tag, str) else None
    inside = name and name not in LEFT_OUT
    gap = " " if name in BREAKS else ""
    parts = [element.text or "", *map(text, element)] if inside else []
    return gap + "".join(parts) + gap + (element.tail or "")


def main():
    rows = []
    with tarfile.open(sys.argv[1]) as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(".html"):
                raw = archive.extractfile(member).read()
                page = html5lib.parse(raw, default_encoding="utf-8" if is_utf_8(raw) else "windows-1252")
                # White space is that of HTML, which bytes are split at; no-break spaces are of a word.
                words = text(page).translate(dict.fromkeys(HINTS)).encode().split()
                rows.append((member.name.rsplit("/", 1)[-1], sorted(words)))
    for name, words in sorted(rows):
        print(name, len(words), hashlib.sha256(b" ".join(words)).hexdigest()[:16], sep="\t")


if __name__ == "__main__":
    main()
