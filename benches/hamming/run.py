#!/usr/bin/env python3
"""Hamming search beside the libraries that users would pick instead: one table, from one run.

    benches/hamming/run.py [--counts N,N] [--kinds random,skewed] [--programs A,B] [--rounds N] [--queries N] [--build-limit S] [--save]

64 bits, distance 3. Builds nothing: `make bench-hamming` does. Libraries in Rust are crates of benches/hamming/Cargo.toml, those of Python come
from PyPI into .tools/bench in the versions of ../peers/constraints.txt. Environment:

    BENCH_HAMMING  the program of this folder's crate (default target/bench-hamming/release/bench-hamming)

Each program is a process of its own on one core, which builds its index and keeps it; they answer the same queries by turns. The exit status is 1
if a program that is exact (twinsplit) does not find what a scan finds.
"""

import argparse
import datetime
import os
import selectors
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "peers"))
from peers import PYTHON, Peer, environment_made, installed, versions  # noqa: E402

REPORT = ROOT / "docs" / "performance" / "hamming-peers.md"
CORE = "1" if (os.cpu_count() or 1) > 1 else "0"
CHECKED = 200  # queries whose answers are compared with those of a scan

# Name, and the most fingerprints with which it is tried: above, it would take more memory than a machine of 16 GB has, or hours to build.
PROGRAMS = {
    "scan": 50_000_000,
    "twinsplit:900": 10**9,
    "twinsplit:4400": 10**9,
    "twinsplit:42": 1_000_000,
    "twinsplit-single:900": 10**9,
    "twinsplit-single:4400": 10**9,
    "mih-rs:3": 10**9,
    "mih-rs:4": 10**9,
    "gaoya:6": 1_000_000,
    "faiss-cpu:4:16:0": 10_000_000,
    "faiss-cpu:2:32:1": 10_000_000,
    "pynear:4": 1_000_000,
    "hammingbird": 10_000_000,
    "simhash": 1_000_000,
}
IN_RUST = ("scan", "twinsplit", "twinsplit-single", "mih-rs", "gaoya")
FEW = ("scan", "pynear", "simhash", "hammingbird")  # asked a hundredth of the queries, for they take a hundred times as long


