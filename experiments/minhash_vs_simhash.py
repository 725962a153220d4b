"""MinHash, SimHash and the exact Jaccard similarity against one truth: accuracy, seconds, bytes a document, candidates.

All three see the same runs of words. A run of each gives every pair above a low threshold with its similarity, estimate or distance;
tighter thresholds are cuts of that list, and the best is that of the largest F1. Truth is the rule of truth.py. Recall by length is
that of the best threshold, over copies whose longer document lies in a third of the documents by words.
"""

import argparse
import json
import resource
import shutil

import corpora
import plot
import truth
from result import WORK, progress, save, twinsplit

CORPORA = ["peps-revisions", "licence-texts-a", "iotdb-docs-en", "zh-revisions-iotdb"]
CHINESE = {"zh-revisions-iotdb"}
HASHES = 128
METHODS = {
    "exact Jaccard": ("doc-split", "--tau", "0.3"),
    "MinHash, 128 values": ("minhash", "--tau", "0.3", "--hashes", HASHES, "--bands", 32, "--rows", 4, "--check", "none"),
    "MinHash, 128 values, 4 bits": ("minhash", "--tau", "0.3", "--hashes", HASHES, "--bands", 32, "--rows", 4, "--check", "none",
                                    "--signature-bits", 4),
    "SimHash, 64 bits": ("simhash", "--distance", 13, "--bits", 64, "--weights", 1),
    "SimHash, 128 bits": ("simhash", "--distance", 26, "--bits", 128, "--weights", 1),
}
BYTES = {"MinHash, 128 values": 4 * HASHES, "MinHash, 128 values, 4 bits": HASHES // 2, "SimHash, 64 bits": 8, "SimHash, 128 bits": 16}
CLASSES = ["short", "middle", "long"]


def run(corpus, found, method):
    """{(i, j): the larger, the more alike} of all pairs of the run, seconds, candidates, bytes of the sets a document."""
    folder = WORK / "minhash_vs_simhash" / corpus
    folder.mkdir(parents=True, exist_ok=True)
    documents, out = folder / "docs.jsonl", folder / "out"
    with open(documents, "w", encoding="utf-8") as lines:
        for number, (_, text) in enumerate(found):
            lines.write(json.dumps({"id": number, "text": text}, ensure_ascii=False) + "\n")
    if out.exists():
        shutil.rmtree(out)
    features = "chars:3" if corpus in CHINESE else "words:3"
    chain, *options = METHODS[method]
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    twinsplit("run", chain, "--features", features, *options, "--input", documents, "--output", out, "--quiet", "--threads", 1)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime
    made = json.loads((out / "run.json").read_text())["counters"]
    counts = {}
    for step in made.values():
        for name, value in step.items():
            counts[name] = counts.get(name, 0) + value
    pairs = {}
    with open(out / "pairs.tsv", encoding="utf-8") as lines:
        for line in lines:
            a, b, *rest = line.rstrip("\n").split("\t")
            a, b = sorted((int(a), int(b)))
            pairs[a, b] = -int(rest[0]) if chain == "simhash" else float(rest[-1])
    shutil.rmtree(out)
    names = ("candidates", "candidate_pairs", "verifications", "joined_pairs")
    candidates = next((counts[name] for name in names if name in counts), "")
    return pairs, seconds, candidates


def best(pairs, copies):
    """(threshold, precision, recall, F1) of the largest F1."""
    chosen, right = (None, 1.0, 0.0, 0.0), 0
    ranked = sorted(pairs.items(), key=lambda item: -item[1])
    for number, (pair, likeness) in enumerate(ranked, 1):
        right += pair in copies
        if number < len(ranked) and ranked[number][1] == likeness:
            continue
        f1 = 2 * right / (number + len(copies))
        if f1 > chosen[3]:
            chosen = (likeness, right / number, right / len(copies), f1)
    return chosen


def by_length(lengths):
    """The class of each document."""
    order = sorted(range(len(lengths)), key=lambda number: lengths[number])
    return {number: CLASSES[3 * place // len(order)] for place, number in enumerate(order)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", default=",".join(CORPORA))
    rows, bars = [], {}
    for corpus in parser.parse_args().corpora.split(","):
        found, _ = corpora.documents(corpus)
        copies = truth.alike(corpus, found)
        lengths = [len(sequence) for sequence in truth.words([text for _, text in found])]
        classes = by_length(lengths)
        longer = {pair: classes[max(pair, key=lambda number: lengths[number])] for pair in copies}
        for method in METHODS:
            pairs, seconds, candidates = run(corpus, found, method)
            threshold, precision, recall, f1 = best(pairs, copies)
            hit = {pair for pair, likeness in pairs.items() if threshold is not None and likeness >= threshold}
            shares = []
            for name in CLASSES:
                of = [pair for pair in copies if longer[pair] == name]
                wrong = [pair for pair in hit if pair not in copies and classes[max(pair, key=lambda n: lengths[n])] == name]
                right = sum(pair in hit for pair in of)
                shares.append(f"{2 * right / (right + len(wrong) + len(of)):.3f}" if of else "")
            rows.append([corpus, len(found), len(copies), method, "" if threshold is None else abs(threshold), f"{precision:.3f}",
                         f"{recall:.3f}", f"{f1:.3f}", *shares, f"{seconds:.2f}", BYTES.get(method, ""), candidates])
            bars.setdefault(method, []).append((corpus, f1))
            progress(" ".join(map(str, rows[-1])))
    plot.bars("minhash-vs-simhash", "F1 at the best threshold of each", "F1", bars)
    save("minhash-vs-simhash", "MinHash or SimHash? Both, and the exact similarity, on labelled sets",
         ["corpus", "documents", "copies", "method", "best_threshold", "precision", "recall", "F1", "F1_short", "F1_middle", "F1_long",
          "processor_seconds", "bytes_a_document", "candidates"], rows, ["minhash-vs-simhash"],
         ["Features: words:3, of zh-revisions-iotdb chars:3. In SimHash each feature weighs 1. Seconds are those of the "
          "processor for a whole run in one thread that finds all pairs of a low threshold: Jaccard .3, 32 bands of 4 rows, a distance of 13 of "
          "64 bits or 26 of 128. Candidates of SimHash are the pairs of different fingerprints within that distance. F1 by length: pairs by their longer document, in a third of all documents."])


if __name__ == "__main__":
    main()
