"""Which documents are copies, by a stated rule that knows nothing of what is measured.

Two documents are copies when 2·LCS/(a+b) >= 4/5, where a and b are their numbers of words and LCS is the length of the
longest common subsequence of their words. A word is what stands between white space, and each Chinese character is one.
The common subsequence is no longer than what the two multisets of words share, so every pair that could reach the rule
is found by an exact join of the multisets under Dice's coefficient at 4/5, and LCS is then computed for each of them.
"""

import hashlib
import json
from array import array
from fractions import Fraction

from rapidfuzz.distance import LCSseq

from corpora import WORD, name
from result import WORK, progress, twinsplit

LEAST = Fraction(4, 5)


def words(texts):
    """Each text as numbers of words."""
    numbers = {}
    return [array("I", (numbers.setdefault(word, len(numbers)) for word in WORD.findall(text))) for text in texts]


def candidates(sequences, folder, least):
    """Pairs of indexes whose multisets of words have Dice's coefficient at `least` or more: the k-th occurrence of a word
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
    twinsplit("join", sets, "--similarity", "dice", "--tau", str(float(least)), "--output", found)
    # Lines of the sets are counted from 1.
    return [tuple(int(number) - 1 for number in line.split("\t")[:2]) for line in open(found)]


def similarity(x, y):
    """(LCS, a + b)."""
    return LCSseq.similarity(x, y), len(x) + len(y)


def alike(corpus, found, least=LEAST):
    """{(i, j): (LCS, a + b)} of all pairs of `found` documents with 2·LCS/(a+b) >= `least`, i < j: those that are copies, unless
    it is said otherwise. Kept for the next time."""
    digest = hashlib.sha256(json.dumps([str(least), found], ensure_ascii=False).encode()).hexdigest()[:16]
    kept = WORK / "truth" / f"{name(corpus)}-{digest}.tsv"
    if not kept.is_file():
        sequences = words([text for _, text in found])
        pairs = candidates(sequences, WORK / "truth" / name(corpus), least)
        progress(f"{name(corpus)}: {len(pairs)} pairs could have {least} of their words in common")
        kept.parent.mkdir(parents=True, exist_ok=True)
        rows = []
        for number, (i, j) in enumerate(pairs):
            if number and number % 20000 == 0:
                progress(f"{name(corpus)}: {number} of {len(pairs)} pairs compared")
            common, total = similarity(sequences[i], sequences[j])
            if 2 * common >= least * total:
                rows.append((min(i, j), max(i, j), common, total))
        half = kept.with_suffix(".part")
        half.write_text("".join("\t".join(map(str, row)) + "\n" for row in sorted(rows)))
        half.rename(kept)
    rows = (tuple(map(int, line.split("\t"))) for line in open(kept))
    return {(i, j): (common, total) for i, j, common, total in rows}
