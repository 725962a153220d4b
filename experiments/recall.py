"""The recall that `--recall` promises, and its candidates beside those of the best bands that a search finds.

For each corpus, tau and wanted recall, `twinsplit run minhash --recall` chooses bands by a sample. What it finds is compared with the
exact join: recall over pairs of different sets, for equal sets need no key. The search knows all exact pairs: for each number of rows
it takes the fewest bands whose expected recall over them is what is wanted, and counts their candidates by a run.

What the run says of its own recall is checked besides: where it has counted that is the recall, and else the recall lies in its interval.
"""

import argparse
import json
import math
import shutil
from collections import Counter

from result import CORPORA, WORK, progress, save, twinsplit

FEATURES = {"reuters21578": "words:5", "enron1": "words:5", "licence-texts-a": "words:5", "peps-revisions": "words:5",
            "zh-revisions-iotdb": "chars:5"}
TAUS = ["0.5", "0.7", "0.8"]
# By which no constant of the planner or of the audit was chosen.
HELD_OUT = {"reuters21578": "words:2", "enron1": "chars:12", "licence-texts-a": "words:3", "iotdb-docs-en": "words:3",
            "iotdb-docs-zh": "words:2"}
HELD_OUT_TAUS = ["0.6", "0.65", "0.75"]
WANTED = [0.9, 0.95, 0.99]
MOST_VALUES = 1024


def run(corpus, features, tau, chain, *options):
    """The pairs of different sets with their Jaccard, and run.json."""
    out = WORK / "recall" / corpus
    if out.exists():
        shutil.rmtree(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    twinsplit("run", chain, "--features", features, "--tau", tau, "--input", CORPORA / corpus / "docs.jsonl.gz",
              "--output", out, "--quiet", *options)
    with open(out / "pairs.tsv", encoding="utf-8") as lines:
        rows = [(a, b, x) for a, b, *_, x in (line.rstrip("\n").split("\t") for line in lines)]
    made = json.loads((out / "run.json").read_text())
    shutil.rmtree(out)
    # Rows come in order of ids, so the first document with a set is met first.
    first = {}
    for a, b, jaccard in rows:
        if jaccard == "1.000000":
            first.setdefault(b, first.get(a, a))
    alone = {(a, b): float(x) for a, b, x in rows if a not in first and b not in first and x != "1.000000"}
    return alone, made


def candidates(made):
    return sum(step.get("candidate_pairs", 0) for step in made["counters"].values())


def expected(similar, bands, rows):
    return sum(count * (1 - (1 - jaccard**rows) ** bands) for jaccard, count in similar.items()) / sum(similar.values())


def choices(similar, wanted):
    """(bands, rows): for each number of rows the fewest bands."""
    for rows in range(1, 33):
        few, enough = 0, MOST_VALUES // rows
        if expected(similar, enough, rows) < wanted:
            continue
        while enough - few > 1:
            middle = (few + enough) // 2
            few, enough = (middle, enough) if expected(similar, middle, rows) < wanted else (few, middle)
        yield enough, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", help="names of folders in CORPORA_DIR, with commas between")
    parser.add_argument("--held-out", action="store_true", help="the collections and thresholds by which nothing was chosen")
    options = parser.parse_args()
    kinds, taus = (HELD_OUT, HELD_OUT_TAUS) if options.held_out else (FEATURES, TAUS)
    rows = []
    for corpus in options.corpora.split(",") if options.corpora else kinds:
        features = kinds[corpus]
        for tau in taus:
            exact, _ = run(corpus, features, tau, "doc-split")
            similar = Counter(exact.values())
            counted = {}
            for wanted in WANTED:
                found, made = run(corpus, features, tau, "minhash", "--recall", wanted)
                assert found.keys() <= exact.keys(), "a pair that the exact join has not"
                for bands, of in choices(similar, wanted):
                    if (bands, of) not in counted:
                        choice = ("--bands", bands, "--rows", of, "--hashes", bands * of)
                        counted[bands, of] = candidates(run(corpus, features, tau, "minhash", *choice)[1])
                fewest, best = min((counted[choice], choice) for choice in choices(similar, wanted))
                recall, said = len(found) / len(exact), made["audit"]
                low, high = said.get("interval", [said["recall"]] * 2)
                right = low - 1e-6 <= recall <= high + 1e-6
                took, chosen = candidates(made), made["parameters"]
                rows.append([corpus, tau, wanted, len(exact), f"{recall:.4f}", "yes" if recall >= wanted else "no",
                             "counted" if said["counted"] else "drawn", f"{low:.4f}", f"{high:.4f}", "yes" if right else "no",
                             f"{chosen['bands']}x{chosen['rows']}", took,
                             f"{best[0]}x{best[1]}", fewest, f"{took / fewest:.2f}"])
                progress(" ".join(map(str, rows[-1])))
    reached, right = (sum(row[at] == "yes" for row in rows) for at in (5, 9))
    twice = sum(float(row[14]) > 2 for row in rows)
    name = "recall-held-out" if options.held_out else "recall"
    listed = ", ".join(f"{corpus} {features}" for corpus, features in kinds.items())
    save(name, "MinHash: the recall that was asked for, and candidates beside the best bands" + ", held out" * options.held_out,
         ["corpus", "tau", "wanted", "exact_pairs", "recall", "reached", "audit", "from", "to", "interval_right", "bands_x_rows",
          "candidates", "best_bands_x_rows", "best_candidates", "times"], rows, [],
         [f"Reached: {reached} of {len(rows)} runs. What the audit says is right: {right}. More than twice the candidates of the best bands: "
          f"{twice}. Pairs are of different sets; features: {listed}. The search: rows 1 to 32, the fewest bands by the similarities of all "
          f"exact pairs, at most {MOST_VALUES} values."])


if __name__ == "__main__":
    main()
