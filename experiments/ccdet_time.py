"""How long CCDet and what it is compared with take for the pages of pages.py, side by side (wei2013, figure 9).

Each run is a whole process in one thread, from JSON lines to pairs and clusters. The methods take turns, so that a machine that is
busy for a while is so for all of them. A user's own pages (--corpus) are JSON lines with id and text; a field url tells their sites.
"""

import argparse
import shutil
import statistics
import time

import corpora
import pages
import plot
from ccdet_accuracy import ANY, methods
from result import progress, save, twinsplit

ROUNDS = 9
# Variant and tau: those with the best F1 of both kinds in ccdet-best.csv.
CHOSEN = {"CCDet": ("K 10", "0.71"), "NoPrune": ("K 10", "0.7"), "NoPrune+IDF": ("[0.4,1]", "0.71"), "SpotSigs": ("的 了 是 在", "0.23"),
          "Shingling": ("chars:10", "0.23"), "CoDet": ("5 words", "0.54"), "I-Match": ("[0.2,0.85]", "1"),
          "I-Match, lexicons": ("101 without 0.9, [0.3,0.7]", ANY), "I-Match, sentences": ("101 without 0.6, 2 words", ANY)}


def run(words, tau, documents, folder):
    """Seconds of the process."""
    out = folder / "timed"
    if out.exists():
        shutil.rmtree(out)
    words = [*words[:words.index("--tau")], "--tau", tau, *words[words.index("--tau") + 2:]]
    start = time.perf_counter()
    twinsplit("run", *words, "--threads", "1", "--input", documents, "--output", out, "--quiet")
    whole = time.perf_counter() - start
    shutil.rmtree(out)
    return whole


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    corpora.add_own(parser, parser)
    corpus = corpora.own(parser.parse_args())
    made = pages.of(corpus) if corpus else pages.made()
    documents = pages.written(made, f"ccdet-{corpora.name(corpus)}" if corpus else "ccdet")
    every = methods(documents.parent, all(site for _, site, _, _ in made))
    seconds = {method: [] for method in CHOSEN}
    for turn in range(ROUNDS + 1):
        for method, (variant, tau) in CHOSEN.items():
            whole = run(every[method][variant], tau, documents, documents.parent)
            # The first round warms the page cache.
            seconds[method] += [whole] if turn else []
        progress(f"round {turn} of {ROUNDS}")
    least = statistics.median(seconds["CCDet"])
    rows = []
    for method, own in seconds.items():
        middle = statistics.median(own)
        rows.append([method, *CHOSEN[method], f"{min(own) * 1000:.0f}", f"{middle * 1000:.0f}", f"{max(own) * 1000:.0f}", f"{middle / least:.2f}"])
    medians = [(method.replace(", ", "\n"), statistics.median(own) * 1000) for method, own in seconds.items()]
    plot.bars("ccdet-time", f"{len(made):,} Chinese pages, one thread", "milliseconds", {f"median of {ROUNDS} runs": medians},
              top=1.05 * max(median for _, median in medians))
    save("ccdet-time", f"Milliseconds for {len(made)} Chinese pages, from JSON lines to clusters, in one thread (wei2013, figure 9)",
         ["method", "variant", "tau", "least", "median", "most", "of_ccdet"], rows, ["ccdet-time"],
         [f"Whole processes, {ROUNDS} rounds in which the methods take turns."])


if __name__ == "__main__":
    main()
