"""twinsplit: exact near-duplicate detection for large text collections.

>>> import twinsplit
>>> texts = ["Rain fell on the harbour all night. The ferry left at six.",
...          "Nobody saw it go.",
...          "Rain fell on the harbour all night! The ferry left at six."]
>>> found = twinsplit.dedup(texts)
>>> found
<Duplicates: 3 documents, 1 cluster, 2 kept, 1 dropped; jaccard >= 0.65>
>>> [texts[row] for row in found.kept]
['Rain fell on the harbour all night. The ferry left at six.', 'Nobody saw it go.']

`dedup` finds all pairs of documents whose sets of features reach a similarity, the clusters that they form, and the document of each to keep:
exactly, with the answer of the command line. It takes lists of texts or dicts, tables of pandas, Polars and PyArrow, and whatever else has
`__arrow_c_stream__`, without a copy of its texts.
"""

from ._duplicates import Change, Cluster, Dropped, Duplicates, Explanation, NearPair, NearPairs, Pair, Pairs
from ._indexes import HammingIndex, Index, Match, MinHash, SimHash
from ._runs import Progress, clusters, dedup, explain, find_pairs, options
from ._stores import Batch, Removal, Store, StoredDocument

__version__ = "0.1.0"

__all__ = [
    "Batch",
    "Change",
    "Cluster",
    "Dropped",
    "Duplicates",
    "Explanation",
    "HammingIndex",
    "Index",
    "Match",
    "MinHash",
    "NearPair",
    "NearPairs",
    "Pair",
    "Pairs",
    "Progress",
    "Removal",
    "SimHash",
    "Store",
    "StoredDocument",
    "clusters",
    "dedup",
    "explain",
    "find_pairs",
    "options",
]
