#!/usr/bin/env python3
"""Holds `twinsplit plan --estimate` to what runs count: a sample of a sixteenth of the documents against all of them.

    benches/estimate.py --work FOLDER [--corpus FILE] [--documents 100000] [--bytes 200M] [--sample 6250] [--chain 'doc-split --tau 0.65']

Without --corpus it generates one. Each chain runs once over all documents by the engine pipes, whose steps are those of a cluster, and its
bytes between steps stand beside the estimate's in a table in Markdown: what came, what was estimated, their quotient, and whether it
is in the interval. A run that is there already is not done again. It fails where a volume of over a megabyte is out of its interval, or more
than 1.5 times larger or smaller than estimated in a step that does not say that a sample cannot tell.
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

CHAINS = ["doc-split --tau 0.65", "term-split --pcp prefix --tau 0.65", "minhash --bands 20 --rows 5 --tau 0.65"]
# The way to the clusters depends on the number of pairs, which may be near the limit.
ONE_WAY = ["--write-kept", "--max-pairs", 10**12, "--graph", 10**12]
SMALL = 1 << 20
NEAR = 1.5


def first(counters, *names):
    return next((counters[name] for name in names if name in counters), 0)


def real_volumes(counters):
    # What a step reads is what others wrote.
    return {"shuffled": first(counters, "reduce_bytes_in"),
            "written": first(counters, "reduce_bytes_out", "map_bytes_out")}


def call(opts, words):
    return subprocess.run([opts.twinsplit, *map(str, words)], stdout=subprocess.PIPE, check=True).stdout


def compare(opts, chain):
    name = "".join(letter if letter.isalnum() else "-" for letter in chain)
    out = opts.work / f"run-{name}"
    if not (out / "run.json").exists():
        call(opts, ["run", *chain.split(), "--engine", "pipes", "--quiet", *ONE_WAY,
                    "--input", opts.corpus, "--output", out])
    run = json.loads((out / "run.json").read_bytes())
    said = call(opts, ["plan", *chain.split(), "--engine", "pipes", *ONE_WAY,
                       "--estimate", "--json", "--sample", opts.sample, "--input", opts.corpus])
    estimate = json.loads(said)
    wrong = 0
    print(f"\n`{chain}`, {estimate['documents']:,} documents by {estimate['sampled']:,}\n")
    print("| step | volume | estimated | between | and | came | came / estimated | |\n|---|---|--:|--:|--:|--:|--:|---|")
    for step in estimate["steps"]:
        real = real_volumes(run["counters"].get(step["step"], {}))
        for what, came in real.items():
            likely, (low, high) = step[f"bytes_{what}"], step[f"bytes_{what}_range"]
            if max(likely, came) < SMALL:
                continue
            quotient = came / max(likely, 1)
            inside = low <= came * 1.001 and came * 0.999 <= high
            near = 1 / NEAR <= quotient <= NEAR
            note = "" if near and inside else "out of the interval" if not inside else step["unknown"] or "not near"
            wrong += not inside or (not near and step["unknown"] is None)
            print(f"| {step['step']} | {what} | {likely:,} | {low:,} | {high:,} | {came:,} | {quotient:.2f} | {note} |")
    seconds = sum(run["seconds"]["steps"].values())
    work = sum(step["core_seconds"] for step in estimate["steps"])
    print(f"\nSeconds of steps {seconds:.0f} with {run['threads']} threads; core seconds estimated {work:.0f}; steps that ran: "
          f"{len(run['steps'])}, estimated {len(estimate['steps'])}.", flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--bytes", default="200M")
    parser.add_argument("--sample", type=int, default=6250)
    parser.add_argument("--chain", action="append")
    parser.add_argument("--twinsplit", default="target/release/twinsplit")
    opts = parser.parse_args()
    opts.work.mkdir(parents=True, exist_ok=True)
    if opts.corpus is None:
        opts.corpus = opts.work / "corpus/documents.jsonl"
        if not opts.corpus.exists():
            call(opts, ["generate-corpus", "--documents", opts.documents, "--bytes", opts.bytes, "--quiet", "--output", opts.corpus.parent])
    wrong = sum(compare(opts, chain) for chain in opts.chain or CHAINS)
    if wrong:
        sys.exit(f"estimate: {wrong} volumes are not as estimated")


if __name__ == "__main__":
    main()
