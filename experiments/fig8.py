"""Figure 8 of zhang2011: precision, recall and F1 of SpotSigs and Jaccard against tau, for three IDF ranges.

A run at a small tau gives every pair with its exact Jaccard; larger values of tau are cuts of the same list. Truth is the
rule of truth.py. IDF is counted on the whole set, as the paper did. Texts of which most words are Chinese characters have the Chinese
antecedents.
"""

import argparse
import json
import shutil
from fractions import Fraction
from pathlib import Path

import numpy

import categories
import corpora
import plot
import truth
from result import SEED, WORK, progress, save, twinsplit

RANGES = ["0,1", "0.1,0.95", "0.2,0.85"]
LEAST = Fraction(5, 100)
TAUS = [Fraction(step, 100) for step in range(5, 101)]
CORPORA = ["peps-revisions", "licence-texts-a", "iotdb-docs-en", "iotdb-docs-en-pages", "kafka-site-html", "zh-revisions-iotdb", "clough-stevenson"]
REPLICATES = 1000
# The paper's best: tau, F1.
PAPER = {"0,1": (0.4, 0.953), "0.1,0.95": (0.4, 0.953), "0.2,0.85": (0.3, 0.954)}


def pairs(folder, found, *options):
    """Keys, overlaps and unions of the pairs that a run with these options finds; the key of documents i < j is i·n + j."""
    folder.mkdir(parents=True, exist_ok=True)
    documents, out = folder / "docs.jsonl", folder / "out"
    with open(documents, "w", encoding="utf-8") as lines:
        for number, (_, text) in enumerate(found):
            lines.write(json.dumps({"id": number, "text": text}, ensure_ascii=False) + "\n")
    if out.exists():
        shutil.rmtree(out)
    twinsplit("run", "doc-split", *options, "--input", documents, "--output", out)
    a, b, overlap, x, y = numpy.loadtxt(out / "pairs.tsv", dtype=numpy.int64, delimiter="\t", usecols=range(5)).reshape(-1, 5).T
    shutil.rmtree(out)
    return numpy.minimum(a, b) * len(found) + numpy.maximum(a, b), overlap, x + y - overlap


def signatures(corpus, found, idf):
    """Those of SpotSigs with Jaccard of LEAST and more."""
    features = ["--features", "spotsigs:zh"] if corpora.is_chinese(found) else []
    return pairs(WORK / "fig8" / f"{corpora.name(corpus)}-{idf.replace(',', '-')}", found, "--preset", "zhang2011", *features,
                 "--tau", float(LEAST), "--idf", idf)


def scores(true, wrong, missed):
    precision = true / (true + wrong) if true + wrong else 1.0
    recall = true / (true + missed) if true + missed else 1.0
    f1 = 2 * true / (2 * true + wrong + missed) if true + wrong + missed else 1.0
    return precision, recall, f1


def passed(overlap, union):
    """How many of TAUS each pair reaches, in integers."""
    return overlap * 100 // union - int(LEAST * 100) + 1


def sums(counts, weights=None):
    """For each tau how many pairs reach it."""
    return numpy.bincount(counts, weights, len(TAUS) + 1)[::-1].cumsum()[::-1][1:]


def curve(joined, copies):
    """(tau, true, wrong, missed) at each tau."""
    keys, overlap, union = joined
    counts, good = passed(overlap, union), numpy.isin(keys, copies)
    true, wrong = sums(counts[good]), sums(counts[~good])
    return [(tau, int(t), int(w), len(copies) - int(t)) for tau, t, w in zip(TAUS, true, wrong)]


def best(points):
    """The first point of the largest F1."""
    return max(points, key=lambda point: (scores(*point[1:])[2], -point[0]))


def interval(groups, joined, copies):
    """The middle 95 % of the best tau and of its F1, where whole groups of versions are drawn with replacement."""
    names = {name: at for at, name in enumerate(sorted(set(groups)))}
    group = numpy.array([names[name] for name in groups])
    keys, overlap, union = joined
    lost = numpy.setdiff1d(copies, keys)
    counts = numpy.concatenate([passed(overlap, union), numpy.zeros(len(lost), numpy.int64)])
    keys = numpy.concatenate([keys, lost])
    good = numpy.isin(keys, copies)
    left, right = (group[side] for side in numpy.divmod(keys, len(groups)))
    random = numpy.random.default_rng(SEED)
    taus, values = [], []
    for _ in range(REPLICATES):
        times = numpy.bincount(random.integers(0, len(names), len(names)), minlength=len(names))
        weight = numpy.where(left == right, times[left], times[left] * times[right])
        true, wrong = (sums(counts[side], weight[side]) for side in (good, ~good))
        f1 = 2 * true / numpy.maximum(true + wrong + weight[good].sum(), 1)
        taus.append(float(TAUS[int(f1.argmax())]))
        values.append(float(f1.max()))
    return [round(float(value), 4) for value in (*numpy.percentile(taus, [2.5, 97.5]), *numpy.percentile(values, [2.5, 97.5]))]


