#!/usr/bin/env python3
"""Runs `twinsplit run CHAIN --write clusters` on the first documents of a generated corpus, size by size.

    benches/scale.py --corpus FOLDER/documents.jsonl --work FOLDER --table FILE --logs FOLDER [--sizes 200000,400000]
        [--chain term-split]

The first documents of a corpus are the smaller corpus (docs/corpus.md), so one file serves all sizes; a plain file is
needed, of which the head is copied into --work (not at full size). Settings are those of the paper's experiment:
SpotSigs, IDF [.3,.85] and [.2,.85] with tau .3, IDF [0,1] with tau .4. The chain is doc-split, or term-split with the
prefix filter. A row for each run is appended to --table as it ends: seconds, seconds of
processors (which other programs on the machine disturb less), peak memory of any step as run.json has it, bytes that went
to disk, candidates of Term-Split and the bytes of their rows, and the
load of the machine at the beginning and the end, by which to judge the seconds.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

COLUMNS = ["chain", "documents", "bytes", "idf", "tau", "threads", "memory", "seconds", "cpu_seconds", "peak_memory",
           "joined_pairs", "clusters", "dropped", "spilled_bytes", "candidate_pairs", "candidate_bytes", "load_before", "load_after"]

# More candidates than can be counted are no reason to stop.
CHAINS = {"doc-split": ["doc-split"],
          "term-split": ["term-split", "--pcp", "prefix", "--max-pairs", str(10**15)]}


def head(corpus, documents, path):
    """A file of the first documents: the corpus itself, if it holds no more, else a copy of its head."""
    left = documents
    with open(corpus, "rb") as source, open(path, "wb") as target:
        for line in source:
            if left == 0:
                return path
            target.write(line)
            left -= 1
    path.unlink()
    if left:
        sys.exit(f"scale: {corpus} holds {documents - left} documents, fewer than {documents}")
    return corpus


def peak(value):
    """The largest peak_memory anywhere in run.json."""
    if isinstance(value, dict):
        own = [value["peak_memory"]] if isinstance(value.get("peak_memory"), int) else []
        return max(own + [peak(item) for item in value.values()], default=0)
    return max(map(peak, value), default=0) if isinstance(value, list) else 0


def run(opts, documents, path, idf, tau):
    out = opts.work / "scale-out"
    before, usage = os.getloadavg()[0], resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [opts.twinsplit, "run", *CHAINS[opts.chain], "--input", path, "--output", out, "--overwrite", "--json", "--quiet",
               "--features", "spotsigs", "--idf", idf, "--tau", tau, "--write", "clusters",
               "--threads", str(opts.threads), "--memory", str(opts.memory)]
    said = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime
    report = json.loads(said)
    name = f"{opts.chain}-{documents}-idf-{idf.replace(',', '-')}-tau-{tau}-memory-{opts.memory}.json"
    (opts.logs / name).write_bytes(said)
    counters = report["counters"]
    join = counters.get("docsplit-query") or counters["pcp-map"]
    spilled = sum(step.get("spilled_bytes", 0) for step in counters.values())
    return [report["seconds"]["total"], f"{cpu:.1f}", peak(report), join["joined_pairs"],
            counters["keep"]["clusters"], counters["keep"]["documents_dropped"], spilled,
            join.get("candidate_pairs", ""), join.get("candidate_bytes", ""), before, os.getloadavg()[0]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--table", type=Path, required=True)
    parser.add_argument("--logs", type=Path, required=True, help="a folder for the report of each run")
    parser.add_argument("--chain", choices=CHAINS, default="doc-split")
    parser.add_argument("--settings", default="0.3,0.85:0.3 0.2,0.85:0.3 0,1:0.4", help="IDF:tau, separated by spaces")
    parser.add_argument("--sizes", default="200000,400000,800000,1600000")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory", type=int, default=8192, help="megabytes")
    parser.add_argument("--twinsplit", default="target/release/twinsplit")
    opts = parser.parse_args()
    if not opts.table.exists():
        opts.table.write_text("\t".join(COLUMNS) + "\n", encoding="utf-8")
    for documents in map(int, opts.sizes.split(",")):
        copy = opts.work / "scale-head.jsonl"
        path = head(opts.corpus, documents, copy)
        size = path.stat().st_size
        for idf, tau in (setting.split(":") for setting in opts.settings.split()):
            row = [opts.chain, documents, size, idf, tau, opts.threads, opts.memory] + run(opts, documents, path, idf, tau)
            with open(opts.table, "a", encoding="utf-8") as table:
                table.write("\t".join(map(str, row)) + "\n")
            print(*row, sep="\t", flush=True)
        copy.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
