"""Which pairs are right: `score.py SETS TAU PAIRS…` prints the number of exact pairs, and [pairs, right] of each file.

Every pair that any file holds is decided here, from the sets and in integers; the exact pairs are those that pass. So
no program's word is taken for them, and a pair that all programs miss is the only one that could be missing. A process
of its own: it is large, and what run.py measures may not start from a large process.
"""

import json
import sys
from fractions import Fraction
from itertools import combinations

import sets


def groups(path):
    with open(path, encoding="ascii", errors="surrogateescape") as lines:
        for line in lines:
            yield line.rstrip("\n").split("\t")


def main():
    path, tau, *files = sys.argv[1:]
    tau = Fraction(tau)
    features = {name: frozenset(of.split(" ")) for name, of in sets.lines(path)}

    def right(pair):
        a, b = (features[name] for name in pair)
        overlap = len(a & b)
        return overlap * tau.denominator >= tau.numerator * (len(a) + len(b) - overlap)

    met = {file: set() for file in files}
    for file in files:
        for group in groups(file):
            # Within clusters most pairs are wrong and there may be millions: they are counted below, and only
            # compared with what others found.
            if len(group) == 2:
                met[file].add(tuple(sorted(group)))
    exact = {pair for pair in set().union(*met.values()) if right(pair)}

    scores = []
    for file in files:
        count, hits = len(met[file]), len(met[file] & exact)
        for group in groups(file):
            if len(group) > 2:
                for pair in combinations(sorted(group), 2):
                    count += 1
                    hits += pair in exact
        scores.append([count, hits])
    print(json.dumps({"exact": len(exact), "scores": scores}))


main()
