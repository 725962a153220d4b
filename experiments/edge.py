"""Pairs around the edge of truth.py's rule, read one by one, beside what the rule says of them.

Of each corpus 25 pairs just below the rule's edge and 25 just above are drawn, all within .05 of it, and some of those farther
above. edge-pairs.tsv has what a reader says of each: whether it is a copy, of which one would drop one of the two, another version of
the same document, which one would keep beside it, or another document. `--show CORPUS` prints the pairs as they were read.
"""

import argparse
import csv
import random
import sys
from fractions import Fraction
from pathlib import Path

from rapidfuzz.distance import LCSseq

import corpora
import plot
import truth
from result import SEED, progress, save

VERDICTS = Path(__file__).resolve().parent / "edge-pairs.tsv"
# What a reader may say of a pair, each with its cause.
CAUSES = {
    "copy": ["markup, links or names", "one holds the other", "reworded or moved"],
    "version": ["rewritten in parts", "other terms", "other edition or product version", "state of another date"],
    "other": ["same template or notice", "shared passages"],
}
COLUMNS = ["corpus", "a", "b", "word_similarity", "verdict", "cause", "remark"]
CORPORA = ["peps-revisions", "licence-texts-a", "iotdb-docs-en", "zh-revisions-iotdb"]
# Bands of word similarity in hundredths, and how many pairs of each corpus are read of them. The rule's edge is at 80.
BANDS = {"below": (75, 80, 25), "above": (80, 85, 25), "higher": (85, 90, 10), "highest": (90, 95, 10)}


def drawn(corpus):
    """The documents; {band: how many pairs there are}; and (band, i, j, similarity) of the pairs that are read."""
    found, _ = corpora.documents(corpus)
    alike = truth.alike(corpus, found, Fraction(min(low for low, _, _ in BANDS.values()), 100))
    shares = {pair: Fraction(2 * common, total) for pair, (common, total) in alike.items()}
    sizes, rows = {}, []
    for band, (low, high, number) in BANDS.items():
        own = sorted(pair for pair, share in shares.items() if low <= 100 * share < high)
        sizes[band] = len(own)
        rows += [(band, *pair, shares[pair]) for pair in sorted(random.Random(f"{SEED} {corpus} {band}").sample(own, number))]
    return found, sizes, rows


def passages(x, y, gap=3):
    """(words of x, words of y) of what differs, as places; differences with less than `gap` words between them are one."""
    merged = []
    for tag, *places in LCSseq.opcodes(x, y):
        if tag == "equal":
            continue
        if merged and places[0] - merged[-1][1] < gap:
            merged[-1] = [merged[-1][0], places[1], merged[-1][2], places[3]]
        else:
            merged.append(places)
    return merged


def show(corpus, most=7, width=170):
    """Prints each pair: sizes, first line, and the largest of the passages that differ, in their order."""
    found, _, rows = drawn(corpus)
    for number, (band, i, j, share) in enumerate(rows):
        texts = [found[document][1] for document in (i, j)]
        x, y = (corpora.WORD.findall(text) for text in texts)
        differ = passages(x, y)
        print(f"\n#{number} {band} {float(share):.4f}")
        for (name, text), words in zip((found[i], found[j]), (x, y)):
            print(f"   {name}: {len(words)} words: {' '.join(text.split())[:most * 12]}")
        print(f"   {len(differ)} passages differ; {sum(b - a for a, b, _, _ in differ)} words against {sum(b - a for _, _, a, b in differ)}")
        largest = sorted(sorted(differ, key=lambda one: one[0] + one[2] - one[1] - one[3])[:most])
        for a, b, c, d in largest:
            old, new = (" ".join(words[first:last]) for words, first, last in ((x, a, b), (y, c, d)))
            old, new = ((text if len(text) <= width else f"{text[:width * 2 // 3]} […] {text[-width // 3:]}") for text in (old, new))
            print(f"     - {b - a}: {old}\n     + {d - c}: {new}")
    sys.stdout.flush()


