"""Which features, which tau: precision, recall and F1 of kinds of features on labelled sets, of whole documents and of short ones.

A run at a small tau gives every pair with its exact Jaccard; larger values of tau are cuts of the same list. Truth is the rule of
truth.py; of the pairs that it calls wrong, those are counted apart that are near its edge, with .75 and more of their words in common.
Short documents are paragraphs of fewer than 35 words. docs/choosing.md and README.md recommend by these figures.
"""

import argparse
from fractions import Fraction

import numpy

import corpora
import fig8
import truth
from result import WORK, progress, save

CORPORA = ["peps-revisions", "iotdb-docs-en-pages", "kafka-site-html", "licence-texts-a", "clough-stevenson", "zh-revisions-iotdb",
           "iotdb-docs-zh", "peps-paragraphs", "licence-paragraphs", "zh-paragraphs"]
KINDS = ["words:1", "words:2", "words:3", "words:4", "words:5", "chars:3", "chars:5", "chars:7", "lines", "sentence-ends:10", "spotsigs",
         "words:3 --idf 0.1,1", "words:3 --idf 0.1,0.95", "words:5 --idf 0.1,0.95"]
LEAST = Fraction(4, 10)
SHOWN = [Fraction(step, 100) for step in range(40, 91, 5)]
EDGE = Fraction(3, 4)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", default=",".join(CORPORA), help="names of folders in CORPORA_DIR, with commas between")
    parser.add_argument("--kinds", default=";".join(KINDS), help="features, with semicolons between")
    options = parser.parse_args()
    rows, bests = [], []
    for corpus in options.corpora.split(","):
        found, _ = corpora.documents(corpus)
        alike = truth.alike(corpus, found, EDGE)
        near, copies = (numpy.array([i * len(found) + j for (i, j), (common, total) in alike.items()
                                     if (2 * common >= truth.LEAST * total) == above], dtype=numpy.int64) for above in (False, True))
        progress(f"{corpus}: {len(found)} documents, {len(copies)} pairs of copies")
        chinese = corpora.is_chinese(found)
        for kind in options.kinds.split(";"):
            chosen = "spotsigs:zh" if chinese and kind == "spotsigs" else kind
            joined = fig8.pairs(WORK / "feature_choice" / corpus, found, "--features", *chosen.split(), "--tau", float(LEAST), "--quiet")
            points = [point for point in fig8.curve(joined, copies) if point[0] >= LEAST]
            edge = {tau: true for tau, true, *_ in fig8.curve(joined, near)}
            rows += [[corpus, chosen, f"{float(tau):.2f}", *counts, edge[tau], *(f"{value:.6f}" for value in fig8.scores(*counts))]
                     for tau, *counts in points if tau in SHOWN]
            tau, *counts = fig8.best(points)
            bests.append([corpus, len(found), len(copies), chosen, f"{float(tau):.2f}", *(f"{value:.4f}" for value in fig8.scores(*counts))])
            progress(" ".join(map(str, bests[-1])))
    save("feature-choice", "Precision, recall and F1 by features and tau",
         ["corpus", "features", "tau", "true", "wrong", "missed", "wrong_near_edge", "precision", "recall", "f1"], rows)
    save("feature-choice-best", "The best tau of each kind of features",
         ["corpus", "documents", "copies", "features", "tau", "precision", "recall", "f1"], bests)


if __name__ == "__main__":
    main()
