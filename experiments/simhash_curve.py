"""Recall and precision of SimHash fingerprints of 64 bits against their distance, 0 to 16 (yanlan; zhuang; manku2007).

Whole texts of labelled sets, and the same texts cut to their first 500 and first 140 characters, each with the four kinds of
weights. A pair counts as true where its exact Jaccard similarity, of the sets of runs of five characters, is .8 or more; of whole
texts also where the documents are copies by the rule of truth.py. Document frequencies are those of the set itself.
"""

import argparse
import json
import shutil

import numpy

import corpora
import plot
import truth
from result import WORK, progress, save, stage, twinsplit

CORPORA = ["peps-revisions", "licence-texts-a", "iotdb-docs-en", "zh-revisions-iotdb"]
FEATURES = {"zh-revisions-iotdb": "jieba"}
WEIGHTS = ["1", "tf", "tf-idf", "levels"]
LENGTHS = {"whole": None, "500": 500, "140": 140}
DISTANCES = range(17)
JACCARD = "0.8"
COMPROMISE = 3


def cut(found, most):
    """The texts, cut, each once."""
    known, left = set(), []
    for name, text in found:
        text = text[:most]
        if text.strip() and text not in known:
            known.add(text)
            left.append((name, text))
    return left


def written(folder, found):
    folder.mkdir(parents=True, exist_ok=True)
    documents = folder / "docs.jsonl"
    with open(documents, "w", encoding="utf-8") as lines:
        for number, (_, text) in enumerate(found):
            lines.write(json.dumps({"id": number, "text": text}, ensure_ascii=False) + "\n")
    return documents


def similar(folder, documents, size):
    """Keys of the pairs that are similar by exact Jaccard; that of documents i < j is i·n + j."""
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    twinsplit("run", "doc-split", "--features", "chars:5", "--tau", JACCARD, "--input", documents, "--output", out)
    a, b = numpy.loadtxt(out / "pairs.tsv", dtype=numpy.int64, delimiter="\t", usecols=range(2), ndmin=2).reshape(-1, 2).T
    shutil.rmtree(out)
    return numpy.minimum(a, b) * size + numpy.maximum(a, b)


def near(documents, features, weights, table, size):
    """Keys and distances of all pairs whose fingerprints are within the greatest distance."""
    words = ["--features", features, "--weights", weights]
    if weights in ("tf-idf", "levels"):
        words += ["--idf-table", table]
    rows = [line.split("\t") for line in stage("simhash", documents, *words).splitlines()]
    ids = numpy.array([int(row[0]) for row in rows], numpy.int64)
    prints = numpy.array([int(row[1], 16) for row in rows], numpy.uint64)
    order = numpy.argsort(ids)
    ids, prints = ids[order], prints[order]
    keys, distances = [], []
    for at in range(len(ids) - 1):
        distance = numpy.bitwise_count(prints[at + 1:] ^ prints[at])
        (within,) = numpy.nonzero(distance <= DISTANCES[-1])
        keys.append(ids[at] * size + ids[at + 1 + within])
        distances.append(distance[within])
    return numpy.concatenate(keys), numpy.concatenate(distances)


def scores(true, wrong, missed):
    precision = true / (true + wrong) if true + wrong else 1.0
    recall = true / (true + missed) if true + missed else 1.0
    f1 = 2 * true / (2 * true + wrong + missed) if true + wrong + missed else 1.0
    return precision, recall, f1


def points(keys, distances, good):
    """(distance, true, wrong, missed) at each distance."""
    is_true = numpy.isin(keys, good)
    true, wrong = (numpy.bincount(distances[side], minlength=len(DISTANCES)).cumsum() for side in (is_true, ~is_true))
    return [(at, int(true[at]), int(wrong[at]), len(good) - int(true[at])) for at in DISTANCES]


def experiment(corpus):
    """Rows of the curves, and of their best points."""
    whole, left_out = corpora.documents(corpus)
    progress(f"{corpus}: {len(whole)} documents, {left_out} exact copies left out")
    features = FEATURES.get(corpus, "words:1")
    rows, bests, curves = [], [], {}
    for length, most in LENGTHS.items():
        found = whole if most is None else cut(whole, most)
        folder = WORK / "simhash-curve" / f"{corpus}-{length}"
        documents, table = written(folder, found), folder / "table"
        table.unlink(missing_ok=True)
        twinsplit("idf", "--from", documents, "--output", table, "--features", features)
        truths = {"jaccard": similar(folder, documents, len(found))}
        if most is None:
            truths["copies"] = numpy.array([i * len(found) + j for i, j in truth.alike(corpus, found)], numpy.int64)
        for weights in WEIGHTS:
            keys, distances = near(documents, features, weights, table, len(found))
            for name, good in truths.items():
                curve = points(keys, distances, good)
                shown = [(at, *scores(*counts)) for at, *counts in curve]
                curves[length, weights, name] = shown
                rows += [[corpus, features, length, weights, name, at, *counts, *(f"{value:.6f}" for value in scores(*counts))]
                         for at, *counts in curve]
                best = max(shown, key=lambda point: (point[3], -point[0]))
                precision, recall, f1 = shown[COMPROMISE][1:]
                bests.append([corpus, features, length, len(found), weights, name, len(good), best[0],
                              *(f"{value:.4f}" for value in (*best[1:], precision, recall, f1))])
                progress(f"{corpus}, {length}, {weights}, {name}: F1 {best[3]:.4f} at {best[0]}, {f1:.4f} at {COMPROMISE}")
    plot.distances(f"simhash-curve-{corpus}", f"{corpus}, {features}: pairs with Jaccard {JACCARD} and more",
                   {length: {weights: curves[length, weights, "jaccard"] for weights in WEIGHTS} for length in LENGTHS}, COMPROMISE)
    return rows, bests


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", default=",".join(CORPORA), help="names of folders in CORPORA_DIR, with commas between")
    chosen = parser.parse_args().corpora.split(",")
    rows, bests = ([row for part in parts for row in part] for parts in zip(*map(experiment, chosen)))
    save("simhash-curve", "Precision, recall and F1 of SimHash fingerprints of 64 bits against their distance",
         ["corpus", "features", "characters", "weights", "truth", "distance", "true", "wrong", "missed", "precision", "recall", "f1"], rows,
         [f"simhash-curve-{corpus}" for corpus in chosen],
         notes=["truth: jaccard is an exact Jaccard similarity of .8 and more of runs of five characters; copies are those by the rule of truth.py."])
    save("simhash-curve-best", "The best distance of each curve, beside distance 3",
         ["corpus", "features", "characters", "documents", "weights", "truth", "pairs", "distance", "precision", "recall", "f1", "precision_at_3",
          "recall_at_3", "f1_at_3"], bests)


if __name__ == "__main__":
    main()