def verdicts():
    """Rows of edge-pairs.tsv, as {column: value}; an error names the line."""
    with open(VERDICTS, newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    for number, row in enumerate(rows, 2):
        if list(row) != COLUMNS or None in row.values() or not row["remark"]:
            sys.exit(f"{VERDICTS}: line {number}: expected the fields {', '.join(COLUMNS)}")
        if row["cause"] not in CAUSES.get(row["verdict"], []):
            sys.exit(f"{VERDICTS}: line {number}: {row['verdict']!r} with {row['cause']!r}: expected one of {CAUSES}")
    return rows


def read_pairs(rows):
    """[(corpus, band, how many pairs are in it, similarity, verdict's row)]: the drawn pairs, which have to be the rows, in their order."""
    left, read = iter(rows), []
    for corpus in CORPORA:
        found, sizes, pairs = drawn(corpus)
        progress(f"{corpus}: pairs {', '.join(f'{band} {number}' for band, number in sizes.items())}")
        for band, i, j, share in pairs:
            row = next(left, None)
            expected = [corpus, found[i][0], found[j][0], f"{float(share):.4f}"]
            if row is None or [row[column] for column in COLUMNS[:4]] != expected:
                sys.exit(f"{VERDICTS}: expected the pair {' '.join(expected)}: --show prints the pairs, which are to be read again")
            read.append((corpus, band, sizes[band], share, row))
    if next(left, None):
        sys.exit(f"{VERDICTS}: more pairs than were drawn")
    return read


def counted(read):
    """For each corpus and band, and for all corpora, the verdicts and how many of them agree with the rule."""
    rows = []
    for corpus in [*CORPORA, "all"]:
        for band, (low, high, _) in BANDS.items():
            own = [one for one in read if corpus in (one[0], "all") and one[1] == band]
            number = {verdict: sum(row["verdict"] == verdict for *_, row in own) for verdict in CAUSES}
            agree = len(own) - number["copy"] if band == "below" else number["copy"]
            pairs = sum({one[0]: one[2] for one in own}.values())
            rows.append([corpus, band, f"{low / 100:.2f}", f"{high / 100:.2f}", pairs, len(own), *number.values(), agree, f"{agree / len(own):.2f}"])
    return rows


def right(read, edge, dropped):
    """Of all pairs in the bands the share that `edge` would tell as the reader does, who would drop one of a pair with these verdicts.
    Each read pair stands for as many as its band has of them."""
    weights = [Fraction(pairs, BANDS[band][2]) for _, band, pairs, _, _ in read]
    agree = [(share >= edge) == (row["verdict"] in dropped) for _, _, _, share, row in read]
    return float(sum(weight for weight, alike in zip(weights, agree) if alike) / sum(weights))


def edges(read):
    """Of each corpus, and of the mean of all, what is told as the reader does at each edge."""
    rows = []
    for hundredths in range(75, 96):
        every = []
        for corpus in CORPORA:
            own = [one for one in read if one[0] == corpus]
            every.append([right(own, Fraction(hundredths, 100), dropped) for dropped in (("copy",), ("copy", "version"))])
            rows.append([corpus, f"{hundredths / 100:.2f}", *(f"{value:.4f}" for value in every[-1])])
        rows.append(["mean", f"{hundredths / 100:.2f}", *(f"{sum(column) / len(column):.4f}" for column in zip(*every))])
    return sorted(rows, key=lambda row: ([*CORPORA, "mean"].index(row[0]), row[1]))


def causes(read):
    counts, bands = {}, list(BANDS)
    for corpus, band, _, _, row in read:
        key = corpus, bands.index(band), row["verdict"], row["cause"]
        counts[key] = counts.get(key, 0) + 1
    return [[corpus, bands[band], verdict, cause, number] for (corpus, band, verdict, cause), number in sorted(counts.items())]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", metavar="CORPUS", choices=CORPORA, help="print the pairs of a corpus, to read them")
    chosen = parser.parse_args()
    if chosen.show:
        show(chosen.show)
        return
    rows = verdicts()
    read = read_pairs(rows)
    where = edges(read)
    lines = {}
    for column, what in ((2, "a copy: one is dropped"), (3, "a copy or a version: one is dropped")):
        own = lines.setdefault(what, {})
        for row in where:
            own.setdefault(row[0], []).append((float(row[1]), float(row[column])))
    plot.panels("edge", f"{len(read)} pairs around the rule's edge of .80, as one reader tells them", lines, "share told alike", "edge (word similarity)",
                (0.75, 0.95))
    bands = "; ".join(f"{band}: from {low / 100:.2f} to {high / 100:.2f}" for band, (low, high, _) in BANDS.items())
    save("edge", "Pairs around the edge of the rule of word similarity, read one by one",
         ["corpus", "band", "from", "to", "pairs", "read", *CAUSES, "agree", "agreement"], counted(read), ["edge"],
         ["Verdicts are one reader's, who saw of each pair its sizes, first words and the largest passages that differ.",
          f"Word similarity, {bands}. The rule says copy from .80 on."])
    save("edge-where", "The share of pairs from .75 to .95 that another edge would tell as the reader does",
         ["corpus", "edge", "copy", "copy_or_version"], where,
         notes=["Each pair that was read stands for its share of its band. copy: one of a pair is dropped where it is a copy; copy or version: "
                "also where it is another version."])
    save("edge-causes", "Why pairs around the edge are copies, versions or other documents", ["corpus", "band", "verdict", "cause", "pairs"], causes(read))
    save("edge-pairs", "The pairs around the edge, with what the reader says of each", ["band", *COLUMNS],
         [[band, *(row[column] for column in COLUMNS)] for _, band, _, _, row in read])


if __name__ == "__main__":
    main()
