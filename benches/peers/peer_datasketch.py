"""datasketch: MinHashLSH with its own choice of bands, candidates filtered by MinHash.jaccard as `query` advises."""

from datasketch import MinHash, MinHashLSH

import sets

HASHES = 128

path, pairs, tau, _ = sets.arguments()
ids, features = sets.read(path)
sketches = MinHash.bulk(([feature.encode() for feature in of] for of in features), num_perm=HASHES)
index = MinHashLSH(threshold=tau, num_perm=HASHES)


def found():
    # A document is looked up before it is inserted, so each pair is met once.
    for right, sketch in enumerate(sketches):
        for left in index.query(sketch):
            if sketches[left].jaccard(sketch) >= tau:
                yield ids[left], ids[right]
        index.insert(right, sketch)


sets.write(pairs, found())
print(f"{HASHES} permutations, {index.b} bands of {index.r} (its choice), estimate ≥ tau; one thread")
