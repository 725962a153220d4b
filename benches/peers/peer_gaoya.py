"""gaoya: its MinHash index with its own choice of bands, which filters candidates by the estimate itself.

A document is given as text whose words are the features, because gaoya has more than one thread for texts only.
"""

import re

from gaoya.minhash import MinHashStringIndex

import sets

HASHES = 128

path, pairs, tau, threads = sets.arguments()
ids, texts = map(list, zip(*sets.lines(path)))
index = MinHashStringIndex(hash_size=32, jaccard_threshold=tau, num_bands=None, band_size=None, num_hashes=HASHES)
numbers = list(range(len(ids)))
index.par_bulk_insert_docs(numbers, texts)
sets.write(pairs, (
    (ids[left], ids[right])
    for left, near in enumerate(index.par_bulk_query(texts))
    for right in near
    if left < right
))
hashes, count, rows = re.search(r"num_hashes = (\d+), bands = (\d+), rows_per_band = (\d+)", str(index)).groups()
print(f"{hashes} hashes of 32 bits, {count} bands of {rows} (its choice), estimate ≥ tau; {threads} threads")
