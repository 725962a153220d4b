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
WANTED = [0.9, 0.95, 0.99]
MOST_VALUES = 1024


def run(corpus, tau, chain, *options):
    """The pairs of different sets with their Jaccard, and run.json."""
    out = WORK / "recall" / corpus
    if out.exists():
        shutil.rmtree(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    twinsplit("run", chain, "--features", FEATURES[corpus], "--tau", tau, "--input", CORPORA / corpus / "docs.jsonl.gz",
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
    parser.add_argument("--corpora", default=",".join(FEATURES))
    rows = []
    for corpus in parser.parse_args().corpora.split(","):
        for tau in TAUS:
            exact, _ = run(corpus, tau, "doc-split")
            similar = Counter(exact.values())
            counted = {}
            for wanted in WANTED:
                found, made = run(corpus, tau, "minhash", "--recall", wanted)
                assert found.keys() <= exact.keys(), "a pair that the exact join has not"
                for bands, of in choices(similar, wanted):
                    if (bands, of) not in counted:
                        options = ("--bands", bands, "--rows", of, "--hashes", bands * of)
                        counted[bands, of] = candidates(run(corpus, tau, "minhash", *options)[1])
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
    save("recall", "MinHash: the recall that was asked for, and candidates beside the best bands",
         ["corpus", "tau", "wanted", "exact_pairs", "recall", "reached", "audit", "from", "to", "interval_right", "bands_x_rows",
          "candidates", "best_bands_x_rows", "best_candidates", "times"], rows, [],
         [f"Reached: {reached} of {len(rows)} runs. What the audit says is right: {right}. More than twice the candidates of the best bands: "
          f"{twice}. Pairs are of different sets; features: words:5, of zh-revisions-iotdb chars:5. The search: rows 1 to 32, the fewest "
          f"bands by the similarities of all exact pairs, at most {MOST_VALUES} values."])


if __name__ == "__main__":
    main()
