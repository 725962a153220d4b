#!/usr/bin/env python3
"""Writes crates/html/src/article/forest.in, by which `--html article` tells content from what stands around it.

    learn.py [TREES [DEPTH [RATE [SEED]]]]

It learns from one half of the pages of wcxb-dev and html-articles-en (`pages.py`), and sees nothing of the other. A block is content where
half of its words or more are matched in the page's main content, in order, by longest common runs of words (difflib). Its weight is
its share of the words of the main content, so that every page counts alike.
"""

import difflib
import io
import subprocess
import sys
import tempfile
from pathlib import Path

import pages

ROOT = Path(__file__).resolve().parents[2]
FOREST = ROOT / "crates/html/src/article/forest.in"
# A block without words has some weight, and no block outweighs two pages.
LEAST, MOST = 0.002, 2
# The words of the main content, where it has fewer.
FEWEST = 30


def example(name, *arguments, **options):
    """Runs an example of the crate."""
    command = ["cargo", "run", "--quiet", "--release", "--locked", "--package", "twinsplit-html", "--example", name, "--", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, **options).stdout


def blocks(chosen):
    """The names of the features, and of each page its blocks: features and text."""
    with tempfile.TemporaryDirectory() as folder:
        names = [Path(folder) / str(number) for number in range(len(chosen))]
        for name, page in zip(names, chosen):
            name.write_bytes(page.html)
        lines = io.StringIO(example("blocks", input="\n".join(map(str, names)).encode()).decode(), newline="\n")
    features = next(lines).split("\t")[1:-1]
    found = [[] for _ in chosen]
    for line in lines:
        name, *values, text = line.rstrip("\n").split("\t")
        found[int(Path(name).name)].append((values, text))
    return features, found


def labels(texts, content):
    """Of each block whether it is content, and its weight."""
    of_blocks, owners = [], []
    for number, text in enumerate(texts):
        found = pages.words(text)
        of_blocks += found
        owners += [number] * len(found)
    wanted = pages.words(content)
    matched, total = [0] * len(texts), [0] * len(texts)
    for owner in owners:
        total[owner] += 1
    for start, _, size in difflib.SequenceMatcher(None, of_blocks, wanted, autojunk=False).get_matching_blocks():
        for owner in owners[start : start + size]:
            matched[owner] += 1
    weight = [min(count / max(len(wanted), FEWEST), MOST) + LEAST for count in total]
    return [int(2 * found >= max(count, 1)) for found, count in zip(matched, total)], weight


def main():
    trees, depth, rate, seed = (sys.argv[1:] + ["250", "5", "0.08", "1"][len(sys.argv) - 1 :])
    seen = [page for page in pages.pages() if page.is_seen]
    features, found = blocks(seen)
    rows = ["\t".join(["page", "label", "weight", *features])]
    for number, (page, of_page) in enumerate(zip(seen, found)):
        for (values, _), label, weight in zip(of_page, *labels([text for _, text in of_page], page.content)):
            rows.append("\t".join([str(number), str(label), f"{weight:.6f}", *values]))
    FOREST.write_bytes(example("train", trees, depth, rate, seed, input="\n".join(rows).encode()))
    print(f"{FOREST}: learned from {len(rows) - 1} blocks of {len(seen)} pages")


if __name__ == "__main__":
    main()