def cause(pair, copies, sequences, shares_some):
    """Why a pair is on the wrong side, decided from the texts alone."""
    common, total = copies.get(pair) or truth.similarity(sequences[pair[0]], sequences[pair[1]])
    shorter = min(len(sequences[pair[0]]), len(sequences[pair[1]]))
    share = 2 * common / total
    if pair in copies:
        if not shares_some:
            return "copy without a shared signature", share
        return ("copy near the rule's edge (.80 to .85)" if share < 0.85 else "copy with few signatures in common"), share
    if share >= 0.75:
        return "no copy, near the rule's edge (.75 to .80)", share
    if 5 * common >= 4 * shorter:
        return "one contains the other", share
    if share >= 0.5:
        return "later version, over half the same words", share
    return "shared passages or template", share


def experiment(corpus):
    """Rows of the curve, of the best points, of wrong pairs and of categories."""
    name = corpora.name(corpus)
    found, left_out = corpora.documents(corpus)
    progress(f"{name}: {len(found)} documents, {left_out} exact copies left out")
    copies = truth.alike(corpus, found)
    names = corpora.labels(corpus)
    groups = [names.get(document, document) for document, _ in found]
    within = sum(groups[i] == groups[j] for i, j in copies)
    progress(f"{name}: {len(copies)} pairs are copies, {within} of them versions of one document")
    sequences = truth.words([text for _, text in found])
    keys = numpy.array([i * len(found) + j for i, j in copies], dtype=numpy.int64)
    rows, bests, wrongs, kinds, curves = [], [], [], [], {}
    for idf in RANGES:
        joined = signatures(corpus, found, idf)
        points = curve(joined, keys)
        curves[idf] = [(float(tau), *scores(*counts)) for tau, *counts in points]
        rows += [[name, idf, f"{float(tau):.2f}", *counts, *(f"{value:.6f}" for value in scores(*counts))]
                 for tau, *counts in points]
        tau, *counts = best(points)
        precision, recall, f1 = scores(*counts)
        low, high, least, most = interval(groups, joined, keys)
        bests.append([name, idf, len(found), len(copies), within, f"{float(tau):.2f}", low, high, f"{precision:.4f}", f"{recall:.4f}",
                      f"{f1:.4f}", least, most, *PAPER[idf]])
        progress(f"{name}: IDF [{idf}]: F1 {f1:.4f} at tau {float(tau):.2f} ({low} to {high})")
        similar = passed(*joined[1:]) > TAUS.index(tau)
        shared = dict(zip(map(int, joined[0]), zip(map(int, joined[1]), map(int, joined[2]))))
        for key in sorted(map(int, numpy.setxor1d(joined[0][similar], keys))):
            pair = divmod(key, len(found))
            why, share = cause(pair, copies, sequences, key in shared)
            o, u = shared.get(key, (0, 1))
            wrongs.append([name, idf, "missed" if pair in copies else "wrong", why, f"{share:.4f}", f"{o / u:.4f}",
                           found[pair[0]][0], found[pair[1]][0]])
        if corpus == "clough-stevenson":
            numbers = {document: number for number, (document, _) in enumerate(found)}
            kinds += [[idf, *row] for row in categories.found_by(joined, passed, TAUS, tau, numbers)]
    plot.curves(f"fig8-{name}", f"{name}: {len(found):,} documents, {len(copies):,} pairs of copies", curves, PAPER)
    return rows, bests, wrongs, kinds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--corpora", default=",".join(CORPORA), help="names of folders in CORPORA_DIR, with commas between")
    corpora.add_own(parser, which)
    options = parser.parse_args()
    own = corpora.own(options)
    chosen = [own] if own else options.corpora.split(",")
    rows, bests, wrongs, kinds = ([row for part in parts for row in part] for parts in zip(*map(experiment, chosen)))
    plots = [f"fig8-{corpora.name(corpus)}" for corpus in chosen]
    save("fig8", "Precision, recall and F1 of SpotSigs and Jaccard against tau (zhang2011, figure 8)",
         ["corpus", "idf", "tau", "true", "wrong", "missed", "precision", "recall", "f1"], rows, plots)
    save("fig8-best", "The best tau of each IDF range beside the paper's",
         ["corpus", "idf", "documents", "copies", "copies_within_labels", "tau", "tau_low", "tau_high", "precision", "recall", "f1", "f1_low",
          "f1_high", "paper_tau", "paper_f1"], bests,
         notes=[f"low and high: the middle 95 % of {REPLICATES} draws of whole groups of versions, with replacement."])
    causes = {}
    for corpus, idf, side, why, *_ in wrongs:
        causes[corpus, idf, side, why] = causes.get((corpus, idf, side, why), 0) + 1
    save("fig8-causes", "Pairs on the wrong side at the best tau, by cause", ["corpus", "idf", "side", "cause", "pairs"],
         [[*key, number] for key, number in sorted(causes.items())])
    examples, shown = [], {}
    for row in wrongs:
        key = tuple(row[:4])
        shown[key] = shown.get(key, 0) + 1
        examples += [row] if shown[key] <= 5 else []
    save("fig8-wrong", "Examples of pairs on the wrong side at the best tau, five of each cause",
         ["corpus", "idf", "side", "cause", "word_similarity", "jaccard", "a", "b"], examples)
    if kinds:
        save("fig8-categories", "Answers of clough-stevenson that reach their source, by the set's own categories",
             ["idf", "category", "answers", "rule_tau", "rule_found", "rule_recall", "own_tau", "own_found", "own_recall", "own_f1"], kinds,
             notes=["rule: the best tau by the rule of word similarity. own: the tau with the best F1 where cut, light and heavy are copies "
                    "of their source, and non is none."])


if __name__ == "__main__":
    main()
