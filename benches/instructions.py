#!/usr/bin/env python3
"""Counts the instructions of each part of `make bench-parts`, once through, and prints them as a table.

    benches/instructions.py [--filter TEXT]

Instructions are counted by callgrind (Debian package valgrind), so the figures hold on a busy machine, and two commits
can be compared by them. Only what criterion would time is counted; `counting` is counted with the making of its sets.
"""
import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def bench():
    """The program of the benchmarks, built."""
    built = subprocess.run(["cargo", "bench", "--locked", "--manifest-path", "benches/parts/Cargo.toml", "--target-dir", "target",
                            "--bench", "parts", "--no-run", "--message-format", "json"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    for line in built.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "parts":
            return message["executable"]
    sys.exit("instructions: cargo built no benchmark named parts")


def count(program, name):
    """Instructions of one benchmark."""
    with tempfile.NamedTemporaryFile() as out:
        said = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}",
                               "--toggle-collect=*Bencher*iter*", program, "--bench", "--test", "--exact", name],
                              cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True).stderr
    counted = [int(number.replace(",", "")) for number in re.findall(r"Collected : ([\d,]+)", said)]
    if not any(counted):
        sys.exit(f"instructions: callgrind counted nothing of {name}:\n{said}")
    return max(counted)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="", help="only benchmarks whose names hold this")
    opts = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("instructions: valgrind is missing: on Debian, apt-get install valgrind")
    program = bench()
    listed = subprocess.run([program, "--bench", "--list"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    names = [line.removesuffix(": benchmark") for line in listed.splitlines() if line.endswith(": benchmark")]
    chosen = [name for name in names if opts.filter in name]
    if not chosen:
        sys.exit(f"instructions: no part's name holds {opts.filter!r}; there are {', '.join(names)}")
    print("| part | million instructions |\n|---|---|", flush=True)
    for name in chosen:
        print(f"| {name} | {count(program, name) / 1e6:.1f} |", flush=True)


if __name__ == "__main__":
    main()
