"""FastSketchLSH: Fast Similarity Sketch and its LSH, candidates filtered by its estimate_jaccard.

The features are 64-bit hashes already, so they go in as such (`prehashed=True`), the fastest way in that it documents.
"""

import numpy
from FastSketchLSH import LSH, FastSimilaritySketch, estimate_jaccard

import sets

HASHES = 128

path, pairs, tau, threads = sets.arguments()
ids, hashes = [], []
for name, features in sets.lines(path):
    ids.append(name)
    hashes.append(numpy.frombuffer(bytes.fromhex(features), dtype=">u8").astype(numpy.uint64))
count, rows = sets.bands(HASHES, tau)
sketches = FastSimilaritySketch(size=HASHES, seed=42).batch(hashes, prehashed=True, num_threads=threads)
index = LSH(num_perm=HASHES, num_bands=count, num_threads=threads)
index.insert(sketches)
sets.write(pairs, (
    (ids[left], ids[right])
    for left, near in enumerate(index.query(sketches))
    for right in near
    if left < right and estimate_jaccard(sketches[left], sketches[right]) >= tau
))
print(f"{HASHES} hashes, {count} bands of {rows}, estimate ≥ tau; {threads} threads")
