#!/usr/bin/env python3
"""twinsplit beside the libraries that users would pick instead: one table, from one run, on real text.

    benches/peers/run.py [--rounds N] [--peer-timeout S] [--corpora A,B] [--taus T,T] [--peers A,B] [--documents N] [--save [FILE]]

Builds nothing: run `cargo build --release` first (`make bench` does). The peers come from PyPI, into .tools/bench, in
the versions of constraints.txt, as wheels (Python 3.11 or later, with venv). Environment:

    CORPORA_DIR  where CORPUS/docs.jsonl.gz are   (default ../shared/corpora)
    BIN_DIR      where twinsplit and tokenize are (default target/release)

Each program is a process of its own, and they run by turns. twinsplit starts from packed JSON text and also clusters;
a peer starts from the sets that `tokenize` wrote, so that all see the same shingles. The cost of `tokenize` has a row.
A peer that cannot be installed, fails or is not over in time keeps its row, which says so.

The exit status is 1 if twinsplit misses a pair, has a wrong one, takes too much memory, or is slower than `tokenize`
and a peer together (on reuters21578 at .5: not 10 times as fast as SetSimilaritySearch alone).
"""

import argparse
import datetime
import gzip
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from case import FEATURES, MINHASH, OURS, SETS, THREADS, Case, environment
from peers import HERE, PEERS, environment_made, installed, versions

ROOT = HERE.parent.parent
REPORT = ROOT / "docs" / "performance" / "peers.md"


def fail(message):
    sys.exit(f"bench: {message}")


def prepared(options, corpus, folder):
    """The documents (the first of them, with --documents), their sets, and how many they are."""
    documents, sets = options.corpora_dir / corpus / "docs.jsonl.gz", folder / "sets.tsv"
    if not documents.is_file():
        fail(f"{documents} is missing: set CORPORA_DIR to the folder that holds {corpus}")
    if options.documents:
        head = folder / "docs.jsonl.gz"
        with gzip.open(documents, "rb") as source, gzip.open(head, "wb") as target:
            target.writelines(itertools.islice(source, options.documents))
        documents = head
    with open(sets, "wb") as out:
        subprocess.run([options.binaries / "tokenize", "--features", FEATURES, "--input", documents], stdout=out,
                       env=environment(folder), check=True)
    with open(sets, "rb") as lines:
        return documents, sets, sum(1 for _ in lines)


NOTES = """\
Median of {rounds} rounds, by turns, with the spread; {features}; {cores} processor cores.

- Time and memory are of whole processes. twinsplit's starts from packed JSON text: it also cuts words, makes the sets,
  and clusters. A peer's starts from the ready sets of `tokenize`, the same for all; it reads them and writes pairs.
- *From text* is the way of a peer from the same text, the seconds of `tokenize` and its own, over twinsplit's seconds.
- Exact pairs: every pair that a program reports is decided from the sets, in integers. Recall and precision of all,
  twinsplit included, are against those that pass. SetSimilaritySearch is exact too, and shares only the sets; where it
  was not over in time, a pair that all other programs missed would not be noticed.
- Peak memory is the kernel's, which cannot be less than the 17 MB or so of the program that measures. That of
  datatrove, which starts processes, is the sum over them, looked at ten times a second.
- Parameters are the library's own choice for the threshold. Where its user chooses the bands (rensa, FastSketchLSH,
  datatrove), they use all hashes, and their threshold (1/bands)^(1/rows) is the nearest one not above tau; at .8 that
  is what the documentation has. *Estimate ≥ tau*: candidates are verified by the library's own estimate.
- *twinsplit minhash* chooses its bands by a sample, which is in its time, and checks candidates exactly.
- datatrove gives clusters and verifies nothing; all pairs within a cluster count as its pairs.
"""
COLUMNS = ["corpus", "tau", "program", "parameters", "wall seconds (spread)", "from text", "user + sys", "peak MB",
           "pairs", "recall", "precision"]


def table(cases):
    """`cases`: (corpus, documents, case)."""
    known = versions()
    yield f"| {' | '.join(COLUMNS)} |"
    yield "|---" * len(COLUMNS) + "|"
    for corpus, documents, case in cases:
        where = f"| {corpus}, {documents:,} documents | {case.tau} |"
        yield f"{where} **twinsplit** | exact; {THREADS} threads | {case.row(OURS)} |"
        yield f"{where} `tokenize`, the peers' sets | one thread | {case.row(SETS)} |"
        yield f"{where} **twinsplit minhash** | {case.parameters[MINHASH]} | {case.row(MINHASH)} |"
        for peer in case.peers:
            parameters = case.parameters.get(peer, "–")
            yield f"{where} {peer.package} {known[peer.package]} | {parameters} | {case.row(peer)} |"


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="runs of each program (default 3)")
    parser.add_argument("--peer-timeout", type=float, default=600, help="seconds that a peer may take (default 600)")
    parser.add_argument("--corpora", default="reuters21578,enron1,licence-texts-a")
    parser.add_argument("--taus", default="0.5,0.8")
    parser.add_argument("--peers", default=",".join(peer.package for peer in PEERS), help="only these")
    parser.add_argument("--documents", type=int, help="only the first N of each corpus, for a quick look")
    parser.add_argument("--save", nargs="?", const=REPORT, type=Path, metavar="FILE",
                        help=f"also write the table, by default to {REPORT.relative_to(ROOT)}")
    options = parser.parse_args()
    options.peers = options.peers.split(",")
    options.corpora_dir = Path(os.environ.get("CORPORA_DIR", ROOT / "../shared/corpora"))
    options.binaries = Path(os.environ.get("BIN_DIR", ROOT / "target/release")).resolve()
    return options


def commit():
    said = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    return said.stdout.strip() or "unknown"


def main():
    options = parsed()
    for name in ("twinsplit", "tokenize"):
        if not shutil.which(options.binaries / name):
            fail(f"{options.binaries / name} is missing: run 'cargo build --release' first")
    if not environment_made():
        fail("no virtual environment (Debian: apt-get install python3-venv)")
    refused = {peer: reason for peer in PEERS if peer.package in options.peers and (reason := installed(peer))}

    cases = []
    with tempfile.TemporaryDirectory() as work:
        for corpus in options.corpora.split(","):
            folder = Path(work) / corpus
            folder.mkdir()
            documents, sets, count = prepared(options, corpus, folder)
            for tau in options.taus.split(","):
                case = Case(options, folder, documents, sets, tau, refused)
                cases.append((corpus, count, case))
        notes = NOTES.format(rounds=options.rounds, features=FEATURES, cores=os.cpu_count())
        report = "\n".join([notes, *table(cases), ""])
    print(report)
    if options.save:
        head = f"# Beside near-duplicate libraries, {datetime.date.today()}, commit {commit()}"
        options.save.write_text(f"{head}\n\n{report}", encoding="utf-8")
    wrong = [line for _, _, case in cases for line in case.wrong()]
    for line in wrong:
        print(f"bench: {line}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
