"""Lin's two approximations of plain Term-Split (lin2009): what recall they lose against the bytes that they save.

The document frequency cut leaves out features of more than so many documents; the accumulator limit counts at most so
many pairs in a task. Both are compared with the exact pairs of the same sets.
"""

import argparse
import json
import shutil
from pathlib import Path

import corpora
import plot
from result import CORPORA, WORK, progress, save, twinsplit

FEATURES, TAU = "words:3", "0.5"
CUTS = [4, 8, 16, 32, 64, 128, 256, 512, 1024]
LIMITS = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000]


def run(corpus, name, *options):
    """The pairs of a corpus below CORPORA_DIR or of a user's JSON lines, and the bytes that went through shuffles between posting lists and pairs of sets."""
    out = WORK / "approximations" / f"{corpora.name(corpus)}-{name}"
    documents = corpus if isinstance(corpus, Path) else CORPORA / corpus / "docs.jsonl.gz"
    if out.exists():
        shutil.rmtree(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    twinsplit("run", "term-split", "--pcp", "plain", "--features", FEATURES, "--tau", TAU, "--threads", "1",
              "--input", documents, "--output", out, *options)
    counters = json.loads((out / "run.json").read_text())["counters"]
    between = sum(counters[step].get("map_bytes_out", 0) for step in ("index-term", "pcp-map"))
    found = {tuple(line.split("\t")[:2]) for line in open(out / "pairs.tsv")}
    shutil.rmtree(out)
    return found, between


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--corpora", default="reuters21578,enron1")
    corpora.add_own(parser, group)
    opts = parser.parse_args()
    rows, curves = [], {}
    for documents in [corpora.own(opts)] if opts.corpus else opts.corpora.split(","):
        corpus = corpora.name(documents)
        exact, whole = run(documents, "exact")
        progress(f"{corpus}: {len(exact)} pairs, {whole} bytes")
        rows.append([corpus, "exact", "", len(exact), 0, "1.000000", whole, "1.000000"])
        for option, values in (("df-cut", CUTS), ("accumulators", LIMITS)):
            points = []
            for value in values:
                found, between = run(documents, option, f"--{option}", value)
                recall = len(found & exact) / len(exact) if exact else 1.0
                rows.append([corpus, option, value, len(found), len(found - exact), f"{recall:.6f}", between, f"{between / whole:.6f}"])
                points.append((between / whole, recall))
                progress(f"{corpus}: {option} {value}: recall {recall:.4f}, {between / whole:.3f} of the bytes")
            curves[f"{corpus}, {option}"] = points
    plot.shares("approximations", "Recall against bytes shuffled, of those of the exact run", curves)
    save("approximations", "Lin's document frequency cut and accumulator limit: recall against bytes",
         ["corpus", "option", "value", "pairs", "pairs_not_exact", "recall", "bytes", "share_of_bytes"], rows, ["approximations"],
         [f"Plain Term-Split, features {FEATURES}, tau {TAU}, in one thread: which pairs the accumulators hold depends on the order in "
          "which posting lists come to a task. Bytes are those that go to the reducers of index-term and pcp-map."])


if __name__ == "__main__":
    main()
