"""rensa: R-MinHash and its LSH through the batch calls, candidates filtered by the estimate, as in its README.

The sketch is that of `from_token_sets`, which sees every token; the `_rho` calls, which sample long documents, are not
used.
"""

from rensa import RMinHash, RMinHashLSH

import sets

HASHES = 128

path, pairs, tau, threads = sets.arguments()
ids, features = sets.read(path)
count, rows = sets.bands(HASHES, tau)
sketches = RMinHash.from_token_sets(features, num_perm=HASHES, seed=42)
index = RMinHashLSH(threshold=tau, num_perm=HASHES, num_bands=count)
index.insert_pairs(enumerate(sketches))
sets.write(pairs, (
    (ids[left], ids[right])
    for left, near in enumerate(index.query_all(sketches))
    for right in near
    if left < right and sketches[left].jaccard(sketches[right]) >= tau
))
print(f"R-MinHash, {HASHES} permutations, {count} bands of {rows}, estimate ≥ tau; at most {threads} threads")
