"""SetSimilaritySearch: an exact join in Python, the independent method that twinsplit's pairs are checked against."""

from SetSimilaritySearch import all_pairs

import sets

path, pairs, tau, _ = sets.arguments()
ids, features = sets.read(path)
found = all_pairs(features, similarity_func_name="jaccard", similarity_threshold=tau)
sets.write(pairs, ((ids[a], ids[b]) for a, b, _ in found))
print("exact; one thread")
