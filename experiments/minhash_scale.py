"""Where MinHash begins to win against the exact join, and what `--bloom` saves of its shuffle, on generated collections.

Each collection is the head of one `generate-corpus` of its mean length. doc-split and minhash find all pairs of runs of five words, each in
one process with two threads, by turns; the recall of minhash is that of pairs of different sets, beside the exact ones. The volume of
the shuffle is counted by the stages (`--engine pipes`).
"""

import argparse
import json
import shutil

import collection
import plot
from result import WORK, progress, save, twinsplit

# Bytes of a document: documents.
SIZES = {1_000: [100_000, 300_000, 1_000_000, 3_000_000], 6_000: [100_000, 400_000]}
TAUS = ["0.5", "0.8"]
RECALL = 0.95
SEED = 77
MEMORY = 8000
FOLDER = WORK / "minhash_scale"


def heads(length, counts):
    """The file of each head of the largest collection."""
    with collection.generated(FOLDER, max(counts), length, SEED) as whole:
        for count in counts:
            yield count, whole.head(count)


def run(documents, chain, *options):
    """run.json, and the pairs of different sets."""
    out = FOLDER / "out"
    if out.exists():
        shutil.rmtree(out)
    twinsplit("run", chain, "--features", "words:5", *options, "--input", documents, "--output", out, "--quiet", "--write", "pairs", "--threads", 2, "--memory", MEMORY)
    made = json.loads((out / "run.json").read_text())
    with open(out / "pairs.tsv", "rb") as rows:
        pairs = sum(not row.endswith(b"\t1.000000\n") for row in rows)
    shutil.rmtree(out)
    return made, pairs


def megabytes(made):
    return max(step.get("peak_memory", 0) for step in made["counters"].values()) / 1e6


def speed():
    rows, lines = [], {}
    for length, counts in SIZES.items():
        for count, documents in heads(length, counts):
            for tau in TAUS:
                exact, all_pairs = run(documents, "doc-split", "--tau", tau)
                found, pairs = run(documents, "minhash", "--tau", tau, "--recall", RECALL)
                seconds = [made["seconds"]["total"] for made in (exact, found)]
                chosen = found["parameters"]
                rows.append([length, count, tau, all_pairs, f"{seconds[0]:.2f}", f"{megabytes(exact):.0f}",
                             f"{chosen['bands']}x{chosen['rows']}", f"{pairs / all_pairs:.4f}", f"{seconds[1]:.2f}",
                             f"{megabytes(found):.0f}", f"{seconds[0] / seconds[1]:.2f}"])
                lines.setdefault(f"{length:,} bytes a document", {}).setdefault(f"tau {tau}", []).append((count / 1e6, seconds[0] / seconds[1]))
                progress(" ".join(map(str, rows[-1])))
    top = max(1.0, *(y for panel in lines.values() for points in panel.values() for _, y in points))
    plot.panels("minhash-scale", "Above the line MinHash is faster than the exact join", lines, "seconds of doc-split / of minhash",
                "million documents", None, 1.1 * top, 1.0)
    save("minhash-scale", "MinHash beside the exact join, by documents",
         ["bytes_a_document", "documents", "tau", "pairs", "doc_split_seconds", "doc_split_MB", "bands_x_rows", "recall", "minhash_seconds",
          "minhash_MB", "doc_split_of_minhash"], rows, ["minhash-scale"],
         [f"generate-corpus --seed {SEED}; words:5; --memory {MEMORY}; minhash --recall {RECALL}, whose time includes the sample, the exact check and the audit; two "
          "threads, pairs alone are written, one run each. Pairs and recall are of different sets: equal sets need no key. Above 1 in the last "
          "column MinHash is faster."])


def shuffle(count):
    """The volume of the keys' shuffle with and without filters."""
    rows = []
    for _, documents in heads(1_000, [count]):
        for bands, of in ((16, 8), (32, 4)):
            for filters in (0, 4, 16, 64):
                options = ("--bloom", filters) if filters else ()
                made, pairs = run(documents, "minhash", "--engine", "pipes", "--tau", "0.8", "--hashes", 128, "--bands", bands, "--rows", of, *options)
                steps = made["counters"]
                # Without a filter keys are made in the job that makes the signatures.
                keys = steps.get("lsh-bands", steps["minhash"])
                travelled = steps["band-filter"]["reduce_bytes_in"] if filters else 0
                rows.append([f"{bands}x{of}", filters or "none", keys["reduce_records_in"], f"{keys['reduce_bytes_in'] / 1e6:.1f}",
                             f"{travelled / 1e6:.1f}", f"{(keys['reduce_bytes_in'] + travelled) / 1e6:.1f}", pairs])
                progress(" ".join(map(str, rows[-1])))
    save("minhash-shuffle", f"The shuffle of MinHash's keys with and without a Bloom filter, {count:,} generated documents",
         ["bands_x_rows", "filter_MB", "keys_shuffled", "keys_MB", "filters_MB", "both_MB", "pairs"], rows, [],
         [f"generate-corpus --seed {SEED} of 1,000 bytes a document; words:5, tau .8, two tasks (--engine pipes). The filter reads all signatures once more. MB of a "
          "filter are those of its memory; what travels of it is coded."])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=["speed", "shuffle"])
    part = parser.parse_args().part
    if part != "shuffle":
        speed()
    if part != "speed":
        shuffle(200_000)


if __name__ == "__main__":
    main()
