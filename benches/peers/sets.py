"""What the adapters share: they read the sets of `tokenize`, and write pairs.

An adapter is called `peer_NAME.py SETS PAIRS TAU THREADS`. It writes the ids of each pair to PAIRS, separated by a TAB
(a line of more ids stands for all pairs of them), and prints one line: the parameters it used.
"""

import sys


def arguments():
    sets, pairs, tau, threads = sys.argv[1:]
    return sets, pairs, float(tau), int(threads)


def lines(path):
    """Id and features of each document that has any, the features as one text: hexadecimal words and spaces."""
    with open(path, encoding="ascii", errors="surrogateescape") as source:
        for line in source:
            # A document of few features has the hash of its text before them.
            name, *_, features = line.rstrip("\n").split("\t")
            if features:
                yield name, features


def read(path):
    """Ids, and for each the list of its features."""
    ids, sets = [], []
    for name, features in lines(path):
        ids.append(name)
        sets.append(features.split(" "))
    return ids, sets


def write(path, groups):
    with open(path, "w", encoding="ascii", errors="surrogateescape") as out:
        out.writelines("\t".join(group) + "\n" for group in groups)


def bands(hashes, tau):
    """Bands and rows that use all hashes and whose threshold, (1/bands)^(1/rows), is the nearest one not above tau.

    For libraries whose user chooses the bands. It gives the values of their documentation where that has one:
    16 bands of 128 hashes (rensa, FastSketchLSH) and 14 of 112 (datatrove) at .8.
    """
    choices = [(count, hashes // count) for count in range(1, hashes + 1) if hashes % count == 0]
    return min((choice for choice in choices if threshold(*choice) <= tau), key=lambda choice: tau - threshold(*choice))


def threshold(count, rows):
    return (1 / count) ** (1 / rows)
