"""The accuracy experiments of wei2013: CCDet beside what it is compared with, on the pages of pages.py.

Every method gives pairs with a similarity and the sizes of both sets; values of tau are cuts of the same list. A pair is called a
containment where the smaller set has less than half the size of the larger one (wei2013, CLR), whatever the method, and is right when
truth says the same of it. A user's own pages (--corpus) are articles without a template, and their truth is by the same rule; a field url tells
their sites.
"""

import argparse
import shutil
from fractions import Fraction

import numpy

import corpora
import pages
import plot
from result import progress, save, twinsplit

LEAST = Fraction(1, 10)
TAUS = [Fraction(step, 100) for step in range(10, 101)]
KINDS = ["duplicate", "containment"]
# Antecedents of SpotSigs in Chinese, as wei2013 tried several lists; `zh` is the preset of 39 function words.
LISTS = {"的": "的", "是 在 有": "是 在 有", "的 了 是 在": "的 了 是 在", "将 被 把 与 对 从": "将 被 把 与 对 从"}
NARROW = ["0.1,0.95", "0.2,0.85", "0.3,0.7", "0.2,0.5"]
# What is in one document alone goes, and what is in more than one in five; nearly nothing else does.
SHARED = "0.2,0.95"
# How many lexicons, and which share of the features each of them leaves out: kolcz2004's, then more and smaller ones.
LEXICONS = [(11, "0.3"), (101, "0.6"), (101, "0.8"), (101, "0.9")]
# The least tau there is: every match is a pair.
ANY = "0.000000001"
NO_TAU = ["I-Match", "I-Match, lexicons", "I-Match, sentences"]


def antecedents(folder):
    """A file for each list of antecedents, which are stop words as well."""
    files = {}
    for number, (name, words) in enumerate(LISTS.items()):
        path = folder / f"antecedents-{number}.tsv"
        rows = [f"antecedent\t{word}\t1" for word in words.split()] + [f"stop\t{word}" for word in words.split()]
        path.write_text("\n".join([*rows, "chain\t3", "min\t4"]) + "\n")
        files[name] = path
    return files


def methods(folder, sites=True):
    """{method: {variant: the words of its run}}; without sites none is asked for."""
    site = ["--site", "url"] if sites else []
    ccdet = ["ccdet", "--tau", "0.1"]
    spots = {"zh": "spotsigs:zh", **{name: f"spotsigs:{path}" for name, path in antecedents(folder).items()}}
    shingles = {f"{unit}:{width}": f"{unit}:{width}" for unit, width in (("chars", 5), ("chars", 10), ("words", 2), ("words", 4))}
    return {
        "CCDet": {f"K {k}": [*ccdet, *site, "--features", f"sentence-ends:{k}"] for k in (5, 8, 10, 15, 20)},
        "NoPrune": {"K 10": ccdet},
        "NoPrune+IDF": {f"[{idf}]": [*ccdet, "--idf", idf] for idf in ("0.2,1", "0.3,1", "0.4,1")},
        "SpotSigs": {name: ["doc-split", "--features", features, "--tau", "0.1"] for name, features in spots.items()},
        "Shingling": {name: ["doc-split", "--features", features, "--tau", "0.1"] for name, features in shingles.items()},
        "CoDet": {f"{k} words": [*ccdet, "--features", f"sentences:{k}"] for k in (1, 2, 3, 5, 10)},
        "I-Match": {f"[{idf}]": ["doc-split", "--features", "words:1", "--idf", idf, "--tau", "1"] for idf in NARROW},
        "I-Match, lexicons": {f"{number} without {drops}, [{idf}]": lexicons("words:1", number, drops, idf) for idf in NARROW for number, drops in LEXICONS},
        "I-Match, sentences": {f"{number} without {drops}, {k} words": lexicons(f"sentences:{k}", number, drops, SHARED) for k in (2, 5) for number, drops in LEXICONS},
    }


def lexicons(features, number, drops, idf):
    """The words of a run of I-Match with several lexicons."""
    return ["i-match", "--features", features, "--lexicons", str(number), "--lexicon-drops", drops, "--idf", idf, "--tau", ANY]


