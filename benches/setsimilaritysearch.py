"""The measuring half of compare.sh.

    setsimilaritysearch.py join SETS PAIRS TAU   the process that is measured: SetSimilaritySearch over a file
    setsimilaritysearch.py compare ...           runs it and twinsplit by turns, and prints a table

Both join the same sets: those that twinsplit's `tokenize` writes, `id⇥feature feature …`. The process of
SetSimilaritySearch starts from these sets; twinsplit's starts from the packed documents, so it also unpacks,
parses, tokenizes and clusters within its time.
"""

import argparse
import datetime
import gzip
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

TAU = "0.5"
FEATURES = "words:5"
THREADS = 2
FASTER = 10  # twinsplit's whole process against SetSimilaritySearch's
PEAK = 1_000_000_000  # bytes


def join(sets_path, pairs_path, tau):
    """All pairs at or above tau; the time of all_pairs alone goes to standard output as JSON."""
    from SetSimilaritySearch import all_pairs

    ids, sets = [], []
    with open(sets_path, encoding="utf-8") as lines:
        for line in lines:
            name, _, features = line.rstrip("\n").partition("\t")
            if features:
                ids.append(name)
                sets.append(features.split(" "))
    start = time.perf_counter()
    pairs = list(all_pairs(sets, similarity_func_name="jaccard", similarity_threshold=float(tau)))
    seconds = time.perf_counter() - start
    with open(pairs_path, "w", encoding="utf-8") as out:
        out.writelines(f"{ids[a]}\t{ids[b]}\n" for a, b, _ in pairs)
    print(json.dumps({"all_pairs": seconds}))


def measured(command, log):
    """Runs a command; wall seconds, processor seconds and the largest resident size in bytes.

    The size is the kernel's, from wait4. It cannot be smaller than this process at the fork, so this
    process imports and keeps little.
    """
    with open(log, "wb") as out:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.stderr.write(pathlib.Path(log).read_text(errors="replace"))
        sys.exit(f"bench: exit status {process.returncode} from: {' '.join(map(str, command))}")
    unit = 1 if sys.platform == "darwin" else 1024
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit


def own_peak(out):
    """The largest peak that twinsplit reports of a step, in bytes: it starts the kernel's count anew for each."""
    steps = json.loads((out / "run.json").read_text())["counters"].values()
    return max(step.get("peak_memory", 0) for step in steps)


def tokenized(documents, binary, target):
    """The sets of all documents, by twinsplit's own tokenize."""
    command = [binary, "--features", FEATURES]
    with open(target, "wb") as out, gzip.open(documents, "rb") as text:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out)
        shutil.copyfileobj(text, process.stdin)
        process.stdin.close()
        if process.wait() != 0:
            sys.exit(f"bench: exit status {process.returncode} from tokenize")


def pairs_of(path):
    with open(path, encoding="utf-8") as lines:
        return {tuple(sorted(line.rstrip("\n").split("\t")[:2])) for line in lines}


def middle(values):
    """`1.23 (1.20 to 1.31)`: median and spread."""
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def compare(options):
    work, binaries = options.work, options.binaries
    sets, found = work / "sets.tsv", work / "peer.tsv"
    tokenized(options.documents, binaries / "tokenize", sets)
    ours = [
        binaries / "twinsplit", "run", "doc-split", "--input", options.documents, "--features", FEATURES,
        "--tau", TAU, "--threads", str(THREADS), "--output", work / "out", "--overwrite",
    ]
    peer = [sys.executable, __file__, "join", sets, found, TAU]

    runs = {"ours": [], "peer": []}
    calls = []
    for number in range(options.rounds):
        print(f"bench: round {number + 1} of {options.rounds}", file=sys.stderr)
        wall, processor, peak = measured(ours, work / "ours.log")
        runs["ours"].append((wall, processor, max(peak, own_peak(work / "out"))))
        runs["peer"].append(measured(peer, work / "peer.log"))
        calls.append(json.loads((work / "peer.log").read_text().splitlines()[-1])["all_pairs"])

    truth, others = pairs_of(work / "out" / "pairs.tsv"), pairs_of(found)
    if not truth or not others:
        sys.exit("bench: a run found no pairs, so there is nothing to compare")
    common = len(truth & others)
    quality = f"{len(others):,} | {common / len(truth):.4f} | {common / len(others):.4f}"

    def cells(name):
        wall, processor, peak = zip(*runs[name])
        return f"{middle(wall)} | {statistics.median(processor):.2f} | {max(peak) / 1e6:,.0f}"

    seconds = {name: statistics.median(run[0] for run in of) for name, of in runs.items()}
    ratio, call_ratio = seconds["peer"] / seconds["ours"], statistics.median(calls) / seconds["ours"]
    peak = max(run[2] for run in runs["ours"])
    with open(sets, "rb") as lines:
        total = sum(1 for _ in lines)
    report = f"""\
reuters21578, {total:,} documents, {FEATURES}, Jaccard >= {TAU}; median of {options.rounds} rounds, by turns; \
{os.cpu_count()} processor cores. Recall and precision of SetSimilaritySearch are against twinsplit's pairs.

| what | wall seconds (spread) | user + sys | peak MB | pairs | recall | precision |
|---|---|---|---|---|---|---|
| twinsplit doc-split, {THREADS} threads, whole process from text | {cells("ours")} | {len(truth):,} | – | – |
| SetSimilaritySearch 1.0.1, whole process from sets | {cells("peer")} | {quality} |
| SetSimilaritySearch 1.0.1, its all_pairs call alone | {middle(calls)} | – | – | {quality} |

twinsplit from text is {ratio:.1f} times as fast as SetSimilaritySearch's process from sets, and \
{call_ratio:.1f} times as fast as its all_pairs call alone.
The sets are those of twinsplit's tokenize; making them is not in SetSimilaritySearch's time.
"""
    print(report)
    if options.save:
        target = pathlib.Path(__file__).resolve().parent / "results" / "setsimilaritysearch.md"
        target.parent.mkdir(exist_ok=True)
        target.write_text(f"# Beside SetSimilaritySearch, {datetime.date.today()}\n\n{report}", encoding="utf-8")

    wrong = []
    if common < len(others):
        wrong.append(f"{len(others) - common:,} pairs of SetSimilaritySearch are missing from pairs.tsv")
    if ratio < FASTER:
        wrong.append(f"{ratio:.1f} times as fast, wanted at least {FASTER}")
    if peak >= PEAK:
        wrong.append(f"peak of {peak / 1e6:,.0f} MB, wanted under {PEAK / 1e6:,.0f}")
    sys.exit("bench: " + "; ".join(wrong) if wrong else 0)


def main():
    if sys.argv[1:2] == ["join"]:
        return join(*sys.argv[2:])
    parser = argparse.ArgumentParser(prog="compare.sh", description="twinsplit beside SetSimilaritySearch")
    parser.add_argument("compare", choices=["compare"], help=argparse.SUPPRESS)
    for name in ("--documents", "--binaries", "--work"):
        parser.add_argument(name, type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=3, help="runs of each program (default 3)")
    parser.add_argument("--save", action="store_true", help="also write the table to benches/results/")
    compare(parser.parse_args())


if __name__ == "__main__":
    main()
