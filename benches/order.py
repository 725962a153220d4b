#!/usr/bin/env python3
"""What an order of features costs in prefix Term-Split: all features counted (df), or those of a sample of the sets.

    benches/order.py --work FOLDER [--corpus FILE…] [--features words:5] [--tau 0.5 …] [--order df 1000 …] [--tasks 4]
    benches/order.py --work FOLDER --growth [--documents 1200] [--order df 400]

The first prints a table in Markdown: for each threshold and order the bytes that went through shuffles for each byte of text, those of the steps that
order features, what the one task that writes the order reads, the largest input of a task of the other steps, and the pairs of postings and candidates
that the order leaves. Runs are those of the engine pipes, whose steps are those of a cluster; it fails where an answer is not that of the
first run. The second writes families of four documents that are alike, N, 2N and 4N, with tasks that double as well, and prints the
largest task's input of each step. df is the chain of --df-cut with a bound that cuts nothing, which counts all features. A run that is there is not done again.
"""
import argparse
import gzip
import json
import random
import shutil
import subprocess
from pathlib import Path

ORDERING = ["feature-count", "feature-sample", "feature-order"]
FIXTURES = Path(__file__).resolve().parent.parent / "hdfs-fixtures/documents/en.jsonl.gz"


def options(order):
    return ["--df-cut", 10**12] if order == "df" else ["--order-sample", order]


def inputs_of_tasks(folder):
    """For each step the bytes that each of its tasks reads, mappers and reducers."""
    steps = {}
    for path in sorted(folder.glob("*/*")):
        for line in path.read_text().splitlines():
            name, value = line.split("\t")
            if name in ("map_bytes_in", "reduce_bytes_in"):
                steps.setdefault(path.parent.name, []).append(int(value))
    return {step: max(tasks) for step, tasks in steps.items()}


def run(opts, name, corpus, tau, order, tasks, more=()):
    """What run.json says, with the largest input of a task of each step; its folder, too."""
    out = opts.work / name
    if not (out / "largest.json").exists():
        shutil.rmtree(out, ignore_errors=True)
        words = [opts.twinsplit, "run", "term-split", "--pcp", "prefix", "--engine", "pipes", "--quiet", "--keep-work",
                 "--features", opts.features, "--tau", tau, "--max-pairs", 10**12, "--threads", tasks, *options(order), *more,
                 "--output", out, "--input", *corpus]
        subprocess.run([str(word) for word in words], check=True, stderr=subprocess.DEVNULL)
        (out / "largest.json").write_text(json.dumps(inputs_of_tasks(out / "_work/_counters")))
        shutil.rmtree(out / "_work")
    return json.loads((out / "run.json").read_bytes()), json.loads((out / "largest.json").read_bytes()), out


def bytes_of_text(path):
    if path.suffix != ".gz":
        return path.stat().st_size
    with gzip.open(path) as lines:
        return sum(map(len, lines))


def megabytes(number):
    return f"{number / 1e6:,.1f}"


def compare(opts):
    print("| tau | order | shuffled, bytes a byte of text | to order features | one task, MB | another task, MB | pairs of postings | candidates |")
    print("|--:|---|--:|--:|--:|--:|--:|--:|")
    text = sum(map(bytes_of_text, opts.corpus))
    for tau in opts.tau:
        answer = None
        for order in opts.order:
            report, largest, out = run(opts, f"{tau}-{order}", opts.corpus, tau, order, opts.tasks)
            files = [(out / name).read_bytes() for name in ("pairs.tsv", "clusters.tsv")]
            answer = answer or files
            assert files == answer, f"{out} has another answer"
            counters = report["counters"]
            shuffled = {step: count.get("reduce_bytes_in", 0) for step, count in counters.items()}
            one = largest.get("feature-count", 0) if order == "df" else largest["feature-order"]
            others = max(size for step, size in largest.items() if step not in ORDERING)
            ordering = sum(size for step, size in shuffled.items() if step in ORDERING)
            shown = "all counted" if order == "df" else f"sample of {int(order):,}"
            print(f"| {tau} | {shown} | {sum(shuffled.values()) / text:.2f} | {ordering / text:.2f} | {megabytes(one)} | "
                  f"{megabytes(others)} | {counters['index-term']['pairs_of_postings']:,} | {counters['pcp-map']['candidates']:,} |",
                  flush=True)


def families(count, path):
    """Families of four documents that differ in few words: words of a family, and some that a tenth of all documents have."""
    random.seed(17)
    with path.open("w") as file:
        for family in range(count):
            words = [f"f{family}x{word}" for word in range(40)] + [f"common{random.randrange(200)}" for _ in range(20)]
            for member in range(4):
                words[random.randrange(40)] = f"f{family}y{member}"
                file.write(json.dumps({"id": f"d{family}-{member}", "text": " ".join(words)}) + "\n")


def growth(opts):
    for order in opts.order:
        columns = []
        for times in (1, 2, 4):
            corpus = opts.work / f"families-{times}.jsonl"
            families(opts.documents // 4 * times, corpus)
            columns.append(run(opts, f"growth-{order}-{times}", [corpus], "0.7", order, 2 * times, ["--graph", 0])[1])
        counts = " | ".join(f"{opts.documents * times:,}" for times in (1, 2, 4))
        print(f"\norder: {order}\n\n| step | {counts} | grew |\n|---|--:|--:|--:|--:|")
        for step in columns[0]:
            sizes = [column.get(step, 0) for column in columns]
            shown = " | ".join(f"{size / 1e3:,.1f}" for size in sizes)
            print(f"| `{step}` | {shown} | {max(sizes[1:]) / max(sizes[0], 1):.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, nargs="+", default=[FIXTURES])
    parser.add_argument("--features", default="words:5")
    parser.add_argument("--tau", nargs="+", default=["0.5", "0.7", "0.8"])
    parser.add_argument("--order", nargs="+")
    parser.add_argument("--tasks", type=int, default=4)
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--documents", type=int, default=1200)
    parser.add_argument("--twinsplit", default="target/release/twinsplit")
    opts = parser.parse_args()
    opts.work.mkdir(parents=True, exist_ok=True)
    opts.order = opts.order or (["df", "400"] if opts.growth else ["df", "100", "1000", "100000"])
    if opts.growth:
        opts.features = "words:1"
        growth(opts)
    else:
        compare(opts)


if __name__ == "__main__":
    main()
