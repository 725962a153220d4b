#!/usr/bin/env python3
"""The Python package beside the command line, datasketch and rensa: one run, the same texts.

    benches/python.py [--rounds N] [--documents N] [--save [FILE]]

Needs a release build (`make build wheel`; `make bench-python` does it). The package and the peers are installed into .tools/bench-python, the
peers in the versions of peers/constraints.txt. Environment:

    CORPORA_DIR  where reuters21578/docs.jsonl.gz is   (default ../shared/corpora)
    BIN_DIR      where twinsplit is                    (default target/release)

All take turns, and each row has the smallest of its times. The command line is a whole process on a plain file of JSON lines. The package starts from a list of
strings in this process, and gives its pairs as Python's objects. The peers start from the same list: their shingles are made here, by the same
rule for words of letters and digits, in time that is told apart. Recall and precision are against the pairs of the command line.

The exit status is 1 if the package takes more than 1.15 times as long as the command line, or has other pairs.
"""

import argparse
import gzip
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TAU, HASHES, MOST = 0.65, 128, 1.15


def environment():
    """Starts this script again with the package and the peers, where it has not been."""
    home = ROOT / ".tools" / "bench-python"
    python = home / "bin" / "python"
    if not python.is_file():
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
    if Path(sys.prefix) != home:
        wheel = sorted((ROOT / "target" / "wheels").glob("twinsplit-*.whl"))
        if not wheel:
            sys.exit("bench: there is no wheel: run make wheel")
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-c", ROOT / "benches/peers/constraints.txt", "datasketch", "rensa"], check=True)
        subprocess.run([*pip, "--force-reinstall", "--no-deps", wheel[-1]], check=True)
        os.execv(python, [python, *sys.argv])


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def shingles(texts):
    words = re.compile(r"[^\W_]+")
    made = []
    for text in texts:
        of = words.findall(text.lower())
        made.append(list({" ".join(of[at : at + 3]) for at in range(len(of) - 2)}))
    return made


def datasketch_pairs(sets):
    from datasketch import MinHash, MinHashLSH

    sketches = MinHash.bulk(([one.encode() for one in own] for own in sets), num_perm=HASHES)
    index = MinHashLSH(threshold=TAU, num_perm=HASHES)
    pairs = set()
    for right, sketch in enumerate(sketches):
        if sets[right]:
            pairs.update((left, right) for left in index.query(sketch) if sketches[left].jaccard(sketch) >= TAU)
            index.insert(right, sketch)
    return pairs


def rensa_pairs(sets):
    from rensa import RMinHash, RMinHashLSH

    rows = [row for row, own in enumerate(sets) if own]
    sketches = RMinHash.from_token_sets([sets[row] for row in rows], num_perm=HASHES, seed=42)
    # 32 bands of 4, whose threshold is the nearest one below.
    index = RMinHashLSH(threshold=TAU, num_perm=HASHES, num_bands=32)
    index.insert_pairs(enumerate(sketches))
    return {
        (rows[left], rows[right])
        for left, near in enumerate(index.query_all(sketches))
        for right in near
        if left < right and sketches[left].jaccard(sketches[right]) >= TAU
    }


def package_pairs(texts):
    import twinsplit

    return {(pair.a, pair.b) for pair in twinsplit.dedup(texts).pairs()}


def program_pairs(source, folder):
    out = Path(folder) / "out"
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TWINSPLIT_")}
    program = Path(os.environ.get("BIN_DIR", ROOT / "target" / "release")) / "twinsplit"
    subprocess.run([program, "run", "doc-split", "-i", source, "-o", out, "--overwrite", "--quiet"], check=True, env=clean)
    return out / "pairs.tsv"


def table(texts, rounds):
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "docs.jsonl"
        with open(source, "w", encoding="utf-8") as out:
            for row, text in enumerate(texts):
                out.write(json.dumps({"id": f"{row:06}", "text": text}) + "\n")
        best, found = {}, {}
        sets = []
        runs = {
            "command line": lambda: program_pairs(source, folder),
            "package": lambda: package_pairs(texts),
            "shingles for peers": lambda: sets.__setitem__(slice(None), shingles(texts)),
            "datasketch": lambda: datasketch_pairs(sets),
            "rensa": lambda: rensa_pairs(sets),
        }
        for _, (name, work) in itertools.product(range(rounds), runs.items()):
            seconds, found[name] = timed(work)
            best[name] = min(seconds, best.get(name, seconds))
        rows = [line.split("\t") for line in found["command line"].read_text().splitlines()]
        truth = found["command line"] = {(int(a), int(b)) for a, b, *_ in rows}
    lines = ["| | seconds | of the command line's | pairs | recall | precision |", "|---|---|---|---|---|---|"]
    for name, seconds in best.items():
        share, pairs = seconds / best["command line"], found[name]
        counts = "| | |"
        if pairs is not None:
            hits = len(pairs & truth)
            counts = f"{len(pairs):,} | {hits / len(truth):.4f} | {hits / max(len(pairs), 1):.4f} |"
        lines.append(f"| {name} | {seconds:.2f} | {share:.2f} | {counts}")
    return "\n".join(lines), best["package"] / best["command line"], found["package"] == truth


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--documents", type=int, default=18_000)
    parser.add_argument("--save", nargs="?", const=ROOT / "docs/performance/python.md", type=Path)
    options = parser.parse_args()
    environment()
    corpora = Path(os.environ.get("CORPORA_DIR", ROOT / "../shared/corpora"))
    with gzip.open(corpora / "reuters21578" / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in itertools.islice(lines, options.documents)]
    shown, share, same = table(texts, options.rounds)
    head = f"{len(texts):,} articles of reuters21578, words:3, Jaccard >= {TAU}; the smallest of {options.rounds} times, by turns, {os.cpu_count()} cores."
    print(head, shown, sep="\n\n")
    if options.save:
        options.save.write_text(f"# The Python package, measured\n\nMade by `make bench-python SAVE=1`. {head}\n\n{shown}\n", encoding="utf-8")
    sys.exit(share > MOST or not same)


if __name__ == "__main__":
    main()
