"""A library from PyPI behind the lines that bench-hamming's `serve` speaks: python_peer.py PROGRAM FOLDER.

All within distance 3 of each query, that distance included. faiss means "less than" by a radius.
"""

import sys
import time
from pathlib import Path

import numpy

DISTANCE = 3


def resident():
    fields = dict(line.split(":", 1) for line in Path("/proc/self/smaps_rollup").read_text().splitlines()[1:])
    return int(fields["Rss"].split()[0]) << 10


class MultiHash:
    """faiss: hash tables of so many runs of bits; `flips` bits of a key are tried."""

    def __init__(self, values, tables, bits, flips):
        import faiss
        faiss.omp_set_num_threads(1)
        self.index = faiss.IndexBinaryMultiHash(64, tables, bits)
        self.index.nflip = flips
        self.parameters = f"{tables} tables of {bits} bits, nflip {flips}, radius {DISTANCE + 1} (strict)"
        # In pieces, for it holds more than it keeps while it adds.
        for start in range(0, len(values), 1 << 20):
            self.index.add(values[start:start + (1 << 20)].view(numpy.uint8).reshape(-1, 8))

    def search(self, queries):
        ends, _, rows = self.index.range_search(queries.view(numpy.uint8).reshape(-1, 8), DISTANCE + 1)
        return numpy.repeat(numpy.arange(len(queries)), numpy.diff(ends.astype(numpy.int64))), rows


class SimhashIndex:
    """simhash: an object for each fingerprint, tables of strings."""

    def __init__(self, values):
        from simhash import Simhash, SimhashIndex as Index
        self.make = Simhash
        self.index = Index([(row, Simhash(int(value))) for row, value in enumerate(values)], k=DISTANCE)
        self.parameters = f"k {DISTANCE}"

    def search(self, queries):
        found = [self.index.get_near_dups(self.make(int(query))) for query in queries]
        numbers = numpy.repeat(numpy.arange(len(queries)), [len(rows) for rows in found])
        return numbers, numpy.array([int(row) for rows in found for row in rows], dtype=numpy.int64)


class Hammingbird:
    """hammingbird: its streaming index, asked by the batch."""

    def __init__(self, values):
        import hammingbird
        self.index = hammingbird.Index(8, DISTANCE)
        self.parameters = f"k {DISTANCE}"
        self.index.add_batch(values.view(numpy.uint8).reshape(-1, 8))

    def search(self, queries):
        found = self.index.query_batch(queries.view(numpy.uint8).reshape(-1, 8))
        numbers = numpy.repeat(numpy.arange(len(queries)), [len(rows) for rows in found])
        return numbers, numpy.array([row for rows in found for row, _ in rows], dtype=numpy.int64)


class Nearest:
    """pynear's multi-index hashing gives the K nearest: those within the distance count, of 64 at most."""

    def __init__(self, values, blocks):
        from pynear import MIHBinaryIndex
        self.index = MIHBinaryIndex(blocks)
        self.index.set(values.view(numpy.uint8).reshape(-1, 8))
        self.parameters = f"m {blocks}, 64 nearest, radius {DISTANCE}"

    def search(self, queries):
        rows, distances = self.index.searchKNN_arrays(queries.view(numpy.uint8).reshape(-1, 8), 64, DISTANCE)
        numbers, places = numpy.nonzero((rows >= 0) & (distances <= DISTANCE))
        return numbers, rows[numbers, places]


def built(program, values):
    name, *numbers = program.split(":")
    kinds = {"faiss-cpu": MultiHash, "simhash": SimhashIndex, "hammingbird": Hammingbird, "pynear": Nearest}
    return kinds[name](values, *map(int, numbers))


def main():
    program, folder = sys.argv[1], Path(sys.argv[2])
    queries = numpy.fromfile(folder / "queries", dtype="<u8")
    built(program, queries[:64].copy()).search(queries[:2])  # what its library takes by itself is not the index
    before = resident()
    values = numpy.fromfile(folder / "fingerprints", dtype="<u8")
    start = time.perf_counter()
    index = built(program, values)
    seconds = time.perf_counter() - start
    del values
    print("built", f"{seconds:.3f}", max(0, resident() - before), index.parameters, sep="\t", flush=True)
    for line in sys.stdin:
        what, _, most = line.strip().partition(" ")
        asked = queries[:int(most)] if most else queries
        start = time.perf_counter()
        numbers, rows = index.search(asked)
        seconds = time.perf_counter() - start
        if what == "pairs":
            for number, row in sorted(zip(numbers.tolist(), rows.tolist())):
                print(number, row, sep="\t")
            print("end", flush=True)
        else:
            print("asked", f"{seconds:.9f}", len(rows), sep="\t", flush=True)


if __name__ == "__main__":
    main()
