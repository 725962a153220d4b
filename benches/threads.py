#!/usr/bin/env python3
"""How much faster `twinsplit join` is with two threads than with one.

usage: benches/threads.py [--runs N] [--taus T,T] TWINSPLIT SETS...

Whole processes, `--count`, wall time, N alternating pairs of runs (nine). Prints a row for each file and threshold: the
median of each, their quotient, and the smallest and largest quotient of a pair of runs, as a table in Markdown. The
machine must have two cores to itself.
"""

import argparse
import os
import statistics
import subprocess
import time


def seconds(command):
    """The wall time of a command, and what it printed."""
    start = time.perf_counter()
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return time.perf_counter() - start, said


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--taus", default="0.5,0.7,0.9")
    parser.add_argument("twinsplit")
    parser.add_argument("sets", nargs="+")
    args = parser.parse_args()
    print("| sets | tau | pairs | one thread, s | two, s | times faster | spread |")
    print("|---|---|---|---|---|---|---|")
    for path in args.sets:
        for tau in args.taus.split(","):
            command = [args.twinsplit, "join", path, "--tau", tau, "--count", "--threads"]
            # The first pair warms the page cache and does not count.
            runs = [[seconds(command + [n]) for n in "12"] for _ in range(args.runs + 1)][1:]
            assert len({said for run in runs for _, said in run}) == 1, "the numbers of pairs differ"
            one, two = (statistics.median(run[at][0] for run in runs) for at in (0, 1))
            quotients = [run[0][0] / run[1][0] for run in runs]
            name = os.path.basename(path).split(".")[0]
            pairs = int(runs[0][0][1])
            print(f"| {name} | {tau} | {pairs:,} | {one:.3f} | {two:.3f} | {one / two:.2f} | "
                  f"{min(quotients):.2f} to {max(quotients):.2f} |", flush=True)


if __name__ == "__main__":
    main()