class Program:
    """A process that has built its index."""

    def __init__(self, name, binary, folder, limit):
        self.name, self.times, self.found, self.failure, self.pairs = name, [], None, None, set()
        package = name.split(":")[0]
        command = [binary] if package in IN_RUST else [PYTHON, HERE / "python_peer.py"]
        arguments = ["serve", name] if package in IN_RUST else [name]
        pin = ["taskset", "-c", CORE] if sys.platform == "linux" else []
        self.process = subprocess.Popen(list(map(str, [*pin, *command, *arguments, folder])), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if not selector.select(limit):
                self.failure = f"not built in {limit:,.0f} s"
                self.process.kill()
                return
        fields = self.process.stdout.readline().rstrip("\n").split("\t")
        if fields[0] != "built":
            self.failure = "failed"
            return
        self.built, self.bytes, self.parameters = float(fields[1]), int(fields[2]), fields[3]

    def ask(self, what, queries):
        print(what, queries, file=self.process.stdin, flush=True)
        return self.process.stdout.readline().rstrip("\n").split("\t")

    def go(self, queries):
        _, seconds, found = self.ask("go", queries)
        self.times.append(float(seconds) / queries * 1e6)
        self.found = int(found)

    def read_pairs(self):
        fields = self.ask("pairs", CHECKED)
        while fields != ["end"]:
            self.pairs.add(tuple(map(int, fields)))
            fields = self.process.stdout.readline().rstrip("\n").split("\t")

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def measured(options, kind, count, names, refused):
    """The programs after their turns; the scan is among them or its answer is None."""
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        subprocess.run([options.binary, "data", kind, str(count), str(options.queries), folder], check=True)
        programs = []
        for name in names:
            if count > PROGRAMS[name] or name.split(":")[0] in refused:
                continue
            programs.append(Program(name, options.binary, folder, options.build_limit))
            print(f"bench-hamming: {kind}, {count:,}: {name} {programs[-1].failure or 'built'}", file=sys.stderr)
        alive = [program for program in programs if not program.failure]
        for program in alive:
            program.read_pairs()
        for _ in range(options.rounds):
            for program in alive:
                few = program.name.split(":")[0] in FEW
                program.go(max(CHECKED, options.queries // 1000) if few else options.queries)
        for program in alive:
            program.end()
        return programs


COLUMNS = ["fingerprints", "program", "parameters", "us a query (spread)", "twinsplit is faster", "recall", "wrong", "MB", "built, s",
           "million/s"]
NOTES = """\
64 bits, all within distance 3, that distance included; one core; median of {rounds} rounds by turns, with the spread; {queries:,} queries,
half of them a fingerprint of the collection with up to four bits changed, half in no relation to it (a thousandth of the queries for those that
take a thousand times as long).

- Memory is what is resident after the index is built beyond what was before, with what a program needs to answer: the fingerprints themselves count
  where it keeps them, and not where it does not.
- Recall, and how many are wrong, by comparison with a scan of all fingerprints for {checked} of the queries.
- Strict bounds are made equal: gaoya and FAISS find what is *nearer* than their distance, so they get 4. pynear gives nearest ones only: 64 of them.
- `twinsplit:MB` may take so many megabytes and chooses its tables itself. *twinsplit is faster*: the program's time over that of the quickest
  twinsplit of the same size, and of the one that had the least memory.
- *twinsplit* and FAISS are asked for all queries in one call, in which twinsplit waits for the memory of several at a time; *twinsplit-single*, like all
  other programs, is asked for one after the other.
- *Skewed* fingerprints are as uneven as real ones (`benches/common/fingerprints.rs` says how they are made, and after which).
- Rust is compiled for the processor that measures (`-C target-cpu=native`), so that peers count bits by its instruction; twinsplit asks the
  processor itself.
"""


def table(kind, count, programs):
    known = {**versions(), "mih-rs": "0.3.1", "gaoya": "0.2.2"}
    alive = [program for program in programs if not program.failure]
    truth = next((program.pairs for program in alive if program.name == "scan"), None)
    ours = [program for program in alive if program.name.startswith("twinsplit")]
    quick = min((statistics.median(program.times) for program in ours), default=0)
    small = min(ours, key=lambda program: program.bytes, default=None)
    for program in programs:
        package = program.name.split(":")[0]
        label = program.name if program in ours or package == "scan" else f"{package} {known.get(package, '')}"
        label = f"**{label}**" if program in ours else label
        where = f"| {count:,} {kind} | {label} |"
        if program.failure:
            yield f"{where} – | {program.failure} |" + " – |" * 6
            continue
        median = statistics.median(program.times)
        faster = f"{median / quick:.1f}, {median / statistics.median(small.times):.1f}" if ours and program not in ours else "–"
        recall, wrong = "–", "–"
        if truth:
            recall = f"{len(truth & program.pairs) / len(truth):.4f}"
            wrong = str(len(program.pairs - truth))
        yield (f"{where} {program.parameters} | {median:.3f} ({min(program.times):.3f} to {max(program.times):.3f}) | {faster} | {recall} | {wrong} "
               f"| {program.bytes / 1e6:,.0f} | {program.built:.2f} | {count / 1e6 / max(program.built, 1e-3):.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", default="1000000,10000000,50000000")
    parser.add_argument("--kinds", default="random,skewed")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="only these")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default 5)")
    parser.add_argument("--queries", type=int, default=100_000, help="queries (default 100000)")
    parser.add_argument("--build-limit", type=float, default=300, help="seconds that a program may take to build (default 300)")
    parser.add_argument("--work", default=None, help="a folder for fingerprints, 0.4 GB for 50 million")
    parser.add_argument("--save", action="store_true", help=f"also write {REPORT.relative_to(ROOT)}")
    options = parser.parse_args()
    options.binary = os.environ.get("BENCH_HAMMING", ROOT / "target/bench-hamming/release/bench-hamming")
    names = options.programs.split(",")
    refused = {}
    packages = {name.split(":")[0] for name in names} - set(IN_RUST)
    if packages and not environment_made():
        sys.exit("bench-hamming: no virtual environment (Debian: apt-get install python3-venv)")
    for package in sorted(packages):
        # hammingbird has no wheel for Linux; who builds the crate has what it needs.
        if reason := installed(Peer(package, more=("numpy",), source=package == "hammingbird")):
            refused[package] = reason
    lines = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    wrong = []
    for count in map(int, options.counts.split(",")):
        for kind in options.kinds.split(","):
            programs = measured(options, kind, count, names, refused)
            lines += table(kind, count, programs)
            truth = next((program.pairs for program in programs if program.name == "scan"), None)
            wrong += [f"{kind}, {count}: {program.name} differs from a scan" for program in programs
                      if truth is not None and program.name.startswith("twinsplit") and program.pairs != truth]
            print("\n".join(lines), file=sys.stderr)
    notes = NOTES.format(rounds=options.rounds, queries=options.queries, checked=CHECKED)
    notes += "".join(f"\n- {package}: {reason}\n" for package, reason in refused.items())
    report = "\n".join([notes, *lines, ""])
    print(report)
    if options.save:
        REPORT.write_text(f"# Hamming search beside libraries, {datetime.date.today()}\n\n{report}", encoding="utf-8")
    for line in wrong:
        print(f"bench-hamming: {line}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
