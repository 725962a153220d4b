#!/usr/bin/env python3
"""The documents of a TREC file by regular expressions: prints cranfield.tsv, which tests/suite/formats/convert.rs reads.

usage: make.py cranfield.trec.gz > cranfield.tsv

Each row: id, characters of the text, SHA-256 of its UTF-8 (the first 16 hex digits).
"""
import gzip
import hashlib
import re
import sys

data = gzip.open(sys.argv[1]).read().decode("ascii")
for document in re.findall(r"^<DOC>\n(.*?)^</DOC>$", data, re.S | re.M):
    (name,) = re.findall(r"<DOCNO>\s*(\S+)\s*</DOCNO>", document)
    (text,) = re.findall(r"<TEXT>(.*?)</TEXT>", document, re.S)
    text = text.strip(" \t\n\r\f")
    print(name, len(text), hashlib.sha256(text.encode()).hexdigest()[:16], sep="\t")
