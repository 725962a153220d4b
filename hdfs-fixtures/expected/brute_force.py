#!/usr/bin/env python3
"""Expected pairs and clusters of a small collection, by comparing every two documents.

It shares nothing with twinsplit: sets of feature texts instead of hashes, every pair instead of an
index, fractions instead of bounds. It needs `pip install jieba regex uniseg` (for `words:K`).

    python3 brute_force.py ../documents/tiny.jsonl words:2 1/2 words2

writes `words2/pairs.tsv` and `words2/clusters.tsv`.
"""

import json
import logging
import pathlib
import sys
import unicodedata
from fractions import Fraction


def normal(text):
    """NFC, case folded, and NFC again because folding may leave a letter and its accent apart."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def words(text):
    """UAX 29 words that hold a letter or a digit; a run of Han is cut by jieba instead."""
    import jieba
    import regex
    from uniseg.wordbreak import words as uax29

    jieba.setLogLevel(logging.ERROR)
    found = []
    for run in regex.findall(r"\p{Script=Han}+|\P{Script=Han}+", text):
        if regex.match(r"\p{Script=Han}", run):
            found += jieba.cut(run, HMM=True)
        else:
            alphanumeric = regex.compile(r"[\p{Alphabetic}\p{N}]")
            found += [part for part in uax29(run) if alphanumeric.search(part)]
    return [normal(word) for word in found]


def features(text, kind):
    """The set of feature texts of one document."""
    name, _, number = kind.partition(":")
    if name == "words":
        units, glue = words(text), " "
    elif name == "chars":
        units, glue = normal(" ".join(text.split())), ""
    elif name == "lines":
        lines = (normal(" ".join(line.split())) for line in text.split("\n"))
        return {line for line in lines if line}
    else:
        sys.exit(f"{kind}: expected words:K, chars:K or lines")
    k = int(number)
    return {glue.join(units[i : i + k]) for i in range(len(units) - k + 1)}


def escaped(name):
    r"""An id as it is printed: control bytes, 0x7F, the backslash and a mark at its beginning as \xHH."""
    mark = r"\xef\xbb\xbf" if name.startswith("\ufeff") else ""
    rest = name[1:] if mark else name
    return mark + "".join(f"\\x{ord(c):02x}" if c < " " or c in "\x7f\\" else c for c in rest)


def six(jaccard):
    """Six decimals, half up, in integers."""
    n, d = jaccard.numerator, jaccard.denominator
    millionths = (2 * 1_000_000 * n + d) // (2 * d)
    return f"{millionths // 1_000_000}.{millionths % 1_000_000:06d}"


def main(path, kind, tau, folder):
    tau = Fraction(tau)
    with open(path, encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    sets = {escaped(d["id"]): features(d["text"], kind) for d in documents}
    assert len(sets) == len(documents), "ids are unique"
    ids = sorted(sets, key=str.encode)

    def jaccard(a, b):
        return Fraction(len(sets[a] & sets[b]), len(sets[a] | sets[b]))

    pairs, cluster = [], {name: {name} for name in ids}
    for i, a in enumerate(ids):
        for b in ids[i + 1 :]:
            overlap = len(sets[a] & sets[b])
            if overlap and jaccard(a, b) >= tau:
                row = (a, b, overlap, len(sets[a]), len(sets[b]), six(jaccard(a, b)))
                pairs.append("\t".join(map(str, row)))
                merged = cluster[a] | cluster[b]
                for name in merged:
                    cluster[name] = merged

    rows = []
    for name in ids:
        kept = min(cluster[name], key=str.encode)
        if name != kept:
            rows.append("\t".join((kept, name, "drop", six(jaccard(kept, name)))))
        elif len(cluster[name]) > 1:
            rows.append("\t".join((kept, name, "keep", "-")))

    target = pathlib.Path(folder)
    target.mkdir(exist_ok=True)
    for name, lines in (("pairs.tsv", pairs), ("clusters.tsv", rows)):
        text = "".join(line + "\n" for line in sorted(lines, key=str.encode))
        (target / name).write_bytes(text.encode())
        print(f"{target / name}: {len(lines)} lines")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
