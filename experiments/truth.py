"""Which documents are copies, by a stated rule that knows nothing of what is measured.

Two documents are copies when 2·LCS/(a+b) >= 4/5, where a and b are their numbers of words and LCS is the length of the
longest common subsequence of their words. A word is what stands between white space, and each Chinese character is one.
The common subsequence is no longer than what the two multisets of words share, so every pair that could reach the rule
is found by an exact join of the multisets under Dice's coefficient at 4/5, and LCS is then computed for each of them.
"""

import gzip
import hashlib
import json
import re
from array import array

from rapidfuzz.distance import LCSseq

from result import CORPORA, WORK, progress, twinsplit

WORD = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003134f]|[^\s\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003134f]+")


def documents(corpus):
    """(id, text) of a corpus in which exact copies stand once, the first of them; and how many were left out."""
    chosen = CHOSEN.get(corpus, lambda _: True)
    known, left, copies = set(), [], 0
    with gzip.open(CORPORA / corpus / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            text = document["text"]
            if not chosen(document["id"]):
                continue
            if text in known:
                copies += 1
                continue
            known.add(text)
            left.append((str(document["id"]), text))
    return left, copies


def labels(corpus):
    """id -> what it is a version of."""
    rows = (line.rstrip("\n").split("\t") for line in open(CORPORA / corpus / "labels.tsv", encoding="utf-8"))
    return {row[0]: row[1] for row in rows}


def whole_licences():
    rows = (line.rstrip("\n").split("\t") for line in open(CORPORA / "licence-texts-a" / "labels.tsv", encoding="utf-8"))
    return {row[0] for row in rows if row[2] in ("license_full", "license_text")}


class Chosen:
    """The ids of a corpus that take part, read when first asked."""

    def __init__(self, ids):
        self.make, self.ids = ids, None

    def __call__(self, document):
        self.ids = self.ids or self.make()
        return document in self.ids


CHOSEN = {"licence-texts-a": Chosen(whole_licences)}


def words(texts):
    """Each text as numbers of words."""
    numbers = {}
    return [array("I", (numbers.setdefault(word, len(numbers)) for word in WORD.findall(text))) for text in texts]


def candidates(sequences, folder):
    """Pairs of indexes whose multisets of words have Dice's coefficient at 4/5 or more: the k-th occurrence of a word
    is an element of its own."""
    elements = {}
    folder.mkdir(parents=True, exist_ok=True)
    sets = folder / "multisets.txt"
    with open(sets, "w") as out:
        for sequence in sequences:
            times = {}
            row = []
            for word in sequence:
                times[word] = times.get(word, 0) + 1
                row.append(elements.setdefault((word, times[word]), len(elements)))
            out.write(" ".join(map(str, sorted(row))) + "\n")
    found = folder / "candidates.tsv"
    twinsplit("join", sets, "--similarity", "dice", "--tau", "0.8", "--output", found)
    # Lines of the sets are counted from 1.
    return [tuple(int(number) - 1 for number in line.split("\t")[:2]) for line in open(found)]


def similarity(x, y):
    """(LCS, a + b)."""
    return LCSseq.similarity(x, y), len(x) + len(y)


def copies(corpus, found):
    """{(i, j): (LCS, a + b)} of all pairs of `found` documents that are copies, i < j. Kept for the next time."""
    digest = hashlib.sha256(json.dumps(found, ensure_ascii=False).encode()).hexdigest()[:16]
    kept = WORK / "truth" / f"{corpus}-{digest}.tsv"
    if not kept.is_file():
        sequences = words([text for _, text in found])
        pairs = candidates(sequences, WORK / "truth" / corpus)
        progress(f"{corpus}: {len(pairs)} pairs could be copies")
        kept.parent.mkdir(parents=True, exist_ok=True)
        rows = []
        for number, (i, j) in enumerate(pairs):
            if number and number % 20000 == 0:
                progress(f"{corpus}: {number} of {len(pairs)} pairs compared")
            common, total = similarity(sequences[i], sequences[j])
            if 5 * 2 * common >= 4 * total:
                rows.append((min(i, j), max(i, j), common, total))
        half = kept.with_suffix(".part")
        half.write_text("".join("\t".join(map(str, row)) + "\n" for row in sorted(rows)))
        half.rename(kept)
    rows = (tuple(map(int, line.split("\t"))) for line in open(kept))
    return {(i, j): (common, total) for i, j, common, total in rows}
