#!/usr/bin/env python3
"""Every engine and method over one collection, side by side: seconds, and the bytes between the steps.

usage: engines.py [--documents FILE] [--binaries FOLDER] [--hadoop HOME] [--spark HOME] [--features KIND] [--tau TAU]

The bytes in between are what the papers compare methods by: rows that are shuffled, as they are before an engine
compresses them, and rows that steps write for other steps. `local` keeps its data in memory and on one disk, so it has
only what it spills. The answers of all are compared; one that differs ends the comparison.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

METHODS = {
    "term-split": ["term-split"],
    "term-split, prefix": ["term-split", "--pcp", "prefix"],
    "doc-split": ["doc-split"],
    "doc-split, by task": ["doc-split", "--partition", "by-task", "--slices", "4"],
}
# Steps that write the answer, for no other step.
ANSWER = {"expand-pairs", "expand-right", "keep", "keep-choose", "expand", "write-kept"}


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", default="../shared/corpora/reuters21578/docs.jsonl.gz")
    parser.add_argument("--binaries", default="target/release")
    parser.add_argument("--hadoop", help="Hadoop's folder; without a configuration its jobs run on this machine")
    parser.add_argument("--spark", help="the folder of PySpark")
    parser.add_argument("--features", default="words:5")
    parser.add_argument("--tau", default="0.5")
    return parser.parse_args()


def environment(options):
    values = {name: value for name, value in os.environ.items() if not name.startswith("TWINSPLIT_")}
    values["PATH"] = f"{Path(options.binaries).resolve()}:{values['PATH']}"
    if options.hadoop:
        values["HADOOP_HOME"] = options.hadoop
    if options.spark:
        values["SPARK_HOME"] = options.spark
        values["PYTHONPATH"] = str(Path(options.spark).parent)
        values["PYSPARK_PYTHON"] = sys.executable
    return values


def engines(options):
    yield "local", []
    yield "pipes", ["--engine", "pipes"]
    if options.hadoop:
        yield "hadoop", ["--engine", "hadoop", "--reducers", "2"]
    if options.spark:
        yield "spark", ["--engine", "spark", "--reducers", "2"]


def answer(folder):
    """A digest of pairs and clusters, sorted, wherever the engine left them."""
    digest = hashlib.sha256()
    for data in ("pairs", "clusters"):
        files = [folder / f"{data}.tsv"]
        if not files[0].exists():
            files = sorted((folder / data).glob("part-*"))
        rows = sorted(row for file in files for row in file.read_bytes().splitlines())
        digest.update(b"\n".join(rows))
    return digest.hexdigest()


def volume(counters, names, steps=lambda step: True):
    found = (
        next((of[name] for name in names if name in of), 0) for step, of in counters.items() if steps(step)
    )
    return sum(found)


def size(number):
    for unit in ("B", "KiB", "MiB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} GiB"


def main():
    options = parsed()
    values = environment(options)
    documents = Path(options.documents).resolve()
    line = "{:<20} {:<8} {:>9} {:>12} {:>12} {:>9}"
    print(f"{documents.parent.name}, {options.features}, tau {options.tau}")
    print(line.format("method", "engine", "seconds", "shuffled", "written", "pairs"))
    first = None
    with tempfile.TemporaryDirectory() as work:
        for method, chain in METHODS.items():
            for engine, given in engines(options):
                output = Path(work) / "out"
                command = ["twinsplit", "run", *chain, "--features", options.features, "--tau", options.tau]
                command += ["--input", str(documents), "--output", str(output), "--overwrite", "--quiet", *given]
                start = time.monotonic()
                ran = subprocess.run(command, env=values, cwd=work, stderr=subprocess.PIPE, text=True)
                if ran.returncode:
                    sys.exit(f"{ran.stderr}error: {method} on {engine} failed")
                seconds = time.monotonic() - start
                run = json.loads((output / "run.json").read_text())
                counters = run["counters"]
                shuffled = volume(counters, ["reduce_bytes_in", "spilled_bytes"])
                written = volume(counters, ["reduce_bytes_out", "map_bytes_out"], lambda step: step not in ANSWER)
                pairs = max(of.get("pairs", 0) for of in counters.values())
                print(line.format(method, engine, f"{seconds:.1f}", size(shuffled), size(written), pairs), flush=True)
                found = answer(output)
                first = first or found
                if found != first:
                    sys.exit(f"error: {method} on {engine} gave another answer")


if __name__ == "__main__":
    main()