def pairs(words, documents, folder, number):
    """Keys i·number + j with i < j, similarities in hundredths, rounded down, and whether a pair is a containment."""
    out = folder / "out"
    if out.exists():
        shutil.rmtree(out)
    twinsplit("run", *words, "--input", documents, "--output", out, "--quiet")
    rows = [line.rstrip("\n").split("\t") for line in open(out / "pairs.tsv", encoding="utf-8")]
    shutil.rmtree(out)
    if not rows:
        return numpy.zeros((3, 0), dtype=numpy.int64)
    first, second = (numpy.array([int(row[side][1:]) for row in rows]) for side in (0, 1))
    overlap, x, y = (numpy.array([int(row[column]) for row in rows]) for column in (2, 3, 4))
    # I-Match has no tau: what matches is a pair at any.
    whole = {"ccdet": numpy.minimum(x, y), "i-match": overlap}.get(words[0], x + y - overlap)
    key = numpy.minimum(first, second) * number + numpy.maximum(first, second)
    return numpy.array([key, overlap * 100 // whole, 2 * numpy.minimum(x, y) < numpy.maximum(x, y)])


def reaching(similarities):
    """For each tau how many reach it."""
    counts = numpy.bincount(similarities - int(LEAST * 100), minlength=len(TAUS))
    return counts[::-1].cumsum()[::-1]


def curve(found, true_keys, kind):
    """(true, wrong, missed) at each tau, of duplicates or of containments."""
    keys, similarities, contained = found
    own = contained == (kind == "containment")
    keys, similarities = keys[own], similarities[own]
    good = numpy.isin(keys, true_keys[kind])
    return [(int(true), int(wrong), len(true_keys[kind]) - int(true))
            for true, wrong in zip(reaching(similarities[good]), reaching(similarities[~good]))]


def scores(true, wrong, missed):
    precision = true / (true + wrong) if true + wrong else 1.0
    recall = true / (true + missed) if true + missed else 1.0
    return precision, recall, 2 * true / (2 * true + wrong + missed) if true + wrong + missed else 1.0


def best(points):
    """The place of the first point of the largest F1."""
    return max(range(len(points)), key=lambda at: (scores(*points[at])[2], -at))


def together(points):
    """The counts of duplicates and containments added up, at each tau."""
    return [tuple(map(sum, zip(*both))) for both in zip(*points)]


def cause(pair, similar_as, known, likenesses, made):
    """Why a pair is on the wrong side. `similar_as`: what the method calls it, or nothing."""
    common, length = likenesses.get(pair, (0, 1))
    if pair in known and similar_as:
        return f"a {known[pair]} that is called a {similar_as}"
    few = min(len(pages.sentences(made[number][3])) for number in pair) < 8
    if pair in known:
        return "copy near the rule's edge (.8 to .9)" if 10 * common < 9 * length else "copy with less than eight sentences" if few else "other copy"
    if 10 * common >= 7 * length:
        return "no copy, near the rule's edge (.7 to .8)"
    return "no copy: shared passages (.3 to .7)" if pair in likenesses else "no copy: other text, or the sites'"


def causes(found, tau, known, likenesses, made):
    """{cause: pairs} at a tau."""
    similar = {divmod(int(key), len(made)): KINDS[contained] for key, similarity, contained in found.T if similarity >= tau * 100}
    counts = {}
    for pair in similar.keys() | known.keys():
        if similar.get(pair) != known.get(pair):
            why = cause(pair, similar.get(pair), known, likenesses, made)
            counts[why] = counts.get(why, 0) + 1
    return counts


def f1_of(points):
    return [(float(tau), scores(*counts)[2]) for tau, counts in zip(TAUS, points)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    corpora.add_own(parser, parser)
    corpus = corpora.own(parser.parse_args())
    made = pages.of(corpus) if corpus else pages.made()
    documents = pages.written(made, f"ccdet-{corpora.name(corpus)}" if corpus else "ccdet")
    folder = documents.parent
    likenesses = pages.likeness(made)
    known = pages.truth(made, likenesses)
    true_keys = {kind: numpy.array(sorted(i * len(made) + j for (i, j), own in known.items() if own == kind)) for kind in KINDS}
    rows, bests, wrong, curves, widths = [], [], [], {kind: {} for kind in KINDS}, {}
    for method, variants in methods(folder, all(site for _, site, _, _ in made)).items():
        tried = {}
        for variant, words in variants.items():
            found = pairs(words, documents, folder, len(made))
            points = {kind: curve(found, true_keys, kind) for kind in KINDS}
            points["both"] = together(list(points.values()))
            for kind, own in points.items():
                rows += [[method, variant, kind, f"{float(tau):.2f}", *counts, *(f"{value:.6f}" for value in scores(*counts))]
                         for tau, counts in zip(TAUS, own)]
                tried.setdefault(kind, []).append((variant, own, found))
            if method == "CCDet":
                widths[variant] = {kind: f1_of(points[kind]) for kind in KINDS}
            progress(f"{method}, {variant}: F1 {scores(*points['both'][best(points['both'])])[2]:.4f}")
        for kind, of_kind in tried.items():
            variant, own, found = max(of_kind, key=lambda one: scores(*one[1][best(one[1])])[2])
            at = best(own)
            bests.append([kind, method, variant, f"{float(TAUS[at]):.2f}", *own[at], *(f"{value:.4f}" for value in scores(*own[at]))])
            if kind in KINDS and method not in NO_TAU:
                curves[kind][method] = f1_of(own)
            if kind == "both":
                wrong += [[method, variant, f"{float(TAUS[at]):.2f}", *row] for row in sorted(causes(found, TAUS[at], known, likenesses, made).items())]
    plot.panels("ccdet-accuracy", f"{len(made):,} Chinese pages: {len(true_keys['duplicate']):,} pairs of duplicates, "
            f"{len(true_keys['containment']):,} containments", {f"{kind}s": curves[kind] for kind in KINDS})
    plot.panels("ccdet-width", "CCDet: characters before each full stop",
            {f"{kind}s": {variant: own[kind] for variant, own in widths.items()} for kind in KINDS})
    columns = ["true", "wrong", "missed", "precision", "recall", "f1"]
    save("ccdet-accuracy", "Precision, recall and F1 against tau on Chinese pages (wei2013, figures 6 to 8)",
         ["method", "variant", "kind", "tau", *columns], rows, ["ccdet-accuracy", "ccdet-width"],
         ["Shingling is here the exact Jaccard similarity of its shingles, which its sketches estimate. I-Match is the equality of the "
          "terms in an IDF range, or in one of several lexicons that leave out a part of them, so it has no tau.",
          "CoDet and the later forms of I-Match are our reading of papers of which we have the abstracts (docs/decisions/ccdet-and-i-match.md): the "
          "figures say nothing of the originals."])
    save("ccdet-causes", "Pairs on the wrong side at the best tau for both kinds, by cause", ["method", "variant", "tau", "cause", "pairs"], wrong)
    save("ccdet-best", "The best variant and tau of each method, for duplicates, for containments, and one tau for both",
         ["kind", "method", "variant", "tau", *columns], sorted(bests, key=lambda row: [*KINDS, "both"].index(row[0])))


if __name__ == "__main__":
    main()
